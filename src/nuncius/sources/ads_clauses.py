"""What a request asks for, as typed clauses, and how ADS spells each of them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, assert_never


@dataclass(frozen=True, slots=True)
class Match:
    """One field has a value: a phrase in quotes, words that must all occur, or a plain word.

    `first` asks for the first author, `exact` switches ADS's synonyms off.
    """

    field: str
    value: str
    form: Literal["phrase", "words", "plain"] = "phrase"
    negated: bool = False
    exact: bool = False
    first: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """One field lies between two values, both included; ``"*"`` leaves an end open."""

    field: str
    low: str
    high: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of the choices holds; a choice is a tuple of clauses that hold together."""

    choices: tuple[tuple["Clause", ...], ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Operator:
    """A second-order function over clauses; `before` and `after` are its further arguments."""

    name: str
    inside: tuple["Clause", ...]
    before: str = ""
    after: str = ""
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Raw:
    """A piece of valid ADS syntax that the user typed."""

    text: str
    negated: bool = False


Clause = Match | Span | AnyOf | Operator | Raw

_BARE = re.compile(r"\w[\w.'’-]*\w|\w")
_RESERVED = re.compile(r"AND|OR|NOT|NEAR\d*|TO", re.IGNORECASE)


def quoted(text: str) -> str:
    """Return `text` in quotes; backslashes and quotes in it are escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def spell_word(word: str) -> str:
    """Return a word as it is where ADS reads it as one word, else in quotes."""
    plain = _BARE.fullmatch(word) and "'" not in word and not _RESERVED.fullmatch(word)
    return word if plain else quoted(word)


def _match(clause: Match) -> str:
    field = f"{clause.field}:" if clause.field else ""
    exact = "=" if clause.exact else ""
    if clause.form == "plain":
        return f"{exact}{field}{spell_word(clause.value)}"
    words = clause.value.split()
    if clause.form == "words" and len(words) > 1:
        return f"{exact}{field}({' AND '.join(spell_word(word) for word in words)})"
    return f"{exact}{field}{quoted(('^' if clause.first else '') + clause.value)}"


def _span(clause: Span) -> str:
    if clause.field == "year" and clause.low == clause.high:
        return f"year:{clause.low}"
    if clause.field == "year" and "*" not in {clause.low, clause.high}:
        return f"year:{clause.low}-{clause.high}"
    return f"{clause.field}:[{clause.low} TO {clause.high}]"


def spell(clause: Clause) -> str:
    """Return one clause in ADS syntax."""
    match clause:
        case Match():
            text = _match(clause)
        case Span():
            text = _span(clause)
        case AnyOf():
            text = f"({' OR '.join(_choice(choice) for choice in clause.choices)})"
        case Operator():
            arguments = [clause.before, spell_all(clause.inside), clause.after]
            text = f"{clause.name}({', '.join(item for item in arguments if item)})"
        case Raw():
            text = f"({clause.text})" if clause.negated else clause.text
        case _:
            assert_never(clause)
    return f"-{text}" if clause.negated else text


def _choice(clauses: tuple[Clause, ...]) -> str:
    text = spell_all(clauses)
    return text if len(clauses) == 1 else f"({text})"


def spell_all(clauses: Iterable[Clause]) -> str:
    """Return clauses that hold together, in ADS syntax.

    Prohibitions alone select nothing in Solr, so they follow ``*:*``.
    """
    clauses = tuple(clauses)
    if not clauses or all(clause.negated for clause in clauses):
        return " ".join(["*:*", *(spell(clause) for clause in clauses)])
    return " ".join(spell(clause) for clause in clauses)


def negate(clause: Clause) -> Clause:
    """Return the clause with its sense turned."""
    return replace(clause, negated=not clause.negated)


def walk(clauses: Iterable[Clause]) -> Iterable[Clause]:
    """Yield every clause, those inside choices and functions too."""
    for clause in clauses:
        yield clause
        if isinstance(clause, AnyOf):
            for choice in clause.choices:
                yield from walk(choice)
        if isinstance(clause, Operator):
            yield from walk(clause.inside)
