"""Read one document of an ADS answer as a `Record`; every field may be absent or of another shape."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from nuncius.core.identifiers import identify, normal_bibcode, normal_doi
from nuncius.core.records import Affiliated, Link, LinkKind, Record, Status
from nuncius.core.shapes import as_list, as_object, is_list
from nuncius.sources.markup import one_line, plain_text
from nuncius.sources.preprints import preprint_status

UI_URL = "https://ui.adsabs.harvard.edu"
"""Where ADS shows papers to people, and where its links to full texts begin."""
_ORCID = re.compile(r"\b(\d{4}-\d{4}-\d{4}-\d{3}[\dXx])\b")
_ORCID_TAG = re.compile(r"<(ORCID|EMAIL|ID)\b[^>]*>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_CATEGORY = re.compile(r"[a-z]+(?:-[a-z]+)*(?:\.[A-Za-z-]+)?")
_NO_PAGE = re.compile(r"arxiv:|10\.\d{4,9}/", re.IGNORECASE)
_RETRACTED = re.compile(
    r"^\W*(?:RETRACTED\b|[Rr]etracted\s*(?:[Aa]rticle|[Pp]aper|[Cc]hapter)?\s*[:\])])"
)
_ERRATUM = re.compile(
    r"^\W*(?:erratum|errata|corrigend(?:um|a)|(?:author|publisher)(?:'s)? correction|correction to)\b",
    re.IGNORECASE,
)
_GATEWAY: Mapping[str, LinkKind] = {
    "EPRINT_PDF": "arxiv_pdf",
    "EPRINT_HTML": "landing",
    "ADS_PDF": "ads_pdf",
    "ADS_SCAN": "landing",
    "AUTHOR_PDF": "repository_pdf",
    "AUTHOR_HTML": "landing",
    "PUB_PDF": "publisher_pdf",
    "PUB_HTML": "publisher_html",
}
_VERSIONS = {"EPRINT": "preprint", "AUTHOR": "accepted", "PUB": "published", "ADS": "published"}
_EXTRA = ("scix_id", "pubnote", "read_count", "version", "series", "isbn", "editor", "eid")


def record_of(doc: Mapping[str, Any]) -> Record:
    """Return the record that a document tells."""
    names = _names(doc)
    title = plain_text(_first(doc, "title"))
    comment = one_line(plain_text("; ".join(_strings(doc, "comment"))))
    status, note = _status(doc, title, comment)
    flags = {flag.upper().replace(" ", "") for flag in _strings(doc, "property")}
    authors = tuple(_authors(doc))
    eid = _first(doc, "eid")
    page = one_line(_first(doc, "page_range") or _first(doc, "page") or eid)
    date = _date(_first(doc, "pubdate"))
    year = _first(doc, "year")[:4] or date[:4]
    return Record(
        source="ads",
        title=title,
        authors=authors,
        author_count=_whole(doc, "author_count") or (len(authors) or None),
        abstract=plain_text(_first(doc, "abstract"), paragraphs=True),
        year=int(year) if year.isascii() and year.isdigit() else None,
        date=date or year,
        bibcodes=tuple(names["bibcode"]),
        arxiv_id=next(iter(names["arxiv"]), ""),
        dois=tuple(names["doi"]),
        journal=plain_text(_first(doc, "pub")),
        bibstem=_first(doc, "bibstem"),
        volume=one_line(_first(doc, "volume")),
        issue=one_line(_first(doc, "issue")),
        pages="" if _NO_PAGE.match(page) else page,
        publisher=plain_text(_first(doc, "publisher")),
        doctype=_first(doc, "doctype"),
        keywords=tuple(dict.fromkeys(plain_text(word) for word in _strings(doc, "keyword"))),
        categories=tuple(
            word for word in _strings(doc, "arxiv_class") if _CATEGORY.fullmatch(word)
        ),
        comment=comment,
        citation_count=_whole(doc, "citation_count", "num_citations"),
        reference_count=_whole(doc, "reference_count", "num_references"),
        references=tuple(_strings(doc, "reference")),
        citations=tuple(_strings(doc, "citation")),
        refereed=_flag(flags, {"REFEREED"}, {"NOTREFEREED"}),
        open_access=None if "property" not in doc else "OPENACCESS" in flags,
        status=status,
        status_note=note,
        links=tuple(_links(doc, names)),
        language=_first(doc, "lang"),
        score=_number(doc.get("score")),
        extra={name: text for name in _EXTRA if (text := one_line("; ".join(_strings(doc, name))))},
    )


def known_as(record: Record) -> set[tuple[str, str]]:
    """Return every name under which a record answers, as `identify` gives them."""
    texts = (*record.bibcodes, *record.dois, record.arxiv_id)
    return {(found.kind, found.value.lower()) for text in texts if (found := identify(text))}


def gateway_url(bibcode: str, kind: str) -> str:
    """Return the address at ADS that leads on to a full text."""
    return f"{UI_URL}/link_gateway/{quote(bibcode, safe='')}/{kind}"


def link_of(kind: str, url: str, *, arxiv: bool) -> Link | None:
    """Return the link to a text by the name that ADS gives its place, such as ``PUB_PDF``."""
    kind = kind.upper()
    found = _GATEWAY.get(kind)
    if found is None:
        return None
    if found == "arxiv_pdf" and not arxiv:
        found = "repository_pdf"  # a preprint that is kept elsewhere
    return Link(found, url, version=_VERSIONS.get(kind.split("_", 1)[0], ""))


def _names(doc: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return bibcodes, DOIs and arXiv identifiers, each once, the leading one first."""
    bibcodes: dict[str, None] = {}
    dois: dict[str, None] = {}
    arxiv: dict[str, None] = {}
    eprint = [text for name in ("eprint", "eid", "page") for text in _strings(doc, name)]
    for text in (
        *_strings(doc, "bibcode"), *_strings(doc, "doi"), *_strings(doc, "alternate_bibcode"),
        *_strings(doc, "identifier"), *(text for text in eprint if "arxiv" in text.lower()),
    ):  # fmt: skip
        if bibcode := normal_bibcode(text):
            bibcodes[bibcode] = None
        elif doi := normal_doi(text):
            dois[doi] = None
        if (found := identify(text)) and found.kind == "arxiv":
            arxiv[found.value] = None
    if not bibcodes and (odd := _first(doc, "bibcode")):
        bibcodes[odd] = None  # ADS knows it, whatever its form
    own = [doi for doi in dois if doi.startswith("10.48550/arxiv.")]
    ordered = [doi for doi in dois if doi not in own] + own
    return {"bibcode": list(bibcodes), "doi": ordered, "arxiv": list(arxiv)}


