"""Adding files: each ends in one outcome, and a second look changes nothing."""

import asyncio
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from library.conftest import settings_in
from nuncius.core.documents import Document
from nuncius.core.errors import DocumentError
from nuncius.library import parse
from nuncius.library.library import Library
from nuncius.parsing.batch import pack
from nuncius.store import open_store
from nuncius.walls.spawn import ChildResult, python_child


async def test_papers_keep_what_the_documents_say(filled: Library) -> None:
    star, pulsar = sorted(await filled.papers(), key=lambda paper: paper.title)
    assert (star.title, star.pages, star.state) == ("A quiet star", 2, "indexed")
    assert (pulsar.title, pulsar.year, pulsar.pages) == ("Notes on a pulsar", 2021, None)
    assert [author.name for author in pulsar.authors] == ["Ana Rey"]


async def test_a_second_run_changes_nothing(filled: Library, papers: Path) -> None:
    before = await filled.papers()
    report = await filled.add([papers])
    assert (report.added, report.updated, report.failed, report.duplicates) == ((), (), (), ())
    assert len(report.unchanged) == 2
    assert await filled.papers() == before


async def test_a_touched_file_is_unchanged_and_a_changed_one_is_read_again(
    filled: Library, papers: Path
) -> None:
    note = papers / "pulsar.md"
    os.utime(note, (1, 1))
    assert len((await filled.add([papers])).unchanged) == 2
    paper = await filled.paper("Rey2021")
    note.write_text(note.read_text().replace("5.75 ms", "8.88 ms"))
    report = await filled.add([papers])
    assert [p.paper_id for p in report.updated] == [paper.paper_id]
    assert (await filled.rag("spin period")).found[0].passage.text.count("8.88 ms") == 1
    assert "5.75" not in (await filled.content(paper.paper_id)).content


async def test_a_vanished_file_is_reported_and_its_paper_stays(
    filled: Library, papers: Path
) -> None:
    (papers / "pulsar.md").unlink()
    report = await filled.add([papers])
    assert report.vanished == (str(papers / "pulsar.md"),)
    assert len(await filled.papers()) == 2
    assert (await filled.status()).vanished == [str(papers / "pulsar.md")]


async def test_the_same_bytes_or_the_same_text_twice_are_one_paper(
    filled: Library, papers: Path
) -> None:
    shutil.copy(papers / "pulsar.md", papers / "again.md")
    note = (papers / "pulsar.md").read_text()
    (papers / "respaced.md").write_text(note.replace("\n\n", "\n\n\n") + "\n")
    report = await filled.add([papers])
    paper = await filled.paper("Rey2021")
    assert dict(report.duplicates) == {
        str(papers / "again.md"): paper.paper_id,
        str(papers / "respaced.md"): paper.paper_id,
    }
    assert len(await filled.papers()) == 2
    assert len((await filled.add([papers])).unchanged) == 2


async def test_one_bad_file_never_stops_the_others(library: Library, papers: Path) -> None:
    (papers / "a_empty.pdf").write_bytes(b"")
    (papers / "b_page.pdf").write_text(
        "<html><head><title>Just a moment...</title></head><body>_cf_chl_opt</body></html>"
    )
    (papers / "c_noise.pdf").write_bytes(b"%PDF-1.7\n" + bytes(range(256)) * 8)
    report = await library.add([papers, papers / "missing.pdf"])
    assert len(report.added) == 2
    kinds = {Path(failure.what).name: failure.error_kind for failure in report.failed}
    assert kinds["a_empty.pdf"] == "empty"
    assert kinds["b_page.pdf"] == "not_a_paper"
    assert kinds["c_noise.pdf"] in {"truncated", "damaged"}
    assert kinds["missing.pdf"] == "not_found"
    assert all(failure.reason and failure.hint for failure in report.failed)
    again = await library.add([papers])
    assert {f.error_kind for f in again.failed} == set(kinds.values()) - {"not_found"}


async def test_a_bad_file_that_was_mended_is_added(library: Library, papers: Path) -> None:
    broken = papers / "later.md"
    broken.write_bytes(b"")
    assert len((await library.add([broken])).failed) == 1
    broken.write_text("# A later note\n\nIt has a mass of 3 kg.\n")
    report = await library.add([broken])
    assert [paper.title for paper in report.added] == ["A later note"]
    assert not (await library.status()).failures


@pytest.mark.parametrize("name", ["~nobody_of_this_name/x.pdf", "a\x00b", " "])
async def test_what_can_be_no_path_fails_alone(library: Library, papers: Path, name: str) -> None:
    report = await library.add([name, papers])
    assert [(failure.what, failure.error_kind) for failure in report.failed] == [
        (name, "not_found")
    ]
    assert len(report.added) == 2


async def test_new_white_space_in_a_file_is_no_change(filled: Library, papers: Path) -> None:
    note = papers / "pulsar.md"
    note.write_text(note.read_text() + "\n\n")
    report = await filled.add([papers])
    assert (report.updated, report.duplicates) == ((), ())
    assert len(report.unchanged) == 2
    assert len((await filled.add([papers])).unchanged) == 2


async def test_two_processes_that_add_one_folder_add_each_paper_once(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"{number}.md").write_text(
            f"---\ndoi: 10.1234/note.{number}\n---\n\n# Note {number}\n\nStar {number} is old.\n"
        )
    home = tmp_path / "home"
    stores = [await open_store(home, home / "nuncius.db") for _ in range(2)]
    libraries = [Library(store, settings_in(tmp_path)) for store in stores]
    await asyncio.gather(*(library.add([tmp_path]) for library in libraries))
    found = await libraries[0].papers()
    assert sorted(paper.doi or "" for paper in found) == sorted(
        f"10.1234/note.{number}" for number in range(12)
    )
    for store in stores:
        await store.close()


