"""Places where a process can kill itself, for `kill_process`: traps in parts of the product."""

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

import apsw
from typing_extensions import override

from nuncius.agent.hooks import Hook, PostToolUse, PreToolUse
from nuncius.agent.tool import Arguments, Resource, Tool, ToolContext, ToolOutput
from nuncius.app.build import App
from nuncius.core.errors import ToolError
from nuncius.core.events import Compaction, Event, ToolResultEvent, TurnFinished
from nuncius.core.messages import StoredMessage
from nuncius.llm.accumulate import Accumulator
from nuncius.store import database, deletion, migrate
from nuncius.store.connection import Connection
from nuncius.store.journal import Journal
from scenarios.turn_process import Write

Seen = Callable[[Sequence[Event], Sequence[StoredMessage]], bool]


def say(text: str) -> None:
    os.write(1, text.encode() + b"\n")  # at once and whole, whichever thread says it


def die(*_: object) -> NoReturn:
    """Say that the point is reached and what runs below, and be gone."""
    say(json.dumps({"died": True, "below": below(os.getpid())}))
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("nobody survives that")


def below(pid: int) -> list[int]:
    """Return all processes below `pid`."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *below(int(child))]
    return found


# --- places where a process can die ---------------------------------------------------------------


def before_commit(seen: Seen) -> None:
    """Die where this would be committed next."""
    commit = Journal.commit

    async def trap(
        self: Journal, events: Sequence[Event], messages: Sequence[StoredMessage] = (), **how: Any
    ) -> Sequence[Event]:
        if seen(events, messages):
            die()
        return await commit(self, events, messages, **how)

    setattr(Journal, "commit", trap)  # noqa: B010  (pyright: a method of ours for theirs)


def after_commit(seen: Seen) -> None:
    """Die when this is committed, and not shown yet."""
    commit = Journal.commit

    async def trap(
        self: Journal, events: Sequence[Event], messages: Sequence[StoredMessage] = (), **how: Any
    ) -> Sequence[Event]:
        done = await commit(self, events, messages, **how)
        if seen(events, messages):
            die()
        return done

    setattr(Journal, "commit", trap)  # noqa: B010


def result_of(name: str) -> Seen:
    return lambda events, _: any(
        isinstance(event, ToolResultEvent) and event.name == name for event in events
    )


def compaction(kind: str) -> Seen:
    return lambda events, _: any(
        isinstance(event, Compaction) and event.kind == kind for event in events
    )


def interrupted(events: Sequence[Event], _: Sequence[StoredMessage]) -> bool:
    return any(
        isinstance(event, ToolResultEvent) and event.error_kind == "interrupted" for event in events
    )


def calls_of_the_model(_: Sequence[Event], messages: Sequence[StoredMessage]) -> bool:
    return any(
        call.name == "file_write" for stored in messages for call in stored.message.tool_calls
    )


def the_end(events: Sequence[Event], _: Sequence[StoredMessage]) -> bool:
    return any(isinstance(event, TurnFinished) for event in events)


def at_rename(*, after: bool = False) -> None:
    """Die where a file that was written gets its name."""
    rename = os.rename

    def trap(source: Any, target: Any, **more: Any) -> None:
        if after:
            rename(source, target, **more)
        die()

    setattr(os, "rename", trap)  # noqa: B010


def one_done_one_running() -> None:
    """Hold the second file's writer at its rename until the first file's result is shown."""
    rename = os.rename
    running, never = threading.Event(), threading.Event()

    def trap(source: Any, target: Any, **more: Any) -> None:
        if target == "second.md":
            running.set()
            never.wait()
        running.wait()
        rename(source, target, **more)

    setattr(os, "rename", trap)  # noqa: B010


def in_the_stream(reached: Callable[[dict[str, Any]], bool]) -> None:
    """Die when a piece of the model's reply was read that meets the condition."""
    add = Accumulator.add

    def trap(self: Accumulator, value: Any) -> Any:
        taken = add(self, value)
        if reached(value["choices"][0]["delta"]):
            die()
        return taken

    setattr(Accumulator, "add", trap)  # noqa: B010


