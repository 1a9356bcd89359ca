"""A shell command inside the roots, and inside the sandbox where one works.

The command sees the project and the library (to write), the skills (to read), the system's
programs, this Python, and an empty home. Of the roots it does not see what the path guard refuses
(keys, settings, databases), and it cannot change what is there for agents and other programs to
obey (``.git``, ``AGENTS.md``, ``conftest.py``).
"""

import asyncio
import contextlib
import json
import os
import platform
import re
import secrets
import shutil
import sys
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cache
from pathlib import Path
from typing import Literal

from nuncius.core.errors import NunciusError
from nuncius.walls import names
from nuncius.walls.cgroups import process_limit
from nuncius.walls.paths import Roots
from nuncius.walls.processes import Ended, Watch
from nuncius.walls.spawn import (
    closed_room,
    ended_run,
    limits,
    memory_file,
    python_roots,
    sandbox_failure,
    system_filter,
    system_mounts,
)

Sandbox = Literal["auto", "off"]

HEAD_BYTES = TAIL_BYTES = 256 * 1024
"""Of a longer output the beginning and the end are kept."""
MAX_PROCESSES = 512
_TMP_BYTES = 1024**3
_MAX_HIDDEN = 500
_MAX_LOOKED_AT = 20_000  # entries of the roots that are looked at for names to hide
_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
_ALWAYS = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "CI": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "MPLBACKEND": "Agg",
}
_KEPT_OUTSIDE = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ")
"""Variables of ours that an unsandboxed command keeps; keys are never among them."""

_PROTECTED = re.compile("|".join(translate(pattern) for pattern in names.PROTECTED))
# What other programs run or obey may be read, not changed; all other protected names are hidden.
_OBEYED = re.compile(
    r"\.git(?:modules|hooks)?|\.hg|\.svn|\.husky|\.vscode|\.idea|\.mcp\.json|\.team"
    r"|(?:site|user)customize\.py"
)
# Above these a project would hold the system itself.
_NO_PROJECT = frozenset(
    """/ /usr /etc /bin /sbin /lib /lib64 /var /opt /home /Users /boot /run /proc /sys /dev /tmp
    /mnt /media /srv /System /Library /Applications /private""".split()
)


@dataclass(frozen=True, slots=True)
class ShellResult:
    """How a command ended.

    Attributes:
        exit_code: 128 plus the signal where a signal ended it.
        head, tail: The output, stdout and stderr as they came; of a long one the two ends.
        dropped_bytes: What is missing between them.
        too_many: It was ended because it had started too many processes.
    """

    exit_code: int
    head: bytes
    tail: bytes
    dropped_bytes: int
    timed_out: bool
    too_many: bool
    sandboxed: bool


def why_unavailable(roots: Roots) -> str:
    """Return why no command can run in the sandbox, or nothing."""
    if str(roots.project.path) in _NO_PROJECT:
        return (
            f"The project directory is {roots.project.path}, which holds the system. Start nuncius"
            " in the directory of your project, or set NUNCIUS_PROJECT_DIR."
        )
    if failure := sandbox_failure():
        return (
            f"Commands need a sandbox, and {failure}. Install bubblewrap (`apt-get install"
            " bubblewrap`, `dnf install bubblewrap`); `nuncius doctor` tells whether it works."
            " NUNCIUS_SANDBOX=off runs commands without one, on your word."
        )
    if not system_filter_known():
        return f"The sandbox has no filter of system calls for {platform.machine()}."
    if shutil.which("bash", path=_PATH) is None:
        return "There is no bash in the system's directories."
    return ""


def system_filter_known() -> bool:
    """Tell whether this machine has a filter of system calls."""
    fds = system_filter()
    for fd in fds:
        os.close(fd)
    return bool(fds)


async def run_shell(
    command: str,
    *,
    roots: Roots,
    cwd: Path,
    timeout_s: float,
    sandbox: Sandbox = "auto",
    withheld: Collection[Path] = (),
) -> ShellResult:
    """Run one bash command to its end; nothing that it started outlives the call.

    Args:
        cwd: A directory inside a root.
        withheld: Files that the sandbox does not show, canonical.
        sandbox: `off` runs it with this user's rights, with limits and a deadline only.

    Raises:
        NunciusError: It could not be started.
    """
    if sandbox == "auto":
        room = await asyncio.to_thread(SandboxedShell, roots, cwd, withheld)
    else:
        room = BareShell(cwd)
    try:
        watch = Watch(
            [*limits(_memory_bytes(), timeout_s), *room.line, *room.shell, command],
            env=room.environment,
            mark=secrets.token_hex(16),
            cwd=room.started_in,
            pass_fds=room.fds,
            one_stream=True,
            max_processes=MAX_PROCESSES if room.counted else None,
        )
        ended = await ended_run(
            watch,
            lambda: watch.run(
                _NO_INPUT, timeout_s=timeout_s, cap_bytes=HEAD_BYTES, tail_bytes=TAIL_BYTES
            ),
        )
        code = room.exit_code(ended)
    except OSError as error:
        raise NunciusError(
            f"The shell could not be started: {error.strerror or error}.",
            hint="`nuncius doctor` shows what child processes need.",
        ) from error
    finally:
        room.close()
    return ShellResult(
        code,
        ended.stdout,
        ended.tail,
        ended.dropped_bytes,
        ended.timed_out,
        ended.too_many,
        sandboxed=sandbox == "auto",
    )


