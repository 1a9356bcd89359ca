"""What waits for a person: questions and permission requests, of all sessions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from nuncius.core.errors import NotFoundError, UsageError
from nuncius.core.events import Event, PermissionResolved, QuestionResolved
from nuncius.core.text import clean
from nuncius.store.connection import Connection
from nuncius.store.names import close_names
from nuncius.store.protocols import PendingRequest
from nuncius.store.records import load_json, well_formed

MAX_ANSWER_CHARACTERS = 32_000
LATE_STATES = ("timed_out", "no_user")
"""States of a question that take an answer although the agent went on without it."""

_COLUMNS = """
    request.id, request.session_id, request.turn_id, request.agent, request.kind, request.state,
    request.created_at, request.tool_call_id, request.tool, request.arguments, request.args_sha256, request.reason,
    request.rule, request.scope, request.question, request.options, request.expires_at,
    request.answer
"""
_FIND = f"SELECT {_COLUMNS} FROM pending_requests AS request WHERE id = ?"  # noqa: S608  (our own columns)
_IDS = "SELECT id FROM pending_requests WHERE state IN ('open', 'timed_out')"
_WAITING = f"""
    SELECT {_COLUMNS} FROM pending_requests AS request
    JOIN agent_sessions AS session ON session.id = request.session_id
    WHERE request.state IN ('open', 'timed_out') AND session.status != 'deleted'
        AND (?1 = '' OR request.session_id = ?1)
    ORDER BY request.created_at, request.id
"""  # noqa: S608  (our own columns)
_UNDELIVERED = f"""
    SELECT {_COLUMNS} FROM pending_requests AS request INDEXED BY pending_requests_undelivered
    WHERE session_id = ? AND kind = 'question'
        AND delivered = 0 AND state IN ('answered', 'declined')
    ORDER BY created_at, id
"""  # noqa: S608  (our own columns)
_EXPIRE = "UPDATE pending_requests SET state = 'expired' WHERE id = ? AND state = 'open'"
_DELIVERED = "UPDATE pending_requests SET delivered = 1 WHERE session_id = ? AND id = ?"
_IS_OPEN = """
    SELECT NOT EXISTS (
        SELECT 1 FROM events INDEXED BY events_of_turns
        WHERE session_id = ?1 AND turn_id = ?2 AND type = 'turn_finished'
            AND type IN ('turn_started', 'turn_finished')
    )
"""

Commit = Callable[[Connection, Sequence[Event]], object]


def find(connection: Connection, request_id: str) -> PendingRequest:
    """Return one request, whatever its state.

    Raises:
        NotFoundError: There is none; close ids that wait are named.
    """
    row = connection.row(_FIND, (well_formed(request_id),))
    if row is None:
        near = close_names(request_id, [str(found[0]) for found in connection.rows(_IDS)])
        raise NotFoundError(
            f"There is no question or permission request {request_id}.",
            hint=f"Did you mean {', '.join(near)}?"
            if near
            else "`nuncius sessions pending` lists what waits.",
        )
    return _request(row)


def waiting(connection: Connection, session_id: str) -> Sequence[PendingRequest]:
    """Return what waits, oldest first; of all sessions where `session_id` is empty."""
    return [_request(row) for row in connection.rows(_WAITING, (session_id,))]


def undelivered(connection: Connection, session_id: str) -> Sequence[PendingRequest]:
    """Return the answered questions that no message tells the agent of yet."""
    return [_request(row) for row in connection.rows(_UNDELIVERED, (session_id,))]


def note_delivered(connection: Connection, session_id: str, metadata: Mapping[str, Any]) -> None:
    """Mark the answers that a stored message carries: in the message's own transaction."""
    delivers = metadata.get("delivers")
    if isinstance(delivers, (list, tuple)):
        for request_id in delivers:  # pyright: ignore[reportUnknownVariableType]  # JSON
            connection.run(_DELIVERED, (session_id, str(request_id)))  # pyright: ignore[reportUnknownArgumentType]


def answer(
    connection: Connection, commit: Commit, request_id: str, text: str | None
) -> PendingRequest:
    """Answer a question (None: decline it) and return it as it was before.

    Raises:
        NotFoundError: There is no such question.
        UsageError: It was answered before, or the answer is empty or too long.
    """
    found = find(connection, request_id)
    if found.kind != "question":
        raise UsageError(
            f"{request_id} is a permission request, not a question.", hint="Answer allow or deny."
        )
    if found.state != "open" and found.state not in LATE_STATES:
        raise UsageError(f"The question {request_id} was {found.state} before.")
    text = None if text is None else clean(text).strip()
    if text == "":
        raise UsageError("The answer is empty.", hint="Say something, or decline the question.")
    if text is not None and len(text) > MAX_ANSWER_CHARACTERS:
        raise UsageError(
            f"The answer has {len(text):,} characters; {MAX_ANSWER_CHARACTERS:,} are the most.",
            hint="Put long text in a file of the project and name the file.",
        )
    resolved = QuestionResolved(
        session_id=found.session_id,
        turn_id=_turn(connection, found),
        agent=found.agent,
        id=found.id,
        outcome="declined" if text is None else "answered",
        answer=text or "",
    )
    commit(connection, [resolved])
    return found


def decide(
    connection: Connection,
    commit: Commit,
    request_id: str,
    decision: Literal["allow", "deny"],
    *,
    scope: Literal["once", "session", "always"],
    args_sha256: str,
    alive: bool,
) -> PendingRequest:
    """Decide a permission request and return it as it is then.

    Where the call that asked is gone, the decision is recorded and the request stays `expired`:
    it can never let another call run.

    Args:
        alive: Whether a turn of its session runs.

    Raises:
        NotFoundError: There is no such request.
        UsageError: It was decided before, or `args_sha256` is not the digest of its arguments.
    """
    found = find(connection, request_id)
    if found.kind != "permission":
        raise UsageError(f"{request_id} is a question.", hint="Answer it in words.")
    if args_sha256 and args_sha256 != found.args_sha256:
        raise UsageError(
            f"The decision on {request_id} is for other arguments than the ones it asks for.",
            hint="Look at the request again.",
        )
    if found.state not in {"open", "expired"}:
        raise UsageError(f"The request {request_id} was decided before: {found.state}.")
    if not alive:
        connection.run(_EXPIRE, (found.id,))
    resolved = PermissionResolved(
        session_id=found.session_id,
        turn_id=_turn(connection, found),
        agent=found.agent,
        id=found.id,
        tool_call_id=found.tool_call_id,
        decision=decision,
        scope=scope,
        by="user",
    )
    commit(connection, [resolved])
    return find(connection, request_id)


def _turn(connection: Connection, request: PendingRequest) -> str:
    """Return the request's turn while it is open: nothing stands in a turn after its end."""
    open_still = connection.value(_IS_OPEN, (request.session_id, request.turn_id))
    return request.turn_id if open_still else ""


def _request(row: Sequence[Any]) -> PendingRequest:
    (
        request_id, session_id, turn_id, agent, kind, state, created_at, call_id, tool, arguments,
        digest, reason, rule, scope, question, options, expires_at, text,
    ) = row  # fmt: skip
    return PendingRequest(
        id=request_id,
        session_id=session_id,
        turn_id=turn_id,
        agent=agent,
        kind=kind,
        state=state,
        created_at=created_at,
        tool_call_id=call_id,
        tool=tool,
        arguments=load_json(arguments),
        args_sha256=digest,
        reason=reason,
        rule=rule,
        scope=scope,
        question=question,
        options=tuple(load_json(options)),
        expires_at=expires_at,
        answer=text,
    )
