"""One SQLite file: one thread that writes, in groups, and a few that read.

Every write is a job: a function of the writer's connection. The writer takes all jobs that wait,
runs each in a savepoint of one transaction, and tells the callers after COMMIT. So a thousand
small writes cost a few syncs, one job that fails spoils no other, and nobody is told of a write
that is not on disk.

Jobs may be run again: where SQLite itself rolls a group back (a full disk), each job of the group
is tried alone. A job therefore depends on nothing but its arguments and the connection.
"""

import asyncio
import os
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import apsw

from nuncius.core.errors import DatabaseBrokenError, StoreError
from nuncius.store.connection import Connection
from nuncius.store.faults import broken, explain

T = TypeVar("T")
Work = Callable[[Connection], T]

_GROUP = 1000  # jobs taken at once
_HOLD_S = 0.03  # a transaction takes no further job after this, so that other processes get in
_READERS = 4


@dataclass(slots=True)
class _Job:
    """One write and who waits for it; `future` belongs to `loop`."""

    work: Work[Any]
    durable: bool
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    value: Any = None
    error: BaseException | None = None


class _GroupLostError(Exception):
    """SQLite rolled the whole transaction back, or could not commit it."""

    def __init__(self, reason: apsw.Error) -> None:
        super().__init__(str(reason))
        self.reason = reason


