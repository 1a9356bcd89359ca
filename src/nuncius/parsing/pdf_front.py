"""Title, authors and the rest of a PDF's first page, by size and place; metadata only second."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nuncius.core.documents import FrontMatter
from nuncius.core.identifiers import find_arxiv_id, find_doi
from nuncius.core.text import fold_for_identity
from nuncius.parsing.front import (
    find_year,
    first_sane_year,
    looks_like_authors,
    split_authors,
)
from nuncius.parsing.headings import (
    caption_of,
    heading_depth,
    is_known_heading,
    is_references_heading,
    run_in_abstract,
)
from nuncius.parsing.pdf_lines import Line, Page

_BANNER = re.compile(
    r"^(?:draft version|draft\b|typeset using|preprint|submitted|accepted|received|published"
    r"|in press|https?://|doi\b|arxiv|mnras|a&a\b|astronomy\s*&|astrophysics$|advance access"
    r"|compiled|©|\(c\)|c \w+ authors|the astrophysical journal|the astronomical journal|journal of"
    r"|astronomische|open access|research (?:article|paper|note)|original (?:article|paper)"
    r"|letters? to the editor|article$|letter$|review(?: article)?$|downloaded from"
    r"|this (?:version|is)|version\b|copyright|issn|vol\b|contents$|lists? available|elsevier"
    r"|proceedings of|ieee|astro2020|第\s*\d+\s*卷|天文学报|天文学进展)",
    re.IGNORECASE,
)
_BANNER_NAME = re.compile(
    r"^(?:astronomy|astrophysics|&|nature|science|letters?)(?:\s*&\s*\w+)?\s*&?$", re.IGNORECASE
)
_JUNK_TITLE = re.compile(
    r"^(?:untitled|microsoft word|title|paper|main|ms|manuscript|draft|document\d*|template|aastex"
    r"|mnras|slide|powerpoint|presentation|\(?unknown\)?|no title|arxiv\b.*|doi:.*)$"
    r"|\.(?:tex|dvi|docx?|pdf|ps|indd|qxd|rtf|md)$|^[!-~]+$",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"\b(?:universit|institut|observator|department|dept\b|laborator|center for|centre for"
    r"|school of|faculty|academy|cnrs|inaf|box \d|\bUSA\b|e-?mail|@)|大学|研究所|天文台|学院",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Front:
    """The facts, and the lines they were found in.

    `above` are banners over the title, `other` holds authors, addresses and dates.
    """

    matter: FrontMatter
    above: tuple[Line, ...] = ()
    title_lines: tuple[Line, ...] = ()
    other: tuple[Line, ...] = ()


def read_front(
    pages: Sequence[Page], *, metadata: Mapping[str, str], furniture: set[int], body: float
) -> Front:
    """Read the first page with text.

    Args:
        metadata: The PDF's own title, author, subject and date; believed only where the pages
            agree, or where they say nothing and the words make sense.
    """
    page = next((page for page in pages if sum(not line.turned for line in page.lines) > 2), None)
    if page is None:
        return Front(FrontMatter())
    stamps = "\n".join(line.text for line in page.lines if line.turned)
    lines = [line for line in page.lines if not line.turned and id(line) not in furniture]
    title_lines = _title_lines(lines, page, body)
    title = _joined(title_lines)
    given = metadata.get("Title", "").strip()
    if not _plausible_title(title):
        title, title_lines = (given, []) if _plausible_title(given) else ("", [])
    elif _same_title(given, title):
        title = given  # spaces and signs are better there
    others = _other_lines(lines, title_lines, body)
    group, dated = _printed_group(metadata.get("Author", ""), others)
    authors = _authors(others) or _metadata_authors(metadata.get("Author", "")) or group
    top = "\n".join(line.text for line in _dated_lines(page, body))
    subject = metadata.get("Subject", "")
    arxiv_id = find_arxiv_id(stamps) if "arxiv" in stamps.lower() else _arxiv_in(top)
    doi = find_doi(_glue(top)) or find_doi(subject)
    year = first_sane_year(
        (find_year(f"{top}\n{stamps}", arxiv_id=arxiv_id, doi=doi), dated, _tex_year(metadata))
    )
    above = _above(lines, title_lines)
    return Front(
        FrontMatter(title=title, authors=authors, year=year, doi=doi, arxiv_id=arxiv_id),
        tuple(above),
        tuple(title_lines),
        tuple(others),
    )


def _title_lines(lines: Sequence[Line], page: Page, body: float) -> list[Line]:
    """Return the lines of the largest text in the upper part that is no banner.

    Where nothing is larger than the text (AASTeX), it is the first bold or centred line above the
    authors.
    """
    top = max((line.y for line in lines), default=0.0)
    low = min((line.y for line in lines), default=0.0)
    limit = top - 0.62 * max(top - low, 1.0)
    upper = [
        line
        for line in lines
        if line.y >= limit and not _BANNER.match(line.text) and not _BANNER_NAME.match(line.text)
    ]
    candidates = [line for line in upper if line.words >= 1 and len(line.text) >= 3]
    candidates = [line for line in candidates if not _is_logo(line, page)]
    if not candidates:
        return []
    largest = max(line.size for line in candidates if line.words >= 1)
    if largest > 1.12 * body:
        seeds = [line for line in candidates if line.size > 0.96 * largest]
        seed = max(seeds, key=lambda line: (line.words > 1, line.y))
        if seed.words == 1 and len(seeds) == 1 and is_known_heading(seed.text):
            return []
        return _grow_title(seed, lines)
    return _plain_title(upper, lines)


def _is_logo(line: Line, page: Page) -> bool:
    """Tell whether a large word stands in a corner beside smaller text: a journal's logo."""
    return line.words <= 3 and line.x0 > 0.6 * page.width and line.size > 12


