"""Sessions, messages and events."""

import asyncio
import logging

import pytest

from nuncius.core.errors import NotFoundError
from nuncius.core.events import (
    Notice,
    PermissionResolved,
    TextDelta,
    Todos,
    ToolResultEvent,
    UsageEvent,
    dump_event,
)
from nuncius.core.messages import Message, StoredMessage, Thinking, ToolCall
from nuncius.store.connection import Connection
from nuncius.store.protocols import SessionPage
from nuncius.store.sqlite import SqliteStore
from store.samples import call, finish, request, result, said, turn


async def test_events_come_back_as_they_were_returned(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    committed = await store.journal.commit(
        [turn(session.id), call(session.id), result(session.id), finish(session.id)]
    )
    assert [event.seq for event in committed] == [1, 2, 3, 4]
    assert all(event.time.endswith("Z") for event in committed)
    assert await store.journal.events(session.id) == committed


async def test_seq_grows_by_one_in_each_session_whoever_commits(store: SqliteStore) -> None:
    first = await store.journal.create_session()
    second = await store.journal.create_session()
    sessions = [first.id, second.id] * 50
    await asyncio.gather(
        *(store.journal.commit([call(name, f"c{i}")]) for i, name in enumerate(sessions))
    )
    for session in (first, second):
        events = await store.journal.events(session.id)
        assert [event.seq for event in events] == list(range(1, 51))


async def test_events_are_read_after_a_place_and_up_to_a_limit(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    await store.journal.commit([call(session.id, f"c{i}") for i in range(10)])
    found = await store.journal.events(session.id, after=3, limit=2)
    assert [event.seq for event in found] == [4, 5]


async def test_the_first_user_message_becomes_the_title(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    long = "\n  What is the rotation period of stars in the Psc-Eri stream and how was it measured?\nTell me."
    await store.journal.commit([turn(session.id, message=long)])
    await store.journal.commit([turn(session.id, "t2", "And its age?")])
    title = (await store.journal.session(session.id)).title
    assert title == "What is the rotation period of stars in the Psc-Eri stream and how was it…"
    assert len(title) <= 80


async def test_a_given_title_stays(store: SqliteStore) -> None:
    session = await store.journal.create_session(title="Gyrochronology")
    await store.journal.commit([turn(session.id)], [said(session.id, "How old?")])
    assert (await store.journal.session(session.id)).title == "Gyrochronology"
    await store.journal.rename_session(session.id, "Ages")
    assert (await store.journal.session(session.id)).title == "Ages"


async def test_the_session_follows_its_turns(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    assert session.status == "idle"
    assert session.usage.cost_usd is None
    await store.journal.commit([turn(session.id)])
    running = await store.journal.session(session.id)
    assert (running.status, running.mode, running.model) == ("running", "auto", "scripted")
    usage = UsageEvent(session_id=session.id, input_tokens=10, output_tokens=2)
    priced = usage.model_copy(update={"cost_usd": 0.5})
    await store.journal.commit([usage, priced, finish(session.id, status="cancelled")])
    after = await store.journal.session(session.id)
    assert after.status == "cancelled"
    assert (after.usage.input_tokens, after.usage.output_tokens) == (20, 4)
    assert after.usage.cost_usd == pytest.approx(0.5)


async def test_a_subagents_turn_does_not_end_its_sessions(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    await store.journal.commit([turn(session.id)])
    ended = finish(session.id, "sub-1").model_copy(update={"agent": "reader"})
    await store.journal.commit([ended])
    assert (await store.journal.session(session.id)).status == "running"


async def test_open_turns_and_calls_are_those_without_an_end(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    await store.journal.commit([turn(session.id, "t0"), finish(session.id, "t0")])
    await store.journal.commit(
        [turn(session.id), call(session.id, "c2"), call(session.id, "c1"), result(session.id, "c2")]
    )
    assert await store.journal.open_turns(session.id) == ["t1"]
    assert await store.journal.open_calls(session.id) == [("t1", "c1", "grep_files")]
    await store.journal.commit([result(session.id), finish(session.id)])
    assert await store.journal.open_turns(session.id) == []
    assert await store.journal.open_calls(session.id) == []


async def test_the_first_result_of_a_call_stands(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    failed = result(session.id).model_copy(update={"is_error": True, "error_kind": "timeout"})
    await store.journal.commit([call(session.id), failed, result(session.id)])
    rows = _rows(store, "SELECT is_error, error_kind, result_seq, duration_ms FROM tool_runs")
    assert rows == [(1, "timeout", 2, 7)]


async def test_todos_are_the_list_as_last_written(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    first: tuple[dict[str, object], ...] = (
        {"id": "1", "content": "read", "status": "pending", "blockedBy": []},
    )
    second: tuple[dict[str, object], ...] = (
        {"id": "2", "content": "measure", "status": "in_progress", "blockedBy": ["1"]},
        {"id": "1", "content": "read", "status": "completed", "blockedBy": []},
    )
    await store.journal.commit([Todos(session_id=session.id, todos=first)])
    await store.journal.commit([Todos(session_id=session.id, todos=second)])
    assert await store.journal.todos(session.id) == list(second)
    await store.journal.commit([Todos(session_id=session.id, todos=())])
    assert await store.journal.todos(session.id) == []


async def test_a_request_is_open_until_decided_or_the_turn_ends(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    states = "SELECT id, state, scope FROM pending_requests ORDER BY id"
    await store.journal.commit([turn(session.id), request(session.id), request(session.id, "p2")])
    assert _rows(store, states) == [("p1", "open", ""), ("p2", "open", "")]
    decided = PermissionResolved(
        session_id=session.id, id="p1", decision="allow", scope="session", by="user"
    )
    await store.journal.commit([decided])
    await store.journal.commit([finish(session.id)])
    assert _rows(store, states) == [("p1", "allow", "session"), ("p2", "expired", "")]


async def test_messages_come_back_whole_and_apart_by_agent(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    asked = StoredMessage(
        session.id,
        "t1",
        Message(
            "assistant",
            "I look.\r\n\tζ Pup, 星系, \x00",
            tool_calls=(ToolCall("c1", "grep_files", '{"pattern": "a"}', "prov-1"),),
            thinking=(Thinking("x/y", "hm", {"sig": [1, None]}), Thinking("x/y", "")),
        ),
        metadata={"evidence": [{"id": "k3f2a9c1-12"}]},
        raw='{"choices": []}',
    )
    answered = StoredMessage(
        session.id, "t1", Message("tool", "no", tool_call_id="c1", name="grep_files", is_error=True)
    )
    await store.journal.commit([], [said(session.id, "Hi"), asked, answered])
    await store.journal.commit([], [said(session.id, "sub", agent="reader")])
    found = await store.journal.messages(session.id)
    assert found == [said(session.id, "Hi"), asked, answered]
    assert [m.message.content for m in await store.journal.messages(session.id, "reader")] == [
        "sub"
    ]


async def test_events_and_messages_of_a_commit_are_written_together_or_not(
    store: SqliteStore,
) -> None:
    session = await store.journal.create_session()
    with pytest.raises(NotFoundError):
        await store.journal.commit([call(session.id)], [said("nosuchsession", "x")])
    assert await store.journal.events(session.id) == []
    assert _rows(store, "SELECT count(*) FROM agent_audit_log") == [(0,)]


async def test_what_json_cannot_hold_is_repaired_the_same_for_live_and_replay(
    store: SqliteStore,
) -> None:
    session = await store.journal.create_session()
    odd = result(session.id, output="bad \ud800 half").model_copy(
        update={
            "metadata": {
                "n": float("nan"),
                "what": {1, 2},
                "who": object,
                "t\udfff": "\ud83d\ude00",
            }
        }
    )
    (live,) = await store.journal.commit([odd], [said(session.id, "lone \udc80 half")])
    assert isinstance(live, ToolResultEvent)
    assert live.output == "bad � half"
    (replayed,) = await store.journal.events(session.id)
    assert dump_event(replayed) == dump_event(live)
    assert (await store.journal.messages(session.id))[0].message.content == "lone � half"


@pytest.mark.parametrize(
    "damage",
    [
        'UPDATE events SET json = \'{"type": "text_del\' WHERE seq = 2',
        'UPDATE events SET json = \'{"type": "from_the_future"}\' WHERE seq = 2',
        "UPDATE events SET json = CAST(x'7b22ff00' AS TEXT) WHERE seq = 2",
        "UPDATE events SET json = CAST(zeroblob(300) AS TEXT) WHERE seq = 2",
    ],
)
async def test_an_unreadable_event_becomes_a_notice_in_its_place(
    store: SqliteStore, damage: str
) -> None:
    session = await store.journal.create_session()
    await store.journal.commit([TextDelta(session_id=session.id, text=str(i)) for i in range(3)])
    _rows(store, damage)
    first, notice, last = await store.journal.events(session.id)
    assert isinstance(notice, Notice)
    assert notice.seq == 2
    assert "2 (text_delta)" in notice.text
    assert (first.seq, last.seq) == (1, 3)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE agent_messages SET tool_calls = '[{' WHERE content = 'two'",
        "UPDATE agent_messages SET tool_calls = '[{\"foreign\": 1}]' WHERE content = 'two'",
        "UPDATE agent_messages SET role = 'oracle' WHERE content = 'two'",
        "UPDATE agent_messages SET content = CAST(x'ff00' AS TEXT) WHERE content = 'two'",
    ],
)
async def test_an_unreadable_message_is_left_out_and_told(
    store: SqliteStore, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    session = await store.journal.create_session()
    await store.journal.commit([], [said(session.id, text) for text in ("one", "two", "three")])
    _rows(store, damage)
    with caplog.at_level(logging.WARNING):
        found = await store.journal.messages(session.id)
    assert [message.message.content for message in found] == ["one", "three"]
    assert "cannot be read" in caplog.text


async def test_an_unknown_session_is_refused_with_close_ids(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    wrong = session.id[:-1] + "0"
    with pytest.raises(NotFoundError, match=f"Did you mean {session.id}"):
        await store.journal.session(wrong)
    with pytest.raises(NotFoundError):
        await store.journal.commit([call(wrong)])


async def test_sessions_are_listed_newest_first_and_found_by_their_words(
    store: SqliteStore,
) -> None:
    old = await store.journal.create_session(title="100% of_stars")
    new = await store.journal.create_session(title="Disks")
    await store.journal.commit([], [said(new.id, "What of ζ Leporis?")])
    listed = await store.journal.sessions()
    assert [session.id for session in listed] == [new.id, old.id]
    assert [s.id for s in await store.journal.sessions(text="ζ lep")] == [new.id]
    assert [s.id for s in await store.journal.sessions(text="0% of_")] == [old.id]
    assert await store.journal.sessions(text="_") == [await store.journal.session(old.id)]
    assert len(await store.journal.sessions(limit=1)) == 1


async def test_a_deleted_session_leaves_its_audit_rows_only(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    kept = await store.journal.create_session()
    for name in (session.id, kept.id):
        await store.journal.commit(
            [turn(name), *(call(name, f"c{i}") for i in range(700)), request(name)],
            [said(name, str(i)) for i in range(600)],
        )
    await store.desk.add_rule("run_bash", "allow", session_id=session.id)
    await store.journal.delete_session(session.id)
    assert [s.id for s in await store.journal.sessions()] == [kept.id]
    assert await store.journal.events(session.id) == []
    assert len(await store.journal.events(kept.id)) == 702
    assert len(await store.journal.messages(kept.id)) == 600
    assert await store.desk.rules(session.id) == []
    assert len(await store.journal.audit(session_id=session.id)) == 701
    assert await store.check() == []
    with pytest.raises(NotFoundError):
        await store.journal.commit([call(session.id)])


def _rows(store: SqliteStore, sql: str) -> list[tuple[object, ...]]:
    """Look into, or damage, the file behind the store's back."""
    connection = Connection(store.path)
    try:
        return list(connection.rows(sql))
    finally:
        connection.close()


async def test_sessions_are_paged_from_the_newest_whatever_comes_and_goes(
    store: SqliteStore,
) -> None:
    journal = store.journal
    old = [(await journal.create_session(title=f"Night {i}")).id for i in range(7)]
    first = await journal.session_page(limit=3)
    assert [session.id for session in first.sessions] == old[:3:-1]
    await journal.create_session(title="Later")
    await journal.delete_session(first.sessions[-1].id)  # where the next page begins
    await journal.delete_session(old[1])
    second = await journal.session_page(limit=3, cursor=first.cursor)
    assert [session.id for session in second.sessions] == [old[3], old[2], old[0]]
    assert second.cursor == ""
    for cursor in ("gone", old[3], "1" * 40, "-1", "\ud800", "１"):
        assert await journal.session_page(limit=3, cursor=cursor) == SessionPage([], "")


async def test_pages_of_sessions_that_say_something_are_together_all_of_them(
    store: SqliteStore,
) -> None:
    for number in range(12):
        session = await store.journal.create_session(title=f"Night {number}")
        if number % 2:
            await store.journal.commit([], [said(session.id, "Of 100% dust")])
    whole = [session.id for session in await store.journal.sessions(text="100% DUST")]
    assert len(whole) == 6
    seen: list[str] = []
    cursor = ""
    while cursor or not seen:
        page = await store.journal.session_page(limit=2, text="100% dust", cursor=cursor)
        seen += [session.id for session in page.sessions]
        cursor = page.cursor
    assert seen == whole


async def test_the_main_agent_and_then_others_as_they_began_have_spoken(
    store: SqliteStore,
) -> None:
    session = await store.journal.create_session()
    assert await store.journal.agents(session.id) == []
    for agent in ("reader-2", "reader-10", "main", "reader-2", "a"):
        await store.journal.commit([], [said(session.id, "Words.", agent=agent)])
    assert await store.journal.agents(session.id) == ["main", "reader-2", "reader-10", "a"]


async def test_the_last_places_of_many_sessions_are_told_at_once(store: SqliteStore) -> None:
    talked, silent = [(await store.journal.create_session()).id for _ in range(2)]
    await store.journal.commit([call(talked, f"c{number}") for number in range(3)])
    told = await store.journal.last_seqs([talked, silent, "nosuch"])
    assert told == {talked: 3, silent: 0, "nosuch": 0}
    assert await store.journal.last_seqs([]) == {}
