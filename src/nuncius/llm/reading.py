"""How the built-in model reads: tool results back into papers, passages and sentences."""

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nuncius.core.stem import stem, stems

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


SMOOTH, FURTHER = 2.5, 30
"""Added to a term's count and to the passages there are: in a library of a few pages a word is not
common because one passage holds it, nor rare because only one does."""


def rarity(count: float, passages: int) -> float:
    """Return how much a word tells that `count` of the library's passages hold."""
    return math.log((passages + FURTHER) / (count + SMOOTH))


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
        own_count: In how many passages it occurs itself.
        count: The same with related words; 0: nowhere.
    """

    words: str
    phrases: tuple[tuple[str, ...], ...]
    related: tuple[tuple[str, ...], ...]
    weight: float
    own_count: int
    count: int


@dataclass(slots=True)
class Desk:
    """Everything that the tools showed in this turn."""

    papers: dict[str, ShownPaper] = field(default_factory=dict[str, ShownPaper])
    passages: dict[str, ShownPassage] = field(default_factory=dict[str, ShownPassage])
    terms: list[Term] = field(default_factory=list[Term])
    papers_in_library: int = 0
    passages_in_library: int = 0

    def paper(self, paper_id: str) -> ShownPaper:
        """Return what was shown of a paper's title and reference; the id where nothing was."""
        return self.papers.get(paper_id) or ShownPaper(paper_id, paper_id, paper_id)

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
        also = int(match["also"] or 0)
        yield Term(
            words=own[0],
            phrases=_stemmed(own),
            related=_stemmed(related),
            weight=rarity(count or also, total),
            own_count=count,
            count=count + also,
        )


def _stemmed(spellings: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        dict.fromkeys(tuple(stem(token) for token in words.split()) for words in spellings)
    )


def holds(phrase: Sequence[str], tokens: Sequence[str]) -> bool:
    """Tell whether `phrase` stands in `tokens` in order and without gaps."""
    if len(phrase) == 1:
        return phrase[0] in tokens
    size = len(phrase)
    return any(tuple(tokens[i : i + size]) == tuple(phrase) for i in range(len(tokens) - size + 1))
