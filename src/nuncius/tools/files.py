"""Read, write and edit text files inside the roots."""

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from pydantic import Field
from typing_extensions import override

from nuncius.agent.tool import (
    Arguments,
    Permission,
    ReadState,
    Resource,
    Tool,
    ToolContext,
    ToolOutput,
)
from nuncius.core.errors import (
    AccessDeniedError,
    ConfidentialError,
    NotFoundError,
    NunciusError,
    ToolError,
)
from nuncius.tools import _edit, _text
from nuncius.walls.paths import Access, Change, PathGuard, TooLargeError

A = TypeVar("A", bound=Arguments)

# A page stays under the executor's threshold of 16,000 characters, so that reading a file never
# produces an output that must itself be kept in a file.
PAGE_LINES = 1000
PAGE_CHARS = 15_000
LINE_CHARS = 2000


def as_tool_error(error: NunciusError) -> ToolError:
    """Give the model the guard's words, with the kind that screens show."""
    if isinstance(error, ToolError):
        return error
    if isinstance(error, ConfidentialError):
        return ToolError(error.message, kind="confidential", hint=error.hint)
    if isinstance(error, AccessDeniedError):
        return ToolError(error.message, kind="denied", hint=error.hint)
    if isinstance(error, NotFoundError):
        return ToolError(error.message, kind="not_found", hint=error.hint)
    kind = "too_large" if isinstance(error, TooLargeError) else "unavailable"
    return ToolError(error.message, kind=kind, hint=error.hint)


class _FileTool(Tool[A]):
    """What the three tools share: the guard judges, names the resource and the subject."""

    access: Access = "read"

    def __init__(self, guard: PathGuard) -> None:
        self._guard = guard

    def _path(self, args: A) -> str:
        raise NotImplementedError  # each tool knows its own argument

    @override
    def resources(self, args: A) -> Sequence[Resource]:
        try:
            return (Resource(self._guard.key(self._path(args)), self.access),)
        except (AccessDeniedError, ConfidentialError):
            return ()  # the call will be refused; it holds nothing

    @override
    def check_permissions(self, args: A) -> Sequence[Permission]:
        verdict = self._guard.judge(self._path(args), self.access)
        return (Permission(verdict.decision, verdict.reason, firm=verdict.firm),)

    @override
    def subject(self, args: A) -> str:
        try:
            return str(self._guard.locate(self._path(args), self.access).path)
        except (AccessDeniedError, ConfidentialError):
            return self._path(args)

    @override
    def reaches_out(self, args: A) -> bool:
        return False  # inside the roots; the guard asks firmly where agents or programs obey a file

    @override
    def sources(self, args: A, output: ToolOutput) -> Sequence[str]:
        return (f"file {self._path(args)}",) if self.read_only else ()

    @override
    async def run(self, args: A, ctx: ToolContext) -> ToolOutput:
        try:
            return await asyncio.to_thread(self._run, args, ctx.read_state)
        except NunciusError as error:
            raise as_tool_error(error) from error

    def _run(self, args: A, state: ReadState) -> ToolOutput:
        raise NotImplementedError  # in a thread


class ReadFileArgs(Arguments):
    """Arguments of `read_file`."""

    path: str = Field(description="Absolute or relative to the project.")
    offset: int = Field(
        default=1,
        description="First line to show, counted from 1; -20 shows the last 20 lines.",
    )
    limit: int | None = Field(
        default=None, ge=1, description=f"Most lines to show; at most {PAGE_LINES} come at once."
    )


class ReadFile(_FileTool[ReadFileArgs]):
    """Read a text file, with line numbers.

    Shows a page at a time and says which offset reads on. Read a file before you edit it.
    """

    name = "read_file"
    args = ReadFileArgs
    read_only = True

    @override
    def _path(self, args: ReadFileArgs) -> str:
        return args.path

    @override
    def _run(self, args: ReadFileArgs, state: ReadState) -> ToolOutput:
        place = self._guard.locate(args.path)
        content = self._guard.read(place)
        path, digest = str(place.path), sha256(content)
        kind = _text.binary_type(content)
        if kind:
            hint = "Parse it with parse_paper." if kind == "PDF" else "It has no lines to show."
            raise ToolError(
                f"{args.path} is not text: {kind}, {len(content):,} bytes.",
                kind="invalid_arguments",
                code="binary",
                hint=hint,
            )
        facts: dict[str, Any] = {"path": path, "size_bytes": len(content), "sha256": digest}
        if place.path in self._guard.confidential:
            facts["confidential"] = True
        state.digests[path] = digest
        shown = (path, args.offset, args.limit)
        if state.shown.get(shown) == (digest, state.generation):
            return ToolOutput(
                f"{args.path} is unchanged since you read it with the same offset and limit in"
                " this conversation; what you saw there still holds.",
                metadata={**facts, "unchanged": True},
            )
        text = _text.decode(content)
        output = _page(args, _text.lines(text.text), {**facts, "encoding": text.encoding})
        state.shown[shown] = (digest, state.generation)
        return output


