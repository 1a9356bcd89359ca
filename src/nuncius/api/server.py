"""The server: one for a home, listening until it is told to stop, with every turn brought to its end."""

import asyncio
import contextlib
import os
import resource
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from typing_extensions import override

from nuncius.api.access import Access, read_token
from nuncius.api.build import make_api
from nuncius.api.busy import health_alone, no_room
from nuncius.api.house import House
from nuncius.app.serving import ServedApp
from nuncius.core.errors import NunciusError, SettingsError
from nuncius.core.settings import Settings
from nuncius.store.lease import HeldError, Lease, take
from nuncius.walls.listening import Listening, bind
from nuncius.walls.watchdog import Watchdog

LOCK = "serve.lock"
HEAD_S = 30.0
"""How long a new connection may take to send its first request's head."""
_CLOSE_S = 2  # how long connections may end by themselves, once all streams have ended
_HEADER_BYTES = 64 * 1024
_BACKLOG = 2048
_OWN_FILES = 54
"""Open files that the server keeps for itself: database, pipes of children, files it sends."""
_MOST_FILES = 65_536


class AlreadyServedError(NunciusError):
    """Another `serve` has this home."""


@dataclass(frozen=True, slots=True)
class Served:
    """A server that listens.

    Attributes:
        port: Where, also if any free one was asked for.
        closed: How many sessions had a turn that a dead process left open.
    """

    house: House
    port: int
    closed: int

    def link(self) -> str:
        """Return a link that signs in, once, within ten minutes."""
        return self.house.access.link()


class _Server(uvicorn.Server):
    """Uvicorn that tells of its port before it takes connections, and leaves signals alone."""

    listening: Listening

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.bound = asyncio.Event()
        self.servers = []

    @override
    async def startup(self, sockets: Any = None) -> None:
        """Take the address; `Served` begins to listen.

        Uvicorn's own would end the process where the address is taken.
        """
        loop = asyncio.get_running_loop()
        self.listening = Listening(
            await bind(self.config.host, self.config.port),
            make=lambda: self._protocol(loop),
            connected=self.server_state.connections,
            most=_most_connections(),
            refusal=no_room(),
        )
        self.started = True
        self.bound.set()

    @override
    async def shutdown(self, sockets: Any = None) -> None:
        """Take no more connections, and let those that there are end."""
        await self.listening.close()
        await super().shutdown(sockets)

    def _protocol(self, loop: asyncio.AbstractEventLoop) -> asyncio.Protocol:
        kind = cast("Any", self.config.http_protocol_class)
        protocol = kind(
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
            _loop=loop,
        )
        loop.call_later(HEAD_S, _close_if_silent, protocol)
        return cast("asyncio.Protocol", protocol)

    @override
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def _close_if_silent(protocol: Any) -> None:
    """Close a connection that never sent a whole request: it takes the room of others.

    Uvicorn has a time for what comes between two requests, and none for the first.
    """
    if protocol.cycle is None and protocol.transport is not None:
        protocol.transport.close()


class _Gate:
    """The application, as soon as the port is known: our own name contains it."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)


@asynccontextmanager
async def one_serve(settings: Settings) -> AsyncGenerator[Lease]:
    """Hold the home's lock for as long as it is served.

    Raises:
        AlreadyServedError: Another `serve` of this home runs; its pid is named.
    """
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        lease = await take(settings.home / LOCK)
    except HeldError as error:
        who = error.holder or "another process"
        raise AlreadyServedError(
            f"`nuncius serve` runs for this home already ({who}).",
            hint="Use its page, or end it first. Other commands may run beside it.",
        ) from error
    try:
        yield lease
    finally:
        lease.release()


@asynccontextmanager
async def serving(
    app: ServedApp,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    public_url: str = "",
    web_folder: Path | None = None,
) -> AsyncGenerator[Served]:
    """Listen while the block runs; then cancel what runs, tell every reader, and close.

    The caller holds `one_serve`.

    Args:
        port: 0: any free one.

    Raises:
        SettingsError: The address cannot be listened on, or the token cannot be used.
    """
    token = read_token(app.settings.home / "token")
    closed = await app.close_what_died()
    gate = _Gate()
    server = _Server(_config(gate, host, port))
    running = asyncio.create_task(server.serve())
    await _bound(server, running)
    try:
        listening = server.listening
        access = Access(token, port=listening.port, hosts=(host,), public_url=public_url)
        house = House.of(app, access)
        gate.app = make_api(house, web_folder=web_folder)
        listening.start(_BACKLOG)
        try:
            with Watchdog(partial(listening.answer_meanwhile, answer=health_alone(access))):
                yield Served(house, listening.port, closed)
        finally:
            await _stop(house)
    finally:
        server.should_exit = True
        await running


def _config(app: ASGIApp, host: str, port: int) -> uvicorn.Config:
    return uvicorn.Config(
        app=app,
        host=host,
        port=port,
        http="h11",
        ws="none",
        interface="asgi3",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nobody may tell us where a request is from
        h11_max_incomplete_event_size=_HEADER_BYTES,
        timeout_graceful_shutdown=_CLOSE_S,
    )


def _most_connections() -> int:
    """Return how many connections this process may hold; its limit of open files is raised first."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, _MOST_FILES) if hard != resource.RLIM_INFINITY else _MOST_FILES
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return max(8, soft - _OWN_FILES)


async def _bound(server: _Server, running: "asyncio.Task[None]") -> None:
    """Wait until the server has its address.

    Raises:
        SettingsError: The address is taken, or is not this machine's.
    """
    bound = asyncio.create_task(server.bound.wait())
    await asyncio.wait((bound, running), return_when=asyncio.FIRST_COMPLETED)
    if bound.done():
        return
    bound.cancel()
    try:
        running.result()
    except OSError as error:
        where = f"{server.config.host}:{server.config.port}"
        number = (
            error.errno or 0
        )  # of names that nobody knows it is negative, with words of its own
        why = os.strerror(number) if number > 0 else error.strerror or error
        raise SettingsError(
            f"The server cannot listen on {where}: {why}.",
            hint="Choose another with --port or NUNCIUS_PORT (0: any free one).",
        ) from error


async def _stop(house: House) -> None:
    """Bring turns to their end, and let readers see it."""
    await house.turns.stop()
    await house.tasks.stop()
    await house.live.stop()
