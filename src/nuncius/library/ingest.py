"""Add files: walk, recognise what is known, parse the rest, keep each paper once."""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nuncius.core.documents import Document
from nuncius.core.errors import AccessDeniedError, DocumentError, NotFoundError
from nuncius.core.papers import Author, Paper
from nuncius.core.text import clean, fold_for_identity
from nuncius.library.records import AddReport, Failure
from nuncius.library.walk import Found, candidates
from nuncius.parsing.passages import cut, to_markdown
from nuncius.store.protocols import FileRecord, PaperContent, Store
from nuncius.walls.paths import read_user_file

MAX_FILE_BYTES = 200 * 1024 * 1024
BATCH_BYTES = 12 * 1024 * 1024  # read, parsed and held at once: a larger one takes more memory
BATCH_FILES = 200

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class _Unread:
    """A file whose bytes are new and have to be parsed."""

    record: FileRecord
    data: bytes


@dataclass(slots=True)
class _Report:
    added: list[Paper] = field(default_factory=list[Paper])
    updated: list[Paper] = field(default_factory=list[Paper])
    unchanged: dict[str, Paper] = field(default_factory=dict[str, Paper])
    failed: list[Failure] = field(default_factory=list[Failure])
    duplicates: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    vanished: list[str] = field(default_factory=list[str])

    def fail(self, record: FileRecord) -> None:
        self.failed.append(Failure(record.path, record.error_kind, record.reason, record.hint))


