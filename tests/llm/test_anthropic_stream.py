"""The events of an Anthropic stream become one message, whatever the pieces."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from llm.strict_anthropic import events
from nuncius.core.errors import EmptyReplyError, ModelError, StreamCutError
from nuncius.core.messages import ToolCall, Usage
from nuncius.llm.anthropic_stream import BlockAssembly
from nuncius.llm.faults import Origin
from nuncius.llm.model import Completion, TextChunk, ThinkingChunk
from nuncius.llm.sse import SseReader

ORIGIN = Origin("test/claude", "http://example.org")
CALL = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}


def payloads(data: bytes, size: int = 4096) -> Iterable[Any]:
    reader = SseReader()
    for at in range(0, len(data), size):
        for _, payload in reader.feed(data[at : at + size]):
            yield json.loads(payload)
    for _, payload in reader.close():
        yield json.loads(payload)


def assemble(data: bytes, size: int = 4096) -> tuple[Completion, str, str]:
    """Return the completion, the text shown and the thinking shown."""
    assembly, text, thought = BlockAssembly(ORIGIN), "", ""
    for value in payloads(data, size):
        for chunk in assembly.add(value):
            if isinstance(chunk, TextChunk):
                text += chunk.text
            elif isinstance(chunk, ThinkingChunk):
                thought += chunk.text
    return assembly.finish(done=assembly.ended)[1], text, thought


def blocks_of(completion: Completion) -> list[Any]:
    return [t.block["block"] for t in completion.message.thinking if t.block]


# --- recorded streams ---

RECORDED: dict[str, tuple[str, str, list[tuple[str, str, str]], int, Usage]] = {
    # file -> (finish, start of the text, calls, blocks of thinking, usage)
    "anthropic_thinking.sse": ("stop", "Here are the basic steps", [], 1, Usage(43, 282)),
    "anthropic_tool_use.sse": (
        "tool_calls",
        "Let me search for a tool",
        [
            (
                "toolu_01EFn5wTNBYA8Reni8rbmnHT",
                "get_exchange_rate",
                '{"from_currency": "USD", "to_currency": "EUR"}',
            )
        ],
        0,
        Usage(1591, 175),
    ),
    "anthropic_server_tool.sse": ("stop", "I'll calculate that", [], 1, Usage(4714, 304)),
    "anthropic_mcp_tool.sse": ("stop", "", [], 1, Usage(3042, 354)),
}


@pytest.mark.parametrize("size", [7, 1 << 16])
@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_stream_is_assembled_right(shared_data: Path, name: str, size: int) -> None:
    finish, start, calls, thoughts, usage = RECORDED[name]
    data = (shared_data / "upstreams" / "llm" / name).read_bytes()
    completion, text, thought = assemble(data, size)
    message = completion.message
    assert completion.finish == finish
    assert message.content.startswith(start)
    assert message.content == text
    assert [(c.id, c.name, c.arguments) for c in message.tool_calls] == calls
    assert completion.usage == usage
    assert "".join(t.text for t in message.thinking) == thought
    kept = blocks_of(completion)
    assert len(kept) == thoughts
    for block in kept:  # the signature stands in the recording, letter for letter
        assert block.keys() == {"type", "thinking", "signature"}
        assert json.dumps(block["signature"]).encode() in data
        assert block["thinking"] == thought


def test_every_recording_of_the_protocol_is_covered(shared_data: Path) -> None:
    found = {p.name for p in (shared_data / "upstreams" / "llm").glob("anthropic*.sse")}
    assert found == set(RECORDED)


def test_a_servers_own_tools_are_no_calls_and_do_not_join_the_texts_around(
    shared_data: Path,
) -> None:
    data = (shared_data / "upstreams" / "llm" / "anthropic_server_tool.sse").read_bytes()
    message = assemble(data)[0].message
    first, _, second = message.content.partition("\n\n")
    assert first == "I'll calculate that expression for you right away!"
    assert second
    assert message.tool_calls == ()


# --- what else comes ---


@pytest.mark.parametrize(
    ("stop", "blocks", "finish"),
    [
        ("end_turn", [{"type": "text", "text": "Hi"}], "stop"),
        ("stop_sequence", [{"type": "text", "text": "Hi"}], "stop"),
        ("tool_use", [CALL], "tool_calls"),
        ("end_turn", [CALL], "tool_calls"),
        ("tool_use", [{"type": "text", "text": "Hi"}], "stop"),
        ("max_tokens", [CALL], "length"),
        ("model_context_window_exceeded", [{"type": "text", "text": "Hi"}], "length"),
        ("refusal", [{"type": "text", "text": "I can"}], "content_filter"),
        ("a new one", [{"type": "text", "text": "Hi"}], "stop"),
    ],
)
def test_a_stop_reason_is_told_in_our_words(stop: str, blocks: list[Any], finish: str) -> None:
    assert assemble(events(*blocks, stop=stop))[0].finish == finish


@pytest.mark.parametrize(
    ("stop", "kind", "words"),
    [
        ("end_turn", EmptyReplyError, "after thinking without text"),
        ("max_tokens", ModelError, "output limit after thinking"),
        ("refusal", ModelError, "content filter"),
    ],
)
def test_a_reply_without_text_and_calls_says_why(
    stop: str, kind: type[ModelError], words: str
) -> None:
    with pytest.raises(kind, match=words):
        assemble(events(THOUGHT, stop=stop))


def test_a_call_without_arguments_has_none_and_broken_ones_stay_as_written() -> None:
    empty = {**CALL, "input": ""}
    broken = {**CALL, "id": "toolu_2", "input": '{"a": [1, 2'}
    calls = assemble(events(empty, broken, stop="tool_use"))[0].message.tool_calls
    assert calls == (ToolCall("toolu_1", "f", "{}"), ToolCall("toolu_2", "f", '{"a": [1, 2'))


def test_cached_input_counts_as_input() -> None:
    data = events(
        {"type": "text", "text": "Hi"},
        input_tokens=10,
        cache_read_input_tokens=90,
        cache_creation_input_tokens=5,
    )
    counted = assemble(data)[0].usage
    assert counted == Usage(105, 7, cached_tokens=90)


def test_thoughts_keep_their_place_between_text_and_calls() -> None:
    redacted = {"type": "redacted_thinking", "data": "b3BhcXVl"}
    completion = assemble(
        events(THOUGHT, {"type": "text", "text": "Look."}, redacted, CALL, stop="tool_use")
    )[0]
    kept = [t.block for t in completion.message.thinking]
    assert kept == [{"at": [0, 0], "block": THOUGHT}, {"at": [5, 0], "block": redacted}]


def test_a_cut_keeps_what_came_and_no_unsigned_thought() -> None:
    data = events(THOUGHT, {"type": "text", "text": "So far"}, stop=None)
    with pytest.raises(StreamCutError) as caught:
        assemble(data)
    assert caught.value.partial
    assert caught.value.partial.content == "So far"
    cut = events(THOUGHT, stop=None)
    cut = cut[: cut.rindex(b"event: content_block_delta")]
    with pytest.raises(StreamCutError) as caught:
        assemble(cut)
    assert caught.value.partial
    assert caught.value.partial.thinking == ()


def test_a_block_that_was_never_opened_is_not_lost() -> None:
    data = events({"type": "text", "text": "Hi"})
    start = data.index(b"event: content_block_start")
    assert assemble(data[:start] + data[data.index(b"event: content_block_delta") :])[1] == "Hi"


def test_a_reply_that_is_not_streamed_is_understood() -> None:
    message = {
        "type": "message",
        "content": [THOUGHT, {"type": "text", "text": "Hi"}, CALL],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
    completion, text, thought = assemble(f"data: {json.dumps(message)}\n\n".encode())
    assert (text, thought, completion.usage) == ("Hi", "hm", Usage(3, 4))
    assert completion.message.tool_calls == (ToolCall("toolu_1", "f", '{"a": 1}'),)
    assert blocks_of(completion) == [THOUGHT]
