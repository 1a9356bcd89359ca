"""Find files by name and by what stands in them, inside the roots."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import regex
from pydantic import Field
from typing_extensions import override

from nuncius.agent.tool import Arguments, Permission, Tool, ToolContext, ToolOutput
from nuncius.core.errors import AccessDeniedError, ConfidentialError, NunciusError, ToolError
from nuncius.tools import _text
from nuncius.tools._glob import Glob, literal_head
from nuncius.tools.files import as_tool_error
from nuncius.walls.paths import Found, PathGuard

A = TypeVar("A", bound=Arguments)

SEARCH_S = 20.0
"""Longest that one search goes through files."""
PATTERN_S = 0.5
"""Longest that a pattern may take on one file; then it is a pattern that explodes."""
MAX_FILE_BYTES = 32 * 1024 * 1024
PAGE_CHARS = 15_000
LINE_CHARS = 400
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})


class _Search:
    """What a running search watches: cancellation and the time it may take."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self._until = time.monotonic() + SEARCH_S

    @property
    def over(self) -> bool:
        return self.cancelled.is_set() or time.monotonic() > self._until


class _FindTool(Tool[A]):
    read_only = True

    def __init__(self, guard: PathGuard) -> None:
        self._guard = guard

    def _where(self, args: A) -> str:
        raise NotImplementedError  # each tool knows its own arguments

    @override
    def check_permissions(self, args: A) -> Sequence[Permission]:
        verdict = self._guard.judge(self._where(args), "read")
        return (Permission(verdict.decision, verdict.reason),)

    @override
    def subject(self, args: A) -> str:
        try:
            return str(self._guard.locate(self._where(args)).path)
        except (AccessDeniedError, ConfidentialError):
            return self._where(args)

    @override
    def sources(self, args: A, output: ToolOutput) -> Sequence[str]:
        return (f"files in {self._where(args) or 'the project'}",)

    @override
    async def run(self, args: A, ctx: ToolContext) -> ToolOutput:
        search = _Search()
        try:
            return await asyncio.to_thread(self._run, args, search)
        except NunciusError as error:
            raise as_tool_error(error) from error
        finally:
            search.cancelled.set()  # a cancelled call leaves no thread reading on

    def _run(self, args: A, search: _Search) -> ToolOutput:
        raise NotImplementedError  # in a thread

    def _shown(self, found: Found) -> str:
        """Return a name that the other tools take: relative to the project, else absolute."""
        place = found.place
        return str(place.path) if place.root.kind != "project" else "/".join(place.parts)


def _folders(*, hidden: bool) -> Callable[[str], bool]:
    return lambda name: name not in _SKIPPED_FOLDERS and (hidden or not name.startswith("."))


class GlobFilesArgs(Arguments):
    """Arguments of `glob_files`."""

    pattern: str = Field(
        min_length=1,
        description="Such as '*.md' or 'notes/**/m31*.{md,txt}'.",
    )
    path: str = Field(
        default="",
        description="Folder; empty: the project.",
    )
    limit: int = Field(default=200, ge=1, le=2000, description="Most names to show.")


class GlobFiles(_FindTool[GlobFilesArgs]):
    """List files whose path fits a glob pattern, newest first.

    '*.md' lists one folder, '**/*.md' everything below. Hidden folders are left out.
    """

    name = "glob_files"
    args = GlobFilesArgs

    @override
    def _where(self, args: GlobFilesArgs) -> str:
        return _start(args)[0]

    @override
    def _run(self, args: GlobFilesArgs, search: _Search) -> ToolOutput:
        start, rest = _start(args)
        glob = Glob(rest)
        top = self._guard.locate(start)
        hits: list[Found] = []
        seen: set[str] = set()
        stopped = False
        if not top.missing:
            for found in self._guard.walk(start, enter=_folders(hidden=glob.wants_hidden)):
                if search.over:
                    stopped = True
                    break
                try:
                    fits = glob.matches(found.name)
                except TimeoutError:
                    raise _explodes(args.pattern) from None
                if fits and str(found.place.path) not in seen:
                    seen.add(str(found.place.path))
                    hits.append(found)
        hits.sort(key=lambda found: (-found.mtime_ns, found.name))
        shown = [self._shown(found) for found in hits[: args.limit]]
        end = f"[{len(hits):,} file{'s' * (len(hits) != 1)}"
        if len(hits) > len(shown):
            end = f"[newest {len(shown):,} of {len(hits):,} files; narrow the pattern"
        if stopped:
            end += f"; stopped after {SEARCH_S:.0f} s, there may be more"
        return ToolOutput(
            "\n".join([*shown, end + "]"]) if hits else f"No file fits {args.pattern!r}. {end}]",
            metadata={
                "files": shown,
                "total": len(hits),
                "truncated": stopped or len(hits) > len(shown),
            },
        )


