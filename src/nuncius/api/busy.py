"""Whole answers as bytes, for when no route can be asked: no room is left, or the loop is blocked."""

import asyncio
from collections.abc import Callable, Iterable
from email.utils import formatdate
from http import HTTPStatus

import h11
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from nuncius.api.access import Access
from nuncius.api.door import FrontDoor, with_policy
from nuncius.api.errors import reply
from nuncius.api.tools import health

_RETRY_S = 2


def no_room() -> bytes:
    """Return the answer to a connection that is one too many."""
    answer = reply(
        503,
        "service_unavailable",
        "The server has as many connections as it can hold.",
        "Try again soon; close pages that you do not read, or raise the limit (`ulimit -n`).",
    )
    answer.headers["retry-after"] = str(_RETRY_S)
    return _written(503, with_policy(answer.raw_headers, page=False), bytes(answer.body))


def health_alone(access: Access) -> Callable[[bytes], bytes]:
    """Return what answers ``GET /api/health`` in any thread, and nothing to all other requests.

    The front door is the ordinary one: the same hosts and pages are refused.
    """
    door = FrontDoor(_health, access)

    def answer(head: bytes) -> bytes:
        scope = _scope(head)
        if scope is None or (scope["method"], scope["path"]) != ("GET", "/api/health"):
            return b""
        return asyncio.run(_answer(door, scope))

    return answer


async def _health(scope: Scope, receive: Receive, send: Send) -> None:
    await JSONResponse((await health()).model_dump())(scope, receive, send)


async def _answer(door: FrontDoor, scope: Scope) -> bytes:
    said: list[Message] = []

    async def send(message: Message) -> None:
        said.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    await door(scope, receive, send)
    start, *rest = said
    body = b"".join(message.get("body", b"") for message in rest)
    return _written(start["status"], start["headers"], body)


def _scope(head: bytes) -> Scope | None:
    """Read a request whose head is there as a whole; None where it is not, or is none."""
    reader = h11.Connection(h11.SERVER)
    reader.receive_data(head)
    try:
        request = reader.next_event()
    except h11.RemoteProtocolError:  # the server tells the client so when it is asked
        return None
    if not isinstance(request, h11.Request):
        return None
    path = request.target.partition(b"?")[0].decode("ascii")
    method = request.method.decode("ascii")
    return {"type": "http", "method": method, "path": path, "headers": list(request.headers)}


def _written(status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> bytes:
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", f"date: {formatdate(usegmt=True)}"]
    lines += [
        f"{name.decode('latin-1')}: {value.decode('latin-1')}"
        for name, value in headers
        if name != b"connection"
    ]
    return "\r\n".join([*lines, "connection: close", "", ""]).encode("latin-1") + body
