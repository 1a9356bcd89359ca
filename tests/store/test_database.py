"""The writer's groups, and what goes wrong with disks and files."""

import asyncio
import threading
import uuid
from collections.abc import Generator
from pathlib import Path

import apsw
import pytest

from nuncius.core.errors import (
    DatabaseBrokenError,
    DatabaseBusyError,
    NotFoundError,
    StoreError,
)
from nuncius.store import connection as connections
from nuncius.store.connection import Connection
from nuncius.store.database import Database
from nuncius.store.migrate import prepare
from nuncius.store.place import UseLock
from nuncius.store.sqlite import SqliteStore
from store.disk import Disk

_PUT = "INSERT INTO notes (paper_id, quote, note, color, created_at, agent) VALUES ('', ?, '', '', '', '')"
_GET = "SELECT quote FROM notes ORDER BY id"


@pytest.fixture
def disk() -> Generator[Disk, None, None]:
    made = Disk(f"disk-{uuid.uuid4().hex}")
    yield made
    made.unregister()


def _open(path: Path, disk: Disk | None = None) -> Database:
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = UseLock(path)
    prepare(path, lock)
    lock.close()
    return Database(path, vfs=disk.name if disk else None)


async def _put(database: Database, text: str, *, durable: bool = False) -> None:
    await database.write(lambda connection: connection.run(_PUT, (text,)), durable=durable)


async def _all(database: Database) -> list[str]:
    return [str(row[0]) for row in await database.read(lambda connection: connection.rows(_GET))]


async def test_a_job_that_fails_spoils_no_other_of_its_group(database_path: Path) -> None:
    database = _open(database_path)
    gate = threading.Event()
    waiting = asyncio.ensure_future(database.write(lambda _connection: gate.wait(5)))

    def half(connection: Connection) -> None:
        connection.run(_PUT, ("half",))
        raise NotFoundError("no such thing")

    jobs = [_put(database, "a"), database.write(half), _put(database, "b")]
    group = asyncio.gather(*jobs, return_exceptions=True)
    await asyncio.sleep(0)  # all three wait for the writer now
    gate.set()
    await waiting
    done = await group
    assert [type(outcome) for outcome in done] == [type(None), NotFoundError, type(None)]
    assert await _all(database) == ["a", "b"]
    await database.close()


async def test_a_job_that_breaks_a_rule_of_the_schema_is_a_store_error(
    database_path: Path,
) -> None:
    database = _open(database_path)
    with pytest.raises(StoreError, match="NOT NULL"):
        await database.write(lambda connection: connection.run(_PUT, (None,)))
    await _put(database, "after")
    assert await _all(database) == ["after"]
    await database.close()


async def test_a_cancelled_caller_does_not_disturb_the_writer(database_path: Path) -> None:
    database = _open(database_path)
    gate = threading.Event()
    slow = asyncio.ensure_future(database.write(lambda _connection: gate.wait(5)))
    cancelled = asyncio.ensure_future(_put(database, "whole"))
    await asyncio.sleep(0)
    cancelled.cancel()
    gate.set()
    await slow
    await _put(database, "next")
    assert await _all(database) == ["whole", "next"]
    await database.close()


async def test_closing_commits_what_waits_and_refuses_the_rest(database_path: Path) -> None:
    database = _open(database_path)
    waiting = [asyncio.ensure_future(_put(database, str(i))) for i in range(50)]
    await asyncio.sleep(0)
    await database.close()
    await asyncio.gather(*waiting)
    await database.close()
    for late in (_put(database, "late"), _all(database)):
        with pytest.raises(StoreError, match="closed"):
            await late
    again = _open(database_path)
    assert await _all(again) == [str(i) for i in range(50)]
    await again.close()


