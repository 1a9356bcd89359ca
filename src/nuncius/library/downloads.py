"""From the name of a paper to its text in the library: look it up, fetch it, parse it."""

import asyncio
import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nuncius.core.errors import (
    AccessDeniedError,
    ConfidentialError,
    KeyMissingError,
    NotFoundError,
    NunciusError,
    SettingsError,
)
from nuncius.core.papers import Author, Paper
from nuncius.library.lookup import LookedUp, Lookup
from nuncius.library.records import AddReport, Failure
from nuncius.store.protocols import FileRecord, Store

if TYPE_CHECKING:
    from nuncius.core.records import Link, Record
    from nuncius.library.acquire import Acquired, Attempt, Permit
    from nuncius.library.library import Library
    from nuncius.sources.full_text import Format
    from nuncius.sources.services import Services

FOLDER = "papers"
"""Under the library's own directory: what was fetched."""
Report = Callable[[str, float | None], None]


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A paper whose text is on the disk.

    Attributes:
        acquired: How it came; None: it was there.
        looked: What services told of it; None where nobody was asked.
    """

    paper: Paper
    path: Path
    acquired: "Acquired | None" = None
    looked: LookedUp | None = None

    @property
    def attempts(self) -> "Sequence[Attempt]":
        """Return every place that was asked, in order."""
        return self.acquired.attempts if self.acquired else ()


class Downloads:
    """Fetches papers into the library."""

    def __init__(
        self, store: Store, services: "Services", library: "Library", library_dir: Path
    ) -> None:
        self._store = store
        self._services = services
        self._library = library
        self._folder = library_dir / FOLDER
        self._lookup = Lookup(services)

    async def fetch(
        self,
        name: str,
        *,
        form: "Format" = "auto",
        force: bool = False,
        permit: "Permit | None" = None,
        report: Report | None = None,
    ) -> Downloaded:
        """Fetch the text of a paper that is named by any of its names; parse nothing.

        Raises:
            NotFoundError: Nobody knows it, or no place gives its text; the tries are in the error.
            ConfidentialError: It is confidential: no service is asked about it.
            UsageError: It is no name of a paper.
        """
        held = await self._held(name)
        version = _version(name)
        if held and not force and (path := _present(held, form, version)):
            return Downloaded(held, path)
        if held and held.confidential:
            raise ConfidentialError(
                f"The paper {held.paper_id} is confidential: no service is asked about it.",
                hint="Add its file: `nuncius add FILE --confidential`.",
            )
        asked = (held.arxiv_id or held.bibcode or held.doi or "") if held else name
        if not asked:
            raise NotFoundError(
                f"{name} has no bibcode, arXiv id or DOI by which it could be fetched.",
                hint="Add its file: `nuncius add FILE`.",
            )
        if report:
            report("looking the paper up", None)
        looked = await self._lookup.paper(asked)
        held = held or await self._same(looked)
        if held and not force and (path := _present(held, form, version)):
            return Downloaded(held, path, looked=looked)
        anew = force or (held is not None and held.state == "failed")
        acquired = await self._get(looked.record, form, permit, report, force=anew, version=version)
        paper = await self._keep(held, looked, acquired)
        return Downloaded(paper, acquired.path, acquired, looked)

    async def add(
        self, name: str, *, force: bool = False, report: Report | None = None
    ) -> AddReport:
        """Fetch and parse a paper, as the user asked by its name."""
        try:
            downloaded = await self.fetch(name, force=force, report=report)
            if report:
                report("parsing", None)
            return await self.parse(downloaded, force=force)
        except NunciusError as error:
            return AddReport(failed=[Failure(name, _kind(error), error.message, error.hint)])

    async def parse(self, downloaded: Downloaded, *, force: bool = False) -> AddReport:
        """Read a fetched text into the library; what services told of the paper stays its front."""
        paper = downloaded.paper
        if paper.state == "indexed" and not force and downloaded.acquired is None:
            return AddReport(unchanged=[paper])
        if force:
            await self._store.papers.put_files([_unread(downloaded.path, paper.paper_id)])
        report = await self._library.add([downloaded.path])
        found = next(iter([*report.updated, *report.added, *report.unchanged]), None)
        if found is None:
            await self._settle_duplicate(paper, report)
            if report.failed and paper.state != "indexed":  # the next time it is fetched anew
                failed = paper.model_copy(update={"state": "failed"})
                await self._store.papers.put(failed, None, ())
            return report
        told = await self._store.works.get([paper.paper_id])
        kept = found
        if told:
            facts = _facts(told[paper.paper_id].record) | {"label": paper.label}
            kept = await self._store.papers.put(found.model_copy(update=facts), None, ())
        if paper.state == "indexed":
            return AddReport(updated=[kept])
        return AddReport(added=[kept])

    async def _settle_duplicate(self, paper: Paper, report: AddReport) -> None:
        """Give a text that was there under another paper its names; drop the row made for it."""
        for _, twin in report.duplicates:
            told = await self._store.works.get([paper.paper_id])
            if twin == paper.paper_id or not told:
                continue
            record = told[paper.paper_id].record
            held = await self._store.papers.find(twin)
            await self._store.papers.remove(paper.paper_id)
            await self._store.papers.put(held.model_copy(update=_facts(record)), None, ())
            await self._store.works.put(twin, record)

    # --- steps ------------------------------------------------------------------------------------

    async def _held(self, name: str) -> Paper | None:
        with contextlib.suppress(NotFoundError):
            return await self._store.papers.find(name)
        return None

    async def _same(self, looked: LookedUp) -> Paper | None:
        """Return the paper of the library that a looked-up work is, by any of its names."""
        from nuncius.library.search import names_of

        held = await self._store.works.papers_of(names_of(looked.record))
        papers = await self._store.papers.get(list(held.values()))
        return next(iter(papers.values()), None)

    async def _get(
        self,
        record: "Record",
        form: "Format",
        permit: "Permit | None",
        report: Report | None,
        *,
        force: bool,
        version: int | None,
    ) -> "Acquired":
        from nuncius.library.acquire import Acquire

        await asyncio.to_thread(self._folder.mkdir, mode=0o700, parents=True, exist_ok=True)
        acquire = Acquire(self._services, self._folder, copies=self._copies, permit=permit)
        return await acquire.get(record, form, version=version, report=report, force=force)

    async def _copies(self, record: "Record") -> "Sequence[Link]":
        """Ask who knows of open copies; one that cannot tell leaves the others."""
        from nuncius.sources.openalex import OpenAlex
        from nuncius.sources.unpaywall import Unpaywall

        doi = next((doi for doi in record.dois if not doi.startswith("10.48550/")), "")
        if not doi:
            return ()
        asked = [OpenAlex(self._services).by_doi(doi)]
        if self._services.settings.contact_email:
            asked.insert(0, Unpaywall(self._services).by_doi(doi))
        links: list[Link] = []
        for answer in await asyncio.gather(*asked, return_exceptions=True):
            if isinstance(answer, NunciusError) or answer is None:
                continue
            if isinstance(answer, BaseException):
                raise answer
            links += answer.links
        return links

    async def _keep(self, held: Paper | None, looked: LookedUp, acquired: "Acquired") -> Paper:
        """Write down what is there now; it is parsed later."""
        record = looked.record
        facts = {**_facts(record), "label": _label(record, acquired.label)}
        if held:
            state = held.state if held.state == "indexed" else "downloaded"
            paper = held.model_copy(update={**facts, "state": state})
        else:
            paper = Paper.model_validate({"paper_id": "", **facts, "state": "downloaded"})
        kept = await self._store.papers.put(
            paper, None, [await asyncio.to_thread(_unread, acquired.path, paper.paper_id)]
        )
        await self._store.works.put(kept.paper_id, record)
        return kept


def _facts(record: "Record") -> dict[str, object]:
    """Return what a record tells of a paper; what it does not tell is left as it is."""
    told = {
        "title": record.title,
        "authors": tuple(Author(name=author.name) for author in record.authors),
        "year": record.year,
        "bibcode": record.bibcode,
        "arxiv_id": record.arxiv_id,
        "doi": record.doi,
        "abstract": record.abstract,
    }
    return {name: value for name, value in told.items() if value}


def _label(record: "Record", told: str) -> str:
    """Return what a reader must know of a text: that it was taken back, and which version it is.

    Args:
        told: What the place that gave it says of it.
    """
    taken_back = record.status if record.status in {"retracted", "withdrawn"} else ""
    return "; ".join(part for part in (told, taken_back if taken_back not in told else "") if part)


def _version(name: str) -> int | None:
    """Return the version of arXiv that a name asks for; None: any."""
    from nuncius.core.identifiers import identify

    wanted = identify(name)
    return wanted.version if wanted and wanted.kind == "arxiv" else None


def _unread(path: Path, paper_id: str) -> FileRecord:
    """Return a file's row before it is parsed: without its digest, so that `add` reads it."""
    status = path.stat()
    return FileRecord(str(path), "", status.st_size, 0, paper_id)


