"""Turn what people write into names that SIMBAD knows: Greek letters, constellations, Chinese."""

import re
import unicodedata
from functools import cache
from importlib.resources import files

_GREEK = {
    "α": "alf", "β": "bet", "γ": "gam", "δ": "del", "ε": "eps", "ϵ": "eps", "ζ": "zet", "η": "eta",
    "θ": "tet", "ϑ": "tet", "ι": "iot", "κ": "kap", "λ": "lam", "μ": "mu.", "ν": "nu.", "ξ": "ksi",
    "ο": "omi", "π": "pi.", "ρ": "rho", "σ": "sig", "ς": "sig", "τ": "tau", "υ": "ups", "φ": "phi",
    "ϕ": "phi", "χ": "chi", "ψ": "psi", "ω": "ome",
}  # fmt: skip
_SPELLED = {
    "alpha": "alf", "beta": "bet", "gamma": "gam", "delta": "del", "epsilon": "eps", "zeta": "zet",
    "eta": "eta", "theta": "tet", "iota": "iot", "kappa": "kap", "lambda": "lam", "mu": "mu.",
    "nu": "nu.", "xi": "ksi", "omicron": "omi", "pi": "pi.", "rho": "rho", "sigma": "sig",
    "tau": "tau", "upsilon": "ups", "phi": "phi", "chi": "chi", "psi": "psi", "omega": "ome",
}  # fmt: skip
_LETTERS = {**_GREEK, **_SPELLED, **{short: short for short in _GREEK.values()}}
_TAIL = r"(?P<tail>(?:\s[A-H]{1,2}[a-d]?)?(?:\s?[b-k])?)"
_PLANET = re.compile(r"(?P<star>.*(?:[\dA-Z)*]|\s))(?P<planet>[b-k])")


@cache
def constellations() -> dict[str, str]:
    """Return abbreviations by every form of a constellation's name, in lower case."""
    forms: dict[str, str] = {}
    for line in _table("constellations.tsv"):
        short, nominative, genitive, chinese = line
        for form in (short, nominative, genitive, f"{chinese}座", chinese):
            forms[form.lower()] = short
    return forms


@cache
def _common_names() -> dict[str, str]:
    return {chinese: name for chinese, name in _table("common_names.tsv")}  # noqa: C416  (rows are lists)


def _table(name: str) -> list[list[str]]:
    text = (files("nuncius.library") / name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if line]


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of Bayer's, Flamsteed's and variable stars' names."""
    forms = "|".join(sorted(map(re.escape, constellations()), key=len, reverse=True))
    letters = "|".join(sorted(map(re.escape, _LETTERS), key=len, reverse=True))
    place = rf"(?P<place>(?i:{forms}))"
    return (
        re.compile(
            rf"(?:\*\s)?(?P<letter>(?i:{letters}))[\s-]?(?P<number>\d{{0,2}})\s?-?{place}{_TAIL}"
        ),
        re.compile(rf"(?:\*\s)?(?P<letter>)(?P<number>\d{{1,3}})\s?{place}{_TAIL}"),
        re.compile(rf"(?:V\*\s)?(?P<letter>[A-Z]{{1,2}}|V\d{{3,4}})(?P<number>)\s{place}{_TAIL}"),
    )


def standard_name(name: str) -> str:
    """Return the name to ask for: ``α² Centauri`` is ``alf02 Cen``; others stay as they are.

    Source: https://cds.unistra.fr/cgi-bin/Dic-Simbad (how SIMBAD writes Bayer's letters)
    """
    bare = " ".join(unicodedata.normalize("NFKC", name).split())
    if _is_chinese(bare):
        bare = _from_chinese(bare)
    for pattern in _patterns():
        if match := pattern.fullmatch(bare):
            return _star_name(match)
    return bare


def _star_name(match: re.Match[str]) -> str:
    written = match["letter"]
    letter = _LETTERS.get(written.lower(), written)
    number = match["number"]
    if letter != written or letter in _GREEK.values():  # a letter of Bayer's
        number = f"{int(number):02d}" if number else ""
    tail = re.sub(r"\s*([b-k])$", r" \1", match["tail"])
    return f"{letter}{number} {constellations()[match['place'].lower()]}{tail}"


def _is_chinese(text: str) -> bool:
    return bool(re.search("[\u3400-\u4dbf\u4e00-\u9fff]", text))


def _from_chinese(text: str) -> str:
    """Return a common name's designation; turn ``飞马座51b`` into ``51 飞马座 b``."""
    squeezed = re.sub(r"\s+", "", text)
    if found := _common_names().get(squeezed):
        return found
    if (planet := re.fullmatch(r"(.+?)([b-k])", squeezed)) and planet[1] in _common_names():
        return f"{_common_names()[planet[1]]} {planet[2]}"
    places = "|".join(
        sorted((one for one in constellations() if _is_chinese(one)), key=len, reverse=True)
    )
    match = re.fullmatch(
        rf"({places})([a-zα-ωϑϕϵ]+?\d*|\d+|[A-Z]{{1,2}}|V\d+)星?([A-C]?)([b-k]?)", squeezed
    )
    if match is None:
        return text
    return " ".join(part for part in (match[2], match[1], match[3], match[4]) if part)


def star_of_planet(name: str) -> tuple[str, str] | None:
    """Return the star's name and the planet's letter of ``TRAPPIST-1 b``; None: no planet's name."""
    match = _PLANET.fullmatch(name)
    star = match["star"].strip() if match else ""
    return (star, match["planet"]) if match and len(star) > 2 else None
