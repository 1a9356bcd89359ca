"""Where a database may live, and who uses it: file systems and the use lock."""

import fcntl
import os
import re
import time
from pathlib import Path

from nuncius.core.errors import DatabaseBusyError, StoreError

WAIT_S = 10.0  # how long a lock of another process is waited for

_NETWORK = frozenset(
    {"nfs", "nfs3", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "afs", "afpfs", "ncpfs", "ceph",
     "lustre", "gpfs", "beegfs", "pvfs2", "orangefs", "panfs", "wekafs", "glusterfs", "ocfs2",
     "gfs", "gfs2", "davfs", "webdav", "acfs", "coda"}
)  # fmt: skip
_NETWORK_FUSE = re.compile(
    r"fuse\..*(ssh|nfs|smb|cifs|s3|gcs|blob|dav|ftp|rclone|gluster|ceph|juicefs|moose|lizard"
    r"|beegfs|vmhgfs|goofys|drive|mount)"
)
_ESCAPE = re.compile(r"\\([0-7]{3})")


def refuse_what_is_no_file(path: Path) -> None:
    """Raise where no database can be at `path`: a folder, a device, a name that is no UTF-8.

    Raises:
        StoreError: Nothing was touched.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise StoreError(
            f"{path} has a name that is not UTF-8, which SQLite cannot open.",
            hint="Choose another name.",
        ) from error
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113  (Path raises where it may not look)
        raise StoreError(
            f"{path} is no file, so it cannot hold a database.",
            hint="Check NUNCIUS_HOME and NUNCIUS_DATABASE_URL.",
        )


def refuse_network_file_system(path: Path, mounts: str) -> None:
    """Raise where `path` lies on a file system that several machines may share.

    The write-ahead log needs memory shared by all processes that use the file, which no network
    file system gives; SQLite would corrupt the file without a word.

    Args:
        path: Absolute path without symlinks; it need not exist.
        mounts: A table as in ``/proc/self/mounts``; empty (as on macOS) refuses nothing.

    Raises:
        StoreError: With the mount point and its type.
    """
    point, kind = file_system_of(path, mounts)
    if kind:
        raise StoreError(
            f"{path} lies on a network file system ({kind} at {point}), where a database would"
            " be damaged.",
            hint="Set NUNCIUS_HOME to a folder on a local disk.",
        )


def file_system_of(path: Path, mounts: str) -> tuple[str, str]:
    """Return mount point and type of the network file system under `path`, or two empty strings."""
    best, found = -1, ("", "")
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 4:
            continue
        point = Path(_ESCAPE.sub(lambda match: chr(int(match[1], 8)), fields[1]))
        depth = len(point.parts)
        # `>=`: of two mounts at one point the later one is on top
        if depth >= best and path.is_relative_to(point):
            best, found = depth, (str(point), _network_type(fields[2], fields[3]))
    return found if found[1] else ("", "")


def _network_type(kind: str, options: str) -> str:
    if kind in _NETWORK:
        return kind
    if kind == "9p":
        # a sandbox's own root is 9p too and safe; Windows drives and TCP exports are not
        return kind if re.search(r"\baname=drvfs\b|\btrans=(tcp|rdma)\b", options) else ""
    return kind if _NETWORK_FUSE.match(kind) else ""


def mount_table() -> str:
    """Return this process's table of mounts; empty where the system has none to read."""
    try:
        return Path("/proc/self/mounts").read_text("utf-8", errors="surrogateescape")
    except OSError:
        return ""


class UseLock:
    """Tells other processes that the database is open (shared) or being replaced (exclusive).

    A lock file beside the database, because the database itself may be the thing that changes.
    """

    def __init__(self, database: Path) -> None:
        self.database = database
        self._fd = os.open(
            database.with_name(database.name + ".lock"),
            os.O_RDWR | os.O_CREAT | os.O_CLOEXEC,
            0o600,
        )

    def share(self) -> None:
        """Hold the lock as one of many users. Raises DatabaseBusyError."""
        self._take(fcntl.LOCK_SH, "is being upgraded or restored by another process")

    def own(self, *, wait_s: float | None = None) -> None:
        """Hold the lock alone. Raises DatabaseBusyError while others use the database."""
        fcntl.flock(
            self._fd, fcntl.LOCK_UN
        )  # two users who both want to own must not wait in a ring
        self._take(fcntl.LOCK_EX, "is in use by another nuncius process", wait_s)

    def was_made(self) -> bool:
        """Tell whether the database was complete once, so that an empty file is a loss."""
        return os.fstat(self._fd).st_size > 0

    def note_made(self) -> None:
        """Remember that the database is complete."""
        os.pwrite(self._fd, b"made\n", 0)

    def close(self) -> None:
        """Let go."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _take(self, how: int, why: str, wait_s: float | None = None) -> None:
        deadline = time.monotonic() + (WAIT_S if wait_s is None else wait_s)
        while True:
            try:
                fcntl.flock(self._fd, how | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise DatabaseBusyError(
                        f"{self.database} {why}.",
                        hint="Close the other nuncius processes (`serve`, `chat`) and try again.",
                    ) from None
                time.sleep(0.02)
            else:
                return
