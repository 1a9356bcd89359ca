"""What the kernel needs of the outside; `app` fills these from store, library and screens."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

from nuncius.core.events import Event, PermissionMode, PermissionRequest
from nuncius.core.evidence import Answer
from nuncius.core.messages import Message, StoredMessage


class Journal(Protocol):
    """Where events and messages are committed before anybody sees them."""

    async def commit(
        self,
        events: Sequence[Event],
        messages: Sequence[StoredMessage] = (),
        *,
        durable: bool = False,
    ) -> Sequence[Event]:
        """Commit all in one transaction and return the events with `seq` and `time`.

        Args:
            durable: Survive a power cut too (user messages, results of side effects), not only
                a crash of the process.
        """
        ...

    async def messages(self, session_id: str, agent: str = "main") -> Sequence[StoredMessage]:
        """Return the agent's messages of the session in order."""
        ...

    async def events(
        self, session_id: str, *, after: int = 0, limit: int | None = None
    ) -> Sequence[Event]:
        """Return the session's events with seq > `after`, in order (recovery reads them)."""
        ...

    async def open_turns(self, session_id: str) -> Sequence[str]:
        """Return the ids of turns that started and never finished."""
        ...

    async def open_calls(self, session_id: str) -> Sequence[tuple[str, str, str]]:
        """Return (turn id, call id, tool name) of calls that have no terminal result."""
        ...

    def lease(self, session_id: str) -> AbstractAsyncContextManager[None]:
        """Hold the session for one running turn.

        Raises:
            SessionBusyError: Another turn holds it, here or in another process.
        """
        ...


class Rule(Protocol):
    """One permission rule of the user's."""

    @property
    def id(self) -> int: ...
    @property
    def pattern(self) -> str:
        """``tool``, ``tool(subject)`` or ``*``."""
        ...

    @property
    def decision(self) -> Literal["deny", "allow", "ask"]: ...
    @property
    def session_id(self) -> str:
        """The session that the rule is for; empty for all."""
        ...


class PermissionStore(Protocol):
    """The user's rules."""

    async def rules(self, session_id: str) -> Sequence[Rule]:
        """Return the rules for all sessions and for this one."""
        ...

    async def add_rule(
        self,
        pattern: str,
        decision: Literal["deny", "allow", "ask"],
        *,
        session_id: str = "",
        source: str = "user",
    ) -> int:
        """Store one rule and return its id."""
        ...


class Asker(Protocol):
    """Somebody who can decide: a terminal, a page. None where nobody can."""

    async def ask(
        self, request: PermissionRequest
    ) -> tuple[Literal["allow", "deny"], Literal["once", "session", "always"]]:
        """Show everything and return decision and scope."""
        ...


class AnswerFinisher(Protocol):
    """Turns the model's last text into a checked answer (the library does, behind this)."""

    async def finish(
        self,
        text: str,
        *,
        question: str,
        evidence: Sequence[Mapping[str, object]],
        degraded: Sequence[str] = (),
    ) -> Answer:
        """Put quotes in for handles, check them, and mark what they do not carry.

        Args:
            text: The model's text with handles such as ``[k3f2a9c1-12:3]``.
            evidence: The `metadata` of this session's tool results, oldest first: which
                passages were shown, what was searched.
        """
        ...


class Listener(Protocol):
    """A screen, a counter: told of each event after it was committed; never waited for."""

    def __call__(self, event: Event, /) -> None: ...


__all__ = [
    "AnswerFinisher",
    "Asker",
    "Journal",
    "Listener",
    "Message",
    "PermissionMode",
    "PermissionStore",
    "Rule",
]
