"""Reads filters that people name in words: properties, kinds of record, telescopes, journals, counts."""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from nuncius.sources.ads_clauses import AnyOf, Clause, Match, Operator, Span
from nuncius.sources.ads_people import PAPERS
from nuncius.sources.ads_reading import CUTS, Reading

_START = rf"(?:^|(?<=[{CUTS}]))\s*"
_END = rf"(?=\s*(?:$|[{CUTS}]))"
_ASK = (
    r"(?:(?:show\s+me|show|find\s+me|find|get|list|give\s+me|search\s+for|search|looking\s+for|look\s+for|i\s+want|i\s+need"
    r"|need|the|all|any|some|only|limit\s+to|restrict\s+to|please)\s+)*"
)
_OBSERVING = (
    r"(?:observations?|data|papers?|articles?|publications?|research|studies|study|surveys?|results?|images?|imaging|spectra"
    r"|spectroscopy|photometry|bibliography|literature|works?|archive|preprints?|programs?|measurements?)"
)
_EPITHET = (
    r"(?:radio|infrared|x[\s-]?rays?|gamma[\s-]?rays?|bursts?|exoplanets?|planets?|astrometry|mission|data\s+releases?\s+\d"
    r"|telescopes?|instruments?|legacy|deep\s+fields?)"
)

_NOT_OBSERVING = (
    r"(?:tension|constant|laws?|flow|parameters?|diagrams?|sequence|expansion|rate|residuals?|friction|problem|equations?|orbits?"
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


@cache
def _table(name: str) -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    """Return (field, value, pattern) of a table, one for each phrase."""
    found: list[tuple[str, str, re.Pattern[str]]] = []
    for row in _rows(name):
        field, value, phrases = row if len(row) == 3 else ("", *row)
        for phrase in phrases.split(" | "):
            pattern = rf"(?<![\w.-])(?:{_phrase(phrase.strip())})(?![\w-])"
            found.append((field, value, re.compile(pattern)))
    return tuple(found)


def _earlier(match: re.Match[str], other: re.Match[str]) -> bool:
    """Tell whether a match starts before the other, or is the longer one at the same place."""
    return (match.start(), -len(match[0])) < (other.start(), -len(other[0]))


def _leftmost(name: str, text: str, *, fields: str = "") -> tuple[re.Match[str], str, str] | None:
    """Return the first phrase of a table in `text`, with its field and value.

    From the left, so that a "not" reaches all members of a list.
    """
    best: tuple[re.Match[str], str, str] | None = None
    for field, value, pattern in _table(name):
        if fields and field not in fields.split():
            continue
        for match in pattern.finditer(text):
            if best is None or _earlier(match, best[0]):
                best = (match, field, value)
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
    "article": "article", "articles": "article", "software": "software", "catalog": "catalog",
    "catalogs": "catalog", "proceedings": "proceedings", "proposal": "proposal", "eprint": "eprint",
    "techreport": "techreport", "phdthesis": "phdthesis", "book": "book", "talk": "talk",
    "thesis": "phdthesis",
}  # fmt: skip
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
    leading = rf"{_START}{_ASK}(?P<it>(?P<kind>catalog|software)(?:ue)?s?)(?=\s+(?:of|for|to|on|with|about)(?!\w))"
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
            rf"|(?P<in>(?<!\w)in\s+{name}(?=\s*(?:$|[{CUTS}]|(?:about|on|covering|related|discussing|by|from)\b)))",
            re.IGNORECASE,
        )
        if match := pattern.search(reading.text):
            group = "it" if match["it"] else "in"
            reading.take(*match.span(group), [Match("database", value, "plain")])


_LEAD = r"(?:(?:published|appearing|appeared|articles|papers)\s+)?(?:in\s+(?:the\s+)?|from\s+(?:the\s+)?)?(?:journal\s+(?:of\s+)?)?"
_NOT_JOURNAL = re.compile(
    r"\s+(?:of|with|case|cases|goals?|and|or|institute|center|centre|foundation|data\s+release|team|operations|drivers?|requirements|verification|based)\b",
    re.IGNORECASE,
)


