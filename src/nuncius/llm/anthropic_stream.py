"""Assembles one reply from the events of an Anthropic messages stream. Pure: no time, no network.

A reply is a list of content blocks. Text and the client's tool calls become the message; blocks of
thinking are kept byte for byte, because they are signed, with the place where they stood. Blocks of
the server's own tools are no calls of ours: they only go back where the server paused its turn.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nuncius.core.errors import ModelError, NunciusError
from nuncius.core.messages import Message, Thinking, ToolCall, Usage
from nuncius.core.shapes import as_list, as_object, is_object
from nuncius.llm.accumulate import MAX_CALLS, MAX_CHARACTERS, join_surrogates
from nuncius.llm.faults import Origin, empty_reply, payload_error
from nuncius.llm.model import Completion, FinishReason, ModelChunk, TextChunk, ThinkingChunk

THINKING = frozenset({"thinking", "redacted_thinking"})
_FINISH: Mapping[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "length",
    "refusal": "content_filter",
}
_DELTAS: Mapping[str, tuple[str, str, str]] = {
    # type of a delta: the kind of its block, the field that grows, where the piece is
    "text_delta": ("text", "text", "text"),
    "thinking_delta": ("thinking", "thinking", "thinking"),
    "signature_delta": ("thinking", "signature", "signature"),
    "input_json_delta": ("tool_use", "input", "partial_json"),
}


@dataclass(slots=True)
class _Block:
    """One content block in the making.

    Attributes:
        index: Its number in its stream.
        fields: What `content_block_start` said.
        parts: What the deltas added, by field.
        lead: What parts it from text before it, where it is text.
    """

    index: Any
    fields: dict[str, Any]
    parts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    lead: str = ""
    closed: bool = False

    @property
    def kind(self) -> str:
        return str(self.fields.get("type") or "")

    def text(self, name: str = "text") -> str:
        start = self.fields.get(name)
        added = "".join(self.parts.get(name, ()))
        return join_surrogates((start if isinstance(start, str) else "") + added)

    @property
    def arguments(self) -> str:
        """A call's arguments as the model wrote them; ``{}`` where it wrote none."""
        written = join_surrogates("".join(self.parts.get("input", ())))
        return written or json.dumps(as_object(self.fields.get("input")), ensure_ascii=False)

    def whole(self) -> dict[str, Any]:
        """Return the block as it would have come unstreamed: what is sent back."""
        out = dict(self.fields)
        out.update({name: self.text(name) for name in self.parts if name != "input"})
        if "input" in self.parts:
            out["input"] = _object(self.arguments)
        return out


