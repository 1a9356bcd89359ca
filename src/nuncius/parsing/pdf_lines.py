"""Lines of a PDF page with their place and type, in the order of the content stream.

Stream order is the reading order of papers made with TeX, Typst and Word; sorting by position
would mix columns. pdfium starts a new line at every raised or lowered character; those pieces are
put together again here. A few calls a piece go into pdfium, none a character: that is the speed.
"""

import ctypes
import importlib
import math
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from nuncius.core.text import clean

_ACCENTS = {
    "\u00b4": "\u0301",
    "\u00a8": "\u0308",
    "\u02c6": "\u0302",
    "\u02dc": "\u0303",
    "\u00af": "\u0304",
    "\u02c7": "\u030c",
    "\u02d8": "\u0306",
    "\u02da": "\u030a",
}
_ACCENT_FIRST = re.compile("([\u00b4\u00a8\u02c6\u02dc\u00af\u02c7\u02d8\u02da])([A-Za-z\u0131])")
_ACCENT_LAST = re.compile("(?<=[a-z])([cnsz])(\u00b4)(?![a-z])")
_BOLD = re.compile(r"bold|black|heavy|demi|medi(?!um)|cmbx|cmb\d|bx\d|-bd", re.IGNORECASE)
_ITALIC = re.compile(r"ital|obli|slant|cmti|cmsl", re.IGNORECASE)
_MATH = re.compile(r"math|cmmi|cmsy|cmex|msam|msbm|mtmi|mtsy|txmi|txsy|lmmi|lmsy", re.IGNORECASE)
_LEADING = re.compile(r"(\d{1,4})(?:\s+(?=\S)|$)")
_TRAILING = re.compile(r"(?:^|\s)(\d{1,4})$")
_ICON = re.compile(r"awesome|academicon|orcid|icons?\b|fontello|wingding|dingbat", re.IGNORECASE)
"""Fonts whose letters are little pictures: links to code, ORCID marks."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_VALUE = re.compile(r"[+\-−–±]?\d")
_BROKEN = re.compile(r"[^\W\d_]-$")
_STEPS = (1, 5)


@dataclass(slots=True)
class Line:
    """One printed line, or one cell of it.

    Attributes:
        text: As pdfium gives it, without a margin number and a hyphen at the end.
        x0, x1: Start and end along the direction of the text, in points.
        y: Baseline across it; it falls from line to line.
        size: Type size in points.
        angle: Direction of the text in degrees.
        hyphen: Whether the line ended in a hyphen.
        turned: Whether it is a stamp, a watermark or an axis label across the page's direction.
        raw: The pieces verbatim, for the text layer.
        margin: The margin number that was taken off.
    """

    text: str
    page: int
    x0: float
    x1: float
    y: float
    size: float
    font: str
    angle: int = 0
    hyphen: bool = False
    turned: bool = False
    raw: list[str] = field(default_factory=list[str])
    margin: str = ""

    @property
    def bold(self) -> bool:
        return _style_of(self.font)[0]

    @property
    def italic(self) -> bool:
        return _style_of(self.font)[1]

    @property
    def math(self) -> bool:
        return _style_of(self.font)[2]

    @property
    def words(self) -> int:
        """Return the number of words of two letters or more."""
        return _count_words(self.text)


@lru_cache(maxsize=512)
def _style_of(font: str) -> tuple[bool, bool, bool]:
    """Return whether a font is bold, italic, for mathematics."""
    return bool(_BOLD.search(font)), bool(_ITALIC.search(font)), bool(_MATH.search(font))


@lru_cache(maxsize=256)  # a line is asked several times in a row
def _count_words(text: str) -> int:
    return len(_WORD.findall(text))


@dataclass(slots=True)
class Page:
    """One page's lines; `margin` holds its margin numbers, `chars` counts all but white space."""

    number: int
    lines: list[Line]
    width: float
    height: float
    chars: int
    margin: list[str]


@dataclass(slots=True)
class _Piece:
    """A run that pdfium did not break: `start` and `end` are places in the page's text."""

    line: Line
    start: int
    end: int

    @property
    def middle(self) -> int:
        """Return the place of a character near the middle: type and size are asked there."""
        text = self.line.text
        half = len(text) // 2
        while half and text[half] == " ":
            half -= 1
        return self.start + _units(text[:half])