def _page(args: ReadFileArgs, lines: list[str], facts: dict[str, Any]) -> ToolOutput:
    total = len(lines)
    facts["total_lines"] = total
    if not lines:
        return ToolOutput(f"{args.path} is empty (0 lines).", metadata=facts)
    start = max(total + args.offset, 0) if args.offset < 0 else max(args.offset, 1) - 1
    if start >= total:
        raise ToolError(
            f"Line {args.offset:,} is beyond the end: {args.path} has {total:,} lines.",
            kind="invalid_arguments",
            code="beyond_end",
            hint="Use a smaller offset, or -20 for the last 20 lines.",
        )
    wanted = lines[start : start + min(args.limit or PAGE_LINES, PAGE_LINES)]
    rows: list[str] = []
    used = cut = 0
    for number, line in enumerate(wanted, start + 1):
        row = f"{number}\t{line[:LINE_CHARS]}"
        if len(line) > LINE_CHARS:
            row += f" [+{len(line) - LINE_CHARS:,} characters]"
        if rows and used + len(row) > PAGE_CHARS:
            break
        cut += len(line) > LINE_CHARS
        used += len(row) + 1
        rows.append(row)
    end = start + len(rows)
    more = f"; read on with offset={end + 1}" if end < total else "; that is the end"
    long = f"; {cut} lines were cut at {LINE_CHARS:,} characters, search them with grep_files"
    rows.append(f"[lines {start + 1:,}-{end:,} of {total:,}{more}{long if cut else ''}]")
    return ToolOutput(
        "\n".join(rows),
        metadata={
            **facts,
            "start_line": start + 1,
            "end_line": end,
            "next_offset": end + 1 if end < total else None,
        },
    )


class FileWriteArgs(Arguments):
    """Arguments of `file_write`."""

    path: str = Field(description="File to write.")
    content: str = Field(description="The whole new content.")
    overwrite: bool = Field(
        default=False,
        description="True replaces a file that you have not read, or that changed since.",
    )


class FileWrite(_FileTool[FileWriteArgs]):
    """Create a text file, or replace one that you have read in this session.

    A file that exists is replaced only where you have read it and it has not changed since, or
    with overwrite=true. To change a part of a file use file_edit.
    """

    name = "file_write"
    args = FileWriteArgs
    interrupt = "block"
    access = "write"

    @override
    def _path(self, args: FileWriteArgs) -> str:
        return args.path

    @override
    def _run(self, args: FileWriteArgs, state: ReadState) -> ToolOutput:
        _demand_text(content=args.content)
        content = args.content.encode()
        path = str(self._guard.locate(args.path, "write").path)
        with self._guard.change(args.path) as change:
            if change.before is not None and not args.overwrite:
                _demand_fresh(args.path, change.before, state.digests.get(path))
            change.write(content)
        state.digests[path] = sha256(content)
        lines = len(_text.lines(args.content))
        did = "Created" if change.before is None else "Replaced"
        return ToolOutput(
            f"{did} {path}: {lines:,} lines, {len(content):,} bytes.",
            metadata={
                "path": path,
                "created": change.before is None,
                "size_bytes": len(content),
                "sha256": state.digests[path],
            },
        )


def _demand_fresh(asked: str, before: bytes, seen: str | None) -> None:
    if seen == sha256(before):
        return
    happened = "was not read in this session" if seen is None else "changed since you read it"
    raise ToolError(
        f"{asked} exists and {happened}; it was not written.",
        kind="invalid_arguments",
        code="not_read" if seen is None else "changed",
        hint="Read it first, or say overwrite=true to replace it unseen.",
    )


class FileEditArgs(Arguments):
    """Arguments of `file_edit`."""

    path: str = Field(description="File to edit.")
    old_string: str = Field(
        min_length=1,
        description="Text to replace, copied without line numbers; add lines until it is unique.",
    )
    new_string: str = Field(description="The text to put there; empty deletes.")
    replace_all: bool = Field(default=False, description="True replaces every place.")


class FileEdit(_FileTool[FileEditArgs]):
    """Replace one piece of text in a file that you have read in this session.

    The rest stays byte for byte. Where old_string stands more than once, the edit is refused and
    the places are named.
    """

    name = "file_edit"
    args = FileEditArgs
    interrupt = "block"
    access = "write"

    @override
    def _path(self, args: FileEditArgs) -> str:
        return args.path

    @override
    def _run(self, args: FileEditArgs, state: ReadState) -> ToolOutput:
        _demand_text(old_string=args.old_string, new_string=args.new_string)
        if args.old_string == args.new_string:
            raise ToolError(
                "old_string and new_string are equal: nothing to change.",
                kind="invalid_arguments",
                code="no_change",
            )
        place = self._guard.locate(args.path, "write")
        if place.missing:
            raise ToolError(f"There is no file {args.path}.", hint="Create it with file_write.")
        path = str(place.path)
        seen = state.digests.get(path)
        if seen is None:
            raise ToolError(
                f"{args.path} was not read in this session; it was not edited.",
                kind="invalid_arguments",
                code="not_read",
                hint="Read it with read_file, then edit.",
            )
        with self._guard.change(args.path) as change:
            if change.before is None:
                raise ToolError(f"There is no file {args.path}.", hint="Create it with file_write.")
            changed = sha256(change.before) != seen
            content, match, lines = _edited(args, change, changed=changed)
            change.write(content)
        state.digests[path] = sha256(content)
        return _told(args, path, match, lines, changed=changed)


