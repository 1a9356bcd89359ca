"""Assembles one reply from the chunks of an OpenAI-style stream. Pure: no time, no network.

Servers that call themselves compatible differ in how they tell which call a piece belongs to; the
rules are on `_Calls.find`. What a model wrote is kept as it is: the executor judges names, ids and
arguments, not this module.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from nuncius.core.errors import ModelError, NunciusError
from nuncius.core.messages import Message, Thinking, ToolCall, Usage
from nuncius.core.shapes import as_list, as_object, is_list, is_object
from nuncius.llm.faults import Origin, empty_reply, payload_error
from nuncius.llm.model import (
    Completion,
    FinishReason,
    ModelChunk,
    TextChunk,
    ThinkingChunk,
)
from nuncius.llm.think import ThinkSplitter

MAX_CALLS = 4_096
MAX_CHARACTERS = 8_000_000
_FINISH: Mapping[str, FinishReason] = {
    "stop": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
}


class Accumulator:
    """One reply in the making.

    Args:
        max_output_tokens: The limit that was asked for; a reply that reached it with arguments that
            are no JSON was cut, whatever the finish reason says.
    """

    def __init__(self, origin: Origin, *, max_output_tokens: int | None = None) -> None:
        self._origin = origin
        self._limit = max_output_tokens
        self._splitter = ThinkSplitter()
        self._calls = _Calls()
        self._text: list[str] = []
        self._thought: list[str] = []
        self._details: list[Any] = []
        self._field = ""
        self._size = 0
        self._usage = Usage()
        self._halves = ""
        self.finish_reason: str | None = None

    @property
    def ending(self) -> bool:
        """Whether the finish reason has come; usage may follow."""
        return self.finish_reason is not None

    @property
    def ended(self) -> bool:
        """Never known by itself: ``[DONE]`` or the end of the stream tells."""
        return False

    def knows(self, value: Any) -> bool:
        """Tell whether this object belongs to the protocol at all."""
        return "choices" in as_object(value)

    def add(self, value: Any) -> list[ModelChunk]:
        """Take one decoded chunk and return what a reader can be shown of it.

        Raises:
            NunciusError: The chunk tells of an error; `partial` holds what came before.
        """
        if not is_object(value):
            return []
        error = value.get("error")
        if not error and value.get("object") == "error":
            error = value
        if error:
            raise self.failed(payload_error(self._origin, error))
        self._take_usage(value)
        shown: list[ModelChunk] = []
        for choice in as_list(value.get("choices")):
            if is_object(choice) and choice.get("index") in (None, 0):
                shown += self._take_choice(choice)
        return shown

    def failed(self, error: NunciusError) -> NunciusError:
        """Return `error` with what had come before it."""
        if isinstance(error, ModelError):
            error.partial = self._message(close=False)
        return error

    def finish(self, *, done: bool) -> tuple[list[ModelChunk], Completion]:
        """Return the last pieces and the whole reply.

        Args:
            done: Whether the stream said ``[DONE]``.

        Raises:
            ModelError: The finish reason is an error.
            StreamCutError: Neither ``[DONE]`` nor a finish reason came.
            EmptyReplyError: The model ended without text and without calls.
        """
        if not done and self.finish_reason is None:
            raise self.failed(self._origin.cut("the stream ended before the reply did"))
        if self.finish_reason == "error":
            raise self.failed(self._origin.error("the reply ended in an error", retryable=True))
        rest = self._show(self._splitter.close())
        message = self._message(close=True)
        finish = self._finish(message)
        if not message.content.strip() and not message.tool_calls:
            raise empty_reply(self._origin, finish, thought=bool(self._thought))
        return rest, Completion(message, finish, self._usage)

    # --- one choice ---

    def _take_choice(self, choice: Mapping[str, Any]) -> list[ModelChunk]:
        if isinstance(reason := choice.get("finish_reason"), str) and reason:
            self.finish_reason = reason
        delta = as_object(choice.get("delta") or choice.get("message"))
        shown: list[ModelChunk] = []
        if thought := self._reasoning(delta):
            shown += self._show([(True, thought)])
        for thinking, text in _content(delta.get("content")):
            pieces = [(True, text)] if thinking else self._splitter.feed(self._whole(text))
            shown += self._show(pieces)
        if isinstance(refusal := delta.get("refusal"), str):
            shown += self._show([(False, refusal)])
        if "text" in choice and not delta:  # a plain completion server
            shown += self._show(self._splitter.feed(str(choice["text"] or "")))
        self._take_calls(delta)
        return shown

    def _take_calls(self, delta: Mapping[str, Any]) -> None:
        calls = delta.get("tool_calls")
        for call in [calls] if is_object(calls) else as_list(calls):
            self._grow(self._calls.add(as_object(call)))
        if is_object(legacy := delta.get("function_call")):
            self._grow(self._calls.add({"index": "legacy", "function": legacy}))
        if len(self._calls.slots) > MAX_CALLS:
            raise self.failed(self._origin.error(f"more than {MAX_CALLS:,} calls in one reply"))

    def _reasoning(self, delta: Mapping[str, Any]) -> str:
        """Return the reasoning of a delta; servers that send two fields send the same twice."""
        details = as_list(delta.get("reasoning_details"))
        self._details += details
        for name in ("reasoning_content", "reasoning", "thinking"):
            if isinstance(text := delta.get(name), str) and text:
                self._field = self._field or name
                return text
        parts = [
            str(detail.get("text") or detail.get("summary") or "")
            for detail in details
            if is_object(detail)
        ]
        return "".join(parts)

    def _whole(self, text: str) -> str:
        """Join halves of a surrogate pair that two deltas share."""
        text = self._halves + text
        self._halves = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._halves, text = text[-1], text[:-1]
        return join_surrogates(text)

    def _show(self, pieces: Iterable[tuple[bool, str]]) -> list[ModelChunk]:
        shown: list[ModelChunk] = []
        for thinking, text in pieces:
            if not text:
                continue
            (self._thought if thinking else self._text).append(text)
            shown.append(ThinkingChunk(text) if thinking else TextChunk(text))
            self._grow(len(text))
        return shown

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > MAX_CHARACTERS:
            raise self.failed(self._origin.error("the reply grew over 8 MB and was stopped"))

    def _take_usage(self, chunk: Mapping[str, Any]) -> None:
        usage = as_object(chunk.get("usage")) or as_object(
            as_object(chunk.get("x_groq")).get("usage")
        )
        if usage:
            self._usage = read_usage(usage)

    # --- the end ---

    def _message(self, *, close: bool) -> Message:
        thought, text = "".join(self._thought), "".join(self._text)
        tag = _LONE_CLOSE.search(text) if close and not self._splitter.opened else None
        if tag and "<think>" not in text[: tag.start()]:
            # Some templates swallow the opening tag: what stands before the closing one is thought.
            thought, text = thought + text[: tag.start()], text[tag.end() :]
        thinking = (
            (Thinking(self._origin.service, thought, self._block(thought)),)
            if thought or self._details or self._calls.signatures()
            else ()
        )
        return Message(
            "assistant", text.strip("\n"), tuple(self._calls.result()), thinking=thinking
        )

    def _block(self, thought: str) -> Mapping[str, Any] | None:
        block: dict[str, Any] = {}
        if self._details:
            block["reasoning_details"] = self._details
        elif self._field:
            block[self._field] = thought
        if signatures := self._calls.signatures():
            block["signatures"] = signatures
        return block or None

    def _finish(self, message: Message) -> FinishReason:
        finish = _FINISH.get(self.finish_reason or "", "stop")
        if not message.tool_calls or finish in {"length", "content_filter"}:
            return finish if finish != "tool_calls" or message.tool_calls else "stop"
        at_limit = self._limit is not None and self._usage.output_tokens >= self._limit
        if at_limit and not _is_json(message.tool_calls[-1].arguments):
            return "length"
        return "tool_calls"


class _Slot:
    """One call in the making."""

    def __init__(self, call_id: str, index: object, name: str) -> None:
        self.id = call_id
        self.index = index
        self.name = name
        self.parts: list[str] = []
        self.extra: Any = None
        self.said = False
        self._depth = 0
        self._quoted = False
        self._escaped = False
        self._closed = False
        self.doubtful = False
        """Opened by a repeated head without arguments: it may be the call before, told again."""

    @property
    def text(self) -> str:
        return "".join(self.parts)

    @property
    def complete(self) -> bool:
        """Tell whether the arguments are whole, so that a name can only begin another call."""
        if not self.parts or self._depth or self._quoted:
            return False
        return self._closed or _is_json(self.text)

    def append(self, text: str) -> None:
        """Add a piece, keeping track of braces: pieces are many and must not be read again."""
        if text:
            self.parts.append(text)
        for character in text:
            if self._escaped:
                self._escaped = False
            elif self._quoted:
                self._escaped = character == "\\"
                self._quoted = character != '"'
            elif character == '"':
                self._quoted = True
            elif character in "{[":
                self._depth += 1
            elif character in "}]":
                self._depth -= 1
                self._closed = self._depth == 0


class _Calls:
    """The calls of one reply, in the order in which they began."""

    def __init__(self) -> None:
        self.slots: list[_Slot] = []

    def add(self, call: Mapping[str, Any]) -> int:
        """Put one delta where it belongs; return how much the reply grew."""
        fields = as_object(call.get("function")) or call
        name = _word(fields.get("name"))
        call_id = _word(call.get("id"))
        arguments = fields.get("arguments")
        slot = self.find(call_id, call.get("index"), name, has_arguments=bool(arguments))
        slot.name = slot.name or name
        slot.id = slot.id or call_id
        if slot.index is None:
            slot.index = call.get("index")
        slot.extra = slot.extra or call.get("extra_content")
        if arguments is None:
            return 0
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        if not isinstance(arguments, str) and slot.complete and slot.text == text:
            return 0
        slot.said = True
        slot.append(text)
        return len(text)

    def find(self, call_id: str, index: object, name: str, *, has_arguments: bool) -> _Slot:
        """Return the slot of a delta, a new one where it begins a call.

        1. A known id with the same index, or none, is that call, unless the call is complete and
           is named again. Under another index it is another call.
        2. A new id is a new call whatever its index, unless it goes on with a call at that index
           that is unfinished, without a name of its own: some servers give each piece an id.
        3. Without an id the index decides, and without both it is the last call.
        4. Without an id, a name after a complete call begins the next one; some servers give all
           calls the index 0.
        """
        slot = self._known(call_id, index, name) if call_id else self._placed(index, name)
        if slot is None or (name and slot.complete):
            again = slot is not None and slot.name == name and bool(call_id)
            fresh = _Slot(call_id, index, name)
            fresh.doubtful = again and not has_arguments
            self.slots.append(fresh)
            return fresh
        return slot

    def _known(self, call_id: str, index: object, name: str) -> _Slot | None:
        for slot in reversed(self.slots):
            if slot.id == call_id and (index is None or slot.index in {None, index}):
                return slot
        placed = self._placed(index, "") if index is not None else None
        if placed is None or placed.complete or placed.index != index:
            return None
        # An unfinished call at this index: an id that comes late, or one for each piece.
        return placed if not name or (not placed.id and name == placed.name) else None

    def _placed(self, index: object, name: str) -> _Slot | None:
        if not self.slots:
            return None
        last = self.slots[-1]
        if index is None:
            return None if name and name != last.name and not last.parts else last
        for slot in reversed(self.slots):
            if slot.index == index:
                return slot
        return last if last.index is None and not name and not last.complete else None

    def signatures(self) -> dict[str, Any]:
        """Return what hangs on calls beside them (Gemini's signatures), by the call's place."""
        kept = [slot for slot in self.slots if not slot.doubtful or slot.parts]
        return {str(at): slot.extra for at, slot in enumerate(kept) if slot.extra}

    def result(self) -> Iterable[ToolCall]:
        """Yield the calls. No arguments at all mean none; an empty text stays one."""
        for slot in self.slots:
            text = join_surrogates(slot.text)
            if slot.doubtful and not text:
                continue
            yield ToolCall(slot.id, slot.name, text if slot.said or not slot.name else "{}")


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Return the tokens that a server counted, whatever it calls them."""
    prompt = as_object(usage.get("prompt_tokens_details"))
    completion = as_object(usage.get("completion_tokens_details"))
    cost = usage.get("cost")
    return Usage(
        input_tokens=_count(usage.get("prompt_tokens", usage.get("input_tokens"))),
        output_tokens=_count(usage.get("completion_tokens", usage.get("output_tokens"))),
        cached_tokens=_count(prompt.get("cached_tokens", usage.get("prompt_cache_hit_tokens"))),
        reasoning_tokens=_count(completion.get("reasoning_tokens")),
        cost_usd=float(cost) if isinstance(cost, int | float) and cost >= 0 else None,
    )


def join_surrogates(text: str) -> str:
    """Join surrogate pairs that came as two halves; lone ones stay, to be judged."""
    if not _HALF.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


_LONE_CLOSE = re.compile(r"(?:^|\n)\s*</think>|</think>\s*\n")
"""A closing tag on a line of its own, or at the end of one: not one that an answer speaks of."""
_HALF = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def _content(content: Any) -> Iterable[tuple[bool, str]]:
    """Yield (is reasoning, text) for each part of a content, which may be text or a list."""
    if isinstance(content, str):
        yield False, content
    for part in as_list(content):
        if isinstance(part, str):
            yield False, part
        elif is_object(part):
            kind = str(part.get("type") or "text")
            if kind in {"thinking", "reasoning"}:
                inner = part.get("thinking", part.get("reasoning", part.get("text")))
                yield True, "".join(text for _, text in _content(inner))
            elif isinstance(text := part.get("text", part.get("refusal")), str):
                yield False, text


def _word(value: Any) -> str:
    """Return an id or a name as text; nothing where a server sends nothing."""
    return "" if value is None or is_object(value) or is_list(value) else str(value)


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True
