"""The Anthropic protocol over a loopback socket, through the real network door."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.parts import Bench, Look
from llm.strict_anthropic import StrictAnthropic, error, events, faults
from llm.strict_provider import Answer, Step
from nuncius.agent.pairing import repair
from nuncius.core.errors import (
    ContextOverflowError,
    KeyMissingError,
    ModelError,
    StreamCutError,
)
from nuncius.core.messages import Message, Thinking, ToolCall, ToolDefinition, Usage
from nuncius.llm import anthropic_wire
from nuncius.llm.anthropic import AnthropicModel
from nuncius.llm.dialects import thinking_forms
from nuncius.llm.exchange import Deadlines
from nuncius.llm.model import Completion, ModelChunk, ModelRequest, TextChunk, ThinkingChunk
from nuncius.walls.network import Network

FAST = Deadlines(idle_s=1.0, total_s=20, after_end_s=0.2)
TOOL = ToolDefinition("look", "Look.", {"type": "object", "properties": {}})
HELLO = ModelRequest([Message("system", "S"), Message("user", "hello")], [TOOL])
TEXT = {"type": "text", "text": "Hello"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"word": "a"}}


@asynccontextmanager
async def model(
    *steps: Step, name: str = "claude-sonnet-4-5"
) -> AsyncGenerator[tuple[AnthropicModel, StrictAnthropic]]:
    async with StrictAnthropic.serving(steps) as provider:
        network = Network(trusted_hosts=[provider.url])
        try:
            yield (
                AnthropicModel(
                    network,
                    base_url=provider.url,
                    model=name,
                    api_key="sk-test-123456",
                    deadlines=FAST,
                ),
                provider,
            )
        finally:
            await network.aclose()


async def read(model: AnthropicModel, request: ModelRequest = HELLO) -> list[ModelChunk]:
    return [chunk async for chunk in model.stream(request)]


def completion(chunks: Sequence[ModelChunk]) -> Completion:
    end = chunks[-1]
    assert isinstance(end, Completion)
    return end


async def test_streams_thinking_text_and_the_whole_message() -> None:
    async with model(events(THOUGHT, TEXT)) as (it, provider):
        chunks = await read(it, replace(HELLO, enable_thinking=True))
    assert [c.text for c in chunks if isinstance(c, ThinkingChunk)] == ["h", "m"]
    assert "".join(c.text for c in chunks if isinstance(c, TextChunk)) == "Hello"
    assert completion(chunks).usage == Usage(5, 7)
    (sent,) = provider.requests
    assert provider.refusals == []
    assert sent["system"][0]["text"] == "S"
    assert provider.headers[0]["x-api-key"] == "sk-test-123456"
    assert it.local
    assert it.name == "127.0.0.1/claude-sonnet-4-5"


@pytest.mark.parametrize("name", ["anthropic_thinking.sse", "anthropic_tool_use.sse"])
async def test_a_recorded_stream_comes_through_in_small_pieces(
    shared_data: Path, name: str
) -> None:
    data = (shared_data / "upstreams" / "llm" / name).read_bytes()
    async with model(Answer(data, piece=97)) as (it, _):
        assert completion(await read(it)).usage.output_tokens > 100


async def test_a_whole_turn_with_signed_thoughts_is_taken_by_a_strict_server() -> None:
    """B31: what goes back is byte for byte what came."""
    second = {**CALL, "id": "toolu_2"}
    async with model(events(THOUGHT, TEXT, CALL, second, stop="tool_use"), events(TEXT)) as (
        it,
        provider,
    ):
        asked = replace(HELLO, enable_thinking=True, max_output_tokens=100)
        said = completion(await read(it, asked)).message
        results = [
            Message("tool", "", tool_call_id="toolu_1", name="look"),
            Message("tool", "broke", tool_call_id="toolu_2", name="look", is_error=True),
        ]
        await read(it, replace(asked, messages=[*asked.messages, said, *results]))
    assert provider.refusals == []
    _, assistant, user = provider.requests[1]["messages"]
    assert assistant["content"] == [THOUGHT, TEXT, CALL, second]
    assert [b["tool_use_id"] for b in user["content"]] == ["toolu_1", "toolu_2"]
    assert [b.get("is_error") for b in user["content"]] == [None, True]


async def test_the_same_thoughts_survive_the_journal() -> None:
    async with model(events(THOUGHT, CALL, stop="tool_use")) as (it, _):
        message = completion(await read(it)).message
    block = json.loads(json.dumps(message.thinking[0].block))  # what the store does with it
    assert Thinking(message.thinking[0].provider, "hm", block) == message.thinking[0]


def conversation(provider: str) -> list[Message]:
    kept = {"at": [0, 0], "block": THOUGHT}
    said = Message(
        "assistant",
        "I look.",
        (ToolCall("c1", "look", "{}"),),
        thinking=(Thinking(provider, "hm", kept),),
    )
    return [Message("user", "q"), said, Message("tool", "r", tool_call_id="c1", name="look")]


def body_of(request: ModelRequest, form: Any = "budget", name: str = "claude-x") -> dict[str, Any]:
    return anthropic_wire.body(request, model=name, service="s/claude-x", form=form)


def test_another_models_thoughts_are_dropped_whole_and_the_turn_goes_on_without() -> None:
    """B32: a thought without its signature, or with another model's, is refused."""
    own, foreign = (
        body_of(ModelRequest(conversation(p), [TOOL])) for p in ("s/claude-x", "s/claude-y")
    )
    assert own["messages"][1]["content"][0] == THOUGHT
    assert own["thinking"] == {"type": "enabled", "budget_tokens": 4096}
    assert [b["type"] for b in foreign["messages"][1]["content"]] == ["text", "tool_use"]
    assert "thinking" not in foreign
    assert faults(own) == faults(foreign) == []
    adaptive = body_of(ModelRequest(conversation("s/claude-y"), [TOOL]), form="adaptive")
    assert adaptive["thinking"]["type"] == "adaptive"  # this form takes such a turn
    assert faults(adaptive) == []


