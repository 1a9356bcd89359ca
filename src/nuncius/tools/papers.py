"""get_paper_metadata: what is known of one paper, here or by the services."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field
from typing_extensions import override

from nuncius.agent.tool import Arguments, Tool, ToolContext, ToolOutput
from nuncius.core.errors import KeyMissingError, NotFoundError, NunciusError
from nuncius.core.papers import Paper
from nuncius.core.records import Record, RecordPage
from nuncius.library.library import Library
from nuncius.library.lookup import LookedUp, Lookup
from nuncius.library.merge import joined
from nuncius.library.search import FoundWork
from nuncius.library.show_works import names, reference, show_work
from nuncius.tools.search import work_facts

_MAX_AUTHORS = 12
_LISTED = 50


class PaperName(Arguments):
    """Arguments of `get_paper_metadata`."""

    paper_id: str = Field(
        min_length=1,
        max_length=300,
        description="Library id, bibcode, arXiv id, DOI or cite key.",
    )
    with_references: bool = False
    with_citations: bool = False


class GetPaperMetadata(Tool[PaperName]):
    """Tell what is known of a paper: title, authors, year, names, abstract, retractions."""

    name = "get_paper_metadata"
    args = PaperName
    read_only = True

    def __init__(self, library: Library, lookup: Lookup) -> None:
        self._library = library
        self._lookup = lookup

    @override
    def sources(self, args: PaperName, output: ToolOutput) -> Sequence[str]:
        return (f"paper {output.metadata.get('paper_id') or args.paper_id}",)

    @override
    async def run(self, args: PaperName, ctx: ToolContext) -> ToolOutput:
        linked = args.with_references or args.with_citations
        try:
            paper = await self._library.paper(args.paper_id)
        except NotFoundError as missing:
            return await self._remote(args, missing)
        told = await self._library.told(paper)
        text = shown(paper, told)
        known = {
            **paper.model_dump(mode="json"),
            "status": told.status if told else "",
            "status_note": told.status_note if told else "",
        }
        if not linked:
            return ToolOutput(text, metadata=known)
        name = paper.bibcode or paper.arxiv_id or paper.doi
        if paper.confidential:
            said = "It is confidential: no service is asked about it."
            return ToolOutput(f"{text}\n{said}", metadata=known)
        if not name:
            said = (
                "It has no bibcode, arXiv id or DOI, so no service can list what it cites or what"
                " cites it."
            )
            return ToolOutput(f"{text}\n{said}", metadata=known)
        looked = await self._lookup.paper(name)
        lines, facts = await self._links(args, looked)
        return ToolOutput("\n".join([text, *lines]), metadata={**known, **facts})

    async def _remote(self, args: PaperName, missing: NotFoundError) -> ToolOutput:
        """Ask the services; what is no identifier can only be a name of the library."""
        from nuncius.core.identifiers import identify

        wanted = identify(args.paper_id)
        if wanted is None or wanted.kind == "url":
            raise missing
        looked = await self._lookup.paper(args.paper_id)
        record = looked.record
        people = "; ".join(author.name for author in record.authors[:_MAX_AUTHORS])
        latest = record.arxiv_version or 0
        lines = [
            *show_work(FoundWork(looked.work)),
            f"Authors: {people or 'not known'}",
            f"Abstract: {record.abstract or 'not known'}",
            "It is not in the library. download_paper fetches it.",
            *(f"Note: {note}" for note in looked.notes),
        ]
        if wanted.version and latest > wanted.version:
            lines.append(f"Version {wanted.version} was asked for; the latest is {latest}.")
        text, facts = await self._links(args, looked)
        return ToolOutput(
            "\n".join([*lines, *text]),
            metadata={**work_facts(FoundWork(looked.work)), **facts, "notes": list(looked.notes)},
        )

    async def _links(self, args: PaperName, looked: LookedUp) -> tuple[list[str], dict[str, Any]]:
        asked = {
            name: ask
            for name, ask, wanted in (
                ("references", self._lookup.references, args.with_references),
                ("citations", self._lookup.citations, args.with_citations),
            )
            if wanted
        }
        pages = await asyncio.gather(
            *(ask(looked.record, rows=_LISTED) for ask in asked.values()), return_exceptions=True
        )
        lines: list[str] = []
        facts: dict[str, Any] = {}
        for name, page in zip(asked, pages, strict=True):
            if isinstance(page, (KeyMissingError, NunciusError)):
                lines.append(f"{name.capitalize()}: not told. {page}")
            elif isinstance(page, BaseException):
                raise page
            else:
                lines += listed(name, page)
                facts[name] = [work_facts(FoundWork(joined([one]))) for one in page.records]
                facts[f"{name}_total"] = page.total
        return lines, facts


def listed(name: str, page: RecordPage) -> Iterator[str]:
    """Yield a list of papers, one a line."""
    total = len(page.records) if page.total is None else page.total
    yield f"{name.capitalize()} ({total:,} in all):"
    for record in page.records:
        yield f"- {record.title or '(no title)'}; {reference(record)} [{names(record)}]"


def shown(paper: Paper, told: Record | None = None) -> str:
    """Return what the library knows of a paper.

    Args:
        told: What services told of it.
    """
    people = [author.name for author in paper.authors]
    authors = "; ".join(people[:_MAX_AUTHORS])
    if len(people) > _MAX_AUTHORS:
        authors += f"; and {len(people) - _MAX_AUTHORS} more"
    lines = [
        paper.title,
        f"Authors: {authors or 'not known'}",
        f"Year: {paper.year or 'not known'}",
        f"Library id: {paper.paper_id}; cite key: {paper.cite_key}",
        *(
            f"{label}: {value}"
            for label, value in (
                ("Bibcode", paper.bibcode),
                ("arXiv", paper.arxiv_id),
                ("DOI", paper.doi),
                ("Pages", paper.pages),
                ("Label", paper.label),
                ("Status", _status(told)),
            )
            if value
        ),
        f"State: {paper.state}",
        f"Abstract: {paper.abstract or 'not known'}",
    ]
    return "\n".join(lines)


def _status(told: Record | None) -> str:
    """Return that a paper was taken back or corrected, and what was said of it."""
    if told is None or not told.status:
        return ""
    return f"{told.status.upper()}{f' ({told.status_note})' if told.status_note else ''}"


def tools(library: Library, lookup: Lookup) -> Iterator[Tool[Any]]:
    """Yield the tools of this family."""
    yield GetPaperMetadata(library, lookup)
