"""An entry's fields and a service's record, side by side."""

import re
from collections.abc import Iterator
from dataclasses import replace

from nuncius.core.journals import JournalStyle, same_journal
from nuncius.core.records import Affiliated, Record
from nuncius.library.alike import Profile, is_arxiv_doi, likeness, same_title
from nuncius.library.bibtex import Bibliography, Entry, names_in
from nuncius.library.export import ENTRY_TYPES, MONTHS, fields_of
from nuncius.library.reference import BIB_SOURCE, FIELDS_AS_THEY_ARE, Reference, of_record
from nuncius.library.tex import plain

_RENAMED = 0.5
"""Titles that share fewer of their words are not two spellings of one."""
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_QUOTED = re.compile(r'(?:(?<=[,;])|^)\s*["“„]([^"“”„]*)["“”]\s*(?=[,;]|$)')
"""Keywords in quotes of their own, all or each; an inch behind a word is no quote."""
_UMLAUT = re.compile("([aou])e")
_GROUP = re.compile("collaboration|consortium|team|group")
_PLACE_AND_TIME = (
    "journal", "booktitle", "year", "month", "volume", "number", "eid", "pages", "publisher", "doi",
)  # fmt: skip
_DOCTYPES = {
    "inproceedings": "inproceedings", "conference": "inproceedings", "proceedings": "proceedings",
    "book": "book", "incollection": "inbook", "inbook": "inbook", "phdthesis": "phdthesis",
    "mastersthesis": "mastersthesis", "techreport": "techreport", "software": "software",
    "dataset": "dataset", "article": "article", "thesis": "phdthesis", "report": "techreport",
}  # fmt: skip
_CONTAINERS = {
    "phdthesis": ("school", "institution"), "mastersthesis": ("school", "institution"),
    "techreport": ("institution",), "book": ("series",), "misc": ("howpublished",),
    "software": ("howpublished",), "dataset": ("howpublished",),
}  # fmt: skip
"""By kind, what stands in the place of a journal, the first that an entry has."""


def record_of(entry: Entry) -> Record:
    """Return what an entry itself tells, in the shape of a service's record."""
    year = _YEAR.search(entry.text("year") or entry.text("date"))
    return Record(
        source="file",
        title=entry.text("title"),
        authors=tuple(Affiliated(name) for name in entry.people() if name.casefold() != "others"),
        abstract=entry.text("abstract"),
        year=int(year[0]) if year else None,
        journal=entry.text("journal") or entry.text("journaltitle") or entry.text("booktitle"),
        volume=entry.text("volume"),
        pages=entry.text("pages") or entry.text("eid"),
        doctype=_DOCTYPES.get(entry.kind, "misc"),
    )


def told_by(entry: Entry) -> Record:
    """Return all that an entry tells, so that an export of it says the same again.

    What a service's record has no place for is in `extra`, by the name of its field.
    """
    record = record_of(entry)
    doctype = record.doctype
    if doctype == "phdthesis" and "master" in entry.text("type").casefold():
        doctype = "mastersthesis"
    places = () if record.journal else _CONTAINERS.get(doctype, ())
    place = next((name for name in places if entry.get(name)), "")
    extra = {
        name: entry.text(name)
        for name in FIELDS_AS_THEY_ARE
        if entry.text(name)
        and name != place
        and entry.text(name) != record.journal
        and not (name == "year" and record.year)
    }
    if url := " ".join(entry.bare("url").split()):
        extra["url"] = url
    people = [name.casefold() for name in entry.people()]
    if "others" in people:
        extra["others"] = "and others"
    if entry.text("editor"):
        extra["editor"] = " and ".join(map(_unparted, names_in(entry.tex("editor"))))
        extra |= {} if entry.text("author") else {"edited": "editors alone"}
    return replace(
        record,
        source=BIB_SOURCE,
        doctype=doctype,
        date=_date(entry, record.year),
        journal=record.journal or _place_name(entry, place),
        issue=entry.text("number") or entry.text("issue"),
        publisher=entry.text("publisher"),
        keywords=tuple(
            filter(None, re.split(r"\s*[,;]\s*", _QUOTED.sub(r"\1", entry.text("keywords"))))
        ),
        categories=tuple(filter(None, [entry.bare("primaryclass")])),
        extra=extra,
    )


