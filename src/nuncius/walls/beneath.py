"""Open, make and replace files below a directory without ever following a link.

The caller resolves links first and judges where they lead. What is opened here is that judged
path: a component that has become a link since then is an error, so a swap between check and use
gains nothing.
"""

import contextlib
import ctypes
import os
import re
import secrets
import stat
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from errno import EAGAIN, EISDIR, ELOOP, ENAMETOOLONG, ENOSYS, EPERM
from functools import cache

_SYS_OPENAT2 = 437  # the same on every architecture that Python 3.11 runs on, except alpha
_RESOLVE = 0x02 | 0x04 | 0x08  # RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_NEW_DIRECTORIES = 64
_PART = re.compile(r"\.[0-9a-f]{16}\.part")


class _OpenHow(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


def open_at(directory: int, parts: Sequence[str], flags: int) -> int:
    """Open the path `parts` below an open directory; no component may be a link.

    Returns:
        A descriptor that the caller closes.

    Raises:
        OSError: As `open(2)`; ELOOP where a component is a link.
    """
    if not parts:
        return os.open(".", flags | os.O_CLOEXEC, dir_fd=directory)
    if has_openat2():
        return _openat2(directory, "/".join(parts), flags)
    return walk_at(directory, parts, flags)


def walk_at(directory: int, parts: Sequence[str], flags: int) -> int:
    """Do what `open_at` does where the kernel has no openat2: one O_NOFOLLOW step a component."""
    at = os.dup(directory)
    try:
        for part in parts[:-1]:
            deeper = _step(at, part)
            os.close(at)
            at = deeper
        return os.open(parts[-1], flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
    finally:
        os.close(at)


def _step(directory: int, name: str) -> int:
    try:
        return os.open(name, _DIRECTORY, dir_fd=directory)
    except NotADirectoryError as error:
        # O_DIRECTORY | O_NOFOLLOW answers ENOTDIR for a link; callers expect openat2's ELOOP.
        if stat.S_ISLNK(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
            raise OSError(ELOOP, os.strerror(ELOOP), name) from error
        raise


@cache
def has_openat2() -> bool:
    """Tell whether this kernel (and the container around us) lets us call openat2."""
    if not sys.platform.startswith("linux"):
        return False
    root = os.open("/", _DIRECTORY)
    try:
        os.close(_openat2(root, ".", _DIRECTORY))
    except OSError as error:
        if error.errno in (ENOSYS, EPERM):  # EPERM: a seccomp filter that does not know it
            return False
        raise
    finally:
        os.close(root)
    return True


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _openat2(directory: int, path: str, flags: int) -> int:
    how = _OpenHow(flags | os.O_CLOEXEC, 0, _RESOLVE)
    encoded = os.fsencode(path)
    number = EAGAIN
    for _ in range(8):
        fd: int = _libc().syscall(
            _SYS_OPENAT2, directory, encoded, ctypes.byref(how), ctypes.sizeof(how)
        )
        if fd >= 0:
            return fd
        number = ctypes.get_errno()
        if number != EAGAIN:  # EAGAIN: a rename ran through the look-up
            break
    raise OSError(number, os.strerror(number), path)


def open_regular(directory: int, parts: Sequence[str]) -> int:
    """Open a regular file for reading; FIFOs, sockets and devices are never opened.

    Raises:
        OSError: As `open(2)`; IsADirectoryError for a directory.
        NotRegularError: It is neither a file nor a directory.
    """
    if not parts:
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    parent = open_at(directory, parts[:-1], _DIRECTORY)
    try:
        # Looked at before it is opened: opening a FIFO waits, opening a device can act.
        _demand_regular(os.stat(parts[-1], dir_fd=parent, follow_symlinks=False), parts[-1])
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        fd = os.open(parts[-1], flags, dir_fd=parent)
    finally:
        os.close(parent)
    try:
        _demand_regular(os.fstat(fd), parts[-1])
    except OSError:
        os.close(fd)
        raise
    return fd


class NotRegularError(OSError):
    """The name belongs to a FIFO, a socket or a device."""


def _demand_regular(found: os.stat_result, name: str) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise OSError(ELOOP, os.strerror(ELOOP), name)
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), name)
    if not stat.S_ISREG(found.st_mode):
        raise NotRegularError(f"{name} is not a regular file")


@contextmanager
def parent_directory(
    root: int, parts: Sequence[str], *, make: bool = False
) -> Generator[int, None, None]:
    """Open the directory that holds the last of `parts`, made where missing and wished.

    Raises:
        OSError: As `open(2)` and `mkdir(2)`.
    """
    fd = _made(root, parts[:-1]) if make else open_at(root, parts[:-1], _DIRECTORY)
    try:
        yield fd
    finally:
        os.close(fd)


def _made(root: int, parts: Sequence[str]) -> int:
    try:
        return open_at(root, parts, _DIRECTORY)
    except FileNotFoundError:
        pass  # made below, one by one, from the deepest that exists
    at = os.dup(root)
    made = 0
    try:
        for part in parts:
            try:
                deeper = _step(at, part)
            except FileNotFoundError:
                made += 1
                if made > _MAX_NEW_DIRECTORIES:
                    raise OSError(
                        ENAMETOOLONG, f"more than {_MAX_NEW_DIRECTORIES} new directories", part
                    ) from None
                with contextlib.suppress(FileExistsError):  # another writer was as fast
                    os.mkdir(part, dir_fd=at)
                os.fsync(at)
                deeper = _step(at, part)
            os.close(at)
            at = deeper
    except BaseException:
        os.close(at)
        raise
    return at


def forget_parts(directory: int) -> None:
    """Remove what writers that died left; the caller holds the directory's lock."""
    with os.scandir(directory) as entries:
        found = [entry.name for entry in entries if _PART.fullmatch(entry.name)]
    for name in found:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=directory)


def replace(directory: int, name: str, content: bytes, *, mode: int | None = None) -> None:
    """Put `content` under `name` in one step: temporary file, fsync, rename, fsync.

    A link or hard link of that name is replaced, never written through. After a crash the name
    holds the old bytes or the new ones.

    Args:
        mode: Permission bits; None keeps those of the file there, or the umask's for a new one.

    Raises:
        OSError: As `open(2)`, `write(2)` and `rename(2)`.
    """
    before: os.stat_result | None = None
    with contextlib.suppress(FileNotFoundError):
        before = os.stat(name, dir_fd=directory, follow_symlinks=False)
        _demand_regular(before, name)
    # A short name of its own, so that a target of 255 bytes still has a neighbour.
    temporary = f".{secrets.token_hex(8)}.part"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    keep = stat.S_IMODE(before.st_mode) if mode is None and before is not None else mode
    fd = os.open(temporary, flags, 0o666 if keep is None else 0o600, dir_fd=directory)
    try:
        try:
            _write_all(fd, content)
            if before is not None and os.geteuid() == 0:  # only root may give a file back
                os.fchown(fd, before.st_uid, before.st_gid)
            if keep is not None:
                os.fchmod(fd, keep)
            os.fsync(fd)
        finally:
            os.close(fd)
        os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=directory)
        raise
    os.fsync(directory)


def _write_all(fd: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
