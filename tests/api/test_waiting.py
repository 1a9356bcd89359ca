"""Questions and permissions: decided from the page, from elsewhere, in time or late."""

import asyncio
from typing import Any

import pytest

from api.served import WAIT_S, Place, ask_call, until, write_call
from library.conftest import settings_in
from nuncius.app import open_app
from nuncius.core.events import PermissionRequest


async def begin(place: Place, *script: Any) -> str:
    """Begin a turn that will wait for somebody and return its session."""
    place.says([*script, "Done."])
    session_id = await place.session()
    await place.post(f"/sessions/{session_id}/turns", {"message": "Do it."})
    return session_id


def decision(request: dict[str, Any], word: str, **more: Any) -> dict[str, Any]:
    return {"decision": word, "args_sha256": request["args_sha256"], **more}


async def result_of(place: Place, session_id: str) -> dict[str, Any]:
    events = await place.until(session_id, "turn_finished")
    assert events[-1]["status"] == "completed"
    return next(event for event in events if event["type"] == "tool_result")


async def test_allowing_once_lets_just_this_call_run(place: Place) -> None:
    session_id = await begin(place, write_call("a.txt", "first"))
    request = await place.waiting("permission")
    assert (request["tool"], request["arguments"]["path"]) == ("file_write", "a.txt")
    assert request["rule"].startswith("file_write(")
    decided = await place.post(f"/permissions/requests/{request['id']}", decision(request, "allow"))
    assert (decided["state"], decided["scope"]) == ("allow", "once")
    assert not (await result_of(place, session_id))["is_error"]
    assert (place.folder / "a.txt").read_text() == "first"
    assert (await place.get("/permissions"))["rules"] == []
    assert (await place.get("/pending"))["pending"] == []


async def test_denying_with_a_comment_refuses_and_keeps_the_comment(place: Place) -> None:
    session_id = await begin(place, write_call("a.txt"))
    request = await place.waiting("permission")
    body = decision(request, "deny", comment="Not in this folder.")
    await place.post(f"/permissions/requests/{request['id']}", body)
    assert (await result_of(place, session_id))["error_kind"] == "denied"
    assert not (place.folder / "a.txt").exists()
    events = await place.app.journal.events(session_id)
    notices = [event.text for event in events if event.type == "notice"]
    assert notices == ["The user's comment on file_write (deny): Not in this folder."]


async def test_always_writes_the_rule_that_was_shown(place: Place) -> None:
    session_id = await begin(place, write_call("a.txt"), write_call("a.txt", "again"))
    request = await place.waiting("permission")
    body = decision(request, "allow", scope="always")
    await place.post(f"/permissions/requests/{request['id']}", body)
    await result_of(place, session_id)
    assert (place.folder / "a.txt").read_text() == "again"  # nobody was asked again
    rules = (await place.get("/permissions"))["rules"]
    assert [(rule["pattern"], rule["decision"]) for rule in rules] == [(request["rule"], "allow")]
    assert (await place.client.delete(f"/api/permissions/{rules[0]['id']}")).status_code == 204
    assert (await place.get("/permissions"))["rules"] == []
    assert (await place.client.delete(f"/api/permissions/{rules[0]['id']}")).status_code == 404


async def test_a_session_rule_is_its_sessions(place: Place) -> None:
    session_id = await begin(place, write_call("a.txt"))
    request = await place.waiting("permission")
    body = decision(request, "allow", scope="session")
    await place.post(f"/permissions/requests/{request['id']}", body)
    await result_of(place, session_id)
    assert (await place.get("/permissions"))["rules"] == []
    own = (await place.get(f"/permissions?session={session_id}"))["rules"]
    assert [rule["session_id"] for rule in own] == [session_id]


async def test_a_decision_is_for_the_arguments_that_were_shown(place: Place) -> None:
    await begin(place, write_call("a.txt"))
    request = await place.waiting("permission")
    url = f"/permissions/requests/{request['id']}"
    for digest in ("WRONG", "0" * 64):
        refused = await place.post(url, {"decision": "allow", "args_sha256": digest}, 409)
        assert "other arguments" in refused["error"]["message"]
    await place.post(url, {"decision": "allow"}, 422)
    await place.post(url, {"decision": "allow", "args_sha256": ""}, 422)
    await place.post(url, decision(request, "maybe"), 422)
    assert not (place.folder / "a.txt").exists()
    await place.post(url, decision(request, "deny"))


async def test_a_decided_request_is_not_decided_again(place: Place) -> None:
    session_id = await begin(place, write_call("a.txt"))
    request = await place.waiting("permission")
    url = f"/permissions/requests/{request['id']}"
    await place.post(url, decision(request, "deny"))
    refused = await place.post(url, decision(request, "allow"), 409)
    assert "decided before" in refused["error"]["message"]
    await result_of(place, session_id)
    assert not (place.folder / "a.txt").exists()
    await place.post("/permissions/requests/perm_nosuch", decision(request, "allow"), 404)


