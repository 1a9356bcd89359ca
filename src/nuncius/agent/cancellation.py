"""Cancelling is an event: whoever must stop is told at once, nobody polls."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

Callback = Callable[[], object]


class Cancellation:
    """Watches one turn's `asyncio.Event` and calls back when it is set."""

    def __init__(self, event: asyncio.Event) -> None:
        self._event = event
        self._callbacks: dict[int, Callback] = {}
        self._next = 0
        self._watcher: asyncio.Task[None] | None = None

    @property
    def requested(self) -> bool:
        """Tell whether the turn is to end."""
        return self._event.is_set()

    def request(self) -> None:
        """End the turn."""
        self._event.set()

    def add(self, callback: Callback) -> Callback:
        """Call `callback` once when the turn is cancelled (now, if it is); returns the undoing."""
        if self._event.is_set():
            callback()
            return lambda: None
        key = self._next
        self._next += 1
        self._callbacks[key] = callback
        return lambda: self._callbacks.pop(key, None)

    async def first(self, awaitable: Awaitable[object]) -> bool:
        """Wait for `awaitable` or for the cancel; return whether `awaitable` ended."""
        task = asyncio.ensure_future(awaitable)
        stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        undo = self.add(lambda: None if stopped.done() else stopped.set_result(None))
        try:
            await asyncio.wait((task, stopped), return_when=asyncio.FIRST_COMPLETED)
            return task.done()
        finally:
            undo()
            if not task.done():
                task.cancel()
                await asyncio.wait((task,))
            elif not task.cancelled():
                task.result()

    async def __aenter__(self) -> Self:
        self._watcher = asyncio.create_task(self._watch())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._watcher:
            self._watcher.cancel()

    async def _watch(self) -> None:
        await self._event.wait()
        callbacks, self._callbacks = self._callbacks, {}
        for callback in callbacks.values():
            callback()
