"""A server on loopback that plays answers, recorded or written, with their status, headers and faults.

Used beyond this folder: whatever reaches a service is tested against it, by settings alone.
"""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

from nuncius.core.settings import SERVICE_URLS
from nuncius.core.shapes import as_object
from nuncius.sources.services import MANNERS, Services

Fault = Literal["", "cut", "drip", "silent", "close"]
"""`cut`: half of the body, then the end; `drip`: a byte at a time; `silent`: no answer; `close`: the
connection ends before a word."""
MOST_REQUESTS = 5_000
_REASONS = {200: "OK", 302: "Found", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    at: float

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Played:
    """One answer."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    fault: Fault = ""
    delay_s: float = 0.0

    @classmethod
    def json(cls, value: Any, status: int = 200, **headers: str) -> "Played":
        """Return an answer in JSON; underscores in names of headers become hyphens."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        return cls(
            json.dumps(value).encode(), status, {"Content-Type": "application/json", **named}
        )

    @classmethod
    def text(cls, body: str, status: int = 200, kind: str = "text/plain") -> "Played":
        return cls(body.encode(), status, {"Content-Type": kind})

    @classmethod
    def recorded(cls, file: Path) -> "Played":
        """Return a recorded answer with the status and headers that stand beside it."""
        meta = file.with_name(f"{file.name}.meta.json")
        facts: dict[str, Any] = json.loads(meta.read_text()) if meta.exists() else {}
        kept: dict[str, str] = {
            name: text
            for name, text in as_object(facts.get("response_headers")).items()
            if name.lower() not in {"transfer-encoding", "content-length", "content-encoding"}
        }
        return cls(file.read_bytes(), int(facts.get("status") or 200), kept)


Rule = Callable[[Asked], "Played | None"]


class Playing:
    """The server: rules are asked in order, the newest first; what no rule answers is a 404."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.url = ""
        self._rules: list[Rule] = []

    def play(self, prefix: str, *answers: Played, method: str = "", **query: str) -> None:
        """Answer requests whose path begins so; the last answer stands for all later requests.

        Args:
            query: Parameters that must be there with these values.
        """
        left = list(answers)

        def rule(asked: Asked) -> Played | None:
            if not asked.path.startswith(prefix) or (method and asked.method != method):
                return None
            if any(asked.query.get(name) != value for name, value in query.items()):
                return None
            return left.pop(0) if len(left) > 1 else left[0]

        self._rules.insert(0, rule)

    def rule(self, rule: Rule) -> None:
        """Add a rule that decides by itself; None: not mine."""
        self._rules.insert(0, rule)

    def paths(self) -> list[str]:
        """Return the paths that were asked for."""
        return [asked.path for asked in self.asked]

    def settings(self) -> dict[str, str]:
        """Return what points every client here: each service has its name as the first folder."""
        return {f"{name}_url": f"{self.url}/{name}" for name in SERVICE_URLS}

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator["Playing"]:
        """Serve on a free port of loopback."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        self.url = f"http://{host}:{port}"
        try:
            yield self
        finally:
            server.close()
            await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (asked := await _read(reader)) is not None and len(self.asked) < MOST_REQUESTS:
                self.asked.append(asked)
                found = (answer for rule in self._rules if (answer := rule(asked)) is not None)
                if not await _write(writer, next(found, Played.text("no such thing", 404))):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client went away, as some tests want
        finally:
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    line = await reader.readline()
    if not line:
        return None
    method, target, _ = line.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while (raw := await reader.readline()) not in {b"\r\n", b""}:
        name, _, value = raw.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length") or 0))
    parts = urlsplit(target)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    at = asyncio.get_running_loop().time()
    return Asked(method, parts.path, query, headers, body, at)


async def _write(writer: asyncio.StreamWriter, answer: Played) -> bool:
    """Write the answer; return whether the connection goes on."""
    await asyncio.sleep(answer.delay_s)
    if answer.fault == "close":
        return False
    if answer.fault == "silent":
        await asyncio.sleep(30)
        return False
    names = {name.lower() for name in answer.headers}
    head = [f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, 'Played')}"]
    head += [f"{name}: {value}" for name, value in answer.headers.items()]
    if "content-length" not in names:
        head.append(f"Content-Length: {len(answer.body)}")
    writer.write("\r\n".join([*head, "", ""]).encode("latin-1"))
    if answer.fault == "drip":
        for byte in answer.body:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.01)
    else:
        half = answer.fault == "cut"
        writer.write(answer.body[: len(answer.body) // 2] if half else answer.body)
    await writer.drain()
    return answer.fault != "cut"


def hurry(services: Services) -> Services:
    """Let no client wait: paces and pauses are tested by themselves."""
    for name in MANNERS:
        services.get(name)._sleep = _at_once  # pyright: ignore[reportPrivateUsage]
    return services


async def _at_once(_seconds: float) -> None:
    return


@contextmanager
def in_a_thread(*rules: Callable[["Playing"], None]) -> Generator["Playing"]:
    """Serve beside whatever runs here, such as a command with an event loop of its own."""
    server, ready, stop = Playing(), threading.Event(), threading.Event()
    for rule in rules:
        rule(server)

    async def serve() -> None:
        async with server.serving():
            ready.set()
            while not stop.is_set():  # noqa: ASYNC110  (set by another thread)
                await asyncio.sleep(0.02)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    try:
        assert ready.wait(10)
        yield server
    finally:
        stop.set()
        thread.join(10)
