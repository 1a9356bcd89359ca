"""Sessions, messages and events: what was said and done, in order, never changed."""

import logging
import re
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError
from typing_extensions import override

from nuncius.core.errors import NotFoundError, SessionBusyError
from nuncius.core.events import Event, Notice, PermissionMode, load_event
from nuncius.core.messages import StoredMessage, Usage
from nuncius.core.shapes import is_object
from nuncius.store import audit, deletion, metrics, pending
from nuncius.store.clock import now
from nuncius.store.connection import Connection
from nuncius.store.database import Database
from nuncius.store.derived import derive, entitle
from nuncius.store.lease import HeldError, is_held, take
from nuncius.store.names import close_names
from nuncius.store.protocols import JournalStore, PendingRequest, Session, SessionPage
from nuncius.store.records import (
    dump_json,
    load_json,
    message_row,
    read_message,
    stamp,
    well_formed,
)

_LOG = logging.getLogger(__name__)
_CURSOR = re.compile(r"[0-9]{1,18}")
_SESSION_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"

_CREATE = """
    INSERT INTO agent_sessions (id, title, created_at, status, mode, model, enable_thinking)
    VALUES (?, ?, ?, 'idle', ?, ?, ?)
"""
_SESSION = """
    SELECT id, title, created_at, status, mode, model, enable_thinking, summary, input_tokens,
        output_tokens, cached_tokens, reasoning_tokens, cost_usd
    FROM agent_sessions WHERE id = ? AND status != 'deleted'
"""
_SESSIONS = """
    SELECT id, title, created_at, status, mode, model, enable_thinking, summary, input_tokens,
        output_tokens, cached_tokens, reasoning_tokens, cost_usd, number
    FROM agent_sessions AS session
    WHERE status != 'deleted' AND (
        :pattern = '%%' OR title LIKE :pattern ESCAPE '\\'
        OR EXISTS (
            SELECT 1 FROM agent_messages
            WHERE session_id = session.id AND content LIKE :pattern ESCAPE '\\'
        )
    )
    AND (NOT :spoken OR EXISTS (
        SELECT 1 FROM agent_messages WHERE session_id = session.id AND role = 'user'
    ))
    AND number < :before
    ORDER BY number DESC LIMIT :limit
"""
_NEWEST = 2**63 - 1
_AGENTS = """
    SELECT agent_name FROM agent_messages WHERE session_id = ?
    GROUP BY agent_name ORDER BY agent_name != 'main', min(id)
"""
_IDS = "SELECT id FROM agent_sessions WHERE status != 'deleted'"
_SUMMARY = "UPDATE agent_sessions SET summary = ? WHERE id = ?"
_THINK = "UPDATE agent_sessions SET enable_thinking = ? WHERE id = ? AND status != 'deleted'"
_RENAME = "UPDATE agent_sessions SET title = ? WHERE id = ? AND status != 'deleted'"
_LAST_SEQ = """
    SELECT (SELECT max(seq) FROM events WHERE session_id = ?1)
    FROM agent_sessions WHERE id = ?1 AND status != 'deleted'
"""
_EVENT = """
    INSERT INTO events (session_id, seq, turn_id, agent, type, time, json)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_MESSAGE = """
    INSERT INTO agent_messages (session_id, turn_id, agent_name, role, content, name,
        tool_call_id, is_error, tool_calls, thinking, metadata, raw_json, time)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
