"""What waits for a person: listed for all sessions, answered once, told to the agent once."""

import pytest

from nuncius.core.errors import NotFoundError, UsageError
from nuncius.core.events import PermissionResolved, Question, QuestionOutcome, QuestionResolved
from nuncius.core.messages import Message, StoredMessage
from nuncius.store.sqlite import SqliteStore
from store.samples import finish, request, turn


def question(session_id: str, name: str = "q1", turn_id: str = "t1") -> Question:
    return Question(
        session_id=session_id, turn_id=turn_id, id=name, question="Band?", options=("V", "R")
    )


def resolved(
    session_id: str, outcome: QuestionOutcome, answer: str = "", name: str = "q1"
) -> QuestionResolved:
    return QuestionResolved(
        session_id=session_id, turn_id="t1", id=name, outcome=outcome, answer=answer
    )


async def test_questions_of_all_sessions_wait_oldest_first(store: SqliteStore) -> None:
    first, second = [await store.journal.create_session() for _ in range(2)]
    await store.journal.commit([turn(first.id), question(first.id)])
    await store.journal.commit([turn(second.id), question(second.id, "q2")])
    assert [(r.session_id, r.id) for r in await store.journal.pending()] == [
        (first.id, "q1"),
        (second.id, "q2"),
    ]
    (only,) = await store.journal.pending(second.id)
    assert (only.question, only.options, only.state) == ("Band?", ("V", "R"), "open")
    await store.journal.delete_session(second.id)
    assert [r.id for r in await store.journal.pending()] == ["q1"]


async def test_a_question_outlives_its_turn_and_a_permission_request_does_not(
    store: SqliteStore,
) -> None:
    session = await store.journal.create_session()
    async with store.journal.lease(session.id):
        await store.journal.commit([turn(session.id), question(session.id), request(session.id)])
        kinds = sorted(r.kind for r in await store.journal.pending())
        assert kinds == ["permission", "question"]
    assert [r.kind for r in await store.journal.pending()] == ["question"]  # its process is gone
    await store.journal.commit([finish(session.id)])
    assert (await store.journal.pending_request("p1")).state == "expired"
    assert (await store.journal.pending_request("q1")).state == "open"


@pytest.mark.parametrize("first", ["answered", "declined"])
async def test_the_first_answer_stands(store: SqliteStore, first: QuestionOutcome) -> None:
    session = await store.journal.create_session()
    await store.journal.commit([turn(session.id), question(session.id)])
    await store.journal.commit([resolved(session.id, first, "V")])
    for later in (resolved(session.id, "answered", "R"), resolved(session.id, "timed_out")):
        await store.journal.commit([later])
    row = await store.journal.pending_request("q1")
    assert (row.state, row.answer) == (first, "V")


@pytest.mark.parametrize("first", ["timed_out", "no_user"])
async def test_an_answer_after_the_waiting_is_taken(
    store: SqliteStore, first: QuestionOutcome
) -> None:
    session = await store.journal.create_session()
    await store.journal.commit([turn(session.id), question(session.id)])
    await store.journal.commit([resolved(session.id, first), finish(session.id)])
    assert await store.journal.undelivered(session.id) == []
    before = await store.journal.answer_question("q1", " V\n")
    assert before.state == first
    (late,) = await store.journal.undelivered(session.id)
    assert (late.state, late.answer) == ("answered", "V")
    last = (await store.journal.events(session.id))[-1]
    assert (last.type, last.turn_id) == ("question_resolved", "")  # the turn is over


async def test_an_answer_while_the_turn_runs_stands_in_the_turn(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    await store.journal.commit([turn(session.id), question(session.id)])
    await store.journal.answer_question("q1", None)
    last = (await store.journal.events(session.id))[-1]
    assert isinstance(last, QuestionResolved)
    assert (last.turn_id, last.outcome) == ("t1", "declined")


async def test_a_message_that_carries_an_answer_delivers_it(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    await store.journal.commit([turn(session.id), question(session.id), question(session.id, "q2")])
    for name in ("q1", "q2"):
        await store.journal.answer_question(name, "V")
    message = StoredMessage(
        session.id, "t1", Message("user", "V"), metadata={"delivers": ["q1", "nothing", 7]}
    )
    await store.journal.commit([], [message])
    assert [row.id for row in await store.journal.undelivered(session.id)] == ["q2"]


async def test_a_decision_on_other_arguments_is_refused_and_leaves_no_trace(
    store: SqliteStore,
) -> None:
    session = await store.journal.create_session()
    await store.journal.commit([turn(session.id), request(session.id)])
    before = await store.journal.events(session.id)
    with pytest.raises(UsageError, match="other arguments"):
        await store.journal.decide_request("p1", "allow", args_sha256="ff" * 32)
    assert await store.journal.events(session.id) == before
    assert (await store.journal.pending_request("p1")).state == "open"


async def test_a_decision_is_made_once(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    async with store.journal.lease(session.id):
        await store.journal.commit([turn(session.id), request(session.id)])
        decided = await store.journal.decide_request(
            "p1", "allow", scope="session", args_sha256="00" * 32
        )
        assert (decided.state, decided.scope) == ("allow", "session")
        with pytest.raises(UsageError, match="decided before"):
            await store.journal.decide_request("p1", "deny")
    (audited,) = [r for r in await store.journal.audit() if r.type == "permission_resolved"]
    assert audited.outcome == "allow session by user"


async def test_a_decision_without_a_living_call_is_only_recorded(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    await store.journal.commit([turn(session.id), request(session.id)])
    assert (await store.journal.decide_request("p1", "allow")).state == "expired"
    (event,) = [
        e for e in await store.journal.events(session.id) if isinstance(e, PermissionResolved)
    ]
    assert (event.decision, event.tool_call_id) == ("allow", "c1")


async def test_an_unknown_id_names_close_ones(store: SqliteStore) -> None:
    session = await store.journal.create_session()
    await store.journal.commit([turn(session.id), question(session.id, "ask_0123456789abcdef")])
    with pytest.raises(NotFoundError, match="ask_0123456789abcdef"):
        await store.journal.answer_question("ask_0123456789abcdee", "V")
    with pytest.raises(NotFoundError, match="sessions pending"):
        await store.journal.decide_request("else", "deny")
