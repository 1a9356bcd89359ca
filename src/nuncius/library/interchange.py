"""References as RIS and as CSL-JSON.

Sources:
    https://docs.citationstyles.org/en/stable/specification.html (types and variables of CSL)
"""

import re
from typing import Any

from nuncius.library.reference import Person, Reference

_RIS_TYPES = {
    "inproceedings": "CPAPER", "abstract": "ABST", "proceedings": "CONF", "book": "BOOK",
    "inbook": "CHAP", "phdthesis": "THES", "mastersthesis": "THES", "techreport": "RPRT",
    "software": "COMP", "dataset": "DATA", "catalog": "DATA", "eprint": "UNPB", "misc": "GEN",
    "proposal": "GEN", "talk": "SLIDE", "pressrelease": "GEN",
}  # fmt: skip
_CSL_TYPES = {
    "inproceedings": "paper-conference", "abstract": "paper-conference", "proceedings": "book",
    "book": "book", "inbook": "chapter", "phdthesis": "thesis", "mastersthesis": "thesis",
    "techreport": "report", "software": "software", "dataset": "dataset", "catalog": "dataset",
    "eprint": "article", "misc": "document", "proposal": "document", "talk": "speech",
    "pressrelease": "document",
}  # fmt: skip


def ris(reference: Reference) -> str:
    """Return one reference as RIS, ending in a line break."""
    first, _, last = reference.pages.partition("-")
    rows = [
        ("TY", _RIS_TYPES.get(reference.kind, "JOUR")),
        ("ID", reference.key),
        *(("AU", _filed(person)) for person in reference.people if not person.is_others),
        *(("ED", _filed(person)) for person in reference.editors if not person.is_others),
        ("TI", reference.title),
        ("T2", reference.container),
        ("J2", reference.journal.abbreviation if reference.journal else ""),
        ("PY", str(reference.year or "")),
        ("DA", f"{reference.year}/{reference.month:02d}" if reference.month else ""),
        ("VL", reference.volume),
        ("IS", reference.issue),
        ("SP", first or reference.eid),
        ("EP", last),
        ("PB", reference.publisher),
        *(("KW", word) for word in reference.keywords),
        ("DO", reference.doi),
        ("DB", "arXiv" if reference.arxiv_id else ""),
        ("AN", f"arXiv:{reference.arxiv_id}" if reference.arxiv_id else ""),
        ("UR", reference.url),
        ("AB", reference.abstract),
        ("N1", reference.note),
    ]
    lines = [f"{tag}  - {' '.join(value.split())}" for tag, value in rows if value.strip()]
    return "\n".join([*lines, "ER  - "]) + "\n"


def csl(reference: Reference) -> dict[str, Any]:
    """Return one reference as an object of CSL-JSON."""
    date = [part for part in (reference.year, reference.month) if part]
    item: dict[str, Any] = {
        "id": reference.key,
        "type": _CSL_TYPES.get(reference.kind, "article-journal"),
        "title": reference.title,
        "author": [_named(person) for person in reference.people if not person.is_others],
        "editor": [_named(person) for person in reference.editors if not person.is_others],
        "container-title": reference.container,
        "container-title-short": reference.journal.abbreviation if reference.journal else "",
        "issued": {"date-parts": [date]} if reference.year else None,
        "volume": reference.volume,
        "issue": reference.issue,
        "page": reference.pages or reference.eid,
        "publisher": reference.publisher,
        "keyword": ", ".join(reference.keywords),
        "DOI": reference.doi,
        "URL": reference.url,
        "abstract": reference.abstract,
        "note": reference.note,
    }
    if reference.arxiv_id:
        item |= {"archive": "arXiv", "archive_location": reference.arxiv_id}
    return {name: value for name, value in item.items() if value}


def _filed(person: Person) -> str:
    return ", ".join(part for part in (person.last, person.first, person.suffix) if part)


def _named(person: Person) -> dict[str, str]:
    if person.is_group:
        return {"literal": person.last}
    particle = re.match(r"((?:van|von|de|der|den|di|da|del|la|le|ter|dos) )+(?=\S)", person.last)
    named = {
        "family": person.last[particle.end() :] if particle else person.last,
        "given": person.first,
        "suffix": person.suffix,
        "non-dropping-particle": particle[0].strip() if particle else "",
    }
    return {name: value for name, value in named.items() if value}
