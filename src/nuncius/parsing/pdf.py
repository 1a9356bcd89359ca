"""PDF: bytes in, Document out, on pdfium's text layer."""

import importlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nuncius.core.documents import Block, Document, PageText
from nuncius.core.errors import DocumentError
from nuncius.core.text import language_of
from nuncius.parsing.front import abstract_below
from nuncius.parsing.furniture import find_furniture
from nuncius.parsing.headings import run_in_abstract
from nuncius.parsing.hyphens import Hyphenation
from nuncius.parsing.pdf_flow import Draft, Flow, build
from nuncius.parsing.pdf_front import Front, read_front
from nuncius.parsing.pdf_lines import Line, Page, Reader
from nuncius.parsing.pdf_shapes import body_size

ENGINE = "pdfium/1"
MAX_PAGES = 3000
_SCANNED_CHARS = 40  # fewer on average a page, and the text is a stub or a stamp
_HAN_GAP = re.compile(
    "(?<=[\u3000-\u303f\u3400-\u9fff\uff00-\uffef])[ \t]+"
    "(?=[\u3000-\u303f\u3400-\u9fff\uff00-\uffef])"
)
_SAYS = re.compile(r"[^\W_]{2}|\d")
_HAN_TAIL = re.compile("[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]$")
_HAN_HEAD = re.compile("^[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")


def parse_pdf(data: bytes) -> Document:
    """Parse a PDF.

    Raises:
        DocumentError: It is encrypted, truncated, damaged, scanned or too long.
    """
    document = _open(data)
    try:
        count = len(document)
        if count == 0:
            raise DocumentError(
                "damaged", "The PDF has no pages.", hint="Fetch the file again from its source."
            )
        if count > MAX_PAGES:
            raise DocumentError(
                "too_large",
                f"The PDF has {count} pages; up to {MAX_PAGES} are read.",
                hint="Split it and add the parts.",
            )
        metadata: Mapping[str, str] = document.get_metadata_dict()
        reader = Reader(document)
        pages, broken = _read_pages(reader, count)
    finally:
        document.close()
    _refuse_scanned(pages, broken)
    return _assemble(pages, metadata, broken)


def _open(data: bytes) -> Any:
    pdfium: Any = importlib.import_module("pypdfium2")
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        raise _explain(data, str(error)) from error


def _explain(data: bytes, reason: str) -> DocumentError:
    if "password" in reason.lower() or "security" in reason.lower():
        return DocumentError(
            "encrypted",
            "The PDF is encrypted and asks for a password before it can be read.",
            hint="Save a copy without the password and add that.",
        )
    tail = data[-2048:]
    if b"%%EOF" not in tail or b"startxref" not in data[-4096:]:
        return DocumentError(
            "truncated",
            f"The PDF breaks off after {len(data):,} bytes: its end mark is missing and no page"
            " could be opened.",
            hint="Download it again; the transfer was cut.",
        )
    return DocumentError(
        "damaged",
        f"The PDF is damaged: pdfium cannot open it ({reason}).",
        hint="Fetch it again, or repair it with a tool such as qpdf, and add that copy.",
    )


def _read_pages(reader: Reader, count: int) -> tuple[list[Page], list[int]]:
    """Read all pages; a page that pdfium cannot load is listed, not fatal."""
    pdfium: Any = importlib.import_module("pypdfium2")
    pages: list[Page] = []
    broken: list[int] = []
    for number in range(1, count + 1):
        try:
            pages.append(reader.read(number))
        except pdfium.PdfiumError:
            broken.append(number)
            pages.append(Page(number, [], 0.0, 0.0, 0, []))
    return pages, broken


def _refuse_scanned(pages: Sequence[Page], broken: Sequence[int]) -> None:
    if len(broken) == len(pages):
        raise DocumentError(
            "damaged",
            f"None of the PDF's {len(pages)} pages could be opened.",
            hint="Fetch the file again from its source.",
        )
    bare = sum(page.chars < _SCANNED_CHARS for page in pages)
    words = sum(line.words for page in pages for line in page.lines if not line.turned)
    if sum(page.chars for page in pages) < _SCANNED_CHARS * len(pages) and words < 12 * len(pages):
        raise DocumentError(
            "scanned",
            f"{bare} of {len(pages)} pages hold no text layer: the PDF is made of pictures.",
            hint="Run OCR on it (for example with ocrmypdf) and add the result.",
        )


