"""Unpack compressed answers piece by piece, so that a small answer cannot fill the memory."""

import zlib
from collections.abc import Iterator

PIECE_BYTES = 64 * 1024
ACCEPTED = "gzip, deflate"


class Unpacker:
    """Unpack one answer's body.

    Args:
        encoding: The Content-Encoding header.

    Raises:
        ValueError: The encoding was not asked for, or the bytes are not what it says.
    """

    def __init__(self, encoding: str) -> None:
        names = [name for part in encoding.split(",") if (name := part.strip().lower())]
        names = [name for name in names if name != "identity"]
        if len(names) > 1 or not set(names) <= {"gzip", "x-gzip", "deflate"}:
            raise ValueError(f"it is packed as {encoding!r}, which was not asked for")
        self._packed = bool(names)
        self._started = False
        # 32: either a gzip or a zlib header.
        self._stream = zlib.decompressobj(32 + zlib.MAX_WBITS)

    def feed(self, packed: bytes) -> Iterator[bytes]:
        """Yield what `packed` holds, in pieces of at most `PIECE_BYTES`."""
        if not self._packed:
            yield packed
            return
        while packed:
            if self._stream.eof:  # a further member, as concatenated gzip files have
                self._stream = zlib.decompressobj(32 + zlib.MAX_WBITS)
                self._started = False
            piece = self._decompress(packed)
            if piece:
                yield piece
            packed = self._stream.unconsumed_tail or self._stream.unused_data

    def _decompress(self, packed: bytes) -> bytes:
        try:
            piece = self._stream.decompress(packed, PIECE_BYTES)
        except zlib.error as error:
            if self._started:
                raise ValueError(f"it cannot be unpacked ({error})") from error
            # Some servers send deflate without its header.
            self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
            try:
                piece = self._stream.decompress(packed, PIECE_BYTES)
            except zlib.error:
                raise ValueError(f"it cannot be unpacked ({error})") from error
        self._started = True
        return piece

    def end(self) -> None:
        """Check that the answer was whole."""
        if self._packed and self._started and not self._stream.eof:
            raise ValueError("it ended before its packed data did")
