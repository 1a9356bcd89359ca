"""Tags: words that people hang on papers, such as ``to read`` or ``JWST``."""

import re
import unicodedata
from collections.abc import Iterable

from nuncius.core.errors import UsageError
from nuncius.core.text import clean

LONGEST_TAG = 64
"""Characters of one tag."""
MOST_TAGS = 50
"""Tags of one paper."""

_BETWEEN = re.compile(r"[,;，；、\n]")  # what separates keywords in bibliographies separates tags
_UNSEEN = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def tidy_tags(words: Iterable[str]) -> tuple[str, ...]:
    """Return tags as they are kept, in their order: NFC, without white space around them.

    A comma or semicolon ends a tag. Whatever its case, a tag is there once, as it was first written.

    Raises:
        UsageError: A tag is too long, or they are too many for one paper.
    """
    tags = _once(words)
    for tag in tags.values():
        if len(tag) > LONGEST_TAG:
            raise UsageError(
                f"The tag {tag[:40] + '...'!r} is too long.",
                hint=f"A tag has at most {LONGEST_TAG} characters; notes hold more.",
            )
    if len(tags) > MOST_TAGS:
        raise UsageError(
            f"{len(tags)} tags are too many for one paper.", hint=f"It takes at most {MOST_TAGS}."
        )
    return tuple(tags.values())


def fitting_tags(words: Iterable[str], *, beside: Iterable[str] = ()) -> tuple[str, ...]:
    """Return those of `words` that a paper can have beside the tags that it has; never raises."""
    held = {fold_tag(tag) for tag in beside}
    tags = _once(words).items()
    new = [tag for folded, tag in tags if folded not in held and len(tag) <= LONGEST_TAG]
    return tuple(new[: max(0, MOST_TAGS - len(held))])


def fold_tag(tag: str) -> str:
    """Return what is equal for two writings of one tag, such as ``JWST`` and ``jwst``."""
    return unicodedata.normalize("NFC", _tidy(tag).casefold())


def _once(words: Iterable[str]) -> dict[str, str]:
    """Return each tag in `words` as it is first written there, by its folded form."""
    tags: dict[str, str] = {}
    for word in words:
        for tag in filter(None, map(_tidy, _BETWEEN.split(word))):
            tags.setdefault(fold_tag(tag), tag)
    return tags


def _tidy(word: str) -> str:
    return " ".join(unicodedata.normalize("NFC", _UNSEEN.sub("", clean(word))).split())
