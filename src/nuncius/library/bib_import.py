"""A bibliography's entries as papers of the library that are known, though their text is not here."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from nuncius.core.identifiers import Identifier, arxiv_of_bibcode, identify
from nuncius.core.papers import Author, Paper
from nuncius.core.records import Record
from nuncius.core.tags import fitting_tags, fold_tag
from nuncius.library.bib import identifiers_of
from nuncius.library.bib_fields import record_of, told_by
from nuncius.library.bib_shelf import Shelf
from nuncius.library.bibtex import Bibliography, Change, Entry, Trouble
from nuncius.library.bibtex_reading import read
from nuncius.library.debris import mendings
from nuncius.library.reference import BIB_SOURCE, of_paper
from nuncius.store.protocols import PaperStore
from nuncius.store.told import WorkStore


@dataclass(frozen=True, slots=True)
class Disputed:
    """An identifier that an entry shares with another work; the entry was kept without it.

    Attributes:
        key, line: Of the entry in its file.
        holder: The other work, of which the library knew before that the identifier is its own.
    """

    key: str
    line: int
    identifier: Identifier
    holder: Paper


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of each entry; each is in exactly one of the first two.

    Attributes:
        added: New papers.
        held: (key in the file, paper) of works that the library held already; what it did not know
            of them was added.
        renamed: (key in the file, paper) of new papers that got another key, since theirs was taken.
        troubles: What could not be read as written.
        disputed: Identifiers of which a person must find out whose they are.
    """

    added: Sequence[Paper] = ()
    held: Sequence[tuple[str, Paper]] = ()
    renamed: Sequence[tuple[str, Paper]] = ()
    troubles: Sequence[Trouble] = ()
    disputed: Sequence[Disputed] = ()

    @property
    def other_keys(self) -> Sequence[tuple[str, Paper]]:
        """Return the keys under which the library does not know the paper."""
        differing = ((key, paper) for key, paper in self.held if key and key != paper.cite_key)
        return [*self.renamed, *differing]


async def import_bib(text: str, papers: PaperStore, works: WorkStore) -> ImportReport:
    """Put each entry of a bibliography into the library, once for each work.

    The file's keys are kept where no other paper has them. A work that is held already, by any of its
    identifiers or by title and authors, stays as it is; only what was not known of it is filled in.
    Keywords become tags.
    Where title and authors both contradict a shared identifier, the entry is a work of its own,
    without that identifier.

    Args:
        works: Where the file's other keys are kept as names of the papers, and what the entries tell
            of journal, volume, pages and the like.

    Raises:
        StoreError: Another import did not end, or nothing could be written.
    """
    bib = read(text)
    entries = read(_without_debris(bib)).entries
    async with works.importing():  # what is held is looked at once: nobody else imports meanwhile
        running = _Import(papers, works, Shelf(await papers.papers()))
        for entry in entries:
            await running.take(entry)
        report = running.report(bib.troubles)
        for key, paper in report.other_keys:
            await works.add_keys(paper.paper_id, [key])
        await running.keep_what_was_told()
    return report


class _Import:
    """One import while it runs."""

    def __init__(self, papers: PaperStore, works: WorkStore, shelf: Shelf) -> None:
        self._papers = papers
        self._works = works
        self._shelf = shelf
        self._told: dict[str, Record] = {}
        self._added: list[Paper] = []
        self._held: list[tuple[str, Paper]] = []
        self._renamed: list[tuple[str, Paper]] = []
        self._disputed: list[Disputed] = []

    def report(self, troubles: Sequence[Trouble]) -> ImportReport:
        return ImportReport(self._added, self._held, self._renamed, troubles, self._disputed)

    async def take(self, entry: Entry) -> None:
        """Make an entry a paper, or add what it tells to the one that it is."""
        fresh, foreign = self._shelf.without_foreign_names(paper_of(entry))
        self._disputed += (
            Disputed(entry.key, entry.line, name, holder) for name, holder in foreign.items()
        )
        told = _without_address(told_by(entry), foreign)
        known = self._shelf.find(fresh) or await self._unsigned(fresh, told)
        if known is None:
            tagged = fresh.model_copy(update={"tags": fitting_tags(told.keywords)})
            stored = await self._papers.put(tagged, None, ())
            self._added.append(stored)
            if stored.cite_key != entry.key and entry.key:
                self._renamed.append((entry.key, stored))
        else:
            filled = self._shelf.filled(known, fresh)
            stored = await self._papers.put(filled, None, ()) if filled != known else known
            stored = await self._tagged(stored, told.keywords)
            self._held.append((entry.key, stored))
        self._shelf.add(stored)
        told = _without_words(told, stored.tags)
        before = self._told.get(stored.paper_id)
        self._told[stored.paper_id] = _together(before, told) if before else told

    async def _unsigned(self, fresh: Paper, told: Record) -> Paper | None:
        """Return the paper of this title that nobody signed and that tells the very same, or more."""
        if fresh.authors:
            return None
        papers = [paper for paper in self._shelf.of_title(fresh) if not paper.authors]
        kept = await self._works.get([paper.paper_id for paper in papers])
        for paper in papers:
            known = kept.get(paper.paper_id)
            record = self._told.get(paper.paper_id) or (known.record if known else None)
            if _tells_all_of(told, record or Record(source=BIB_SOURCE, year=paper.year)):
                return paper
        return None

    async def _tagged(self, paper: Paper, keywords: Sequence[str]) -> Paper:
        """Hang an entry's keywords on a paper that was held, but for those that a service told."""
        words = fitting_tags(keywords, beside=paper.tags)
        if not words:
            return paper
        known = (await self._works.get([paper.paper_id])).get(paper.paper_id)
        if known and known.record.source != BIB_SOURCE:
            told = {fold_tag(word) for word in known.record.keywords}
            words = tuple(word for word in words if fold_tag(word) not in told)
        return await self._papers.change_tags(paper.paper_id, add=words) if words else paper

    async def keep_what_was_told(self) -> None:
        """Keep what entries tell of works of which no service told; what a file told before stays."""
        ids = [paper.paper_id for paper in self._added] + [one.paper_id for _, one in self._held]
        papers = await self._papers.get(list(dict.fromkeys(ids)))
        kept = await self._works.get(list(papers))
        writes: list[Coroutine[Any, Any, None]] = []
        for paper_id, paper in papers.items():
            known = kept[paper_id].record if paper_id in kept else None
            told = self._told[paper_id]
            if known is None and not _tells_more(told):
                continue
            if known and known.source != BIB_SOURCE:
                continue
            record = _named(_together(known, told) if known else told, paper)
            if record != known:
                writes.append(self._works.put(paper_id, record))
        await asyncio.gather(*writes)  # together, so that the store writes them in groups


