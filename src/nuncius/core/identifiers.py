"""Find the names that papers go by: arXiv identifiers, bibcodes, DOIs.

Kept apart from `core.papers`, so that the parsers' processes need no pydantic: it would double their
start.
"""

import re
import urllib.parse
from dataclasses import dataclass
from typing import Literal

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


# --- reading one name, in every form that people type and services write -------------------------

IdentifierKind = Literal["arxiv", "doi", "bibcode", "url"]

_ARCHIVES = tuple(
    """acc-phys adap-org alg-geom ao-sci astro-ph atom-ph bayes-an chao-dyn chem-ph cmp-lg comp-gas
    cond-mat cs dg-ga funct-an gr-qc hep-ex hep-lat hep-ph hep-th math math-ph mtrl-th nlin nucl-ex
    nucl-th patt-sol physics plasm-ph q-alg q-bio quant-ph solv-int supr-con""".split()
)
"""Archives that gave old identifiers, such as ``astro-ph/9901001``."""
_ARXIV_WHOLE = re.compile(
    r"(?:(?P<new>\d\d(?:0[1-9]|1[0-2])\.\d{4,5})"
    # the subject class of an old identifier names nothing more; file names have _ for /
    rf"|(?P<archive>{'|'.join(sorted(_ARCHIVES, key=len, reverse=True))})(?:\.[a-z-]{{2,12}})?"
    r"[/_-]?(?P<number>\d\d(?:0[1-9]|1[0-2])\d{3}))"
    r"(?:\s*\(?v(?P<version>\d{1,3})\)?)?",
    re.IGNORECASE,
)
_ARXIV_LEAD = re.compile(
    r"^(?:(?:e-?print\s+)?(?:oai\s*:\s*)?arxiv(?:\.org)?\s*(?:(?:e-?prints?|preprint|id)\b)?\s*[:./,]?\s*)+",
    re.IGNORECASE,
)
_ARXIV_TAIL = re.compile(
    r"(?:\s*\[[a-z.-]+\](?:\s+\d{1,2} \w{3,9} \d{4})?|\.(?:pdf|html?|ps|gz|tar|tgz))+$",
    re.IGNORECASE,
)
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)", re.IGNORECASE)
_WHOLE_BIBCODE = re.compile(
    r"(?:1[5-9]|2[01])\d\d[A-Za-z][A-Za-z0-9&.]{4}[\w.&]{4}[\w.:][\w.:]{4}[A-Z.:]", re.ASCII
)
_NEW_ARXIV_BIBCODE = re.compile(r"\d{4}arXiv(\d{4})\.?(\d{4,5})[A-Z.]")
_OLD_ARXIV_BIBCODE = re.compile(
    rf"\d\d(\d\d)({'|'.join(sorted(_ARCHIVES, key=len, reverse=True)).replace('-', '[.]')})"
    r"\.*?([.\d]{5})[A-Z.]"
)
_LEAD = re.compile(
    r"^(?:(?:ads\s+)?bibcode|ads|identifier|(?:urn:|info:)?doi)\s*(?:[:=/]|(?=10\.)|\s(?=\d))\s*",
    re.IGNORECASE,
)
_WEB = re.compile(
    r"^(?:(?:https?|ftp):/{1,2})?(?P<host>(?:[\w-]+\.)+[a-z]{2,})(?::\d+)?/(?P<path>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_DOI_WHOLE = re.compile(r"10\.\d{4,9}(?:\.\d+)*/\S+")
_DOI_PAGE = re.compile(
    r"(?:/(?:abstract|full|fulltext|full-text|meta|html|xml|summary|suppdata|references|figures|citedby)"
    r"|/e?pdf(?:direct|/[^/#]+)?|\.(?:pdf|html?|full|abstract|short|xml))*/?(?:#.*)?$",
    re.IGNORECASE,
)
_BEFORE_URL = re.compile(r"^(?:arxiv|doi|url|ads|link)\s*[:=]?\s*(?=https?:/)", re.IGNORECASE)
_ENTITY = re.compile(r"&(amp|#38|#x26|lt|gt);", re.IGNORECASE)
_ENTITIES = {"amp": "&", "#38": "&", "#x26": "&", "lt": "<", "gt": ">"}
_ZENODO = re.compile(r"^records?/(\d+)")
_NATURE = re.compile(
    r"articles/((?:s\d{5}-|nature|ncomms|nphys|srep|natastron)[\w-]+)", re.IGNORECASE
)
_AANDA = re.compile(r"/aa(\d{5})-(\d\d)(?:\b|_)")
_QUOTES = str.maketrans(
    {
        "\u2026": "...",
        "\u2010": "-",
        "\u2011": "-",
        "\u2013": "-",
        "\u00a0": " ",
        "\u3000": " ",
        # Chinese and Japanese keyboards type ASCII in full width, U+FF01 to U+FF5E
        **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    }
)
_ENDS = " \t\r\n<>\"'`\u201c\u201d\u2018\u2019,;。、《》〈〉「」『』【】"


@dataclass(frozen=True, slots=True)
class Identifier:
    """What one paper goes by.

    Attributes:
        kind: ``url`` is a page whose address names no paper that we can tell.
        value: Of arXiv without version and subject class; of a DOI in lower case; of a bibcode its
            19 characters, where ``&`` is a plain ``&``.
        version: Of arXiv, where one was given.
    """

    kind: IdentifierKind
    value: str
    version: int | None = None


def identify(text: str) -> Identifier | None:
    """Read a whole text as one identifier, in any of its usual forms, or return None.

    Prefixes (``arXiv:``, ``doi:``), addresses of pages and files, percent-encoding, brackets and
    punctuation around it, subject classes and file endings are understood. arXiv's own DOIs and the
    bibcodes of its preprints are read as arXiv identifiers.
    """
    text = _plain(text)
    if not text or len(text) > 2000:
        return None
    text = _BEFORE_URL.sub("", text)
    if found := _from_words(_decoded(text)):
        return found
    web = _WEB.match(text)
    return _from_url(text, web["host"].lower(), _decoded(web["path"])) if web else None


def normal_doi(text: str) -> str | None:
    """Read a whole text as a DOI, also one of arXiv, in lower case; or return None."""
    text = _LEAD.sub("", _decoded(_plain(text)).strip(_ENDS))
    if not _DOI_WHOLE.fullmatch(text):
        return None
    while text[-1] in ".,;:'\"([{<" or (text[-1] in ")]}>" and not _closes(text)):
        text = text[:-1]
    return text.lower() if _DOI_WHOLE.fullmatch(text) else None


def normal_bibcode(text: str) -> str | None:
    """Read a whole text as a bibcode, also one of a preprint; or return None."""
    text = _plain(text)
    if web := _WEB.match(text):
        parts = _decoded(web["path"]).split("/")
        return next((found for part in parts if (found := _bibcode(part))), None)
    return _bibcode(_LEAD.sub("", _decoded(text)))


def arxiv_of_bibcode(bibcode: str) -> str | None:
    """Return the arXiv identifier of a preprint's bibcode, or None for other bibcodes.

    ``2024arXiv240101234X`` is 2401.01234; ``1999astro.ph..1001X`` is astro-ph/9901001.
    """
    if match := _NEW_ARXIV_BIBCODE.fullmatch(bibcode):
        found = f"{match[1]}.{match[2]}"
    elif match := _OLD_ARXIV_BIBCODE.fullmatch(bibcode):
        found = f"{match[2].replace('.', '-')}/{match[1]}{match[3].replace('.', '0')}"
    else:
        return None
    return found if _ARXIV_WHOLE.fullmatch(found) else None


def bibcode_of_arxiv(arxiv_id: str, first_author: str) -> str | None:
    """Return the bibcode that ADS gives a preprint, or None where `arxiv_id` is none.

    Args:
        first_author: ``Last, First``; its first letter ends the bibcode.
    """
    match = _ARXIV_WHOLE.fullmatch(arxiv_id)
    if not match:
        return None
    initial = first_author.strip()[:1].upper()
    initial = initial if initial.isascii() and initial.isalpha() else "."
    if match["new"]:
        number = match["new"].replace(".", "") if len(match["new"]) == 10 else match["new"]
        return f"20{number[:2]}arXiv{number}{initial}"
    digits = match["number"]
    century = "19" if digits[0] == "9" else "20"
    rest = digits[2:].lstrip("0") if digits[2] == "0" else digits[2:]
    archive = match["archive"].lower().replace("-", ".")
    return f"{century}{digits[:2]}{archive}{rest.rjust(14 - len(archive), '.')}{initial}"


def _from_words(text: str) -> Identifier | None:
    return _arxiv(text) or _doi(text) or _known_bibcode(_bibcode(_LEAD.sub("", text)))


def _from_url(url: str, host: str, path: str) -> Identifier:
    """Read the address of a page: what its path names, else the page itself."""
    plain = path.split("?", 1)[0].rstrip("/")
    doi = (re.findall(r"10\.\d{4,9}(?:\.\d+)*/\S+", plain) or [""])[0]
    if found := _doi(doi if host.endswith("doi.org") else _DOI_PAGE.sub("", doi)):
        return found
    parts = plain.split("#", 1)[0].split("/") if "#abs/" not in plain else plain.split("/")
    for start in range(len(parts)):
        for piece in ("/".join(parts[start : start + 2]), parts[start]):
            if found := _arxiv(piece) or _known_bibcode(_bibcode(piece)):
                return found
    if host.endswith("nature.com") and (match := _NATURE.search(plain)):
        return Identifier("doi", f"10.1038/{match[1].lower()}")
    if host.endswith("aanda.org") and (match := _AANDA.search(plain)):
        return Identifier("doi", f"10.1051/0004-6361/20{match[2]}{match[1]}")
    if host.endswith("zenodo.org") and (match := _ZENODO.search(plain)):
        return Identifier("doi", f"10.5281/zenodo.{match[1]}")
    query = urllib.parse.parse_qs(path.partition("?")[2])
    for value in (value for values in query.values() for value in values):
        if found := _from_words(value.strip(_ENDS)):
            return found
    return Identifier("url", url)


def _arxiv(text: str) -> Identifier | None:
    text = _ARXIV_TAIL.sub("", text.strip()).strip("()[]{} .,;:")
    text = _ARXIV_TAIL.sub("", _ARXIV_LEAD.sub("", _LEAD.sub("", text)))
    match = _ARXIV_WHOLE.fullmatch(text)
    if not match:
        return None
    value = match["new"] or f"{match['archive'].lower()}/{match['number']}"
    version = int(match["version"]) if match["version"] else None
    return Identifier("arxiv", value, version or None)


def _doi(text: str) -> Identifier | None:
    while text and text[0] in "([{":
        text = text[1:]
    doi = normal_doi(text)
    if doi is None:
        return None
    if (own := _ARXIV_DOI.fullmatch(doi)) and (found := _arxiv(own[1])):
        return found
    return Identifier("doi", doi)


def _known_bibcode(bibcode: str | None) -> Identifier | None:
    if bibcode is None:
        return None
    if arxiv_id := arxiv_of_bibcode(bibcode):
        return Identifier("arxiv", arxiv_id)
    return Identifier("bibcode", bibcode)


def _bibcode(text: str) -> str | None:
    """Return the bibcode that `text` is, without brackets and a sentence's end around it."""
    text = text.strip(" ()[]{}")
    if len(text) > 19 and not text[19:].strip(".,;:"):
        text = text[:19]
    return text if _WHOLE_BIBCODE.fullmatch(text) else None


def _closes(text: str) -> bool:
    """Tell whether the bracket at the end was opened in the text."""
    shut = text[-1]
    return text.count(shut) <= text.count({")": "(", "]": "[", "}": "{", ">": "<"}[shut])


def _plain(text: str) -> str:
    """Undo what editors and web pages do to an identifier, and drop what stands around it."""
    return _ENTITY.sub(lambda match: _ENTITIES[match[1].lower()], text.translate(_QUOTES)).strip(
        _ENDS
    )


def _decoded(text: str) -> str:
    """Undo percent-encoding, also where it was done twice."""
    for _ in range(2):
        if not re.search(r"%[0-9A-Fa-f]{2}", text):
            break
        text = urllib.parse.unquote(text, errors="replace")
    return text
