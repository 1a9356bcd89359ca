"""Parsed text: what a parser gives back, and the passages that are retrieved."""

from dataclasses import dataclass, field
from typing import Literal

DocumentKind = Literal["pdf", "html", "latex", "markdown", "text"]
BlockKind = Literal[
    "heading", "paragraph", "list", "table", "caption", "equation", "footnote", "reference"
]
PassageKind = Literal["text", "table", "caption", "equation", "abstract"]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a document says about itself; empty or None where it says nothing."""

    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    abstract: str = ""
    doi: str | None = None
    arxiv_id: str | None = None
    bibcode: str | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of a document in reading order.

    Attributes:
        kind: What it is. References are kept apart from the text.
        text: Clean text: ligatures resolved, hyphenated line ends joined, furniture removed.
            A table is Markdown or aligned text with its numbers verbatim.
        page: 1-based page on which it starts; None where the format has no pages.
        level: Depth of a heading, 1 to 6; 0 for all else.
    """

    kind: BlockKind
    text: str
    page: int | None = None
    level: int = 0


@dataclass(frozen=True, slots=True)
class PageText:
    """The text layer of one page exactly as the file gives it: the truth quotes are checked against.

    `page` is 1-based; 0 stands for the whole text of a format without pages.
    """

    page: int
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and where it stands."""

    path: str
    """Numbered or named path, such as ``2. Data > 2.1. Spectra``."""
    title: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One parsed document."""

    kind: DocumentKind
    engine: str
    """Which parser made it and its version, such as ``pdfium/1``; changes when its output changes."""
    blocks: tuple[Block, ...]
    layer: tuple[PageText, ...]
    front: FrontMatter = field(default_factory=FrontMatter)
    page_count: int | None = None
    language: str = "en"
    verdict: str = "good"
    """``good``, or what is known to be missing, such as ``pages 3, 7 hold no text``."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a paper that is retrieved and cited.

    Attributes:
        passage_id: ``<paper_id>-<ordinal>``, the handle that models cite.
        ordinal: 1-based place in the paper.
        text: The stored text; quotes are cut from it.
        section: Path of headings above it; may be empty.
        page: 1-based page on which it starts, or None.
        char_start, char_end: Its place in the paper's Markdown, in code points.
    """

    passage_id: str
    paper_id: str
    ordinal: int
    kind: PassageKind
    text: str
    section: str = ""
    page: int | None = None
    char_start: int = 0
    char_end: int = 0


@dataclass(frozen=True, slots=True)
class PassageDraft:
    """A passage before its paper has an id (made by `parsing.passages`)."""

    kind: PassageKind
    text: str
    section: str = ""
    page: int | None = None
    char_start: int = 0
    char_end: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that a query found.

    Attributes:
        score: Higher is better; comparable within one query only.
        legs: Which searches found it and at which rank, such as ``{"bm25": 3}``.
    """

    passage: Passage
    score: float
    legs: dict[str, int]