def _start(args: GlobFilesArgs) -> tuple[str, str]:
    """Return the folder where the walk begins and the pattern below it."""
    head, rest = literal_head(args.pattern)
    if head.startswith("/") or not args.path:
        return head or ".", rest
    return f"{args.path.rstrip('/') or '/'}/{head}".rstrip("/") or "/", rest


class GrepFilesArgs(Arguments):
    """Arguments of `grep_files`."""

    pattern: str = Field(
        min_length=1, description="Regular expression, such as 'redshift of 0\\.0\\d+'."
    )
    path: str = Field(
        default="",
        description="File or folder; empty: the project.",
    )
    glob: str = Field(default="", description="Only files that fit, such as '*.md'.")
    output: Literal["content", "files", "count"] = Field(
        default="content", description="Lines, names, or hits a file."
    )
    context: int = Field(default=0, ge=0, le=20, description="Lines before and after a hit.")
    ignore_case: bool = Field(default=False, description="Upper and lower case alike.")
    limit: int = Field(default=100, ge=1, le=2000, description="Most lines or files.")


@dataclass(slots=True)
class _Tally:
    """What a grep has met so far."""

    rows: list[str] = field(default_factory=list[str])
    hits: int = 0
    files: int = 0
    searched: int = 0
    too_large: int = 0
    unreadable: int = 0
    confidential: bool = False
    stopped: str = ""
    chars: int = 0
    listed: list[str] = field(default_factory=list[str])


class GrepFiles(_FindTool[GrepFilesArgs]):
    """Search the lines of text files with a regular expression.

    Prints path:line:text. Binary files and hidden folders are left out. To search papers use
    rag_search.
    """

    name = "grep_files"
    args = GrepFilesArgs

    @override
    def _where(self, args: GrepFilesArgs) -> str:
        return args.path or "."

    @override
    def _run(self, args: GrepFilesArgs, search: _Search) -> ToolOutput:
        pattern = _compiled(args)
        glob = Glob(args.glob, anywhere=True) if args.glob else None
        tally = _Tally()
        hidden = glob.wants_hidden if glob else False
        for found in self._guard.walk(self._where(args), enter=_folders(hidden=hidden)):
            if search.over:
                tally.stopped = f"stopped after {SEARCH_S:.0f} s"
                break
            try:
                if glob and not glob.matches(found.name):
                    continue
            except TimeoutError:
                raise _explodes(args.glob) from None
            self._look_into(found, args, pattern, tally)
            if tally.stopped:
                break
        return _report(args, tally)

    def _look_into(
        self, found: Found, args: GrepFilesArgs, pattern: "regex.Pattern[str]", tally: _Tally
    ) -> None:
        if found.size_bytes > MAX_FILE_BYTES:
            tally.too_large += 1
            return
        try:
            content = self._guard.read(found.place, max_bytes=MAX_FILE_BYTES)
        except NunciusError:
            tally.unreadable += 1
            return
        if _text.binary_type(content):
            return
        tally.searched += 1
        text = _text.decode(content).text.replace("\r\n", "\n")
        lines: list[int] = []
        try:
            for line in _hits(text, pattern):
                lines.append(line)
                if args.output == "content" and tally.hits + len(lines) > args.limit:
                    break
        except TimeoutError:
            tally.stopped = (
                f"stopped after {PATTERN_S:.1f} s in {self._shown(found)}: the pattern explodes"
                " there; write it without nested repetition"
            )
        if lines:
            tally.confidential |= found.place.path in self._guard.confidential
            _take(self._shown(found), text, lines, args, tally)


