"""Makes a file ready: creates it, refuses what is not sound, brings old ones up to date."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw

from nuncius.core.errors import DatabaseBrokenError, StoreError
from nuncius.store.backup import copy_database
from nuncius.store.connection import Connection
from nuncius.store.faults import APPLICATION_ID, broken, explain
from nuncius.store.place import UseLock

SCHEMA_VERSION = 4
"""The newest migration in ``nuncius/migrations``; a constant so that opening reads no files."""

RESTORING = ".restoring"
"""Ending of a backup's copy on its way in."""

_CHECK_S = 0.01  # longest look over the pages at every start; small libraries are seen whole


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: a script that ends in ``PRAGMA user_version = <version>``."""

    version: int
    script: str


def shipped_migrations() -> Sequence[Migration]:
    """Return all steps in order."""
    from importlib.resources import files

    found = [
        Migration(int(entry.name[:4]), entry.read_text("utf-8"))
        for entry in files("nuncius.migrations").iterdir()
        if entry.name.endswith(".sql")
    ]
    return sorted(found, key=lambda migration: migration.version)


def prepare(
    path: Path,
    lock: UseLock,
    *,
    migrations: Sequence[Migration] | None = None,
    vfs: str | None = None,
) -> None:
    """Leave a sound database of the newest schema at `path`, with `lock` shared.

    A new file is created; an older one is copied to ``<name>.before-<version>-<time>`` and
    upgraded while nobody else uses it. Each step is one transaction.

    Raises:
        DatabaseBrokenError: The file is damaged, foreign or newer; it was not touched.
        DatabaseBusyError: Others use a database that needs an upgrade.
        StoreError: It cannot be written.
    """
    newest = migrations[-1].version if migrations else SCHEMA_VERSION
    lock.share()
    while _is_new(path, lock) or look(path, newest, vfs=vfs) < newest:
        lock.own()
        _upgrade(path, lock, migrations or shipped_migrations(), vfs)
        lock.share()
    lock.note_made()
    # of a restore that was cut off: a running one would hold the lock
    path.with_name(path.name + RESTORING).unlink(missing_ok=True)


def prepare_readonly(path: Path) -> bool:
    """Look whether the database can be read as it is; return whether its disk is read-only.

    Raises:
        DatabaseBrokenError: It is damaged, foreign or newer.
        StoreError: There is none, or it has an older schema.
    """
    if not path.is_file():
        raise StoreError(
            f"There is no database {path}.", hint="Add a paper first, or check NUNCIUS_HOME."
        )
    immutable = False
    try:
        version = _version(path, immutable=False)
    except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            raise explain(error, path) from error  # the log can only be read where it can be locked
        immutable = True
        version = _version(path, immutable=True)
    except apsw.Error as error:
        raise explain(error, path) from error
    if version < SCHEMA_VERSION:
        raise StoreError(
            f"The database {path} was written by an older nuncius and must be upgraded first.",
            hint="Open it once for writing, for example with `nuncius library status`.",
        )
    return immutable


def _version(path: Path, *, immutable: bool) -> int:
    connection = Connection(path, readonly=True, immutable=immutable)
    try:
        return judge(connection, path)
    finally:
        connection.close()


def look(path: Path, newest: int = SCHEMA_VERSION, *, vfs: str | None = None) -> int:
    """Return the schema version of the file at `path`, having looked whether it is sound.

    The pages are looked over for a few milliseconds only; damage further in is found when it is
    read, or by `check`.

    Raises:
        DatabaseBrokenError: It is damaged, foreign or newer than this version.
    """
    try:
        # for reading only: closing it must not write the log into a damaged file
        connection = Connection(path, readonly=True, vfs=vfs)
        try:
            return judge(connection, path, newest)
        finally:
            connection.close()
    except apsw.Error as error:
        raise explain(error, path) from error


def judge(connection: Connection, path: Path, newest: int = SCHEMA_VERSION) -> int:
    """Return the schema version behind `connection`; raise as `look` does."""
    version = int(connection.value("PRAGMA user_version"))
    application = int(connection.value("PRAGMA application_id"))
    if application != APPLICATION_ID:
        if (
            not application
            and not version
            and not connection.value("SELECT count(*) FROM sqlite_schema")
        ):
            return 0  # a file whose first transaction never came
        raise broken(path, "belongs to another program")
    if version > newest:
        raise DatabaseBrokenError(
            f"The database {path} was written by a newer nuncius (schema {version}; this one"
            f" knows {newest}). Nothing was changed.",
            hint="Upgrade nuncius, or name another NUNCIUS_HOME.",
        )
    _look_over(connection, path)
    return version


def _look_over(connection: Connection, path: Path) -> None:
    deadline = time.monotonic() + _CHECK_S
    connection.stop_when(lambda: time.monotonic() > deadline)
    try:
        found = str(connection.value("PRAGMA quick_check(1)"))
    except apsw.InterruptError:
        return  # sound as far as was looked
    finally:
        connection.stop_when(None)
    if found != "ok":
        raise broken(path, f"is damaged ({found})")


def _is_new(path: Path, lock: UseLock) -> bool:
    """Tell whether there is nothing yet. Raises where there was something that is gone."""
    try:
        size = path.stat().st_size
        if 0 < size < 512:  # SQLite would take it for empty and write over it
            raise broken(path, "is no database")
        if size:
            return False
    except FileNotFoundError:
        pass
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror}).") from error
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        raise broken(path, "is empty or gone while its write-ahead log is still there")
    if path.exists() and lock.was_made():
        raise broken(path, "is empty: its content was cut off")
    return True


def _upgrade(path: Path, lock: UseLock, migrations: Sequence[Migration], vfs: str | None) -> None:
    if _is_new(path, lock):  # asked again: another process may have been first
        _create(path)
        version = 0
    else:
        version = look(path, migrations[-1].version, vfs=vfs)
    wanted = [migration for migration in migrations if migration.version > version]
    try:
        connection = Connection(path, vfs=vfs)
        try:
            if version and wanted:
                _copy(connection, path, wanted[-1].version)
            if connection.value("PRAGMA journal_mode = WAL") != "wal":
                raise StoreError(
                    f"{path} lies on a file system that cannot hold a write-ahead log.",
                    hint="Set NUNCIUS_HOME to a folder on a local disk.",
                )
            connection.run("PRAGMA synchronous = FULL")
            for migration in wanted:
                _step(connection, migration)
        finally:
            connection.close()
    except apsw.Error as error:
        raise explain(error, path) from error


def _create(path: Path) -> None:
    """Make the empty file first: SQLite gives its log the same mode."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreError(
            f"The database {path} cannot be made ({error.strerror}).",
            hint="Check the permissions and the space there, or choose another NUNCIUS_HOME.",
        ) from error


def _step(connection: Connection, migration: Migration) -> None:
    connection.run("BEGIN IMMEDIATE")
    try:
        connection.run(migration.script)
        if connection.value("PRAGMA user_version") != migration.version:
            raise StoreError(f"Migration {migration.version} does not set its version.")
        connection.run("COMMIT")
    finally:
        if connection.in_transaction:
            connection.run("ROLLBACK")


def _copy(connection: Connection, path: Path, version: int) -> None:
    for leftover in path.parent.glob(f"{path.name}.before-*.partial"):
        leftover.unlink()  # of an upgrade that was cut off
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    target = path.with_name(f"{path.name}.before-{version:04}-{stamp}")
    count = 1
    while target.exists():  # a start in the same second was cut off
        count += 1
        target = target.with_name(f"{path.name}.before-{version:04}-{stamp}-{count}")
    copy_database(connection, target)