class BlockAssembly:
    """One reply in the making; after a pause the server's next stream goes on with it."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._blocks: list[_Block] = []
        self._first = 0
        self._size = 0
        self._counts: dict[str, Any] = {}
        self._before = Usage()
        self.stop_reason: str | None = None
        self.ended = False

    @property
    def ending(self) -> bool:
        """Whether the stop reason has come."""
        return self.stop_reason is not None

    @property
    def paused(self) -> bool:
        """Whether the server wants its blocks back to go on."""
        return self.stop_reason == "pause_turn"

    def resume(self) -> list[dict[str, Any]]:
        """Return the blocks that came, to be sent back; the next stream goes on after them."""
        self._before += read_usage(self._counts)
        self._first, self._counts = len(self._blocks), {}
        self.stop_reason, self.ended = None, False
        kept = [b for b in self._blocks if b.kind != "text" or b.text().strip()]
        return [block.whole() for block in kept]

    def knows(self, value: Any) -> bool:
        """Tell whether this object belongs to the protocol at all."""
        kind = str(as_object(value).get("type") or "")
        return kind == "message" or kind.startswith(("message_", "content_block_"))

    def add(self, value: Any) -> list[ModelChunk]:
        """Take one decoded event and return what a reader can be shown of it.

        Raises:
            NunciusError: The event tells of an error; `partial` holds what came before.
        """
        if not is_object(value):
            return []
        match value.get("type"):
            case "error":
                error = value.get("error") or value
                raise self.failed(payload_error(self._origin, error))
            case "message_start":
                self._count(as_object(value.get("message")).get("usage"))
            case "content_block_start":
                return self._open(value.get("index"), as_object(value.get("content_block")))
            case "content_block_delta":
                return self._delta(value.get("index"), as_object(value.get("delta")))
            case "content_block_stop":
                self._at(value.get("index"), "").closed = True
            case "message_delta":
                self._count(value.get("usage"))
                self._stop(as_object(value.get("delta")))
            case "message_stop":
                self.ended = True
            case "message":
                return self._whole(value)
            case _:
                if value.get("error"):
                    raise self.failed(payload_error(self._origin, value["error"]))
        return []

    def failed(self, error: NunciusError) -> NunciusError:
        """Return `error` with what had come before it."""
        if isinstance(error, ModelError):
            error.partial = self._message()
        return error

    def finish(self, *, done: bool) -> tuple[list[ModelChunk], Completion]:
        """Return the whole reply.

        Raises:
            StreamCutError: Neither a stop reason nor ``message_stop`` came.
            EmptyReplyError: The model ended without text and without calls.
        """
        if not done and self.stop_reason is None:
            raise self.failed(self._origin.cut("the stream ended before the reply did"))
        message = self._message()
        finish = _FINISH.get(self.stop_reason or "", "stop")
        if finish in {"stop", "tool_calls"}:
            finish = "tool_calls" if message.tool_calls else "stop"
        if not message.content.strip() and not message.tool_calls and not self.paused:
            raise self._empty(finish)
        return [], Completion(message, finish, self._before + read_usage(self._counts))

    # --- events ---

    def _open(self, index: Any, fields: dict[str, Any]) -> list[ModelChunk]:
        """Begin a block and return what it brings already."""
        block = self._new(index, fields)
        kind = block.kind
        start = fields.get(kind)
        if kind not in {"text", "thinking"} or not isinstance(start, str) or not start:
            return []
        fields[kind] = ""
        return self._grow(block, kind, start)

    def _new(self, index: Any, fields: dict[str, Any]) -> _Block:
        block = _Block(index, fields)
        if block.kind == "text":
            before = self._message().content
            # Text goes on after a server's tool; it does not run into what stood before.
            block.lead = "\n\n" if before and not before[-1].isspace() else ""
        self._blocks.append(block)
        if len(self._blocks) > MAX_CALLS:
            raise self.failed(self._origin.error(f"more than {MAX_CALLS:,} parts in one reply"))
        return block

    def _at(self, index: Any, kind: str) -> _Block:
        """Return the block at `index` of this stream; one of `kind` where none was opened."""
        for block in reversed(self._blocks[self._first :]):
            if block.index == index:
                return block
        return self._new(index, {"type": kind})

    def _delta(self, index: Any, delta: Mapping[str, Any]) -> list[ModelChunk]:
        kind = str(delta.get("type") or "")
        if kind not in _DELTAS:
            return []  # citations and what else may come: nothing of it goes back
        block_kind, name, source = _DELTAS[kind]
        piece = delta.get(source)
        block = self._at(index, block_kind)
        return self._grow(block, name, piece) if isinstance(piece, str) else []

    def _grow(self, block: _Block, name: str, piece: str) -> list[ModelChunk]:
        """Add a piece to a block and return what a reader can be shown of it."""
        first = not any(block.parts.get(name, ()))
        block.parts.setdefault(name, []).append(piece)
        self._size += len(piece)
        if self._size > MAX_CHARACTERS:
            raise self.failed(self._origin.error("the reply grew over 8 MB and was stopped"))
        if not piece:
            return []
        if name == "text":
            return [TextChunk(block.lead + piece if first else piece)]
        return [ThinkingChunk(piece)] if name == "thinking" else []

    def _stop(self, delta: Mapping[str, Any]) -> None:
        if isinstance(reason := delta.get("stop_reason"), str) and reason:
            self.stop_reason = reason

    def _count(self, usage: Any) -> None:
        """Take counts; later ones replace earlier ones, which they include."""
        self._counts.update({k: v for k, v in as_object(usage).items() if v is not None})

    def _whole(self, message: Mapping[str, Any]) -> list[ModelChunk]:
        """Take a reply that was not streamed."""
        shown: list[ModelChunk] = []
        for index, fields in enumerate(as_list(message.get("content"))):
            if is_object(fields):
                shown += self._open(index, dict(fields))
                self._blocks[-1].closed = True
        self._count(message.get("usage"))
        self._stop(message)
        self.ended = True
        return shown

    # --- the end ---

    def _message(self) -> Message:
        text = ""
        calls: list[ToolCall] = []
        thinking: list[Thinking] = []
        for block in self._blocks:
            if block.kind == "text" and (said := block.text()):
                text += block.lead + said
            elif block.kind == "tool_use":
                name, call_id = block.fields.get("name"), block.fields.get("id")
                calls.append(
                    ToolCall(
                        call_id if isinstance(call_id, str) else "",
                        name if isinstance(name, str) else "",
                        block.arguments,
                    )
                )
            elif block.kind in THINKING and block.closed:
                kept = {"at": [len(text), len(calls)], "block": block.whole()}
                thinking.append(Thinking(self._origin.service, block.text("thinking"), kept))
        return Message("assistant", text, tuple(calls), thinking=tuple(thinking))

    def _empty(self, finish: FinishReason) -> NunciusError:
        thought = any(block.kind in THINKING for block in self._blocks)
        return empty_reply(self._origin, finish, thought=thought)


def read_usage(counts: Mapping[str, Any]) -> Usage:
    """Return the tokens that the server counted; it counts cached input apart."""

    def count(name: str) -> int:
        value = counts.get(name)
        return value if isinstance(value, int) and value > 0 else 0

    cached = count("cache_read_input_tokens")
    return Usage(
        input_tokens=count("input_tokens") + cached + count("cache_creation_input_tokens"),
        output_tokens=count("output_tokens"),
        cached_tokens=cached,
    )


def _object(text: str) -> dict[str, Any]:
    try:
        return as_object(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return {}
