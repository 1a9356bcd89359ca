"""A home of its own, and the command run inside this process or as one of its own."""

import io
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from cli.running import NOTE, Ran, Run
from nuncius.cli.main import main
from nuncius.core.settings import SERVICE_URLS


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the surroundings of a new user and go to an empty directory of theirs."""
    for name in list(os.environ):
        if name.startswith(("NUNCIUS_", "LLM_", "XDG_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.delenv("ENABLE_THINKING", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NUNCIUS_HOME", str(tmp_path / "home"))
    for service in SERVICE_URLS:  # no test asks a service of the world; nobody listens there
        monkeypatch.setenv(f"NUNCIUS_{service.upper()}_URL", f"http://127.0.0.1:9/{service}")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return tmp_path / "home"


@pytest.fixture
def nuncius(home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command inside this process: fast, the same code."""

    def run(*arguments: str | Path, stdin: str | bytes = "") -> Ran:
        raw = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), "utf-8"))
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


@pytest.fixture
def process(home: Path) -> Callable[..., "subprocess.Popen[bytes]"]:
    """Start a command as a process of its own."""

    def start(
        *arguments: str | bytes, environment: Mapping[str, str] | None = None, **options: Any
    ) -> "subprocess.Popen[bytes]":
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        chosen: Any = {**pipes, **options}
        command = [sys.executable, "-m", "nuncius", *arguments]
        return subprocess.Popen[bytes](command, env={**os.environ, **(environment or {})}, **chosen)

    return start


@pytest.fixture
def note(home: Path) -> Path:
    """Return a note with a name that shells and encodings trip over."""
    folder = Path.cwd() / "论文 'A' \"B\""
    folder.mkdir()
    path = folder / "中子星 — it's.md"
    path.write_text(NOTE, encoding="utf-8")
    return path


@pytest.fixture
def filled(nuncius: Run, note: Path) -> Path:
    """Return the note, added to the library."""
    assert nuncius("add", note).code == 0
    return note
