"""How much a conversation weighs: an estimate of tokens that learns, and what a turn may spend."""

import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from nuncius.core.messages import Message, ToolDefinition, Usage

# Tokens a character, fitted to the tokenizers of Qwen, Claude 2 and GPT-2 on English, Chinese and
# Greek text, LaTeX, tables, JSON and code: their counts lie within a third of this, those of GPT-2
# for Chinese excepted (2.4 times), and the meter learns the rest.
_LETTER = 0.24  # ASCII letters and spaces: four to a token
_DIGIT = 0.85
_SIGN = 0.45  # ASCII punctuation
_BREAK = 0.25  # line ends and tabs
_COMMAND = 2.0  # a LaTeX command, backslash included
_NEAR = 0.95  # two bytes in UTF-8: accented Latin, Greek, Cyrillic
_SYMBOL = 1.6  # three bytes: superscripts, arrows, operators, Indic scripts
_IDEOGRAPH = 0.85  # CJK, kana, Hangul
_ASTRAL = 2.5  # four bytes: emoji, mathematical letters
_MESSAGE = 4.0  # role and delimiters of a message
_CALL = 8.0  # id and frame of a call or of a tool

_COMMANDS = re.compile(r"\\[A-Za-z]+")
_NEAR_SIGNS = re.compile("[\x80-\u07ff]")
_SYMBOLS = re.compile("[\u0800-\u2e7f]")
_ASTRALS = re.compile("[\U00010000-\U0010ffff]")
_DIGITS = b"0123456789"
_SIGNS = bytes(code for code in range(33, 127) if not chr(code).isalnum())
_BREAKS = b"\n\r\t"

FEWEST, MOST = 0.2, 5.0
"""Bounds of what the meter believes: a provider that counts nonsense spoils no estimate for good."""
RATE = 0.5
SMALLEST = 50
"""Estimated tokens of a part whose count is worth learning from alone."""


@dataclass(frozen=True, slots=True)
class Size:
    """Estimated tokens, apart by what tokenizers differ in.

    Attributes:
        narrow: Of ASCII text.
        wide: Of all other scripts and signs.
    """

    narrow: float = 0.0
    wide: float = 0.0

    def __add__(self, other: Self) -> "Size":
        return Size(self.narrow + other.narrow, self.wide + other.wide)

    def __sub__(self, other: Self) -> "Size":
        return Size(self.narrow - other.narrow, self.wide - other.wide)

    @property
    def total(self) -> float:
        """Return both together."""
        return self.narrow + self.wide


def measure(text: str) -> Size:
    """Estimate the tokens of `text`: by script, digits and LaTeX commands apart."""
    commands = length = 0
    if "\\" in text:
        found = _COMMANDS.findall(text)
        commands, length = len(found), sum(map(len, found)) - len(found)  # letters alone
    ascii_text = text.encode("ascii", "ignore")
    digits = len(ascii_text) - len(ascii_text.translate(None, _DIGITS))
    signs = len(ascii_text) - len(ascii_text.translate(None, _SIGNS)) - commands
    breaks = len(ascii_text) - len(ascii_text.translate(None, _BREAKS))
    letters = len(ascii_text) - digits - signs - breaks - commands - length
    narrow = (
        letters * _LETTER + digits * _DIGIT + signs * _SIGN + breaks * _BREAK + commands * _COMMAND
    )
    others = len(text) - len(ascii_text)
    if not others:
        return Size(narrow)
    near = len(_NEAR_SIGNS.findall(text))
    symbols = len(_SYMBOLS.findall(text))
    astral = len(_ASTRALS.findall(text))
    wide = (
        near * _NEAR
        + symbols * _SYMBOL
        + astral * _ASTRAL
        + (others - near - symbols - astral) * _IDEOGRAPH
    )
    return Size(narrow, wide)


def measure_message(message: Message) -> Size:
    """Estimate the tokens of a message as it is sent."""
    size = measure(message.content) + Size(_MESSAGE)
    for call in message.tool_calls:
        size += measure(call.name) + measure(call.arguments) + Size(_CALL)
    for block in message.thinking:
        if block.block is not None:  # what is not sent back costs nothing
            size += measure(block.text)
    return size


def measure_tools(definitions: Iterable[ToolDefinition]) -> Size:
    """Estimate the tokens of what a model is told of its tools."""
    size = Size()
    for tool in definitions:
        schema = json.dumps(dict(tool.parameters), ensure_ascii=False, separators=(",", ":"))
        size += measure(tool.name) + measure(tool.description) + measure(schema) + Size(_CALL)
    return size


@dataclass(frozen=True, slots=True)
class Counted:
    """A request whose tokens a model has counted: what follows is estimated from there."""

    size: Size
    tokens: int
    model: str = ""


