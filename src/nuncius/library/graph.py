"""The papers around one paper: what it cites, what cites it, and what is cited together with it."""

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nuncius.core.errors import NotFoundError, NunciusError, UsageError
from nuncius.core.papers import Paper, PaperState
from nuncius.core.records import Record, RecordPage
from nuncius.library.lookup import Lookup, name_for_ads
from nuncius.library.merge import joined
from nuncius.library.reference import BIB_SOURCE
from nuncius.library.search import FoundWork, Search
from nuncius.sources.ads import Ads
from nuncius.sources.services import Services
from nuncius.store.protocols import Store

Relation = Literal["references", "citations", "cocited", "similar"]
ROWS = 50
LINKS = 1000
"""Most references and citations of one paper that are kept."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Papers in one relation.

    Attributes:
        total: How many there are; None where it is not told.
        known_from: ``ADS``, or ``the library``, where only what is stored could be looked at.
    """

    relation: Relation
    works: Sequence[FoundWork]
    total: int | None
    known_from: str


@dataclass(frozen=True, slots=True)
class Graph:
    """A paper's neighbourhood.

    Attributes:
        record: What the services tell of the paper.
        paper_id, state: The library's; empty and None where it does not hold it.
        weights: How often the library's papers cite a neighbour together with it, by bibcode.
    """

    record: Record
    paper_id: str
    neighbours: Sequence[Neighbours]
    weights: dict[str, int]
    notes: Sequence[str] = ()
    state: PaperState | None = None


class Graphs:
    """Looks at neighbourhoods."""

    def __init__(self, store: Store, services: Services) -> None:
        self._store = store
        self._ads = Ads(services)
        self._lookup = Lookup(services)
        self._search = Search(store, services)

    async def around(self, name: str, *, rows: int = ROWS) -> Graph:
        """Return what is linked with a paper, by ADS and by what the library has stored.

        Raises:
            NotFoundError: Nobody knows the paper.
            UsageError: It is no name of a paper.
            KeyMissingError, UpstreamError, AccessDeniedError: Nobody could be asked, and nothing of
                it is stored.
        """
        held: Paper | None = None
        with contextlib.suppress(NotFoundError):  # a paper that only services know
            held = await self._store.papers.find(name)
        record, notes = await self._record(name, held)
        neighbours: list[Neighbours] = []
        faults: list[NunciusError] = []
        for relation in ("references", "citations", "similar"):
            try:
                page = await self._ask(relation, record, rows)
            except NunciusError as error:
                notes.append(f"{relation}: {error.message}")
                faults.append(error)
                if relation == "similar" or held is None:
                    continue
                stored = await self._store.works.links(held.paper_id, relation)
                page = RecordPage(
                    "library",
                    tuple(Record(source="library", bibcodes=(one,)) for one in stored[:rows]),
                    len(stored),
                )
            if held and relation != "similar" and page.source == "ads":
                try:
                    await self._keep(held.paper_id, record, relation, page)
                except NunciusError as error:
                    notes.append(f"{relation} are not kept for later: {error.message}")
            works = await self._search.marked([joined([one]) for one in page.records])
            origin = "ADS" if page.source == "ads" else "the library"
            neighbours.append(Neighbours(relation, works, page.total, origin))
        weights = await self._cocited(record)
        if weights:
            records = [Record(source="library", bibcodes=(code,)) for code in weights]
            works = await self._search.marked([joined([one]) for one in records[:rows]])
            neighbours.append(Neighbours("cocited", works, len(weights), "the library"))
        told = any(group.works or group.known_from == "ADS" for group in neighbours)
        if not told and faults and not isinstance(faults[0], UsageError):
            raise faults[0]
        if held is None:
            return Graph(record, "", neighbours, weights, notes)
        return Graph(record, held.paper_id, neighbours, weights, notes, held.state)

    async def _record(self, name: str, held: Paper | None) -> tuple[Record, list[str]]:
        if held is None:
            looked = await self._lookup.paper(name)
            return looked.record, list(looked.notes)
        told = (await self._store.works.get([held.paper_id])).get(held.paper_id)
        if told and told.record.source != BIB_SOURCE:
            return told.record, []
        names = [one for one in (held.bibcode, held.arxiv_id, held.doi) if one]
        if held.confidential or not names:
            why = (
                "it is confidential" if held.confidential else "it has no bibcode, arXiv id or DOI"
            )
            return Record(source="library", title=held.title), [f"no service was asked: {why}"]
        looked = await self._lookup.paper(names[0])
        await self._store.works.put(held.paper_id, looked.record)
        return looked.record, list(looked.notes)

    async def _ask(self, relation: str, record: Record, rows: int) -> RecordPage:
        if relation == "references":
            return await self._lookup.references(record, rows=rows)
        if relation == "citations":
            return await self._lookup.citations(record, rows=rows)
        name = name_for_ads(record)
        return await self._ads.search(f'similar(identifier:"{name}")', rows=rows)

    async def _keep(
        self, paper_id: str, record: Record, relation: Relation, page: RecordPage
    ) -> None:
        """Keep a paper's links, so that the library knows them without ADS."""
        if page.total is None or page.total > len(page.records):
            ask = self._lookup.references if relation == "references" else self._lookup.citations
            page = await ask(record, rows=LINKS)
        codes = tuple(one.bibcode for one in page.records if one.bibcode)
        linked = (
            replace(record, references=codes)
            if relation == "references"
            else replace(record, citations=codes)
        )
        await self._store.works.put(paper_id, linked)

    async def _cocited(self, record: Record) -> dict[str, int]:
        """Count what the library's papers cite together with this one."""
        citing = await self._store.works.linked(record.bibcodes, "references")
        counts: Counter[str] = Counter()
        for paper_id in {one for ids in citing.values() for one in ids}:
            counts.update(await self._store.works.links(paper_id, "references"))
        for code in record.bibcodes:
            counts.pop(code, None)
        return {code: count for code, count in counts.most_common() if count > 1}
