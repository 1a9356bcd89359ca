"""Reads a request in plain words, from the surest signs to the loosest, into ADS clauses."""

import re
from collections.abc import Sequence
from datetime import date

from nuncius.sources.ads_clauses import AnyOf, Clause, Match, Operator, Span
from nuncius.sources.ads_counts import read_counts, read_funding
from nuncius.sources.ads_dates import find_date, find_recent
from nuncius.sources.ads_filters import (
    read_groups,
    read_journals,
    read_kinds,
    read_places,
)
from nuncius.sources.ads_identifiers import read_identifiers, read_position
from nuncius.sources.ads_objects import read_designations, read_objects
from nuncius.sources.ads_people import (
    PAPERS,
    is_surname,
    read_authors,
    read_leading_name,
    read_names,
)
from nuncius.sources.ads_reading import CUT, CUTS, Reading, is_unwanted
from nuncius.sources.ads_topic import read_fields, read_near, read_quotes, read_topic


def _dates(reading: Reading, today: date) -> None:
    while found := find_date(reading.text, today=today):
        reading.take(found.start, found.end, [found.span])


_P = rf"(?:(?:{PAPERS}|ones|sources|anything|everything)\s+)?(?:(?:that|which|who)\s+)?(?:have\s+|also\s+)?"
_INTO = (
    ("citations", rf"{_P}(?:cite|cites|citing|cited\s+the)\s+(?!\d+\s+(?:times|papers))"),
    (
        "citations",
        r"(?:that|which|who)\s+(?:have\s+)?(?:cited|reference)\s+(?!by\b|in\b|at\b|more\b|over\b|\d)",
    ),
    ("citations", rf"(?:{PAPERS}\s+)?referencing\s+"),
    ("citations", rf"(?:who|what)\s+(?:{PAPERS}\s+)?(?:has\s+)?(?:cites|cited|cite)\s+"),
    ("citations", r"citations?\s+(?:to|of|for|from)\s+"),
    ("references", rf"{_P}(?:are\s+|is\s+|were\s+)?(?:cited|referenced)\s+(?:by|in)\s+"),
    (
        "references",
        (
            r"(?:list\s+of\s+|list\s+|show\s+)?(?:the\s+)?(?<!common\s)(?<!cited\s)references?"
            r"(?:\s+list)?\s+(?:cited\s+|used\s+)?(?:in|of|from|by)\s+"
        ),
    ),
    ("references", r"(?:the\s+)?bibliography\s+(?:of|from|for|in)\s+"),
    (
        "similar",
        (
            rf"(?:{PAPERS}|ones|anything)?\s*(?:that\s+are\s+)?(?:similar"
            rf"|comparable)\s+(?:{PAPERS}\s+)?(?:to|as)\s+"
        ),
    ),
    ("similar", rf"{PAPERS}\s+(?:like|resembling)\s+"),
    ("similar", r"(?:find\s+)?more\s+like\s+"),
)
_TOP = re.compile(
    rf"(?:the\s+)?(?:(?:top|best|first)[\s-]+(?P<n>\d+|ten|five|three|twenty)\s*(?:most[\s-]cited\s+"
    rf"|cited\s+)?(?:{PAPERS})?"
    rf"|(?P<m>\d+|ten|five|three|twenty)\s+(?:most[\s-]cited|best|top)(?:\s+{PAPERS})?"
    rf"|(?:most|highest)[\s-](?:highly[\s-])?cited(?:\s+(?P<k>\d+))?(?:\s+{PAPERS})?"
    rf"|(?:top(?:[\s-]ranked)?|best)\s+{PAPERS})(?!\w)",
    re.IGNORECASE,
)
_TOP_WORDS = {"three": "3", "five": "5", "ten": "10", "twenty": "20"}
_BY_CITATIONS = re.compile(
    r"(?<!\w)(?:(?:sorted|ranked|ordered)\s+)?by\s+(?:number\s+of\s+)?citations?(?:\s+count)?(?!\w)",
    re.IGNORECASE,
)
_ON = r"(?:\s+(?:of|on|about))?"
_TRENDING = (
    rf"what['’]?s\s+(?:hot|popular|trending|being\s+read)"
    rf"|(?:currently\s+)?(?:trending|hot)(?:\s+(?:topics?|{PAPERS}))?(?=\s+(?:in|on|about|at)\b)"
    rf"|trending|(?:currently\s+)?popular(?:\s+{PAPERS})?(?=\s+(?:in|on|about|at)\b)"
    rf"|hot\s+(?:topics?|{PAPERS})|being\s+read|what\s+(?:are\s+people|people\s+are|is\s+everyone)\s+reading"
)
_USEFUL = (
    r"(?:most\s+)?(?:useful|helpful|foundational|seminal|must[\s-]read|essential|landmark|key\s+methodology"
    rf"|fundamental|classic|core|important|key)\s+(?:{PAPERS}|references|reading)"
    rf"|common(?:ly\s+cited)?\s+references(?:\s+(?:in|on|for))?"
)
_REVIEWS = (
    r"(?:literature\s+|state[\s-]of[\s-]the[\s-]art\s+|comprehensive\s+|good\s+"
    r"|recent\s+)*review(?:\s+(?:papers?|articles?))?s?"
    r"(?:\s+(?:of|on|about|covering|in|for))?(?!\s+(?:process|panel|board))"
    rf"|{PAPERS}\s+(?:(?:that|which)\s+reviews?|reviewing)|summary\s+{PAPERS}{_ON}"
    rf"|overviews?(?:\s+(?:papers?|articles?))?{_ON}"
    rf"|(?:(?-i:(?:literature\s+)?survey)|^survey)\s+(?:(?:papers?|articles?){_ON}|(?:about|on)(?=\s))"
    rf"|tutorials?(?:\s+(?:papers?|articles?))?{_ON}|introductions?\s+to"
)
_AROUND: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(rf"(?<![\w-])(?:{text})(?!\w)", re.IGNORECASE))
    for name, text in (("trending", _TRENDING), ("useful", _USEFUL), ("reviews", _REVIEWS))
)
_NOT_REVIEW = re.compile(
    r"(?:book|textbook|peer|annual)\s*-?$|reviews?\s+of\s+modern", re.IGNORECASE
)


