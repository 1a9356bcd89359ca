"""Follows links by hand, so that what is judged is the place that they lead to."""

import errno
import os
from collections import deque
from pathlib import Path

MAX_LINKS = 40
"""What Linux follows in one look-up."""


def follow(path: Path) -> tuple[Path, int]:
    """Follow all links of an absolute path by hand.

    Returns:
        The canonical path, and how many of its last components do not exist.

    Raises:
        OSError: A loop, a file used as a directory, or a link inside ``/proc`` (such links lead
            to what processes hold open, not to names).
    """
    todo = deque(path.parts[1:])
    done: list[str] = []
    links = missing = 0
    while todo:
        part = todo.popleft()
        if part == "..":  # only from a link's target: arguments with '..' are refused before
            missing = max(0, missing - 1)
            if done:
                done.pop()
            continue
        done.append(part)
        if missing:
            missing += 1
            continue
        try:
            target = os.readlink("/" + "/".join(done))  # noqa: PTH115  (hot path)
        except FileNotFoundError:
            missing = 1
            continue
        except OSError as error:
            if error.errno != errno.EINVAL:  # EINVAL: it exists and is no link
                raise
            continue
        links += 1
        if links > MAX_LINKS or done[0] == "proc":
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        done.pop()
        if target.startswith("/"):
            done.clear()
        todo.extendleft(part for part in reversed(target.split("/")) if part not in ("", "."))
    return Path("/", *done), missing
