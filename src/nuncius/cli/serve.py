"""`serve`: the web page and the HTTP interface of a home, for this machine."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from nuncius.cli import screen
from nuncius.cli.log import logged
from nuncius.cli.options import Json
from nuncius.cli.start import settings_in_force

if TYPE_CHECKING:
    from nuncius.api.server import Served
    from nuncius.core.settings import Settings


def serve(
    host: Annotated[
        str | None, typer.Option("--host", help="The address to listen on (NUNCIUS_HOST).")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help="0: any free one (NUNCIUS_PORT)."),
    ] = None,
    *,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the link.")] = False,
    json: Json = False,
) -> None:
    """Serve the web page and the HTTP interface until Ctrl-C.

    Prints one link that signs a browser in: good once, for ten minutes. Turns go on when the page
    is closed, and other commands may run beside the server.
    """
    settings = settings_in_force()
    with logged(settings), _with_the_servers_own():
        told_host = settings.host if host is None else host
        told_port = settings.port if port is None else port
        asyncio.run(_serve(settings, told_host, told_port, browser=not no_browser, json=json))


@contextmanager
def _with_the_servers_own() -> Generator[None]:
    """Write what the web server and asyncio log where nuncius logs: stderr is for people."""
    ours = logging.getLogger("nuncius")
    others = [logging.getLogger(name) for name in ("uvicorn", "asyncio")]
    before = [(one.handlers, one.propagate) for one in others]
    for one in others:
        one.handlers, one.propagate = list(ours.handlers), False
    try:
        yield
    finally:
        for one, (handlers, propagate) in zip(others, before, strict=True):
            one.handlers, one.propagate = handlers, propagate


async def _serve(settings: "Settings", host: str, port: int, *, browser: bool, json: bool) -> None:
    from nuncius.api.server import one_serve, serving
    from nuncius.app.serving import open_served

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _stop_or_die, stop, number)
    async with (
        one_serve(settings),
        open_served(settings) as app,
        serving(app, host=host, port=port, public_url=settings.public_url) as served,
    ):
        await _tell(served, host, public_url=settings.public_url, browser=browser, json=json)
        await stop.wait()
        screen.say("Stopping: turns that run are cancelled.")


def _stop_or_die(stop: asyncio.Event, number: int) -> None:
    """Stop in order; the second time at once (what is left open the next start closes)."""
    if stop.is_set():
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    stop.set()


async def _tell(served: "Served", host: str, *, public_url: str, browser: bool, json: bool) -> None:
    """Print the link, and open it where a browser can be."""
    from nuncius.api.build import front_folder

    link = served.link()
    if served.closed:
        screen.say(f"{served.closed} sessions had a turn that a dead process left; it was closed.")
    if not (front_folder() / "index.html").is_file():
        screen.say("The web page is not built here (`make web`); the HTTP interface works.")
    if host not in {"127.0.0.1", "localhost", "::1"}:
        screen.warn(
            f"{host} is reached from other machines, without encryption: who reads along, reads"
            " the link. A tunnel to 127.0.0.1 is safer."
        )
        if not public_url:
            screen.warn(
                f"Requests are answered under {_name(host)} alone. For any other address,"
                " NUNCIUS_PUBLIC_URL must name it as people type it, such as"
                f" http://192.0.2.7:{served.port}"
            )
    if json:
        screen.emit({"link": link, "port": served.port, "pid": os.getpid()})
        screen.flush()
    else:
        screen.emit_line(link)
    screen.say("This link signs in, once, within ten minutes. Ctrl-C ends the server.")
    if browser and sys.stdout.isatty() and _has_screen():
        import webbrowser

        await asyncio.to_thread(webbrowser.open, link)


def _name(host: str) -> str:
    """Return the name that a server on `host` answers to beside NUNCIUS_PUBLIC_URL."""
    return "127.0.0.1" if host in {"0.0.0.0", "::", ""} else host  # noqa: S104  (compared with)


def _has_screen() -> bool:
    """Tell whether a browser would have a screen here: not over ssh, not on a bare console."""
    if os.environ.get("SSH_CONNECTION"):
        return False
    shown = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return sys.platform == "darwin" or bool(shown)