def test_it_serves_several_event_loops(database_path: Path) -> None:
    database = _open(database_path)

    async def some(name: int) -> None:
        for i in range(20):
            await _put(database, f"{name}-{i}")

    def run(name: int) -> None:
        asyncio.run(some(name))

    threads = [threading.Thread(target=run, args=(name,)) for name in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    async def count() -> int:
        found = len(await _all(database))
        await database.close()
        return found

    assert asyncio.run(count()) == 60


async def test_readers_see_one_snapshot_and_cannot_write(database_path: Path) -> None:
    database = _open(database_path)
    await _put(database, "first")
    seen, go = threading.Event(), threading.Event()

    def twice(connection: Connection) -> tuple[int, int]:
        before = len(connection.rows(_GET))
        seen.set()
        go.wait(5)
        return before, len(connection.rows(_GET))

    reading = asyncio.ensure_future(database.read(twice))
    await asyncio.to_thread(seen.wait, 5)
    await _put(database, "second")
    go.set()
    assert await reading == (1, 1)
    await database.read(lambda connection: connection.run(_PUT, ("by a reader",)))
    assert await _all(database) == ["first", "second"]
    await database.close()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (apsw.FullError, "is full; nothing of this change was written"),
        (apsw.IOError, "disk failed"),
        (apsw.ReadOnlyError, "read-only"),
    ],
)
async def test_a_failing_disk_loses_nothing_and_is_told(
    database_path: Path, disk: Disk, error: type[Exception], told: str
) -> None:
    database = _open(database_path, disk)
    await _put(database, "before")
    disk.write_error = error
    jobs = [_put(database, f"lost-{i}", durable=i % 2 == 0) for i in range(5)]
    outcomes = await asyncio.gather(*jobs, return_exceptions=True)
    assert all(isinstance(o, StoreError) and told in str(o) for o in outcomes), outcomes
    assert await _all(database) == ["before"]
    disk.write_error = None
    await _put(database, "after")
    assert await _all(database) == ["before", "after"]
    await database.close()
    again = _open(database_path)
    assert await _all(again) == ["before", "after"]
    await again.close()


async def test_a_power_cut_loses_no_durable_write(
    database_path: Path, disk: Disk, tmp_path: Path
) -> None:
    database = _open(database_path, disk)
    disk.synced[str(database_path)] = database_path.read_bytes()
    for i in range(24):  # enough for a checkpoint in between
        durable = i % 3 == 2
        await _put(database, f"{i}:" + "x" * 250_000, durable=durable)
        if durable:
            folder = tmp_path / f"cut-{i}"
            disk.survivors(folder)
            survivor = Connection(folder / database_path.name)
            assert survivor.value("PRAGMA integrity_check") == "ok"
            assert survivor.number("SELECT count(*) FROM notes") == i + 1
            survivor.close()
    assert b"9:xxx" in disk.synced[str(database_path)]  # there was a checkpoint
    await database.close()


async def test_a_lock_of_another_process_is_waited_for(database_path: Path) -> None:
    database = _open(database_path)
    other = Connection(database_path)
    other.run("BEGIN IMMEDIATE")
    waiting = asyncio.ensure_future(_put(database, "patient"))
    await asyncio.sleep(0.3)
    assert not waiting.done()
    other.run("COMMIT")
    other.close()
    await waiting
    assert await _all(database) == ["patient"]
    await database.close()


async def test_a_lock_that_stays_is_told(
    database_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "BUSY_TIMEOUT_MS", 50)
    database = _open(database_path)
    other = Connection(database_path)
    other.run("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseBusyError, match="locked for too long"):
        await _put(database, "in vain")
    other.run("ROLLBACK")
    other.close()
    await _put(database, "later")
    assert await _all(database) == ["later"]
    await database.close()


@pytest.mark.parametrize("ending", ["", "-wal"])
async def test_a_file_deleted_while_in_use_is_noticed(store: SqliteStore, ending: str) -> None:
    session = await store.journal.create_session()
    store.path.with_name(store.path.name + ending).unlink()
    for act in (store.journal.create_session(), store.journal.session(session.id), store.check()):
        with pytest.raises(DatabaseBrokenError, match="deleted or replaced while it was in use"):
            await act


async def test_a_file_replaced_while_in_use_is_noticed(store: SqliteStore) -> None:
    await store.journal.create_session()
    copy = store.path.with_name("copy")
    copy.write_bytes(store.path.read_bytes())
    copy.replace(store.path)
    with pytest.raises(DatabaseBrokenError, match="replaced while it was in use"):
        await store.journal.create_session()


async def test_damage_met_while_running_stops_all_writing(database_path: Path, disk: Disk) -> None:
    database = _open(database_path, disk)
    await _put(database, "before")
    disk.write_error = apsw.CorruptError
    with pytest.raises(DatabaseBrokenError, match="is damaged"):
        await _put(database, "lost")
    disk.write_error = None
    with pytest.raises(DatabaseBrokenError, match="nuncius restore"):
        await _put(database, "refused")
    await database.close()