def _plain_title(upper: Sequence[Line], lines: Sequence[Line]) -> list[Line]:
    for index, line in enumerate(upper):
        following = upper[index + 1] if index + 1 < len(upper) else None
        if is_known_heading(line.text) or run_in_abstract(line.text):
            return []
        if line.words < 2 and not re.search("[\u3400-\u9fff]{4}", line.text):
            continue
        if _ADDRESS.search(line.text) or caption_of(line.text):
            continue
        if (
            line.bold
            or (following and looks_like_authors(following.text))
            or not looks_like_authors(line.text)
        ):
            return _grow_title(line, lines)
    return []


def _grow_title(seed: Line, lines: Sequence[Line]) -> list[Line]:
    """Add the neighbouring lines of the same type to the title's first one found."""
    at = next(index for index, line in enumerate(lines) if line is seed)
    first = at
    while first > 0 and _one_title(lines[first - 1], lines[first], seed):
        first -= 1
    last = at
    while last + 1 < len(lines) and _one_title(lines[last], lines[last + 1], seed):
        last += 1
    return list(lines[first : last + 1])


def _one_title(upper: Line, lower: Line, seed: Line) -> bool:
    other = upper if lower is seed else lower
    return (
        abs(upper.size - lower.size) <= 0.06 * seed.size
        and (upper.bold == lower.bold or upper.size > 14)
        and -0.3 * seed.size <= upper.y - lower.y <= 2.0 * seed.size
        and not _BANNER.match(other.text)
        and not (abs(seed.size - 10) < 2.5 and _looks_like_names(other, seed))
        and not is_known_heading(other.text)
    )


def _looks_like_names(line: Line, seed: Line) -> bool:
    if line.bold and seed.bold and line.size >= seed.size:
        return False
    return looks_like_authors(line.text)


def _joined(lines: Sequence[Line]) -> str:
    text = ""
    for line in lines:
        glue = "" if not text or text.endswith("-") else " "
        text += glue + line.text + ("-" if line.hyphen else "")
    text = re.sub(r"(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])", "", text)
    return re.sub(r"\s+", " ", text).strip(" ∗*†‡")


def _plausible_title(text: str) -> bool:
    han = len(re.findall("[\u3400-\u9fff]", text))
    words = len(re.findall(r"[^\W\d_]{2,}", text))
    if not 4 <= len(text) <= 400 or (words < 2 and han < 4) or _JUNK_TITLE.search(text):
        return False
    return sum(char.isalpha() for char in text) > 0.5 * len(text.replace(" ", ""))


def _same_title(given: str, printed: str) -> bool:
    one, other = fold_for_identity(given), fold_for_identity(printed)
    return bool(one) and one == other


def _above(lines: Sequence[Line], title: Sequence[Line]) -> list[Line]:
    if not title:
        return []
    above: list[Line] = []
    for line in lines:
        if line is title[0]:
            return above if len(above) < 15 else []
        above.append(line)
    return []


