"""Read positions that people type, and those inside names; write them as astronomers do.

No astropy: it would cost every start, and the core works without it.
"""

import math
import re
import unicodedata
from collections.abc import Sequence

from nuncius.core.errors import UsageError
from nuncius.core.sky import Position

_SIGNS = str.maketrans(
    {
        **dict.fromkeys("−–—‐‑", "-"),
        **dict.fromkeys("°º˚", "d"),
        **dict.fromkeys("′'ʹ’", "m"),
        **dict.fromkeys('″"ʺ”', "s"),
        **dict.fromkeys("，、；;", ","),
        "：": ":",
    }
)
_LABEL = re.compile(r"\b(?:ra|r\.a\.|dec|decl|de|lon|lat)\b\.?\s*[=:]?\s*|[αδ]\s*=\s*")
_FRAME = re.compile(r"[(\[]?\b(?:icrs|j2000(?:\.0)?|fk5|eq(?:uinox)?)\b[)\]]?")
_OLD_FRAME = re.compile(r"[(\[]?\b(?:b1950(?:\.0)?|fk4)\b[)\]]?")
_UNITS = re.compile(r"degrees?|deg\b|hours?|hrs?\b|arcmin\b|arcsec\b|min\b|sec\b")
_SHORT = {"de": "d", "ho": "h", "hr": "h", "ar": "m", "mi": "m", "se": "s"}
_POSITION = re.compile(r"[\d+\-.,:hdms\s]+")
_NUMBER = r"(?:\d+\.?\d*|\.\d+)"
_PART = re.compile(rf"\s*({_NUMBER})\s*([hdms:]?)")
_GALACTIC = re.compile(
    rf"(?:gal(?:actic)?[:\s]*)?(?:\bl\s*[=:]?\s*({_NUMBER})d?)[\s,]+(?:b\s*[=:]?\s*([+-]?{_NUMBER})d?)"
)
_J_NAME = re.compile(r"J(\d{3,10})(?:\.(\d+))?([+-])(\d{2,9})(?:\.(\d+))?(?!\d)")
_G_NAME = re.compile(r"(?<![A-Za-z])G(\d{1,3}\.\d+)([+-]\d{1,2}\.\d+)(?![\d.])")
_GALACTIC_AXES = (
    (-0.0548755604, 0.4941094279, -0.8676661490),
    (-0.8734370902, -0.4448296300, -0.1980763734),
    (-0.4838350155, 0.7469822445, 0.4559837762),
)
"""Columns: the axes of galactic coordinates in ICRS (The Hipparcos Catalogue, vol. 1, eq. 1.5.11)."""


def read_position(text: str) -> Position | None:
    """Return the position that `text` is; None: it is something else, such as a name.

    Degrees (``10.684 +41.269``), sexagesimal with colons, blanks or letters, right ascension in
    hours then (``00:42:44.3 +41:16:07``, ``0h42m44.3s, 41°16′07″``), galactic (``l=121.2 b=-21.6``),
    or a designation alone (``J004244.3+411607``).

    Raises:
        UsageError: It is one, but not on the sky; or in an old frame.
    """
    bare = unicodedata.normalize("NFKC", text.translate(_SIGNS)).translate(_SIGNS).strip()
    if (match := _J_NAME.fullmatch(bare)) and (inside := _designated(match)):
        return inside
    bare = _UNITS.sub(lambda unit: _short_unit(unit[0]), bare.lower())
    if match := _GALACTIC.fullmatch(bare):
        return _from_galactic(float(match[1]), float(match[2]), text)
    old = _OLD_FRAME.search(bare)
    bare = _LABEL.sub(" ", _FRAME.sub(" ", _OLD_FRAME.sub(" ", bare))).strip(" ,")
    if not _POSITION.fullmatch(bare):
        return None
    halves = _halves(bare)
    if halves is None:
        return None
    first, second = _parts(halves[0]), _parts(halves[1])
    if first is None or second is None:
        return None
    if old:
        raise UsageError(
            f"{text!r} is a position of B1950.", hint="Give it in ICRS or J2000 instead."
        )
    return _position(first, second, text)


def _short_unit(unit: str) -> str:
    return "s" if unit == "arcsec" else _SHORT[unit[:2]]


def _halves(text: str) -> tuple[str, str] | None:
    """Split a position at its comma, its second sign, its units or in the middle of its numbers."""
    if text.count(",") == 1:
        first, second = text.split(",")
        return first, second
    if "," in text:
        return None
    if match := re.fullmatch(r"\+?([^+-]+)([+-][^+-]+)", text):
        return match[1], match[2]
    if match := re.fullmatch(rf"([^+-]*?[hms])\s*((?:{_NUMBER})\s*d[^+-]*)", text):
        return match[1], match[2]
    words = text.split()
    if len(words) in {2, 4, 6} and not re.search(r"[+-]", text):
        middle = len(words) // 2
        return " ".join(words[:middle]), " ".join(words[middle:])
    return None