def _citing(text: str) -> tuple[str, re.Match[str]] | None:
    """Return the first phrase after which another request stands, such as "papers citing"."""
    best: tuple[str, re.Match[str]] | None = None
    for name, pattern in _INTO:
        match = re.search(rf"(?<![\w-]){pattern}", text, re.IGNORECASE)
        if match and (best is None or match.start() < best[1].start()):
            best = (name, match)
    return best


_DOES_CITE = re.compile(
    (
        rf"^\s*(?:what\s+(?:{PAPERS}\s+)?(?:does|do|did)\s+(?P<a>.+?)\s+(?:cite|reference)"
        rf"|(?P<who>.+?)\s+(?:is\s+|are\s+)?(?P<by>cited\s+by)|{PAPERS}\s+(?P<b>.+?)\s+(?:cites"
        rf"|references))\s*[?.]*\s*$"
    ),
    re.IGNORECASE,
)
_OUTSIDE = re.compile(
    (
        r"(?:\s*,\s*|\s+(?:that\s+(?:are|were)\s+)?)(?=(?:published|since|after|in\s+the\s+(?:last"
        r"|past)|refereed|peer[\s-]reviewed|open\s+access|by\s+date)\b.*$)"
    ),
    re.IGNORECASE,
)


def read_words(text: str, *, today: date, depth: int = 0, known: Sequence[Clause] = ()) -> Reading:
    """Read a request in plain words.

    Nested requests ("reviews citing papers by X") are followed three deep. Clauses that are `known`
    already stand in `text` as cuts.
    """
    reading = Reading(text, list(known))
    read_identifiers(reading)
    read_quotes(reading)
    read_position(reading)
    read_near(reading)
    if depth < 3 and _second_order(reading, today=today, depth=depth):
        return reading
    _plain(reading, today=today, nested=depth > 0)
    return reading


def _second_order(reading: Reading, *, today: date, depth: int) -> bool:
    match = _DOES_CITE.match(reading.text)
    if match and CUT not in reading.text:
        inner = match["a"] or match["b"] or match["who"]
        name = "citations" if match["by"] else "references"
        return _wrap(reading, name, head="", tail=inner, today=today, depth=depth)
    found = _citing(reading.text)
    if not found:
        return False
    name, match = found
    review = re.match(r"reviews?(?!\w)", match[0], re.IGNORECASE)
    tail = reading.text[match.end() :]
    head = reading.text[: match.start()] + (review[0] if review else "")
    return _wrap(reading, name, head=head, tail=tail, today=today, depth=depth)


