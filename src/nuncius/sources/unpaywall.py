"""Unpaywall: where a work can be read for free.

Source: https://unpaywall.org/products/api
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from nuncius.core.errors import SettingsError
from nuncius.core.records import Link, Record
from nuncius.core.shapes import as_list, is_object
from nuncius.sources import works
from nuncius.sources.replies import is_good
from nuncius.sources.services import Services
from nuncius.walls.network import Reply

SERVICE = "Unpaywall"
_HOW = "Set NUNCIUS_CONTACT_EMAIL to your own e-mail address; no account is needed."
_DOCTYPES = {
    "journal-article": "article", "posted-content": "eprint", "proceedings-article": "inproceedings",
    "book-chapter": "inbook", "book": "book", "monograph": "book", "dissertation": "phdthesis",
    "dataset": "dataset", "report": "techreport",
}  # fmt: skip


class Unpaywall:
    """Asks for works by DOI; it wants an e-mail address with every request."""

    def __init__(self, services: Services) -> None:
        self._service = services.get("unpaywall")
        self._base = services.base("unpaywall")
        self._email = services.settings.contact_email

    async def by_doi(self, doi: str) -> Record | None:
        """Return a work and its free copies, the best first; None: Unpaywall does not have it.

        Raises:
            UsageError: It is no DOI.
            SettingsError: No e-mail address is set, or Unpaywall does not take it.
            UpstreamError: Unpaywall failed.
        """
        doi = works.read_doi(doi)
        if not self._email:
            raise SettingsError(
                "Unpaywall answers only to those who tell an e-mail address.", hint=_HOW
            )
        url = f"{self._base}/{works.in_path(doi, slash=True)}?{urlencode({'email': self._email})}"
        answer = await self._service.request(
            "GET",
            url,
            keep_s=works.WORK_KEPT_S,
            accept=lambda reply: reply.status == 200 and is_good(_work)(reply),
        )
        work = _work(answer.reply)
        record = read_work(work) if work is not None else None
        return record if record and doi in record.dois else None  # not another work's record


def _work(reply: Reply) -> dict[str, Any] | None:
    if reply.status == 422 and "email" in reply.text.lower():
        raise SettingsError("Unpaywall does not take the e-mail address that is set.", hint=_HOW)
    value = works.read_answer(SERVICE, reply, key="NUNCIUS_CONTACT_EMAIL")
    return None if value is None else works.expected_object(SERVICE, reply, value, "doi")


def read_work(work: Mapping[str, Any]) -> Record:
    """Read one work; any field may be absent or null."""
    doi = works.doi_or_none(work.get("doi"))
    title = works.text(work.get("title"))
    links = works.once_each(link for place in _places(work) for link in _links(place))
    arxiv_ids = (works.arxiv_id_in_url(link.url) for link in links)
    is_free = work.get("is_oa")
    return Record(
        source="unpaywall",
        title=title,
        year=works.number(work.get("year")),
        date=works.text(work.get("published_date")),
        arxiv_id=works.arxiv_id_of(doi) or next((one for one in arxiv_ids if one), ""),
        dois=(doi,) if doi else (),
        journal=works.text(work.get("journal_name")),
        publisher=works.text(work.get("publisher")),
        doctype=_DOCTYPES.get(str(work.get("genre")), ""),
        open_access=is_free if isinstance(is_free, bool) else None,
        status=works.status_of_title(title),
        links=links,
    )


def _places(work: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    places = [work.get("best_oa_location"), *as_list(work.get("oa_locations"))]
    return (place for place in places if is_object(place))


def _links(place: Mapping[str, Any]) -> tuple[Link, ...]:
    return works.place_links(
        pdf=place.get("url_for_pdf"),
        page=place.get("url_for_landing_page") or place.get("url"),
        licence=place.get("license"),
        version_name=place.get("version"),
        repository=place.get("host_type") == "repository",
    )
