"""A server on loopback whose answers are written by hand, byte by byte: for faults that HTTP does not know."""

import asyncio
import ssl
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Answer = Callable[["Request", asyncio.StreamWriter], Awaitable[None]]
PDF_END = b"\nstartxref\n9\n%%EOF\n"


@dataclass(frozen=True, slots=True)
class Request:
    path: str
    headers: Mapping[str, str]


@dataclass(slots=True)
class Faulty:
    """The server.

    Attributes:
        asked: What was asked, in order.
    """

    url: str = ""
    asked: list[Request] = field(default_factory=list[Request])


def pdf_of(size: int, head: str = "%PDF-1.7") -> bytes:
    """Return bytes that are a PDF by their head and end, `size` long where that is possible."""
    start = head.encode("latin-1")
    return start + b"\n" * max(0, size - len(start) - len(PDF_END)) + PDF_END


def head_of(status: int = 200, **headers: str | int) -> bytes:
    lines = [f"HTTP/1.1 {status} Said", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def sends(body: bytes = b"", status: int = 200, **headers: str | int) -> Answer:
    """Return an answer with its size told, unless `headers` tell another one."""

    async def answer(_request: Request, writer: asyncio.StreamWriter) -> None:
        told: dict[str, str | int] = {"Content_Length": len(body), **headers}
        writer.write(head_of(status, **told) + body)
        await writer.drain()

    return answer


def bomb(coding: str, ratio: int, packed: int) -> bytes:
    """Return packed bytes that begin as a PDF and unpack to `ratio` times as many."""
    wbits = {"gzip": 31, "deflate": 15}[coding]
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    out = packer.compress(b"%PDF-1.7\n" + b" " * 2000)
    block = b" " * 1_000_000
    for _ in range(max(1, ratio * packed // len(block))):
        out += packer.compress(block)
    return out + packer.flush()


@asynccontextmanager
async def serving(answer: Answer, context: ssl.SSLContext | None = None) -> AsyncGenerator[Faulty]:
    """Serve one answer to whoever asks, on a free port of loopback."""
    faulty = Faulty()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = (await reader.readline()).decode("latin-1").split(" ")
            headers: dict[str, str] = {}
            while (raw := await reader.readline()) not in {b"\r\n", b""}:
                name, _, value = raw.decode("latin-1").partition(":")
                headers[name.strip().lower()] = value.strip()
            if len(line) > 1:
                request = Request(line[1], headers)
                faulty.asked.append(request)
                await answer(request, writer)
        except (ConnectionError, ssl.SSLError, asyncio.IncompleteReadError):
            pass  # the client went away, as it should from most of these
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    faulty.url = f"http{'s' if context else ''}://localhost:{port}"
    try:
        yield faulty
    finally:
        server.close()
