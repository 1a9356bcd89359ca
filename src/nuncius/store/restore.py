"""The way back from a backup."""

import time
from contextlib import suppress
from pathlib import Path

import apsw

from nuncius.core.errors import DatabaseBrokenError, NotFoundError, StoreError
from nuncius.store.backup import be_sound, give_name, report, sync
from nuncius.store.connection import Connection
from nuncius.store.faults import explain
from nuncius.store.migrate import RESTORING, judge, look
from nuncius.store.place import UseLock


def restore_database(source: Path, target: Path) -> Path | None:
    """Put the backup `source` in the place of the database `target`.

    The copy is made and checked beside `target` first; then one rename puts it there. What was
    there stays beside it as ``<name>.replaced-<time>``.

    Returns:
        Where the replaced database is now, or None where there was none.

    Raises:
        NotFoundError: There is no such backup.
        DatabaseBrokenError: The backup is damaged, foreign or newer than this version.
        DatabaseBusyError: A process uses the database.
    """
    if not source.is_file():
        raise NotFoundError(f"There is no backup {source}.", hint="Name the file to restore.")
    if target.exists() and source.samefile(target):
        raise StoreError(f"{source} is the database itself.", hint="Name a backup of it.")
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = UseLock(target)
    try:
        lock.own(wait_s=1.0)
        incoming = target.with_name(target.name + RESTORING)
        _remove(incoming)
        try:
            _copy_in(source, incoming)
            replaced = _set_aside(target)
            incoming.replace(target)
            sync(target.parent)
        finally:
            _remove(incoming)
        return replaced
    finally:
        lock.close()


def _copy_in(source: Path, incoming: Path) -> None:
    try:
        connection = _open_backup(source)
        try:
            if not judge(connection, source):
                raise DatabaseBrokenError(f"{source} is empty.", hint="Name another backup.")
            report(connection, source)
            connection.run("VACUUM INTO ?", (str(incoming),))
        finally:
            connection.close()
        incoming.chmod(0o600)
        be_sound(incoming)
        sync(incoming)
    except (DatabaseBrokenError, apsw.Error) as error:
        told = explain(error, source) if isinstance(error, apsw.Error) else error
        if not isinstance(told, DatabaseBrokenError):
            raise told from error
        raise DatabaseBrokenError(
            f"{told.message} The database in use was not changed.", hint="Name another backup."
        ) from error


def _open_backup(source: Path) -> Connection:
    """Open a backup, which may lie on a read-only disk, without leaving files beside it."""
    log = source.with_name(source.name + "-wal")
    return Connection(source, readonly=True, immutable=not log.exists())


def _set_aside(target: Path) -> Path | None:
    """Give the database a second name, its log folded in or set aside with it."""
    if not target.exists():
        return None
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    replaced = target.with_name(f"{target.name}.replaced-{stamp}")
    count = 1
    while replaced.exists():
        count += 1
        replaced = target.with_name(f"{target.name}.replaced-{stamp}-{count}")
    with suppress(StoreError, apsw.Error):  # a damaged one keeps all its pieces as they are
        look(target)
        connection = Connection(target)
        connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
    give_name(target, replaced)
    for ending in ("-wal", "-shm"):
        part = target.with_name(target.name + ending)
        if part.exists():
            part.replace(replaced.with_name(replaced.name + ending))
    return replaced


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
