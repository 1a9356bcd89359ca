"""A session's summary follows from the rows that hold one."""

from typing import Any

import pytest

from nuncius.core.messages import Message, StoredMessage
from nuncius.store.sqlite import SqliteStore

SUMMARY: dict[str, Any] = {"compaction": {"head": [], "tail": 2, "masks": []}}
MASKS: dict[str, Any] = {"compaction": {"head": [], "tail": None, "masks": []}}


async def test_the_last_summary_is_the_sessions(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    for text in ("First.", "Second \ud800."):
        row = StoredMessage(session.id, "t", Message("system", text), metadata=SUMMARY)
        await store.journal.commit([], [row])
    assert (await store.journal.session(session.id)).summary == "Second \ufffd."
    assert [m.metadata for m in await store.journal.messages(session.id)] == [SUMMARY] * 2


@pytest.mark.parametrize(
    ("role", "agent", "metadata"),
    [
        ("system", "main", MASKS),
        ("system", "helper", SUMMARY),
        ("tool", "main", SUMMARY),
        ("system", "main", {"compaction": "x"}),
    ],
)
async def test_nothing_else_is(
    store: SqliteStore, role: Any, agent: str, metadata: dict[str, Any]
) -> None:
    session = await store.journal.create_session()
    row = StoredMessage(session.id, "t", Message(role, "No."), agent, metadata)
    await store.journal.commit([], [row])
    assert (await store.journal.session(session.id)).summary == ""
