"""Lists of papers: which are wanted, in which order, page by page, and by what they can be filtered."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nuncius.core.errors import UsageError
from nuncius.core.papers import Paper, PaperState

PaperOrder = Literal[
    "added", "-added", "title", "-title", "author", "-author", "year", "-year", "journal",
    "-journal", "state", "-state", "pages", "-pages", "notes", "-notes",
]  # fmt: skip
"""By what a list is ordered; with ``-`` the greatest, or newest, first."""

FacetKind = Literal["year", "author", "journal", "tag", "state"]

Years = tuple[int | None, int | None]
"""First and last year, both included; None: no limit."""

_YEARS = re.compile(r"(?P<first>\d{4})?(?P<to>-(?P<last>\d{4})?)?")


@dataclass(frozen=True, slots=True)
class PaperFilter:
    r"""Which papers are wanted; what is empty lets all through.

    Attributes:
        text: Words, each of which stands in title, authors, names or abstract. Case and accents do
            not count, here and in `author`.
        author: A name as a facet gives it (``Bouma, L``), or words that stand in the authors' names.
        journal: A word as a facet gives it, or a name or macro of it (``\apj``), whatever its case.
        tag: One of the paper's, whatever its case.
        confidential: False: only what may leave this machine.
    """

    text: str = ""
    years: Years = (None, None)
    author: str = ""
    journal: str = ""
    tag: str = ""
    state: PaperState | None = None
    confidential: bool = True


ALL_PAPERS = PaperFilter()


@dataclass(frozen=True, slots=True)
class PaperPage:
    """Some papers of a list.

    Attributes:
        total: How many papers fit in all.
        cursor: Where the next page begins; empty where this is the last. It stays good when papers
            come or go, its own among them.
    """

    papers: Sequence[Paper]
    total: int
    cursor: str


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value that papers can be filtered by, and how many papers have it."""

    value: str
    count: int


def read_years(text: str) -> Years:
    """Read ``2019``, ``2019-2024``, ``2019-`` or ``-2024``; nothing is every year.

    Raises:
        UsageError: It is none of these.
    """
    bare = re.sub(r"\s*[-–—−]\s*", "-", text.strip())
    read = _YEARS.fullmatch(bare)
    if read is None or bare == "-":  # a dash alone would be every year
        raise UsageError(
            f"The years {text[:40]!r} make no sense.", hint="Write 2019, 2019-2024 or 2019-."
        )
    first = int(read["first"]) if read["first"] else None
    if not read["to"]:
        return first, first
    return first, int(read["last"]) if read["last"] else None
