"""Several processes on one home, and processes that are killed."""

import asyncio
import sys
from collections import Counter
from pathlib import Path

import pytest

from nuncius.core.errors import SessionBusyError
from nuncius.store import open_store
from nuncius.store.sqlite import SqliteStore
from store.samples import a_paper, a_text, call, said

_WORKER = str(Path(__file__).with_name("worker.py"))
_LARGE = 300


async def _start(home: Path, *act: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        _WORKER,
        str(home),
        *act,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PYTHONPATH": str(Path(_WORKER).parent.parent)},
    )


async def _finish(process: asyncio.subprocess.Process) -> list[str]:
    output, errors = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, errors.decode()
    return output.decode().splitlines()[1:]


async def _kill_after(process: asyncio.subprocess.Process, lines: int, delay_s: float) -> list[str]:
    """Kill -9 once so many promises were made and a moment has passed; return all promises."""
    assert process.stdout
    first = [await asyncio.wait_for(process.stdout.readline(), 60) for _ in range(lines + 1)]
    await asyncio.sleep(delay_s)
    process.kill()
    rest = await process.stdout.read()
    await process.wait()
    whole = rest.decode().split("\n")[:-1]  # a line cut off is no promise
    return [*(line.decode().strip() for line in first[1:]), *whole]


async def test_two_processes_on_a_new_home_lose_nothing(home: Path) -> None:
    writers = await asyncio.gather(*(_start(home, "put", name, "9") for name in "abc"))
    printed = [await _finish(process) for process in writers]
    store = await open_store(home, home / "nuncius.db")
    promised = {line.split()[0]: int(line.split()[1]) for lines in printed for line in lines}
    assert len(promised) == 27
    papers = await store.papers.papers()
    assert {paper.paper_id for paper in papers} == set(promised)
    assert len({paper.cite_key for paper in papers}) == 27
    for paper_id, count in promised.items():
        assert len(await store.passages.of_paper(paper_id)) == count
    hits = await store.passages.search([["passage0"]], limit=1000)
    assert len(hits) == 27
    assert await store.check() == []
    await store.close()


async def test_two_processes_commit_into_one_session_without_a_gap(
    store: SqliteStore, home: Path
) -> None:
    session = await store.journal.create_session()
    writers = await asyncio.gather(
        *(_start(home, "commit", session.id, name, "60") for name in "ab")
    )
    for i in range(60):
        await store.journal.commit([call(session.id, f"c-{i}")], [said(session.id, f"c-{i}")])
    promised = [line for process in writers for line in await _finish(process)]
    events = await store.journal.events(session.id)
    assert [event.seq for event in events] == list(range(1, 181))
    contents = Counter(m.message.content for m in await store.journal.messages(session.id))
    assert contents == Counter([*promised, *(f"c-{i}" for i in range(60))])
    assert await store.check() == []


@pytest.mark.parametrize("delay_ms", [0, 1, 3, 7])
async def test_what_was_acknowledged_is_there_after_kill_9(home: Path, delay_ms: int) -> None:
    store = await open_store(home, home / "nuncius.db")
    session = await store.journal.create_session()
    await store.close()
    process = await _start(home, "commit", session.id, "k", "100000")
    promised = await _kill_after(process, 20, delay_ms / 1000)
    store = await open_store(home, home / "nuncius.db")
    kept = [message.message.content for message in await store.journal.messages(session.id)]
    assert kept[: len(promised)] == promised
    assert len(kept) <= len(promised) + 1
    events = await store.journal.events(session.id)
    assert [event.seq for event in events] == list(range(1, len(kept) + 1))
    assert len(await store.journal.open_calls(session.id)) == len(kept)
    assert await store.check() == []
    await store.close()


@pytest.mark.parametrize("delay_ms", [0, 15, 40, 80])
async def test_a_put_killed_half_way_leaves_the_old_or_the_new_paper(
    home: Path, delay_ms: int
) -> None:
    store = await open_store(home, home / "nuncius.db")
    words = [f"version0 passage{k}" for k in range(_LARGE)]
    paper = await store.papers.put(a_paper(), a_text(*words, digest="v0"), [])
    await store.close()
    process = await _start(home, "replace", paper.paper_id)
    promised = await _kill_after(process, 1, delay_ms / 1000)
    store = await open_store(home, home / "nuncius.db")
    last = int(promised[-1])
    versions = Counter(
        hit.passage.text.split()[0] for hit in await store.passages.search([["young"]], limit=5000)
    )
    assert versions in ({f"version{last}": _LARGE}, {f"version{last + 1}": _LARGE})
    stored = await store.passages.of_paper(paper.paper_id)
    assert Counter(passage.text.split()[0] for passage in stored) == versions
    assert await store.check() == []
    assert await store.leftover_texts() == 0
    await store.close()
    assert not list((home / "leases").glob("writer-*"))


async def test_another_process_does_not_sweep_a_text_in_the_making(home: Path) -> None:
    store = await open_store(home, home / "nuncius.db")
    paper = await store.papers.put(a_paper(), a_text("version0", digest="v0"), [])
    process = await _start(home, "replace", paper.paper_id)
    assert process.stdout
    for i in range(12):  # each line a whole put there; each of ours sweeps in between
        assert await asyncio.wait_for(process.stdout.readline(), 60)
        await store.papers.put(a_paper(f"Else {i}"), a_text(f"else {i}"), [])
    process.kill()
    await process.communicate()
    assert len(await store.passages.of_paper(paper.paper_id)) == _LARGE
    await store.close()


async def test_a_deletion_that_was_killed_is_finished_at_the_next_start(home: Path) -> None:
    store = await open_store(home, home / "nuncius.db")
    sessions = [(await store.journal.create_session()).id for _ in range(6)]
    for name in sessions:
        await store.journal.commit([call(name, f"c{i}") for i in range(3000)])
    await store.close()
    process = await _start(home, "delete", *sessions)
    promised = await _kill_after(process, 1, 0.01)
    store = await open_store(home, home / "nuncius.db")
    left = {session.id for session in await store.journal.sessions()}
    assert left <= set(sessions) - set(promised)
    for name in sessions:
        assert len(await store.journal.events(name)) == (3000 if name in left else 0)
    assert await store.check() == []
    await store.close()


async def test_a_lease_is_held_across_processes_and_ends_with_its_holder(
    store: SqliteStore, home: Path
) -> None:
    session = await store.journal.create_session()
    assert not store.journal.lease_is_held(session.id)
    process = await _start(home, "hold", session.id)
    assert process.stdout
    assert [await process.stdout.readline() for _ in range(2)] == [b"open\n", b"held\n"]
    assert store.journal.lease_is_held(session.id)
    with pytest.raises(SessionBusyError, match=f"process {process.pid}"):
        async with store.journal.lease(session.id):
            pass
    with pytest.raises(SessionBusyError):
        await store.journal.delete_session(session.id)
    process.kill()
    await process.communicate()
    assert not store.journal.lease_is_held(session.id)
    async with store.journal.lease(session.id):
        assert store.journal.lease_is_held(session.id)
