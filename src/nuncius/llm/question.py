"""What a question asks: a number of some unit, a count, a date, one of a kind, and of which things."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nuncius.core.plain_words import PLAIN
from nuncius.core.stem import stem
from nuncius.core.text import STOP_WORDS, language_of, query_terms

_SUN, _EARTH, _JUPITER = r"(?:sun|⊙|☉|\[sun\])", r"(?:E(?:arth)?|⊕|\[earth\])", r"(?:J(?:up)?|♃|♃)"
_BODY = {
    "sun": (_SUN, "solar"),
    "earth": (_EARTH, "Earth"),
    "jupiter": (_JUPITER, r"Jup(?:iter)?(?:ian)?"),
}
_ANY_BODY = (rf"(?:{_SUN}|{_EARTH}|{_JUPITER})", r"(?:solar|Earth|Jup(?:iter)?(?:ian)?|stellar)")

DIMENSIONS: dict[str, str] = {
    "length": r"(?:[kMG]?pc|[kMGcmnµμ]?m|um|microns?|Å|angstroms?|au|AU|ly|light[- ]years?"
    r"|(?:kilo|mega|giga)?parsecs?|kilomet\w+|met(?:er|re)s?|千米|公里|(?:千|百万)?秒差距|光年|米|微米)",
    "time": r"(?:[mµμ]?s|min|hr?s?|d|days?|[kMG]?yr|[MG]a|years?|hours?|minutes?|(?:milli|micro)?seconds?"
    r"|weeks?|months?|nights?|毫?秒|分钟|小时|天|日|个?月|[万亿]*年)",
    "mass": r"(?:kg|g|grams?|[mkMGT]?eV|千克)",
    "temperature": r"(?:[mµμ]?K|kelvins?|°C|(?:度)?开尔文|开)",
    "angle": r"(?:deg(?:rees?)?|[°◦]|arcmin\w*|m?arcsec\w*|mas|[″′\"]|radians?|rad|角秒|角分|度)",
    "speed": r"(?:[kc]?m\s?/?\s?s|千米每秒|公里每秒)",
    "brightness": r"(?:m?mag\w*|m?Jy|erg|W|星等)",
    "energy": r"(?:[kMGT]?eV|erg|J)",
    "frequency": r"(?:[mkMGμµ]?Hz|hertz|赫兹)",
    "expansion": r"(?:km\s?/?\s?s)",
}
"""Units of each dimension, as a pattern to follow a number."""

QUANTITIES: dict[str, tuple[str, ...]] = {
    "long": ("time", "length"), "age": ("time",), "old": ("time",), "duration": ("time",), "period": ("time",),
    "lifetime": ("time",), "timescale": ("time",), "cadence": ("time",), "delay": ("time",),
    "distance": ("length",), "far": ("length",), "radius": ("length",), "diameter": ("length",),
    "size": ("length", "angle"),
    "wavelength": ("length",), "separation": ("length", "angle"), "parallax": ("angle",),
    "mass": ("mass",), "heavy": ("mass",), "massive": ("mass",),
    "temperature": ("temperature", "energy"), "hot": ("temperature", "energy"),
    "warm": ("temperature",), "cold": ("temperature",),
    "inclination": ("angle",), "obliquity": ("angle",), "resolution": ("angle", "length"),
    "velocity": ("speed",), "speed": ("speed",), "fast": ("speed", "time"),
    "magnitude": (), "luminosity": ("brightness",), "flux": ("brightness",), "bright": ("brightness",),
    "frequency": ("frequency",), "energy": ("energy",),
}  # fmt: skip
"""Quantities (stems are compared) and the dimensions that a value of theirs has; none: a bare number."""

_ZH_QUANTITIES = {
    "多远": "distance", "距离": "distance", "年龄": "age", "多老": "age", "多久": "duration", "时间": "duration",
    "周期": "period", "半径": "radius", "直径": "diameter", "质量": "mass", "多重": "mass", "温度": "temperature",
    "多热": "temperature", "速度": "velocity", "光度": "luminosity", "倾角": "inclination", "时标": "duration",
    "频率": "frequency", "波长": "wavelength", "视差": "parallax", "多快": "speed",
}  # fmt: skip

_HOW_MANY = re.compile(r"\bhow (?P<much>many|much)\s+(?P<what>.+)", re.IGNORECASE | re.DOTALL)
_METHOD = re.compile(r"how (?:can|could|do|does|did|is|are|was|were|should|to)\b", re.IGNORECASE)
"""A question for a way of doing things: "how do you choose how many knots to use"."""
_HOW_ADJECTIVE = re.compile(
    r"\bhow (large|big|small|old|young|far|long|deep|bright|faint|hot|warm|cold|fast|quick\w*|massive|heavy"
    r"|eccentric|strong|wide|high|low|often|precise\w*|accurate\w*|close|thick|dense|likely|metal-\w+|inclined|steep)\b",
    re.IGNORECASE,
)
_HEAD = re.compile(
    r"\b(?:what|which)\s+(?:(?:is|are|was|were|'s)\s+)?(?:the\s+|an?\s+)?(?P<what>.+)",
    re.IGNORECASE | re.DOTALL,
)
_NOUN_PHRASE_ENDS = frozenset(
    """of for in from at on to with by did does do was were is are has have had can could would should will when where
    once if that than as between against per after before during within under over the a an its their this these
    those and or but not according given using through about""".split()
)
_DETERMINERS = frozenset("the a an its their this these those".split())
_PREPOSITIONS = frozenset("of for in from at on to with by".split())
_GENERIC = frozenset(
    map(
        stem,
        """value number fraction percentage share proportion factor limit bound constraint sum total amount
        estimate level result measurement""".split(),
    )
)
"""Words that ask for a number and name no property."""
_NUMBERS = frozenset(map(stem, QUANTITIES)) | frozenset(
    map(
        stem,
        """rate ratio depth eccentricity redshift amplitude significance
        uncertainty precision accuracy constant threshold exponent slope index metallicity density width probability
        spin abundance gravity coefficient dispersion strength efficiency scatter tolerance
        minimum maximum cost""".split(),
    )
)
"""Heads of noun phrases that ask for a number."""
LONGEST_PHRASE = 7
SYMBOL_DIGITS = 2
"""A letter with at most so many digits is a symbol (H0, T14), with more it names an object."""
_LASTS = re.compile(r"\b(?:last|take|took|live|survive|need|run|observe|require)", re.IGNORECASE)
_WHAT_IS = re.compile(r"what\s+(?:is|are|was|were|'s|do|does|did)\b", re.IGNORECASE)
_SYMBOL = re.compile(
    r"[A-Za-zα-ωΑ-Ω]{1,2}_?|[A-Za-zα-ωΑ-Ω]{1,5}_?\d{1,2}|[α-ωΑ-Ω]_?\w{1,4}|[A-Z](?:eff|rot|orb)"
)
_ASKS_DATE = re.compile(
    r"\bwhen (?:did|was|were|will)\b|\b(?:which|what) (?:year|date|month)\b|哪一?年|什么时候|何时",
    re.IGNORECASE,
)
_ZH_NUMBER = re.compile(
    r"多少|多大|多远|多久|多长|多高|多重|多快|多深|多亮|多热|多宽|几[个颗次年种倍天]"
)
_ZH_COUNT = re.compile(r"多少[个颗次种条组对位台]|有多少|几[个颗次种条组对]|一共|数目|个数")
_ZH_ASKED = re.compile(
    r"多少(?P<after>[\u4e00-\u9fff]{2,6})|(?P<before>[\u4e00-\u9fff]{2,10}?)(?:大约|约|大概)?(?:是|为|有|取|等于)?(?:多少|多大)"
)
_NAME = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Za-z0-9]*[A-Z][A-Za-z0-9*]*(?:[-+./][A-Za-z0-9]+)*(?:\s\d[\w.+-]*)?|[a-z]+-?\d[\w-]*)"
)
_RUN = re.compile(r"(?<![A-Za-z0-9-])[A-Z][a-z]+(?:\s[A-Z][a-z]+)+(?![A-Za-z0-9])")
_PLACE = re.compile(
    r"\b(?P<kind>table|figure|fig\.?|equation|eq\.?|section)\s+(?P<n>[A-Z]?\d+)\b|(?P<zh>[表图])\s*(?P<m>\d+)",
    re.IGNORECASE,
)
_IN_UNIT = re.compile(r"\bin ((?:[\w/]+ )?[\w/]+)\s*(?:\?|$|\bof\b|\bfor\b|\baccording\b)")


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a question: how the user wrote it, and its stems."""

    spelled: str
    stems: tuple[str, ...]
    identifier: bool
    """Whether it names one thing, such as ``KOI-7368`` or ``South Pole Telescope``; a single word
    (``Polaris``, ``CMB``) may be no more than an attribute, ``H0`` is a symbol."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, taken apart.

    Attributes:
        names: What an answer must be about.
        number: Whether the answer holds a number; `count`: a number of things.
        units: A pattern of the units that may follow the number; empty where any number will do.
        unit_named: Whether the question itself says in which unit.
        focus: Stems of the thing or property asked for (``eccentr`` in "how eccentric"), the head
            last; empty where the form of the question does not tell.
        which: Whether it asks for one thing of a kind ("which sampler").
        table: Number of the table that it names, or empty.
        own: Stems of a follow-up itself, without the question that it leans on; else empty.
    """

    language: str
    names: tuple[Name, ...] = ()
    number: bool = False
    count: bool = False
    date: bool = False
    units: str = ""
    unit_named: bool = False
    focus: tuple[str, ...] = ()
    which: bool = False
    table: str = ""
    own: frozenset[str] = frozenset()


