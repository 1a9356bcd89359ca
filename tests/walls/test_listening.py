"""Who connects is served, or told at once that there is no room."""

import asyncio
import errno
import os
import socket
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, cast

import pytest
from typing_extensions import override

from nuncius.walls.listening import Listening, bind

REFUSAL = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\r\nno room"
WAIT_S = 20


class Echo(asyncio.Protocol):
    """Says hello, then the same as the client."""

    transport: asyncio.Transport

    def __init__(self, connected: "set[Echo]") -> None:
        self.connected = connected

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.connected.add(self)
        self.transport.write(b"hello")

    @override
    def data_received(self, data: bytes) -> None:
        self.transport.write(data)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self.connected.discard(self)


@asynccontextmanager
async def echoing(
    most: int = 1_000, host: str = "127.0.0.1", port: int = 0
) -> AsyncGenerator[tuple[Listening, set[Echo]]]:
    connected: set[Echo] = set()
    listening = Listening(
        await bind(host, port),
        make=lambda: Echo(connected),
        connected=connected,
        most=most,
        refusal=REFUSAL,
    )
    listening.start(2_048)
    try:
        yield listening, connected
    finally:
        await listening.close()
        for one in connected:
            one.transport.abort()
        await asyncio.sleep(0)


async def come(port: int, host: str = "127.0.0.1") -> tuple[bytes, asyncio.StreamWriter]:
    """Connect and return the first that is said."""
    async with asyncio.timeout(WAIT_S):
        reader, writer = await asyncio.open_connection(host, port)
        return await reader.read(1_000), writer


def leave(*writers: asyncio.StreamWriter) -> None:
    for writer in writers:
        writer.transport.abort()


# --- room -----------------------------------------------------------------------------------------


async def test_so_many_as_may_are_let_in_and_all_others_are_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with echoing(most=7) as (listening, connected):
        came = await asyncio.gather(*(come(listening.port) for _ in range(50)))
        assert sorted({said for said, _ in came}) == [REFUSAL, b"hello"]
        assert [said for said, _ in came].count(b"hello") == len(connected) == 7
        assert caplog.text.count("answered with 503: 7 are connected") == 1
        leave(next(writer for said, writer in came if said == b"hello"))
        async with asyncio.timeout(WAIT_S):
            while len(connected) == 7:  # noqa: ASYNC110  (nobody tells)
                await asyncio.sleep(0.005)
        said, writer = await come(listening.port)
        assert said == b"hello"
        leave(writer, *(writer for _, writer in came))


async def test_a_refusal_is_read_whole_whatever_the_client_sends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with echoing(most=0) as (listening, _):
        for asked in (b"", b"GET / HTTP/1.1\r\n\r\n", b"x" * 1_000_000):
            reader, writer = await asyncio.open_connection("127.0.0.1", listening.port)
            writer.write(asked)
            async with asyncio.timeout(WAIT_S):
                assert await reader.read(-1) == REFUSAL
            leave(writer)


async def test_every_address_of_a_name_is_listened_on(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("no IPv6 on this machine")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    async def both(*_: Any, **__: Any) -> list[Any]:
        return [
            (family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port))
            for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
        ]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", both)
    async with echoing(host="both.invalid", port=port) as (listening, _):
        monkeypatch.undo()
        for host in ("127.0.0.1", "::1"):
            said, writer = await come(listening.port, host)
            assert said == b"hello"
            leave(writer)


async def test_no_answer_waits_for_the_one_before_it() -> None:
    async with echoing() as (listening, connected):
        _, writer = await come(listening.port)
        connection = next(iter(connected)).transport.get_extra_info("socket")
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        leave(writer)


async def test_whoever_was_taken_when_it_closes_is_connected() -> None:
    async with echoing() as (listening, connected):
        clients = [
            socket.create_connection(("127.0.0.1", listening.port), WAIT_S) for _ in range(5)
        ]
        await asyncio.sleep(0)
        cast("Any", listening)._take(cast("Any", listening)._sockets[0])
        await listening.close()
        assert len(connected) == 5
        for client in clients:
            client.close()


# --- open files -----------------------------------------------------------------------------------

FULL = """
import asyncio, logging, resource, sys
from nuncius.walls import listening
from walls.test_listening import echoing

logging.basicConfig(stream=sys.stdout, format="%(message)s")
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
if sys.argv[1] == "no reserve":
    listening._spare_file = lambda: None

async def main():
    async with echoing() as (one, _):
        print(one.port, flush=True)
        await asyncio.to_thread(sys.stdin.readline)

asyncio.run(main())
"""


