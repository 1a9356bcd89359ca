"""Where a home's parts lie."""

from pathlib import Path

from nuncius.core.errors import SettingsError
from nuncius.core.settings import Settings


def database_path(settings: Settings) -> Path:
    """Return the file of ``sqlite:///path``.

    Raises:
        SettingsError: The URL names another kind of database.
    """
    prefix = "sqlite:///"
    if not settings.database_url.startswith(prefix):
        raise SettingsError(
            f"NUNCIUS_DATABASE_URL is '{settings.database_url.split(':', 1)[0]}:...'.",
            hint="This version keeps its data in SQLite: sqlite:///path/to/nuncius.db",
        )
    path = settings.database_url.removeprefix(prefix)
    try:
        return Path(path).expanduser()
    except RuntimeError as error:  # `~nobody`
        raise SettingsError(
            f"NUNCIUS_DATABASE_URL: there is no user {path.split('/')[0]}."
        ) from error


def make_folder(folder: Path) -> None:
    """Make a folder for its owner alone, where it is missing.

    Raises:
        SettingsError: It cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"The directory {folder} cannot be made: {error.strerror}.",
            hint="Set NUNCIUS_HOME to a directory that you may write to.",
        ) from error
