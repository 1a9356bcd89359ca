"""Copies, and the way back from them."""

import asyncio
from pathlib import Path

import pytest

from nuncius.core.errors import DatabaseBrokenError, DatabaseBusyError, NotFoundError, StoreError
from nuncius.store import open_store, restore_database
from nuncius.store.connection import Connection
from nuncius.store.sqlite import SqliteStore
from store.samples import a_paper, a_text, call


async def _titles(home: Path, path: Path) -> list[str]:
    store = await open_store(home, path)
    try:
        assert await store.check() == []
        return [paper.title for paper in await store.papers.papers()]
    finally:
        await store.close()


async def _with(home: Path, path: Path, title: str) -> None:
    store = await open_store(home, path)
    await store.papers.put(a_paper(title), a_text(title), [])
    await store.close()


async def test_a_backup_is_whole_while_others_write(
    store: SqliteStore, home: Path, tmp_path: Path
) -> None:
    session = await store.journal.create_session()
    stop = asyncio.Event()

    async def write() -> int:
        done = 0
        while not stop.is_set():
            await store.journal.commit([call(session.id, f"c{done}")])
            done += 1
        return done

    writing = asyncio.ensure_future(write())
    await store.papers.put(a_paper(), a_text("kept words"), [])
    target = tmp_path / "copy.db"
    await store.backup(target)
    stop.set()
    assert await writing > 0
    copy = await open_store(tmp_path, target)
    assert await copy.check() == []
    events = await copy.journal.events(session.id)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert len(await copy.passages.search([["kept"]], limit=5)) == 1
    await copy.close()
    assert target.stat().st_mode & 0o077 == 0


async def test_a_backup_never_writes_over_a_file(store: SqliteStore, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    target.write_text("precious")
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "nowhere")
    for path in (target, link, store.path):
        with pytest.raises(StoreError, match="never writes over"):
            await store.backup(path)
    assert target.read_text() == "precious"
    with pytest.raises(StoreError, match="no folder"):
        await store.backup(tmp_path / "none" / "copy.db")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["copy.db", "home", "link.db"]


async def test_a_name_that_is_no_utf8_is_refused(store: SqliteStore, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not UTF-8"):
        await store.backup(tmp_path / "copie-\udce9.db")
    assert not list(tmp_path.glob("copie*"))


async def test_restore_puts_the_backup_back_and_keeps_what_was_there(
    home: Path, database_path: Path, tmp_path: Path
) -> None:
    await _with(home, database_path, "Old")
    store = await open_store(home, database_path)
    await store.backup(tmp_path / "copy.db")
    await store.close()
    await _with(home, database_path, "New")
    replaced = restore_database(tmp_path / "copy.db", database_path)
    assert replaced is not None
    assert await _titles(home, database_path) == ["Old"]
    assert replaced.name.startswith("nuncius.db.replaced-")
    assert await _titles(home, replaced) == ["New", "Old"]
    again = restore_database(tmp_path / "copy.db", database_path)
    assert again not in {None, replaced}
    assert not list(home.glob("*.restoring*"))


async def test_restore_into_an_empty_home(home: Path, database_path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    await _with(other, other / "nuncius.db", "Moved")
    assert restore_database(other / "nuncius.db", database_path) is None
    assert await _titles(home, database_path) == ["Moved"]


async def test_restore_mends_a_damaged_database_and_keeps_its_pieces(
    home: Path, database_path: Path, tmp_path: Path
) -> None:
    await _with(home, database_path, "Old")
    store = await open_store(home, database_path)
    await store.backup(tmp_path / "copy.db")
    await store.close()
    database_path.write_bytes(b"ruined" * 1000)
    log = database_path.with_name("nuncius.db-wal")
    log.write_bytes(b"log")
    replaced = restore_database(tmp_path / "copy.db", database_path)
    assert replaced is not None
    assert replaced.read_bytes() == b"ruined" * 1000
    assert replaced.with_name(replaced.name + "-wal").read_bytes() == b"log"
    assert await _titles(home, database_path) == ["Old"]


async def test_restore_takes_a_backup_that_still_has_a_log(
    home: Path, database_path: Path, tmp_path: Path
) -> None:
    await _with(home, database_path, "Logged")
    store = await open_store(home, database_path)
    await store.papers.put(a_paper("Late"), None, [])
    copied = tmp_path / "cp.db"  # as `cp` does it while nuncius runs
    for ending in ("", "-wal"):
        source = database_path.with_name(database_path.name + ending)
        copied.with_name(copied.name + ending).write_bytes(source.read_bytes())
    await store.close()
    restore_database(copied, database_path)
    assert await _titles(home, database_path) == ["Late", "Logged"]


async def test_restore_refuses_while_the_database_is_in_use(
    store: SqliteStore, tmp_path: Path
) -> None:
    await store.backup(tmp_path / "copy.db")
    with pytest.raises(DatabaseBusyError, match="in use by another nuncius process"):
        restore_database(tmp_path / "copy.db", store.path)
    await store.papers.put(a_paper(), None, [])
    assert await store.papers.count() == 1


@pytest.mark.parametrize(
    "kind", ["absent", "text", "foreign", "newer", "cut", "damaged", "empty", "itself"]
)
async def test_restore_refuses_what_is_no_sound_backup(
    home: Path, database_path: Path, tmp_path: Path, kind: str
) -> None:
    await _with(home, database_path, "Mine")
    source = tmp_path / "source.db"
    match kind:
        case "absent":
            pass
        case "text":
            source.write_text("no database " * 200)
        case "empty":
            source.touch()
        case "itself":
            source.symlink_to(database_path)
        case "foreign":
            source.touch()
            foreign = Connection(source)
            foreign.run("CREATE TABLE stamps (x)")
            foreign.close()
        case _:
            content = bytearray(database_path.read_bytes())
            if kind == "damaged":
                content[4096 * 9 : 4096 * 10] = b"\xa5" * 4096
            source.write_bytes(content[: len(content) // 2] if kind == "cut" else content)
            if kind == "newer":
                newer = Connection(source)
                newer.run("PRAGMA user_version = 99")
                newer.close()
    with pytest.raises((DatabaseBrokenError, NotFoundError, StoreError)) as caught:
        restore_database(source, database_path)
    assert caught.value.hint.startswith("Name ")  # not how to mend the database in use
    assert await _titles(home, database_path) == ["Mine"]
    assert not [e.name for e in home.iterdir() if "restoring" in e.name or "replaced" in e.name]