class Reader:
    """Reads pages of one open document, first to last; the C structures are made once."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._raw: Any = importlib.import_module("pypdfium2.raw")
        self._x = ctypes.c_double()
        self._y = ctypes.c_double()
        self._box = tuple(ctypes.c_double() for _ in range(4))
        self._matrix = self._raw.FS_MATRIX()
        self._name = ctypes.create_string_buffer(96)
        self._flags = ctypes.c_int()
        self._margins: set[int] = set()

    def read(self, number: int) -> Page:
        """Return page `number` (1-based); pdfium's page is closed again."""
        page = self._document[number - 1]
        try:
            width, height = page.get_size()
            text_page = page.get_textpage()
            try:
                text = text_page.get_text_range(errors="replace")
                pieces = self._pieces(text_page.raw, text, number)
                margin = self._take_margin_numbers(text_page.raw, pieces)
            finally:
                text_page.close()
        finally:
            page.close()
        lines = _join([piece.line for piece in pieces if piece.line.text or piece.line.hyphen])
        _mark_turned(lines)
        chars = len(text) - text.count(" ") - 2 * text.count("\n")
        return Page(number, lines, width, height, chars, margin)

    def _pieces(self, text_page: Any, text: str, number: int) -> list[_Piece]:
        pieces: list[_Piece] = []
        position = 0
        for whole in text.split("\r\n"):
            parts = whole.split("\ufffe")
            for index, part in enumerate(parts):
                stripped = part.strip()
                if stripped:
                    start = position + _units(part[: len(part) - len(part.lstrip())])
                    line = Line(stripped, number, 0.0, 0.0, 0.0, 1.0, "")
                    piece = _Piece(line, start, start + _units(stripped))
                    self._measure(text_page, piece)
                    line.hyphen = index < len(parts) - 1
                    if not _ICON.search(line.font):
                        pieces.append(piece)
                position += _units(part) + 1
            position += 1
        return pieces

    def _measure(self, text_page: Any, piece: _Piece) -> None:
        """Set place and type of a piece from its first and last character."""
        raw, matrix, line = self._raw, self._matrix, piece.line
        left, right, bottom, top = self._box
        first = raw.FPDFText_GetCharIndexFromTextIndex(text_page, piece.start)
        last = raw.FPDFText_GetCharIndexFromTextIndex(text_page, piece.end - 1)
        middle = raw.FPDFText_GetCharIndexFromTextIndex(text_page, piece.middle)
        raw.FPDFText_GetCharOrigin(text_page, first, self._x, self._y)
        raw.FPDFText_GetMatrix(text_page, middle, matrix)
        raw.FPDFText_GetCharBox(text_page, last, left, right, bottom, top)
        length = raw.FPDFText_GetFontInfo(text_page, middle, self._name, 96, self._flags)
        name = self._name.value.decode("latin-1") if 0 < length <= 96 else ""
        line.font = name[7:] if name[6:7] == "+" else name
        size = raw.FPDFText_GetFontSize(text_page, middle) * math.hypot(matrix.c, matrix.d)
        line.size = round(size, 2) or 1.0
        x, y = self._x.value, self._y.value
        line.angle = 0 if matrix.b == 0 <= matrix.a else _degrees(matrix.a, matrix.b)
        if line.angle == 90:
            line.x0, line.x1, line.y = y, top.value, -x
        elif line.angle == -90:
            line.x0, line.x1, line.y = -y, -bottom.value, x
        else:
            line.x0, line.x1, line.y = x, right.value, y
        line.x1 = max(line.x0, line.x1)

    def _take_margin_numbers(self, text_page: Any, pieces: list[_Piece]) -> list[str]:
        """Cut the line numbers of drafts off the pieces and return them.

        They stand in a column of their own at one edge, rise by 1 or 5 and are set smaller than
        the text beside them; the first column of a table is none of these.
        """
        taken: list[str] = []
        for leading in (True, False):
            columns: dict[int, list[_Numbered]] = {}
            for piece in pieces:
                match = (_LEADING.match if leading else _TRAILING.search)(piece.line.text)
                if match and not piece.line.angle and match[1].isascii():
                    numbered = self._numbered(text_page, piece, match[1], leading=leading)
                    columns.setdefault(round(numbered.number.line.x1 / 3), []).append(numbered)
            for column, members in _neighbours(columns):
                if self._is_margin(text_page, column, members):
                    self._margins.add(column)
                    for numbered in members:
                        numbered.piece.line.margin = numbered.number.line.text
                        taken.append(numbered.number.line.text)
                        self._keep_rest(text_page, numbered)
        return taken

    def _numbered(
        self, text_page: Any, piece: _Piece, digits: str, *, leading: bool
    ) -> "_Numbered":
        text = piece.line.text
        at = piece.start if leading else piece.end - len(digits)
        number = _Piece(Line(digits, 0, 0.0, 0.0, 0.0, 1.0, ""), at, at + len(digits))
        self._measure(text_page, number)
        rest = text[len(digits) :] if leading else text[: -len(digits)]
        if leading:
            start = number.end + _units(rest) - _units(rest.lstrip())
            return _Numbered(piece, number, rest.strip(), start, piece.end)
        end = number.start - (_units(rest) - _units(rest.rstrip()))
        return _Numbered(piece, number, rest.strip(), piece.start, end)

    def _is_margin(self, text_page: Any, column: int, members: list["_Numbered"]) -> bool:
        values = [int(member.number.line.text) for member in members]
        known = any(abs(column - other) <= 1 for other in self._margins)
        enough = len(values) < 3 or _rising(values) >= 0.4
        if not (enough if known else len(values) >= 5 and _rising(values) >= 0.6):
            return False
        with_text = [member for member in members if member.rest]
        if sum(bool(_WORD.search(member.rest)) for member in with_text) * 2 < len(with_text):
            return False
        smaller = 0
        for member in with_text:
            line = Line(member.rest, 0, 0.0, 0.0, 0.0, 1.0, "")
            self._measure(text_page, _Piece(line, member.start, member.end))
            smaller += member.number.line.size < 0.9 * line.size
        return smaller * 4 >= len(with_text) * 3 if with_text else known

    def _keep_rest(self, text_page: Any, numbered: "_Numbered") -> None:
        piece = numbered.piece
        piece.line.text = numbered.rest
        if numbered.rest:
            piece.start, piece.end = numbered.start, numbered.end
            self._measure(text_page, piece)


