"""Any server that speaks the OpenAI chat protocol, streamed."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from nuncius.core.errors import ModelError, NunciusError, UpstreamError
from nuncius.core.shapes import as_object, is_list
from nuncius.llm import wire
from nuncius.llm.accumulate import Accumulator
from nuncius.llm.faults import Origin, no_answer, status_error
from nuncius.llm.model import Completion, ModelChunk, ModelRequest
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


class OpenAIModel:
    """A `ChatModel` behind an OpenAI-compatible server.

    Args:
        base_url: Up to, and without, ``/chat/completions``.
        api_key: Empty for a server that wants none.
    """

    degraded = ""

    def __init__(
        self,
        door: Door,
        *,
        base_url: str,
        model: str,
        api_key: str = "",
        deadlines: Deadlines | None = None,
    ) -> None:
        self._door = door
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._model = model
        self._key = api_key
        self._dialect = wire.dialect_of(base_url, model)
        self._deadlines = deadlines or Deadlines()
        self._host = urlsplit(base_url).hostname or ""
        self._origin = Origin(self.name, self._url, api_key)

    @property
    def name(self) -> str:
        """Host and model, such as ``api.openai.com/gpt-5``."""
        return f"{self._host}/{self._model}"

    @property
    def local(self) -> bool:
        """Whether the server is this machine itself."""
        return self._host in {"localhost", "::1"} or self._host.startswith("127.")

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """Answer `request` piece by piece.

        Raises:
            ModelError: The service failed; `partial` holds what came before.
            KeyMissingError: No key, or it was refused.
            AccessDeniedError: The door refuses the address, or the machine is offline.
        """
        reply = _Reply(self._origin, self._deadlines, request.max_output_tokens)
        content = wire.body(
            request, model=self._model, dialect=self._dialect, service=self._origin.service
        )
        opened = self._door.stream(
            "POST",
            self._url,
            headers=self._headers(),
            content=_encode(content),
            idle_s=self._deadlines.total_s,  # silence is judged here, where it has a typed error
        )
        async with AsyncExitStack() as stack:
            try:
                answer = await reply.within(stack.enter_async_context(opened))
            except UpstreamError as error:
                raise self._unreachable(error) from error
            try:
                async for chunk in reply.read(answer):
                    yield chunk
            except ModelError:
                raise
            except UpstreamError as error:
                raise reply.cut(error.reason) from error

    def _headers(self) -> dict[str, str]:
        headers = {"content-type": "application/json", "accept": "text/event-stream"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        return headers

    def _unreachable(self, error: UpstreamError) -> NunciusError:
        if isinstance(error, ModelError):
            return error
        return self._origin.error(
            f"the server cannot be reached: {error.reason}",
            retryable=True,
            hint="Is it running, and is LLM_BASE_URL right?",
        )


class _Reply:
    """One reply while it is read."""

    def __init__(self, origin: Origin, deadlines: Deadlines, limit: int | None) -> None:
        self._origin = origin
        self._deadlines = deadlines
        self._accumulator = Accumulator(origin, max_output_tokens=limit)
        self._end_s = time.monotonic() + deadlines.total_s
        self._understood = False
        self._done = False
        self._start = ""

    def cut(self, reason: str) -> NunciusError:
        """Return the error for a connection that broke, with what had come."""
        return self._accumulator.failed(self._origin.cut(f"the connection broke: {reason}"))

    async def within(self, step: Awaitable[T], *, idle_s: float | None = None) -> T:
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
                raise self.cut("time-out of the connection") from error
            silent = idle_s < left_s
            reason = (
                f"no sign of life for {idle_s:g} s"
                if silent
                else f"no end within {self._deadlines.total_s:g} s"
            )
            raise self._accumulator.failed(self._origin.cut(reason)) from error

    async def read(self, answer: Reply) -> AsyncIterator[ModelChunk]:
        """Yield what a reader can be shown, then the completion."""
        kind = _content_type(answer.headers)
        if answer.status != 200:
            text = await self._body(answer, ERROR_BYTES)
            raise status_error(self._origin, answer.status, text, answer.headers)
        if kind == "text/html":
            no_answer(self._origin, await self._body(answer, ERROR_BYTES))
        whole = kind == "application/json"
        payloads = self._whole(answer) if whole else self._payloads(answer)
        async for payload in payloads:
            if payload == DONE:
                self._done = True
                break
            for chunk in self._take(payload):
                yield chunk
        if not self._understood:
            no_answer(self._origin, self._start)
        rest, completion = self._accumulator.finish(done=self._done)
        for chunk in rest:
            yield chunk
        yield completion

    def _take(self, payload: str) -> list[ModelChunk]:
        self._start = self._start or payload[:1_000]
        try:
            value = json.loads(payload)
        except (ValueError, RecursionError):
            return []  # an event of a kind that we do not know
        if is_list(value):  # Gemini's proxies wrap errors in a list
            value = value[0] if value else None
        self._understood = self._understood or "choices" in as_object(value)
        return self._accumulator.add(value)

    async def _payloads(self, answer: Reply) -> AsyncIterator[str]:
        reader = SseReader()
        chunks = answer.pieces()
        try:
            while (data := await self._next(chunks)) is not None:
                for _, payload in reader.feed(data):
                    yield payload
            for _, payload in reader.close():
                yield payload
        except LineTooLongError as error:
            raise self._accumulator.failed(self._origin.error(str(error))) from error

    async def _next(self, chunks: AsyncIterator[bytes]) -> bytes | None:
        """Return the next bytes; None at the end, or when nothing follows a finished reply."""
        ended = self._accumulator.finish_reason is not None
        try:
            return await self.within(
                _after(chunks), idle_s=self._deadlines.after_end_s if ended else None
            )
        except ModelError:
            if ended:
                return None
            raise

    async def _whole(self, answer: Reply) -> AsyncIterator[str]:
        """Yield the body of a server that does not stream, or streams under a wrong name."""
        text = await self._body(answer, BODY_BYTES)
        if text.lstrip()[:1] in {"{", "["} and _is_json(text):
            yield text
            self._done = True
            return
        reader = SseReader()
        for _, payload in (*reader.feed(text.encode()), *reader.close()):
            yield payload

    async def _body(self, answer: Reply, limit: int) -> str:
        data = bytearray()
        chunks = answer.pieces()
        while len(data) < limit and (piece := await self.within(_after(chunks))) is not None:
            data += piece
        return data[:limit].decode("utf-8", "replace")


async def _after(pieces: AsyncIterator[bytes]) -> bytes | None:
    return await anext(pieces, None)


def _content_type(headers: Mapping[str, str]) -> str:
    for key, value in headers.items():
        if key.lower() == "content-type":
            return value.split(";", 1)[0].strip().lower()
    return ""


def _encode(body: dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


__all__ = ["Completion", "Deadlines", "Door", "OpenAIModel", "Reply"]
