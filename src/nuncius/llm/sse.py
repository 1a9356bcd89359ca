"""Server-sent events as language-model servers really send them: bytes in, payloads out. Pure.

Comments, leading spaces, missing blank lines, any line end, bytes that are no UTF-8 (replaced), and
bare JSON lines are all taken. A line longer than the bound ends the stream.
"""

import codecs
import json
from collections.abc import Iterator

LINE_CHARACTERS = 4_000_000
DONE = "[DONE]"


class LineTooLongError(ValueError):
    """A line is longer than any honest server sends."""


class SseReader:
    """Cuts a stream of bytes into payloads, whatever the sizes of its pieces."""

    def __init__(self, *, line_characters: int = LINE_CHARACTERS) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._limit = line_characters
        self._line: list[str] = []
        self._line_size = 0
        self._after_return = False
        self._data: list[str] = []
        self._data_size = 0
        self._event = ""

    def feed(self, data: bytes) -> Iterator[tuple[str, str]]:
        """Yield (event name, payload) for each payload that is complete.

        Raises:
            LineTooLongError: A line grew over the bound.
        """
        yield from self._take(self._decoder.decode(data))

    def close(self) -> Iterator[tuple[str, str]]:
        """Yield what the end of the stream completes."""
        yield from self._take(self._decoder.decode(b"", final=True))
        if self._line:
            yield from self._line_ended()
        yield from self._dispatch()

    def _take(self, text: str) -> Iterator[tuple[str, str]]:
        if self._after_return and text.startswith("\n"):
            text = text[1:]
        if text:
            self._after_return = text.endswith("\r")
        pieces = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for index, piece in enumerate(pieces):
            if index:
                yield from self._line_ended()
            self._line.append(piece)
            self._line_size += len(piece)
            if self._line_size > self._limit:
                raise LineTooLongError(f"a line has more than {self._limit:,} characters")

    def _line_ended(self) -> Iterator[tuple[str, str]]:
        line = "".join(self._line).lstrip(" \t\ufeff").rstrip()
        self._line, self._line_size = [], 0
        if not line:
            yield from self._dispatch()
        elif line[0] in "{[<":
            yield from self._add(line)  # not an SSE field: bare JSON, NDJSON or an error page
        elif not line.startswith(":"):
            field, _, value = line.partition(":")
            if field == "event":
                yield from self._dispatch()
                self._event = value.strip()
            elif field == "data":
                yield from self._add(value.strip())

    def _add(self, value: str) -> Iterator[tuple[str, str]]:
        """Take one line of data; a line that is whole by itself needs no blank line after it."""
        if not self._data and _is_whole(value):
            yield self._event, value
            return
        self._data.append(value)
        self._data_size += len(value)
        if self._data_size > self._limit:
            raise LineTooLongError(f"an event has more than {self._limit:,} characters")
        if value.endswith("}") and _is_whole(joined := "\n".join(self._data)):
            self._data, self._data_size = [], 0
            yield self._event, joined

    def _dispatch(self) -> Iterator[tuple[str, str]]:
        data, self._data, self._data_size = "\n".join(self._data), [], 0
        event, self._event = self._event, ""
        if data:
            yield event, data


def _is_whole(text: str) -> bool:
    if text == DONE:
        return True
    if not text.startswith("{"):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
