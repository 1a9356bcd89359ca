"""One work, one entry: records of several services that are of one work become one.

A shared arXiv id or bibcode joins; so does a shared DOI, unless the rest contradicts, since some are
typed wrong. A preprint and its journal version that share no name are joined by title, authors and
time. An erratum, a comment, a talk and a thesis stay what they are.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from nuncius.core.records import Link, Record
from nuncius.library.alike import Profile, is_arxiv_doi, likeness, same_people, same_title

ORDER = ("ads", "crossref", "openalex", "s2", "arxiv")
"""Whose word is taken first."""
_PREPRINTS_OWN = frozenset({"comment", "categories", "arxiv_version", "submitted", "announced"})
"""Of these arXiv knows best."""
_STATUS = ("retracted", "withdrawn", "erratum", "superseded")
_ARXIV_BIBCODE = re.compile(r"\d{4}arXiv(\d{4})\.?(\d{4,5})[A-Z.]")
YEARS_APART = 3
ALIKE_TITLE = 0.7
ALIKE_ABSTRACT = 0.5
ABSTRACT_WORDS = 12
"""Fewer tell nothing of how alike two abstracts are."""


@dataclass(frozen=True, slots=True)
class Work:
    """One work as several services tell it.

    Attributes:
        record: What they tell together.
        provenance: Which service each of its fields is from.
        parts: The records, in the order in which they came.
    """

    record: Record
    provenance: Mapping[str, str]
    parts: tuple[Record, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the services that know the work."""
        return tuple(dict.fromkeys(part.source for part in self.parts))


def merge(records: Iterable[Record]) -> list[Work]:
    """Join the records that are of one work; in the order of their first records."""
    groups = _Groups([Profile(record) for record in records])
    groups.join_by_names()
    groups.join_by_content()
    return [joined([profile.record for profile in group]) for group in groups.members()]


class _Groups:
    """Disjoint sets of records."""

    def __init__(self, profiles: Sequence[Profile]) -> None:
        self._profiles = profiles
        self._of = list(range(len(profiles)))
        self._sets = {at: [at] for at in self._of}

    def members(self) -> list[list[Profile]]:
        return [[self._profiles[at] for at in members] for members in self._sets.values()]

    def _unite(self, one: int, other: int) -> None:
        first, second = sorted((self._of[one], self._of[other]))
        if first == second:
            return
        for at in self._sets[second]:
            self._of[at] = first
        self._sets[first] = sorted(self._sets[first] + self._sets.pop(second))

    def join_by_names(self) -> None:
        """Join what shares a bibcode, an arXiv id or, where nothing contradicts, a DOI."""
        holders: dict[tuple[str, str], list[int]] = defaultdict(list)
        for at, profile in enumerate(self._profiles):
            for name in _names(profile.record):
                holders[name].append(at)
        for (kind, _), places in holders.items():
            for other in places[1:]:
                for one in places:
                    if one == other:
                        break
                    if _may_share(self._profiles[one], self._profiles[other], kind):
                        self._unite(one, other)
                        break

    def join_by_content(self) -> None:
        """Join preprints with the journal versions that name them nowhere."""
        by_author: dict[str, list[int]] = defaultdict(list)
        for at, profile in enumerate(self._profiles):
            if profile.people and profile.words:
                by_author[profile.people[0]].append(at)
        for places in by_author.values():
            preprints = [at for at in places if self._profiles[at].is_eprint]
            others = [at for at in places if not self._profiles[at].is_eprint]
            for one in preprints:
                fitting = [
                    other
                    for other in others
                    if self._of[one] != self._of[other]
                    and is_preprint_of(self._profiles[one], self._profiles[other])
                    and not self._contradict(one, other)
                ]
                articles = [at for at in fitting if self._profiles[at].record.doctype == "article"]
                best = articles or fitting
                if len({self._of[other] for other in best}) == 1:  # two would be a guess
                    self._unite(one, best[0])

    def _contradict(self, one: int, other: int) -> bool:
        """Tell whether the groups name different works of one kind."""
        first, second = (
            [self._profiles[at] for at in self._sets[self._of[place]]] for place in (one, other)
        )
        for names in (_arxiv_ids, _journal_dois, _published_bibcodes):
            mine, theirs = names(first), names(second)
            if mine and theirs and not mine & theirs:
                return True
        return False


def _arxiv_ids(group: Sequence[Profile]) -> set[str]:
    return {profile.record.arxiv_id for profile in group if profile.record.arxiv_id}


def _journal_dois(group: Sequence[Profile]) -> set[str]:
    return {doi for profile in group for doi in profile.journal_dois}


def _published_bibcodes(group: Sequence[Profile]) -> set[str]:
    return {
        profile.record.bibcode
        for profile in group
        if profile.record.bibcode and not profile.is_eprint
    }