def _wrap(reading: Reading, name: str, *, head: str, tail: str, today: date, depth: int) -> bool:
    """Read `tail` as the inner request and `head`, with what `tail` says of the whole, as the outer."""
    known = list(reading.clauses)
    cut = _OUTSIDE.search(tail)
    outer = f"{head} {CUT} {tail[cut.end() :]}" if cut else head
    inside = read_words(tail[: cut.start()] if cut else tail, today=today, depth=depth + 1)
    quoted_inside = known if known and CUT in tail and CUT not in head else []
    clauses = (*quoted_inside, *inside.clauses)
    if not clauses:
        return False
    whole = read_words(outer, today=today, depth=depth + 1)
    reading.clauses = [clause for clause in known if clause not in quoted_inside]
    operator: Clause = Operator(name, clauses)
    wrapping = next(
        (
            c
            for c in whole.clauses
            if isinstance(c, Operator) and c.name == "reviews" and not c.inside
        ),
        None,
    )
    rest = [clause for clause in whole.clauses if clause != wrapping]
    if wrapping:
        operator = Operator("reviews", (operator,))
    scratch = Reading(f"{name} {tail}")
    scratch.take(0, len(scratch.text), [operator])
    reading.notes += [
        *scratch.notes,
        *(note for note in whole.notes if not note.query.startswith("reviews(*:*)")),
    ]
    reading.clauses += [operator, *rest]
    reading.text = ""
    return True


_INSIDE = frozenset(
    {
        "abs",
        "title",
        "abstract",
        "full",
        "body",
        "author",
        "object",
        "aff",
        "inst",
        "bibgroup",
        "bibstem",
        "keyword",
        "identifier",
        "arXiv",
        "doi",
        "",
    }
)


_CITED = re.compile(
    rf"^[\s{CUTS}]*(?P<names>[A-ZÀ-Þ][^\W\d_]*[a-zà-ÿ][\w'’-]*(?:(?:\s*,\s*|\s+and\s+|\s*&\s*"
    rf"|\s*,\s*and\s+)[A-ZÀ-Þ][\w'’-]+)*)\s*,?\s*(?=\(?\d{{4}}[a-d]?\)?\s*(?:papers?)?\s*(?:and)?\s*$)"
)


_SURNAME = (
    r"(?:(?:van|von|der|den|de|del|di|da|dos|la|le|el|ten|ter)\s+){0,2}"
    r"[^\W\d_a-zß-ÿ]['’]?[^\W\d_]*[a-zß-ÿ][\w'’-]*"
)
_YEAR = r"(?:1[5-9]|20)\d\d[a-d]?(?!\w)"
_REFERENCE = re.compile(
    rf"(?:(?<!\S)(?:of|in|from|see|by)\s+)?(?P<names>(?<![\w'’-]){_SURNAME}(?:\s*,\s*{_SURNAME})*\s*,?\s*"
    rf"(?:and\s|(?P<sign>&))\s*{_SURNAME})\s*,?\s*"
    rf"(?=\(\s*{_YEAR}\s*\)|(?(sign){_YEAR}|(?!)))"
)
"""Family names and a year, with a topic before or after; where "and" joins, the year has parentheses."""


_WORDS = re.compile(r"[\w'’-]+")
_BY_PLACE = re.compile(
    r"(?<!\w)by\s+(?:the\s+)?((?:[A-Z][\w&.-]*\s+){1,3})(?:researchers|astronomers|scientists|groups?|teams?)(?!\w)"
)


def _citation(reading: Reading, *, nested: bool) -> None:
    """Take "Penzias and Wilson 1965" as authors; one name alone only where a paper must be meant."""
    for match in _REFERENCE.finditer(reading.text):
        before = reading.text[: match.start()].split()
        lowered = not before or before[-1][:1].islower() or before[-1] in CUTS
        if lowered and any(map(is_surname, _WORDS.findall(match["names"]))):
            _take_names(reading, match)
            return
    match = _CITED.match(reading.text)
    several = match and re.search(r"(?:and|&|,)\s", match["names"])
    if match and (nested or (several and any(map(is_surname, _WORDS.findall(match["names"]))))):
        _take_names(reading, match)


def _take_names(reading: Reading, match: re.Match[str]) -> None:
    """Take the authors of a reference; the letter after its year is the citing paper's own."""
    start = match.start() if match.re is _REFERENCE else match.start("names")
    end = match.end("names")
    rest = re.sub(r"^[\s,(]*(\d{4})[a-d]?(?!\w)[\s)]*", r" (\1) ", reading.text[end:])
    reading.text = reading.text[:end] + rest
    reading.take(start, end, read_names(match["names"]), words=match["names"])


