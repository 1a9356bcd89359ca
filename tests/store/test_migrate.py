"""Making, upgrading and refusing database files."""

import re
from pathlib import Path

import pytest

from nuncius.core.errors import DatabaseBrokenError, DatabaseBusyError, StoreError
from nuncius.core.listing import PaperFilter
from nuncius.store import migrate, open_store, place
from nuncius.store.connection import Connection
from nuncius.store.migrate import SCHEMA_VERSION, Migration, prepare, shipped_migrations
from nuncius.store.place import UseLock
from store.samples import a_paper, a_text

_NEXT = Migration(
    SCHEMA_VERSION + 1, f"CREATE TABLE more (x); PRAGMA user_version = {SCHEMA_VERSION + 1}"
)


def test_migrations_are_numbered_without_gaps_and_the_constant_is_the_last() -> None:
    found = shipped_migrations()
    assert [migration.version for migration in found] == list(range(1, SCHEMA_VERSION + 1))
    for migration in found:
        assert re.search(rf"PRAGMA user_version = {migration.version};\s*$", migration.script)


async def test_a_new_file_is_private_and_sound(home: Path, database_path: Path) -> None:
    store = await open_store(home, database_path)
    await store.papers.put(a_paper(), a_text("words"), [])
    for ending in ("", "-wal", "-shm", ".lock"):
        assert database_path.with_name(database_path.name + ending).stat().st_mode & 0o077 == 0
    assert home.stat().st_mode & 0o077 == 0
    assert await store.check() == []
    await store.close()
    assert sorted(entry.name for entry in home.iterdir()) == ["nuncius.db", "nuncius.db.lock"]


async def test_an_upgrade_copies_the_file_first(home: Path, database_path: Path) -> None:
    store = await open_store(home, database_path)
    paper = await store.papers.put(a_paper(), a_text("words"), [])
    await store.close()
    lock = UseLock(database_path)
    prepare(database_path, lock, migrations=[*shipped_migrations(), _NEXT])
    upgraded = Connection(database_path)
    assert upgraded.value("PRAGMA user_version") == SCHEMA_VERSION + 1
    assert upgraded.value("SELECT paper_id FROM papers") == paper.paper_id
    upgraded.close()
    (copy,) = home.glob("nuncius.db.before-*")
    before = Connection(copy, readonly=True)
    assert before.value("PRAGMA user_version") == SCHEMA_VERSION
    assert before.value("SELECT paper_id FROM papers") == paper.paper_id
    before.close()
    lock.close()


_OLD_PAPER = """
    INSERT INTO papers (paper_id, title, authors, year, bibcode, arxiv_id, doi, abstract, cite_key,
        state, pages, language, label, confidential, added_at)
    VALUES (?, ?, '["Erika Böhm-Vitense"]', 2022, ?, ?, NULL, '', ?, 'known', NULL, 'en', '', 0, '')
"""
_OLD_RECORD = """
    INSERT INTO paper_records (paper_id, record, told_at)
    VALUES (?, '{"source": "crossref", "journal": "The Astronomical Journal", "bibstem": ""}', '')
"""


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION))
async def test_papers_of_every_released_version_are_listed_found_and_tagged(
    home: Path, database_path: Path, version: int
) -> None:
    home.mkdir()
    lock = UseLock(database_path)
    prepare(database_path, lock, migrations=shipped_migrations()[:version])
    old = Connection(database_path)
    for number in range(250):  # more than one batch
        bibcode = f"2022MNRAS.510.{number:>4}B".replace(" ", ".") if number else None
        values = (f"old{number:05d}", f"Old {number}", bibcode, "2201.00001", f"Old{number}")
        old.run(_OLD_PAPER, values)
    if version >= 3:
        old.run(_OLD_RECORD, ("old00001",))
    old.close()
    lock.close()
    store = await open_store(home, database_path)
    journals = {one.value: one.count for one in await store.papers.facet("journal")}
    told = {"AJ": 1} if version >= 3 else {}
    assert journals == {"arXiv": 1, "MNRAS": 249 - len(told)} | told
    page = await store.papers.page(PaperFilter(text="BÖHM-vitense 2201.00001"), limit=10)
    assert (page.total, page.papers[0].title) == (250, "Old 249")
    assert (await store.papers.set_tags("old00007", ["JWST"])).tags == ("JWST",)
    assert await store.check() == []
    await store.close()
    reader = await open_store(home, database_path, readonly=True)
    assert [
        paper.paper_id for paper in (await reader.papers.page(PaperFilter(tag="jwst"))).papers
    ] == ["old00007"]
    await reader.close()


