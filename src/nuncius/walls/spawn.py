"""The one spawn: every child process starts here, in a sandbox where there is one.

With bubblewrap the child sees the system's programs and libraries read-only, the roots it was
given, an empty /tmp, no network, no other process and no variable of ours. Without it the child
runs with limits and a deadline only, and `sandbox_status` says so.
"""

import asyncio
import math
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Literal

from nuncius.core.errors import NunciusError
from nuncius.walls.processes import Ended, Watch

Sandbox = Literal["auto", "off"]

MAX_FILE_BYTES = 2 * 1024**3
"""Largest file that a child may write."""

_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108  (an empty one of the child's own inside the sandbox)
    "TMPDIR": "/tmp",  # noqa: S108
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TERM": "dumb",
}
# Limits are set by a shell that then becomes the command: Python can set them between fork and
# exec only by running Python code there, which may hang where other threads hold locks.
_LIMITS = (
    'ulimit -c 0; [ "$1" = 0 ] || ulimit -v "$1" 2>/dev/null;'
    ' ulimit -t "$2"; ulimit -f "$3"; shift 3; exec "$@"'
)


@dataclass(frozen=True, slots=True)
class ChildResult:
    """How a child ended.

    Attributes:
        exit_code: Negative for a signal; under a sandbox 128 plus the signal.
        truncated: Output beyond the cap was dropped.
        sandboxed: Whether it ran inside bubblewrap.
    """

    exit_code: int
    stdout: bytes
    stderr: bytes
    timed_out: bool
    truncated: bool
    sandboxed: bool


async def run_child(
    command: Sequence[str],
    *,
    stdin: bytes = b"",
    roots_ro: Sequence[Path] = (),
    roots_rw: Sequence[Path] = (),
    timeout_s: float,
    memory_bytes: int | None = None,
    output_cap_bytes: int = 64 * 1024 * 1024,
    sandbox: Sandbox = "auto",
) -> ChildResult:
    """Run one command to its end; nothing that it started outlives the call.

    Args:
        command: Program and arguments; never a shell line.
        stdin: What it reads; empty: end of file at once.
        roots_ro, roots_rw: What it sees beside the system, at the same paths.
        memory_bytes: Most address space of one process.
        output_cap_bytes: Most that is kept of each stream; the rest is read and dropped.
        sandbox: `auto` uses bubblewrap where it works; `off` does without it.

    Raises:
        NunciusError: It could not be started.
    """
    wrapped: list[str] = []
    sandboxed = False
    if sandbox == "auto" and (program := await asyncio.to_thread(_bubblewrap)):
        wrapped = _inside(program, roots_ro=roots_ro, roots_rw=roots_rw)
        sandboxed = True
    limits = [
        str((memory_bytes or 0) // 1024),
        str(2 * math.ceil(timeout_s) + 2),  # seconds of processor time: the deadline comes first
        str(MAX_FILE_BYTES // 512),
    ]
    watch = Watch(
        ["/bin/sh", "-c", _LIMITS, "sh", *limits, *wrapped, *command],
        env=_ENVIRONMENT,
        mark=secrets.token_hex(16),
        cwd="/",
    )
    running = asyncio.ensure_future(
        asyncio.to_thread(_run, watch, stdin, timeout_s=timeout_s, cap_bytes=output_cap_bytes)
    )
    try:
        ended = await asyncio.shield(running)
    except asyncio.CancelledError:
        watch.cancel()
        await asyncio.wait([running])  # at most the grace between TERM and KILL
        raise
    except OSError as error:
        raise NunciusError(
            f"{command[0]} could not be started: {error.strerror or error}.",
            hint="`nuncius doctor` shows what child processes need.",
        ) from error
    return ChildResult(
        ended.exit_code,
        ended.stdout,
        ended.stderr,
        timed_out=ended.timed_out,
        truncated=ended.truncated,
        sandboxed=sandboxed,
    )


async def python_child(
    module: str,
    *args: str,
    stdin: bytes = b"",
    roots_ro: Sequence[Path] = (),
    timeout_s: float,
    memory_bytes: int | None = None,
    output_cap_bytes: int = 64 * 1024 * 1024,
    sandbox: Sandbox = "auto",
) -> ChildResult:
    """Run one of our own modules in a child: ``python -I -m module args``.

    It also sees this Python and this package, read-only. See `run_child`.
    """
    return await run_child(
        [sys.executable, "-I", "-m", module, *args],
        stdin=stdin,
        roots_ro=[*python_roots(), *roots_ro],
        timeout_s=timeout_s,
        memory_bytes=memory_bytes,
        output_cap_bytes=output_cap_bytes,
        sandbox=sandbox,
    )


def sandbox_status() -> str:
    """Say in one sentence what keeps child processes in, for `nuncius doctor`."""
    program = shutil.which("bwrap")
    if program is None:
        return (
            "bubblewrap is not installed: our own child processes run with limits and a deadline"
            " only, and run_bash is off."
        )
    failure = _failure(program)
    if failure:
        return (
            f"bubblewrap does not work here ({failure}): our own child processes run with limits"
            " and a deadline only, and run_bash is off."
        )
    return (
        "bubblewrap works: child processes see no network, no other process and only their files."
    )


def _run(watch: Watch, stdin: bytes, *, timeout_s: float, cap_bytes: int) -> Ended:
    if not stdin:
        return watch.run(subprocess.DEVNULL, timeout_s=timeout_s, cap_bytes=cap_bytes)
    # A file, not a pipe: a child that never reads cannot block us. In memory where possible.
    with _memory_file() as source:
        source.write(stdin)
        source.seek(0)
        return watch.run(source, timeout_s=timeout_s, cap_bytes=cap_bytes)


def _memory_file() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("nuncius-stdin", os.MFD_CLOEXEC), "w+b")
    return tempfile.TemporaryFile()


def _bubblewrap() -> str | None:
    """Return the program where it is installed and works."""
    program = shutil.which("bwrap")
    return program if program and not _failure(program) else None


@cache
def _failure(program: str) -> str:
    """Try the sandbox once and return why it does not work, or nothing."""
    try:
        tried = subprocess.run(  # noqa: S603  (a list, nothing of others in it)
            [*_inside(program, roots_ro=(), roots_rw=()), "/bin/sh", "-c", "exit 0"],
            env=_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if tried.returncode == 0:
        return ""
    return tried.stderr.decode(errors="replace").strip() or f"exit code {tried.returncode}"


def _inside(program: str, *, roots_ro: Sequence[Path], roots_rw: Sequence[Path]) -> list[str]:
    """Return the command line that goes before the command."""
    line = [program, "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    for name, value in _ENVIRONMENT.items():
        line += ["--setenv", name, value]
    line += ["--ro-bind", "/usr", "/usr"]
    for folder in ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
        path = Path(folder)
        if path.is_symlink():
            line += ["--symlink", str(path.readlink()), folder]
        elif path.is_dir():
            line += ["--ro-bind", folder, folder]
    for name in ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "fonts"):
        line += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    line += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108
    for option, roots in (("--ro-bind", roots_ro), ("--bind", roots_rw)):
        for root in dict.fromkeys(str(root) for root in roots):
            line += [option, root, root]
    return [*line, "--chdir", "/tmp"]  # noqa: S108


def python_roots() -> list[Path]:
    """Return where this Python, its libraries and this package lie, without what /usr holds."""
    package = Path(__file__).resolve().parent.parent
    python = Path(sys.executable).resolve().parent.parent
    wanted = [Path(sys.prefix), Path(sys.base_prefix), python, package]
    return [path for path in dict.fromkeys(wanted) if not path.is_relative_to("/usr")]
