"""Messages and tools in the words of the Anthropic messages protocol.

The system prompt is a field of its own; all results of one message are one user message, in call
order; roles take turns. Signed blocks go back byte for byte to the model they came from, and to no
other.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nuncius.core.messages import Message, ToolDefinition
from nuncius.core.shapes import as_list, as_object, is_object
from nuncius.core.text import clean
from nuncius.llm.dialects import ThinkingForm, is_claude
from nuncius.llm.model import ModelRequest

MAX_TOKENS = 4096
LEAST_BUDGET = 1024
"""The smallest budget that the service takes, in tokens."""
BUDGET = 4096
EMPTY = "(empty)"
CACHED: Mapping[str, Any] = {"type": "ephemeral"}

Block = dict[str, Any]


def body(
    request: ModelRequest, *, model: str, service: str, form: ThinkingForm = "none"
) -> dict[str, Any]:
    """Return the request's JSON object.

    Args:
        form: How thinking is asked for; ``none`` where the request does not ask.
    """
    if form == "budget" and not opens_with_thinking(request.messages, service):
        # In this form the service refuses a turn that goes on without the thoughts it began with,
        # as after a change of the model.
        form = "none"
    limit = request.max_output_tokens or MAX_TOKENS
    out: dict[str, Any] = {"model": model, "stream": True}
    if form != "none":
        # Thoughts count as output: they come on top of what the reply may have.
        budget = max(LEAST_BUDGET, request.thinking_budget or BUDGET)
        limit += budget
        out["thinking"] = (
            {"type": "adaptive", "display": "summarized"}
            if form == "adaptive"
            else {"type": "enabled", "budget_tokens": budget}
        )
    elif not is_claude(model):
        out["thinking"] = {"type": "disabled"}  # others think unless told not to
    out["max_tokens"] = limit
    if system := "\n\n".join(_system(request.messages)):
        out["system"] = [{"type": "text", "text": system, "cache_control": CACHED}]
    out["messages"] = _messages(request.messages, service, thinks=form != "none")
    if request.tools:
        out["tools"] = [_tool(tool) for tool in request.tools]
    elif names := _called(request.messages):
        # Calls in the history want their tools declared, though none may be called now.
        out["tools"] = [_tool(ToolDefinition(name, "", {"type": "object"})) for name in names]
        out["tool_choice"] = {"type": "none"}
    return out


def opens_with_thinking(messages: Sequence[Message], service: str) -> bool:
    """Tell whether the turn under way, if it has made calls, began with thoughts of `service`."""
    opening: Message | None = None
    for message in reversed(messages):
        if message.role == "user":
            break
        if message.role == "assistant":
            opening = message
    if opening is None:
        return True
    return any(at[0] == 0 and at[1] == 0 for at, _ in _own_blocks(opening, service))


def _system(messages: Iterable[Message]) -> Iterable[str]:
    return (clean(m.content) for m in messages if m.role == "system" and m.content.strip())


def _called(messages: Iterable[Message]) -> Sequence[str]:
    return sorted({call.name for message in messages for call in message.tool_calls})


def _tool(tool: ToolDefinition) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": {"type": "object", **tool.parameters},
    }


def _messages(messages: Iterable[Message], service: str, *, thinks: bool) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        if not out and role == "assistant":
            out.append({"role": "user", "content": [_text(EMPTY)]})
        blocks = _blocks(message, service, thinks=thinks)
        if out and out[-1]["role"] == role:
            out[-1]["content"] += blocks
        else:
            out.append({"role": role, "content": blocks})
    if out and out[-1]["role"] == "user":
        out[-1]["content"][-1] = {**out[-1]["content"][-1], "cache_control": CACHED}
    return out


def _blocks(message: Message, service: str, *, thinks: bool) -> list[Block]:
    if message.role == "assistant":
        return _assistant(message, service, thinks=thinks) or [_text(EMPTY)]
    if message.role != "tool":
        return [_text(message.content)]
    result: Block = {
        "type": "tool_result",
        "tool_use_id": message.tool_call_id,
        "content": clean(message.content) or EMPTY,
    }
    return [{**result, "is_error": True} if message.is_error else result]


def _assistant(message: Message, service: str, *, thinks: bool) -> list[Block]:
    """Return an assistant's blocks, those of thinking where they stood."""
    text = clean(message.content)
    blocks: list[Block] = []
    said = called = 0
    own = _own_blocks(message, service) if thinks else []
    for at, block in (*own, ((len(text), len(message.tool_calls)), None)):
        upto = max(said, min(at[0], len(text)))
        if text[said:upto].strip():
            blocks.append(_text(text[said:upto].strip("\n")))
        for call in message.tool_calls[called : at[1]]:
            arguments = as_object(json.loads(call.arguments or "{}"))
            blocks.append(
                {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}
            )
        said, called = upto, max(called, at[1])
        if block is not None:
            blocks.append(block)
    return blocks


def _own_blocks(message: Message, service: str) -> list[tuple[tuple[int, int], Block]]:
    """Return the blocks that `service` gave, unchanged, each with its place.

    The place is how many characters of text and how many calls came before.
    """
    found: list[tuple[tuple[int, int], Block]] = []
    for thinking in message.thinking:
        kept = as_object(thinking.block)
        if thinking.provider != service or not is_object(kept.get("block")):
            continue
        at = [n for n in as_list(kept.get("at")) if isinstance(n, int)]
        found.append(((at[0], at[1]) if len(at) == 2 else (0, 0), kept["block"]))
    return found


def _text(text: str) -> Block:
    text = clean(text)
    return {"type": "text", "text": text if text.strip() else EMPTY}
