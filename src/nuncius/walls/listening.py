"""Listening sockets that stay well where there is no room, no open file, or no event loop for a while.

asyncio's own accept, once out of open files, is tried in vain as often as the backlog is long; each
try is logged and plans another one, and nobody is answered, those who are connected included.
"""

import asyncio
import contextlib
import errno
import logging
import os
import selectors
import socket
import threading
from collections.abc import Callable, Collection, Generator, Sequence

log = logging.getLogger(__name__)

_BATCH = 64  # connections taken in one round of the loop
_PAUSE_S = 0.1  # before the next try where not even the file in reserve helped
_QUIET_S = 60.0  # without a refusal, until the next one is logged again
_LOOK_S = 0.02  # between two looks at whether the loop is back
_HEAD_BYTES = 64 * 1024
_EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


async def bind(host: str, port: int) -> list[socket.socket]:
    """Return a socket for each address of `host`, not listening yet.

    As asyncio makes them: on those of other makers it sets no TCP_NODELAY, and each answer would
    come 40 ms late.

    Raises:
        OSError: An address is taken, not this machine's, or unknown.
    """
    loop = asyncio.get_running_loop()
    server = await loop.create_server(asyncio.Protocol, host, port, start_serving=False)
    try:
        return [one.dup() for one in server.sockets]
    finally:
        server.close()


