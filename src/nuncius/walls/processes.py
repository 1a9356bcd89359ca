"""Watch one child: collect its output within bounds, end it in time, leave nothing behind."""

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_GRACE_S = 0.5  # between TERM and KILL
_DRAIN_S = 0.25  # for what still lies in the pipes after the exit
_COUNT_S = 0.05  # between two looks at how many processes there are
_POLL_S = 0.02  # where the system cannot tell us of an exit
MARK = "NUNCIUS_CHILD"
"""Variable that every child inherits; finds those that left the session and their parents."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended; the code is negative for a signal.

    Attributes:
        stdout: Its beginning, as much as was asked for.
        tail: What follows at its end, where that was asked for too.
        dropped_bytes: What stood between `stdout` and `tail`.
        too_many: Whether it was ended because it had started too many processes.
    """

    exit_code: int
    stdout: bytes
    stderr: bytes
    timed_out: bool
    truncated: bool
    tail: bytes = b""
    dropped_bytes: int = 0
    too_many: bool = False


class _Kept:
    """The beginning of a stream, and its end where room was given for it."""

    def __init__(self, head_bytes: int, tail_bytes: int = 0) -> None:
        self.head = bytearray()
        self._tail = bytearray()
        self._room = (head_bytes, tail_bytes)
        self._total = 0

    def add(self, piece: bytes) -> None:
        head_bytes, tail_bytes = self._room
        self._total += len(piece)
        taken = min(head_bytes - len(self.head), len(piece))
        self.head += piece[:taken]
        if tail_bytes:
            self._tail += piece[taken:]
            if len(self._tail) > 2 * tail_bytes:  # rarely: moving bytes costs
                del self._tail[:-tail_bytes]

    @property
    def tail(self) -> bytes:
        return bytes(self._tail[-self._room[1] :]) if self._room[1] else b""

    @property
    def dropped_bytes(self) -> int:
        return self._total - len(self.head) - len(self.tail)


