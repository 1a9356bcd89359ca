"""search_papers: ADS and arXiv at once, one entry for each work."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import Field
from typing_extensions import override

from nuncius.agent.tool import Arguments, Tool, ToolContext, ToolOutput
from nuncius.core.errors import ToolError
from nuncius.library.search import FoundWork, FoundWorks, Request, Search
from nuncius.library.show_works import show_works


class SearchQuery(Arguments):
    """Arguments of `search_papers`."""

    query: str = Field(default="", max_length=2000, description="Words, or ADS's own syntax.")
    sources: list[Literal["ads", "arxiv"]] = Field(
        default_factory=lambda: ["ads", "arxiv"], max_length=2
    )
    author: str = Field(default="", max_length=300, description="'Last, F'; '^Last' as the first.")
    year_from: int | None = Field(default=None, ge=1000, le=3000)
    year_to: int | None = Field(default=None, ge=1000, le=3000)
    object: str = Field(default="", max_length=200, description="A target, such as 'M 31'.")
    refereed: bool | None = None
    rows: int = Field(default=20, ge=1, le=200)
    start: int = Field(default=0, ge=0, le=10_000)
    sort: Literal["relevance", "date", "citations"] = "relevance"


class SearchPapers(Tool[SearchQuery]):
    """Search ADS and arXiv for papers. What the library holds of them is marked."""

    name = "search_papers"
    args = SearchQuery
    read_only = True

    def __init__(self, search: Search) -> None:
        self._search = search

    @override
    def sources(self, args: SearchQuery, output: ToolOutput) -> Sequence[str]:
        return [{"ads": "ADS", "arxiv": "arXiv"}[source] for source in args.sources]

    @override
    async def run(self, args: SearchQuery, ctx: ToolContext) -> ToolOutput:
        if mine := await self._search.repeats(args.query, args.author, args.object):
            raise not_sent("the query", mine)
        authors = tuple(name.strip() for name in args.author.split(";") if name.strip())
        found = await self._search.search(
            Request(
                args.query,
                sources=tuple(dict.fromkeys(args.sources)),
                authors=authors,
                year_from=args.year_from,
                year_to=args.year_to,
                target=args.object,
                refereed=args.refereed,
                rows=args.rows,
                start=args.start,
                sort=args.sort,
            )
        )
        return ToolOutput(show_works(found), metadata=facts(found))


def not_sent(what: str, mine: str) -> ToolError:
    """Return why the user's own words are not sent."""
    return ToolError(
        f"Not sent: {what} repeats {mine} word for word, and it would leave this machine.",
        kind="confidential",
        code="private_words",
        hint="Use words of your own; what the user types themself is sent as it is.",
    )


def facts(found: FoundWorks) -> dict[str, Any]:
    """Return a search for screens and programs."""
    return {
        "query": found.request.query,
        "queries": found.plan.queries,
        "read_as": found.plan.ads.explanation,
        "total": dict(found.total),
        "papers": [work_facts(work) for work in found.works],
        "errors": [
            {"source": one.source, "message": one.message, "hint": one.hint} for one in found.errors
        ],
        "left_out": dict(found.left_out),
        "notes": list(found.notes),
        "next_start": found.next_start,
    }


def work_facts(work: FoundWork) -> dict[str, Any]:
    """Return one work for screens and programs."""
    record = work.record
    return {
        "paper_id": work.paper_id,
        "state": work.state,
        "title": record.title,
        "authors": [author.name for author in record.authors],
        "author_count": record.author_count,
        "year": record.year,
        "date": record.date,
        "journal": record.journal,
        "volume": record.volume,
        "pages": record.pages,
        "bibcode": record.bibcode,
        "bibcodes": list(record.bibcodes),
        "arxiv_id": record.arxiv_id,
        "arxiv_version": record.arxiv_version,
        "doi": record.doi,
        "abstract": record.abstract,
        "doctype": record.doctype,
        "citation_count": record.citation_count,
        "refereed": record.refereed,
        "open_access": record.open_access,
        "status": record.status,
        "status_note": record.status_note,
        "categories": list(record.categories),
        "comment": record.comment,
        "links": [
            {"kind": link.kind, "url": link.url, "licence": link.licence, "version": link.version}
            for link in record.links
        ],
        "sources": list(work.work.sources),
        "provenance": dict(work.work.provenance),
        "cited_by_library": list(work.cited_by),
        "cites_library": list(work.cites),
    }


def tools(search: Search) -> Iterator[Tool[Any]]:
    """Yield the tools of this family."""
    yield SearchPapers(search)
