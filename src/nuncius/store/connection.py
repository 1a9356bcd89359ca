"""One SQLite connection, with the settings that all of ours have; the driver stays behind it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import apsw

Values = Sequence[Any] | Mapping[str, Any]
Row = tuple[Any, ...]

BUSY_TIMEOUT_MS = 10_000
"""How long a lock of another process is waited for."""


class Connection:
    """A connection, typed for what we do with it.

    Args:
        path: The file.
        immutable: Nobody writes and no lock can be taken: a read-only disk.
        vfs: Name of an SQLite VFS, for tests of failing disks.
        defensive: Refuse to write to SQLite's own tables.
    """

    def __init__(
        self,
        path: Path,
        *,
        readonly: bool = False,
        immutable: bool = False,
        vfs: str | None = None,
        defensive: bool = True,
    ) -> None:
        name = str(path)
        flags = apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE
        if immutable:
            name = f"{path.absolute().as_uri()}?immutable=1"
            flags |= apsw.SQLITE_OPEN_URI
        # the driver's stubs leave bindings partly untyped
        self._raw = cast("Any", apsw.Connection(name, flags=flags, vfs=vfs))
        self._raw.set_busy_timeout(BUSY_TIMEOUT_MS)
        self._raw.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, int(defensive))
        self._raw.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
        self.run(
            "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cache_size = -16000;"
            "PRAGMA synchronous = NORMAL; PRAGMA fullfsync = ON;"
            "PRAGMA journal_size_limit = 33554432"
        )

    def run(self, sql: str, values: Values = ()) -> None:
        """Run statements that return nothing of interest."""
        self._raw.execute(sql, values).fetchall()

    def many(self, sql: str, rows: Iterable[Values]) -> None:
        """Run one statement for each row of values."""
        self._raw.executemany(sql, rows)

    def rows(self, sql: str, values: Values = ()) -> list[Row]:
        """Return all rows of a statement."""
        return self._raw.execute(sql, values).fetchall()

    def row(self, sql: str, values: Values = ()) -> Row | None:
        """Return the first row of a statement, or None."""
        for row in self._raw.execute(sql, values):
            return row
        return None

    def value(self, sql: str, values: Values = ()) -> Any:
        """Return the first column of the first row of a statement, or None."""
        row = self.row(sql, values)
        return row[0] if row else None

    def number(self, sql: str, values: Values = ()) -> int:
        """Return the first column of the first row as an integer; 0 where there is none."""
        return int(self.value(sql, values) or 0)

    @property
    def in_transaction(self) -> bool:
        """Tell whether a transaction is open."""
        return bool(self._raw.in_transaction)

    @property
    def changes(self) -> int:
        """Return how many rows the last statement inserted, changed or deleted."""
        return int(self._raw.changes())

    @property
    def last_rowid(self) -> int:
        """Return the id of the row inserted last."""
        return int(self._raw.last_insert_rowid())

    def stop_when(self, tired: Callable[[], bool] | None) -> None:
        """Interrupt statements once `tired` says so; None: never."""
        self._raw.set_progress_handler(tired, 1000)

    def close(self) -> None:
        """Close it; what is not committed is lost."""
        self._raw.close()
