"""`kill -9` in the middle of what the store does: upgrades, checkpoints, deletions."""

from pathlib import Path
from time import gmtime, monotonic
from types import SimpleNamespace

import pytest

from nuncius.app.build import database_path, open_app
from nuncius.llm.scripted import Reply
from nuncius.store import migrate
from nuncius.store.connection import Connection
from nuncius.store.migrate import SCHEMA_VERSION, prepare, shipped_migrations
from nuncius.store.place import UseLock
from scenarios.kill_process import SPEECH, settings_of
from scenarios.killing import (
    TIMES,
    check,
    go_on,
    killed_at,
    leftovers,
    needs_proc,
    new_home,
    outcomes,
)

pytestmark = needs_proc


@pytest.fixture(params=range(TIMES), autouse=True)
def time(request: pytest.FixtureRequest) -> int:
    """Say which of so many times it is."""
    return request.param


@pytest.mark.parametrize("point", ["migration copy", "migration", "migrated"])
async def test_an_upgrade_is_finished_at_the_next_start(
    tmp_path: Path, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = old_home(tmp_path)
    await killed_at(point, tmp_path, "s")
    it_is(monkeypatch, "20300101T000000Z")
    async with open_app(settings_of(tmp_path)) as app:
        assert await app.store.check() == []
        assert [session.title for session in await app.journal.sessions()] == ["An old one"]
    now = Connection(path, readonly=True)
    assert now.value("PRAGMA user_version") == SCHEMA_VERSION
    now.close()
    assert leftovers(tmp_path) == []
    for copy in path.parent.glob("*.before-*"):
        before = Connection(copy, readonly=True)
        assert before.number("PRAGMA user_version") < SCHEMA_VERSION
        before.close()


async def test_a_first_start_that_was_cut_off_is_finished_by_the_next(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    await killed_at("migration", tmp_path, "s")
    async with open_app(settings_of(tmp_path)) as app:
        assert await app.store.check() == []
        assert len(await app.journal.sessions()) == 0
        await app.session()


async def test_an_upgrade_is_finished_by_a_start_in_the_same_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = old_home(tmp_path)
    await killed_at("migration", tmp_path, "s")
    (copy,) = path.parent.glob("*.before-*")
    it_is(monkeypatch, copy.name.rpartition("-")[2])
    async with open_app(settings_of(tmp_path)) as app:
        assert await app.store.check() == []


def it_is(monkeypatch: pytest.MonkeyPatch, stamp: str) -> None:
    """Set the clock by which copies of a database are named."""

    def strftime(*_: object) -> str:
        return stamp

    clock = SimpleNamespace(strftime=strftime, gmtime=gmtime, monotonic=monotonic)
    monkeypatch.setattr(migrate, "time", clock)


def old_home(folder: Path) -> Path:
    """Make a database of the first schema with one session in it, and return where."""
    (folder / "home").mkdir()
    path = database_path(settings_of(folder))
    lock = UseLock(path)
    prepare(path, lock, migrations=shipped_migrations()[:1])
    connection = Connection(path)
    connection.run(
        "INSERT INTO agent_sessions (id, title, created_at, status, mode, model, enable_thinking)"
        " VALUES ('s', 'An old one', '2026-01-01T00:00:00.000Z', 'idle', 'ask', '', 0)"
    )
    connection.close()
    lock.close()
    return path


async def test_a_checkpoint_that_was_cut_in_the_middle_of_a_page_loses_nothing(
    tmp_path: Path,
) -> None:
    session_id = await new_home(tmp_path)
    killed = await killed_at("checkpoint", tmp_path, session_id)
    assert killed.shown[-1].type == "turn_finished"
    async with open_app(settings_of(tmp_path)) as app:
        events = await check(app, tmp_path, session_id, killed)
    assert outcomes(events) == {"write": "ok", "file_write": "ok"}


@pytest.mark.parametrize("point", ["delete 0", "delete 2"])
async def test_a_deletion_that_was_cut_off_is_finished_at_the_next_start(
    tmp_path: Path, point: str
) -> None:
    session_id = await new_home(tmp_path)
    async with open_app(settings_of(tmp_path)) as app:
        await go_on(app, session_id, Reply(calls=[("write", '{"word": "x"}')]), "It is done.")
        other = (await app.session()).id
    async with open_app(settings_of(tmp_path)) as app:
        await go_on(app, other)
        whole = await app.journal.events(other)
    await killed_at(point, tmp_path, session_id)
    async with open_app(settings_of(tmp_path)) as app:
        assert await app.store.check() == []
        assert [session.id for session in await app.journal.sessions()] == [other]
        assert await app.journal.events(session_id) == []
        assert await app.journal.messages(session_id) == []
        assert await app.journal.events(other) == whole
    assert rows_of(database_path(settings_of(tmp_path)), session_id) == {"agent_sessions": 0}


def rows_of(path: Path, session_id: str) -> dict[str, int]:
    """Count the rows that tell of a session, by table; the audit log keeps its own."""
    database = Connection(path, readonly=True)
    counts = {"agent_sessions": database.number(SESSIONS, (session_id,))}
    for table, sql in database.rows(TABLES):
        if rows := database.number(sql, (session_id,)):
            counts[str(table)] = rows
    database.close()
    return counts


SESSIONS = "SELECT count(*) FROM agent_sessions WHERE id = ?"
TABLES = """
    SELECT t.name, 'SELECT count(*) FROM ' || t.name || ' WHERE session_id = ?'
    FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
    WHERE t.type = 'table' AND c.name = 'session_id' AND t.name NOT LIKE '%audit%'
"""


@pytest.mark.parametrize(("point", "stays"), [("delete 0", False), ("forgetting", True)])
async def test_no_output_is_kept_of_a_session_whose_deletion_was_cut_off(
    tmp_path: Path, point: str, stays: bool
) -> None:
    session_id = await new_home(tmp_path)
    async with open_app(settings_of(tmp_path)) as app:
        path = await app.outputs.keep(SPEECH, session_id=session_id, turn_id="t", call_id="c")
    await killed_at(point, tmp_path, session_id)
    async with open_app(settings_of(tmp_path)) as app:
        await go_on(app, (await app.session()).id)
        sessions = {session.id for session in await app.journal.sessions()}
    assert (session_id in sessions) == Path(path).exists() == stays
