"""The server: one for a home, listening until it is told to stop, with every turn brought to its end."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import uvicorn
from typing_extensions import override

from nuncius.api.access import Access, read_token
from nuncius.api.build import make_api
from nuncius.api.house import House
from nuncius.app.serving import ServedApp
from nuncius.core.errors import NunciusError, SettingsError
from nuncius.core.settings import Settings
from nuncius.store.lease import HeldError, Lease, take

log = logging.getLogger(__name__)

LOCK = "serve.lock"
_CLOSE_S = 2  # how long connections may end by themselves, once all streams have ended
_HEADER_BYTES = 64 * 1024
_BACKLOG = 2048


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
    """Uvicorn without its own signal handlers: the command has them."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    @override
    async def startup(self, sockets: Any = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        self.ready.set()

    @override
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


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
    config = uvicorn.Config(
        app=_not_open_yet,
        host=host,
        port=port,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nobody may tell us where a request is from
        h11_max_incomplete_event_size=_HEADER_BYTES,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_CLOSE_S,
    )
    bound = _bind(config)
    real_port = int(bound.getsockname()[1])
    try:
        access = Access(token, port=real_port, hosts=(host,), public_url=public_url)
        house = House.of(app, access)
        config.app = make_api(house, web_folder=web_folder)
    except BaseException:
        bound.close()
        raise
    server = _Server(config)
    running = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        ready = asyncio.create_task(server.ready.wait())
        await asyncio.wait((ready, running), return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            ready.cancel()
            running.result()
        yield Served(house, real_port, closed)
    finally:
        await _stop(house, server, running)


async def _stop(house: House, server: _Server, running: "asyncio.Task[None]") -> None:
    """Bring turns to their end, let readers see it, then close the connections."""
    await house.turns.stop()
    await house.tasks.stop()
    await house.live.stop()
    server.should_exit = True
    await running


async def _not_open_yet(*_: object) -> None:
    """Stand for the application until the port is known: uvicorn wants one to bind."""
    raise RuntimeError("not open yet")


def _bind(config: uvicorn.Config) -> Any:
    """Return the socket.

    Raises:
        SettingsError: The address is taken, or is not this machine's.
    """
    # uvicorn logs why, and ends the process: the reason is wanted, the end is not
    logger = logging.getLogger("uvicorn.error")
    before, logger.disabled = logger.disabled, True
    try:
        return cast("Any", config.bind_socket())
    except (SystemExit, OSError) as error:
        reason = error if isinstance(error, OSError) else error.__context__
        why = getattr(reason, "strerror", None) or str(reason)
        raise SettingsError(
            f"The server cannot listen on {config.host}:{config.port}: {why}.",
            hint="Choose another with --port or NUNCIUS_PORT (0: any free one).",
        ) from error
    finally:
        logger.disabled = before
