"""The audit log."""

import apsw
import pytest

from nuncius.core.events import PermissionResolved, TextDelta
from nuncius.store.connection import Connection
from nuncius.store.sqlite import SqliteStore
from store.samples import call, request, result


async def _some_acts(store: SqliteStore) -> str:
    session = await store.journal.create_session()
    decided = PermissionResolved(
        session_id=session.id, id="p1", tool_call_id="c1", decision="deny", by="user"
    )
    delta = TextDelta(session_id=session.id, text="not an act")
    await store.journal.commit([call(session.id), request(session.id)])
    await store.journal.commit([decided, delta, result(session.id)])
    return session.id


async def test_acts_and_decisions_are_logged_and_nothing_else(store: SqliteStore) -> None:
    session_id = await _some_acts(store)
    rows = await store.journal.audit(session_id=session_id)
    assert [(row.type, row.tool, row.outcome) for row in rows] == [
        ("tool_call", "grep_files", ""),
        ("permission_request", "run_bash", "run_bash(ls)"),
        ("permission_resolved", "", "deny once by user"),
        ("tool_result", "grep_files", "ok"),
    ]
    assert [row.seq for row in await store.journal.audit(tool="grep_files")] == [1, 5]
    assert await store.journal.verify_audit() == []


async def test_the_log_refuses_to_be_changed(store: SqliteStore) -> None:
    await _some_acts(store)
    connection = Connection(store.path)
    for sql in ("DELETE FROM agent_audit_log", "UPDATE agent_audit_log SET outcome = 'ok'"):
        with pytest.raises(apsw.ConstraintError, match="append-only"):
            connection.run(sql)
    connection.close()


@pytest.mark.parametrize(
    ("tampering", "told"),
    [
        ("UPDATE agent_audit_log SET outcome = 'allow once by user' WHERE id = 3", "audit row 3"),
        ("DELETE FROM agent_audit_log WHERE id = 2", "audit row 3"),
        ("UPDATE events SET json = replace(json, 'found', 'lost') WHERE seq = 5", "event 5"),
    ],
)
async def test_verify_tells_where_somebody_changed_it(
    store: SqliteStore, tampering: str, told: str
) -> None:
    await _some_acts(store)
    connection = Connection(store.path)
    connection.run("DROP TRIGGER agent_audit_log_stays; DROP TRIGGER agent_audit_log_is_final")
    connection.run(tampering)
    connection.close()
    (wrong,) = await store.journal.verify_audit()
    assert told in wrong
    assert wrong in await store.check()
