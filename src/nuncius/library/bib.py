"""A bibliography held against what the services of the literature know: `check` and `update`.

`check` names what is wrong and changes nothing. `update` writes preprints that were published as what
they are now and mends debris of exports; keys, comments, order and the user's own fields stay.
"""

import difflib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from nuncius.core.errors import UpstreamError
from nuncius.core.identifiers import Identifier, identify, normal_bibcode
from nuncius.core.journals import JournalStyle, find_journal
from nuncius.core.records import Record
from nuncius.library.alike import Profile, is_arxiv_doi, likeness, same_people
from nuncius.library.bib_fields import (
    differences,
    is_like_title,
    published_fields,
    record_of,
)
from nuncius.library.bib_findings import Finding, FindingKind, RecordLookup
from nuncius.library.bibtex import Bibliography, Change, Entry
from nuncius.library.bibtex_reading import read
from nuncius.library.debris import mendings
from nuncius.library.merge import joined
from nuncius.library.tex import plain

_UNIDENTIFIED = frozenset(
    "article inproceedings conference incollection phdthesis mastersthesis thesis".split()
)
"""Kinds of entries of which an identifier may be expected."""
_PREPRINT_KINDS = frozenset("article misc unpublished online eprint techreport preprint".split())
_OTHER_REGISTRIES = ("10.48550/", "10.5281/", "10.5270/", "10.26093/", "10.17909/")
"""DOIs of arXiv, Zenodo, ESA, VizieR and MAST: registered with DataCite, of which Crossref knows nothing."""
_BATCH = 200


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found.

    Attributes:
        findings: In the order of the file.
        asked: How many identifiers services were asked for.
    """

    bib: Bibliography
    findings: tuple[Finding, ...]
    asked: int = 0


@dataclass(frozen=True, slots=True)
class Updated:
    """A bibliography as it should be; nothing is written by this.

    Attributes:
        text: The new file; the old one where nothing is to be changed.
        diff: From the old to the new one, unified; empty where they are equal.
        changed: Keys of the entries that change.
    """

    checked: Checked
    text: str
    diff: str
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Known:
    """One entry with what was found of it: the record of its work, if any, and its findings.

    `published`: a journal's record is among what was told, not only a preprint's.
    """

    entry: Entry
    record: Record | None
    findings: tuple[Finding, ...]
    published: bool = False


async def check(text: str, lookup: RecordLookup | None = None) -> Checked:
    """Name what is wrong with a bibliography.

    Args:
        lookup: Asked about every identifier; without one only the file itself is looked at.
    """
    return (await _look(text, lookup))[0]


async def update(
    text: str,
    lookup: RecordLookup | None = None,
    *,
    name: str = "bibliography.bib",
    fields: bool = False,
    journals: JournalStyle | None = None,
) -> Updated:
    """Return a bibliography with its published preprints brought up to date and its debris mended.

    Args:
        name: Of the file, for the diff.
        fields: Also replace fields that are wrong, and DOIs that are dead, by what services tell.
        journals: How new journals are written; None: as the file writes its own.
    """
    checked, known = await _look(text, lookup)
    bib = checked.bib
    style = journals or _style_of(bib)
    broken = {trouble.key for trouble in bib.troubles if trouble.broken}
    changes: dict[int, Change] = {}
    for place, one in enumerate(known):
        if one.entry.key in broken:  # a person mends it first: what was meant is not certain
            continue
        change = _change(bib, one, style, fields=fields)
        if change.fields or change.kind:
            changes[place] = change
    fresh = bib.changed(changes)
    diff = "".join(
        difflib.unified_diff(
            _lines(text), _lines(fresh), fromfile=name, tofile=f"{name} (updated)", n=2
        )
    )
    return Updated(checked, fresh, diff, tuple(bib.entries[place].key for place in changes))


def _lines(text: str) -> list[str]:
    lines = text.splitlines(keepends=True)
    return [line if line.endswith("\n") else line + "\n" for line in lines]


async def _look(text: str, lookup: RecordLookup | None) -> tuple[Checked, Sequence[_Known]]:
    bib = read(text)
    answers = await _answers(bib, lookup) if lookup else {}
    if lookup:
        answers |= await _published_answers(bib, lookup, answers)
    known = [_judge(bib, entry, answers) for entry in bib.entries]
    whole = [*_of_file(bib), *(finding for one in known for finding in one.findings)]
    whole += _duplicates(known)
    ordered = sorted(whole, key=lambda finding: finding.line)
    return Checked(bib, tuple(ordered), len(answers)), known


# --- asking ---------------------------------------------------------------------------------------

Answers = Mapping[Identifier, Record | UpstreamError | None]


def identifiers_of(entry: Entry) -> dict[str, Identifier]:
    """Return the identifiers of an entry by the field that holds each; versions are left out."""
    found: dict[str, Identifier] = {}
    for name in ("doi", "eprint", "adsurl", "bibcode", "url", "key", "arxivid"):
        value = entry.key if name == "key" else entry.bare(name)
        named = identify(value) if value else None
        if named is None and name == "adsurl" and (bibcode := normal_bibcode(value)):
            named = Identifier("bibcode", bibcode)
        if named is None or named.kind == "url" or (name == "key" and named.kind != "bibcode"):
            continue
        if named.kind not in {one.kind for one in found.values()}:
            found[name] = Identifier(named.kind, named.value)
    if "eprint" not in found and (journal := record_of(entry).journal):  # ``arXiv:2112.04510``
        named = identify(journal.removeprefix("arXiv preprint ").split(" ")[0])
        if named and named.kind == "arxiv" and "arxiv" not in {one.kind for one in found.values()}:
            found["journal"] = Identifier("arxiv", named.value)
    return found


async def _ask(lookup: RecordLookup, identifiers: Iterable[Identifier]) -> Answers:
    wanted = sorted(dict.fromkeys(identifiers), key=lambda one: one.kind)
    answers: dict[Identifier, Record | UpstreamError | None] = {}
    # By kind: where arXiv is silent, Crossref may answer.
    for _, of_kind in groupby(wanted, key=lambda one: one.kind):
        for batch in _batches(list(of_kind)):
            try:
                told = await lookup.records([one.value for one in batch])
            except UpstreamError as error:  # the others are asked all the same
                told = [error] * len(batch)
            answers |= dict(zip(batch, told, strict=True))
    return answers


def _batches(identifiers: Sequence[Identifier]) -> Iterator[Sequence[Identifier]]:
    for start in range(0, len(identifiers), _BATCH):
        yield identifiers[start : start + _BATCH]


async def _answers(
    bib: Bibliography, lookup: RecordLookup
) -> dict[Identifier, Record | UpstreamError | None]:
    named = (one for entry in bib.entries for one in identifiers_of(entry).values())
    return dict(await _ask(lookup, named))


async def _published_answers(bib: Bibliography, lookup: RecordLookup, answers: Answers) -> Answers:
    """Ask for the journal's record where a preprint's own record only names its DOI."""
    wanted: list[Identifier] = []
    for entry in bib.entries:
        records = [answers.get(one) for one in identifiers_of(entry).values()]
        for record in records:
            if isinstance(record, Record) and Profile(record).is_eprint:
                dois = sorted(Profile(record).journal_dois)[:1]
                wanted += [Identifier("doi", doi) for doi in dois]
    return await _ask(lookup, (one for one in wanted if one not in answers))


# --- judging --------------------------------------------------------------------------------------


def _judge(bib: Bibliography, entry: Entry, answers: Answers) -> _Known:
    findings = [
        _finding("debris", entry, field=one.field, found=entry.text(one.field), note=one.why)
        for one in mendings(bib, entry)
    ]
    named = identifiers_of(entry)
    if not named and entry.kind in _UNIDENTIFIED:
        findings.append(
            _finding("missing_identifier", entry, note="it has no DOI, arXiv id or bibcode")
        )
    own = record_of(entry)
    records: list[Record] = []
    dead: list[tuple[str, Identifier]] = []
    for name, identifier in named.items():
        if identifier not in answers:
            continue
        answer = answers[identifier]
        if answer is None:
            dead.append((name, identifier))
        elif isinstance(answer, UpstreamError):
            findings.append(_finding("not_checked", entry, field=name, note=answer.message))
        elif _is_of(own, answer):
            records.append(answer)
        else:
            findings.append(_wrong_work(entry, name, identifier, answer))
    records += _journal_versions(records, answers)
    work = joined(records).record if records else None
    ads_told = any(isinstance(told, Record) and "ads" in told.source for told in answers.values())
    findings += (
        _dead(entry, name, identifier, work)
        for name, identifier in dead
        if identifier.kind != "bibcode" or ads_told  # without ADS nobody knows bibcodes
    )
    published = any(not Profile(record).is_eprint for record in records)
    if work:
        named_dead = {name for name, _ in dead}
        findings += (
            finding
            for finding in _of_work(entry, work, published=published)
            if finding.field not in named_dead
        )
    return _Known(entry, work, tuple(findings), published)


def _is_of(own: Record, told: Record) -> bool:
    """Tell whether a record is of the entry's work: its title, or its people with a like title."""
    one, other = Profile(own), Profile(told)
    if not one.words or not other.words or is_like_title(one, other):
        return True
    if not one.people or not other.people:
        return False
    shared = likeness(one.words, other.words)
    return same_people(one, other) and (
        set(one.people) == set(other.people) and len(one.people) > 1 and shared > 0.15
    )


