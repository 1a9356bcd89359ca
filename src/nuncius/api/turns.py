"""Turns that belong to the server: they go on when the page is closed, and end only by POST.

Whoever decides or answers does so through the journal (`/permissions/requests`, `/questions`, or a
command beside the server); the waiting turn sees it there.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

from nuncius.agent.tool import ToolOutput
from nuncius.api.errors import ConflictError, StoppingError
from nuncius.api.events import Live
from nuncius.app.serving import ServedApp
from nuncius.core.errors import NunciusError
from nuncius.core.events import (
    Event,
    PermissionMode,
    PermissionRequest,
    TurnFinished,
    TurnStarted,
)

log = logging.getLogger(__name__)

UNWATCHED_QUESTION_S = 300.0
"""How long a question waits in a turn that nobody watched when it began."""
CLOSE_S = 5.0
"""How long turns may close their books when the server stops."""


class ByPost:
    """Somebody who can be asked and whose decision comes another way."""

    async def ask(
        self, request: PermissionRequest
    ) -> tuple[Literal["allow", "deny"], Literal["once", "session", "always"]]:
        """Wait until the decision is seen in the journal, which ends this."""
        del request
        return await _for_ever()


async def _for_ever() -> NoReturn:
    await asyncio.get_running_loop().create_future()
    raise AssertionError


@dataclass(eq=False, slots=True)
class _Running:
    """A turn, or a single call, of this process."""

    session_id: str
    turn_id: str = ""
    cancel: asyncio.Event = field(default_factory=asyncio.Event)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    finished: bool = False
    """Everybody has seen its end; it only puts its things away."""

    def __call__(self, event: Event) -> None:
        """Take note of its own beginning and end."""
        if event.agent != "main":
            return
        if isinstance(event, TurnStarted):
            self.turn_id = event.turn_id
            self.started.set()
        self.finished = self.finished or isinstance(event, TurnFinished)


class Turns:
    """All that runs in this server.

    Args:
        live: Told of every event.
    """

    def __init__(self, app: ServedApp, live: Live) -> None:
        self._app = app
        self._live = live
        self._running: dict[asyncio.Task[Any], _Running] = {}
        self._stopping = False

    async def start(
        self,
        session_id: str,
        message: str,
        *,
        model: str = "",
        mode: PermissionMode | None = None,
        enable_thinking: bool | None = None,
    ) -> str:
        """Begin a turn and return its id once the message is kept for good.

        Raises:
            NotFoundError, UsageError, SettingsError: Nothing was begun.
            SessionBusyError: A turn of this session runs, here or in another process.
            StoppingError: The server is ending.
        """
        await self.settle(session_id)
        running = _Running(session_id)
        task = self._own(
            running,
            lambda: self._app.ask(
                message,
                session_id=session_id,
                model=model,
                mode=mode,
                enable_thinking=enable_thinking,
                listeners=[running, self._live],
                asker=ByPost(),
                patience=lambda: self._patience(session_id),
                cancel=running.cancel,
            ),
        )
        started = asyncio.create_task(running.started.wait())
        await asyncio.wait((task, started), return_when=asyncio.FIRST_COMPLETED)
        if not started.done():
            started.cancel()
            task.result()  # raises what kept it from beginning
        return running.turn_id

    def _patience(self, session_id: str) -> float | None:
        """Wait for ever while somebody reads along: a new session's page comes after its first turn."""
        return None if self._live.watched(session_id) else UNWATCHED_QUESTION_S

    async def call(self, name: str, arguments: str, *, session_id: str) -> ToolOutput:
        """Run one tool call in a session and return its output."""
        await self.settle(session_id)
        running = _Running(session_id)
        task = self._own(
            running,
            lambda: self._app.call_tool(
                name,
                arguments,
                session_id=session_id,
                listeners=[running, self._live],
                asker=ByPost(),
                cancel=running.cancel,
            ),
        )
        return await asyncio.shield(task)

    async def settle(self, session_id: str) -> None:
        """Wait for turns that have ended for everybody and still hold the session a moment."""
        ending = [
            task
            for task, one in self._running.items()
            if one.session_id == session_id and one.finished
        ]
        if ending:
            await asyncio.wait(ending, timeout=CLOSE_S)

    def cancel(self, session_id: str) -> list[str]:
        """Cancel what runs of a session and return the turns' ids.

        Raises:
            ConflictError: The turn runs in another process, which alone can end it.
        """
        found = [one for one in self._running.values() if one.session_id == session_id]
        for one in found:
            one.cancel.set()
        if not found and self._app.journal.lease_is_held(session_id):
            raise ConflictError(
                f"The turn of session {session_id} runs in another process.",
                hint="End it there, such as with Ctrl-C in its terminal.",
            )
        return [one.turn_id for one in found if one.turn_id]

    async def stop(self) -> None:
        """Cancel everything, let it write `turn_finished`, and take nothing new."""
        self._stopping = True
        for one in self._running.values():
            one.cancel.set()
        if self._running:
            _, left = await asyncio.wait(tuple(self._running), timeout=CLOSE_S)
            for task in left:
                task.cancel()
            if left:  # cancelled twice over; the next start closes what they leave
                await asyncio.wait(left, timeout=CLOSE_S)

    def _own(self, running: _Running, work: Callable[[], Awaitable[Any]]) -> "asyncio.Task[Any]":
        """Run `work` in a task that no request holds."""
        if self._stopping:
            raise StoppingError("The server is ending.", hint="Start `nuncius serve` again.")

        async def whole() -> Any:
            return await work()

        task = asyncio.create_task(whole())
        self._running[task] = running
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        del self._running[task]
        if task.cancelled():
            return
        error = task.exception()  # looked at, so that asyncio does not complain
        if error is not None and not isinstance(error, NunciusError):
            log.error("a turn broke", exc_info=error)
