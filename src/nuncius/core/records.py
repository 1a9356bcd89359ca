"""What a service of the literature tells of one work."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

LinkKind = Literal[
    "arxiv_html",
    "arxiv_pdf",
    "arxiv_source",
    "ar5iv",
    "repository_pdf",
    "ads_pdf",
    "publisher_pdf",
    "publisher_html",
    "landing",
]
"""Where a text is, in the order in which full texts are tried."""

Status = Literal["", "retracted", "withdrawn", "superseded", "erratum"]


@dataclass(frozen=True, slots=True)
class Link:
    """A place where a text, or its page, can be had.

    Attributes:
        licence: As the service writes it, such as ``cc-by``; empty where it does not say.
        version: ``preprint``, ``accepted`` or ``published``; empty where it does not say.
    """

    kind: LinkKind
    url: str
    licence: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Affiliated:
    """One author as a service lists them.

    Attributes:
        name: ``Last, First M.`` where the service says so, else as printed; a collaboration is one
            author.
        affiliations: Empty where none is told.
        orcid: ``0000-0002-1825-0097``, or empty.
    """

    name: str
    affiliations: tuple[str, ...] = ()
    orcid: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One work as one service tells it; what it does not say is empty or None.

    Attributes:
        source: The service: ``ads``, ``arxiv``, ``crossref``, ``openalex``, ``s2``.
        title, abstract: Plain text: entities and tags are gone, sub- and superscripts are ``_`` and
            ``^``, TeX stays.
        year: Of publication; of a preprint its first version's.
        date: Of publication as far as known: ``2019``, ``2019-05`` or ``2019-05-17``.
        submitted: Of a preprint's first version, ISO 8601.
        bibcodes: All that name it, the canonical one first.
        dois: All that name it, in lower case; the journal's first, arXiv's own last.
        arxiv_id: Without version.
        arxiv_version: The latest one known.
        journal: As people write it; `bibstem` as ADS does, such as ``ApJ``.
        doctype: ADS's word: article, eprint, inproceedings, phdthesis, software, erratum ...
        references, citations: Bibcodes of what it cites and of what cites it, where the service lists
            them.
        refereed, open_access: None where the service does not say.
        categories: arXiv's, the primary one first.
        announced: arXiv's ``new``, ``cross``, ``replace``, ``replace-cross``, in a daily list.
        score: The service's own measure of how well it fits a query.
    """

    source: str
    title: str = ""
    authors: tuple[Affiliated, ...] = ()
    author_count: int | None = None
    abstract: str = ""
    year: int | None = None
    date: str = ""
    submitted: str = ""
    bibcodes: tuple[str, ...] = ()
    arxiv_id: str = ""
    arxiv_version: int | None = None
    dois: tuple[str, ...] = ()
    journal: str = ""
    bibstem: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    publisher: str = ""
    doctype: str = ""
    keywords: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    comment: str = ""
    citation_count: int | None = None
    reference_count: int | None = None
    references: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()
    refereed: bool | None = None
    open_access: bool | None = None
    status: Status = ""
    status_note: str = ""
    links: tuple[Link, ...] = ()
    announced: str = ""
    language: str = ""
    score: float | None = None
    extra: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def bibcode(self) -> str:
        """Return the canonical bibcode, or nothing."""
        return self.bibcodes[0] if self.bibcodes else ""

    @property
    def doi(self) -> str:
        """Return the journal's DOI, or arXiv's own, or nothing."""
        return self.dois[0] if self.dois else ""


@dataclass(frozen=True, slots=True)
class RecordPage:
    """Some records of an answer.

    Attributes:
        total: How many there are in all, as the service tells; None where it does not.
        start: Place of the first, from 0.
        query: As it was sent.
        partial: Why some are missing, for people; empty where none is.
        at: When the service answered, ISO 8601, UTC; `cached`: it was kept since then.
    """

    source: str
    records: tuple[Record, ...]
    total: int | None
    start: int = 0
    query: str = ""
    partial: str = ""
    at: str = ""
    cached: bool = False