class Ingest:
    """One `add`. Files are looked at in order; what is known is not read again."""

    def __init__(
        self, store: Store, *, jobs: int = 1, confidential: bool = False, label: str = ""
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._confidential = confidential
        self._label = label
        self._known: dict[str, FileRecord] = {}
        self._by_bytes: dict[str, FileRecord] = {}
        self._papers: dict[str, Paper] = {}

    async def add(
        self, what: Sequence[str | Path], *, progress: Progress | None = None
    ) -> AddReport:
        """Add everything that is named; see `Library.add`."""
        report = _Report()
        for record in await self._store.papers.files():
            self._remember(record)
        self._papers = {p.paper_id: p for p in await self._store.papers.papers()}
        found = await asyncio.to_thread(candidates, what)
        report.failed.extend(found.failures)
        total = len(found.files)
        done = 0
        async for batch in self._batches(found.files, report):
            for unread, outcome in await self._parse(batch):
                if progress:
                    progress(Path(unread.record.path).name, done, total)
                await self._keep(unread, outcome, report)
                done += 1
        await self._find_vanished(found, report)
        if progress:
            progress("", total, total)
        return AddReport(
            added=tuple(report.added),
            updated=tuple(report.updated),
            unchanged=tuple(report.unchanged.values()),
            failed=tuple(report.failed),
            duplicates=tuple(report.duplicates),
            vanished=tuple(report.vanished),
        )

    def _remember(self, record: FileRecord) -> None:
        self._known[record.path] = record
        if record.sha256 and record.paper_id:
            self._by_bytes[record.sha256] = record

    # --- reading ---------------------------------------------------------------------------------

    async def _batches(
        self, files: Sequence[Path], report: _Report
    ) -> AsyncIterator[Sequence[_Unread]]:
        batch: list[_Unread] = []
        seen: set[str] = set()
        for path in files:
            unread = await self._read(path, report)
            if unread is None:
                continue
            if unread.record.sha256 in seen:  # the same bytes again: wait for the first to be kept
                yield batch
                batch, seen = [], set()
                unread = await self._read(path, report)
                if unread is None:
                    continue
            batch.append(unread)
            seen.add(unread.record.sha256)
            if len(batch) == BATCH_FILES or sum(len(u.data) for u in batch) >= BATCH_BYTES:
                yield batch
                batch, seen = [], set()
        if batch:
            yield batch

    async def _read(self, path: Path, report: _Report) -> _Unread | None:
        """Return the file where it has to be parsed; else note its outcome."""
        known = self._known.get(str(path))
        try:
            found = await asyncio.to_thread(_look, path, known)
        except (OSError, AccessDeniedError, NotFoundError, DocumentError) as error:
            report.failed.append(_unreadable(path, error))
            return None
        if found is None:
            self._note_known(self._known[str(path)], report)
            return None
        record, data = found
        if known and known.sha256 == record.sha256:
            record = replace(known, mtime_ns=record.mtime_ns, present=True)
            await self._store.papers.put_files([record])
            self._remember(record)
            self._note_known(record, report)
            return None
        twin = self._by_bytes.get(record.sha256)
        if twin:
            await self._same_paper(replace(record, kind=twin.kind), twin.paper_id, report)
            return None
        return _Unread(record, data)

    def _note_known(self, record: FileRecord, report: _Report) -> None:
        if record.error_kind:
            report.fail(record)
        elif record.paper_id in self._papers:
            report.unchanged[record.paper_id] = self._papers[record.paper_id]

    async def _same_paper(self, record: FileRecord, paper_id: str, report: _Report) -> None:
        record = replace(record, paper_id=paper_id)
        await self._store.papers.put_files([record])
        self._remember(record)
        report.duplicates.append((record.path, paper_id))

    # --- parsing and keeping -----------------------------------------------------------------------

    async def _parse(
        self, batch: Sequence[_Unread]
    ) -> Sequence[tuple[_Unread, Document | DocumentError]]:
        from nuncius.library.parse import parse_files

        outcomes = await parse_files([(u.record.path, u.data) for u in batch], jobs=self._jobs)
        return list(zip(batch, outcomes, strict=True))

    async def _keep(
        self, unread: _Unread, outcome: Document | DocumentError, report: _Report
    ) -> None:
        before = self._known.get(unread.record.path)
        if isinstance(outcome, DocumentError):
            record = replace(
                unread.record,
                error_kind=outcome.kind,
                reason=outcome.message,
                hint=outcome.hint,
                paper_id=before.paper_id if before else "",
            )
            await self._store.papers.put_files([record])
            self._remember(record)
            report.fail(record)
            return
        record = replace(unread.record, kind=outcome.kind)
        text_sha256 = hashlib.sha256(
            fold_for_identity("\n".join(page.text for page in outcome.layer)).encode()
        ).hexdigest()
        paper = self._paper(outcome, Path(record.path))
        old = self._replaced(before)
        if old:
            paper = paper.model_copy(
                update={
                    "paper_id": old.paper_id,
                    "cite_key": old.cite_key,
                    "added_at": old.added_at,
                    "label": self._label or old.label,
                    "confidential": self._confidential or old.confidential,
                }
            )
        paper = await self._without_foreign_names(paper)
        # Asked last: had another process added this text a moment ago, its paper's names would
        # have been taken for foreign ones.
        twin = await self._store.papers.by_text(text_sha256)
        if twin and before and before.paper_id == twin.paper_id:
            await self._store.papers.put_files([replace(record, paper_id=twin.paper_id)])
            self._remember(replace(record, paper_id=twin.paper_id))
            report.unchanged[twin.paper_id] = twin
            return
        if twin:
            await self._same_paper(record, twin.paper_id, report)
            return
        kept = await self._store.papers.put(
            paper,
            PaperContent(
                text_sha256=text_sha256,
                engine=outcome.engine,
                verdict=outcome.verdict,
                markdown=clean(to_markdown(outcome)),
                layer=outcome.layer,
                passages=cut(outcome),
            ),
            [record],
        )
        self._papers[kept.paper_id] = kept
        self._remember(replace(record, paper_id=kept.paper_id))
        (report.updated if old else report.added).append(kept)

    def _replaced(self, before: FileRecord | None) -> Paper | None:
        """Return the paper that a changed file was, where no other file still holds it."""
        if before is None or not before.paper_id:
            return None
        paper = self._papers.get(before.paper_id)
        others = [
            record
            for record in self._known.values()
            if record.paper_id == before.paper_id and record.path != before.path and record.present
        ]
        return None if others else paper

    def _paper(self, document: Document, path: Path) -> Paper:
        front = document.front
        return Paper.model_construct(
            paper_id="",
            title=clean(front.title).strip() or clean(_name_of(path)),
            authors=tuple(Author(name=clean(name)) for name in front.authors),
            year=front.year,
            bibcode=front.bibcode,
            arxiv_id=front.arxiv_id,
            doi=front.doi,
            abstract=clean(front.abstract),
            state="indexed",
            files=(),
            pages=document.page_count,
            language=document.language,
            label=self._label,
            confidential=self._confidential,
            cite_key="",
            added_at="",
        )

    async def _without_foreign_names(self, paper: Paper) -> Paper:
        """Drop identifiers that belong to another paper already: errata print their original's."""
        dropped: dict[str, None] = {}
        for name in ("doi", "arxiv_id", "bibcode"):
            value = getattr(paper, name)
            if not value:
                continue
            try:
                owner = await self._store.papers.find(value)
            except NotFoundError:
                continue
            if owner.paper_id != paper.paper_id:
                dropped[name] = None
        return paper.model_copy(update=dropped) if dropped else paper

    async def _find_vanished(self, found: Found, report: _Report) -> None:
        seen = {str(file) for file in found.files}
        gone: list[FileRecord] = []
        for path, record in self._known.items():
            if path in seen or not any(Path(path).is_relative_to(root) for root in found.roots):
                continue
            if await asyncio.to_thread(os.path.exists, path):
                continue
            report.vanished.append(path)
            if record.present:
                gone.append(replace(record, present=False))
        if gone:
            await self._store.papers.put_files(gone)


def _look(path: Path, known: FileRecord | None) -> tuple[FileRecord, bytes] | None:
    """Read a file, unless size and time say that it is the one that is known."""
    stat = path.stat()
    if (
        known
        and known.present
        and (known.size_bytes, known.mtime_ns) == (stat.st_size, stat.st_mtime_ns)
    ):
        return None
    data, stat = read_user_file(path, MAX_FILE_BYTES)
    digest = hashlib.sha256(data).hexdigest()
    return FileRecord(str(path), digest, len(data), stat.st_mtime_ns), data


def _name_of(path: Path) -> str:
    return path.stem.replace("_", " ").strip() or path.name


def _unreadable(path: Path, error: Exception) -> Failure:
    if isinstance(error, DocumentError):
        return Failure(str(path), error.kind, error.message, error.hint)
    if isinstance(error, PermissionError):
        return Failure(
            str(path), "unreadable", "No right to read this file.", f"Try: chmod u+r '{path}'"
        )
    if isinstance(error, OSError):
        return Failure(str(path), "unreadable", error.strerror or str(error))
    hint = error.hint if isinstance(error, (AccessDeniedError, NotFoundError)) else ""
    reason = error.message if isinstance(error, (AccessDeniedError, NotFoundError)) else str(error)
    return Failure(str(path), "unreadable", reason, hint)
