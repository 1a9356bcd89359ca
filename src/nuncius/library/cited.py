"""The works that a paper's own list of references names, read from its stored Markdown.

Pure functions. The list stands under the last heading that says so, an entry a line. What an entry
tells is read from its words alone: no service is asked, and what is not sure is left out.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nuncius.core.identifiers import find_arxiv_id, find_bibcode, find_doi
from nuncius.core.journals import Journal, find_journal
from nuncius.library.content import ANCHOR
from nuncius.parsing.headings import is_references_heading

_HEADING = re.compile(r"^#{1,6}[ \t]+(.*)$", re.MULTILINE)
_READ_CHARACTERS = 4_000  # of an entry; more is no entry, and all below is read within it
_PEOPLE_CHARACTERS = 300
_LABEL = re.compile(r"\[(?P<label>[^\]\s]{1,20})\]\s*|(?P<number>\d{1,4})[.)]\s+(?=\D)")
_SAME = re.compile(r"[—–―_-][—–―_\s-]{0,20}[.,]?\s{0,3}(?=\(?(?:1[6-9]|20)\d\d)")
"""A dash in place of the authors of the entry before."""
_YEAR = r"(?P<year>(?:1[6-9]|20)\d\d)(?P<letter>[a-z]?)"
_YEARS = (
    re.compile(rf"\({_YEAR}(?:,[^)]{{0,80}})?\)"),
    re.compile(rf"(?<![\d.:/–—-]){_YEAR}(?![\d/]|\.\d|[–-]\d)\b"),
)
_INITIAL = r"[^\W\d_][a-z]?\."
_NAME = r"(?:(?:[a-z’']{1,4}\s+){0,3}[^\W\d_][\w’'\- ]*?)"
_NEXT = r"(?=,|;|\.|\s+(?:and|&|et)\b|\s*\(|\s*$)"
_FIRST = (
    re.compile(r"(?P<name>[^,.;()]*?\b(?:collaboration|consortium|team)\b)", re.IGNORECASE),
    re.compile(rf"(?P<name>{_NAME}),\s*(?:{_INITIAL}|[A-Z]{{1,3}}\b)"),  # Riess, A. G.
    re.compile(rf"(?:{_INITIAL}[\s-]*)+(?P<name>{_NAME}){_NEXT}"),  # A. G. Riess
    re.compile(rf"(?P<name>{_NAME})\s+[A-Z]{{1,3}}(?=[\s,]|$)"),  # Riess AG
    re.compile(  # Adam Riess and ..., Adam G. Riess. The ...
        rf"(?:[^\W\d_a-z]\w+\s+)+?(?:{_INITIAL}\s*)*(?P<name>{_NAME})(?=,|\.\s|\s+(?:and|&|et)\b)"
    ),
    re.compile(r"(?P<name>[^,.;(]{2,60})"),
)
"""How lists write the first author; the first that fits is taken."""
_PLACE = re.compile(
    r"(?P<before>[^,:;()\d][^,:;()]{0,120}?),?\s+(?P<volume>\d{1,4})(?:\s*\(\d[\d–-]*\))?"
    r"(?:\s*[,:]\s*|\s+)(?:pp?\.\s*|page\s+)?(?P<letter>[A-Z]?)(?P<page>\d{1,6})(?!\d|\.\d)"
)
_BROKEN = (
    (re.compile(r"\b10\.\s+(?=\d{4,5}/)"), "10."),
    (re.compile(r"\b(10\.\d{4,5}/(?:\S*/)?)\s+(?=\S)"), r"\1"),
    (re.compile(r"\b(10\.\d{4,5}/[a-z]{1,10}\.)\s+(?=[a-z\d])"), r"\1"),
)
"""Blanks that the end of a line left in a DOI."""
_ARXIV_DOI = "10.48550/arxiv."
_BY_ISSUE = frozenset({"JCAP", "JHEP", "JInst", "arXiv", "SPIE", "ASPC", "IAUS", "yCat", "JPhCS"})
"""Journals whose bibcodes are not made of volume and page."""


@dataclass(frozen=True, slots=True)
class CitedWork:
    """One entry of a paper's list of references.

    Attributes:
        number: 1-based place in the list.
        label: What the text cites it by where entries are labelled, such as ``12``; or empty.
        first_author: Family name or group of the first author, as it is written; may be empty.
        year: With the letter that tells works of one year apart, such as ``2019a``; may be empty.
        text: The entry as it stands, without its label.
        page: On which page of the citing paper it stands; None without pages.
        bibcode: As it is written, or made of journal, volume and page (`made`).
    """

    number: int
    label: str
    first_author: str
    year: str
    text: str
    page: int | None = None
    doi: str | None = None
    arxiv_id: str | None = None
    bibcode: str | None = None
    made: bool = False

    @property
    def names(self) -> Sequence[str]:
        """Return its identifiers, the surest first."""
        return [name for name in (self.doi, self.arxiv_id, self.bibcode) if name]


def cited_works(markdown: str) -> list[CitedWork]:
    """Return the entries of a paper's list of references, in order; none where it has no list."""
    works: list[CitedWork] = []
    for number, (page, entry) in enumerate(_entries(markdown), 1):
        work = _read(number, entry)
        if not work.first_author and works and _SAME.match(work.text):
            work = replace(work, first_author=works[-1].first_author)
        works.append(_with_bibcode(replace(work, page=page)))
    return works


