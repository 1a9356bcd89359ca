"""The library's papers as an import finds them: by identifiers, by key, by title and people."""

from collections.abc import Iterator, Mapping, Sequence

from nuncius.core.identifiers import Identifier, identify
from nuncius.core.papers import Paper
from nuncius.core.records import Affiliated, Record
from nuncius.library.alike import Profile, is_arxiv_doi, same_people, same_title
from nuncius.library.bib_fields import is_another_work

_NAMES = ("doi", "arxiv_id", "bibcode")


class Shelf:
    """The library's papers by their identifiers, and by their titles where those do not tell."""

    def __init__(self, papers: Sequence[Paper]) -> None:
        self._by_name: dict[Identifier, Paper] = {}
        self._by_title: dict[str, list[Paper]] = {}
        for paper in reversed(papers):  # the oldest first: of two with one title it is found
            self.add(paper)

    def add(self, paper: Paper) -> None:
        """Put a paper there, in place of what it was before."""
        for name in _identifiers(paper):
            holder = self._by_name.get(name)
            if holder is None or holder.paper_id == paper.paper_id:
                self._by_name[name] = paper
        others = self._by_title.setdefault(_title(paper), [])
        for place, other in enumerate(others):
            if other.paper_id == paper.paper_id:
                others[place] = paper
                return
        others.append(paper)

    def without_foreign_names(self, paper: Paper) -> tuple[Paper, Mapping[Identifier, Paper]]:
        """Return a new paper without the identifiers that are another work's, and whose they are."""
        foreign: dict[Identifier, Paper] = {}
        for name in _identifiers(paper):
            holder = self._by_name.get(name)
            if holder and is_another_work(_profile(paper), _profile(holder)):
                foreign[name] = holder
        dropped = {
            name: None
            for name in _NAMES
            if (value := getattr(paper, name)) and foreign.keys() & set(_read(value))
        }
        return (paper.model_copy(update=dropped) if dropped else paper), foreign

    def find(self, paper: Paper) -> Paper | None:
        """Return the paper that a new one is, by identifiers, by title and people, or by its key."""
        for name in _identifiers(paper):
            if name in self._by_name:
                return self._by_name[name]
        mine = _profile(paper)
        for other in self.of_title(paper):
            theirs = _profile(other)
            if _is_same(mine, theirs) or _is_of_one_key(paper, other):
                return other
        return None

    def of_title(self, paper: Paper) -> Sequence[Paper]:
        """Return papers of the same title, as far as their identifiers do not contradict."""
        return [one for one in self._by_title.get(_title(paper), ()) if not _differ(paper, one)]

    def filled(self, known: Paper, fresh: Paper) -> Paper:
        """Return a held paper with what only the file knows; no other paper's names are among it."""
        told = {
            name: value
            for name in ("authors", "year", *_NAMES, "abstract")
            if not getattr(known, name) and (value := getattr(fresh, name))
            if name not in _NAMES or self._is_free(value, known)
        }
        return known.model_copy(update=told) if told else known

    def _is_free(self, value: str, paper: Paper) -> bool:
        holders = [self._by_name[name] for name in _read(value) if name in self._by_name]
        return all(holder.paper_id == paper.paper_id for holder in holders)


def _is_same(mine: Profile, theirs: Profile) -> bool:
    """Tell whether title and people are one work's; a title that many works have needs its year."""
    if mine.is_generic and (not mine.record.year or mine.record.year != theirs.record.year):
        return False
    return same_title(mine, theirs) and same_people(mine, theirs)


def _is_of_one_key(one: Paper, other: Paper) -> bool:
    """Tell whether papers of one title have one key too, and neither year nor people contradict."""
    if not one.cite_key or one.cite_key.casefold() != other.cite_key.casefold():
        return False
    if one.year and other.year and one.year != other.year:
        return False
    mine, theirs = _profile(one), _profile(other)
    return not mine.people or not theirs.people or same_people(mine, theirs)


def _title(paper: Paper) -> str:
    return "".join(_profile(paper).words) or paper.title.casefold()


def _identifiers(paper: Paper) -> Iterator[Identifier]:
    for name in _NAMES:
        yield from _read(getattr(paper, name) or "")


def _read(text: str) -> Iterator[Identifier]:
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
