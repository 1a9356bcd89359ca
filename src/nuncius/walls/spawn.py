"""The one spawn: every child process starts here, in a sandbox where there is one.

With bubblewrap the child sees the system's programs and libraries read-only, the roots it was
given, an empty /tmp, no network, no other process and no variable of ours. Without it the child
runs with limits and a deadline only, and `sandbox_status` says so.
"""

import asyncio
import math
import os
import platform
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Literal

from nuncius.core.errors import NunciusError
from nuncius.walls.processes import Ended, Watch
from nuncius.walls.seccomp import filter_for

Sandbox = Literal["auto", "off"]

MAX_FILE_BYTES = 2 * 1024**3
"""Largest file that a child may write."""

_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108  (an empty one of the child's own inside the sandbox)
    "TMPDIR": "/tmp",  # noqa: S108  (inside the sandbox, where it is its own)
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TERM": "dumb",
}
# Limits are set by a shell that then becomes the command: Python can set them between fork and
# exec only by running Python code there, which may hang where other threads hold locks.
_LIMITS = (
    '[ -z "$NUNCIUS_ALIVE" ] || (read -r _; kill -9 -$$) </dev/fd/"$NUNCIUS_ALIVE" >/dev/null 2>&1 &'
    ' unset NUNCIUS_ALIVE; ulimit -c 0; [ "$1" = 0 ] || ulimit -v "$1" 2>/dev/null;'
    ' ulimit -t "$2"; ulimit -f "$3"; shift 3; exec "$@"'
)


# `-I` shuts out the current directory and the environment, and with them a package that was
# installed for one user or is on PYTHONPATH. What is needed comes last, so that it shadows nothing.
_START = (
    "import os, runpy, sys; folders, module = sys.argv[1:3]; del sys.argv[1:3];"
    " sys.path += [one for one in folders.split(os.pathsep) if one not in sys.path];"
    " runpy.run_module(module, run_name='__main__', alter_sys=True)"
)
_BUILT_ON = ("pydantic", "pypdfium2", "lxml", "typing_extensions")


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
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> ChildResult:
    """Run one command to its end; nothing that it started outlives the call.

    Args:
        command: Program and arguments; never a shell line.
        stdin: What it reads; empty: end of file at once.
        roots_ro, roots_rw: What it sees beside the system, at the same paths.
        memory_bytes: Most address space of one process.
        output_cap_bytes: Most that is kept of each stream; the rest is read and dropped.
        sandbox: `auto` uses bubblewrap where it works; `off` does without it.
        environment, cwd: The variables and the directory of a child outside the sandbox; inside
            they are always the same.

    Raises:
        NunciusError: It could not be started.
    """
    wrapped: list[str] = []
    sandboxed = False
    fds: list[int] = []
    if sandbox == "auto" and (program := await asyncio.to_thread(_bubblewrap)):
        fds = system_filter()
        wrapped = _inside(program, fds, roots_ro=roots_ro, roots_rw=roots_rw)
        sandboxed = True
    watch = Watch(
        [*limits(memory_bytes, timeout_s), *wrapped, *command],
        env=_ENVIRONMENT if sandboxed or environment is None else environment,
        mark=secrets.token_hex(16),
        cwd="/" if sandboxed or cwd is None else str(cwd),
        pass_fds=fds,
    )
    try:
        ended = await ended_run(
            watch, lambda: _run(watch, stdin, timeout_s=timeout_s, cap_bytes=output_cap_bytes)
        )
    except OSError as error:
        raise NunciusError(
            f"{command[0]} could not be started: {error.strerror or error}.",
            hint="`nuncius doctor` shows what child processes need.",
        ) from error
    finally:
        for fd in fds:
            os.close(fd)
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
    """Run one of our own modules in a child, as ``python -I -m module args`` would.

    It also sees this Python, this package and what it is built on, read-only. See `run_child`.
    """
    folders = [str(folder) for folder in (_package().parent, *_site_folders())]
    return await run_child(
        [sys.executable, "-I", "-c", _START, os.pathsep.join(folders), module, *args],
        stdin=stdin,
        roots_ro=[*python_roots(), *roots_ro],
        timeout_s=timeout_s,
        memory_bytes=memory_bytes,
        output_cap_bytes=output_cap_bytes,
        sandbox=sandbox,
    )


def sandbox_status() -> str:
    """Say in one sentence what keeps child processes in, for `nuncius doctor`."""
    failure = sandbox_failure()
    if failure:
        return (
            f"{failure}: our own child processes run with limits and a deadline only, and run_bash"
            " is off."
        )
    return (
        "bubblewrap works: child processes see no network, no other process and only their files."
    )


def sandbox_failure() -> str:
    """Return why there is no sandbox, or nothing where it works."""
    program = shutil.which("bwrap")
    if program is None:
        return "bubblewrap is not installed"
    failure = _failure(program)
    return f"bubblewrap does not work here ({failure})" if failure else ""


async def ended_run(watch: Watch, run: Callable[[], Ended]) -> Ended:
    """Wait in a thread for a child to end; where this task is cancelled the child is ended first.

    Raises:
        OSError: It could not be started.
    """
    running = asyncio.ensure_future(asyncio.to_thread(run))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        watch.cancel()
        await asyncio.wait([running])  # at most the grace between TERM and KILL
        raise


