"""Markdown: headings, tables, fenced math, front matter; marks inside lines stay as written.

The layer is the source, so block text keeps links and emphasis: a quote must be found there.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from nuncius.core.documents import Block, BlockKind, Document, FrontMatter, PageText
from nuncius.core.identifiers import find_arxiv_id, find_bibcode, find_doi
from nuncius.core.text import fold_for_identity, language_of
from nuncius.parsing.front import find_year, looks_like_authors, split_authors
from nuncius.parsing.headings import (
    caption_of,
    heading_depth,
    is_abstract_heading,
    is_references_heading,
    run_in_abstract,
)

ENGINE = "markdown/1"
_YAML = re.compile(r"\A---[ \t]*\n(?P<yaml>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_ATX = re.compile(r"(#{1,6})[ \t]+(.*)")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_RULE = re.compile(r"\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\S")
_BULLET = re.compile(r"^[ \t]*[-*+][ \t]+")
_NOTE = re.compile(r"\[\^([^\]]+)\]:?[ \t]*(.*)")
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_FILE = re.compile(r"[\w .-]+\.(?:jpe?g|png|gif|svg|pdf|webp)", re.IGNORECASE)
_EQUATION = re.compile(r"[ \t]*\\begin\{(equation|align|eqnarray|gather|multline)(\*?)\}")
_HAN_BREAK = re.compile(
    "(?<=[\u3000-\u303f\u3400-\u9fff\uff00-\uffef])[ \t]*\n[ \t]*"
    "(?=[\u3000-\u303f\u3400-\u9fff\uff00-\uffef])"
)


def parse_markdown(text: str) -> Document:
    """Parse Markdown. The layer is the source as page 0."""
    yaml = _YAML.match(text)
    body = text[yaml.end() :] if yaml else text
    blocks = list(_shape(_read(_without_comments(body).split("\n"))))
    fields = _fields(yaml["yaml"]) if yaml else {}
    front, blocks = _front(fields, blocks, [line.strip() for line in body.split("\n")[:40]])
    return Document(
        kind="markdown",
        engine=ENGINE,
        blocks=tuple(blocks),
        layer=(PageText(0, text),),
        front=front,
        language=language_of(text[:20_000]),
    )


def _without_comments(text: str) -> str:
    """Return `text` without ``<!-- ... -->``; one that never ends is text."""
    kept: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        kept.append(text[at:start])
        at = end + 3
    return "".join(kept) + text[at:]


# --- blocks --------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Reading:
    """Lines of the block that is being read."""

    lines: list[str] = field(default_factory=list[str])

    def take(self) -> str:
        text = "\n".join(self.lines).strip("\n")
        self.lines = []
        return text


def _read(lines: Sequence[str]) -> Iterator[Block]:
    """Yield headings, equations, tables and paragraphs; what a paragraph is comes later."""
    reading = _Reading()
    index = 0
    while index < len(lines):
        line = lines[index]
        following = lines[index + 1] if index + 1 < len(lines) else ""
        heading = _ATX.match(line)
        end = _verbatim_end(lines, index)
        if end > index:
            yield from _paragraph(reading)
            chunk = "\n".join(lines[index:end]).strip()
            yield Block("paragraph" if _FENCE.match(line) else "equation", chunk)
            index = end
            continue
        if heading:
            yield from _paragraph(reading)
            if title := _title(heading[2]):
                yield Block("heading", title, level=len(heading[1]))
        elif _is_setext(reading, line):
            yield Block("heading", reading.take().strip(), level=1 if line.strip()[0] == "=" else 2)
        elif "|" in line and "|" in following and _RULE.match(following.strip()):
            yield from _paragraph(reading)
            end = index + 2
            while end < len(lines) and "|" in lines[end] and lines[end].strip():
                end += 1
            yield Block("table", "\n".join(row.strip() for row in lines[index:end]))
            index = end
            continue
        elif not line.strip():
            yield from _paragraph(reading)
        else:
            if _ITEM.match(line) and reading.lines and not _ITEM.match(reading.lines[0]):
                yield from _paragraph(reading)
            reading.lines.append(line)
        index += 1
    yield from _paragraph(reading)


def _title(text: str) -> str:
    """Return a heading's words without the signs that may close it, which stand apart."""
    bare = text.strip()
    words = bare.rstrip("#")
    return words.rstrip() if not words or words[-1].isspace() else bare


