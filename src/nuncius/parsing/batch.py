"""``python -m nuncius.parsing.batch``: files in on stdin, a line of JSON out for each, in order.

Each file is one line ``{"name": ..., "size": ...}`` and then its bytes. One process serves many
files, since starting one costs as much as parsing ten pages; if a file brings it down, the lines
written so far stand, and the next file in order is the culprit.
"""

import json
import sys
from collections.abc import Iterable
from typing import BinaryIO

from nuncius.core.errors import DocumentError
from nuncius.parsing import parse, wire


def pack(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return what stdin takes for these (name, bytes)."""
    return b"".join(
        json.dumps({"name": name, "size": len(data)}).encode() + b"\n" + data
        for name, data in files
    )


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Parse one file after the other until `source` ends."""
    while header := source.readline():
        head = json.loads(header)
        data = source.read(head["size"])
        try:
            answer = wire.dump(parse(data, name=head["name"]))
        except DocumentError as error:
            answer = wire.dump_error(error)
        sink.write(answer + b"\n")
        sink.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
