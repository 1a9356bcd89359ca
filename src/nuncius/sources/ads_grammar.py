"""A parser of the ADS query language: says what is wrong with a query before it is sent.

The language: ``field:value``, quotes, ranges, parentheses, AND OR NOT, ``-`` ``+`` ``=`` ``^``,
NEARn, wildcards, ``/regex/`` and second-order functions. NOT binds tighter than AND, AND tighter
than OR, and words side by side (an AND too) loosest of all.

Source: the ADS help page on search syntax.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

from nuncius.sources.ads_fields import DATES, FIELDS, FUNCTIONS, MAX_QUERY_CHARS, NUMBERS, VALUES

Form = Literal["word", "phrase", "range", "regex"]


@dataclass(frozen=True, slots=True)
class Term:
    """One thing asked for: `text` is without quotes and escapes; a range has `low` and `high`."""

    text: str
    form: Form = "word"
    field: str = ""
    exact: bool = False
    first: bool = False
    low: str = ""
    high: str = ""


@dataclass(frozen=True, slots=True)
class Joined:
    """Several nodes under one operator: AND, OR, NEARn, or BESIDE for words side by side."""

    operator: str
    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Negated:
    """A node that must not match."""

    part: "Node"


@dataclass(frozen=True, slots=True)
class Call:
    """A second-order function; arguments that are not queries (numbers, a sort) stay text."""

    name: str
    arguments: tuple["Node | str", ...]


Node = Term | Joined | Negated | Call


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, and at which character (from 0) of the query."""

    message: str
    place: int

    def __str__(self) -> str:
        return f"{self.message} (character {self.place + 1})"


class _SyntaxFaultError(Exception):
    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.fault = Fault(message, place)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    place: int
    low: str = ""
    high: str = ""


_WORD = r"(?:\\.|[^\s()\[\]{}\":,\\/^~=]|(?<=[^\s(:])[/^~=])"
_SCAN = re.compile(
    rf"""
    (?P<space>\s+)
    | (?P<phrase>"(?:\\.|[^"\\])*")(?:~\d+)?(?:\^\d+(?:\.\d+)?)?
    | (?P<range>[\[{{]\s*(?P<low>"[^"]*"|[^\s\[\]{{}}"]+)\s+TO\s+(?P<high>"[^"]*"|[^\s\[\]{{}}"]+)\s*[\]}}])
    | (?P<all>\*:\*)
    | (?P<field>[A-Za-z_]+)\s*:
    | (?P<call>[A-Za-z_]+)\(
    | (?P<open>\()
    | (?P<close>\))(?:\^\d+(?:\.\d+)?)?
    | (?P<comma>,)
    | (?P<regex>/(?:\\.|[^/\\])+/)
    | (?P<sign>[-+=!^](?=[^\s)]))
    | (?P<word>{_WORD}+)
    """,
    re.VERBOSE,
)
_OPERATORS = re.compile(r"AND|OR|NOT|NEAR\d*", re.IGNORECASE)
_CALL_WORDS = frozenset({"and", "or", "not", "near"})


def _tokens(query: str) -> list[_Token]:
    found: list[_Token] = []
    place = 0
    while place < len(query):
        match = _SCAN.match(query, place)
        if not match:
            raise _SyntaxFaultError(_why_unreadable(query[place]), place)
        kind = match.lastgroup or ""
        kind = next(name for name in _KINDS if match[name] is not None)
        text = match[kind]
        end = match.end()
        if kind == "call" and text.lower() in _CALL_WORDS:
            kind, end = "word", end - 1
        if kind == "word" and _OPERATORS.fullmatch(text):
            kind, text = "operator", text.upper()
        if kind != "space":
            low, high = (match["low"], match["high"]) if kind == "range" else ("", "")
            found.append(_Token(kind, text, place, low, high))
        place = end
    return found


_KINDS = (
    "space",
    "phrase",
    "range",
    "all",
    "field",
    "call",
    "open",
    "close",
    "comma",
    "regex",
    "sign",
    "word",
)


def _why_unreadable(char: str) -> str:
    return {
        '"': "a quote is not closed",
        "[": "a range is not [LOW TO HIGH]",
        "{": "a range is not {LOW TO HIGH}",
        "]": "a ] without its [",
        "}": "a } without its {",
        ":": "a colon without a field before it",
        "/": "a regular expression is not closed",
        "\\": "a backslash at the end",
    }.get(char, f"cannot read {char!r} here")


