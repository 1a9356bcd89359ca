"""Locks on files, so that changes by tasks, threads and processes come one after the other."""

import errno
import fcntl
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn
from weakref import WeakValueDictionary

from nuncius.core.errors import NunciusError

_WAIT_S = 20.0
_locks: "WeakValueDictionary[str, threading.Lock]" = WeakValueDictionary()
_locks_guard = threading.Lock()


@contextmanager
def path_lock(path: Path) -> Generator[None, None, None]:
    """Hold this process's lock of one canonical path: tasks and threads wait their turn.

    Raises:
        NunciusError: Somebody held it too long.
    """
    with _locks_guard:
        lock = _locks.setdefault(str(path), threading.Lock())
    if not lock.acquire(timeout=_WAIT_S):
        _busy(path)
    try:
        yield
    finally:
        lock.release()


def lock_directory(directory: int, path: Path) -> None:
    """Hold an open directory against other processes until its descriptor closes.

    The file itself cannot carry the lock: it is replaced by renaming, and may not exist yet.

    Raises:
        NunciusError: Somebody held it too long.
    """
    deadline = time.monotonic() + _WAIT_S
    while True:
        try:
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                _busy(path)
            time.sleep(0.002)
        except OSError as error:
            # Network file systems without directory locks: this process's lock must do.
            if error.errno in (errno.ENOLCK, errno.EBADF, errno.EOPNOTSUPP, errno.ENOSYS):
                return
            raise
        else:
            return


def _busy(path: Path) -> NoReturn:
    raise NunciusError(
        f"{path} was being changed by somebody else for {_WAIT_S:.0f} s.", hint="Try again."
    )