async def test_a_late_decision_lets_nothing_run(place: Place) -> None:
    session_id = await place.session()
    left = PermissionRequest(
        session_id=session_id, turn_id="turn_dead", id="perm_dead", tool_call_id="call_0",
        tool="file_write", arguments={}, args_sha256="0" * 64, reason="", rule="file_write",
    )  # fmt: skip
    await place.app.journal.commit([left])
    assert (await place.get("/pending"))["pending"] == []  # nothing can come of it
    body = {"decision": "allow", "args_sha256": "0" * 64}
    assert (await place.post("/permissions/requests/perm_dead", body))["state"] == "expired"


async def test_a_cancel_decides_what_was_open(place: Place) -> None:
    session_id = await begin(place, write_call("a.txt"))
    request = await place.waiting("permission")
    await place.post(f"/sessions/{session_id}/cancel", {})
    await place.until(session_id, "turn_finished")
    url = f"/permissions/requests/{request['id']}"
    await place.post(url, decision(request, "allow"), 409)
    assert not (place.folder / "a.txt").exists()


async def test_requests_of_several_sessions_do_not_wait_for_each_other(place: Place) -> None:
    place.says(_in_turn)
    first, second = await place.session(), await place.session()
    for session_id in (first, second):
        await place.post(f"/sessions/{session_id}/turns", {"message": f"Write {session_id}.txt"})
    waiting: list[dict[str, Any]] = []
    async with asyncio.timeout(10):
        while len(waiting) < 2:
            waiting = (await place.get("/pending"))["pending"]
    late = next(one for one in waiting if one["session_id"] == second)
    await place.post(f"/permissions/requests/{late['id']}", decision(late, "allow"))
    await result_of(place, second)  # though the first is still open
    open_still = (await place.get("/pending"))["pending"]
    assert [one["session_id"] for one in open_still] == [first]
    early = open_still[0]
    await place.post(f"/permissions/requests/{early['id']}", decision(early, "deny"))
    assert (await result_of(place, first))["error_kind"] == "denied"


def _in_turn(request: Any) -> Any:
    last = request.messages[-1]
    return "Done." if last.role == "tool" else write_call(last.content.split()[-1])


async def test_a_decision_of_another_process_is_seen(place: Place) -> None:
    session_id = await begin(place, write_call("a.txt"))
    request = await place.waiting("permission")
    async with open_app(settings_in(place.folder)) as other:
        await other.journal.decide_request(request["id"], "allow")
    assert not (await result_of(place, session_id))["is_error"]


async def test_a_question_is_answered_and_the_answer_is_read(place: Place) -> None:
    session_id = await begin(place, ask_call("Which galaxy?", "M 31", "M 33"))
    question = await place.waiting("question")
    assert (question["question"], question["options"]) == ("Which galaxy?", ["M 31", "M 33"])
    assert question["expires_at"]  # nobody watched when the turn began
    answered = await place.post(f"/questions/{question['id']}", {"answer": "M 33"})
    assert (answered["state"], answered["answer"]) == ("answered", "M 33")
    assert "M 33" in (await result_of(place, session_id))["output"]
    refused = await place.post(f"/questions/{question['id']}", {"answer": "M 31"}, 409)
    assert "before" in refused["error"]["message"]


async def test_a_question_waits_for_ever_where_somebody_reads_along(place: Place) -> None:
    place.says([ask_call("Which?"), "Done."])
    session_id = await place.session()
    async with place.events(session_id) as reader:
        await until(lambda: place.served.house.live.watched(session_id))
        await place.post(f"/sessions/{session_id}/turns", {"message": "Ask."})
        async for event in reader:
            if event["type"] == "question":
                assert event["expires_at"] == ""
                break
    question = await place.waiting("question")
    await place.post(f"/questions/{question['id']}", {"declined": True})
    await place.until(session_id, "turn_finished")


async def test_a_declined_question_lets_the_agent_go_on(place: Place) -> None:
    session_id = await begin(place, ask_call("Which galaxy?"))
    question = await place.waiting("question")
    declined = await place.post(f"/questions/{question['id']}", {"declined": True})
    assert declined["state"] == "declined"
    await result_of(place, session_id)


@pytest.mark.parametrize(
    "body", [{}, {"answer": "x", "declined": True}, {"answer": "  "}, {"answer": 1}, {"other": 1}]
)
async def test_an_answer_that_is_none_is_refused(place: Place, body: dict[str, Any]) -> None:
    await begin(place, ask_call("Which?"))
    question = await place.waiting("question")
    await place.post(f"/questions/{question['id']}", body, 422)
    await place.post(f"/questions/{question['id']}", {"declined": True})
    await place.post("/questions/ask_nosuch", {"declined": True}, 404)


