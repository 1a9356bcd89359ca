"""Who holds a thing right now: a lock that ends with the process that took it.

`flock` on a file is the truth (the kernel drops it at death, even at ``kill -9``, and it works
between processes and within one); pid and start time in the file are for people.
"""

import asyncio
import fcntl
import json
import os
import time
from contextlib import suppress
from pathlib import Path

from nuncius.core.errors import StoreError

_PATIENCE_S = 1.0  # a probe or a holder that is still writing its name goes away sooner
_PAUSE_S = 0.005


class HeldError(Exception):
    """Somebody holds it; `holder` says who, such as ``process 4711``, or nothing."""

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.holder = holder


class Lease:
    """A lock on `path`, taken when made, given back by `release` or at death.

    Raises:
        HeldError: Another holder lives.
        StoreError: The file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._fd = self._take(path)
        except OSError as error:
            raise StoreError(
                f"The lease {path} cannot be taken ({error.strerror}).",
                hint="Check the permissions and the space there.",
            ) from error

    def _take(self, path: Path) -> int:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        while True:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = _holder(fd)
                os.close(fd)
                raise HeldError(holder) from None
            if _is_still_there(fd, path):
                break
            os.close(fd)  # its last holder removed the name in between
        record = {"pid": os.getpid(), "started": process_start(os.getpid())}
        with suppress(OSError):  # a full disk: the lock holds all the same
            os.ftruncate(fd, 0)
            os.pwrite(fd, json.dumps(record).encode(), 0)
        return fd

    def release(self) -> None:
        """Give it back; twice is nothing."""
        if self._fd >= 0:
            self._path.unlink(missing_ok=True)  # while the lock is held, so nobody else's goes
            os.close(self._fd)
            self._fd = -1


async def take(path: Path) -> Lease:
    """Take a lease, waiting a moment for one whose holder is not known.

    That is one who only asks (`is_held`), or who has not written its name yet.

    Raises:
        HeldError: Another holder lives.
        StoreError: The file cannot be written.
    """
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return Lease(path)
        except HeldError as error:
            if error.holder or time.monotonic() > deadline:
                raise
        await asyncio.sleep(_PAUSE_S)


def is_held(path: Path) -> bool:
    """Tell whether a living process holds the lease at `path`."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def process_start(pid: int) -> str:
    """Return when a process started, in ticks since boot; empty where the system does not tell."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]


def _is_still_there(fd: int, path: Path) -> bool:
    mine = os.fstat(fd)
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    return (mine.st_dev, mine.st_ino) == (named.st_dev, named.st_ino)


def _holder(fd: int) -> str:
    """Return ``process 4711``, or nothing where the record is of a process that is gone."""
    try:
        record = json.loads(os.pread(fd, 200, 0))
        pid, started = int(record["pid"]), str(record["started"])
    except (ValueError, KeyError, TypeError):
        return ""
    return f"process {pid}" if started and process_start(pid) == started else ""
