"""JSON Schemas that a server can hold a model to: the one shape of a reply with tools in it. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from nuncius.core.messages import ToolDefinition
from nuncius.core.shapes import as_list, as_object, is_list, is_object

MAX_DEPTH = 8
"""References are unfolded so deep; below that any value is taken."""


def reply_schema(tools: Sequence[ToolDefinition]) -> dict[str, Any]:
    """Return the schema of one reply: a call of one of `tools`, or an answer."""
    calls = [
        _object(tool={"type": "string", "enum": [tool.name]}, arguments=plain(tool.parameters))
        for tool in tools
    ]
    return {"anyOf": [*calls, _object(answer={"type": "string"})]}


def plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return `schema` with its structure only.

    Lengths, ranges, patterns and words are left out: grammars made from them grow huge or are
    refused, and the executor judges the arguments anyway.
    """
    return _plain(schema, {**as_object(schema.get("$defs"))}, 0)


def _plain(schema: Any, definitions: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if not is_object(schema) or depth > MAX_DEPTH:
        return {}
    if isinstance(reference := schema.get("$ref"), str):
        return _plain(definitions.get(reference.rpartition("/")[2]), definitions, depth + 1)
    if is_list(every := schema.get("allOf")) and len(every) == 1:
        return _plain(every[0], definitions, depth + 1)
    choices = as_list(schema.get("anyOf")) or as_list(schema.get("oneOf"))
    if choices:
        return {"anyOf": [_plain(choice, definitions, depth + 1) for choice in choices]}
    out: dict[str, Any] = {key: schema[key] for key in ("type", "enum", "const") if key in schema}
    if is_object(properties := schema.get("properties")):
        out["properties"] = {
            name: _plain(value, definitions, depth + 1) for name, value in properties.items()
        }
        out["required"] = as_list(schema.get("required"))
        out["additionalProperties"] = False
    if is_object(items := schema.get("items")):
        out["items"] = _plain(items, definitions, depth + 1)
    return out


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
