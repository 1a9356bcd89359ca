"""What the interface takes and gives of papers, their text, their notes and what they cite."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

from pydantic import Field, StringConstraints

from nuncius.api.models import MESSAGE_CHARACTERS, Body, Shape, Text, Word
from nuncius.core.papers import Paper, PaperFile, PaperState
from nuncius.library.cited import CitedWork
from nuncius.library.records import Failure, FoundPassage
from nuncius.store.protocols import Note


class PaperShape(Shape):
    """A paper and what the library holds of it; authors as their names."""

    paper_id: str
    title: str
    authors: list[str]
    year: int | None
    bibcode: str | None
    arxiv_id: str | None
    doi: str | None
    cite_key: str
    abstract: str
    state: PaperState
    files: list[PaperFile]
    pages: int | None
    language: str
    label: str
    confidential: bool
    added_at: str
    journal: str
    """As people say it, such as ``ApJ``; ``arXiv`` of a preprint; empty where nobody told."""
    tags: list[str]
    notes: int
    """How many notes stand on it."""


class PaperDetail(PaperShape):
    """A paper, and how well its text could be read."""

    engine: str
    """What read its text, such as ``pdfium/1``; empty where there is no text."""
    verdict: str
    """``good``, or what is missing from the text."""


class PaperChange(Body):
    """What may be changed of a paper; what is not named stays."""

    tags: Annotated[list[Word], Field(max_length=1_000)] | None = None
    """The whole list, in place of the one before."""


class FacetShape(Shape):
    """A value that papers can be filtered by."""

    value: str
    count: int
    """How many papers have it."""


class FacetList(Shape):
    """What papers can be filtered by: years newest first, all else the most frequent first."""

    values: list[FacetShape]
    """At most 200."""


class PaperList(Shape):
    """Papers in the order that was asked for; without one the newest first."""

    papers: list[PaperShape]
    total: int
    """How many fit."""
    next_cursor: str | None
    """Give it as `cursor` to go on; null: there are no more."""


class SectionShape(Shape):
    """A heading and where it stands."""

    path: str
    title: str
    page: int | None


class ContentShape(Shape):
    """A paper's Markdown, whole or in part; never HTML."""

    paper_id: str
    content: str
    engine: str
    verdict: str
    sections: list[SectionShape]
    offset: int
    total_chars: int


class ReferenceShape(Shape):
    """An entry of a paper's list of references, read from its words alone."""

    number: int
    """1-based place in the list."""
    label: str
    """What the text cites it by where entries are labelled, such as ``12``; or empty."""
    first_author: str
    year: str
    """With the letter that tells works of one year apart, such as ``2019a``."""
    text: str
    page: int | None
    doi: str | None
    arxiv_id: str | None
    bibcode: str | None
    made: bool
    """Whether the bibcode is made of journal, volume and page, not written in the entry."""
    paper_id: str | None
    """The paper of the library that it is; null: it is not there, or cannot be told."""


class ReferenceList(Shape):
    """What a paper cites, in the order of its list; empty where it has none that can be read."""

    references: list[ReferenceShape]


class FailureShape(Shape):
    """What could not be added, and what to do about it."""

    what: str
    error_kind: str
    reason: str
    hint: str


class NoteList(Shape):
    """Notes on a paper, oldest first."""

    notes: Sequence[Note]


class NewPaper(Body):
    """A paper to fetch."""

    id: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class NoteChange(Body):
    """Other words of a note."""

    note: Text


class NewNote(Body):
    """A note on a quote that stands in the paper."""

    quote: Annotated[str, Field(min_length=1, max_length=MESSAGE_CHARACTERS)]
    note: Text = ""
    page: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    color: Annotated[str, Field(min_length=1, max_length=40)] = "yellow"


class RagBody(Body):
    """A search in the library."""

    query: Annotated[str, Field(min_length=1, max_length=MESSAGE_CHARACTERS)]
    k: Annotated[int, Field(ge=1, le=200)] = 8
    paper_ids: list[Word] = Field(default_factory=list[str], max_length=1_000)
    """Empty: all papers."""


class PassageShape(Shape):
    """A passage that a search found."""

    passage_id: str
    paper_id: str
    title: str
    text: str
    page: int | None
    section: str
    score: float
    legs: dict[str, int]


class RagReply(Shape):
    """The passages that speak most of the query."""

    query: str
    passages: list[PassageShape]
    degraded: list[str]


# --- from other rooms' objects ---------------------------------------------------------------------


def paper_shape(paper: Paper) -> PaperShape:
    """Return a paper."""
    facts = paper.model_dump(exclude={"authors"})
    return PaperShape(**facts, authors=[author.name for author in paper.authors])


def reference_shape(work: CitedWork, paper_id: str | None) -> ReferenceShape:
    """Return an entry of a list of references, with the library's paper that it is."""
    return ReferenceShape(**asdict(work), paper_id=paper_id)


def failure_shape(failure: Failure) -> FailureShape:
    """Return what could not be added."""
    return FailureShape(**asdict(failure))


def passage_shape(found: FoundPassage) -> PassageShape:
    """Return a found passage."""
    passage = found.passage
    return PassageShape(
        passage_id=passage.passage_id,
        paper_id=passage.paper_id,
        title=found.paper.title,
        text=passage.text,
        page=passage.page,
        section=passage.section,
        score=found.hit.score,
        legs=found.hit.legs,
    )
