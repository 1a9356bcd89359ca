"""A conversation as text: where it may be cut, what a summary is made of, what stands for an output."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence

from nuncius.agent.context import Size, clip, measure
from nuncius.agent.conversation import Conversation
from nuncius.agent.registry import AnyTool
from nuncius.core.messages import Message, ToolCall

NOTE = "[Older messages gave way to the summary above. Go on from there.]"
OUTPUT_CHARACTERS = 2_000
"""Of one tool output in what a summary is made of."""
TEXT_CHARACTERS = 8_000
_STUB = "[Left out here to save room: "
ARGUMENT_CHARACTERS = 400


def groups(messages: Sequence[Message]) -> list[int]:
    """Return where a cut is possible: before each message that is no result of a call."""
    return [at for at, message in enumerate(messages) if message.role != "tool"]


def transcript(
    conversation: Conversation, cut: int, focus: str, fits: Callable[[Size], bool]
) -> str:
    """Return what the model is asked to summarise: all before `cut`, the oldest left out if need be.

    Reasoning is not in it, long outputs are cut, and lines between the messages carry a digest of
    the whole, so no text can pretend to be another message.
    """
    entries = [
        _entry(message)
        for at, message in enumerate(conversation.messages[:cut])
        if message.content != NOTE and not (at < conversation.head and message.role == "assistant")
    ]
    ask = "Write down where this conversation stands."
    if focus:
        ask += f" Keep above all what concerns: {clip(focus, 2_000)}"
    if conversation.summary:
        ask += f"\n\nEarlier summary, of what came before:\n{conversation.summary}"
    kept: list[str] = []
    size = measure(ask)
    for name, text in reversed(entries):
        size += measure(name) + measure(text)
        if kept and not fits(size):
            kept.append(f"[{len(entries) - len(kept)} older messages are left out here]\n")
            break
        kept.append(f"{name}\n{text}\n")
    body = "".join(kept)
    mark = hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()[:8]
    parts = [ask, *(f"=== {mark} {entry}" for entry in reversed(kept)), f"=== {mark} end"]
    return "\n\n".join(parts)


def _entry(message: Message) -> tuple[str, str]:
    """Return who speaks, and what."""
    if message.role == "tool":
        failed = " (failed)" if message.is_error else ""
        return f"result of {message.name}{failed}", clip(message.content, OUTPUT_CHARACTERS)
    lines = [clip(message.content, TEXT_CHARACTERS)] if message.content else []
    lines += [
        f"calls {call.name} {clip(call.arguments, ARGUMENT_CHARACTERS)}"
        for call in message.tool_calls
    ]
    return message.role, "\n".join(lines)


def outline(conversation: Conversation, cut: int) -> str:
    """Return what stands for a summary where the model gave none: what was called, and how often."""
    calls = Counter(
        f"{call.name} {clip(call.arguments, 120)}"
        for message in conversation.messages[:cut]
        for call in message.tool_calls
    )
    shown = [
        f"- {call}" + (f" ({count} times)" if count > 1 else "") for call, count in calls.items()
    ]
    left_out = f"{cut - conversation.head} older messages were dropped; no summary could be made."
    parts = [clip(conversation.summary, TEXT_CHARACTERS), left_out]
    if shown:
        parts.append("Calls among them:\n" + "\n".join(shown[-30:]))
    return "\n\n".join(part for part in parts if part)


def placeholder(
    message: Message, call: ToolCall | None, tool: AnyTool | None, *, path: str = ""
) -> str:
    """Return the stub of an output: what it was, and how to get it again.

    Args:
        path: The file that holds it whole; empty: there is none.
    """
    arguments = clip(call.arguments, 200, " … ") if call else ""
    if path:
        again = f"It is kept: read_file(path={json.dumps(path, ensure_ascii=False)})."
    elif tool is not None and tool.read_only:
        again = "The same call gives it again."
    else:
        again = "The call was done: do not repeat it only to see this again."
    return (
        f"{_STUB}{len(message.content):,} characters that {message.name} {arguments} gave. {again}]"
    )


def is_placeholder(content: str) -> bool:
    """Tell whether an output is left out already."""
    return content.startswith(_STUB)
