"""How a session's rows go: hidden at once, then deleted in short transactions.

One that is cut off leaves a hidden session; the next start goes on with it.
"""

from collections.abc import Sequence

from nuncius.store.connection import Connection

_ROWS = 500  # a transaction, so that it stays short
_HIDE = "UPDATE agent_sessions SET status = 'deleted' WHERE id = ?"
_HIDDEN = "SELECT id FROM agent_sessions WHERE status = 'deleted'"
_EVENTS = """
    DELETE FROM events WHERE id IN (SELECT id FROM events WHERE session_id = ?1 LIMIT ?2)
"""
_MESSAGES = """
    DELETE FROM agent_messages
    WHERE id IN (SELECT id FROM agent_messages WHERE session_id = ?1 LIMIT ?2)
"""
_RUNS = """
    DELETE FROM tool_runs WHERE session_id = ?1 AND tool_call_id IN
        (SELECT tool_call_id FROM tool_runs WHERE session_id = ?1 LIMIT ?2)
"""
_IN_PARTS = (_EVENTS, _MESSAGES, _RUNS)
_WHOLE = (
    "DELETE FROM agent_tasks WHERE session_id = ?",
    "DELETE FROM pending_requests WHERE session_id = ?",
    "DELETE FROM permission_rules WHERE session_id = ?",
    "DELETE FROM agent_sessions WHERE id = ?",
)


def hide(connection: Connection, session_id: str) -> None:
    """Take a session out of sight."""
    connection.run(_HIDE, (session_id,))


def hidden(connection: Connection) -> Sequence[str]:
    """Return the sessions whose rows are still to go."""
    return [str(row[0]) for row in connection.rows(_HIDDEN)]


def go_on(connection: Connection, session_id: str) -> bool:
    """Delete some rows of a session and return whether there are more."""
    for sql in _IN_PARTS:
        connection.run(sql, (session_id, _ROWS))
        if connection.changes:
            return True
    for sql in _WHOLE:
        connection.run(sql, (session_id,))
    return False