class Listening:
    """Takes connections and gives each to a protocol of the running loop.

    Who is one too many, or comes when this process has no open file left, is answered with the
    refusal at once; those who are connected go on.

    Args:
        make: Makes the protocol of one connection.
        connected: The protocols that are connected now, kept by their maker.
        most: How many may be.
        refusal: The bytes of a whole answer.
    """

    def __init__(
        self,
        sockets: Sequence[socket.socket],
        *,
        make: Callable[[], asyncio.Protocol],
        connected: Collection[object],
        most: int,
        refusal: bytes,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._sockets: tuple[socket.socket, ...] = tuple(sockets)
        self._make = make
        self._connected = connected
        self._most = most
        self._refusal = refusal
        self._coming: dict[asyncio.Protocol, asyncio.Task[None]] = {}
        self._refused_at = -_QUIET_S
        self._reserve = _spare_file()

    @property
    def port(self) -> int:
        """Return the port that was taken."""
        return int(self._sockets[0].getsockname()[1])

    def start(self, backlog: int) -> None:
        """Begin to listen; `backlog` connections may wait to be taken."""
        for one in self._sockets:
            one.listen(backlog)
            self._loop.add_reader(one, self._take, one)

    async def close(self) -> None:
        """Stop listening; whoever was taken is connected afterwards."""
        for one in self._sockets:
            self._loop.remove_reader(one)
            one.close()
        self._sockets = ()
        if self._reserve is not None:
            os.close(self._reserve)
            self._reserve = None
        if self._coming:
            await asyncio.wait(tuple(self._coming.values()))

    def answer_meanwhile(self, back: threading.Event, answer: Callable[[bytes], bytes]) -> None:
        """Take connections in another thread while the loop is blocked, until `back` is set.

        Args:
            answer: Returns the whole answer to a request's head, or nothing for the loop to answer.
                Those wait for it with every byte they sent: nobody is refused for a loop that is late.
        """
        kept: list[socket.socket] = []
        with selectors.PollSelector() as waiting:  # epoll would need an open file
            for one in self._sockets:
                waiting.register(one, selectors.EVENT_READ)
            try:
                while not back.is_set():
                    for key, _ in waiting.select(_LOOK_S):
                        found = key.fileobj
                        assert isinstance(found, socket.socket)
                        if found not in self._sockets:
                            waiting.unregister(found)
                            kept.append(found)
                            if _answered(found, answer):
                                kept.remove(found)
                        elif len(self._connected) + len(kept) + len(waiting.get_map()) > self._most:
                            waiting.unregister(found)  # the loop decides on all others
                        elif not _taken(found, waiting):
                            waiting.unregister(found)
            finally:
                silent = [key.fileobj for key in waiting.get_map().values()]
                for one in (*kept, *silent):
                    if isinstance(one, socket.socket) and one not in self._sockets:
                        self._loop.call_soon_threadsafe(self._arrived, one)

    def _take(self, listener: socket.socket) -> None:
        """Take all who wait at a socket, or as many as fit into one round of the loop."""
        for _ in range(_BATCH):
            try:
                connection, _ = listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _EXHAUSTED:
                    raise  # the loop logs it
                self._take_with_the_reserve(listener)
                return
            self._arrived(connection)

    def _take_with_the_reserve(self, listener: socket.socket) -> None:
        """Refuse the one who waits longest, with the file that was kept open for this."""
        try:
            with self._one_file():
                self._refuse(listener.accept()[0], "no open file is left")
        except OSError:  # a thread took the file, or the memory of the system is full
            self._loop.remove_reader(listener)
            self._loop.call_later(_PAUSE_S, self._resume, listener)

    def _resume(self, listener: socket.socket) -> None:
        if listener in self._sockets:
            self._loop.add_reader(listener, self._take, listener)

    @contextlib.contextmanager
    def _one_file(self) -> Generator[None]:
        """Let one file be opened inside the block."""
        if self._reserve is not None:
            os.close(self._reserve)
        try:
            yield
        finally:
            self._reserve = _spare_file()

    def _arrived(self, connection: socket.socket) -> None:
        """Let a connection in, or refuse it."""
        coming = sum(one not in self._connected for one in self._coming)
        if not self._sockets:
            connection.close()
        elif len(self._connected) + coming >= self._most:
            self._refuse(connection, f"{self._most} are connected")
        else:
            protocol = self._make()
            task = self._loop.create_task(self._connect(connection, protocol))
            self._coming[protocol] = task

    async def _connect(self, connection: socket.socket, protocol: asyncio.Protocol) -> None:
        try:
            connection.settimeout(0)
            await self._loop.connect_accepted_socket(lambda: protocol, connection)
        except OSError as error:
            log.info("a client left before it was served: %s", error)
            connection.close()
        finally:
            del self._coming[protocol]

    def _refuse(self, connection: socket.socket, why: str) -> None:
        """Send the refusal; the client reads it whole, since the end of the stream follows it."""
        with connection, contextlib.suppress(OSError):  # a client that left needs no answer
            connection.settimeout(0)
            connection.send(self._refusal)
            connection.shutdown(socket.SHUT_WR)
        now = self._loop.time()
        if now - self._refused_at >= _QUIET_S:  # the log needs the file that is free again
            log.warning("new connections are answered with 503: %s", why)
        self._refused_at = now


def _spare_file() -> int | None:
    """Open a file whose place can be given away; None where there is none any more."""
    try:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def _taken(listener: socket.socket, waiting: selectors.BaseSelector) -> bool:
    """Take one connection and wait for what it sends; tell whether there may be more."""
    try:
        connection, _ = listener.accept()
    except (BlockingIOError, InterruptedError, ConnectionAbortedError):
        return True
    except OSError as error:
        log.info("no connection could be taken while the event loop was blocked: %s", error)
        return False
    connection.settimeout(0)
    waiting.register(connection, selectors.EVENT_READ)
    return True


def _answered(connection: socket.socket, answer: Callable[[bytes], bytes]) -> bool:
    """Answer and close a connection, where `answer` has something to say to its first bytes."""
    try:
        head = connection.recv(_HEAD_BYTES, socket.MSG_PEEK)
        said = answer(head)
        if not said:
            return False
        connection.recv(len(head))  # bytes that nobody read would cut the answer off
        connection.send(said)
        connection.shutdown(socket.SHUT_WR)
    except OSError as error:  # the loop sees for itself what is wrong with it
        log.info("a connection waits for the event loop: %s", error)
        return False
    connection.close()
    return True
