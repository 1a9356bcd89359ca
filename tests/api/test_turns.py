"""Turns belong to the server: they outlive their readers and always end."""

import asyncio
from pathlib import Path

from api.served import Place, ask_call, place_in, write_call
from nuncius.core.events import TurnFinished, TurnStarted
from nuncius.llm.scripted import Reply

SLOW = Reply(["one "] * 400, delay_s=0.05)


async def test_a_turn_runs_without_any_reader_and_ends_in_turn_finished(place: Place) -> None:
    place.says(["Nothing is known of it."])
    session_id = await place.session()
    events = await place.turn(session_id, "What is it?")
    assert events[0]["type"] == "turn_started"
    assert events[-1] == events[-1] | {"type": "turn_finished", "status": "completed"}
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    session = await place.get(f"/sessions/{session_id}")
    assert (session["status"], session["title"]) == ("completed", "What is it?")
    messages = (await place.get(f"/sessions/{session_id}/messages"))["messages"]
    assert [(m["role"], m["agent_name"]) for m in messages] == [
        ("user", "main"),
        ("assistant", "main"),
    ]


async def test_a_turn_goes_on_when_its_reader_leaves(place: Place) -> None:
    place.says([Reply(["a ", "b ", "c ", "d"], delay_s=0.1)])
    session_id = await place.session()
    await place.post(f"/sessions/{session_id}/turns", {"message": "Go."})
    await place.until(session_id, "turn_started")  # and away
    events = await place.until(session_id, "turn_finished")
    assert events[-1]["status"] == "completed"


async def test_a_second_turn_is_refused_while_one_runs(place: Place) -> None:
    place.says([SLOW])
    session_id = await place.session()
    await place.post(f"/sessions/{session_id}/turns", {"message": "Go."})
    refused = await place.post(f"/sessions/{session_id}/turns", {"message": "And?"}, 409)
    assert refused["error"]["code"] == "session_busy"
    assert refused["error"]["hint"]
    assert (await place.post(f"/sessions/{session_id}/cancel", {}))["cancelled"]
    assert (await place.until(session_id, "turn_finished"))[-1]["status"] == "cancelled"


async def test_the_next_turn_may_begin_as_soon_as_the_end_is_seen(place: Place) -> None:
    place.says(lambda _request: "It shines.")
    session_id = await place.session()
    for _ in range(5):  # the lease is given back a moment after the last event
        await place.turn(session_id)


async def test_cancelling_where_nothing_runs_is_nothing(place: Place) -> None:
    session_id = await place.session()
    assert (await place.post(f"/sessions/{session_id}/cancel", {})) == {"cancelled": []}
    assert (await place.post("/sessions/nosuch/cancel", {}, 404))["error"]["code"] == "not_found"


async def test_a_turn_in_another_process_is_named_and_not_cancelled(place: Place) -> None:
    session_id = await place.session()
    async with place.app.journal.lease(session_id):  # any holder but a turn of this server
        refused = await place.post(f"/sessions/{session_id}/cancel", {}, 409)
        busy = await place.post(f"/sessions/{session_id}/turns", {"message": "Go."}, 409)
    assert "another process" in refused["error"]["message"]
    assert busy["error"]["code"] == "session_busy"


async def test_a_session_is_not_deleted_under_its_turn(place: Place) -> None:
    place.says([SLOW])
    session_id = await place.session()
    await place.post(f"/sessions/{session_id}/turns", {"message": "Go."})
    assert (await place.client.delete(f"/api/sessions/{session_id}")).status_code == 409
    await place.post(f"/sessions/{session_id}/cancel", {})
    await place.until(session_id, "turn_finished")
    assert (await place.client.delete(f"/api/sessions/{session_id}")).status_code == 204
    await place.get(f"/sessions/{session_id}", 404)


async def test_what_makes_no_sense_begins_no_turn(place: Place) -> None:
    session_id = await place.session()
    turns = f"/sessions/{session_id}/turns"
    for body in (
        {},
        {"message": ""},
        {"message": "  \n"},
        {"message": "x" * 32_001},
        {"message": "x", "mode": "all"},
        {"message": "x", "model": "gpt-9"},  # no server is set for it
        {"message": "x", "permission_mode": "auto"},
    ):
        told = await place.post(turns, body, 422)
        assert told["error"]["message"], body
    await place.post("/sessions/nosuch/turns", {"message": "x"}, 404)
    assert await place.app.journal.events(session_id) == []


