"""`kill -9` at named points of a turn: nothing acknowledged is lost, and nothing is done twice.

The process dies exactly at its point (see `kill_process`); no clock is involved.
"""

import json
import os
import signal
from pathlib import Path

import pytest

from llm.strict_provider import Answer, StrictProvider, chunks
from nuncius.app.build import open_app
from nuncius.core.events import (
    Compaction,
    ToolResultEvent,
    TurnFinished,
)
from nuncius.llm.scripted import Reply
from scenarios.kill_process import settings_of
from scenarios.killing import (
    TIMES,
    check,
    go_on,
    gone,
    killed_at,
    leftovers,
    needs_proc,
    needs_sandbox,
    new_home,
    outcomes,
    runs,
)

pytestmark = needs_proc


@pytest.fixture(params=range(TIMES), autouse=True)
def time(request: pytest.FixtureRequest) -> int:
    """Say which of so many times it is."""
    return request.param


@pytest.mark.parametrize(
    ("point", "ended"),
    [
        ("message", {}),
        ("request", {}),
        ("calls stored", {"write": "ok", "file_write": "interrupted"}),
        ("pre hook", {"write": "ok", "file_write": "interrupted"}),
        ("write", {"write": "ok", "file_write": "interrupted"}),
        ("written", {"write": "ok", "file_write": "interrupted"}),
        ("edit", {"write": "ok", "read_file": "ok", "file_edit": "interrupted"}),
        ("edited", {"write": "ok", "read_file": "ok", "file_edit": "interrupted"}),
        ("result", {"write": "ok", "file_write": "interrupted"}),
        ("result stored", {"write": "ok", "file_write": "ok"}),
        ("post hook", {"write": "ok", "file_write": "interrupted"}),
        ("subagent", {"write": "ok", "subagent": "interrupted"}),
        ("subagent stored", {"write": "ok", "subagent": "ok"}),
        pytest.param("command", {"write": "ok", "run_bash": "interrupted"}, marks=needs_sandbox),
    ],
)
async def test_a_turn_goes_on_after_its_process_died(
    tmp_path: Path, point: str, ended: dict[str, str]
) -> None:
    session_id = await new_home(tmp_path)
    killed = await killed_at(point, tmp_path, session_id)
    async with open_app(settings_of(tmp_path)) as app:
        events = await check(app, tmp_path, session_id, killed)
    assert outcomes(events) == ended
    assert bool(killed.below) == (point == "command")
    if point not in {"write", "edit"}:  # these have a test of their own
        assert leftovers(tmp_path) == []
    project = tmp_path / "project"
    assert (project / "made.md").exists() == (
        point in {"written", "result", "result stored", "post hook"}
    )
    assert project.joinpath("edited.md").read_text() in {"an old word\n", "an new word\n"}


async def test_of_two_calls_at_once_the_one_that_was_done_stays_done(tmp_path: Path) -> None:
    session_id = await new_home(tmp_path)
    killed = await killed_at("parallel", tmp_path, session_id)
    async with open_app(settings_of(tmp_path)) as app:
        events = await check(app, tmp_path, session_id, killed)
    ended = [
        (e.metadata.get("path", "")[-8:], e.error_kind)
        for e in events
        if isinstance(e, ToolResultEvent) and e.name == "file_write"
    ]
    assert ended == [("first.md", None), ("", "interrupted")]
    assert (tmp_path / "project" / "one" / "first.md").read_text() == "1\n"
    assert not (tmp_path / "project" / "two" / "second.md").exists()


async def test_a_sibling_that_was_being_stopped_has_its_one_result(tmp_path: Path) -> None:
    session_id = await new_home(tmp_path)
    killed = await killed_at("sibling", tmp_path, session_id)
    async with open_app(settings_of(tmp_path)) as app:
        events = await check(app, tmp_path, session_id, killed)
    ended = outcomes(events)
    assert (ended["write"], ended["read"]) == ("ok", "interrupted")
    assert ended["fetch"] in {"not_found", "interrupted"}  # its own result may be in or not


@pytest.mark.parametrize("point", ["recovery", "recovered"])
async def test_a_death_while_a_death_is_tidied_up_changes_nothing(
    tmp_path: Path, point: str
) -> None:
    session_id = await new_home(tmp_path)
    first = await killed_at("result", tmp_path, session_id)
    second = await killed_at(point, tmp_path, session_id)
    assert second.shown == []
    async with open_app(settings_of(tmp_path)) as app:
        events = await check(app, tmp_path, session_id, first)
    assert outcomes(events) == {"write": "ok", "file_write": "interrupted"}


