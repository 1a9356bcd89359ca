"""A download's unfinished file: beside its final place, ours alone, and taken up again where it may be."""

import contextlib
import errno
import fcntl
import json
import os
import secrets
import stat
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from nuncius.core.shapes import as_object
from nuncius.library.judge import RefusalError

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
TAIL_BYTES = 64 * 1024
KEPT_S = 7 * 24 * 3600.0
"""How long an unfinished file waits for its download to go on."""


@dataclass(frozen=True, slots=True)
class Noted:
    """What is known of the unfinished file: whose bytes they are.

    Attributes:
        validator: The server's ETag or Last-Modified, by which it tells that nothing changed.
    """

    url: str
    validator: str
    total: int


class Partial:
    """One unfinished file, open and locked; a second download of the same text gets one of its own.

    Args:
        name: Of the finished file, without its ending.

    Raises:
        RefusalError: The disk is full, or the folder refuses files.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        with _disk():
            folder.mkdir(parents=True, exist_ok=True)
            self._directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with _disk():
                self._name, self._fd = self._opened(f".{name}.part")
        except BaseException:
            os.close(self._directory)
            raise
        self._kept = False
        # A task that is cancelled does not stop the thread that writes for it: it must not write
        # to a descriptor that is closed, or another file's by then.
        self._lock = threading.Lock()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            if not self._kept:
                self.discard()
            os.close(self._fd)
            os.close(self._directory)
            self._closed = True

    def _opened(self, name: str) -> tuple[str, int]:
        try:
            fd = os.open(name, _FLAGS, 0o600, dir_fd=self._directory)
        except OSError as error:
            if error.errno not in {errno.ELOOP, errno.EISDIR, errno.ENXIO}:
                raise
            return self._fresh()  # something else has the name, and is left alone
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found = os.fstat(fd)
            there = os.stat(name, dir_fd=self._directory, follow_symlinks=False)
            # Or it was finished, and so renamed, just before we had the lock.
            same = (there.st_dev, there.st_ino) == (found.st_dev, found.st_ino)
            plain = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
            if same and plain and found.st_uid == os.geteuid():
                return name, fd
        except (BlockingIOError, FileNotFoundError):
            pass  # another process is at it, or has just ended
        except OSError:
            os.close(fd)
            raise
        os.close(fd)
        return self._fresh()

    def _fresh(self) -> tuple[str, int]:
        name = f".{secrets.token_hex(8)}.part"
        return name, os.open(name, _FLAGS | os.O_EXCL, 0o600, dir_fd=self._directory)

    @contextlib.contextmanager
    def _open(self) -> Generator[None]:
        with self._lock:
            if self._closed:
                raise RefusalError("unwritable", "The download was stopped.")
            yield

    @property
    def size(self) -> int:
        """Return how many bytes are there."""
        return os.fstat(self._fd).st_size

    def noted(self) -> Noted | None:
        """Return whose bytes are there; None: nobody's, so they are thrown away."""
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(f"{self._name}.json", flags, dir_fd=self._directory)
            with os.fdopen(fd, "rb") as file:
                told = as_object(json.loads(file.read(100_000)))
            noted = Noted(str(told["url"]), str(told["validator"]), int(str(told["total"])))
            if noted.validator and 0 < self.size < noted.total:
                return noted
        return None

    def start(self, noted: Noted | None) -> None:
        """Begin anew; `noted` makes it possible to go on later."""
        with self._open(), _disk():
            os.ftruncate(self._fd, 0)
            self._forget()
            if noted is None:
                return
            text = json.dumps(
                {"url": noted.url, "validator": noted.validator, "total": noted.total}
            )
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(f"{self._name}.json", flags, 0o600, dir_fd=self._directory)
            with os.fdopen(fd, "wb") as file:
                file.write(text.encode())

    def append(self, data: bytes) -> None:
        """Write at the end.

        Raises:
            RefusalError: The disk is full.
        """
        with self._open(), _disk():
            view = memoryview(data)
            at = self.size
            while view:
                written = os.pwrite(self._fd, view, at)
                view, at = view[written:], at + written

    def head(self, size: int) -> bytes:
        """Return the first bytes."""
        return os.pread(self._fd, size, 0)

    def tail(self) -> bytes:
        """Return the last `TAIL_BYTES`."""
        return os.pread(self._fd, TAIL_BYTES, max(0, self.size - TAIL_BYTES))

    def read(self) -> bytes:
        """Return all of it."""
        return os.pread(self._fd, self.size, 0)

    def finish(self, name: str) -> Path:
        """Give the file its final name: all of it is on the disk then, or the name is as before."""
        with self._open(), _disk():
            os.fsync(self._fd)
            os.rename(self._name, name, src_dir_fd=self._directory, dst_dir_fd=self._directory)
            self._forget()
            os.fsync(self._directory)
            self._kept = True
        return self.folder / name

    def keep(self) -> None:
        """Leave what came for a later try, where whose it is was noted."""
        self._kept = self.noted() is not None

    def discard(self) -> None:
        """Remove it."""
        for name in (self._name, f"{self._name}.json"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=self._directory)

    def _forget(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{self._name}.json", dir_fd=self._directory)


class _disk(contextlib.AbstractContextManager[None]):  # noqa: N801  (reads as a word of the language)
    """Turn what a disk refuses into a refusal that says so."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not isinstance(error, OSError):
            return
        if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            message = "The disk is full: nothing of this download was kept."
            raise RefusalError("disk_full", message) from error
        where = f" ({error.filename})" if error.filename else ""
        message = f"The file cannot be written: {error.strerror or error}{where}."
        raise RefusalError("unwritable", message) from error


def sweep(folder: Path, *, older_than_s: float = KEPT_S) -> None:
    """Remove what was left unfinished too long ago to be gone on with."""
    before = time.time() - older_than_s
    for path in (*folder.glob(".*.part"), *folder.glob(".*.part.json")):
        with contextlib.suppress(FileNotFoundError):
            if path.lstat().st_mtime < before:
                path.unlink()
