"""What can be wrong with an entry of a bibliography, and the port through which services are asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from nuncius.core.errors import UpstreamError
from nuncius.core.records import Record

FindingKind = Literal[
    "published_now",
    "retracted",
    "withdrawn",
    "superseded",
    "erratum",
    "wrong_field",
    "dead_doi",
    "unknown_identifier",
    "duplicate_key",
    "duplicate_entry",
    "missing_identifier",
    "unreadable",
    "debris",
    "not_checked",
]
KINDS: tuple[FindingKind, ...] = get_args(FindingKind)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know about an entry.

    Attributes:
        key: The entry's; empty where it has none.
        line: Of the entry in its file, from 1.
        field: The field that is meant, or nothing.
        found, expected: Its value in the file and what it should be, as plain text.
        note: For people: why, or what it is.
        source: Who says so: the services, ``ads+crossref``; empty where the file itself shows it.
    """

    kind: FindingKind
    key: str
    line: int
    field: str = ""
    found: str = ""
    expected: str = ""
    note: str = ""
    source: str = ""


class RecordLookup(Protocol):
    """Services of the literature, asked by identifiers."""

    async def records(self, names: Sequence[str]) -> Sequence[Record | UpstreamError | None]:
        """Return one answer for each DOI, arXiv id or bibcode, in their order.

        None says that every service that could know the name was asked and does not: a DOI is then
        called dead. An error says that nobody answered. The journal's version is preferred: for an
        arXiv id the record of the published paper where one is known.
        """
        ...
