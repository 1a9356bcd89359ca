"""The archive attacks of ../shared, and archives of our own, through the one unpacking."""

import contextlib
import gzip
import importlib.util
import io
import json
import random
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuncius.core.errors import DocumentError
from nuncius.walls.archives import is_archive, unpack

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "data" / "attacks"
_TYPES = {
    "symlink": tarfile.SYMTYPE,
    "hardlink": tarfile.LNKTYPE,
    "fifo": tarfile.FIFOTYPE,
    "chr": tarfile.CHRTYPE,
}


def _load() -> list[dict[str, Any]]:
    if not CORPUS.is_dir():
        return []
    spec = importlib.util.spec_from_file_location("expand", CORPUS / "expand.py")
    assert spec
    assert spec.loader
    expand = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(expand)
    lines = (CORPUS / "archives.jsonl").read_text(encoding="utf-8").splitlines()
    return [expand.ex(json.loads(line)) for line in lines]


CASES = _load()


def _tar(entries: list[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for entry in entries:
            for number in range(min(entry.get("repeat", 1), 6000)):  # beyond the limit is enough
                info = tarfile.TarInfo(entry["name"].replace("{i}", str(number)))
                info.size = entry.get("size", 0)
                info.mode = int(entry.get("mode", "644"), 8)
                info.uid = entry.get("uid", 0)
                info.type = _TYPES.get(entry.get("type", ""), tarfile.REGTYPE)
                info.linkname = entry.get("target", "")
                body = _nested("tar", entry["nested"]) if "nested" in entry else b"x" * info.size
                info.size = len(body)
                tar.addfile(info, io.BytesIO(body) if info.isreg() else None)
    return out.getvalue()


def _zip(entries: list[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in entries:
            for number in range(min(entry.get("repeat", 1), 6000)):  # beyond the limit is enough
                info = zipfile.ZipInfo("x")
                info.filename = info.orig_filename = entry["name"].replace("{i}", str(number))
                body = b"x" * entry.get("size", 0)
                if entry.get("type") == "symlink":
                    info.external_attr = 0o120777 << 16
                    body = entry["target"].encode()
                if "nested" in entry:
                    body = _nested("zip", entry["nested"])
                archive.writestr(info, body)
    return out.getvalue()


def _nested(kind: str, depth: int) -> bytes:
    inner = {"name": "main.tex", "size": 10} if depth == 0 else {"name": "in", "nested": depth - 1}
    return _tar([inner]) if kind == "tar" else _zip([inner])


def _zeros(packed_like: int) -> tuple[bytes, int]:
    """Return raw deflated zeros without their end, `packed_like` bytes or more; and their number."""
    piece = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = 16 * 1024 * 1024
    one = piece.compress(bytes(block)) + piece.flush(zlib.Z_FULL_FLUSH)
    times = -(-packed_like // len(one))
    return one * times, block * times


def _gz_bomb(packed: int, start: bytes = b"") -> bytes:
    first = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    head = first.compress(start) + first.flush(zlib.Z_FULL_FLUSH)
    body, _ = _zeros(packed)
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + head + body + b"\x03\x00" + bytes(8)


def _zip_bomb(packed: int) -> bytes:
    body, size = _zeros(packed)
    body += b"\x03\x00"
    return _hand_zip(b"z", body, size=size % 2**32, method=8)


def _hand_zip(name: bytes, body: bytes, *, size: int, method: int = 0) -> bytes:
    common = struct.pack("<HHHHHIII", 20, 0, method, 0, 0, 0, len(body), size) + struct.pack(
        "<HH", len(name), 0
    )
    local = b"PK\x03\x04" + common + name + body
    central = b"PK\x01\x02" + struct.pack("<H", 20) + common + bytes(14) + name
    end = struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    return local + central + b"PK\x05\x06" + end


def _overlapping() -> bytes:
    """Two entries of the central directory that share one local header and its bytes."""
    whole = bytearray(_zip([{"name": "a", "size": 5000}]))
    at = whole.index(b"PK\x01\x02")
    end = whole.index(b"PK\x05\x06")
    twin = bytes(whole[at:end]).replace(b"a", b"b")
    body = whole[:end] + twin
    tail = struct.pack("<HHHHIIH", 0, 0, 2, 2, len(body) - at, at, 0)
    return bytes(body) + b"PK\x05\x06" + tail


def _build(case: dict[str, Any]) -> bytes:
    entries: list[dict[str, Any]] = case["entries"]
    first = entries[0]
    match case["id"]:
        case "gz-single":
            return gzip.compress(b"x" * 1000)
        case "gz-bomb":
            return _gz_bomb(first["packed"] // 10)
        case "tar-bomb":
            header = tarfile.TarInfo("z")
            header.size = first["size"]
            return _gz_bomb(first["packed"], header.tobuf())
        case "zip-bomb":
            return _zip_bomb(first["packed"])
        case "tar-pathmax":
            links = [
                {"name": f"{'d' * 200}{n}", "type": "symlink", "target": "."} for n in range(20)
            ]
            return _tar(links)
        case "tar-sparse":
            sparse = tarfile.TarInfo("s")
            sparse.type = tarfile.GNUTYPE_SPARSE
            sparse.size = 0
            return sparse.tobuf(tarfile.GNU_FORMAT) + bytes(1024)
        case "zip-overlap":
            return _overlapping()
        case "zip-crc":
            whole = bytearray(_hand_zip(b"a", b"0123456789", size=10))
            return bytes(whole)  # its sum is noted as 0
        case "zip-enc":
            whole = bytearray(_zip([{"name": "a", "size": 10}]))
            whole[6] |= 1
            whole[whole.index(b"PK\x01\x02") + 8] |= 1
            return bytes(whole)
        case _:
            return _tar(entries) if case["kind"] == "tar" else _zip(entries)


@pytest.mark.skipif(not CASES, reason="no ../shared/data: real input is not part of the project")
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_archive_attack(case: dict[str, Any], *, packed: bool) -> None:
    data = _build(case)
    if packed and case["kind"] == "tar" and not data.startswith(b"\x1f\x8b"):
        data = gzip.compress(data, 1)
    if "reject" in case["expected"]:
        with pytest.raises(DocumentError, match="not unpacked") as refused:
            unpack(data)
        assert refused.value.hint
    else:
        assert set(unpack(data)) == {entry["name"] for entry in case["entries"]}


_REFUSED: dict[str, tuple[str, Callable[[], bytes]]] = {
    "climbs in the middle": ("leads out", lambda: _tar([{"name": "a/b/../../../x", "size": 1}])),
    "is absolute": ("leads out", lambda: _tar([{"name": "/tmp/x", "size": 1}])),
    "is somebody's home": ("leads out", lambda: _zip([{"name": "~root/x", "size": 1}])),
    "is a drive": ("leads out", lambda: _zip([{"name": "d:x", "size": 1}])),
    "has a backslash": ("backslash", lambda: _zip([{"name": "a\\..\\x", "size": 1}])),
    "has a NUL": ("NUL", lambda: _tar([{"name": "a\0b", "size": 1}])),
    "has control characters": ("control", lambda: _zip([{"name": "a\x1b[2J", "size": 1}])),
    "is a link out": ("symbolic link", lambda: _tar([{"name": "l", "type": "symlink", "target": "/etc"}])),
    "is a link in a zip": ("is a link", lambda: _zip([{"name": "l", "type": "symlink", "target": "x"}])),
    "is a hard link": ("hard link", lambda: _tar([{"name": "l", "type": "hardlink", "target": "x"}])),
    "is a pipe": ("pipe", lambda: _tar([{"name": "p", "type": "fifo"}])),
    "is a device": ("device", lambda: _tar([{"name": "d", "type": "chr"}])),
    "comes twice": ("twice", lambda: _zip([{"name": "a", "size": 1}, {"name": "./a", "size": 1}])),
    "is too deep": ("deep", lambda: _zip([{"name": "d/" * 33 + "x", "size": 1}])),
    "is too long": ("too long", lambda: _tar([{"name": "n" * 300, "size": 1}])),
    "is one of too many": ("entries", lambda: _tar([{"name": "f{i}", "repeat": 5001}])),
    "overlaps": ("overlap", _overlapping),
    "has a wrong sum": ("cannot be unpacked", lambda: _hand_zip(b"a", b"0123456789", size=10)),
    "is a gzip bomb": ("times its size", lambda: _gz_bomb(200_000)),
    "is a zip bomb": ("times its size", lambda: _zip_bomb(200_000)),
    "is nothing": ("no file", lambda: _tar([{"name": "empty/"}])),
    "is no archive": ("no tar, gzip or zip", lambda: b"plain text"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", _REFUSED)
def test_a_member_that_is_refused(name: str) -> None:
    words, make = _REFUSED[name]
    with pytest.raises(DocumentError, match=words):
        unpack(make())


def test_sources_come_out_whole() -> None:
    body = random.Random(3).randbytes(700_000)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=tarfile.PAX_FORMAT) as tar:
        for name in ("./main.tex", "fig/" + "n" * 150 + ".png", "./übersicht.tex"):
            info = tarfile.TarInfo(name)
            info.size = len(body)
            tar.addfile(info, io.BytesIO(body))
    files = unpack(out.getvalue())
    assert list(files) == ["main.tex", "fig/" + "n" * 150 + ".png", "übersicht.tex"]
    assert set(files.values()) == {body}


def test_several_gzip_members_and_padding_are_one_file() -> None:
    assert unpack(gzip.compress(b"one ") + gzip.compress(b"two") + bytes(512)) == {
        "main.tex": b"one two"
    }


def test_a_packed_pdf_is_named_as_one() -> None:
    assert list(unpack(gzip.compress(b"%PDF-1.5 ..."))) == ["main.pdf"]


@pytest.mark.parametrize("keep", [15, 200, 600, 1100])
def test_a_cut_archive_is_refused(keep: int) -> None:
    whole = gzip.compress(_tar([{"name": "a.tex", "size": 900}]), 0)
    with pytest.raises(DocumentError) as caught:
        unpack(whole[:keep])
    assert caught.value.kind in {"truncated", "damaged"}


def test_a_folder_and_a_file_of_one_name_are_refused() -> None:
    with pytest.raises(DocumentError, match="both a file and a folder"):
        unpack(_tar([{"name": "a", "size": 1}, {"name": "a/b", "size": 1}]))


def test_the_limit_counts_all_members() -> None:
    data = _tar([{"name": f"f{n}", "size": 3000} for n in range(4)])
    with pytest.raises(DocumentError) as caught:
        unpack(gzip.compress(data), max_total=10_000)
    assert caught.value.kind == "too_large"


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_damage_ends_in_files_or_a_refusal(data: st.DataObject) -> None:
    whole = bytearray(data.draw(st.sampled_from((_SMALL_TAR, _SMALL_ZIP, _SMALL_GZ))))
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(whole[: data.draw(st.integers(0, len(whole)))])
    assert isinstance(is_archive(cut), bool)
    with contextlib.suppress(DocumentError):
        assert all(".." not in name.split("/") and name[0] != "/" for name in unpack(cut))


_SMALL_TAR = _tar([{"name": "main.tex", "size": 100}, {"name": "fig/a.png", "size": 60}])
_SMALL_ZIP = _zip([{"name": "main.tex", "size": 100}, {"name": "fig/a.png", "size": 60}])
_SMALL_GZ = gzip.compress(_SMALL_TAR)
