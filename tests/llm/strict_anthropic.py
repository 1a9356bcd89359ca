"""A server on loopback that speaks the Anthropic protocol and refuses what the real one refuses."""

import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from typing_extensions import override

from llm.strict_provider import Answer, Step, StrictProvider
from nuncius.core.shapes import as_list, as_object, is_list

ID = re.compile(r"[A-Za-z0-9_-]+")
NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")
SIGNED = frozenset({"thinking", "redacted_thinking"})


def faults(request: Mapping[str, Any]) -> list[str]:
    """Return what the service would refuse in this request."""
    found: list[str] = []
    if not isinstance(request.get("max_tokens"), int) or request["max_tokens"] < 1:
        found.append("max_tokens: field required")
    found += _thinking(request)
    system = request.get("system")
    if system is not None and not (isinstance(system, str) or _texts(system)):
        found.append("system: no text")
    tools = {str(as_object(tool).get("name")) for tool in as_list(request.get("tools"))}
    for tool in as_list(request.get("tools")):
        if not NAME.fullmatch(str(tool.get("name"))):
            found.append(f"tools: bad name {tool.get('name')!r}")
        if as_object(tool.get("input_schema")).get("type") != "object":
            found.append(f"tools.{tool.get('name')}.input_schema.type: field required")
    messages = as_list(request.get("messages"))
    found += _conversation(messages)
    if _calls(messages) and not tools:
        found.append("tools: field required where messages hold tool_use blocks")
    return found


def _thinking(request: Mapping[str, Any]) -> list[str]:
    thinking = as_object(request.get("thinking"))
    kind = thinking.get("type")
    if kind not in {None, "enabled", "disabled", "adaptive"}:
        return [f"thinking.type: {kind!r}"]
    if kind == "enabled":
        budget = thinking.get("budget_tokens")
        if not isinstance(budget, int) or budget < 1024:
            return ["thinking.enabled.budget_tokens: at least 1024"]
        if budget >= request.get("max_tokens", 0):
            return ["max_tokens must be greater than thinking.budget_tokens"]
        return _opening(as_list(request.get("messages")))
    if kind == "adaptive" and "budget_tokens" in thinking:
        return ["thinking.adaptive.budget_tokens: extra inputs are not permitted"]
    return []


def _opening(messages: Sequence[Any]) -> list[str]:
    """Refuse a running turn that does not begin with its thoughts."""
    opening: Mapping[str, Any] | None = None
    for message in reversed(messages):
        content = as_list(message.get("content"))
        if message.get("role") == "user" and any(b.get("type") == "text" for b in content):
            break
        if message.get("role") == "assistant":
            opening = message
    if opening is None:
        return []
    first = as_object(as_list(opening.get("content"))[0]).get("type")
    if first in SIGNED:
        return []
    return [f"expected `thinking` or `redacted_thinking`, but found `{first}`"]


def _conversation(messages: Sequence[Any]) -> list[str]:
    if not messages:
        return ["messages: at least one message is required"]
    found: list[str] = []
    seen: set[str] = set()
    waiting: list[str] = []
    for at, message in enumerate(messages):
        role, content = message.get("role"), message.get("content")
        if role not in {"user", "assistant"}:
            found.append(f"messages.{at}.role: {role!r}")
        if role != ("user", "assistant")[at % 2]:
            found.append(f"messages.{at}: roles must alternate, beginning with user")
        if not is_list(content) or not content:
            found.append(f"messages.{at}.content: no blocks")
            continue
        results = [b for b in content if b.get("type") == "tool_result"]
        if waiting or results:
            ids = [block.get("tool_use_id") for block in results]
            if ids != waiting:
                found.append(f"messages.{at}: results {ids} where {waiting} were due")
            if results != content[: len(results)]:
                found.append(f"messages.{at}: tool_result blocks must come first")
        waiting = []
        for block in content:
            found += [f"messages.{at}: {fault}" for fault in _block(block, role, seen)]
            if block.get("type") == "tool_use":
                waiting.append(block.get("id"))
    if waiting:
        found.append(f"tool_use ids without tool_result: {waiting}")
    if re.search("[\ud800-\udfff]", json.dumps(messages, ensure_ascii=False)):
        found.append("lone surrogate")
    return found


