"""A turn, or another act, in a process of its own that kills itself at one exact point.

``python kill_process.py POINT HOME SESSION [URL]``: HOME holds `home`, `project` and `papers`. Each
event is printed when it is shown; the last line says that the point was reached and which processes
ran below this one then. What runs is the product's own: `open_app`, its tools, its hooks, its store. Only
the model is a script, or a server at URL.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from nuncius.agent.hooks import Hook
from nuncius.app.build import open_app, prompt
from nuncius.app.folders import database_path
from nuncius.core.events import Event, dump_event
from nuncius.core.settings import HookSetting, Settings
from nuncius.llm.model import ModelRequest
from nuncius.llm.scripted import Reply, ScriptedModel, Step
from nuncius.store import open_store
from scenarios.dying import (
    DyingAfter,
    DyingBefore,
    after_commit,
    after_the_step,
    at_rename,
    before_commit,
    below,
    between_deleted_parts,
    calls_of_the_model,
    compaction,
    die,
    equip,
    half_a_call,
    in_a_checkpoint,
    in_a_step,
    in_the_copy,
    in_the_stream,
    interrupted,
    one_done_one_running,
    result_of,
    say,
    the_end,
)

QUESTION = "Do the work."
SPEECH = "I have thought about the radius of this star for a while. " * 100


def settings_of(folder: Path, url: str = "") -> Settings:
    """Return the settings of the home in `folder`; small models, so that they are soon full."""
    home = folder / "home"
    return Settings(
        home=home,
        library_dir=home / "library",
        skills_dir=home / "skills",
        project_dir=folder / "project",
        database_url=f"sqlite:///{home / 'nuncius.db'}",
        permission_mode="auto",
        llm_base_url=url,
        llm_model="m",
        llm_context_tokens=24_000,
    )


# --- the points -----------------------------------------------------------------------------------


def calling(*calls: tuple[str, dict[str, Any]], text: str = "") -> Reply:
    return Reply(text, calls=[(name, json.dumps(arguments)) for name, arguments in calls])


EFFECT = ("write", {"word": "once"})
MADE = ("file_write", {"path": "made.md", "content": "made\n"})
WORK = (calling(EFFECT, text="I work."), calling(MADE), "It is done.")
EDIT = (
    calling(EFFECT, ("read_file", {"path": "edited.md"})),
    calling(("file_edit", {"path": "edited.md", "old_string": "old", "new_string": "new"})),
    "It is done.",
)
TWO = (
    calling(EFFECT),
    calling(
        ("file_write", {"path": "one/first.md", "content": "1\n"}),
        ("file_write", {"path": "two/second.md", "content": "2\n"}),
    ),
)
READS = tuple(calling(("read_file", {"path": f"long-{n}.md"})) for n in range(8))
SPEAKS = tuple(
    calling(("write", {"word": f"step-{n}"}), text=f"Step {n}. {SPEECH}") for n in range(12)
)
PARTS = (
    calling(EFFECT),
    calling(("subagent", {"task": "Write a word.", "name": "kid"})),
    "It is done.",
)
KID = (calling(("write", {"word": "kid"})), "The kid is done.")
SHELL = (
    calling(EFFECT),
    calling(("run_bash", {"command": "touch begun; sleep 300 & sleep 300"})),
)


@dataclass(frozen=True)
class Point:
    """One point.

    Attributes:
        script: What the model says; None: a server says it.
        arrange: Sets the trap.
        on: Die when the first such event was shown.
        hooks: The user's hooks.
        sandbox: How commands run.
        program: A hook of the user's that is a program of its own, as a shell line.
        act: What is done in place of a turn.
    """

    script: Sequence[Step] | None = WORK
    arrange: Callable[[], None] | None = None
    on: Callable[[Event], bool] | None = None
    hooks: Sequence[Hook] = ()
    sandbox: Literal["auto", "off"] = "auto"
    program: str = ""
    act: "Callable[[Trial], Any] | None" = None


@dataclass
class Trial:
    """One run of a point."""

    point: Point
    home: Path
    session_id: str
    url: str

    @property
    def settings(self) -> Settings:
        changes: dict[str, Any] = {"sandbox": self.point.sandbox}
        if self.point.program:
            command = ("/bin/sh", "-c", self.point.program, "hook", str(self.home))
            hook = HookSetting(event="PreToolUse", match="file_write", command=command)
            changes["hooks"] = (hook,)
        return settings_of(self.home, self.url).model_copy(update=changes)

    def show(self, event: Event) -> None:
        say(dump_event(event))
        if self.point.on and self.point.on(event):
            die()

    def model(self) -> ScriptedModel:
        parts = {False: iter(self.point.script or ()), True: iter(KID)}
        subagent = prompt("subagent.md").strip()

        def following(request: ModelRequest) -> Step:
            if request.messages[0].content == prompt("summary.md"):
                return "A summary."
            return next(parts[subagent in request.messages[0].content])

        return ScriptedModel(following)


async def a_turn(trial: Trial) -> None:
    async with open_app(trial.settings, hooks=trial.point.hooks) as app:
        equip(app)
        if trial.point.script is not None:
            model = trial.model()
            cast("Any", app).model = lambda _name="": model
        await app.ask(QUESTION, session_id=trial.session_id, listeners=[trial.show])


async def asking_kills(trial: Trial) -> None:
    """Die where the model would be asked first."""

    def following(_: ModelRequest) -> Step:
        die()

    async with open_app(trial.settings) as app:
        model = ScriptedModel(following)
        cast("Any", app).model = lambda _name="": model
        await app.ask(QUESTION, session_id=trial.session_id, listeners=[trial.show])


async def a_command(trial: Trial) -> None:
    """Run a command that never ends in `run_bash`, and die while it runs."""
    turn = asyncio.create_task(a_turn(trial))
    begun = trial.home / "project" / "begun"
    while not begun.exists() and not turn.done():  # noqa: ASYNC110  (another process)
        await asyncio.sleep(0.01)
    die()


async def an_add(trial: Trial) -> None:
    """Add papers, and die while the child that parses them runs."""
    async with open_app(trial.settings) as app:
        adding = asyncio.create_task(app.library.add([trial.home / "papers"]))
        while not below(os.getpid()) and not adding.done():  # noqa: ASYNC110  (another process)
            await asyncio.sleep(0.002)
        die()


async def an_opening(trial: Trial) -> None:
    store = await open_store(trial.settings.home, database_path(trial.settings))
    await store.close()


async def a_deletion(trial: Trial) -> None:
    async with open_app(trial.settings) as app:
        await app.delete_session(trial.session_id)
        die()


async def a_deletion_before_it_forgets(trial: Trial) -> None:
    """Die before anything of the session is gone."""
    async with open_app(trial.settings) as app:
        cast("Any", app.outputs).forget = die
        await app.delete_session(trial.session_id)


def a_stop(trial: Trial) -> None:
    """Run `nuncius ask`, stop it with SIGTERM while the model speaks, die before it has ended."""
    from nuncius.cli import screen
    from nuncius.cli.main import main

    def emit(line: str) -> None:
        say(line)
        if json.loads(line)["type"] == "text_delta":
            os.kill(os.getpid(), signal.SIGTERM)

    screen.emit_line = emit
    os.environ |= {
        "NUNCIUS_HOME": str(trial.settings.home),
        "NUNCIUS_PROJECT_DIR": str(trial.settings.project_dir),
        "LLM_BASE_URL": trial.url,
        "LLM_MODEL": "m",
    }
    main(["ask", QUESTION, "--session", trial.session_id, "--stream-json"])


POINTS: dict[str, Point] = {
    "message": Point(on=lambda event: event.type == "turn_started"),
    "request": Point(act=asking_kills),
    "first byte": Point(None, lambda: in_the_stream(lambda _: True)),
    "text": Point(None, on=lambda event: event.type == "text_delta"),
    "arguments": Point(None, lambda: in_the_stream(half_a_call)),
    "calls stored": Point(arrange=lambda: after_commit(calls_of_the_model)),
    "pre hook": Point(hooks=[DyingBefore()]),
    "hook program": Point(program='echo $$ >"$1/pid"; kill -9 $PPID; exec sleep 300'),
    "write": Point(arrange=at_rename),
    "written": Point(arrange=lambda: at_rename(after=True)),
    "edit": Point(EDIT, at_rename),
    "edited": Point(EDIT, lambda: at_rename(after=True)),
    "parallel": Point(
        TWO, one_done_one_running, on=lambda event: result_of("file_write")([event], ())
    ),
    "sibling": Point((calling(EFFECT), calling(("fetch", {}), ("read", {})))),
    "result": Point(arrange=lambda: before_commit(result_of("file_write"))),
    "result stored": Point(arrange=lambda: after_commit(result_of("file_write"))),
    "post hook": Point(hooks=[DyingAfter()]),
    "micro": Point(READS, lambda: before_commit(compaction("micro"))),
    "micro stored": Point(READS, lambda: after_commit(compaction("micro"))),
    "auto": Point(SPEAKS, lambda: before_commit(compaction("auto"))),
    "auto stored": Point(SPEAKS, lambda: after_commit(compaction("auto"))),
    "manual": Point(
        (*SPEAKS[:4], calling(("compress_context", {}))),
        lambda: before_commit(compaction("manual")),
    ),
    "manual stored": Point(
        (*SPEAKS[:4], calling(("compress_context", {}))),
        lambda: after_commit(compaction("manual")),
    ),
    "subagent": Point(PARTS, lambda: before_commit(result_of("subagent"))),
    "subagent stored": Point(PARTS, lambda: after_commit(result_of("subagent"))),
    "command": Point(SHELL, act=a_command),
    "bare command": Point(SHELL, act=a_command, sandbox="off"),
    "recovery": Point(arrange=lambda: before_commit(interrupted)),
    "recovered": Point(arrange=lambda: after_commit(interrupted)),
    "parse": Point(act=an_add),
    "migration copy": Point(arrange=in_the_copy, act=an_opening),
    "migration": Point(arrange=in_a_step, act=an_opening),
    "migrated": Point(arrange=after_the_step, act=an_opening),
    "checkpoint": Point(arrange=in_a_checkpoint),
    "delete 0": Point(arrange=lambda: between_deleted_parts(0), act=a_deletion),
    "delete 2": Point(arrange=lambda: between_deleted_parts(2), act=a_deletion),
    "forgetting": Point(act=a_deletion_before_it_forgets),
    "stop": Point(None, lambda: before_commit(the_end), act=a_stop),
}


def main(point: str, home: Path, session_id: str, url: str = "") -> None:
    trial = Trial(POINTS[point], home, session_id, url)
    if trial.point.arrange:
        trial.point.arrange()
    done = (trial.point.act or a_turn)(trial)
    if done is not None:
        asyncio.run(done)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
