"""`kill -9` anywhere in a turn: nothing acknowledged is lost, and the session can go on."""

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from llm.strict_provider import faults
from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.runtime import Runtime
from nuncius.core.events import Event, ToolCallEvent, ToolResultEvent, TurnFinished, load_event
from nuncius.library.answer import Finisher
from nuncius.llm import wire
from nuncius.llm.scripted import ScriptedModel
from nuncius.store import open_store
from scenarios import turn_process
from scenarios.turn_process import Look, Write

SCRIPT = Path(turn_process.__file__)
TESTS = SCRIPT.parent.parent


async def run_and_kill(home: Path, session_id: str, *, after: int) -> list[Event]:
    """Kill the process after it showed `after` events; return the ones it showed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(SCRIPT),
        str(home),
        session_id,
        stdout=asyncio.subprocess.PIPE,
        env={"PYTHONPATH": str(TESTS), "PATH": ""},
    )
    assert process.stdout
    shown: list[Event] = []
    while len(shown) < after and (line := await asyncio.wait_for(process.stdout.readline(), 30)):
        shown.append(load_event(line))
    if process.returncode is None:
        process.kill()
    rest = await process.stdout.read()
    await process.wait()
    # what was printed before the kill was acknowledged too
    shown.extend(load_event(line) for line in rest.split(b"\n")[:-1])
    return shown


@pytest.mark.parametrize("after", [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 100])
async def test_nothing_acknowledged_is_lost_and_the_session_goes_on(
    tmp_path: Path, after: int
) -> None:
    store = await open_store(tmp_path, tmp_path / "nuncius.db")
    session = await store.journal.create_session()
    await store.close()

    shown = await run_and_kill(tmp_path, session.id, after=after)

    store = await open_store(tmp_path, tmp_path / "nuncius.db")
    try:
        assert await store.check() == []
        kept = await store.journal.events(session.id)
        assert kept[: len(shown)] == shown
        model = ScriptedModel(["It goes on."])
        runtime = Runtime(
            model,
            ToolRegistry([Look(), Write(tmp_path / "effects")]),
            store.journal,
            PermissionChecker(store.desk),
            Finisher(store),
            system_prompt="Do as told.",
        )
        result = await runtime.run_turn(session.id, "And now?")
        assert (result.status, len(model.requests)) == ("completed", 1)
        messages = [
            wire.message_object(message, wire.dialect_of("https://example.org/v1", "m"), "test")
            for message in model.requests[0].messages
        ]
        assert faults(messages) == []
        events = await store.journal.events(session.id)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        check_calls_and_turns(events)
        effects = (
            (tmp_path / "effects").read_text().split() if (tmp_path / "effects").exists() else []
        )
        assert Counter(effects).most_common(1)[:1] in ([], [(effects[0] if effects else "", 1)])
        done = [
            event.arguments["word"]
            for event in events
            if isinstance(event, ToolCallEvent)
            and event.name == "write"
            and any(
                isinstance(other, ToolResultEvent) and other.id == event.id and not other.is_error
                for other in events
            )
        ]
        assert set(done) <= set(effects)
    finally:
        await store.close()
    assert not list(tmp_path.glob("**/*.tmp"))


def check_calls_and_turns(events: Sequence[Event]) -> None:
    calls = [event.id for event in events if isinstance(event, ToolCallEvent)]
    results = [event.id for event in events if isinstance(event, ToolResultEvent)]
    assert Counter(calls) == Counter(results)
    assert set(Counter(calls).values()) <= {1}
    started = [event.turn_id for event in events if event.type == "turn_started"]
    finished = [event.turn_id for event in events if isinstance(event, TurnFinished)]
    assert started == finished
    assert len(started) == 2
