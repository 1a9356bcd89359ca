"""HTML of papers: LaTeXML (arXiv, ar5iv), IOP and plain pages; mathematics stay TeX, once."""

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from nuncius.core.documents import Block, BlockKind, Document, FrontMatter, PageText
from nuncius.core.errors import DocumentError
from nuncius.core.identifiers import find_arxiv_id, find_doi
from nuncius.core.text import clean, fold_for_identity, language_of
from nuncius.parsing.front import abstract_below, find_year, looks_like_authors, split_authors
from nuncius.parsing.headings import (
    caption_of,
    is_abstract_heading,
    is_references_heading,
    run_in_abstract,
)

ENGINE = "html/1"
_DEPTH = 400  # deeper nesting is an attack or an accident
_DROPPED_TAGS = frozenset(
    """style nav noscript header footer aside form button svg template iframe object select
    input textarea canvas video audio dialog link meta head""".split()
)
_DROPPED_CLASSES = frozenset(
    """ltx_page_footer ltx_page_logo ltx_bib_cited ltx_note_mark ltx_TOC ltx_pagination
    ltx_tag_note MathJax MathJax_Preview MathJax_SVG MJX_Assistive_MathML mjx-chtml katex-
    html sr-only visually-hidden ltx_role_newpage ltx_rule ltx_note_type""".split()
)
_BLOCK_TAGS = frozenset(
    """address article blockquote body dd div dl dt figcaption figure h1 h2 h3 h4 h5 h6 hr li
    main ol p pre section table tbody td tfoot th thead tr ul center details summary html
    fieldset""".split()
)
_HOLDS_BLOCKS = (
    "boolean(.//p|.//div|.//table|.//section|.//h1|.//h2|.//h3|.//ul|.//ol|.//li"
    "|.//script[contains(@type,'mode=display')])"
)
_SPACE = re.compile(r"[ \t\r\n\f\u00a0\u2009\u202f]+")
_SITE = re.compile(r"\s+[-|–—:]\s+(?:[^-|–—]{2,40})$")
_ARXIV_TITLE = re.compile(r"^\[[^\]]+\]\s*")


def parse_html(text: str) -> Document:
    """Parse an HTML page. The layer is the visible text as page 0.

    Raises:
        DocumentError: There is no text in it.
    """
    root = _tree(text)
    body = root.find(".//body") if root.tag != "body" else root
    walker = _Walker()
    walker.walk(_content(body if body is not None else root))
    walker.end()
    blocks = [block for block in walker.blocks if block.text]
    if not any(block.kind != "heading" for block in blocks):
        raise DocumentError(
            "empty",
            "The web page holds no text.",
            hint="Its text may be loaded by scripts: save the PDF instead.",
        )
    front = _front(root, blocks)
    if front.title and fold_for_identity(blocks[0].text) != fold_for_identity(front.title):
        blocks.insert(0, Block("heading", front.title, level=1))
    errors = len(root.xpath("//*[contains(@class, 'ltx_ERROR')]"))
    return Document(
        kind="html",
        engine=ENGINE,
        blocks=tuple(blocks),
        layer=(PageText(0, "\n\n".join(block.text for block in blocks)),),
        front=front,
        language=language_of(" ".join(block.text for block in blocks[:60])),
        verdict="good" if errors < 10 else f"{errors} parts were not converted by LaTeXML",
    )


