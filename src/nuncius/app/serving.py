"""A home that is served: many people's questions at once, and turns that outlive their screens."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from typing_extensions import override

from nuncius.agent.ports import Asker, Listener
from nuncius.app.build import App, open_app
from nuncius.core.errors import SessionBusyError, UsageError
from nuncius.core.settings import Settings

if TYPE_CHECKING:
    from nuncius.agent.hooks import Hook
    from nuncius.agent.runtime import Runtime

_ALL = 1_000_000  # more sessions than anybody has: the store wants a number


class ServedApp(App):
    """An `App` for a server: several permission questions may stand open at the same time."""

    @override
    def _runtime(
        self,
        model: str,
        listeners: Sequence[Listener],
        asker: Asker | None,
        *,
        leaves: bool | None = None,
    ) -> "Runtime":
        from nuncius.agent.permissions import PermissionChecker

        known = (model, leaves) in self._runtimes
        runtime = super()._runtime(model, listeners, asker, leaves=leaves)
        if not known:
            # One question at a time is for a terminal: here it would let the open question of one
            # session hold up all others.
            runtime.permissions = PermissionChecker(
                self.store.desk,
                self.settings.permission_mode,
                roots=[str(folder.resolve()) for folder in self._folders()],
                ask_at_once=True,
                pending=self.journal,
            )
        return runtime

    async def compress(self, session_id: str, focus: str = "") -> None:
        """Have a session compressed before its next model call, keeping above all `focus`.

        Raises:
            NotFoundError: There is no such session.
            UsageError: Its model has no window that could fill up.
        """
        session = await self.journal.session(session_id)
        runtime = self._runtime(self.kept_model(session), (), None)
        if runtime.window is None:
            raise UsageError(
                f"The session's model, {runtime.model.name}, reads no long conversation.",
                hint="There is nothing to compress.",
            )
        runtime.compress(session_id, focus)

    async def close_what_died(self) -> int:
        """End the turns of processes that are gone, and return in how many sessions.

        Their readers would wait for `turn_finished` for ever; a living process keeps its sessions.
        """
        closed = 0
        for session in await self.journal.sessions(limit=_ALL):
            if session.status == "running":
                closed += await self.close_if_dead(session.id)
        return closed

    async def close_if_dead(self, session_id: str) -> bool:
        """End a session's turn if its process is gone; return whether it was.

        Raises:
            NotFoundError: There is no such session.
        """
        from nuncius.agent.recovery import recover

        session = await self.journal.session(session_id)
        if session.status != "running" or self.journal.lease_is_held(session_id):
            return False
        try:
            async with self.journal.lease(session_id):
                return await recover(self.journal, session_id)
        except SessionBusyError:
            return False  # somebody has just gone on with it, and closes it


@asynccontextmanager
async def open_served(
    settings: Settings, *, hooks: "Sequence[Hook]" = ()
) -> AsyncGenerator[ServedApp]:
    """Open a home to serve it; see `nuncius.app.build.open_app`."""
    async with open_app(settings) as opened:
        app = ServedApp(opened.settings, opened.store, hooks)
        try:
            yield app
        finally:
            await app.aclose()
