"""Single calls of one session may run beside each other; a turn of it never runs beside them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from nuncius.agent.ports import Journal
from nuncius.agent.recovery import recover


@dataclass(slots=True)
class _Held:
    """A session's lease while calls run.

    Attributes:
        calls: How many hold it.
    """

    lease: AsyncExitStack
    calls: int = 0


class SharedLeases:
    """The leases of the sessions in which an agent's single calls run."""

    def __init__(self, journal: Journal, agent: str) -> None:
        self._journal = journal
        self._agent = agent
        self._held: dict[str, _Held] = {}
        self._gate = asyncio.Lock()

    @asynccontextmanager
    async def hold(self, session_id: str) -> AsyncGenerator[None]:
        """Hold the session for one call; the first of several closes what a crash left open.

        Raises:
            SessionBusyError: A turn of the session is running, or another process holds it.
        """
        async with self._gate:
            held = self._held.get(session_id) or await self._take(session_id)
            held.calls += 1
        try:
            yield
        finally:
            held.calls -= 1
            async with self._gate:
                if not held.calls and self._held.get(session_id) is held:
                    del self._held[session_id]
                    await held.lease.aclose()

    async def _take(self, session_id: str) -> _Held:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._journal.lease(session_id))
            await recover(self._journal, session_id, self._agent)
            self._held[session_id] = held = _Held(stack.pop_all())
        return held
