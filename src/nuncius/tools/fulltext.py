"""get_paper_content: read a paper of the library, with handles to cite."""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field
from typing_extensions import override

from nuncius.agent.tool import Arguments, Tool, ToolContext, ToolOutput
from nuncius.core.documents import Passage
from nuncius.core.errors import ToolError
from nuncius.library.library import Library
from nuncius.library.show import evidence_of, show_paper_line, show_passage

MAX_CHARS = 15_000


class ContentQuery(Arguments):
    """Arguments of `get_paper_content`."""

    paper_id: str = Field(
        min_length=1, max_length=300, description="Library id, bibcode, arXiv id, DOI or cite key."
    )
    section: str = Field(
        default="",
        max_length=300,
        description="Number or title, such as '2.1'.",
    )
    page: int | None = Field(default=None, ge=1, le=100_000, description="A page, counted from 1.")
    table: str = Field(
        default="", max_length=100, description="A table's number, such as '3' or 'A1'."
    )
    offset: int = Field(
        default=1, ge=1, le=10_000_000, description="First passage, counted from 1."
    )
    limit: int = Field(default=12, ge=1, le=200, description="How many passages.")


class GetPaperContent(Tool[ContentQuery]):
    """Read a paper of the library: a page, a section, a table, or passages from `offset` on.

    Gives passages with handles and numbered sentences that you can cite. Alone it starts at the
    beginning and lists the sections.
    """

    name = "get_paper_content"
    args = ContentQuery
    read_only = True

    def __init__(self, library: Library) -> None:
        self._library = library

    @override
    def sources(self, args: ContentQuery, output: ToolOutput) -> Sequence[str]:
        return (f"paper {output.metadata.get('paper_id')}",)

    @override
    async def run(self, args: ContentQuery, ctx: ToolContext) -> ToolOutput:
        paper = await self._library.paper(args.paper_id)
        passages = await self._library.passages(
            args.paper_id, section=args.section, page=args.page, table=args.table
        )
        whole = not (args.section or args.page or args.table)
        if passages and args.offset > len(passages):
            raise ToolError(
                f"There are {len(passages)} passages here; offset {args.offset} is beyond the last.",
                kind="invalid_arguments",
                code="out_of_range",
            )
        chosen, next_offset = _fit(passages, args.offset, args.limit)
        lines = [show_paper_line(paper)]
        if whole and args.offset == 1:
            lines.append(f"Sections: {'; '.join(_sections(passages)) or 'none known'}")
        lines.extend(show_passage(passage) for passage in chosen)
        lines.append(
            f"({len(passages)} passages here; go on with offset={next_offset})"
            if next_offset
            else f"(end; {len(passages)} passages here)"
        )
        return ToolOutput(
            "\n".join(lines),
            metadata={
                "paper_id": paper.paper_id,
                "confidential": paper.confidential,
                "evidence": evidence_of(chosen),
            },
        )


def _fit(passages: Sequence[Passage], offset: int, limit: int) -> tuple[list[Passage], int]:
    """Return passages from `offset` that fit the output, and the next offset or 0."""
    chosen: list[Passage] = []
    used = 0
    for passage in passages[offset - 1 : offset - 1 + limit]:
        used += len(passage.text)
        if chosen and used > MAX_CHARS:
            break
        chosen.append(passage)
    following = offset + len(chosen)
    return chosen, following if following <= len(passages) else 0


def _sections(passages: Sequence[Passage]) -> list[str]:
    return list(dict.fromkeys(p.section for p in passages if p.section))[:60]


def tools(library: Library) -> Iterator[Tool[Any]]:
    """Yield the tools of this family."""
    yield GetPaperContent(library)
