"""Copies of a database, checked before they get their name."""

import os
from pathlib import Path

import apsw

from nuncius.core.errors import DatabaseBrokenError, StoreError
from nuncius.store.connection import Connection
from nuncius.store.faults import backup_list, explain
from nuncius.store.place import refuse_what_is_no_file


def copy_database(connection: Connection, target: Path) -> None:
    """Write all that `connection` sees into a new file, checked before it gets its name.

    Raises:
        StoreError: `target` exists, cannot be written, or the copy is not sound.
    """
    if target.exists() or target.is_symlink():
        raise StoreError(
            f"{target} exists already; a backup never writes over a file.",
            hint="Choose another name.",
        )
    refuse_what_is_no_file(target)
    if not target.parent.is_dir():
        raise StoreError(f"There is no folder {target.parent}.", hint="Make it first.")
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    try:
        connection.run("VACUUM INTO ?", (str(partial),))
        partial.chmod(0o600)
        be_sound(partial)
        sync(partial)
        give_name(partial, target)
    except apsw.CorruptError:
        raise  # the database itself is damaged, not the copy
    except apsw.Error as error:
        raise explain(error, target) from error
    except OSError as error:
        raise StoreError(f"The copy {target} cannot be written ({error.strerror}).") from error
    finally:
        partial.unlink(missing_ok=True)
    sync(target.parent)


def note_backup(database: Path, target: Path) -> None:
    """Remember where a backup is, so that it can be offered when the database is damaged."""
    with backup_list(database).open("a", encoding="utf-8", errors="replace") as file:
        file.write(f"{target.absolute()}\n")


def be_sound(path: Path) -> None:
    """Raise DatabaseBrokenError unless the whole file at `path`, which nobody uses, is sound."""
    connection = Connection(path, readonly=True, immutable=True)
    try:
        report(connection, path)
    finally:
        connection.close()


def report(connection: Connection, path: Path) -> None:
    """Raise DatabaseBrokenError unless every page behind `connection` is sound."""
    found = [str(row[0]) for row in connection.rows("PRAGMA integrity_check(3)")]
    if found != ["ok"]:
        raise DatabaseBrokenError(f"{path} is damaged ({'; '.join(found)}).")


def give_name(path: Path, name: Path) -> None:
    """Let `path` also be called `name`, never over a file that has the name."""
    try:
        os.link(path, name)
    except FileExistsError:
        raise StoreError(f"{name} exists already.", hint="Choose another name.") from None
    except OSError:  # a file system without hard links, such as a memory stick
        path.replace(name)


def sync(path: Path) -> None:
    """Make a file, or the names in a folder, survive a power cut."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