def _journal_versions(records: Sequence[Record], answers: Answers) -> list[Record]:
    found: list[Record] = []
    for record in records:
        for doi in record.dois:
            answer = answers.get(Identifier("doi", doi))
            if isinstance(answer, Record) and answer not in records and _is_of(record, answer):
                found.append(answer)
    return found


def _wrong_work(entry: Entry, name: str, identifier: Identifier, told: Record) -> Finding:
    who = told.authors[0].name if told.authors else ""
    what = f"{told.title} ({', '.join(filter(None, (who, str(told.year or ''))))})"
    return _finding(
        "wrong_field",
        entry,
        field=name,
        found=identifier.value,
        note=f"this is another work: {what}",
        source=told.source,
    )


def _dead(entry: Entry, name: str, identifier: Identifier, work: Record | None) -> Finding:
    is_dead = identifier.kind == "doi" and not identifier.value.startswith(_OTHER_REGISTRIES)
    kind: FindingKind = "dead_doi" if is_dead else "unknown_identifier"
    expected, source = "", ""
    if work and identifier.kind == "doi" and work.doi and not is_arxiv_doi(work.doi):
        expected, source = work.doi, work.source
    return _finding(
        kind,
        entry,
        field=name,
        found=identifier.value,
        expected=expected,
        note="no service knows it",
        source=source,
    )