def _tree(text: str) -> Any:
    text = re.sub(r"\A\s*<\?xml[^>]*\?>", "", text)
    html: Any = importlib.import_module("lxml.html")  # lxml brings no types
    etree: Any = importlib.import_module("lxml.etree")
    parser = html.HTMLParser(huge_tree=False, remove_comments=True, recover=True)
    try:
        return html.document_fromstring(text, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise DocumentError(
            "damaged", f"The HTML cannot be read ({error}).", hint="Save the page again."
        ) from error


def _content(body: Any) -> Any:
    """Return the element that holds the paper, where one holds most of the page's text."""
    whole = len(body.text_content())
    for path in (".//*[contains(@class, 'ltx_document')]", ".//main", ".//article"):
        found = body.xpath(path)
        if len(found) == 1 and len(found[0].text_content()) > 0.7 * whole:
            return found[0]
    return body


# --- mathematics ---------------------------------------------------------------------------------


def _tex(element: Any) -> str:
    """Return the TeX of a <math> element, or its plain characters where it has none."""
    found = ""
    for annotation in element.iter("annotation"):
        if "tex" in (annotation.get("encoding") or "").lower():
            found = annotation.text or ""
    found = element.get("alttext") or found
    if not found:
        return "".join(
            part for part in element.itertext() if part.strip() and not part.isspace()
        ).strip()
    found = re.sub(r"%\s*\n\s*", "", found)
    found = _SPACE.sub(" ", found).strip()
    return re.sub(r"^\\displaystyle\s*(?![a-zA-Z])", "", found).strip()


def _is_display(element: Any) -> bool:
    return element.get("display") == "block" or "mode=display" in (element.get("type") or "")


def _delimited(tex: str, *, display: bool) -> str:
    tex = tex.strip()
    if not tex:
        return ""
    if tex.startswith("$"):
        return tex
    return f"$${tex}$$" if display else f"${tex}$"


# --- walking -------------------------------------------------------------------------------------


def _classes(element: Any) -> set[str]:
    return set((element.get("class") or "").split())


def _is_dropped(element: Any) -> bool:
    if not isinstance(element.tag, str) or element.tag in _DROPPED_TAGS:
        return True
    if element.tag == "script":
        return not (element.get("type") or "").startswith("math/tex")
    if (
        element.get("role") in {"navigation", "banner", "search"}
        or element.get("hidden") is not None
    ):
        return True
    if "display:none" in (element.get("style") or "").replace(" ", ""):
        return True
    return bool(_classes(element) & _DROPPED_CLASSES)


@dataclass(slots=True)
class _Walker:
    """Makes blocks while it goes down the tree; loose text gathers into paragraphs."""

    blocks: list[Block] = field(default_factory=list[Block])
    references: bool = False
    _running: list[str] = field(default_factory=list[str])
    _notes: list[str] = field(default_factory=list[str])

    def add(self, kind: BlockKind, text: str, level: int = 0) -> None:
        text = clean(text).strip()
        if text:
            self.blocks.append(Block(kind, text, level=level))

    def end(self) -> None:
        """Close the running paragraph."""
        text = _tidy("".join(self._running))
        self._running = []
        if text:
            abstract = run_in_abstract(text)
            if abstract and len(self.blocks) < 12:
                self.add("heading", text[: len(text) - len(abstract)].strip(" :.—–-"), 2)
                text = abstract
            self.add("reference" if self.references else _kind_of(text), text)
        notes, self._notes = self._notes, []
        for note in notes:
            self.add("footnote", note)

    def walk(self, element: Any, depth: int = 0) -> None:
        """Take an element and all below it."""
        if depth > _DEPTH:
            self._running.append(" " + _tidy(element.text_content()))
            return
        if element.text:
            self._running.append(element.text)
        for child in element:
            if not _is_dropped(child):
                self._take(child, depth + 1)
            if child.tail:
                self._running.append(child.tail)

    def _take(self, element: Any, depth: int) -> None:
        tag = element.tag
        classes = _classes(element)
        if tag in {"h1", "h2", "h3", "h4", "h5", "h6"}:
            self._heading(element, int(tag[1]))
        elif "ltx_equation" in classes or "ltx_equationgroup" in classes:
            self.end()
            for equation in _equations(element):
                self.add("equation", equation)
        elif tag == "table" and _is_data(element):
            self.end()
            self.add("table", _pipe_table(element))
        elif tag in {"figcaption", "caption"}:
            self.end()
            self.add("caption", self.inline(element))
        elif "ltx_bibliography" in classes or _is_reference_list(element):
            self.end()
            before, self.references = self.references, True
            self.walk(element, depth)
            self.end()
            self.references = before
        elif "ltx_authors" in classes or "ltx_dates" in classes:
            self.end()
            self.add("footnote", self.inline(element))
        elif tag in {"li", "dd"} and not element.xpath(".//li|.//p[2]|.//table"):
            self.end()
            self._item(element)
        elif tag in {"math", "script"}:
            self._math(element)
        elif tag in _BLOCK_TAGS:
            self.end()
            self.walk(element, depth)
            self.end()
        elif "ltx_note" not in classes and element.xpath(_HOLDS_BLOCKS):
            self.walk(element, depth)
        else:
            self._running.append(self._inline_of(element))

    def _heading(self, element: Any, level: int) -> None:
        self.end()
        text = _tidy(self.inline(element))
        if is_abstract_heading(text):
            level = 2
        self.references = is_references_heading(text)
        self.add("heading", text, level)

    def _item(self, element: Any) -> None:
        text = _tidy(self.inline(element))
        if self.references:
            self.add("reference", text)
        elif text:
            self.add("list", text)

    def _math(self, element: Any) -> None:
        tex = (element.text or "") if element.tag == "script" else _tex(element)
        if _is_display(element):
            self.end()
            self.add("equation", _delimited(_SPACE.sub(" ", tex), display=True))
        else:
            self._running.append(_delimited(_SPACE.sub(" ", tex), display=False))

    def inline(self, element: Any) -> str:
        """Return all text below `element` on one line."""
        return _tidy("".join(self._pieces(element)))

    def _inline_of(self, element: Any) -> str:
        """Return an inline element's text with its borders' spaces kept."""
        if element.tag == "br":
            return " "
        if element.tag == "img":
            alt = element.get("alt") or ""
            return alt if alt.startswith("$") and not _has_source(element) else ""
        if "ltx_note" in _classes(element):
            note = _tidy("".join(self._pieces(element)))
            if note:
                self._notes.append(note)
            return ""
        return "".join(self._pieces(element))

    def _pieces(self, element: Any, depth: int = 0) -> Iterator[str]:
        if element.text and element.tag not in {"math", "script"}:
            yield element.text
        if depth < _DEPTH:
            for child in element:
                if not _is_dropped(child):
                    if child.tag in {"math", "script"}:
                        tex = (child.text or "") if child.tag == "script" else _tex(child)
                        yield _delimited(_SPACE.sub(" ", tex), display=False)
                    elif child.tag in {"img", "br"} or "ltx_note" in _classes(child):
                        yield self._inline_of(child)
                    elif child.tag in _BLOCK_TAGS:
                        yield " "
                        yield from self._pieces(child, depth + 1)
                        yield " "
                    else:
                        yield from self._pieces(child, depth + 1)
                if child.tail:
                    yield child.tail


def _kind_of(text: str) -> BlockKind:
    return "caption" if caption_of(text) and len(text) < 3000 else "paragraph"


def _tidy(text: str) -> str:
    return _SPACE.sub(" ", text.replace("\n", " ")).strip()


def _has_source(image: Any) -> bool:
    parent = image.getparent()
    return parent is not None and bool(parent.xpath(".//script|.//math"))


def _is_reference_list(element: Any) -> bool:
    if element.tag not in {"div", "section", "ol", "ul"}:
        return False
    marks = " ".join((element.get("class") or "", element.get("id") or "")).lower()
    return bool(
        re.search(
            r"(?:^|[-_ ])(?:references|ref-list|bibliography|citation-list)(?:$|[-_ ])", marks
        )
    ) and bool(element.xpath("boolean(.//li|.//p)"))


# --- equations and tables ------------------------------------------------------------------------


def _equations(element: Any) -> Iterator[str]:
    """Yield one delimited equation a number: LaTeXML parts one over several cells."""
    rows = element.xpath(".//tr[contains(@class, 'ltx_eqn_row')]") or [element]
    for row in rows:
        parts = [_tex(math) for math in row.iter("math")]
        tags = row.xpath(".//*[contains(@class, 'ltx_tag_equation')]")
        number = _tidy(tags[0].text_content()) if tags else ""
        tex = " ".join(part for part in parts if part)
        if tex:
            yield f"$${tex}$$" + (f" {number}" if number else "")


def _is_data(table: Any) -> bool:
    """Tell a table of values from one that lays out the page."""
    if table.xpath("boolean(.//table)"):
        return False
    rows = table.xpath(".//tr")
    cells = table.xpath(".//td|.//th")
    if len(cells) < 2 or not rows:
        return False
    longest = max(len(cell.text_content()) for cell in cells)
    return longest < 1500


def _pipe_table(table: Any) -> str:
    walker = _Walker()
    rows: list[list[str]] = []
    for row in table.xpath(".//tr"):
        cells: list[str] = []
        for cell in row.xpath("./td|./th"):
            cells.append(walker.inline(cell).replace("|", "\\|"))
            cells += [""] * (_span(cell) - 1)
        if any(cells):
            rows.append(cells)
    if not rows:
        return ""
    width = max(len(row) for row in rows)
    lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * width)
    caption = table.find("caption")
    if caption is not None:
        lines.insert(0, walker.inline(caption))
    return "\n".join(lines)


