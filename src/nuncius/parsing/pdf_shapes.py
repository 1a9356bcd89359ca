"""What lines look like: columns, sizes and fonts of a page; rows of tables, parts of equations."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from nuncius.parsing.headings import heading_depth
from nuncius.parsing.pdf_lines import Line, Page

_NUMBER = re.compile(r"^[(\[<>~∼≈±≤≥]*[+\-−–]?\d[\d.,:+\-−–±×/()eE*%]*$")
_LISTED = re.compile(r"\d[\d.]*[,;]")
_NUMBERED_EQUATION = re.compile(r"=.*\([A-Z]?\d{1,3}[a-z]?\)[.,;]?$")
_MATH_SIGN = re.compile(r"[=≈∼≡<>≤≥∑∫∏∝±×√∂∇∞→∈⟨⟩{}|^]|[\u0391-\u03c9]|[\U0001d400-\U0001d7ff]")


def body_size(pages: Sequence[Page]) -> float:
    """Return the size that most of the running text is set in."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            if not line.turned and len(line.text) > 20:
                sizes[round(line.size * 4) / 4] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def columns(lines: Sequence[Line], body: float) -> list[tuple[float, float]]:
    """Return left and right edge of each column of running text."""
    long = [line for line in lines if len(line.text) > 20]
    texts = [line for line in long if abs(line.size - body) < 0.8]
    if len(texts) * 2 < len(long):
        texts = long
    lefts: Counter[int] = Counter(round(line.x0 / 3) for line in texts)
    least = max(3, len(texts) // 8)
    edges: list[float] = []
    for bucket in sorted(lefts):
        near = lefts[bucket] + lefts[bucket + 1]
        if near >= least and (not edges or bucket * 3 - edges[-1] > 12 * body / 2):
            edges.append(bucket * 3.0)
    columns: list[tuple[float, float]] = []
    for index, left in enumerate(edges):
        stop = edges[index + 1] if index + 1 < len(edges) else float("inf")
        ends = Counter(round(line.x1 / 4) for line in texts if left - 4 <= line.x0 < stop - 4)
        if ends:
            end, count = ends.most_common(1)[0]
            columns.append((left, (end if count > 2 and len(texts) >= 12 else max(ends)) * 4.0))
    return columns


def page_size(lines: Sequence[Line]) -> float:
    """Return the size that most of a full page of text is set in, or 0 for other pages."""
    sizes = Counter(round(line.size * 4) / 4 for line in lines if line.words >= 6)
    size, count = sizes.most_common(1)[0] if sizes else (0.0, 0)
    return size if count >= 25 and count * 10 >= sizes.total() * 7 else 0.0


def text_fonts(by_page: Sequence[Sequence[Line]]) -> frozenset[str]:
    """Return the fonts that sentences are set in; figures have others for their labels."""
    fonts = Counter(line.font for lines in by_page for line in lines if line.words >= 8)
    return frozenset(font for font, count in fonts.items() if count >= 4)


def count_numbered(by_page: Sequence[Sequence[Line]]) -> int:
    """Return how many lines look like numbered section headings."""
    return sum(
        bool(heading_depth(line.text)) and (line.bold or line.italic or line.text.isupper())
        for lines in by_page
        for line in lines
        if len(line.text) < 100 and not line.text.endswith(".")
    )


def is_row(line: Line) -> bool:
    """Tell whether a line is mostly numbers in columns."""
    return _is_row_text(line.text)


@lru_cache(maxsize=64)  # a line is asked when it comes, and as the one that follows
def _is_row_text(text: str) -> bool:
    tokens = text.split()
    if len(tokens) < 3 or _NUMBERED_EQUATION.search(text):
        return False
    if sum(bool(_LISTED.fullmatch(token)) for token in tokens) >= 2:
        return False  # "100, 143, and 217" in a sentence
    numbers = sum(bool(_NUMBER.match(token)) for token in tokens)
    symbols = sum(token in {"...", "…", "±", "—", "–", "-", "×", "&", "|"} for token in tokens)
    return numbers >= 2 and (numbers + symbols) * 5 >= len(tokens) * 2


def is_equation(held: Sequence[Line]) -> bool:
    """Tell whether some lines, none of them a sentence, hold a formula."""
    signs = sum(bool(_MATH_SIGN.search(line.text)) or line.math for line in held)
    return signs > 0 and len(held) <= 40


def is_scattered(held: Sequence[Line]) -> bool:
    """Tell whether these are labels of a figure: many, short, without words that go on."""
    if len(held) < 8:
        return False
    wordless = sum(line.words <= 2 for line in held)
    signs = sum("=" in line.text or line.math for line in held)
    return wordless * 10 >= len(held) * 8 and signs * 4 < len(held)
