"""The store in one SQLite file."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import apsw
from typing_extensions import override

from nuncius.core.errors import StoreError
from nuncius.store import audit, place, texts
from nuncius.store.backup import copy_database, note_backup
from nuncius.store.connection import Connection
from nuncius.store.database import Database
from nuncius.store.desk import NotesAndRules
from nuncius.store.faults import explain
from nuncius.store.journal import Journal
from nuncius.store.migrate import prepare, prepare_readonly
from nuncius.store.papers import Papers
from nuncius.store.passages import Passages
from nuncius.store.protocols import Store
from nuncius.store.works import Works

_GENERATION = "SELECT generation FROM index_generation"
_SHORT_TEXTS = """
    SELECT paper_id FROM papers JOIN paper_texts USING (text_id)
    WHERE passage_count != (
        SELECT count(*) FROM passages
        WHERE id BETWEEN paper_texts.text_id << 20 AND ((paper_texts.text_id + 1) << 20) - 1
    )
"""
_UNINDEXED = """
    SELECT (SELECT count(*) FROM passages), (SELECT count(*) FROM passages_fts_docsize),
        (SELECT count(*) FROM passages
            WHERE id NOT IN (SELECT id FROM passages_fts_docsize))
"""
_LOST_PASSAGES = """
    SELECT count(*) FROM passages WHERE id >> 20 NOT IN (SELECT text_id FROM paper_texts)
"""


class SqliteStore(Store):
    """One open database and its rooms; make it with `nuncius.store.open_store`.

    It may be used from several event loops and threads; `close` it when done.
    """

    def __init__(self, home: Path, database: Database, lock: place.UseLock | None) -> None:
        leases = home / "leases"
        self._database = database
        self._lock = lock
        self._journal = Journal(database, leases)
        self._papers = Papers(database, leases)
        self._passages = Passages(database)
        self._desk = NotesAndRules(database)
        self._works = Works(database)

    @classmethod
    async def open(cls, home: Path, path: Path, *, readonly: bool = False) -> Self:
        """Open the database; see `nuncius.store.open_store`."""
        store = await asyncio.to_thread(cls._open, Path(home), Path(path), readonly)
        if not readonly:
            await store.finish_what_was_cut_off()
        return store

    @classmethod
    def _open(cls, home: Path, path: Path, readonly: bool) -> Self:
        path = path.absolute()
        place.refuse_what_is_no_file(path)
        place.refuse_network_file_system(path.resolve(), place.mount_table())
        lock = _use_lock(path, readonly=readonly)
        try:
            if readonly:
                if lock:
                    lock.share()
                database = Database(path, readonly=True, immutable=prepare_readonly(path))
            else:
                assert lock
                prepare(path, lock)
                database = Database(path)
            return cls(home, database, lock)
        except BaseException as error:
            if lock:
                lock.close()
            if isinstance(error, apsw.Error):
                raise explain(error, path) from error
            raise

    async def finish_what_was_cut_off(self) -> None:
        """Complete upgrades and deletions, and drop half-written texts of processes that died."""
        await self._papers.write_missing_words()
        await self._journal.finish_deletions()
        await self._papers.sweep()
        await asyncio.to_thread(self._papers.forget_dead_writers)

    @property
    def path(self) -> Path:
        """Return the file."""
        return self._database.path

    @property
    @override
    def journal(self) -> Journal:
        return self._journal

    @property
    @override
    def papers(self) -> Papers:
        return self._papers

    @property
    @override
    def passages(self) -> Passages:
        return self._passages

    @property
    @override
    def desk(self) -> NotesAndRules:
        return self._desk

    @property
    @override
    def works(self) -> Works:
        return self._works

    @override
    async def generation(self) -> int:
        return await self._database.read(lambda connection: connection.number(_GENERATION))

    @override
    async def backup(self, target: Path) -> None:
        def copy(connection: Connection) -> None:
            copy_database(connection, target.absolute())
            if not self._database.readonly:
                note_backup(self._database.path, target.absolute())

        await self._database.apart(copy)

    @override
    async def check(self) -> Sequence[str]:
        return await self._database.apart(_check)

    async def leftover_texts(self) -> int:
        """Return how many texts no paper points to: in the making, or not swept yet."""
        return len(await self._database.read(texts.unused_texts))

    async def rebuild_index(self) -> int:
        """Make the search index anew from the stored passages; return how many they are.

        Searches find less until it returns. Cut off, it is completed by the next call.
        """
        await self._database.write(texts.empty_index)
        done = 0
        while added := await self._database.write(texts.index_some):
            done += added
        return done

    @override
    async def close(self) -> None:
        await self._database.close()
        if self._lock:
            self._lock.close()


def _use_lock(path: Path, *, readonly: bool) -> place.UseLock | None:
    try:
        if not readonly:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return place.UseLock(path)
    except OSError as error:
        if readonly:
            return None  # a read-only disk: nobody can replace the file either
        raise StoreError(
            f"The folder of {path} cannot be used ({error.strerror}).",
            hint="Check its permissions, or choose another place with NUNCIUS_HOME.",
        ) from error


def _check(connection: Connection) -> Sequence[str]:
    # integrity_check also asks the full-text index to compare its own parts
    wrong = [str(row[0]) for row in connection.rows("PRAGMA integrity_check(20)")]
    wrong = [text for text in wrong if text != "ok"]
    wrong += [
        f"row {rowid} of {table} points to a missing row of {parent}"
        for table, rowid, parent, _ in connection.rows("PRAGMA foreign_key_check")
    ]
    wrong += [
        f"paper {row[0]} has lost passages: add its file again"
        for row in connection.rows(_SHORT_TEXTS)
    ]
    for passages, indexed, missing in connection.rows(_UNINDEXED):
        if missing or passages != indexed:
            wrong.append(
                f"the search index holds {indexed} of {passages} passages ({missing} missing):"
                " it can be rebuilt"
            )
    lost = connection.number(_LOST_PASSAGES)
    if lost:
        wrong.append(f"{lost} passages belong to no text")
    return [*wrong, *audit.verify(connection)]
