"""Handles that models cite, citations that people read, and the answer they belong to."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

Check = Literal["exact", "folded", "ocr"]
"""How a quote was found again in the paper's text layer.

`folded`: after folding white space, ligatures, hyphenation and margin line numbers.
"""

HANDLE = re.compile(
    r"\[\s*(?P<passage>[a-z0-9]{8}-\d{1,6})\s*(?::\s*s?(?P<first>\d{1,4})(?:\s*[-\u2013]\s*s?(?P<last>\d{1,4}))?)?\s*\]"
)
"""``[k3f2a9c1-12:3]``: sentence 3 of passage 12 of paper k3f2a9c1; ``:3-5`` a run; none: all of it."""


@dataclass(frozen=True, slots=True)
class Handle:
    """A pointer to sentences of a passage, as a model writes it."""

    passage_id: str
    first: int = 0
    """1-based first sentence; 0 stands for the whole passage."""
    last: int = 0
    """1-based last sentence, inclusive."""

    def __str__(self) -> str:
        if not self.first:
            return f"[{self.passage_id}]"
        run = f"{self.first}" if self.last == self.first else f"{self.first}-{self.last}"
        return f"[{self.passage_id}:{run}]"


def find_handles(text: str) -> Iterator[tuple[Handle, int, int]]:
    """Yield each handle in `text` with its start and end, in code points."""
    for match in HANDLE.finditer(text):
        first = int(match["first"] or 0)
        yield Handle(match["passage"], first, int(match["last"] or first)), *match.span()


class Citation(BaseModel):
    """One quote and where it stands."""

    model_config = ConfigDict(frozen=True)

    key: str
    """The number shown in the answer: ``1`` for ``[1]``."""
    paper_id: str
    bibcode: str | None = None
    doi: str | None = None
    arxiv_id: str | None = None
    title: str
    authors: tuple[str, ...] = ()
    year: int | None = None
    quote: str
    """The stored text, put in by code, never typed by a model."""
    page: int | None = None
    section: str = ""
    anchor: str = ""
    """Where a reader opens: ``page=4`` or a section's slug, then the passage's handle."""
    check: Check
    text_sha256: str
    """Digest of the stored passage that the quote was cut from."""


class Unsupported(BaseModel):
    """A sentence of the answer that its quotes do not carry, and why."""

    model_config = ConfigDict(frozen=True)

    sentence: str
    reason: str
    """``no citation``, or the numbers or quoted words that stand in no cited quote."""


class Searched(BaseModel):
    """What was looked at: the answer to "is it absent, or did you not look?"."""

    model_config = ConfigDict(frozen=True)

    papers_in_library: int = 0
    papers: tuple[str, ...] = ()
    """Ids of the papers of which passages were read."""
    passages: int = 0
    pages: dict[str, list[int]] = {}
    """Pages looked at, by paper."""
    unreadable: tuple[str, ...] = ()
    """Files or parts that could not be read, each with its reason."""
    near_misses: tuple[str, ...] = ()
    """Handles of passages on the topic that do not hold the answer."""
    queries: tuple[str, ...] = ()


class Answer(BaseModel):
    """A finished answer: text with ``[1]`` marks, its citations, and what is wrong with it."""

    model_config = ConfigDict(frozen=True)

    text: str
    answered: bool
    """False where no evidence was found; then nothing is cited."""
    citations: tuple[Citation, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    dropped_quotes: int = 0
    """Quotes that were not found again in the paper; never shown."""
    searched: Searched = Searched()
    degraded: tuple[str, ...] = ()
    """What did not work as it should, such as ``no language model: quotes only``."""