# as bytes: a record that is no UTF-8 is one bad record, not a failed query
_MESSAGES = """
    SELECT id, turn_id, role, CAST(content AS BLOB), name, tool_call_id, is_error,
        CAST(tool_calls AS BLOB), CAST(thinking AS BLOB), CAST(metadata AS BLOB),
        CAST(raw_json AS BLOB)
    FROM agent_messages WHERE session_id = ? AND agent_name = ? ORDER BY id
"""
_EVENTS = """
    SELECT seq, type, CAST(json AS BLOB) FROM events
    WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?
"""
# the partial index keeps this flat: SQLite uses it only where its condition is repeated
_LAST_SEQS = """
    SELECT value, (SELECT max(seq) FROM events WHERE session_id = value) FROM json_each(?)
"""
_OPEN_TURNS = """
    SELECT turn_id FROM events AS started INDEXED BY events_of_turns
    WHERE session_id = ?1 AND type = 'turn_started' AND type IN ('turn_started', 'turn_finished')
        AND NOT EXISTS (
            SELECT 1 FROM events AS finished INDEXED BY events_of_turns
            WHERE finished.session_id = ?1 AND finished.type = 'turn_finished'
                AND finished.type IN ('turn_started', 'turn_finished')
                AND finished.turn_id = started.turn_id
        )
    ORDER BY seq
"""
_OPEN_CALLS = """
    SELECT turn_id, tool_call_id, name FROM tool_runs
    WHERE session_id = ? AND result_seq IS NULL ORDER BY call_seq
"""
_TODOS = "SELECT json FROM agent_tasks WHERE session_id = ? ORDER BY position"


