import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import nuncius as package
from cli.running import Ran, Run
from nuncius.cli.commands import app

GROUPS = {
    "paper": {"show", "content", "cite", "graph", "remove", "tag"},
    "library": {"list", "status", "export"},
    "audit": {"verify"},
    "bib": {"check", "import", "update"},
    "notes": {"list"},
    "sessions": {"answer", "delete", "export", "list", "pending", "replay", "show"},
    "permissions": {"list", "allow", "deny", "ask", "revoke"},
    "config": {"path", "show", "get", "set"},
}
COMMANDS = {
    "ask",
    "chat",
    "add",
    "rag",
    "search",
    "serve",
    "target",
    "tools",
    "tool",
    "demo",
    "digest",
    "doctor",
    "mcp",
    "metrics",
    "backup",
    "restore",
    *GROUPS,
}


def listed(help_text: str) -> set[str]:
    lines = help_text.split("Commands:\n", 1)[1].splitlines()
    return {line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "} - {
        "`nuncius`"
    }


@pytest.mark.parametrize("word", ["--version", "-V"])
def test_the_version_is_printed(word: str, nuncius: Run) -> None:
    assert nuncius(word) == Ran(0, f"nuncius {package.__version__}\n", "")


def test_help_lists_the_commands_that_there_are_and_no_others(nuncius: Run) -> None:
    assert listed(nuncius("--help").out) == COMMANDS
    for group, commands in GROUPS.items():
        assert listed(nuncius(group, "-h").out) == commands


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_help(command: str, nuncius: Run) -> None:
    ran = nuncius(command, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert f"Usage: nuncius {command}" in ran.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        ["ask", "--help"],
    ],
)
def test_nothing_heavy_is_imported_before_a_command_runs(arguments: list[str]) -> None:
    code = (
        "import sys; from nuncius.cli.main import main; main(sys.argv[1:]);"
        "heavy = {'apsw', 'rich', 'pypdfium2', 'lxml', 'httpx2', 'nuncius.store', 'nuncius.app'};"
        "sys.exit(str(heavy & sys.modules.keys()) if heavy & sys.modules.keys() else 0)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_the_version_needs_not_even_the_command_line_parser() -> None:
    code = (
        "import sys; from nuncius.cli.main import main; main(['--version']);"
        "sys.exit('typer' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["asks"], "Did you mean"),
        (["ask"], "question"),
        (["ask", "x", "--nonsense"], "--nonsense"),
        (["ask", "x", "--mode", "yolo"], "yolo"),
        (["ask", "x", "--max-steps", "0"], "max-steps"),
        (["rag", "x", "-k", "many"], "-k"),
        (["paper", "shew", "x"], "shew"),
        (["add"], "what"),
        (["library", "export", "--format", "endnote"], "endnote"),
        (["ask", "x", "--json", "--stream-json"], "exclude each other"),
        (["ask", "x", "--session", "a", "--continue"], "exclude each other"),
    ],
)
def test_wrong_usage_says_what_is_wrong_and_ends_in_2(
    arguments: list[str], told: str, nuncius: Run
) -> None:
    ran = nuncius(*arguments)
    assert ran.code == 2
    assert ran.err.startswith("error: ")
    assert told in ran.err


_HUGE = "99999999999999999999"


@pytest.mark.parametrize(
    "arguments",
    [
        ["sessions", "list", "--limit", _HUGE],
        ["audit", "--limit", _HUGE],
        ["audit", "--after", _HUGE],
        ["paper", "content", "x", "--page", _HUGE],
        ["paper", "content", "x", "--offset", _HUGE],
        ["paper", "content", "x", "--limit", _HUGE],
        ["permissions", "revoke", _HUGE],
        ["permissions", "revoke", "9" * 9999],
    ],
)
def test_a_number_that_nothing_can_hold_is_wrong_usage(nuncius: Run, arguments: list[str]) -> None:
    ran = nuncius(*arguments)
    assert ran.code == 2
    assert "crashed" not in ran.err
    assert "Traceback" not in ran.err


def test_every_number_on_the_command_line_has_bounds() -> None:
    pages: list[Any] = [get_command(app)]
    numbers = 0
    for page in pages:
        pages += getattr(page, "commands", {}).values()
        for one in page.params:
            if one.type_descriptor.annotation in {int, int | None}:
                assert None not in {one.min, one.max}, (page.name, one.name)
                numbers += 1
    assert numbers > 15


def test_with_json_an_error_is_data_too(nuncius: Run) -> None:
    usage = nuncius("rag", "x", "--json", "-k", "0")
    assert usage.code == 2
    assert usage.json["error"]["kind"] == "usage"
    missing = nuncius("paper", "show", "nosuchid", "--json")
    assert missing.code == 1
    assert missing.json["error"]["kind"] == "not_found"
    assert set(missing.json["error"]) == {"kind", "message", "hint"}
    assert "error: " in missing.err


