"""From lines to blocks: paragraphs, headings, captions, tables, equations, references."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from nuncius.core.documents import BlockKind
from nuncius.parsing.headings import (
    NUMBERED,
    caption_of,
    heading_depth,
    is_abstract_heading,
    is_known_heading,
    is_references_heading,
)
from nuncius.parsing.pdf_lines import Line, Page
from nuncius.parsing.pdf_shapes import (
    body_size,
    columns,
    count_numbered,
    is_equation,
    is_row,
    is_scattered,
    page_size,
    text_fonts,
)

_END = re.compile(r"[.!?:;。！？：；][\"'”’)\]]*$")
_FULL_STOP = re.compile(r"[.!?。！？][\"'”’)\]]*$")
_BULLET = re.compile(r"[•◦▪‣·∙–—*-]\s+\S|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})\)\s+\S")
_REFERENCE_MARK = re.compile(r"\[\d{1,3}\]|\[[A-Z][\w+]{1,12}\]|\d{1,3}\.\s+[A-Z]")
_NOTE_MARK = re.compile(
    r"(?:\d{1,2}\s?|[a-z]|[*∗†‡§¶⋆]\s?)(?=[A-Z]|http|\w+@|[\u3400-\u9fff])"
    r"|(?i:e-?mail|corresponding|send offprint)"
)
_AUTHOR_FIRST = re.compile(
    r"[A-Z][\w'’.-]+(?: [\w'’-]+)?,? [A-Z]\.|(?:[A-Z][\w-]+ ){1,3}Collaboration\b"
)
_IDENTIFIER_END = re.compile(
    r"(?:\bdoi:\s?|doi\.org/)10\.\d{4,9}/\S*\w$|arXiv:\d{4}\.\d{4,5}$", re.IGNORECASE
)
_HAN = re.compile("[\u3400-\u9fff]")


@dataclass(slots=True)
class Draft:
    """A block while its lines come in."""

    kind: BlockKind
    lines: list[Line] = field(default_factory=list[Line])
    level: int = 0

    @property
    def last(self) -> Line:
        return self.lines[-1]

    @property
    def left(self) -> float:
        return min(line.x0 for line in self.lines[-3:])


@dataclass(slots=True)
class Flow:
    """All blocks in reading order, and the lines that belong to none."""

    blocks: list[Draft]
    loose: list[Line]


def build(pages: Sequence[Page], furniture: set[int], front: set[int]) -> Flow:
    """Return the blocks of a document.

    Args:
        pages: Its pages with their lines.
        furniture: `id` of lines that are not part of the text.
        front: `id` of lines of title, authors and affiliations; made up into blocks of their own
            by the caller.
    """
    builder = _Builder(body_size(pages))
    by_page = [
        [line for line in page.lines if id(line) not in furniture and id(line) not in front]
        for page in pages
    ]
    builder.numbered = count_numbered(by_page) >= 3
    builder.fonts = text_fonts(by_page)
    whole = builder.body
    for lines in by_page:
        builder.body = page_size(lines) or whole  # volumes of papers change it
        builder.columns = columns(lines, builder.body)
        builder.start_page(lines)
        for index, line in enumerate(lines):
            following = lines[index + 1] if index + 1 < len(lines) else None
            if is_references_heading(line.text.strip()):
                builder.start_page(lines[index + 1 :])
            builder.take(line, following)
        builder.end_page()
    skipped = [line for page in pages for line in page.lines if id(line) in furniture]
    return Flow(builder.blocks, builder.dropped + skipped)


class _Builder:
    """Takes lines in order and grows blocks; one paragraph may stay open across floats."""

    def __init__(self, body: float) -> None:
        self.body = body
        self.blocks: list[Draft] = []
        self.dropped: list[Line] = []
        self.columns: list[tuple[float, float]] = []
        self._paragraph: Draft | None = None
        self._float: Draft | None = None  # a caption or footnote that may go on
        self._held: list[Line] = []  # short or numeric lines: table, equation or figure?
        self._references = False
        self._hanging = False
        self._heading_style: tuple[float, bool, bool] | None = None
        self.numbered = False
        self.fonts: frozenset[str] = frozenset()

    # --- one line -------------------------------------------------------------------------------

    def take(self, line: Line, following: Line | None) -> None:
        """Put one line where it belongs."""
        caption = self._starts_caption(line)
        if caption:
            self._release("figure" if caption == "figure" else "table")
            self._float = self._add("caption", line)
        elif self._float and self._goes_on(self._float, line, following):
            self._float.lines.append(line)
        elif self._in_table(line, following):
            self._held.append(line)
        elif self._is_second_line(line):
            self.blocks[-1].lines.append(line)
        elif self._is_heading(line, following):
            self._release("")
            self._add_heading(line)
        elif self._references:
            self._release("")
            self._take_reference(line)
        elif self._paragraph and self._follows_directly(self._paragraph, line):
            self._release("")
            self._grow(line, following)
        elif self._is_note(line):
            self._release("")
            self._float = self._add("footnote", line)
        elif self._is_prose(line):
            self._float = None
            self._release("")
            self._grow(line, following)
        else:
            self._hold(line)

    def start_page(self, lines: Sequence[Line]) -> None:
        """Look at the lines to come: whether entries of a list of references hang."""
        at_left = hanging = 0
        for line in lines:
            offset = line.x0 - self._column(line)[0]
            at_left += abs(offset) <= 3
            hanging += 5 < offset < 40
        self._hanging = hanging * 12 >= at_left

    def end_page(self) -> None:
        """Close what does not run on to the next page."""
        self._release("end")
        self._float = None

    def _add(self, kind: BlockKind, line: Line, level: int = 0) -> Draft:
        draft = Draft(kind, [line], level)
        self.blocks.append(draft)
        return draft

    # --- what is it? ----------------------------------------------------------------------------

    def _column(self, line: Line) -> tuple[float, float]:
        best = (line.x0, line.x1)
        for left, right in self.columns:
            if line.x0 >= left - 4:
                best = (left, right)
        return best

    def _is_short(self, line: Line) -> bool:
        left, right = self._column(line)
        return line.x1 < right - max(0.1 * (right - left), 1.5 * line.size)

    def _follows_directly(self, draft: Draft, line: Line) -> bool:
        last = draft.last
        if last.page != line.page or last.angle != line.angle:
            return False
        down = last.y - line.y
        if abs(down) <= 0.7 * last.size:  # more of the same line, after raised or lowered signs
            return last.x0 < line.x0 < max(self._column(last)[1], last.x1) + last.size
        return (
            0.3 * line.size < down <= 1.9 * line.size
            and abs(line.size - last.size) <= 0.12 * last.size
            and abs(line.x0 - draft.left) <= 2.2 * line.size
        )

    def _in_table(self, line: Line, following: Line | None) -> bool:
        """Tell whether a line is part of a table: two rows together, or below its caption."""
        row = is_row(line) and not self._references
        held = bool(self._held) and self._held[-1].page == line.page
        if row and held and any(is_row(other) for other in self._held):
            return True
        if row and following is not None and is_row(following):
            return True
        caption = self._float
        if caption is None or caption.kind != "caption" or caption.last.page != line.page:
            return False
        if caption_of(caption.lines[0].text) != "table" or heading_depth(line.text):
            return False
        if is_known_heading(line.text):
            return False
        lowest = min((other.y for other in self._held), default=caption.last.y)
        near = -0.7 * line.size <= lowest - line.y < 5 * line.size
        return near and (row or not self._is_running_text(line))

    def _is_running_text(self, line: Line) -> bool:
        """Tell whether a line is filled with words from edge to edge."""
        return line.words >= 7 and not self._is_short(line) and not is_row(line)

    def _goes_on(self, draft: Draft, line: Line, following: Line | None) -> bool:
        """Tell whether a caption or footnote goes on with this line."""
        last = draft.last
        sizes = (last.size, draft.lines[0].size)
        fits = any(abs(line.size - size) <= 0.12 * size for size in sizes)
        # a sign in the middle, where the size is asked, may be smaller than its line
        smaller = draft.kind == "caption" and line.size < last.size and line.words > 5
        if last.page != line.page or not (fits or smaller):
            return False
        close = 0.3 * line.size < last.y - line.y <= 1.55 * line.size
        if draft.kind == "footnote" and line.x0 > last.x1:
            return False
        ended = draft.kind == "caption" and bool(_FULL_STOP.search(last.text[-6:]))
        if ended and following and is_row(following) and not self._is_running_text(line):
            return False  # the header of the table below
        return close and line.words > 0 and not is_row(line) and not self._is_far(draft, line)

    def _is_far(self, draft: Draft, line: Line) -> bool:
        return line.x0 > max(other.x1 for other in draft.lines) or line.x1 < draft.left

    def _starts_caption(self, line: Line) -> str | None:
        kind = caption_of(line.text)
        if not kind:
            return None
        open_paragraph = self._paragraph
        if (
            open_paragraph
            and not self._held
            and self._follows_directly(open_paragraph, line)
            and not _FULL_STOP.search(open_paragraph.last.text[-6:])
        ):
            return None  # "... as shown in" / "Figure 3. The ..."
        return kind

    def _is_heading(self, line: Line, following: Line | None) -> bool:
        text = line.text.strip()
        if not 2 <= len(text) <= 160 or text[-1] in ",;" or (line.hyphen and len(text) < 12):
            return False
        plain = abs(line.size - self.body) < 0.3 and not (line.bold or line.italic)
        if plain and len(text) > 60 and not text.isupper():
            return False  # most lines end here
        match = NUMBERED.match(text)
        title = match["title"] if match else text
        letters = sum(map(str.isalpha, title))
        least = 0.3 if match else 0.45
        if letters < least * len(title.replace(" ", "")) or (letters < 2 and not match):
            return False
        if line.size < 0.85 * self.body and not is_known_heading(text):
            return False
        if is_references_heading(text):
            return True
        strong = self._is_strong(line)
        alone = self._stands_alone(line, following)
        if is_known_heading(text) and (strong or alone):
            return True
        if self._references:
            return bool(match) and strong and line.size >= self.body and not text.endswith(".")
        if match:
            plain = title[0].isupper() or bool(_HAN.match(title)) or title[0] in '`"“'
            if not plain or text.endswith(".") or line.words > 16:
                return False
            return (strong and not line.math) or (alone and self._is_centred(line))
        if text.endswith(".") or not 0 < line.words <= 14 or line.math or not alone:
            return False
        if self.numbered:  # then a heading without number looks like those with one
            return strong and self._style(line) == self._heading_style
        return line.size > 1.08 * self.body or line.bold

    def _is_second_line(self, line: Line) -> bool:
        """Tell whether a heading goes on with this line."""
        last = self.blocks[-1] if self.blocks else None
        return (
            last is not None
            and last.kind == "heading"
            and not self._held
            and len(last.lines) < 3
            and last.last.page == line.page
            and 0 < last.last.y - line.y < 1.6 * line.size
            and last.last.font == line.font
            and abs(last.last.size - line.size) < 0.3
            and self._is_strong(line)
            and len(last.last.text) > 24
            and not heading_depth(line.text)
            and not is_known_heading(last.last.text)
            and not is_known_heading(line.text)
        )

    def _is_strong(self, line: Line) -> bool:
        letters = [char for char in line.text if char.isalpha()]
        capitals = len(letters) > 3 and all(
            char.isupper() or not char.islower() for char in letters
        )
        capitals = capitals and not _HAN.search(line.text)
        return line.bold or line.italic or capitals or line.size > 1.08 * self.body

    def _style(self, line: Line) -> tuple[float, bool, bool]:
        return (round(line.size), line.bold, line.text.isupper())

    def _is_centred(self, line: Line) -> bool:
        left, right = self._column(line)
        before, after = line.x0 - left, right - line.x1
        return before > 1.5 * line.size and abs(before - after) < 0.12 * (right - left) + line.size

    def _stands_alone(self, line: Line, following: Line | None) -> bool:
        """Tell whether nothing goes on into this line and it does not go on into the next."""
        last = self._paragraph.last if self._paragraph else None
        above = (
            last is None
            or last.page != line.page
            or last.y - line.y > 1.35 * line.size
            or line.y > last.y
            or bool(_FULL_STOP.search(last.text[-6:]))
        )
        below = (
            following is None
            or abs(following.size - line.size) > 0.04 * line.size
            or following.bold != line.bold
            or line.y - following.y > 1.5 * line.size
            or following.y > line.y
        )
        return above and below and self._is_short(line)

    def _is_note(self, line: Line) -> bool:
        if line.size > 0.94 * self.body or not line.words:
            return False
        return (bool(_NOTE_MARK.match(line.text)) and not is_row(line)) or "@" in line.text

    def _is_prose(self, line: Line) -> bool:
        if _HAN.search(line.text):
            return len(_HAN.findall(line.text)) >= 6 and not is_row(line)
        if line.words < 9 and self.fonts and line.font not in self.fonts:
            return False
        letters = sum(map(str.isalpha, line.text))
        return (
            line.words >= 4
            and letters > 0.55 * len(line.text.replace(" ", ""))
            and not is_row(line)
        )

    # --- paragraphs -----------------------------------------------------------------------------

    def _grow(self, line: Line, following: Line | None) -> None:
        paragraph = self._paragraph
        if paragraph and not self._starts_paragraph(paragraph, line, following):
            paragraph.lines.append(line)
            return
        kind: BlockKind = "list" if _BULLET.match(line.text) else "paragraph"
        self._paragraph = self._add(kind, line)

    def _starts_paragraph(self, paragraph: Draft, line: Line, following: Line | None) -> bool:
        last = paragraph.last
        ended = bool(_END.search(last.text[-6:])) and not last.hyphen
        if ended and abs(line.size - last.size) > 0.12 * last.size:
            return True
        dash = line.text[:1] in "–—-" and not self._is_short(last)  # a dash in a sentence
        item = bool(_BULLET.match(line.text)) and not dash
        if not ended and not item:
            near = last.page != line.page or last.y < line.y or last.y - line.y <= 2.6 * line.size
            lower = line.text[:1].islower() or last.hyphen
            same = abs(line.size - last.size) <= 0.12 * last.size
            return not (same or lower) or not (near or lower)
        if item and (ended or paragraph.kind == "list"):
            return True
        if last.page != line.page or line.y > last.y:
            return self._is_short(last) or self._is_indented(line, following)
        if last.y - line.y > 1.75 * line.size:
            return True
        if paragraph.kind == "list":
            return line.x0 < paragraph.lines[0].x0 - 2
        if len(paragraph.lines) > 1 and line.x0 > paragraph.left + 0.6 * line.size:
            return True
        return self._is_short(last) or self._is_indented(line, following)

    def _is_indented(self, line: Line, following: Line | None) -> bool:
        left, _ = self._column(line)
        if following is not None and 0 < line.y - following.y <= 1.9 * line.size:
            left = max(left, following.x0)
        return 0.6 * line.size < line.x0 - left < 5 * line.size

    # --- headings and references ----------------------------------------------------------------

    def _add_heading(self, line: Line) -> None:
        text = line.text.strip()
        depth = heading_depth(text)
        if depth == 1 or (depth is None and self._heading_style is None):
            self._heading_style = self._style(line)
        if depth is None:
            same = self._heading_style == self._style(line)
            depth = 1 if same or is_known_heading(text) or is_references_heading(text) else 2
        self._paragraph = None
        self._float = None
        self._references = is_references_heading(text)
        if is_abstract_heading(text):
            depth = 1
        self._add("heading", line, min(6, depth + 1))

    def _take_reference(self, line: Line) -> None:
        last = self.blocks[-1]
        left, _ = self._column(line)
        if last.kind != "reference" or self._starts_reference(last, line, left):
            self._add("reference", line)
        else:
            last.lines.append(line)

    def _starts_reference(self, draft: Draft, line: Line, left: float) -> bool:
        if _REFERENCE_MARK.match(line.text):
            return True
        if _REFERENCE_MARK.match(draft.lines[0].text):
            return False
        last = draft.last
        if last.hyphen:
            return False
        if abs(line.y - last.y) < 0.7 * line.size and line.x0 > last.x0:
            return False
        if self._hanging:
            return line.x0 <= left + 3
        author = bool(_AUTHOR_FIRST.match(line.text))
        if author and _IDENTIFIER_END.search(last.text[-200:]):
            return True
        return self._is_short(last) and (author or bool(_END.search(last.text[-6:])))

    # --- tables, equations, text in figures ------------------------------------------------------

    def _hold(self, line: Line) -> None:
        if self._held and self._held[-1].page != line.page:
            self._release("")
        self._held.append(line)

    def _release(self, cause: str) -> None:
        """Decide what the held lines are, now that something else follows.

        Args:
            cause: ``figure`` or ``table`` where such a caption follows, ``end`` at a page's end.
        """
        held, self._held = self._held, []
        if not held:
            return
        under_table = self._float is not None and caption_of(self._float.lines[0].text) == "table"
        self._float = None
        if cause == "figure":  # labels of the figure; a table may stand before them
            rows = [line for line in held if line.font in self.fonts]
            if not under_table and sum(is_row(line) for line in rows) < 2:
                rows = []
            kept = {id(line) for line in rows}
            self.dropped += [line for line in held if id(line) not in kept]
            if rows:
                self.blocks.append(Draft("table", [*self._header_above(rows), *rows]))
            return
        row_count = sum(is_row(line) for line in held)
        tabular = row_count >= 2 and row_count * 2 >= len(held)
        if under_table or cause == "table" or tabular:
            self.blocks.append(Draft("table", [*self._header_above(held), *held]))
        elif is_scattered(held):
            self.dropped += held
        elif is_equation(held):
            self._close_paragraph()
            self.blocks.append(Draft("equation", held))
        elif self._paragraph and not _FULL_STOP.search(self._paragraph.last.text[-6:]):
            self._paragraph.lines += held
        else:
            kind: BlockKind = "list" if _BULLET.match(held[0].text) else "paragraph"
            self._paragraph = Draft(kind, held)
            self.blocks.append(self._paragraph)

    def _header_above(self, held: Sequence[Line]) -> list[Line]:
        """Take the lines right above a table that were thought to be text: its header."""
        block = self.blocks[-1] if self.blocks else None
        if block is None or block.kind != "paragraph" or len(block.lines) > 3:
            return []
        last = block.last
        if last.page != held[0].page or not -1 < last.y - held[0].y < 2.4 * held[0].size:
            return []
        if any(_END.search(line.text[-6:]) or line.words >= 10 for line in block.lines):
            return []
        self.blocks.pop()
        self._paragraph = None
        return block.lines

    def _close_paragraph(self) -> None:
        self._paragraph = None
