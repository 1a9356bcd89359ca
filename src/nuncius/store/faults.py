"""What SQLite's errors mean for a person: one place turns them into ours."""

from pathlib import Path

import apsw

from nuncius.core.errors import DatabaseBrokenError, DatabaseBusyError, StoreError

APPLICATION_ID = 1853189731  # "nunc", stands in the file's header
_SQLITE_MAGIC = b"SQLite format 3\x00"


def explain(error: apsw.Error, path: Path) -> StoreError:
    """Return the error to raise for `error` of the database at `path`."""
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return DatabaseBusyError(
                f"Another process kept {path} locked for too long.",
                hint="Try again when it has finished; `nuncius doctor` lists what is running.",
            )
        case apsw.CorruptError() | apsw.NotADBError() | apsw.FormatError():
            return broken(path, f"is damaged ({error})")
        case apsw.FullError():
            return StoreError(
                f"The disk that holds {path} is full; nothing of this change was written.",
                hint="Free some space and try again; what was stored before is safe.",
            )
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.AuthError():
            return StoreError(
                f"{path} cannot be written: the file, its folder or the disk is read-only.",
                hint="Check the permissions, or choose another place with NUNCIUS_HOME.",
            )
        case apsw.CantOpenError():
            return StoreError(
                f"{path} cannot be opened ({error}).",
                hint="Check that its folder exists and that you may read and write there.",
            )
        case apsw.IOError():
            return StoreError(
                f"The disk failed while {path} was used ({error}).",
                hint="Check the disk, then run `nuncius doctor`; keep a copy of the file.",
            )
        case _:
            return StoreError(f"The database refused a request ({type(error).__name__}: {error}).")


def broken(path: Path, what: str) -> DatabaseBrokenError:
    """Return the error for a database that must not be touched, with the way back."""
    backup = last_backup(path)
    if backup:
        hint = (
            f"Nothing was changed. Restore the last backup found with `nuncius restore {backup}`;"
            " the damaged file is kept beside it."
        )
    else:
        hint = (
            "Nothing was changed and no backup was found beside it. Restore one of yours with"
            " `nuncius restore FILE`, or move the file away to begin with an empty library."
        )
    return DatabaseBrokenError(f"The database {path} {what}.", hint=hint)


def last_backup(path: Path) -> Path | None:
    """Return the newest backup known: written by `backup` (anywhere), or a copy beside `path`."""
    candidates = [Path(line) for line in _read_lines(backup_list(path))]
    if path.parent.is_dir():
        candidates += [
            entry
            for entry in path.parent.glob(f"{path.stem}*")
            if entry.name.startswith((f"{path.name}.before-", f"{path.stem}-", f"{path.stem}."))
            and entry.name != path.name
        ]
    sound = [entry for entry in candidates if looks_like_ours(entry)]
    return max(sound, key=lambda entry: entry.stat().st_mtime, default=None)


def backup_list(path: Path) -> Path:
    """Return the file in which the places of backups are noted, one a line."""
    return path.with_name(path.name + ".backups")


def looks_like_ours(path: Path) -> bool:
    """Tell whether the file's header is that of a nuncius database; its pages are not read."""
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError:
        return False
    return (
        len(header) == 100
        and header.startswith(_SQLITE_MAGIC)
        and int.from_bytes(header[68:72]) == APPLICATION_ID
    )


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []  # only a hint is lost, while a worse error is being told