@dataclass(slots=True)
class _Numbered:
    """A piece with a number at one end: the number, and the text without it with its place."""

    piece: _Piece
    number: _Piece
    rest: str
    start: int
    end: int


def _neighbours(
    columns: dict[int, list[_Numbered]],
) -> list[tuple[int, list[_Numbered]]]:
    """Join columns whose right edges are less than about 5 pt apart."""
    joined: list[tuple[int, list[_Numbered]]] = []
    for column in sorted(columns):
        if joined and column - joined[-1][0] <= 1:
            joined[-1][1].extend(columns[column])
        else:
            joined.append((column, list(columns[column])))
    for _, members in joined:
        members.sort(key=lambda member: member.piece.start)
    return joined


def _rising(values: list[int]) -> float:
    """Return the share of values whose successor (the value plus 1 or plus 5) is there too."""
    present = set(values)
    return max(sum(value + step in present for value in present) for step in _STEPS) / len(values)


def _join(pieces: list[Line]) -> list[Line]:
    """Put pieces that stand on one printed line together: superscripts broke them."""
    lines: list[Line] = []
    for piece in pieces:
        piece.text = _compose(clean(piece.text))
        if _BROKEN.search(piece.text):  # pdfium marks only breaks within a column
            piece.text, piece.hyphen = piece.text[:-1], True
        piece.raw.append(piece.text + ("-" if piece.hyphen else ""))
        last = lines[-1] if lines else None
        if last is not None and _on_one_line(last, piece):
            gap = piece.x0 - last.x1 > 0.18 * max(last.size, piece.size)
            digits = last.text[-1:].isdigit() and piece.text[:1].isdigit()
            longer = len(piece.text) > len(last.text)
            last.text += (" " if gap or digits else "") + piece.text
            last.x1 = max(last.x1, piece.x1)
            last.hyphen = piece.hyphen
            last.raw += piece.raw
            if longer:
                last.y, last.size, last.font = piece.y, piece.size, piece.font
        else:
            lines.append(piece)
    return lines


def _on_one_line(last: Line, piece: Line) -> bool:
    size = max(last.size, piece.size)
    back = 1.6 if piece.size < 0.85 * last.size or last.y != piece.y else 0.4  # stacked scripts
    # cells of a table stand apart; a raised or lowered uncertainty ends pdfium's line there
    cells = last.text[-1:].isdigit() and bool(_VALUE.match(piece.text))
    if cells and last.y != piece.y:
        back = 3.0  # "+0.12" over "-0.16"
    return (
        not last.hyphen
        and last.angle == piece.angle
        and abs(last.y - piece.y) <= 0.62 * size
        and -back * size <= piece.x0 - last.x1 <= (14 if cells else 2.5) * size
    )


def _mark_turned(lines: list[Line]) -> None:
    weights: Counter[int] = Counter()
    for line in lines:
        weights[line.angle] += len(line.text)
    if len(weights) < 2:
        return
    main, _ = weights.most_common(1)[0]
    total = sum(weights.values())
    for line in lines:
        slanted = line.angle % 90 != 0
        line.turned = line.angle != main and (slanted or weights[line.angle] < 0.25 * total)


def _degrees(a: float, b: float) -> int:
    return round(math.degrees(math.atan2(b, a)))


def _units(text: str) -> int:
    """Return the length of `text` in UTF-16 units, which pdfium counts in."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _compose(text: str) -> str:
    """Put accents that were set as characters of their own onto their letters (``K\u00a8onig``)."""
    if text.isascii():
        return text
    text = _ACCENT_FIRST.sub(lambda match: _accented(match[2], match[1]), text)
    return _ACCENT_LAST.sub(lambda match: _accented(match[1], match[2]), text)


def _accented(letter: str, accent: str) -> str:
    letter = "i" if letter == "\u0131" else letter
    composed = unicodedata.normalize("NFC", letter + _ACCENTS[accent])
    return composed if len(composed) == 1 else accent + letter