def _entries(markdown: str) -> Iterator[tuple[int | None, str]]:
    """Yield each entry with its page; a line that begins none goes on with the one before."""
    headings = [match for match in _HEADING.finditer(markdown) if is_references_heading(match[1])]
    if not headings:
        return
    start = headings[-1].end()
    pages = [int(match[1]) for match in ANCHOR.finditer(markdown, 0, start)]
    page = pages[-1] if pages else None
    entry: tuple[int | None, str] | None = None
    for line in markdown[start:].splitlines():
        if anchor := ANCHOR.match(line):
            page = int(anchor[1])
        elif _HEADING.match(line):
            break
        elif line.startswith("- "):
            if entry:
                yield entry
            entry = (page, line[2:].strip())
        elif line.strip() and entry:
            entry = (entry[0], f"{entry[1]} {line.strip()}")
    if entry:
        yield entry


def _read(number: int, entry: str) -> CitedWork:
    label = _LABEL.match(entry)
    text = entry[label.end() :] if label else entry
    whole = text[:_READ_CHARACTERS]
    year = next((found for one in _YEARS if (found := one.search(whole))), None)
    people = whole[: year.start()] if year else whole
    for broken, mended in _BROKEN:
        whole = broken.sub(mended, whole)
    doi = find_doi(whole) or ""
    if doi:  # its digits may look like an arXiv id, or be one
        at = whole.lower().index(doi)
        whole = f"{whole[:at]} {doi.partition(_ARXIV_DOI)[2]} {whole[at + len(doi) :]}"
    return CitedWork(
        number=number,
        label=(label["label"] or label["number"]) if label else "",
        first_author="" if _SAME.match(text) else _first_author(people[:_PEOPLE_CHARACTERS]),
        year=year["year"] + year["letter"] if year else "",
        text=text,
        doi=None if doi.endswith("/") else doi or None,
        arxiv_id=find_arxiv_id(whole),
        bibcode=find_bibcode(whole),
    )


def _first_author(people: str) -> str:
    people = people.strip(" ,.;(")
    found = next((match for one in _FIRST if (match := one.match(people))), None)
    return found["name"].strip(" ,.") if found else ""


# --- bibcodes that are made ----------------------------------------------------------------------


def _with_bibcode(work: CitedWork) -> CitedWork:
    """Return the work with the bibcode that its journal, volume and page make, where they do."""
    if work.bibcode or not work.year or not work.first_author:
        return work
    initial = unicodedata.normalize("NFKD", work.first_author.removeprefix("The ").lstrip())[
        0
    ].upper()
    if not initial.isascii() or not initial.isalpha():
        return work
    for place in _PLACE.finditer(work.text[:_READ_CHARACTERS]):
        journal = _journal_at_end(place["before"])
        if journal and (made := _bibcode(work.year[:4], journal, place, initial)):
            return replace(work, bibcode=made, made=True)
    return work


def _journal_at_end(text: str) -> Journal | None:
    """Return the journal that ends `text`, which may hold the end of a title before it."""
    whole = rest = text.strip()
    while rest:
        journal = find_journal(rest)
        if journal and (
            rest == whole or " " in rest or rest.isupper() or rest in {journal.stem, journal.name}
        ):
            return journal
        _, _, rest = rest.partition(". ")  # "Phys" alone may end a name that is not known
    return None


def _bibcode(year: str, journal: Journal, place: re.Match[str], initial: str) -> str | None:
    """Return ``YYYYJJJJJVVVVMPPPPA``; None where the parts do not say what goes into it.

    Source: https://ui.adsabs.harvard.edu/help/actions/bibcode
    """
    stem, letter, page = journal.stem, place["letter"], place["page"]
    if stem in _BY_ISSUE or len(stem) > 5:
        return None
    if stem == "ApJL":
        stem, letter = "ApJ", "L"
    if len(page) == 6:  # an article's number: its first two digits become a letter
        order = int(page[:2])
        if letter or not 1 <= order <= 26:
            return None
        letter, page = chr(ord("a") + order - 1), page[2:]
    if len(page) > 4:
        return None
    return f"{year}{stem:.<5}{place['volume']:.>4}{letter or '.'}{page:.>4}{initial}"