def _unparted(name: str) -> str:
    """Return a name as text; one that holds an ``and`` keeps the braces around it."""
    text = plain(name)
    return f"{{{text}}}" if re.search(r"\sand\s", text) else text


def _place_name(entry: Entry, name: str) -> str:
    bare = entry.bare(name)
    return bare if re.fullmatch(r"https?://\S+", bare) else entry.text(name)


def _date(entry: Entry, year: int | None) -> str:
    """Return the date as far as an entry tells it: ``2019``, ``2019-05`` or ``2019-05-17``."""
    if whole := re.match(r"\d{4}(?!\d)(?:-\d\d){0,2}", entry.text("date")):
        return whole[0]
    written = entry.text("month").casefold()
    word = re.search("|".join(MONTHS), written)
    number = re.fullmatch(r"0?([1-9]|1[0-2])", written)
    month = MONTHS.index(word[0]) + 1 if word else int(number[1]) if number else 0
    if not year:
        return ""
    return f"{year}-{month:02d}" if month else str(year)


def is_another_work(mine: Profile, theirs: Profile) -> bool:
    """Tell whether title and people both contradict: then a shared identifier is one's mistake.

    What one side does not say contradicts nothing, nor does a title in another script.
    """
    if not mine.words or not theirs.words or not mine.people or not theirs.people:
        return False
    if is_like_title(mine, theirs) or _is_latin(mine) != _is_latin(theirs):
        return False
    fewer = min(len(set(mine.people)), len(set(theirs.people)))
    shared = set(mine.people) & set(theirs.people)
    return mine.people[0] != theirs.people[0] and len(shared) < 0.6 * fewer


def is_like_title(one: Profile, other: Profile) -> bool:
    """Tell whether titles may be one work's: mostly the same words, or one is part of the other."""
    if same_title(one, other) or likeness(one.words, other.words) >= _RENAMED:
        return True
    contained = set(one.words) <= set(other.words) or set(other.words) <= set(one.words)
    return contained and min(len(one.words), len(other.words)) > 2


def _is_latin(profile: Profile) -> bool:
    letters = [char for word in profile.words for char in word if char.isalpha()]
    return 2 * sum(char.isascii() for char in letters) >= len(letters)


def differences(entry: Entry, work: Record, *, published: bool) -> Iterator[tuple[str, str, str]]:
    """Yield (field, value in the file, value that a service tells) where they contradict.

    What one side does not say is no contradiction; neither is another spelling of the same.

    Args:
        published: The record is of the journal's version; a preprint's own journal, year and
            title say nothing about it.
    """
    own = record_of(entry)
    mine, theirs = Profile(own), Profile(work)
    if mine.people and theirs.people and not _same_first(mine.people, theirs.people):
        yield "author", own.authors[0].name, work.authors[0].name
    doi = entry.bare("doi").lower()
    if doi and work.dois and not is_arxiv_doi(work.doi) and not any(d in doi for d in work.dois):
        yield "doi", doi, work.doi
    if not published:
        return
    if mine.words and theirs.words and likeness(mine.words, theirs.words) < _RENAMED:
        yield "title", own.title, work.title
    if own.year and work.year and own.year != work.year:
        yield "year", str(own.year), str(work.year)
    place = next((name for name in ("journal", "journaltitle") if entry.get(name)), "")
    if place and work.journal and not _same_place(entry.tex(place), work):
        yield place, own.journal, work.journal
    if own.volume and work.volume and _bare(own.volume) != _bare(work.volume):
        yield "volume", own.volume, work.volume
    first, told = _first_page(own.pages), _first_page(work.pages)
    if first and told and first != told and not _is_tail(first, told):
        yield ("pages" if entry.get("pages") else "eid"), own.pages, work.pages


