"""Bytes of a file to text and back, without losing or changing one byte."""

import codecs
import re
from dataclasses import dataclass

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with the shorter one
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LEGACY = (
    "gb18030",
    "big5",
    "shift_jis",
    "euc_jp",
    "euc_kr",
    "cp1252",
    "latin_1",
    "cp1251",
    "koi8_r",
)
_MAGIC = (
    (b"%PDF-", "PDF"),
    (b"SIMPLE  =", "FITS"),
    (b"\x89PNG", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"PK\x03\x04", "ZIP archive or office document"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x89HDF", "HDF5"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"\x7fELF", "program"),
    (b"%!PS", "PostScript"),
    (b"\x93NUMPY", "NumPy array"),
)
_PROBE_BYTES = 8192
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_HIGH = re.compile(rb"[\x80-\xff]+")
_GB_COMMON = frozenset((*range(0xA1, 0xA4), *range(0xB0, 0xD8)))
"""Lead bytes of Chinese punctuation and of the 3,755 most common characters."""
_ENDINGS = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a file and all that is needed to write it again in the same form."""

    text: str
    encoding: str
    bom: bytes = b""

    def encode(self, text: str) -> bytes:
        """Return `text` in the file's form.

        Raises:
            UnicodeEncodeError: The file's encoding has no such character.
        """
        return self.bom + text.encode(self.encoding)

    def keeps(self, content: bytes) -> bool:
        """Tell whether writing the text again would give exactly `content`."""
        return self.encode(self.text) == content


def binary_type(content: bytes) -> str:
    """Return what kind of binary file this is, or an empty string for text."""
    for magic, kind in _MAGIC:
        if content.startswith(magic):
            return kind
    head = content[:_PROBE_BYTES]
    if b"\0" in head and _marked(content) is None and _unmarked_utf16(content) is None:
        return "binary"
    return ""


def decode(content: bytes) -> Text:
    """Read text in UTF-8, UTF-16, UTF-32 or the legacy encoding that fits best.

    Always succeeds: Latin-1 takes what nothing else explains, and gives every byte back.
    """
    marked = _marked(content)
    if marked is not None:
        return marked
    wide = _unmarked_utf16(content)  # before UTF-8, in which Latin text with zeros is valid too
    return wide or _as("utf-8", content) or _legacy(content)


def _marked(content: bytes) -> Text | None:
    for bom, encoding in _BOMS:
        if content.startswith(bom):
            try:
                return Text(content[len(bom) :].decode(encoding), encoding, bom)
            except UnicodeDecodeError:
                continue
    return None


def _unmarked_utf16(content: bytes) -> Text | None:
    """Read UTF-16 without a mark, where it is plain: every second byte zero, text all through."""
    head = content[:_PROBE_BYTES]
    if len(content) % 2 or b"\0" not in head:
        return None
    for encoding, zeros in (("utf-16-le", head[1::2]), ("utf-16-be", head[0::2])):
        if zeros.count(0) * 2 > len(zeros):
            try:
                text = content.decode(encoding)
            except UnicodeDecodeError:
                continue
            plain = sum(" " <= char <= "~" or char in "\t\r\n" for char in text)
            if plain * 2 > len(text) and not _CONTROLS.search(text):
                return Text(text, encoding)
    return None


def _legacy(content: bytes) -> Text:
    """Choose among encodings from before Unicode, by the shape of what is not ASCII.

    In Western text such bytes stand alone between letters; in Chinese they come in pairs that
    mean common characters. What is neither goes to charset-normalizer, which needs long texts.
    """
    runs = _HIGH.findall(content)
    if sum(len(run) == 1 for run in runs) * 2 > len(runs):
        return _as("cp1252", content) or Text(content.decode("latin-1"), "latin-1")
    pairs = [run[at : at + 2] for run in runs for at in range(0, len(run), 2)]
    common = sum(len(pair) == 2 and pair[0] in _GB_COMMON for pair in pairs)
    chinese = _as("gb18030", content) if common * 10 > len(pairs) * 9 else None
    if chinese is not None:
        return chinese
    from charset_normalizer import from_bytes

    best = from_bytes(content, cp_isolation=list(_LEGACY)).best()
    guessed = _as(best.encoding, content) if best is not None else None
    return guessed or Text(content.decode("latin-1"), "latin-1")


def _as(encoding: str, content: bytes) -> Text | None:
    """Decode as `encoding` where that loses nothing."""
    try:
        found = Text(content.decode(encoding), encoding)
        return found if found.keeps(content) else None
    except UnicodeError:
        return None


def lines(text: str) -> list[str]:
    """Return the lines without their endings; a last ending begins no further line."""
    found = _ENDINGS.split(text)
    if found and not found[-1]:
        found.pop()
    return found


def has_surrogates(text: str) -> bool:
    """Tell whether `text` holds half a character, which no file can."""
    return any("\ud800" <= char <= "\udfff" for char in text)
