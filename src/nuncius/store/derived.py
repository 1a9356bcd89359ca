"""The tables that follow from events: what runs, what is planned, what waits for a decision."""

from collections.abc import Mapping, Sequence
from typing import Any

from nuncius.core.events import (
    Event,
    PermissionRequest,
    PermissionResolved,
    Question,
    QuestionResolved,
    Todos,
    ToolCallEvent,
    ToolResultEvent,
    TurnFinished,
    TurnStarted,
    UsageEvent,
)
from nuncius.store.connection import Connection
from nuncius.store.records import dump_json

TITLE_LENGTH = 80

_CALL = """
    INSERT INTO tool_runs (session_id, tool_call_id, turn_id, step, agent, name, call_seq,
        started_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING
"""
# the first result of a call stands
_RESULT = """
    INSERT INTO tool_runs (session_id, tool_call_id, turn_id, step, agent, name, result_seq,
        started_at, finished_at, is_error, error_kind, duration_ms)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, ?10, ?11)
    ON CONFLICT DO UPDATE SET result_seq = ?7, finished_at = ?8, is_error = ?9, error_kind = ?10,
        duration_ms = ?11
    WHERE result_seq IS NULL
"""
_REQUEST = """
    INSERT INTO pending_requests (session_id, id, turn_id, agent, tool_call_id, tool, arguments,
        args_sha256, reason, rule, created_at, state)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open')
    ON CONFLICT DO NOTHING
"""
_RESOLVE = """
    UPDATE pending_requests SET state = ?, scope = ?, resolved_by = ?, resolved_at = ?
    WHERE session_id = ? AND id = ? AND kind = 'permission' AND state = 'open'
"""
# a question outlives its turn: the answer reaches the next one
_EXPIRE = """
    UPDATE pending_requests SET state = 'expired', resolved_at = ?
    WHERE session_id = ? AND turn_id = ? AND state = 'open' AND kind = 'permission'
"""
_QUESTION = """
    INSERT INTO pending_requests (session_id, id, turn_id, agent, tool_call_id, tool, arguments,
        args_sha256, reason, rule, created_at, state, kind, question, options, expires_at)
    VALUES (?, ?, ?, ?, '', 'ask_user', '{}', '', '', '', ?, 'open', 'question', ?, ?, ?)
    ON CONFLICT DO NOTHING
"""
# the first answer stands; after a time-out there may still come one
_END_QUESTION = """
    UPDATE pending_requests SET state = ?1, answer = ?2, resolved_at = ?3
    WHERE session_id = ?4 AND id = ?5 AND kind = 'question' AND (
        state = 'open' OR state IN ('timed_out', 'no_user') AND ?1 IN ('answered', 'declined')
    )
"""
_FORGET_TASKS = "DELETE FROM agent_tasks WHERE session_id = ?"
_TASK = """
    INSERT INTO agent_tasks (session_id, position, agent, task_id, content, status, json)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_START = """
    UPDATE agent_sessions SET status = 'running', mode = ?, model = ?, enable_thinking = ?
    WHERE id = ?
"""
_TITLE = "UPDATE agent_sessions SET title = ? WHERE id = ? AND title = ''"
_FINISH = "UPDATE agent_sessions SET status = ? WHERE id = ?"
_USAGE = """
    UPDATE agent_sessions SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
        cached_tokens = cached_tokens + ?, reasoning_tokens = reasoning_tokens + ?,
        cost_usd = CASE WHEN ?5 IS NULL THEN cost_usd ELSE coalesce(cost_usd, 0) + ?5 END
    WHERE id = ?6
"""


def derive(connection: Connection, events: Sequence[Event]) -> None:
    """Bring the derived tables up to date with `events`, which have their `seq` and `time`."""
    for event in events:
        match event:
            case ToolCallEvent():
                connection.run(
                    _CALL,
                    (
                        event.session_id, event.tool_call_id, event.turn_id, event.step,
                        event.agent, event.name, event.seq, event.time,
                    ),
                )  # fmt: skip
            case ToolResultEvent():
                connection.run(
                    _RESULT,
                    (
                        event.session_id, event.tool_call_id, event.turn_id, event.step,
                        event.agent, event.name, event.seq, event.time, event.is_error,
                        event.error_kind or "", event.duration_ms,
                    ),
                )  # fmt: skip
            case PermissionRequest():
                connection.run(
                    _REQUEST,
                    (
                        event.session_id, event.id, event.turn_id, event.agent,
                        event.tool_call_id, event.tool, dump_json(event.arguments),
                        event.args_sha256, event.reason, event.rule, event.time,
                    ),
                )  # fmt: skip
            case PermissionResolved():
                connection.run(
                    _RESOLVE,
                    (
                        event.decision, event.scope, event.by, event.time, event.session_id,
                        event.id,
                    ),
                )  # fmt: skip
            case Question():
                connection.run(
                    _QUESTION,
                    (
                        event.session_id, event.id, event.turn_id, event.agent, event.time,
                        event.question, dump_json(event.options), event.expires_at,
                    ),
                )  # fmt: skip
            case QuestionResolved():
                connection.run(
                    _END_QUESTION,
                    (event.outcome, event.answer, event.time, event.session_id, event.id),
                )
            case Todos():
                _replace_tasks(connection, event)
            case UsageEvent():
                connection.run(
                    _USAGE,
                    (
                        event.input_tokens, event.output_tokens, event.cached_tokens,
                        event.reasoning_tokens, event.cost_usd, event.session_id,
                    ),
                )  # fmt: skip
            case TurnStarted():
                _start(connection, event)
            case TurnFinished():
                _finish(connection, event)
            case _:
                pass  # shown and replayed, but nothing follows from it


def title_of(message: str) -> str:
    """Return the first line of a message as a session's title, cut at a word."""
    line = next((line for line in message.splitlines() if line.strip()), "")
    line = " ".join(line.split())
    if len(line) <= TITLE_LENGTH:
        return line
    cut = line[: TITLE_LENGTH - 1]
    at_word = cut.rpartition(" ")[0]
    return (at_word if len(at_word) > TITLE_LENGTH // 2 else cut) + "…"


def entitle(connection: Connection, session_id: str, message: str) -> None:
    """Give a session that has no title one from its first user message."""
    connection.run(_TITLE, (title_of(message), session_id))


def _start(connection: Connection, event: TurnStarted) -> None:
    if event.agent != "main":
        return  # a subagent's turn is part of its session's
    connection.run(_START, (event.mode, event.model, event.enable_thinking, event.session_id))
    entitle(connection, event.session_id, event.message)


def _finish(connection: Connection, event: TurnFinished) -> None:
    connection.run(_EXPIRE, (event.time, event.session_id, event.turn_id))
    if event.agent == "main":
        connection.run(_FINISH, (event.status, event.session_id))


def _replace_tasks(connection: Connection, event: Todos) -> None:
    connection.run(_FORGET_TASKS, (event.session_id,))
    for position, todo in enumerate(event.todos):
        connection.run(
            _TASK,
            (
                event.session_id, position, event.agent, _text(todo, "id"),
                _text(todo, "content"), _text(todo, "status"), dump_json(todo),
            ),
        )  # fmt: skip


def _text(todo: Mapping[str, Any], name: str) -> str:
    return str(todo.get(name, ""))