def _other_lines(lines: Sequence[Line], title: Sequence[Line], body: float) -> list[Line]:
    """Return the lines between the title and the abstract or the first section."""
    if not title:
        return []
    start = next(index for index, line in enumerate(lines) if line is title[-1]) + 1
    left = min(line.x0 for line in title)
    flush = sum(abs(line.x0 - left) < 4 and len(line.text) > 40 for line in lines) >= 5
    others: list[Line] = []
    for line in lines[start:]:
        if flush and line.x1 < left:  # a column beside the text, as in JOSS
            others.append(line)
            continue
        prose = (
            line.words >= 9 and not _ADDRESS.search(line.text) and not looks_like_authors(line.text)
        )
        if is_known_heading(line.text) or run_in_abstract(line.text) or _bold_section(line, body):
            break
        if prose and abs(line.size - body) < 0.6 and not line.text.endswith(","):
            break
        others.append(line)
        if len(others) > 80:
            break
    return others


def _bold_section(line: Line, body: float) -> bool:
    return bool(heading_depth(line.text)) and line.size > 1.05 * body and line.bold


def _authors(others: Sequence[Line]) -> tuple[str, ...]:
    """Return the names in the run of author lines below the title."""
    texts: list[str] = []
    size = 0.0
    for line in others:
        text = line.text
        if _ADDRESS.search(text) and not (texts and looks_like_authors(text)):
            if texts:
                break
            continue
        if re.match(r"\d{1,2}\s?[A-Z\u3400-\u9fff]", text) and texts:
            break
        if not looks_like_authors(text):
            if texts:
                break
            continue
        if texts and size and abs(line.size - size) > 0.35 * size:
            break
        size = size or line.size
        texts.append(text)
    return split_authors(" ".join(texts))


def _printed_group(given: str, others: Sequence[Line]) -> tuple[tuple[str, ...], int | None]:
    """Return the metadata's author where a line below the title prints it, and the year beside it.

    So a group keeps its name, which no rule about persons' names would let pass.
    """
    given = " ".join(given.split())
    if len(given) < 4:
        return (), None
    line = re.compile(rf"{re.escape(given)}(?:[,.;]?\s+\(?((?:19|20)\d\d)\)?)?")
    for other in others:
        match = line.fullmatch(" ".join(other.text.split()))
        if match:
            return (given,), int(match[1]) if match[1] else None
    return (), None


def _metadata_authors(given: str) -> tuple[str, ...]:
    """Return the names in the PDF's metadata: ``Tristram M., Banday A. J.`` stays as it is."""
    if not given or not re.search(r"[^\W\d_]{2}\s+[^\W\d_]", given):
        return ()
    return split_authors(given)


def _dated_lines(page: Page, body: float) -> list[Line]:
    """Return lines that may tell date and identifiers: short ones, small ones, not the text."""
    lines = page.lines
    for index, line in enumerate(lines):
        if is_references_heading(line.text.strip()):
            lines = [*lines[:index], *(other for other in lines[index:] if other.turned)]
            break
    heights = [line.y for line in lines if not line.turned] or [0.0]
    high, low = max(heights), min(heights)
    edge = 0.12 * (high - low)
    return [
        line
        for line in lines
        if line.turned
        or line.y >= high - edge
        or line.y <= low + edge
        or (len(line.text) < 110 and (line.size < 0.97 * body or len(line.text) < 75))
    ]


def _glue(text: str) -> str:
    """Join a DOI that a line's end broke after a slash."""
    return re.sub(r"(10\.\d{4,9}/)\n", r"\1", text)


def _arxiv_in(top: str) -> str | None:
    match = re.search(r"arxiv\s*:\s*\S+", top, re.IGNORECASE)
    return find_arxiv_id(match[0]) if match else None


def _tex_year(metadata: Mapping[str, str]) -> int | None:
    """Return the year a TeX engine wrote the file: the last resort, and only for TeX.

    Other producers stamp the day of a conversion or a download.
    """
    producer = metadata.get("Producer", "") + metadata.get("Creator", "")
    if not re.search(
        r"pdftex|dvips|xdvipdfmx|luahbtex|luatex|xetex|latex", producer, re.IGNORECASE
    ):
        return None
    match = re.match(r"D:((?:19|20)\d\d)", metadata.get("CreationDate", ""))
    return int(match[1]) if match else None