def read_journals(reading: Reading) -> None:
    """Take journals, volumes and pages."""
    start = 0
    while found := _journal(reading.text, start):
        match, value = found
        lead = re.search(rf"{_LEAD}$", reading.text[: match.start()], re.IGNORECASE)
        begin = lead.start() if lead else match.start()
        if value in {"Natur", "Sci"} and not _is_journal(reading.text, match):
            start = match.end()
            continue
        reading.take(begin, match.end(), [Match("bibstem", value)], words=match[0])
        start = 0
    if any(isinstance(clause, Match) and clause.field == "bibstem" for clause in reading.clauses):
        for field in ("volume", "page", "issue"):
            if match := re.search(
                rf"(?<!\w),?\s*{field}s?\s+(\w?\d+)", reading.text, re.IGNORECASE
            ):
                reading.take(match.start(), match.end(), [Match(field, match[1], "plain")])
        if match := re.search(rf"(?:{_START}data{_END}|(?<=\w)\s+data\s*$)", reading.text):
            reading.take(match.start(), match.end(), [Match("property", "data", "plain")])


def _journal(text: str, start: int) -> tuple[re.Match[str], str] | None:
    best: tuple[re.Match[str], str] | None = None
    for _, value, pattern in _table("ads_journals.tsv"):
        match = pattern.search(text, start)
        if match and (best is None or _earlier(match, best[0])):
            best = (match, value)
    return best


def _is_journal(text: str, match: re.Match[str]) -> bool:
    """Tell the journals Nature and Science from the words."""
    before, after = text[: match.start()], text[match.end() :]
    if re.search(r"(?<!\w)in\s+$", before, re.IGNORECASE) and not re.match(
        r"\s+(?:of|and)\b", after
    ):
        return True
    if _NOT_JOURNAL.match(after) or re.search(r"[A-Z]\w*\s+$", before):
        return False
    return True


def read_places(reading: Reading) -> None:
    """Take affiliations: after "from" or "at", or first in the request with "papers" to follow."""
    if match := re.search(
        rf"(?:papers\s+(?:where|with)\s+)?(?:the\s+)?first\s+author\s+(?:has|with|is|from|at)\s+(?:an?\s+|from\s+|at\s+)?(?P<place>[\w ]+?)(?:\s+affiliation)?{_END}",
        reading.text,
        re.IGNORECASE,
    ):
        place = Match("aff", match["place"])
        reading.take(match.start(), match.end(), [Operator("pos", (place,), after="1")])
    if match := re.search(
        r"(?i:from|at|by)\s+(?P<place>[\w.]+/[\w./]+)|^(?P<first>[\w.]+/[\w.]+)(?=\s+papers)",
        reading.text,
    ):
        place = (match["place"] or match["first"]).upper()
        reading.take(match.start(), match.end(), [Match("inst", place)])
    for _, value, pattern in _table("ads_places.tsv"):
        for match in pattern.finditer(reading.text):
            lead = re.search(
                r"(?:from|at|by|affiliated\s+(?:with|to)|affiliation|based\s+(?:at|in)|authors\s+(?:at|from|in))\s+(?:(?:researchers|authors|people|scientists|astronomers)\s+(?:at|from)\s+)?(?:the\s+)?$",
                reading.text[: match.start()],
                re.IGNORECASE,
            )
            after = reading.text[match.end() :]
            noun = re.match(r"\s+(?:affiliations?|authors?)\b", after, re.IGNORECASE)
            leads = re.search(rf"{_START}{_ASK}$", reading.text[: match.start()], re.IGNORECASE)
            leads = leads and re.match(
                rf"(?!\s*['’]s)(?:\s+[^\s{CUTS}]+)*?\s+{PAPERS}(?!\w)", after, re.IGNORECASE
            )
            if lead or noun or leads:
                begin = lead.start() if lead else match.start()
                end = match.end() + (noun.end() if noun else 0)
                reading.take(begin, end, [Match("aff", value)], words=match[0])
                break
    name = r"[A-Z][\w'’-]+"
    generic = (
        rf"(?:from|at)\s+(?:the\s+)?(?P<place>(?:{name}\s+){{0,4}}(?:University|Universit\w+|Institut\w*|Observator\w+|Laborator\w+|College|Academy|Centre|Center|School)"
        rf"(?:\s+(?:of|for|de|di|du|der|für|d[ea]l?)(?:\s+(?:la|the|del|las))?(?:\s+(?:{name}|de|La|and|of))+)?)"
    )
    if match := re.search(generic, reading.text):
        reading.take(match.start(), match.end(), [Match("aff", match["place"])])


