"""download_paper and parse_paper: a paper's text, from where it legally is, into the library."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field
from typing_extensions import override

from nuncius.agent.tool import Arguments, Permission, Resource, Tool, ToolContext, ToolOutput
from nuncius.core.errors import NotFoundError, NunciusError, ToolError
from nuncius.library.downloads import Downloaded, Downloads
from nuncius.library.library import Library
from nuncius.library.records import AddReport
from nuncius.tools.files import as_tool_error
from nuncius.walls.paths import PathGuard

MINUTES_S = 600.0


class DownloadQuery(Arguments):
    """Arguments of `download_paper`."""

    paper_id: str = Field(
        min_length=1, max_length=300, description="Bibcode, arXiv id, DOI or library id."
    )
    format: Literal["auto", "pdf", "html", "source"] = "auto"
    force: bool = Field(default=False, description="Again, though it is there.")


class DownloadPaper(Tool[DownloadQuery]):
    """Fetch a paper's full text from legal places into the library; then parse_paper reads it."""

    name = "download_paper"
    args = DownloadQuery
    subject_kind = "host"  # what is asked about, once it is known, is a new host
    interrupt = "cancel"  # what came so far stays, and the next try goes on with it
    timeout_s = MINUTES_S

    def __init__(self, downloads: Downloads) -> None:
        self._downloads = downloads

    @override
    def causes_sibling_abort(self) -> bool:
        return True

    @override
    def check_permissions(self, args: DownloadQuery) -> Sequence[Permission]:
        return (Permission("allow", "Known services only; a new host asks by itself."),)

    @override
    def resources(self, args: DownloadQuery) -> Sequence[Resource]:
        return (Resource(f"paper:{args.paper_id.strip().lower()}", "write"),)

    @override
    def sources(self, args: DownloadQuery, output: ToolOutput) -> Sequence[str]:
        return (f"paper {output.metadata.get('paper_id') or args.paper_id}",)

    @override
    async def run(self, args: DownloadQuery, ctx: ToolContext) -> ToolOutput:
        async def permit(host: str) -> bool:
            reason = f"The text of {args.paper_id} is at {host}, which is a new host."
            return ctx.permit is not None and await ctx.permit(host, reason)

        try:
            done = await self._downloads.fetch(
                args.paper_id,
                form=args.format,
                force=args.force,
                permit=permit,
                report=ctx.report,
            )
        except NunciusError as error:
            attempts = getattr(error, "attempts", ())
            if not attempts:
                raise
            lines = [str(error), "Tried:", *(f"- {attempt}" for attempt in attempts)]
            raise ToolError("\n".join(lines), kind="not_found", code="no_full_text") from error
        return ToolOutput("\n".join(_told(done)), metadata=_facts(done))


def _told(done: Downloaded) -> Iterator[str]:
    paper = done.paper
    yield f"{paper.title}"
    label = f" ({done.acquired.label})" if done.acquired and done.acquired.label else ""
    where = f"from {done.acquired.channel.label}{label}" if done.acquired else "it was there"
    yield f"{done.path.name}, {done.path.stat().st_size:,} bytes, {where}."
    for attempt in done.attempts[:-1]:
        yield f"- {attempt}"
    todo = "It is parsed." if paper.state == "indexed" else "parse_paper reads it."
    yield f"Library id: {paper.paper_id}; state: {paper.state}. {todo}"


def _facts(done: Downloaded) -> dict[str, Any]:
    acquired = done.acquired
    return {
        "paper_id": done.paper.paper_id,
        "path": str(done.path),
        "state": done.paper.state,
        "kind": acquired.kind if acquired else "",
        "version": acquired.version if acquired else None,
        "label": acquired.label if acquired else "",
        "licence": acquired.channel.licence if acquired else "",
        "attempts": [
            {
                "place": attempt.channel.label,
                "url": attempt.url or attempt.channel.url,
                "outcome": attempt.outcome,
                "sentence": attempt.sentence,
                "bytes": attempt.size_bytes,
                "seconds": round(attempt.seconds, 3),
            }
            for attempt in done.attempts
        ],
    }


