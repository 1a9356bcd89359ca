"""A thread that notices when the event loop is blocked, says where, and does what cannot wait."""

import asyncio
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Self

log = logging.getLogger(__name__)

PATIENCE_S = 2.0
"""How long the loop may be silent."""


class Watchdog:
    """Asks the running loop again and again whether it answers, while the block runs.

    A blocked loop is logged once, with the line that it is in, and once more when it is back. Code
    that blocks inside a C function without letting go of Python's lock stops this thread too.

    Args:
        meanwhile: Called in this thread while the loop is blocked; returns soon after its event
            is set.
    """

    def __init__(self, meanwhile: Callable[[threading.Event], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._watched = threading.get_ident()
        self._meanwhile = meanwhile
        self._back = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._back.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(PATIENCE_S / 2):
            self._back.clear()
            if self._over.is_set():  # since the last line: nothing would set it again
                return
            asked = time.monotonic()
            self._loop.call_soon_threadsafe(self._back.set)
            if not self._back.wait(PATIENCE_S):
                self._stand_in(asked)

    def _stand_in(self, asked: float) -> None:
        """Tell of a loop that is blocked, and act for it until it is back."""
        silent_s, place = time.monotonic() - asked, _place(self._watched)
        log.warning("the event loop is blocked, for %.1f s so far:\n%s", silent_s, place)
        try:
            self._meanwhile(self._back)
        except Exception:
            log.exception("nobody stands in for the event loop")
        self._back.wait()
        log.warning("the event loop is back after %.1f s", time.monotonic() - asked)


def _place(thread_id: int) -> str:
    """Return the lines that a thread is in; its frames are let go of at once."""
    frames = sys._current_frames()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    return "".join(traceback.format_stack(frames.get(thread_id))).rstrip()