def _span(cell: Any) -> int:
    value = cell.get("colspan") or "1"
    return min(int(value), 40) if value.isdigit() and int(value) > 0 else 1


# --- front matter --------------------------------------------------------------------------------


def _front(root: Any, blocks: list[Block]) -> FrontMatter:
    metas: dict[str, list[str]] = {}
    for meta in root.iter("meta"):
        key = (meta.get("name") or meta.get("property") or "").lower()
        value = _tidy(meta.get("content") or "")
        if key and value:
            metas.setdefault(key, []).append(value)

    def first(*names: str) -> str:
        return next((metas[name][0] for name in names if name in metas), "")

    title = first("citation_title", "dc.title", "og:title") or _printed_title(root, blocks)
    listed = metas.get("citation_author") or metas.get("dc.creator") or []
    if len(listed) == 1 and ";" in listed[0]:
        listed = [name.strip() for name in listed[0].split(";")]
    elif not listed and "citation_authors" in metas:
        listed = [name.strip() for name in metas["citation_authors"][0].split(";")]
    authors = tuple(listed) or _printed_authors(root, blocks)
    stamp = " ".join(
        _tidy(node.text_content())
        for node in root.xpath("//*[contains(@class,'ltx_dates')]|//*[@id='watermark-tr']")
    )
    arxiv_id = find_arxiv_id(first("citation_arxiv_id") or stamp or _arxiv_link(root))
    doi = find_doi(first("citation_doi", "dc.identifier", "doi"))
    date = first(
        "citation_publication_date",
        "citation_date",
        "citation_online_date",
        "dc.date",
        "citation_year",
    )
    match = re.search(r"(?<!\d)(?:18|19|20)\d\d(?!\d)", date)
    head = "\n".join(block.text for block in blocks[:6] if len(block.text) < 200)
    year = int(match[0]) if match else find_year(f"{stamp}\n{head}", arxiv_id=arxiv_id, doi=doi)
    return FrontMatter(title, authors, year, abstract_below(blocks), doi, arxiv_id)