def _authors(doc: Mapping[str, Any]) -> Iterator[Affiliated]:
    """Yield the authors; affiliations and ORCIDs stand at the same place in lists of their own."""
    affiliations = _strings(doc, "aff", keep_empty=True)
    orcids = [
        _strings(doc, name, keep_empty=True) for name in ("orcid_pub", "orcid_user", "orcid_other")
    ]
    for place, name in enumerate(_strings(doc, "author", keep_empty=True)):
        shown = plain_text(name)
        if not any(letter.isalnum() for letter in shown):
            continue  # ADS lists a nameless author as "."
        where = affiliations[place] if place < len(affiliations) else ""
        said = (*(row[place] for row in orcids if place < len(row)), where)
        found = next((match[1].upper() for text in said if (match := _ORCID.search(text))), "")
        yield Affiliated(shown, tuple(_places(where)), found)


def _places(text: str) -> Iterator[str]:
    # Entities end in a semicolon, so they are decoded before the affiliations are told apart.
    for place in plain_text(_ORCID_TAG.sub(" ", text)).split(";"):
        if place.strip(" ,-"):
            yield place.strip(" ,")


def _links(doc: Mapping[str, Any], names: Mapping[str, list[str]]) -> Iterator[Link]:
    bibcode = next(iter(names["bibcode"]), "")
    kinds = {text.upper() for text in _strings(doc, "esources")}
    arxiv = bool(names["arxiv"])
    for kind in sorted(
        kinds, key=lambda name: list(_GATEWAY).index(name) if name in _GATEWAY else 99
    ):
        if bibcode and (link := link_of(kind, gateway_url(bibcode, kind), arxiv=arxiv)):
            yield link
    if bibcode:
        yield Link("landing", f"{UI_URL}/abs/{quote(bibcode, safe='')}/abstract")


def _status(doc: Mapping[str, Any], title: str, comment: str) -> tuple[Status, str]:
    if _RETRACTED.match(title):
        return "retracted", title
    if _first(doc, "doctype") == "erratum" or _ERRATUM.match(title):
        return "erratum", title
    note = one_line("; ".join(_strings(doc, "pubnote")))
    found = preprint_status(comment)
    return found if found[0] else preprint_status(note)


def _flag(flags: set[str], yes: set[str], no: set[str]) -> bool | None:
    if flags & no:
        return False
    return True if flags & yes else None


def _date(text: str) -> str:
    """Return a date as far as it is known: ADS writes ``-00`` for a month or day that is not."""
    match = re.match(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?", text)
    if not match:
        return ""
    year, month, day = match[1], match[2] or "00", match[3] or "00"
    if month == "00" or month > "12":
        return year
    return f"{year}-{month}" if day == "00" else f"{year}-{month}-{day}"


def _whole(doc: Mapping[str, Any], *names: str) -> int | None:
    """Return the first number there is, also among the counts that ADS puts under ``[citations]``."""
    counts = as_object(doc.get("[citations]"))
    nested = ("num_citations", "num_references")
    for value in (
        *(doc.get(name) for name in names),
        *(counts.get(n) for n in names if n in nested),
    ):
        number = _number(value)
        if number is not None:
            return int(number)
    return None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _strings(doc: Mapping[str, Any], name: str, *, keep_empty: bool = False) -> list[str]:
    """Return a field's texts, whether it is one text or a list of them."""
    value = doc.get(name)
    values: Iterable[Any] = as_list(value) if is_list(value) else () if value is None else (value,)
    texts = [_text(one) for one in values]
    return texts if keep_empty else [text for text in texts if text.strip()]


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # ADS writes counts as 11.0
    return (
        str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    )


def _first(doc: Mapping[str, Any], name: str) -> str:
    return next(iter(_strings(doc, name)), "").strip()
