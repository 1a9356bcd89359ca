"""Kill a process at a point of `kill_process`, open the home again, and hold it to its promises."""

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from llm.strict_provider import faults
from nuncius.app.build import App, open_app, prompt
from nuncius.cli.replay import faults as faults_of_record
from nuncius.core.events import (
    Event,
    ToolCallEvent,
    ToolResultEvent,
    load_event,
)
from nuncius.llm import wire
from nuncius.llm.scripted import ScriptedModel
from nuncius.walls.spawn import sandbox_failure
from scenarios import kill_process
from scenarios.kill_process import equip, settings_of

SCRIPT = Path(kill_process.__file__)
TIMES = int(os.environ.get("NUNCIUS_KILLS", "1"))
"""How often each point is met: ``NUNCIUS_KILLS=25`` for a night."""
LEFTOVERS = (".tmp", ".part", ".partial", ".restoring")
SUMMARY = prompt("summary.md")
needs_sandbox = pytest.mark.skipif(
    bool(sandbox_failure()), reason=f"no sandbox: {sandbox_failure()}"
)
needs_proc = pytest.mark.skipif(
    not Path("/proc/self/task").is_dir(), reason="the processes below one are read from /proc"
)


@dataclass
class Killed:
    """What a killed process had shown, and who was below it."""

    shown: list[Event] = field(default_factory=list[Event])
    below: list[int] = field(default_factory=list[int])


async def new_home(folder: Path) -> str:
    """Make a home with a project and a session; return the session's id."""
    for name in ("home", "project", "papers"):
        (folder / name).mkdir()
    (folder / "project" / "edited.md").write_text("an old word\n")
    for n in range(8):
        line = f"Star {n} has a radius of {n}.5 solar radii and is well studied.\n"
        (folder / "project" / f"long-{n}.md").write_text(line * 200)
    async with open_app(settings_of(folder)) as app:
        for rule in ("file_edit(/**)", "file_write(/**)", "run_bash", "run_bash(*)"):
            await app.store.desk.add_rule(rule, "allow")
        return (await app.journal.create_session(mode="auto", model="scripted")).id


async def killed_at(
    point: str, folder: Path, session_id: str, url: str = "", *, reports: int = 1
) -> Killed:
    """Run a process to its point and return what it left; fail if it never got there.

    Args:
        reports: 0 where somebody else kills it, so that it cannot say so.
    """
    arguments = [str(SCRIPT), point, str(folder), session_id, *([url] if url else [])]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PYTHONPATH": str(SCRIPT.parent.parent), "PATH": os.environ["PATH"]},
    )
    out, err = await asyncio.wait_for(process.communicate(), 60)
    killed = Killed()
    lines = [json.loads(line) for line in out.splitlines()]
    died = [line["below"] for line in lines if line.get("died")]
    assert (process.returncode, len(died)) == (-9, reports), err.decode() or out.decode()
    killed.below = [pid for below in died for pid in below]
    killed.shown = [load_event(json.dumps(line)) for line in lines if not line.get("died")]
    return killed


async def gone(pids: Sequence[int]) -> list[int]:
    """Wait until these processes have ended; return those that do not."""
    alive = list(pids)
    for _ in range(200):
        alive = [pid for pid in alive if runs(pid)]
        if not alive:
            break
        await asyncio.sleep(0.01)
    return alive


def runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def leftovers(folder: Path) -> list[str]:
    return [str(file) for file in folder.rglob("*") if file.name.endswith(LEFTOVERS)]


async def go_on(app: App, session_id: str, *script: Any) -> ScriptedModel:
    """Ask the next question, as somebody does who opens the session again."""
    steps = iter(script or ["It goes on."])
    model = ScriptedModel(
        lambda asked: "A summary." if asked.messages[0].content == SUMMARY else next(steps)
    )
    equip(app)
    cast("Any", app).model = lambda _name="": model
    result = await app.ask("And now?", session_id=session_id)
    assert result.status == "completed", result.error
    return model


async def check(app: App, folder: Path, session_id: str, killed: Killed) -> list[Event]:
    """Hold what is there to what is promised after any crash; return the events."""
    assert await app.store.check() == []
    kept = list(await app.journal.events(session_id))
    assert kept[: len(killed.shown)] == killed.shown
    model = await go_on(app, session_id)
    sent = [wire.message_object(m, wire.Dialect(), "") for m in model.requests[-1].messages]
    assert faults(sent) == []
    assert any("Do the work." in str(message["content"]) for message in sent)
    events = list(await app.journal.events(session_id))
    assert faults_of_record(events, await app.journal.messages(session_id)) == []
    calls = Counter(event.id for event in events if isinstance(event, ToolCallEvent))
    results = Counter(event.id for event in events if isinstance(event, ToolResultEvent))
    assert calls == results
    assert set(calls.values()) <= {1}
    written = folder / "home" / "effects"
    effects = Counter(written.read_text().split() if written.exists() else [])
    assert set(effects.values()) <= {1}
    good = {e.id for e in events if isinstance(e, ToolResultEvent) and not e.is_error}
    told = {
        str(event.arguments["word"])
        for event in events
        if isinstance(event, ToolCallEvent) and event.name == "write" and event.id in good
    }
    assert told <= set(effects)
    assert await app.store.check() == []
    assert await gone(killed.below) == []
    return events


def outcomes(events: Sequence[Event]) -> dict[str, str]:
    """Return how the call of each tool ended."""
    return {e.name: e.error_kind or "ok" for e in events if isinstance(e, ToolResultEvent)}
