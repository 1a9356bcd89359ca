"""What a heading, a caption and a reference look like in words; the same for every format."""

import re

NUMBERED = re.compile(
    r"(?:§\s*)?(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}\.?|[A-H](?:\.\d{1,2}){1,3}\.?|[A-H]\.|[IVX]{1,5}\."
    r"|Appendix\s+[A-Z\d][.:]?|附录\s*[A-Z\d]?|第[一二三四五六七八九十]+[章节]|[一二三四五六七八九十]{1,3}、)"
    r"\s*(?P<title>(?=[^\W\d_]|[`$\"“'(*_\\])\S.*)",
    re.IGNORECASE,
)
_NAMES = re.compile(
    r"(?:abstract|summary|introduction|background|data|observations?|methods?|methodology|results?"
    r"|analysis|discussions?|(?:summary|discussion|results?|conclusions?)\s+(?:and|&)\s+"
    r"(?:conclusions?|discussions?|summary|outlook|future work|analysis)|conclusions?"
    r"|concluding remarks|future work|acknowledg(?:e)?ments?|references|bibliography"
    r"|literature cited"
    r"|data availability(?: statement)?|(?:software|facilities)|appendix|appendices|keywords"
    r"|statement of need|author contributions|conflicts? of interest|supplementary material"
    r"|摘\s*要|引\s*言|前\s*言|绪\s*论|方\s*法|结\s*果|讨\s*论|结\s*论|总\s*结|数\s*据|致\s*谢|参\s*考\s*文\s*献|附\s*录)"
    r"\s*[:.：]?",
    re.IGNORECASE,
)
_REFERENCES = re.compile(
    r"(?:[\dIVX.]+\s*)?(?:references?(?:\s+cited)?|bibliography|literature cited"
    r"|参\s*考\s*文\s*献)\s*[:：]?",
    re.IGNORECASE,
)
_ABSTRACT = re.compile(r"(?:abstract|摘\s*要)\s*[:：.]?", re.IGNORECASE)
_CAPTION = re.compile(
    r"(?:extended data\s+|supplementary\s+|online\s+)?"
    r"(?P<what>figures?|fig\.?|tables?|tab\.|图|表|listing|algorithm)\s*~?"
    r"(?P<number>[A-Z]{0,2}\.?\d{1,3}[a-z]?(?:\.\d{1,2})?|[IVX]{1,5}(?=[.:\s]))"
    r"(?P<mark>\s*[.:|：—–]|\s*[-]{1,2}(?=\s)|\s*$|[\u3000\s]+(?=[\u3400-\u9fff])"
    r"(?!给出|显示|列出|展示|所示|中|是|为|可见|可知|的|说明|表明|描述|总结|比较))",
    re.IGNORECASE,
)
_RUN_IN_ABSTRACT = re.compile(
    r"(?:abstract|摘\s*要)(?:\s*[:：.—–-]\s*|\u3000\s*|\s{2,})(?=\S)", re.IGNORECASE
)


def is_known_heading(text: str) -> bool:
    """Tell whether `text` is a section name that papers share, such as ``Introduction``."""
    return bool(_NAMES.fullmatch(text.strip()))


def is_references_heading(text: str) -> bool:
    """Tell whether a list of references follows this heading."""
    return bool(_REFERENCES.fullmatch(text.strip(" #*")))


def is_abstract_heading(text: str) -> bool:
    """Tell whether this heading stands over the abstract."""
    return bool(_ABSTRACT.fullmatch(text.strip(" #*")))


def run_in_abstract(text: str) -> str | None:
    """Return the abstract where `text` starts with the word and a mark (``Abstract: We ...``)."""
    match = _RUN_IN_ABSTRACT.match(text)
    return text[match.end() :] if match else None


def caption_of(text: str) -> str | None:
    """Return ``table`` or ``figure`` where `text` starts a caption, else None.

    A mark must follow the number: ``Figure 3.``, ``Table 2:``, ``表 1 各``. ``Figure 3 shows`` is
    text.
    """
    match = _CAPTION.match(text)
    if not match:
        return None
    return "table" if match["what"].lower().startswith(("tab", "表")) else "figure"


def heading_depth(text: str) -> int | None:
    """Return 1 for ``2. Data``, 2 for ``2.1 Spectra``, or None where no number leads."""
    match = NUMBERED.match(text.strip())
    if not match:
        return None
    number = match["number"].rstrip(".:、")
    return 1 + number.count(".")
