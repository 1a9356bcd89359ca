"""What goes wrong around a turn (the disk, the clock, a command, a tool), and how it ends."""

import asyncio
import json
import os
import signal
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agent.parts import Act, Bench, Look
from llm.strict_provider import StrictProvider, whole
from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.runtime import Runtime
from nuncius.agent.tool import ToolContext, ToolOutput
from nuncius.app.build import database_path, open_app
from nuncius.cli.replay import faults as faults_of_record
from nuncius.core.errors import DatabaseBrokenError
from nuncius.core.events import ToolResultEvent
from nuncius.library.answer import Finisher
from nuncius.llm.scripted import Reply, ScriptedModel
from nuncius.store import open_store
from nuncius.store.protocols import Store
from nuncius.tools.files import ReadFile, ReadFileArgs
from nuncius.tools.shell import RunBash, RunBashArgs, ShellSettings
from nuncius.walls import shell
from nuncius.walls.paths import PathGuard, Roots
from nuncius.walls.spawn import sandbox_failure
from scenarios.kill_process import settings_of

needs_sandbox = pytest.mark.skipif(
    bool(sandbox_failure()), reason=f"no sandbox: {sandbox_failure()}"
)
CONTEXT = ToolContext("s")

# --- the database ---------------------------------------------------------------------------------

HOLDER = """
import sys, apsw
held = apsw.Connection(sys.argv[1])
held.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
held.execute("COMMIT")
"""


async def test_a_turn_waits_while_another_process_holds_the_database(tmp_path: Path) -> None:
    store = await open_store(tmp_path, tmp_path / "nuncius.db")
    session = await store.journal.create_session()
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, str(tmp_path / "nuncius.db"),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert holder.stdout
        assert await holder.stdout.readline() == b"held\n"
        runtime = runtime_of(store, ScriptedModel(["It is done."]))
        turn = asyncio.create_task(runtime.run_turn(session.id, "Why?"))
        await asyncio.sleep(0.3)
        assert not turn.done()
        assert await store.journal.events(session.id) == []  # readers do not wait
        await holder.communicate(b"\n")
        assert (await turn).status == "completed"
    finally:
        if holder.returncode is None:
            holder.kill()
            await holder.wait()
        await store.close()


def runtime_of(store: Store, model: ScriptedModel, *tools: Any) -> Runtime:
    return Runtime(
        model,
        ToolRegistry(tools or (Look(),)),
        store.journal,
        PermissionChecker(store.desk),
        Finisher(store),
        system_prompt="Do as told.",
    )


async def test_a_database_that_is_deleted_in_a_turn_ends_it_and_is_not_made_anew(
    tmp_path: Path,
) -> None:
    path = tmp_path / "nuncius.db"
    store = await open_store(tmp_path, path)
    session = await store.journal.create_session()

    def delete(_: object, __: ToolContext) -> ToolOutput:
        path.unlink()
        return ToolOutput("deleted")

    calls = Reply(calls=[("act", "{}")])
    runtime = runtime_of(store, ScriptedModel([calls, "Done."]), Act(delete))
    with pytest.raises(DatabaseBrokenError, match="deleted or replaced while it was in use"):
        await runtime.run_turn(session.id, "Do it.")
    with pytest.raises(DatabaseBrokenError):
        await runtime.run_turn(session.id, "And now?")
    assert not path.exists()
    await store.close()
    with pytest.raises(DatabaseBrokenError, match="is empty or gone"):
        await open_store(tmp_path, path)
    assert not path.exists()


async def test_an_older_image_of_the_disk_is_no_crash_and_both_sides_are_told(
    tmp_path: Path,
) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    paper(papers, "first")
    paper(papers, "gone")
    async with open_app(settings_of(tmp_path)) as app:
        await app.library.add([papers])
        session = await app.session()
    database = database_path(settings_of(tmp_path))
    image = database.read_bytes()
    paper(papers, "later")
    async with open_app(settings_of(tmp_path)) as app:
        await app.library.add([papers])
    database.write_bytes(image)  # rows are as they were; files are as they are
    (papers / "gone.md").unlink()
    async with open_app(settings_of(tmp_path)) as app:
        assert await app.store.check() == []
        assert (await app.journal.session(session.id)).id == session.id
        report = await app.library.add([papers])
        assert [added.title for added in report.added] == ["The star later"]
        assert report.vanished == (str(papers / "gone.md"),)
        assert (await app.library.status()).vanished == [str(papers / "gone.md")]


