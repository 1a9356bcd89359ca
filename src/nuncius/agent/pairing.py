"""The pairing invariant: each call is answered once, in call order, before anything else is said.

`repair` is a pure function of the messages; `PairedHistory` is the same rule applied message by
message, so a turn costs the same however long its session has grown. The journal is never touched:
what is repaired is the view that a model gets.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from nuncius.core.messages import Message, ToolCall
from nuncius.core.text import clean

ID_LENGTH = 40
"""The longest call id that every provider takes."""
SAFE_ID = re.compile(rf"[A-Za-z0-9_-]{{1,{ID_LENGTH}}}")
SAFE_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
NO_RESULT = (
    "No result: the call was cut off before it ended. It may have had effects; look before you"
    " call it again."
)
"""What stands in for a result that never came; constant, so that prompt caches stay valid."""
NO_TEXT = "(empty)"


def repair(messages: Iterable[Message]) -> Sequence[Message]:
    """Return the messages as a strict provider takes them.

    Calls get unique safe ids, safe names and a JSON object as arguments. A missing result is
    made up, a second one or one without a call is dropped, and results stand in call order. A call
    is never removed: the user's next message depends on the turn that made it. Neighbours of one
    role are joined, and a system message in the middle speaks as the user.
    """
    history = PairedHistory()
    for message in messages:
        history.add(message)
    return history.view()


class PairedHistory:
    """A conversation that can be sent at any time, grown one message at a time."""

    def __init__(self) -> None:
        self._settled: list[Message] = []
        self._open = _OpenCalls()
        self.ids: set[str] = set()
        """Every call id of the conversation, as sent."""

    def __len__(self) -> int:
        return len(self._settled)

    def add(self, message: Message) -> None:
        """Take the next message of the journal, whatever it is."""
        if message.role == "tool":
            self._open.answer(message)
            if self._open.calls and not self._open.missing:
                self._close()
            return
        self._close()
        message = _speakable(message)
        if message.role == "assistant":
            self._add_assistant(message)
        elif message.role == "system" and all(m.role == "system" for m in self._settled):
            if message.content:
                self._append(message)
        else:
            self._append(replace(message, role="user", content=message.content or NO_TEXT))

    def view(self) -> tuple[Message, ...]:
        """Return the whole conversation; calls without a result get a made-up one."""
        return (*self._settled, *self._open.results())

    def _add_assistant(self, message: Message) -> None:
        if not message.content and not message.tool_calls:
            return
        if message.tool_calls:
            calls = tuple(self._safe(call) for call in message.tool_calls)
            self._open = _OpenCalls(message.tool_calls, calls)
            message = replace(message, tool_calls=calls)
        self._append(message)

    def _append(self, message: Message) -> None:
        last = self._settled[-1] if self._settled else None
        if last and last.role == message.role and not last.tool_calls:
            message = replace(
                message,
                content="\n\n".join(filter(None, (last.content, message.content))),
                thinking=last.thinking + message.thinking,
            )
            self._settled.pop()
        self._settled.append(message)

    def _close(self) -> None:
        self._settled.extend(self._open.results())
        self._open = _OpenCalls()

    def _safe(self, call: ToolCall) -> ToolCall:
        """Return the call with an id not used before, a plain name and an object as arguments."""
        call_id = unique_id(call.id, self.ids.__contains__, fallback=f"call_{len(self.ids)}")
        self.ids.add(call_id)
        return replace(
            call, id=call_id, name=safe_name(call.name), arguments=object_text(call.arguments)
        )


class _OpenCalls:
    """The calls of the last assistant message and the answers that came so far."""

    def __init__(self, raw: Sequence[ToolCall] = (), calls: Sequence[ToolCall] = ()) -> None:
        self.calls = calls
        self.missing = len(calls)
        self._answers: list[Message | None] = [None] * len(calls)
        self._waiting: dict[str, list[int]] = {}
        for index, call in reversed(list(enumerate(raw))):
            self._waiting.setdefault(call.id, []).append(index)

    def answer(self, message: Message) -> None:
        """Keep the first answer to each call; two calls that share an id are answered in turn."""
        indexes = self._waiting.get(message.tool_call_id)
        if indexes:
            self._answers[indexes.pop()] = message
            self.missing -= 1

    def results(self) -> list[Message]:
        """Return one result for each call, in call order."""
        return [
            Message(
                role="tool",
                content=(clean(answer.content) or NO_TEXT) if answer else NO_RESULT,
                tool_call_id=call.id,
                name=call.name,
                is_error=answer.is_error if answer else True,
            )
            for call, answer in zip(self.calls, self._answers, strict=True)
        ]


def unique_id(wanted: str, used: Callable[[str], bool], *, fallback: str) -> str:
    """Return `wanted` where it is safe and unused, else `fallback`, with a number if need be."""
    if SAFE_ID.fullmatch(wanted) and not used(wanted):
        return wanted
    candidate, number = fallback, 2
    while used(candidate):
        candidate, number = f"{fallback}_{number}", number + 1
    return candidate


def safe_name(name: str) -> str:
    """Return `name` with only the characters that providers take in the name of a tool."""
    return name if SAFE_NAME.fullmatch(name) else re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "_"


def object_text(arguments: str) -> str:
    """Return `arguments` if it is the text of one clean JSON object, else ``{}``."""
    if arguments == "{}":
        return arguments
    try:
        parsed = json.loads(arguments, parse_constant=_refuse)
        text = json.dumps(parsed, ensure_ascii=False) if isinstance(parsed, dict) else "{}"
    except (ValueError, RecursionError):
        return "{}"
    return arguments if text != "{}" and is_clean(text) and is_clean(arguments) else "{}"


def is_clean(text: str) -> bool:
    """Tell whether `text` can be written as UTF-8: it holds no lone surrogate."""
    return _SURROGATE.search(text) is None


_SURROGATE = re.compile("[\ud800-\udfff]")


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _speakable(message: Message) -> Message:
    """Return the message without what no JSON request can carry."""
    content = clean(message.content)
    return message if content == message.content else replace(message, content=content)
