"""What a tool gave back, made safe to store, show and send; what it raised, made a result."""

import json
import logging
from collections.abc import Mapping
from typing import Any

from nuncius.agent.arguments import failure, shorten
from nuncius.agent.tool import ToolOutput
from nuncius.core.errors import (
    AccessDeniedError,
    ConfidentialError,
    DocumentError,
    ErrorKind,
    KeyMissingError,
    NotFoundError,
    NunciusError,
    SettingsError,
    StoreError,
    ToolError,
    UpstreamError,
    UsageError,
)
from nuncius.core.shapes import is_list, is_object
from nuncius.core.text import clean

log = logging.getLogger(__name__)
OUTPUT_CHARACTERS = 16_000
METADATA_CHARACTERS = 1_000_000
ERROR_CHARACTERS = 2_000

_KINDS: tuple[tuple[type[NunciusError], ErrorKind], ...] = (
    (NotFoundError, "not_found"),
    (AccessDeniedError, "denied"),
    (ConfidentialError, "confidential"),
    (UpstreamError, "upstream"),
    (KeyMissingError, "unavailable"),
    (DocumentError, "unavailable"),
    (StoreError, "unavailable"),
    (SettingsError, "unavailable"),
    (UsageError, "invalid_arguments"),
    (NunciusError, "crashed"),
)


def normalise(name: str, output: object, *, limit: int = OUTPUT_CHARACTERS) -> ToolOutput:
    """Return what a tool gave back with clean, bounded text and JSON-compatible metadata.

    What is no `ToolOutput`, or holds what cannot be stored, becomes a `crashed` result.
    """
    if not isinstance(output, ToolOutput):
        return _broken(name, f"it returned {type(output).__name__}, not a ToolOutput")
    if not isinstance(output.content, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        return _broken(name, f"its content is {type(output.content).__name__}, not text")
    metadata = _plain(output.metadata)
    if metadata is None:
        return _broken(name, "its metadata is no JSON object, or larger than 1 MB")
    return ToolOutput(
        content=bounded(clean(output.content), limit) or "(no output)",
        is_error=bool(output.is_error),
        metadata=metadata,
        error_kind=output.error_kind if output.is_error else None,
        events=tuple(output.events),
    )


def bounded(text: str, limit: int) -> str:
    """Return `text`, or its head and tail with a line that tells what is missing."""
    if len(text) <= limit:
        return text
    note = f"\n\n[… cut here: {len(text):,} characters in all, the middle is left out …]\n\n"
    room = max(limit - len(note), 2)
    head = room * 2 // 3
    return f"{text[:head]}{note}{text[len(text) - (room - head) :]}"


def from_error(name: str, error: BaseException) -> ToolOutput:
    """Return the result of a call that raised."""
    if isinstance(error, ToolError):
        metadata = {"code": error.code} if error.code else {}
        text = shorten(str(error), ERROR_CHARACTERS)
        return ToolOutput(text, is_error=True, metadata=metadata, error_kind=error.kind)
    if isinstance(error, NunciusError):
        fault: ErrorKind = next(kind for known, kind in _KINDS if isinstance(error, known))
        code = error.kind if isinstance(error, DocumentError) else ""
        metadata = {"code": code} if code else {}
        text = shorten(str(error), ERROR_CHARACTERS)
        return ToolOutput(text, is_error=True, metadata=metadata, error_kind=fault)
    log.error("tool %s broke", name, exc_info=error)
    timed_out = isinstance(error, TimeoutError)
    return failure(
        f"The tool {name} broke: {_describe(error)}. The fault is in the tool, not in the"
        " arguments; the same call will hardly do better.",
        kind="timeout" if timed_out else "crashed",
    )


def _broken(name: str, reason: str) -> ToolOutput:
    log.error("tool %s broke: %s", name, reason)
    return failure(f"The tool {name} broke: {reason}.", kind="crashed")


def _describe(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  (a broken __str__ must not break the report of it)
        text = "(no message)"
    return f"{type(error).__name__}: {shorten(text, 200)}" if text else type(error).__name__


def _plain(metadata: object) -> dict[str, Any] | None:
    """Return metadata as plain JSON data, or None where it is none."""
    if metadata == {}:
        return {}
    if not isinstance(metadata, Mapping):
        return None
    try:
        text = json.dumps(dict(metadata), ensure_ascii=True, allow_nan=False)  # pyright: ignore[reportUnknownArgumentType]
    except (TypeError, ValueError, RecursionError):
        return None
    if len(text) > METADATA_CHARACTERS:
        return None
    return json.loads(_no_surrogates(text))


def _no_surrogates(text: str) -> str:
    """Drop lone surrogates, which stand as escapes here; pairs stay."""
    if "\\ud" not in text:
        return text
    plain: str = json.dumps(_clean_strings(json.loads(text)))
    return plain


def _clean_strings(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "ignore").decode()
    if is_object(value):
        return {_clean_strings(key): _clean_strings(item) for key, item in value.items()}
    return [_clean_strings(item) for item in value] if is_list(value) else value