def test_without_thinking_no_thought_goes_back() -> None:
    plain = body_of(ModelRequest(conversation("s/claude-x"), [TOOL]), form="none")
    assert [b["type"] for b in plain["messages"][1]["content"]] == ["text", "tool_use"]
    assert "thinking" not in plain
    others = body_of(HELLO, form="none", name="deepseek-v4")
    assert others["thinking"] == {"type": "disabled"}


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("claude-3-7-sonnet-20250219", "budget"),
        ("claude-sonnet-4-20250514", "budget"),
        ("claude-haiku-4-5-20251001", "budget"),
        ("claude-sonnet-4-6", "adaptive"),
        ("anthropic.claude-opus-4-7-v1:0", "adaptive"),
        ("claude-opus-5", "adaptive"),
        ("deepseek-v4-pro", "budget"),
    ],
)
def test_thinking_is_asked_for_as_the_models_age_wants(name: str, first: str) -> None:
    assert thinking_forms(name)[0] == first


@pytest.mark.parametrize(("budget", "sent"), [(None, 4096), (5, 1024), (9000, 9000)])
def test_a_budget_is_as_large_as_the_service_wants_and_leaves_room_for_the_answer(
    budget: int | None, sent: int
) -> None:
    body = body_of(replace(HELLO, thinking_budget=budget, max_output_tokens=64))
    assert body["thinking"]["budget_tokens"] == sent
    assert body["max_tokens"] == sent + 64
    assert faults(body) == []


async def test_a_form_of_thinking_that_is_refused_is_not_tried_again() -> None:
    refusal = error(
        "invalid_request_error",
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".',
        400,
    )
    async with model(refusal, events(TEXT), events(TEXT), name="claude-next") as (it, provider):
        asked = replace(HELLO, enable_thinking=True)
        await read(it, asked)
        await read(it, asked)
    kinds = [request["thinking"]["type"] for request in provider.requests]
    assert kinds == ["enabled", "adaptive", "adaptive"]