def half_a_call(delta: dict[str, Any]) -> bool:
    calls = cast("list[dict[str, Any]]", delta.get("tool_calls") or [])
    return any(call["function"].get("arguments") for call in calls)


def between_deleted_parts(parts: int) -> None:
    delete = deletion.go_on
    done: list[bool] = []

    def trap(connection: Connection, session_id: str) -> bool:
        if len(done) == parts:
            die()
        done.append(True)
        return delete(connection, session_id)

    deletion.go_on = trap


class DyingDisk(apsw.VFS):
    """Passes all on to the real disk, and dies in the middle of a page of the database itself."""

    def __init__(self, *, pages: int) -> None:
        self.name = "dying"
        self.pages = pages
        super().__init__(self.name, "")

    def xOpen(self, name: Any, flags: list[int]) -> "DyingFile":  # noqa: N802
        return DyingFile(self, name, flags)


class DyingFile(apsw.VFSFile):
    def __init__(self, disk: DyingDisk, name: Any, flags: list[int]) -> None:
        self.disk = disk
        self.is_database = bool(flags[0] & apsw.SQLITE_OPEN_MAIN_DB)
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        write = cast("Any", super()).xWrite
        if self.is_database:
            self.disk.pages -= 1
            if self.disk.pages < 0:
                write(data[: len(data) // 2], offset)
                die()
        write(data, offset)


def in_a_checkpoint() -> None:
    """Put the database on a disk that dies in its third page: the log is moved in at the end."""
    disk = DyingDisk(pages=2)

    def connection(path: Path, **how: Any) -> Connection:
        return Connection(path, **(how | cast("Any", {"vfs": disk.name})))

    setattr(database, "Connection", connection)  # noqa: B010


def in_a_step() -> None:
    """Die when a migration has run and is not committed."""
    run = Connection.run

    def trap(self: Connection, sql: str, values: Any = ()) -> None:
        run(self, sql, values)
        if "ALTER TABLE" in sql:
            die()

    setattr(Connection, "run", trap)  # noqa: B010


def in_the_copy() -> None:
    """Die when the copy before an upgrade is written and has no name yet."""
    setattr(sys.modules["nuncius.store.backup"], "give_name", die)  # noqa: B010


def after_the_step() -> None:
    step = getattr(migrate, "_step")  # noqa: B009

    def trap(*arguments: Any) -> None:
        step(*arguments)
        die()

    setattr(migrate, "_step", trap)  # noqa: B010


# --- hooks and tools ------------------------------------------------------------------------------


class DyingBefore(Hook):
    match = "file_write"

    @override
    async def pre_tool_use(self, use: PreToolUse) -> None:
        die()


class DyingAfter(Hook):
    match = "file_write"

    @override
    async def post_tool_use(self, use: PostToolUse) -> None:
        die()


class Nothing(Arguments):
    """No arguments."""


PAPER = (Resource("paper:x", "read"),)


class Fetch(Tool[Nothing]):
    """Fail as a download fails, once its sibling runs."""

    name = "fetch"
    args = Nothing
    read_only = True
    sibling_runs = asyncio.Event()

    @override
    def causes_sibling_abort(self) -> bool:
        return True

    @override
    def resources(self, args: Nothing) -> Sequence[Resource]:
        return PAPER

    @override
    async def run(self, args: Nothing, ctx: ToolContext) -> ToolOutput:
        await self.sibling_runs.wait()
        raise ToolError("The download failed.")


class Read(Tool[Nothing]):
    """Read what `fetch` brings, and die when it is told to stop."""

    name = "read"
    args = Nothing
    read_only = True

    @override
    def resources(self, args: Nothing) -> Sequence[Resource]:
        return PAPER

    @override
    async def run(self, args: Nothing, ctx: ToolContext) -> ToolOutput:
        Fetch.sibling_runs.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            die()
        raise AssertionError("it ends by being stopped")


def equip(app: App) -> None:
    """Give the product's tools one more that counts its effects, and two that abort each other."""
    for tool in (Write(app.settings.home / "effects"), Fetch(), Read()):
        app.registry().replace(tool)
