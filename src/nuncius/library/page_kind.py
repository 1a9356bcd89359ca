"""Tell what a web page is that came for a paper: the article, a page about it, a wall, an error."""

import html as html_module
import itertools
import re
from collections.abc import Mapping
from typing import Final, Literal

from nuncius.core.errors import DocumentError
from nuncius.library.alike import title_words
from nuncius.parsing.sniff import refuse_page

PageKind = Literal["article", "landing", "turn_away", "challenge", "error"]
SENTENCES: Final[Mapping[PageKind, str]] = {
    "article": "the article itself",
    "landing": "a page about the paper, without its text",
    "turn_away": "a page that gives the text to subscribers only",
    "challenge": "a check for robots, which is left alone",
    "error": "an error page",
}
_LOOKED_AT: Final = 3_000_000  # characters: publishers' heads are long, papers may be longer
_TOP: Final = 200_000  # characters in which a page says its title
_FEW: Final = 400
"""Words: walls and errors say little; the scripts that they are known by are on real articles too."""
_CHALLENGE = re.compile(
    r"<title>\s*(?:radware bot manager|just a moment|client challenge|shieldsquare|attention required!"
    r"|ddos-guard|one moment, please|please wait|checking your browser|verifying|human verification"
    r"|are you (?:a )?(?:human|robot)|security check|robot check|bot verification|[^<]{0,80}captcha)"
    r"|_cf_chl_opt|cf-browser-verification|challenge-error-t|challenges\.cloudflare\.com"
    r"|perfdrive\.com|shieldsquare|px-captcha|perimeterx|_incapsula_resource|incapsula incident"
    r"|datadome|awswafintegration|aws-waf-token|ddos-guard|g-recaptcha|h-captcha|hcaptcha\.com"
    r"|verify (?:that )?you are (?:a )?human|confirm you are a human|are you a robot|unusual traffic"
    r"|making sure you(?:'|’|&#39;)re not a bot|anubis_challenge|cookieabsent"
    r"|enable javascript and cookies|please enable (?:javascript|cookies)",
    re.IGNORECASE,
)
_TURN_AWAY = re.compile(
    r"turn-?away|access-?denial|access this article|\"isaccessibleforfree\"\s*:\s*\"?false"
    r"|name=\"(?:access|wt\.cg_s)\"\s+content=\"(?:no|denied)\"|get access to the full (?:text|version)"
    r"|(?:buy|purchase|rent|get|gain) (?:this article(?! in print)|(?:instant |full |online )?access|pdf|now)"
    r"|sign in or buy|access through your institution|institutional (?:login|sign[ -]in|access)"
    r"|subscription required|subscribe (?:to|for) (?:read|access|full)"
    r"|you (?:do not|don(?:'|’|&#39;)t) have access|no access to (?:this|the full)",
    re.IGNORECASE,
)
_LOG_IN = re.compile(
    r"type=[\"']?password|<title>[^<]{0,100}\b(?:log ?in|sign ?in|anmelden|登录|access denied)\b"
    r"|shibboleth|openathens|single sign-on",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"<title>[^<]{0,100}(?:\b40[0-9]\b|\b50[0-9]\b|not found|unavailable|bad gateway|time-?out|error|oops"
    r"|maintenance)|\bltx_error\b[^<]{0,20}fatal|conversion (?:to html )?(?:had a )?(?:fatal|failed)"
    r"|no (?:paper|content|html) (?:was )?(?:found|available)|this (?:paper|document) (?:does not|could not)",
    re.IGNORECASE,
)
_BODY = re.compile(
    r"itemprop=[\"']?articlebody|wd-jnl-art-full-text|hlfld-fulltext|widget-articlefulltext|nlm_sec\b"
    r"|class=[\"'][^\"'<>]{0,200}\b(?:article-?full-?text|fulltext-view|article-section__full|html-body"
    r"|jig-ncbiinpagenav)\b|<section[^<>]{0,200}\bid=[\"']?(?:sec0*1\b|s0*1\b|section-?1\b|sec-1\b)",
    re.IGNORECASE,
)
_LATEXML = re.compile(r"class=[\"'][^\"'<>]{0,300}\bltx_document\b")
_PARAGRAPH = re.compile(r"\bltx_para\b")
_NAMED = re.compile(r"<section\b[^<>]{0,300}\bdata-title=\"([^\"<>]{1,200})\"", re.IGNORECASE)
_HEADING = re.compile(r"<h[1-5]\b[^<>]{0,600}>(.{1,400}?)</h[1-5]", re.IGNORECASE | re.DOTALL)
_BODY_HEADING = re.compile(
    r"^(?:(?:\d{1,2}|[ivx]{1,4})(?:[.\s]\s*|\s+-\s+)\s*[a-z]|introduction\b|(?:materials and )?methods?\b"
    r"|observations?\b|(?:results?|discussion|conclusions?|analysis|data reduction|main)\b|summary and"
    r"|引言|结论|讨论|观测)",
    re.IGNORECASE,
)
_NO_BODY = re.compile(
    r"^(?:abstract|references?|acknowledge?ments?|author|rights|about this|inline rec|cite|ethics|funding"
    r"|electronic supp|supplementary|additional|data avail|code avail|fig|table|extended data|competing"
    r"|peer review|subjects|similar|explore|change hist|appendi|notes|contributions|corresponding"
    r"|download|publisher|keywords|availability|search|navigation|editor|highlights|graphical)",
    re.IGNORECASE,
)
_SCHOLARLY = re.compile(
    r"name=[\"'](?:citation_(?:title|doi)|dc\.(?:title|identifier)|prism\.doi)[\"']"
    r"|property=[\"']og:title",
    re.IGNORECASE,
)
_TITLE_PLACES = (
    re.compile(
        r"<meta\b[^<>]{0,300}?(?:name|property)=[\"'](?:citation_title|dc\.title|og:title)[\"']\s+"
        r"content=(?:\"([^\"<>]{1,600})\"|'([^'<>]{1,600})')",
        re.IGNORECASE,
    ),
    re.compile(
        r"<meta\b\s+content=(?:\"([^\"<>]{1,600})\"|'([^'<>]{1,600})')\s+"
        r"(?:name|property)=[\"'](?:citation_title|dc\.title|og:title)",
        re.IGNORECASE,
    ),
    re.compile(r"<title\b[^<>]{0,200}>([^<]{1,600})</title", re.IGNORECASE),
    re.compile(r"<h1\b[^<>]{0,600}>(.{1,1000}?)</h1", re.IGNORECASE | re.DOTALL),
)
_TAG = re.compile(r"<(/?)([A-Za-z!][\w-]{0,40})[^<>]{0,3000}>")
_HIDDEN = frozenset({"script", "style", "head", "nav", "footer", "noscript", "svg"})