_KINDS: Mapping[str, Sequence[str]] = {
    "auto": (),
    "pdf": (".pdf",),
    "html": (".html", ".htm", ".xhtml"),
    "source": (".tex", ".gz", ".tgz", ".tar", ".zip"),
}
"""Endings of files, by the format that is asked for; none: any will do."""


def _present(paper: Paper, form: "Format", version: int | None) -> Path | None:
    """Return a file of the paper that is still there, was readable, and is what is asked for."""
    if paper.state == "failed":
        return None
    endings = _KINDS[form]
    marked = re.compile(rf"v{version}\b") if version else None
    paths = (Path(file.path) for file in paper.files if file.present)
    return next(
        (
            path
            for path in paths
            if path.is_file()
            and (not endings or path.name.lower().endswith(tuple(endings)))
            and (marked is None or marked.search(path.name))
        ),
        None,
    )


def _kind(error: NunciusError) -> str:
    kinds: Sequence[tuple[type[NunciusError], str]] = (
        (AccessDeniedError, "unavailable"),
        (ConfidentialError, "confidential"),
        (NotFoundError, "not_found"),
        (KeyMissingError, "unavailable"),
        (SettingsError, "unavailable"),
    )
    return next((word for known, word in kinds if isinstance(error, known)), "upstream")
