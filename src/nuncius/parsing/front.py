"""Authors, years and identifiers in the words of a first page; the same for every format."""

import re
from collections.abc import Iterable, Sequence

from nuncius.core.documents import Block
from nuncius.parsing.headings import is_abstract_heading

_MARKS = re.compile(
    r"\$\s*\{\s*\}\s*\^\s*\{[^$]*\}\s*\$|\$\^\{?[^$]*\}?\$|<sup>.*?</sup>|\^\[[^\]]*\]|\\orcid\w*\{[^}]*\}"
    r"|\(\s*(?:i?D|iD|ID)\s*\)|https?://\S+|\b\d{4}-\d{4}-\d{4}-\d{3}[\dX]\b|[\w.+{},-]{1,80}@[\w.-]+|\(ORCID[^)]*\)"
)
_SYMBOLS = str.maketrans(dict.fromkeys("*∗⋆★†‡§¶#✉⁎‖∥", ","))
_RAISED = re.compile(
    r"(?<=[^\W\d_.])[\s,]*\d{1,3}(?:\s*[,–-]\s*(?:\d{1,3}|[a-z](?![a-z])))*(?!\d)|[⁰¹²³⁴⁵⁶⁷⁸⁹]+"
)
_LONE_NUMBER = re.compile(r"(?:^|(?<=[\s,]))\d{1,3}(?=[\s,]|$)")
_SPLIT = re.compile(r"\s*(?:[,;，、；|•·\n]|\band\b|\bAND\b|\bAnd\b|\s&\s|\s和\s|&(?=\s))\s*")
_SUFFIX = re.compile(r"(?:Jr|Sr|II|III|IV|Ph\.?D)\.?", re.IGNORECASE)
_NOT_A_NAME = re.compile(
    r"\b(?:university|institute?|department|observator|center|centre|laborator|school|college|street"
    r"|abstract|received|accepted|submitted|draft|version|dated?|email|corresponding|et al"
    r"|affiliations|usa|germany|france|italy|academy|faculty|contributed|doi|arxiv|keywords)",
    re.IGNORECASE,
)
_COLLABORATION = re.compile(
    r"collaboration|consortium|team|contributors|group|合作组", re.IGNORECASE
)
_PARTICLES = {
    "VAN",
    "VON",
    "DE",
    "DER",
    "DEN",
    "DI",
    "DA",
    "DEL",
    "LA",
    "LE",
    "TER",
    "DOS",
    "DU",
    "EL",
    "AL",
    "Y",
    "E",
}
_HAN = re.compile("[\u3400-\u9fff]")
_STRAY_ACCENT = re.compile(r"\s+[´`¨ˆ˜]\s+(?=[íìîï])|(?<=\s)[´`¨ˆ˜](?=\s)")
_LETTERS = re.compile(r"[^\W\d_]{2}")

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_LONGEST = 40_000  # the largest collaborations fill 20,000 characters
_YEAR = r"(?:18|19|20)\d\d"
_DATE = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH},?\s+(?:18|19|20)\d\d"
    rf"|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+(?:18|19|20)\d\d"
    rf"|(?:18|19|20)\d\d,?\s+{_MONTH}(?:\s+\d{{1,2}})?|{_MONTH},?\s+(?:18|19|20)\d\d"
    r"|(?:18|19|20)\d\d[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[./]\d{1,2}[./](?:18|19|20)\d\d"
    r"|(?:18|19|20)\d\d\s*年(?:\s*\d{1,2}\s*月)?)"
)
_JOURNALS = (
    r"A&A|MNRAS|ApJS?|ApJL|AJ|PASP|PASA|PASJ|A&AS|Nature(?: Astronomy)?|Science|JCAP"
    r"|JATIS|RNAAS|RAA|Icarus"
    r"|Phys\.? ?Rev\.? ?(?:D|Lett\.?)|Astronomy & Astrophysics|Mon\. Not\. R\. Astron\. Soc\."
    r"|(?:The )?Astro(?:physical|nomical) Journal(?: Letters| Supplement Series)?"
    r"|Journal of Open Source Software"
    r"|天文学报|天文学进展"
)
_HEADER = re.compile(
    rf"(?:{_JOURNALS})[^\n]{{0,60}}?(?<![\d.]){_YEAR}(?![\d.])"
    rf"|(?:©|\(c\)|\bcopyright)\s*(?:©\s*)?(?:The Authors?\.?\s*)?{_YEAR}",
    re.IGNORECASE,
)
_EVENTS = tuple(
    re.compile(rf"(?:{words})[^\n;/]{{0,24}}?(?P<date>{_DATE})", re.IGNORECASE)
    for words in (
        "published(?: online)?|发表",
        "accepted(?: for publication)?|接收|录用",
        "revised|修回",
        "received|submitted|收稿(?:日期)?",
        "draft version|draft|version of|version|compiled(?: on| using)?|dated?",
    )
)
_SELF = re.compile(
    r"^[^\n]{2,80}\((?P<year>(?:19|20)\d\d)\)\.?,? [^\n]*\bjournal\b", re.IGNORECASE | re.MULTILINE
)
_BARE_DATE = re.compile(rf"^\W*(?P<date>{_DATE})\W*$", re.IGNORECASE | re.MULTILINE)
_STAMP_DATE = re.compile(
    rf"arXiv:\S+.{{0,24}}?(?P<date>\d{{1,2}} {_MONTH} (?:19|20)\d\d)", re.IGNORECASE
)
_ANY_YEAR = re.compile(r"(?<!\d)(?:18|19|20)\d\d(?!\d)")
_PLACEHOLDERS = ("01 January 1970", "1 January 1970", "January 1, 1970", "1970-01-01")


