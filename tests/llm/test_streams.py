"""Whatever the network does to a stream, in both wire formats: pieces change nothing, and no cut
ever leaves a call to run that the model did not finish.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llm.strict_anthropic import events
from llm.strict_provider import chunks
from nuncius.core.errors import ModelError
from nuncius.core.messages import Message
from nuncius.llm.anthropic import AnthropicModel
from nuncius.llm.model import ChatModel, Completion, ModelRequest, TextChunk, ThinkingChunk
from nuncius.llm.openai import OpenAIModel

ASK = ModelRequest([Message("user", "q")])
QUIET = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

OWN: Mapping[str, bytes] = {
    "own openai": chunks(
        {"reasoning_content": "hm ≥"},
        {"content": "Größe 大 "},
        {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x":'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": ' "é"}'}}]},
        {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}}]},
        finish="tool_calls",
    ),
    "own anthropic": events(
        {"type": "thinking", "thinking": "hm ≥", "signature": "c2ln"},
        {"type": "text", "text": "Größe 大"},
        {"type": "tool_use", "id": "a", "name": "f", "input": {"x": "é"}},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        {"type": "tool_use", "id": "b", "name": "g", "input": {}},
        stop="tool_use",
    ),
}
RECORDED = [
    "openai_chat_parallel_toolcalls.sse",
    "openai_chat_structured_final_tool.sse",
    "openai_chat_tool_basic.sse",
    "openai_compat_tool_variant_a.sse",
    "openai_compat_tool_variant_d.sse",
    "groq_toolcall.sse",
    "SYNTHETIC_ollama_openai_same_index.sse",
    "openrouter_annotations.sse",
    "openrouter_reasoning_details.sse",
    "anthropic_mcp_tool.sse",
    "anthropic_server_tool.sse",
    "anthropic_thinking.sse",
    "anthropic_tool_use.sse",
]


class Pieces:
    """A door behind which a server sends these bytes, piece by piece, and hangs up."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces
        self.status = 200
        self.headers = {"content-type": "text/event-stream"}

    @asynccontextmanager
    async def stream(self, method: str, url: str, **_: Any) -> AsyncGenerator["Pieces"]:
        yield self

    async def pieces(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


def model(name: str, *pieces: bytes) -> ChatModel:
    kind = AnthropicModel if "anthropic" in name else OpenAIModel
    return kind(Pieces(pieces), base_url="http://localhost", model="m")


async def read(name: str, *pieces: bytes) -> tuple[Completion, str, str]:
    """Return the completion, the text shown and the thinking shown."""
    text = thought = ""
    end: Completion | None = None
    async for chunk in model(name, *pieces).stream(ASK):
        assert end is None, "nothing follows the completion"
        if isinstance(chunk, TextChunk):
            text += chunk.text
        elif isinstance(chunk, ThinkingChunk):
            thought += chunk.text
        elif isinstance(chunk, Completion):
            end = chunk
    assert end
    return end, text, thought


@pytest.fixture(params=[*OWN, *RECORDED])
def stream(request: pytest.FixtureRequest) -> tuple[str, bytes]:
    name: str = request.param
    if name in OWN:
        return name, OWN[name]
    folder: Path = request.getfixturevalue("shared_data")
    return name, (folder / "upstreams" / "llm" / name).read_bytes()


@QUIET
@given(st.data())
async def test_any_pieces_make_the_same_message(stream: tuple[str, bytes], data: Any) -> None:
    name, whole = stream
    places = st.lists(st.integers(1, len(whole) - 1), max_size=60, unique=True)
    cuts = [0, *sorted(data.draw(places)), len(whole)]
    pieces = [whole[start:end] for start, end in pairwise(cuts)]
    assert await read(name, *pieces) == await read(name, whole)


async def test_single_bytes_make_the_same_message(stream: tuple[str, bytes]) -> None:
    name, whole = stream
    single = [whole[at : at + 1] for at in range(len(whole))]
    assert await read(name, *single) == await read(name, whole)


@QUIET
@given(st.data())
async def test_no_cut_leaves_a_call_to_run_that_was_not_finished(
    stream: tuple[str, bytes], data: Any
) -> None:
    """B21, B24, B43: a cut is an error with what came, or it cost nothing of the message."""
    name, whole = stream
    full = (await read(name, whole))[0]
    cut = data.draw(st.integers(0, len(whole) - 1))
    try:
        end = (await read(name, whole[:cut]))[0]
    except ModelError:
        return
    assert end.message == full.message
    assert end.finish == full.finish


@QUIET
@given(st.data())
async def test_a_damaged_stream_ends_in_a_message_or_in_a_typed_error(
    stream: tuple[str, bytes], data: Any
) -> None:
    name, whole = stream
    start = data.draw(st.integers(0, len(whole) - 1))
    noise = data.draw(st.binary(max_size=40))
    damaged = whole[:start] + noise + whole[start + data.draw(st.integers(0, 200)) :]
    try:
        end = (await read(name, damaged))[0]
    except ModelError:
        return
    assert end.message.content.strip() or end.message.tool_calls


@pytest.mark.parametrize("name", OWN)
async def test_an_own_stream_is_assembled_right(name: str) -> None:
    end, text, thought = await read(name, OWN[name])
    assert (text.strip(), thought) == ("Größe 大", "hm ≥")
    assert [(c.id, c.name) for c in end.message.tool_calls] == [("a", "f"), ("b", "g")]
    assert end.finish == "tool_calls"


async def test_an_error_event_without_an_error_object_is_an_error() -> None:
    """B37: some servers name the event and send words, or fields without a wrapper."""
    start = OWN["own openai"].split(b"\n\n")[0] + b"\n\n"
    for said in (b"upstream overloaded", b'{"message": "overloaded", "code": 529}'):
        body = start + b"event: error\ndata: " + said + b"\n\n"
        with pytest.raises(ModelError, match="overloaded") as caught:
            await read("openai", body)
        assert caught.value.retryable
