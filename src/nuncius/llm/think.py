"""Splits reasoning in ``<think>`` tags from content, though the tags come in pieces. Pure."""

_OPEN = ("<think>", "<thinking>")
_CLOSE = {"<think>": "</think>", "<thinking>": "</thinking>"}


class ThinkSplitter:
    """Cuts streamed content into reasoning and text.

    A tag opens reasoning only where no text stands before it, so an answer that speaks of the tag
    is left alone.
    """

    def __init__(self) -> None:
        self._held = ""
        self._close = ""
        self._at_start = True
        self.opened = False
        """Whether an opening tag was seen."""

    def feed(self, text: str) -> list[tuple[bool, str]]:
        """Return (is reasoning, text) pieces; an unfinished tag is held back."""
        self._held += text
        pieces: list[tuple[bool, str]] = []
        while self._held and (piece := self._next()) is not None:
            pieces.append(piece)
        return pieces

    def close(self) -> list[tuple[bool, str]]:
        """Return what was held back, at the end of the stream."""
        held, self._held = self._held, ""
        return [(bool(self._close), held)] if held else []

    def _next(self) -> tuple[bool, str] | None:
        if self._close:
            return self._inside()
        if self._at_start:
            return self._before()
        held, self._held = self._held, ""
        return False, held

    def _inside(self) -> tuple[bool, str] | None:
        thought, tag, rest = self._held.partition(self._close)
        if tag:
            self._held, self._close, self._at_start = rest, "", True
            return True, thought
        keep = _overlap(self._held, self._close)
        thought = self._held[: len(self._held) - keep]
        self._held = self._held[len(thought) :]
        return (True, thought) if thought else None

    def _before(self) -> tuple[bool, str] | None:
        body = self._held.lstrip()
        for tag in _OPEN:
            if body.startswith(tag):
                self._held, self._close, self.opened = body[len(tag) :], _CLOSE[tag], True
                return True, ""
        if any(tag.startswith(body) for tag in _OPEN):
            return None  # white space, or the beginning of a tag
        self._at_start = False
        held, self._held = self._held, ""
        return False, held.lstrip() if self.opened else held


def _overlap(text: str, tag: str) -> int:
    """Return how many characters at the end of `text` may begin `tag`."""
    for size in range(min(len(tag) - 1, len(text)), 0, -1):
        if text.endswith(tag[:size]):
            return size
    return 0