def paper(folder: Path, name: str) -> None:
    text = f"# The star {name}\n\nThe star {name} has a radius of 1.5 solar radii.\n"
    (folder / f"{name}.md").write_text(text)


@needs_sandbox
@pytest.mark.parametrize("new", [True, False])
async def test_a_read_only_disk_is_told_at_the_start(tmp_path: Path, new: bool) -> None:
    if not new:
        async with open_app(settings_of(tmp_path)) as app:
            await app.session()
    (tmp_path / "home").mkdir(exist_ok=True)
    program = [sys.executable, "-m", "nuncius", "add", str(tmp_path)]
    code, out, err = await ran(
        "bwrap", "--dev-bind", "/", "/", "--ro-bind", str(tmp_path), str(tmp_path), *program,
        home=tmp_path / "home",
    )  # fmt: skip
    assert code in {1, 2}, out + err
    assert "Traceback" not in err
    assert "read-only" in err.lower()
    assert "NUNCIUS_HOME" in err


async def ran(*command: str, home: Path) -> tuple[int | None, str, str]:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "NUNCIUS_HOME": str(home)},
    )
    out, err = await asyncio.wait_for(process.communicate(), 60)
    return process.returncode, out.decode(), err.decode()


# --- the clock ------------------------------------------------------------------------------------


def guard_in(folder: Path) -> PathGuard:
    for name in ("project", "library", "skills"):
        (folder / name).mkdir(exist_ok=True)
    return PathGuard(
        Roots.of(library=folder / "library", project=folder / "project", skills=[folder / "skills"])
    )


async def test_no_clock_makes_a_changed_file_look_unchanged(tmp_path: Path) -> None:
    reading = ReadFile(guard_in(tmp_path))
    file = tmp_path / "project" / "a.md"
    file.write_text("one\n")
    before = file.stat()
    arguments = ReadFileArgs(path="a.md")
    assert "one" in (await reading.run(arguments, CONTEXT)).content
    file.write_text("two\n")
    for stamp in (before.st_mtime_ns, before.st_mtime_ns - 10 * 365 * 86_400 * 10**9):
        os.utime(file, ns=(stamp, stamp))
        context = ToolContext("s", read_state=CONTEXT.read_state)
        assert "two" in (await reading.run(arguments, context)).content
        CONTEXT.read_state.generation += 1


async def test_a_clock_that_jumps_back_breaks_no_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_store(tmp_path, tmp_path / "nuncius.db")
    session = await store.journal.create_session()
    model = ScriptedModel(lambda _request: "Yes.")
    assert (await runtime_of(store, model).run_turn(session.id, "Why?")).status == "completed"
    from nuncius.store import journal

    monkeypatch.setattr(journal, "now", lambda: "2016-12-01T00:00:00.000Z")
    assert (await runtime_of(store, model).run_turn(session.id, "And?")).status == "completed"
    events = await store.journal.events(session.id)
    assert faults_of_record(events, await store.journal.messages(session.id)) == []
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert await store.check() == []
    await store.close()


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles", "Etc/UTC"])
async def test_times_are_stored_in_utc_whatever_the_zone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    with monkeypatch.context() as there:
        there.setenv("TZ", zone)
        time.tzset()
        store = await open_store(tmp_path, tmp_path / "nuncius.db")
        session = await store.journal.create_session()
        await runtime_of(store, ScriptedModel(["Yes."])).run_turn(session.id, "Why?")
        events = await store.journal.events(session.id)
        await store.close()
    time.tzset()
    for text in (session.created_at, *(event.time for event in events)):
        assert text.endswith("Z")
        assert abs(datetime.fromisoformat(text) - datetime.now(UTC)) < timedelta(minutes=10)


# --- commands -------------------------------------------------------------------------------------


async def command(folder: Path, line: str) -> ToolOutput:
    tool = RunBash(guard_in(folder), ShellSettings())
    return await tool.run(RunBashArgs(command=line, timeout_s=60), CONTEXT)


