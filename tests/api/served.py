"""What the tests of the HTTP interface share: a served home, a client, a reader of events."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, cast

import httpx2

from library.conftest import settings_in
from nuncius.api.server import Served, serving
from nuncius.app.serving import ServedApp, open_served
from nuncius.core.settings import Settings
from nuncius.llm.scripted import Reply, ScriptedModel, Step

WAIT_S = 20.0
"""Far longer than anything takes; a test that waits so long has failed."""


def write_call(path: str, content: str = "x") -> Reply:
    """Return a reply that asks for leave to write a file."""
    arguments = json.dumps({"path": path, "content": content, "overwrite": True})
    return Reply(calls=[("file_write", arguments)])


def ask_call(question: str, *options: str) -> Reply:
    """Return a reply that asks the user."""
    arguments = json.dumps({"question": question, "options": list(options)})
    return Reply(calls=[("ask_user", arguments)])


async def until(so: Callable[[], bool]) -> None:
    """Wait for what must come soon."""
    async with asyncio.timeout(WAIT_S):
        while not so():  # noqa: ASYNC110  (what is waited for tells nobody)
            await asyncio.sleep(0.005)


@dataclass(slots=True)
class Place:
    """A served home."""

    app: ServedApp
    served: Served
    client: httpx2.AsyncClient
    token: str
    folder: Path

    @property
    def port(self) -> int:
        return self.served.port

    def says(self, script: Sequence[Step] | Callable[[Any], Step]) -> ScriptedModel:
        """Have the model follow a script."""
        model = ScriptedModel(script)
        cast("Any", self.app).model = lambda _name="": model
        cast("Any", self.app)._runtimes.clear()
        return model

    async def session(self) -> str:
        return (await self.post("/sessions", {}))["id"]

    async def get(self, path: str, status: int = 200) -> Any:
        answer = await self.client.get(f"/api{path}")
        assert answer.status_code == status, answer.text
        return answer.json()

    async def post(self, path: str, body: Any = None, status: int | None = None) -> Any:
        answer = await self.client.post(f"/api{path}", json=body)
        good = answer.is_success if status is None else answer.status_code == status
        assert good, (answer.status_code, answer.text)
        return answer.json()

    def events(
        self, session_id: str, after: int = 0, headers: Mapping[str, str] | None = None
    ) -> "Reader":
        return Reader(self, session_id, after, dict(headers or {}))

    async def until(self, session_id: str, kind: str, after: int = 0) -> list[dict[str, Any]]:
        """Return the events up to the first of a kind."""
        found: list[dict[str, Any]] = []
        async with self.events(session_id, after) as reader:
            async for event in reader:
                found.append(event)
                if event["type"] == kind:
                    return found
        raise AssertionError(f"the stream ended before {kind}: {[e['type'] for e in found]}")

    async def turn(self, session_id: str, message: str = "Go on.") -> list[dict[str, Any]]:
        """Run one turn and return its events."""
        turn_id = (await self.post(f"/sessions/{session_id}/turns", {"message": message}))[
            "turn_id"
        ]
        before = await self.before(turn_id, session_id)
        return await self.until(session_id, "turn_finished", before)

    async def before(self, turn_id: str, session_id: str) -> int:
        """Return the seq before a turn's first event."""
        events = await self.app.journal.events(session_id)
        return next(event.seq for event in events if event.turn_id == turn_id) - 1

    async def waiting(self, kind: str) -> dict[str, Any]:
        """Return what waits for a person, as soon as something does."""
        async with asyncio.timeout(WAIT_S):
            while True:
                found = [
                    one for one in (await self.get("/pending"))["pending"] if one["kind"] == kind
                ]
                if found:
                    return found[0]
                await asyncio.sleep(0.01)


@dataclass
class Reader:
    """Reads one stream of events as a browser would, and keeps what it saw beside them."""

    place: Place
    session_id: str
    after: int
    headers: dict[str, str]
    comments: list[str] = field(default_factory=list[str])
    status: int = 0
    last_id: str = ""

    async def __aenter__(self) -> Self:
        url = f"/api/sessions/{self.session_id}/events?after={self.after}"
        self._stream = self.place.client.stream("GET", url, headers=self.headers)
        self._answer = await self._stream.__aenter__()
        self.status = self._answer.status_code
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stream.__aexit__(None, None, None)

    async def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        data: list[str] = []
        async with asyncio.timeout(WAIT_S):
            async for line in self._lines():
                name, _, value = line.partition(": ")
                if line.startswith(":"):
                    self.comments.append(line[1:].strip())
                elif name == "data":
                    data.append(value)
                elif name == "id":
                    self.last_id = value
                elif not line and data:
                    event = json.loads("\n".join(data))
                    data = []
                    yield event

    async def _lines(self) -> AsyncIterator[str]:
        """Yield lines as a browser splits them: not at U+2028, as Python would."""
        rest = b""
        async for piece in self._answer.aiter_bytes():
            *lines, rest = re.split(rb"\r\n|\n|\r", rest + piece)
            for line in lines:
                yield line.decode()


def _offline(folder: Path) -> Settings:
    """Return settings of a home from which nothing leaves this machine."""
    return settings_in(folder).model_copy(update={"offline": True})


@asynccontextmanager
async def place_in(folder: Path, **options: Any) -> AsyncGenerator[Place]:
    """Serve a home in `folder` on any free port."""
    async with open_served(_offline(folder)) as app, serving(app, port=0, **options) as served:
        token = (folder / "home" / "token").read_text().strip()
        async with httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{served.port}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=WAIT_S,
            trust_env=False,
            limits=httpx2.Limits(max_connections=None),
        ) as client:
            yield Place(app, served, client, token, folder)


async def raw(
    port: int, method: str, path: str, headers: Mapping[str, str], body: str | bytes | None = None
) -> tuple[int, dict[str, str], str]:
    """Send one request as these bytes and return status, headers and body (of a stream: its start)."""
    content = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    if content is not None and not {"Content-Length", "Transfer-Encoding"} & set(headers):
        lines.append(f"Content-Length: {len(content)}")
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(WAIT_S):
            writer.write("\r\n".join([*lines, "", ""]).encode("utf-8"))
            writer.write(content or b"")
            with suppress(ConnectionError):  # refused before the body was read: still answered
                await writer.drain()
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *rest = head.strip().split("\r\n")
            given = {k.lower(): v for k, _, v in (line.partition(": ") for line in rest)}
            length = given.get("content-length")
            if method == "HEAD":
                length = "0"
            text = await (reader.readexactly(int(length)) if length else reader.read(2_000))
    finally:
        writer.close()
    return int(first.split()[1]), given, text.decode("utf-8", "replace")
