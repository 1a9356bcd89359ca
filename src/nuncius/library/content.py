"""Read a stored paper's Markdown by section, page or run of characters. Pure functions.

The Markdown has ATX headings and, where the paper has pages, a line ``<!-- page n -->`` before
the first text of each page.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nuncius.core.errors import NotFoundError, UsageError

_MAX_NAMED = 40
_MAX_NAME = 100
ANCHOR = re.compile(r"^<!-- page (\d+) -->[ \t]*$", re.MULTILINE | re.ASCII)
_STRUCTURE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})|^(?P<marks>#{1,6})[ \t]+(?P<title>\S.*)$", re.MULTILINE
)
_NUMBER = re.compile(
    r"(?:(?:§+|section|sect?\.|appendix|第)\s*)?"
    r"(?P<number>\d+(?:\.\d+)*"
    r"|(?:[A-Z]|[IVXL]{1,6})(?:\.\d+)*(?=[.:)]|$)|(?<=appendix )[A-Z]|[A-Z](?:\.\d+)+"
    r"|[一二三四五六七八九十]+(?=[、.章节]))"
    r"[章节]?[.:)、]?\s*",
    re.IGNORECASE,
)
"""``2.1.``, ``IV.``, ``Appendix B``, ``三、``: a heading's number; an article is none."""

_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class SectionSpan:
    """A heading and the text below it, down to the next heading of its level or above.

    Attributes:
        path: Headings from the outermost to this one, such as ``2. Data > 2.1. Spectra``.
        page: Page on which the heading stands; None where the format has no pages.
        start, end: Its place in the Markdown, in code points; `start` is the heading's own line.
    """

    path: str
    title: str
    page: int | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Part:
    """A run of a paper's Markdown.

    Attributes:
        sections: All sections of the paper, in order.
        offset: Where `content` starts in the whole Markdown, in code points.
        size: Length of what was asked for (paper, section or page), of which `content` is a part.
        next_offset: The `offset` to go on with; None where nothing is left.
    """

    content: str
    sections: Sequence[SectionSpan]
    offset: int = 0
    size: int = 0
    next_offset: int | None = None


def sections(markdown: str) -> list[SectionSpan]:
    """Return the sections of `markdown` in order, subsections included in their parents' spans."""
    anchors = [(match.start(), int(match[1])) for match in ANCHOR.finditer(markdown)]
    headings = _headings(markdown)
    levels = [level for _, level, _ in headings]
    # one heading above all others is the paper's title: no part of a path, as in passages
    titled = len(levels) > 1 and levels[0] < min(levels[1:])
    found: list[SectionSpan] = []
    above: list[tuple[int, str]] = []
    place = 0
    page: int | None = None
    for index, (start, level, title) in enumerate(headings):
        while place < len(anchors) and anchors[place][0] <= start:
            page = anchors[place][1]
            place += 1
        end = next((at for at, depth, _ in headings[index + 1 :] if depth <= level), len(markdown))
        above = [*((depth, name) for depth, name in above if depth < level), (level, title)]
        path = " > ".join(name for _, name in (above[1:] if titled and index else above))
        found.append(SectionSpan(path, title, page, start, end))
    return found


def _headings(markdown: str) -> list[tuple[int, int, str]]:
    """Return (start, level, title) of each heading outside fenced code."""
    found: list[tuple[int, int, str]] = []
    fence = ""
    for match in _STRUCTURE.finditer(markdown):
        mark = match["fence"]
        if mark and not fence:
            fence = mark
        elif mark and mark.startswith(fence):
            fence = ""
        elif match["marks"] and not fence:
            found.append((match.start(), len(match["marks"]), _title(match["title"])))
    return found


def _title(text: str) -> str:
    """Return a heading's words on one line, without the signs that may close it."""
    return _SPACE.sub(" ", text.rstrip().rstrip("#").rstrip() or text)


def select(
    markdown: str,
    *,
    section: str = "",
    page: int | None = None,
    offset: int = 0,
    limit: int | None = None,
) -> Part:
    """Return the paper, a section, a page, or a section's part on a page; then a run of that.

    Args:
        section: Number (``2.1``), title (case and white space do not matter; a beginning that
            only one title has is enough) or path (``Data > Spectra``).
        page: 1-based.
        offset: First character, counted from the start of what is asked for, in code points.
        limit: Most characters to return; None: all.

    Raises:
        NotFoundError: No such section or page, or `offset` lies beyond the end; what there is,
            is named.
        UsageError: `offset` is negative or `limit` is not positive.
    """
    if offset < 0 or (limit is not None and limit < 1):
        raise UsageError(
            f"offset {offset} and limit {limit} make no range.",
            hint="offset counts from 0, limit from 1.",
        )
    there = sections(markdown)
    start, end = _page_span(markdown, page) if page is not None else (0, len(markdown))
    if section.strip():
        chosen = _find_section(there, section.strip(), start, end, page)
        start, end = max(start, chosen.start), min(end, chosen.end)
    size = end - start
    if offset and offset >= size:
        what = f"section '{section.strip()}'" if section.strip() else "the paper"
        what = f"page {page}" if page is not None and not section.strip() else what
        raise NotFoundError(
            f"offset {offset} lies beyond the end: {what} has {size} characters.",
            hint=f"Use an offset from 0 to {max(size - 1, 0)}.",
        )
    first = start + offset
    last = end if limit is None else _cut(markdown, first, min(end, first + limit))
    return Part(
        content=markdown[first:last],
        sections=there,
        offset=first,
        size=size,
        next_offset=last - start if last < end else None,
    )


