"""What a bibliography tells of one work, whether it stands in the library or a service told of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from nuncius.core.journals import Journal, by_stem, find_journal
from nuncius.core.papers import Author, Paper
from nuncius.core.records import Record
from nuncius.core.tags import fold_tag
from nuncius.library.bibtex import names_in
from nuncius.store.told import Told

_GROUP = re.compile(
    r"\b(?:collaborations?|consortium|team|group|survey|project|mission|observatory|notes)\b",
    re.IGNORECASE,
)
_GROUP_ALONE = re.compile(
    r"(?:the\s+)?(?:collaborations?|consortium|team|group|survey|project)", re.IGNORECASE
)
_OTHERS = re.compile(r"(?:and\s+)?(?:et al\.?|others)|[.\s…]*", re.IGNORECASE)
_SUFFIX = re.compile(r"jr\.?|sr\.?|i{2,3}|iv", re.IGNORECASE)
_EID = re.compile(r"[A-Za-z]{1,3}\d+|\d{6,}|.*[:/].*")
_PREPRINT = "arXiv"
BIB_SOURCE = "bib"
"""The `source` of a record that tells what a user's .bib told."""
FIELDS_AS_THEY_ARE = tuple(
    """series edition chapter type organization address location howpublished isbn issn version eid
    urldate note year""".split()
)
"""Fields of BibTeX that a .bib's record keeps in `extra` and an export writes again; a year that is none."""


@dataclass(frozen=True, slots=True)
class Person:
    """An author; a group has only `last`; all who are not named are ``others``."""

    last: str
    first: str = ""
    suffix: str = ""
    is_group: bool = False

    @property
    def is_others(self) -> bool:
        """Tell whether this stands for authors who are not named."""
        return self.is_group and self.last == "others"


@dataclass(frozen=True, slots=True)
class Reference:
    """One work, in plain text.

    Attributes:
        kind: ADS's word: article, eprint, inproceedings, phdthesis, software ...; ``misc``.
        journal: Where it is one of our table; `container` is its name in any case, or the book's.
        month: 1 to 12; 0 where it is not known.
        eid: The number of an article without page numbers, such as ``A143``.
        page_url: An address that a bibliography gives itself; `url` is the best of all.
        more: What else a bibliography tells, by BibTeX's names of the fields, such as ``edition``.
    """

    key: str
    kind: str
    title: str
    people: tuple[Person, ...] = ()
    journal: Journal | None = None
    container: str = ""
    year: int | None = None
    month: int = 0
    volume: str = ""
    issue: str = ""
    pages: str = ""
    eid: str = ""
    doi: str = ""
    arxiv_id: str = ""
    primary_class: str = ""
    bibcode: str = ""
    publisher: str = ""
    keywords: tuple[str, ...] = ()
    abstract: str = ""
    note: str = ""
    editors: tuple[Person, ...] = ()
    page_url: str = ""
    more: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def url(self) -> str:
        """Return the address of the work's page at ADS, at its DOI, at arXiv or its own; or nothing."""
        if self.bibcode:
            return f"https://ui.adsabs.harvard.edu/abs/{quote(self.bibcode, safe='')}"
        if self.doi:
            return f"https://doi.org/{quote(self.doi, safe='/:;().')}"
        return f"https://arxiv.org/abs/{self.arxiv_id}" if self.arxiv_id else self.page_url


def of_paper(paper: Paper) -> Reference:
    """Return what a paper of the library tells; journal, volume and page are read in its bibcode."""
    bibcode = paper.bibcode or ""
    journal, volume, issue, page = _from_bibcode(bibcode)
    arxiv_id = paper.arxiv_id or ""
    if journal is None and arxiv_id:
        journal = by_stem(_PREPRINT)
    published = journal is not None and journal.stem != _PREPRINT
    kind = "article" if published else "eprint" if arxiv_id else "misc"
    return Reference(
        key=paper.cite_key or paper.paper_id,
        kind=kind,
        title=paper.title,
        people=tuple(person(author.name) for author in paper.authors),
        journal=journal,
        container=journal.name if journal else "",
        year=paper.year,
        volume=volume,
        issue=issue,
        pages=page,
        eid=_eid(page) or (f"arXiv:{arxiv_id}" if kind == "eprint" else ""),
        doi=paper.doi or "",
        arxiv_id=arxiv_id,
        primary_class=_old_class(arxiv_id),
        bibcode=bibcode,
        keywords=paper.tags,
        abstract=paper.abstract,
        note=paper.label,
    )