def _edited(
    args: FileEditArgs, change: Change, *, changed: bool
) -> tuple[bytes, _edit.Match, list[int]]:
    """Return the new bytes, what matched, and the lines of the places."""
    before = change.before or b""
    kind = _text.binary_type(before)
    text = _text.decode(before)
    if kind or not text.keeps(before):
        raise ToolError(
            f"{args.path} is not text that can be edited without changing other bytes"
            f" ({kind or text.encoding}, {len(before):,} bytes).",
            kind="invalid_arguments",
            code="binary",
        )
    match = _edit.find(text.text, args.old_string)
    lines = _edit.line_numbers(text.text, match.spans)
    if not match.spans:
        raise _nowhere(args, text.text, changed=changed)
    if len(lines) > 1 and (changed or not args.replace_all):
        raise _ambiguous(args, lines, changed=changed)
    try:
        return (
            text.encode(_edit.replaced(text.text, match, args.old_string, args.new_string)),
            match,
            lines,
        )
    except UnicodeEncodeError as error:
        raise ToolError(
            f"{args.path} is written in {text.encoding}, which has no"
            f" {error.object[error.start : error.end]!r}; it was not edited.",
            kind="invalid_arguments",
            code="encoding",
            hint="Use characters of that encoding, or write the whole file anew with file_write.",
        ) from error


def _nowhere(args: FileEditArgs, text: str, *, changed: bool) -> ToolError:
    first = next((line.strip() for line in args.old_string.splitlines() if line.strip()), "")
    near = [number for number, line in enumerate(_text.lines(text), 1) if first and first in line]
    about = f" Its first line stands on {_listed(near)}." if near else ""
    since = " The file changed since you read it." if changed else ""
    return ToolError(
        f"old_string does not stand in {args.path}.{about}{since}",
        code="no_match",
        hint="Read the file again and copy the text without line numbers, with its indentation.",
    )


def _ambiguous(args: FileEditArgs, lines: list[int], *, changed: bool) -> ToolError:
    since = " and the file changed since you read it" if changed else ""
    return ToolError(
        f"old_string stands {len(lines):,} times in {args.path}, on {_listed(lines)}{since};"
        " nothing was edited.",
        kind="invalid_arguments",
        code="ambiguous",
        hint="Read the file again."
        if changed
        else "Add lines around it until it stands once, or say replace_all=true.",
    )


def _listed(lines: list[int]) -> str:
    shown = ", ".join(str(line) for line in lines[:10])
    more = f" and {len(lines) - 10:,} more" if len(lines) > 10 else ""
    return f"line{'s' if len(lines) > 1 else ''} {shown}{more}"


def _told(
    args: FileEditArgs, path: str, match: _edit.Match, lines: list[int], *, changed: bool
) -> ToolOutput:
    notes: list[str] = []
    if match.fuzz != "exact":
        notes.append(f"matched only after ignoring {match.fuzz}")
    if changed:
        notes.append("the file had changed since you read it; read it again before relying on it")
    note = f" ({'; '.join(notes)})" if notes else ""
    places = f"{len(lines)} places, " if len(lines) > 1 else ""
    return ToolOutput(
        f"Edited {path}: {places}{_listed(lines)}{note}.",
        metadata={
            "path": path,
            "lines": lines[:100],
            "replacements": len(lines),
            "fuzz": match.fuzz,
            "changed_since_read": changed,
            "old_string": args.old_string[:2000],
            "new_string": args.new_string[:2000],
        },
    )


def _demand_text(**texts: str) -> None:
    for name, text in texts.items():
        if _text.has_surrogates(text) or "\0" in text:
            raise ToolError(
                f"{name} holds a NUL or half of a surrogate pair, which no text file can.",
                kind="invalid_arguments",
                code="not_text",
                hint="Write the character itself.",
            )


def sha256(content: bytes) -> str:
    """Return the hexadecimal SHA-256 of `content`."""
    return hashlib.sha256(content).hexdigest()


def tools(guard: PathGuard) -> Iterator[Tool[Any]]:
    """Yield the file tools."""
    yield ReadFile(guard)
    yield FileWrite(guard)
    yield FileEdit(guard)