class Journal(JournalStore):
    """The journal in SQLite.

    Args:
        database: Where it is kept.
        leases: Folder of the sessions' leases.
    """

    def __init__(self, database: Database, leases: Path) -> None:
        self._database = database
        self._leases = leases

    # --- sessions ---------------------------------------------------------------------------------

    @override
    async def create_session(
        self,
        *,
        title: str = "",
        mode: PermissionMode = "ask",
        model: str = "",
        enable_thinking: bool = False,
    ) -> Session:
        session_id = "".join(secrets.choice(_ALPHABET) for _ in range(12))
        row = (session_id, well_formed(title), now(), mode, well_formed(model), enable_thinking)

        def create(connection: Connection) -> Session:
            connection.run(_CREATE, row)
            return _find(connection, session_id)

        return await self._database.write(create)

    @override
    async def session(self, session_id: str) -> Session:
        return await self._database.read(lambda connection: _find(connection, session_id))

    @override
    async def sessions(
        self, *, limit: int = 50, text: str = "", spoken: bool = False
    ) -> Sequence[Session]:
        return (await self.session_page(limit=limit, text=text, spoken=spoken)).sessions

    @override
    async def session_page(
        self, *, limit: int, text: str = "", spoken: bool = False, cursor: str = ""
    ) -> SessionPage:
        escaped = re.sub(r"([\\%_])", r"\\\1", well_formed(text))
        before = int(cursor) if _CURSOR.fullmatch(cursor) else 0 if cursor else _NEWEST
        values = {"pattern": f"%{escaped}%", "spoken": spoken, "before": before, "limit": limit + 1}
        rows = await self._database.read(lambda connection: connection.rows(_SESSIONS, values))
        shown = rows[:limit]
        cursor = str(shown[-1][-1]) if len(rows) > limit else ""
        return SessionPage([_session(row) for row in shown], cursor)

    @override
    async def rename_session(self, session_id: str, title: str) -> None:
        def rename(connection: Connection) -> None:
            _find(connection, session_id)
            connection.run(_RENAME, (well_formed(title), session_id))

        await self._database.write(rename)

    @override
    async def set_thinking(self, session_id: str, *, enable_thinking: bool) -> None:
        def change(connection: Connection) -> None:
            _find(connection, session_id)
            connection.run(_THINK, (enable_thinking, session_id))

        await self._database.write(change)

    @override
    async def delete_session(
        self, session_id: str, *, first: Callable[[], Awaitable[object]] | None = None
    ) -> None:
        async with self.lease(session_id):
            await self.session(session_id)
            if first:
                await first()

            def hide(connection: Connection) -> None:
                _find(connection, session_id)
                deletion.hide(connection, session_id)

            await self._database.write(hide)
            await self.finish_deletions()

    async def finish_deletions(self) -> None:
        """Delete the rows of hidden sessions, also of those whose deletion was cut off."""
        for session_id in await self._database.read(deletion.hidden):
            while await self._database.write(
                lambda connection, session_id=session_id: deletion.go_on(connection, session_id)
            ):
                pass

    # --- writing ----------------------------------------------------------------------------------

    @override
    async def commit(
        self,
        events: Sequence[Event],
        messages: Sequence[StoredMessage] = (),
        *,
        durable: bool = False,
    ) -> Sequence[Event]:
        return await self._database.write(
            lambda connection: _commit(connection, events, messages), durable=durable
        )

    # --- reading ----------------------------------------------------------------------------------

    @override
    async def messages(self, session_id: str, agent: str = "main") -> Sequence[StoredMessage]:
        rows = await self._database.read(
            lambda connection: connection.rows(_MESSAGES, (session_id, agent))
        )
        found: list[StoredMessage] = []
        for number, *row in rows:
            try:
                found.append(read_message(session_id, agent, row))
            except (ValueError, TypeError, KeyError) as error:
                _LOG.warning(
                    "message %s of session %s cannot be read and is left out: %s",
                    number, session_id, error,
                )  # fmt: skip
        return found

    @override
    async def agents(self, session_id: str) -> Sequence[str]:
        rows = await self._database.read(
            lambda connection: connection.rows(_AGENTS, (well_formed(session_id),))
        )
        return [str(row[0]) for row in rows]

    @override
    async def events(
        self, session_id: str, *, after: int = 0, limit: int | None = None
    ) -> Sequence[Event]:
        values = (session_id, after, -1 if limit is None else limit)
        rows = await self._database.read(lambda connection: connection.rows(_EVENTS, values))
        return [_read_event(session_id, *row) for row in rows]

    @override
    async def last_seqs(self, session_ids: Sequence[str]) -> Mapping[str, int]:
        names = dump_json(list(session_ids))
        rows = await self._database.read(lambda connection: connection.rows(_LAST_SEQS, (names,)))
        return {str(name): int(seq or 0) for name, seq in rows}

    @override
    async def open_turns(self, session_id: str) -> Sequence[str]:
        return await self._database.read(
            lambda connection: [str(row[0]) for row in connection.rows(_OPEN_TURNS, (session_id,))]
        )

    @override
    async def open_calls(self, session_id: str) -> Sequence[tuple[str, str, str]]:
        return await self._database.read(
            lambda connection: [
                (str(turn), str(call), str(name))
                for turn, call, name in connection.rows(_OPEN_CALLS, (session_id,))
            ]
        )

    @override
    async def todos(self, session_id: str) -> Sequence[Mapping[str, Any]]:
        return await self._database.read(
            lambda connection: [load_json(row[0]) for row in connection.rows(_TODOS, (session_id,))]
        )

    # --- what waits for a person -------------------------------------------------------------------

    @override
    async def pending(self, session_id: str = "") -> Sequence[PendingRequest]:
        found = await self._database.read(
            lambda connection: pending.waiting(connection, session_id)
        )
        running = {
            name: self.lease_is_held(name)
            for name in {request.session_id for request in found if request.kind == "permission"}
        }
        return [r for r in found if r.kind == "question" or running[r.session_id]]

    @override
    async def pending_request(self, request_id: str) -> PendingRequest:
        return await self._database.read(lambda connection: pending.find(connection, request_id))

    @override
    async def undelivered(self, session_id: str) -> Sequence[PendingRequest]:
        return await self._database.read(
            lambda connection: pending.undelivered(connection, session_id)
        )

    @override
    async def answer_question(self, request_id: str, answer: str | None) -> PendingRequest:
        return await self._database.write(
            lambda connection: pending.answer(connection, _commit, request_id, answer),
            durable=True,
        )

    @override
    async def decide_request(
        self,
        request_id: str,
        decision: Literal["allow", "deny"],
        *,
        scope: Literal["once", "session", "always"] = "once",
        args_sha256: str = "",
    ) -> PendingRequest:
        request = await self.pending_request(request_id)
        alive = self.lease_is_held(request.session_id)
        return await self._database.write(
            lambda connection: pending.decide(
                connection, _commit, request_id, decision,
                scope=scope, args_sha256=args_sha256, alive=alive,
            ),
            durable=True,
        )  # fmt: skip

    async def audit(
        self, *, session_id: str = "", tool: str = "", after: int = 0, limit: int = 1000
    ) -> Sequence[audit.AuditRow]:
        """Return rows of the audit log with id > `after`, oldest first; empty names match all."""
        return await self._database.read(
            lambda connection: audit.rows(
                connection, session_id=session_id, tool=tool, after=after, limit=limit
            )
        )

    async def metrics(self, session_id: str = "") -> metrics.Metrics:
        """Return what a session used, in numbers; all sessions where none is named."""
        return await self._database.read(lambda connection: metrics.read(connection, session_id))

    async def verify_audit(self) -> Sequence[str]:
        """Return each place where the audit log, or an event in it, was changed; empty for none."""
        return await self._database.read(audit.verify)

    # --- leases -----------------------------------------------------------------------------------

    @override
    @asynccontextmanager
    async def lease(self, session_id: str) -> AsyncGenerator[None, None]:
        try:
            lease = await take(self._lease_path(session_id))
        except HeldError as error:
            raise SessionBusyError(
                f"A turn of session {session_id} is running ({error.holder or 'another process'}).",
                hint="Wait for it, cancel it, or use another session.",
            ) from error
        try:
            yield
        finally:
            lease.release()

    @override
    def lease_is_held(self, session_id: str) -> bool:
        return is_held(self._lease_path(session_id))

    def _lease_path(self, session_id: str) -> Path:
        if not _SESSION_ID.fullmatch(session_id):
            raise NotFoundError(f"There is no session {session_id!r}: that is no session's id.")
        return self._leases / f"{session_id}.lock"