def read_question(text: str) -> Question:
    """Take a question apart by the forms of English and Chinese questions."""
    chinese = language_of(text) == "zh"
    return (_read_chinese if chinese else _read_english)(text)


def _read_english(text: str) -> Question:
    focus: tuple[str, ...] = ()
    number = count = which = False
    dimensions: tuple[str, ...] = ()
    if (match := _HOW_MANY.search(text)) and not _METHOD.match(text):
        number = True
        dimensions = _unit_words(match["what"])
        count = not dimensions and match["much"].lower() == "many"
        focus = () if dimensions else _noun_phrase(match["what"])[0]
    elif match := _HOW_ADJECTIVE.search(text):
        number = True
        focus = (stem(match[1].lower()),)
        dimensions = _dimensions_of(focus[0])
        if re.match(r"\s*apart\b", text[match.end() :]):
            dimensions = ()
        if focus == ("long",) and _LASTS.search(text):
            dimensions = ("time",)
    elif match := _HEAD.search(text):
        focus, generic, first = _property(text[match.start("what") :])
        head = focus[-1] if focus else ""
        dimensions = _dimensions_of(head)
        symbol = bool(_WHAT_IS.match(match[0]) and _SYMBOL.fullmatch(first))
        number = generic or head in _NUMBERS or symbol
        which = not number and not _WHAT_IS.match(match[0])
    named = () if count else _unit_words(unit[1]) if (unit := _IN_UNIT.search(text)) else ()
    place = _PLACE.search(text)
    return Question(
        language="en",
        names=tuple(_names(text)),
        number=number,
        count=count,
        date=bool(_ASKS_DATE.search(text)),
        units=_units(named or dimensions, text) if number else "",
        unit_named=bool(named) or (bool(_HOW_MANY.search(text)) and not count),
        focus=focus,
        which=which,
        table=place["n"] if place and (place["kind"] or "").lower() == "table" else "",
    )


