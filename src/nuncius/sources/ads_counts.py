"""Reads numbers of citations, authors and reads, and grants, facilities and keywords, out of words."""

import re

from nuncius.sources.ads_clauses import Clause, Match, Span
from nuncius.sources.ads_people import PAPERS
from nuncius.sources.ads_reading import CUTS, Reading

_START = rf"(?:^|(?<=[{CUTS}]))\s*"
_ASK = r"(?:(?:show\s+me|find|get|list|give\s+me|search\s+for|looking\s+for|i\s+want|need|the|all|any)\s+)*"
_N = r"(?P<n>\d[\d,]*)"
_MORE = r"(?P<more>more\s+than|over|greater\s+than|above|exceeding|>)"
_LEAST = r"(?P<least>at\s+least|no\s+(?:fewer|less)\s+than|minimum(?:\s+of)?|≥|>=)"
_LESS = r"(?P<less>fewer\s+than|less\s+than|under|below|<)"
_MOST = r"(?P<most>at\s+most|no\s+more\s+than|up\s+to|maximum(?:\s+of)?|≤|<=)"
_HOW = (
    rf"(?:(?:{_LEAST}|{_MORE}|{_LESS}|{_MOST}|(?P<just>exactly|only|just))\s*)?{_N}(?:\s*(?:-|–|to"
    rf"|and)\s*(?P<m>\d[\d,]*))?(?P<plus>\s*\+|\s+or\s+more)?"
)
_WITH = r"(?:(?:with|having|that\s+have|which\s+have|have|has|by|cited|between|from|involving)\s+)*"
_COUNTED = (
    (
        "citation_count",
        re.compile(
            (
                rf"(?<!\w){_WITH}(?:(?:cited|cites?)\s+)?{_HOW}\s+(?:citations?(?!\s+\w+\s+by)|cites"
                rf"|times(?:\s+cited)?)(?!\w)"
            ),
            re.IGNORECASE,
        ),
    ),
    (
        "author_count",
        re.compile(rf"(?<!\w){_WITH}{_HOW}[\s-]+(?:co-?)?authors?(?!\w)", re.IGNORECASE),
    ),
    (
        "read_count",
        re.compile(
            rf"(?<!\w){_WITH}(?:read\s+)?{_HOW}\s+(?:reads?|downloads)(?!\w)", re.IGNORECASE
        ),
    ),
    ("page_count", re.compile(rf"(?<!\w){_WITH}{_HOW}\s+pages?(?!\w)", re.IGNORECASE)),
    (
        "author_count",
        re.compile(rf"(?<!\w)author[_\s]count\s*(?:of|is|:|=)?\s*{_HOW}(?!\w)", re.IGNORECASE),
    ),
    (
        "citation_count",
        re.compile(rf"(?<!\w)citation[_\s]counts?\s*(?:of|is|:|=)?\s*{_HOW}(?!\w)", re.IGNORECASE),
    ),
)
_FIXED: tuple[tuple[str, Clause], ...] = (
    (
        (
            r"(?:by\s+(?:a\s+)?)?(?:single|sole|solo|one)[\s-]author(?:ed|s)?(?!\w)"
            r"|(?:by\s+)?a\s+single\s+author|alone\s+as\s+author"
        ),
        Match("author_count", "1", "plain"),
    ),
    (
        r"(?:very\s+)?(?:highly|heavily|widely|well|frequently|much)[\s-]cited",
        Span("citation_count", "100", "*"),
    ),
    (r"top[\s-]cited(?!\s+\d)", Span("citation_count", "100", "*")),
    (
        r"(?:highly\s+)?influential|high[\s-]impact(?!\s+journals)",
        Span("citation_count", "50", "*"),
    ),
    (
        r"(?:never|un|not\s+yet)[\s-]?cited|with(?:out|\s+no)\s+citations",
        Match("citation_count", "0", "plain"),
    ),
    (r"(?:most|widely|highly)[\s-]read", Span("read_count", "1000", "*")),
)


def read_counts(reading: Reading) -> None:
    """Take numbers of citations, authors, reads and pages."""
    for pattern, clause in _FIXED:
        match = re.search(rf"(?<![\w-])(?:{pattern})(?!\w)", reading.text, re.IGNORECASE)
        if match:
            reading.take(match.start(), match.end(), [clause])
    for field, pattern in _COUNTED:
        if match := pattern.search(reading.text):
            reading.take(match.start(), match.end(), [_count(field, match)])
    popular = rf"{_START}{_ASK}popular\s+(?!{PAPERS}\s+(?:in|on|about|at))(?=.*{PAPERS})"
    if match := re.search(popular, reading.text, re.IGNORECASE):
        reading.take(match.start(), match.end(), [Span("read_count", "1000", "*")])


def _count(field: str, match: re.Match[str]) -> Clause:
    number = int(match["n"].replace(",", ""))
    if match["m"]:
        return Span(field, str(number), match["m"].replace(",", ""))
    if match["more"]:
        return Span(field, str(number + 1), "*")
    if match["least"] or match["plus"]:
        return Span(field, str(number), "*")
    if match["less"]:
        return Span(field, "0", str(max(number - 1, 0)))
    if match["most"]:
        return Span(field, "0", str(number))
    if field == "citation_count" and not match["just"]:
        return Span(field, str(number), "*")
    return Match(field, str(number), "plain")


_GIVEN = (
    (
        "grant",
        re.compile(
            r"(?:(?:funded|supported)\s+(?:by|under)\s+(?:the\s+)?)?(?:(?P<agency>NASA|NSF|ERC|STFC"
            r"|DOE|DFG)\s+)?grants?\s+(?:number|no\.?|id|#)?\s*:?\s*(?P<it>[A-Z0-9][\w/-]*\d[\w/-]*)"
        ),
    ),
    (
        "grant",
        re.compile(
            r"(?i:(?:funded|supported)\s+by\s+(?:the\s+"
            r"|a\s+)?)(?P<it>(?:[A-Z][\w&-]+)(?:\s+[A-Z][\w&-]+){0,4})(?:\s+grants?)?"
        ),
    ),
    (
        "facility",
        re.compile(
            r"(?i:(?:with\s+|using\s+)?(?:the\s+)?facilit(?:y"
            r"|ies)(?:\s+keyword)?\s+)(?P<it>[A-Z][\w:/-]+)"
        ),
    ),
    (
        "keyword",
        re.compile(
            r"(?i:(?:with\s+)?(?:the\s+)?keywords?\s+(?:is\s+"
            r"|are\s+)?)(?P<it>[\w-]+(?:\s+[\w-]+)?)(?=\s*$|[\ue000\ue001])"
        ),
    ),
)


def read_funding(reading: Reading) -> None:
    """Take grants, facilities and keywords that the request names as such."""
    for field, pattern in _GIVEN:
        if match := pattern.search(reading.text):
            clauses: list[Clause] = [Match(field, match["it"])]
            if field == "grant" and match.groupdict().get("agency"):
                clauses.append(Match(field, match["agency"]))
            reading.take(match.start(), match.end(), clauses)
