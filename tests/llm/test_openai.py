"""The whole way over a loopback socket, through the real network door."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from llm.strict_provider import Answer, Step, StrictProvider, chunks
from nuncius.core.errors import (
    AccessDeniedError,
    ContextOverflowError,
    EmptyReplyError,
    KeyMissingError,
    ModelError,
    StreamCutError,
)
from nuncius.core.messages import Message, Thinking, ToolCall, ToolDefinition
from nuncius.llm import wire
from nuncius.llm.model import Completion, ModelChunk, ModelRequest, TextChunk, ThinkingChunk
from nuncius.llm.openai import Deadlines, OpenAIModel
from nuncius.walls.network import Network

HELLO = ModelRequest([Message("system", "S"), Message("user", "hello")])
FAST = Deadlines(idle_s=1.0, total_s=20, after_end_s=0.2)  # a busy machine is slow, not dead


@asynccontextmanager
async def model(
    *steps: Step, key: str = "sk-test-123456", deadlines: Deadlines | None = None
) -> AsyncGenerator[tuple[OpenAIModel, StrictProvider]]:
    async with StrictProvider.serving(steps) as provider:
        network = Network(trusted_hosts=[provider.url])
        try:
            yield (
                OpenAIModel(
                    network, base_url=provider.url, model="m", api_key=key, deadlines=deadlines
                ),
                provider,
            )
        finally:
            await network.aclose()


async def read(model: OpenAIModel, request: ModelRequest = HELLO) -> list[ModelChunk]:
    return [chunk async for chunk in model.stream(request)]


async def test_streams_thinking_text_and_the_whole_message() -> None:
    body = chunks({"reasoning_content": "hm"}, {"content": "Hel"}, {"content": "lo"})
    async with model(body) as (it, provider):
        thought, first, second, end = await read(it)
    assert (thought, first, second) == (ThinkingChunk("hm"), TextChunk("Hel"), TextChunk("lo"))
    assert isinstance(end, Completion)
    assert end.message.content == "Hello"
    assert provider.requests[0]["stream"] is True
    assert provider.headers[0]["authorization"] == "bearer sk-test-123456"
    assert it.local
    assert it.name == "127.0.0.1/m"


@pytest.mark.parametrize(
    "name",
    ["openai_chat_parallel_toolcalls.sse", "openrouter_annotations.sse", "groq_toolcall.sse"],
)
async def test_a_recorded_stream_comes_through_in_small_pieces(
    shared_data: Path, name: str
) -> None:
    data = (shared_data / "upstreams" / "llm" / name).read_bytes()
    async with model(Answer(data, piece=97)) as (it, _):
        *_, end = await read(it)
    assert isinstance(end, Completion)
    assert end.usage.output_tokens > 0


async def test_sends_pairs_tools_and_limits_as_a_strict_server_wants_them() -> None:
    request = ModelRequest(
        [
            Message("user", "read"),
            Message("assistant", "", (ToolCall("c1", "read_file", '{"path":"a"}'),)),
            Message("tool", "text", tool_call_id="c1", name="read_file"),
        ],
        [ToolDefinition("read_file", "Read.", {"type": "object"})],
        max_output_tokens=64,
    )
    async with model(chunks({"content": "ok"})) as (it, provider):
        await read(it, request)
    (sent,) = provider.requests
    assert provider.refusals == []
    assert sent["max_tokens"] == 64
    assert sent["tools"][0]["function"]["name"] == "read_file"
    assert sent["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"path":"a"}'


@pytest.mark.parametrize(
    ("answer", "kind", "retryable"),
    [
        (Answer(b"no", status=401), KeyMissingError, None),
        (Answer(b"slow", status=429, headers={"retry-after": "2"}), ModelError, True),
        (Answer(b"down", status=529), ModelError, True),
        (Answer(b'{"error":{"message":"maximum context length"}}', status=400), ContextOverflowError, False),
        (Answer(b"<html><b>Sign in</b>", content_type="text/html"), ModelError, False),
        (Answer(b"<html><b>Sign in</b>"), ModelError, False),
        (Answer(b'{"ok": true}', content_type="application/json"), ModelError, False),
        (Answer(b'{"error": {"message": "overloaded"}}', content_type="application/json"), ModelError, True),
        (Answer(chunks({"content": "Hel"}, finish=None, done=False)), StreamCutError, True),
        (Answer(chunks({"content": ""})), EmptyReplyError, True),
        (Answer(b'data: {"choices": []}\n\ndata: [DONE]\n\n'), EmptyReplyError, True),
        (Answer(b"data: " + b"x" * 4_100_000), ModelError, False),
        (Answer(b""), ModelError, False),
        (Answer(b": ping\n\n", hang=True), StreamCutError, True),
    ],
)  # fmt: skip
async def test_a_failure_has_its_type(
    answer: Answer, kind: type[Exception], retryable: bool | None
) -> None:
    async with model(answer, deadlines=FAST) as (it, _):
        with pytest.raises(kind) as caught:
            await read(it)
    if isinstance(caught.value, ModelError):
        assert caught.value.retryable is retryable
        assert "Sign in" in str(caught.value) or b"html" not in answer.body


async def collect(model: OpenAIModel, into: list[ModelChunk]) -> None:
    async for chunk in model.stream(HELLO):
        into.append(chunk)  # noqa: PERF401  (what came before an error is what matters)


async def test_what_came_before_a_silence_stays_with_the_error() -> None:
    body = chunks({"content": "So far"}, finish=None, done=False)
    seen: list[ModelChunk] = []
    async with model(Answer(body, hang=True), deadlines=FAST) as (it, _):
        with pytest.raises(StreamCutError, match="no sign of life") as caught:
            await collect(it, seen)
    assert seen == [TextChunk("So far")]
    assert caught.value.partial == Message("assistant", "So far")


async def test_keep_alives_do_not_save_a_server_that_never_ends() -> None:
    async def pieces() -> Any:
        while True:
            await asyncio.sleep(0.005)
            yield b": ping\n\n"

    it = OpenAIModel(
        Pinging(pieces), base_url="http://localhost", model="m", deadlines=Deadlines(1, 0.05, 1)
    )
    with pytest.raises(StreamCutError, match="no end within"):
        await read(it)


class Pinging:
    """A door behind which a server sends what it is told to, for ever."""

    def __init__(self, pieces: Any) -> None:
        self.pieces = pieces
        self.status = 200
        self.headers = {"content-type": "text/event-stream"}

    @asynccontextmanager
    async def stream(self, method: str, url: str, **_: Any) -> AsyncGenerator["Pinging"]:
        yield self


async def test_a_finished_reply_is_not_held_up_by_an_open_connection() -> None:
    body = chunks({"content": "Hello"}, done=False)
    async with model(Answer(body, hang=True), deadlines=FAST) as (it, _):
        *_, end = await read(it)
    assert isinstance(end, Completion)


async def test_a_server_that_does_not_stream_is_understood() -> None:
    message = {"choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}]}
    body = json.dumps(message, indent=2).encode()
    async with model(Answer(body, content_type="application/json")) as (it, _):
        text, end = await read(it)
    assert text == TextChunk("Hi")
    assert isinstance(end, Completion)


async def test_nobody_listening_is_an_error_that_may_pass() -> None:
    async with StrictProvider.serving([]) as provider:
        url = provider.url
    network = Network(trusted_hosts=[url])
    with pytest.raises(ModelError, match="cannot be reached") as caught:
        await read(OpenAIModel(network, base_url=url, model="m"))
    assert caught.value.retryable
    await network.aclose()


async def test_the_doors_refusal_is_no_fault_of_the_model() -> None:
    network = Network(offline=True)
    with pytest.raises(AccessDeniedError):
        await read(OpenAIModel(network, base_url="https://api.example.org/v1", model="m"))


def body_of(base_url: str, name: str = "m", *, thinking: bool = False) -> dict[str, Any]:
    dialect = wire.dialect_of(base_url, name)
    request = ModelRequest(
        [Message("user", "q")], max_output_tokens=9, enable_thinking=thinking, thinking_budget=5
    )
    return wire.body(request, model=name, dialect=dialect, service="s")


def test_thinking_is_switched_as_each_provider_wants_it() -> None:
    qwen = "https://dashscope.aliyuncs.com/compatible-mode/v1"
    assert body_of(qwen)["enable_thinking"] is False
    assert body_of(qwen, thinking=True)["thinking_budget"] == 5
    assert body_of("https://api.z.ai/api/paas/v4")["thinking"] == {"type": "disabled"}
    assert body_of("https://openrouter.ai/api/v1", thinking=True)["reasoning"] == {
        "enabled": True,
        "max_tokens": 5,
    }
    plain = body_of("http://localhost:11434/v1", thinking=True)
    assert not {"enable_thinking", "thinking", "reasoning"} & plain.keys()
    assert body_of("https://api.openai.com/v1")["max_completion_tokens"] == 9


def test_reasoning_goes_back_with_calls_to_the_model_it_came_from_and_to_no_other() -> None:
    block = {"reasoning_content": "hm"}
    said = Message(
        "assistant",
        "",
        (ToolCall("c", "f", "{}"),),
        thinking=(Thinking("deepseek/r", "hm", block),),
    )
    deepseek = wire.dialect_of("https://api.deepseek.com", "r")
    assert wire.message_object(said, deepseek, "deepseek/r")["reasoning_content"] == "hm"
    assert "reasoning_content" not in wire.message_object(said, deepseek, "deepseek/v4")
    assert "reasoning_content" not in wire.message_object(said, wire.Dialect(), "deepseek/r")
    plain = Message("assistant", "text", thinking=said.thinking)
    assert "reasoning_content" not in wire.message_object(plain, deepseek, "deepseek/r")
