"""What the rooms log goes into one file of the home: stderr is for people."""

import logging
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

if TYPE_CHECKING:
    from nuncius.core.settings import Settings

_LARGEST_BYTES = 2_000_000  # then the log begins anew; the one before it is kept


@contextmanager
def logged(settings: "Settings") -> Generator[None]:
    """Write warnings and errors of nuncius to ``logs/nuncius.log`` while the block runs."""
    logger = logging.getLogger("nuncius")
    handler = _LogFile(log_path(settings), settings)
    logger.addHandler(handler)
    before, logger.propagate = logger.propagate, False
    try:
        yield
    finally:
        logger.propagate = before
        logger.removeHandler(handler)


def log_path(settings: "Settings") -> Path:
    """Return where the log of this home is."""
    return settings.home / "logs" / "nuncius.log"


class _LogFile(logging.Handler):
    """Opens the file only where there is something to write, and masks every secret."""

    def __init__(self, path: Path, settings: "Settings") -> None:
        super().__init__(logging.WARNING)
        self._path = path
        self._settings = settings
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))

    @override
    def emit(self, record: logging.LogRecord) -> None:
        from nuncius.cli.crash import masker

        line = masker(self._settings).mask(self.format(record)) + "\n"
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._path.exists() and self._path.stat().st_size > _LARGEST_BYTES:
                self._path.replace(self._path.with_suffix(".log.1"))
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            descriptor = os.open(self._path, flags, 0o600)
        except OSError:
            return  # a full disk, a home that is gone: what failed is told on the screen anyway
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(line)
