"""Open the home for one command and run it to its end, whoever interrupts."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from nuncius.cli import screen
from nuncius.cli.log import logged

if TYPE_CHECKING:
    from nuncius.app.build import App
    from nuncius.core.settings import Settings

T = TypeVar("T")


def settings_in_force() -> "Settings":
    """Read the settings and tell what was ignored.

    Raises:
        SettingsError: A setting makes no sense.
    """
    from nuncius.app.config import load_settings

    loaded = load_settings()
    for warning in loaded.warnings:
        screen.warn(warning)
    return loaded.settings


def with_app(work: "Callable[[App], Awaitable[T]]", settings: "Settings | None" = None) -> T:
    """Open the home (the user's by default), do `work` and close it again.

    Ctrl-C and SIGTERM cancel `work`; what it had begun is ended properly.
    """
    from nuncius.app.build import open_app

    chosen = settings_in_force() if settings is None else settings

    async def whole() -> T:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        async with open_app(chosen) as app:
            return await work(app)

    with logged(chosen):
        return asyncio.run(whole())
