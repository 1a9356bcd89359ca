"""`run_bash`: what it says of a command, what it leaves behind, and when it is off."""

import json
import time
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent.doubles import RuleList
from agent.parts import Bench
from nuncius.agent.arguments import prepare
from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.tool import ToolContext, ToolOutput
from nuncius.core.errors import ToolError
from nuncius.core.messages import ToolCall
from nuncius.llm.scripted import Reply
from nuncius.tools.shell import RunBash, RunBashArgs, ShellSettings, shown
from nuncius.walls.paths import PathGuard, Roots
from nuncius.walls.shell import Sandbox
from nuncius.walls.spawn import sandbox_failure

CTX = ToolContext("s")
needs_sandbox = pytest.mark.skipif(
    bool(sandbox_failure()), reason=f"no sandbox: {sandbox_failure()}"
)
both = pytest.mark.parametrize("sandbox", [pytest.param("auto", marks=needs_sandbox), "off"])


def guard_in(folder: Path) -> PathGuard:
    for name in ("project", "library", "skills"):
        (folder / name).mkdir(exist_ok=True)
    return PathGuard(
        Roots.of(library=folder / "library", project=folder / "project", skills=[folder / "skills"])
    )


def tool_in(folder: Path, sandbox: Sandbox = "auto") -> RunBash:
    return RunBash(guard_in(folder), ShellSettings(sandbox))


async def ran(tool: RunBash, command: str, **rest: Any) -> ToolOutput:
    return await tool.run(RunBashArgs(command=command, **rest), CTX)


def survivors(needle: str) -> list[str]:
    found: list[str] = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if needle in line:
            found.append(line)
    return found


