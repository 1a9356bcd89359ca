"""Numbers, compared with their signs, exponents and units: does a quote say what is claimed of it."""

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SUPERSCRIPT_RUN = re.compile("[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_TEX = re.compile(r"\\(?:mathrm|mathbf|rm|text|textrm|,|;|!|:|left|right)\b|\\[,;!: ]|[{}$~]")
_TIMES_TEN = r"(?:\s*(?:×|x|\\times|·|\*)\s*10\s*\^?\s*\(?(?P<power>[-+]?\d{1,3})\)?|[eE](?P<e>[-+]?\d{1,3}))?"
_NUMBER = re.compile(
    r"(?P<sign>(?:(?<=[\s(\[~≈≃∼<>=,;:±/^_])|^)[-+]|±\s*)?"
    r"(?P<digits>(?<![A-Za-z0-9.])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|(?<![A-Za-z0-9.])\.\d+|(?<=[-+±~≈∼<>=(])\d+(?:\.\d+)?)"
    + _TIMES_TEN
)
_CATALOGUE = re.compile(
    r"(?:\b[A-Za-z]*[A-Z]{2,}[A-Za-z]*|\b[A-Z][a-z]+-|\b[A-Z]\d*|[A-Za-z]-)\s?$|[A-Za-z]\d[\d.]*[-+]$"
)
_ROUNDED = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|circa|some|~|≈|≃|∼|(?:大约|约|接近|近)(?:为|是|等于|有)?)\s*[-+]?$",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"(?:fig(?:ure|s|\.)?|tab(?:le|\.)?|sec(?:tion|t|\.)?|eq(?:uation|n|s|\.)?|page|p\.|pp\.|chapter|图|表|第|节|页)\s*$",
    re.IGNORECASE,
)

_UNITS = {
    "percent": "%", "per cent": "%", "％": "%",
    "kilometers": "km", "kilometres": "km", "kilometer": "km", "kilometre": "km",
    "seconds": "s", "second": "s", "sec": "s", "秒": "s",
    "minutes": "min", "minute": "min", "分钟": "min", "hours": "h", "hour": "h", "hr": "h", "小时": "h",
    "days": "d", "day": "d", "天": "d", "years": "yr", "year": "yr", "yrs": "yr", "年": "yr",
    "megaparsecs": "Mpc", "megaparsec": "Mpc", "kiloparsecs": "kpc", "parsecs": "pc", "parsec": "pc",
    "degrees": "deg", "degree": "deg", "°": "deg", "度": "deg", "arcseconds": "arcsec", "arcsecond": "arcsec",
    "kelvin": "K", "solar masses": "Msun", "M☉": "Msun", "M⊙": "Msun", "M_sun": "Msun", "R☉": "Rsun", "R⊙": "Rsun",
    "million years": "Myr", "billion years": "Gyr", "Ma": "Myr", "Ga": "Gyr",
    "microns": "µm", "micron": "µm", "μm": "µm", "um": "µm",
}  # fmt: skip
_UNIT_WORD = re.compile(
    r"\s*(?:(?:±|\+/-|\+|-)\s*[\d.]+\s*|[_^]\S+\s*){0,3}(?P<unit>[%％°]|(?:million|billion|solar|per)\s\w+|[A-Za-zµμ☉⊙Å][\w☉⊙]*|[\u4e00-\u9fff]{1,2})"
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number as printed. `unit` is the first word of its unit in one spelling, or empty."""

    text: str
    value: Decimal
    decimals: int
    """Digits after the point, for rounding."""
    unit: str = ""
    signed: bool = False
    rounded: bool = False
    """Whether the words before it say so: about, ~, 约."""


def _plain(text: str) -> str:
    text = _SUPERSCRIPT_RUN.sub(lambda run: "^" + run[0].translate(_SUPERSCRIPTS), text)
    text = unicodedata.normalize("NFKC", text)
    text = text.replace("\u2212", "-").replace("\u2010", "-").replace("\u2011", "-")
    text = (
        re.sub(r"\\pm\b", "±", text)
        .replace("+/-", "±")
        .replace("\\sim", "~")
        .replace("\\times", "×")
    )
    return _TEX.sub("", text)


def find_numbers(text: str) -> list[Number]:
    """Return the numbers in `text` that claim something.

    Left out: digits within names (``NGC 1234``, ``Kepler-1627``, ``DR3``) and pointers to figures,
    tables, sections and pages.
    """
    plain = _plain(text)
    found: list[Number] = []
    for match in _NUMBER.finditer(plain):
        before = plain[max(0, match.start() - 24) : match.start()]
        if _CATALOGUE.search(before) and not before.endswith((" = ", "=", "~")):
            continue
        if _REFERENCE.search(before):
            continue
        number = _read(match, before, plain)
        if number:
            found.append(number)
    return found


def _read(match: re.Match[str], before: str, plain: str) -> Number | None:
    digits = match["digits"].replace(",", "")
    sign = (match["sign"] or "").strip()
    power = match["power"] or match["e"]
    try:
        value = Decimal(("-" if sign == "-" else "") + digits)
        if power:
            value = value.scaleb(int(power))
    except InvalidOperation:
        return None
    unit = _UNIT_WORD.match(plain, match.end())
    return Number(
        text=match[0].strip(),
        value=value,
        decimals=len(digits.partition(".")[2]) - int(power or 0),
        unit=_unit(unit["unit"]) if unit else "",
        signed=sign in {"+", "-"},
        rounded=bool(_ROUNDED.search(before)),
    )


_KNOWN_UNITS = frozenset(
    """% km m cm mm µm nm s ms min h d yr kyr Myr Gyr pc kpc Mpc Gpc au AU deg arcmin arcsec mas K mK keV MeV
    GeV TeV eV erg Jy mJy Hz kHz MHz GHz mag dex Msun Rsun Lsun Å W J kg g G ppm""".split()
)


def _unit(word: str) -> str:
    spelled = _UNITS.get(word, _UNITS.get(word.lower(), word))
    return spelled if spelled in _KNOWN_UNITS else ""


def missing_numbers(sentence: str, quotes: list[str], also: str = "") -> list[str]:
    """Return the numbers of `sentence` that stand in none of the quotes.

    Sign, digits and exponent must agree, and the unit where both say one that is known. A number
    that its sentence calls rounded (about, ~, 约) may be a rounding of the quote's.

    Args:
        also: More text whose numbers count as known, such as a cited paper's title and year.
    """
    known = [number for quote in quotes for number in find_numbers(quote)]
    named = find_numbers(also)
    return [
        number.text
        for number in find_numbers(sentence)
        if not any(_agree(number, other) for other in known)
        and not any(number.value == other.value for other in named)
    ]


def _agree(claimed: Number, quoted: Number) -> bool:
    if claimed.unit and quoted.unit and claimed.unit != quoted.unit:
        return False
    if claimed.value == quoted.value:
        return True
    if not claimed.rounded:
        return False
    step = Decimal(1).scaleb(-claimed.decimals)
    if claimed.decimals <= 0:
        trailing = len(claimed.text) - len(claimed.text.rstrip("0"))
        step = step.scaleb(trailing)
    return abs(claimed.value - quoted.value) * 2 <= step