@pytest.mark.parametrize("point", ["hook program", "bare command"])
async def test_a_child_outside_the_sandbox_ends_with_us(tmp_path: Path, point: str) -> None:
    session_id = await new_home(tmp_path)
    is_hook = point == "hook program"
    killed = await killed_at(point, tmp_path, session_id, reports=int(not is_hook))
    if is_hook:
        killed.below = [int((tmp_path / "pid").read_text())]
    try:
        async with open_app(settings_of(tmp_path)) as app:
            events = await check(app, tmp_path, session_id, killed)
        assert set(outcomes(events).values()) <= {"ok", "interrupted"}
    finally:
        for pid in filter(runs, killed.below):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("point", "path"),
    [("write", "made.md"), ("edit", "edited.md"), ("parallel", "two/second.md")],
)
async def test_no_half_written_file_is_left_once_the_work_is_done_again(
    tmp_path: Path, point: str, path: str
) -> None:
    session_id = await new_home(tmp_path)
    await killed_at(point, tmp_path, session_id)
    redo = json.dumps({"path": path, "content": "done\n", "overwrite": True})
    async with open_app(settings_of(tmp_path)) as app:
        await go_on(app, session_id, Reply(calls=[("file_write", redo)]), "It is done.")
    assert (tmp_path / "project" / path).read_text() == "done\n"
    assert leftovers(tmp_path) == []


HALF_A_CALL = chunks(
    {"content": "I write."},
    {
        "tool_calls": [
            {"index": 0, "id": "x", "function": {"name": "file_write", "arguments": '{"pa'}}
        ]
    },
    finish=None,
    done=False,
)
HALF_A_TEXT = chunks({"content": "The radius is "}, finish=None, done=False)


@pytest.mark.parametrize("point", ["first byte", "text", "arguments", "stop"])
async def test_a_reply_that_was_cut_by_our_death_leaves_no_call(tmp_path: Path, point: str) -> None:
    session_id = await new_home(tmp_path)
    body = HALF_A_CALL if point == "arguments" else HALF_A_TEXT
    async with StrictProvider.serving([Answer(body, hang=True)]) as provider:
        killed = await killed_at(point, tmp_path, session_id, provider.url)
        assert provider.refusals == []
    async with open_app(settings_of(tmp_path)) as app:
        events = await check(app, tmp_path, session_id, killed)
    assert outcomes(events) == {}
    assert [e.status for e in events if isinstance(e, TurnFinished)] == ["failed", "completed"]


@pytest.mark.parametrize(
    "point", ["micro", "micro stored", "auto", "auto stored", "manual", "manual stored"]
)
async def test_a_compaction_is_there_as_a_whole_or_not_at_all(tmp_path: Path, point: str) -> None:
    session_id = await new_home(tmp_path)
    killed = await killed_at(point, tmp_path, session_id)
    async with open_app(settings_of(tmp_path)) as app:
        kind, _, stored = point.partition(" ")
        rows = await app.journal.messages(session_id)
        done = [e for e in await app.journal.events(session_id) if isinstance(e, Compaction)]
        assert [e.kind for e in done] == ([kind] if stored else [])
        assert sum("compaction" in row.metadata for row in rows) == len(done)
        await check(app, tmp_path, session_id, killed)


async def test_papers_are_added_once_though_their_parser_was_orphaned(tmp_path: Path) -> None:
    session_id = await new_home(tmp_path)
    for n in range(3):
        text = f"# Star {n}\n\nThe star {n} has a radius of {n}.5 solar radii.\n"
        (tmp_path / "papers" / f"{n}.md").write_text(text)
    killed = await killed_at("parse", tmp_path, session_id)
    assert killed.below
    assert await gone(killed.below) == []
    async with open_app(settings_of(tmp_path)) as app:
        report = await app.library.add([tmp_path / "papers"])
        assert (len(report.added), len(report.failed)) == (3, 0)
        assert len((await app.library.add([tmp_path / "papers"])).unchanged) == 3
        assert await app.store.check() == []
    assert leftovers(tmp_path) == []
