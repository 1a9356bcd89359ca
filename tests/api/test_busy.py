"""Where there is no room, or the loop is blocked: who is answered, by whom, and with what."""

import asyncio
import json
import logging
import re
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from api.serve_process import serving_process
from api.served import WAIT_S, Place, place_in, raw
from library.conftest import settings_in
from nuncius.api import server
from nuncius.api.busy import health_alone
from nuncius.app import open_app
from nuncius.core.events import TextDelta
from nuncius.llm.scripted import Reply
from nuncius.tools.find import GlobFiles
from nuncius.walls import watchdog
from nuncius.walls.spawn import sandbox_failure

needs_sandbox = pytest.mark.skipif(
    bool(sandbox_failure()), reason=f"no sandbox: {sandbox_failure()}"
)


class Stream:
    """One reader of events, and the status that it was answered with."""

    def __init__(self, port: int, token: str, session_id: str) -> None:
        self._port = port
        self._asked = (
            f"GET /api/sessions/{session_id}/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Authorization: Bearer {token}\r\n\r\n"
        )
        self.status = 0

    async def open(self) -> "Stream":
        self.reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writer.write(self._asked.encode())
        head = await self.reader.readuntil(b"\r\n\r\n")
        self.status = int(head.split()[1])
        return self

    def close(self) -> None:
        self._writer.transport.abort()


# --- room -----------------------------------------------------------------------------------------


async def test_200_readers_of_a_server_with_64_files_are_answered_and_it_recovers(
    tmp_path: Path,
) -> None:
    async with serving_process(tmp_path, open_files=64) as one, asyncio.timeout(WAIT_S * 3):
        session_id = json.loads((await one.ask("POST", "/api/sessions", "{}"))[1])["id"]
        streams = [Stream(one.port, one.token, session_id) for _ in range(200)]
        await asyncio.gather(*(stream.open() for stream in streams))
        assert {stream.status for stream in streams} == {200, 503}
        served = [stream for stream in streams if stream.status == 200]
        assert 5 <= len(served) <= 10
        assert (await one.ask("GET", "/api/health"))[0] == 503

        async with open_app(settings_in(tmp_path)) as beside:  # those who read, go on
            await beside.journal.commit([TextDelta(session_id=session_id, text="It shines.")])
        for stream in served:
            await stream.reader.readuntil(b"It shines.")

        for stream in streams:
            stream.close()
        late = Stream(one.port, one.token, session_id)
        while (await late.open()).status != 200:
            late.close()
            await asyncio.sleep(0.02)
        await late.reader.readuntil(b"It shines.")
        late.close()
        code, err = await one.end()
    assert (code, "Traceback" in err) == (0, False)
    log = (tmp_path / "home" / "logs" / "nuncius.log").read_text()
    assert log.count("new connections are answered with 503: 10 are connected") == 1
    assert len(log.splitlines()) == 1


@pytest.fixture
async def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    """Serve a home where only one may be connected."""
    monkeypatch.setattr(server, "_most_connections", lambda: 1)
    async with place_in(tmp_path) as served:
        yield served


async def test_without_room_the_answer_is_an_error_as_all_others(small: Place) -> None:
    _, idle = await asyncio.open_connection("127.0.0.1", small.port)  # says nothing, takes room
    async with asyncio.timeout(WAIT_S):
        while True:
            host = {"Host": f"127.0.0.1:{small.port}"}
            status, given, text = await raw(small.port, "GET", "/api/sessions", host)
            if status == 503:
                break
    error = json.loads(text)["error"]
    assert error["code"] == "service_unavailable"
    assert error["message"] == "The server has as many connections as it can hold."
    assert error["hint"]
    assert given["connection"] == "close"
    assert int(given["retry-after"]) > 0
    assert given["content-type"] == "application/json"
    assert given["content-security-policy"].startswith("default-src 'none'")
    assert given["x-content-type-options"] == "nosniff"
    idle.transport.abort()


async def test_who_is_connected_may_go_on_asking(small: Place) -> None:
    for _ in range(3):
        await small.get("/sessions")  # over one connection


# --- a loop that is blocked -----------------------------------------------------------------------