async def test_a_turn_may_have_another_mode_which_stays_the_sessions(place: Place) -> None:
    place.says([write_call("notes.txt"), "Written.", "Yes."])
    session_id = await place.session()
    body = {"message": "Write.", "mode": "plan"}
    await place.post(f"/sessions/{session_id}/turns", body)
    events = await place.until(session_id, "turn_finished")
    result = next(event for event in events if event["type"] == "tool_result")
    assert (events[0]["mode"], result["error_kind"]) == ("plan", "denied")
    assert (await place.get(f"/sessions/{session_id}"))["mode"] == "plan"


async def test_stopping_ends_turns_and_tells_their_readers(tmp_path: Path) -> None:
    kinds: list[str] = []
    async with place_in(tmp_path) as place:
        place.says([SLOW, ask_call("Which?")])
        session_id = await place.session()
        await place.post(f"/sessions/{session_id}/turns", {"message": "Go."})
        joined = asyncio.Event()

        async def read() -> None:
            async with place.events(session_id) as reader:
                async for event in reader:
                    joined.set()
                    kinds.append(event["type"] + event.get("status", ""))

        reading = asyncio.create_task(read())
        await joined.wait()
        stopping = asyncio.create_task(place.served.house.turns.stop())
        await stopping
        refused = await place.post(f"/sessions/{session_id}/turns", {"message": "More."}, 503)
        assert refused["error"]["code"] == "stopping"
        await place.served.house.live.stop()
        await reading  # the stream ended by itself
    assert kinds[-1] == "turn_finishedcancelled"


async def test_the_next_start_closes_what_a_dead_process_left_open(tmp_path: Path) -> None:
    async with place_in(tmp_path) as place:
        session_id = await place.session()
        started = TurnStarted(
            session_id=session_id, turn_id="turn_dead", message="Go.", model="m", mode="ask"
        )
        await place.app.journal.commit([started])
        assert (await place.get(f"/sessions/{session_id}"))["status"] == "running"
    async with place_in(tmp_path) as place:
        assert place.served.closed == 1
        last = (await place.app.journal.events(session_id))[-1]
        assert isinstance(last, TurnFinished)
        assert last.status == "failed"


async def test_a_process_that_dies_beside_the_server_is_seen_by_its_readers(place: Place) -> None:
    session_id = await place.session()
    started = TurnStarted(
        session_id=session_id, turn_id="turn_dead", message="Go.", model="m", mode="ask"
    )
    async with place.app.journal.lease(session_id):  # it lives
        await place.app.journal.commit([started])
    events = await place.until(session_id, "turn_finished")
    assert [event["turn_id"] for event in events] == ["turn_dead", "turn_dead"]
    assert events[-1]["status"] == "failed"


async def test_a_running_turn_of_another_process_is_left_alone_at_start(tmp_path: Path) -> None:
    async with place_in(tmp_path) as place:
        session_id = await place.session()
        started = TurnStarted(
            session_id=session_id, turn_id="turn_alive", message="Go.", model="m", mode="ask"
        )
        await place.app.journal.commit([started])
        async with place.app.journal.lease(session_id):
            assert await place.app.close_what_died() == 0
        assert await place.app.close_what_died() == 1


async def test_compacting_is_asked_of_models_that_have_a_window(place: Place) -> None:
    session_id = await place.session()
    refused = await place.post(f"/sessions/{session_id}/compact", {}, 422)
    assert "reads no long conversation" in refused["error"]["message"]
    long = "It shines. " * 60
    place.says([long, long, long, "Summary.", "Good."])
    for _ in range(3):
        await place.turn(session_id, "Tell. " * 200)
    told = await place.post(f"/sessions/{session_id}/compact", {"focus": "M 31"})
    assert told == {"when": "before the next model call"}
    events = await place.turn(session_id, "And now?")
    assert "compaction" in [event["type"] for event in events]
