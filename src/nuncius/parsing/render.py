"""Draw one page of a PDF and tell where on it a quote stands."""

import binascii
import importlib
import struct
import threading
import zlib
from dataclasses import dataclass
from typing import Any

from nuncius.core.errors import DocumentError, NotFoundError
from nuncius.parsing.marks import Box, mark_quote

_MAX_PIXELS = 4_000_000
_MAX_PNG_BYTES = 1_500_000
_LEVELS = bytes(round(value / 255 * 31) * 255 // 31 for value in range(256))
"""Thirty-two shades a channel: the eye sees no difference in type, and the file halves."""

_PDFIUM = threading.Lock()  # pdfium is not safe to call from two threads


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """A picture of a page.

    Attributes:
        png: 8-bit grey or RGB, at most about 1.5 MB.
        marks: One box for each printed line of the quote, in reading order; empty where the
            quote does not stand on this page.
        share: How much of the quote stands on this page, 0 to 1; less than 1 for a quote that
            runs over the page's end.
    """

    png: bytes
    width_px: int
    height_px: int
    marks: tuple[Box, ...] = ()
    share: float = 0.0


def render_page(data: bytes, page: int, *, quote: str = "", scale: float = 1.6) -> RenderedPage:
    """Draw page `page` (1-based) of the PDF `data` and mark `quote` on it.

    Args:
        quote: Text as the library stores it; found again whatever the page does to white space,
            hyphens, ligatures, margin line numbers and furniture between two lines.
        scale: Pixels a point; 2 is 144 dpi. Made smaller where the picture would grow too large.

    Raises:
        DocumentError: The file is no PDF that can be opened.
        NotFoundError: There is no such page.
    """
    with _PDFIUM:
        document = _open(data)
        try:
            if not 1 <= page <= len(document):
                raise NotFoundError(
                    f"The PDF has no page {page}.", hint=f"It has pages 1 to {len(document)}."
                )
            loaded = document[page - 1]
            try:
                marks, share = mark_quote(loaded, quote) if quote.strip() else ((), 0.0)
                png, width, height = _draw(loaded, scale)
            finally:
                loaded.close()
        finally:
            document.close()
    return RenderedPage(png, width, height, marks, share)


def _open(data: bytes) -> Any:
    pdfium: Any = importlib.import_module("pypdfium2")
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower():
            raise DocumentError(
                "encrypted", "The PDF asks for a password.", hint="Save a copy without one."
            ) from error
        raise DocumentError(
            "damaged", f"The PDF cannot be opened ({error}).", hint="Fetch the file again."
        ) from error


def _draw(page: Any, scale: float) -> tuple[bytes, int, int]:
    width, height = page.get_size()
    scale = min(scale, (_MAX_PIXELS / max(width * height, 1.0)) ** 0.5)
    while True:
        bitmap = page.render(scale=scale, rev_byteorder=True)
        try:
            size = bitmap.width, bitmap.height
            png = encode_png(bytes(bitmap.buffer), *size, stride=bitmap.stride)
        finally:
            bitmap.close()
        if len(png) <= _MAX_PNG_BYTES or scale < 0.5:
            return png, *size
        scale *= 0.75


def encode_png(pixels: bytes, width: int, height: int, *, stride: int) -> bytes:
    """Encode RGB rows of `stride` bytes as PNG: grey where no pixel has a colour."""
    rows = [pixels[at : at + 3 * width] for at in range(0, height * stride, stride)]
    plain = b"".join(rows)
    red = plain[0::3]
    grey = red == plain[1::3] == plain[2::3]
    step = width if grey else 3 * width
    body = (red if grey else plain).translate(_LEVELS)
    # each row starts with its filter, 0: type compresses better without one
    filtered = b"".join(b"\0" + body[at : at + step] for at in range(0, len(body), step))
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if grey else 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(filtered, 6))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, body: bytes) -> bytes:
    return (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", binascii.crc32(kind + body))
    )
