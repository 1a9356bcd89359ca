"""Tokens are estimated by script and learned from the provider's counts; cuts split no character."""

import math
import random
import re
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.parts import Act, Look
from nuncius.agent.context import (
    Budget,
    Counted,
    Price,
    Size,
    TokenMeter,
    clip,
    measure,
    measure_message,
    measure_tools,
)
from nuncius.core.messages import Message, Thinking, ToolCall, Usage

Tokenizer = Callable[[str], int]

# What tokenizers do, in four ways that differ: how words are split, whether digits stand alone, and
# what a letter beyond ASCII costs.


def modern(text: str) -> int:
    """Long words whole, three digits together, two Chinese characters in three tokens."""
    return _count(text, word=7, digits=3, near=0.6, symbol=1.0, far=0.65)


def one_digit(text: str) -> int:
    """Each digit alone; Greek by letters."""
    return _count(text, word=5, digits=1, near=1.1, symbol=1.8, far=0.8)


def old_bytes(text: str) -> int:
    """Pairs of bytes for all that is not English."""
    return _count(text, word=5, digits=2, near=1.25, symbol=2.2, far=2.4)


def plain_bytes(text: str) -> int:
    """Three bytes a token, whatever they are."""
    return math.ceil(len(text.encode()) / 3)


def _count(text: str, *, word: int, digits: int, near: float, symbol: float, far: float) -> int:
    count = 0.0
    for piece in re.findall(r"[A-Za-z]+|[0-9]+|\s+|[!-/:-@\[-`{-~]|[^\x00-\x7f]", text):
        first = piece[0]
        if first.isascii():
            if first.isalpha():
                count += math.ceil(len(piece) / word)
            elif first.isdigit():
                count += math.ceil(len(piece) / digits)
            else:
                count += 0 if piece == " " else 0.7
        elif first < "\u0800":
            count += near
        else:
            count += far if first >= "\u2e80" else symbol
    return round(count)


TOKENIZERS: list[Tokenizer] = [modern, one_digit, old_bytes, plain_bytes]
TEXTS = {
    "chinese": "这颗恒星的质量约为太阳的1.04倍，半径为0.97倍，有效温度为5780开尔文。光谱观测表明其金属丰度略低。",
    "greek": "Ο αστέρας έχει μάζα 1,04 φορές τη μάζα του Ήλιου και θερμοκρασία 5780 βαθμούς. Το φάσμα δείχνει μέταλλα. ",
    "latex": r"$M_\star = 1.04^{+0.03}_{-0.02}\,M_\odot$, \frac{\partial\rho}{\partial t} + \nabla\cdot(\rho\mathbf{v}) = 0, \sigma_{\rm int} ",
    "english": "The star has about the mass of the Sun, and its spectrum shows few metals; see the table below. ",
    "table": "12\t0.0341\t-1.2207\tHD 120034\n13\t0.9921\t+0.0310\tHD 120071\n",
}
BASE = "You answer from the papers in the user's library. " * 60 + '{"type": "object"}' * 60


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("kind", ["chinese", "greek", "latex", "table"])
@pytest.mark.parametrize("english", [0.0, 0.4])
def test_after_three_turns_the_estimate_is_within_15_percent(
    tokenizer: Tokenizer, kind: str, english: float
) -> None:
    """Of the next request, and of a rewritten conversation of which nothing was counted yet."""
    draw = random.Random(7)
    meter, size, tokens = TokenMeter(), measure(BASE), tokenizer(BASE)
    counted: Counted | None = None
    for step in range(24):
        text = TEXTS["english" if draw.random() < english else kind]
        piece = text * draw.randrange(2, 25)
        size += measure(piece)
        tokens += tokenizer(piece)
        if step >= 6:  # two model calls a turn
            assert meter.tokens(size, counted) == pytest.approx(tokens, rel=0.15)
            # tables between English text swing more than one factor for both can follow
            assert meter.tokens(size) == pytest.approx(
                tokens, rel=0.25 if kind == "table" else 0.15
            )
        last, counted = counted, Counted(size, tokens)
        meter.learn(counted, last)


@pytest.mark.parametrize("tokenizer", [modern, one_digit])
@pytest.mark.parametrize("kind", TEXTS)
def test_even_the_first_estimate_is_of_the_right_size(tokenizer: Tokenizer, kind: str) -> None:
    text = TEXTS[kind] * 20
    assert 0.6 < tokenizer(text) / measure(text).total < 1.5