def _hits(text: str, pattern: "regex.Pattern[str]") -> Iterator[int]:
    """Yield the 0-based offset of the start of each line that the pattern matches within.

    Raises:
        TimeoutError: The pattern took longer than `PATTERN_S` on this text.
    """
    until = time.monotonic() + PATTERN_S
    at = 0
    while at <= len(text):
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        match = pattern.search(text, at, timeout=left, concurrent=True)
        if match is None:
            return
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.start())
        end = len(text) if end < 0 else end
        if start == len(text) and start > 0:
            return  # after the last line break there is no line
        within = match.end() <= end
        if not within:  # it ran over the end of the line: does the line match by itself?
            left = max(until - time.monotonic(), 0.001)
            within = pattern.search(text[start:end], timeout=left, concurrent=True) is not None
        if within:
            yield start
        at = end + 1


def _take(name: str, text: str, starts: list[int], args: GrepFilesArgs, tally: _Tally) -> None:
    """Add one file's hits to the tally in the wanted form."""
    tally.files += 1
    if args.output != "content":
        tally.hits += len(starts)
        row = name if args.output == "files" else f"{name}:{len(starts)}"
        if len(tally.rows) >= args.limit or tally.chars + len(row) > PAGE_CHARS:
            tally.stopped = f"first {len(tally.rows):,} files; narrow with path or glob"
            return
        tally.rows.append(row)
        tally.listed.append(name)
        tally.chars += len(row) + 1
        return
    tally.listed.append(name)
    lines = text.split("\n")
    numbers = [text.count("\n", 0, start) for start in starts]
    marked = set(numbers[: args.limit])
    last = -1
    for number in numbers:
        if tally.hits >= args.limit:
            tally.stopped = f"first {tally.hits:,} hits; narrow with path or glob"
            return
        first = max(number - args.context, last + 1)
        if args.context and tally.rows and first > last + 1:
            tally.rows.append("--")
        for at in range(first, min(number + args.context, len(lines) - 1) + 1):
            mark = ":" if at in marked else "-"
            row = f"{name}{mark}{at + 1}{mark}{_cut(lines[at])}"
            tally.rows.append(row)
            tally.chars += len(row) + 1
            last = at
        tally.hits += 1
        if tally.chars > PAGE_CHARS:
            tally.stopped = f"first {tally.hits:,} hits; narrow with path or glob"
            return


def _cut(line: str) -> str:
    if len(line) <= LINE_CHARS:
        return line
    return f"{line[:LINE_CHARS]} [+{len(line) - LINE_CHARS:,} characters]"


def _report(args: GrepFilesArgs, tally: _Tally) -> ToolOutput:
    notes = [f"{tally.hits:,} hits in {tally.files:,} of {tally.searched:,} text files searched"]
    if tally.too_large:
        notes.append(f"{tally.too_large} larger than {MAX_FILE_BYTES // 2**20} MiB left out")
    if tally.unreadable:
        notes.append(f"{tally.unreadable} could not be read")
    if tally.stopped:
        notes.append(tally.stopped)
    rows = tally.rows or ([] if tally.stopped else [f"No line matches {args.pattern!r}."])
    return ToolOutput(
        "\n".join([*rows, f"[{'; '.join(notes)}]"]),
        metadata={
            "hits": tally.hits,
            "files": tally.listed[:200],
            "searched": tally.searched,
            "truncated": bool(tally.stopped),
            "confidential": tally.confidential,
        },
    )


def _compiled(args: GrepFilesArgs) -> "regex.Pattern[str]":
    flags = regex.MULTILINE | (regex.IGNORECASE if args.ignore_case else 0)
    try:
        return regex.compile(args.pattern, flags)
    except (regex.error, OverflowError, RecursionError) as error:
        raise ToolError(
            f"{args.pattern!r} is no regular expression: {error}.",
            kind="invalid_arguments",
            code="bad_pattern",
            hint="Put a backslash before ( ) [ ] { } . * + ? where they stand for themselves.",
        ) from error


def _explodes(pattern: str) -> ToolError:
    return ToolError(
        f"{pattern!r} takes too long to compare.",
        kind="invalid_arguments",
        code="bad_pattern",
        hint="Use fewer stars.",
    )


def tools(guard: PathGuard) -> Iterator[Tool[Any]]:
    """Yield the search tools."""
    yield GlobFiles(guard)
    yield GrepFiles(guard)
