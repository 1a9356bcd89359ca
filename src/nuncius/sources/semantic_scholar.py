"""Semantic Scholar's graph of papers; asked without a key too, more slowly.

Source: https://api.semanticscholar.org/api-docs/graph
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from nuncius.core.errors import UpstreamError, UsageError
from nuncius.core.records import Affiliated, Link, Record, RecordPage
from nuncius.core.shapes import as_list, as_object, is_list, is_object
from nuncius.sources import works
from nuncius.sources.replies import is_good, public_url
from nuncius.sources.services import Services
from nuncius.walls.courtesy import Answer
from nuncius.walls.network import Reply

SERVICE = "Semantic Scholar"
_AT_ONCE = 500
_FIELDS = (
    "title,abstract,authors,year,publicationDate,venue,journal,externalIds,citationCount,"
    "referenceCount,isOpenAccess,openAccessPdf,publicationTypes"
)
_DOCTYPES = {
    "JournalArticle": "article", "Review": "article", "LettersAndComments": "article",
    "Conference": "inproceedings", "BookSection": "inbook", "Book": "book", "Dataset": "dataset",
}  # fmt: skip


class SemanticScholar:
    """Asks for papers by DOI, arXiv identifier and title."""

    def __init__(self, services: Services) -> None:
        self._service = services.get("s2")
        self._base = services.base("s2")
        key = services.settings.s2_api_key
        self._headers = {"x-api-key": key} if key else {}

    async def by_doi(self, doi: str) -> Record | None:
        """Return a paper; None: not known.

        Raises:
            UsageError: It is no DOI.
            KeyMissingError: The key is refused.
            UpstreamError: Semantic Scholar failed.
        """
        doi = works.read_doi(doi)
        record = await self._paper(f"DOI:{works.in_path(doi, slash=True)}")
        if record and doi in record.dois:
            return record
        by_arxiv = works.arxiv_id_of(doi)  # arXiv's own DOIs are not always listed
        return record if record and by_arxiv and record.arxiv_id == by_arxiv else None

    async def by_arxiv_id(self, arxiv_id: str) -> Record | None:
        """Return a paper by its arXiv identifier without version; None: not known.

        Raises:
            KeyMissingError, UpstreamError: As `by_doi`.
        """
        return await self._paper(f"ARXIV:{works.in_path(arxiv_id, slash=True)}")

    async def by_title(self, title: str) -> Record | None:
        """Return the one paper whose title fits best; None: none fits.

        Raises:
            UsageError: The title is empty.
            KeyMissingError, UpstreamError: As `by_doi`.
        """
        parameters = {"query": _said(title), "fields": _FIELDS}
        answer = await self._get("paper/search/match", parameters, keep_s=works.SEARCH_KEPT_S)
        found = _papers(answer.reply)
        return found[0] if found else None

    async def search(self, query: str, *, rows: int = 20, start: int = 0) -> RecordPage:
        """Return the papers that fit a query, the best first.

        Raises:
            UsageError: The query is empty.
            KeyMissingError, UpstreamError: As `by_doi`.
        """
        parameters = {
            "query": _said(query), "fields": _FIELDS, "offset": str(start), "limit": str(rows)
        }  # fmt: skip
        answer = await self._get("paper/search", parameters, keep_s=works.SEARCH_KEPT_S)
        whole = as_object(_answer(answer.reply))
        return RecordPage(
            "s2",
            tuple(_papers(answer.reply)),
            works.number(whole.get("total")),
            start=start,
            query=parameters["query"],
            at=answer.at.isoformat(timespec="seconds"),
            cached=answer.cached,
        )

    async def by_ids(self, ids: Sequence[str]) -> list[Record | None]:
        """Return papers in the order and number of `ids`, such as ``DOI:10...`` or ``ARXIV:1706.03762``.

        None: not known.

        Raises:
            KeyMissingError, UpstreamError: As `by_doi`.
        """
        found: list[Record | None] = []
        for start in range(0, len(ids), _AT_ONCE):
            part = list(ids[start : start + _AT_ONCE])
            url = f"{self._base}/paper/batch?{urlencode({'fields': _FIELDS})}"
            answer = await self._service.request(
                "POST",
                url,
                headers=self._headers,
                json={"ids": part},
                keep_s=works.WORK_KEPT_S,
                accept=_can_be_read,
            )
            entries = _answer(answer.reply)
            if not is_list(entries) or len(entries) != len(part):
                raise UpstreamError(
                    SERVICE,
                    public_url(answer.reply),
                    f"it was asked for {len(part)} papers and answered for another number",
                    hint="Ask again later, or for one paper at a time.",
                )
            found += [read_paper(entry) if is_object(entry) else None for entry in entries]
        return found

    async def _paper(self, identifier: str) -> Record | None:
        answer = await self._get(
            f"paper/{identifier}", {"fields": _FIELDS}, keep_s=works.WORK_KEPT_S
        )
        value = _answer(answer.reply)
        if value is None:
            return None
        return read_paper(works.expected_object(SERVICE, answer.reply, value, "paperId"))

    async def _get(self, path: str, parameters: Mapping[str, str], *, keep_s: float) -> Answer:
        return await self._service.request(
            "GET",
            f"{self._base}/{path}?{urlencode(parameters)}",
            headers=self._headers,
            keep_s=keep_s,
            accept=_can_be_read,
        )


def _can_be_read(reply: Reply) -> bool:
    return reply.status == 200 and is_good(_answer)(reply)


def _answer(reply: Reply) -> Any:
    return works.read_answer(SERVICE, reply, key="S2_API_KEY")


def _said(words: str) -> str:
    if not words.strip():
        raise UsageError("The query is empty.", hint="Give a title or some of its words.")
    return " ".join(words.split())


def _papers(reply: Reply) -> list[Record]:
    """Return the papers of a list; one without ``data`` is empty, as a 404 is."""
    value = _answer(reply)
    if value is None:
        return []
    whole = works.expected_object(SERVICE, reply, value, "data", "total")
    papers = [one for one in as_list(whole.get("data")) if is_object(one)]
    for paper in papers:
        works.expected_object(SERVICE, reply, paper, "paperId")
    return [read_paper(paper) for paper in papers]


def read_paper(paper: Mapping[str, Any]) -> Record:
    """Read one paper; any field may be absent or null."""
    names = as_object(paper.get("externalIds"))
    journal = as_object(paper.get("journal"))
    title = works.text(paper.get("title"))
    doi = works.doi_or_none(names.get("DOI"))
    arxiv_id = works.text(names.get("ArXiv")) or works.arxiv_id_of(doi)
    people = (as_object(one).get("name") for one in as_list(paper.get("authors")))
    authors = tuple(Affiliated(name) for one in people if (name := works.text(one)))
    types = [str(one) for one in as_list(paper.get("publicationTypes"))]
    access = paper.get("isOpenAccess")
    return Record(
        source="s2",
        title=title,
        authors=authors,
        author_count=len(authors) or None,
        abstract=works.text(paper.get("abstract")),
        year=works.number(paper.get("year")),
        date=works.text(paper.get("publicationDate")),
        arxiv_id=arxiv_id,
        dois=works.ordered_dois((doi,)),
        journal=works.text(journal.get("name")) or works.text(paper.get("venue")),
        volume=works.text(journal.get("volume")),
        pages=works.pages(journal.get("pages")),
        doctype=next((_DOCTYPES[one] for one in types if one in _DOCTYPES), ""),
        citation_count=works.number(paper.get("citationCount")),
        reference_count=works.number(paper.get("referenceCount")),
        open_access=access if isinstance(access, bool) else None,
        status=works.status_of_title(title),
        links=_links(as_object(paper.get("openAccessPdf"))),
        score=works.measure(paper.get("matchScore")),
        extra={
            key: str(value)
            for key, value in (("s2", paper.get("paperId")), ("corpus_id", names.get("CorpusId")))
            if value
        },
    )


def _links(free: Mapping[str, Any]) -> tuple[Link, ...]:
    """Return the free copy; its address is an empty string where there is none."""
    return works.place_links(
        pdf=free.get("url"),
        page=None,
        licence=str(free.get("license") or "").lower(),
        version_name=None,
        repository=free.get("status") == "GREEN",
    )