def _printed_title(root: Any, blocks: list[Block]) -> str:
    for path in ("//h1[contains(@class,'ltx_title_document')]", "//h1"):
        for found in root.xpath(path):
            text = _Walker().inline(found)
            if len(text) > 3:
                return text
    title = root.find(".//title")
    text = _tidy(title.text_content()) if title is not None else ""
    text = _SITE.sub("", _ARXIV_TITLE.sub("", text))
    return text or next((block.text for block in blocks if block.kind == "heading"), "")


def _printed_authors(root: Any, blocks: list[Block]) -> tuple[str, ...]:
    names: list[str] = []
    for person in root.xpath("//*[contains(@class,'ltx_personname')]"):
        for mark in person.xpath(".//sup|.//math|.//*[contains(@class,'ltx_note')]"):
            mark.drop_tree()
        names += split_authors(person.text_content())
    if not names:
        after = [b.text for b in blocks[:4] if b.kind == "paragraph" and len(b.text) < 500]
        names = [
            name for text in after[:1] if looks_like_authors(text) for name in split_authors(text)
        ]
    return tuple(dict.fromkeys(names))


def _arxiv_link(root: Any) -> str:
    for link in root.xpath("//link[@rel='canonical']/@href|//base/@href"):
        if "arxiv" in str(link):
            return str(link)
    return ""
