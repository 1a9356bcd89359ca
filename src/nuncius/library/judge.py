"""Judge what a server sent by its bytes, and name it safely: a label or a name of theirs counts nothing."""

import hashlib
import re
from collections.abc import Mapping
from typing import Final, Literal

from nuncius.core.errors import DocumentError, NunciusError
from nuncius.core.identifiers import identify
from nuncius.core.records import Record
from nuncius.library.page_kind import SENTENCES, PageKind, is_right_page, page_kind
from nuncius.parsing.sniff import decode, sniff
from nuncius.sources.full_text import Channel, TextKind
from nuncius.walls.archives import is_archive

Code = Literal[
    "not_pdf",
    "not_html",
    "not_source",
    "truncated",
    "too_large",
    "timeout",
    "http_status",
    "encoding",
    "bad_id",
    "tls",
    "disk_full",
    "unwritable",
    "challenge",
    "turn_away",
    "landing",
    "error_page",
    "wrong_paper",
    "missing",
    "unreachable",
    "refused",
]
"""Why an answer is not kept as a paper. `missing`: the service has no such text; `refused`: the door
to the network said no; `unreachable`: no connection; `unwritable`: the folder refuses files."""
_HINTS: Final[Mapping[Code, str]] = {
    "bad_id": "Give an arXiv identifier, a bibcode or a DOI.",
    "disk_full": "Free some space and ask again.",
    "unwritable": "Choose a folder that can be written (NUNCIUS_LIBRARY_DIR).",
}
HEAD_BYTES: Final = 1024
_SMALL: Final = 4096  # bytes: a PDF with a page of text is never smaller
_PAGES: Final[Mapping[PageKind, Code]] = {
    "challenge": "challenge",
    "turn_away": "turn_away",
    "landing": "landing",
    "error": "error_page",
}
_HTML = re.compile(
    rb"^[\s\x00\xef\xbb\xbf]*(?:<!--.{0,2000}?-->\s*)*"
    rb"<(?:!doctype\s+html|html|head|body|\?xml|title|script|meta)",
    re.IGNORECASE | re.DOTALL,
)
_TEX = re.compile(
    rb"\\(?:documentclass|documentstyle|begin\s*\{document\}|magnification|input|def)\b"
)
_ENDS = (b"%%EOF", b"startxref")
_UNSAFE = re.compile(r"[^A-Za-z0-9._()&;+-]")
_MOST_NAME: Final = 120


class RefusalError(NunciusError):
    """What came from one place is not kept; `code` says why.

    Attributes:
        wait_s: Seconds that the server asked to wait, where it did.
        status: Of HTTP, where there was an answer.
    """

    def __init__(
        self, code: Code, message: str, *, wait_s: float | None = None, status: int = 0
    ) -> None:
        super().__init__(message, hint=_HINTS.get(code, ""))
        self.code: Code = code
        self.wait_s = wait_s
        self.status = status


def judge_head(head: bytes, wanted: TextKind) -> TextKind:
    """Return what an answer is from its first bytes.

    A PDF is welcome in the place of a page or a source, for the bytes decide and not the label.

    Raises:
        RefusalError: It is neither what was wanted nor a PDF; the message says what came.
    """
    if head[:HEAD_BYTES].find(b"%PDF-") >= 0:
        return "pdf"
    page = _is_page(head)
    if wanted == "html" and page:
        return "html"
    if wanted == "source" and not page and (is_archive(head) or _TEX.search(head)):
        return "source"
    codes: Mapping[TextKind, Code] = {"pdf": "not_pdf", "html": "not_html", "source": "not_source"}
    words = {"pdf": "no PDF", "html": "no web page", "source": "no LaTeX source"}
    raise RefusalError(codes[wanted], f"What came is {words[wanted]} but {described(head)}.")


def judge_end(kind: TextKind, tail: bytes, *, size_bytes: int, announced: bool) -> None:
    """Check that a PDF is whole.

    Args:
        announced: Its size was told and as many bytes came: the parser may then mend a lost end.

    Raises:
        RefusalError: Its end is missing.
    """
    if kind != "pdf" or any(mark in tail for mark in _ENDS) or (announced and size_bytes >= _SMALL):
        return
    raise RefusalError("truncated", f"The PDF is cut: {size_bytes:,} bytes came, without its end.")