class Blocked:
    """A tool that blocks the loop until its client, in a thread, has what it came for."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.found: dict[str, Any] = {}
        self._free = threading.Event()
        self._others: list[threading.Thread] = []

    def run(self) -> None:
        """Block the loop."""
        threading.Thread(target=self._ask_health).start()
        assert self._free.wait(WAIT_S)

    async def end(self) -> None:
        for one in self._others:
            await asyncio.to_thread(one.join, WAIT_S)

    def _ask_health(self) -> None:
        try:
            host = {"Host": f"127.0.0.1:{self._place.port}"}
            other = threading.Thread(target=self._ask, args=("sessions", "/api/sessions", host))
            self._others.append(other)
            other.start()
            self._ask("health", "/api/health?why=x", host)
            self._ask("name", "/api/health", {"Host": "evil.example"})
            self._ask("page", "/api/health", host | {"Origin": "http://evil.example"})
            self.found["others meanwhile"] = set(self.found)
        finally:
            self._free.set()

    def _ask(self, name: str, path: str, headers: dict[str, str]) -> None:
        if name == "sessions":
            headers = headers | {"Authorization": f"Bearer {self._place.token}"}
        self.found[name] = asyncio.run(raw(self._place.port, "GET", path, headers))


async def test_health_is_answered_while_a_tool_blocks_the_loop_and_all_else_waits(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(watchdog, "PATIENCE_S", 0.2)
    blocked = Blocked(place)
    run = GlobFiles.run

    async def stuck_in_a_tool(*words: Any) -> Any:
        blocked.run()
        return await run(*words)

    monkeypatch.setattr(GlobFiles, "run", stuck_in_a_tool)
    host = {"Host": f"127.0.0.1:{place.port}"}
    before = await raw(place.port, "GET", "/api/health", host)
    place.says([Reply(calls=[("glob_files", '{"pattern": "*.txt"}')]), "There are none."])
    session_id = await place.session()
    with caplog.at_level(logging.WARNING):
        events = await place.turn(session_id)
        await blocked.end()
    assert events[-1]["status"] == "completed"

    assert blocked.found["others meanwhile"] == {"health", "name", "page"}
    status, given, text = blocked.found["health"]
    assert (status, json.loads(text)) == (200, json.loads(before[2]))
    assert given.pop("connection") == "close"
    assert given.keys() == before[1].keys()
    assert [blocked.found[name][0] for name in ("name", "page", "sessions")] == [421, 403, 200]
    assert session_id in blocked.found["sessions"][2]

    told = [record.getMessage() for record in caplog.records if "event loop" in record.msg]
    (place_told,) = [line for line in told if "in stuck_in_a_tool" in line]
    assert place_told.startswith("the event loop is blocked, for ")
    assert told[told.index(place_told) + 1].startswith("the event loop is back after ")


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"GET /api/hea",
        b"GET /api/health HTTP/1.1\r\nHost: {host}\r\n",
        b"GET /api/health HTTP/1.1\r\n\r\n",
        b"POST /api/health HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n",
        b"HEAD /api/health HTTP/1.1\r\nHost: {host}\r\n\r\n",
        b"GET /api/health/ HTTP/1.1\r\nHost: {host}\r\n\r\n",
        b"GET /api/sessions HTTP/1.1\r\nHost: {host}\r\n\r\n",
        b"GET http://{host}/api/health HTTP/1.1\r\nHost: {host}\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
    ],
)
async def test_only_whole_requests_for_health_are_answered_without_the_loop(
    place: Place, head: bytes
) -> None:
    answer = health_alone(place.served.house.access)
    host = f"127.0.0.1:{place.port}".encode()
    assert await asyncio.to_thread(answer, head.replace(b"{host}", host)) == b""
    good = b"GET /api/health HTTP/1.1\r\nHost: " + host + b"\r\n\r\n"
    assert (await asyncio.to_thread(answer, good)).startswith(b"HTTP/1.1 200 OK\r\n")


# --- a command that does its worst ----------------------------------------------------------------


BOMB = """
bomb() {
  (( $1 )) && { bomb $(($1 - 1)) & bomb $(($1 - 1)) & }
  while (( SECONDS < 2 )); do :; done
}
: > begun
bomb 10
"""
"""2,047 processes at most, where no limit holds; bash waits between its tries to start one."""


@needs_sandbox
async def test_the_server_answers_while_a_command_is_a_fork_bomb(place: Place) -> None:
    """How soon, is measured by bench/health.py."""
    call = ("run_bash", json.dumps({"command": BOMB, "timeout_s": 20}))
    place.says([Reply(calls=[call]), "It is over."])
    session_id = await place.session()
    body = {"message": "Go.", "mode": "auto"}
    await place.post(f"/sessions/{session_id}/turns", body)
    answers = 0
    async with asyncio.timeout(WAIT_S * 2):
        while (session := await place.get(f"/sessions/{session_id}"))["status"] == "running":
            await place.get("/health")
            answers += (place.app.settings.project_dir / "begun").exists()
    assert session["status"] == "completed"
    assert answers > 5
    messages = (await place.get(f"/sessions/{session_id}/messages"))["messages"]
    said = next(one["content"] for one in messages if one["role"] == "tool")
    assert re.search(r"fork: .*Resource temporarily unavailable|too many processes", said), said


async def test_who_never_ends_the_first_request_is_sent_away(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HEAD_S", 0.3)
    session_id = await place.session()
    async with place.events(session_id) as reader:  # one that has sent its request stays
        seen = aiter(reader)
        async with asyncio.timeout(WAIT_S):
            for start in (b"", b"GET /api/health HT", b"GET /api/health HTTP/1.1\r\nHost: x\r\n"):
                stream, writer = await asyncio.open_connection("127.0.0.1", place.served.port)
                writer.write(start)
                assert await stream.read() == b""
                writer.close()
            await place.app.journal.commit([TextDelta(session_id=session_id, text="still here")])
            assert (await anext(seen))["text"] == "still here"
