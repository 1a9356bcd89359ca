"""Reads filters that people name in words: properties, kinds of record, telescopes, journals, counts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from nuncius.sources.ads_clauses import AnyOf, Clause, Match, Operator
from nuncius.sources.ads_people import PAPERS
from nuncius.sources.ads_reading import CUTS, Reading

_START = rf"(?:^|(?<=[{CUTS}]))\s*"
_END = rf"(?=\s*(?:$|[{CUTS}]))"
_ASK = (
    r"(?:(?:show\s+me|show|find\s+me|find|get|list|give\s+me|search\s+for|search|looking\s+for"
    r"|look\s+for|i\s+want|i\s+need"
    r"|need|the|all|any|some|only|recent|latest|limit\s+to|restrict\s+to|please)\s+)*"
)
_OBSERVING = (
    r"(?:observations?|data|papers?|articles?|publications?|research|studies|study|surveys?"
    r"|results?|images?|imaging|spectra"
    r"|spectroscopy|photometry|bibliography|literature|works?|archive|preprints?|programs?|measurements?)"
)
_EPITHET = (
    r"(?:radio|infrared|x[\s-]?rays?|gamma[\s-]?rays?|bursts?|exoplanets?|planets?|astrometry"
    r"|mission|data\s+releases?\s+\d"
    r"|telescopes?|instruments?|legacy|deep\s+fields?)"
)

_NOT_OBSERVING = (
    r"(?:tension|constant|laws?|flow|parameters?|diagrams?|sequence|expansion|rate|residuals?"
    r"|friction|problem|equations?|orbits?"
    r"|level|gas|energy|surface|acceleration|bubbles?|liquid|paradox|time|radius|volume|number)"
)
"""After these words the telescope's name is a person's: Hubble constant, Kepler's laws, Fermi level."""


def _rows(name: str) -> Iterator[list[str]]:
    text = files("nuncius.sources").joinpath(name).read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.split("\t")


def _phrase(phrase: str) -> str:
    """Turn a phrase of the tables into a pattern; see the head of ``ads_phrases.tsv``."""
    exact = phrase.startswith("=")
    text = phrase.removeprefix("=").replace("PAPERS", PAPERS)
    text = re.sub(r"(?<!\\) (?!\?)", r"[\\s-]+", text).replace("'", "['’]")
    return text if exact else f"(?i:{text})"