def _commit(
    connection: Connection, events: Sequence[Event], messages: Sequence[StoredMessage] = ()
) -> Sequence[Event]:
    time = now()
    last: dict[str, int] = {}
    for record in (*events, *messages):
        if record.session_id not in last:
            last[record.session_id] = _last_seq(connection, record.session_id)
    placed: list[tuple[Event, str]] = []
    for event in events:
        last[event.session_id] += 1
        placed.append(stamp(event, last[event.session_id], time))
    connection.many(
        _EVENT,
        [(e.session_id, e.seq, e.turn_id, e.agent, e.type, e.time, text) for e, text in placed],
    )
    stamped = [event for event, _ in placed]
    derive(connection, stamped)
    audit.append(connection, placed)
    for message in messages:
        connection.run(_MESSAGE, message_row(message, time))
        if "delivers" in message.metadata:
            pending.note_delivered(connection, message.session_id, message.metadata)
        if message.message.role == "user" and message.agent == "main":
            entitle(connection, message.session_id, well_formed(message.message.content))
        if _is_summary(message):
            connection.run(_SUMMARY, (well_formed(message.message.content), message.session_id))
    return stamped


def _is_summary(stored: StoredMessage) -> bool:
    """Tell whether the message is what the main agent's older messages were summarised to."""
    compaction = stored.metadata.get("compaction")
    is_main = stored.agent == "main" and stored.message.role == "system"
    return is_main and is_object(compaction) and compaction.get("tail") is not None


def _last_seq(connection: Connection, session_id: str) -> int:
    row = connection.row(_LAST_SEQ, (well_formed(session_id),))
    if row is None:
        raise _unknown(connection, session_id)
    return row[0] or 0


def _find(connection: Connection, session_id: str) -> Session:
    row = connection.row(_SESSION, (well_formed(session_id),))
    if row is None:
        raise _unknown(connection, session_id)
    return _session(row)


def _unknown(connection: Connection, session_id: str) -> NotFoundError:
    ids = [str(row[0]) for row in connection.rows(_IDS)]
    near = close_names(session_id, ids)
    return NotFoundError(
        f"There is no session {session_id}.",
        hint=f"Did you mean {', '.join(near)}?" if near else "`nuncius sessions list` shows all.",
    )


def _session(row: Sequence[Any]) -> Session:
    return Session(
        id=row[0],
        title=row[1],
        created_at=row[2],
        status=row[3],
        mode=row[4],
        model=row[5],
        enable_thinking=bool(row[6]),
        summary=row[7],
        usage=Usage(*row[8:13]),
    )


def _read_event(session_id: str, seq: int, kind: str, text: bytes) -> Event:
    try:
        return load_event(text)
    except ValidationError:
        return Notice(
            session_id=session_id,
            seq=seq,
            level="warning",
            text=f"Event {seq} ({kind}) cannot be read by this version and is left out.",
        )