# --- pages ---------------------------------------------------------------------------------------


def _page_span(markdown: str, page: int) -> tuple[int, int]:
    anchors = [(match.start(), int(match[1])) for match in ANCHOR.finditer(markdown)]
    if not anchors:
        raise NotFoundError(
            f"There is no page {page}: this text has no pages.",
            hint="Ask for a section, or use offset and limit.",
        )
    for index, (start, number) in enumerate(anchors):
        if number == page:
            following = (at for at, other in anchors[index + 1 :] if other != page)
            return start, next(following, len(markdown))
    raise NotFoundError(
        f"There is no text of page {page}.",
        hint=f"Pages with text: {page_ranges(sorted({number for _, number in anchors}))}.",
    )


def page_ranges(numbers: Sequence[int]) -> str:
    """Return page numbers, sorted, as ``1-3, 5``; bounded."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    named = [f"{a}-{b}" if a != b else str(a) for a, b in runs]
    more = ", ..." if len(named) > _MAX_NAMED else ""
    return ", ".join(named[:_MAX_NAMED]) + more


# --- sections ------------------------------------------------------------------------------------


def _find_section(
    there: Sequence[SectionSpan], name: str, start: int, end: int, page: int | None
) -> SectionSpan:
    """Return the one section that `name` means among those that reach into start..end."""
    matching: Sequence[SectionSpan] = ()
    for matches in _MATCHES:
        matching = [one for one in there if matches(one, name)]
        if matching:
            break
    if not matching:
        raise NotFoundError(
            f"There is no section '{_short(name)}'.",
            hint=f"Sections: {_named(there)}." if there else "This text has no headings.",
        )
    reaching = [one for one in matching if one.start < end and one.end > start]
    if not reaching:
        raise NotFoundError(
            f"Section '{_short(name)}' does not stand on page {page}.",
            hint=f"It is here: {_named(matching)}.",
        )
    if len(reaching) > 1:
        raise NotFoundError(
            f"'{_short(name)}' may mean {len(reaching)} sections.",
            hint=f"Name one by its number or path: {_named(reaching)}.",
        )
    return reaching[0]


def _key(title: str) -> str:
    plain = unicodedata.normalize("NFKC", title).casefold()
    return _SPACE.sub(" ", re.sub(r"[*_`]", "", plain)).strip(" .:")


def _split(title: str) -> tuple[str, str]:
    """Return the number of a heading, may be empty, and its words."""
    plain = _SPACE.sub(" ", re.sub(r"[*_`#]", "", title)).strip()
    match = _NUMBER.match(plain)
    if not match:
        return "", _key(plain)
    return match["number"].casefold(), _key(plain[match.end() :])


def _same_path(one: SectionSpan, name: str) -> bool:
    return _key(one.path) == _key(name)


def _same_title(one: SectionSpan, name: str) -> bool:
    key = _key(name)
    return key in {_key(one.title), _split(one.title)[1]}


def _same_number(one: SectionSpan, name: str) -> bool:
    number, words = _split(name)
    own, title = _split(one.title)
    return bool(number) and number == own and (not words or title.startswith(words))


def _end_of_path(one: SectionSpan, name: str) -> bool:
    wanted = [part for part in re.split(r"\s*(?:>|›|/)\s*", name) if part]
    own = one.path.split(" > ")[-len(wanted) :]
    return len(wanted) > 1 and len(own) == len(wanted) and all(map(_part_fits, own, wanted))


def _part_fits(own: str, wanted: str) -> bool:
    number, words = _split(wanted)
    own_number, own_words = _split(own)
    return _key(wanted) in {_key(own), own_words} or (
        (number, words) in {(own_number, own_words), (own_number, "")} and bool(number)
    )


def _beginning(one: SectionSpan, name: str) -> bool:
    key = _key(name)
    return bool(key) and any(
        title.startswith(key) for title in (_key(one.title), _split(one.title)[1])
    )


_MATCHES: tuple[Callable[[SectionSpan, str], bool], ...] = (
    _same_path,
    _same_title,
    _same_number,
    _end_of_path,
    _beginning,
)
"""From the strictest to the loosest; the first that fits anything decides."""


def _short(name: str) -> str:
    return name if len(name) <= _MAX_NAME else name[: _MAX_NAME - 3] + "..."


def _named(there: Sequence[SectionSpan]) -> str:
    named = [
        f"{_short(one.path)} (p. {one.page})" if one.page else _short(one.path)
        for one in there[:_MAX_NAMED]
    ]
    more = f"; and {len(there) - _MAX_NAMED} more" if len(there) > _MAX_NAMED else ""
    return "; ".join(named) + more


# --- characters ----------------------------------------------------------------------------------


def _joins(markdown: str, at: int) -> bool:
    """Tell whether the character at `at` belongs to the one before: an accent, a joined sign."""
    if not 0 < at < len(markdown):
        return False
    char = markdown[at]
    return (
        unicodedata.category(char) in {"Mn", "Mc", "Me"}
        or char == "\u200d"
        or markdown[at - 1] == "\u200d"
        or ("\ud800" <= markdown[at - 1] <= "\udbff" and "\udc00" <= char <= "\udfff")
    )


def _cut(markdown: str, first: int, last: int) -> int:
    """Return a place at or before `last` that parts no character; `last` where there is none."""
    place = last
    while place > first and _joins(markdown, place):
        place -= 1
    return place if place > first else last