@dataclass(frozen=True, slots=True)
class _Said:
    """One way to say a value of a field; `key` is a part that must occur, in lower case."""

    field: str
    value: str
    key: str
    text: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled at first use: a request needs a handful of some seven hundred."""
        return _compiled(self.text)


@cache
def _compiled(text: str) -> re.Pattern[str]:
    return re.compile(text)


def _key(phrase: str) -> str:
    """Return the longest run of letters that every text with the phrase has."""
    plain = phrase.removeprefix("=").replace("PAPERS", " ")
    for _ in range(3):
        plain = re.sub(r"\([^()]*\)\??", " ", plain)
    plain = re.sub(r"\[[^\]]*\]\??|.\?", " ", plain)
    return max(re.findall(r"[a-z]+", plain.lower()), key=len, default="")


@cache
def _table(name: str) -> tuple[_Said, ...]:
    """Return a table, one entry for each phrase."""
    found: list[_Said] = []
    for row in _rows(name):
        field, value, phrases = row if len(row) == 3 else ("", *row)
        for phrase in phrases.split(" | "):
            pattern = rf"(?<![\w.-])(?:{_phrase(phrase.strip())})(?![\w-])"
            found.append(_Said(field, value, _key(phrase.strip()), pattern))
    return tuple(found)


def _possible(name: str, text: str) -> Iterator[_Said]:
    """Yield the entries of a table whose key occurs in `text`."""
    plain = text.lower()
    return (said for said in _table(name) if said.key in plain)


def _earlier(match: re.Match[str], other: re.Match[str]) -> bool:
    """Tell whether a match starts before the other, or is the longer one at the same place."""
    return (match.start(), -len(match[0])) < (other.start(), -len(other[0]))


def _leftmost(
    name: str, text: str, *, fields: str = "", start: int = 0
) -> tuple[re.Match[str], str, str] | None:
    """Return the first phrase of a table in `text`, with its field and value.

    From the left, so that a "not" reaches all members of a list.
    """
    best: tuple[re.Match[str], str, str] | None = None
    for said in _possible(name, text):
        if fields and said.field not in fields.split():
            continue
        match = said.pattern.search(text, start)
        if match and (best is None or _earlier(match, best[0])):
            best = (match, said.field, said.value)
    return best


_KINDS = "property doctype database arxiv_class data lang"
_ONLY_KIND = {"property", "doctype", "lang", "arxiv_class", "data"}


def read_kinds(reading: Reading) -> None:
    """Take properties, kinds of record, databases and arXiv classes."""
    _bare_kinds(reading)
    while found := _leftmost("ads_phrases.tsv", reading.text, fields=_KINDS):
        match, field, value = found
        form = "phrase" if field == "database" and " " in value else "plain"
        reading.take(match.start(), match.end(), [Match(field, value, form)])
    _database(reading)


_BARE = {
    "article": "article",
    "articles": "article",
    "software": "software",
    "catalog": "catalog",
    "catalogs": "catalog",
    "proceedings": "proceedings",
    "proposal": "proposal",
    "eprint": "eprint",
    "techreport": "techreport",
    "phdthesis": "phdthesis",
    "book": "book",
    "talk": "talk",
    "thesis": "phdthesis",
}
_BASES = {
    "astronomy": "astronomy",
    "astrophysics": "astronomy",
    "physics": "physics",
    "general": "general",
}
_FILL = frozenset(
    "only records record in the database collection of from and all show find doctype limit to type".split()
)


def _bare_kinds(reading: Reading) -> None:
    """Read "catalogs of ..." at the start, and requests of nothing but kinds and databases.

    Such as "physics software" or "only catalog records general".
    """
    leading = (
        rf"{_START}{_ASK}(?P<it>(?P<kind>catalog|software)(?:ue)?s?)(?=\s+(?:of|for|to|on|with"
        rf"|about|by|from|in|published|related|discussing)(?!\w)|\s*(?:$|[{CUTS}]))"
    )
    if match := re.search(leading, reading.text, re.IGNORECASE):
        reading.take(*match.span("it"), [Match("doctype", match["kind"].lower(), "plain")])
    if match := re.search(
        r"(?<!\w)(?:with\s+no|without(?:\s+any)?)\s+(?:linked\s+|associated\s+)?data(?!\w)",
        reading.text,
        re.IGNORECASE,
    ):
        reading.take(match.start(), match.end(), [Match("property", "data", "plain", negated=True)])
    words = re.findall(r"\w+", reading.text.lower())
    named = [word for word in words if word not in _FILL]
    kinds = [word for word in named if word in _BARE]
    bases = [word for word in named if word in _BASES]
    typed = "doctype" in words or "database" in words or "collection" in words
    if not (len(kinds) == 1 or (typed and bases)) or len(kinds) + len(bases) != len(named):
        return
    if not bases and not typed and "only" not in words:
        return
    clauses: list[Clause] = [Match("doctype", _BARE[word], "plain") for word in kinds]
    clauses += [Match("database", _BASES[word], "plain") for word in bases]
    reading.take(0, len(reading.text), clauses)


_FIELDS_OF_SCIENCE = (
    ("astronomy", r"(?:astronomy|astronomical|astrophysics|astrophysical)"),
    ("physics", r"(?:physics|physical\s+sciences?)"),
)


def _database(reading: Reading) -> None:
    for value, name in _FIELDS_OF_SCIENCE:
        pattern = re.compile(
            rf"{_START}{_ASK}(?P<it>{name}\s+(?:journal\s+|research\s+)?(?={PAPERS}(?!\w)))"
            rf"|(?P<in>(?<!\w)in\s+{name}(?=\s*(?:$|[{CUTS}]|(?:about|on|covering|related"
            rf"|discussing|by|from|published|since)\b)))",
            re.IGNORECASE,
        )
        if match := pattern.search(reading.text):
            group = "it" if match["it"] else "in"
            reading.take(*match.span(group), [Match("database", value, "plain")])


_LEAD = (
    r"(?:(?:published|appearing|appeared|articles|papers)\s+)?(?:in\s+(?:the\s+)?"
    r"|from\s+(?:the\s+)?)?(?:journal\s+(?:of\s+)?)?"
)
_NOT_JOURNAL = re.compile(
    (
        r"\s+(?:of|with|case|cases|goals?|and|or|institute|center|centre|foundation|data\s+release"
        r"|team|operations|drivers?|requirements|verification|based)\b"
    ),
    re.IGNORECASE,
)


def read_journals(reading: Reading) -> None:
    """Take journals, volumes and pages."""
    start = 0
    while found := _leftmost("ads_journals.tsv", reading.text, start=start):
        match, _, value = found
        lead = re.search(rf"{_LEAD}$", reading.text[: match.start()], re.IGNORECASE)
        begin = lead.start() if lead else match.start()
        if value in {"Natur", "Sci"} and not _is_journal(reading.text, match):
            start = match.end()
            continue
        reading.take(begin, match.end(), [Match("bibstem", value)], words=match[0])
        start = 0
    if any(isinstance(clause, Match) and clause.field == "bibstem" for clause in reading.clauses):
        if match := re.match(
            rf"[{CUTS}\s]*(?P<volume>\d{{1,4}})\s*[,:]\s*(?P<page>[A-Z]?\d{{1,6}})(?!\w)",
            reading.text,
        ):
            named = [Match(name, match[name], "plain") for name in ("volume", "page")]
            reading.take(match.start("volume"), match.end(), named)
        for field, said in (
            ("volume", r"vol(?:umes?|\.)"),
            ("page", r"(?:pages?|pp?\.)"),
            ("issue", r"(?:issue|no\.)"),
        ):
            if match := re.search(
                rf"(?<!\w),?\s*{said}\s*([A-Z]?\d+)(?!\w)", reading.text, re.IGNORECASE
            ):
                reading.take(match.start(), match.end(), [Match(field, match[1], "plain")])
        if match := re.search(rf"(?:{_START}data{_END}|(?<=\w)\s+data\s*$)", reading.text):
            reading.take(match.start(), match.end(), [Match("property", "data", "plain")])


def _is_journal(text: str, match: re.Match[str]) -> bool:
    """Tell the journals Nature and Science from the words."""
    before, after = text[: match.start()], text[match.end() :]
    if re.search(r"(?<!\w)in\s+$", before, re.IGNORECASE) and not re.match(
        r"\s+(?:of|and)\b", after
    ):
        return True
    return not (_NOT_JOURNAL.match(after) or re.search(r"[A-Z]\w*\s+$", before))


def read_places(reading: Reading) -> None:
    """Take affiliations: after "from" or "at", or first in the request with "papers" to follow."""
    if match := re.search(
        (
            rf"(?:papers\s+(?:where|with)\s+)?(?:the\s+)?first\s+author\s+(?:has|with|is|from"
            rf"|at)\s+(?:an?\s+|from\s+|at\s+)?(?P<place>[\w ]+?)(?:\s+affiliation)?{_END}"
        ),
        reading.text,
        re.IGNORECASE,
    ):
        place = Match("aff", match["place"])
        reading.take(match.start(), match.end(), [Operator("pos", (place,), after="1")])
    if match := re.search(
        r"(?i:from|at|by)\s+(?P<place>(?!ESO/)[\w.]+/[\w./]+)|^(?P<first>(?!ESO/)[\w.]+/[\w.]+)(?=\s+papers)",
        reading.text,
    ):
        place = (match["place"] or match["first"]).upper()
        reading.take(match.start(), match.end(), [Match("inst", place)])
    places = list(_possible("ads_places.tsv", reading.text))
    for said in [*places, *places]:  # twice: "MIT and Harvard" leans on the first
        for match in said.pattern.finditer(reading.text):
            lead = re.search(
                (
                    rf"(?:[{CUTS}]\s*(?:and|or|,|&)|from|at|by|affiliated\s+(?:with|to)|affiliation"
                    rf"|based\s+(?:at|in)|authors\s+(?:at|from|in))\s+(?:(?:researchers|authors"
                    rf"|people|scientists|astronomers)\s+(?:at|from)\s+)?(?:the\s+)?$"
                ),
                reading.text[: match.start()],
                re.IGNORECASE,
            )
            after = reading.text[match.end() :]
            noun = re.match(
                r"\s+(?:affiliations?|authors?|researchers|astronomers|scientists)\b",
                after,
                re.IGNORECASE,
            )
            leads = re.search(rf"{_START}{_ASK}$", reading.text[: match.start()], re.IGNORECASE)
            leads = leads and re.match(
                rf"(?!\s*['’]s)(?:\s+[^\s{CUTS}]+)*?\s+{PAPERS}(?!\w)", after, re.IGNORECASE
            )
            if lead or noun or leads:
                begin = lead.start() if lead else match.start()
                end = match.end() + (noun.end() if noun else 0)
                either = lead and re.search(r"(?<!\w)or\s", lead[0])
                reading.take(begin, end, [Match("aff", said.value)], words=match[0])
                if either:
                    _either_place(reading)
                break
    name = r"[A-Z][\w'’-]+"
    generic = (
        rf"(?:from|at)\s+(?:the\s+)?(?P<place>(?:{name}\s+){{0,4}}(?:University|Universit\w+"
        rf"|Institut\w*|Observator\w+|Laborator\w+|College|Academy|Centre|Center|School)"
        rf"(?:\s+(?:of|for|de|di|du|der|für|d[ea]l?)(?:\s+(?:la|the|del|las))?(?:\s+(?:{name}|de|La|and|of))+)?)"
    )
    if match := re.search(generic, reading.text):
        reading.take(match.start(), match.end(), [Match("aff", match["place"])])


def _either_place(reading: Reading) -> None:
    """Join the last two affiliations as alternatives."""
    places = [
        c for c in reading.clauses if isinstance(c, Match) and c.field == "aff" and not c.negated
    ][-2:]
    if len(places) == 2:
        reading.clauses = [clause for clause in reading.clauses if clause not in places]
        reading.clauses.append(AnyOf(tuple((place,) for place in places)))


def read_groups(reading: Reading) -> None:
    """Take telescopes and surveys as bibliographies: "using X", "X observations", "X ... papers".

    A telescope with only its own kind of light or targets after it ("VLA radio", "Swift bursts")
    stays a topic.
    """
    start = 0
    while True:
        best = _leftmost("ads_phrases.tsv", reading.text, fields="bibgroup", start=start)
        if best is None:
            return
        match, _, value = best
        span = _group_span(reading.text, match)
        if span is None:
            start = match.end()
            continue
        form = "phrase" if re.search(r"[^\w-]", value) else "plain"
        reading.take(*span, [Match("bibgroup", value, form)])
        start = 0


def _group_span(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    before, after = text[: match.start()], text[match.end() :]
    if re.search(r"(?<!\w)or\s+(?:the\s+)?$", before, re.IGNORECASE) or re.match(
        r"\s+or(?!\w)", after, re.IGNORECASE
    ):
        return None  # a choice is read as topic
    named = re.match(r"\s+(?:bibgroup|bibliography|bibliographic\s+group)\b", after, re.IGNORECASE)
    lead = re.search(
        (
            r"(?:(?:made|done|obtained|taken|based|carried\s+out|that|which)\s+)?(?:using|uses?"
            r"|used|with|from|in|on|by|via|at|through|of)\s+(?:(?:data|observations?|images?"
            r"|spectra)\s+(?:from|of|by|with|taken\s+with)\s+)?(?:the\s+)?(?:bibgroup\s+)?$"
        ),
        before,
        re.IGNORECASE,
    )
    if named:
        return (lead.start() if lead else match.start()), match.end() + named.end()
    if re.match(rf"\s+{_NOT_OBSERVING}(?!\w)", after, re.IGNORECASE):
        return None
    if re.match(rf"\s+{_EPITHET}(?:\s+{PAPERS})?\s*(?:$|[{CUTS}])", after, re.IGNORECASE):
        return None
    if lead and not re.match(r"(?:on|of|by)\b", lead[0], re.IGNORECASE):
        tail = re.match(rf"\s+{_OBSERVING}(?!\w)", after, re.IGNORECASE)
        return lead.start(), match.end() + (tail.end() if tail else 0)
    first = re.search(rf"{_START}{_ASK}$", before, re.IGNORECASE)
    if not first:
        return None
    tail = re.match(rf"\s+{_OBSERVING}(?!\w)(?:\s+releases?(?!\w))?", after, re.IGNORECASE)
    if tail:
        return match.start(), match.end() + tail.end()
    later = re.match(
        rf"(?:\s+[^\s{CUTS}]+)+?\s+{_OBSERVING}\s*(?:$|[{CUTS}]|\b(?:of|on|in|for|about)\b)",
        after,
        re.IGNORECASE,
    )
    return (match.start(), match.end()) if later else None
