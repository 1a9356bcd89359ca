"""Bytes in, Document out; pure."""

import re
from dataclasses import replace
from pathlib import PurePath

from nuncius.core.documents import Document
from nuncius.parsing.front import year_of_arxiv
from nuncius.parsing.sniff import Sniffed, sniff

__all__ = ["parse"]


_ARXIV_NAME = re.compile(r"(?:arxiv[-_:.]?)?(\d{4}\.\d{4,5})(?:v\d+)?(?:\.\w{1,8})?", re.IGNORECASE)


def parse(data: bytes, *, name: str = "") -> Document:
    """Parse a file's bytes.

    Args:
        data: The whole file.
        name: Its name, for messages and to tell Markdown from plain text; all else is told from
            the bytes.

    A file named after its arXiv id (``2201.01234v2.pdf``) lends the id, and the year in it, to a
    document that names neither.

    Raises:
        DocumentError: It cannot be read; `kind` says why.
    """
    return _named(_parse(sniff(data, name=name)), name)


def _parse(found: Sniffed) -> Document:
    match found.kind:
        case "pdf":
            from nuncius.parsing.pdf import parse_pdf  # pdfium is slow to load

            return parse_pdf(found.data)
        case "html":
            from nuncius.parsing.html import parse_html  # lxml is slow to load

            return parse_html(found.text)
        case "latex":
            from nuncius.parsing.latex import parse_latex

            return parse_latex(found.text)
        case "markdown":
            from nuncius.parsing.markdown import parse_markdown

            return parse_markdown(found.text)
        case "text":
            from nuncius.parsing.text import parse_text

            return parse_text(found.text)


def _named(document: Document, name: str) -> Document:
    match = _ARXIV_NAME.fullmatch(PurePath(name).name)
    front = document.front
    if not match or front.arxiv_id:
        return document
    year = front.year or year_of_arxiv(match[1])
    return replace(document, front=replace(front, arxiv_id=match[1], year=year))