def _verbatim_end(lines: Sequence[str], index: int) -> int:
    """Return the line after a code or math block that starts at `index`, or `index`."""
    line = lines[index]
    fence = _FENCE.match(line)
    equation = _EQUATION.match(line)
    stripped = line.strip()
    if fence:
        close = fence[1]
        return _until(lines, index + 1, lambda other: other.strip().startswith(close))
    if equation:
        close = f"\\end{{{equation[1]}{equation[2]}}}"
        return _until(lines, index, lambda other: close in other)
    if stripped.startswith("$$"):
        if len(stripped) > 4 and stripped.endswith("$$"):
            return index + 1
        if stripped.count("$$") == 1:
            return _until(lines, index + 1, lambda other: "$$" in other)
    if stripped == "\\[":
        return _until(lines, index + 1, lambda other: "\\]" in other)
    return index


def _until(lines: Sequence[str], start: int, is_end: Callable[[str], bool]) -> int:
    """Return the line after the first that ends the block; a block without end stops at a gap."""
    for index in range(start, min(len(lines), start + 400)):
        if is_end(lines[index]):
            return index + 1
    for index in range(start, len(lines)):
        if not lines[index].strip():
            return index
    return len(lines)


def _is_setext(reading: _Reading, line: str) -> bool:
    return (
        len(reading.lines) == 1
        and bool(re.fullmatch(r"[ ]{0,3}(?:={2,}|-{2,})[ \t]*", line))
        and not _ITEM.match(reading.lines[0])
        and "|" not in reading.lines[0]
    )


def _paragraph(reading: _Reading) -> Iterator[Block]:
    text = reading.take()
    if not text.strip():
        return
    for image in _IMAGE.finditer(text):
        alt = image[1].strip()
        if alt and not _FILE.fullmatch(alt):
            yield Block("caption", alt)
    text = _IMAGE.sub("", text)
    yield from _without_notes(text)


def _without_notes(text: str) -> Iterator[Block]:
    """Part footnotes, which start with ``[^1]:``, from the text before and after them."""
    running: list[str] = []
    for line in text.split("\n"):
        note = _NOTE.match(line.strip()) if line.lstrip().startswith("[^") else None
        if note and line.lstrip()[len(note[1]) + 3 : len(note[1]) + 4] == ":":
            if note[2].strip():
                yield Block("footnote", note[2].strip())
        elif line.strip():
            running.append(line)
    if running:
        yield Block("paragraph", "\n".join(running))


def _shape(blocks: Iterator[Block]) -> Iterator[Block]:
    """Tell lists, captions and references from paragraphs, and join the lines of each."""
    references = False
    for block in blocks:
        if block.kind == "heading":
            references = is_references_heading(block.text)
            yield block
        elif block.kind != "paragraph" or _FENCE.match(block.text):
            yield block
        elif references:
            for entry in _entries(block.text):
                yield Block("reference", entry)
        else:
            yield from _text_blocks(block.text)


def _text_blocks(text: str) -> Iterator[Block]:
    if _ITEM.match(text):
        for entry in _entries(text):
            yield Block("list", entry)
        return
    joined = _joined(text)
    kind: BlockKind = "caption" if caption_of(joined.lstrip("*_ ")) else "paragraph"
    if joined:
        yield Block(kind, joined)


def _entries(text: str) -> list[str]:
    """Return list items without their bullets; text without items is one entry a line."""
    if not _ITEM.match(text):
        return [line.strip() for line in text.split("\n") if line.strip()]
    entries: list[str] = []
    for line in text.split("\n"):
        if _ITEM.match(line) or not entries:
            entries.append(_BULLET.sub("", line).strip())
        else:
            entries[-1] += " " + line.strip()
    return entries


def _joined(text: str) -> str:
    return re.sub(r"[ \t]*\n[ \t]*", " ", _HAN_BREAK.sub("", text.strip()))


# --- front matter --------------------------------------------------------------------------------


