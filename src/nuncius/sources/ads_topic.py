"""Reads what is left of a request: quoted phrases, words near each other, the topic."""

import re

from nuncius.sources.ads_clauses import AnyOf, Clause, Match, Raw, negate, quoted, spell_word
from nuncius.sources.ads_reading import CUTS, NEGATOR, Reading

_EDGE = frozenset(
    """
    a about according across after all also among an and any anything are around as at available
    be been being but by can concerned concerning could covered covering dealing describing did
    discussed discussing do does else ever every everything for from good had has have having
    how i i'd i'm if in including interested into investigating involving is it its just know
    latest let like looking made me mentioned mentioning most much my newest of off on one ones
    only or other our out over please presenting published publish query recommend regarding
    related relating some something studying such than that the their them then there these they
    this those through to toward towards under upon us use used using via want wanted was we
    well were what what's whats when where which who whose why will with within would written
    you your there's i've titled called named tagged tags associated
    """.split()
)
"""Words that a topic neither begins nor ends with."""
_ASKING = frozenset(
    """
    either contain containing many discuss discusses deal deals cover covers study studies download
    explain exploring find focused focusing get gimme give got help info information items
    journal learn limit limited list look make mention need new query read reading restrict
    restricted retrieve return see search searching show suggest tell topic topics versions
    version journals records record above below more
    """.split()
)
"""Words that a topic does not begin with."""
_FRONT = _EDGE | _ASKING
_PAPER = re.compile(
    "(?:papers?|articles?|publications?|works?|studies|study|research|preprints?|literature|manuscripts?|bibliography)",
    re.IGNORECASE,
)
_INNER = frozenset(
    (
        "a an the of in on for to and with from by at as is are was were its their into via onto "
        "or using that which be about related discussing concerning regarding"
    ).split()
)
_WORDS = re.compile(r"[^\s,;:!?()\[\]{}<>\"“”|=~^]+")

_IN_FIELD = (
    ("title", r"(?:in|from)\s+(?:the\s+|its\s+|their\s+)?titles?"),
    ("abstract", r"(?:in|from)\s+(?:the\s+|its\s+|their\s+)?abstracts?"),
    ("abs", r"in\s+abs"),
    ("full", r"anywhere\s+in\s+(?:the\s+|its\s+|their\s+)?(?:full\s+)?text"),
    (
        "full",
        r"(?:in|from|through)\s+(?:the\s+|its\s+|their\s+)?(?:full[\s-]?texts?|whole\s+texts?)",
    ),
    ("body", r"(?:in|from)\s+(?:the\s+|its\s+|their\s+)?(?:body|text)(?:\s+of\s+the\s+\w+)?"),
    ("ack", r"(?:in|from)\s+(?:the\s+|its\s+|their\s+)?acknowledge?ments?"),
    ("caption", r"(?:in|from)\s+(?:the\s+|its\s+|their\s+)?(?:figure\s+|table\s+)?captions?"),
    ("keyword", r"(?:in|as)\s+(?:the\s+|its\s+|their\s+|an?\s+)?keywords?"),
)
_FIELD_FIRST = re.compile(
    (
        r"(?<!\w)(?:the\s+|whose\s+|with\s+)?(?P<field>title|abstract|full[\s-]?text|body"
        r"|acknowledge?ments?)s?\s*(?:(?:contains?|containing|mentions?|mentioning|includes?"
        r"|including|has|says|with)(?!\w)|:)\s*(?:the\s+(?:words?|phrase)\s+)?"
    ),
    re.IGNORECASE,
)
_QUOTE = re.compile(r"[\"“”„«»「」『』《》]([^\"“”„«»「」『』《》]+)[\"“”„«»「」『』《》]")
_TITLED = re.compile(
    (
        r"(?:(?:paper|article|book|thesis|study|work|publication)s?\s+(?:called|titled|entitled"
        r"|named)?\s*|titled|entitled|titles?(?:\s+(?:is|contains?|containing|with|:))?"
        r"|called)\s*$"
    ),
    re.IGNORECASE,
)


