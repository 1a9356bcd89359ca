"""One paper by one of its names: what all services tell of it together."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from nuncius.core.errors import KeyMissingError, NotFoundError, NunciusError, UsageError
from nuncius.core.identifiers import Identifier, identify
from nuncius.core.records import Record, RecordPage
from nuncius.library.merge import Work, joined, merge
from nuncius.library.search import names_of, worst

if TYPE_CHECKING:  # read when something is looked up: tools are found at every start
    from nuncius.sources.ads import Ads
    from nuncius.sources.arxiv import Arxiv
    from nuncius.sources.crossref import Crossref
    from nuncius.sources.openalex import OpenAlex
    from nuncius.sources.services import Services


@dataclass(frozen=True, slots=True)
class LookedUp:
    """What was told of one paper.

    Attributes:
        notes: Which services could not tell, one sentence each.
    """

    work: Work
    notes: tuple[str, ...] = ()

    @property
    def record(self) -> Record:
        """Return what the services tell together."""
        return self.work.record


class Lookup:
    """Asks the services for papers by their names."""

    def __init__(self, services: "Services") -> None:
        self._services = services

    @cached_property
    def _ads(self) -> "Ads":
        from nuncius.sources.ads import Ads

        return Ads(self._services)

    @cached_property
    def _arxiv(self) -> "Arxiv":
        from nuncius.sources.arxiv import Arxiv

        return Arxiv(self._services)

    @cached_property
    def _crossref(self) -> "Crossref":
        from nuncius.sources.crossref import Crossref

        return Crossref(self._services)

    @cached_property
    def _openalex(self) -> "OpenAlex":
        from nuncius.sources.openalex import OpenAlex

        return OpenAlex(self._services)

    async def paper(self, name: str) -> LookedUp:
        """Return what is told of a paper.

        A wrong number is never answered with another paper: what comes back must bear the name.

        Raises:
            UsageError: It is no identifier.
            NotFoundError: No service knows it.
            UpstreamError, KeyMissingError: None that could know it answered.
        """
        wanted = identify(name)
        if wanted is None or wanted.kind == "url":
            raise UsageError(
                f"'{name}' is no identifier of a paper.",
                hint="Use a bibcode, an arXiv id, a DOI or the address of the paper's page.",
            )
        records, notes, faults = await self._told(self._questions(wanted))
        more = self._more_questions(records)
        if more:
            further, further_notes, _ = await self._told(more)
            records, notes = [*records, *further], [*notes, *further_notes]
        works = [work for work in merge(records) if _bears(work, wanted)]
        if works:
            return LookedUp(works[0], tuple(notes))
        if faults:
            raise worst(faults)
        raise NotFoundError(
            f"No service knows {wanted.value}.",
            hint="Look at it once more: letters and digits are easily swapped in identifiers.",
        )

    async def records(self, names: Sequence[str]) -> list[Record | None]:
        """Return what is told of many papers, in order; None: nobody who could know it knows it.

        ADS tells of all; without a token arXiv tells of preprints. Crossref is asked for DOIs, since
        it knows of retractions, and of works that ADS does not have.

        Raises:
            UpstreamError: One that had to be asked did not answer: then None would be a guess.
        """
        read = {name: identify(name) for name in dict.fromkeys(names)}
        known: dict[str, list[Record]] = {name: [] for name in read}
        preprints = [name for name, one in read.items() if one and one.kind == "arxiv"]
        try:
            asked = list(read)
            told: Sequence[Record | None] = await self._ads.by_identifiers(asked)
        except KeyMissingError:
            asked, told = preprints, await self._arxiv.by_ids(preprints)
        for name, record in zip(asked, told, strict=True):
            if record:
                known[name].append(record)
        dois = {name: one.value for name, one in read.items() if one and one.kind == "doi"}
        answers = await self._crossref.by_dois(list(dois.values()))
        for name, record in zip(dois, answers, strict=True):
            if record:
                known[name].append(record)
        return [joined(known[name]).record if known[name] else None for name in names]

    async def references(self, record: Record, *, rows: int = 50) -> RecordPage:
        """Return what the paper cites, as ADS knows it."""
        return await self._ads.references(name_for_ads(record), rows=rows)

    async def citations(self, record: Record, *, rows: int = 50) -> RecordPage:
        """Return what cites the paper, as ADS knows it."""
        return await self._ads.citations(name_for_ads(record), rows=rows)

    def _questions(self, wanted: Identifier) -> dict[str, Coroutine[Any, Any, Record | None]]:
        asked: dict[str, Coroutine[Any, Any, Record | None]] = {"ADS": self._from_ads(wanted.value)}
        if wanted.kind == "arxiv":
            asked["arXiv"] = self._from_arxiv(wanted.value)
        if wanted.kind == "doi":
            asked["Crossref"] = self._crossref.by_doi(wanted.value)
            asked["OpenAlex"] = self._openalex.by_doi(wanted.value)
        return asked

    def _more_questions(
        self, records: Sequence[Record]
    ) -> dict[str, Coroutine[Any, Any, Record | None]]:
        """Ask those who know a paper by a name that only another service told."""
        asked: dict[str, Coroutine[Any, Any, Record | None]] = {}
        told = {record.source for record in records}
        arxiv_id = next((record.arxiv_id for record in records if record.arxiv_id), "")
        if arxiv_id and "arxiv" not in told:
            asked["arXiv"] = self._from_arxiv(arxiv_id)
        dois = [doi for record in records for doi in record.dois if "arxiv" not in doi]
        if dois and "crossref" not in told:
            asked["Crossref"] = self._crossref.by_doi(dois[0])  # knows of retractions
            asked["OpenAlex"] = self._openalex.by_doi(dois[0])
        return asked

    async def _from_ads(self, name: str) -> Record | None:
        (record,) = await self._ads.by_identifiers([name])
        return record

    async def _from_arxiv(self, name: str) -> Record | None:
        (record,) = await self._arxiv.by_ids([name])
        return record

    async def _told(
        self, asked: Mapping[str, Coroutine[Any, Any, Record | None]]
    ) -> tuple[list[Record], list[str], list[NunciusError]]:
        answers = await asyncio.gather(*asked.values(), return_exceptions=True)
        records: list[Record] = []
        notes: list[str] = []
        faults: list[NunciusError] = []
        for service, answer in zip(asked, answers, strict=True):
            if isinstance(answer, NunciusError):
                faults.append(answer)
                notes.append(f"{service} could not tell: {answer.message}")
            elif isinstance(answer, BaseException):
                raise answer
            elif answer is not None:
                records.append(answer)
        return records, notes, faults


def _bears(work: Work, wanted: Identifier) -> bool:
    """Tell whether a work bears the name that was asked for."""
    named = {(one.kind, one.value.lower()) for one in map(identify, _all_names(work)) if one}
    return (wanted.kind, wanted.value.lower()) in named


def _all_names(work: Work) -> list[str]:
    return [name for part in (work.record, *work.parts) for name in names_of(part)]


def name_for_ads(record: Record) -> str:
    """Return a name that ADS takes.

    Raises:
        UsageError: The record has none.
    """
    name = record.bibcode or (f"arXiv:{record.arxiv_id}" if record.arxiv_id else record.doi)
    if not name:
        raise UsageError("The paper has no name that ADS knows.", hint="Give its bibcode or DOI.")
    return name