async def test_a_history_that_does_not_fit_thinking_costs_only_one_request_its_thoughts() -> None:
    refusal = error(
        "invalid_request_error", "messages.1: `thinking` blocks cannot be modified", 400
    )
    async with model(refusal, events(TEXT), events(TEXT)) as (it, provider):
        asked = replace(HELLO, enable_thinking=True)
        await read(it, asked)
        await read(it, asked)
    assert ["thinking" in request for request in provider.requests] == [True, False, True]


async def test_a_paused_turn_is_given_back_and_goes_on() -> None:
    tool = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web", "input": {"q": "x"}}
    pause = events(TEXT, tool, stop="pause_turn", output_tokens=3)
    async with model(pause, pause, events({"type": "text", "text": "Done."})) as (it, provider):
        chunks = await read(it)
    end = completion(chunks)
    assert end.message.content == "Hello\n\nHello\n\nDone."
    assert end.finish == "stop"
    assert end.usage == Usage(15, 13)
    assert provider.refusals == []
    assert [len(r["messages"]) for r in provider.requests] == [1, 2, 2]
    assert [b["type"] for b in provider.requests[2]["messages"][1]["content"]] == [
        "text",
        "server_tool_use",
        "text",
        "server_tool_use",
    ]
    assert "".join(c.text for c in chunks if isinstance(c, TextChunk)) == end.message.content


async def test_a_server_that_pauses_for_ever_is_cut_off() -> None:
    async with model(*[events(TEXT, stop="pause_turn")] * 5) as (it, provider):
        assert completion(await read(it)).finish == "length"
    assert len(provider.requests) == 5


@pytest.mark.parametrize(
    ("answer", "kind", "retryable"),
    [
        (error("overloaded_error", "Overloaded"), ModelError, True),
        (error("overloaded_error", "Overloaded", 529), ModelError, True),
        (error("api_error", "Internal server error", 500), ModelError, True),
        (error("api_error", "Internal server error"), ModelError, True),
        (error("rate_limit_error", "Number of requests has exceeded", 429), ModelError, True),
        (error("authentication_error", "invalid x-api-key", 401), KeyMissingError, None),
        (error("invalid_request_error", "prompt is too long: 210 tokens > 200 maximum", 400), ContextOverflowError, False),
        (error("request_too_large", "Request exceeds the maximum size", 413), ContextOverflowError, False),
        (error("invalid_request_error", "messages: roles must alternate", 400), ModelError, False),
        (error("invalid_request_error", "Your credit balance is too low: billing", 400), ModelError, False),
        (Answer(events(TEXT, stop=None)), StreamCutError, True),
        (Answer(b'event: ping\ndata: {"type": "ping"}\n\n', hang=True), StreamCutError, True),
        (Answer(b"<html>Sign in", content_type="text/html"), ModelError, False),
        (Answer(b'{"choices": []}', content_type="application/json"), ModelError, False),
    ],
)  # fmt: skip
async def test_a_failure_has_its_type(
    answer: Answer, kind: type[Exception], retryable: bool | None
) -> None:
    """B37, B38: an error within the stream has no status, and 529 may pass."""
    async with model(answer) as (it, _):
        with pytest.raises(kind) as caught:
            await read(it)
    if isinstance(caught.value, ModelError):
        assert caught.value.retryable is retryable


async def test_what_came_before_an_error_stays_with_it() -> None:
    body = events(TEXT, CALL, stop=None) + error("overloaded_error", "Overloaded").body
    async with model(Answer(body)) as (it, _):
        with pytest.raises(ModelError) as caught:
            await read(it)
    assert caught.value.partial
    assert caught.value.partial.content == "Hello"
    assert [c.name for c in caught.value.partial.tool_calls] == ["look"]


