"""A document as Markdown, and the passages that are cut from it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nuncius.core.documents import Block, Document, PassageDraft, PassageKind
from nuncius.core.text import fold_for_identity, sentences
from nuncius.parsing.headings import caption_of, is_abstract_heading, is_references_heading

FULL = 1600
"""Longest passage in Latin letters (about 400 tokens); a Chinese character counts twice."""
ENOUGH = 900
_LONGEST_SENTENCE = 2 * FULL
_SMALL = 260
_HAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uff00-\uffef]")
_SQUASH = re.compile(r"[\s\-\u2010\u2011\u00ad\ufffe]+")
_MARK = re.compile(r"[•◦▪‣·∙–—*+-]\s|\(?\w{1,3}[.)]\s")
_RULE = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")


def to_markdown(document: Document) -> str:
    """Return the document as Markdown with ``<!-- page n -->`` anchors, references at the end."""
    return _render(document)[0]


def cut(document: Document) -> list[PassageDraft]:
    """Cut a document into passages; `char_start` and `char_end` index into `to_markdown`.

    A passage holds about 250 to 400 tokens, ends at a paragraph or a sentence, and stays within
    one section and two pages. Captions stand alone, a table with its caption (a long one in
    pieces, each with caption and header). References are left out.
    """
    _, places = _render(document)
    return [draft for section in _sections(document, places) for draft in _cut_section(section)]


# --- Markdown ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Placed:
    """A block and where its text starts in the Markdown."""

    block: Block
    start: int


def _render(document: Document) -> tuple[str, list[_Placed]]:
    parts: list[str] = []
    places: list[_Placed] = []
    length = 0
    page = 0

    def put(text: str) -> None:
        nonlocal length
        parts.append(text)
        length += len(text)

    body = [block for block in document.blocks if not _is_reference_part(block)]
    references = [block for block in document.blocks if block.kind == "reference"]
    for block in body:
        if block.page is not None and block.page > page:
            page = block.page
            put(f"<!-- page {page} -->\n\n")
        if block.kind == "heading":
            put("#" * max(1, block.level) + " ")
        elif block.kind == "list" and not _MARK.match(block.text):
            put("- ")
        places.append(_Placed(block, length))
        put(block.text + "\n\n")
    if references:
        put("## References\n\n")
    for block in references:
        if block.page is not None and block.page > page:
            page = block.page
            put(f"<!-- page {page} -->\n\n")
        put("- ")
        places.append(_Placed(block, length))
        put(block.text + "\n")
    return "".join(parts).rstrip("\n") + "\n", places


def _is_reference_part(block: Block) -> bool:
    return block.kind == "reference" or (
        block.kind == "heading" and is_references_heading(block.text)
    )


# --- sections ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Unit:
    """Text that is not cut: a sentence, an equation, a short list item."""

    placed: _Placed
    first: int
    last: int
    page: int | None
    """Page on which it starts."""
    end_page: int | None

    @property
    def text(self) -> str:
        return self.placed.block.text[self.first : self.last]


@dataclass(slots=True)
class _Section:
    path: str
    abstract: bool
    placed: list[_Placed]
    pages: "_Pages"


def _sections(document: Document, places: Sequence[_Placed]) -> Iterator[_Section]:
    pages = _Pages(document)
    title = fold_for_identity(document.front.title)
    stack: list[tuple[int, str]] = []
    section = _Section("", abstract=False, placed=[], pages=pages)
    for placed in places:
        block = placed.block
        if block.kind == "reference":
            continue
        if block.kind != "heading":
            section.placed.append(placed)
            continue
        yield section
        if title and fold_for_identity(block.text) == title:
            stack = []
        else:
            stack = [entry for entry in stack if entry[0] < block.level]
            stack.append((block.level, re.sub(r"\s+", " ", block.text)))
        path = " > ".join(text for _, text in stack)
        section = _Section(path, abstract=is_abstract_heading(block.text), placed=[], pages=pages)
    yield section


class _Pages:
    """Tells on which page a sentence stands, by looking into the text layer."""

    def __init__(self, document: Document) -> None:
        self._layer = {page.page: _SQUASH.sub("", page.text) for page in document.layer}

    def spread(
        self, text: str, spans: Sequence[tuple[int, int]], page: int | None
    ) -> list[tuple[int | None, int | None]]:
        """Return first and last page of each span of a block that starts on `page`."""
        if page is None or _SQUASH.sub("", text) in self._layer.get(page, ""):
            return [(page, page)] * len(spans)
        found: list[tuple[int | None, int | None]] = []
        for first, last in spans:
            squashed = _SQUASH.sub("", text[first:last])
            here = next((n for n in _near(page) if squashed in self._layer.get(n, "")), None)
            if here is not None:
                page = here
                found.append((page, page))
                continue
            end = next((n for n in _near(page) if squashed[-12:] in self._layer.get(n, "")), page)
            found.append((page, end))
            page = end
        return found


def _near(page: int) -> tuple[int, int, int]:
    """Return the pages a paragraph may run on to: a page of figures may stand between."""
    return page, page + 1, page + 2


# --- cutting -------------------------------------------------------------------------------------


def _cut_section(section: _Section) -> Iterator[PassageDraft]:
    flow: list[_Placed] = []
    notes: list[_Placed] = []
    apart: list[list[_Placed]] = []
    placed = section.placed
    index = 0
    while index < len(placed):
        block = placed[index].block
        following = placed[index + 1] if index + 1 < len(placed) else None
        if block.kind == "table":
            group = [placed[index]]
            if following and _is_table_caption(following) and not _next_is_table(placed, index + 1):
                group.append(following)
                index += 1
            apart.append(group)
        elif block.kind == "caption":
            group = [placed[index]]
            if following and _is_table_caption(placed[index]) and following.block.kind == "table":
                group.insert(0, following)
                index += 1
            apart.append(group)
        elif block.kind == "footnote":
            notes.append(placed[index])
        else:
            flow.append(placed[index])
        index += 1
    kind: PassageKind = "abstract" if section.abstract else "text"
    drafts = [
        *_cut_flow(flow, section, kind),
        *(draft for group in apart for draft in _cut_apart(group, section)),
        *_cut_flow(notes, section, "text"),
    ]
    yield from sorted(drafts, key=lambda draft: draft.char_start)


def _is_table_caption(placed: _Placed) -> bool:
    return placed.block.kind == "caption" and caption_of(placed.block.text.lstrip("*_ ")) == "table"


def _next_is_table(placed: Sequence[_Placed], index: int) -> bool:
    """Tell whether the caption at `index` is followed by a table that it rather belongs to."""
    return index + 1 < len(placed) and placed[index + 1].block.kind == "table"


def _units(placed: _Placed, pages: _Pages) -> list[_Unit]:
    block = placed.block
    if block.kind == "equation":
        spans = [(0, len(block.text))]
    else:
        spans = [piece for span in sentences(block.text) for piece in _bounded(block.text, span)]
    spread = pages.spread(block.text, spans, block.page)
    return [
        _Unit(placed, first, last, page, end)
        for (first, last), (page, end) in zip(spans, spread, strict=True)
    ]


def _bounded(text: str, span: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Cut what is far too long for a sentence (text without full stops) at white space."""
    first, last = span
    while _weight(text[first:last]) > _LONGEST_SENTENCE:
        step = FULL if not _HAN.search(text[first : first + FULL]) else FULL // 2
        at = text.rfind(" ", first + step // 2, first + step)
        at = at if at > 0 else first + step
        yield first, at
        first = at + 1 if text[at : at + 1] == " " else at
    if first < last:
        yield first, last


def _cut_flow(
    flow: Sequence[_Placed], section: _Section, kind: PassageKind
) -> Iterator[PassageDraft]:
    """Pack whole paragraphs while they fit; cut longer ones at sentences, about evenly."""
    packed: list[list[_Unit]] = []
    current: list[_Unit] = []
    size = 0
    for placed in flow:
        units = _units(placed, section.pages)
        weight = sum(_weight(unit.text) for unit in units)
        if current and size + weight > FULL and (size >= ENOUGH or weight <= FULL):
            packed.append(current)
            current, size = [], 0
        goal = (
            FULL
            if weight + size <= FULL
            else max(ENOUGH, min(FULL, (weight + size) / -(-(weight + size) // FULL) * 1.05))
        )
        for unit in units:
            unit_weight = _weight(unit.text)
            if current and (size + unit_weight > goal or _too_wide(current, unit)):
                packed.append(current)
                current, size = [], 0
            current.append(unit)
            size += unit_weight
    if current:
        packed.append(current)
    _merge_small(packed)
    for units in packed:
        yield _draft(units, section.path, kind)


def _too_wide(current: Sequence[_Unit], unit: _Unit) -> bool:
    """Tell whether the passage would reach a third page."""
    if unit.end_page is None or current[0].page is None:
        return False
    return unit.end_page - current[0].page > 1


def _merge_small(packed: list[list[_Unit]]) -> None:
    """Give a short last piece to the one before it."""
    if len(packed) < 2:
        return
    last, before = packed[-1], packed[-2]
    size = sum(_weight(unit.text) for unit in last)
    whole = size + sum(_weight(unit.text) for unit in before)
    if size < _SMALL and whole <= 1.2 * FULL and not _too_wide(before, last[-1]):
        before += last
        packed.pop()


def _draft(units: Sequence[_Unit], path: str, kind: PassageKind) -> PassageDraft:
    lines: list[str] = []
    previous: _Placed | None = None
    first = 0
    end = 0
    for unit in units:
        if unit.placed is not previous:
            if previous is not None:
                lines.append(previous.block.text[first:end])
            previous, first = unit.placed, unit.first
        end = unit.last
    if previous is not None:
        lines.append(previous.block.text[first:end])
    only_equations = all(unit.placed.block.kind == "equation" for unit in units)
    return PassageDraft(
        kind="equation" if only_equations else kind,
        text="\n".join(lines),
        section=path,
        page=units[0].page,
        char_start=units[0].placed.start + units[0].first,
        char_end=units[-1].placed.start + units[-1].last,
    )


def _cut_apart(group: Sequence[_Placed], section: _Section) -> Iterator[PassageDraft]:
    """Make a caption one passage, a table with its caption one or several."""
    table = group[0]
    if table.block.kind == "caption":
        text = table.block.text
        yield PassageDraft(
            "caption", text, section.path, table.block.page, table.start, table.start + len(text)
        )
        return
    caption = group[1].block.text if len(group) > 1 else ""
    rows = _rows(table.block.text)
    header = _header(rows)
    repeated = "\n".join(part for part in (_short(caption), *(text for text, _ in header)) if part)
    room = max(FULL - _weight(repeated), FULL // 3)
    piece: list[tuple[str, int]] = []
    first_piece = True
    for row in [*rows[len(header) :], None]:
        full = row is not None and sum(_weight(text) for text, _ in piece) + _weight(row[0]) > room
        if (row is None or full) and (piece or (row is None and first_piece)):
            lead = "\n".join(part for part in (caption, *(text for text, _ in header)) if part)
            start = header[0][1] if first_piece and header else piece[0][1] if piece else 0
            last = piece[-1] if piece else rows[-1]
            yield PassageDraft(
                "table",
                "\n".join([lead if first_piece else repeated, *(text for text, _ in piece)]).strip(
                    "\n"
                ),
                section.path,
                table.block.page,
                table.start + start,
                table.start + last[1] + len(last[0]),
            )
            piece, first_piece = [], False
        if row is not None:
            piece.append(row)


def _rows(text: str) -> list[tuple[str, int]]:
    """Return the lines of a table with their places."""
    rows: list[tuple[str, int]] = []
    at = 0
    for row in text.split("\n"):
        if row.strip():
            rows.append((row, at))
        at += len(row) + 1
    return rows


def _header(rows: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the header: up to a Markdown rule, else the first lines without values."""
    for index, (row, _) in enumerate(rows[:4]):
        if _RULE.fullmatch(row) and index:
            return list(rows[: index + 1])
    header: list[tuple[str, int]] = []
    for row, at in rows[:3]:
        if re.search(r"\d\.\d|(?<!\S)\d{2,}(?!\S)", row):
            break
        header.append((row, at))
    return header if len(header) < len(rows) else []


def _short(caption: str) -> str:
    """Return the caption's beginning, whole sentences, for the later pieces of a table."""
    if len(caption) <= 300:
        return caption
    end = 0
    for _, last in sentences(caption):
        if end and last > 300:
            break
        end = last
    return caption[:end]


def _weight(text: str) -> int:
    return len(text) if text.isascii() else len(text) + len(_HAN.findall(text))
