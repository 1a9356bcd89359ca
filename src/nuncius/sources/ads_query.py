"""Translates a request in words into an ADS query, without a language model."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from nuncius.core.errors import UsageError
from nuncius.sources.ads_clauses import Clause, Match, Operator, Raw, Span, spell, spell_all
from nuncius.sources.ads_fields import FIELDS, FUNCTIONS, MAX_FILTERS, MAX_QUERY_CHARS
from nuncius.sources.ads_grammar import Fault, validate
from nuncius.sources.ads_people import read_person
from nuncius.sources.ads_reading import CUT, Note, Reading
from nuncius.sources.ads_words import read_words
from nuncius.sources.chinese import is_chinese, to_english
from nuncius.sources.object_names import standard_name

__all__ = ["AdsQuery", "translate", "validate"]

_MAX_WORDS_CHARS = 600
"""What is read phrase by phrase; of a longer request the rest is taken as words of the topic."""


@dataclass(frozen=True, slots=True)
class AdsQuery:
    """A request as ADS will be asked it.

    Attributes:
        clauses: What must hold, in the order of `q`.
        filters: Clauses that found no room in `q` and go into `fq`.
        notes: How each phrase was read.
        typed: The user's own ADS syntax, unchanged, or an empty string.
        faults: Why ADS would refuse what the user typed as its syntax; it was read as words then.
        sort: The order that the words ask for, as ADS writes it, or an empty string.
        truncated: Whether words of the topic were left out for want of room.
    """

    clauses: tuple[Clause, ...]
    filters: tuple[Clause, ...] = ()
    notes: tuple[Note, ...] = ()
    typed: str = ""
    faults: tuple[Fault, ...] = ()
    sort: str = ""
    truncated: bool = False

    @property
    def q(self) -> str:
        """The main query, as typed text: the client encodes it once."""
        if not self.typed:
            return spell_all(self.clauses)
        more = [clause for clause in self.clauses if not isinstance(clause, Raw)]
        return (
            f"({self.typed}) {' '.join(spell(clause) for clause in more)}" if more else self.typed
        )

    @property
    def fq(self) -> tuple[str, ...]:
        """The filter queries, one a parameter."""
        return tuple(spell_all([clause]) for clause in self.filters)

    @property
    def explanation(self) -> str:
        """One line for people: how each phrase was read."""
        said = "; ".join(
            [*(f"not ADS syntax: {fault}" for fault in self.faults), *map(str, self.notes)]
        )
        return f"{said}; too long, some words were left out" if self.truncated else said


def translate(
    text: str,
    *,
    authors: Sequence[str] = (),
    year_from: int | None = None,
    year_to: int | None = None,
    object: str | None = None,  # noqa: A002 - the tool's argument has this name
    refereed: bool | None = None,
    today: date | None = None,
    glossary: Mapping[str, str] | None = None,
) -> AdsQuery:
    """Turn a request into an ADS query.

    Text that already is ADS syntax passes unchanged and is checked. Filters given as arguments are
    added to what the words say.

    Args:
        text: Words, ADS syntax, or words with pieces of ADS syntax; may be empty with arguments.
        authors: Names, each one person; a leading ``^`` asks for the first author.
        year_from: First year of publication.
        year_to: Last year of publication.
        object: An astronomical object; it is asked for by the name that SIMBAD knows.
        refereed: Only refereed (True) or only not refereed (False) papers.
        today: The day that "last five years" counts from; by default today in UTC.
        glossary: Chinese terms and their English words.

    Raises:
        UsageError: There is nothing to look for.
    """
    today = today or datetime.now(UTC).date()
    faults: tuple[Fault, ...] = ()
    given = _given(authors, year_from=year_from, year_to=year_to, target=object, refereed=refereed)
    text = _first_author_mark(_clean(text))
    if text and _is_syntax(text):
        faults = tuple(validate(text))
        if not faults:
            notes = (
                Note(text, "ADS syntax, as typed"),
                *(Note("option", spell(clause)) for clause in given),
            )
            return AdsQuery((Raw(text), *given), notes=notes, typed=text)
    text, sort = _order(text)
    reading = _read(text, today=today, glossary=glossary) if text else Reading("")
    clauses = [*reading.clauses, *(clause for clause in given if clause not in reading.clauses)]
    if not clauses:
        clauses = _as_words(text)
    notes = [*reading.notes, *(Note("option", spell(clause)) for clause in given)]
    return _fit(AdsQuery(tuple(clauses), notes=tuple(notes), faults=faults, sort=sort))


def _given(
    authors: Sequence[str],
    *,
    year_from: int | None,
    year_to: int | None,
    target: str | None,
    refereed: bool | None,
) -> list[Clause]:
    clauses: list[Clause] = []
    for author in authors:
        name = _clean(author)
        if not re.search(r"\w", name):
            raise UsageError(f"The author {author!r} has no letters.", hint='Write "Last, F".')
        clauses.append(read_person(name.lstrip("^ "), first=name.startswith("^")))
    if year_from is not None or year_to is not None:
        low, high = str(year_from or "*"), str(year_to or "*")
        if year_from and year_to and year_from > year_to:
            raise UsageError(
                f"The years {low} to {high} are none.", hint="Give the earlier year first."
            )
        clauses.append(Span("year", low, high))
    if target is not None and re.search(r"\w", target):
        clauses.append(Match("object", standard_name(_clean(target))))
    if refereed is not None:
        clauses.append(Match("property", "refereed" if refereed else "notrefereed", "plain"))
    return clauses


_HALF_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
"""ASCII for what Chinese and Japanese keyboards type in full width."""


def _clean(text: str) -> str:
    text = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode("utf-8"))
    text = text.translate(_HALF_WIDTH)
    kept = "".join(
        " " if unicodedata.category(char) in {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"} else char
        for char in text
    )
    return re.sub(r"\s+", " ", kept).strip()


_FIELD = re.compile(
    rf"(?<![\w:/.])(?:{'|'.join(sorted(FIELDS, key=len, reverse=True))}):\s?(?=[\w\"(\[=^/*-])",
    re.IGNORECASE,
)
_CALL = re.compile(rf"(?<!\w)(?:{'|'.join(FUNCTIONS)})\(", re.IGNORECASE)
_PIECE = re.compile(
    (
        rf"[-=]?(?<![\w:/.])(?:{'|'.join(sorted(FIELDS, key=len, reverse=True))}):\s?[=^]?(?:\"(?:"
        rf"\\.|[^\"\\])*\"|\((?:[^()\"]|\"[^\"]*\")*\)|[\[{{][^\]}}]*[\]}}]|[^\s()\"\[\]{{}}]+)"
    ),
    re.IGNORECASE,
)
_PROSE = re.compile(
    (
        r"(?<!\w)(?:papers?|articles?|publications|by|since|from|about|show|find|published|before"
        r"|after|between|last|recent|on|in|without|excluding|with)(?!\w)"
    ),
    re.IGNORECASE,
)


def _is_syntax(text: str) -> bool:
    """Tell whether fields or functions of ADS stand in `text` and no prose beside them."""
    if not (_FIELD.search(text) or _CALL.search(text)) or is_chinese(_PIECE.sub("", text)):
        return False
    outside = re.sub(r'"(?:\\.|[^"\\])*"', " ", _PIECE.sub(" ", text))
    return bool(_CALL.search(text)) or not _PROSE.search(outside)


_MARKED = re.compile(r"(?P<mark>(?<=[:(=])\^)?(?P<phrase>\"(?:\\.|[^\"\\])*\")")


def _first_author_mark(text: str) -> str:
    """Put the ``^`` of ``author:^"Last, F"`` into the quotes, where alone ADS reads it."""
    return _MARKED.sub(
        lambda match: f'"^{match["phrase"][1:]}' if match["mark"] else match[0], text
    )


_ORDER = re.compile(
    r",?\s*(?:sort(?:ed)?|rank(?:ed)?|order(?:ed)?)\s+by\s+(?:the\s+)?(?:number\s+of\s+)?"
    r"(?P<by>citations?(?:\s+counts?)?|(?:publication\s+)?(?:date|year)|newest(?:\s+first)?)(?!\w)",
    re.IGNORECASE,
)


def _order(text: str) -> tuple[str, str]:
    """Cut "sorted by citations" out of the words; return the rest and the order."""
    match = _ORDER.search(text)
    if not match:
        return text, ""
    sort = "citation_count desc" if match["by"].lower().startswith("cit") else "date desc"
    return f"{text[: match.start()]} {text[match.end() :]}".strip(), sort


def _read(text: str, *, today: date, glossary: Mapping[str, str] | None) -> Reading:
    pieces: list[Clause] = []
    notes: list[Note] = []
    for match in reversed(list(_PIECE.finditer(text))):
        if not validate(match[0]):
            pieces.insert(0, Raw(match[0]))
            notes.insert(0, Note(match[0], "as typed"))
            text = f"{text[: match.start()]} {CUT} {text[match.end() :]}"
    text, rest = _split(text)
    if is_chinese(text):
        text = to_english(text, glossary=glossary)
    reading = read_words(text, today=today, known=pieces)
    reading.notes = [*notes, *reading.notes]
    if rest:
        reading.clauses.append(Match("abs", rest, "words"))
        reading.notes.append(Note("the rest of a long text", "words of the topic"))
    return reading


def _split(text: str) -> tuple[str, str]:
    """Cut a long text: what is read phrase by phrase, and the words after that."""
    limit = _MAX_WORDS_CHARS // 3 if is_chinese(text) else _MAX_WORDS_CHARS
    if len(text) <= limit:
        return text, ""
    head = text[:limit].rsplit(" ", 1)[0]
    words = re.findall(r"\w[\w.+'’-]*", text[len(head) : 4 * _MAX_WORDS_CHARS])
    return head, " ".join(dict.fromkeys(words))


def _as_words(text: str) -> list[Clause]:
    words = re.findall(r"\w[\w'’-]*", text)
    if not words:
        raise UsageError(
            "There is nothing to look for.", hint="Name a topic, an author, a year or an object."
        )
    return [Match("abs", " ".join(words[:20]), "words")]


_TEXT = frozenset({"abs", "title", "abstract", "full", "body", ""})


def _is_topic(clause: Clause) -> bool:
    return isinstance(clause, Match) and clause.field in _TEXT and not clause.negated


def _fit(query: AdsQuery) -> AdsQuery:
    """Keep `q` under ADS's limit: filters move to `fq`, then the topic loses its last words."""
    if len(query.q) <= MAX_QUERY_CHARS:
        return query
    clauses = list(query.clauses)
    filters: list[Clause] = []
    for clause in reversed(query.clauses):
        fits = len(spell_all(clauses)) <= MAX_QUERY_CHARS
        movable = not _is_topic(clause) and not isinstance(clause, Operator)
        if (
            not fits
            and movable
            and len(filters) < MAX_FILTERS
            and len(spell(clause)) < MAX_QUERY_CHARS - 10
        ):
            clauses.remove(clause)
            filters.insert(0, clause)
    query = replace(query, clauses=tuple(clauses), filters=tuple(filters))
    while len(query.q) > MAX_QUERY_CHARS:
        shorter = tuple(_shorten(query.clauses))
        if shorter == query.clauses:
            raise UsageError(
                f"The request is longer than ADS takes ({MAX_QUERY_CHARS} characters).",
                hint="Ask for fewer things at once.",
            )
        query = replace(query, clauses=shorter, truncated=True)
    return query


def _shorten(clauses: Iterable[Clause]) -> list[Clause]:
    """Take one word off the longest topic; one long word loses its end."""
    clauses = list(clauses)
    longest = max((c for c in _topics(clauses)), key=lambda c: len(c.value), default=None)
    if longest is None or len(longest.value) < 2:
        return clauses
    words = longest.value.split()
    value = " ".join(words[:-1]) if len(words) > 1 else longest.value[: len(longest.value) // 2]
    return [_swap(clause, longest, replace(longest, value=value)) for clause in clauses]


def _topics(clauses: Iterable[Clause]) -> list[Match]:
    found: list[Match] = []
    for clause in clauses:
        if isinstance(clause, Match) and clause.field in _TEXT:
            found.append(clause)
        if isinstance(clause, Operator):
            found += _topics(clause.inside)
    return found


def _swap(clause: Clause, old: Match, new: Match) -> Clause:
    if clause == old:
        return new
    if isinstance(clause, Operator):
        return replace(clause, inside=tuple(_swap(part, old, new) for part in clause.inside))
    return clause
