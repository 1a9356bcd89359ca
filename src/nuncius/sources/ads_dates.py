"""Reads years, ranges of years, months and relative dates out of words."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

from nuncius.sources.ads_clauses import Span

_MONTHS = {
    name: number
    for number, names in enumerate(
        "jan january|feb february|mar march|apr april|may|jun june|jul july|aug august"
        "|sep sept september|oct october|nov november|dec december".split("|"),
        start=1,
    )
    for name in names.split()
}
_NUMBERS = {
    word: number
    for number, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), start=1
    )
} | {"a": 1, "fifteen": 15, "twenty": 20, "thirty": 30, "few": 3, "couple": 2, "couple of": 2}

_Y = r"(?:1[5-9]\d\d|20\d\d|21\d\d)"
_M = r"(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_POINT = (
    rf"(?:{_M}\s*,?\s*(?:of\s+)?{_Y}|{_Y}[-/](?:0[1-9]|1[0-2])(?:[-/](?:0[1-9]|[12]\d|3[01]))?"
    rf"|{_Y}\s+{_M}|{_Y})(?!\w)"
)
_N = r"(?P<count>\d{1,3}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + r")"
_LEAD = (
    r"(?:(?:that\s+(?:were|was)\s+)?(?:published|written|released|submitted|appeared|dated|dating)\s+)?"
    r"(?:(?:in|from|during|of|on|for|within|over)\s+)?(?:the\s+)?(?:years?\s+)?"
)
_TO = r"\s*(?:-|–|—|\.\.+|to|till|until|through|thru|up\s+to)\s*"
_AND = r"\s*(?:-|–|—|to|till|until|and|&)\s*"


@dataclass(frozen=True, slots=True)
class Dated:
    """Where in the text a date stands and what it means; `low` and `high` as in ADS."""

    start: int
    end: int
    span: Span


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.:/+-]){text}", re.IGNORECASE)


_DECADE = r"(?P<decade>(?:1[5-9]|20)\d0)\s*['’]?s(?!\w)|['’](?P<short>\d0)['’]?s(?!\w)|(?P<bare>[2-9]0)s(?!\w)"
_PERIOD = rf"{_LEAD}(?:(?P<part>early|mid|late)[\s-]+)?(?:the\s+)?(?:{_DECADE})"
_HIGH = (
    rf"(?:the\s+)?(?:years?\s+)?(?P<high>{_POINT}|present(?:\s+day)?|now|today|\d\d(?![\w-]))(?!\w)"
)
_BETWEEN = rf"{_LEAD}between\s+(?:the\s+)?(?:years?\s+)?(?P<low>{_POINT}){_AND}{_HIGH}"
_RANGE = rf"{_LEAD}(?:between\s+)?(?:(?:from|since|after|starting\s+in)\s+)?(?P<low>{_POINT}){_TO}{_HIGH}"
_SINCE = (
    rf"(?:published\s+)?(?:since|from\s+(?={_POINT}\s+(?:onwards?|forwards?|on)\b)|starting\s+(?:in|from)"
    rf"|no\s+earlier\s+than|not\s+(?:before|older\s+than))\s+(?:the\s+)?(?:years?\s+)?(?P<low>{_POINT})"
    r"(?:\s+(?:onwards?|forwards?|on)(?!\s+\w))?(?:\s+(?:onwards?|forwards?))?"
)
_ONWARDS = (
    rf"(?P<low>{_POINT})\s*(?:onwards?|forwards?|or\s+(?:later|newer)|and\s+(?:later|newer|after)"
    rf"|\+|-(?!\w))(?!\w)"
)
_AFTER = (
    rf"(?:published\s+)?(?:(?:after|later\s+than|newer\s+than|more\s+recent\s+than|past)\s+"
    rf"|post-?\s*)(?:the\s+)?(?:years?\s+)?(?P<low>{_POINT})"
)
_BEFORE = (
    rf"(?:published\s+)?(?:before|prior\s+to|earlier\s+than|older\s+than"
    rf"|pre-?)\s*(?:the\s+)?(?:years?\s+)?(?P<high>{_POINT})"
)
_UNTIL = (
    rf"(?:published\s+)?(?:until|till|up\s+to|through|no\s+later\s+than|not\s+(?:after"
    rf"|later\s+than)|by\s+the\s+end\s+of)"
    rf"\s+(?:the\s+)?(?:years?\s+)?(?P<high>{_POINT})"
)
_LAST = (
    rf"{_LEAD}(?:last|past|previous|recent|latest|most\s+recent)\s+{_N}\s+(?P<unit>years?|months?"
    rf"|weeks?|days?|decades?)"
)
_AGO = rf"{_N}\s+(?P<unit>years?|months?|decades?)\s+ago"
_THIS = rf"{_LEAD}(?P<which>this|current|last|past|previous)\s+(?P<unit>year|month|week|decade|century)(?:['’]s)?(?!\w)"
_CENTURY = rf"{_LEAD}(?P<century>1[6-9]|2[01])(?:th|st)[\s-]+century(?!\w)"
_TODAY = r"(?:(?:published|submitted|added|posted)\s+)?(?P<day>today|yesterday)(?:['’]s)?(?!\w)"
_PAIR = rf"{_LEAD}(?P<low>{_Y})\s+(?P<high>{_Y})(?![\w.:/-])"
_UNIT = (
    r"(?:nm|mm|cm|µm|um|km|[kMGT]?Hz|[kMGT]?eV|K|AU|kpc|Mpc|Gpc|pc|Jy|mJy|mag|Å|angstroms?"
    r"|days?|hours?|years?|degrees?|arcsec|stars|galaxies"
    r"|objects|sources|spectra|quasars|orbits|light|solar|m|s)"
)
"""After a number these say that it counts or measures something and is no year."""
_ONE = rf"(?:{_LEAD}|between\s+|circa\s+|around\s+)\(?(?P<point>{_POINT})\)?(?![\w:/+]|-\d|\.\d|\s?{_UNIT}(?!\w))"
_SOON = r"(?:most\s+)?(?P<soon>recently\s+published|recent|recently|latest|newest|what['’]?s\s+new|new)(?!\w)"

_RULES = (
    ("between", _BETWEEN),
    ("between", _RANGE),
    ("since", _SINCE),
    ("onwards", _ONWARDS),
    ("after", _AFTER),
    ("before", _BEFORE),
    ("until", _UNTIL),
    ("last", _LAST),
    ("ago", _AGO),
    ("this", _THIS),
    ("today", _TODAY),
    ("century", _CENTURY),
    ("period", _PERIOD),
    ("pair", _PAIR),
    ("one", _ONE),
)
_COMPILED = tuple((name, _pattern(text)) for name, text in _RULES)
_RECENT = _pattern(_SOON)


@dataclass(frozen=True, slots=True)
class _Point:
    year: int
    month: int | None = None


def _point(text: str) -> _Point:
    year = re.search(_Y, text)
    assert year, text
    named = re.search(r"[a-z]{3,}", text, re.IGNORECASE)
    if named:
        return _Point(int(year[0]), _MONTHS[named[0].lower()])
    numbered = re.search(rf"{_Y}[-/](\d\d)", text)
    return _Point(int(year[0]), int(numbered[1]) if numbered else None)


def _span(low: _Point | None, high: _Point | None) -> Span:
    if low and high and (high.year, high.month or 12) < (low.year, low.month or 1):
        low, high = high, low
    if not any(point and point.month for point in (low, high)):
        return Span("year", str(low.year) if low else "*", str(high.year) if high else "*")
    return Span(
        "pubdate",
        f"{low.year}-{low.month or 1:02}" if low else "*",
        f"{high.year}-{high.month or 12:02}" if high else "*",
    )


def _back(today: date, months: int) -> _Point:
    index = today.year * 12 + today.month - 1 - months
    return _Point(max(index // 12, 1500), index % 12 + 1)


def _meaning(kind: str, match: re.Match[str], today: date) -> Span | None:  # one branch a rule
    if kind == "between":
        low = _point(match["low"])
        if match["high"].lower().startswith(("present", "now", "today")):
            return _span(low, None)
        if len(match["high"]) == 2:  # 1995-99, and 2019-07 is a month
            high = _Point(low.year // 100 * 100 + int(match["high"]))
            return _span(low, high) if high.year > low.year and not low.month else None
        return _span(low, _point(match["high"]))
    if kind in {"since", "onwards"}:
        return _span(_point(match["low"]), None)
    if kind == "after":
        low = _point(match["low"])
        if low.month:
            return _span(_Point(low.year + low.month // 12, low.month % 12 + 1), None)
        return _span(_Point(low.year + 1), None)
    if kind == "before":
        high = _point(match["high"])
        if high.month:
            return _span(None, _Point(high.year - (high.month == 1), (high.month - 2) % 12 + 1))
        return _span(None, _Point(high.year - 1))
    if kind == "until":
        return _span(None, _point(match["high"]))
    if kind in {"last", "ago", "this", "today"}:
        return _relative(kind, match, today)
    if kind == "century":
        first = 100 * (int(match["century"]) - 1)
        return Span("year", str(first), str(first + 99))
    if kind == "period":
        return _decade(match, today)
    if kind == "pair":
        return _span(_point(match["low"]), _point(match["high"]))
    point = _point(match["point"])
    return _span(point, point)


def _decade(match: re.Match[str], today: date) -> Span:
    if match["decade"]:
        first = int(match["decade"])
    else:
        short = int(match["short"] or match["bare"])
        first = 2000 + short if 2000 + short <= today.year else 1900 + short
    low, high = {"early": (0, 3), "mid": (4, 6), "late": (7, 9)}.get(
        (match["part"] or "").lower(), (0, 9)
    )
    return Span("year", str(first + low), str(first + high))


def _relative(kind: str, match: re.Match[str], today: date) -> Span | None:
    if kind == "today":
        days = 1 if match["day"].lower() == "today" else 2
        return Span("entdate", f"NOW-{days}DAYS", "*")
    unit = match["unit"].lower().rstrip("s")
    if kind == "this":
        return _this(match["which"].lower(), unit, today)
    word = match["count"].lower()
    count = int(word) if word.isdigit() else _NUMBERS[re.sub(r"\s+", " ", word)]
    if unit == "decade":
        unit, count = "year", 10 * count
    if kind == "ago":
        point = _Point(max(today.year - count, 1500)) if unit == "year" else _back(today, count)
        return _span(point, point)
    if unit == "year":
        return Span("year", str(max(today.year - count, 1500)), "*")
    if unit == "month":
        return _span(_back(today, count), None)
    return Span("entdate", f"NOW-{count * (7 if unit == 'week' else 1)}DAYS", "*")


def _this(which: str, unit: str, today: date) -> Span:
    now = which in {"this", "current"}
    if unit == "week":
        return Span("entdate", "NOW-7DAYS" if now else "NOW-14DAYS", "*")
    if unit == "month":
        point = _Point(today.year, today.month) if now else _back(today, 1)
        return _span(point, None if now else point)
    if unit == "year":
        if which == "past":
            return _span(_back(today, 12), None)
        year = today.year if now else today.year - 1
        return Span("year", str(year), str(year))
    length = 10 if unit == "decade" else 100
    first = today.year // length * length - (0 if now else length)
    if which in {"past", "last"}:
        return Span("year", str(today.year - length), "*")
    return Span("year", str(first), str(first + length - 1))


def find_date(text: str, *, today: date) -> Dated | None:
    """Return the first date of the strongest kind in `text`, or None.

    A range goes before a single year, so that "1995 to 1999" is not two years.
    """
    for kind, pattern in _COMPILED:
        for match in pattern.finditer(text):
            span = _meaning(kind, match, today)
            if span:
                return Dated(match.start(), match.end(), span)
    return None


def find_recent(text: str, *, today: date) -> Dated | None:
    """Read "recent" as this year and the three before it, "new" and "latest" as two before it."""
    match = _RECENT.search(text)
    if not match:
        return None
    years = 3 if match["soon"].lower().startswith("recent") else 2
    return Dated(match.start(), match.end(), Span("year", str(today.year - years), "*"))


def days_of(span: Span, *, today: date) -> tuple[date | None, date | None]:
    """Return the first and last day that a range of `year`, `pubdate` or `entdate` covers."""
    return _day(span.low, today, last=False), _day(span.high, today, last=True)


def _day(text: str, today: date, *, last: bool) -> date | None:
    if text == "*":
        return None
    ago = re.fullmatch(r"NOW-(\d+)DAYS", text)
    if ago:
        return today - timedelta(days=int(ago[1]))
    parts = [int(part) for part in text.split("-")]
    year = parts[0]
    month = parts[1] if len(parts) > 1 else (12 if last else 1)
    return date(year, month, monthrange(year, month)[1] if last else 1)
