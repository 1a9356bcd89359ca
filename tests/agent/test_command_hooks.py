"""Hooks as commands: JSON in, JSON out, in time, without the user's keys."""

import asyncio
import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from agent.doubles import Answers
from agent.parts import Act, Bench
from nuncius.agent.command_hooks import CommandHook, bare_environment
from nuncius.agent.tool import ToolOutput
from nuncius.core.events import Notice, ToolCallEvent
from nuncius.llm.scripted import Reply


@pytest.fixture
def script(tmp_path: Path) -> Any:
    """Make a hook out of the body of a shell script."""

    def make(body: str, event: Any = "PreToolUse", **more: Any) -> CommandHook:
        path = tmp_path / f"hook{len(list(tmp_path.iterdir()))}.sh"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o700)
        options: dict[str, Any] = {
            "environment": bare_environment(os.environ),
            "folder": tmp_path,
            **more,
        }
        return CommandHook(event, [str(path)], **options)

    return make


def answers(value: Any) -> str:
    return f"cat > seen.json\ncat <<'END'\n{json.dumps(value)}\nEND"


async def one(*hooks: CommandHook, act: Act | None = None, **more: Any) -> Bench:
    bench = Bench(
        [Reply(calls=[("act", '{"word": "Ångström"}')]), "Done."],
        act or Act(),
        hooks=hooks,
        new_id=lambda: "turn_1",
        **more,
    )
    assert (await bench.turn()).status == "completed"
    return bench


async def test_it_reads_the_call_and_lets_it_pass(script: Any, tmp_path: Path) -> None:
    bench = await one(script(answers({"decision": "allow"})))
    assert bench.results()[0].output == "did Ångström"
    (event,) = bench.journal.of(ToolCallEvent)
    assert json.loads((tmp_path / "seen.json").read_text()) == {
        "schema_version": 1,
        "event": "PreToolUse",
        "session_id": "s",
        "turn_id": "turn_1",
        "agent": "main",
        "tool": "act",
        "tool_call_id": event.id,
        "arguments": {"word": "Ångström"},
    }


async def test_it_reads_the_output_and_changes_it(script: Any, tmp_path: Path) -> None:
    told = {"decision": "allow", "output": "none of your business", "context": "Masked."}
    bench = await one(script(answers(told), "PostToolUse"))
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert (seen["event"], seen["output"]) == ("PostToolUse", "did Ångström")
    assert (seen["is_error"], seen["error_kind"]) == (False, None)
    output = bench.results()[0].output
    assert output.startswith("none of your business\n")
    assert "Masked." in output


async def test_it_blocks_asks_and_changes_the_arguments(script: Any) -> None:
    act = Act()
    bench = await one(script(answers({"decision": "block", "reason": "No."})), act=act)
    assert bench.results()[0].error_kind == "hook_blocked"
    assert ": No." in bench.results()[0].output
    person = Answers(("allow", "once"))
    told = {"decision": "ask", "reason": "Sure?", "arguments": {"word": "b"}}
    await one(script(answers(told)), act=act, asker=person)
    assert person.seen[0].arguments == {"word": "b"}
    assert "Sure?" in person.seen[0].reason
    assert act.ran == ["b"]


async def test_a_block_after_the_call_withholds_the_output(script: Any) -> None:
    bench = await one(script(answers({"decision": "block", "reason": "No."}), "PostToolUse"))
    assert "did" not in bench.results()[0].output
    assert bench.results()[0].metadata["code"] == "hook_blocked"


FAULTS = [
    ("exit 3", "exit code 3"),
    ("echo my-key >&2; exit 1", "exit code 1"),
    ("true", "no JSON"),
    ("echo hello", "no JSON"),
    ('echo \'{"decision": "allow"} {"decision": "block"}\'', "no JSON"),
    ("echo '[1]'", "no object"),
    ("echo '{}'", "decision is None"),
    ('echo \'{"decision": "deny"}\'', "decision is 'deny'"),
    ('echo \'{"decision": ["allow"]}\'', "decision is"),
    ('echo \'{"decision": "allow", "arguments": [1]}\'', "arguments are no"),
    ('echo \'{"decision": "allow", "context": 3}\'', "context is no text"),
    ('echo \'{"decision": "allow", "output": "x"}\'', "before the call"),
    ("head -c 5000000 /dev/zero", "more than 4 MB"),
    ("printf '\\377'", "no JSON"),
    ("kill -9 $$", "exit code -9"),
]


