"""Crossref: what publishers deposit of their works, corrections and retractions included.

Source: https://api.crossref.org/swagger-ui/index.html
"""

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

SERVICE = "Crossref"
_AT_ONCE = 40
_DOCTYPES = {
    "journal-article": "article", "posted-content": "eprint", "proceedings-article": "inproceedings",
    "book-chapter": "inbook", "book": "book", "monograph": "book", "edited-book": "book",
    "reference-book": "book", "proceedings": "proceedings", "dissertation": "phdthesis",
    "dataset": "dataset", "database": "dataset", "report": "techreport", "peer-review": "misc",
}  # fmt: skip
_UPDATES: Mapping[str, Status] = {
    "retraction": "retracted", "removal": "retracted", "partial_retraction": "retracted",
    "withdrawal": "withdrawn", "new_version": "superseded", "new_edition": "superseded",
    "correction": "erratum", "corrigendum": "erratum", "erratum": "erratum",
}  # fmt: skip
_STRONGEST: Sequence[Status] = ("retracted", "withdrawn", "superseded", "erratum", "")


class Crossref:
    """Asks for works by DOI and by title; the contact address goes with every request."""

    def __init__(self, services: Services) -> None:
        self._service = services.get("crossref")
        self._base = services.base("crossref")
        self._email = services.settings.contact_email

    async def by_doi(self, doi: str) -> Record | None:
        """Return a work; None: Crossref does not have it, as it has none of arXiv's own DOIs.

        Raises:
            UsageError: It is no DOI.
            UpstreamError: Crossref failed.
        """
        doi = works.read_doi(doi)
        if works.arxiv_id_of(doi):
            return None
        answer = await self._get(f"works/{works.in_path(doi)}", {}, keep_s=works.WORK_KEPT_S)
        message = _message(answer.reply)
        record = read_work(message) if message is not None else None
        return record if record and doi in record.dois else None  # not another work's record

    async def by_dois(self, dois: Sequence[str]) -> list[Record | None]:
        """Return works in the order and number of their DOIs; None: not known, or no DOI.

        Raises:
            UpstreamError: Crossref failed.
        """
        wanted = [works.doi_or_none(doi) for doi in dois]
        found: dict[str, Record] = {}
        known = [doi for doi in dict.fromkeys(wanted) if doi and not works.arxiv_id_of(doi)]
        listed = [doi for doi in known if "," not in doi]  # commas separate filters
        for start in range(0, len(listed), _AT_ONCE):
            part = listed[start : start + _AT_ONCE]
            parameters = {"filter": ",".join(f"doi:{doi}" for doi in part), "rows": str(len(part))}
            answer = await self._get("works", parameters, keep_s=works.WORK_KEPT_S)
            for record in _items(answer.reply):
                found[record.doi] = record
        for doi in (doi for doi in known if "," in doi):
            if record := await self.by_doi(doi):
                found[doi] = record
        return [found.get(doi) for doi in wanted]

    async def by_title(self, title: str, *, author: str = "", rows: int = 5) -> RecordPage:
        """Return the works whose title is most like `title`, the best first.

        Crossref nearly always finds something: compare titles before believing it.

        Raises:
            UsageError: The title is empty.
            UpstreamError: Crossref failed.
        """
        if not title.strip():
            raise UsageError("The title is empty.", hint="Give the title of a work.")
        parameters = {"query.title": title.strip(), "rows": str(rows)}
        if author:
            parameters["query.author"] = author
        answer = await self._get("works", parameters, keep_s=works.SEARCH_KEPT_S)
        message = _message(answer.reply) or {}
        return RecordPage(
            "crossref",
            tuple(_items(answer.reply)),
            works.number(message.get("total-results")),
            query=title.strip(),
            at=answer.at.isoformat(timespec="seconds"),
            cached=answer.cached,
        )

    async def _get(self, path: str, parameters: Mapping[str, str], *, keep_s: float) -> Answer:
        said = {**parameters, "mailto": self._email} if self._email else dict(parameters)
        url = f"{self._base}/{path}{'?' if said else ''}{urlencode(said)}"
        return await self._service.request(
            "GET",
            url,
            keep_s=keep_s,
            accept=lambda reply: reply.status == 200 and is_good(_message)(reply),
        )


def _message(reply: Reply) -> dict[str, Any] | None:
    """Return an answer's work or list; None: not found."""
    value = works.read_answer(SERVICE, reply)
    if value is None:
        return None
    whole = works.expected_object(SERVICE, reply, value, "message")
    return works.expected_object(SERVICE, reply, whole["message"])


def _items(reply: Reply) -> Iterator[Record]:
    message = _message(reply)
    items = as_list(message.get("items")) if message else []
    return (read_work(item) for item in items if is_object(item))


def read_work(work: Mapping[str, Any]) -> Record:
    """Read one work; any field may be absent."""
    doi = works.doi_or_none(work.get("DOI"))
    title = _title(work)
    status, note, extra = _standing(work, title)
    date = _date(work)
    preprint = works.arxiv_id_of(extra.get("preprint", "")) or works.arxiv_id_of(doi)
    return Record(
        source="crossref",
        title=title,
        authors=tuple(_authors(work)),
        author_count=len(as_list(work.get("author"))) or None,
        abstract=works.text(work.get("abstract")),
        year=int(date[:4]) if date else None,
        date=date,
        arxiv_id=preprint,
        dois=(doi,) if doi else (),
        journal=_first(work, "container-title"),
        volume=works.text(work.get("volume")),
        issue=works.text(work.get("issue")),
        pages=works.pages(work.get("page")) or works.text(work.get("article-number")),
        publisher=works.text(work.get("publisher")),
        doctype="erratum" if "updates" in extra else _DOCTYPES.get(str(work.get("type")), ""),
        keywords=tuple(works.text(word) for word in as_list(work.get("subject"))),
        citation_count=works.number(work.get("is-referenced-by-count")),
        reference_count=works.number(work.get("reference-count")),
        status=status,
        status_note=note,
        links=works.once_each(_links(work)),
        language=works.text(work.get("language")),
        score=works.measure(work.get("score")),
        extra=extra,
    )