def judge_page(
    data: bytes,
    *,
    title: str = "",
    headers: Mapping[str, str] | None = None,
    status: int = 200,
    trusted: bool = False,
) -> None:
    """Check that a web page is the article, and the right one.

    Args:
        title: Of the paper; empty: not compared.
        trusted: The address alone names the paper, so a page without any title will do.

    Raises:
        RefusalError: It is a wall, a landing page, an error or another paper.
    """
    try:
        html = decode(data)
    except DocumentError as error:
        raise RefusalError(
            "not_html", "What came is no web page: its bytes are no text."
        ) from error
    kind = page_kind(html, status=status, headers=headers)
    if kind != "article":
        raise RefusalError(_PAGES[kind], f"What came is {SENTENCES[kind]}.")
    right = is_right_page(html, title) if title else True
    if right is False or (right is None and not trusted):
        raise RefusalError("wrong_paper", f"The page that came is not titled {title[:80]!r}.")


def described(head: bytes) -> str:
    """Say what bytes are, for people."""
    if not head.strip(b"\x00 \r\n\t"):
        return "nothing" if not head else "blank bytes"
    if _is_page(head):
        try:
            kind = page_kind(decode(head))
        except DocumentError:
            return "a broken web page"
        return "a web page" if kind == "article" else f"a web page: {SENTENCES[kind]}"
    try:
        return {"pdf": "a PDF", "latex": "LaTeX"}.get(sniff(head).kind, "plain text")
    except DocumentError as error:
        said = re.match(r"The file is (.+?)(?:, which is not read)?\.", error.message)
        return said[1] if said else "bytes of an unknown kind"


def _is_page(head: bytes) -> bool:
    if _HTML.match(head[:4096]):
        return True
    plain = head[:4096].replace(b"\x00", b"")  # UTF-16 without its mark
    return bool(_HTML.match(plain)) and plain != head[:4096]


# --- names of files --------------------------------------------------------------------------------


def file_stem(record: Record, channel: Channel) -> str:
    """Return the name, without its ending, under which a work's text from one place is kept.

    Of arXiv its identifier and version; else the bibcode, else the DOI. Only what is a name by its
    own grammar becomes a file's; a name that had to be changed carries a mark, so no two meet.

    Raises:
        RefusalError: The record has no valid name (`bad_id`).
    """
    arxiv = _valid(record.arxiv_id, "arxiv")
    if arxiv and (channel.service == "arxiv" or not (record.bibcodes or record.dois)):
        version = f"v{channel.version}" if channel.version else ""
        return f"{safe_name(arxiv)}{version}" + ("-ar5iv" if channel.kind == "ar5iv" else "")
    names = [_valid(name, "bibcode") for name in record.bibcodes]
    names += [_valid(name, "doi") for name in record.dois]
    found = next((name for name in [*names, arxiv] if name), "")
    if not found:
        said = next(iter([*record.bibcodes, *record.dois, record.arxiv_id]), "")
        raise RefusalError("bad_id", f"{said[:60]!r} is no arXiv identifier, bibcode or DOI.")
    return safe_name(found)


def safe_name(identifier: str) -> str:
    """Return an identifier as a file's name: readable, stable, and never two for one name."""
    name = identifier.replace("/", "_")
    safe = _UNSAFE.sub("-", name)
    if safe != name or identifier.count("/") > 1 or len(safe) > _MOST_NAME or safe[0] in ".-":
        mark = hashlib.sha256(identifier.encode()).hexdigest()[:8]
        return f"{safe[:_MOST_NAME].lstrip('.-')}.{mark}"
    return safe


def _valid(name: str, kind: Literal["arxiv", "bibcode", "doi"]) -> str:
    """Return the name where it is one of that kind by its grammar, else nothing."""
    found = identify(name) if name else None
    if found is None:
        return ""
    if kind == "bibcode" and found.kind == "arxiv":  # a preprint's bibcode
        return name if re.fullmatch(r"[\w.&:]{19}", name, re.ASCII) else ""
    return found.value if found.kind == kind else ""