def _fields(yaml: str) -> dict[str, list[str]]:
    """Return the few fields that are needed of a YAML head, without a YAML reader.

    A list of authors may be inline, one a line, or mappings with a `name`.
    """
    fields: dict[str, list[str]] = {}
    key = ""
    for line in yaml.split("\n"):
        top = re.match(r"([A-Za-z_][\w-]*)\s*:\s*(.*)$", line)
        if top:
            key = top[1].lower()
            fields.setdefault(key, []).extend(_values(top[2]))
            continue
        item = re.match(r"\s*-\s+(.*)$", line)
        inner = re.match(r"\s*-?\s*name\s*:\s*(.+)$", line)
        given = re.match(r"\s*(?:-\s*)?given(?:-names?)?\s*:\s*(.+)$", line)
        family = re.match(r"\s*(?:-\s*)?(?:surname|family(?:-names?)?)\s*:\s*(.+)$", line)
        values = fields.setdefault(key, [])
        if inner:
            values += _values(inner[1])
        elif given:
            values += _values(given[1])
        elif family and values:
            values[-1] = f"{values[-1]} {_values(family[1])[0]}"
        elif item and not re.match(r"[\w-]+\s*:\s", item[1]):
            values += _values(item[1])
        elif line.startswith((" ", "\t")) and line.strip() and ":" not in line and values:
            values[-1] = f"{values[-1]} {line.strip()}".strip("|> ")
    return fields


def _values(text: str) -> list[str]:
    text = re.sub(r"\s+#.*$", "", text.strip())
    if text.startswith("[") and text.endswith("]"):
        return [value for part in text[1:-1].split(",") for value in _values(part)]
    text = text.strip("'\"").strip()
    return [text] if text not in {"", "|", ">", ">-", "|-"} else []


def _front(
    fields: dict[str, list[str]], blocks: list[Block], lines: Sequence[str]
) -> tuple[FrontMatter, list[Block]]:
    """Return the front matter, and the blocks with the author lines made into a footnote.

    `lines` are the first of the source: names may share a paragraph with addresses, not a line.
    """
    title = " ".join(fields.get("title", []))
    at = -1
    if not title:
        at = next((i for i, b in enumerate(blocks[:8]) if b.kind == "heading"), -1)
        if at >= 0 and (heading_depth(blocks[at].text) or is_abstract_heading(blocks[at].text)):
            at = -1
        title = _plain(blocks[at].text) if at >= 0 else ""
    elif blocks and fold_for_identity(blocks[0].text) != fold_for_identity(title):
        blocks = [Block("heading", title, level=1), *blocks]
        at = 0
    given = fields.get("authors", []) or fields.get("author", [])
    # what is given by name is taken at its word, also where no person has such a name
    authors = tuple(name for value in given for name in split_authors(value) or (value.strip(),))
    head: list[str] = []
    start = at + 1
    for index in range(start, min(start + 6, len(blocks))):
        block = blocks[index]
        if block.kind != "paragraph" or run_in_abstract(block.text) or at < 0:
            break
        line = next((line for line in lines if line and block.text.startswith(line)), block.text)
        line = re.split(r"<br\s*/?>", line)[0]
        if not authors and looks_like_authors(_plain_math(line)):
            authors = split_authors(line)
            blocks[index] = Block("footnote", block.text)
        elif len(block.text) > 300:
            break
        head.append(block.text)
    abstract = " ".join(fields.get("abstract", [])) or _abstract(blocks)
    dated = [line for line in lines if len(line) < 200 and any(line in text for text in head)]
    top = "\n".join([*fields.get("date", []), *fields.get("year", []), *dated])
    wide = "\n".join(
        [top, *fields.get("doi", []), *fields.get("arxiv", []), *fields.get("url", [])]
    )
    arxiv_id = find_arxiv_id(wide) if fields.get("arxiv") or "arxiv" in wide.lower() else None
    doi = find_doi(wide)
    year = find_year(top, arxiv_id=arxiv_id, doi=doi) or _bare_year(fields)
    return (
        FrontMatter(title, authors, year, abstract, doi, arxiv_id, find_bibcode(wide)),
        blocks,
    )


def _bare_year(fields: dict[str, list[str]]) -> int | None:
    for value in (*fields.get("year", []), *fields.get("date", [])):
        match = re.search(r"(?<!\d)(?:19|20)\d\d(?!\d)", value)
        if match:
            return int(match[0])
    return None


def _plain(text: str) -> str:
    """Return a heading without emphasis and links."""
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)|`", "", text).strip()


def _plain_math(text: str) -> str:
    return re.sub(r"\$[^$]*\$", " ", text)


def _abstract(blocks: Sequence[Block]) -> str:
    texts: list[str] = []
    inside = False
    for block in blocks[:60]:
        found = run_in_abstract(block.text) if block.kind == "paragraph" else None
        if found:
            return found
        if block.kind == "heading":
            if inside:
                break
            inside = is_abstract_heading(block.text)
        elif inside and block.kind in {"paragraph", "list", "equation"}:
            if re.match(r"\W*key\s?words", block.text, re.IGNORECASE):
                break
            texts.append(block.text)
    return "\n".join(texts)