def _property(words: str) -> tuple[tuple[str, ...], bool, str]:
    """Return the property asked for: the noun phrase at the start of `words`.

    Where that names no property (the value, the upper limit), it is the one after ``of`` or ``on``.

    Returns:
        Its stems; whether a number was asked for in general words; its spelling.
    """
    generic = False
    for _ in range(3):  # the value of the sum of the neutrino masses
        focus, spelled, rest = _noun_phrase(words)
        if not focus or focus[-1] not in _GENERIC:
            return focus, generic, spelled
        generic = True
        following = re.match(
            r"(?:of|on|for|in)\s+(?:(?:the|an?|this|its)\s+)?(.*)", rest, re.IGNORECASE | re.DOTALL
        )
        if not following:
            return (), True, ""
        words = following[1]
    return (), True, ""


def _read_chinese(text: str) -> Question:
    count = bool(_ZH_COUNT.search(text))
    unit = re.search(r"多少([^\W\d_]{1,5})", text)
    dimensions = _zh_unit(unit[1]) if unit else ()
    unit_named = bool(dimensions)
    if dimensions:
        count = False
    else:
        known = [
            (text.rfind(word), quantity)
            for word, quantity in _ZH_QUANTITIES.items()
            if word in text
        ]
        dimensions = QUANTITIES[max(known)[1]] if known and not count else ()
    asked = _ZH_ASKED.search(text)
    focus = (asked["after"] or asked["before"].rsplit("的", 1)[-1]) if asked and not count else ""
    place = _PLACE.search(text)
    return Question(
        language="zh",
        names=tuple(_names(text)),
        number=bool(_ZH_NUMBER.search(text)),
        count=count,
        date=bool(_ASKS_DATE.search(text)),
        units=_units(dimensions, text),
        unit_named=unit_named,
        focus=tuple(query_terms(focus)[0][0].split())
        if len(focus) > 1 and query_terms(focus)
        else (),
        which=bool(re.search(r"哪[个种些台类颗次]|什么", text)) and not _ZH_NUMBER.search(text),
        table=place["m"] if place and place["zh"] == "表" else "",
    )