class _Parser:
    def __init__(self, query: str) -> None:
        self.tokens = _tokens(query)
        self.at = 0
        self.end = len(query)
        self.depth = 0

    def peek(self) -> _Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def fail(self, message: str) -> _SyntaxFaultError:
        token = self.peek()
        return _SyntaxFaultError(message, token.place if token else self.end)

    def is_operator(self, *names: str) -> bool:
        token = self.peek()
        return token is not None and token.kind == "operator" and token.text.startswith(names)

    def query(self) -> Node:
        if not self.tokens:
            raise self.fail("the query is empty")
        node = self.beside()
        token = self.peek()
        if token:
            raise self.fail(
                "a ) without its (" if token.kind == "close" else "a comma outside a function"
            )
        return node

    def beside(self) -> Node:
        parts = [self.either()]
        while (token := self.peek()) and token.kind not in {"close", "comma"}:
            parts.append(self.either())
        return parts[0] if len(parts) == 1 else Joined("BESIDE", tuple(parts))

    def either(self) -> Node:
        parts = [self.both()]
        while self.is_operator("OR"):
            self.at += 1
            parts.append(self.both())
        return parts[0] if len(parts) == 1 else Joined("OR", tuple(parts))

    def both(self) -> Node:
        parts = [self.near()]
        while self.is_operator("AND", "NOT"):
            if self.is_operator("AND"):
                self.at += 1
            parts.append(self.near())
        return parts[0] if len(parts) == 1 else Joined("AND", tuple(parts))

    def near(self) -> Node:
        node = self.unary()
        while self.is_operator("NEAR"):
            operator = self.tokens[self.at].text
            self.at += 1
            node = Joined(operator, (node, self.unary()))
        return node

    def unary(self) -> Node:
        token = self.peek()
        if token is None:
            raise self.fail("something is missing at the end")
        if token.kind == "operator":
            if token.text != "NOT":
                raise self.fail(f"nothing stands before {token.text}")
            self.at += 1
            return Negated(self.unary())
        if token.kind != "sign":
            return self.primary()
        self.at += 1
        node = self.unary()
        if token.text in "-!":
            return Negated(node)
        if token.text == "=":
            return _mark(node, exact=True)
        return _mark(node, first=True) if token.text == "^" else node

    def primary(self) -> Node:
        token = self.peek()
        if token is None or token.kind in {"close", "comma"}:
            raise self.fail("something is missing here")
        self.at += 1
        self.depth += 1
        if self.depth > 100:
            raise _SyntaxFaultError("too many nested parentheses", token.place)
        try:
            return self.rest_of(token)
        finally:
            self.depth -= 1

    def rest_of(self, token: _Token) -> Node:
        if token.kind == "open":
            node = self.beside()
            self.close(token, "a ( is not closed")
            return node
        if token.kind == "call":
            return self.call(token)
        if token.kind == "field":
            return self.fielded(token)
        if token.kind == "range":
            low, high = token.low.strip('"'), token.high.strip('"')
            return Term(token.text, "range", low=low, high=high)
        if token.kind == "phrase":
            text = re.sub(r"\\(.)", r"\1", token.text[1:-1])
            if not text.strip():
                raise _SyntaxFaultError("empty quotes", token.place)
            first = text.startswith("^")
            return Term(text[1:] if first else text, "phrase", first=first)
        if token.kind == "regex":
            return Term(token.text[1:-1], "regex")
        return Term(re.sub(r"\\(.)", r"\1", token.text))

    def close(self, opening: _Token, message: str) -> None:
        token = self.peek()
        if token and token.kind == "comma" and opening.kind == "open":
            raise self.fail("a comma outside a function")
        if token is None or token.kind != "close":
            raise _SyntaxFaultError(message, opening.place)
        self.at += 1

    def fielded(self, token: _Token) -> Node:
        name = token.text.lower()
        if name not in FIELDS:
            raise _SyntaxFaultError(f"ADS has no field {token.text!r}", token.place)
        value = self.peek()
        if value is None or value.kind in {"close", "comma", "operator", "field"}:
            raise self.fail(f"nothing to look for after {token.text}:")
        if value.kind == "sign" and value.text in "-+!" and name != "year":
            raise self.fail(f"put the {value.text} before {token.text}:, not after it")
        node = _within(self.unary(), name)
        _check(node, token.place)
        return node

    def call(self, token: _Token) -> Node:
        name = token.text.lower()
        if name not in FUNCTIONS:
            raise _SyntaxFaultError(f"ADS has no function {token.text}()", token.place)
        arguments: list[Node | str] = []
        while True:
            start = self.at
            node = self.beside()
            words = [item.text for item in self.tokens[start : self.at]]
            plain = all(item.kind == "word" for item in self.tokens[start : self.at])
            is_query = name == "docs" or (not arguments and name != "topn")
            arguments.append(" ".join(words) if plain and not is_query else node)
            following = self.peek()
            if following is None or following.kind != "comma":
                break
            self.at += 1
        self.close(token, f"{name}( is not closed")
        least, most = FUNCTIONS[name]
        if not least <= len(arguments) <= most:
            raise _SyntaxFaultError(
                f"{name}() takes {least} to {most} arguments, not {len(arguments)}", token.place
            )
        if name == "topn" and not str(arguments[0]).isdigit():
            raise _SyntaxFaultError("topn() wants a number first", token.place)
        return Call(name, tuple(arguments))


