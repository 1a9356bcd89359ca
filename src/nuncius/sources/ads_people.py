"""Reads authors' names out of words: who, as first author or not, in which spelling."""

import re
from functools import cache
from importlib.resources import files

from nuncius.sources.ads_clauses import AnyOf, Clause, Match, Operator
from nuncius.sources.ads_reading import CUTS, Reading

_PARTICLES = frozenset(
    """
    van von der den de del della dello di da dal dos das do du des la le lo el al ter ten te zu zur
    vom af av bin ibn ben st mac mc o d vander vanden
    """.split()
)
_SURNAMES = frozenset(
    """
    wang li zhang liu chen yang zhao huang zhou wu xu sun hu zhu gao lin he guo ma luo liang song
    zheng xie han tang feng yu dong xiao cheng cao yuan deng xue tian pan wei jiang cai jia ding
    shen ye lu du su fan lv jin dai xia zhong fu fang bai zou meng qin qiu hou shi hao gu mao long
    wan duan lei qian yin kong kim lee park choi jung kang cho yoon jang lim ito sato suzuki tanaka
    """.split()
)
FAMOUS = frozenset(
    """
    aaronson ashtekar bahcall baade bardeen begelman bekenstein binney blandford bondi burbidge
    carroll chandrasekhar eddington efstathiou einstein eisenstein ellis filippenko fowler freedman
    friedmann frenk gamow genzel ghez gott gunn guth hawking heckman hernquist hewish hoyle
    huchra humason jeans kirshner kormendy leavitt lemaitre linde loeb lynden-bell madau mayor mather
    mukhanov navarro oort oppenheimer ostriker paczynski payne-gaposchkin peebles penrose penzias
    perlmutter press queloz rees riess rubin rybicki sandage schechter schmidt schwarzschild shakura
    shapiro shapley silk slipher smoot spergel starobinsky steinhardt strömgren sunyaev thorne
    tinsley toomre trimble tully turok vaucouleurs wheeler white wilson witten zeldovich zwicky
    """.split()
)
"""Names that mean an author where "papers" follows at once ("Penrose papers")."""
_EPONYMS = frozenset(
    """
    barnard teegarden kapteyn luyten van\u00a0maanen pandora hoag tycho kepler stephan seyfert halley
    newton maxwell hubble hind gould bok thorne-zytkow wien planck einstein\u00a0ring minkowski
    mayall copeland robert burnham seashell gomez hanny przybylski tabby boyajian campbell herschel
    today yesterday year month week world sun earth moon mars venus jupiter saturn mercury uranus
    neptune pluto galaxy universe it that what here let who there he she where how author
    """.split()
)
_THING = (
    r"(?:stars?|clusters?|object|nebula|comet|quintet|supernova|laws?|equations?|theorem|galaxy"
    r"|loop|ring|planet|system|atmosphere|surface|magnetosphere|rings|moons?|disk|orbit)"
)

