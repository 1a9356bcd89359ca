"""Messages and tools in the words of the OpenAI chat protocol, and what each provider wants extra.

What providers want is data (`DIALECTS`), because their contracts changed more than once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from nuncius.core.messages import Message, ToolCall, ToolDefinition
from nuncius.core.text import clean
from nuncius.llm.model import ModelRequest


@dataclass(frozen=True, slots=True)
class Dialect:
    """One provider's ways.

    Attributes:
        hosts, models: Parts of the host's or model's name by which it is known.
        thinking: Body field that switches reasoning: DashScope's ``enable_thinking`` (a hybrid
            model thinks unless told not to), Z.ai's ``thinking``, OpenRouter's ``reasoning``.
        replay: Whether reasoning is sent back: never, or with the messages that carry calls.
        limit: The name of the output limit.
    """

    hosts: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    thinking: Literal["", "enable_thinking", "thinking", "reasoning"] = ""
    replay: Literal["never", "with_calls"] = "never"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"


DIALECTS: tuple[Dialect, ...] = (
    Dialect(hosts=("openrouter.ai",), thinking="reasoning", replay="with_calls"),
    Dialect(hosts=("api.openai.com",), limit="max_completion_tokens"),
    Dialect(hosts=("dashscope", "modelscope"), thinking="enable_thinking"),
    Dialect(hosts=("deepseek.com",), replay="with_calls"),
    Dialect(hosts=("z.ai", "bigmodel.cn"), thinking="thinking", replay="with_calls"),
    Dialect(models=("deepseek",), replay="with_calls"),
)
"""The first that fits; a host comes before a model."""


def dialect_of(base_url: str, model: str) -> Dialect:
    """Return the ways of the provider behind `base_url`."""
    host = urlsplit(base_url).hostname or ""
    for dialect in DIALECTS:
        if any(part in host for part in dialect.hosts):
            return dialect
    for dialect in DIALECTS:
        if any(part in model.lower() for part in dialect.models):
            return dialect
    return Dialect()


def body(request: ModelRequest, *, model: str, dialect: Dialect, service: str) -> dict[str, Any]:
    """Return the request's JSON object."""
    out: dict[str, Any] = {
        "model": model,
        "messages": [message_object(message, dialect, service) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        out["tools"] = _tools(request.tools)
    if request.max_output_tokens:
        out[dialect.limit] = request.max_output_tokens
    match dialect.thinking:
        case "enable_thinking":
            out["enable_thinking"] = request.enable_thinking
            if request.enable_thinking and request.thinking_budget is not None:
                out["thinking_budget"] = request.thinking_budget
        case "thinking":
            out["thinking"] = {"type": "enabled" if request.enable_thinking else "disabled"}
        case "reasoning":
            out["reasoning"] = {"enabled": request.enable_thinking}
        case "":
            pass
    return out


def _tools(definitions: Sequence[ToolDefinition]) -> list[dict[str, Any]]:
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
            },
        }
        for tool in definitions
    ]


def message_object(message: Message, dialect: Dialect, service: str) -> dict[str, Any]:
    """Return one message as it is sent; reasoning only where the dialect wants it back."""
    content = clean(message.content)
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": content}
    out: dict[str, Any] = {"role": message.role, "content": content}
    if message.tool_calls:
        out["content"] = content or None
        out["tool_calls"] = [_call(call) for call in message.tool_calls]
        if dialect.replay == "with_calls":
            out.update(_reasoning(message, service))
    return out


def _reasoning(message: Message, service: str) -> Mapping[str, Any]:
    """Return the reasoning to send back: its own model's, unchanged; another's is dropped."""
    fields: dict[str, Any] = {}
    for thinking in message.thinking:
        if thinking.provider == service and thinking.block:
            fields.update(thinking.block)
    return fields


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }
