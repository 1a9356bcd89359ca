"""Names of objects as people write them, as SIMBAD knows them, and as papers print them.

Greek letters, constellations, Chinese names.
"""

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
_SUPERSCRIPTS = "¹²³⁴⁵⁶⁷⁸⁹"
_CLASSES = frozenset({"alf02 CVn", "bet Cep", "del Sct", "gam Dor", "lam Boo"})
"""Stars better known for the class that is named after them."""
_NOT_THE_STAR = re.compile(
    r"[\s-]+(?:type|like|class|(?:(?:pulsating|variable|hybrid|eclipsing)\s+)?(?:stars|variables|pulsators"
    r"|binaries|systems)|(?:star\s+|open\s+|moving\s+|dark\s+|molecular\s+)?(?:clusters?|clouds?|groups?|nebula"
    r"|association|complex|region|core))(?!\w)",
    re.IGNORECASE,
)
"""After a star's name: a class of stars, or a cluster or cloud that is named after the star."""
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
    text = (files("nuncius.sources") / name).read_text(encoding="utf-8")
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


@cache
def _in_words() -> re.Pattern[str]:
    """Return the pattern of a star's name in running text, where letters and cases must be sure."""
    table = _table("constellations.tsv")
    short = "|".join(row[0] for row in table)
    genitive = "|".join(row[2].replace(" ", r"\s") for row in table)
    spelled = "|".join(_SPELLED)
    simbad = "|".join(re.escape(one) for one in _GREEK.values() if one not in {"del", *_SPELLED})
    place = rf"(?:(?!And\s(?:(?i:{spelled})\b|[{''.join(_GREEK)}]))(?:{short})|(?i:{genitive}))(?![\w-])"
    return re.compile(
        r"(?<![\w:/-])(?<!\bH\s)(?<!\bLy\s)(?<!\bLyman\s)(?<!\bBalmer\s)"
        rf"(?:[{''.join(_GREEK)}][\d{_SUPERSCRIPTS}]{{0,2}}[\s-]?{place}"
        rf"|(?:(?i:{spelled})|{simbad})[\d{_SUPERSCRIPTS}]{{0,2}}[\s-]{place}"
        rf"|V\d{{3,4}}\s(?i:{genitive})(?!\w)|[1-9]\d?\s(?i:{genitive})(?!\w))"
        r"(?:\s[A-H]{1,2}(?![\w'’-]))?(?:\s?[b-k](?![\w'’-]))?"
    )


def find_star(text: str, start: int = 0) -> re.Match[str] | None:
    """Return the first star in running text that a letter or number in a constellation names.

    ``δ Sct``, ``β Lyrae variables`` and ``σ Ori cluster`` are no stars but classes and clusters.
    """
    for match in _in_words().finditer(text, start):
        is_class = standard_name(match[0]) in _CLASSES
        if not is_class and not _NOT_THE_STAR.match(text, match.end()):
            return match
    return None


def printed_names(name: str) -> tuple[str, ...]:
    """Return how papers print a star's name: ``bet Pic`` as beta Pictoris and beta Pic.

    Other names are printed as they are.
    """
    standard = standard_name(name)
    match = next((found for one in _patterns() if (found := one.fullmatch(standard))), None)
    if match is None:
        return (standard,)
    words = (word for word, short in _SPELLED.items() if short == match["letter"])
    letter = next(words, match["letter"])
    number = match["number"].lstrip("0")
    rows = _table("constellations.tsv")
    genitive = next(row[2] for row in rows if row[0] == match["place"])
    return tuple(f"{letter}{number} {one}{match['tail']}" for one in (genitive, match["place"]))


@cache
def _words_of_letters() -> dict[int, str]:
    words = {short: word for word, short in _SPELLED.items()}
    return {ord(char): f" {words[short]} " for char, short in _GREEK.items()}


def with_greek_in_words(text: str) -> str:
    """Return the text with its small Greek letters in words: names may be printed either way."""
    return text.translate(_words_of_letters())


_TOPICS = frozenset({"银心", "银河系中心", "旋涡星系", "大角"})
"""In running text these mean a region, a kind, or a part of another word."""


@cache
def _chinese_in_words() -> re.Pattern[str]:
    places = "|".join(row[3] for row in _table("constellations.tsv"))
    names = "|".join(
        map(re.escape, sorted(_common_names().keys() - _TOPICS, key=len, reverse=True))
    )
    star = "星(?![云系团风])"
    return re.compile(
        rf"(?:(?P<common>{names})|(?:{places})座\s?"
        rf"(?:[{''.join(_GREEK)}]\d{{0,2}}(?:{star}|(?!型))|V\d{{3,4}}星?"
        rf"|[1-9]\d?(?:{star}|(?=\s?[b-k])|$)|[A-Z]{{1,2}}{star}))"
        r"(?P<tail>(?:\s?[A-C](?![A-Za-z]))?(?:\s?[b-k](?![A-Za-z]))?)(?![A-Za-z])"
    )


def with_printed_names(text: str, *, around: tuple[str, str]) -> str:
    """Put names that papers in English print in place of those in Chinese text.

    Args:
        around: Marks that are put before and after a name of an object.
    """

    def printed(match: re.Match[str]) -> str:
        if match["common"]:
            name = f"{printed_names(match['common'])[0]} {match['tail'].strip()}".strip()
        else:
            name = printed_names(match[0])[0]
        before, after = ("", "") if standard_name(name) in _CLASSES else around
        return f" {before}{name}{after} "

    return _chinese_in_words().sub(printed, text)


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