PAPERS = (
    r"(?:papers?|articles?|publications?|works?|studies|study|research|preprints?|results?|reviews?|theses|thesis"
    r"|dissertations?|proceedings|records?|entries|items|documents?|literature|contributions|talks|books?|letters)"
)
_WORD = r"(?:(?:[^\W\d_]\.-?){2,}|[^\W\d_](?:[\w'’`-]*\w)?\.?)"
_STOP = (
    r"(?:and|or|on|about|regarding|concerning|from|in|since|between|before|after|during"
    r"|published|using|as|first|lead|last|single"
    r"|excluding|without|except|but|that|which|who|whose|for|refereed|not|related|where|to|at"
    r"|the|near|over|until|through"
    r"|title|abstract|year|years|is|are|was|were|has|have|into|within|discussing|covering"
    r"|studying|containing|mentioning"
    r"|only|please|paper|papers|articles|article|publications|author|authors|authored|coauthor"
    r"|co-author|co-?authored|limited|works?|et"
    r"|with|whom|again|also|both|alone|cited|citing|citations?|early|recent|recently|latest|up"
    r"|under|via|any|all|sorted|per"
    r"|affiliated|based|working|researchers?|scientists?|people|astronomers?|someone|anyone"
    r"|women|men|students?|me|us|them|when|while|within|around|like|of|by|concerned|dealing"
    r"|looking|involving|focus(?:ed|ing)|describing|collaborat(?:ors?|ing|ed))"
)
_NAME = rf"(?:(?!{_STOP}(?![\w'’.-])){_WORD})"
_GAP = r"(?:\s*,\s*(?:and\s+|&\s*|or\s+)?|\s*;\s*|\s+and\s+|\s*&\s*|\s+or\s+|\s*/\s*|\s+)"
_NAMES = (
    rf"(?P<names>{_NAME}(?:{_GAP}{_NAME})*)(?:(?:\s*,\s*|\s+)(?:et\.?\s*al\.?(?!\w)|and\s+(?:others"
    rf"|collaborators|coworkers|co-workers|colleagues)))?"
)
_FIRST = (
    r"(?:\s*,?\s*\(?\s*(?:(?:as|is|being|was)\s+(?:the\s+|a\s+)?)?(?:first"
    r"|lead)[\s-]+authors?(?:ed|ship)?(?:\s+only)?\s*\)?)"
)
_CUE_FIRST = (
    r"(?:(?:with|by|has|as|limit(?:ed)?\s+to|the)\s+)*(?:first|lead)[\s-]+author(?:ed"
    r"|s)?(?:\s+(?:by|is|was|of|papers?\s+(?:by|of)))?\s*[:=]?\s+"
    r"|led\s+by\s+"
)
_CUE = (
    rf"(?:(?:{PAPERS}|authored|co-?authored|written|published|author|authors|work|anything"
    rf"|everything|something|those|ones|all)\s+"
    rf"(?:(?:were|was|are|is|that|only|also|not|written|published|authored)\s+)*by\s+(?:the\s+)?(?:authors?\s+)?"
    rf"|(?:^|(?<=[{CUTS}]))\s*(?:and\s+|or\s+)?by\s+(?:authors?\s+)?|(?<=(?<!\w)not\s)by\s+(?:authors?\s+)?"
    r"|(?<!first\s)(?<!lead\s)(?<!single\s)(?<!sole\s)\b(?:co-?)?authors?(?:\s+(?:is|are|named"
    r"|called|was|were|include|including|like|name))?\s*[:=]?\s+"
    r"|co-?authored\s+with\s+|in\s+collaboration\s+with\s+|co-?author(?:s|ed)?\s+(?:with\s+)?)"
)


def _rx(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_RULES = (
    (
        "pos",
        _rx(
            rf"(?:where\s+|{PAPERS}\s+(?:with|where)\s+)?{_NAMES}\s+(?:is|as|in"
            rf"|among)\s+(?:the\s+)?(?P<low>first|1st)?\s*(?:-|–|to|through)?\s*(?P<high>two|three|four"
            rf"|five|six|ten|2nd|3rd|4th|5th|10th|\d+)\s+authors?(?!\w)"
        ),
    ),
    ("first", _rx(rf"(?<!\w)by\s+(?:authors?\s+)?{_NAMES}{_FIRST}")),
    ("first", _rx(rf"(?:(?<!\w)(?:where|with|whose)\s+|^\s*|(?<=[{CUTS}])\s*){_NAMES}{_FIRST}")),
    ("first", _rx(rf"(?<!\w)(?:{_CUE_FIRST}){_NAMES}")),
    (
        "author",
        _rx(
            rf"(?<!\w)(?:works?|papers?|publications?"
            rf"|writings)\s+of\s+(?P<names>(?-i:[A-ZÀ-Þ]){_WORD})(?=\s*$|[{CUTS}]|\s+(?:on"
            rf"|about)(?!\w))"
        ),
    ),
    ("author", _rx(rf"(?<![\w-])(?:{_CUE}){_NAMES}")),
    (
        "author",
        _rx(
            r"(?:(?<!\w)(?:by|from|of)\s+)?(?<!\w)(?:the\s+)?(?P<names>(?:(?-i:[A-Z])[\w/.-]+\s+){1,3"
            r"}(?:collaboration|consortium))(?!\w)(?:\s+et\.?\s*al\.?)?"
        ),
    ),
    (
        "author",
        _rx(
            rf"(?<!\w)(?:what|which\s+{PAPERS})\s+(?:has|have|did)\s+{_NAMES}(?=\s+(?:published|publish"
            rf"|written|write|done)(?!\w))"
        ),
    ),
    (
        "author",
        _rx(
            rf"(?<!\w)(?:from\s+|of\s+|in\s+)?(?P<names>{_NAME}(?:(?:\s*,\s*|\s*&\s*|\s+and\s+"
            rf"|\s+){_NAME}){{0,3}})(?:\s*,\s*|\s+)et\.?\s*al(?:\.|\b)(?:['’]s)?"
        ),
    ),
)
_BY = _rx(rf"(?<!\w)by\s+{_NAMES}")
_POSSESSIVE = _rx(
    rf"(?:^|(?<=\s))(?P<names>{_WORD}(?:\s+{_WORD}){{0,2}}?)(?:['’]s"
    rf"|(?<=s)['’])\s+(?!{_THING}\s*(?:$|[{CUTS}]|{PAPERS}(?!\w)))"
    rf"(?=(?:[\w-]+\s+|[{CUTS}]\s*){{0,6}}?(?:{PAPERS})(?!\w)|$)"
)
_OWNED = re.compile(
    rf"(?:^|(?<=[\s{CUTS}]))(?P<names>[^\W\d_][\w'’-]+)[\s{CUTS}]+(?={PAPERS}(?!\w))", re.IGNORECASE
)
_INITIALS = re.compile(r"(?:[^\W\d_]\.?-?){1,3}")
_LEADING = (
    re.compile(
        rf"^\s*(?P<names>{_NAME}(?:\s+{_NAME})?\s*,\s*(?:(?:[^\W\d_](?![\w'’])\.?\s*)+"
        rf"|{_NAME})(?:\s*(?:;|&|and)\s*{_NAME}\s*,\s*(?:[^\W\d_](?![\w'’])\.?\s*)+)*)(?=[\s;]|$|(?<=\s))"
    ),
    re.compile(rf"^\s*(?P<names>{_NAME}\s+[^\W\d_]\.?)(?=\s|$)"),
    re.compile(rf"^\s*(?P<names>(?:[^\W\d_]\.\s*)+{_NAME})(?=\s|$)"),
    re.compile(rf"^\s*(?P<names>{_NAME}\s+{_NAME})(?=\s|$)"),
)
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}