def read_groups(reading: Reading) -> None:
    """Take telescopes and surveys as bibliographies: "using X", "X observations", "X ... papers".

    A telescope with only its own kind of light or targets after it ("VLA radio", "Swift bursts")
    stays a topic.
    """
    start = 0
    while True:
        best: tuple[re.Match[str], str] | None = None
        for field, value, pattern in _table("ads_phrases.tsv"):
            if field != "bibgroup":
                continue
            match = pattern.search(reading.text, start)
            if match and (best is None or _earlier(match, best[0])):
                best = (match, value)
        if best is None:
            return
        match, value = best
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
        r"(?:(?:made|done|obtained|taken|based|carried\s+out)\s+)?(?:using|with|from|in|on|by|via|at|through|of)\s+(?:(?:data|observations?|images?|spectra)\s+(?:from|of|by|with|taken\s+with)\s+)?(?:the\s+)?(?:bibgroup\s+)?$",
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


_N = r"(?P<n>\d[\d,]*)"
_MORE = r"(?P<more>more\s+than|over|greater\s+than|above|exceeding|>)"
_LEAST = r"(?P<least>at\s+least|no\s+(?:fewer|less)\s+than|minimum(?:\s+of)?|≥|>=)"
_LESS = r"(?P<less>fewer\s+than|less\s+than|under|below|<)"
_MOST = r"(?P<most>at\s+most|no\s+more\s+than|up\s+to|maximum(?:\s+of)?|≤|<=)"
_HOW = rf"(?:(?:{_LEAST}|{_MORE}|{_LESS}|{_MOST}|(?P<just>exactly|only|just))\s*)?{_N}(?:\s*(?:-|–|to|and)\s*(?P<m>\d[\d,]*))?(?P<plus>\s*\+|\s+or\s+more)?"
_WITH = r"(?:(?:with|having|that\s+have|which\s+have|have|has|by|cited|between|from|involving)\s+)*"
_COUNTED = (
    ("citation_count", re.compile(rf"(?<!\w){_WITH}(?:(?:cited|cites?)\s+)?{_HOW}\s+(?:citations?(?!\s+\w+\s+by)|cites|times(?:\s+cited)?)(?!\w)", re.IGNORECASE)),
    ("author_count", re.compile(rf"(?<!\w){_WITH}{_HOW}[\s-]+(?:co-?)?authors?(?!\w)", re.IGNORECASE)),
    ("read_count", re.compile(rf"(?<!\w){_WITH}(?:read\s+)?{_HOW}\s+(?:reads?|downloads)(?!\w)", re.IGNORECASE)),
    ("page_count", re.compile(rf"(?<!\w){_WITH}{_HOW}\s+pages?(?!\w)", re.IGNORECASE)),
    ("author_count", re.compile(rf"(?<!\w)author[_\s]count\s*(?:of|is|:|=)?\s*{_HOW}(?!\w)", re.IGNORECASE)),
    ("citation_count", re.compile(rf"(?<!\w)citation[_\s]counts?\s*(?:of|is|:|=)?\s*{_HOW}(?!\w)", re.IGNORECASE)),
)  # fmt: skip
_FIXED: tuple[tuple[str, Clause], ...] = (
    (r"(?:by\s+(?:a\s+)?)?(?:single|sole|solo|one)[\s-]author(?:ed|s)?(?!\w)|(?:by\s+)?a\s+single\s+author|alone\s+as\s+author", Match("author_count", "1", "plain")),
    (r"(?:very\s+)?(?:highly|heavily|widely|well|frequently|much)[\s-]cited", Span("citation_count", "100", "*")),
    (r"top[\s-]cited(?!\s+\d)", Span("citation_count", "100", "*")),
    (r"(?:highly\s+)?influential|high[\s-]impact(?!\s+journals)", Span("citation_count", "50", "*")),
    (r"(?:never|un|not\s+yet)[\s-]?cited|with(?:out|\s+no)\s+citations", Match("citation_count", "0", "plain")),
    (r"(?:most|widely|highly)[\s-]read", Span("read_count", "1000", "*")),
)  # fmt: skip


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
    ("grant", re.compile(r"(?:(?:funded|supported)\s+(?:by|under)\s+(?:the\s+)?)?(?:(?P<agency>NASA|NSF|ERC|STFC|DOE|DFG)\s+)?grants?\s+(?:number|no\.?|id|#)?\s*:?\s*(?P<it>[A-Z0-9][\w/-]*\d[\w/-]*)")),
    ("grant", re.compile(r"(?i:(?:funded|supported)\s+by\s+(?:the\s+|a\s+)?)(?P<it>(?:[A-Z][\w&-]+)(?:\s+[A-Z][\w&-]+){0,4})(?:\s+grants?)?")),
    ("facility", re.compile(r"(?i:(?:with\s+|using\s+)?(?:the\s+)?facilit(?:y|ies)(?:\s+keyword)?\s+)(?P<it>[A-Z][\w:/-]+)")),
    ("keyword", re.compile(r"(?i:(?:with\s+)?(?:the\s+)?keywords?\s+(?:is\s+|are\s+)?)(?P<it>[\w-]+(?:\s+[\w-]+)?)(?=\s*$|[\ue000\ue001])")),
)  # fmt: skip


