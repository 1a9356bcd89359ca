"""Judges what a model wrote as a call: the id, the name, the arguments.

Nothing is repaired that could change what is done: text that is no JSON object is refused with the
place and the reason. Only what has one meaning is taken: white space around, raw control
characters inside strings, a number in quotes where a number is asked.
"""

import difflib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, NoReturn, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from nuncius.agent.pairing import SAFE_ID, unique_id
from nuncius.agent.registry import AnyTool, ToolRegistry
from nuncius.agent.tool import Arguments, ToolOutput
from nuncius.core.errors import ErrorKind, ToolError
from nuncius.core.messages import ToolCall
from nuncius.core.shapes import is_list, is_object
from nuncius.core.text import clean

MAX_CHARACTERS = 131_072
PARSE_CHARACTERS = 1_048_576
"""Longer text is refused unread."""
MAX_DEPTH = 64
MAX_KEYS = 1_000
EXACT_INTEGER = 2**53
"""Whole numbers beyond this are not exact in JSON."""
MESSAGE_CHARACTERS = 500
ECHO_CHARACTERS = 100
NAME_CHARACTERS = 64

RAW_CHARACTERS = 200_000
"""Of the calls as the model wrote them, kept for audits."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """One call, judged.

    Attributes:
        call: With its final id, a printable name and an object as arguments: what is stored,
            shown and replayed.
        tool, args: What will run; None where the call was refused.
        value: The arguments as an object.
        canonical: The arguments as JSON with sorted keys; for a refused call, what was written.
        error: The result where the call was refused.
        original: The model's arguments where a hook changed them.
        ask: Why a hook wants a person asked; empty where none does.
    """

    call: ToolCall
    tool: AnyTool | None
    args: Arguments | None
    value: dict[str, Any]
    canonical: str
    error: ToolOutput | None = None
    original: dict[str, Any] | None = None
    ask: str = ""


def prepare(
    calls: Sequence[ToolCall], registry: ToolRegistry, *, used_ids: AbstractSet[str], prefix: str
) -> list[Prepared]:
    """Judge the calls of one message and give each an id of its own.

    Args:
        used_ids: The ids of the session so far.
        prefix: Start of made-up ids, such as ``call_3f9a_2``; the same on every replay.
    """
    prepared: dict[str, Prepared] = {}
    for index, call in enumerate(calls):
        call_id = unique_id(
            call.id,
            lambda known: known in used_ids or known in prepared,
            fallback=f"{prefix}_{index}",
        )
        prepared[call_id] = _judge(call, call_id, registry)
    return list(prepared.values())


def refuse(item: Prepared, output: ToolOutput) -> Prepared:
    """Return the call as one that will not run."""
    return Prepared(item.call, None, None, item.value, item.canonical, output)


def rewrite(item: Prepared, arguments: Mapping[str, Any]) -> Prepared:
    """Return the call with other arguments, judged like the model's own.

    Raises:
        ToolError: They are not valid for the tool; `code` says why.
    """
    assert item.tool is not None
    try:
        text = json.dumps(dict(arguments), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        reason = shorten(str(error), ECHO_CHARACTERS)
        raise _bad("invalid_json", f"The arguments are no JSON object: {reason}.") from error
    value = parse_object(text, optional=True)
    args = validate(value, item.tool.args)
    text = canonical(value)
    original = item.value if item.original is None else item.original
    return replace(
        item,
        args=args,
        value=value,
        canonical=text,
        original=None if text == canonical(original) else original,
    )


def failure(message: str, *, kind: ErrorKind, code: str = "") -> ToolOutput:
    """Return the result of a call that was not done."""
    return ToolOutput(
        shorten(message, MESSAGE_CHARACTERS),
        is_error=True,
        error_kind=kind,
        metadata={"code": code} if code else {},
    )


def canonical(value: Any) -> str:
    """Return the one JSON text of `value`: keys sorted, no white space."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def shorten(text: str, limit: int) -> str:
    """Return at most `limit` printable characters of `text`."""
    text = clean(text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _judge(call: ToolCall, call_id: str, registry: ToolRegistry) -> Prepared:
    name = shorten("".join(c for c in call.name if c.isprintable()), NAME_CHARACTERS)
    stored = ToolCall(call_id, name, "{}", "" if call.id == call_id else shorten(call.id, 200))
    tool = registry.get(call.name)
    value: dict[str, Any] = {}
    try:
        if tool is None:
            _refuse_name(call, name, registry)
        value = parse_object(call.arguments, optional=not _required(tool.args))
        args = validate(value, tool.args)
    except ToolError as error:
        hint = f" {_signature(tool.name, tool.args)}" if tool and error.code != "too_long" else ""
        text = canonical(value)
        if value and len(text) <= MAX_CHARACTERS:
            stored = ToolCall(call_id, name, text, stored.provider_id)
        output = failure(f"{error.message}{hint}", kind=error.kind, code=error.code)
        return Prepared(stored, None, None, value, shorten(call.arguments, 1000), output)
    text = canonical(value)
    stored = ToolCall(call_id, name, text, stored.provider_id)
    return Prepared(stored, tool, args, value, text)


def _refuse_name(call: ToolCall, name: str, registry: ToolRegistry) -> NoReturn:
    if not call.name and not call.arguments:
        raise ToolError(
            "This is no tool call: it has neither a name nor arguments.",
            kind="invalid_arguments",
            code="malformed_call",
        )
    close = close_names(call.name, registry.names())
    advice = f"Did you mean {', '.join(close)}?" if close else _offer(registry.names())
    raise ToolError(
        f"There is no tool named {name!r}. {advice}", kind="unknown_tool", code="unknown_tool"
    )


def _offer(names: Sequence[str]) -> str:
    return f"The tools are: {', '.join(names)}." if names else "No tool is offered here."


def close_names(name: str, names: Sequence[str]) -> Sequence[str]:
    """Return tools that `name` may mean; for advice only, never for execution."""
    plain = {re.sub(r"[^a-z0-9]", "", known.lower()): known for known in names}
    wanted = re.sub(r"[^a-z0-9]", "", name[:200].rsplit(".", 1)[-1].lower())
    return [plain[key] for key in difflib.get_close_matches(wanted, plain, n=3, cutoff=0.6)]


# --- from text to an object ---------------------------------------------------------------------


def parse_object(text: str, *, optional: bool) -> dict[str, Any]:
    """Read the text of one JSON object.

    Args:
        optional: Nothing is required, so no text (or ``null``) means no arguments.

    Raises:
        ToolError: The text is something else; `code` says what.
    """
    stripped = text.strip()
    if stripped in {"", "null"} and optional:
        return {}
    if not stripped:
        raise _bad("empty_args", "The arguments are empty.")
    if len(stripped) > PARSE_CHARACTERS:
        _refuse_length(stripped)
    if _depth_exceeds(stripped, MAX_DEPTH):
        raise _bad("too_deep", f"The arguments are nested more than {MAX_DEPTH} levels deep.")
    value = _decode(stripped)
    if not is_object(value):
        raise _bad("not_object", f"The arguments must be one JSON object, not {_kind(value)}.")
    if len(stripped) > MAX_CHARACTERS:
        _refuse_length(stripped)
    _check_strings(value)
    return value


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a truth value"
    return "text" if isinstance(value, str) else "a list" if is_list(value) else "a number"


def _refuse_length(text: str) -> NoReturn:
    raise _bad(
        "too_long",
        f"The arguments have {len(text):,} characters; at most {MAX_CHARACTERS:,} are taken."
        " Send less in one call.",
    )


def _bad(code: str, message: str) -> ToolError:
    return ToolError(message, kind="invalid_arguments", code=code)


def _depth_exceeds(text: str, limit: int) -> bool:
    """Tell whether brackets outside strings nest deeper than `limit`, without a parser's stack."""
    if text.count("[") + text.count("{") <= limit:
        return False
    depth, in_string, escaped = 0, False, False
    for character in text:
        if in_string:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character in "[{":
            depth += 1
            if depth > limit:
                return True
        elif character in "]}":
            depth -= 1
    return False


def _decode(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        around = shorten(text[max(0, error.pos - 20) : error.pos + 40], ECHO_CHARACTERS - 40)
        reason = f"{error.msg} at character {error.pos + 1}, near {around!r}"
        raise _bad("invalid_json", f"The arguments are not JSON: {reason}.") from error


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MAX_KEYS:
        raise _bad("too_many_keys", f"An object has {len(pairs):,} keys; at most {MAX_KEYS:,}.")
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _bad("duplicate_key", f"The key {shorten(twice, 60)!r} stands there twice.")
    return value


def _integer(text: str) -> int:
    if len(text) > 20 or abs(int(text)) >= 2**63:
        raise _bad("invalid_number", f"A whole number of {len(text)} digits is too large.")
    return int(text)


def _real(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _bad("invalid_number", f"The number {shorten(text, 40)} is too large.")
    return number


def _constant(text: str) -> NoReturn:
    raise _bad("invalid_json", f"{text} is not a JSON number.")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs,
    parse_int=_integer,
    parse_float=_real,
    parse_constant=_constant,
    strict=False,
)
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")


def _check_strings(value: Any) -> None:
    """Refuse what no file name, query or UTF-8 text can hold: NUL and lone surrogates."""
    if isinstance(value, str):
        if _UNWRITABLE.search(value):
            raise _bad("invalid_string", "A string holds NUL or half of a surrogate pair.")
    elif is_object(value):
        for key, item in value.items():
            _check_strings(key)
            _check_strings(item)
    elif is_list(value):
        for item in value:
            _check_strings(item)


# --- from an object to arguments ----------------------------------------------------------------


def validate(value: dict[str, Any], model: type[Arguments]) -> Arguments:
    """Return the arguments of a tool.

    Raises:
        ToolError: The first fault, in the order missing, unknown, type, range.
    """
    try:
        args = model.model_validate(value)
    except ValidationError as error:
        raise _worst(error.errors(include_url=False, include_context=False)) from error
    _check_casts(value, args, ())
    return args


_RULES: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("missing_argument", lambda kind: kind == "missing"),
    ("unknown_argument", lambda kind: kind == "extra_forbidden"),
    ("wrong_type", lambda kind: kind.endswith(("_type", "_parsing")) or kind == "int_from_float"),
    ("invalid_value", lambda kind: kind in {"value_error", "assertion_error"}),
    ("out_of_range", lambda _kind: True),
)
"""Codes by pydantic's type of error, the worst first."""


def _worst(errors: Sequence[ErrorDetails]) -> ToolError:
    ranked = [
        (rank, code, error)
        for error in errors
        for rank, code in [
            next((r, code) for r, (code, fits) in enumerate(_RULES) if fits(error["type"]))
        ]
    ]
    _, code, error = min(ranked, key=lambda entry: entry[0])
    where = shorten(".".join(str(part) for part in error["loc"]), 60) or "the arguments"
    shown = "" if code in {"missing_argument", "unknown_argument"} else _shown(error["input"])
    return _bad(code, f"Argument {where!r}: {shorten(error['msg'], 160)}{shown}.")


def _shown(value: Any) -> str:
    return f" (got {shorten(repr(value)[:200], 30)})"


def _check_casts(raw: Any, taken: Any, path: tuple[str, ...]) -> None:
    """Refuse casts that nobody means: true as 1, the text "nan" as a number."""
    where = ".".join(path)
    if isinstance(raw, bool) and not isinstance(taken, bool):
        raise _bad("wrong_type", f"Argument {where!r}: a number was asked, not {str(raw).lower()}.")
    if isinstance(taken, float) and not math.isfinite(taken):
        raise _bad("out_of_range", f"Argument {where!r}: a finite number was asked.")
    if isinstance(taken, int) and abs(taken) > EXACT_INTEGER:
        raise _bad("out_of_range", f"Argument {where!r}: the number is too large to be exact.")
    if is_object(raw) and isinstance(taken, BaseModel):
        for key in type(taken).model_fields:
            if key in raw:
                _check_casts(raw[key], getattr(taken, key), (*path, key))
    elif is_object(raw) and is_object(taken):
        for key in raw.keys() & taken.keys():
            _check_casts(raw[key], taken[key], (*path, str(key)))
    elif is_list(raw) and isinstance(taken, Sequence) and not isinstance(taken, str):
        items = cast("Sequence[Any]", taken)
        for index, (before, after) in enumerate(zip(raw, items, strict=False)):
            _check_casts(before, after, (*path, str(index)))


def _required(model: type[Arguments]) -> bool:
    return any(field.is_required() for field in model.model_fields.values())


def _signature(name: str, model: type[Arguments]) -> str:
    """Return the tool's arguments in one short line, for a model that got them wrong."""
    parts = [
        f"{field.alias or key}{'' if field.is_required() else '?'}"
        for key, field in model.model_fields.items()
    ]
    return shorten(f"Arguments of {name}: {', '.join(parts) or 'none'} (? = optional).", 200)


__all__ = ["SAFE_ID", "Prepared", "canonical", "failure", "prepare", "refuse"]


def as_written(items: Sequence[Prepared], calls: Sequence[ToolCall]) -> str:
    """Return the calls as the model wrote them where that is not what is replayed; for audits."""
    if all(item.error is None and not item.call.provider_id for item in items):
        return ""
    written = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in calls]
    return json.dumps(written)[:RAW_CHARACTERS]


def truncated() -> ToolOutput:
    """Return the result of a call whose message reached the output limit."""
    return failure(
        "Not done: your message reached the output limit, so this call may be cut. Send less in"
        " one message: fewer calls, or shorter arguments.",
        kind="invalid_arguments",
        code="truncated",
    )


def interrupted() -> ToolOutput:
    """Return the result of a call whose message was cut."""
    return failure(
        "Not done: the model's stream was cut before this call was complete.",
        kind="interrupted",
        code="stream_interrupted",
    )