def _block(block: Mapping[str, Any], role: str, seen: set[str]) -> list[str]:
    match block.get("type"):
        case "text":
            text = block.get("text")
            blank = not isinstance(text, str) or not text.strip()
            return ["text content blocks must contain non-whitespace text"] if blank else []
        case "tool_use" if role == "assistant":
            return _call(block, seen)
        case "tool_result" if role == "user":
            return [] if isinstance(block.get("content"), str) else ["content is no text"]
        case "thinking" if role == "assistant":
            signed = block.get("signature") and "cache_control" not in block
            extra = block.keys() - {"type", "thinking", "signature"}
            return [] if signed and not extra else [f"invalid `signature` in `thinking` {extra}"]
        case "redacted_thinking" if role == "assistant":
            return [] if set(block) == {"type", "data"} else ["redacted_thinking changed"]
        case kind if role == "assistant" and str(kind).startswith("server_tool"):
            return []
        case kind:
            return [f"block {kind!r} from {role}"]


def _call(block: Mapping[str, Any], seen: set[str]) -> list[str]:
    found: list[str] = []
    call_id = block.get("id")
    if not isinstance(call_id, str) or not ID.fullmatch(call_id):
        found.append(f"bad tool_use id {call_id!r}")
    elif call_id in seen:
        found.append(f"tool_use id {call_id} must be unique")
    else:
        seen.add(call_id)
    if not NAME.fullmatch(str(block.get("name", ""))):
        found.append(f"bad tool name {block.get('name')!r}")
    if not isinstance(block.get("input"), dict):
        found.append("tool_use.input: no object")
    return found


def _texts(blocks: Any) -> bool:
    return is_list(blocks) and all(
        b.get("type") == "text" and str(b.get("text", "")).strip() for b in blocks
    )


def _calls(messages: Sequence[Any]) -> bool:
    return any(b.get("type") == "tool_use" for m in messages for b in as_list(m.get("content")))


def events(*blocks: Mapping[str, Any], stop: str | None = "end_turn", **usage: int) -> bytes:
    """Return a stream of these blocks as the service sends it; `stop` None ends it too soon."""
    sent: list[dict[str, Any]] = [
        {
            "type": "message_start",
            "message": {"role": "assistant", "usage": {"input_tokens": 5, "output_tokens": 1}},
        },
        {"type": "ping"},
    ]
    for index, block in enumerate(blocks):
        sent += _streamed(index, block)
    if stop:
        counts = {"output_tokens": 7, **usage}
        sent.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": counts})
        sent.append({"type": "message_stop"})
    lines = [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in sent]
    return "".join(lines).encode()


def _streamed(index: int, block: Mapping[str, Any]) -> list[dict[str, Any]]:
    kind = block["type"]
    start: dict[str, Any] = dict(block)
    deltas: list[dict[str, Any]] = []
    if kind == "text":
        start["text"] = ""
        deltas = [{"type": "text_delta", "text": piece} for piece in _halves(block["text"])]
    elif kind == "thinking":
        start.update(thinking="", signature="")
        deltas = [
            {"type": "thinking_delta", "thinking": piece} for piece in _halves(block["thinking"])
        ]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    elif kind == "tool_use":
        start["input"] = {}
        written = block["input"]
        text = written if isinstance(written, str) else json.dumps(written)
        deltas = [
            {"type": "input_json_delta", "partial_json": piece} for piece in ("", *_halves(text))
        ]
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def error(kind: str, message: str, status: int = 200) -> Answer:
    """Return an error as the service sends it: within a stream, or with a status."""
    payload = {"type": "error", "error": {"type": kind, "message": message}}
    if status == 200:
        return Answer(f"event: error\ndata: {json.dumps(payload)}\n\n".encode())
    return Answer(json.dumps(payload).encode(), status, content_type="application/json")


class StrictAnthropic(StrictProvider):
    """The server: `refusals` stays empty as long as every request was right."""

    @classmethod
    @override
    @asynccontextmanager
    async def serving(
        cls, steps: Sequence[Step] | Callable[[Mapping[str, Any]], Step]
    ) -> AsyncGenerator["StrictAnthropic"]:
        async with super().serving(steps) as provider:
            assert isinstance(provider, cls)
            yield provider

    @override
    def _judge(self, fields: Mapping[str, str], request: Mapping[str, Any]) -> list[str]:
        found = faults(request)
        for name in ("x-api-key", "anthropic-version"):
            if name not in fields:
                found.append(f"{name}: header is required")
        return found