async def test_the_wait_that_a_server_asks_for_is_kept() -> None:
    answer = replace(error("overloaded_error", "Overloaded", 529), headers={"retry-after": "7"})
    async with model(answer) as (it, _):
        with pytest.raises(ModelError) as caught:
            await read(it)
    assert caught.value.retry_after_s == 7


async def test_a_turn_of_the_agent_through_faults_and_parallel_calls() -> None:
    """Every request of the loop is one that the strict server takes."""
    bench = Bench([], Look())
    second = {**CALL, "id": "toolu_2", "input": '{"word": 7'}
    third: dict[str, Any] = {"type": "tool_use", "id": "toolu_1", "name": "no_such", "input": {}}
    steps: list[Step] = [
        error("overloaded_error", "Overloaded"),
        events(TEXT, CALL, stop=None),
        events(THOUGHT, TEXT, CALL, second, third, stop="tool_use"),
        events({"type": "text", "text": "Done."}),
    ]
    async with model(*steps) as (it, provider):
        bench.runtime.model = it
        result = await bench.turn(enable_thinking=True)
    assert provider.refusals == []
    assert (result.status, result.answer.text) == ("completed", "Done.")
    assert bench.kinds().count("attempt_reset") == 2
    assistant, user = provider.requests[-1]["messages"][1:]
    assert [b["type"] for b in assistant["content"]] == ["thinking", "text", *["tool_use"] * 3]
    assert assistant["content"][0] == THOUGHT
    assert [b["type"] for b in user["content"]] == ["tool_result"] * 3
    assert [b.get("is_error", False) for b in user["content"]] == [False, True, True]


def test_calls_in_the_history_are_declared_where_no_tool_is_offered() -> None:
    body = body_of(ModelRequest(conversation("x")), form="none")
    assert [tool["name"] for tool in body["tools"]] == ["look"]
    assert body["tool_choice"] == {"type": "none"}
    assert faults(body) == []


def test_no_tool_is_ever_forced() -> None:
    """B36: thinking and a forced tool do not go together."""
    assert "tool_choice" not in body_of(HELLO)


TEXTS = st.sampled_from(["", " ", "\n", "text", "Ωé\x00\ud800", "a\n\nb"])
MESSAGES = st.lists(
    st.one_of(
        st.builds(Message, st.sampled_from(["system", "user"]), TEXTS),
        st.builds(
            Message,
            st.just("assistant"),
            TEXTS,
            st.lists(
                st.builds(
                    ToolCall,
                    st.sampled_from(["c1", "c2", "", "c 3"]),
                    st.sampled_from(["look", "no name"]),
                    st.sampled_from(["{}", '{"a": 1}', "{", "[]"]),
                ),
                max_size=3,
            ).map(tuple),
            thinking=st.sampled_from(
                [
                    (),
                    (Thinking("s/claude-x", "hm", {"at": [0, 0], "block": THOUGHT}),),
                    (Thinking("s/claude-x", "hm", {"at": [3, 9], "block": THOUGHT}),),
                    (Thinking("other", "hm", {"at": [0, 0], "block": THOUGHT}),),
                    (Thinking("s/claude-x", "hm", {"reasoning_content": "hm"}),),
                ]
            ),
        ),
        st.builds(Message, st.just("tool"), TEXTS, tool_call_id=st.sampled_from(["c1", "c2", ""])),
    ),
    max_size=8,
)


@given(MESSAGES, st.sampled_from(["none", "budget", "adaptive"]), st.booleans())
def test_no_repaired_conversation_is_refused(
    messages: list[Message], form: Any, tools: bool
) -> None:
    view = repair([Message("system", "S"), *messages, Message("user", "q")])
    body = body_of(ModelRequest(view, [TOOL] if tools else []), form=form)
    json.dumps(body, ensure_ascii=False).encode()
    assert faults(body) == []
