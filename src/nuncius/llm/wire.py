"""Messages and tools in the words of the OpenAI chat protocol.

What providers want beside it is data (`dialects`); here it becomes fields of the request.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from nuncius.core.messages import Message, ToolCall, ToolDefinition
from nuncius.core.shapes import as_object
from nuncius.core.text import clean
from nuncius.llm.dialects import DIALECTS, Dialect, dialect_of
from nuncius.llm.model import ModelRequest

NO_SIGNATURE = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""What Gemini takes in place of a signature where another model made the call."""


def body(request: ModelRequest, *, model: str, dialect: Dialect, service: str) -> dict[str, Any]:
    """Return the request's JSON object.

    Always streamed: Qwen refuses to think otherwise. No tool is ever forced, which providers
    refuse together with thinking.
    """
    thinks = request.enable_thinking
    out: dict[str, Any] = {
        "model": model,
        "messages": [
            message_object(message, dialect, service, thinks=thinks) for message in request.messages
        ],
        "stream": True,
    }
    if dialect.usage:
        out["stream_options"] = {"include_usage": True}
    if request.tools:
        out["tools"] = _tools(request.tools)
    if request.max_output_tokens:
        out[dialect.limit] = request.max_output_tokens
    out.update(_switch(request, dialect))
    out.update(_schema(request, dialect))
    return out


def _switch(request: ModelRequest, dialect: Dialect) -> Mapping[str, Any]:
    """Return the fields that turn thinking on or off."""
    thinks = request.enable_thinking
    budget = request.thinking_budget if thinks and dialect.budget else None
    match dialect.switch:
        case "enable_thinking":
            fields: dict[str, Any] = {"enable_thinking": thinks}
            return fields if budget is None else {**fields, "thinking_budget": budget}
        case "thinking":
            return {"thinking": {"type": "enabled" if thinks else "disabled"}}
        case "reasoning":
            limit = {} if budget is None else {"max_tokens": budget}
            return {"reasoning": {"enabled": thinks, **limit}}
        case "reasoning_effort":
            return {"reasoning_effort": "medium" if thinks else "none"}
        case "chat_template_kwargs":  # templates differ in the word and pass over the other
            return {"chat_template_kwargs": {"enable_thinking": thinks, "thinking": thinks}}
        case "":
            return {}


def _schema(request: ModelRequest, dialect: Dialect) -> Mapping[str, Any]:
    """Return the field that holds the reply to a schema, as far as the server can."""
    if request.reply_schema is None or not dialect.schema:
        return {}
    if dialect.schema == "json_object":
        # Qwen refuses to think in this form; what comes is judged strictly anyway.
        thinks = request.enable_thinking and dialect.switch == "enable_thinking"
        return {} if thinks else {"response_format": {"type": "json_object"}}
    named = {"name": "reply", "schema": dict(request.reply_schema)}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


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


def message_object(
    message: Message, dialect: Dialect, service: str, *, thinks: bool = False
) -> dict[str, Any]:
    """Return one message as it is sent; reasoning only where the dialect wants it back.

    Args:
        thinks: Whether the request turns thinking on.
    """
    content = clean(message.content)
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": content}
    out: dict[str, Any] = {"role": message.role, "content": content}
    if message.role != "assistant":
        return out
    own = _own_blocks(message, service)
    if message.tool_calls:
        out["content"] = content or None
        signatures = as_object(own.pop("signatures", None)) if dialect.signatures else None
        out["tool_calls"] = [
            _call(call, index, signatures) for index, call in enumerate(message.tool_calls)
        ]
    own.pop("signatures", None)
    if dialect.replay == "always" or (dialect.replay == "tool_turns" and message.tool_calls):
        out.update(own)
    if dialect.fill and thinks:
        out.setdefault("reasoning_content", "")
    return out


def _own_blocks(message: Message, service: str) -> dict[str, Any]:
    """Return the reasoning that `service` itself gave, unchanged; another's is dropped whole."""
    fields: dict[str, Any] = {}
    for thinking in message.thinking:
        if thinking.provider == service and thinking.block:
            fields.update(thinking.block)
    return fields


def _call(call: ToolCall, index: int, signatures: Mapping[str, Any] | None) -> dict[str, Any]:
    out: dict[str, Any] = {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }
    if signatures is not None:
        # Of calls made side by side, only the first has a signature.
        extra = signatures.get(str(index)) or (NO_SIGNATURE if index == 0 else None)
        if extra:
            out["extra_content"] = extra
    return out


__all__ = ["DIALECTS", "Dialect", "body", "dialect_of", "message_object"]
