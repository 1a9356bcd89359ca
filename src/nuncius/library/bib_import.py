"""A bibliography's entries as papers of the library that are known, though their text is not here."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nuncius.core.identifiers import Identifier, arxiv_of_bibcode, identify
from nuncius.core.papers import Author, Paper
from nuncius.core.records import Affiliated, Record
from nuncius.library.alike import Profile, is_arxiv_doi, same_people, same_title
from nuncius.library.bib import identifiers_of
from nuncius.library.bib_fields import record_of
from nuncius.library.bibtex import Bibliography, Change, Entry, Trouble
from nuncius.library.bibtex_reading import read
from nuncius.library.debris import mendings
from nuncius.store.protocols import PaperStore, WorkStore


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of each entry; each is in exactly one of the first two.

    Attributes:
        added: New papers.
        held: (key in the file, paper) of works that the library held already; what it did not know
            of them was added.
        renamed: (key in the file, paper) of new papers that got another key, since theirs was taken.
        troubles: What could not be read as written.
    """

    added: Sequence[Paper] = ()
    held: Sequence[tuple[str, Paper]] = ()
    renamed: Sequence[tuple[str, Paper]] = ()
    troubles: Sequence[Trouble] = ()

    @property
    def other_keys(self) -> Sequence[tuple[str, Paper]]:
        """Return the keys under which the library does not know the paper."""
        differing = ((key, paper) for key, paper in self.held if key and key != paper.cite_key)
        return [*self.renamed, *differing]


async def import_bib(text: str, papers: PaperStore, works: WorkStore | None = None) -> ImportReport:
    """Put each entry of a bibliography into the library, once for each work.

    The file's keys are kept where no other paper has them. A work that is held already, by any of its
    identifiers or by title and authors, stays as it is; only what was not known of it is filled in.

    Args:
        works: Where the file's other keys are kept as names of the papers, and what the entries tell
            of journal, volume and pages; None: they are lost.
    """
    bib = read(text)
    entries = read(_without_debris(bib)).entries
    shelf = _Shelf(await papers.papers())
    added: list[Paper] = []
    held: list[tuple[str, Paper]] = []
    renamed: list[tuple[str, Paper]] = []
    for entry in entries:
        fresh = paper_of(entry)
        known = shelf.find(fresh)
        if known is None:
            stored = await papers.put(fresh, None, ())
            added.append(stored)
            if stored.cite_key != entry.key and entry.key:
                renamed.append((entry.key, stored))
        else:
            filled = _filled(known, fresh)
            stored = await papers.put(filled, None, ()) if filled != known else known
            held.append((entry.key, stored))
        shelf.add(stored)
    report = ImportReport(added, held, renamed, bib.troubles)
    if works is not None:
        for key, paper in report.other_keys:
            await works.add_keys(paper.paper_id, [key])
        found = [(entry, shelf.find(paper_of(entry))) for entry in entries]
        told = await works.get([paper.paper_id for _, paper in found if paper])
        for entry, paper in found:
            record = record_of(entry)
            tells_more = record.journal or record.volume or record.pages or record.publisher
            if paper and paper.paper_id not in told and tells_more:
                await works.put(paper.paper_id, _told(entry, paper))
    return report


def _told(entry: Entry, paper: Paper) -> Record:
    """Return what an entry tells of a work, with the names that the library has for it."""
    record = record_of(entry)
    names = (paper.bibcode or "", paper.arxiv_id or "", paper.doi or "")
    return replace(
        record,
        source="bib",
        bibcodes=(names[0],) if names[0] else (),
        arxiv_id=names[1],
        dois=(names[2],) if names[2] else (),
    )


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


def _filled(known: Paper, fresh: Paper) -> Paper:
    """Return a held paper with what only the file knows."""
    told = {
        name: getattr(fresh, name)
        for name in ("authors", "year", "bibcode", "arxiv_id", "doi", "abstract")
        if not getattr(known, name) and getattr(fresh, name)
    }
    return known.model_copy(update=told) if told else known


class _Shelf:
    """The library's papers by their identifiers, and by their titles where those do not tell."""

    def __init__(self, papers: Sequence[Paper]) -> None:
        self._by_name: dict[Identifier, Paper] = {}
        self._by_title: dict[str, list[Paper]] = {}
        for paper in papers:
            self.add(paper)

    def add(self, paper: Paper) -> None:
        self._by_name |= dict.fromkeys(_identifiers(paper), paper)
        title = "".join(_profile(paper).words)
        others = [o for o in self._by_title.get(title, []) if o.paper_id != paper.paper_id]
        self._by_title[title] = [*others, paper]

    def find(self, paper: Paper) -> Paper | None:
        for name in _identifiers(paper):
            if name in self._by_name:
                return self._by_name[name]
        mine = _profile(paper)
        for other in self._by_title.get("".join(mine.words), []):
            if _is_same(mine, _profile(other)) and not _differ(paper, other):
                return other
        return None


def _is_same(mine: Profile, theirs: Profile) -> bool:
    """Tell whether title and people are one work's; a title that many works have needs its year."""
    if mine.is_generic and (not mine.record.year or mine.record.year != theirs.record.year):
        return False
    return same_title(mine, theirs) and same_people(mine, theirs)


def _identifiers(paper: Paper) -> Iterator[Identifier]:
    for text in (paper.doi, paper.arxiv_id, paper.bibcode):
        if text and (named := identify(text)) and named.kind != "url":
            yield Identifier(named.kind, named.value)


def _differ(one: Paper, other: Paper) -> bool:
    """Tell whether two papers have names of one kind that are not equal."""
    names: Sequence[Mapping[str, str]] = [
        {name.kind: name.value for name in _identifiers(paper) if not is_arxiv_doi(name.value)}
        for paper in (one, other)
    ]
    return any(names[0][kind] != names[1][kind] for kind in names[0].keys() & names[1].keys())


def _profile(paper: Paper) -> Profile:
    return Profile(
        Record(
            source="library",
            title=paper.title,
            authors=tuple(Affiliated(author.name) for author in paper.authors),
            year=paper.year,
        )
    )