def split_authors(text: str) -> tuple[str, ...]:
    """Return the names in an author line, without marks of affiliation, addresses and e-mails.

    Capitals that stand for small capitals are written as names are: ``L. G. BOUMA`` becomes
    ``L. G. Bouma``.
    """
    if len(text) > _LONGEST:
        return ()
    text = _STRAY_ACCENT.sub("", _MARKS.sub(" ", text))
    text = text.translate(_SYMBOLS)
    text = _RAISED.sub(",", text)  # a mark of affiliation ends a name
    text = _LONE_NUMBER.sub(",", text)
    names: list[str] = []
    for part in _SPLIT.split(text.replace(":", ",")):
        name = re.sub(r"\s+", " ", part).strip(" .,;:()[]{}")
        if part.rstrip().endswith(".") and (len(name) < 3 or _SUFFIX.fullmatch(name)):
            name += "."
        if names and _SUFFIX.fullmatch(name):
            names[-1] = f"{names[-1]} {name}"
        elif is_name(name):
            names.append(_in_small_letters(name))
    return tuple(dict.fromkeys(names))


def is_name(text: str) -> bool:
    """Tell whether `text` can be the name of a person or a collaboration."""
    if _COLLABORATION.search(text):
        return len(text.split()) <= 8
    if _HAN.search(text):
        return 2 <= len(text.replace(" ", "")) <= 6 and not re.search(
            r"[\d天文台大学研究所院系]", text
        )
    words = text.split()
    if not 1 <= len(words) <= 7 or len(text) < 3 or _NOT_A_NAME.search(text):
        return False
    letters = sum(char.isalpha() for char in text)
    return (
        letters >= 0.7 * len(text.replace(" ", ""))
        and any(word[0].isupper() for word in words)
        and not any(char.isdigit() for char in text)
    )


