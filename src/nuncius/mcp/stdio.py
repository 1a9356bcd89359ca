"""The protocol's two pipes: a line of JSON for each message, and nothing else on stdout.

The SDK has a transport of its own. It reads in a thread that cannot be left while the client keeps
its end open, so SIGTERM would hang; its lines have no bound; a broken one gets no answer.
"""

import asyncio
import fcntl
import json
import logging
import os
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from nuncius.core.shapes import as_object
from nuncius.core.text import clean

log = logging.getLogger(__name__)

MAX_LINE_BYTES = 4 * 1024 * 1024
"""A longer line is refused unread: no argument of ours is as long."""
_READ_BYTES = 64 * 1024
_AHEAD = 64
"""Lines read before the first of them was taken."""
_END_S = 0.5

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def pipes() -> AsyncGenerator[tuple[Incoming, Outgoing]]:
    """Take stdin and stdout for the protocol, for the rest of the process's life.

    Whatever else is printed, here or by a child, goes to stderr; whatever else reads stdin is at
    its end. The incoming stream ends when stdin does, or when nobody reads stdout any more.
    """
    source, sink = _claim()
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    reader, writer = _Reader(source), _Writer(sink)

    async def read() -> None:
        async with to_server:
            async for line in reader.lines():
                message = _parse(line)
                if isinstance(message, JSONRPCError):
                    await writer.write(_dump(message))
                else:
                    await to_server.send(message)

    async def write() -> None:
        async with from_server:
            async for message in from_server:
                await writer.write(_dump(message.message))

    tasks = [asyncio.create_task(_until_gone(read())), asyncio.create_task(_until_gone(write()))]
    tasks[1].add_done_callback(lambda _: to_server.close())  # nobody reads what we would say
    try:
        yield incoming, outgoing
    finally:
        outgoing.close()
        await asyncio.wait(tasks[1:], timeout=_END_S)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        incoming.close()


async def _until_gone(work: Coroutine[Any, Any, None]) -> None:
    """Do `work` until the other side, or our own server, is gone."""
    try:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            await work
    except Exception:
        log.exception("the connection broke")


def _claim() -> tuple[int, int]:
    """Return copies of stdin and stdout, and turn the originals away from the protocol."""
    source = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    sink = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, sink


class _Reader:
    """Reads lines in a thread that may stay behind: a read of a pipe cannot be called off."""

    def __init__(self, source: int) -> None:
        self._source = source
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._room = threading.Semaphore(_AHEAD)
        threading.Thread(target=self._run, name="mcp-stdin", daemon=True).start()

    async def lines(self) -> AsyncGenerator[bytes]:
        """Yield the lines, an oversized one cut short, until stdin ends."""
        while (line := await self._lines.get()) is not None:
            self._room.release()
            yield line

    def _run(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: the process is ending
            try:
                for line in split(lambda: os.read(self._source, _READ_BYTES)):
                    self._room.acquire()
                    self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
            except OSError as error:
                log.warning("stdin could not be read: %s", error.strerror)
            self._loop.call_soon_threadsafe(self._lines.put_nowait, None)


def split(read: Callable[[], bytes]) -> Iterator[bytes]:
    """Yield the lines that are not blank; of one too long, its first `MAX_LINE_BYTES` + 1 bytes."""
    line = bytearray()
    while chunk := read():
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line += end[: MAX_LINE_BYTES + 1 - len(line)]
            if line.strip():
                yield bytes(line)
            line.clear()
        line += rest[: MAX_LINE_BYTES + 1 - len(line)]
    if line.strip():
        yield bytes(line)


class _Writer:
    """Writes lines in a thread, so that a client that does not read blocks nothing else."""

    def __init__(self, sink: int) -> None:
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        self._lines: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="mcp-stdout", daemon=True).start()

    async def write(self, line: bytes) -> None:
        """Write one line, and wait until the pipe has it.

        Raises:
            OSError: Nobody reads any more.
        """
        written: asyncio.Future[None] = self._loop.create_future()
        self._lines.put((line, written))
        await written

    def _run(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: the process is ending
            while True:
                line, written = self._lines.get()
                try:
                    left = memoryview(line)
                    while left:
                        left = left[os.write(self._sink, left) :]
                except OSError as error:
                    self._loop.call_soon_threadsafe(_settle, written, error)
                else:
                    self._loop.call_soon_threadsafe(_settle, written, None)


def _settle(written: "asyncio.Future[None]", error: OSError | None) -> None:
    if written.done():  # the waiting was cancelled
        return
    if error:
        written.set_exception(error)
    else:
        written.set_result(None)


def _parse(line: bytes) -> SessionMessage | JSONRPCError:
    """Return the message, or the error that answers a line that is none."""
    if len(line) > MAX_LINE_BYTES:
        return _refusal(INVALID_REQUEST, f"A message may have {MAX_LINE_BYTES:,} bytes.")
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValidationError:
        pass
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return _refusal(PARSE_ERROR, "This line is no JSON.")
    return _refusal(INVALID_REQUEST, "This is no message of JSON-RPC 2.0.", _id_of(value))


def _id_of(value: object) -> str | int | None:
    """Return the id of a broken request, where it has one that can be sent back."""
    known = as_object(value).get("id")
    if isinstance(known, str):
        return known if clean(known) == known else None
    return known if isinstance(known, int) and not isinstance(known, bool) else None


def _refusal(code: int, message: str, request_id: str | int | None = None) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message))


def _dump(message: JSONRPCMessage) -> bytes:
    """Return a message as a line; one that cannot be written becomes an error with its id."""
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:
        log.exception("a message could not be written")
        known = None if isinstance(message, JSONRPCNotification) else message.id
        error = _refusal(INTERNAL_ERROR, "This could not be written as JSON.", known)
        text = error.model_dump_json(by_alias=True, exclude_unset=True)
    return text.encode() + b"\n"
