"""Parts that stand in for the store and the library: small, honest, in memory."""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from nuncius.core.errors import SessionBusyError
from nuncius.core.events import (
    Event,
    PermissionRequest,
    ToolCallEvent,
    ToolResultEvent,
    TurnFinished,
    TurnStarted,
)
from nuncius.core.evidence import Answer
from nuncius.core.messages import StoredMessage
from nuncius.core.shapes import is_list, is_object


class ListJournal:
    """A journal in lists that keeps the promises of the port."""

    def __init__(self) -> None:
        self.log: list[Event] = []
        self.kept: list[StoredMessage] = []
        self.commits: list[tuple[int, int, bool]] = []
        """Numbers of events and messages of each commit, and whether it was durable."""
        self.last: dict[str, int] = {}
        """Number of the last event, by session."""
        self._open_turns: dict[str, dict[str, None]] = {}
        self._open_calls: dict[str, dict[str, tuple[str, str, str]]] = {}
        self._held: set[str] = set()

    async def commit(
        self,
        events: Sequence[Event],
        messages: Sequence[StoredMessage] = (),
        *,
        durable: bool = False,
    ) -> Sequence[Event]:
        done: list[Event] = []
        for event in events:
            seq = self.last.get(event.session_id, 0) + 1
            self.last[event.session_id] = seq
            done.append(event.model_copy(update={"seq": seq, "time": "2026-01-01T00:00:00Z"}))
            self._keep_views(event)
        self.log += done
        self.kept += messages
        self.commits.append((len(events), len(messages), durable))
        return done

    def _keep_views(self, event: Event) -> None:
        turns = self._open_turns.setdefault(event.session_id, {})
        calls = self._open_calls.setdefault(event.session_id, {})
        if isinstance(event, TurnStarted):
            turns[event.turn_id] = None
        elif isinstance(event, TurnFinished):
            turns.pop(event.turn_id, None)
        elif isinstance(event, ToolCallEvent):
            calls[event.id] = (event.turn_id, event.id, event.name)
        elif isinstance(event, ToolResultEvent):
            calls.pop(event.id, None)

    async def messages(self, session_id: str, agent: str = "main") -> Sequence[StoredMessage]:
        return [m for m in self.kept if (m.session_id, m.agent) == (session_id, agent)]

    async def events(
        self, session_id: str, *, after: int = 0, limit: int | None = None
    ) -> Sequence[Event]:
        return [e for e in self.log if e.session_id == session_id and e.seq > after][:limit]

    async def open_turns(self, session_id: str) -> Sequence[str]:
        return list(self._open_turns.get(session_id, ()))

    async def open_calls(self, session_id: str) -> Sequence[tuple[str, str, str]]:
        return list(self._open_calls.get(session_id, {}).values())

    @asynccontextmanager
    async def lease(self, session_id: str) -> AsyncGenerator[None]:
        if session_id in self._held:
            raise SessionBusyError(f"A turn of session {session_id} is running.")
        self._held.add(session_id)
        try:
            yield
        finally:
            self._held.discard(session_id)

    def of(self, *kinds: type[Any]) -> list[Any]:
        """Return the events of these kinds."""
        return [event for event in self.log if isinstance(event, kinds)]

    def copy(self) -> "ListJournal":
        """Return what another process would find after a crash now (leases die with us)."""
        twin = ListJournal()
        twin.log, twin.kept, twin.last = list(self.log), list(self.kept), dict(self.last)
        for event in twin.log:
            twin._keep_views(event)
        twin.commits = list(self.commits)
        return twin

    def before(self, commits: int) -> "ListJournal":
        """Return what another process would find had we died so many commits ago."""
        twin = ListJournal()
        twin.commits = self.commits[: len(self.commits) - commits]
        twin.log = self.log[: sum(events for events, _, _ in twin.commits)]
        twin.kept = self.kept[: sum(messages for _, messages, _ in twin.commits)]
        twin.last = {event.session_id: event.seq for event in twin.log}
        return twin.copy()


@dataclass(frozen=True)
class ListedRule:
    id: int
    pattern: str
    decision: Literal["deny", "allow", "ask"]
    session_id: str = ""


@dataclass
class RuleList:
    """A permission store in a list."""

    kept: list[ListedRule] = field(default_factory=list[ListedRule])

    @classmethod
    def of(cls, *rules: tuple[Literal["deny", "allow", "ask"], str]) -> "RuleList":
        return cls([ListedRule(n, pattern, word) for n, (word, pattern) in enumerate(rules, 1)])

    async def rules(self, session_id: str) -> Sequence[ListedRule]:
        return [rule for rule in self.kept if rule.session_id in {"", session_id}]

    async def add_rule(
        self,
        pattern: str,
        decision: Literal["deny", "allow", "ask"],
        *,
        session_id: str = "",
        source: str = "user",
    ) -> int:
        self.kept.append(ListedRule(len(self.kept) + 1, pattern, decision, session_id))
        return len(self.kept)


class PlainFinisher:
    """Takes the model's text for the answer and remembers what it was given."""

    def __init__(self) -> None:
        self.given: list[tuple[str, list[Mapping[str, object]]]] = []

    async def finish(
        self,
        text: str,
        *,
        question: str,
        evidence: Sequence[Mapping[str, object]],
        degraded: Sequence[str] = (),
    ) -> Answer:
        self.given.append((text, list(evidence)))
        return Answer(text=text, answered=True, degraded=tuple(degraded))


class Answers:
    """A person who answers permission questions from a list, and sees what was shown."""

    def __init__(
        self,
        *answers: tuple[Literal["allow", "deny"], Literal["once", "session", "always"]],
    ) -> None:
        self._answers = list(answers)
        self.seen: list[PermissionRequest] = []

    async def ask(
        self, request: PermissionRequest
    ) -> tuple[Literal["allow", "deny"], Literal["once", "session", "always"]]:
        self.seen.append(request)
        return self._answers.pop(0)


def corpus(path: Path) -> list[dict[str, Any]]:
    """Return the cases of a corpus; ``{"$concat": [[text, times], ...]}`` stands for long text."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [_expanded(json.loads(line)) for line in lines]


def _expanded(value: Any) -> Any:
    if is_object(value):
        if value.keys() == {"$concat"}:
            return "".join(text * times for text, times in value["$concat"])
        return {key: _expanded(item) for key, item in value.items()}
    return [_expanded(item) for item in value] if is_list(value) else value
