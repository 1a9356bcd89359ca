"""OpenAlex: works, where they can be had for free, and whether they were retracted.

Source: https://docs.openalex.org/api-entities/works
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from nuncius.core.errors import UsageError
from nuncius.core.records import Affiliated, Link, Record, RecordPage, Status
from nuncius.core.shapes import as_list, as_object, is_object
from nuncius.sources import works
from nuncius.sources.replies import is_good
from nuncius.sources.services import Services
from nuncius.walls.courtesy import Answer
from nuncius.walls.network import Reply

SERVICE = "OpenAlex"
_AT_ONCE = 50
_LONGEST_ABSTRACT = 20_000
_FIELDS = (
    "id,doi,title,publication_year,publication_date,type,language,authorships,primary_location,"
    "best_oa_location,locations,open_access,is_retracted,cited_by_count,referenced_works_count,"
    "biblio,abstract_inverted_index"
)
_DOCTYPES = {
    "article": "article", "review": "article", "letter": "article", "editorial": "article",
    "preprint": "eprint", "book-chapter": "inbook", "book": "book", "dissertation": "phdthesis",
    "dataset": "dataset", "report": "techreport", "erratum": "erratum", "retraction": "erratum",
    "software": "software",
}  # fmt: skip


class OpenAlex:
    """Asks for works by DOI and by title; the contact address goes with every request."""

    def __init__(self, services: Services) -> None:
        self._service = services.get("openalex")
        self._base = services.base("openalex")
        self._email = services.settings.contact_email

    async def by_doi(self, doi: str) -> Record | None:
        """Return a work; None: OpenAlex does not have it.

        Raises:
            UsageError: It is no DOI.
            UpstreamError: OpenAlex failed.
        """
        doi = works.read_doi(doi)
        path = f"works/doi:{works.in_path(doi)}"
        answer = await self._get(path, {"select": _FIELDS}, keep_s=works.WORK_KEPT_S)
        work = _work(answer.reply)
        record = read_work(work) if work is not None else None
        return record if record and doi in record.dois else None  # not another work's record

    async def by_dois(self, dois: Sequence[str]) -> list[Record | None]:
        """Return works in the order and number of their DOIs; None: not known, or no DOI.

        Raises:
            UpstreamError: OpenAlex failed.
        """
        wanted = [works.doi_or_none(doi) for doi in dois]
        known = [doi for doi in dict.fromkeys(wanted) if doi]
        listed = [doi for doi in known if not re.search(r"[,|]", doi)]  # both part filters
        found: dict[str, Record] = {}
        for start in range(0, len(listed), _AT_ONCE):
            part = listed[start : start + _AT_ONCE]
            parameters = {
                "filter": f"doi:{'|'.join(part)}", "per-page": str(len(part)), "select": _FIELDS
            }  # fmt: skip
            answer = await self._get("works", parameters, keep_s=works.WORK_KEPT_S)
            for record in _results(answer.reply):
                for doi in record.dois:
                    found.setdefault(doi, record)
        for doi in (doi for doi in known if doi not in listed):
            if record := await self.by_doi(doi):
                found[doi] = record
        return [found.get(doi) for doi in wanted]

    async def by_title(self, title: str, *, rows: int = 5) -> RecordPage:
        """Return the works whose title has these words, the best first.

        Raises:
            UsageError: The title has no words.
            UpstreamError: OpenAlex failed.
        """
        words = " ".join(re.findall(r"[^\W_]+(?:['’.-][^\W_]+)*", title))
        if not words:
            raise UsageError("The title is empty.", hint="Give the title of a work.")
        parameters = {"filter": f"title.search:{words}", "per-page": str(rows), "select": _FIELDS}
        answer = await self._get("works", parameters, keep_s=works.SEARCH_KEPT_S)
        total = as_object((_work(answer.reply, "results") or {}).get("meta")).get("count")
        return RecordPage(
            "openalex",
            tuple(_results(answer.reply)),
            works.number(total),
            query=words,
            at=answer.at.isoformat(timespec="seconds"),
            cached=answer.cached,
        )

    async def _get(self, path: str, parameters: Mapping[str, str], *, keep_s: float) -> Answer:
        said = {**parameters, "mailto": self._email} if self._email else dict(parameters)
        return await self._service.request(
            "GET",
            f"{self._base}/{path}?{urlencode(said)}",
            keep_s=keep_s,
            accept=lambda reply: reply.status == 200 and is_good(_work)(reply),
        )


def _work(reply: Reply, *names: str) -> dict[str, Any] | None:
    value = works.read_answer(SERVICE, reply)
    if value is None:
        return None
    return works.expected_object(SERVICE, reply, value, *(names or ("id", "doi", "results")))


def _results(reply: Reply) -> Iterator[Record]:
    items = as_list((_work(reply, "results") or {}).get("results"))
    return (read_work(item) for item in items if is_object(item))


def read_work(work: Mapping[str, Any]) -> Record:
    """Read one work; any field may be absent or null."""
    title = works.text(work.get("title") or work.get("display_name"))
    biblio = as_object(work.get("biblio"))
    places = [place for place in _places(work) if is_object(place)]
    arxiv_ids = (works.arxiv_id_in_url(link.url) for place in places for link in _links(place))
    doi = works.doi_or_none(work.get("doi"))
    access = as_object(work.get("open_access")).get("is_oa")
    status: Status = "retracted" if work.get("is_retracted") is True else ""
    source = as_object(as_object(work.get("primary_location")).get("source"))
    authors = tuple(_authors(work))
    return Record(
        source="openalex",
        title=title,
        authors=authors,
        author_count=len(authors) or None,
        abstract=abstract_of(work.get("abstract_inverted_index")),
        year=works.number(work.get("publication_year")),
        date=works.text(work.get("publication_date")),
        arxiv_id=works.arxiv_id_of(doi) or next((one for one in arxiv_ids if one), ""),
        dois=(doi,) if doi else (),
        journal=works.text(source.get("display_name")),
        volume=works.text(biblio.get("volume")),
        issue=works.text(biblio.get("issue")),
        pages=_pages(biblio),
        publisher=works.text(source.get("host_organization_name")),
        doctype=_DOCTYPES.get(str(work.get("type")), ""),
        citation_count=works.number(work.get("cited_by_count")),
        reference_count=works.number(work.get("referenced_works_count")),
        open_access=access if isinstance(access, bool) else None,
        status=status or works.status_of_title(title),
        status_note="OpenAlex lists it as retracted." if status else "",
        links=works.once_each(link for place in places for link in _links(place)),
        language=works.text(work.get("language")),
        extra={"openalex": identifier.rpartition("/")[2]}
        if isinstance(identifier := work.get("id"), str)
        else {},
    )


def _places(work: Mapping[str, Any]) -> Iterator[Any]:
    """Yield places, the best free one first; where nothing more is told, the free address."""
    yield work.get("best_oa_location")
    yield work.get("primary_location")
    yield from as_list(work.get("locations"))
    if url := as_object(work.get("open_access")).get("oa_url"):
        yield {"landing_page_url": url}


def _links(place: Mapping[str, Any]) -> tuple[Link, ...]:
    return works.place_links(
        pdf=place.get("pdf_url"),
        page=place.get("landing_page_url"),
        licence=place.get("license"),
        version_name=place.get("version"),
        repository=as_object(place.get("source")).get("type") == "repository",
    )


def _authors(work: Mapping[str, Any]) -> Iterator[Affiliated]:
    for one in (one for one in as_list(work.get("authorships")) if is_object(one)):
        author = as_object(one.get("author"))
        name = works.text(one.get("raw_author_name")) or works.text(author.get("display_name"))
        if not name:
            continue
        places = [works.text(place) for place in as_list(one.get("raw_affiliation_strings"))]
        orcid = str(author.get("orcid") or "").rstrip("/").rpartition("/")[2]
        yield Affiliated(name, tuple(place for place in places if place), orcid)


def _pages(biblio: Mapping[str, Any]) -> str:
    first, last = works.text(biblio.get("first_page")), works.text(biblio.get("last_page"))
    return f"{first}-{last}" if first and last and first != last else first


def abstract_of(index: Any) -> str:
    """Return the text of an abstract that is told as each word's places."""
    placed: dict[int, str] = {}
    for word, places in as_object(index).items():
        for place in as_list(places):
            if isinstance(place, int) and 0 <= place < _LONGEST_ABSTRACT:
                placed.setdefault(place, word)
    return works.text(" ".join(placed[place] for place in sorted(placed)))
