"""The audit log: one row for each act and decision, chained by digests, never changed."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from nuncius.core.events import (
    Event,
    PermissionRequest,
    PermissionResolved,
    ToolCallEvent,
    ToolResultEvent,
)
from nuncius.store.connection import Connection

_FIRST = "0" * 64

_INSERT = """
    INSERT INTO agent_audit_log (session_id, seq, turn_id, agent, time, type, tool, tool_call_id,
        outcome, event_sha256, chain_sha256)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_LAST = "SELECT chain_sha256 FROM agent_audit_log ORDER BY id DESC LIMIT 1"
_ALL = """
    SELECT log.id, log.session_id, log.seq, log.turn_id, log.agent, log.time, log.type, log.tool,
        log.tool_call_id, log.outcome, log.event_sha256, log.chain_sha256, CAST(events.json AS BLOB)
    FROM agent_audit_log AS log
    LEFT JOIN events ON events.session_id = log.session_id AND events.seq = log.seq
    ORDER BY log.id
"""
_SELECT = """
    SELECT id, session_id, seq, turn_id, agent, time, type, tool, tool_call_id, outcome,
        event_sha256, chain_sha256
    FROM agent_audit_log
    WHERE id > :after AND (:session_id = '' OR session_id = :session_id)
        AND (:tool = '' OR tool = :tool)
    ORDER BY id LIMIT :limit
"""


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One act or decision. It holds no words of the session, only the digest of its event."""

    id: int
    session_id: str
    seq: int
    turn_id: str
    agent: str
    time: str
    type: str
    tool: str
    tool_call_id: str
    outcome: str
    """Of a result: ``ok`` or the error's kind; of a decision: ``allow once by user``."""
    event_sha256: str
    chain_sha256: str


def append(connection: Connection, events: Iterable[tuple[Event, str]]) -> None:
    """Add a row for each event (with its JSON) that is an act or a decision."""
    rows: list[tuple[Any, ...]] = []
    chain = ""
    for event, text in events:
        entry = _entry(event)
        if entry is None:
            continue
        if not chain:
            chain = _last_chain(connection)
        row = (event.session_id, event.seq, event.turn_id, event.agent, event.time, event.type)
        digest = hashlib.sha256(text.encode()).hexdigest()
        chain = _link(chain, (*row, *entry, digest))
        rows.append((*row, *entry, digest, chain))
    if rows:
        connection.many(_INSERT, rows)


def rows(
    connection: Connection, *, session_id: str, tool: str, after: int, limit: int
) -> Sequence[AuditRow]:
    """Return the rows with id > `after`, oldest first; empty names match all."""
    found = connection.rows(
        _SELECT, {"session_id": session_id, "tool": tool, "after": after, "limit": limit}
    )
    return [AuditRow(*row) for row in found]


def verify(connection: Connection) -> Sequence[str]:
    """Return each place where the log, or a stored event it vouches for, was changed."""
    wrong: list[str] = []
    chain = _FIRST
    for number, *fields, digest, linked, text in connection.rows(_ALL):
        chain = _link(chain, (*fields, digest))
        if chain != linked:
            wrong.append(f"audit row {number} does not follow from the row before it")
            chain = linked  # tell of one break once
        if text is not None and hashlib.sha256(text).hexdigest() != digest:
            wrong.append(
                f"event {fields[1]} of session {fields[0]} was changed after it was logged"
            )
    return wrong


def _last_chain(connection: Connection) -> str:
    return str(connection.value(_LAST) or _FIRST)


def _link(previous: str, row: Iterable[Any]) -> str:
    # the unit separator keeps ("ab", "c") and ("a", "bc") apart
    return hashlib.sha256("\x1f".join((previous, *map(str, row))).encode()).hexdigest()


def _entry(event: Event) -> tuple[str, str, str] | None:
    """Return tool, call id and outcome where the event belongs into the log."""
    match event:
        case ToolCallEvent():
            return event.name, event.tool_call_id, ""
        case ToolResultEvent():
            outcome = (event.error_kind or "error") if event.is_error else "ok"
            return event.name, event.tool_call_id, outcome
        case PermissionRequest():
            return event.tool, event.tool_call_id, event.rule
        case PermissionResolved():
            return "", event.tool_call_id, f"{event.decision} {event.scope} by {event.by}"
        case _:
            return None