def _assemble(
    pages: Sequence[Page], metadata: Mapping[str, str], broken: Sequence[int]
) -> Document:
    furniture = find_furniture(pages)
    front = read_front(pages, metadata=metadata, furniture=furniture, body=body_size(pages))
    apart = {id(line) for line in (*front.above, *front.title_lines, *front.other)}
    flow = build(pages, furniture, apart)
    hyphenation = Hyphenation(line.text for page in pages for line in page.lines)
    blocks = [*_front_blocks(front, hyphenation), *_blocks(flow.blocks, hyphenation)]
    layer = _layer(pages, front, flow)
    sample = " ".join(block.text for block in blocks[:60])[:8000]
    abstract = abstract_below(blocks)
    return Document(
        kind="pdf",
        engine=ENGINE,
        blocks=tuple(blocks),
        layer=tuple(layer),
        front=replace(front.matter, abstract=abstract),
        page_count=len(pages),
        language=language_of(sample),
        verdict=_verdict(pages, broken),
    )


def _front_blocks(front: Front, hyphenation: Hyphenation) -> list[Block]:
    blocks: list[Block] = []
    if front.title_lines:
        page = front.title_lines[0].page
        title = front.matter.title or _text(front.title_lines, hyphenation)
        blocks.append(Block("heading", title, page, 1))
    if front.other:
        text = "\n".join(line.text for line in front.other)
        blocks.append(Block("footnote", text, front.other[0].page))
    return blocks


def _blocks(drafts: Iterable[Draft], hyphenation: Hyphenation) -> list[Block]:
    blocks: list[Block] = []
    for draft in drafts:
        page = draft.lines[0].page
        if draft.kind == "table":
            text = "\n".join(_row(line) for line in draft.lines)
        else:
            text = _text(draft.lines, hyphenation)
        if draft.kind == "paragraph" and (abstract := run_in_abstract(text)) and page <= 2:
            word = text[: len(text) - len(abstract)].strip(" \u3000:：.—–-")
            blocks.append(Block("heading", word, page, 2))
            text = abstract
        if _SAYS.search(text) or draft.kind == "equation":
            blocks.append(Block(draft.kind, text, page, draft.level))
    return blocks


def _row(line: Line) -> str:
    return _HAN_GAP.sub("", line.text) + ("-" if line.hyphen else "")


def _text(lines: Sequence[Line], hyphenation: Hyphenation) -> str:
    """Join lines into running text: broken words whole, Chinese without spaces."""
    text = ""
    hyphen = False
    for line in lines:
        piece = _HAN_GAP.sub("", line.text) if not line.text.isascii() else line.text
        if hyphen:
            text = hyphenation.join(text, piece)
        elif text and not (_HAN_TAIL.search(text) and _HAN_HEAD.match(piece)):
            text += " " + piece
        else:
            text += piece
        hyphen = line.hyphen
    return text


def _layer(pages: Sequence[Page], front: Front, flow: Flow) -> list[PageText]:
    """Return each page's text verbatim, line by line, in reading order.

    What belongs to no block (heads, feet, margin numbers, text in figures) stands before the
    paragraph that runs on to the next page, so that no sentence is torn by it.
    """
    by_page: dict[int, list[list[Line]]] = {page.number: [] for page in pages}
    running: dict[int, list[Line]] = {}
    for lines in (front.above, front.title_lines, front.other):
        if lines:
            by_page[lines[0].page].append(list(lines))
    for draft in flow.blocks:
        parts: dict[int, list[Line]] = {}
        for line in draft.lines:
            parts.setdefault(line.page, []).append(line)
        last = max(parts)
        for number, lines in parts.items():
            if number != last:
                running[number] = lines
            else:
                by_page[number].append(lines)
    loose: dict[int, list[Line]] = {}
    for line in flow.loose:
        loose.setdefault(line.page, []).append(line)
    layer: list[PageText] = []
    for page in pages:
        groups = [*by_page[page.number], loose.get(page.number, [])]
        rows = [raw for group in groups for line in group for raw in line.raw]
        if page.margin:
            rows.append(" ".join(page.margin))
        rows += [raw for line in running.get(page.number, []) for raw in line.raw]
        layer.append(PageText(page.number, "\n".join(rows)))
    return layer


def _verdict(pages: Sequence[Page], broken: Sequence[int]) -> str:
    bare = [page.number for page in pages if page.chars < 8 and page.number not in broken]
    faults: list[str] = []
    if bare:
        faults.append(f"pages without text: {_numbers(bare)}")
    if broken:
        faults.append(f"pages that could not be opened: {_numbers(broken)}")
    return "; ".join(faults) or "good"


def _numbers(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:12]))
    return shown + (f" and {len(numbers) - 12} more" if len(numbers) > 12 else "")
