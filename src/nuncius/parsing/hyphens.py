"""Joining words that a line's end broke."""

import re
from collections import Counter
from collections.abc import Iterable

_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_TAIL = re.compile(r"(?:[^\W\d_]+-)*[^\W\d_]+$")
_HEAD = re.compile(r"[^\W\d_]+")
_PREFIXES = frozenset(
    """all anti cross data early far few first five four full half hard high ill inter
    intermediate large late left light line long low main mass mid multi near new non off
    old on one open out over per post pre quasi re right second self semi short single six
    small soft solar so steady sub super third three time top two ultra under well wide x""".split()
)


class Hyphenation:
    """Decides whether a hyphen at a line's end belongs to the word, by the document's own words."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._known: Counter[str] = Counter()
        for text in texts:
            self._known.update(_COMPOUND.findall(text.lower()))

    def join(self, before: str, after: str) -> str:
        """Return `before` and `after` as one text; `before` ended in a hyphen, now cut off."""
        tail, head = _TAIL.search(before), _HEAD.match(after)
        if not tail or not head:
            return f"{before}-{after}"
        left, right = tail[0], head[0]
        if right in {"and", "or", "to", "und", "bis"}:
            return f"{before}- {after}"  # pre- and post-merger
        joined = (left + right).lower()
        compound = f"{left}-{right}".lower()
        if self._known[joined] > self._known[compound]:
            return before + after
        if self._known[compound]:
            return f"{before}-{after}"
        if right[0].isupper() and not left.isupper():
            return f"{before}-{after}"  # Price-Whelan, Sun-Earth
        last = left.rsplit("-", 1)[-1].lower()
        if last in _PREFIXES and len(right) > 3 and (self._known[right.lower()] or "-" in left):
            return f"{before}-{after}"
        return before + after
