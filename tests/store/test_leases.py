"""Leases within one process."""

import asyncio
from pathlib import Path

import pytest

from nuncius.core.errors import NotFoundError, SessionBusyError
from nuncius.store.lease import HeldError, Lease, is_held, take
from nuncius.store.sqlite import SqliteStore


async def test_a_session_runs_one_turn_at_a_time(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    other = await store.journal.create_session()
    async with store.journal.lease(session.id):
        assert store.journal.lease_is_held(session.id)
        with pytest.raises(SessionBusyError, match="is running"):
            async with store.journal.lease(session.id):
                pass
        async with store.journal.lease(other.id):
            pass
    assert not store.journal.lease_is_held(session.id)
    async with store.journal.lease(session.id):
        pass


async def test_a_lease_ends_with_an_error_too(store: SqliteStore, home: Path) -> None:
    session = await store.journal.create_session()
    with pytest.raises(RuntimeError):
        async with store.journal.lease(session.id):
            raise RuntimeError
    assert not store.journal.lease_is_held(session.id)
    assert not list(home.glob("leases/*"))


async def test_of_many_who_want_it_at_once_exactly_one_has_it(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    holding = 0

    async def once() -> int:
        nonlocal holding
        try:
            lease = await take(path)
        except HeldError:
            return 0
        holding += 1
        alone = holding == 1
        assert await asyncio.to_thread(is_held, path)
        holding -= 1
        lease.release()
        assert alone
        return 1

    got = await asyncio.gather(*(once() for _ in range(200)))
    assert sum(got) >= 1
    assert not is_held(path)


async def test_asking_who_holds_it_never_takes_it_away(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    stop = asyncio.Event()

    async def ask() -> None:
        while not stop.is_set():
            await asyncio.to_thread(is_held, path)

    asking = asyncio.ensure_future(ask())
    for _ in range(100):
        lease = await take(path)
        lease.release()
    stop.set()
    await asking


def test_a_record_of_a_dead_process_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    path.write_text('{"pid": 1, "started": "0"}')
    assert not is_held(path)
    Lease(path).release()
    assert not path.exists()


@pytest.mark.parametrize("session_id", ["", "../../etc/passwd", "a/b", "a\x00b", "x" * 65])
async def test_what_is_no_session_id_is_no_file_name(store: SqliteStore, session_id: str) -> None:
    with pytest.raises(NotFoundError, match="no session"):
        async with store.journal.lease(session_id):
            pass
    with pytest.raises(NotFoundError):
        store.journal.lease_is_held(session_id)