def is_preprint(entry: Entry) -> bool:
    """Tell whether an entry gives its work as a preprint: of arXiv, in no journal."""
    journal = find_journal(entry.tex("journal") or entry.tex("journaltitle"))
    in_arxiv = journal is not None and journal.stem == "arXiv"
    words = (entry.text("journal") or entry.text("journaltitle")).casefold()
    named = entry.get("journal") or entry.get("journaltitle") or entry.get("booktitle")
    if (
        named is None
        or in_arxiv
        or words.startswith(("arxiv", "submitted", "in press", "accepted"))
    ):
        ids = {one.kind for one in identifiers_of(entry).values()}
        return entry.kind in _PREPRINT_KINDS and "arxiv" in ids
    return False


def _of_work(entry: Entry, work: Record, *, published: bool) -> Iterator[Finding]:
    if work.status and not (work.status == "erratum" and Profile(record_of(entry)).notice):
        note = work.status_note or {"erratum": "a correction to it was published"}.get(
            work.status, ""
        )
        yield _finding(work.status, entry, note=note, source=work.source)
    if is_preprint(entry):
        named = find_journal(work.bibstem or work.journal)
        if (work.journal or work.bibstem) and not (named and named.stem == "arXiv"):
            place = " ".join(
                part for part in (work.journal or work.bibstem, work.volume, work.pages) if part
            )
            yield _finding(
                "published_now",
                entry,
                field="journal",
                found=entry.text("journal"),
                expected=place,
                note="" if published else "arXiv says so; the journal's own record was not found",
                source=work.source,
            )
        return
    for name, found, expected in differences(entry, work, published=published):
        yield _finding(
            "wrong_field", entry, field=name, found=found, expected=expected, source=work.source
        )


