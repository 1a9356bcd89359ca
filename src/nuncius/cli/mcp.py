"""`mcp`: the library for the assistant that a person already has, over stdin and stdout."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typing_extensions import override

from nuncius.cli import screen
from nuncius.cli.start import settings_in_force, with_app

if TYPE_CHECKING:
    from nuncius.app.build import App
    from nuncius.core.settings import Settings

_SDK = ("mcp", "mcp_types")


def mcp() -> None:
    """Offer the library to another assistant over the Model Context Protocol.

    The assistant starts this command and speaks with it on stdin and stdout; it reads your papers
    and files, and changes nothing. Needs the extra: pip install 'nuncius[mcp]'.
    """
    try:
        from nuncius.mcp.server import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in _SDK:
            raise
        screen.show_error(
            "not_installed",
            f"The SDK of the Model Context Protocol is not installed, or is not version 2: {error}.",
            "pip install 'nuncius[mcp]'",
        )
        raise typer.Exit(1) from error

    async def work(app: "App") -> None:
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):  # an end like any other
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await serve(app, stop)

    # No language model is asked here, so none has to be set up.
    settings = settings_in_force().model_copy(update={"llm_provider": "builtin"})
    if _is_everything(settings.project_dir):
        settings = settings.model_copy(update={"project_dir": settings.library_dir})
        screen.say("No project: file tools see the library's directory. Set NUNCIUS_PROJECT_DIR.")
    if sys.stdin.isatty():
        screen.say("An assistant starts this command; see docs/howto/mcp.md. Ctrl-D ends it.")
    with _on_stderr(settings):
        with_app(work, settings)


def _is_everything(project: Path) -> bool:
    """Tell whether the project is where a desktop application happens to start its servers.

    That is the root or the home directory: nobody chose to show all of it to an assistant.
    """
    chosen = "NUNCIUS_PROJECT_DIR" in os.environ or project.resolve() != Path.cwd()
    return not chosen and Path.home().resolve().is_relative_to(project.resolve())


@contextmanager
def _on_stderr(settings: "Settings") -> Generator[None]:
    """Write warnings to stderr, which assistants show as the server's log; keys are masked."""
    from nuncius.cli.crash import masker

    class Masked(logging.Formatter):
        @override
        def format(self, record: logging.LogRecord) -> str:
            return masker(settings).mask(super().format(record))

    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)
    handler.setFormatter(Masked("%(levelname)s %(name)s: %(message)s"))
    loggers = [logging.getLogger(name) for name in ("nuncius", "mcp", "asyncio")]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
