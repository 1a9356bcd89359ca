"""What are these bytes? Told from the bytes, not from the name."""

import re
from dataclasses import dataclass

import charset_normalizer

from nuncius.core.documents import DocumentKind
from nuncius.core.errors import DocumentError
from nuncius.core.text import clean

MAX_BYTES = 400_000_000
MAX_TEXT_BYTES = 60_000_000
_HEAD = 1024

_BINARY_MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"\x1f\x8b", "a gzip file (arXiv sends LaTeX sources so)", "Unpack it and add the .tex file."),
    (b"BZh", "a bzip2 file", "Unpack it and add the file inside."),
    (b"\xfd7zXZ\x00", "an xz file", "Unpack it and add the file inside."),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "Unpack it and add the paper inside."),
    (b"Rar!\x1a\x07", "a RAR archive", "Unpack it and add the paper inside."),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file", "Unpack it and add the file inside."),
    (b"\x89PNG\r\n\x1a\n", "a PNG image", "Add the paper's PDF instead."),
    (b"\xff\xd8\xff", "a JPEG image", "Add the paper's PDF instead."),
    (b"GIF8", "a GIF image", "Add the paper's PDF instead."),
    (b"II*\x00", "a TIFF image", "Run OCR on it and add the PDF that it makes."),
    (b"MM\x00*", "a TIFF image", "Run OCR on it and add the PDF that it makes."),
    (b"AT&TFORM", "a DjVu file", "Convert it to PDF and add that."),
    (b"SIMPLE  =", "a FITS file", "Data files are no papers; add the paper that describes them."),
    (b"\x89HDF", "an HDF5 file", "Data files are no papers; add the paper that describes them."),
    (b"SQLite format 3", "an SQLite database", "Add a PDF, HTML, TeX or Markdown file."),
    (b"\x7fELF", "a program", "Add a PDF, HTML, TeX or Markdown file."),
    (b"%!PS", "a PostScript file", "Convert it with ps2pdf and add the PDF."),
    (b"\xf7\x02", "a DVI file", "Convert it with dvipdfmx and add the PDF."),
    (b"{\\rtf", "an RTF file", "Save it as PDF and add that."),
)
_OFFICE = "Save it as PDF and add that."
_ZIP_KINDS: tuple[tuple[bytes, str, str], ...] = (
    (b"word/", "a Word document (.docx)", _OFFICE),
    (b"ppt/", "a PowerPoint presentation (.pptx)", _OFFICE),
    (b"xl/", "an Excel workbook (.xlsx)", "Data files are no papers; add the paper itself."),
    (b"application/epub+zip", "an EPUB book", "Convert it to PDF and add that."),
    (b"application/vnd.oasis", "an OpenDocument file", _OFFICE),
)
_CHALLENGES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile("|".join(patterns), re.IGNORECASE), what)
    for what, *patterns in (
        (
            "a Cloudflare challenge page",
            r"_cf_chl_opt|challenge-error-text|cf-browser-verification|cf-challenge",
            r"challenges\.cloudflare\.com|<title>\s*just a moment",
            r"<title>\s*attention required! \| cloudflare",
        ),
        ("a Radware bot-manager page", r"radware|perfdrive|shieldsquare"),
        ("an Imperva challenge page", r"_incapsula_resource|incapsula incident"),
        ("a DataDome challenge page", r"datadome"),
        ("a PerimeterX challenge page", r"px-captcha|perimeterx"),
        ("an AWS challenge page", r"awswafintegration|aws-waf-token"),
        ("a captcha page", r"g-recaptcha|h-captcha|hcaptcha|<title>[^<]*captcha"),
        (
            "a robot check",
            r"verify (?:that )?you are (?:a )?human|are you a robot|confirm you are a human",
            r"unusual traffic|making sure you(?:'|’|&#39;)re not a bot",
        ),
        ("a publisher's turn-away page", r"turn-?away|accessdenialwidget|access-denial"),
        (
            "a page that wants JavaScript and cookies",
            r"enable javascript and cookies|javascript is (?:disabled|required)",
            r"please enable (?:javascript|cookies)|cookieabsent",
            r"cookies? (?:are|is) (?:disabled|required)",
        ),
        (
            "a log-in page",
            r"type=[\"']?password|shibboleth|openathens|institutional (?:login|sign)",
            r"single sign-on|<title>[^<]*\b(?:log ?in|sign ?in|anmelden|登录)\b",
        ),
        (
            "an access-denied page",
            r"<title>\s*(?:access denied|403 forbidden|401 unauthorized|error 403)",
        ),
        (
            "an error page",
            r"<title>[^<]*(?:\b404\b|page not found|service unavailable|bad gateway|error \d{3})",
            r"<title>\s*(?:not found|error)\s*</title>",
        ),
    )
)
_PAYWALL = re.compile(
    r"turn-away|you need an ereader or compatible software|access through your institution"
    r"|(?:purchase|buy|get|rent) (?:instant )?access|sign in or buy",
    re.IGNORECASE,
)
_HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*"
    r"<(?:!doctype\s+html|html|head|body|title|meta|script|article|section|div|p|h[1-6])\b",
    re.IGNORECASE | re.DOTALL,
)
_XML_KINDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r"JATS|NLM//DTD"
            r"|<article[\s>][^<]*(?:<front|<processing-meta|xmlns|dtd-version|article-type)",
            re.IGNORECASE,
        ),
        "a JATS article (XML)",
    ),
    (re.compile(r"<TEI[\s>]|tei-c\.org"), "a TEI document (XML)"),
    (re.compile(r"<(?:rss|feed)[\s>]", re.IGNORECASE), "a news feed (XML)"),
    (re.compile(r"<VOTABLE[\s>]"), "a VOTable"),
    (re.compile(r"<svg[\s>]"), "an SVG image"),
)
_TAG = re.compile(r"<(/?)([A-Za-z!][\w-]{0,40})[^<>]{0,3000}>")
_HIDDEN = frozenset({"script", "style", "head", "nav", "footer"})
_META_CHARSET = re.compile(rb"charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
_TEX = re.compile(
    r"\\(?:documentclass|documentstyle|begin\{document\}|section\*?\{|chapter\*?\{|input\{"
    r"|title(?:\[[^\]]*\])?\{|begin\{abstract\})"
)
_MARKDOWN = re.compile(
    r"^(?:#{1,6} \S|(?:```|~~~)|\|.+\|\s*\n\|[\s:|-]+\||\$\$\s*$|[-*+] \S.*\n(?:[-*+] |\s{2,}\S)"
    r"|> \S|\[\^[^\]]+\]:|.+\n(?:={3,}|-{3,})\s*$)"
    r"|\[[^\[\]\n]{1,300}\]\([^()\s]{1,300}\)|!\[|\*\*[^*\n]{1,300}\*\*",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Sniffed:
    """What the bytes are. `data` is set for a PDF, `text` for all else."""

    kind: DocumentKind
    text: str = ""
    data: bytes = b""


def sniff(data: bytes, *, name: str = "") -> Sniffed:
    """Tell what `data` is and decode it where it is text.

    Raises:
        DocumentError: It is empty, too large, no paper, or of a kind that is not read.
    """
    if not data.strip(b"\x00 \t\r\n\x0c"):
        raise DocumentError(
            "empty",
            "The file is empty." if not data else f"The file holds {len(data)} blank bytes.",
            hint="Download it again.",
        )
    if len(data) > MAX_BYTES:
        raise _too_large(len(data), MAX_BYTES)
    at = data[:_HEAD].find(b"%PDF-")
    if at >= 0:
        return Sniffed("pdf", data=data[at:])
    _refuse_binary(data)
    if len(data) > MAX_TEXT_BYTES:
        raise _too_large(len(data), MAX_TEXT_BYTES)
    text = decode(data)
    kind = _kind_of(text, name)
    if kind == "html":
        refuse_page(text)
    return Sniffed(kind, text=text)


def _too_large(size: int, limit: int) -> DocumentError:
    return DocumentError(
        "too_large",
        f"The file has {size / 1e6:,.0f} MB; up to {limit / 1e6:,.0f} MB are read.",
        hint="Split it and add the parts.",
    )


def _unsupported(what: str, hint: str) -> DocumentError:
    return DocumentError("unsupported", f"The file is {what}, which is not read.", hint=hint)


def _refuse_binary(data: bytes) -> None:
    for magic, what, hint in _BINARY_MAGIC:
        if data.startswith(magic):
            raise _unsupported(what, hint)
    if data[:4] in {b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"}:
        for mark, what, hint in _ZIP_KINDS:
            if mark in data[:8192] or mark in data[-65536:]:
                raise _unsupported(what, hint)
        raise _unsupported("a ZIP archive", "Unpack it and add the paper inside.")
    if data[257:262] == b"ustar":
        raise _unsupported("a tar archive", "Unpack it and add the .tex or .pdf file inside.")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        raise _unsupported("a WebP image", "Add the paper's PDF instead.")
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        raise _unsupported("an old Microsoft Office document", _OFFICE)


def decode(data: bytes) -> str:
    """Decode text: by its mark, as UTF-8, as an HTML page says, else by its statistics.

    Raises:
        DocumentError: It is binary.
    """
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe\x00\x00", "utf-32-le"),
        (b"\x00\x00\xfe\xff", "utf-32-be"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
    ):
        if data.startswith(mark):
            return _checked(data[len(mark) :].decode(encoding, errors="replace"), len(data))
    if 0 in data[:4096]:  # text has none, but in UTF-16 and UTF-32
        for encoding in ("utf-16-le", "utf-16-be"):
            if _is_plausible(data[:4096].decode(encoding, errors="replace")):
                return _checked(data.decode(encoding, errors="replace"), len(data))
    try:
        return _checked(data.decode("utf-8"), len(data))
    except UnicodeDecodeError as error:
        if error.start >= len(data) - 4 and error.start > 64:  # cut within a character
            return _checked(data[: error.start].decode("utf-8"), len(data))
    declared = _META_CHARSET.search(data[:2048]) if b"<" in data[:512] else None
    if declared:
        try:
            return _checked(data.decode(declared[1].decode("ascii"), errors="replace"), len(data))
        except (LookupError, UnicodeDecodeError):
            declared = None  # an encoding that nobody knows: ask the statistics
    return _checked(_by_statistics(data), len(data))


def _is_plausible(text: str) -> bool:
    """Tell whether nearly all characters are of the common Latin and Chinese blocks."""
    common = sum(
        char in "\t\n\r"
        or " " <= char <= "~"
        or "\xa0" <= char <= "\u017f"
        or "\u2010" <= char <= "\u2027"
        or "\u3000" <= char <= "\u303f"
        or "\u4e00" <= char <= "\u9fff"
        or "\uff00" <= char <= "\uffef"
        for char in text
    )
    return common >= 0.9 * len(text)


def _by_statistics(data: bytes) -> str:
    candidates = ["utf_8", "gb18030", "big5", "cp1252", "latin_1", "shift_jis", "euc_kr"]
    found = charset_normalizer.from_bytes(
        data[:200_000], cp_isolation=candidates, threshold=0.3, enable_fallback=False
    ).best()
    encoding = found.encoding if found else "latin_1"
    return data.decode(encoding, errors="replace")


def _checked(text: str, size: int) -> str:
    sample = text[:20_000]
    odd = sum(
        (char < " " and char not in "\t\n\r\x0c\x1b")
        or char in "\x7f\ufffd"
        or "\x80" <= char <= "\x9f"
        for char in sample
    )
    if odd * 20 > len(sample):
        raise DocumentError(
            "unsupported",
            f"The file ({size:,} bytes) is neither PDF nor text: its bytes are of an unknown kind.",
            hint="Add a PDF, HTML, TeX, Markdown or text file.",
        )
    return clean(text.lstrip("\ufeff"))


def _kind_of(text: str, name: str) -> DocumentKind:
    head = text[:4000]
    lowered = name.lower()
    if _HTML_START.match(head) and not _is_jats(head):
        return "html"
    if head.lstrip().startswith(
        ("<?xml", "<!DOCTYPE", "<article", "<TEI", "<rss", "<svg", "<VOTABLE")
    ):
        _refuse_xml(head)
        if "<html" in head:
            return "html"
    commands = len(_TEX.findall(text[:200_000]))
    if (
        re.search(
            r"^[^%\n]*\\(?:documentclass|documentstyle|begin\{document\})",
            text[:400_000],
            re.MULTILINE,
        )
        or commands >= 3
    ):
        return "latex"
    if commands and lowered.endswith((".tex", ".ltx")):
        return "latex"
    if lowered.endswith((".md", ".markdown", ".mkd")):
        return "markdown"
    if lowered.endswith((".txt", ".text")):
        return "text"
    if text.startswith(("---\n", "# ")) or len(_MARKDOWN.findall(text[:100_000])) >= 2:
        return "markdown"
    if re.search(r"<(?:html|body|p|div)\b", head, re.IGNORECASE) and head.count("</") > 3:
        return "html"
    return "text"


def _is_jats(head: str) -> bool:
    return bool(_XML_KINDS[0][0].search(head)) and "<html" not in head.lower()


def _refuse_xml(head: str) -> None:
    for pattern, what in _XML_KINDS:
        if pattern.search(head):
            raise _unsupported(what, "Add the paper's PDF or HTML page instead.")
    if head.lstrip().startswith("<?xml") and "<html" not in head:
        raise _unsupported("an XML file", "Add the paper's PDF or HTML page instead.")


def refuse_page(html: str) -> None:
    """Refuse a web page that stands in a paper's place.

    Raises:
        DocumentError: It is a challenge, turn-away, log-in or error page; the message names it.
    """
    words = _count_visible(html[:400_000])
    what = ""
    if words < 350:
        what = next((what for pattern, what in _CHALLENGES if pattern.search(html[:200_000])), "")
    if not what and words < 900 and _PAYWALL.search(html):
        what = "a publisher's turn-away page (abstract only)"
    if what:
        raise DocumentError(
            "not_a_paper",
            f"The file is a web page and no paper: {what} was saved in its place.",
            hint="Open the paper in a browser, save the PDF itself, and add that.",
        )


def _count_visible(html: str) -> int:
    """Return the number of words outside of tags, scripts and furniture, in one pass."""
    words = 0
    hidden = 0
    at = 0
    for tag in _TAG.finditer(html):
        if not hidden:
            words += len(html[at : tag.start()].split())
        at = tag.end()
        if tag[2].lower() in _HIDDEN:
            hidden = max(0, hidden + (-1 if tag[1] else 1))
    return words + (0 if hidden else len(html[at:].split()))
