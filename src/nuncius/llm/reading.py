"""How the built-in model reads: tool results back into passages, a question into what it asks."""

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nuncius.core.stem import stem, stems
from nuncius.core.text import STOP_WORDS, language_of, query_terms

_PAPER = re.compile(r"^# (?P<id>[a-z0-9]{8}) · (?P<title>.*) · (?P<ref>[^·]*)$")
_PASSAGE = re.compile(
    r"^\[(?P<id>[a-z0-9]{8}-(?P<ordinal>\d+))\] (?:p\. (?P<page>\d+)|no pages)"
    r"(?: · match (?P<match>\d+)%)?"
    r"(?: · (?P<kind>table|caption|equation|abstract))?(?: · (?P<section>.*))?$"
)
_SENTENCE = re.compile(r"^(?P<n>\d+)\| (?P<text>.*)$")
_TERMS = re.compile(r"^Terms \([^)]*\): (?P<terms>.*)$")
_TERM = re.compile(r"^(?P<words>.*?) \((?P<count>\d+)\)(?: ~ (?P<related>.*) \((?P<also>\d+)\))?$")
_LIBRARY = re.compile(r"^Library: (?P<papers>\d+) papers, (?P<passages>\d+) passages\.$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that a tool showed, with the handle that cites it."""

    passage_id: str
    number: int
    text: str
    stems: tuple[str, ...]


@dataclass(slots=True)
class ShownPassage:
    """A passage that a tool showed."""

    passage_id: str
    paper_id: str
    ordinal: int
    page: int | None
    section: str
    kind: str
    match: float = 0.0
    """How well it fits the search, 0 to 1; 0 where it was read without a search."""
    sentences: list[Sentence] = field(default_factory=list[Sentence])


@dataclass(frozen=True, slots=True)
class ShownPaper:
    """A paper that a tool showed passages of."""

    paper_id: str
    title: str
    reference: str


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the search.

    Attributes:
        phrases: Its own spellings, as stems.
        related: Other words for it, which count less.
        weight: How rare it is in the library (log of the inverse share of passages).
        count: In how many passages it or a related word occurs; 0: nowhere.
    """

    words: str
    phrases: tuple[tuple[str, ...], ...]
    related: tuple[tuple[str, ...], ...]
    weight: float
    count: int


@dataclass(slots=True)
class Desk:
    """Everything that the tools showed in this turn."""

    papers: dict[str, ShownPaper] = field(default_factory=dict[str, ShownPaper])
    passages: dict[str, ShownPassage] = field(default_factory=dict[str, ShownPassage])
    terms: list[Term] = field(default_factory=list[Term])
    papers_in_library: int = 0
    passages_in_library: int = 0

    def read(self, output: str) -> None:
        """Take in one tool result in the form of `rag_search` and `get_paper_content`."""
        paper: ShownPaper | None = None
        passage: ShownPassage | None = None
        for line in output.splitlines():
            if match := _SENTENCE.match(line):
                if passage:
                    _append(passage, int(match["n"]), match["text"])
            elif match := _PASSAGE.match(line):
                passage = ShownPassage(
                    match["id"],
                    paper.paper_id if paper else match["id"][:8],
                    int(match["ordinal"]),
                    int(match["page"]) if match["page"] else None,
                    match["section"] or "",
                    match["kind"] or "text",
                    int(match["match"] or 0) / 100,
                )
                passage = self.passages.setdefault(passage.passage_id, passage)
            elif match := _PAPER.match(line):
                paper = ShownPaper(match["id"], match["title"], match["ref"])
                self.papers.setdefault(paper.paper_id, paper)
                passage = None
            elif match := _LIBRARY.match(line):
                self.papers_in_library = int(match["papers"])
                self.passages_in_library = int(match["passages"])
            elif match := _TERMS.match(line):
                self.terms = list(_read_terms(match["terms"], self.passages_in_library))


def _append(passage: ShownPassage, number: int, text: str) -> None:
    """Add a sentence in its place; a search shows some of a passage, a reading all of it."""
    at = bisect_left([sentence.number for sentence in passage.sentences], number)
    if at == len(passage.sentences) or passage.sentences[at].number != number:
        sentence = Sentence(passage.passage_id, number, text, tuple(stems(text)))
        passage.sentences.insert(at, sentence)


def _read_terms(text: str, total: int) -> Iterator[Term]:
    for piece in text.split("; "):
        match = _TERM.match(piece)
        if not match:
            continue
        own = match["words"].split(" = ")
        related = match["related"].split(" ~ ") if match["related"] else []
        count = int(match["count"])
        yield Term(
            words=own[0],
            phrases=_stemmed(own),
            related=_stemmed(related),
            weight=math.log((total + 1) / (count + 0.5)),
            count=count + int(match["also"] or 0),
        )


def _stemmed(spellings: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        dict.fromkeys(tuple(stem(token) for token in words.split()) for words in spellings)
    )


# --- what a question asks ------------------------------------------------------------------------

DIMENSIONS: dict[str, str] = {
    "length": r"(?:pc|kpc|Mpc|Gpc|km|m|cm|mm|nm|µm|μm|um|microns?|Å|angstroms?|au|AU|ly|light[- ]years?|parsecs?|kiloparsecs?|megaparsecs?|R_?(?:sun|J(?:up)?|E(?:arth)?|[⊙☉⊕♃])|R(?=\s|$|\W)|(?:solar|Earth|Jupiter|stellar) radi(?:us|i)|kilomet\w+|met(?:er|re)s?|千米|公里|秒差距|千秒差距|光年|米|微米)",
    "time": r"(?:s|ms|µs|μs|min|hr?s?|d|days?|yr|kyr|Myr|Gyr|Ma|Ga|years?|hours?|minutes?|seconds?|weeks?|months?|nights?|秒|分钟|小时|天|日|个?月|年|百万年|亿年)",
    "mass": r"(?:kg|g|M_?(?:sun|J(?:up)?|E(?:arth)?|[⊙☉⊕♃])|M(?=\s|$|\W)|(?:solar|Earth|Jupiter|stellar) mass(?:es)?|太阳质量|地球质量|千克)",
    "temperature": r"(?:K|mK|kelvins?|keV|°C|开尔文|开)",
    "angle": r"(?:deg|degrees?|°|arcmin\w*|arcsec\w*|mas|″|′|\"|radians?|rad|角秒|角分|度)",
    "speed": r"(?:km\s?s|km/s|m\s?s|m/s|cm\s?s|千米每秒|公里每秒)",
    "brightness": r"(?:mag\w*|Jy|mJy|erg|W|L_?(?:sun|[⊙☉])|星等)",
    "energy": r"(?:eV|keV|MeV|GeV|TeV|erg|J)",
    "frequency": r"(?:Hz|mHz|kHz|MHz|GHz|μHz|µHz)",
    "hubble": r"(?:km\s?s|km/s)",
}  # fmt: skip
"""Units of each dimension, as a pattern to follow a number."""

QUANTITIES: dict[str, tuple[str, ...]] = {
    "long": ("time", "length"), "age": ("time",), "old": ("time",), "duration": ("time",), "period": ("time",), "lifetime": ("time",),
    "timescale": ("time",), "cadence": ("time",),
    "distance": ("length",), "far": ("length",), "radius": ("length",), "diameter": ("length",), "size": ("length", "angle"),
    "wavelength": ("length",), "separation": ("length", "angle"), "parallax": ("angle",),
    "mass": ("mass",), "heavy": ("mass",), "massive": ("mass",),
    "temperature": ("temperature",), "hot": ("temperature",), "warm": ("temperature",), "cold": ("temperature",),
    "inclination": ("angle",), "resolution": ("angle", "length"),
    "velocity": ("speed",), "speed": ("speed",), "fast": ("speed", "time"),
    "magnitude": ("brightness",), "luminosity": ("brightness",), "flux": ("brightness",), "bright": ("brightness",),
    "frequency": ("frequency",), "energy": ("energy", "brightness"),
}  # fmt: skip
"""Quantities (stems are compared) and the dimensions that a value of theirs has."""

_ZH_QUANTITIES = {
    "多远": "distance", "距离": "distance", "多大年龄": "age", "年龄": "age", "多老": "age", "多久": "duration",
    "周期": "period", "半径": "radius", "直径": "diameter", "质量": "mass", "多重": "mass", "温度": "temperature",
    "多热": "temperature", "速度": "velocity", "星等": "magnitude", "光度": "luminosity", "倾角": "inclination",
    "频率": "frequency", "波长": "wavelength", "视差": "parallax", "多快": "speed", "时间": "duration",
}  # fmt: skip

_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|large|big|small|old|far|long|deep|bright|hot|cold|fast|massive|heavy|eccentric|strong|wide|high|often|precise\w*|accurate\w*|close|thick|dense|likely)\b"
    r"|\b(?:what|which|by what|at what|above which)\s+(?:is|was|are|were)?\s*(?:the\s+)?(?:[\w-]+\s+){0,4}?(?:values?|number|fraction|percentage|rate|factor|limit|ratio|mass|radius|period|age|distance|temperature|depth|duration|eccentricity|inclination|redshift|amplitude|luminosity|magnitude|velocity|size|significance|uncertainty|precision|constant|threshold|exponent|slope|index|metallicity|density|flux|frequency|width|resolution|cost|probability|spin)\b"
    r"|多少|多大|多远|多久|多长|多高|多重|多快|几个|几颗|几年|多深|多亮|多热|多宽",
    re.IGNORECASE,
)
_ASKS_COUNT = re.compile(r"\bhow many\b|\bnumber of\b|多少个|多少颗|几个|几颗|多少次|数量", re.IGNORECASE)
_HOW_MANY_UNITS = re.compile(
    r"\bhow many (" + "|".join(DIMENSIONS.values()).replace("(?=\\s|$|\\W)", "(?!)") + r")\b"
    r"|多少(千秒差距|秒差距|光年|公里|千米|秒|分钟|小时|天|年|百万年|亿年|太阳质量|地球质量)"
)
_ASKS_DATE = re.compile(r"\bwhen\b|\b(?:which|what) (?:year|date|month)\b|哪一?年|什么时候|何时", re.IGNORECASE)
_ASKS_WHY = re.compile(r"\bwhy\b|\breasons?\b|为什么|为何|原因", re.IGNORECASE)
_HEAD = re.compile(
    r"\b(?:what|which)\s+(?:is|are|was|were|'s)?\s*(?:the|a|an)?\s*((?:[\w-]+\s+){0,4}?[\w-]+?)\s*"
    r"(?:\b(?:of|for|in|from|at|on|to|with|by|did|does|do|was|were|is|are|has|have|had|can|could|would|when)\b|\?|$)",
    re.IGNORECASE,
)
"""What is asked for: the words between the question word and the first preposition or verb."""
_SYMBOL = re.compile(r"\bwhat (?:is|was)\s+(?:the\s+)?([A-Za-zα-ωΑ-Ω]{1,3}_?\d*)\s+(?:of|from|for|in|at|when|with)\b", re.IGNORECASE)
_NAME = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Za-z0-9]*[A-Z][A-Za-z0-9*]*(?:[-+./][A-Za-z0-9]+)*(?:\s\d[\w.+-]*)?|[a-z]+-?\d[\w-]*)"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, taken apart.

    Attributes:
        names: Identifiers in it (stems of each), such as ``kepler 1643``: what an answer must be about.
        dimensions: Dimensions that a value in the answer must have; empty where unknown.
        focus: Stem of the thing or property asked for (``eccentr`` in "how eccentric"), or empty.
    """

    text: str
    language: str
    names: tuple[tuple[str, ...], ...]
    number: bool
    count: bool
    date: bool
    why: bool
    dimensions: tuple[str, ...]
    focus: str


def read_question(text: str) -> Question:
    """Take a question apart by the forms of English and Chinese questions."""
    language = language_of(text)
    quantity = _quantity(text, language)
    count = bool(_ASKS_COUNT.search(text))
    number = bool(quantity and re.search(r"\bhow\b|\bwhat\b|\bwhich\b|多|几|是", text, re.IGNORECASE)) or bool(
        _ASKS_NUMBER.search(text) or _SYMBOL.search(text)
    )
    unit = _HOW_MANY_UNITS.search(text)
    if unit:
        count = False
    return Question(
        text=text,
        language=language,
        names=tuple(_names(text)),
        number=number or count,
        count=count,
        date=bool(_ASKS_DATE.search(text)),
        why=bool(_ASKS_WHY.search(text)),
        dimensions=_dimensions(text, quantity, (unit[1] or unit[2]) if unit else "") if not count else (),
        focus=_focus(text, language),
    )


def _quantity(text: str, language: str) -> str:
    if language == "zh":
        return next((quantity for word, quantity in _ZH_QUANTITIES.items() if word in text), "")
    known = {stem(word): word for word in QUANTITIES}
    how = re.search(r"\bhow (\w+)", text, re.IGNORECASE)
    if how and stem(how[1].lower()) in known:
        return known[stem(how[1].lower())]
    asked = _HEAD.search(text)
    head = stems(asked[1])[-1:] if asked else []
    return known.get(head[0], "") if head else ""


def _dimensions(text: str, quantity: str, unit: str) -> tuple[str, ...]:
    if unit:
        return tuple(name for name, pattern in DIMENSIONS.items() if re.fullmatch(pattern, unit))
    if quantity == "long":
        lasts = re.search(r"\b(?:last|take|took|live|survive|need|run|observe)", text, re.IGNORECASE)
        return ("time",) if lasts else ("time", "length")
    return QUANTITIES.get(quantity, ())


def _focus(text: str, language: str) -> str:
    if language == "zh":
        return ""
    how = re.search(r"\bhow (\w+)", text, re.IGNORECASE)
    if how and how[1].lower() in {"many", "much"}:
        counted = re.search(r"\bhow (?:many|much)\s+((?:[\w-]+\s+){0,3}?[\w-]+?)\s+(?:\b(?:does|do|did|is|are|was|were|has|have|had|remain|can|of|in)\b)", text, re.IGNORECASE)
        return (stems(counted[1]) or [""])[-1] if counted else ""
    if how and _ASKS_NUMBER.search(how[0]):
        return stem(how[1].lower())
    asked = _HEAD.search(text)
    return (stems(asked[1]) or [""])[-1] if asked else ""


def _names(text: str) -> Iterator[tuple[str, ...]]:
    for match in _NAME.finditer(text):
        word = match[0].strip(" .-/")
        if word.isdigit() or word.lower() in STOP_WORDS or not _is_identifier(word):
            continue
        for term in query_terms(word):
            yield tuple(stem(token) for token in term[0].split())


def _is_identifier(word: str) -> bool:
    """Tell whether a word names one thing (``KOI-7368``, ``DECIGO``), not merely has a capital."""
    return any(char.isdigit() for char in word) or sum(char.isupper() for char in word) > 1


def holds(phrase: Sequence[str], tokens: Sequence[str]) -> bool:
    """Tell whether `phrase` stands in `tokens` in order and without gaps."""
    if len(phrase) == 1:
        return phrase[0] in tokens
    size = len(phrase)
    return any(tuple(tokens[i : i + size]) == tuple(phrase) for i in range(len(tokens) - size + 1))