class Watch:
    """Run one command to its end; call `run` in a thread, `cancel` from anywhere.

    Args:
        pass_fds: Descriptors that the child keeps.
        one_stream: What goes to stderr comes in `stdout` too, in the order of writing.
        max_processes: With more below it the child is ended; for where the system has no limit.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        mark: str,
        cwd: str,
        pass_fds: Sequence[int] = (),
        one_stream: bool = False,
        max_processes: int | None = None,
    ) -> None:
        self._pass_fds = tuple(pass_fds)
        self._one_stream = one_stream
        self._max_processes = max_processes
        self._command = list(command)
        self._env = {**env, MARK: mark}
        self._mark = mark
        self._cwd = cwd
        self._wake_read, self._wake_write = os.pipe()
        self._lock = threading.Lock()
        self._open = True

    def cancel(self) -> None:
        """End the child soon; `run` returns."""
        with self._lock:
            if self._open:
                os.write(self._wake_write, b"x")

    def run(
        self, stdin: IO[bytes] | int, *, timeout_s: float, cap_bytes: int, tail_bytes: int = 0
    ) -> Ended:
        """Start the command and return when it, and all that it started, has ended.

        The exit of the child ends the run, not the end of its output: something that it left
        running cannot hold the answer back.

        Raises:
            OSError: It could not be started.
        """
        alive, held = os.pipe()
        self._env["NUNCIUS_ALIVE"] = str(alive)
        try:
            with subprocess.Popen(  # noqa: S603  (a list, never a shell line of others)
                self._command,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if self._one_stream else subprocess.PIPE,
                env=self._env,
                cwd=self._cwd,
                start_new_session=True,
                close_fds=True,
                pass_fds=(*self._pass_fds, alive),
            ) as child:
                kept = _Kept(cap_bytes, tail_bytes)
                return self._watch(child, kept, timeout_s=timeout_s, cap_bytes=cap_bytes)
        finally:
            with self._lock:
                self._open = False
                os.close(alive)
                os.close(held)
                os.close(self._wake_read)
                os.close(self._wake_write)

    def _watch(
        self, child: "subprocess.Popen[bytes]", out: _Kept, *, timeout_s: float, cap_bytes: int
    ) -> Ended:
        assert child.stdout
        err = _Kept(cap_bytes)
        outputs = {child.stdout.fileno(): out}
        if child.stderr:
            outputs[child.stderr.fileno()] = err
        deadline = time.monotonic() + timeout_s
        timed_out = too_many = False
        most = None if self._max_processes is None else _all_threads() + self._max_processes
        ended_at: float | None = None
        with selectors.DefaultSelector() as selector, _exit_fd(child.pid) as exit_fd:
            for fd in (*outputs, self._wake_read, *([exit_fd] if exit_fd is not None else ())):
                selector.register(fd, selectors.EVENT_READ)
            reading = len(outputs)
            try:
                while reading or ended_at is None:
                    until = deadline if ended_at is None else ended_at + _DRAIN_S
                    wait = max(0.0, until - time.monotonic())
                    if ended_at is None and (exit_fd is None or not reading):
                        wait = min(wait, _POLL_S)
                    if most is not None:
                        wait = min(wait, _COUNT_S)
                    for key, _ in selector.select(wait):
                        if key.fd not in outputs:
                            continue
                        piece = os.read(key.fd, 65536)
                        if not piece:
                            selector.unregister(key.fd)
                            reading -= 1
                        outputs[key.fd].add(piece)
                    now = time.monotonic()
                    if ended_at is None:
                        cancelled = _readable(self._wake_read)
                        timed_out = now >= deadline and not _has_exited(child.pid)
                        if most is not None and _all_threads() > most:
                            too_many = len(_descendants(child.pid)) > (self._max_processes or 0)
                        if timed_out or cancelled or too_many or _has_exited(child.pid):
                            self._end(child, gently=timed_out or cancelled)
                            ended_at = time.monotonic()
                            if exit_fd is not None:
                                selector.unregister(exit_fd)
                            selector.unregister(self._wake_read)
                    elif now >= ended_at + _DRAIN_S:
                        break
            finally:
                self._end(child, gently=False)
        return Ended(
            child.returncode,
            bytes(out.head),
            bytes(err.head),
            timed_out,
            truncated=out.dropped_bytes > 0 or err.dropped_bytes > 0,
            tail=out.tail,
            dropped_bytes=out.dropped_bytes,
            too_many=too_many,
        )

    def _end(self, child: "subprocess.Popen[bytes]", *, gently: bool) -> None:
        """End the child, its process group, and what has left both; then reap the child."""
        if child.returncode is not None:
            return
        family = _descendants(child.pid)
        if gently:
            _signal_group(child.pid, signal.SIGTERM)
            until = time.monotonic() + _GRACE_S
            while time.monotonic() < until and not _has_exited(child.pid):
                time.sleep(_POLL_S / 2)
        # Before the child is reaped: its number, and so its group's, cannot belong to others yet.
        _signal_group(child.pid, signal.SIGKILL)
        child.wait()
        for _ in range(5):  # a family that forks while it is hunted
            left = [pid for pid in family if _is_marked(pid, self._mark)] + _marked(self._mark)
            if not left:
                return
            for pid in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.005)


@contextlib.contextmanager
def _exit_fd(pid: int) -> Generator[int | None, None, None]:
    """Give a descriptor that becomes readable when the process ends, or None."""
    if not hasattr(os, "pidfd_open"):
        yield None
        return
    fd = os.pidfd_open(pid)
    try:
        yield fd
    finally:
        os.close(fd)


def _readable(fd: int) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(fd, selectors.EVENT_READ)
        return bool(selector.select(0))


def _has_exited(pid: int) -> bool:
    """Tell whether our child has ended, without reaping it."""
    if hasattr(os, "waitid"):
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    state = subprocess.run(  # noqa: S603  (macOS: Python offers no waitid there)
        ["/bin/ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False
    ).stdout
    return not state.strip() or state.strip().startswith(b"Z")


def _signal_group(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _descendants(pid: int) -> list[int]:
    """Return all processes below `pid`, deepest last; empty where there is no /proc."""
    children: dict[int, list[int]] = {}
    for entry in _numbered():
        with contextlib.suppress(OSError, ValueError, IndexError):
            stat = (entry / "stat").read_text(errors="replace")
            parent = int(stat.rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    found: list[int] = []
    todo = [pid]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def _all_threads() -> int:
    """Return how many threads the system has; one short read. 0 where it does not tell."""
    try:
        return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
    except (OSError, IndexError, ValueError):
        return 0


def _marked(mark: str) -> list[int]:
    return [pid for entry in _numbered() if _is_marked(pid := int(entry.name), mark)]


def _is_marked(pid: int, mark: str) -> bool:
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
    return f"{MARK}={mark}".encode() in environment.split(b"\0")


def _numbered() -> list[Path]:
    proc = Path("/proc")
    if not proc.is_dir():
        return []
    return [entry for entry in proc.iterdir() if entry.name.isdigit()]
