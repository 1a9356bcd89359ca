"""Unpack a paper's sources in memory: tar, tar.gz, gz and zip, with every limit of a stranger's file.

Nothing is written and nothing is run: the outcome is names and bytes, without modes, owners and links.
The tar reader is our own, since the standard library's loops on crafted headers in some of the
Pythons that we run on and takes names and sparse sizes on trust.
"""

import io
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

from nuncius.core.errors import DocumentError, DocumentFault

MAX_TOTAL: Final = 256 * 1024 * 1024
"""Unpacked bytes of all members, which are held in memory; arXiv takes 50 MB packed."""
MAX_ENTRIES: Final = 5000
MAX_DEPTH: Final = 32
MAX_NAME_BYTES: Final = 1024
MAX_RATIO: Final = 250
"""Unpacked to packed bytes, beyond `_FREE`; text reaches 10, a blank figure 100."""
_FREE: Final = 8 * 1024 * 1024
_PIECE: Final = 256 * 1024
_BLOCK: Final = 512
_MAX_PAX: Final = 64 * 1024
_HINT: Final = "Fetch another format of the paper, such as its PDF."
_DRIVE = re.compile(r"[A-Za-z]:")
_PAX_SPARSE = ("GNU.sparse.", "SCHILY.realsize")
_REFUSED_TYPES: Final[Mapping[bytes, str]] = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a device",
    b"4": "a device",
    b"6": "a named pipe",
    b"S": "a sparse file",
}


def is_archive(data: bytes) -> bool:
    """Tell from its first 512 bytes whether `data` is a gzip file, a zip or a tar archive."""
    return data.startswith((b"\x1f\x8b", b"PK\x03\x04", b"PK\x05\x06")) or _is_tar(data)


def unpack(data: bytes, *, max_total: int = MAX_TOTAL) -> dict[str, bytes]:
    """Return the regular files of an archive by their relative name, in the archive's order.

    A gzip file that holds no tar is one file: ``main.tex``, or ``main.pdf`` where it is a PDF.
    Archives within it stay files.

    Raises:
        DocumentError: It is no archive, damaged or encrypted, too large, or a member is not one
            that a paper needs: a link, a device, a name that leads elsewhere. Nothing of it is kept.
    """
    budget = _Budget(len(data), max_total)
    if data.startswith(b"\x1f\x8b"):
        plain = _gunzip(data, budget)
        if not _is_tar(plain):
            return {"main.pdf" if plain[:1024].find(b"%PDF-") >= 0 else "main.tex": plain}
        return _collect(_tar_members(plain))
    if _is_tar(data):
        if len(data) > max_total:
            _refuse("too_large", f"it holds more than {max_total / 1e6:,.0f} MB")
        return _collect(_tar_members(data))
    if not data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        _refuse("unsupported", "it is no tar, gzip or zip file")
    return _collect(_zip_members(data, budget))


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    content: bytes | None
    """None: a directory."""


