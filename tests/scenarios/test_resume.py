"""A session goes on after `kill -9`: subagents, questions and permission requests included."""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from llm.strict_provider import faults
from nuncius.cli.replay import faults as faults_of_record
from nuncius.core.events import (
    Event,
    PermissionResolved,
    SubagentFinished,
    SubagentStarted,
    ToolCallEvent,
    ToolResultEvent,
    load_event,
)
from nuncius.llm import wire
from nuncius.llm.scripted import ScriptedModel
from nuncius.store import open_store
from nuncius.store.protocols import PendingRequest, Store
from scenarios import resume_process
from scenarios.resume_process import TODOS, runtime_of

SCRIPT = Path(resume_process.__file__)
Until = Callable[[Sequence[Event]], bool]


def of(kind: str, count: int = 1) -> Until:
    """Return the condition that so many events of a kind were shown."""
    return lambda shown: sum(event.type == kind for event in shown) >= count


@asynccontextmanager
async def home_of(folder: Path) -> AsyncGenerator[Store]:
    store = await open_store(folder, folder / "nuncius.db")
    try:
        yield store
    finally:
        await store.close()


async def new_session(folder: Path) -> str:
    async with home_of(folder) as store:
        return (await store.journal.create_session(mode="ask", model="scripted")).id


@asynccontextmanager
async def running(folder: Path, session_id: str, until: Until) -> AsyncGenerator[list[Event]]:
    """Run the turn in a process until its events meet the condition; kill it at the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(SCRIPT),
        str(folder),
        session_id,
        stdout=asyncio.subprocess.PIPE,
        env={"PYTHONPATH": str(SCRIPT.parent.parent), "PATH": ""},
        limit=2**20,
    )
    assert process.stdout
    shown: list[Event] = []
    try:
        while not until(shown):
            line = await asyncio.wait_for(process.stdout.readline(), 30)
            assert line, "the process ended"
            shown.append(load_event(line))
        yield shown
    finally:
        if process.returncode is None:
            process.kill()
        rest = await process.stdout.read()
        await process.wait()
        shown.extend(load_event(line) for line in rest.split(b"\n")[:-1])


async def go_on(store: Store, folder: Path, session_id: str) -> ScriptedModel:
    model = ScriptedModel(["It goes on."])
    result = await runtime_of(store, folder, model).run_turn(session_id, "And now?")
    assert (result.status, len(model.requests)) == ("completed", 1)
    return model


async def check(store: Store, folder: Path, session_id: str, model: ScriptedModel) -> None:
    """Hold the record to what is promised of it after any crash."""
    dialect = wire.dialect_of("https://example.org/v1", "m")
    sent = [wire.message_object(m, dialect, "test") for m in model.requests[0].messages]
    assert faults(sent) == []
    events = await store.journal.events(session_id)
    messages = await store.journal.messages(session_id)
    assert faults_of_record(events, messages) == []
    calls = Counter(event.id for event in events if isinstance(event, ToolCallEvent))
    results = Counter(event.id for event in events if isinstance(event, ToolResultEvent))
    assert calls == results
    started = [event.name for event in events if isinstance(event, SubagentStarted)]
    finished = [event.name for event in events if isinstance(event, SubagentFinished)]
    assert started == finished
    for name in ("main", *started):
        rows = [row.message for row in await store.journal.messages(session_id, name)]
        wanted = [call.id for row in rows for call in row.tool_calls]
        assert wanted == [row.tool_call_id for row in rows if row.role == "tool"]
    written = folder / "effects"
    effects = written.read_text().split() if written.exists() else []
    assert set(Counter(effects).values()) <= {1}
    good = {
        event.id for event in events if isinstance(event, ToolResultEvent) and not event.is_error
    }
    done = {
        event.arguments["word"]
        for event in events
        if isinstance(event, ToolCallEvent) and event.name == "write" and event.id in good
    }
    assert done <= set(effects)
    assert "danger" not in effects
    assert await store.check() == []


@pytest.mark.parametrize(
    "after", [1, 2, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20, 22, 24, 100]
)
async def test_killed_anywhere_it_goes_on_and_nothing_is_done_twice(
    tmp_path: Path, after: int
) -> None:
    session_id = await new_session(tmp_path)
    all_asked = of("question", 2)
    async with running(
        tmp_path, session_id, lambda shown: len(shown) >= after or all_asked(shown)
    ) as shown:
        pass
    async with home_of(tmp_path) as store:
        assert list(await store.journal.events(session_id))[: len(shown)] == shown
        asked = {event.id for event in shown if event.type == "question"}
        listed = {request.id for request in await store.journal.pending()}
        assert asked <= listed
        model = await go_on(store, tmp_path, session_id)
        assert {request.id for request in await store.journal.pending()} == listed
        await check(store, tmp_path, session_id, model)


async def test_an_answer_after_the_kill_is_delivered_once(tmp_path: Path) -> None:
    session_id = await new_session(tmp_path)
    async with running(tmp_path, session_id, of("question", 2)):
        pass
    async with home_of(tmp_path) as store:
        band, epoch = sorted(await store.journal.pending(), key=lambda r: r.question)
        await store.journal.answer_question(band.id, "V")
        model = await go_on(store, tmp_path, session_id)
        texts = [message.content for message in model.requests[0].messages]
        assert sum("(Which band?): V" in text for text in texts) == 1
        assert [request.id for request in await store.journal.pending()] == [epoch.id]
        await check(store, tmp_path, session_id, model)
        again = await go_on(store, tmp_path, session_id)
        texts = [message.content for message in again.requests[0].messages]
        assert sum(text.count("(Which band?): V") for text in texts) == 1


async def test_what_stood_in_the_session_stands_after_the_kill(tmp_path: Path) -> None:
    session_id = await new_session(tmp_path)
    async with running(tmp_path, session_id, of("question", 2)):
        pass
    async with home_of(tmp_path) as store:
        session = await store.journal.session(session_id)
        assert (session.mode, session.model, session.enable_thinking) == ("ask", "scripted", True)
        (todo,) = await store.journal.todos(session_id)
        assert todo["content"] == TODOS[0]["content"]


async def the_permission(store: Store) -> PendingRequest:
    async with asyncio.timeout(20):
        while True:
            if waiting := await store.journal.pending():
                (request,) = waiting
                return request
            await asyncio.sleep(0.02)


async def turn_finished(store: Store, session_id: str) -> None:
    while True:
        if of("turn_finished")(await store.journal.events(session_id)):
            return
        await asyncio.sleep(0.02)


async def answer_both(store: Store) -> None:
    for request in await store.journal.pending():
        await store.journal.answer_question(request.id, f"to {request.question}")


async def test_another_process_answers_and_decides_while_the_turn_waits(tmp_path: Path) -> None:
    session_id = await new_session(tmp_path)
    async with home_of(tmp_path) as store:
        async with running(tmp_path, session_id, of("question", 2)):
            await answer_both(store)
            request = await the_permission(store)
            assert (request.kind, request.tool) == ("permission", "delete")
            decided = await store.journal.decide_request(
                request.id, "deny", args_sha256=request.args_sha256
            )
            assert decided.state == "deny"
            await asyncio.wait_for(turn_finished(store, session_id), 20)
        events = await store.journal.events(session_id)
        answers = [
            event.output
            for event in events
            if isinstance(event, ToolResultEvent) and event.name == "ask_user"
        ]
        assert sorted(answers) == [
            "The user answers: to Which band?",
            "The user answers: to Which epoch?",
        ]
        (refused,) = [e for e in events if isinstance(e, ToolResultEvent) and e.name == "delete"]
        assert refused.error_kind == "denied"
        assert faults_of_record(events, await store.journal.messages(session_id)) == []
        assert "danger" not in (tmp_path / "effects").read_text()


@pytest.mark.parametrize("when", ["before the session goes on", "after it went on"])
async def test_a_late_decision_is_recorded_and_lets_nothing_run(tmp_path: Path, when: str) -> None:
    session_id = await new_session(tmp_path)
    async with home_of(tmp_path) as store:
        async with running(tmp_path, session_id, of("question", 2)):
            await answer_both(store)
            request = await the_permission(store)
        assert await store.journal.pending() == []  # nothing can come of it any more
        if when.startswith("after"):
            await go_on(store, tmp_path, session_id)
            assert (await store.journal.pending_request(request.id)).state == "expired"
        decided = await store.journal.decide_request(request.id, "allow", scope="always")
        assert decided.state == "expired"
        model = await go_on(store, tmp_path, session_id)
        events = await store.journal.events(session_id)
        (result,) = [e for e in events if isinstance(e, ToolResultEvent) and e.name == "delete"]
        assert result.error_kind == "interrupted"
        (recorded,) = [event for event in events if isinstance(event, PermissionResolved)]
        assert (recorded.id, recorded.decision, recorded.by) == (request.id, "allow", "user")
        assert await store.desk.rules(session_id) == []
        await check(store, tmp_path, session_id, model)
