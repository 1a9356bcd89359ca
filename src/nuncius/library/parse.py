"""Parse files and draw pages in child processes: a deadly file costs itself alone."""

import asyncio
from collections.abc import Sequence

from nuncius.core.documents import Document
from nuncius.core.errors import DocumentError, NunciusError
from nuncius.parsing import picture, wire
from nuncius.parsing.batch import pack
from nuncius.parsing.render import RenderedPage
from nuncius.walls.spawn import ChildResult, python_child

DEADLINE_S = 120.0
"""For the largest file of a child; the others are given `_PER_BYTE_S`."""
PICTURE_DEADLINE_S = 30.0
MEMORY_BYTES = 4 * 1024**3
"""Address space of a child; pdfium maps far more than it uses."""
_PER_BYTE_S = 20 / 1024**2  # fifty times what the slowest format takes
_WORTH_A_CHILD = 512 * 1024  # bytes; starting one takes as long as parsing as much
_MAX_OUTPUT = 512 * 1024 * 1024


class ParserError(NunciusError):
    """No parser can be started on this machine: no file is to blame."""


async def parse_files(
    files: Sequence[tuple[str, bytes]], *, jobs: int = 1
) -> list[Document | DocumentError]:
    """Return the outcome of each (name, bytes), in order.

    Up to `jobs` children share the files. Where one dies or hangs, the files it finished stand;
    the next one is tried alone and blamed if that fails too.

    Raises:
        ParserError: Parsers do not start at all.
    """
    try:
        async with asyncio.TaskGroup() as group:
            parts = [group.create_task(_parse(part)) for part in _parts(files, jobs)]
    except ExceptionGroup as failed:  # each of them says the same
        raise failed.exceptions[0] from failed
    return [outcome for part in parts for outcome in part.result()]


def _parts(files: Sequence[tuple[str, bytes]], jobs: int) -> Sequence[Sequence[tuple[str, bytes]]]:
    """Split the files into at most `jobs` runs of about equal size, each worth a child."""
    size = sum(len(data) for _, data in files)
    share = max(size / jobs, _WORTH_A_CHILD)
    parts: list[list[tuple[str, bytes]]] = [[]]
    filled = 0
    for name, data in files:
        if parts[-1] and filled + len(data) / 2 > share * len(parts):
            parts.append([])
        parts[-1].append((name, data))
        filled += len(data)
    return parts


async def _parse(files: Sequence[tuple[str, bytes]]) -> list[Document | DocumentError]:
    outcomes: list[Document | DocumentError] = []
    rest = list(files)
    while rest:
        done, ended = await _child(rest)
        outcomes.extend(done)
        rest = rest[len(done) :]
        if not rest:
            break
        alone = (done, ended) if len(files) == 1 else await _child(rest[:1])
        outcomes.append(alone[0][0] if alone[0] else await _blame(alone[1]))
        rest = rest[1:]
    return outcomes


async def draw_page(data: bytes, page: int, *, quote: str, scale: float) -> RenderedPage:
    """Return a page of a PDF as a picture, with the quote's place on it.

    Raises:
        DocumentError: It cannot be drawn.
    """
    ended = await python_child(
        "nuncius.parsing.picture",
        stdin=picture.ask(data, page, quote=quote, scale=scale),
        timeout_s=PICTURE_DEADLINE_S,
        memory_bytes=MEMORY_BYTES,
    )
    return picture.read(ended.stdout)


async def _child(
    files: Sequence[tuple[str, bytes]],
) -> tuple[list[Document | DocumentError], ChildResult]:
    sizes = [len(data) for _, data in files]
    ended = await python_child(
        "nuncius.parsing.batch",
        stdin=pack(files),
        timeout_s=DEADLINE_S + _PER_BYTE_S * (sum(sizes) - max(sizes, default=0)),
        memory_bytes=MEMORY_BYTES,
        output_cap_bytes=_MAX_OUTPUT,
    )
    whole_lines = ended.stdout.split(b"\n")[:-1]
    return [_load(line) for line in whole_lines], ended


def _load(line: bytes) -> Document | DocumentError:
    try:
        return wire.load(line)
    except DocumentError as error:
        return error


async def _blame(ended: ChildResult) -> DocumentError:
    """Return what is said of a file that its parser did not survive.

    Raises:
        ParserError: A child without any file does not survive either.
    """
    nothing = (await _child([]))[1]
    if nothing.exit_code != 0:
        said = nothing.stderr.decode(errors="replace").strip().splitlines()
        raise ParserError(
            f"No parser can be started (exit code {nothing.exit_code})"
            + (f": {said[-1][:300]}" if said else "."),
            hint="No file is to blame. `nuncius doctor` shows what is missing; then add them again.",
        )
    if ended.timed_out:
        return DocumentError(
            "timeout",
            f"The file was not read within {DEADLINE_S:.0f} s and was given up.",
            hint="Split it, or add another format of the paper.",
        )
    said = ended.stderr.decode(errors="replace").strip().splitlines()
    return DocumentError(
        "damaged",
        f"The parser broke on this file (exit code {ended.exit_code}"
        + (f": {said[-1][:200]})." if said else ")."),
        hint="Fetch the file again, or add another format of the paper.",
    )