async def test_an_upgrade_cut_off_before_its_words_is_completed_by_the_next_start(
    home: Path, database_path: Path
) -> None:
    home.mkdir()
    lock = UseLock(database_path)
    prepare(database_path, lock)
    old = Connection(database_path)
    old.run(_OLD_PAPER, ("old00001", "Old", None, "2201.00001", "Old"))
    old.close()
    lock.close()
    reader = await open_store(home, database_path, readonly=True)
    assert (await reader.papers.find("old00001")).journal == ""
    await reader.close()
    for _ in range(2):
        store = await open_store(home, database_path)
        assert (await store.papers.find("old00001")).journal == "arXiv"
        assert (await store.papers.page(PaperFilter(text="old"))).total == 1
        await store.close()


@pytest.mark.parametrize(
    ("authors", "record", "names", "journal"),
    [
        ('["A', "{}", (), "A&A"),
        ("null", "{}", (), "A&A"),
        ('"Ann Li"', "{}", (), "A&A"),
        ('["Ann Li", 1, "\\ud800x"]', "{}", ("Ann Li", "\ufffdx"), "A&A"),
        ('["Ann Li"]', '{"journal": "Sci', ("Ann Li",), "A&A"),
        ('["Ann Li"]', '["ApJ"]', ("Ann Li",), "A&A"),
        ('["Ann Li"]', '{"bibstem": 5, "journal": ["x"]}', ("Ann Li",), "A&A"),
        ('["Ann Li"]', '{"bibstem": 5, "journal": "Nature"}', ("Ann Li",), "Natur"),
    ],
)
async def test_a_damaged_row_keeps_no_home_shut_and_is_named(
    home: Path,
    database_path: Path,
    caplog: pytest.LogCaptureFixture,
    authors: str,
    record: str,
    names: tuple[str, ...],
    journal: str,
) -> None:
    home.mkdir()
    lock = UseLock(database_path)
    prepare(database_path, lock, migrations=shipped_migrations()[:3])
    old = Connection(database_path)
    for paper_id in ("aaaaaa00", "bbbbbb00"):
        values = (paper_id, "Dust", "2022A&A...661A.155N", None, paper_id)
        old.run(_OLD_PAPER, values)
    old.run("UPDATE papers SET authors = ? WHERE paper_id = 'aaaaaa00'", (authors,))
    old.run("INSERT INTO paper_records VALUES ('aaaaaa00', ?, '')", (record,))
    old.close()
    lock.close()
    store = await open_store(home, database_path)
    page = await store.papers.page(PaperFilter(text="dust"), order="added")
    damaged, whole = page.papers
    assert tuple(author.name for author in damaged.authors) == names
    assert (damaged.journal, whole.authors[0].filed_as) == (journal, "Böhm-Vitense, E")
    if names:
        assert (await store.papers.page(PaperFilter(author="Li, A"))).papers == [damaged]
    await store.close()
    told = [one.getMessage() for one in caplog.records if one.name == "nuncius.store.words"]
    assert [line[:14] for line in told] == ["paper aaaaaa00"]


async def test_a_migration_that_fails_leaves_the_old_file(home: Path, database_path: Path) -> None:
    store = await open_store(home, database_path)
    await store.close()
    lock = UseLock(database_path)
    wrong = Migration(_NEXT.version, "CREATE TABLE more (x); CREATE TABLE papers (x)")
    with pytest.raises(StoreError, match="already exists"):
        prepare(database_path, lock, migrations=[*shipped_migrations(), wrong])
    lock.close()
    store = await open_store(home, database_path)
    assert await store.check() == []
    await store.close()


async def test_an_upgrade_waits_for_nobody_who_still_uses_the_file(
    home: Path, database_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "WAIT_S", 0.05)
    store = await open_store(home, database_path)
    lock = UseLock(database_path)
    with pytest.raises(DatabaseBusyError, match="in use by another nuncius process"):
        prepare(database_path, lock, migrations=[*shipped_migrations(), _NEXT])
    lock.close()
    await store.papers.put(a_paper(), None, [])
    await store.close()


async def test_a_newer_schema_is_refused_untouched(home: Path, database_path: Path) -> None:
    store = await open_store(home, database_path)
    await store.close()
    connection = Connection(database_path)
    connection.run("PRAGMA user_version = 99")
    connection.close()
    before = database_path.read_bytes()
    for readonly in (False, True):
        with pytest.raises(DatabaseBrokenError, match=r"newer nuncius.*Upgrade nuncius"):
            await open_store(home, database_path, readonly=readonly)
    assert database_path.read_bytes() == before