class ParseQuery(Arguments):
    """Arguments of `parse_paper`."""

    paper_id: str = Field(default="", max_length=300, description="Of a downloaded paper.")
    path: str = Field(default="", max_length=4096, description="Or a file in the project.")
    engine: Literal["auto"] = "auto"
    force: bool = False


class ParsePaper(Tool[ParseQuery]):
    """Read a downloaded paper, or a PDF, HTML, TeX or Markdown file, into the library."""

    name = "parse_paper"
    args = ParseQuery
    interrupt = "block"
    timeout_s = MINUTES_S

    def __init__(self, library: Library, downloads: Downloads, guard: PathGuard) -> None:
        self._library = library
        self._downloads = downloads
        self._guard = guard

    @override
    def causes_sibling_abort(self) -> bool:
        return True

    @override
    def check_permissions(self, args: ParseQuery) -> Sequence[Permission]:
        if args.path:
            verdict = self._guard.judge(args.path, "read")
            return (Permission(verdict.decision, verdict.reason),)
        return (Permission("allow", "The text stays in the library."),)

    @override
    def resources(self, args: ParseQuery) -> Sequence[Resource]:
        if args.path:
            return (Resource(f"parse:{args.path}", "write"),)
        return (Resource(f"paper:{args.paper_id.strip().lower()}", "write"),)

    @override
    def sources(self, args: ParseQuery, output: ToolOutput) -> Sequence[str]:
        return (f"paper {output.metadata.get('paper_id') or args.path or args.paper_id}",)

    @override
    async def run(self, args: ParseQuery, ctx: ToolContext) -> ToolOutput:
        if bool(args.paper_id) == bool(args.path):
            raise ToolError(
                "Name a paper (paper_id) or a file (path), one of the two.",
                kind="invalid_arguments",
                code="one_of_two",
            )
        if args.path:
            try:
                place = self._guard.locate(args.path)
            except NunciusError as error:
                raise as_tool_error(error) from error
            report = await self._library.add([place.path])
        else:
            paper = await self._library.paper(args.paper_id)
            # What was not read yet comes first: it was fetched after the others.
            listed = sorted(paper.files, key=lambda file: bool(file.sha256))
            files = [Path(file.path) for file in listed if file.present]
            there = [path for path in files if path.is_file()]
            if not there:
                raise NotFoundError(
                    f"The paper {paper.paper_id} has no file here.",
                    hint="Fetch it with download_paper.",
                )
            report = await self._downloads.parse(Downloaded(paper, there[0]), force=args.force)
        return _parsed(report)


def _parsed(report: AddReport) -> ToolOutput:
    """Say what became of one file.

    Raises:
        ToolError: It could not be read.
    """
    for failure in report.failed:
        raise ToolError(
            failure.reason, kind="unavailable", code=failure.error_kind, hint=failure.hint
        )
    for verb, papers in (
        ("Parsed", report.added),
        ("Parsed again", report.updated),
        ("It was parsed already", report.unchanged),
    ):
        for paper in papers:
            pages = f", {paper.pages} pages" if paper.pages else ""
            return ToolOutput(
                f"{verb}: {paper.title}{pages}. Library id: {paper.paper_id}; rag_search and"
                " get_paper_content know it.",
                metadata={"paper_id": paper.paper_id, "state": paper.state, "pages": paper.pages},
            )
    for _, paper_id in report.duplicates:
        return ToolOutput(
            f"The library has this text as {paper_id}.", metadata={"paper_id": paper_id}
        )
    raise ToolError("There is nothing to read there.", kind="not_found")


def tools(library: Library, downloads: Downloads, guard: PathGuard) -> Iterator[Tool[Any]]:
    """Yield the tools of this family."""
    yield DownloadPaper(downloads)
    yield ParsePaper(library, downloads, guard)
