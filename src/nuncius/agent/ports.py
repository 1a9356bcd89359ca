"""What the kernel needs of the outside; `app` fills these from store, library and screens."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol, runtime_checkable

from nuncius.core.events import Event, PermissionMode, PermissionRequest, Question
from nuncius.core.evidence import Answer
from nuncius.core.messages import Message, StoredMessage

Patience = Callable[[], float | None]
"""Tells in seconds how long somebody may be waited for now; None: for ever."""


def for_ever() -> None:
    """Wait until an answer comes."""


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


@runtime_checkable
class Respondent(Protocol):
    """An `Asker` who can answer the agent's questions here and now, too."""

    async def answer(self, question: Question) -> str | None:
        """Show the question and return the person's answer; None: declined."""
        ...


class PendingRequest(Protocol):
    """A question or permission request as it stands, wherever it was answered."""

    @property
    def id(self) -> str: ...
    @property
    def state(self) -> str:
        """``open``, or how it ended."""
        ...

    @property
    def question(self) -> str: ...
    @property
    def answer(self) -> str: ...
    @property
    def scope(self) -> str: ...
    @property
    def args_sha256(self) -> str: ...


class PendingRequests(Protocol):
    """What waits for a person; may be answered by another process, or in a later turn."""

    async def pending_request(self, request_id: str) -> PendingRequest:
        """Return one. Raises NotFoundError where there is none."""
        ...

    async def undelivered(self, session_id: str) -> Sequence[PendingRequest]:
        """Return the answered questions that no message tells the agent of yet.

        A message whose metadata lists their ids under ``delivers`` does.
        """
        ...


class OutputKeeper(Protocol):
    """Keeps outputs that are too long for a conversation, as files that file tools can read."""

    async def keep(self, text: str, *, session_id: str, turn_id: str, call_id: str) -> str:
        """Write one call's output, once, and return the file's canonical path.

        Any error means that it is not kept; the caller shows what it can.
        """
        ...

    def holds(self, path: str) -> bool:
        """Tell whether `path` (canonical) is a kept output, which is never kept again."""
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
    "OutputKeeper",
    "PendingRequest",
    "PendingRequests",
    "PermissionMode",
    "PermissionStore",
    "Respondent",
    "Rule",
]