def test_json_behind_two_dashes_is_an_argument(nuncius: Run) -> None:
    ran = nuncius("paper", "show", "--", "--json")
    assert ran.code == 1
    assert ran.out == ""


def test_a_bad_setting_ends_every_command_in_2(
    nuncius: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_PROVIDER", "gemini")
    ran = nuncius("library", "list")
    assert ran.code == 2
    assert "LLM_PROVIDER=gemini" in ran.err
    assert "hint: Allowed: openai, anthropic, builtin" in ran.err


def test_an_unforeseen_error_is_one_line_and_a_log_without_keys(
    nuncius: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-abcdefghijklmnop-0123456789"
    monkeypatch.setenv("LLM_API_KEY", key)

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(f"bad luck\nwith {key}")

    monkeypatch.setattr("nuncius.cli.papers.with_app", broken)
    ran = nuncius("library", "list", "--json")
    assert ran.code == 1
    assert ran.json["error"]["kind"] == "crashed"
    first, second = ran.err.splitlines()
    assert first == "error: nuncius itself broke: RuntimeError: bad luck"
    (log,) = (home / "logs").iterdir()
    assert str(log) in second
    text = log.read_text()
    assert "Traceback" in text
    assert key not in text
    assert log.stat().st_mode & 0o077 == 0


def test_no_command_prints_a_traceback_when_no_log_can_be_written(
    nuncius: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write_text("a file in the home's place")

    def broken(*_: object) -> float:
        return 1 / 0

    monkeypatch.setattr("nuncius.cli.papers.with_app", broken)
    ran = nuncius("library", "list")
    assert ran.code == 1
    assert "No log could be written" in ran.err
    assert "Traceback" not in ran.err


def test_a_reader_that_goes_away_is_no_error(
    process: Callable[..., "subprocess.Popen[bytes]"],
) -> None:
    child = process("tools", "--json", environment={"PYTHONUNBUFFERED": "1"})
    assert child.stdout
    child.stdout.close()
    assert child.stderr
    assert child.stderr.read() == b""
    assert child.wait() == 141
    child.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", [["tools"], ["--version"], ["ask", "x", "--stream-json"]])
def test_a_full_disk_behind_stdout_is_told(
    process: Callable[..., "subprocess.Popen[bytes]"], words: list[str]
) -> None:
    with Path("/dev/full").open("wb") as full:
        child = process(*words, stdout=full)
    _, err = child.communicate()
    assert child.returncode == 1
    assert b"could not be written: No space left" in err
    assert b"Traceback" not in err


def test_a_console_of_few_letters_shows_what_it_can(
    process: Callable[..., "subprocess.Popen[bytes]"], filled: Path
) -> None:
    narrow = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    child = process("library", "list", "--json", environment=narrow)
    out, err = child.communicate()
    assert (child.returncode, err) == (0, b"")
    (paper,) = json.loads(out)["papers"]
    assert paper["files"][0]["path"] == str(filled)
    child = process("paper", "show", paper["paper_id"], environment=narrow)
    out, err = child.communicate()
    assert (child.returncode, err) == (0, b"")
    assert b"Masses of neutron stars" in out


def test_a_current_directory_that_is_gone_is_told(
    process: Callable[..., "subprocess.Popen[bytes]"], tmp_path: Path
) -> None:
    lost = tmp_path / "lost"
    lost.mkdir()
    command = f'cd "{lost}" && rmdir "{lost}" && exec "{sys.executable}" -m nuncius library list'
    ran = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "current directory does not exist" in ran.stderr


def test_two_processes_at_once_on_a_new_home_both_succeed(
    process: Callable[..., "subprocess.Popen[bytes]"], note: Path, tmp_path: Path
) -> None:
    others = [tmp_path / f"{name}.md" for name in "ab"]
    for number, path in enumerate(others):
        path.write_text(
            f"# Note {number}\n\nThe star number {number} has {number}.5 solar masses.\n"
        )
    children = [process("add", os.fsencode(path), "--json") for path in [note, *others]]
    ended = [child.communicate() for child in children]
    assert [child.returncode for child in children] == [0, 0, 0], ended
    child = process("library", "list", "--json")
    out, _ = child.communicate()
    assert len(json.loads(out)["papers"]) == 3


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_a_stream_that_is_closed_breaks_nothing(closed: str, home: Path) -> None:
    if "/dev/full" in closed and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    command = f'exec "{sys.executable}" -m nuncius library list {closed}'
    ran = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr
