"""The boxes of a quote on a PDF page, one for each printed line."""

import ctypes
import importlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nuncius.parsing.locate import locate

_GRID = 1_000_000  # pdfium maps to whole pixels of a device: fine enough for a fraction


@dataclass(frozen=True, slots=True)
class Box:
    """A place on a page as fractions of its width and height as shown; the origin is top left."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class _Glyph:
    """A character in its line's frame: `start` to `end` along the text, `foot` to `head` across."""

    angle: int
    size: float
    baseline: float
    start: float
    end: float
    foot: float
    head: float


def mark_quote(page: Any, quote: str) -> tuple[tuple[Box, ...], float]:
    """Return a box for each line of `quote` on pdfium's `page`, and which share of it is there."""
    raw: Any = importlib.import_module("pypdfium2.raw")
    text_page = page.get_textpage()
    try:
        pen = _Pen(raw, text_page.raw, text_page.count_chars())
        places, share = locate(pen.text, quote)
        glyphs = [glyph for at in places if (glyph := pen.measure(at))]
    finally:
        text_page.close()
    return tuple(_on_page(raw, page.raw, line) for line in _lines(glyphs)), share


class _Pen:
    """Reads characters and their places; the C structures are made once."""

    def __init__(self, raw: Any, text_page: Any, count: int) -> None:
        self._raw = raw
        self._page = text_page
        self._box = tuple(ctypes.c_double() for _ in range(4))
        self._origin = (ctypes.c_double(), ctypes.c_double())
        self._matrix = raw.FS_MATRIX()
        codes = [raw.FPDFText_GetUnicode(text_page, at) for at in range(count)]
        self.text, self._numbers = _decode(codes)

    def measure(self, at: int) -> _Glyph | None:
        """Return where character `at` is drawn; None for white space and what pdfium made up."""
        if self.text[at].isspace():
            return None
        raw, page, matrix = self._raw, self._page, self._matrix
        at = self._numbers[at]
        left, right, bottom, top = self._box
        x, y = self._origin
        if raw.FPDFText_IsGenerated(page, at) == 1:
            return None
        if not raw.FPDFText_GetCharBox(page, at, left, right, bottom, top):
            return None
        if right.value <= left.value and top.value <= bottom.value:
            return None
        raw.FPDFText_GetCharOrigin(page, at, x, y)
        raw.FPDFText_GetMatrix(page, at, matrix)
        size = abs(raw.FPDFText_GetFontSize(page, at)) * math.hypot(matrix.c, matrix.d)
        angle = round(math.degrees(math.atan2(matrix.b, matrix.a)))
        corners = [
            _turn(across, along, -angle)
            for across in (left.value, right.value)
            for along in (bottom.value, top.value)
        ]
        us, vs = [corner[0] for corner in corners], [corner[1] for corner in corners]
        baseline = _turn(x.value, y.value, -angle)[1]
        return _Glyph(angle, size, baseline, min(us), max(us), min(vs), max(vs))


def _decode(codes: Sequence[int]) -> tuple[str, list[int]]:
    """Return the text, and for each of its characters pdfium's number of it.

    pdfium counts UTF-16 units: a letter of mathematics such as 𝜆 has two numbers there.
    """
    characters: list[str] = []
    numbers: list[int] = []
    for number, code in enumerate(codes):
        if 0xDC00 <= code < 0xE000 and number and 0xD800 <= codes[number - 1] < 0xDC00:
            high = codes[number - 1] - 0xD800
            characters[-1] = chr(0x10000 + (high << 10) + code - 0xDC00)
        else:
            characters.append(_character(code))
            numbers.append(number)
    return "".join(characters), numbers


def _character(code: int) -> str:
    if code == 0x0D:
        return " "  # so that a line ends in one newline
    if code in {0xFFFE, 0x02}:  # pdfium's signs for a hyphen at a line's end
        return "\ufffe"
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def _turn(x: float, y: float, degrees: int) -> tuple[float, float]:
    """Turn a point about the origin, counter-clockwise."""
    if not degrees:
        return x, y
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return x * cosine - y * sine, x * sine + y * cosine


def _lines(glyphs: Sequence[_Glyph]) -> list[list[_Glyph]]:
    """Part the characters into printed lines; a column's gap parts them too."""
    lines: list[list[_Glyph]] = []
    for glyph in glyphs:
        if lines and _continues(lines[-1], glyph):
            lines[-1].append(glyph)
        else:
            lines.append([glyph])
    return lines


def _continues(line: Sequence[_Glyph], glyph: _Glyph) -> bool:
    last = line[-1]
    height = max(_height(line), _height([glyph]))
    return (
        glyph.angle == last.angle
        and abs(_baseline(line) - glyph.baseline) <= 0.62 * height  # raised and lowered ones too
        and -1.5 * height <= glyph.start - last.end <= 4 * height
    )


def _baseline(line: Sequence[_Glyph]) -> float:
    """Return where most of the line's characters stand."""
    return Counter(round(glyph.baseline, 1) for glyph in line).most_common(1)[0][0]


def _height(line: Sequence[_Glyph]) -> float:
    """Return the type size of most of the line; drawn heights where a font tells none."""
    size = Counter(round(glyph.size, 1) for glyph in line).most_common(1)[0][0]
    drawn = max(glyph.head - glyph.foot for glyph in line)
    return size if 0.5 * drawn <= size <= 4 * drawn else drawn


def _on_page(raw: Any, page: Any, line: Sequence[_Glyph]) -> Box:
    """Return the line's box as shown: turned with the page, cut to its crop box."""
    height, baseline, angle = _height(line), _baseline(line), line[0].angle
    foot = max(min(glyph.foot for glyph in line), baseline - 0.45 * height)
    head = min(max(glyph.head for glyph in line), baseline + 1.1 * height)
    foot, head = min(foot, baseline - 0.22 * height), max(head, baseline + 0.78 * height)
    pad = 0.06 * height
    start = min(glyph.start for glyph in line) - pad
    end = max(glyph.end for glyph in line) + pad
    points: list[tuple[float, float]] = []
    column, row = ctypes.c_int(), ctypes.c_int()
    for along, up in ((start, foot), (start, head), (end, foot), (end, head)):
        x, y = _turn(along, up, angle)
        raw.FPDF_PageToDevice(page, 0, 0, _GRID, _GRID, 0, x, y, column, row)
        points.append((column.value / _GRID, row.value / _GRID))
    xs = [min(1.0, max(0.0, point[0])) for point in points]
    ys = [min(1.0, max(0.0, point[1])) for point in points]
    return Box(min(xs), min(ys), max(xs), max(ys))
