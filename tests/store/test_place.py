"""Where a database may live."""

import os
from pathlib import Path

import pytest

from nuncius.core.errors import StoreError
from nuncius.store import open_store, place
from nuncius.store.place import file_system_of, refuse_network_file_system

_MOUNTS = r"""sysfs /sys sysfs rw,nosuid 0 0
/dev/vda1 / ext4 rw,relatime 0 0
tmpfs /tmp tmpfs rw 0 0
server:/export /home nfs4 rw,vers=4.2 0 0
/dev/vdb /home/me/local xfs rw 0 0
//nas/share /mnt/my\040nas cifs rw 0 0
me@host:/ /mnt/ssh fuse.sshfs rw 0 0
/dev/sdb1 /mnt/stick fuseblk rw 0 0
C:\134 /mnt/c 9p rw,aname=drvfs;path=C:\,trans=fd 0 0
none /sandbox 9p rw,trans=fd,rfdno=4 0 0
hostshare /mnt/tcp 9p rw,trans=tcp,port=564 0 0
data /scratch lustre rw 0 0
/dev/vdc /scratch ext4 rw 0 0
broken line
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/other/.local/share/nuncius/nuncius.db", "nfs4"),
        ("/home", "nfs4"),
        ("/homework/nuncius.db", ""),
        ("/home/me/local/nuncius.db", ""),
        ("/home/me/locality/nuncius.db", "nfs4"),
        ("/mnt/my nas/x/nuncius.db", "cifs"),
        ("/mnt/ssh/nuncius.db", "fuse.sshfs"),
        ("/mnt/stick/nuncius.db", ""),
        ("/mnt/c/Users/me/nuncius.db", "9p"),
        ("/sandbox/home/nuncius.db", ""),
        ("/mnt/tcp/nuncius.db", "9p"),
        ("/scratch/nuncius.db", ""),
        ("/var/lib/nuncius.db", ""),
    ],
)
def test_the_innermost_mount_decides(path: str, kind: str) -> None:
    assert file_system_of(Path(path), _MOUNTS)[1] == kind


def test_a_network_file_system_is_refused_with_its_place_and_type() -> None:
    with pytest.raises(StoreError, match=r"nfs4 at /home.*local disk"):
        refuse_network_file_system(Path("/home/me/nuncius.db"), _MOUNTS)
    refuse_network_file_system(Path("/var/nuncius.db"), _MOUNTS)
    refuse_network_file_system(Path("/home/me/nuncius.db"), "")


async def test_opening_asks_the_mount_table(
    home: Path, database_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "mount_table", lambda: f"server:/x {home.parent} nfs rw 0 0\n")
    with pytest.raises(StoreError, match="network file system"):
        await open_store(home, database_path)
    monkeypatch.undo()
    store = await open_store(home, database_path)  # nothing was left there
    await store.close()


@pytest.mark.parametrize("name", ["folder", "pipe", "latin-\udce9"])
async def test_what_cannot_be_a_database_is_refused_untouched(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    before = sorted(entry.name for entry in tmp_path.iterdir())
    with pytest.raises(StoreError, match=r"no file|not UTF-8") as caught:
        await open_store(tmp_path, tmp_path / name)
    assert caught.value.hint
    assert sorted(entry.name for entry in tmp_path.iterdir()) == before