def test_a_chinese_character_weighs_as_much_as_a_few_latin_ones() -> None:
    assert measure("恒" * 100).total == pytest.approx(85)
    assert measure("star" * 25).total == pytest.approx(24)
    assert measure(r"\alpha" * 10).total == pytest.approx(20)


@given(st.text(), st.text())
def test_sizes_add_up(one: str, two: str) -> None:
    assert measure(one).total >= 0
    whole, parts = measure(f"{one} {two}"), measure(one) + measure(" ") + measure(two)
    assert whole.narrow == pytest.approx(parts.narrow)
    assert whole.wide == pytest.approx(parts.wide)


def test_calls_count_and_only_reasoning_that_is_sent_back() -> None:
    said = Message("assistant", "I look.")
    call = ToolCall("c", "look", '{"word": "x"}')
    assert (
        measure_message(Message("assistant", "I look.", (call,))).total
        > measure_message(said).total + 8
    )
    unsent = Message("assistant", "I look.", thinking=(Thinking("m", "hm " * 100),))
    sent = Message("assistant", "I look.", thinking=(Thinking("m", "hm " * 100, {"s": 1}),))
    assert measure_message(unsent) == measure_message(said)
    assert measure_message(sent).total > measure_message(said).total + 50
    assert measure_tools([Look().definition(), Act().definition()]).total > 40


def test_nonsense_from_a_provider_moves_the_estimate_only_so_far() -> None:
    meter, size = TokenMeter(), Size(1000.0, 10.0)
    for tokens in (0, -5, 10**9, 10**9):
        meter.learn(Counted(size, tokens))
    assert meter.tokens(size) <= 5050
    for _ in range(20):
        meter.learn(Counted(size, 1010))
    assert meter.tokens(size) == pytest.approx(1010, rel=0.01)


def test_a_refused_request_bounds_the_next_ones_by_what_is_known_later() -> None:
    meter = TokenMeter()
    assert meter.ceiling is None
    meter.overflowed(Size(1000.0))
    meter.overflowed(Size(5000.0))
    assert meter.ceiling == 1000
    meter.learn(Counted(Size(500.0), 1000))
    assert meter.ceiling == 2000


@given(
    st.lists(
        st.sampled_from(["a", "é", "e\u0301", "恒", "👩\u200d🔭", "\u0301", "α"]), max_size=60
    ).map("".join)
    | st.text(max_size=60),
    st.integers(40, 60),
)
def test_no_cut_splits_a_character(text: str, limit: int) -> None:
    text *= 3
    cut = clip(text, limit)
    cut.encode("utf-8", "surrogatepass")
    if cut == text:
        return
    head, _, rest = cut.partition(" [… ")
    tail = rest.partition(" left out …] ")[2]
    assert text.startswith(head)
    assert text.endswith(tail)
    for piece in (text[len(head) :], tail):
        assert not piece or not unicodedata.category(piece[0]).startswith("M") or piece == text


def test_a_cut_says_how_much_is_missing() -> None:
    assert clip("short", 10) == "short"
    cut = clip("x" * 1000, 100)
    assert len(cut) <= 100
    missing = re.search(r"(\d+) characters left out", cut)
    assert missing
    assert int(missing[1]) == 1000 - cut.count("x")


# --- money ---


def test_a_price_counts_cached_input_apart() -> None:
    usage = Usage(1_000_000, 500_000, cached_tokens=400_000)
    assert Price(1.0, 4.0).cost_usd(usage) == pytest.approx(3.0)
    assert Price(1.0, 4.0, 0.1).cost_usd(usage) == pytest.approx(2.64)


def test_a_budget_names_the_limit_and_how_to_raise_it() -> None:
    assert not Budget()
    assert Budget().reached(Usage(10**9, 10**9, cost_usd=10.0)) == ""
    tokens = Budget(max_tokens=1000)
    assert tokens.reached(Usage(900, 99)) == ""
    assert "used 1,000 tokens; NUNCIUS_MAX_TOKENS allows 1,000" in tokens.reached(Usage(900, 100))
    cost = Budget(max_cost_usd=0.5)
    assert cost.reached(Usage(900, 99)) == ""
    assert "nuncius config set NUNCIUS_MAX_COST_USD" in cost.reached(Usage(cost_usd=0.5))