def page_kind(
    html: str, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> PageKind:
    """Tell what a page is from what it says; a check for robots is recognised, never answered.

    Args:
        headers: Names in lower case.
    """
    html = html[:_LOOKED_AT]
    words = _count_words(html)
    if (headers or {}).get("cf-mitigated", "").lower() == "challenge":
        return "challenge"
    if words < _FEW and _CHALLENGE.search(html):
        return "challenge"
    if status >= 400:
        return "turn_away" if status in {401, 402, 403} else "error"
    if _has_body(html, words):
        return "article" if _passes(html) else "turn_away"
    if _TURN_AWAY.search(html) or (words < _FEW and _LOG_IN.search(html)):
        return "turn_away"
    if words < 20 or _LATEXML.search(html) or (words < _FEW and _ERROR.search(html)):
        return "error"
    if _SCHOLARLY.search(html):
        return "landing"
    return "landing" if words >= _FEW or _passes(html) else "error"


def is_right_page(html: str, title: str) -> bool | None:
    """Tell whether the page calls itself by the paper's title; None where it says no title at all."""
    wanted = set(title_words(html_module.unescape(title)))
    if not wanted:
        return None
    said = [
        set(title_words(html_module.unescape(_plain(next(filter(None, match.groups()), "")))))
        for place in _TITLE_PLACES
        for match in itertools.islice(place.finditer(html[:_TOP]), 3)
    ]
    said = [words for words in said if words]
    if not said:
        return None
    return any(
        len(wanted & words) >= (0.65 if len(wanted) > 3 else 1.0) * len(wanted) for words in said
    )


def _plain(markup: str) -> str:
    return re.sub(r"<annotation\b.{0,500}?</annotation>|<[^<>]*>", " ", markup, flags=re.DOTALL)


def _has_body(html: str, words: int) -> bool:
    """Tell whether the text itself is there, not only what is said about it."""
    if _LATEXML.search(html):
        return words >= 250 and len(_PARAGRAPH.findall(html)) >= 3
    if words < 200:
        return False
    if sum(not _NO_BODY.match(name) for name in set(_NAMED.findall(html))) >= 2:
        return True
    if _BODY.search(html):
        return True
    headings = {_plain(found).strip() for found in _HEADING.findall(html)}
    return words >= 800 and sum(bool(_BODY_HEADING.match(heading)) for heading in headings) >= 2


def _passes(html: str) -> bool:
    """Tell whether the parser's own judgement lets the page pass."""
    try:
        refuse_page(html)
    except DocumentError:
        return False
    return True


def _count_words(html: str) -> int:
    words, hidden, at = 0, 0, 0
    for tag in _TAG.finditer(html):
        if not hidden:
            words += len(html[at : tag.start()].split())
        at = tag.end()
        if tag[2].lower() in _HIDDEN and not tag[0].endswith("/>"):
            hidden = max(0, hidden + (-1 if tag[1] else 1))
    return words + (0 if hidden else len(html[at:].split()))