_NO_INPUT = -3  # subprocess.DEVNULL: end of file at once


class BareShell:
    """A command with the rights of this user."""

    line: Sequence[str] = ()
    fds: Sequence[int] = ()
    counted = False

    def __init__(self, cwd: Path) -> None:
        kept = {name: os.environ[name] for name in _KEPT_OUTSIDE if name in os.environ}
        self.environment: Mapping[str, str] = {"PATH": _PATH, **kept, **_ALWAYS}
        self.started_in = str(cwd)
        bash = shutil.which("bash", path=self.environment["PATH"]) or "bash"
        self.shell = [bash, "--norc", "--noprofile", "-c"]

    def exit_code(self, ended: Ended) -> int:
        return ended.exit_code if ended.exit_code >= 0 else 128 - ended.exit_code

    def close(self) -> None:
        """Nothing is open."""


class SandboxedShell:
    """A command inside bubblewrap."""

    started_in = "/"

    def __init__(self, roots: Roots, cwd: Path, withheld: Collection[Path] = ()) -> None:
        bash = shutil.which("bash", path=_PATH) or "/bin/bash"
        root = os.geteuid() == 0
        # The limit is set inside: there it counts the command's own processes only.
        limit = f'ulimit -u {MAX_PROCESSES} 2>/dev/null; exec {bash} --norc --noprofile -c "$1"'
        self.shell = [bash, "--norc", "--noprofile", "-c", limit, "bash"]
        self.environment: Mapping[str, str] = {
            "PATH": ":".join([*_python_programs(), _PATH]),
            "HOME": "/tmp",  # noqa: S108  (an empty one of the sandbox)
            "TMPDIR": "/tmp",  # noqa: S108  (inside the sandbox, where it is its own)
            "USER": "agent",
            "LOGNAME": "agent",
            **_ALWAYS,
        }
        seen = _View.of(roots, withheld)
        self._status = memory_file()
        self._open = contextlib.ExitStack()
        self._open.enter_context(self._status)
        counted = self._open.enter_context(process_limit(MAX_PROCESSES)) if root else []
        # Where root can have no group of its own we count, which a quick bomb outruns for a while.
        self.counted = counted is None
        user = f"agent:x:{os.getuid()}:{os.getgid()}::/tmp:{bash}\n".encode()
        group = f"agent:x:{os.getgid()}:\n".encode()
        self.fds = [*system_filter(), os.dup(self._status.fileno())]
        line = [*(counted or []), "bwrap", *closed_room(self.fds[:-1], self.environment)]
        line += ["--json-status-fd", str(self.fds[-1])]
        line += system_mounts(tmp_bytes=_TMP_BYTES)
        for name, content in (("passwd", user), ("group", group)):
            with memory_file(content) as file:
                self.fds.append(os.dup(file.fileno()))
            line += ["--ro-bind-data", str(self.fds[-1]), f"/etc/{name}"]
        self.line = [*line, *seen.options(), "--chdir", str(cwd)]

    def exit_code(self, ended: Ended) -> int:
        """Return the command's own code, which bubblewrap tells apart from its own failures.

        Raises:
            NunciusError: The sandbox could not be made.
        """
        self._status.seek(0)
        told = [json.loads(line) for line in self._status.read().splitlines() if line.strip()]
        code = next((fact["exit-code"] for fact in told if "exit-code" in fact), None)
        if code is not None:
            return int(code)
        if ended.timed_out or ended.too_many or ended.exit_code < 0:
            return 128 + 9
        words = ended.stdout.decode(errors="replace").strip()[-500:]
        raise NunciusError(
            f"The sandbox could not be made: {words or f'exit code {ended.exit_code}'}.",
            hint="`nuncius doctor` tells whether it works.",
        )

    def close(self) -> None:
        for fd in self.fds:
            os.close(fd)
        self._open.close()