@cache
def given_names() -> frozenset[str]:
    """Return common given names, in lower case."""
    text = files("nuncius.sources").joinpath("given_names.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


def _plain(name: str) -> str:
    return name.strip(".,'’` ").lower()


def _is_given(name: str) -> bool:
    plain = _plain(name)
    return plain in given_names() or ("-" in plain and plain.split("-")[0] in given_names())


def _is_initials(word: str, *, loud: bool) -> bool:
    letters = re.sub(r"[.\-]", "", word)
    if not _INITIALS.fullmatch(word) or not letters:
        return False
    if len(letters) == 1 or "." in word[:-1]:
        return True
    if len(letters) != 2 or not word.isupper() or _plain(word) in _PARTICLES:
        return False
    return not loud or _plain(word) not in _SURNAMES


def _units(words: list[str]) -> list[str]:
    """Join particles to the surname that follows: "van der Berg" is one unit."""
    units: list[str] = []
    held: list[str] = []
    for word in words:
        if _plain(word) in _PARTICLES and not word.endswith(".") and len(word) > 1:
            held.append(word)
            continue
        units.append(" ".join([*held, word]))
        held = []
    return [*units, " ".join(held)] if held else units


_BODIES = frozenset(
    "collaboration consortium team survey project group network cooperation".split()
)


def _without_comma(words: list[str], *, alone: bool = False) -> list[tuple[str, ...]]:
    """Return the ways to read words without a comma; each way is a tuple of names."""
    if _plain(words[-1]) in _BODIES:
        return [(" ".join(words),)]
    loud = all(word.isupper() for word in words) and any(len(word.strip(".")) > 2 for word in words)
    units = _units(words)
    if len(units) == 1:
        return [(units[0],)]
    marks = [_is_initials(unit, loud=loud) for unit in units]
    if all(marks):
        return [(" ".join(units),)]
    if marks[0] and not marks[-1]:
        lead = marks.index(False)
        rest = units[lead:]
        if len(rest) > 1 and _is_given(rest[0]):
            return [(f"{rest[-1]}, {' '.join(units[:lead] + rest[:-1])}",)]
        return [(f"{' '.join(rest)}, {' '.join(units[:lead])}",)]
    if marks[-1]:
        tail = len(units) - next(i for i, mark in enumerate(reversed(marks)) if not mark)
        surname, initials = units[:tail], units[tail:]
        if len(surname) > 1 and _is_given(surname[-1]):
            initials = [surname[-1], *initials]
            surname = surname[:-1]
        return [(f"{' '.join(surname)}, {' '.join(initials)}",)]
    if any(marks):  # "Travis S Metcalfe"
        return [(f"{units[-1]}, {' '.join(units[:-1])}",)]
    return _full_names(units, alone=alone)


def _full_names(units: list[str], *, alone: bool) -> list[tuple[str, ...]]:
    first, last = units[0], units[-1]
    if _is_given(first) and (not _is_given(last) or len(units) > 2 or first[:1].isupper()):
        return [(f"{last}, {' '.join(units[:-1])}",)]
    if _is_given(last):
        return [(f"{first}, {' '.join(units[1:])}",)]
    if len(units) > 2:
        return [tuple(units)]
    if " " in last and " " not in first:  # a particle before the second word: "Ewine van Dishoeck"
        return [(f"{last}, {first}",)]
    if _plain(first) in _SURNAMES and _plain(last) not in _SURNAMES:
        return [(f"{first}, {last}",)]
    if _plain(last) in _SURNAMES and _plain(first) not in _SURNAMES:
        return [(f"{last}, {first}",)]
    return [(f"{last}, {first}",)] if alone else [(first, last), (f"{last}, {first}",)]


def _pieces(text: str, *, alone: bool) -> list[list[tuple[str, ...]]]:
    """Split "A, B, and C" or "Last, First" into people, each with the ways to read the name."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    people: list[list[tuple[str, ...]]] = []
    at = 0
    while at < len(parts):
        words = parts[at].split()
        following = parts[at + 1].split() if at + 1 < len(parts) else []
        given = bool(following) and (
            all(_is_initials(word, loud=False) for word in following)
            or _is_given(following[0])
            or len(parts) == 2
        )
        if given:
            people.append([(f"{' '.join(words)}, {' '.join(following)}",)])
            at += 2
        else:
            people.append(_without_comma(words, alone=alone))
            at += 1
    return people


def read_names(text: str, *, first: bool = False, exact: bool = False) -> tuple[Clause, ...]:
    """Turn a list of names into clauses that hold together; "or" makes one clause of choices.

    With `first`, the first name is the first author. Two words that are neither a known given name
    nor a known surname order are read both as one full name and as two surnames.
    """
    text = re.sub(r"\bet\.?\s*al\b\.?|['’]s\s*$", " ", text, flags=re.IGNORECASE)
    choices = [part for part in re.split(r"\s+or\s+", text, flags=re.IGNORECASE) if part.strip()]
    if len(choices) > 1:
        readings = [read_names(choice, first=first, exact=exact) for choice in choices]
        return (AnyOf(tuple(reading for reading in readings if reading)),)
    parts = re.split(r"\s*(?:,\s*)?(?:\band\b|&|;|/)\s*", text, flags=re.IGNORECASE)
    clauses: list[Clause] = []
    several = len([part for part in parts if part.strip()]) > 1
    for part in parts:
        for ways in _people(part, several=several, alone=first and not several):
            leads = first and not clauses
            read = [
                tuple(
                    Match("author", name.strip(" .'’`"), exact=exact, first=leads and place == 0)
                    for place, name in enumerate(way)
                )
                for way in ways
            ]
            clauses += read[0] if len(read) == 1 else [AnyOf(tuple(read))]
    return tuple(clauses)


def read_person(text: str, *, first: bool = False) -> Clause:
    """Return the clause for one person, whatever marks or words stand in the name.

    Two words that may be a full name or a family name of two words ("Grasshorn Gebhardt") are asked
    for as both; so are two family names, of which either may stand first ("Zhang Wei").
    """
    words = text.split()
    ways = [] if "," in text else _without_comma(words)
    names = [" ".join(words)]
    if len(ways) == 1 and len(ways[0]) == 1:
        names = [ways[0][0]]
    elif len(words) == 2 and ways:
        surnames = all(_plain(word) in _SURNAMES for word in words)
        names = [f"{words[0]}, {words[1]}" if surnames else text, f"{words[1]}, {words[0]}"]
    read = [Match("author", name.strip(" .'’`"), first=first) for name in names]
    return read[0] if len(read) == 1 else AnyOf(tuple((one,) for one in read))


def _people(part: str, *, several: bool, alone: bool) -> list[list[tuple[str, ...]]]:
    pieces = part.split(",")
    if several and len(pieces) == 2:
        second = pieces[1].split()
        if second and not (
            all(_is_initials(word, loud=False) for word in second) or _is_given(second[0])
        ):
            return [
                way for piece in pieces if piece.strip() for way in [_without_comma(piece.split())]
            ]
    return _pieces(part, alone=alone)


def _looks_like_name(names: str) -> bool:
    words = re.findall(rf"{_WORD}", names)
    if "," in names or any(_is_given(word) or _is_initials(word, loud=False) for word in words):
        return True
    return words[0][:1].isupper() and not words[0].isupper() and len(words) <= 3


def read_authors(reading: Reading) -> None:
    """Take all authors out of `reading` that a cue ("by", "first author", "et al.", 's) shows."""
    for kind, pattern in _RULES:
        while match := pattern.search(reading.text):
            if not _take(reading, kind, match):
                break
    while (match := _BY.search(reading.text)) and _looks_like_name(match["names"]):
        before = reading.text[: match.start()].rstrip()
        if re.search(r"\w{2}(?:ed|en|wn|lt|nt)$", before) and not before.endswith("authored"):
            break
        reading.take(match.start(), match.end(), read_names(match["names"]))
    match = _POSSESSIVE.search(reading.text)
    if match and _plain(match["names"].split()[-1]) not in _EPONYMS:
        names = re.sub(
            r"^(?:references?|citations?|in|of|to|from|the|by|papers)\s+", "", match["names"]
        )
        reading.take(match.start(), match.end(), read_names(names))
    for match in reversed(list(_OWNED.finditer(reading.text))):
        if _plain(match["names"]) in FAMOUS and match["names"][0].isupper():
            reading.take(match.start(), match.end(), read_names(match["names"]))


def _take(reading: Reading, kind: str, match: re.Match[str]) -> bool:
    names = match["names"]
    if kind == "pos":
        word = match["high"].lower()
        digits = re.match(r"\d+", word)
        high = int(digits[0]) if digits else _COUNTS.get(word, 1)
        people = read_names(names)
        reading.take(
            match.start(),
            match.end(),
            [Operator("pos", (person,), after=f"1, {high}") for person in people],
        )
        return True
    end = match.end()
    kept = _only_name(names)
    if kept != names and match.end("names") == match.end():
        names, end = kept, match.start("names") + len(kept)
    clauses = read_names(names, first=kind == "first")
    if not clauses:
        return False
    reading.take(match.start(), end, clauses)
    return True


def _only_name(names: str) -> str:
    """Return the names without a topic that follows: "Okamoto stellar winds" is one name."""
    words = names.split()
    if not words[0][:1].isupper():
        return names
    for place, word in enumerate(words[1:], start=1):
        bare = _plain(word)
        joins = bare in {"and", "or", "&", ""} or bare in _PARTICLES or len(bare) < 2
        if (
            word[:1].islower()
            and not joins
            and not _is_given(word)
            and _plain(words[place - 1]) not in {"and", "or", "&"}
        ):
            return " ".join(words[:place])
    return names


def read_leading_name(reading: Reading) -> None:
    """Take a name that begins the request without a cue: "Rubin, Vera dark energy", "smith j ..."."""
    for number, pattern in enumerate(_LEADING):
        match = pattern.match(reading.text)
        if not match:
            continue
        words = re.findall(_WORD, match["names"])
        if any(re.fullmatch("[\u0370-\u03ff]", word) for word in words):
            continue  # "Lyman α": a Greek letter is nobody's initial
        if number == 3 and not _is_person(words):
            continue
        if number == 0 and not (_is_initials(words[-1], loud=False) or _is_given(words[-1])):
            continue
        if number == 1 and (
            words[0].isupper() or len(words[0]) < 3 or words[0].lower() in _NOT_NAMES
        ):
            continue
        reading.take(match.start(), match.end(), read_names(match["names"]))
        return


_NOT_NAMES = frozenset(
    """
    type class population vitamin phase part level stage group section band hepatitis chapter volume
    star sagittarius physics system planet galaxy model version series appendix figure table mode
    plan world virgo centaurus hydra perseus fornax cygnus hercules the deep dark weak solar cosmic
    """.split()
)
_NOT_SURNAMES = frozenset(
    """
    telescope observatory space webb field survey deep wave waves stars star law laws constant number
    method model equation theorem effect limit mass radius process mission array line lines ring
    rings belt cloud clouds project data matter energy lensing wind function problem galaxy galaxies
    nebula cluster planet planets system theory physics radiation hole holes paper papers articles
    dust gas jet jets accretion
    """.split()
)


def is_surname(word: str) -> bool:
    """Tell whether a word with a capital may be a family name: not "Stars", "Galaxies", "Field"."""
    plain = _plain(word)
    return not {plain, plain.removesuffix("s")} & (_NOT_SURNAMES | _NOT_NAMES)


def _is_person(words: list[str]) -> bool:
    if len(words) != 2 or any(_plain(word) in _NOT_SURNAMES for word in words):
        return False
    first, last = words
    if _is_given(first) and not _is_given(last):
        return len(_plain(first)) > 2 and _plain(last) not in _NOT_NAMES
    return _is_given(last) and not _is_given(first) and _plain(first) not in _NOT_NAMES
