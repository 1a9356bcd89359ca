"""save_note: keep a quote of a paper with a note."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import Field
from typing_extensions import override

from nuncius.agent.tool import Arguments, Permission, Resource, Tool, ToolContext, ToolOutput
from nuncius.library.library import Library


class NoteArguments(Arguments):
    """Arguments of `save_note`."""

    paper_id: str = Field(
        min_length=1, max_length=300, description="Library id, bibcode, arXiv id, DOI or cite key."
    )
    quote: str = Field(
        min_length=1,
        max_length=4000,
        description="Copied exactly from the paper.",
    )
    note: str = Field(default="", max_length=8000, description="What to remember about it.")
    page: int | None = Field(
        default=None, ge=1, le=100_000, description="The page, counted from 1."
    )
    color: Literal["yellow", "green", "blue", "red", "purple"] = Field(
        default="yellow", description="Colour of the highlight."
    )


class SaveNote(Tool[NoteArguments]):
    """Keep a note on a quote of a paper in the user's library. The quote is checked word for word."""

    name = "save_note"
    args = NoteArguments
    interrupt = "block"

    def __init__(self, library: Library) -> None:
        self._library = library

    @override
    def check_permissions(self, args: NoteArguments) -> Sequence[Permission]:
        return (Permission("allow", "Notes stay in the library."),)

    @override
    def sources(self, args: NoteArguments, output: ToolOutput) -> Sequence[str]:
        return ()

    @override
    def resources(self, args: NoteArguments) -> Sequence[Resource]:
        return (Resource(f"paper:{args.paper_id}", "write"),)

    @override
    async def run(self, args: NoteArguments, ctx: ToolContext) -> ToolOutput:
        note = await self._library.note(
            args.paper_id,
            quote=args.quote,
            note=args.note,
            page=args.page,
            color=args.color,
            agent=ctx.agent,
        )
        place = f"page {note.page}" if note.page else "a text without pages"
        return ToolOutput(
            f"Saved note {note.id} on {place} of {note.paper_id}.",
            metadata={"note_id": note.id, "paper_id": note.paper_id, "page": note.page},
        )


def tools(library: Library) -> Iterator[Tool[Any]]:
    """Yield the tools of this family."""
    yield SaveNote(library)