@dataclass(frozen=True, slots=True)
class _View:
    """What of the roots a command sees; `mounts` are (path, option) with the shallow first."""

    mounts: Sequence[tuple[Path, str]]
    hidden_folders: Sequence[Path] = field(default_factory=tuple)

    @classmethod
    def of(cls, roots: Roots, withheld: Collection[Path]) -> "_View":
        """Look at the roots as they are now.

        Raises:
            NunciusError: More names would have to be hidden than can be.
        """
        mounts: list[tuple[Path, str]] = [
            (path, "--ro-bind")
            for path in python_roots()
            if path.is_dir() and not Path.home().is_relative_to(path)
        ]
        private = roots.private
        inside = [
            root
            for root in roots.all
            if root.path.is_dir() and not (root.kind == "project" and root.path == private)
        ]
        mounts += [
            (root.path, "--ro-bind" if root.kind == "skills" else "--bind") for root in inside
        ]
        folders: list[Path] = []
        if private and any(private.is_relative_to(path) and private != path for path, _ in mounts):
            folders.append(private)
        library = {str(root.path) for root in inside if root.kind == "library"}
        found = list(_protected_below([root.path for root in inside], library=library))
        found += [(path, "hidden") for path in withheld if roots.holding(path) and path.is_file()]
        if len(found) > _MAX_HIDDEN:
            raise NunciusError(
                f"More than {_MAX_HIDDEN} files under {roots.project.path} are protected; a"
                " command would have to be kept from each of them.",
                hint="Work in a smaller directory: set NUNCIUS_PROJECT_DIR.",
            )
        for path, kind in found:
            if roots.holding(path.parent) is None:
                continue  # in our home, which is hidden whole
            if kind == "folder":
                folders.append(path)
            else:
                mounts.append((path, kind))
        mounts += [(folder, "--tmpfs") for folder in folders]
        # A root inside a hidden folder (the library in our home) comes after it, being deeper.
        return cls(sorted(mounts, key=lambda mount: len(mount[0].parts)), folders)

    def options(self) -> list[str]:
        line: list[str] = []
        for path, option in self.mounts:
            if option == "--tmpfs":
                line += [option, str(path)]
            elif option == "blank":
                line += ["--dev-bind", "/dev/null", str(path)]
            elif option == "hidden":
                line += ["--ro-bind", "/dev/null", str(path)]
            else:
                line += [option, str(path), str(path)]
        for folder in self.hidden_folders:
            line += ["--remount-ro", str(folder)]
        return line


def _protected_below(
    folders: Sequence[Path], *, library: Collection[str]
) -> Iterator[tuple[Path, str]]:
    """Yield protected names below the roots, the upper ones first, with what to do about each.

    ``hidden``: a file that cannot be opened; ``folder``: shown empty; ``--ro-bind``: not changed;
    ``blank``: empty. What lies deeper than the first entries that are looked at is not found; the
    guard's judgement of commands that name it still holds.
    """
    todo = deque(str(folder) for folder in folders)
    seen: set[str] = set()
    looked_at = 0
    while todo and looked_at < _MAX_LOOKED_AT:
        folder = todo.popleft()
        if folder in seen:
            continue
        seen.add(folder)
        try:
            with os.scandir(folder) as scan:
                entries = list(scan)
        except OSError:
            continue  # gone, or not ours to read: then the command cannot read it either
        looked_at += len(entries)
        for entry in entries:
            name = entry.name.casefold()
            if entry.is_symlink():
                continue  # what it leads to is judged by its own name
            if folder in library and name in names.PROTECTED_IN_LIBRARY and entry.is_dir():
                yield Path(entry.path), "folder"
            elif names.is_instruction((name,)) and entry.is_file():
                yield Path(entry.path), "--ro-bind"
            elif not _PROTECTED.match(name):
                if entry.is_dir():
                    todo.append(entry.path)
            elif _OBEYED.fullmatch(name):
                yield Path(entry.path), "--ro-bind"
                config = Path(entry.path, "config")
                if name == ".git" and config.is_file():
                    yield config, "blank"  # addresses in it may hold a password
            elif entry.is_dir():
                yield Path(entry.path), "folder"
            elif entry.is_file():
                yield Path(entry.path), "hidden"


def _python_programs() -> list[str]:
    """Return the folder with this Python's programs, where the sandbox shows it."""
    folder = Path(sys.prefix, "bin")
    shown = any(folder.is_relative_to(path) for path in python_roots())
    return [str(folder)] if shown and folder.is_dir() else []


@cache
def _memory_bytes() -> int:
    """Return the most address space of one process: three quarters of the machine's memory."""
    try:
        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 8 * 1024**3
    return max(2 * 1024**3, min(physical * 3 // 4, 8 * 1024**3))
