"""``python -m nuncius.parsing.picture``: draw one page of an untrusted PDF in a process of its own.

Stdin is one line of JSON (page, quote, scale) and the PDF; stdout is one line of JSON (size, marks,
or the error) and the PNG.
"""

import json
import sys
from dataclasses import astuple
from typing import BinaryIO

from nuncius.core.errors import DocumentError, NotFoundError
from nuncius.parsing.marks import Box
from nuncius.parsing.render import RenderedPage, render_page


def ask(data: bytes, page: int, *, quote: str, scale: float) -> bytes:
    """Return what stdin takes."""
    return json.dumps({"page": page, "quote": quote, "scale": scale}).encode() + b"\n" + data


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer the one request on `source`."""
    head = json.loads(source.readline())
    try:
        drawn = render_page(source.read(), head["page"], quote=head["quote"], scale=head["scale"])
    except (DocumentError, NotFoundError) as error:
        sink.write(json.dumps({"error": error.message}).encode() + b"\n")
        return
    answer = {
        "width_px": drawn.width_px,
        "height_px": drawn.height_px,
        "marks": [astuple(box) for box in drawn.marks],
        "share": drawn.share,
    }
    sink.write(json.dumps(answer).encode() + b"\n" + drawn.png)


def read(answer: bytes) -> RenderedPage:
    """Read what `serve` wrote.

    Raises:
        DocumentError: The page could not be drawn, or the answer broke off.
    """
    line, _, png = answer.partition(b"\n")
    try:
        head = json.loads(line)
        if "error" not in head:
            marks = tuple(Box(*box) for box in head["marks"])
            return RenderedPage(png, head["width_px"], head["height_px"], marks, head["share"])
        said = str(head["error"])
    except (ValueError, KeyError, TypeError):
        said = "The page could not be drawn: the PDF made the program that draws it fail."
    raise DocumentError("damaged", said)


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