def _same_first(mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Tell whether first authors agree; a group may stand for its people, and ``ue`` for ``ü``."""
    one, other = (_UMLAUT.sub(r"\1", names[0]) for names in (mine, theirs))
    return one in other or other in one or bool(_GROUP.search(one) or _GROUP.search(other))


def _same_place(written: str, work: Record) -> bool:
    names = [name for name in (work.journal, work.bibstem) if name]
    return any(same_journal(written, name) for name in names)


def _first_page(pages: str) -> str:
    return _bare(re.split(r"\s*[-\u2010-\u2015,;]+\s*", pages.strip(), maxsplit=1)[0])


def _is_tail(one: str, other: str) -> bool:
    """Tell whether pages differ only by a letter or a lead: ``A6`` and ``6``, ``043001`` and ``43001``."""
    digits = [re.sub(r"^\D+|^0+", "", page).lstrip("0") for page in (one, other)]
    return digits[0] == digits[1] != ""


def _bare(text: str) -> str:
    return re.sub(r"[\s{}~]|^(?:vol|p+|id|article)\.?(?=[\s\d])", "", text.casefold()).lstrip("0")


def published_fields(
    bib: Bibliography, entry: Entry, work: Record, style: JournalStyle
) -> tuple[dict[str, str | None], str]:
    """Return the fields that a published preprint's entry gets, and its type.

    Title and authors are replaced only where they became others; what the entry has already in
    another spelling stays. The arXiv identifier stays.
    """
    reference = of_record(work)
    told = fields_of(reference, style)
    kind = ENTRY_TYPES.get(reference.kind, "ARTICLE").lower()
    fresh: dict[str, str | None] = {}
    own = Profile(record_of(entry))
    if Profile(work).words and not same_title(own, Profile(work)):
        fresh["title"] = told["title"]
    if own.people and Profile(work).people and _people_differ(own, Profile(work), entry):
        fresh["author"] = told["author"]
    for name in _PLACE_AND_TIME:
        value = told.get(name, "")
        if value:
            fresh[name] = value
        elif "arxiv" in entry.bare(name).lower():  # what only the preprint had
            fresh[name] = None
    if reference.bibcode and entry.get("adsurl"):
        fresh["adsurl"] = told["adsurl"]
    if entry.get("eprint") is None:
        fresh |= {
            name: told[name]
            for name in ("archivePrefix", "eprint", "primaryClass")
            if told.get(name) and entry.get(name.lower()) is None
        }
    if entry.get("journaltitle") or entry.get("date"):
        fresh = _for_biblatex(entry, fresh, reference)
    kept = {name: value for name, value in fresh.items() if _is_news(entry, name, value)}
    return {name: _as_written(bib, entry, name, value) for name, value in kept.items()}, kind


def _for_biblatex(
    entry: Entry, fresh: dict[str, str | None], reference: Reference
) -> dict[str, str | None]:
    """Return fields under the names that biblatex has for them, where the entry uses those."""
    named = dict(fresh)
    if "journal" in named and entry.get("journal") is None:
        named["journaltitle"] = named.pop("journal")
    if entry.get("date") and entry.get("year") is None and reference.year:
        month = f"-{reference.month:02d}" if reference.month else ""
        named["date"] = f"{{{reference.year}{month}}}"
        named.pop("year", None)
        named.pop("month", None)
    return named


def _people_differ(own: Profile, told: Profile, entry: Entry) -> bool:
    """Tell whether people joined or left; a list that was cut short with "others" may stay so."""
    if "others" in entry.text("author").split()[-1:]:
        return own.people[:1] != told.people[:1]
    return own.people != told.people


def _is_news(entry: Entry, name: str, value: str | None) -> bool:
    known = entry.get(name)
    if known is None or value is None:
        return known is not None or value is not None
    return " ".join(known.value.split()).strip("{}") != value.strip('{}"')


def _as_written(bib: Bibliography, entry: Entry, name: str, value: str | None) -> str | None:
    """Return a value with the delimiters that the entry has there now."""
    known = entry.get(name)
    if known is None or value is None:
        return value
    old = bib.text[known.start : known.end]
    inner = re.fullmatch(r'"\{(.*)\}"|\{(.*)\}|(.*)', value, re.DOTALL)
    bare = next((part for part in inner.groups() if part is not None), "") if inner else value
    if name == "month":
        return value
    for left, right in (('"{', '}"'), ("{{", "}}"), ('"', '"'), ("{", "}")):
        if old.startswith(left) and old.endswith(right) and (name == "title" or len(left) == 1):
            if left == '"' and '"' in bare:
                return f"{{{bare}}}"
            return f"{left}{bare}{right}"
    return bare if bare.isdigit() else f"{{{bare}}}"
