"""A limit on processes for root, whose processes the kernel's ordinary limit does not count."""

import contextlib
import os
import secrets
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

_TREE = Path("/sys/fs/cgroup")
# The shell that becomes the command enters the group first, so all that it starts is in it.
_ENTER = 'echo $$ >"$1" || exit 1; shift; exec "$@"'


@contextmanager
def process_limit(most: int) -> Generator[list[str] | None]:
    """Make a control group for one command and take it away after.

    Args:
        most: Processes and threads that the command and all that it starts may have.

    Yields:
        The command line that goes before the command; None where no group can be made, as in
        most containers.
    """
    group = _make(most)
    if group is None:
        yield None
        return
    try:
        yield ["/bin/sh", "-c", _ENTER, "sh", str(group / "cgroup.procs")]
    finally:
        for _ in range(50):  # its last processes may still be on their way out
            try:
                group.rmdir()
            except OSError:
                time.sleep(0.01)
            else:
                break


def _make(most: int) -> Path | None:
    for parent in _parents():
        group = parent / f"nuncius-{os.getpid()}-{secrets.token_hex(8)}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / "pids.max").write_text(str(most))
            if os.access(group / "cgroup.procs", os.W_OK):
                return group
        except OSError:
            pass  # this tree does not count processes: the next one may
        with contextlib.suppress(OSError):
            group.rmdir()
    return None


def _parents() -> Iterator[Path]:
    """Yield where a group that counts processes may be made: our own place first, then the top."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if "pids" in controllers.split(","):  # the older trees, one for each controller
            yield _TREE / "pids" / path.lstrip("/")
        elif not controllers and (_TREE / "cgroup.controllers").is_file():
            yield _TREE / path.lstrip("/")
            yield _TREE