def of_record(record: Record, *, key: str = "") -> Reference:
    """Return what a service's record tells.

    Args:
        key: The cite key; without it the bibcode, as ADS does.
    """
    journal = by_stem(record.bibstem) or find_journal(record.journal)
    if _is_letter(record.bibcode, journal):
        journal = by_stem("ApJL")
    kind = record.doctype or ("eprint" if record.source == "arxiv" else "article")
    if kind == "article" and not record.journal and journal is None:
        kind = "eprint" if record.arxiv_id else "misc"
    if kind == "eprint":
        journal = by_stem(_PREPRINT)
    own: Mapping[str, str] = record.extra if record.source == BIB_SOURCE else {}
    people = tuple(person(author.name) for author in record.authors)
    editors = tuple(map(person, map(_unbraced, names_in(own.get("editor", "")))))
    if "edited" in own:
        people = ()
    elif "others" in own:
        people += (person("others"),)
    eid = own.get("eid", "") or _eid(record.pages)
    if kind == "eprint" and record.arxiv_id and not eid:
        eid = f"arXiv:{record.arxiv_id}"
    dates = re.fullmatch(r"\d{4}-(\d\d)(?:-\d\d)?", record.date)
    month = int(dates[1]) if dates else 0
    return Reference(
        key=key or record.bibcode or record.arxiv_id or record.doi,
        kind=kind,
        title=record.title,
        people=people,
        journal=journal,
        container=(journal.name if journal else "") or _container(record),
        year=record.year,
        month=month if 1 <= month <= 12 else 0,
        volume=record.volume,
        issue=record.issue,
        pages=re.sub(r"\s*[-\u2010-\u2015]+\s*", "-", record.pages),
        eid=eid,
        doi=record.doi,
        arxiv_id=record.arxiv_id,
        primary_class=(record.categories[:1] or (_old_class(record.arxiv_id),))[0],
        bibcode=record.bibcode,
        publisher=record.publisher,
        keywords=record.keywords,
        abstract=record.abstract,
        note=own.get("note", ""),
        editors=editors,
        page_url=own.get("url", ""),
        more=_more(record),
    )


def _more(record: Record) -> Mapping[str, str]:
    """Return what only a user's .bib tells; services name a publisher for each article, ADS does not."""
    if record.source != BIB_SOURCE:
        return {}
    told = {name: record.extra[name] for name in FIELDS_AS_THEY_ARE if name in record.extra}
    return told | ({"publisher": record.publisher} if record.publisher else {})


def of_held(paper: Paper, told: Mapping[str, Told]) -> Reference:
    """Return a paper of the library as it was told, where it was, by ids; else what it tells itself.

    Its tags are keywords, too.
    """
    known = told.get(paper.paper_id)
    if known is None:
        return of_paper(paper)
    found = of_record(known.record, key=paper.cite_key)
    words = {fold_tag(word): word for word in (*found.keywords, *paper.tags)}
    return replace(found, note=found.note or paper.label, keywords=tuple(words.values()))


def _unbraced(name: str) -> str:
    return re.sub(r"[{}]", "", name)


def _container(record: Record) -> str:
    """Return the name of journal or book; of a thesis the school, of which ADS tells only as a place."""
    if not record.doctype.endswith("thesis") or record.source == BIB_SOURCE:
        return record.journal
    places = record.authors[0].affiliations if record.authors else ()
    named = record.journal if "thesis" not in record.journal.casefold() else ""
    return (places[0] if places else "") or record.publisher or named


def person(name: str) -> Person:
    """Read a name as printed, ``Luke G. Bouma``, or as filed, ``Bouma, Luke G.``.

    What exports break is mended: a family name that is a dot, a group filed as if it were a person
    (``Collaboration, The Planck``).
    """
    name = " ".join(name.split())
    if _OTHERS.fullmatch(name.replace(",", "")):
        return Person("others", is_group=True)
    head, comma, tail = (part.strip() for part in name.partition(","))
    if comma and _GROUP_ALONE.fullmatch(head) and tail:
        return Person(f"{tail} {head}", is_group=True)
    if _GROUP.search(name) or re.search(r"\band\b|等", name):
        return Person(name, is_group=True)
    if comma and not head.strip(". "):
        name = tail
    last, suffix, first = _parts(name)
    return Person(last, first, suffix, is_group=not first)


def _parts(name: str) -> tuple[str, str, str]:
    """Return last name, suffix such as ``Jr.``, and the rest; a suffix may stand anywhere."""
    words = [part.strip() for part in name.split(",")]
    suffix = next((word for word in words[1:] if _SUFFIX.fullmatch(word)), "")
    words = [word for word in words if word and word != suffix]
    if len(words) > 1:
        return words[0], suffix, " ".join(words[1:])
    bare = words[0] if words else name
    if not suffix and (match := re.search(rf"\s({_SUFFIX.pattern})$", bare, re.IGNORECASE)):
        suffix, bare = match[1], bare[: match.start()]
    last = Author(name=bare).last_name
    return last, suffix, bare.removesuffix(last).strip()


def _from_bibcode(bibcode: str) -> tuple[Journal | None, str, str, str]:
    """Read journal, volume, issue and first page out of a bibcode; nothing where we know no such."""
    journal = by_stem(bibcode[4:9])
    if len(bibcode) != 19 or journal is None or journal.stem == _PREPRINT:
        return None, "", "", ""
    volume, qualifier, page = bibcode[9:13].strip("."), bibcode[13], bibcode[14:18].strip(".")
    if _is_letter(bibcode, journal):
        journal = by_stem("ApJL") or journal
    if journal.stem in {"JCAP", "JHEP"}:  # their volumes are years, the bibcode holds the issue
        return journal, bibcode[:4], volume, (qualifier + page).strip(".").rjust(3, "0")
    if qualifier.islower() and page.isdigit():  # a is 01: ``b9901`` is article 029901
        return journal, volume, "", f"{ord(qualifier) - 96:02d}{page.rjust(4, '0')}"
    return journal, volume, "", qualifier.strip(".") + page


def _is_letter(bibcode: str, journal: Journal | None) -> bool:
    return journal is not None and journal.stem == "ApJ" and bibcode[13:14] == "L"


def _eid(pages: str) -> str:
    return pages if _EID.fullmatch(pages) and not re.fullmatch(r"[LPS]\d+", pages) else ""


def _old_class(arxiv_id: str) -> str:
    return arxiv_id.split("/", 1)[0] if "/" in arxiv_id else ""