@pytest.mark.parametrize(("body", "words"), FAULTS)
async def test_any_fault_follows_the_policy(
    body: str, words: str, script: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    act = Act()
    bench = await one(script(body, fail="closed"), act=act)
    (event,) = bench.results()
    assert (event.error_kind, event.metadata["code"]) == ("hook_blocked", "hook_failed")
    assert words in event.output
    assert "my-key" not in event.output
    bench = await one(script(body, fail="open"), act=act)
    assert bench.results()[0].output == "did Ångström"
    assert words in bench.journal.of(Notice)[0].text
    assert act.ran == ["Ångström"]


async def test_a_program_that_is_not_there_is_a_fault(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    hook = CommandHook(
        "PreToolUse", ["no-such-program"], environment={"PATH": "/bin"}, folder=tmp_path
    )
    bench = await one(hook)
    assert "no program 'no-such-program'" in bench.results()[0].output


async def gone(pid: int) -> None:
    for _ in range(500):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return
        if state == "Z":
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{pid} is still there")


async def test_a_hook_that_takes_too_long_is_ended_with_all_that_it_started(
    script: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    body = "trap '' TERM\nsetsid sleep 600 & echo $! > pid\nsleep 600"
    bench = await one(script(body, timeout_s=0.3))
    assert bench.results()[0].metadata["code"] == "hook_timeout"
    await gone(int((tmp_path / "pid").read_text()))


async def test_cancelling_the_turn_ends_the_hook(script: Any, tmp_path: Path) -> None:
    cancel = asyncio.Event()
    bench = Bench([Reply(calls=[("act", "{}")])], Act(), hooks=[script("echo $$ > pid; sleep 600")])
    turn = asyncio.create_task(bench.turn(cancel=cancel))
    pid = tmp_path / "pid"
    while not pid.exists() or not pid.read_text().strip():  # noqa: ASYNC110  (a process writes it)
        await asyncio.sleep(0.01)
    cancel.set()
    assert (await turn).status == "cancelled"
    await gone(int(pid.read_text()))


async def test_it_gets_no_keys_and_a_folder_of_its_own(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LLM_API_KEY", "ADS_API_TOKEN", "AWS_SECRET_ACCESS_KEY", "MY_PASSWORD"):
        monkeypatch.setenv(name, "made-up-secret")
    monkeypatch.setenv("LC_TIME", "C.UTF-8")
    hook = script('env > env.txt; pwd > pwd.txt; echo \'{"decision": "allow"}\'')
    await one(hook)
    variables = (tmp_path / "env.txt").read_text()
    assert "made-up-secret" not in variables
    assert "LC_TIME=C.UTF-8" in variables
    assert f"PATH={os.environ['PATH']}" in variables
    assert (tmp_path / "pwd.txt").read_text().strip() == str(tmp_path.resolve())


async def test_a_large_output_reaches_it_and_one_it_does_not_read_is_no_fault(
    script: Any, tmp_path: Path
) -> None:
    act = Act(lambda _a, _c: ToolOutput("x" * 3_000_000))
    bench = await one(script(answers({"decision": "allow"}), "PostToolUse"), act=act)
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert len(seen["output"]) == 1_000_000
    assert len(bench.results()[0].output) <= 16_000
    await one(script('echo \'{"decision": "allow"}\'', "PostToolUse"), act=act)


async def test_it_is_named_after_its_program(tmp_path: Path) -> None:
    hook = CommandHook("PreToolUse", ["/usr/bin/python3", "/home/me/check.py", "-v"], environment={}, folder=tmp_path)  # fmt: skip
    assert hook.name == "python3 check.py"
