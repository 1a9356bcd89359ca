"""What authors and arXiv say in comments about a preprint that should not be used any more."""

import re

from nuncius.core.records import Status

_MOST_CHARS = 2_000
"""Of a comment; longer ones are lists of changes."""
_SENTENCE = re.compile(r"(?<=[.;!?])\s+(?=[A-Z(\[])")
_OTHERS = re.compile(
    # what happened to another paper, or to an earlier version of this one
    r"\b(?:not|never|previous|earlier|older|old|first|original(?:ly)?|v\d|version\s*\d"
    r"|replac(?:es|ing)|supersed(?:es|ing)|instead of|formerly)\b"
    r"[^.;]*\b(?:withdrawn|withdrew|retracted|superseded)\b"
    r"|\b(?:withdrawn|retracted)\s+(?:from\s+(?:the\s+)?(?:sample|analysis|list|catalog)|paper\s+arxiv)"
    r"|\bwhich\s+(?:was|is|has been)\s+(?:now\s+)?(?:withdrawn|retracted|superseded)",
    re.IGNORECASE,
)
_WITHDRAWN = re.compile(
    r"\b(?:(?:has|have|is|was|been|being|hereby|paper|article|manuscript|submission|preprint|work)\s+"
    r"(?:\w+\s+){0,2}withdrawn|withdrawn\s+(?:by|due|because|for|since|as|pending|on)\b"
    r"|^\W*withdrawn\b|(?:we|authors?|i)\s+(?:\w+\s+){0,2}withdr[ae]w)",
    re.IGNORECASE,
)
_RETRACTED = re.compile(
    r"\b(?:has|have|is|was|been|paper|article)\s+(?:\w+\s+)?retracted\b|^\W*retracted\b",
    re.IGNORECASE,
)
_WORK = re.compile(
    r"\b(?:paper|article|manuscript|submission|preprint|letter|authors?|we|this work)\b",
    re.IGNORECASE,
)
_SUPERSEDED = re.compile(
    r"\b(?:superseded|replaced|subsumed|obsoleted)\s+by\s+(?:\w+\s+){0,4}"
    r"(?:\[?\d|arxiv|https?:|astro-ph|hep-|gr-qc|paper|article|preprint|version\s+at|a\s+new)"
    r"|\b(?:is|are|been|was|now)\s+superseded\b|^\W*superseded\b",
    re.IGNORECASE,
)


def preprint_status(comment: str, abstract: str = "") -> tuple[Status, str]:
    """Return what a comment, or an abstract that is nothing else, tells; and the sentence that does.

    A paper that replaces a withdrawn one is not withdrawn.
    """
    for text in (comment[:_MOST_CHARS], abstract if len(abstract) < 600 else ""):
        for sentence in _SENTENCE.split(text):
            if _OTHERS.search(sentence) or (text is abstract and not _WORK.search(sentence)):
                continue
            if _RETRACTED.search(sentence):
                return "retracted", sentence.strip()
            if _WITHDRAWN.search(sentence):
                return "withdrawn", sentence.strip()
            if _SUPERSEDED.search(sentence):
                return "superseded", sentence.strip()
    return "", ""
