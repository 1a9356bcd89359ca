"""Another model steps in where the first one stays overloaded, and everybody is told."""

from typing import Any

import pytest

from agent.parts import Bench, Look
from nuncius.agent.fallback import TURNS, WithFallback
from nuncius.agent.streaming import Clock, RetryPolicy
from nuncius.core.errors import (
    ContextOverflowError,
    EmptyReplyError,
    KeyMissingError,
    ModelError,
    NunciusError,
)
from nuncius.core.messages import Message, Thinking, ToolCall
from nuncius.llm import anthropic_wire, wire
from nuncius.llm.model import ModelRequest
from nuncius.llm.scripted import Reply, ScriptedModel

BUSY = ModelError("first", "http://x", "overloaded", retryable=True)
LOOK = Reply(calls=[("look", '{"word": "a"}')])


class Two(Bench):
    """A bench with two models."""

    def __init__(self, first: Any, second: Any, **more: Any) -> None:
        super().__init__([], Look(), **more)
        self.first = ScriptedModel(first, name="first")
        self.second = ScriptedModel(second, name="second", degraded="small")
        self.runtime.model = WithFallback(self.first, self.second)

    def notices(self) -> list[str]:
        return [event.text for event in self.journal.log if event.type == "notice"]


async def test_after_three_overloads_the_turn_goes_on_with_the_second_model() -> None:
    bench = Two([LOOK, BUSY, BUSY, BUSY, "Again first."], [LOOK, "Second."])
    result = await bench.turn()
    assert (result.status, result.answer.text) == ("completed", "Second.")
    assert result.answer.degraded == ("answered by second, because first failed", "small")
    assert (len(bench.first.requests), len(bench.second.requests)) == (4, 2)
    assert bench.notices() == [
        "first failed in 3 tries (overloaded). The turn goes on with second."
    ]
    kinds = bench.kinds()
    assert kinds.count("attempt_reset") == 3
    assert kinds[kinds.index("notice") - 1] == "attempt_reset"
    assert (await bench.turn()).answer.text == "Again first."  # the next turn asks it again


async def test_what_had_been_streamed_is_taken_back() -> None:
    cut = Reply(text="Half an", cut=True)
    bench = Two([cut, cut, cut], ["Whole."])
    assert (await bench.turn()).answer.text == "Whole."
    stored = [m.message.content for m in bench.journal.kept]
    assert stored == ["go", "Whole."]


@pytest.mark.parametrize(
    "error",
    [
        ContextOverflowError("first", "", "too long"),
        KeyMissingError("no key"),
        ModelError("first", "", "bad request"),
    ],
)
async def test_a_refusal_is_no_reason_to_ask_another(error: NunciusError) -> None:
    bench = Two([error] * 3, ["Second."])
    result = await bench.turn()
    assert (result.status, result.cause) == ("failed", error)
    assert bench.second.requests == []
    assert bench.notices() == []


async def test_a_model_that_says_nothing_twice_is_replaced() -> None:
    bench = Two([EmptyReplyError("first", "", "nothing", retryable=True)] * 2, ["Second."])
    assert (await bench.turn()).answer.text == "Second."


async def test_where_both_fail_the_turn_ends_with_the_seconds_error() -> None:
    error = ModelError("second", "", "overloaded too", retryable=True)
    bench = Two([BUSY] * 3, [error] * 2, retry=RetryPolicy(attempts=2))
    result = await bench.turn()
    assert (result.status, result.cause) == ("failed", error)
    assert len(bench.first.requests) == len(bench.second.requests) == 2


async def test_the_longest_wait_a_server_asks_for_is_waited() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    error = ModelError("first", "", "busy", retryable=True, retry_after_s=7)
    bench = Two([error] * 2 + ["Here."], [], clock=Clock(sleep=sleep, draw=lambda: 0.5))
    await bench.turn()
    assert waits == [7.25, 7.5]


def test_turns_are_forgotten_in_time_and_privacy_is_that_of_both() -> None:
    near, far = ScriptedModel([]), ScriptedModel([], local=False)
    model = WithFallback(near, far)
    assert not model.local
    for turn in range(TURNS + 1):
        model.fall_back(str(turn))
    assert model.in_force("0") is near
    assert model.in_force(str(TURNS)) is far


def test_the_second_model_gets_no_thought_of_the_first() -> None:
    """B29 to B32: thoughts go back to the model they came from, or nowhere."""
    kept = {"at": [0, 0], "block": {"type": "thinking", "thinking": "hm", "signature": "x"}}
    said = Message(
        "assistant",
        "",
        (ToolCall("c1", "look", "{}"),),
        thinking=(
            Thinking("h/first", "hm", {"reasoning_content": "hm"}),
            Thinking("h/first", "hm", kept),
        ),
    )
    talk = [Message("user", "q"), said, Message("tool", "r", tool_call_id="c1", name="look")]
    request = ModelRequest(talk, enable_thinking=True)
    dialect = wire.dialect_of("https://openrouter.ai/api/v1", "second")
    sent = wire.body(request, model="second", dialect=dialect, service="h/second")
    assert "reasoning_content" not in sent["messages"][1]
    blocks = anthropic_wire.body(request, model="second", service="h/second", form="adaptive")
    assert [b["type"] for b in blocks["messages"][1]["content"]] == ["tool_use"]