def limits(memory_bytes: int | None, timeout_s: float) -> list[str]:
    """Return the command line that sets the limits of what follows it."""
    return [
        "/bin/sh",
        "-c",
        _LIMITS,
        "sh",
        str((memory_bytes or 0) // 1024),
        str(2 * math.ceil(timeout_s) + 2),  # seconds of processor time: the deadline comes first
        str(MAX_FILE_BYTES // 512),
    ]


def _run(watch: Watch, stdin: bytes, *, timeout_s: float, cap_bytes: int) -> Ended:
    if not stdin:
        return watch.run(subprocess.DEVNULL, timeout_s=timeout_s, cap_bytes=cap_bytes)
    # A file, not a pipe: a child that never reads cannot block us. In memory where possible.
    with memory_file(stdin) as source:
        return watch.run(source, timeout_s=timeout_s, cap_bytes=cap_bytes)


def memory_file(content: bytes = b"") -> IO[bytes]:
    """Return an open file without a name that holds `content`, to be read from its beginning."""
    if hasattr(os, "memfd_create"):
        file: IO[bytes] = os.fdopen(os.memfd_create("nuncius", os.MFD_CLOEXEC), "w+b")
    else:
        file = tempfile.TemporaryFile()  # noqa: SIM115  (the caller closes it)
    file.write(content)
    file.seek(0)
    return file


def system_filter() -> list[int]:
    """Return a descriptor with the filter of system calls; none where this machine has none."""
    content = filter_for(platform.machine())
    if content is None:
        return []
    with memory_file(content) as file:
        return [os.dup(file.fileno())]


def _bubblewrap() -> str | None:
    """Return the program where it is installed and works."""
    program = shutil.which("bwrap")
    return program if program and not _failure(program) else None


@cache
def _failure(program: str) -> str:
    """Try the sandbox once and return why it does not work, or nothing."""
    fds = system_filter()
    try:
        tried = subprocess.run(  # noqa: S603  (a list, nothing of others in it)
            [*_inside(program, fds, roots_ro=(), roots_rw=()), "/bin/sh", "-c", "exit 0"],
            env=_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            pass_fds=fds,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    finally:
        for fd in fds:
            os.close(fd)
    if tried.returncode == 0:
        return ""
    return tried.stderr.decode(errors="replace").strip() or f"exit code {tried.returncode}"


def _inside(
    program: str, fds: Sequence[int], *, roots_ro: Sequence[Path], roots_rw: Sequence[Path]
) -> list[str]:
    """Return the command line that goes before the command."""
    line = [program, *closed_room(fds, _ENVIRONMENT), *system_mounts()]
    for option, roots in (("--ro-bind", roots_ro), ("--bind", roots_rw)):
        for root in dict.fromkeys(str(root) for root in roots):
            line += [option, root, root]
    return [*line, "--chdir", "/tmp"]  # noqa: S108  (inside the sandbox, where it is its own)


def closed_room(fds: Sequence[int], environment: Mapping[str, str]) -> list[str]:
    """Return the options that shut a child in: no network, no other process, no variable of ours.

    Args:
        fds: What `system_filter` gave.
    """
    line = ["--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    line += ["--cap-drop", "ALL"]  # root keeps them inside otherwise
    for name, value in environment.items():
        line += ["--setenv", name, value]
    for fd in fds:
        line += ["--seccomp", str(fd)]
    return line


def system_mounts(*, tmp_bytes: int | None = None) -> list[str]:
    """Return the options that show the system's programs and libraries, and an empty /tmp.

    Args:
        tmp_bytes: Size of /tmp; None: half the machine's memory.
    """
    line = ["--ro-bind", "/usr", "/usr"]
    for folder in ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
        path = Path(folder)
        if path.is_symlink():
            line += ["--symlink", str(path.readlink()), folder]
        elif path.is_dir():
            line += ["--ro-bind", folder, folder]
    for name in ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "fonts"):
        line += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    size = ["--size", str(tmp_bytes)] if tmp_bytes is not None else []
    # The settings of the kernel in /proc/sys belong to root, which we may be: without capabilities
    # and in a namespace of its own it could still write them.
    line += ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"]
    return [*line, *size, "--tmpfs", "/tmp"]  # noqa: S108  (inside the sandbox, where it is its own)


def python_roots() -> list[Path]:
    """Return where this Python, its libraries and this package lie, without what /usr holds."""
    python = Path(sys.executable).resolve().parent.parent
    wanted = [Path(sys.prefix), Path(sys.base_prefix), python, _package(), *_site_folders()]
    return [path for path in dict.fromkeys(wanted) if not path.is_relative_to("/usr")]


def _package() -> Path:
    return Path(__file__).resolve().parent.parent


@cache
def _site_folders() -> tuple[Path, ...]:
    """Return the folders that what our children import was installed into."""
    found: dict[Path, None] = {}
    for name in _BUILT_ON:
        spec = find_spec(name)
        if spec and spec.origin:
            place = Path(spec.origin).resolve()
            found[place.parent.parent if spec.submodule_search_locations else place.parent] = None
    return tuple(found)