def _names(record: Record) -> Iterable[tuple[str, str]]:
    for bibcode in record.bibcodes:
        yield "bibcode", bibcode
        if found := _ARXIV_BIBCODE.fullmatch(bibcode):
            yield "arxiv", f"{found[1]}.{found[2]}"
    if record.arxiv_id:
        yield "arxiv", record.arxiv_id
    for doi in record.dois:
        if is_arxiv_doi(doi):
            yield "arxiv", doi.removeprefix("10.48550/arxiv.")
        else:
            yield "doi", doi


def _may_share(one: Profile, other: Profile, kind: str) -> bool:
    """Tell whether two records that share a name of this kind may be of one work."""
    if one.notice != other.notice:
        return False
    if kind != "doi":
        return True
    ids = one.record.arxiv_id, other.record.arxiv_id
    if all(ids) and ids[0] != ids[1]:
        return False
    if not one.words or not other.words:
        return True
    if one.counters != other.counters and likeness(one.words, other.words) < 1:
        return same_people(one, other) and likeness(one.words, other.words) >= ALIKE_TITLE
    if likeness(one.words, other.words) >= 0.5:
        return True
    long_enough = min(len(one.abstract_words), len(other.abstract_words)) >= ABSTRACT_WORDS
    alike = likeness(one.abstract_words, other.abstract_words) >= ALIKE_ABSTRACT
    return same_people(one, other) and long_enough and alike


def is_preprint_of(preprint: Profile, published: Profile) -> bool:
    """Tell by title, authors and time whether `published` is the journal's version of `preprint`."""
    if preprint.notice != published.notice or published.form != "paper":
        return False
    years = preprint.record.year, published.record.year
    if years[0] and years[1] and not -1 <= years[1] - years[0] <= YEARS_APART:
        return False
    if not same_people(preprint, published) or preprint.counters != published.counters:
        return False
    if same_title(preprint, published):
        return not preprint.is_generic or _same_authors(preprint, published)
    if likeness(preprint.words, published.words) < ALIKE_TITLE or preprint.is_generic:
        return False
    if preprint.abstract_words and published.abstract_words:
        return likeness(preprint.abstract_words, published.abstract_words) >= ALIKE_ABSTRACT
    return likeness(preprint.words, published.words) >= 0.85 and _same_authors(preprint, published)


def _same_authors(one: Profile, other: Profile) -> bool:
    return set(one.people) == set(other.people) and len(one.people) > 0


# --- joining ------------------------------------------------------------------------------------------


def joined(records: Sequence[Record]) -> Work:
    """Return what records of one work tell together, and which of them told what."""
    ranked = sorted(records, key=_rank)
    values: dict[str, Any] = {}
    provenance: dict[str, str] = {}
    for field in fields(Record):
        order = _arxiv_first(ranked) if field.name in _PREPRINTS_OWN else ranked
        for record in order:
            value = getattr(record, field.name)
            if value not in (None, "", (), {}):
                values[field.name] = value
                provenance[field.name] = record.source
                break
    values |= _all_names(ranked)
    values["links"] = _all_links(ranked)
    versions = [r.arxiv_version for r in records if r.arxiv_version]
    values["arxiv_version"] = max(versions, default=None)
    values["open_access"] = next((True for r in ranked if r.open_access), values.get("open_access"))
    told = [r for word in _STATUS for r in ranked if r.status == word]
    if told:
        values["status"], values["status_note"] = told[0].status, told[0].status_note
        provenance["status"] = told[0].source
    values["source"] = "+".join(dict.fromkeys(record.source for record in ranked))
    provenance.pop("source", None)
    return Work(replace(ranked[0], **values), provenance, tuple(records))


def _arxiv_first(records: Sequence[Record]) -> list[Record]:
    return sorted(records, key=lambda record: record.source != "arxiv")


def _rank(record: Record) -> tuple[bool, int]:
    """Return the place in the order of whose word is taken: what is published first."""
    order = ORDER.index(record.source) if record.source in ORDER else len(ORDER)
    return Profile(record).is_eprint, order


def _all_names(records: Sequence[Record]) -> dict[str, Any]:
    dois = dict.fromkeys(doi for record in records for doi in record.dois)
    return {
        "bibcodes": tuple(dict.fromkeys(b for record in records for b in record.bibcodes)),
        "dois": tuple(sorted(dois, key=is_arxiv_doi)),
        "arxiv_id": next((r.arxiv_id for r in records if r.arxiv_id), ""),
    }


def _all_links(records: Sequence[Record]) -> tuple[Link, ...]:
    links: dict[str, Link] = {}
    for record in records:
        for link in record.links:
            links.setdefault(link.url, link)
    return tuple(links.values())
