"""Files that a command writes where its user said."""

import os
import secrets
import stat
from pathlib import Path

from nuncius.core.errors import UsageError


def write_text(path: Path, text: str) -> None:
    """Write `text` in one step: the old file stays until the new one is whole.

    Raises:
        UsageError: The place cannot be written; nothing was changed.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():  # a device, a pipe
            target.write_text(text, encoding="utf-8", errors="replace")
            return
        fresh = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}")
        try:
            fresh.write_text(text, encoding="utf-8", errors="replace")
            if target.exists():
                fresh.chmod(stat.S_IMODE(target.stat().st_mode))
            fresh.replace(target)
        finally:
            fresh.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(
            f"{path} cannot be written: {reason}.", hint="Name a file in a directory of yours."
        ) from error