def field_of(name: str) -> str:
    """Return the ADS field that people call `name`."""
    plain = re.sub(r"[\s-]", "", name.lower())
    if plain.startswith("acknowledg"):
        return "ack"
    return {"fulltext": "full", "title": "title", "abstract": "abstract", "body": "body"}.get(
        plain, "abs"
    )


def _quoted_choice(reading: Reading) -> None:
    """Take phrases in quotes with "or" between them as alternatives."""
    chain = rf"{_QUOTE.pattern}(?:\s+or\s+{_QUOTE.pattern})+"
    for match in reversed(list(re.finditer(chain, reading.text, re.IGNORECASE))):
        phrases = [found[1].strip() for found in _QUOTE.finditer(match[0])]
        choices = tuple((Match("abs", phrase),) for phrase in phrases if re.search(r"\w", phrase))
        if len(choices) > 1:
            reading.take(match.start(), match.end(), [AnyOf(choices)])


def read_quotes(reading: Reading) -> None:
    """Take quoted phrases: titles where the words before or the length say so, else topics."""
    _quoted_choice(reading)
    while match := _QUOTE.search(reading.text):
        phrase = re.sub(r"\s+", " ", match[1]).strip(" ,")
        before, after = reading.text[: match.start()], reading.text[match.end() :]
        lead = re.search(rf"{_FIELD_FIRST.pattern}$", before, re.IGNORECASE)
        titled = _TITLED.search(before)
        start, end = match.start(), match.end()
        field = ""
        for name, pattern in _IN_FIELD:
            if tail := re.match(rf"\s+{pattern}(?!\w)", after, re.IGNORECASE):
                field, end = name, match.end() + tail.end()
        if not field and lead:
            field, start = field_of(lead["field"]), lead.start()
        if not field:
            field = "title" if titled or len(phrase.split()) > 3 else "abs"
        clauses = [Match(field, phrase)] if re.search(r"\w", phrase) else []
        reading.take(start, end, clauses)
    reading.text = re.sub(r"[\s\"“”„«»「」『』《》]+", " ", reading.text)


_NEAR = re.compile(
    (
        r"(?P<left>[\w-]+(?:\s+[\w-]+)?)\s+(?:within\s+(?P<n>\d+)\s+words\s+(?:of|from)"
        r"|(?:appears?\s+)?near(?P<k>\d*)(?:\s+to)?"
        r"|NEAR\d*)\s+(?P<right>[\w-]+)(?P<in>\s+in\s+(?:the\s+)?(?P<field>title|abstract"
        r"|full[\s-]?text|body))?"
    ),
    re.IGNORECASE,
)


def read_near(reading: Reading) -> None:
    """Take "X within 5 words of Y" and "X near Y in the abstract"."""
    match = _NEAR.search(reading.text)
    if not match or not (match["n"] or match["k"] or match["in"]):
        return
    words = match["left"].split()
    while len(words) > 1 and (words[0].lower() in _FRONT or _PAPER.fullmatch(words[0])):
        words = words[1:]
    left = quoted(" ".join(words)) if len(words) > 1 else spell_word(words[0])
    field = field_of(match["field"] or "abs")
    near = match["n"] or match["k"] or "5"
    field = "abs" if field == "abstract" else field
    start = match.start() + match["left"].rindex(words[0])
    reading.take(
        start, match.end(), [Raw(f"{field}:({left} NEAR{near} {spell_word(match['right'])})")]
    )


_EXACT = re.compile(
    r"(?:\(?\s*(?:no|without)\s+synonyms\s*\)?|exact\s+(?:token|word|term|match)|(?<!\w)exact(?:ly)?(?!\w))",
    re.IGNORECASE,
)