@needs_sandbox
async def test_binary_output_of_a_command_is_escaped(tmp_path: Path) -> None:
    output = await command(tmp_path, r"printf 'a\x00\xff\xfe\x1b[31mb\x07'")
    assert output.content.endswith("\na\\x00\\xff\\xfeb\\x07")
    json.dumps(output.content).encode("utf-8")


@needs_sandbox
async def test_100_mb_without_a_line_break_are_bounded(tmp_path: Path) -> None:
    output = await command(tmp_path, "head -c 100000000 /dev/zero | tr '\\0' x")
    assert output.metadata["output_bytes"] == 100_000_000
    assert len(output.content) < 1_000_000
    assert "of 100,000,000 bytes are left out here" in output.content


@needs_sandbox
async def test_a_command_that_takes_all_memory_is_ended_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, "_memory_bytes", lambda: 200 * 1024**2)
    output = await command(tmp_path, "head -c 2000000000 /dev/zero | tail")
    assert "memory exhausted" in output.content
    assert (await command(tmp_path, "echo still here")).content.endswith("still here\n")


# --- tools and signals ----------------------------------------------------------------------------


class Odd(BaseException):
    """Something that no `except Exception` sees."""


@pytest.mark.parametrize(
    "error",
    [Odd("odd"), KeyboardInterrupt(), SystemExit(1), GeneratorExit(), asyncio.CancelledError(),
     BaseExceptionGroup("group", [Odd("odd")]), MemoryError(), RecursionError(), StopIteration()],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
async def test_whatever_a_tool_raises_is_its_result_and_the_loop_goes_on(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("CRITICAL")

    def does(args: Any, _: ToolContext) -> Any:
        if args.word == "bad":
            raise error
        return ToolOutput("good")

    calls = Reply(calls=[("act", '{"word": "bad"}'), ("act", '{"word": "ok"}')])
    bench = Bench([calls, "Done."], Act(does))
    assert (await bench.turn()).status == "completed"
    bad, good = sorted(bench.results(), key=lambda event: event.id)
    assert (bad.error_kind, good.output) == ("crashed", "good")


async def test_a_tool_that_blocks_the_event_loop_is_no_end(tmp_path: Path) -> None:
    def does(_: Any, __: ToolContext) -> ToolOutput:
        time.sleep(0.3)
        return ToolOutput("slow")

    calls = Reply(calls=[("act", "{}"), ("look", '{"word": "x"}')])
    bench = Bench([calls, "Done."], Act(does, timeout_s=0.1), Look())
    assert (await bench.turn()).status == "completed"
    assert sorted(event.output for event in bench.results()) == ["saw x", "slow"]


@needs_sandbox
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_a_command_that_runs_and_marks_it(
    tmp_path: Path, number: signal.Signals
) -> None:
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    call = {"function": {"name": "run_bash", "arguments": '{"command": "touch begun; sleep 300"}'}}
    reply = whole({"tool_calls": [{"id": "c1", "type": "function", **call}]})
    async with StrictProvider.serving([reply]) as provider:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "nuncius", "ask", "Do it.", "--mode", "auto", "--json",
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "NUNCIUS_HOME": str(tmp_path / "home"),
                "NUNCIUS_PROJECT_DIR": str(tmp_path / "project"),
                "LLM_BASE_URL": provider.url,
                "LLM_MODEL": "m",
            },
        )  # fmt: skip
        async with asyncio.timeout(30):
            while not (tmp_path / "project" / "begun").exists():
                assert process.returncode is None
                await asyncio.sleep(0.02)
            began = time.monotonic()
            process.send_signal(number)
            out, err = await process.communicate()
    assert time.monotonic() - began < 10
    assert process.returncode == 130, err
    shape = json.loads(out)
    assert shape["status"] == "cancelled"
    assert [(tool["name"], tool["is_error"]) for tool in shape["tools"]] == [("run_bash", True)]
    settings = settings_of(tmp_path)
    async with open_app(settings) as app:
        events = await app.journal.events(shape["session_id"])
        messages = await app.journal.messages(shape["session_id"])
    assert faults_of_record(events, messages) == []
    assert [e.error_kind for e in events if isinstance(e, ToolResultEvent)] == ["cancelled"]
