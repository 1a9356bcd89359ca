"""The library: everything that nuncius does with papers, behind one object."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nuncius.core.documents import Passage
from nuncius.core.errors import ConfidentialError, NotFoundError, UsageError
from nuncius.core.evidence import Answer
from nuncius.core.listing import (
    ALL_PAPERS,
    FacetKind,
    FacetValue,
    PaperFilter,
    PaperOrder,
    PaperPage,
)
from nuncius.core.papers import Paper
from nuncius.core.settings import Settings
from nuncius.library.records import (
    AddReport,
    Failure,
    PaperText,
    Retrieval,
    SectionPlace,
    Status,
)
from nuncius.store.protocols import Note, Store

if TYPE_CHECKING:
    from nuncius.core.journals import JournalStyle
    from nuncius.core.records import Record
    from nuncius.library.cited import CitedWork
    from nuncius.library.export import Format

Progress = Callable[[str, int, int], None]
"""Told (what, done, total) while long work goes on."""


class Library:
    """A user's papers.

    Args:
        store: Where everything is kept.
        settings: Where the library's own directory is, and what may be done.
        leaves: Whether what is read here leaves this machine, as for a remote model. Confidential
            papers are then refused, and left out of searches.
    """

    def __init__(self, store: Store, settings: Settings, *, leaves: bool = False) -> None:
        self._store = store
        self._settings = settings
        self._leaves = leaves

    async def add(
        self,
        what: Sequence[str | Path],
        *,
        jobs: int = 1,
        confidential: bool = False,
        label: str = "",
        progress: Progress | None = None,
    ) -> AddReport:
        """Read files and folders into the library; a bad one never stops the others.

        The files stay where they are; their text, pages and passages are kept in the database.

        Args:
            what: Files, or folders that are walked (PDF, HTML, TeX, Markdown, text).
            jobs: How many parsers run side by side.
            label: A word for people about where these are from.
        """
        from nuncius.library.ingest import Ingest

        return await Ingest(self._store, jobs=jobs, confidential=confidential, label=label).add(
            what, progress=progress
        )

    async def papers(self) -> Sequence[Paper]:
        """Return all papers, newest first."""
        return (await self.page()).papers

    async def page(
        self,
        wanted: PaperFilter = ALL_PAPERS,
        *,
        order: PaperOrder = "-added",
        limit: int | None = None,
        cursor: str = "",
    ) -> PaperPage:
        """Return the papers that fit, or some of them; see `PaperLists.page`."""
        return await self._store.papers.page(
            self._allowed(wanted), order=order, limit=limit, cursor=cursor
        )

    async def facet(
        self, kind: FacetKind, wanted: PaperFilter = ALL_PAPERS
    ) -> Sequence[FacetValue]:
        """Return by what the papers that fit can be filtered; see `PaperLists.facet`."""
        return await self._store.papers.facet(kind, self._allowed(wanted))

    def _allowed(self, wanted: PaperFilter) -> PaperFilter:
        """Return a filter that hides what may not leave."""
        return replace(wanted, confidential=wanted.confidential and not self._leaves)

    async def paper(self, name: str) -> Paper:
        """Return the paper with this id, bibcode, arXiv id, DOI or cite key.

        Raises:
            NotFoundError: No paper has this name; close ones are named.
            ConfidentialError: It may not leave this machine.
        """
        paper = await self._store.papers.find(name)
        if self._leaves and paper.confidential:
            raise ConfidentialError(
                f"The paper {paper.paper_id} is confidential, and the model that asks for it is not"
                " on this machine.",
                hint="Ask the built-in model or one on this machine about it.",
            )
        return paper

    async def told(self, paper: Paper) -> "Record | None":
        """Return what services told of a paper when it was added or looked up; None: nothing."""
        kept = await self._store.works.get([paper.paper_id])
        return kept[paper.paper_id].record if kept else None

    async def content(
        self,
        name: str,
        *,
        section: str = "",
        page: int | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> PaperText:
        """Return a paper's Markdown, whole or a section, a page, or a run of characters.

        Raises:
            NotFoundError: No such paper, section or page; what there is, is named.
        """
        from nuncius.library.content import select

        paper = await self.paper(name)
        markdown = await self._store.papers.markdown(paper.paper_id)
        engine, verdict = await self._store.papers.content_facts(paper.paper_id)
        part = select(markdown, section=section, page=page, offset=offset, limit=limit)
        return PaperText(
            paper=paper,
            content=part.content,
            engine=engine,
            verdict=verdict,
            sections=[SectionPlace(s.path, s.title, s.page) for s in part.sections],
            offset=part.offset,
            total_chars=len(markdown),
        )

    async def references(self, name: str) -> "Sequence[tuple[CitedWork, str | None]]":
        """Return the works that a paper cites, each with the id of the library's paper that it is.

        They are read from the paper's own list; where it has none, they are the bibcodes that ADS
        told, if it was asked.

        Raises:
            NotFoundError: There is no such paper.
        """
        from nuncius.library.cited import CitedWork, cited_works

        paper = await self.paper(name)
        markdown = await self._store.papers.markdown(paper.paper_id)
        works = await asyncio.to_thread(cited_works, markdown)
        if not works:
            told = await self._store.works.links(paper.paper_id, "references")
            works = [
                CitedWork(number, "", "", bibcode[:4], bibcode, bibcode=bibcode)
                for number, bibcode in enumerate(told, 1)
            ]
        held = await self._store.works.papers_of([name for work in works for name in work.names])
        return [
            (work, next((held[name] for name in work.names if name in held), None))
            for work in works
        ]

    async def passages(
        self, name: str, *, section: str = "", page: int | None = None, table: str = ""
    ) -> Sequence[Passage]:
        """Return a paper's passages in order: all, or those of a section, a page, a table.

        Raises:
            NotFoundError: No such paper, section, page or table; what there is, is named.
        """
        from nuncius.library.reading import choose

        paper = await self.paper(name)
        passages = await self._store.passages.of_paper(paper.paper_id)
        return choose(paper, passages, section=section, page=page, table=table)

    async def tag(self, name: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()) -> Paper:
        """Hang tags on a paper, or take them off; case does not count.

        Raises:
            NotFoundError: No paper has this name.
            UsageError: A tag is too long, or they are too many.
        """
        paper = await self.paper(name)
        if not (add or remove):
            return paper
        return await self._store.papers.change_tags(paper.paper_id, add=add, remove=remove)

    async def set_tags(self, name: str, tags: Sequence[str]) -> Paper:
        """Put tags in place of those that a paper has; raises as `tag`."""
        paper = await self.paper(name)
        return await self._store.papers.set_tags(paper.paper_id, tags)

    async def remove(self, name: str) -> Paper:
        """Take a paper out of the library and return it; the user's file stays."""
        paper = await self.paper(name)
        await self._store.papers.remove(paper.paper_id)
        return paper

    async def rag(
        self,
        query: str,
        *,
        k: int = 8,
        papers: Sequence[str] = (),
        year_from: int | None = None,
        year_to: int | None = None,
    ) -> Retrieval:
        """Find the k passages that speak most of the query.

        Args:
            papers: Search these only (any names of theirs).

        Raises:
            NotFoundError: A named paper is not in the library.
            StoreError: The search failed; never an empty result instead.
        """
        from nuncius.library.retrieve import Retriever

        ids = [(await self.paper(name)).paper_id for name in papers] if papers else None
        without: Sequence[str] = ()
        if self._leaves and ids is None:
            without = list(await self._store.papers.confidential())
        found = await Retriever(self._store).search(
            query, k=k, paper_ids=ids, without=without, years=(year_from, year_to)
        )
        if not without:
            return found
        count = len(without)
        papers_are = "paper was" if count == 1 else "papers were"
        left_out = f"{count} confidential {papers_are} not searched: not for a model elsewhere"
        return replace(found, degraded=[*found.degraded, left_out])

    async def cite(
        self, name: str, *, style: "Format" = "bibtex", journals: "JournalStyle" = "macro"
    ) -> str:
        """Return the paper's entry for a bibliography, under its cite key."""
        return await self._exported([await self.paper(name)], style, journals)

    async def export(
        self,
        names: Sequence[str] = (),
        *,
        wanted: PaperFilter = ALL_PAPERS,
        style: "Format" = "bibtex",
        journals: "JournalStyle" = "macro",
    ) -> str:
        """Return papers, else all that fit, as one file of a format, sorted by cite key.

        A paper is there once, whatever names of it are given.

        Raises:
            NotFoundError: One of the names is no paper's.
            UsageError: Papers are named, and a filter is set too.
        """
        if names and wanted != ALL_PAPERS:
            raise UsageError(
                "Papers are named, and there are filters too.",
                hint="Name the papers, or say by filters which are wanted.",
            )
        named = {paper.paper_id: paper for paper in [await self.paper(name) for name in names]}
        papers = list(named.values()) if names else (await self.page(wanted)).papers
        return await self._exported(papers, style, journals)

    async def _exported(
        self, papers: Sequence[Paper], style: "Format", journals: "JournalStyle"
    ) -> str:
        """Return papers in a format, with what services told of them where it is known."""
        from nuncius.library.export import references_as
        from nuncius.library.reference import of_held

        told = await self._store.works.get([paper.paper_id for paper in papers])
        in_order = sorted(papers, key=lambda paper: paper.cite_key)
        references = [of_held(paper, told) for paper in in_order]
        return references_as(style, references, journals=journals)

    async def note(
        self,
        name: str,
        *,
        quote: str,
        note: str = "",
        page: int | None = None,
        color: str = "yellow",
        agent: str = "user",
    ) -> Note:
        """Keep a note on a quote that stands in the paper.

        Raises:
            NotFoundError: The quote is not in the paper (on that page).
        """
        from nuncius.library.verify import Verifier

        paper = await self.paper(name)
        place = await Verifier(self._store).locate(paper.paper_id, quote, page=page)
        if place is None:
            where = f"page {page} of " if page else ""
            raise NotFoundError(
                f"The quote does not stand in {where}{paper.short_reference}.",
                hint="Copy it from the paper's text word for word, without your own changes.",
            )
        return await self._store.desk.add_note(
            paper.paper_id, quote=quote, note=note, page=place.page, color=color, agent=agent
        )

    async def notes(self, name: str | None = None) -> Sequence[Note]:
        """Return the notes on one paper, or all."""
        paper_id = (await self.paper(name)).paper_id if name else None
        return await self._store.desk.notes(paper_id)

    async def status(self) -> Status:
        """Return counts, failures and vanished files."""
        papers = await self.papers()
        files = await self._store.papers.files()
        return Status(
            papers=len(papers),
            passages=await self._store.passages.count(),
            pages=sum(paper.pages or 0 for paper in papers),
            files=sum(1 for file in files if not file.error_kind),
            failures=[
                Failure(file.path, file.error_kind, file.reason, file.hint)
                for file in files
                if file.error_kind and file.present
            ],
            vanished=[file.path for file in files if not file.present],
        )

    async def answer_page(self, question: str, answer: Answer) -> str:
        """Return a page of HTML that shows each quote marked on its page or in its context."""
        from nuncius.library.page import AnswerPage

        return await AnswerPage(self._store).render(question, answer)
