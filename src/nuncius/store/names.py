"""Names of papers: how people write them, how they are kept, and how new ones are made."""

import re
import secrets
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from nuncius.core.identifiers import find_doi
from nuncius.core.papers import Paper
from nuncius.core.text import LETTERS

NameKind = Literal["bibcode", "arxiv", "doi", "cite_key"]
Name = tuple[NameKind, str]

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LETTERS_AND_DIGITS = _LETTERS + "0123456789"
_URL = re.compile(r"^(?:https?://)?(?:[\w-]+\.)+[a-z]{2,}/", re.IGNORECASE)
_ARXIV_WORD = re.compile(r"^\s*(?:oai:)?arxiv(?:\.org)?\s*:\s*", re.IGNORECASE)
_ARXIV_DOI = re.compile(r"^10\.48550/arxiv\.(.+)$", re.IGNORECASE)
_BIBCODE = re.compile(r"\d{4}[\w.&]{14}[A-Z.:]", re.IGNORECASE)
_ARXIV_BIBCODE = re.compile(r"\d{4}arXiv(\d{4})(\d{5})[A-Z.]", re.IGNORECASE)
# archive, an old id's subject class that names nothing more, number, version
_ARXIV_WHOLE = re.compile(
    r"(?:(\d{4}\.\d{4,5})|([a-z]{2,}(?:-[a-z]{2,})?)(?:\.[a-z]{2})?(/\d{7}))(?:v\d+)?",
    re.IGNORECASE,
)
_DULL = frozenset(
    {"a", "an", "and", "are", "at", "by", "do", "does", "for", "from", "how", "in", "into", "is",
     "of", "on", "or", "the", "to", "with"}
)  # fmt: skip


def names_of(paper: Paper) -> set[Name]:
    """Return the names under which `paper` is found, beside its id."""
    names: set[Name] = set()
    if paper.cite_key:
        names.add(("cite_key", paper.cite_key.casefold()))
    for text in (paper.bibcode, paper.arxiv_id, paper.doi):
        if text:
            names.update(_read_names(text))
    if paper.bibcode:
        names.add(("bibcode", paper.bibcode.casefold()))
    if paper.arxiv_id:
        names.add(("arxiv", _plain_arxiv(paper.arxiv_id)))
    if paper.doi:
        names.add(("doi", paper.doi.casefold()))
    return names


def candidates(text: str) -> Sequence[Name]:
    """Return what the name that a person typed may be, the likeliest first."""
    return list(dict.fromkeys([("cite_key", text.strip().casefold()), *_read_names(text)]))


def _read_names(text: str) -> Iterator[Name]:
    text = text.strip()
    if _URL.match(text):
        text = _from_url(text)
    bibcode = text.partition("/")[0]
    if _BIBCODE.fullmatch(bibcode):
        yield "bibcode", bibcode.casefold()
    preprint = _ARXIV_BIBCODE.fullmatch(bibcode)
    if preprint:
        yield "arxiv", f"{preprint[1]}.{preprint[2]}"
    doi = find_doi(text)
    if doi:
        yield "doi", doi
        match = _ARXIV_DOI.match(doi)
        if match:
            yield "arxiv", _plain_arxiv(match[1])
        return  # digits within a DOI look like arXiv ids
    bare = _plain_arxiv(text)
    if _ARXIV_WHOLE.fullmatch(bare):
        yield "arxiv", bare


def _from_url(text: str) -> str:
    from urllib.parse import unquote

    path = unquote(text.partition("#")[0].partition("?")[0])
    path = _URL.sub("", path)
    return re.sub(r"^(?:abs|pdf|html|format|e-print|src)/", "", path)


def _plain_arxiv(text: str) -> str:
    """Return an arXiv id as it is kept: no prefix, no version, no subject class, lower case."""
    bare = _ARXIV_WORD.sub("", text.strip()).removesuffix(".pdf").rstrip("/")
    bare = re.sub(r"^(?:abs|pdf)/", "", bare)
    bare = re.sub(r"\s*\[[\w.-]+\]$", "", bare)  # arXiv:2206.12345 [astro-ph.EP]
    match = _ARXIV_WHOLE.fullmatch(bare)
    return (match[1] or match[2] + match[3] if match else bare).lower()


def new_paper_id() -> str:
    """Return eight random characters that begin with a letter.

    The letter keeps an id from looking like a number, and like the start of an arXiv id.
    """
    rest = "".join(secrets.choice(_LETTERS_AND_DIGITS) for _ in range(7))
    return secrets.choice(_LETTERS) + rest


def cite_key_stem(paper: Paper) -> str:
    """Return ``Bouma2022``: first author's family name (or a word of the title) and year."""
    who = next((word for author in paper.authors[:1] if (word := _ascii(author.last_name))), "")
    if not who:
        words = [_ascii(word) for word in paper.title.split()]
        who = next((word for word in words if len(word) > 2 and word.lower() not in _DULL), "Paper")
    year = str(paper.year) if paper.year else "ND"  # no date
    return f"{who[:1].upper() if who.islower() else who[:1]}{who[1:]}{year}"


def cite_keys(stem: str) -> Iterator[str]:
    """Yield the stem, then the stem with a, b, ... z, aa, ab, ..."""
    yield stem
    count = 0
    while True:
        number, ending = count, ""
        while True:
            ending = _LETTERS[number % 26] + ending
            number = number // 26 - 1
            if number < 0:
                break
        yield stem + ending
        count += 1


def _ascii(text: str) -> str:
    """Return the ASCII letters and digits of a name, accents taken off."""
    plain = unicodedata.normalize("NFKD", text.translate(LETTERS))
    return "".join(char for char in plain if char.isascii() and char.isalnum())


def close_names(name: str, known: Iterable[str]) -> Sequence[str]:
    """Return up to three of `known` that look like `name`."""
    from difflib import get_close_matches

    originals = {text.casefold(): text for text in known}
    near = get_close_matches(name.strip().casefold()[:200], originals, n=3, cutoff=0.6)
    return [originals[text] for text in near]