def read_funding(reading: Reading) -> None:
    """Take grants, facilities and keywords that the request names as such."""
    for field, pattern in _GIVEN:
        if match := pattern.search(reading.text):
            clauses: list[Clause] = [Match(field, match["it"])]
            if field == "grant" and match.groupdict().get("agency"):
                clauses.append(Match(field, match["agency"]))
            reading.take(match.start(), match.end(), clauses)


_NAMED_OBJECTS = {
    "M31": r"andromeda(?:\s+galaxy|\s+nebula)?(?!\s+(?:i|ii|iii|iv|v|x)\b)", "LMC": r"large\s+magellanic\s+cloud|lmc",
    "SMC": r"small\s+magellanic\s+cloud|smc", "Sgr A*": r"sagittarius\s+a(?:\s+star|\s*\*)?|sgr\s*a\s*\*",
    "M1": r"crab\s+(?:pulsar\s+)?nebula", "M42": r"orion\s+nebula", "M33": r"triangulum\s+galaxy",
    "M51": r"whirlpool\s+galaxy", "M87": r"virgo\s+a", "M104": r"sombrero\s+galaxy", "M45": r"pleiades",
}  # fmt: skip
_KEEP_NAME = {"M1": "Crab Nebula", "M42": "Orion Nebula", "M45": "Pleiades"}
_STARS = (
    r"betelgeuse|vega|proxima\s+cent?auri|alpha\s+centauri|barnard['’]s\s+star|sirius(?:\s+[ab])?|polaris|antares|arcturus|aldebaran"
    r"|rigel|procyon|fomalhaut|beta\s+pictoris|eta\s+carinae|epsilon\s+eridani|tau\s+ceti|algol|regulus|spica|altair|deneb"
    r"|hyades|praesepe|omega\s+centauri|47\s+tuc(?:anae)?|cygnus\s+(?:x-?\d|a|loop)|centaurus\s+a|fornax\s+a|perseus\s+cluster|coma\s+cluster"
    r"|virgo\s+cluster|bullet\s+cluster|cassiopeia\s+a|cas\s+a|vela\s+pulsar|crab\s+pulsar|eagle\s+nebula|ring\s+nebula|horsehead\s+nebula"
    r"|tarantula\s+nebula|30\s+doradus|carina\s+nebula|helix\s+nebula|geminga|oumuamua|['ʻ‘’]oumuamua|hercules\s+x-1|scorpius\s+x-1|sco\s+x-1"
    r"|stephan['’]s\s+quintet|hoag['’]s\s+object|tabby['’]s\s+star|boyajian['’]s\s+star|teegarden['’]s\s+star"
)
_CATALOGUE = re.compile(
    r"""(?<![\w:])(?:
    (?:(?i:NGC|IC|UGC|HD|HIP|Arp|Abell|Mrk|Messier)|PGC|HR|SAO|BD|GJ|Gl|Gliese|Arp|Mrk|Markarian|Abell|ACO|Barnard|LHS|LTT|TYC|KIC|EPIC|KOI|TIC|TOI|Sh\s?2|Terzan|Pal|Palomar|Melotte|Collinder|Berkeley|Trumpler|Holmberg|Haro|Leo|DDO|VV|ESO)[\s-]?[+]?\d[\d.+-]*\w?(?:\s?[a-h]\b)?
    |(?:M\s?|m)(?:[1-9]\d?|10\d|110)(?!\w|[\s-]?(?:dwarfs?|type|giants?|stars?)\b)|Messier\s?\d{1,3}
    |(?:3C|4C|4U|PKS|B3)\s?\d[\d.+-]*|(?:GRB|GW|AT|SN|FRB|EP|IceCube-?)\s?(?:19|20)?\d{2,6}[A-Za-z_\d]*
    |(?:PSR|GRO|XTE|MAXI|SWIFT|IGR|AX|RX|SDSS|2MASS|WISE|WD|ZTF|ASASSN|GRS|GS|GX|Gaia|LSPM|1RXS|CXO|XMMU|SAX|PG|HE|QSO|BR|ULAS)\s?[JB]?\d{2,}[+\-−.\d]*\w?
    |(?:WASP|HAT-P|HATS|TrES|CoRoT|XO|KELT|OGLE-TR|Kepler|K2|NGTS|MASCARA|Qatar|TRAPPIST|GJ|LTT|TOI|LHS)-\d+(?:\s?[a-h](?![\w]))?
    |(?:Cyg|Cen|Vir|Cas|Per|Vela|Her|Sco|Cir|LMC|SMC)\sX-?\d+ | \d{1,3}P/[A-Z][\w–-]+ | C/\d{4}\s[A-Z]\d+
    |AU\sMic|PDS\s?70|HL\sTau|TW\sHya|SS\s?433|AM\sHer|RR\sLyr(?!\w)|Sgr\sA\*
    )""",
    re.VERBOSE,
)  # fmt: skip
_CONSTELLATION = re.compile(
    r"(?<!\w)(?:V\d{3,4}|[RSTUVWXYZ]{1,2}|\d{1,2})\s(?:And|Aql|Aqr|Aur|Boo|Cam|Cas|Cen|Cep|Cet|CMa|CMi|Cnc|Col|CrB|Crv|CVn|Cyg|Del|Dra"
    r"|Eri|Gem|Her|Hya|Lac|Leo|Lyr|Mon|Oph|Ori|Peg|Per|Pup|Sco|Ser|Sgr|Tau|TrA|Tri|UMa|UMi|Vel|Vir|Vul)(?!\w)"
)