class Database:
    """An open file, made ready by `migrate.prepare`.

    Args:
        path: The file; it exists and has the newest schema.
        readonly: Writes are refused.
        immutable: The disk is read-only, see `Connection`.
        vfs: Name of an SQLite VFS, for tests of failing disks.
    """

    def __init__(
        self,
        path: Path,
        *,
        readonly: bool = False,
        immutable: bool = False,
        vfs: str | None = None,
    ) -> None:
        self.path = path
        self.readonly = readonly
        self._connect = lambda: Connection(path, readonly=readonly, immutable=immutable, vfs=vfs)
        self._broken: DatabaseBrokenError | None = None
        self._closed = False
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._local = threading.local()
        self._reader_connections: list[Connection] = []
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="nuncius-read")
        self._synchronous = ""
        self._writer_connection = self._connect()
        # a first read begins the log, so that its file is there to be watched
        self._writer_connection.rows("SELECT count(*) FROM sqlite_schema")
        watched = [str(path)] if readonly else [str(path), f"{path}-wal"]
        self._identity = [(name, _identity(name)) for name in watched]
        self._writer = threading.Thread(
            target=self._write_until_closed, name="nuncius-write", daemon=True
        )
        if not readonly:
            self._writer.start()

    # --- for the rooms of the store ---------------------------------------------------------------

    async def write(self, work: Work[T], *, durable: bool = False) -> T:
        """Run `work` in the next group and return its value once it is committed.

        A cancelled caller does not take its job back: it is committed or not, as a whole.

        Args:
            durable: Sync to the disk before returning: survives a power cut.

        Raises:
            StoreError: It could not be written; nothing of this job was.
            Exception: Whatever `work` raised; its changes are undone.
        """
        self._refuse_if_unusable(writing=True)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._jobs.put(_Job(work, durable, loop, future))
        return await future

    async def read(self, work: Work[T]) -> T:
        """Run `work` on one consistent snapshot that holds every commit acknowledged before."""
        self._refuse_if_unusable(writing=False)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._read, work)

    async def apart(self, work: Work[T]) -> T:
        """Run `work` on a connection of its own, outside of any transaction: copies and checks.

        A connection that has searched before keeps parts of the full-text index, and SQLite's
        check (3.54) takes them for damage once another connection has changed the index.
        """
        self._refuse_if_unusable(writing=False)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._apart, work)

    async def close(self) -> None:
        """Commit what waits, then close all connections. Closing twice is nothing."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._close)

    # --- reading ----------------------------------------------------------------------------------

    def _read(self, work: Work[T]) -> T:
        def in_snapshot(connection: Connection) -> T:
            connection.run("BEGIN")
            try:
                return work(connection)
            finally:
                if connection.in_transaction:
                    connection.run("ROLLBACK")

        return self._on_reader(in_snapshot)

    def _on_reader(self, work: Work[T]) -> T:
        try:
            self._refuse_if_replaced()
            connection: Connection | None = getattr(self._local, "connection", None)
            if connection is None:
                connection = self._local.connection = self._connect()
                self._reader_connections.append(connection)
            return work(connection)
        except apsw.Error as error:
            raise self._told(error) from error

    def _apart(self, work: Work[T]) -> T:
        try:
            self._refuse_if_replaced()
            connection = self._connect()
            try:
                return work(connection)
            finally:
                connection.close()
        except apsw.Error as error:
            raise self._told(error) from error

    # --- writing ----------------------------------------------------------------------------------

    def _write_until_closed(self) -> None:
        open_for_more = True
        while open_for_more:
            jobs, open_for_more = self._next_group()
            while jobs:
                done = self._write_group(jobs)
                _tell(jobs[:done])
                del jobs[:done]

    def _next_group(self) -> tuple[list[_Job], bool]:
        """Wait for a job, take all that wait with it; tell whether more may come."""
        jobs: list[_Job] = []
        job = self._jobs.get()
        while job is not None:
            jobs.append(job)
            if len(jobs) == _GROUP or self._jobs.empty():
                return jobs, True
            job = self._jobs.get()  # only this thread takes jobs, so it does not wait
        return jobs, False

    def _write_group(self, jobs: list[_Job]) -> int:
        """Settle some of the first `jobs` and return how many."""
        try:
            return self._transaction(jobs)
        except _GroupLostError as error:
            if len(jobs) > 1:
                for job in jobs:
                    self._write_group([job])
            else:
                jobs[0].error = self._told(error.reason)
        except apsw.Error as error:
            _fail(jobs, self._told(error))
        except Exception as error:  # noqa: BLE001  (a dead writer would leave every caller waiting)
            _fail(jobs, error)
        return len(jobs)

    def _transaction(self, jobs: list[_Job]) -> int:
        self._refuse_if_unusable(writing=False)
        self._refuse_if_replaced()
        connection = self._writer_connection
        self._be_durable(any(job.durable for job in jobs))
        connection.run("BEGIN IMMEDIATE")
        deadline = time.monotonic() + _HOLD_S
        done = 0
        try:
            for job in jobs:
                _run(connection, job)
                done += 1
                if time.monotonic() > deadline:
                    break
            connection.run("COMMIT")
        except apsw.Error as error:
            if connection.in_transaction:
                connection.run("ROLLBACK")
            raise _GroupLostError(error) from error
        for job in jobs[:done]:
            if isinstance(job.error, apsw.Error):
                job.error = self._told(job.error)
        return done

    def _be_durable(self, durable: bool) -> None:
        wanted = "FULL" if durable else "NORMAL"
        if wanted != self._synchronous:  # may only be changed outside of a transaction
            self._writer_connection.run(
                "PRAGMA synchronous = FULL" if durable else "PRAGMA synchronous = NORMAL"
            )
            self._synchronous = wanted

    # --- what is wrong ----------------------------------------------------------------------------

    def _told(self, error: apsw.Error) -> StoreError:
        told = explain(error, self.path)
        if isinstance(told, DatabaseBrokenError):
            self._broken = told  # a damaged file is not written to again
        return told

    def _refuse_if_unusable(self, *, writing: bool) -> None:
        if self._closed and threading.current_thread() is not self._writer:
            raise StoreError(f"The database {self.path} was closed.")
        if self._broken:
            raise self._broken
        if writing and self.readonly:
            raise StoreError(
                f"{self.path} was opened for reading only.", hint="Open it without `readonly`."
            )

    def _refuse_if_replaced(self) -> None:
        for name, identity in self._identity:
            if _identity(name) != identity:
                self._broken = broken(
                    self.path, f"was deleted or replaced while it was in use ({name})"
                )
                raise self._broken

    def _close(self) -> None:
        if not self.readonly:
            self._jobs.put(None)
            self._writer.join()
            late: list[_Job] = []
            while not self._jobs.empty():
                job = self._jobs.get()
                if job:
                    late.append(job)
            _fail(late, StoreError(f"The database {self.path} was closed."))
            _tell(late)
        self._readers.shutdown(wait=True)
        for connection in (*self._reader_connections, self._writer_connection):
            connection.close()


def _run(connection: Connection, job: _Job) -> None:
    """Run one job in a savepoint. Raises apsw.Error where the whole transaction is gone."""
    job.value = job.error = None
    connection.run("SAVEPOINT job")
    try:
        job.value = job.work(connection)
    except Exception as error:
        if not connection.in_transaction:
            if isinstance(error, apsw.Error):
                raise
            raise apsw.AbortError("a job ended the transaction") from error
        connection.run("ROLLBACK TO job")
        job.error = error
    connection.run("RELEASE job")


def _fail(jobs: list[_Job], error: Exception) -> None:
    for job in jobs:
        job.error = error


def _tell(jobs: list[_Job]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
    for job in jobs:
        by_loop.setdefault(job.loop, []).append(job)
    for loop, told in by_loop.items():
        with suppress(RuntimeError):  # the loop was closed: its callers are gone
            loop.call_soon_threadsafe(_settle, told)


def _settle(jobs: list[_Job]) -> None:
    for job in jobs:
        if job.future.done():
            continue  # the caller was cancelled
        if job.error is not None:
            job.future.set_exception(job.error)
        else:
            job.future.set_result(job.value)


def _identity(name: str) -> tuple[int, int] | None:
    try:
        found = os.stat(name)  # noqa: PTH116  (asked before every write: Path costs five times more)
    except OSError:
        return None
    return found.st_dev, found.st_ino
