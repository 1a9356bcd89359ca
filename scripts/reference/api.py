"""The page about the HTTP interface, from its OpenAPI document."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from reference.markdown import code, prose, table

from nuncius.api import access, door, events
from nuncius.api.build import routes

_Shape = Mapping[str, Any]
_TITLES = {
    "sessions": "Sessions and turns",
    "permissions and questions": "Permissions and questions",
    "audit": "Audit and metrics",
    "papers": "Papers",
    "tools": "Tools",
    "search": "Services",
    "server": "The server",
}
_OWN_ERRORS = {"401", "403", "404", "413", "415", "421", "422", "500", "502", "503"}
"""Every route may answer these; they are told once."""


def page() -> str:
    """Return the page about the HTTP interface."""
    made = routes().openapi()
    schemas: _Shape = made["components"]["schemas"]
    operations = list(_operations(made))
    common = operations[0][2]["responses"]
    parts = [
        "# HTTP",
        (
            "What `nuncius serve` answers on `127.0.0.1:8765`. The same as OpenAPI 3.1, with the schema"
            " of every event: `GET /api/openapi.json`."
        ),
        "## Access",
        (
            "Every request names the server exactly (`Host`) and carries the token of the home, which"
            " is in the file `token`: `Authorization: Bearer TOKEN`. A browser has the cookie"
            " `nuncius_PORT` instead; the link that `nuncius serve` prints gives it, once, within"
            f" {access.NONCE_LIFE_S / 60:.0f} minutes. Requests of other pages are refused. Without"
            f" token: {', '.join(code(f'{method} {path}') for method, path in sorted(door.OPEN))}."
        ),
        (
            f"Bodies are `application/json`, at most {door.JSON_BYTES // 1024**2} MB; a file is"
            f" `application/octet-stream`, at most {door.UPLOAD_BYTES // 1024**2} MB. Unknown fields"
            " are refused."
        ),
        "## Errors",
        (
            'Every error is `{"error": {"code", "message", "hint"}}`: one word for programs, what was'
            " asked and what happened, what to do next."
        ),
        table(
            ("status", "meaning"),
            [(code(s), common[s]["description"]) for s in sorted(_OWN_ERRORS & set(common))],
        ),
        "## Live events",
        (
            "`GET /api/sessions/{session_id}/events` is a stream of Server-Sent Events: `id` is the"
            " event's `seq`, `data` one [event](events.md) as JSON. It replays what follows"
            " `Last-Event-ID` or `after`, goes on with what comes, of other processes too (looked at"
            f" every {events.POLL_S * 1000:.0f} ms), and ends when the session is deleted. A comment"
            f" comes after {events.HEARTBEAT_S:.0f} s of silence. A reader that lets more than"
            f" {events.QUEUE_EVENTS:,} events wait is dropped; with its last id it gets the rest. Where"
            " its place is not in the journal (any more) a `reset` comes first and everything is sent"
            " again."
        ),
    ]
    for tag, title in _TITLES.items():
        parts.append(f"## {title}")
        for method, path, operation in operations:
            if operation["tags"][-1] == tag:
                parts += _operation(method, path, operation, schemas)
    parts.append("## Shapes")
    for name in sorted(_shown(operations, schemas)):
        parts += [f"### {name}", *_shape(schemas[name], schemas)]
    return "\n\n".join(parts)


def _operations(made: _Shape) -> Iterator[tuple[str, str, _Shape]]:
    for path, methods in made["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def _operation(method: str, path: str, operation: _Shape, schemas: _Shape) -> Iterator[str]:
    yield f"### {method} {path}"
    yield prose(operation["description"])
    asked = [
        (code(one["name"]), one["in"], _words(one["schema"], schemas), one.get("description", ""))
        for one in operation.get("parameters", ())
        if one["in"] != "path"
    ]
    if asked:
        yield table(("parameter", "in", "type", "meaning"), asked)
    lines = [f"Body: {_body(operation['requestBody'], schemas)}."] if _has_body(operation) else []
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            lines.append(f"Answer: {code(status)}{_content(answer, schemas)}.")
        elif status not in _OWN_ERRORS:
            lines.append(f"{code(status)}: {answer['description']}")
    yield " ".join(lines)


def _has_body(operation: _Shape) -> bool:
    return "requestBody" in operation


def _body(body: _Shape, schemas: _Shape) -> str:
    kind, content = next(iter(body["content"].items()))
    return _words(content["schema"], schemas) if kind == "application/json" else code(kind)


def _content(answer: _Shape, schemas: _Shape) -> str:
    content: _Shape = answer.get("content", {})
    if not content:
        return ""
    if "application/json" in content:
        return f", {_words(content['application/json']['schema'], schemas)}"
    return f", {', '.join(code(kind) for kind in content)}"


def _shown(operations: Sequence[tuple[str, str, _Shape]], schemas: _Shape) -> set[str]:
    """Return the shapes that operations speak of; events have a page of their own."""
    found: set[str] = set()
    left = [name for _, _, operation in operations for name in _named(operation)]
    while left:
        name = left.pop()
        if name not in found and name not in {"Event", "ErrorReply"}:
            found.add(name)
            left += _named(schemas[name])
    return found


def _named(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        if isinstance(place := fields.get("$ref"), str):
            yield place.rpartition("/")[2]
        for item in fields.values():
            yield from _named(item)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _named(item)


def _shape(schema: _Shape, schemas: _Shape) -> Iterator[str]:
    if description := schema.get("description"):
        yield prose(description.split("\n\n", 1)[0])
    required = set(schema.get("required", ()))
    rows = [
        (
            code(name),
            _words(field, schemas),
            "required" if name in required else _default(field),
            field.get("description", ""),
        )
        for name, field in schema.get("properties", {}).items()
    ]
    if rows:
        yield table(("field", "type", "default", "meaning"), rows)


def _default(field: _Shape) -> str:
    import json

    return code(json.dumps(field["default"], ensure_ascii=False)) if "default" in field else ""


def _words(schema: _Shape, schemas: _Shape) -> str:
    """Return a schema's type in words."""
    if place := schema.get("$ref"):
        name = str(place).rpartition("/")[2]
        return "[event](events.md)" if name == "Event" else f"[{name}](#{name.lower()})"
    if "const" in schema:
        return code(f'"{schema["const"]}"')
    if "enum" in schema:
        return ", ".join(code(f'"{value}"') for value in schema["enum"])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(_words(one, schemas) for one in schema[several])
    match schema.get("type"):
        case "array" if "items" in schema:
            return f"list of {_words(schema['items'], schemas)}"
        case "array":
            return "list"
        case "object":
            of = schema.get("additionalProperties")
            return f"object of {_words(of, schemas)}" if isinstance(of, dict) and of else "object"
        case None:
            return "any"
        case str() as kind:
            return kind
        case kind:
            raise TypeError(f"The reference has no words for the type {kind!r}.")