def _mark(node: Node, *, exact: bool = False, first: bool = False) -> Node:
    if isinstance(node, Term):
        return replace(node, exact=node.exact or exact, first=node.first or first)
    if isinstance(node, Joined):
        parts = tuple(_mark(part, exact=exact, first=first) for part in node.parts)
        return replace(node, parts=parts)
    return node


def _within(node: Node, field: str) -> Node:
    if isinstance(node, Term):
        return node if node.field else replace(node, field=field)
    if isinstance(node, Joined):
        return replace(node, parts=tuple(_within(part, field) for part in node.parts))
    if isinstance(node, Negated):
        if field == "year" and isinstance(node.part, Term):  # year:-2005 is "until 2005"
            return Term(f"-{node.part.text}", field=field)
        return Negated(_within(node.part, field))
    return node


_YEARS = re.compile(r"\d{4}|\d{4}-(?:\d{4})?|-\d{4}|\d{2,3}[*?]+")
_DAY = re.compile(r"\*|\d{4}(?:-\d\d(?:-\d\d)?)?(?:T[\d:.]+Z?)?|NOW(?:[-+/].*)?", re.IGNORECASE)
_COUNT = re.compile(r"\d+(?:\.\d+)?(?:-\d+(?:\.\d+)?)?|\*")


def _check(node: Node, place: int) -> None:
    """Refuse values that a field cannot have; other fields take any text."""
    if isinstance(node, Joined):
        for part in node.parts:
            _check(part, place)
    if isinstance(node, Negated):
        _check(node.part, place)
    if not isinstance(node, Term):
        return
    allowed = VALUES.get(node.field)
    text = node.text.strip().lower().replace(" ", "_")
    if allowed and node.form != "regex" and text not in allowed and "*" not in text:
        raise _SyntaxFaultError(f"{node.field}: has no value {node.text!r}", place)
    for value in (node.low, node.high) if node.form == "range" else (node.text,):
        wrong = (
            (node.field == "year" and not (value == "*" or _YEARS.fullmatch(value.strip())))
            or (node.field in NUMBERS and not _COUNT.fullmatch(value.strip()))
            or (node.field in DATES and not _DAY.fullmatch(value.strip()))
        )
        if wrong and node.form != "regex":
            raise _SyntaxFaultError(f"{node.field}: cannot be {value!r}", place)


def parse(query: str) -> Node | Fault:
    """Return the tree of `query`, or the first fault that stops the reading."""
    try:
        return _Parser(query).query()
    except _SyntaxFaultError as error:
        return error.fault


def validate(query: str) -> list[Fault]:
    """List what ADS would refuse in `query`, or what could never match; empty means valid."""
    faults: list[Fault] = []
    if len(query) > MAX_QUERY_CHARS:
        faults.append(Fault(f"longer than {MAX_QUERY_CHARS} characters", MAX_QUERY_CHARS))
    tree = parse(query)
    if isinstance(tree, Fault):
        faults.append(tree)
    return faults
