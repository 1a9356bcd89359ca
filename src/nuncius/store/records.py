"""How messages and events become rows and come back."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from pydantic_core import PydanticSerializationError, to_json

from nuncius.core.events import Event, dump_event
from nuncius.core.messages import Message, Role, StoredMessage, Thinking, ToolCall
from nuncius.core.shapes import as_list, is_list


def well_formed(text: str) -> str:
    """Return `text` with lone surrogates replaced, so that it can be stored; else unchanged."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def dump_json(value: Any) -> str:
    """Return JSON for whatever screens were given; what JSON does not know becomes its `str`."""
    try:
        return to_json(value, inf_nan_mode="null", serialize_unknown=True).decode()
    except (PydanticSerializationError, UnicodeError):
        return to_json(_repair(value), inf_nan_mode="null", serialize_unknown=True).decode()


def load_json(text: str | bytes) -> Any:
    """Read JSON that `dump_json` wrote."""
    return json.loads(text)


def names_in(text: str | bytes) -> tuple[list[str], bool]:
    """Return the names in a JSON list, and whether it is one and holds nothing else; never raises."""
    try:
        value = load_json(text)
    except (ValueError, RecursionError):
        return [], False
    held = as_list(value)
    names = [well_formed(name) for name in held if isinstance(name, str)]
    return names, is_list(value) and len(names) == len(held)


def stamp(event: Event, seq: int, time: str) -> tuple[Event, str]:
    """Return `event` with its place and time, and its JSON.

    What cannot be JSON (lone surrogates, foreign objects) is repaired in both, so that what is
    shown live and what is replayed are the same.
    """
    placed = event.model_copy(update={"seq": seq, "time": time})
    try:
        return placed, dump_event(placed)
    except (PydanticSerializationError, UnicodeError):
        fields = load_json(dump_json(placed.model_dump()))
        placed = type(event).model_validate(fields)
        return placed, dump_event(placed)


def _repair(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, Mapping):
        fields = cast("Mapping[Any, Any]", value)
        return {_repair(str(key)): _repair(item) for key, item in fields.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_repair(item) for item in cast("Iterable[Any]", value)]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return well_formed(str(value))


def message_row(stored: StoredMessage, time: str) -> tuple[Any, ...]:
    """Return the columns of `agent_messages` after the id."""
    message = stored.message
    return (
        stored.session_id,
        stored.turn_id,
        stored.agent,
        message.role,
        well_formed(message.content),
        well_formed(message.name),
        well_formed(message.tool_call_id),
        message.is_error,
        dump_json([asdict(call) for call in message.tool_calls]) if message.tool_calls else "[]",
        dump_json([_thinking(block) for block in message.thinking]) if message.thinking else "[]",
        dump_json(stored.metadata) if stored.metadata else "{}",
        well_formed(stored.raw),
        time,
    )


def _thinking(block: Thinking) -> Mapping[str, Any]:
    return {"provider": block.provider, "text": block.text, "block": block.block}


def read_message(session_id: str, agent: str, row: Sequence[Any]) -> StoredMessage:
    """Return the message of a row.

    Args:
        row: turn_id, role, content, name, tool_call_id, is_error, tool_calls, thinking, metadata,
            raw_json; texts and JSON as UTF-8.

    Raises:
        ValueError, TypeError, KeyError: The row cannot be read.
    """
    turn_id, role, content, name, call_id, is_error, calls, thinking, metadata, raw = row
    return StoredMessage(
        session_id=session_id,
        turn_id=turn_id,
        message=Message(
            role=_role(role),
            content=content.decode(),
            tool_calls=tuple(ToolCall(**call) for call in load_json(calls)),
            tool_call_id=call_id,
            name=name,
            is_error=bool(is_error),
            thinking=tuple(Thinking(**block) for block in load_json(thinking)),
        ),
        agent=agent,
        metadata=load_json(metadata),
        raw=raw.decode(),
    )


def _role(text: str) -> Role:
    match text:
        case "system" | "user" | "assistant" | "tool":
            return text
        case _:
            raise ValueError(f"no role: {text!r}")