class TokenMeter:
    """Turns sizes into the tokens of one model, and learns from what its provider counts.

    It keeps one factor for ASCII text and one for the rest. Each count moves them by a part of its
    error, in proportion to how much of the request is of which kind; for text of one kind that is
    the moving average of count over estimate.
    """

    def __init__(self) -> None:
        self._narrow = self._wide = 1.0
        self._learned = False
        self._refused: Size | None = None

    def tokens(self, size: Size, since: Counted | None = None) -> int:
        """Return the tokens of `size`; `since` is an earlier request of which it is a longer one."""
        if since is None:
            return round(self._weigh(size))
        return max(round(since.tokens + self._weigh(size - since.size)), 0)

    def learn(self, counted: Counted, since: Counted | None = None) -> None:
        """Take a provider's count, and what it tells of the part that came `since` the last one."""
        if counted.tokens <= 0 or counted.size.total <= 0:
            return
        part = counted.size - since.size if since is not None else Size()
        if since is not None and part.total >= SMALLEST and min(part.narrow, part.wide) >= 0:
            self._adjust(part, counted.tokens - since.tokens, rate=RATE)
        self._adjust(counted.size, counted.tokens, rate=RATE if self._learned else 1.0)
        self._learned = True

    def overflowed(self, size: Size) -> None:
        """Remember that a request of this size was refused as too long."""
        if self._refused is None or self.tokens(size) < self.tokens(self._refused):
            self._refused = size

    @property
    def ceiling(self) -> int | None:
        """Return the tokens of the shortest request that was refused, by what is known now."""
        return None if self._refused is None else self.tokens(self._refused)

    def _weigh(self, size: Size) -> float:
        return self._narrow * size.narrow + self._wide * size.wide

    def _adjust(self, size: Size, tokens: int, *, rate: float) -> None:
        share = rate * (tokens - self._weigh(size)) / (size.narrow**2 + size.wide**2)
        self._narrow = min(max(self._narrow + share * size.narrow, FEWEST), MOST)
        self._wide = min(max(self._wide + share * size.wide, FEWEST), MOST)


def clip(text: str, limit: int, note: str = " [… {count:,} characters left out …] ") -> str:
    """Return `text`, or its head and tail with a note between, at most `limit` characters long.

    No character is cut from the marks that combine with it.
    """
    if len(text) <= limit:
        return text
    room = max(limit - len(note.format(count=len(text))), 2)
    head = _whole(text, room * 2 // 3)
    tail = _whole(text, len(text) - (room - room * 2 // 3), after=True)
    return f"{text[:head]}{note.format(count=tail - head)}{text[tail:]}"


def _whole(text: str, at: int, *, after: bool = False) -> int:
    """Return the nearest place before (or after) `at` where no character is split."""
    step = 1 if after else -1
    while 0 < at < len(text) and (_joins(text[at]) or text[at - 1] == "\u200d"):
        at += step
    return at


def _joins(character: str) -> bool:
    return unicodedata.category(character) in {"Mn", "Mc", "Me"} or character == "\u200d"


# --- money and tokens -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, in USD per million tokens; `cached_usd` None: as other input."""

    input_usd: float
    output_usd: float
    cached_usd: float | None = None

    def cost_usd(self, usage: Usage) -> float:
        """Return the cost of a call."""
        cached_usd = self.input_usd if self.cached_usd is None else self.cached_usd
        fresh = max(usage.input_tokens - usage.cached_tokens, 0)
        return (
            fresh * self.input_usd
            + usage.cached_tokens * cached_usd
            + usage.output_tokens * self.output_usd
        ) / 1_000_000


@dataclass(frozen=True, slots=True)
class Budget:
    """What a session may use, and so each of its turns; None: no limit."""

    max_tokens: int | None = None
    max_cost_usd: float | None = None

    def __bool__(self) -> bool:
        return self.max_tokens is not None or self.max_cost_usd is not None

    def reached(self, spent: Usage) -> str:
        """Return which limit `spent` has reached and how to raise it; empty where none."""
        tokens, cost_usd = spent.input_tokens + spent.output_tokens, spent.cost_usd or 0.0
        if self.max_tokens is not None and tokens >= self.max_tokens:
            used, limit = f"{tokens:,} tokens", f"NUNCIUS_MAX_TOKENS allows {self.max_tokens:,}"
            name = "NUNCIUS_MAX_TOKENS"
        elif self.max_cost_usd is not None and cost_usd >= self.max_cost_usd:
            used = f"{cost_usd:.4f} USD"
            limit = f"NUNCIUS_MAX_COST_USD allows {self.max_cost_usd:g}"
            name = "NUNCIUS_MAX_COST_USD"
        else:
            return ""
        return (
            f"The session has used {used}; {limit}. Raise it with `nuncius config set {name} ...`,"
            " or start a new session."
        )