# --- what the file itself shows -------------------------------------------------------------------


def _of_file(bib: Bibliography) -> Iterator[Finding]:
    for trouble in bib.troubles:
        yield Finding("unreadable", trouble.key, trouble.line, note=trouble.what)
    seen: dict[str, Entry] = {}
    for entry in bib.entries:
        first = seen.setdefault(entry.key.casefold(), entry)
        if entry.key and first is not entry:
            note = f"line {first.line} has the key {first.key}; BibTeX stops at the second"
            yield _finding("duplicate_key", entry, note=note)


def _duplicates(known: Sequence[_Known]) -> Iterator[Finding]:
    """Yield entries of a work that stands higher up under another key."""
    holders: dict[tuple[str, str], _Known] = {}
    titles: dict[str, list[_Known]] = defaultdict(list)
    for one in known:
        other = next((holders[name] for name in _names(one) if name in holders), None)
        profile = Profile(record_of(one.entry))
        title = "".join(profile.words)
        if other is None and not profile.is_generic:
            other = next((held for held in titles[title] if _is_same(held, one)), None)
        if other is not None and other.entry.key.casefold() != one.entry.key.casefold():
            note = f"the same work as {other.entry.key} (line {other.entry.line})"
            yield _finding("duplicate_entry", one.entry, note=note)
        titles[title].append(one)
        for name in _names(one):
            holders.setdefault(name, one)


def _is_same(one: _Known, other: _Known) -> bool:
    """Tell whether entries of one title are one work: the same people, no names that differ."""
    first, second = (Profile(record_of(known.entry)) for known in (one, other))
    if not same_people(first, second) or first.notice != second.notice:
        return False
    mine, theirs = (dict(_names(known)) for known in (one, other))
    return not any(mine[kind] != theirs[kind] for kind in mine.keys() & theirs.keys())


def _names(one: _Known) -> set[tuple[str, str]]:
    """Return the names of an entry's work; those that are another work's are left out."""
    foreign = {f.found for f in one.findings if f.kind == "wrong_field" and not f.expected}
    names: set[tuple[str, str]] = {
        (named.kind, named.value)
        for named in identifiers_of(one.entry).values()
        if named.value not in foreign
    }
    if one.record:
        names |= {("doi", doi) for doi in one.record.dois}
        names |= {("arxiv", one.record.arxiv_id)} if one.record.arxiv_id else set()
    return names


def _finding(kind: FindingKind, entry: Entry, **parts: str) -> Finding:
    return replace(Finding(kind, entry.key, entry.line), **parts)


# --- changing -------------------------------------------------------------------------------------


def _change(bib: Bibliography, one: _Known, style: JournalStyle, *, fields: bool) -> Change:
    """Return what becomes of an entry; fields that only a person knows are never among it."""
    fresh: dict[str, str | None] = {
        mending.field: mending.raw for mending in mendings(bib, one.entry)
    }
    kinds = {finding.kind for finding in one.findings}
    kind = ""
    if one.record and one.published and "published_now" in kinds:
        published, kind = published_fields(bib, one.entry, one.record, style)
        fresh |= published
    elif one.record and fields:
        wrong = {finding.field for finding in one.findings if finding.expected}
        published, _ = published_fields(bib, one.entry, one.record, style)
        fresh |= {name: published[name] for name in wrong if published.get(name)}
    return Change(fresh, "" if kind == one.entry.kind else kind)


def _style_of(bib: Bibliography) -> JournalStyle:
    """Return how most journals of the file are written; macros where it has none."""
    counts: dict[JournalStyle, int] = {"macro": 0, "name": 0, "abbreviation": 0, "stem": 0}
    for entry in bib.entries:
        written = entry.tex("journal")
        journal = find_journal(written)
        if written.lstrip("{").startswith("\\"):
            counts["macro"] += 1
        elif journal and journal.stem != "arXiv":
            if plain(written) == journal.stem:
                counts["stem"] += 1
            else:
                counts["abbreviation" if "." in written else "name"] += 1
    return max(counts, key=lambda style: counts[style])