async def ended_unwatched(place: Place, session_id: str) -> None:
    """Wait for a turn's end without reading along: a question would wait for a reader."""
    async with asyncio.timeout(WAIT_S):
        while (await place.get(f"/sessions/{session_id}"))["status"] == "running":  # noqa: ASYNC110  (the server tells nobody)
            await asyncio.sleep(0.02)


async def test_a_question_waits_for_who_reads_along_since_the_turn_began(place: Place) -> None:
    """As the page does with a new session: first the turn, then the stream."""
    place.says([write_call("a.txt"), ask_call("Which galaxy?"), "M 33, then."])
    session_id = await place.session()
    await place.post(f"/sessions/{session_id}/turns", {"message": "Ask.", "mode": "ask"})
    request = await place.waiting("permission")
    async with place.events(session_id) as reader:
        seen = aiter(reader)
        await anext(seen)
        body = {"decision": "deny", "args_sha256": request["args_sha256"]}
        await place.post(f"/permissions/requests/{request['id']}", body)
        question = await place.waiting("question")
        assert question["expires_at"] == ""
        await place.post(f"/questions/{question['id']}", {"answer": "M 33"})


async def test_a_late_answer_is_told_with_the_next_message(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nuncius.api.turns.UNWATCHED_QUESTION_S", 0.2)
    model = place.says([ask_call("Which galaxy?"), "I go on without.", "M 33, then."])
    session_id = await place.session()
    await place.post(f"/sessions/{session_id}/turns", {"message": "Ask."})
    await ended_unwatched(place, session_id)
    late = await place.waiting("question")
    assert late["state"] == "timed_out"
    await place.post(f"/questions/{late['id']}", {"answer": "M 33"})
    await place.turn(session_id, "And?")
    told = [message.content for message in model.requests[-1].messages if message.role == "user"]
    assert any("M 33" in text for text in told)


async def test_questions_and_permissions_are_not_each_other(place: Place) -> None:
    await begin(place, ask_call("Which?"))
    question = await place.waiting("question")
    body = {"decision": "allow", "args_sha256": "0" * 64}
    await place.post(f"/permissions/requests/{question['id']}", body, 409)
    await place.post(f"/questions/{question['id']}", {"declined": True})


async def test_rules_are_added_and_made_sense_of(place: Place) -> None:
    rule = {"pattern": " run_bash(git log *) ", "decision": "allow"}
    added = (await place.client.put("/api/permissions", json=rule)).json()
    assert (added["pattern"], added["session_id"]) == ("run_bash(git log *)", "")
    assert (await place.client.put("/api/permissions", json=rule)).json()["id"] == added["id"]
    for wrong, status in (
        ({"pattern": "run_bash(", "decision": "allow"}, 422),
        ({"pattern": "no_such_tool", "decision": "deny"}, 404),
        ({"pattern": "*", "decision": "deny", "session_id": "nosuch"}, 404),
        ({"pattern": "*", "decision": "maybe"}, 422),
        ({"pattern": "", "decision": "deny"}, 422),
    ):
        assert (await place.client.put("/api/permissions", json=wrong)).status_code == status, wrong


async def test_the_audit_log_holds_acts_and_decisions_also_of_deleted_sessions(
    place: Place,
) -> None:
    session_id = await begin(place, write_call("a.txt"))
    request = await place.waiting("permission")
    await place.post(f"/permissions/requests/{request['id']}", decision(request, "allow"))
    await result_of(place, session_id)
    rows = (await place.get(f"/audit?session={session_id}"))["rows"]
    assert [row["type"] for row in rows] == [
        "permission_request", "permission_resolved", "tool_call", "tool_result",
    ]  # fmt: skip
    assert [r["id"] for r in (await place.get(f"/audit?after={rows[1]['id']}"))["rows"]] == [
        row["id"] for row in rows[2:]
    ]
    assert len((await place.get("/audit?tool=file_write&limit=2"))["rows"]) == 2
    figures = await place.get(f"/metrics?session={session_id}")
    assert figures["turns"] == {"completed": 1}
    assert [(one["name"], one["runs"]) for one in figures["tools"]] == [("file_write", 1)]
    assert (await place.get("/metrics"))["tools"] == figures["tools"]
    assert (await place.client.delete(f"/api/sessions/{session_id}")).status_code == 204
    assert (await place.get(f"/audit?session={session_id}"))["rows"] == rows
    assert (await place.get("/audit/verify")) == {"sound": True, "wrong": []}
    await place.get(f"/metrics?session={session_id}", 404)
