"""Plain text: blank lines part paragraphs, short lines may be headings."""

import itertools
import re

from nuncius.core.documents import Block, Document, FrontMatter, PageText
from nuncius.core.identifiers import find_arxiv_id, find_bibcode, find_doi
from nuncius.core.text import language_of
from nuncius.parsing.front import find_year, looks_like_authors, split_authors
from nuncius.parsing.headings import (
    heading_depth,
    is_abstract_heading,
    is_known_heading,
    is_references_heading,
)

ENGINE = "text/1"
_PARAGRAPHS = re.compile(r"\n\s*\n")
_HAN_BREAK = re.compile(
    "(?<=[\u3000-\u9fff\uff00-\uffef])\\s*\n\\s*(?=[\u3000-\u9fff\uff00-\uffef])"
)
_ROW = re.compile(r"\S(?:\s{2,}|\t)\S")


def parse_text(text: str) -> Document:
    """Parse plain text. The layer is the text itself as page 0."""
    pieces = [piece.strip("\n") for piece in _PARAGRAPHS.split(text) if piece.strip()]
    blocks: list[Block] = []
    references = False
    for index, piece in enumerate(pieces):
        line = piece.strip()
        single = "\n" not in line
        if single and (index == 0 and len(line) <= 200 and not line.endswith(".")):
            blocks.append(Block("heading", line, level=1))
        elif single and len(line) < 120 and (is_known_heading(line) or _numbered(line)):
            references = is_references_heading(line)
            blocks.append(Block("heading", line, level=1 + (heading_depth(line) or 1)))
        elif references:
            blocks.extend(Block("reference", entry.strip()) for entry in line.split("\n"))
        elif sum(bool(_ROW.search(row)) for row in line.split("\n")) >= 2:
            blocks.append(Block("table", piece))
        else:
            joined = _HAN_BREAK.sub("", line)
            blocks.append(Block("paragraph", re.sub(r"\s*\n\s*", " ", joined)))
    return Document(
        kind="text",
        engine=ENGINE,
        blocks=tuple(blocks),
        layer=(PageText(0, text),),
        front=_front(blocks, text),
        language=language_of(text[:20_000]),
    )


def _numbered(line: str) -> bool:
    return heading_depth(line) is not None and not line.endswith((".", ",", ";"))


def _front(blocks: list[Block], text: str) -> FrontMatter:
    title = blocks[0].text if blocks and blocks[0].kind == "heading" else ""
    second = blocks[1].text if len(blocks) > 1 and blocks[1].kind == "paragraph" else ""
    named = bool(title) and len(second) < 400 and looks_like_authors(second)
    top = text[:1500]
    arxiv_id = find_arxiv_id(top) if "arxiv" in top.lower() else None
    abstract = ""
    for heading, block in itertools.pairwise(blocks[:21]):
        if heading.kind == "heading" and is_abstract_heading(heading.text):
            abstract = block.text
    doi = find_doi(top)
    return FrontMatter(
        title=title,
        authors=split_authors(second) if named else (),
        year=find_year(top[:600], arxiv_id=arxiv_id, doi=doi),
        abstract=abstract,
        doi=doi,
        arxiv_id=arxiv_id,
        bibcode=find_bibcode(top),
    )
