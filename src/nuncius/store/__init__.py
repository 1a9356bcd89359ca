"""What is kept on disk; the only floor with SQL. Other floors see `store.protocols` alone."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nuncius.store.sqlite import SqliteStore

__all__ = ["open_store", "restore_database"]


async def open_store(
    settings_home: Path, database_path: Path, *, readonly: bool = False
) -> "SqliteStore":
    """Open the database, making it on first use; see `nuncius.store.sqlite.SqliteStore`.

    Args:
        settings_home: The data directory: leases live in ``leases/`` under it.
        database_path: The SQLite file.
        readonly: Write nothing, and read what there is even on a read-only disk.

    Raises:
        DatabaseBrokenError: The file is damaged, foreign or newer than this version.
        DatabaseBusyError: An upgrade or a restore kept it locked for too long.
        StoreError: It cannot be opened or written there; the message says why.
    """
    from nuncius.store.sqlite import SqliteStore  # drivers and asyncio only when used

    return await SqliteStore.open(settings_home, database_path, readonly=readonly)


def restore_database(source: Path, target: Path) -> Path | None:
    """Put a backup in the place of the database; see `nuncius.store.restore.restore_database`."""
    from nuncius.store.restore import restore_database as restore

    return restore(source, target)