def _parts(text: str) -> tuple[float, list[tuple[str, str]]] | None:
    """Return the sign and up to three numbers with their units; None: no angle."""
    bare = text.strip()
    sign = -1.0 if bare.startswith("-") else 1.0
    bare = bare.lstrip("+-")
    parts = [(match[1], match[2]) for match in _PART.finditer(bare)]
    if "".join(_PART.sub("", bare).split()) or not 1 <= len(parts) <= 3:
        return None
    order = "".join(unit for _, unit in parts).replace(":", "")
    if not re.fullmatch(r"[hd]?m?s?", order) or (len(parts) > 1 and order[:1] in {"m", "s"}):
        return None
    whole = [number for number, _ in parts]
    if len(parts) > 1 and any(len(number.partition(".")[0]) > 3 for number in whole):
        return None  # ``1H 0323+342`` is a name
    if any(len(number.partition(".")[0]) > 2 for number in whole[1:]):
        return None
    return sign, parts


def _position(
    first: tuple[float, list[tuple[str, str]]],
    second: tuple[float, list[tuple[str, str]]],
    text: str,
) -> Position:
    in_hours = first[1][0][1] == "h" or (len(first[1]) > 1 and first[1][0][1] != "d")
    ra = _value(first) * (15 if in_hours else 1)
    dec = _value(second)
    sixty = any(float(number) >= 60 for _, parts in (first, second) for number, _ in parts[1:])
    if not (0 <= ra < 360 and -90 <= dec <= 90) or sixty or second[1][0][1] == "h":
        raise UsageError(
            f"{text!r} looks like a position, but there is no such place on the sky.",
            hint="Right ascension is 0 to 360 degrees (0 to 24 h), declination -90 to +90 degrees.",
        )
    return Position(ra, dec)


def _value(angle: tuple[float, list[tuple[str, str]]]) -> float:
    sign, parts = angle
    return sign * sum(float(number) / 60**place for place, (number, _) in enumerate(parts))


def _from_galactic(l_deg: float, b_deg: float, text: str) -> Position:
    if not (0 <= l_deg <= 360 and -90 <= b_deg <= 90):
        raise UsageError(
            f"{text!r} looks like a galactic position, but there is no such place on the sky.",
            hint="Longitude is 0 to 360 degrees, latitude -90 to +90 degrees.",
        )
    longitude, latitude = math.radians(l_deg), math.radians(b_deg)
    vector = (
        math.cos(latitude) * math.cos(longitude),
        math.cos(latitude) * math.sin(longitude),
        math.sin(latitude),
    )
    x, y, z = (math.fsum(a * b for a, b in zip(row, vector, strict=True)) for row in _GALACTIC_AXES)
    return Position(
        math.degrees(math.atan2(y, x)) % 360, math.degrees(math.asin(max(-1.0, min(1.0, z))))
    )


def position_in_name(name: str) -> Position | None:
    """Return the position that a designation carries, such as ``2MASS J18492042-3255483``.

    Names cut their digits instead of rounding them: `error_arcsec` is one step of the last digit.
    """
    text = name.translate(_SIGNS)
    if match := _J_NAME.search(text):
        return _designated(match)
    if match := _G_NAME.search(text):
        l_deg, b_deg = float(match[1]), float(match[2])
        if l_deg > 360 or abs(b_deg) > 90:
            return None
        place = _from_galactic(l_deg, b_deg, name)
        step = max(10.0 ** -len(match[one].partition(".")[2]) for one in (1, 2))
        return Position(place.ra_deg, place.dec_deg, error_arcsec=step * 3600)
    return None


def _designated(match: re.Match[str]) -> Position | None:
    """Read ``Jhhmmss.ss+ddmmss.s`` of any length, with or without its points."""
    hours, hours_step = _packed(match[1], match[2] or "")
    degrees, degrees_step = _packed(match[4], match[5] or "")
    if hours is None or degrees is None or hours >= 24 or degrees > 90:
        return None
    dec = -degrees if match[3] == "-" else degrees
    step = max(hours_step * 15 * math.cos(math.radians(dec)), degrees_step)
    return Position(hours * 15, dec, error_arcsec=step * 3600)


def _packed(digits: str, decimals: str) -> tuple[float | None, float]:
    """Return the value of ``hhmmss`` and one step of its last digit, both in its first unit.

    Digits that make no whole pair, and those after the third pair, are decimals: ``105`` is 10.5.
    """
    pairs = [digits[place : place + 2] for place in range(0, min(len(digits), 6) - 1, 2)]
    decimals = digits[2 * len(pairs) :] + decimals
    if any(int(pair) >= 60 for pair in pairs[1:]):
        return None, 0.0
    last = float(f"{pairs[-1]}.{decimals or '0'}")
    numbers = [*(float(pair) for pair in pairs[:-1]), last]
    value = math.fsum(number / 60**place for place, number in enumerate(numbers))
    return value, 10.0 ** -len(decimals) / 60 ** (len(pairs) - 1)


def hours_text(ra_deg: float) -> str:
    """Return a right ascension as ``00h42m44.33s``."""
    return "{}h{:02d}m{:05.2f}s".format(*_sexagesimal(ra_deg / 15 % 24, 2, wrap=24))


def degrees_text(dec_deg: float) -> str:
    """Return a declination as ``+41d16m07.5s``."""
    sign = "-" if dec_deg < 0 else "+"
    return sign + "{}d{:02d}m{:04.1f}s".format(*_sexagesimal(abs(dec_deg), 1))


def _sexagesimal(value: float, decimals: int, *, wrap: int = 0) -> Sequence[object]:
    units = 10**decimals
    total = round(value * 3600 * units)
    whole, rest = divmod(total, 3600 * units)
    minutes, seconds = divmod(rest, 60 * units)
    return (f"{whole % wrap if wrap else whole:02d}", minutes, seconds / units)
