"""A disk that can fill up, refuse to write, and lose its power: an SQLite VFS."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw


class Disk(apsw.VFS):
    """Passes everything on to the real disk, and fails where it is told to.

    Attributes:
        write_error: Raised by every write while set.
        synced: What each file held when it was synced last.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.write_error: Callable[[], Exception] | None = None
        self.synced: dict[str, bytes] = {}
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: list[int]) -> "DiskFile":  # noqa: N802
        return DiskFile(self, name, flags)

    def survivors(self, folder: Path) -> None:
        """Write into `folder` what a power cut leaves: of each file what was synced last."""
        folder.mkdir()
        for name, content in self.synced.items():
            (folder / Path(name).name).write_bytes(content)


class DiskFile(apsw.VFSFile):
    """One file of a `Disk`."""

    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        self._path = name.filename() if hasattr(name, "filename") else str(name)
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        if self._disk.write_error:
            raise self._disk.write_error()
        super().xWrite(data, offset)  # pyright: ignore[reportUnknownMemberType]

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        if self._path:
            with Path(self._path).open("rb") as file:
                self._disk.synced[self._path] = file.read()