@pytest.mark.parametrize("name", ["星系 “红移”.md", 'it\'s "quoted".md', "-rf.md", "a\nb.md"])
async def test_odd_file_names_are_ordinary(library: Library, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("# Odd name\n\nThe distance is 7 kpc.\n")
    report = await library.add([tmp_path / name])
    assert len(report.added) == 1
    assert report.added[0].files[0].path == str(tmp_path / name)


async def test_a_folder_without_rights_is_a_clear_failure(library: Library, papers: Path) -> None:
    closed = papers / "closed"
    closed.mkdir()
    (closed / "x.md").write_text("# X\n\nText.\n")
    closed.chmod(0)
    if os.access(closed, os.R_OK):
        closed.chmod(0o700)
        pytest.skip("this user may read everything")
    report = await library.add([papers])
    closed.chmod(0o700)
    assert len(report.added) == 2
    assert [failure.error_kind for failure in report.failed] == ["unreadable"]


async def test_progress_tells_each_file(library: Library, papers: Path) -> None:
    told: list[tuple[str, int, int]] = []
    await library.add([papers], progress=lambda what, done, total: told.append((what, done, total)))
    assert [(done, total) for _, done, total in told] == [(0, 2), (1, 2), (2, 2)]


async def test_notes_and_label_survive_an_update(filled: Library, papers: Path) -> None:
    paper = await filled.paper("Rey2021")
    await filled.note(paper.paper_id, quote="a spin period of 5.75 ms", note="check")
    note = papers / "pulsar.md"
    note.write_text(note.read_text() + "\nOne more line about timing.\n")
    await filled.add([note])
    assert [n.note for n in await filled.notes(paper.paper_id)] == ["check"]


class Deadly:
    """A child that dies on files named so: its real answers are cut at the first of them."""

    def __init__(self, *, timed_out: bool = False) -> None:
        self.timed_out = timed_out
        self.runs = 0

    async def __call__(self, module: str, *, stdin: bytes, **options: Any) -> ChildResult:
        self.runs += 1
        ended = await python_child(module, stdin=stdin.split(b'{"name": "deadly')[0], **options)
        if b'{"name": "deadly' not in stdin:
            return ended
        return ChildResult(-11, ended.stdout, b"boom", self.timed_out, False, False)


@pytest.mark.parametrize(("timed_out", "kind"), [(False, "damaged"), (True, "timeout")])
async def test_a_file_that_kills_its_parser_costs_itself_alone(
    monkeypatch: pytest.MonkeyPatch, timed_out: bool, kind: str
) -> None:
    child = Deadly(timed_out=timed_out)
    monkeypatch.setattr(parse, "python_child", child)
    text = b"# A title\n\nSome text.\n"
    outcomes = await parse.parse_files([("a.md", text), ("deadly.md", text), ("b.md", text)])
    assert [_kind(outcome) for outcome in outcomes] == ["markdown", kind, "markdown"]
    assert child.runs == 4  # all, the deadly one alone, none at all, the rest


async def test_where_no_parser_starts_no_file_is_blamed(
    monkeypatch: pytest.MonkeyPatch, library: Library, papers: Path
) -> None:
    async def child(*_: object, **__: object) -> ChildResult:
        return ChildResult(1, b"", b"No module named 'pypdfium2'", False, False, False)

    monkeypatch.setattr(parse, "python_child", child)
    with pytest.raises(parse.ParserError, match="No module named 'pypdfium2'"):
        await library.add([papers], jobs=2)
    assert not (await library.status()).failures
    monkeypatch.undo()
    assert len((await library.add([papers])).added) == 2


@pytest.mark.parametrize(
    ("sizes", "jobs", "parts"),
    [
        ([100] * 50, 4, [50]),  # not worth a second child
        ([600_000] * 4, 2, [2, 2]),
        ([600_000] * 4, 1, [4]),
        ([9_000_000, 600_000, 600_000], 2, [1, 2]),
        ([600_000, 600_000, 9_000_000], 2, [2, 1]),
    ],
)
async def test_files_are_shared_among_as_many_children_as_asked_for(
    monkeypatch: pytest.MonkeyPatch, sizes: list[int], jobs: int, parts: list[int]
) -> None:
    told: list[int] = []

    async def child(module: str, *, stdin: bytes, **_: object) -> ChildResult:
        lines = stdin.count(b'{"name": ')
        told.append(lines)
        answer = b'{"error": {"kind": "empty", "message": "m", "hint": ""}}\n' * lines
        return ChildResult(0, answer, b"", False, False, False)

    monkeypatch.setattr(parse, "python_child", child)
    files = [(f"{at}.md", b"x" * size) for at, size in enumerate(sizes)]
    assert len(await parse.parse_files(files, jobs=jobs)) == len(files)
    assert told == parts


def _kind(outcome: Document | DocumentError) -> str:
    return outcome.kind


async def test_the_batch_answers_every_file_in_order() -> None:
    files: Sequence[tuple[str, bytes]] = [
        ("a.md", b"# A\n\nText."),
        ("b.pdf", b""),
        ("c.txt", b"plain words"),
    ]
    ended = await python_child("nuncius.parsing.batch", stdin=pack(files), timeout_s=60)
    assert ended.exit_code == 0
    assert ended.stdout.count(b"\n") == 3
