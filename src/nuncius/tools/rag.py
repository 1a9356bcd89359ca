"""rag_search: passages of the library that speak of a question."""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field
from typing_extensions import override

from nuncius.agent.tool import Arguments, Tool, ToolContext, ToolOutput
from nuncius.core.shapes import as_list
from nuncius.library.library import Library
from nuncius.library.show import evidence_of, show_retrieval


class RagQuery(Arguments):
    """Arguments of `rag_search`."""

    query: str = Field(
        min_length=1,
        max_length=4000,
        description="What to look for, in words, such as 'age of the δ Lyr cluster'. Any language.",
    )
    k: int = Field(default=8, ge=1, le=50, description="How many passages.")
    paper_ids: list[str] = Field(
        default_factory=list[str],
        max_length=200,
        description="Only these papers; empty: all.",
    )
    year_from: int | None = Field(
        default=None, ge=1000, le=3000, description="First year, such as 2015."
    )
    year_to: int | None = Field(default=None, ge=1000, le=3000, description="Last year.")


class RagSearch(Tool[RagQuery]):
    """Find the passages of the user's library that speak of a question.

    Start here for any question about papers. Each passage has a handle and numbered sentences
    that you can cite. A term with 0 passages is nowhere in the library: say so, do not guess.
    """

    name = "rag_search"
    args = RagQuery
    read_only = True

    def __init__(self, library: Library) -> None:
        self._library = library

    @override
    def sources(self, args: RagQuery, output: ToolOutput) -> Sequence[str]:
        found = as_list(output.metadata.get("passages"))
        return [f"paper {passage['paper_id']}" for passage in found] or ("the library",)

    @override
    async def run(self, args: RagQuery, ctx: ToolContext) -> ToolOutput:
        retrieval = await self._library.rag(
            args.query,
            k=args.k,
            papers=args.paper_ids,
            year_from=args.year_from,
            year_to=args.year_to,
        )
        return ToolOutput(
            content=show_retrieval(retrieval),
            metadata={
                "query": args.query,
                "evidence": evidence_of(found.passage for found in retrieval.found),
                "degraded": list(retrieval.degraded),
                "confidential": any(found.paper.confidential for found in retrieval.found),
                "passages": [
                    {
                        "passage_id": found.passage.passage_id,
                        "paper_id": found.paper.paper_id,
                        "title": found.paper.title,
                        "page": found.passage.page,
                        "section": found.passage.section,
                        "score": round(found.hit.score, 4),
                    }
                    for found in retrieval.found
                ],
            },
        )


def tools(library: Library) -> Iterator[Tool[Any]]:
    """Yield the tools of this family."""
    yield RagSearch(library)