def _noun_phrase(text: str) -> tuple[tuple[str, ...], str, str]:
    """Return the noun phrase that `text` begins with: its stems, its spelling, what follows it."""
    phrase: list[str] = []
    end = ""
    words = re.split(r"\s+", text.strip())
    for word in words[:LONGEST_PHRASE]:
        bare = word.strip("?!.,;:()")
        if bare.lower() in _NOUN_PHRASE_ENDS:
            end = bare.lower()
            break
        phrase.append(bare)
        if bare != word:
            end = "."
            break
    rest = " ".join(words[len(phrase) :])
    if not end or end in _DETERMINERS | _PREPOSITIONS:
        # before an article or at the end stands a verb: "which sampler draws the"
        verb = r"ed$" if end in _PREPOSITIONS else r"(?:ed|[^su'i]s)$"
        found_verb = (i for i, word in enumerate(phrase) if i and re.search(verb, word))
        last = len(phrase) - (end in _DETERMINERS)
        phrase = phrase[: next(found_verb, last)]
    found = tuple(
        stem(token)
        for word in phrase
        for term in query_terms(word)[:1]
        for token in term[0].split()
    )
    return found, " ".join(phrase), rest


def _dimensions_of(word: str) -> tuple[str, ...]:
    return next((dims for known, dims in QUANTITIES.items() if stem(known) == stem(word)), ())


def _unit_words(words: str) -> tuple[str, ...]:
    """Return the dimension of the unit that `words` begin with: ``seconds``, ``Earth masses``."""
    first, *rest = words.split() or [""]
    for body in _BODY.values():
        if re.fullmatch(body[1], first, re.IGNORECASE) and rest:
            if re.match(r"mass", rest[0], re.IGNORECASE):
                return ("mass",)
            if re.match(r"radi", rest[0], re.IGNORECASE):
                return ("length",)
    return tuple(
        name
        for name, pattern in DIMENSIONS.items()
        if len(first) > 1 and re.fullmatch(pattern, first)
    )


def _zh_unit(text: str) -> tuple[str, ...]:
    for body in ("太阳质量", "地球质量", "木星质量"):
        if text.startswith(body):
            return ("mass",)
    return tuple(
        name
        for name, pattern in DIMENSIONS.items()
        if (match := re.match(pattern, text)) and not match[0].isascii()
    )


def _units(dimensions: tuple[str, ...], text: str) -> str:
    """Return one pattern for units of these dimensions; masses and radii of the body asked for."""
    if not dimensions:
        return ""
    body = next(
        (
            _BODY[name]
            for name, words in (
                ("earth", r"\bEarth (?:mass|radi)|地球(?:质量|半径)"),
                ("jupiter", r"\bJup\w* (?:mass|radi)|木星(?:质量|半径)"),
                ("sun", r"\bsolar (?:mass|radi)|太阳(?:质量|半径)"),
            )
            if re.search(words, text)
        ),
        None,
    )
    symbol, word = body or _ANY_BODY
    # a parser may lose the glyph of the Sun: a bare M or R counts unless a body is asked for
    lost = "" if body else r"(?=\s|$|\W)"
    pieces: list[str] = []
    for name in dimensions:
        if not (body and name in {"mass", "length"}):
            pieces.append(DIMENSIONS[name])
        for letter, dimension, noun in (
            ("M", "mass", "mass"),
            ("R", "length", "radi"),
            ("L", "brightness", "lumino"),
        ):
            if name == dimension:
                pieces.append(
                    rf"{letter}_?{symbol}|{word} {noun}\w*|太阳{'质量' if letter == 'M' else '半径'}"
                )
                if lost:
                    pieces.append(letter + lost)
    return f"(?:{'|'.join(pieces)})"


def _names(text: str) -> Iterator[Name]:
    for match in _RUN.finditer(text):
        begins = not text[: match.start()].strip() or text[: match.start()].rstrip()[-1] in ".?!:"
        words = match[0].split()
        if begins:
            words = words[1:]
        if len(words) > 1:
            yield Name(" ".join(words), _name_stems(" ".join(words)), identifier=True)
    for match in _NAME.finditer(text):
        word = match[0].strip(" .-/")
        if (
            not word
            or word.isdigit()
            or word.lower() in STOP_WORDS
            or _PLACE.match(text, match.start())
        ):
            continue
        letters = sum(char.isalpha() for char in word)
        digits = sum(char.isdigit() for char in word)
        identifier = digits > SYMBOL_DIGITS or (letters > 1 and digits > 0)
        acronym = letters > 1 and sum(char.isupper() for char in word) > 1
        begins = not text[: match.start()].strip() or text[: match.start()].rstrip()[-1] in ".?!:"
        if not (identifier or acronym) and (begins or stem(word.lower()) in PLAIN):
            continue
        if spelled := _name_stems(word):
            yield Name(word, spelled, identifier)


def _name_stems(words: str) -> tuple[str, ...]:
    return tuple(stem(token) for term in query_terms(words) for token in term[0].split())
