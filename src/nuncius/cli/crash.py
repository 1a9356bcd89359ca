"""The last word on an error that nobody foresaw: a line for the person, a log for the developer."""

import os
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from nuncius import __version__
from nuncius.core.errors import NunciusError

if TYPE_CHECKING:
    from nuncius.core.settings import Settings
    from nuncius.walls.secrets import Masker


def report(error: Exception) -> tuple[str, str]:
    """Write the traceback to a log in the home and return message and hint.

    The log holds code lines and the error's own words; keys are masked.
    """
    what = f"nuncius itself broke: {type(error).__name__}: {_first_line(error)}"
    text = "".join(traceback.format_exception(error))
    try:
        path = _write(_without_secrets(text))
    except (OSError, NunciusError):  # no home, a full disk: the line on the screen must do
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return what, f"No log could be written; it happened at {frame.filename}:{frame.lineno}."
    return what, f"Please report it; the details are in {path}."


def _first_line(error: Exception) -> str:
    return _without_secrets((str(error).strip().splitlines() or ["no details"])[0][:300])


def _write(text: str) -> Path:
    from nuncius.app.config import load_settings

    folder = load_settings().settings.home / "logs"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    now = datetime.now(UTC)
    path = folder / f"crash-{now:%Y%m%dT%H%M%S}-{os.getpid()}.log"
    command = sys.argv[1] if len(sys.argv) > 1 else ""  # the words after it may be private
    head = f"nuncius {__version__}, Python {sys.version.split()[0]}, {sys.platform}, {command}\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"{now.isoformat()} {head}\n{text}")
    return path


def _without_secrets(text: str) -> str:
    from nuncius.app.config import load_settings

    try:
        settings = load_settings().settings
    except NunciusError:
        settings = None
    return masker(settings).mask(text)


def masker(settings: "Settings | None") -> "Masker":
    """Return what masks the keys in these settings, and whatever looks like one."""
    from nuncius.app.config import FIELDS
    from nuncius.core.settings import SECRET_NAMES
    from nuncius.walls.secrets import Masker

    if settings is None:
        return Masker()
    return Masker(getattr(settings, FIELDS[name]) for name in SECRET_NAMES)
