"""Write `config.toml`: one setting at a time, comments kept, readable by its owner only."""

import fcntl
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import tomlkit
from tomlkit.exceptions import TOMLKitError

from nuncius.core.errors import SettingsError


def write_setting(path: Path, key: str, value: str | bool | float | list[str] | None) -> None:
    """Set `key` in the TOML file, or take it out where `value` is None.

    The file is replaced in one step; a link to a file elsewhere stays a link.

    Raises:
        SettingsError: The file is no TOML, or cannot be read or written.
    """
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(target.parent):
            old = target.read_text(encoding="utf-8-sig") if target.exists() else ""
            document = tomlkit.parse(old)
            if value is not None:
                document[key] = value
            elif key in document:
                del document[key]
            else:
                return
            _replace(target, tomlkit.dumps(document))
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"{path} is not a TOML file: {error}.",
            hint="Mend it by hand first; nothing was changed.",
        ) from error
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be written: {error.strerror}.", hint="Nothing was changed."
        ) from error


@contextmanager
def _locked(directory: Path) -> Generator[None]:
    """Keep a second `config set` out, so that neither loses the other's line."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _replace(target: Path, text: str) -> None:
    fresh = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