async def test_a_foreign_database_is_refused_untouched(home: Path, database_path: Path) -> None:
    home.mkdir()
    database_path.touch()
    foreign = Connection(database_path)
    foreign.run("CREATE TABLE stamps (x)")
    foreign.close()
    before = database_path.read_bytes()
    with pytest.raises(DatabaseBrokenError, match="belongs to another program"):
        await open_store(home, database_path)
    assert database_path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"My diary. " * 500, b"x", b"SQLite format 3\x00" + b"\xff" * 5000]
)
async def test_a_file_that_is_no_database_is_refused_untouched(
    home: Path, database_path: Path, content: bytes
) -> None:
    home.mkdir()
    database_path.write_bytes(content)
    with pytest.raises(DatabaseBrokenError, match="nuncius restore FILE"):
        await open_store(home, database_path)
    assert database_path.read_bytes() == content


async def _filled(home: Path, database_path: Path) -> None:
    store = await open_store(home, database_path)
    for i in range(30):
        await store.papers.put(a_paper(f"Paper {i}"), a_text(f"words {i} " * 300), [])
    await store.close()


@pytest.mark.parametrize("page", [1, 3, 20, -2])
async def test_a_damaged_page_is_met_at_the_start_and_nothing_is_written(
    home: Path, database_path: Path, page: int
) -> None:
    await _filled(home, database_path)
    content = bytearray(database_path.read_bytes())
    at = (page % (len(content) // 4096)) * 4096
    content[at : at + 4096] = b"\xa5" * 4096
    database_path.write_bytes(content)
    with pytest.raises(DatabaseBrokenError, match="is damaged"):
        await open_store(home, database_path)
    assert database_path.read_bytes() == content


async def test_a_file_cut_short_is_refused(home: Path, database_path: Path) -> None:
    await _filled(home, database_path)
    content = database_path.read_bytes()
    for length in (len(content) // 2, 4096, 100, 0):
        database_path.write_bytes(content[:length])
        with pytest.raises(DatabaseBrokenError):
            await open_store(home, database_path)
        assert database_path.read_bytes() == content[:length]


async def test_a_log_without_its_file_is_not_overwritten(home: Path, database_path: Path) -> None:
    home.mkdir()
    log = database_path.with_name("nuncius.db-wal")
    log.write_bytes(b"the only copy")
    with pytest.raises(DatabaseBrokenError, match="write-ahead log is still there"):
        await open_store(home, database_path)
    assert log.read_bytes() == b"the only copy"


async def test_an_empty_file_of_a_start_that_was_cut_off_is_used(
    home: Path, database_path: Path
) -> None:
    home.mkdir()
    database_path.touch()
    store = await open_store(home, database_path)
    assert await store.check() == []
    await store.close()


async def test_a_damaged_file_names_the_last_backup(
    home: Path, database_path: Path, tmp_path: Path
) -> None:
    store = await open_store(home, database_path)
    for name in ("first.db", "second.db"):
        await store.backup(tmp_path / name)
    await store.close()
    database_path.write_bytes(b"ruined" * 1000)
    with pytest.raises(
        DatabaseBrokenError, match=re.escape(f"nuncius restore {tmp_path}/second.db")
    ):
        await open_store(home, database_path)


async def test_readonly_reads_and_writes_nothing(home: Path, database_path: Path) -> None:
    with pytest.raises(StoreError, match="There is no database"):
        await open_store(home, database_path, readonly=True)
    store = await open_store(home, database_path)
    paper = await store.papers.put(a_paper(), a_text("words"), [])
    await store.close()
    before = database_path.read_bytes()
    reader = await open_store(home, database_path, readonly=True)
    assert (await reader.papers.find("Bouma2022")).paper_id == paper.paper_id
    with pytest.raises(StoreError, match="reading only"):
        await reader.papers.remove(paper.paper_id)
    await reader.close()
    assert database_path.read_bytes() == before


async def test_readonly_sees_what_a_running_writer_commits(home: Path, database_path: Path) -> None:
    store = await open_store(home, database_path)
    reader = await open_store(home, database_path, readonly=True)
    paper = await store.papers.put(a_paper(), a_text("words"), [])
    assert (await reader.papers.find(paper.paper_id)).title == paper.title
    await store.close()
    await reader.close()


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "nuncius.db"
    with pytest.raises(StoreError, match=r"cannot be used.*NUNCIUS_HOME"):
        await open_store(path.parent, path)


async def test_leftovers_of_a_cut_off_restore_go_away(home: Path, database_path: Path) -> None:
    store = await open_store(home, database_path)
    await store.close()
    leftover = database_path.with_name(database_path.name + migrate.RESTORING)
    leftover.touch()
    store = await open_store(home, database_path)
    await store.close()
    assert not leftover.exists()
