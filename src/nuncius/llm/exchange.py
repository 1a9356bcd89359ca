"""One streamed request to a language model's server: deadlines, errors, pieces in order.

What the pieces mean is an `Assembly`'s business; there is one for each wire format.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from nuncius.core.errors import ModelError, NunciusError, UpstreamError
from nuncius.core.shapes import is_list, is_object
from nuncius.llm.faults import Origin, no_answer, payload_error, status_error
from nuncius.llm.model import Completion, ModelChunk
from nuncius.llm.sse import DONE, LineTooLongError, SseReader

T = TypeVar("T")
ERROR_BYTES = 64_000
BODY_BYTES = 32_000_000


class Reply(Protocol):
    """An HTTP answer whose body is still to come."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    def pieces(self) -> AsyncIterator[bytes]: ...


class Door(Protocol):
    """The way to the network: `nuncius.walls.network.Network` has it."""

    def stream(
        self, method: str, url: str, *, headers: Mapping[str, str], content: bytes, idle_s: float
    ) -> AbstractAsyncContextManager[Reply]:
        """Send a request and give the answer as soon as its head is there.

        Raises:
            UpstreamError: The server cannot be reached.
            AccessDeniedError: The door refuses the address, or the machine is offline.
        """
        ...


class Assembly(Protocol):
    """Puts one reply together from the objects of a stream."""

    @property
    def ending(self) -> bool:
        """Whether all of the reply has come, though usage and the like may follow."""
        ...

    @property
    def ended(self) -> bool:
        """Whether nothing follows any more."""
        ...

    def knows(self, value: Any) -> bool:
        """Tell whether this object belongs to the wire format at all."""
        ...

    def add(self, value: Any) -> list[ModelChunk]:
        """Take one object and return what a reader can be shown of it."""
        ...

    def failed(self, error: NunciusError) -> NunciusError:
        """Return `error` with what had come before it."""
        ...

    def finish(self, *, done: bool) -> tuple[list[ModelChunk], Completion]:
        """Return the last pieces and the whole reply."""
        ...


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long a server may take, in seconds.

    Attributes:
        idle_s: Without a byte. A server's keep-alive counts as life.
        total_s: For a whole reply, keep-alives or not.
        after_end_s: For what follows the finish reason (usage, ``[DONE]``).
    """

    idle_s: float = 120.0
    total_s: float = 900.0
    after_end_s: float = 5.0


class Exchange:
    """One request and its reply.

    Args:
        assembly: Where the reply grows; on a failure it holds what had come.
    """

    def __init__(self, origin: Origin, assembly: Assembly, deadlines: Deadlines) -> None:
        self._origin = origin
        self._assembly = assembly
        self._deadlines = deadlines
        self._end_s = time.monotonic() + deadlines.total_s
        self._understood = False
        self._done = False
        self._start = ""

    async def run(
        self, door: Door, headers: Mapping[str, str], body: Mapping[str, Any]
    ) -> AsyncGenerator[ModelChunk]:
        """Send `body` and yield what a reader can be shown, then the completion.

        Raises:
            ModelError: The service failed; `partial` holds what came before.
            KeyMissingError: No key, or it was refused.
            AccessDeniedError: The door refuses the address, or the machine is offline.
        """
        opened = door.stream(
            "POST",
            self._origin.url,
            headers={
                "content-type": "application/json",
                "accept": "text/event-stream",
                **headers,
            },
            content=_encode(body),
            idle_s=self._deadlines.total_s,  # silence is judged here, where it has a typed error
        )
        async with AsyncExitStack() as stack:
            try:
                answer = await self._within(stack.enter_async_context(opened))
            except UpstreamError as error:
                raise self._unreachable(error) from error
            try:
                async for chunk in self._read(answer):
                    yield chunk
            except ModelError:
                raise
            except UpstreamError as error:
                raise self._cut(error.reason) from error

    def _unreachable(self, error: UpstreamError) -> NunciusError:
        if isinstance(error, ModelError):
            return error
        return self._origin.error(
            f"the server cannot be reached: {error.reason}",
            retryable=True,
            hint="Is it running, and is LLM_BASE_URL right?",
        )

    def _cut(self, reason: str) -> NunciusError:
        """Return the error for a connection that broke, with what had come."""
        return self._assembly.failed(self._origin.cut(f"the connection broke: {reason}"))

    async def _within(self, step: Awaitable[T], *, idle_s: float | None = None) -> T:
        """Await one step within the idle and the total deadline.

        Raises:
            StreamCutError: The server was silent, or the whole reply took too long.
        """
        idle_s = self._deadlines.idle_s if idle_s is None else idle_s
        left_s = self._end_s - time.monotonic()
        scope = asyncio.timeout(min(idle_s, left_s))
        try:
            async with scope:
                return await step
        except TimeoutError as error:
            if not scope.expired():
                raise self._cut("time-out of the connection") from error
            silent = idle_s < left_s
            reason = (
                f"no sign of life for {idle_s:g} s"
                if silent
                else f"no end within {self._deadlines.total_s:g} s"
            )
            raise self._assembly.failed(self._origin.cut(reason)) from error

    async def _read(self, answer: Reply) -> AsyncIterator[ModelChunk]:
        kind = _content_type(answer.headers)
        if answer.status != 200:
            text = await self._body(answer, ERROR_BYTES)
            raise status_error(self._origin, answer.status, text, answer.headers)
        if kind == "text/html":
            no_answer(self._origin, await self._body(answer, ERROR_BYTES))
        whole = kind == "application/json"
        events = self._whole(answer) if whole else self._events(answer)
        async for event, payload in events:
            if payload == DONE:
                self._done = True
                break
            for chunk in self._take(event, payload):
                yield chunk
            if self._assembly.ended:
                self._done = True
                break
        if not self._understood:
            no_answer(self._origin, self._start)
        rest, completion = self._assembly.finish(done=self._done)
        for chunk in rest:
            yield chunk
        yield completion

    def _take(self, event: str, payload: str) -> list[ModelChunk]:
        self._start = self._start or payload[:1_000]
        try:
            value = json.loads(payload)
        except (ValueError, RecursionError):
            value = None  # an event of a kind that we do not know
        if is_list(value):  # Gemini's proxies wrap errors in a list
            value = value[0] if value else None
        if event == "error" and not (is_object(value) and value.get("error")):
            said = value if is_object(value) else payload
            raise self._assembly.failed(payload_error(self._origin, said))
        self._understood = self._understood or self._assembly.knows(value)
        return self._assembly.add(value)

    async def _events(self, answer: Reply) -> AsyncIterator[tuple[str, str]]:
        reader = SseReader()
        chunks = answer.pieces()
        try:
            while (data := await self._next(chunks)) is not None:
                for event in reader.feed(data):
                    yield event
            for event in reader.close():
                yield event
        except LineTooLongError as error:
            raise self._assembly.failed(self._origin.error(str(error))) from error

    async def _next(self, chunks: AsyncIterator[bytes]) -> bytes | None:
        """Return the next bytes; None at the end, or when nothing follows a finished reply."""
        ending = self._assembly.ending
        try:
            return await self._within(
                _after(chunks), idle_s=self._deadlines.after_end_s if ending else None
            )
        except ModelError:
            if ending:
                return None
            raise

    async def _whole(self, answer: Reply) -> AsyncIterator[tuple[str, str]]:
        """Yield the body of a server that does not stream, or streams under a wrong name."""
        text = await self._body(answer, BODY_BYTES)
        if text.lstrip()[:1] in {"{", "["} and _is_json(text):
            yield "", text
            self._done = True
            return
        reader = SseReader()
        for event in (*reader.feed(text.encode()), *reader.close()):
            yield event

    async def _body(self, answer: Reply, limit: int) -> str:
        data = bytearray()
        chunks = answer.pieces()
        while len(data) < limit and (piece := await self._within(_after(chunks))) is not None:
            data += piece
        return data[:limit].decode("utf-8", "replace")


async def _after(pieces: AsyncIterator[bytes]) -> bytes | None:
    return await anext(pieces, None)


def _content_type(headers: Mapping[str, str]) -> str:
    for key, value in headers.items():
        if key.lower() == "content-type":
            return value.split(";", 1)[0].strip().lower()
    return ""


def _encode(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def is_loopback(host: str) -> bool:
    """Tell whether `host` is this machine itself."""
    return host in {"localhost", "::1"} or host.startswith("127.")