def read_fields(reading: Reading) -> None:
    """Take "X in the title", "mentioning X in the full text", "title X" with exact spelling."""
    exact = _EXACT.search(reading.text)
    if exact and (
        match := re.search(
            r"(?:in\s+)?(?:title\s+)(?:exact\s+)?(?P<word>[\w-]+)|(?P<first>[\w-]+)\s+in\s+(?:the\s+)?title",
            reading.text,
            re.IGNORECASE,
        )
    ):
        word = match["word"] or match["first"]
        reading.take(0, len(reading.text), [Match("title", word, exact=True)])
        return
    if match := re.search(
        rf"(?<!\w)(?:titled|entitled)\s+(?P<it>[^{CUTS},;]+)", reading.text, re.IGNORECASE
    ):
        reading.take(match.start(), match.end(), _topic(match["it"], field="title"))
    for field, pattern in _IN_FIELD:
        match = re.search(
            (
                rf"(?:(?:^|.*\s)(?:the\s+)?(?:words?|term"
                rf"|phrase)\s+)?(?P<it>[^{CUTS}]+?)\s+{pattern}(?![\w])"
            ),
            reading.text,
            re.IGNORECASE,
        )
        if match:
            kept = _topic(match["it"], field=field)
            if kept:
                reading.take(match.start(), match.end(), kept)
    match = _FIELD_FIRST.search(reading.text) or re.match(
        r"\s*(?P<field>title|abstract|full[\s-]?text)\s+(?!of\b)(?=\w)", reading.text, re.IGNORECASE
    )
    if match and (rest := re.match(rf"[^{CUTS},;]+", reading.text[match.end() :])):
        kept = _topic(rest[0], field=field_of(match["field"]))
        if kept:
            reading.take(match.start(), match.end() + rest.end(), kept)


def _trim(words: list[str]) -> list[str]:
    while words and (words[0].lower() in _FRONT or _PAPER.fullmatch(words[0])):
        words = words[1:]
    while words and (words[-1].lower() in _EDGE or _PAPER.fullmatch(words[-1])):
        words = words[:-1]
    return words


def _topic(text: str, *, field: str = "abs") -> list[Clause]:
    """Turn a run of words into clauses: one word or two as a phrase, more as words that all occur."""
    choices = re.split(r"\s+or\s+", text, flags=re.IGNORECASE)
    if len(choices) > 1:
        read = [tuple(_topic(choice, field=field)) for choice in choices]
        read = [choice for choice in read if choice]
        if len(read) > 1:
            return [AnyOf(tuple(read))]
        return list(read[0]) if read else []
    words = _trim([word.strip(".'’`*-–—/\\&+") for word in _WORDS.findall(text)])
    words = [word for word in words if re.search(r"\w", word)]
    adjacent = not any(word.lower() in _INNER for word in words)
    papers = [word for word in words if re.fullmatch("papers?|articles?", word, re.IGNORECASE)]
    kept = [word for word in words if word.lower() not in _INNER and word not in papers]
    if not kept:
        return []
    return [
        Match(
            field,
            " ".join(kept),
            "phrase" if len(kept) < 3 and adjacent and not papers else "words",
        )
    ]


def read_topic(reading: Reading) -> None:
    """Take all that is left as words of title, abstract and keywords; a "not" turns what follows."""
    if any(isinstance(c, Match) and c.field in {"object", "bibgroup"} for c in reading.clauses):
        reading.text = re.sub(rf"\s+observations?\s*(?=$|[{CUTS}])", " ", reading.text)
    segments = re.split(rf"[{CUTS}]|\s*[;|]\s*|,\s+(?=(?:but|not|and|no)\b)", reading.text)
    for segment in segments:
        parts = NEGATOR.split(f" {segment}")
        for place, part in enumerate(parts):
            clauses = _topic(part)
            if place:
                clauses = [negate(clause) for clause in clauses]
            place_of = reading.text.find(part.strip())
            if clauses and place_of >= 0:
                _write(reading, clauses, part)


def _write(reading: Reading, clauses: list[Clause], words: str) -> None:
    scratch = Reading(words)
    scratch.take(0, len(words), clauses)
    reading.clauses += [clause for clause in scratch.clauses if clause not in reading.clauses]
    reading.notes += scratch.notes