def _in_small_letters(name: str) -> str:
    letters = [char for char in name if char.isalpha()]
    long_words = [word for word in re.split(r"[\s.-]+", name) if len(word) > 1]
    if not long_words or not all(char.isupper() for char in letters) or _HAN.search(name):
        return name
    if _COLLABORATION.search(name) or all(len(word) < 3 for word in long_words):
        return name
    return " ".join(
        word.lower()
        if word in _PARTICLES
        else re.sub(r"[^\W\d_]+", lambda match: match[0].capitalize(), word)
        for word in name.split()
    )


def looks_like_authors(text: str) -> bool:
    """Tell whether a line holds names rather than a title, an address or a sentence."""
    names = split_authors(text)
    if not names:
        return False
    # a sentence may hold what looks like a name (a numbered object, a unit); names fill their line
    if sum(map(len, names)) < 0.4 * len(re.sub(r"[\W\d]", "", _MARKS.sub(" ", text))):
        return False
    if _HAN.search(text):
        return len(text) <= 60
    pieces = [part for part in _SPLIT.split(_MARKS.sub(" ", text)) if _LETTERS.search(part)]
    lower = sum(
        word[0].islower() and word.upper() not in _PARTICLES
        for name in names
        if not _COLLABORATION.search(name)
        for word in name.split()
    )
    return len(names) * 10 >= len(pieces) * 7 and lower <= len(names) // 3


def find_year(text: str, *, arxiv_id: str | None = None, doi: str | None = None) -> int | None:
    """Return the year that a first page gives itself, or None.

    In this order: a journal's header or copyright line; a date of publication, acceptance,
    revision, receipt, or of the draft; the arXiv stamp; a date alone on its line; the year in an
    arXiv identifier or a DOI. Years in sentences and references are never taken.
    """
    for placeholder in _PLACEHOLDERS:
        text = text.replace(placeholder, "")
    found = _HEADER.search(text)
    if found:
        return _header_year(text[found.start() : found.end() + 1])
    for event in _EVENTS:
        match = event.search(text)
        if match:
            return _first_year(match["date"])
    for pattern in (_STAMP_DATE, _BARE_DATE):
        match = pattern.search(text)
        if match:
            return _first_year(match["date"])
    match = _SELF.search(text)
    if match:
        return int(match["year"])
    return year_of_arxiv(arxiv_id) or _year_of_doi(doi)


def _header_year(header: str) -> int:
    """Return the year in brackets, else the last: ``MNRAS 520, 2014–2030 (2023)``."""
    bracketed = re.search(r"\(((?:18|19|20)\d\d)\)", header)
    return int(bracketed[1]) if bracketed else int(_ANY_YEAR.findall(header)[-1])


def _first_year(date: str) -> int:
    match = _ANY_YEAR.search(date)
    return int(match[0]) if match else 0


def year_of_arxiv(arxiv_id: str | None) -> int | None:
    """Return the year of an arXiv identifier: 2022 for ``2201.01234``, 1998 for ``.../9805201``."""
    if not arxiv_id:
        return None
    digits = arxiv_id.rsplit("/", 1)[-1][:2]
    if not digits.isdigit():
        return None
    short = int(digits)
    return 1900 + short if short > 90 else 2000 + short


def _year_of_doi(doi: str | None) -> int | None:
    match = re.search(r"(?:/|\.)((?:19|20)\d\d)(?=\d{4,5}$|\.|/|-)", doi or "")
    return int(match[1]) if match else None


def first_sane_year(years: Iterable[int | None]) -> int | None:
    """Return the first year that a paper can have."""
    return next((year for year in years if year and 1800 <= year <= 2100), None)


def abstract_below(blocks: Sequence[Block]) -> str:
    """Return what stands under the heading of an abstract among a document's first blocks."""
    texts: list[str] = []
    inside = False
    for block in blocks[:80]:
        if block.kind == "heading":
            if inside:
                break
            inside = is_abstract_heading(block.text)
        elif inside and block.kind in {"paragraph", "list", "equation"}:
            texts.append(block.text)
    return "\n".join(texts)[:6000]
