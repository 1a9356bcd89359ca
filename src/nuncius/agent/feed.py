"""The way of an event: stamped, committed, then shown. Nobody sees what is not in the journal."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, TypeVar

from nuncius.agent.ports import Journal, Listener
from nuncius.core.events import Base, Event, Notice
from nuncius.core.messages import Message, StoredMessage

log = logging.getLogger(__name__)
E = TypeVar("E", bound=Base)


class Feed:
    """One turn's way to the journal and to the listeners; commits and shows in one order."""

    def __init__(
        self,
        journal: Journal,
        listeners: list[Listener],
        *,
        session_id: str,
        turn_id: str,
        agent: str = "main",
    ) -> None:
        self._journal = journal
        self._listeners = listeners
        self._lock = asyncio.Lock()
        self.session_id = session_id
        self.turn_id = turn_id
        self.agent = agent
        self.step = 0
        self.last_seq = 0

    def follow(self, other: "Feed") -> None:
        """Commit and show in one order with another feed of the session."""
        self._lock = other._lock  # noqa: SLF001  (a feed, too)

    def stamp(self, kind: type[E], /, **fields: Any) -> E:
        """Return a new event of this turn and step."""
        return kind(
            session_id=self.session_id,
            turn_id=self.turn_id,
            step=self.step,
            agent=self.agent,
            **fields,
        )

    def stored(
        self, message: Message, *, metadata: dict[str, Any] | None = None, raw: str = ""
    ) -> StoredMessage:
        """Return `message` at its place in the journal."""
        return StoredMessage(
            self.session_id, self.turn_id, message, self.agent, metadata or {}, raw
        )

    async def emit(
        self,
        *events: Event,
        messages: Sequence[StoredMessage] = (),
        durable: bool = False,
    ) -> Sequence[Event]:
        """Commit, then show.

        Raises:
            StoreError: The journal could not take it; nothing was shown.
        """
        async with self._lock:
            committed = await self._journal.commit(events, messages, durable=durable)
            if committed:
                self.last_seq = committed[-1].seq
            dropped = self._show(committed)
        for text in dropped:
            await self.emit(self.stamp(Notice, level="warning", text=text))
        return committed

    def _show(self, events: Sequence[Event]) -> list[str]:
        dropped: list[str] = []
        for listener in tuple(self._listeners):
            try:
                for event in events:
                    listener(event)
            except Exception as error:
                log.exception("a listener failed and was dropped")
                self._listeners.remove(listener)
                dropped.append(
                    f"A listener failed and gets no more events: {type(error).__name__}: {error}"
                )
        return dropped
