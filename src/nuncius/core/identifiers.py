"""Find the names that papers go by: arXiv identifiers, bibcodes, DOIs.

Kept apart from `core.papers`, so that the parsers' processes need no pydantic: it would double their
start.
"""

import re

_BIBCODE = re.compile(r"(?:1[5-9]|2[01])\d\d[A-Za-z&.]{5}[\w.]{4}[\w.:][\w.]{4}[A-Z.:]")
_ARXIV_NEW = re.compile(r"(?<![\d.])(\d{4}\.\d{4,5})(?:v(\d+))?(?![\d])")
_ARXIV_OLD = re.compile(r"\b([a-z]{2,}(?:-[a-z]{2,})?(?:\.[A-Z]{2})?/\d{7})(?:v(\d+))?\b")
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}|\\^`]+", re.IGNORECASE)


def find_arxiv_id(text: str) -> str | None:
    """Return the arXiv identifier in `text` without its version, or None."""
    match = _ARXIV_NEW.search(text) or _ARXIV_OLD.search(text)
    return match[1] if match else None


def find_bibcode(text: str) -> str | None:
    """Return the first ADS bibcode (19 characters) in `text`, or None."""
    match = _BIBCODE.search(text)
    return match[0] if match and len(match[0]) == 19 else None


def find_doi(text: str) -> str | None:
    """Return the first DOI in `text` in lower case without trailing punctuation, or None.

    Brackets that belong to the DOI stay: ``10.1016/s0019-1035(03)00123-4``.
    """
    match = _DOI.search(text)
    if not match:
        return None
    doi = match[0]
    while doi and (doi[-1] in ".,;:'\"" or (doi[-1] in ")]" and not _balanced(doi))):
        doi = doi[:-1]
    return doi.lower()


def _balanced(text: str) -> bool:
    return text.count("(") >= text.count(")") and text.count("[") >= text.count("]")
