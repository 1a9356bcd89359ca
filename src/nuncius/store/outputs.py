"""Long outputs of tools, as text files in the library: written once, read by the file tools, swept.

A session's folder and a call's file have the names of their ids where those are plain; any other id
is hashed, so that no id is ever a path. No link is followed on the way to a file.
"""

import asyncio
import contextlib
import hashlib
import logging
import os
import re
import stat
import time
from collections.abc import Generator
from errno import EEXIST, ELOOP, ENOTDIR
from pathlib import Path

from nuncius.core.errors import StoreError
from nuncius.walls import beneath, names

log = logging.getLogger(__name__)
FOLDER = "tool-results"
KEPT_DAYS = 30
_DAY_S = 86_400
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class KeptOutputs:
    """The kept outputs of one library."""

    def __init__(self, library: Path) -> None:
        self._library = Path(os.path.realpath(library))
        self._swept_at = float("-inf")

    def holds(self, path: str) -> bool:
        """Tell whether `path` (canonical) lies among the kept outputs."""
        return Path(path).is_relative_to(self._library / FOLDER)

    async def keep(self, text: str, *, session_id: str, turn_id: str, call_id: str) -> str:
        """Write one call's output, once, and return the file's canonical path.

        The same text of the same call is not written twice.

        Raises:
            StoreError: It could not be written; nothing of it is left.
        """
        try:
            await self.sweep()
        except StoreError:
            log.exception("old outputs could not be swept away")
        return await asyncio.to_thread(self._keep, text, session_id, f"{turn_id}-{call_id}")

    def _keep(self, text: str, session_id: str, call: str) -> str:
        content = text.encode("utf-8", "ignore")  # drops lone surrogates, which no file can hold
        folder = _name(session_id)
        try:
            self._library.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                name = self._write(content, folder, _name(call))
            except FileNotFoundError:  # another process swept the folder away in this moment
                name = self._write(content, folder, _name(call))
        except OSError as error:
            raise StoreError(
                f"An output of {len(content):,} bytes could not be kept in"
                f" {self._library / FOLDER}: {error.strerror or error}.",
                hint="Look at the space on the disk and at the folder's permissions.",
            ) from error
        return str(self._library / FOLDER / folder / name)

    def _write(self, content: bytes, folder: str, name: str) -> str:
        """Create the file and return its name; one more name where another text has the first."""
        with (
            _opened(self._library) as root,
            beneath.parent_directory(root, (FOLDER, folder, name), make=True) as parent,
        ):
            for file in (f"{name}.txt", f"{name}-{_digest(content)}.txt"):
                try:
                    fd = os.open(file, _NEW, 0o600, dir_fd=parent)
                except FileExistsError:
                    if _same(parent, file, content):
                        return file
                    continue
                try:
                    _write_all(fd, content)
                except BaseException:
                    os.unlink(file, dir_fd=parent)
                    raise
                return file
        raise FileExistsError(EEXIST, "its file is there already, with another text", name)

    async def sweep(self) -> int:
        """Remove what is older than `KEPT_DAYS`; at most once a day. Returns how many files."""
        if time.monotonic() - self._swept_at < _DAY_S:
            return 0
        self._swept_at = time.monotonic()
        return await asyncio.to_thread(self._sweep, time.time() - KEPT_DAYS * _DAY_S)

    async def forget(self, session_id: str) -> int:
        """Remove all that is kept of one session. Returns how many files."""
        return await asyncio.to_thread(self._remove, _name(session_id), float("inf"))

    def _sweep(self, before: float) -> int:
        try:
            with self._inside() as top:
                folders = [entry.name for entry in _entries(top)]
        except OSError:  # nothing was ever kept, or a link stands in the folder's place
            return 0
        return sum(self._remove(folder, before) for folder in folders)

    def _remove(self, folder: str, before: float) -> int:
        """Remove a session's files last written before a time, and its folder where it is empty."""
        removed = 0
        try:
            with self._inside() as top:
                with _opened(Path(folder), at=top) as fd:
                    for entry in _entries(fd):
                        status = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(status.st_mode) and status.st_mtime < before:
                            os.unlink(entry.name, dir_fd=fd)
                            removed += 1
                with contextlib.suppress(OSError):  # it holds newer files
                    os.rmdir(folder, dir_fd=top)
        except OSError as error:
            if isinstance(error, FileNotFoundError) or error.errno in {ELOOP, ENOTDIR}:
                return removed  # gone meanwhile, or not a folder of ours
            raise StoreError(
                f"Old outputs in {self._library / FOLDER / folder} could not be removed:"
                f" {error.strerror or error}.",
                hint="Look at the folder's permissions.",
            ) from error
        return removed

    @contextlib.contextmanager
    def _inside(self) -> Generator[int]:
        with _opened(self._library) as root, _opened(Path(FOLDER), at=root) as top:
            yield top


def _name(identifier: str) -> str:
    """Return a name for an id: itself where it is plain and unprotected, else its hash."""
    plain = _PLAIN.fullmatch(identifier) and not names.is_protected([identifier], library=False)
    return identifier if plain else f"h_{hashlib.sha256(_bytes(identifier)).hexdigest()[:32]}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


@contextlib.contextmanager
def _opened(folder: Path, *, at: int | None = None) -> Generator[int]:
    fd = os.open(folder, _DIRECTORY, dir_fd=at)
    try:
        yield fd
    finally:
        os.close(fd)


def _entries(fd: int) -> list["os.DirEntry[str]"]:
    with os.scandir(fd) as scan:
        return list(scan)


def _same(parent: int, file: str, content: bytes) -> bool:
    fd = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
    with os.fdopen(fd, "rb") as there:
        status = os.fstat(fd)
        return (
            stat.S_ISREG(status.st_mode)
            and status.st_size == len(content)
            and there.read(len(content)) == content
        )


def _write_all(fd: int, content: bytes) -> None:
    with os.fdopen(fd, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(fd)
