"""Find the text that an edit means and replace it, without touching anything around it."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

Fuzz = Literal["exact", "line endings", "trailing white space"]


@dataclass(frozen=True, slots=True)
class Span:
    """One place of a match: offsets into the text as it is in the file."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Match:
    """All places of the first rung that matches at all; no place: nothing matched."""

    spans: tuple[Span, ...]
    fuzz: Fuzz = "exact"


def find(text: str, old: str) -> Match:
    """Look for `old`: exactly, then with any line endings, then ignoring trailing white space."""
    exact = tuple(Span(at, at + len(old)) for at in _occurrences(text, old))
    if exact:
        return Match(exact)
    unix = _Unix(text)
    wanted = old.replace("\r\n", "\n")
    loose = tuple(unix.span(at, at + len(wanted)) for at in _occurrences(unix.text, wanted))
    if loose:
        return Match(loose, "line endings")
    return Match(
        tuple(unix.span(start, end) for start, end in _trimmed(unix.text, wanted)),
        "trailing white space",
    )


def replaced(text: str, match: Match, old: str, new: str) -> str:
    """Put `new` in all places of `match`, changing only what differs between `old` and `new`.

    New line breaks take the form of the lines around them; text with a carriage return of its
    own is taken literally.
    """
    literal = match.fuzz == "exact" and ("\r" in old or "\r" in new)
    pieces: list[str] = []
    done = 0
    for span in match.spans:
        if span.start < done:
            continue  # overlaps the place before it
        here = text[span.start : span.end]
        if literal:
            piece = new
        elif match.fuzz == "trailing white space":
            piece = _spliced_lines(here, old, new, _ending(text, span))
        else:
            piece = _spliced(here, new.replace("\r\n", "\n"), _ending(text, span))
        pieces += (text[done : span.start], piece)
        done = span.end
    return "".join((*pieces, text[done:]))


def line_numbers(text: str, spans: Sequence[Span]) -> list[int]:
    """Return the 1-based line on which each place begins."""
    unix = text.replace("\r\n", " \n").replace("\r", "\n")  # same length: offsets stay
    return [unix.count("\n", 0, span.start) + 1 for span in spans]


class _Unix:
    """A text with LF endings, and the way back to offsets of the original."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n")
        # Where, in `self.text`, stand the line feeds that had a carriage return before them.
        self._dropped: list[int] = []
        at = text.find("\r\n")
        while at >= 0:
            self._dropped.append(at - len(self._dropped))
            at = text.find("\r\n", at + 2)

    def original(self, offset: int) -> int:
        return offset + bisect_left(self._dropped, offset)

    def span(self, start: int, end: int) -> Span:
        return Span(self.original(start), self.original(end))


def _occurrences(text: str, wanted: str) -> list[int]:
    """Return every start, overlapping ones too: `aa` stands twice in `aaa`."""
    found: list[int] = []
    at = text.find(wanted)
    while at >= 0:
        found.append(at)
        at = text.find(wanted, at + 1)
    return found


def _trimmed(text: str, wanted: str) -> list[tuple[int, int]]:
    """Return where whole lines equal the wanted ones but for white space at their ends."""
    closed = wanted.endswith("\n")
    sought = [line.rstrip() for line in (wanted[:-1] if closed else wanted).split("\n")]
    if not any(sought):
        return []
    lines = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    bare = [line.rstrip() for line in lines]
    found: list[tuple[int, int]] = []
    for first in range(len(lines) - len(sought) + 1):
        if bare[first] == sought[0] and bare[first : first + len(sought)] == sought:
            after = first + len(sought)
            if closed and after >= len(lines):
                continue  # a line break was asked for and there is none
            found.append((starts[first], starts[after] - (0 if closed else 1)))
    return found


def _ending(text: str, span: Span) -> str:
    """Return the line ending in force at a place: its own, else the next, else the last before."""
    after = text.find("\n", span.start)
    at = after if after >= 0 else text.rfind("\n", 0, span.start)
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def _spliced(here: str, new: str, ending: str) -> str:
    """Turn `here` into `new`, keeping every character and line ending that both share."""
    unix = _Unix(here)
    old = unix.text
    head = _shared(old, new)
    room = min(len(old), len(new)) - head
    tail = min(_shared(old[::-1], new[::-1]), room)
    middle = new[head : len(new) - tail].replace("\n", ending)
    return here[: unix.original(head)] + middle + here[unix.original(len(old) - tail) :]


def _shared(one: str, other: str) -> int:
    """Return how many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _spliced_lines(here: str, old: str, new: str, ending: str) -> str:
    """Like `_spliced`, by lines: those that `old` and `new` share stay as the file has them."""
    was = old.replace("\r\n", "\n").split("\n")
    wish = new.replace("\r\n", "\n").split("\n")
    kept = _split_keeping(here)
    head = 0
    while head < min(len(was), len(wish)) - 1 and was[head] == wish[head]:
        head += 1
    tail = 0
    while tail < min(len(was), len(wish)) - head - 1 and was[-1 - tail] == wish[-1 - tail]:
        tail += 1
    middle = ending.join(wish[head : len(wish) - tail])
    before = "".join(kept[:head])
    after = kept[len(kept) - tail :] if tail else []
    return before + middle + (ending if after else "") + "".join(after)


def _split_keeping(text: str) -> list[str]:
    """Split after each line feed; the last piece may be empty, as `split` gives."""
    pieces = text.split("\n")
    return [f"{piece}\n" for piece in pieces[:-1]] + pieces[-1:]
