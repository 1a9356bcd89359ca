"""Read arXiv's OAI-PMH answers: the history of a paper's versions, and lists by day of change.

Three formats are understood: ``arXivRaw`` (versions), ``arXiv`` (names in parts) and ``oai_dc``.

Source: https://info.arxiv.org/help/oa/index.html, http://www.openarchives.org/OAI/openarchivesprotocol.html
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from nuncius.core.errors import NotFoundError, UpstreamError
from nuncius.core.identifiers import identify
from nuncius.core.records import Affiliated, Record
from nuncius.sources.arxiv_feeds import ARXIV, check, root_of
from nuncius.sources.arxiv_records import (
    Places,
    licence_of,
    mail_day,
    preprint,
    read_dois,
    split_names,
    whole,
)
from nuncius.sources.markup import one_line, without_tex_accents
from nuncius.sources.replies import RefusedError, public_url, quoted
from nuncius.sources.xml import Element
from nuncius.walls.network import Reply

_FORMATS = ("arXivRaw", "arXiv", "dc")


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a preprint.

    Attributes:
        date: Of submission, ISO 8601.
        size: As arXiv writes it, such as ``1234kb``; a withdrawn version has ``0kb``.
        source: arXiv's letters: ``I`` stands where there is nothing.
    """

    number: int
    date: str
    size: str = ""
    source: str = ""

    @property
    def withdrawn(self) -> bool:
        """Tell whether this version has no text; the one before it may still have one."""
        return self.size.lower().strip() in {"0kb", "0b", "0"}


@dataclass(frozen=True, slots=True)
class Harvested:
    """One paper of a list.

    Attributes:
        changed: Day of the last change of its metadata, ISO 8601.
        versions: The first one first; empty in formats that do not tell them.
        deleted: It is no longer there; the record tells its identifier only.
    """

    record: Record
    changed: str
    versions: tuple[Version, ...] = ()
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class OaiPage:
    """Some papers of a list.

    Attributes:
        token: Asks for the next page; empty on the last one. It expires within a day.
        total: Of the whole list; arXiv stopped telling it in 2025.
    """

    papers: tuple[Harvested, ...]
    token: str = ""
    total: int | None = None


def read_oai(reply: Reply, places: Places) -> OaiPage:
    """Return the papers of an answer; that no paper fits is an empty page.

    Raises:
        NotFoundError: There is no such paper.
        RefusedError: The request is wrong, or its token has expired.
        UpstreamError: arXiv is busy, or it is no such answer.
    """
    check(reply)
    root = root_of(reply, "OAI-PMH", "record")  # harvesters keep single records alone
    for error in root.all("error"):
        if error.get("code") == "noRecordsMatch":
            return OaiPage(())
        raise _error(reply, error)
    elements = [root] if root.name == "record" else list(root.all("record"))
    token = next(root.all("resumptionToken"), None)
    return OaiPage(
        papers=tuple(paper for one in elements if (paper := _paper(one, places))),
        token=token.text.strip() if token else "",
        total=whole(token.get("completeListSize")) if token else None,
    )


def _error(reply: Reply, error: Element) -> NotFoundError | UpstreamError:
    code, said = error.get("code"), quoted(error.text) or "no reason given"
    if code == "idDoesNotExist":
        return NotFoundError(
            f"arXiv knows no such paper ({public_url(reply)}): {said}.",
            hint="Check the identifier.",
        )
    hint = "The list has expired: begin it again." if code == "badResumptionToken" else ""
    return RefusedError(
        ARXIV, public_url(reply), f"it does not take the request ({code or 'error'}): {said}",
        hint=hint or "Check dates, set and format.",
    )  # fmt: skip


