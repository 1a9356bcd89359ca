"""Parse files and draw pages in child processes: a deadly file costs itself alone."""

from collections.abc import Sequence

from nuncius.core.documents import Document
from nuncius.core.errors import DocumentError
from nuncius.parsing import picture, wire
from nuncius.parsing.batch import pack
from nuncius.parsing.render import RenderedPage
from nuncius.walls.spawn import ChildResult, python_child

DEADLINE_S = 120.0
"""For the first file of a child; each further one adds half of it."""
PICTURE_DEADLINE_S = 30.0
MEMORY_BYTES = 4 * 1024**3
"""Address space of a child; pdfium maps far more than it uses."""
_MAX_OUTPUT = 512 * 1024 * 1024


async def parse_files(files: Sequence[tuple[str, bytes]]) -> list[Document | DocumentError]:
    """Return the outcome of each (name, bytes), in order.

    All go to one child. Where it dies or hangs, the files it finished stand; the next one is tried
    alone and blamed if that fails too.
    """
    outcomes: list[Document | DocumentError] = []
    rest = list(files)
    while rest:
        done, ended = await _child(rest)
        outcomes.extend(done)
        rest = rest[len(done) :]
        if not rest:
            break
        alone = (done, ended) if len(files) == 1 else await _child(rest[:1])
        outcomes.append(alone[0][0] if alone[0] else _blame(alone[1]))
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
    ended = await python_child(
        "nuncius.parsing.batch",
        stdin=pack(files),
        timeout_s=DEADLINE_S * (1 + len(files)) / 2,
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


def _blame(ended: ChildResult) -> DocumentError:
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
