"""What a sentence claims in numbers: values with units, counts, years; not those of citations."""

import re
from collections.abc import Sequence

from nuncius.core.stem import stems
from nuncius.llm.reading import holds

MOST_JOINTS = 24
"""Signs, errors and powers that may stand between a number and its unit."""
REACH, REACH_CHARS = 6, 60
"""How far behind a number the thing may stand that it counts (173 candidate RSG-5 members)."""

_NUMBER = re.compile(r"(?<![A-Za-z\d.])\d[\d,]*(?:\.\d+)?")
_JOINT = re.compile(
    r"\s*(?:[±×^_+\-−–,(){}\[\]$\\/~]+|to\b|and\b|pm\b|(?:math)?rm\b|text\b|times\b|stat\b|sys\b"
    r"|thousand|million|billion|[百千万亿]|\d[\d,.]*)"
)
_CITATION = re.compile(r"\([^()]*\b(?:1[89]|20)\d\d[a-z]?\b[^()]*\)")  # (Bouma et al. 2022)
_NO_CLAIM = re.compile(
    _CITATION.pattern
    + r"|\bal\.?,?\s*\(?\d{4}[a-z]?(?:,\s*\d{4}[a-z]?)*\)?|&\s*\w+\s*\(?\d{4}[a-z]?\)?"
    # names with digits: GW170817, KOI-7368, NGC 1010, 4-year
    r"|(?<![\w.])[A-Za-z][\w.]*[-–+]?\d[\w.+-]*|\b[A-Z]\w*[A-Z]\w*\s\d+(?![.\d])|\b\d+-[A-Za-z]+"
    r"|\b(?:Fig|Figure|Table|Tab|Sect|Section|Sec|Eq|Equation|Appendix|Chapter)s?\.?\s*\(?[A-Z]?\d+\)?"
    r"|[图表第]\s*\d+|^\(?\d+\)|\(\d{1,3}\)\.?$",
)
_COUNTED = re.compile(
    r"(?:\d[\d,]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|dozens?"
    r"|hundreds?|thousands?|millions?)\b|[一二两三四五六七八九十百千万亿]+\s*[个颗次种类条组台])",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:1[6-9]|20)\d\d\b|\d\s*年")


def without_citations(text: str) -> str:
    """Return `text` without citations in brackets."""
    return _CITATION.sub(" ", text)


def claims(text: str) -> str:
    """Return `text` without the numbers that claim nothing: of citations, names, figures, equations."""
    return _NO_CLAIM.sub(" ", text)


def holds_number(text: str) -> bool:
    """Tell whether a number in digits stands in these claims."""
    return any(char.isdigit() for char in text)


def holds_count(text: str) -> bool:
    """Tell whether a number stands in these claims, in digits or in words."""
    return bool(_COUNTED.search(text))


def holds_year(text: str) -> bool:
    """Tell whether a year stands in these claims."""
    return bool(_YEAR.search(text))


def holds_value(text: str, unit: re.Pattern[str]) -> bool:
    """Tell whether a number stands before one of the units: ``46+9−7 Myr``, ``(67.4 ± 0.5) km/s``."""
    for number in _NUMBER.finditer(text):
        position = number.end()
        for _ in range(MOST_JOINTS):
            if unit.match(text, position):
                return True
            joint = _JOINT.match(text, position)
            if not joint:
                break
            position = joint.end()
    return False


def counts(text: str, things: Sequence[tuple[str, ...]]) -> bool:
    """Tell whether one of the things (stems) follows a number, or the "number of" anything is told."""
    if re.search(r"\bnumbers? of\b", text):
        return True
    for number in _COUNTED.finditer(text):
        following = stems(text[number.end() : number.end() + REACH_CHARS])[:REACH]
        if any(holds(thing, following) for thing in things):
            return True
    return False
