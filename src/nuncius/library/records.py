"""What the library's verbs give back: plain facts that every face can show."""

from collections.abc import Sequence
from dataclasses import dataclass

from nuncius.core.documents import Hit, Passage
from nuncius.core.papers import Paper


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that could not be added, and what to do about it."""

    what: str
    error_kind: str
    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class AddReport:
    """What one `add` did. Every file ends in exactly one of the lists.

    Attributes:
        unchanged: Papers that the library already held with this very text.
        duplicates: (file, paper id) of files that turned out to be a paper already held.
        vanished: Paths under what was named that are gone since the last time.
    """

    added: Sequence[Paper] = ()
    updated: Sequence[Paper] = ()
    unchanged: Sequence[Paper] = ()
    failed: Sequence[Failure] = ()
    duplicates: Sequence[tuple[str, str]] = ()
    vanished: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that answers a query, with its paper.

    `telling` numbers the sentences that hold most of the query, counted from 1, in order.
    """

    hit: Hit
    paper: Paper
    telling: Sequence[int] = ()

    @property
    def passage(self) -> Passage:
        """Return the passage itself."""
        return self.hit.passage


@dataclass(frozen=True, slots=True)
class SearchedTerm:
    """One thing that was searched for.

    Attributes:
        spellings: Its own spellings, as search tokens.
        related: Other words for it, which count less.
        count: In how many passages a spelling of its own occurs (the commonest one).
        related_count: The same of the related words.
    """

    spellings: Sequence[str]
    related: Sequence[str]
    count: int
    related_count: int


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The outcome of one search in the library.

    Attributes:
        terms: What was searched for; a count of 0 tells that the library never says it.
        degraded: What did not work as it should, such as ``translated by word list``.
    """

    query: str
    found: Sequence[FoundPassage]
    terms: Sequence[SearchedTerm] = ()
    papers_in_library: int = 0
    passages_in_library: int = 0
    degraded: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SectionPlace:
    """A heading of a paper's Markdown."""

    path: str
    title: str
    page: int | None


@dataclass(frozen=True, slots=True)
class PaperText:
    """A paper's Markdown, or a part of it.

    `verdict`: ``good`` or what is known to be missing. `total_chars` is the whole paper's length
    in code points; `offset` is where `content` starts in it.
    """

    paper: Paper
    content: str
    engine: str
    verdict: str
    sections: Sequence[SectionPlace]
    offset: int = 0
    total_chars: int = 0


@dataclass(frozen=True, slots=True)
class Status:
    """How the library stands."""

    papers: int
    passages: int
    pages: int
    files: int
    failures: Sequence[Failure]
    vanished: Sequence[str]