@both
async def test_a_command_is_told_with_its_code_and_its_place(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    output = await ran(tool_in(tmp_path, sandbox), "echo out; echo err >&2; echo out; exit 3")
    place = tmp_path / "project"
    assert output.content == f"Exit code 3 after under 1 s, in {place}.\nout\nerr\nout\n"
    assert not output.is_error  # a test that fails, a search that finds nothing: no fault of ours
    assert output.metadata["exit_code"] == 3
    assert output.metadata["sandboxed"] == (sandbox == "auto")
    assert "(no output)" in (await ran(tool_in(tmp_path, sandbox), "true")).content


@both
async def test_the_answer_does_not_wait_for_what_was_left_running(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    nap = {"auto": "71.125", "off": "71.625"}[sandbox]
    started = time.monotonic()
    output = await ran(tool_in(tmp_path, sandbox), f"sleep {nap} & echo hi", timeout_s=60)
    assert output.content.endswith("\nhi\n")
    assert time.monotonic() - started < 20
    assert survivors(f"sleep {nap}") == []


@both
async def test_a_time_out_ends_the_whole_pipeline_and_keeps_what_was_printed(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    nap = {"auto": "72.125", "off": "72.625"}[sandbox]
    command = f"echo part; sleep {nap} | (trap '' TERM; sleep {nap}); echo never"
    output = await ran(tool_in(tmp_path, sandbox), command, timeout_s=1)
    assert (output.is_error, output.error_kind) == (True, "timeout")
    assert output.content.startswith("Ended after 1 s")
    assert output.content.endswith("part\n")
    assert survivors(f"sleep {nap}") == []


@both
async def test_a_child_that_left_its_session_does_not_hold_the_answer(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    nap = {"auto": "73.125", "off": "73.625"}[sandbox]
    command = f"setsid sh -c 'sleep {nap}; echo late' & disown; echo now"
    started = time.monotonic()
    output = await ran(tool_in(tmp_path, sandbox), command, timeout_s=60)
    assert output.content.endswith("\nnow\n")
    assert time.monotonic() - started < 20
    assert survivors(f"sleep {nap}") == []


@both
async def test_reading_input_gives_end_of_file(tmp_path: Path, sandbox: Sandbox) -> None:
    output = await ran(tool_in(tmp_path, sandbox), "cat; read x; echo code $?", timeout_s=30)
    assert output.content.endswith("\ncode 1\n")


@needs_sandbox
async def test_200_mb_of_output_keep_memory_flat_and_say_what_was_cut(tmp_path: Path) -> None:
    tool = tool_in(tmp_path)
    await ran(tool, "true")  # what is loaded once is no growth
    tracemalloc.start()
    output = await ran(tool, "echo first; yes abcdefghijk | head -c 200000000; echo last")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000
    assert output.metadata["output_bytes"] == 200_000_011
    assert output.content.split("\n")[1] == "first"
    assert output.content.endswith("last\n")
    assert "of 200,000,011 bytes are left out here" in output.content


@pytest.mark.parametrize(
    ("head", "tail", "dropped", "text"),
    [
        (b"caf\xc3\xa9 \xff\xfe\n", b"", 0, "café \\xff\\xfe\n"),
        (b"\x1b[1;31mred\x1b[0m\x1b]0;title\x07 \x1b(B.\n", b"", 0, None),
        (b"10%\r20%\r100%\ndone\r\n", b"", 0, "100%\ndone\n"),
        (b"a\0b\x08\x7f", b"", 0, "a\\x00b\\x08\\x7f"),
        (b"", b"", 0, ""),
    ],
)
def test_output_is_shown_as_text(head: bytes, tail: bytes, dropped: int, text: str | None) -> None:
    got = shown(head, tail, dropped)
    if text is None:
        assert "red" in got
        assert "\x1b" not in got
        assert "title" not in got
    else:
        assert got == text


def test_no_cut_splits_a_character() -> None:
    whole = "é星".encode() * 10
    for at in range(len(whole)):
        got = shown(whole[:at], whole[at + 1 :], 1)
        assert "\\x" not in got
        assert "1 of 50 bytes are left out" in got


def test_a_very_long_line_is_shown_at_once() -> None:
    assert len(shown(b"x" * 3_000_000, b"", 0)) == 3_000_000


@both
async def test_it_runs_where_it_is_told_inside_the_roots(tmp_path: Path, sandbox: Sandbox) -> None:
    tool = tool_in(tmp_path, sandbox)
    (tmp_path / "project" / "data").mkdir()
    (tmp_path / "project" / "file").write_text("")
    for cwd, place in (("", "project"), ("data", "project/data"), (".", "project")):
        output = await ran(tool, "pwd", cwd=cwd)
        assert output.content.endswith(f"\n{tmp_path / place}\n")
    assert (await ran(tool, "cd data && pwd")).metadata["cwd"] == str(tmp_path / "project")
    library = str(tmp_path / "library")
    assert (await ran(tool, "pwd", cwd=library)).content.endswith(f"\n{library}\n")
    for outside in ("/", "..", "data/../..", "~"):
        with pytest.raises(ToolError) as refused:
            await ran(tool, "pwd", cwd=outside)
        assert refused.value.kind == "denied"
        args = RunBashArgs(command="pwd", cwd=outside)
        assert [said.decision for said in tool.check_permissions(args)] == ["deny"]
    for missing in ("nowhere", "file"):
        with pytest.raises(ToolError) as absent:
            await ran(tool, "pwd", cwd=missing)
        assert absent.value.kind == "not_found"


@both
async def test_no_key_and_no_pager_reach_a_command(
    tmp_path: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LLM_API_KEY", "ADS_API_TOKEN", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK"):
        monkeypatch.setenv(name, "sk-very-secret")
    monkeypatch.setenv("BASH_ENV", str(tmp_path / "project/evil.sh"))
    (tmp_path / "project").mkdir()
    (tmp_path / "project/evil.sh").write_text("echo EVIL\n")
    output = await ran(tool_in(tmp_path, sandbox), "env; cat /proc/self/environ")
    assert "very-secret" not in output.content
    assert "EVIL" not in output.content
    for setting in ("CI=1", "PAGER=cat", "GIT_TERMINAL_PROMPT=0", "TERM=dumb"):
        assert setting in output.content.split("\n")


@needs_sandbox
async def test_no_made_up_secret_reaches_a_command(
    tmp_path: Path, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (shared_data / "attacks" / "secrets.jsonl").read_text().splitlines()
    secrets = {json.loads(line)["must_not_appear"] for line in lines}
    for number, secret in enumerate(sorted(secrets)):
        monkeypatch.setenv(f"NUNCIUS_TEST_{number}", secret.replace("\0", ""))
    command = "env; cat /proc/*/environ /proc/*/cmdline; set"
    output = await ran(tool_in(tmp_path), command)
    assert not [secret for secret in secrets if secret in output.content]


async def test_without_a_sandbox_it_is_off_and_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tool_in(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [said.decision for said in tool.check_permissions(RunBashArgs(command="ls"))] == [
        "allow"  # nobody is asked about what will not run
    ]
    with pytest.raises(ToolError, match="apt-get install bubblewrap") as off:
        await ran(tool, "touch ran")
    assert off.value.kind == "unavailable"
    assert not (tmp_path / "project/ran").exists()


async def judged(
    tool: RunBash, command: str, *rules: Any, mode: Any = "ask", roots: tuple[Path, ...] = ()
) -> str:
    call = ToolCall("c", "run_bash", json.dumps({"command": command}))
    (item,) = prepare([call], ToolRegistry([tool]), used_ids=set(), prefix="p")
    checker = PermissionChecker(RuleList.of(*rules), mode, roots=map(str, roots))
    return (await checker.judge(item, "s")).decision


@needs_sandbox
async def test_in_the_sandbox_mode_auto_asks_nothing(tmp_path: Path) -> None:
    tool = tool_in(tmp_path)
    assert await judged(tool, "make") == "ask"
    assert await judged(tool, "make", mode="auto") == "allow"
    assert await judged(tool, "make", mode="plan") == "deny"
    assert await judged(tool, "make", ("allow", "run_bash(make *)")) == "allow"
    assert await judged(tool, "make", ("deny", "run_bash(make *)"), mode="auto") == "deny"
    library = tmp_path / "library"
    rule = ("allow", "run_bash(ls *)")
    assert await judged(tool, f"ls {library}", rule, roots=(library,)) == "allow"
    assert await judged(tool, f"ls {library}", rule) == "ask"


async def test_without_one_every_command_asks_unless_a_rule_names_it(tmp_path: Path) -> None:
    tool = tool_in(tmp_path, "off")
    assert await judged(tool, "make", mode="auto") == "ask"
    assert await judged(tool, "make", ("allow", "run_bash"), mode="auto") == "ask"
    assert await judged(tool, "make", ("allow", "run_bash(make *)")) == "allow"


@needs_sandbox
async def test_a_home_directory_as_project_asks_even_in_mode_auto(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tool_in(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "project"))
    assert await judged(tool, "make", mode="auto") == "ask"
    monkeypatch.setenv("HOME", str(tmp_path / "project/deeper"))
    assert await judged(tool, "make", mode="auto") == "ask"


@needs_sandbox
async def test_a_read_after_a_command_of_the_same_step_sees_what_it_wrote(tmp_path: Path) -> None:
    from nuncius.tools.files import ReadFile

    tool = tool_in(tmp_path)
    reply = Reply(
        calls=[
            ("run_bash", '{"command": "sleep 0.2; echo written > new.txt"}'),
            ("read_file", '{"path": "new.txt"}'),
        ]
    )
    rules = RuleList.of(("allow", "run_bash"))
    bench = Bench([reply, "Done."], tool, ReadFile(guard_in(tmp_path)), rules=rules)
    await bench.turn(mode="auto")
    results: Mapping[str, Any] = {result.name: result for result in bench.results()}
    assert "written" in results["read_file"].output


async def test_a_signal_is_told_as_a_code(tmp_path: Path) -> None:
    output = await ran(tool_in(tmp_path, "off"), "kill -9 $$")
    assert output.metadata["exit_code"] == 137


def test_its_description_is_short(tmp_path: Path) -> None:
    # It counts in every request of every step.
    assert len(tool_in(tmp_path).definition().description) < 500


def test_arguments_are_bounded() -> None:
    for wrong in (
        {"command": ""},
        {"command": "ls", "timeout_s": 601},
        {"command": "ls", "timeout_s": 0},
        {"command": "x" * 32_001},
        {"command": "ls", "other": 1},
    ):
        with pytest.raises(ValueError, match="validation error"):
            RunBashArgs.model_validate(wrong)
    assert RunBashArgs(command="ls").timeout_s == 120
    assert 32_000 * 4 < 131_072  # its bytes fit into one argument of a process
