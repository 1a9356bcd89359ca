"""Records of the files that were looked at."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nuncius.core.papers import PaperFile
from nuncius.store.connection import Connection
from nuncius.store.protocols import FileRecord
from nuncius.store.records import dump_json, well_formed

# a paper that was removed meanwhile leaves its file's record without a paper
_UPSERT = """
    INSERT INTO files (path, sha256, size_bytes, mtime_ns, paper_id, kind, error_kind, reason,
        hint, present)
    VALUES (?, ?, ?, ?, (SELECT paper_id FROM papers WHERE paper_id = ?), ?, ?, ?, ?, ?)
    ON CONFLICT (path) DO UPDATE SET sha256 = excluded.sha256, size_bytes = excluded.size_bytes,
        mtime_ns = excluded.mtime_ns, paper_id = excluded.paper_id, kind = excluded.kind,
        error_kind = excluded.error_kind, reason = excluded.reason, hint = excluded.hint,
        present = excluded.present
"""
_ALL = """
    SELECT path, sha256, size_bytes, mtime_ns, coalesce(paper_id, ''), kind, error_kind, reason,
        hint, present
    FROM files ORDER BY path
"""
_ONE = """
    SELECT path, sha256, size_bytes, mtime_ns, coalesce(paper_id, ''), kind, error_kind, reason,
        hint, present
    FROM files WHERE path = ?
"""
_OF_PAPERS = """
    SELECT paper_id, path, sha256, size_bytes, kind, present FROM files
    WHERE paper_id IN (SELECT value FROM json_each(?)) ORDER BY path
"""


def upsert(connection: Connection, records: Iterable[FileRecord], paper_id: str = "") -> None:
    """Insert or replace records; `paper_id`, where given, is the paper of them all."""
    connection.many(
        _UPSERT,
        [
            (
                _stored(record.path), record.sha256, record.size_bytes, record.mtime_ns,
                paper_id or record.paper_id, record.kind, record.error_kind,
                well_formed(record.reason), well_formed(record.hint), record.present,
            )
            for record in records
        ],
    )  # fmt: skip


def every(connection: Connection) -> Sequence[FileRecord]:
    """Return all records, by path."""
    return [_record(row) for row in connection.rows(_ALL)]


def one(connection: Connection, path: str) -> FileRecord | None:
    """Return the record of one path, or None."""
    row = connection.row(_ONE, (_stored(path),))
    return _record(row) if row else None


def of_papers(
    connection: Connection, paper_ids: Sequence[str]
) -> Mapping[str, tuple[PaperFile, ...]]:
    """Return each paper's files, by path."""
    found: dict[str, list[PaperFile]] = {}
    for paper_id, path, sha256, size, kind, present in connection.rows(
        _OF_PAPERS, (dump_json(list(paper_ids)),)
    ):
        # a model holds Unicode only; the record keeps the exact path
        shown = path if isinstance(path, str) else path.decode("utf-8", "replace")
        found.setdefault(paper_id, []).append(
            PaperFile(path=shown, sha256=sha256, size_bytes=size, kind=kind, present=bool(present))
        )
    return {paper_id: tuple(entries) for paper_id, entries in found.items()}


def _record(row: Sequence[Any]) -> FileRecord:
    path = row[0] if isinstance(row[0], str) else os.fsdecode(row[0])
    return FileRecord(path, *row[1:9], present=bool(row[9]))


def _stored(path: str) -> str | bytes:
    """Return a path as it is kept: text, or bytes where its name is no UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path
