"""A language-model server on loopback that refuses what real providers refuse, and says why.

It speaks the OpenAI chat protocol over HTTP with nothing but the standard library, and answers from
a list: raw bytes of a recorded stream, a finished message, or an HTTP error.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from nuncius.core.shapes import as_list, as_object

ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass
class Answer:
    """What the server does with one accepted request."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    content_type: str = "text/event-stream"
    piece: int = 4096
    hang: bool = False
    """Keep the connection open after the body."""


Step = Answer | bytes | dict[str, Any]


def faults(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what a strict provider would refuse in these messages."""
    found: list[str] = []
    seen: set[str] = set()
    waiting: list[str] = []
    if not messages:
        return ["no messages"]
    for at, message in enumerate(messages):
        role = message.get("role")
        if waiting and role != "tool":
            found.append(f"{at}: calls {waiting} have no result")
            waiting = []
        found += [f"{at}: {fault}" for fault in _shape(message)]
        if role == "system" and at:
            found.append(f"{at}: system message after the beginning")
        elif role == "user" and at and messages[at - 1].get("role") == "user":
            found.append(f"{at}: two user messages in a row")
        elif role == "tool":
            call_id = message.get("tool_call_id")
            if not waiting or call_id != waiting[0]:
                found.append(f"{at}: result for {call_id!r} where {waiting[:1]} was due")
            else:
                waiting.pop(0)
        elif role == "assistant":
            for call in message.get("tool_calls") or ():
                found += [f"{at}: {fault}" for fault in _call(call, seen)]
                waiting.append(call.get("id"))
    if waiting:
        found.append(f"calls {waiting} have no result at the end")
    return found


def _shape(message: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    content = message.get("content")
    if message.get("role") not in {"system", "user", "assistant", "tool"}:
        found.append("unknown role")
    if content is None and not message.get("tool_calls"):
        found.append("no content")
    if content is not None and not isinstance(content, str):
        found.append("content is no text")
    if content == "" and not message.get("tool_calls"):
        found.append("empty content")
    if re.search("[\ud800-\udfff]", json.dumps(message, ensure_ascii=False)):
        found.append("lone surrogate")
    return found


def _call(call: Mapping[str, Any], seen: set[str]) -> list[str]:
    found: list[str] = []
    call_id, function = call.get("id"), as_object(call.get("function"))
    if not isinstance(call_id, str) or not ID.fullmatch(call_id):
        found.append(f"bad call id {call_id!r}")
    elif call_id in seen:
        found.append(f"call id {call_id} used twice")
    else:
        seen.add(call_id)
    if not NAME.fullmatch(str(function.get("name", ""))):
        found.append(f"bad tool name {function.get('name')!r}")
    try:
        arguments = json.loads(function.get("arguments", ""))
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        found.append("arguments are no JSON object")
    return found


def chunks(
    *deltas: Mapping[str, Any], finish: str | None = "stop", done: bool = True, **extra: Any
) -> bytes:
    """Return a stream of these deltas in OpenAI's form."""
    objects: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": dict(delta), "finish_reason": None}]} for delta in deltas
    ]
    if finish:
        objects.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], **extra})
    lines = [f"data: {json.dumps(entry)}\n\n" for entry in objects]
    return ("".join(lines) + ("data: [DONE]\n\n" if done else "")).encode()


def whole(message: Mapping[str, Any], finish: str | None = None) -> bytes:
    """Return the stream of one whole message in two deltas."""
    calls = [{"index": i, **call} for i, call in enumerate(as_list(message.get("tool_calls")))]
    delta: dict[str, Any] = {**message, **({"tool_calls": calls} if calls else {})}
    return chunks(delta, finish=finish or ("tool_calls" if calls else "stop"))


class StrictProvider:
    """The server: `refusals` stays empty as long as every request was right."""

    def __init__(self, steps: Sequence[Step] | Callable[[Mapping[str, Any]], Step]) -> None:
        self._steps = steps if callable(steps) else None
        self._list = [] if callable(steps) else list(steps)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.refusals: list[str] = []
        self.url = ""
        self._stop = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def serving(
        cls, steps: Sequence[Step] | Callable[[Mapping[str, Any]], Step]
    ) -> AsyncGenerator["StrictProvider"]:
        provider = cls(steps)
        server = await asyncio.start_server(provider._serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        provider.url = f"http://127.0.0.1:{port}/v1"
        try:
            yield provider
        finally:
            provider._stop.set()
            server.close()
            await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            fields = dict(
                line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line
            )
            body = await reader.readexactly(int(fields.get("content-length", "0")))
            await self._write(writer, self._answer(fields, body))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client hung up: what some tests are about
        finally:
            writer.close()

    def _answer(self, fields: dict[str, str], body: bytes) -> Answer:
        request = json.loads(body.decode("utf-8"))
        self.requests.append(request)
        self.headers.append(fields)
        found = self._judge(fields, request)
        if found:
            self.refusals += found
            return _error(400, "; ".join(found))
        if self._steps is None and not self._list:
            return _error(500, "the test has no more answers")
        step = self._steps(request) if self._steps else self._list.pop(0)
        if isinstance(step, Answer):
            return step
        return Answer(step if isinstance(step, bytes) else whole(step))

    def _judge(self, fields: Mapping[str, str], request: Mapping[str, Any]) -> list[str]:
        return faults(request["messages"])

    async def _write(self, writer: asyncio.StreamWriter, answer: Answer) -> None:
        lines = [f"HTTP/1.1 {answer.status} Status", f"content-type: {answer.content_type}"]
        lines += [f"{key}: {value}" for key, value in answer.headers.items()]
        writer.write(("\r\n".join([*lines, "connection: close"]) + "\r\n\r\n").encode())
        for start in range(0, len(answer.body), answer.piece):
            writer.write(answer.body[start : start + answer.piece])
            await writer.drain()
        if answer.hang:
            await self._stop.wait()


def _error(status: int, message: str) -> Answer:
    body = json.dumps({"error": {"message": message, "type": "invalid_request_error"}}).encode()
    return Answer(body, status=status, content_type="application/json")
