"""What a page repeats and a reader skips: running heads and feet, page numbers, stamps."""

import re
from collections import Counter
from collections.abc import Sequence

from nuncius.parsing.headings import heading_depth, is_known_heading
from nuncius.parsing.pdf_lines import Line, Page

_PAGE_NUMBER = re.compile(
    r"[\W_]*(?:page\s*|p\.\s*|第\s*)?(?:\d{1,4}|[ivxl]{1,6})(?:\s*(?:of|/)\s*\d{1,4})?\s*页?[\W_]*",
    re.IGNORECASE,
)
_PAGE_OF = re.compile(r"\bpage \d+ of \d+$|第\s*\d+\s*页", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
_EDGE_LINES = 3


def find_furniture(pages: Sequence[Page]) -> set[int]:
    """Return the `id` of each line that is furniture; margins and watermarks are part of it."""
    found: set[int] = set()
    keys: Counter[str] = Counter()
    edges: list[list[Line]] = []
    for page in pages:
        found.update(id(line) for line in page.lines if line.turned)
        edge = _edge_lines(page)
        edges.append(edge)
        keys.update({_key(line.text) for line in edge})
    often = 2 if len(pages) <= 4 else max(3, len(pages) // 12)
    for page, edge in zip(pages, edges, strict=True):
        outermost = _outermost(page)
        for line in edge:
            repeated = keys[_key(line.text)] >= often and len(line.text) < 200
            numbered = id(line) in outermost and (
                _PAGE_NUMBER.fullmatch(line.text) or _PAGE_OF.search(line.text)
            )
            if (repeated and _at_border(line, page)) or numbered or _is_head(line, page, pages[0]):
                found.add(id(line))
    return found


def _is_head(line: Line, page: Page, first: Page) -> bool:
    """Tell whether a line in capitals stands alone over a later page: a head seen only once."""
    letters = [char for char in line.text if char.isalpha()]
    if page.number == first.number or len(letters) < 4 or len(line.text) > 90:
        return False
    if is_known_heading(line.text) or heading_depth(line.text):
        return False
    upper = sum(char.isupper() for char in letters) >= 0.9 * len(letters)
    others = [other.y for other in _upright(page) if abs(other.y - line.y) > 2]
    return upper and bool(others) and line.y - max(others) > 1.7 * line.size


def _key(text: str) -> str:
    return _DIGITS.sub("#", text.lower()).strip()


def _upright(page: Page) -> list[Line]:
    return [line for line in page.lines if not line.turned]


def _edge_lines(page: Page) -> list[Line]:
    """Return the lines on the first and the last three baselines."""
    lines = _upright(page)
    heights = sorted({round(line.y) for line in lines})
    if not heights:
        return []
    low = heights[min(_EDGE_LINES, len(heights)) - 1]
    high = heights[-min(_EDGE_LINES, len(heights))]
    return [line for line in lines if round(line.y) <= low or round(line.y) >= high]


def _outermost(page: Page) -> set[int]:
    lines = _upright(page)
    if not lines:
        return set()
    low, high = min(line.y for line in lines), max(line.y for line in lines)
    return {id(line) for line in lines if line.y <= low + 4 or line.y >= high - 4}


def _at_border(line: Line, page: Page) -> bool:
    """Tell whether the line stands in the outer seventh of the text's height."""
    heights = [other.y for other in _upright(page)]
    low, high = min(heights), max(heights)
    reach = (high - low) / 7
    return line.y <= low + reach or line.y >= high - reach
