"""References for other programs: BibTeX as ADS writes it, RIS, CSL-JSON."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Literal

from nuncius.core.journals import JournalStyle
from nuncius.core.papers import Paper
from nuncius.core.records import Record
from nuncius.library.interchange import csl, ris
from nuncius.library.reference import Person, Reference, of_paper, of_record
from nuncius.library.tex import latex

__all__ = [
    "FORMATS", "Format", "author_field", "bibtex", "bibtex_entry", "bibtex_of_record", "exported",
    "latex", "references_as",
]  # fmt: skip

Format = Literal["bibtex", "ris", "csl-json"]
FORMATS: tuple[Format, ...] = ("bibtex", "ris", "csl-json")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_INITIALS = re.compile(r"(?<=\b\w\.) (?=\w\.)")
_ADDRESS = re.compile(r"https?://\S+")
ENTRY_TYPES = {
    "inproceedings": "INPROCEEDINGS", "abstract": "INPROCEEDINGS", "proceedings": "PROCEEDINGS",
    "book": "BOOK", "inbook": "INCOLLECTION", "phdthesis": "PHDTHESIS",
    "mastersthesis": "MASTERSTHESIS", "techreport": "TECHREPORT", "software": "software",
    "dataset": "dataset", "misc": "MISC", "proposal": "MISC", "talk": "MISC", "pressrelease": "MISC",
    "intechreport": "TECHREPORT",
}  # fmt: skip
"""By ADS's word for the kind of a work; all others are articles."""
_PLACE = {
    "ARTICLE": "journal", "INPROCEEDINGS": "booktitle", "INCOLLECTION": "booktitle",
    "PROCEEDINGS": "booktitle", "BOOK": "series", "PHDTHESIS": "school", "MASTERSTHESIS": "school",
    "TECHREPORT": "institution",
}  # fmt: skip


def bibtex_entry(paper: Paper, *, journals: JournalStyle = "macro") -> str:
    """Return the paper's BibTeX entry, ending in a line break.

    The key is `paper.cite_key`; only what is known is written. Letters with accents, Greek and
    signs become LaTeX commands; formulas between dollars stay; Chinese stays as it is.
    """
    return bibtex(of_paper(paper), journals=journals)


def bibtex_of_record(record: Record, *, key: str = "", journals: JournalStyle = "macro") -> str:
    """Return the BibTeX entry of what a service told; without `key` the bibcode is its key."""
    return bibtex(of_record(record, key=key), journals=journals)


def exported(papers: Iterable[Paper], style: Format, *, journals: JournalStyle = "macro") -> str:
    """Return papers as one file of a format, sorted by cite key, ending in a line break."""
    ordered = sorted(papers, key=lambda paper: paper.cite_key)
    return references_as(style, [of_paper(paper) for paper in ordered], journals=journals)


def references_as(
    style: Format, references: Sequence[Reference], *, journals: JournalStyle = "macro"
) -> str:
    """Return references as one file of a format, in their order."""
    if style == "ris":
        return "\n".join(map(ris, references))
    if style == "csl-json":
        return json.dumps(list(map(csl, references)), ensure_ascii=False, indent=2) + "\n"
    return "\n".join(bibtex(reference, journals=journals) for reference in references)


def bibtex(reference: Reference, *, journals: JournalStyle = "macro") -> str:
    """Return one reference as ADS writes it: its order of fields, its alignment, its braces."""
    kind = ENTRY_TYPES.get(reference.kind, "ARTICLE")
    lines = [f"@{kind}{{{_key(reference)},"]
    fields = [(name, value) for name, value in fields_of(reference, journals).items() if value]
    lines += [f"{name:>13} = {value}," for name, value in fields]
    lines[-1] = lines[-1].removesuffix(",") if fields else lines[-1]
    return "\n".join([*lines, "}"]) + "\n"


def fields_of(reference: Reference, journals: JournalStyle) -> dict[str, str]:
    """Return an entry's fields with their delimiters, in ADS's order; unknown ones are empty."""
    kind = ENTRY_TYPES.get(reference.kind, "ARTICLE")
    fields = {
        "author": _braced(author_field(reference.people)),
        "title": f'"{{{latex(reference.title)}}}"',  # the braces keep capital letters
        _PLACE.get(kind, "howpublished"): _braced(journal_field(reference, journals)),
        "keywords": _braced(latex(", ".join(reference.keywords))),
        "year": str(reference.year or ""),
        "month": MONTHS[reference.month - 1] if reference.month else "",
        "volume": _braced(latex(reference.volume)),
        "number": _braced(latex(reference.issue)),
        "eid": _braced(latex(reference.eid)),
        "pages": _braced(latex(reference.pages or reference.eid)),
        "publisher": _braced(latex(reference.publisher)) if kind != "ARTICLE" else "",
        "doi": _braced(verbatim(reference.doi)),
        "editor": _braced(author_field(reference.editors)),
    }
    if reference.arxiv_id:
        fields |= {
            "archivePrefix": "{arXiv}",
            "eprint": _braced(verbatim(reference.arxiv_id)),
            "primaryClass": _braced(verbatim(reference.primary_class)),
        }
    fields["adsurl"] = _braced(reference.url) if reference.bibcode else ""
    fields["url"] = _braced(verbatim(reference.page_url))
    fields["note"] = _braced(latex(reference.note))
    more = {name: _braced(latex(text)) for name, text in reference.more.items()}
    return fields | {name: value for name, value in more.items() if not fields.get(name)}


def journal_field(reference: Reference, journals: JournalStyle) -> str:
    """Return journal, book or school as LaTeX."""
    if reference.journal is None:
        if _ADDRESS.fullmatch(reference.container):
            return rf"\url{{{verbatim(reference.container)}}}"
        return latex(reference.container)
    written = reference.journal.written(journals)
    return written if written.startswith("\\") else latex(written)


def author_field(people: Sequence[Person]) -> str:
    """Return ``{Last}, First`` joined by ``and``; groups in braces, so that nothing splits them."""
    return " and ".join(map(_author, people))


def _author(person: Person) -> str:
    if person.is_others:
        return "others"
    last = f"{{{latex(person.last)}}}"
    first = _INITIALS.sub("~", latex(person.first))
    return ", ".join(part for part in (last, latex(person.suffix), first) if part)


def verbatim(identifier: str) -> str:
    """Return an identifier that no brace or command can cut short; styles read these without LaTeX."""
    return identifier.replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C")


def _braced(value: str) -> str:
    return f"{{{value}}}" if value else ""


def _key(reference: Reference) -> str:
    return re.sub(r"[\s,{}\"#%~\\'()=]", "", reference.key) or "nokey"