@asynccontextmanager
async def with_few_files(kind: str) -> AsyncGenerator[tuple[int, asyncio.subprocess.Process]]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", FULL, kind,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    assert process.stdout
    try:
        yield int(await process.stdout.readline()), process
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def test_without_open_files_new_clients_are_told_and_the_others_go_on() -> None:
    async with with_few_files("reserve") as (port, process):
        came: list[tuple[bytes, asyncio.StreamReader, asyncio.StreamWriter]] = []
        async with asyncio.timeout(WAIT_S):
            for _ in range(200):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                came.append((await reader.read(1_000), reader, writer))
            said = [said for said, *_ in came]
            served = said.index(REFUSAL)
            assert said == [b"hello"] * served + [REFUSAL] * (200 - served)
            assert 30 < served < 64
            for _, reader, writer in came[:served]:  # they go on
                writer.write(b"and?")
                assert await reader.read(1_000) == b"and?"
            leave(*(writer for *_, writer in came))
            while (again := await come(port))[0] != b"hello":
                leave(again[1])
                await asyncio.sleep(0.01)
            leave(again[1])
            out, _ = await process.communicate(b"\n")
    assert out.decode().splitlines() == [
        "new connections are answered with 503: no open file is left"
    ]
    assert process.returncode == 0


async def test_without_even_the_reserve_new_clients_wait_until_a_file_is_free() -> None:
    async with with_few_files("no reserve") as (port, process):
        clients = [await asyncio.open_connection("127.0.0.1", port) for _ in range(80)]
        async with asyncio.timeout(WAIT_S):
            assert await clients[0][0].read(1_000) == b"hello"
            leave(*(writer for _, writer in clients[:40]))
            for reader, _ in clients[40:]:
                assert await reader.read(1_000) == b"hello"
            leave(*(writer for _, writer in clients))
            out, _ = await process.communicate(b"\n")
    assert (out, process.returncode) == (b"", 0)


async def test_an_error_of_one_connection_is_not_taken_for_a_lack_of_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The loop logs it, and takes the next one."""
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    accept = socket.socket.accept
    faults: Iterator[OSError] = iter([OSError(errno.EPROTO, "made up")])

    def failing(self: socket.socket) -> Any:
        if fault := next(faults, None):
            raise fault
        return accept(self)

    async with echoing() as (listening, _):
        monkeypatch.setattr(socket.socket, "accept", failing)
        said, writer = await come(listening.port)
        assert said == b"hello"
        leave(writer)
    assert [str(one["exception"]) for one in told] == [f"[Errno {errno.EPROTO}] made up"]


# --- a loop that is blocked -----------------------------------------------------------------------


def ask(port: int, asked: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), WAIT_S) as client:
        client.sendall(asked)
        found = b""
        while more := client.recv(1_000):
            found += more
            if found.endswith((b"!", asked)):
                break
        return found


def well(head: bytes) -> bytes:
    return b"well!" if head == b"how are you" else b""


@contextmanager
def standing_in(listening: Listening, answer: Callable[[bytes], bytes] = well) -> Generator[None]:
    back = threading.Event()
    thread = threading.Thread(target=listening.answer_meanwhile, args=(back, answer))
    thread.start()
    try:
        yield
    finally:
        back.set()
        thread.join()


async def test_while_the_loop_is_blocked_some_are_answered_and_all_others_wait_for_it() -> None:
    async with echoing() as (listening, _):
        found: dict[bytes, bytes] = {}

        def client(word: bytes) -> None:
            found[word] = ask(listening.port, word)

        words = (b"anybody", b"how are", b"how are you", b"how are you all")
        clients = [threading.Thread(target=client, args=(word,)) for word in words]
        with standing_in(listening), socket.create_connection(("127.0.0.1", listening.port)):
            for one in clients:
                one.start()
            clients[2].join(WAIT_S)  # the loop is blocked here
            assert found == {b"how are you": b"well!"}
        async with asyncio.timeout(WAIT_S):
            await asyncio.gather(*(asyncio.to_thread(one.join) for one in clients))
        assert found == {
            b"anybody": b"helloanybody",
            b"how are": b"hellohow are",
            b"how are you": b"well!",
            b"how are you all": b"hellohow are you all",
        }


async def test_an_answer_that_breaks_loses_no_connection() -> None:
    def broken(_: bytes) -> bytes:
        raise OSError(errno.EMFILE, "made up")

    async with echoing() as (listening, _):
        found: list[bytes] = []
        client = threading.Thread(target=lambda: found.append(ask(listening.port, b"how are you")))
        with standing_in(listening, broken):
            client.start()
            client.join(0.2)
        await asyncio.to_thread(client.join, WAIT_S)
        assert found == [b"hellohow are you"]


async def test_no_more_are_taken_for_a_blocked_loop_than_may_be() -> None:
    async with echoing(most=3) as (listening, connected):
        with standing_in(listening):
            clients = [
                socket.create_connection(("127.0.0.1", listening.port), WAIT_S) for _ in range(8)
            ]
            for client in clients:
                client.sendall(b"x")
            threading.Event().wait(0.2)
        said = await asyncio.gather(*(asyncio.to_thread(one.recv, 1_000) for one in clients))
        assert len(connected) == 3
        assert [one[:5] for one in said].count(b"hello") == 3
        assert said.count(REFUSAL) == 5
        for client in clients:
            client.close()


async def test_who_is_handed_over_after_the_end_is_let_go() -> None:
    async with echoing() as (listening, _):
        ours, theirs = socket.socketpair()
        await listening.close()
        cast("Any", listening)._arrived(ours)
        assert theirs.recv(1) == b""
        theirs.close()
