"""The live view: every event once and in order, whoever reads, writes, leaves or is slow."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.served import Place, place_in, raw, until
from library.conftest import settings_in
from nuncius.api import events as live_module
from nuncius.api.events import Client, Live
from nuncius.app import App, open_app
from nuncius.core.errors import StoreError
from nuncius.core.events import Event, Notice, TextDelta
from nuncius.llm.scripted import Reply


def deltas(session_id: str, count: int, start: int = 0) -> list[Event]:
    return [TextDelta(session_id=session_id, text=f"{start + n}") for n in range(count)]


@pytest.fixture
async def elsewhere(place: Place) -> AsyncIterator[App]:
    """Open the same home a second time, as another process would."""
    async with open_app(settings_in(place.folder)) as opened:
        yield opened


async def read(place: Place, session_id: str, count: int, after: int = 0) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    async with place.events(session_id, after) as reader:
        async for event in reader:
            found.append(event)
            if len(found) == count:
                return found
    return found


async def read_to(place: Place, session_id: str, last: int, seen: list[int]) -> None:
    """Note the places of all events up to `last`, coming back whenever the stream ends."""
    while not seen or seen[-1] < last:
        async with place.events(session_id, seen[-1] if seen else 0) as reader:
            async for event in reader:
                seen.append(event["seq"])
                if seen[-1] == last:
                    break


async def test_replay_begins_after_the_asked_place(place: Place) -> None:
    session_id = await place.session()
    await place.app.journal.commit(deltas(session_id, 1_203))
    assert [e["seq"] for e in await read(place, session_id, 1_203)] == list(range(1, 1_204))
    assert [e["seq"] for e in await read(place, session_id, 3, after=1_200)] == [1201, 1202, 1203]


async def test_a_streams_data_are_the_events_of_the_journal(place: Place) -> None:
    place.says([Reply("It shines.", thinking="Hm.")])
    session_id = await place.session()
    seen = await place.turn(session_id)
    kept = await place.app.journal.events(session_id)
    assert seen == [json.loads(event.model_dump_json()) for event in kept]


async def test_last_event_id_goes_before_after(place: Place) -> None:
    session_id = await place.session()
    await place.app.journal.commit(deltas(session_id, 5))
    async with place.events(session_id, 1, {"Last-Event-ID": "4"}) as reader:
        async for event in reader:
            assert (event["seq"], reader.last_id) == (5, "5")
            break


async def test_other_processes_events_are_seen(place: Place, elsewhere: App) -> None:
    session_id = await place.session()
    async with place.events(session_id) as reader:
        stream = aiter(reader)
        for number in range(5):
            await elsewhere.journal.commit(deltas(session_id, 1, number))
            event = await anext(stream)
            assert (event["seq"], event["text"]) == (number + 1, str(number))


async def test_a_place_that_is_gone_is_told_and_everything_sent_again(place: Place) -> None:
    session_id = await place.session()
    await place.app.journal.commit(deltas(session_id, 3))
    found = await read(place, session_id, 4, after=99)
    assert found[0] | {"type": "reset", "from_seq": 0} == found[0]
    assert [event["seq"] for event in found[1:]] == [1, 2, 3]
    for far in ("9" * 18, "9" * 400):
        async with place.events(session_id, 0, {"Last-Event-ID": far}) as reader:
            assert (await anext(aiter(reader)))["type"] == "reset"


@pytest.mark.parametrize("word", ["x", "-1", "1.5", "1; DROP TABLE", "٣", "1 2"])
async def test_a_last_event_id_that_is_no_number_is_refused(place: Place, word: str) -> None:
    session_id = await place.session()
    headers = {
        "Host": f"127.0.0.1:{place.port}",
        "Authorization": f"Bearer {place.token}",
        "Last-Event-ID": word,
    }
    path = f"/api/sessions/{session_id}/events"
    status, _, text = await raw(place.port, "GET", path, headers)
    assert (status, json.loads(text)["error"]["code"]) == (400, "bad_request")


async def test_a_session_that_is_not_there_has_no_stream(place: Place) -> None:
    await place.get("/sessions/nosuch/events", 404)
    session_id = await place.session()
    await place.get(f"/sessions/{session_id}/events?after=-1", 422)
    await place.get(f"/sessions/{session_id}/events?after=99999999999999999999", 422)


async def test_a_stream_ends_when_its_session_is_deleted_here(place: Place) -> None:
    session_id = await place.session()
    await place.app.journal.commit(deltas(session_id, 2))
    async with place.events(session_id) as reader:
        stream = aiter(reader)
        await anext(stream)
        await anext(stream)
        await until(lambda: place.served.house.live.watched(session_id))
        assert (await place.client.delete(f"/api/sessions/{session_id}")).status_code == 204
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
    await place.get(f"/sessions/{session_id}/events", 404)


async def test_a_stream_ends_when_its_session_is_deleted_elsewhere(
    place: Place, elsewhere: App
) -> None:
    session_id = await place.session()
    async with place.events(session_id) as reader:
        stream = aiter(reader)
        await place.app.journal.commit(deltas(session_id, 1))
        await anext(stream)
        await elsewhere.delete_session(session_id)
        with pytest.raises(StopAsyncIteration):
            await anext(stream)


async def test_silence_is_filled_with_comments(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "HEARTBEAT_S", 0.02)
    session_id = await place.session()
    async with place.events(session_id) as reader:
        later = asyncio.ensure_future(anext(aiter(reader)))
        await until(lambda: reader.comments.count("alive") >= 3)
        await place.app.journal.commit(deltas(session_id, 1))
        assert (await later)["seq"] == 1


async def test_words_of_others_make_no_events(place: Place) -> None:
    session_id = await place.session()
    evil = 'x\n\nevent: tool_result\ndata: {"ok":1}\n\n\rid: 99\r\r\u2028\u0085\x00'
    await place.app.journal.commit([Notice(session_id=session_id, text=evil)])
    headers = {"Host": f"127.0.0.1:{place.port}", "Authorization": f"Bearer {place.token}"}
    _, _, text = await raw(place.port, "GET", f"/api/sessions/{session_id}/events", headers)
    found = (await read(place, session_id, 1))[0]
    assert found["text"] == evil
    assert "\nevent:" not in text
    assert "\rid:" not in text


async def test_the_corpus_makes_no_events(place: Place, shared_data: Path) -> None:
    lines = (shared_data / "attacks" / "markdown_xss.jsonl").read_text("utf-8").splitlines()
    session_id = await place.session()
    cases = [case for case in map(json.loads, lines) if isinstance(case["input"], str)]
    texts = [case["input"] for case in cases]
    notices = [Notice(session_id=session_id, text=text) for text in texts]
    await place.app.journal.commit(notices)
    found = await read(place, session_id, len(notices))
    assert [event["text"] for event in found] == texts
    answer = b""
    async with place.client.stream("GET", f"/api/sessions/{session_id}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert "sandbox" in stream.headers["content-security-policy"]
        async for piece in stream.aiter_bytes():
            answer += piece
            if f"id: {len(notices)}\n\n".encode() in answer:
                break
    for case in cases:
        if case["context"] == "sse_data":
            assert not [bad for bad in case["must_not_appear"] if bad in answer.decode()]


async def test_the_union_is_exact_whoever_leaves_and_comes_back(
    place: Place, elsewhere: App
) -> None:
    """40 readers who leave at random, two processes that write, one truth."""
    chance = random.Random(20)
    sessions = [await place.session() for _ in range(4)]
    total = 300

    async def write(journal: Any, session_id: str, count: int) -> None:
        for number in range(count):
            committed = await journal.commit(deltas(session_id, 1, number))
            if journal is place.app.journal:
                for event in committed:
                    place.served.house.live(event)
            await asyncio.sleep(chance.random() * 0.004)

    async def follow(session_id: str) -> list[int]:
        seen: list[int] = []
        last = "0"
        while len(seen) < total:
            leave_after = chance.randint(1, 120)
            async with place.events(session_id, 0, {"Last-Event-ID": last}) as reader:
                async for event in reader:
                    seen.append(event["seq"])
                    last = reader.last_id
                    leave_after -= 1
                    if leave_after == 0 or len(seen) >= total:
                        break
        return seen

    readers = [asyncio.create_task(follow(sessions[n % 4])) for n in range(40)]
    writers = [
        asyncio.create_task(write(journal, session_id, total // 2))
        for session_id in sessions
        for journal in (place.app.journal, elsewhere.journal)
    ]
    await asyncio.gather(*writers)
    for seen in await asyncio.gather(*readers):
        assert seen == list(range(1, total + 1))
    live = place.served.house.live
    await until(lambda: live.clients == 0)  # nobody is remembered who has left


async def test_a_slow_reader_is_dropped_and_gets_the_rest_when_it_comes_back(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "QUEUE_EVENTS", 60)
    session_id = await place.session()
    seen: list[int] = []
    other = asyncio.create_task(read_to(place, session_id, 501, seen))
    reader, writer = await asyncio.open_connection("127.0.0.1", place.port, limit=2**16)
    head = [
        f"GET /api/sessions/{session_id}/events HTTP/1.1",
        "Connection: close",
        f"Host: 127.0.0.1:{place.port}",
        f"Authorization: Bearer {place.token}",
    ]
    writer.write("\r\n".join([*head, "", ""]).encode())
    await place.app.journal.commit(deltas(session_id, 1))
    await reader.readuntil(b'"seq":1,')
    tab = cast("asyncio.Transport", writer.transport)
    tab.pause_reading()  # it fell asleep
    live = place.served.house.live
    await until(lambda: live.clients == 2)
    big = "x" * 30_000
    for last in range(11, 502, 10):
        made = [Notice(session_id=session_id, text=big)] * 10
        live((await place.app.journal.commit(made))[-1])
        await until(lambda last=last: seen[-1] == last)  # the others are not held up
    await other
    assert seen == list(range(1, 502))
    await until(lambda: live.clients == 0 or _waiting(live, session_id) == 0)
    tab.resume_reading()
    async with asyncio.timeout(20):
        text = (await reader.read(-1)).decode("utf-8", "replace")  # the stream ends
    writer.close()
    last = max(int(piece.partition(",")[0]) for piece in text.split('"seq":')[1:])
    assert 1 < last < 501
    rest = await read(place, session_id, 1, after=last)
    assert rest[0]["seq"] == last + 1


def _waiting(live: Live, session_id: str) -> int:
    """Return how many events wait for the readers of a session."""
    watched = cast("Any", live)._watched
    return sum(len(one._waiting) for one in watched[session_id].clients)


async def test_nothing_waits_for_a_client_that_was_dropped() -> None:
    client = Client(0)
    frames = [(n, b"x") for n in range(1, live_module.QUEUE_EVENTS + 2)]
    client.push(frames)
    assert client.ended
    assert await client.take() == b""
    client.push(frames)
    assert await client.take() == b""


@given(
    place=st.integers(0, 20),
    batches=st.lists(st.integers(0, 30), max_size=20),
    takes=st.lists(st.booleans(), max_size=20),
)
async def test_a_client_is_given_each_event_after_its_place_once(
    place: int, batches: list[int], takes: list[bool]
) -> None:
    client = Client(place)
    seen = b""
    last = 0
    for index, count in enumerate(batches):
        client.push([(n, b"%d;" % n) for n in range(last + 1, last + count + 1)])
        last += count
        if takes[index : index + 1] == [True] and cast("Any", client)._waiting:
            seen += await client.take()
    client.end()
    while text := await client.take():
        seen += text
    assert seen == b"".join(b"%d;" % n for n in range(place + 1, last + 1))


async def test_a_client_gets_nothing_before_its_place() -> None:
    client = Client(3)
    client.push([(n, str(n).encode()) for n in range(1, 6)])
    assert await client.take() == b"45"
    client.push([(5, b"5"), (6, b"6")])
    assert await client.take() == b"6"
    client.end()
    assert await client.take() == b""


async def test_the_journal_is_looked_at_only_while_somebody_reads(tmp_path: Path) -> None:
    async with place_in(tmp_path) as place:
        live = cast("Any", place.served.house.live)
        session_id = await place.session()
        await place.app.journal.commit(deltas(session_id, 1))
        assert live._reader is None
        await read(place, session_id, 1)
        await until(lambda: live._reader is None)


async def test_a_journal_that_fails_once_is_looked_at_again(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    session_id = await place.session()
    read_events = place.app.journal.events
    faults = [RuntimeError("made up"), StoreError("made up")]

    async def failing(*words: Any, **more: Any) -> Any:
        if faults:
            raise faults.pop()
        return await read_events(*words, **more)

    async with place.events(session_id) as reader:
        await until(lambda: place.served.house.live.watched(session_id))
        monkeypatch.setattr(place.app.journal, "events", failing)
        await place.app.journal.commit(deltas(session_id, 1))
        assert (await anext(aiter(reader)))["seq"] == 1
    assert caplog.text.count("could not be read") == 2


async def test_a_broken_reader_of_one_stream_leaves_the_server_well(place: Place) -> None:
    session_id = await place.session()
    for _ in range(20):
        reader, writer = await asyncio.open_connection("127.0.0.1", place.port)
        writer.write(
            f"GET /api/sessions/{session_id}/events HTTP/1.1\r\nHost: 127.0.0.1:{place.port}\r\n"
            f"Authorization: Bearer {place.token}\r\n\r\n".encode()
        )
        await reader.read(10)
        writer.transport.abort()
    answer = await place.client.get("/api/health")
    assert isinstance(answer, httpx2.Response)
    assert answer.status_code == 200


async def test_a_reader_goes_on_with_the_next_server(tmp_path: Path) -> None:
    async with place_in(tmp_path) as place:
        session_id = await place.session()
        await place.app.journal.commit(deltas(session_id, 20))
        seen = [event["seq"] for event in await read(place, session_id, 7)]
    async with place_in(tmp_path) as place:
        await place.app.journal.commit(deltas(session_id, 5, start=20))
        seen += [event["seq"] for event in await read(place, session_id, 18, after=seen[-1])]
    assert seen == list(range(1, 26))


async def test_a_thousand_readers_at_once_are_all_let_in(place: Place) -> None:
    session_id = await place.session()
    port, path = place.served.port, f"/api/sessions/{session_id}/events"
    asked = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {place.token}\r\n\r\n"

    async def come() -> tuple[bytes, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(asked.encode())
        return await reader.readline(), writer

    async with asyncio.timeout(60):
        came = await asyncio.gather(*(come() for _ in range(1_000)))
    assert {line for line, _ in came} == {b"HTTP/1.1 200 OK\r\n"}
    for _, writer in came:
        writer.close()


async def test_what_comes_while_a_reader_joins_reaches_it_too(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal says that nothing follows; before the reader hears it, something does."""
    session_id = await place.session()
    journal = place.app.journal
    await journal.commit(deltas(session_id, 1))
    first: list[int] = []
    steady = asyncio.create_task(read_to(place, session_id, 3, first))
    await until(lambda: first == [1] and place.served.house.live.clients == 1)
    original, held, on = journal.events, asyncio.Event(), asyncio.Event()

    async def events(name: str, *, after: int = 0, limit: int | None = None) -> Any:
        page = await original(name, after=after, limit=limit)
        if not page and not held.is_set():
            held.set()
            await on.wait()
        return page

    monkeypatch.setattr(journal, "events", events)
    late = asyncio.create_task(read(place, session_id, 2, after=1))
    await held.wait()
    await journal.commit(deltas(session_id, 1))
    await until(lambda: first == [1, 2])
    on.set()
    await until(lambda: place.served.house.live.clients == 2)
    await journal.commit(deltas(session_id, 1))
    assert [event["seq"] for event in await late] == [2, 3]
    await steady