def read_designations(reading: Reading) -> None:
    """Take objects of catalogues (NGC 1275, WASP-12b, GRB 130427A) as ADS objects."""
    start = 0
    while match := _CATALOGUE.search(reading.text, start) or _CONSTELLATION.search(
        reading.text, start
    ):
        name = re.sub(r"\s+", " ", match[0]).strip()
        before = reading.text[: match.start()]
        lead = re.search(
            r"(?:about|on|of|around|near|toward|towards|in|for|(?:the\s+)?objects?)\s+(?:the\s+)?$",
            before,
            re.IGNORECASE,
        )
        if re.search(r"\bby\s+$", before):
            start = match.end()
            continue
        name = re.sub(r"^[Mm]\s?(?=\d)", "M", name)
        begin = lead.start() if lead else match.start()
        reading.take(begin, match.end(), [Match("object", name)], words=match[0])


def read_objects(reading: Reading) -> None:
    """Take objects with names of their own; "or" between them makes a choice."""
    table = [(value, name) for value, name in _NAMED_OBJECTS.items()] + [("", _STARS)]
    for value, name in table:
        pattern = rf"(?<![\w-])(?:(?:about|on|of|around|near|in|for|(?:with\s+)?objects?)\s+)?(?:the\s+)?(?P<it>{name})(?![\w-])"
        while match := re.search(pattern, reading.text, re.IGNORECASE):
            found = _KEEP_NAME.get(value, value) or re.sub(r"\s+", " ", match["it"])
            reading.take(match.start(), match.end(), [Match("object", found)], words=match["it"])
    _choices(reading)


def _choices(reading: Reading) -> None:
    """Join objects that an "or" stands between."""
    objects = [
        c for c in reading.clauses if isinstance(c, Match) and c.field == "object" and not c.negated
    ]
    pattern = rf"[{CUTS}]\s*\)?\s*or\s*\(?\s*[{CUTS}]"
    if len(objects) < 2 or not re.search(pattern, reading.text, re.IGNORECASE):
        return
    reading.text = re.sub(pattern, CUTS[0], reading.text, count=1, flags=re.IGNORECASE)
    chosen = objects[:2]
    reading.clauses = [clause for clause in reading.clauses if clause not in chosen]
    reading.clauses.append(AnyOf(tuple((clause,) for clause in chosen)))