def _plain(reading: Reading, *, today: date, nested: bool = False) -> None:
    around, before = "", ""
    _citation(reading, nested=nested)
    read_journals(reading)
    read_counts(reading)
    top = _TOP.search(reading.text)
    if top:
        word = (top["n"] or top["m"] or top["k"] or "10").lower()
        around, before = "topn", _TOP_WORDS.get(word, word)
        reading.text = f"{reading.text[: top.start()]} {CUT} {reading.text[top.end() :]}"
        reading.text = _BY_CITATIONS.sub(CUT, reading.text)
    else:
        around = _take_around(reading)
    read_kinds(reading)
    read_designations(reading)
    read_funding(reading)
    _dates(reading, today)
    reading.text = _BY_PLACE.sub(r"from \1", reading.text)
    read_authors(reading)
    read_fields(reading)
    recent = find_recent(reading.text, today=today)
    if recent and not any(
        getattr(c, "field", "") in {"year", "pubdate", "entdate"} for c in reading.clauses
    ):
        reading.take(recent.start, recent.end, [recent.span])
        reading.text = re.sub(
            r"\s+(?:discoveries|developments|news|advances|findings)(?=\s*[?.]*\s*$)",
            " ",
            reading.text,
        )
    read_places(reading)
    read_objects(reading)
    read_groups(reading)
    read_leading_name(reading)
    read_topic(reading)
    reading.text = ""
    reading.clauses = _choose(reading.clauses)
    if around:
        _put_around(reading, around, before)


_ONE_OF = ("bibstem", "doctype", "database", "lang")


def _choose(clauses: list[Clause]) -> list[Clause]:
    """Join what no paper can be at once (two journals, two separate years) as alternatives."""
    for name in _ONE_OF:
        same = [c for c in clauses if isinstance(c, Match) and c.field == name and not c.negated]
        if len(same) > 1:
            clauses = _joined(clauses, list(same))
    years = [c for c in clauses if isinstance(c, Span) and c.field == "year" and not c.negated]
    opened = {c.low != "*" for c in years if "*" in {c.low, c.high}}
    if len(years) == 2 and opened == {True, False}:  # "after 2015, before 2020"
        low, high = (
            max(c.low for c in years if c.low != "*"),
            min(c.high for c in years if c.high != "*"),
        )
        if low <= high:
            place = clauses.index(years[0])
            rest = [clause for clause in clauses if clause not in years]
            return [*rest[:place], Span("year", low, high), *rest[place:]]
    apart = [c for c in years if all(c == d or c.high < d.low or d.high < c.low for d in years)]
    if (
        len(apart) > 1
        and len(apart) == len(years)
        and not any("*" in {c.low, c.high} for c in years)
    ):
        clauses = _joined(clauses, list(years))
    return clauses


def _joined(clauses: list[Clause], same: Sequence[Clause]) -> list[Clause]:
    place = clauses.index(same[0])
    rest = [clause for clause in clauses if clause not in same]
    return [*rest[:place], AnyOf(tuple((clause,) for clause in same)), *rest[place:]]


def _take_around(reading: Reading) -> str:
    for name, pattern in _AROUND:
        for match in pattern.finditer(reading.text):
            if name == "trending":
                reading.text = re.sub(
                    r"(?<!\w)(?:right\s+now|these\s+days|at\s+the\s+moment|currently)(?!\w)",
                    lambda m: CUT * len(m[0]),
                    reading.text,
                )
            if name == "reviews" and (
                _NOT_REVIEW.search(reading.text[: match.start()])
                or re.match(r"reviews?\s+of\s+modern", match[0], re.IGNORECASE)
                or re.match(
                    r"\w*\s*(?:text)?books?\b", reading.text[match.end() :].strip(), re.IGNORECASE
                )
            ):
                continue
            if name == "reviews" and is_unwanted(reading.text, match.start()):
                reading.take(match.start(), match.end(), [Match("title", "review")])
                return ""
            reading.text = f"{reading.text[: match.start()]} {CUT} {reading.text[match.end() :]}"
            return name
    return ""


def _put_around(reading: Reading, name: str, before: str) -> None:
    """Move what a second-order function looks at into it; dates and kinds stay outside but for topn."""
    inside = tuple(
        clause
        for clause in reading.clauses
        if name == "topn" or isinstance(clause, Operator) or getattr(clause, "field", "") in _INSIDE
    )
    rest = [clause for clause in reading.clauses if clause not in inside]
    if not inside and name != "reviews":
        inside, rest = tuple(reading.clauses), []
    if not inside and name == "reviews":
        reading.clauses.insert(0, Operator("reviews", ()))
        return
    if not inside:
        return
    after = "citation_count desc" if name == "topn" else ""
    operator = Operator(name, inside, before=before, after=after)
    scratch = Reading(name)
    scratch.take(
        0, len(name), [operator], words={"topn": f"top {before} by citations"}.get(name, name)
    )
    reading.notes += scratch.notes
    reading.clauses = [operator, *rest]