def _tells_more(record: Record) -> bool:
    """Tell whether an entry says of its work what a paper of the library has no place for."""
    return bool(
        record.journal or record.volume or record.issue or record.pages or record.publisher
        or record.keywords or record.extra or record.doctype not in {"article", "misc", "eprint"}
        or len(record.date) > 4
    )  # fmt: skip


def _tells_all_of(told: Record, known: Record) -> bool:
    """Tell whether what an entry tells is all known, word for word."""
    return all(
        getattr(told, name) in {getattr(known, name), "", None, ()}
        for name in ("year", "journal", "volume", "issue", "pages", "publisher")
    ) and all(known.extra.get(name) == value for name, value in told.extra.items())


def _together(known: Record, told: Record) -> Record:
    """Return a file's record with what another entry tells beyond it."""
    news = {
        one.name: getattr(told, one.name)
        for one in fields(Record)
        if getattr(told, one.name) and not getattr(known, one.name)
    }
    return replace(known, **news | {"extra": {**told.extra, **known.extra}})


def _named(record: Record, paper: Paper) -> Record:
    """Return what an entry tells of a work, with the names that the library has for it.

    Where the entry does not say where it stands, its bibcode or arXiv id does.
    """
    names = (paper.bibcode or "", paper.arxiv_id or "", paper.doi or "")
    placed = record.journal or record.volume or record.pages
    if any(names[:2]) and not placed and record.doctype in {"article", "misc"}:
        place = of_paper(paper)
        record = replace(
            record,
            doctype=place.kind,
            journal=place.container,
            volume=place.volume,
            issue=record.issue or place.issue,
            pages=place.pages or place.eid,
        )
    return replace(
        record,
        title=record.title or paper.title,
        bibcodes=(names[0],) if names[0] else (),
        arxiv_id=names[1],
        dois=(names[2],) if names[2] else (),
    )


def _without_words(record: Record, tags: Sequence[str]) -> Record:
    """Return a record without the keywords that are tags: taken off there, they are gone."""
    hung = {fold_tag(tag) for tag in tags}
    left = tuple(word for word in record.keywords if fold_tag(word) not in hung)
    return replace(record, keywords=left)


def _without_address(record: Record, foreign: Mapping[Identifier, Paper]) -> Record:
    """Return a record without the address of a page that is another work's."""
    named = identify(record.extra.get("url", ""))
    if named is None or Identifier(named.kind, named.value) not in foreign:
        return record
    return replace(record, extra={n: text for n, text in record.extra.items() if n != "url"})


def _without_debris(bib: Bibliography) -> str:
    return bib.changed(
        {
            place: Change({one.field: one.raw for one in mendings(bib, entry)})
            for place, entry in enumerate(bib.entries)
        }
    )


def paper_of(entry: Entry) -> Paper:
    """Return an entry as a paper that the store has not seen."""
    told = record_of(entry)
    named = {one.kind: one.value for one in identifiers_of(entry).values()}
    bibcode = named.get("bibcode")
    return Paper(
        paper_id="",
        title=told.title or entry.text("howpublished") or entry.key or "untitled",
        authors=tuple(Author(name=author.name) for author in told.authors),
        year=told.year,
        bibcode=bibcode,
        arxiv_id=named.get("arxiv") or (arxiv_of_bibcode(bibcode) if bibcode else None),
        doi=named.get("doi"),
        abstract=told.abstract,
        cite_key=entry.key,
    )