def _paper(element: Element, places: Places) -> Harvested | None:
    header = element.first("header") or Element("header", {}, ())
    told_id = next((one.text for one in element.all("identifier", "id")), "")
    name = identify(told_id)
    if name is None or name.kind != "arxiv":
        return None
    changed = header.child_text("datestamp")
    if header.get("status") == "deleted":
        return Harvested(Record("arxiv", arxiv_id=name.value), changed, deleted=True)
    told = next(element.all(*_FORMATS), None)
    if told is None:
        return None
    if told.name == "dc":
        return Harvested(preprint(_dublin_core(told, name.value), places), changed)
    versions = tuple(_versions(told))
    record = preprint(
        _own(told, name.value, versions), places, licence=licence_of(told.child_text("license"))
    )
    if versions and versions[-1].withdrawn and not record.status:
        note = f"Version {versions[-1].number} has no text."
        record = replace(record, status="withdrawn", status_note=note)
    return Harvested(record, changed, versions)


def _versions(told: Element) -> Iterator[Version]:
    for child in told.children:
        number = whole(child.get("version").lstrip("v")) if child.name == "version" else None
        if number is not None:
            yield Version(
                number,
                mail_day(child.child_text("date")),
                child.child_text("size"),
                child.child_text("source_type"),
            )


def _own(told: Element, arxiv_id: str, versions: tuple[Version, ...]) -> Record:
    """Read arXiv's own formats: ``arXivRaw`` and ``arXiv``."""
    submitted = versions[0].date if versions else told.child_text("created")
    return Record(
        source="arxiv",
        title=one_line(told.child_text("title")),
        authors=tuple(_authors(told)),
        abstract=one_line(told.child_text("abstract")),
        submitted=submitted,
        date=submitted,
        arxiv_id=arxiv_id,
        arxiv_version=max((one.number for one in versions), default=None),
        dois=read_dois(told.child_text("doi")),
        journal=one_line(without_tex_accents(told.child_text("journal-ref"))),
        categories=tuple(told.child_text("categories").split()),
        comment=one_line(told.child_text("comments")),
    )


def _authors(told: Element) -> Iterator[Affiliated]:
    authors = told.first("authors")
    if authors is None:
        return
    parts = [child for child in authors.children if child.name == "author"]
    if not parts:
        for name in split_names(authors.text):
            yield Affiliated(name)
    for part in parts:
        given = " ".join(filter(None, (part.child_text("forenames"), part.child_text("suffix"))))
        family = part.child_text("keyname")
        places = (one_line(one.text) for one in part.children if one.name == "affiliation")
        name = one_line(without_tex_accents(f"{family}, {given}" if given else family))
        if name:
            orcid = part.child_text("ORCID").rstrip("/").rpartition("/")[2]
            yield Affiliated(name, tuple(place for place in places if place), orcid)


def _dublin_core(told: Element, arxiv_id: str) -> Record:
    texts = {name: [one.text for one in told.children if one.name == name] for name in _DC}
    described = texts["description"]
    comments = [one for one in described if one.strip().startswith("Comment:")]
    abstract = next((one for one in described if one not in comments), "")
    identifiers = texts["identifier"]
    dates = sorted(text.strip() for text in texts["date"])
    return Record(
        source="arxiv",
        title=one_line(next(iter(texts["title"]), "")),
        authors=tuple(Affiliated(one_line(name)) for name in texts["creator"] if name.strip()),
        abstract=one_line(abstract),
        submitted=next(iter(dates), ""),
        date=next(iter(dates), ""),
        arxiv_id=arxiv_id,
        dois=read_dois(" ".join(one for one in identifiers if one.strip().startswith("doi:"))),
        journal=next(
            (one_line(one) for one in identifiers if not one.strip().startswith(("http", "doi:"))),
            "",
        ),
        keywords=tuple(one_line(one) for one in texts["subject"]),
        comment="; ".join(one_line(one).removeprefix("Comment:").strip() for one in comments),
        language=next((one.strip() for one in texts["language"]), ""),
    )


_DC = ("title", "creator", "subject", "description", "date", "identifier", "language")
