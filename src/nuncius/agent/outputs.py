"""What a tool gave back, made safe to store, show and send; what it raised, made a result."""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from nuncius.agent.arguments import failure, shorten
from nuncius.agent.feed import Feed
from nuncius.agent.ports import OutputKeeper
from nuncius.agent.tool import Resource, ToolOutput
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
StopKind = Literal["cancelled", "timeout", "aborted_by_sibling"]
METADATA_CHARACTERS = 1_000_000
ERROR_CHARACTERS = 2_000
PAGE_LINE_CHARACTERS = 2_000
"""Longer lines are cut by the tools that page through files."""

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


def normalise(name: str, output: object) -> ToolOutput:
    """Return what a tool gave back with clean text, whole, and JSON-compatible metadata.

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
        content=clean(output.content) or "(no output)",
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


async def kept(
    output: ToolOutput,
    keeper: OutputKeeper,
    feed: Feed,
    call_id: str,
    resources: Sequence[Resource],
    *,
    limit: int,
) -> ToolOutput:
    """Keep a long output in a file and return what stands for it; a kept one is only cut."""
    text = output.content
    if any(keeper.holds(resource.key.removeprefix("file:")) for resource in resources):
        return replace(output, content=bounded(text, limit))
    if output.metadata.get("confidential") is True:
        note = "\n\n[The whole is not kept in a file: it holds text that is confidential.]"
        return replace(output, content=bounded(text, limit - len(note)) + note)
    try:
        path = await keeper.keep(
            text, session_id=feed.session_id, turn_id=feed.turn_id, call_id=call_id
        )
    except Exception as error:
        log.exception("an output could not be kept")
        note = f"\n\n[The whole could not be kept in a file: {_describe(error)}]"
        return replace(output, content=bounded(text, limit - len(note)) + note)
    facts = {"path": path, "characters": len(text), "lines": text.count("\n") + 1}
    return replace(
        output,
        content=stub(text, path, limit=limit),
        metadata={**output.metadata, "kept": facts},
    )


def stub(text: str, path: str, *, limit: int) -> str:
    """Return what stands for a long text that is kept in a file: both ends, and how to read on.

    Half of `limit` is shown: whoever needs the middle reads the file, and the rest of the
    conversation need not carry it.
    """
    room = max(limit // 2, 2)
    head = room * 2 // 3
    tail = len(text) - (room - head)
    # whole lines where there are some
    head = (text.rfind("\n", head // 2, head) + 1) or head
    tail = (text.find("\n", tail, (tail + len(text)) // 2) + 1) or tail
    first, last = text.count("\n", 0, head) + 1, text.count("\n", 0, tail)
    name = json.dumps(path, ensure_ascii=False)
    long = max(map(len, text.split("\n"))) > PAGE_LINE_CHARACTERS
    note = (
        f"[This output has {len(text):,} characters in all, {text.count(chr(10)) + 1:,} lines."
        f" Shown are its beginning and its end; the whole is kept. Read on with"
        f" read_file(path={name}, offset={first}), or search it with grep_files(path={name}).]"
    )
    more = " Its long lines are cut by read_file; look into them with a command." if long else ""
    gap = f"[… {tail - head:,} characters (lines {first:,} to {max(first, last):,}) left out.{more} …]"
    return f"{note}\n\n{text[:head]}\n\n{gap}\n\n{text[tail:]}"


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


def denied(what: str, reason: str, *, asked: bool) -> ToolOutput:
    """Return the result of a call that permission refused."""
    return replace(
        failure(
            f"Refused: {what}. {reason} Do not try to reach the same by another"
            " way; go on without it, or tell the user what you would need.",
            kind="denied",
        ),
        metadata={"code": "denied", "refused": what, "asked": asked},
    )


def stopped(
    kind: StopKind, *, started: bool, read_only: bool, timeout_s: float = 0.0
) -> ToolOutput:
    """Return the result of a call that was stopped, saying what it may have done."""
    what = {
        "cancelled": "Cancelled by the user",
        "timeout": f"Stopped after the time limit of {timeout_s:g} s",
        "aborted_by_sibling": "Stopped because a related call of this step failed",
    }[kind]
    if not started:
        effect = "before it started; nothing was done"
    elif read_only:
        effect = "while it ran"
    else:
        effect = "while it ran; it may have had effects, so look before you try again"
    return failure(f"{what}, {effect}.", kind=kind)


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
