import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest

from nuncius.walls import spawn
from nuncius.walls.spawn import ChildResult, python_child, run_child, sandbox_status

MODES = [
    "off",
    pytest.param(
        "auto",
        marks=pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed"),
    ),
]
sandboxes = pytest.mark.parametrize("sandbox", MODES)


async def python(code: str, *, sandbox: spawn.Sandbox = "off", **rest: object) -> ChildResult:
    options: dict[str, object] = {"timeout_s": 20.0, "roots_ro": spawn.python_roots(), **rest}
    return await run_child([sys.executable, "-I", "-c", code], sandbox=sandbox, **options)  # pyright: ignore[reportArgumentType]


def alive(needle: str) -> list[str]:
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (
                    (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
            except OSError:
                continue
            if needle in line:
                found.append(line)
    return found


@sandboxes
async def test_bytes_go_in_and_come_out(sandbox: spawn.Sandbox) -> None:
    code = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1]); sys.exit(3)"
    result = await python(code, sandbox=sandbox, stdin=bytes(range(256)) * 1000)
    assert result.stdout == (bytes(range(256)) * 1000)[::-1]
    assert result.exit_code == 3
    assert not result.timed_out
    assert not result.truncated
    assert result.sandboxed == (sandbox == "auto")


@sandboxes
async def test_no_stdin_is_end_of_file_at_once(sandbox: spawn.Sandbox) -> None:
    result = await run_child(["/bin/cat"], timeout_s=10, sandbox=sandbox)
    assert (result.exit_code, result.stdout) == (0, b"")