def _collect(members: Iterator[_Member]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    folders: set[str] = set()
    for count, member in enumerate(members, 1):
        if count > MAX_ENTRIES:
            _refuse("too_large", f"it has more than {MAX_ENTRIES:,} entries")
        parts = safe_parts(member.name)
        if member.content is None or not parts:
            continue
        name = "/".join(parts)
        if name in files:
            _refuse("damaged", f"the name {_shown(name)} comes twice")
        files[name] = member.content
        folders.update("/".join(parts[:depth]) for depth in range(1, len(parts)))
    if clash := folders & files.keys():
        _refuse("damaged", f"{_shown(min(clash))} is both a file and a folder")
    if not files:
        _refuse("empty", "it holds no file")
    return files


def safe_parts(name: str) -> list[str]:
    """Return the components of a member's name; ``.`` is left out.

    Raises:
        DocumentError: It is absolute, climbs, is someone's home or a drive, is too deep or long, or
            holds a backslash or control characters.
    """
    if any(char < " " or char in "\\\x7f" for char in name):
        _refuse("unsupported", f"the name {_shown(name)} holds a backslash or control characters")
    if name.startswith(("/", "~")) or _DRIVE.match(name):
        _refuse("unsupported", f"the name {_shown(name)} leads out of the archive")
    parts = [part for part in name.split("/") if part not in {"", "."}]
    if ".." in parts:
        _refuse("unsupported", f"the name {_shown(name)} leads out of the archive")
    if len(parts) > MAX_DEPTH:
        _refuse("unsupported", f"a name is more than {MAX_DEPTH} folders deep")
    sizes = [len(part.encode("utf-8", "surrogateescape")) for part in parts]
    if max(sizes, default=0) > 255 or sum(sizes) + len(sizes) > MAX_NAME_BYTES:
        _refuse("unsupported", "a name is too long")
    return parts


class _Budget:
    """What may still be unpacked, counted while it is."""

    def __init__(self, packed: int, total: int) -> None:
        self._packed = packed
        self._total = total
        self._spent = 0

    def spend(self, size: int) -> None:
        self._spent += size
        if self._spent > self._total:
            _refuse("too_large", f"it unpacks to more than {self._total / 1e6:,.0f} MB")
        if self._spent > _FREE and self._spent > self._packed * MAX_RATIO:
            _refuse("too_large", f"it unpacks to more than {MAX_RATIO} times its size")


# --- gzip ----------------------------------------------------------------------------------------


def _gunzip(data: bytes, budget: _Budget) -> bytes:
    out: list[bytes] = []
    at = 0
    try:
        while data.startswith(b"\x1f\x8b", at):  # padding after the last member is no member
            stream = zlib.decompressobj(16 + zlib.MAX_WBITS)
            while not stream.eof:
                packed = stream.unconsumed_tail
                if not packed:
                    packed, at = data[at : at + _PIECE], at + _PIECE
                    if not packed:
                        _refuse("truncated", "its packed data end too early")
                piece = stream.decompress(packed, _PIECE)
                budget.spend(len(piece))
                out.append(piece)
            at = min(at, len(data)) - len(stream.unused_data)
    except zlib.error as error:
        raise _refusal("damaged", f"it cannot be unpacked ({error})") from error
    return b"".join(out)


# --- tar -----------------------------------------------------------------------------------------


def _is_tar(data: bytes) -> bool:
    header = data[:_BLOCK]
    return len(header) == _BLOCK and header[0] != 0 and _checksum_holds(header)


def _checksum_holds(header: bytes) -> bool:
    noted = header[148:156].strip(b"\x00 ")
    if not noted or not re.fullmatch(rb"[0-7]+", noted):
        return False
    return int(noted, 8) == sum(header[:148]) + 8 * 0x20 + sum(header[156:])


def _tar_members(data: bytes) -> Iterator[_Member]:
    at = 0
    name, size = "", None  # told by an extended header for the entry after it
    while at < len(data):
        header = data[at : at + _BLOCK]
        if not header.strip(b"\x00"):
            return
        if len(header) < _BLOCK or not _checksum_holds(header):
            _refuse("damaged", "a header in it is broken or cut")
        kind = header[156:157]
        length = size if size is not None else _number(header[124:136])
        start = at + _BLOCK
        if kind in _REFUSED_TYPES:
            _refuse("unsupported", f"it holds {_REFUSED_TYPES[kind]}")
        if start + length > len(data):
            _refuse("truncated", "it ends within a file")
        at = start + -(-length // _BLOCK) * _BLOCK
        content = data[start : start + length]
        if kind == b"L":
            name = _name(content[:_MAX_PAX].rstrip(b"\x00"))
        elif kind == b"x":
            told = _pax(content)
            name, size = told.get("path", name), _told_size(told)
        elif kind in {b"g", b"K"}:
            if kind == b"g":
                _pax(content)  # refused where it makes files sparse
            continue
        elif kind in {b"0", b"\x00", b"7", b"5"}:
            name = name or _header_name(header)
            is_folder = kind == b"5" or name.endswith("/")
            yield _Member(name, None if is_folder else content)
            name, size = "", None
        else:
            _refuse("unsupported", f"it holds an entry of an unknown kind ({kind!r})")


def _number(field: bytes) -> int:
    if field[0] & 0x80:  # GNU: base 256
        return int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big")
    text = field.strip(b"\x00 ")
    if not re.fullmatch(rb"[0-7]*", text):
        _refuse("damaged", "a size in it is no number")
    return int(text or b"0", 8)


def _header_name(header: bytes) -> str:
    name = _field(header[:100])
    if header[257:263] == b"ustar\x00" and (prefix := _field(header[345:500])):
        return f"{prefix}/{name}"
    return name


def _field(raw: bytes) -> str:
    text, _, after = raw.partition(b"\x00")
    if after.strip(b"\x00"):
        _refuse("unsupported", "a name in it holds a NUL")
    return _name(text)


def _name(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _pax(content: bytes) -> dict[str, str]:
    if len(content) > _MAX_PAX:
        _refuse("too_large", "an extended header is too long")
    told: dict[str, str] = {}
    at = 0
    while at < len(content):
        digits = re.match(rb"(\d{1,6}) ", content[at : at + 8])
        length = int(digits[1]) if digits else 0
        record = content[at : at + length]
        if not digits or len(record) < length or not record.endswith(b"\n"):
            _refuse("damaged", "an extended header is broken")
        key, _, value = record[digits.end() : -1].partition(b"=")
        told[key.decode("latin-1")] = _name(value)
        at += length
    if any(key.startswith(_PAX_SPARSE) for key in told):
        _refuse("unsupported", "it holds a sparse file")
    return told


def _told_size(told: Mapping[str, str]) -> int | None:
    size = told.get("size")
    if size is None:
        return None
    if not re.fullmatch(r"\d{1,15}", size, re.ASCII):
        _refuse("damaged", "a size in it is no number")
    return int(size)


# --- zip -----------------------------------------------------------------------------------------


def _zip_members(data: bytes, budget: _Budget) -> Iterator[_Member]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > MAX_ENTRIES:
                _refuse("too_large", f"it has more than {MAX_ENTRIES:,} entries")
            _demand_apart(data, entries)
            for entry in entries:
                yield _zip_member(archive, entry, budget)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, struct.error) as error:
        raise _refusal("damaged", f"it cannot be unpacked ({error})") from error


def _zip_member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, budget: _Budget) -> _Member:
    name = entry.orig_filename  # `filename` is cut at a NUL
    mode = entry.external_attr >> 16
    if entry.flag_bits & 0x41:
        _refuse("encrypted", f"{_shown(name)} is encrypted")
    if stat.S_IFMT(mode) not in {0, stat.S_IFREG, stat.S_IFDIR}:
        _refuse("unsupported", f"{_shown(name)} is a link, a device or a pipe")
    safe_parts(name)
    if name.endswith("/"):
        return _Member(name, None)
    if entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        _refuse("unsupported", f"{_shown(name)} is packed in a way that is not read")
    pieces: list[bytes] = []
    with archive.open(entry) as file:
        while piece := file.read(_PIECE):  # the sum is checked at its end
            budget.spend(len(piece))
            pieces.append(piece)
    return _Member(name, b"".join(pieces))


def _demand_apart(data: bytes, entries: list[zipfile.ZipInfo]) -> None:
    """Refuse entries that share packed bytes, which is how small archives become endless."""
    end = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        at = entry.header_offset
        if at < end:
            _refuse("damaged", "entries in it overlap")
        names = data[at + 26 : at + 30]
        if data[at : at + 4] != b"PK\x03\x04" or len(names) < 4:
            _refuse("damaged", "an entry in it has no header")
        name_size, extra_size = struct.unpack("<HH", names)
        end = at + 30 + name_size + extra_size + entry.compress_size
    if end > len(data):
        _refuse("truncated", "it ends within a file")


# --- refusals --------------------------------------------------------------------------------------


def _shown(name: str) -> str:
    return ascii(name if len(name) <= 80 else f"{name[:77]}...")


def _refusal(kind: DocumentFault, why: str) -> DocumentError:
    return DocumentError(kind, f"The archive is not unpacked: {why}.", hint=_HINT)


def _refuse(kind: DocumentFault, why: str) -> NoReturn:
    raise _refusal(kind, why)


__all__ = ["MAX_DEPTH", "MAX_ENTRIES", "MAX_TOTAL", "is_archive", "safe_parts", "unpack"]
