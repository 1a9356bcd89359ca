"""What every answer of arXiv has in common: its names, dates and licences, and where its texts are."""

import email.utils
import re
from dataclasses import dataclass, replace
from urllib.parse import quote

from nuncius.core.identifiers import normal_doi
from nuncius.core.records import Link, Record
from nuncius.sources.markup import one_line, without_tex_accents
from nuncius.sources.preprints import preprint_status

_LICENCE = re.compile(r"creativecommons\.org/(?:licenses|publicdomain)/([\w-]+)")
_BRACKETS = 4
"""Depth of brackets in brackets that is understood in lists of authors."""
_COMMAS = re.compile(r",\s*(?:and\s+)?|\s+and\s+")
_SEMICOLONS = re.compile(r"\s*;\s*(?:and\s+)?")
_SUFFIX = re.compile(r"^(?:jr|sr|[ivx]{1,4})\.?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Places:
    """Bases of the addresses of texts."""

    web: str
    ar5iv: str


def text_links(
    arxiv_id: str, version: int | None, places: Places, *, licence: str = ""
) -> tuple[Link, ...]:
    """Return where arXiv has a paper's text, in the order of `LinkKind`.

    ar5iv has one version of a paper only, and not those of the last months.
    """
    name = quote(arxiv_id + (f"v{version}" if version else ""), safe="/")
    return (
        Link("arxiv_html", f"{places.web}/html/{name}", licence, "preprint"),
        Link("arxiv_pdf", f"{places.web}/pdf/{name}", licence, "preprint"),
        Link("arxiv_source", f"{places.web}/src/{name}", licence, "preprint"),
        Link("ar5iv", f"{places.ar5iv}/html/{quote(arxiv_id, safe='/')}", licence, "preprint"),
        Link("landing", f"{places.web}/abs/{name}"),
    )


def preprint(record: Record, places: Places, *, licence: str = "") -> Record:
    """Return the record with what follows from the rest of it."""
    status, note = preprint_status(record.comment, record.abstract)
    return replace(
        record,
        year=_year(record),
        author_count=len(record.authors) or None,
        doctype="eprint",
        open_access=True,
        status=status,
        status_note=note,
        links=text_links(record.arxiv_id, record.arxiv_version, places, licence=licence),
    )


def _year(record: Record) -> int | None:
    """Return the first version's year; where the date is not told, the identifier tells it."""
    if record.submitted[:4].isdigit():
        return int(record.submitted[:4])
    digits = record.arxiv_id.rpartition("/")[2][:2]
    if not digits.isdigit():
        return None
    return (1900 if int(digits) > 90 else 2000) + int(digits)


def read_dois(text: str) -> tuple[str, ...]:
    """Return the DOIs in a field; authors write several, divided by spaces."""
    found = (normal_doi(word) for word in text.replace(";", " ").split())
    return tuple(dict.fromkeys(doi for doi in found if doi))


def licence_of(text: str) -> str:
    """Return a licence as people write it, such as ``cc-by``, from its address."""
    match = _LICENCE.search(text)
    return f"cc-{match[1]}" if match else one_line(text)


def split_names(text: str) -> list[str]:
    """Return the names in a list of authors as arXiv prints it; what is in brackets is dropped.

    Commas and a last ``and`` divide, or semicolons where there are any; so does ``for the`` before a
    collaboration. ``Jr.`` and ``III`` belong to the name before them.
    """
    plain = one_line(without_tex_accents(text))
    for _ in range(_BRACKETS):
        plain = re.sub(r"\s*\([^()]*\)", "", plain)
    names: list[str] = []
    for piece in (_SEMICOLONS if ";" in plain else _COMMAS).split(plain):
        name = piece.strip()
        if names and _SUFFIX.match(name):
            names[-1] += f" {name}"
        elif "ollaboration" in name:
            names += [part for part in name.split(" for the ") if part]
        elif name:
            names.append(name)
    return names


def mail_day(text: str) -> str:
    """Return the day of a date as mail writes it, in the sender's own time zone."""
    try:
        return email.utils.parsedate_to_datetime(text).date().isoformat()
    except ValueError:
        return ""


def whole(text: str) -> int | None:
    """Return a number that a service wrote, or None where it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None