@sandboxes
async def test_the_environment_is_scrubbed(
    sandbox: spawn.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_API_KEY", "sk-very-secret")
    result = await run_child(["/usr/bin/env"], timeout_s=10, sandbox=sandbox)
    assert b"very-secret" not in result.stdout
    assert b"LANG=C.UTF-8" in result.stdout


@sandboxes
async def test_a_deadline_ends_the_whole_family(sandbox: spawn.Sandbox) -> None:
    nap = {"auto": "61.25", "off": "61.75"}[sandbox]  # both may be running at the same time
    started = time.monotonic()
    script = f"trap '' TERM; setsid sleep {nap} & (sleep {nap} &) ; echo started; sleep {nap}"
    result = await run_child(["/bin/sh", "-c", script], timeout_s=1.5, sandbox=sandbox)
    assert result.timed_out
    assert result.stdout == b"started\n"
    assert time.monotonic() - started < 20
    assert alive(f"sleep {nap}") == []


@sandboxes
async def test_something_left_behind_neither_delays_nor_survives(sandbox: spawn.Sandbox) -> None:
    nap = {"auto": "62.25", "off": "62.75"}[sandbox]
    started = time.monotonic()
    script = f"setsid sh -c 'sleep {nap}; echo late' & (setsid sleep {nap} &); echo done"
    result = await run_child(["/bin/sh", "-c", script], timeout_s=30, sandbox=sandbox)
    assert (result.exit_code, result.stdout) == (0, b"done\n")
    assert time.monotonic() - started < 20
    assert alive(f"sleep {nap}") == []


async def test_cancelling_the_task_ends_the_child() -> None:
    task = asyncio.create_task(run_child(["/bin/sleep", "63.25"], timeout_s=60, sandbox="off"))
    while not alive("sleep 63.25"):  # noqa: ASYNC110  (another process cannot set an event)
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert alive("sleep 63.25") == []


async def test_output_beyond_the_cap_is_dropped_and_said() -> None:
    code = "import sys\nfor _ in range(400): sys.stdout.write('x' * 100_000)"
    result = await python(code, output_cap_bytes=1000)
    assert result.stdout == b"x" * 1000
    assert result.truncated
    assert result.exit_code == 0


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has no limit on address space")
async def test_memory_is_limited() -> None:
    result = await python("x = bytearray(900_000_000)", memory_bytes=300_000_000)
    assert result.exit_code == 1
    assert b"MemoryError" in result.stderr


async def test_a_signal_shows_as_a_negative_code() -> None:
    result = await run_child(["/bin/sh", "-c", "kill -9 $$"], timeout_s=10, sandbox="off")
    assert result.exit_code == -signal.SIGKILL


async def test_a_missing_program_is_told() -> None:
    result = await run_child(["/no/such/program"], timeout_s=10, sandbox="off")
    assert result.exit_code == 127
    assert b"program" in result.stderr


@sandboxes
async def test_a_module_of_ours_runs_in_a_child(sandbox: spawn.Sandbox) -> None:
    result = await python_child("nuncius.walls.names", timeout_s=20, sandbox=sandbox)
    assert (result.exit_code, result.stderr) == (0, b"")


@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
class TestInsideTheSandbox:
    async def test_only_the_given_files_are_seen(self, tmp_path: Path) -> None:
        given, other = tmp_path / "given", tmp_path / "other"
        given.mkdir()
        other.mkdir()
        (given / "a.txt").write_text("seen")
        (other / "b.txt").write_text("TOPSECRET")
        probes = [
            "/etc/shadow",
            "/etc/passwd",
            str(other / "b.txt"),
            str(Path.home() / ".bashrc"),
        ]
        code = (
            f"print(open({str(given / 'a.txt')!r}).read())\n"
            f"for path in {probes!r}:\n"
            "    try: print('READ', path, open(path).read())\n"
            "    except OSError: pass\n"
            f"try: open({str(given / 'new')!r}, 'w'); print('WROTE')\n"
            "except OSError: pass\n"
        )
        roots = [*spawn.python_roots(), given]
        result = await python(code, sandbox="auto", roots_ro=roots)
        assert result.stdout == b"seen\n"
        assert result.stderr == b""

    async def test_a_writable_root_can_be_written(self, tmp_path: Path) -> None:
        code = f"open({str(tmp_path / 'new')!r}, 'w').write('x')"
        result = await python(code, sandbox="auto", roots_rw=[tmp_path])
        assert result.exit_code == 0, result.stderr
        assert (tmp_path / "new").read_text() == "x"

    async def test_there_is_no_network_and_no_other_process(self) -> None:
        server = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        code = (
            "import os, socket\n"
            "try:\n"
            f"    socket.create_connection(('127.0.0.1', {port}), 2); print('CONNECTED')\n"
            "except OSError: print('no network')\n"
            "print(sum(name.isdigit() for name in os.listdir('/proc')))\n"
            "env = open('/proc/1/environ').read()\n"
            "print('PATH' in env, 'PYTEST' in env)\n"
        )
        async with server:
            result = await python(code, sandbox="auto")
        lines = result.stdout.decode().split("\n")
        assert lines[0] == "no network", result.stderr
        assert int(lines[1]) <= 3
        assert lines[2] == "True False"


def test_doctor_is_told_where_there_is_no_sandbox(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "not installed" in sandbox_status()
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'no permission to create a namespace' >&2; exit 1\n")
    broken.chmod(0o755)
    assert "no permission to create a namespace" in sandbox_status()


async def test_a_sandbox_that_does_not_work_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    result = await run_child(["/bin/echo", "hi"], timeout_s=10)
    assert (result.stdout, result.sandboxed) == (b"hi\n", False)


@sandboxes
def test_a_child_finds_a_package_that_is_only_on_the_path_of_its_parent(
    sandbox: spawn.Sandbox, tmp_path: Path
) -> None:
    # as after `pip install --user` or `--target`: an isolated Python does not look there
    shutil.copytree(Path(spawn.__file__).parent.parent, tmp_path / "nuncius")
    venv.create(tmp_path / "python", with_pip=False, symlinks=True)
    code = (
        "import asyncio, sys\n"
        "from nuncius.walls.spawn import python_child\n"
        f"run = python_child('nuncius.parsing.batch', timeout_s=20, sandbox={sandbox!r})\n"
        "ended = asyncio.run(run)\n"
        "sys.exit(ended.stderr.decode() or ended.exit_code)\n"
    )
    folders = [str(tmp_path), *(path for path in sys.path if path.endswith("-packages"))]
    ran = subprocess.run(
        [tmp_path / "python" / "bin" / "python", "-c", code],
        env={"PYTHONPATH": os.pathsep.join(folders), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
