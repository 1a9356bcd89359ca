"""get_paper_metadata: what is known of one paper."""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field
from typing_extensions import override

from nuncius.agent.tool import Arguments, Tool, ToolContext, ToolOutput
from nuncius.library.library import Library

_MAX_AUTHORS = 12


class PaperName(Arguments):
    """Arguments of `get_paper_metadata`."""

    paper_id: str = Field(
        min_length=1,
        max_length=300,
        description="Library id, bibcode, arXiv id, DOI or cite key, such as 'k3f2a9c1' or '2022AJ....163..121B'.",
    )


class GetPaperMetadata(Tool[PaperName]):
    """Tell what is known of a paper in the library: title, authors, year, names, pages, abstract."""

    name = "get_paper_metadata"
    args = PaperName
    read_only = True

    def __init__(self, library: Library) -> None:
        self._library = library

    @override
    def sources(self, args: PaperName, output: ToolOutput) -> Sequence[str]:
        return (f"paper {output.metadata.get('paper_id')}",)

    @override
    async def run(self, args: PaperName, ctx: ToolContext) -> ToolOutput:
        paper = await self._library.paper(args.paper_id)
        names = [author.name for author in paper.authors]
        authors = "; ".join(names[:_MAX_AUTHORS])
        if len(names) > _MAX_AUTHORS:
            authors += f"; and {len(names) - _MAX_AUTHORS} more"
        lines = [
            f"{paper.title}",
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
                )
                if value
            ),
            f"State: {paper.state}",
            f"Abstract: {paper.abstract or 'not known'}",
        ]
        return ToolOutput("\n".join(lines), metadata=paper.model_dump(mode="json"))


def tools(library: Library) -> Iterator[Tool[Any]]:
    """Yield the tools of this family."""
    yield GetPaperMetadata(library)