def _title(work: Mapping[str, Any]) -> str:
    title, subtitle = _first(work, "title"), _first(work, "subtitle")
    if subtitle and subtitle.casefold() not in title.casefold():
        return f"{title}: {subtitle}" if title else subtitle
    return title


def _first(work: Mapping[str, Any], name: str) -> str:
    value = work.get(name)
    return works.text(next(iter(as_list(value)), "") if not isinstance(value, str) else value)


def _authors(work: Mapping[str, Any]) -> Iterator[Affiliated]:
    for author in (one for one in as_list(work.get("author")) if is_object(one)):
        family, given = works.text(author.get("family")), works.text(author.get("given"))
        if suffix := works.text(author.get("suffix")):
            family = f"{family} {suffix}"
        name = ", ".join(part for part in (family, given) if part) or works.text(author.get("name"))
        if name:
            places = (as_object(one).get("name") for one in as_list(author.get("affiliation")))
            orcid = str(author.get("ORCID") or "").rstrip("/").rpartition("/")[2]
            yield Affiliated(
                name, tuple(place for one in places if (place := works.text(one))), orcid
            )


def _date(work: Mapping[str, Any]) -> str:
    """Return the earliest kind of date that is told, as far as it is told."""
    for name in ("published", "issued", "published-print", "published-online", "posted", "created"):
        dates = as_list(as_object(work.get(name)).get("date-parts"))
        known: list[int] = []
        for part in as_list(dates[0] if dates else None)[:3]:
            if not isinstance(part, int) or part <= 0:  # ``[[null]]`` stands for "not known"
                break
            known.append(part)
        if known and 1000 <= known[0] <= 9999:
            return "-".join(
                f"{part:0{4 if place == 0 else 2}d}" for place, part in enumerate(known)
            )
    return ""


def _standing(work: Mapping[str, Any], title: str) -> tuple[Status, str, dict[str, str]]:
    """Tell whether a work was retracted, corrected or replaced, and what it is a notice of."""
    said: list[tuple[Status, str]] = []
    extra: dict[str, str] = {}
    for update in (one for one in as_list(work.get("updated-by")) if is_object(one)):
        kind = str(update.get("type") or "").lower().replace("-", "_")
        label = works.text(update.get("label")) or kind.replace("_", " ")
        said.append((_UPDATES.get(kind, ""), _noted(label, update.get("DOI"))))
    for update in (one for one in as_list(work.get("update-to")) if is_object(one)):
        label = works.text(update.get("label")) or str(update.get("type") or "update")
        extra["updates"] = works.doi_or_none(update.get("DOI"))
        said.append(("", f"This is a notice ({label.lower()}) on {extra['updates']}."))
    for name, targets in as_object(work.get("relation")).items():
        ids = [as_object(one).get("id") for one in as_list(targets)]
        target = next((doi for one in ids if (doi := works.doi_or_none(one))), "")
        said += _related(name, target, extra)
    if status := works.status_of_title(title):
        said.append((status, "Its title says so."))
    said.sort(key=lambda one: _STRONGEST.index(one[0]))
    return (said[0][0] if said else ""), " ".join(note for _, note in said), extra


def _noted(label: str, doi: Any) -> str:
    where = works.doi_or_none(doi)
    return f"{label[:1].upper()}{label[1:]}{f': {where}' if where else ''}."


def _related(name: str, target: str, extra: dict[str, str]) -> Iterator[tuple[Status, str]]:
    """Read one kind of relation; ``is-...-of`` of a notice points at what it is about."""
    if name == "has-preprint":
        extra["preprint"] = target
    elif name == "is-preprint-of":
        extra["published_as"] = target
        yield "superseded", f"Published as {target}."
    elif name in {"is-replaced-by", "is-superseded-by"}:
        yield "superseded", f"Replaced by {target}."
    else:
        for word, status in (
            ("retract", "retracted"), ("withdraw", "withdrawn"), ("erratum", "erratum"),
            ("correct", "erratum"), ("corrig", "erratum"),
        ):  # fmt: skip
            if word not in name:
                continue
            if name.startswith("is-") and name.endswith("-of"):
                extra["updates"] = target
                yield "", f"This is a notice on {target}."
            else:
                kept: Status = status  # pyright: ignore[reportAssignmentType]
                yield kept, _noted(name.replace("-", " "), target)
            return


def _links(work: Mapping[str, Any]) -> Iterator[Link]:
    licences = {
        works.version(one.get("content-version")): str(one.get("URL") or "")
        for one in as_list(work.get("license"))
        if is_object(one)
    }
    for one in (one for one in as_list(work.get("link")) if is_object(one)):
        url, kind = str(one.get("URL") or ""), str(one.get("content-type") or "")
        version = works.version(one.get("content-version"))
        licence = licences.get(version) or ""
        if not url.startswith(("http://", "https://")):
            continue
        if kind == "application/pdf":
            yield Link("publisher_pdf", url, licence, version)
        elif kind == "text/html":
            yield Link("publisher_html", url, licence, version)
    page = as_object(as_object(work.get("resource")).get("primary")).get("URL") or work.get("URL")
    if isinstance(page, str) and page.startswith(("http://", "https://")):
        yield Link("landing", page, licences.get("published") or "")
