"""Conversations in memory, so that a turn costs the same however long its session has grown.

The journal keeps every message for ever. What a model is shown may be less: a compaction is a row
of the journal that tells how the view changes at its place (`Rewrite`), so another process that
reads the journal comes to the same view.
"""

import logging
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from nuncius.agent.context import Counted, Size, measure_message
from nuncius.agent.pairing import PairedHistory
from nuncius.agent.ports import Journal
from nuncius.agent.taint import sources_of
from nuncius.agent.tool import ReadState
from nuncius.core.messages import Message, StoredMessage
from nuncius.core.shapes import as_object

log = logging.getLogger(__name__)
KEPT = 16
"""Conversations kept at most; others are read again from the journal."""
COMPACTION = "compaction"
"""The name under which a row's metadata holds its `Rewrite`."""


class Line(BaseModel):
    """A message of the new beginning."""

    model_config = ConfigDict(frozen=True)

    role: Literal["user", "assistant"]
    content: str


class Mask(BaseModel):
    """A result that is shown by what stands for it."""

    model_config = ConfigDict(frozen=True)

    back: int
    """Its place, counted from the end: 1 is the last message."""
    text: str


class Rewrite(BaseModel):
    """How the model's view changes: older messages give way to a new beginning, or results to stubs."""

    model_config = ConfigDict(frozen=True)

    head: tuple[Line, ...] = ()
    tail: int | None = None
    """How many of the last messages follow the head; None: all stay, and there is no head."""
    masks: tuple[Mask, ...] = ()

    @classmethod
    def of(cls, stored: StoredMessage) -> "Rewrite | None":
        """Return what a row of the journal changes; None for an ordinary message."""
        if stored.message.role != "system" or COMPACTION not in stored.metadata:
            return None
        try:
            return cls.model_validate(stored.metadata[COMPACTION])
        except ValidationError as error:
            log.warning("a compaction of %s cannot be read: %s", stored.session_id, error)
            return cls()  # the whole conversation is shown instead

    def applied(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages that are shown from here on."""
        shown = list(messages)
        for mask in self.masks:
            at = len(shown) - mask.back
            if 0 <= at < len(shown) and shown[at].role == "tool":
                shown[at] = replace(shown[at], content=mask.text)
        if self.tail is None:
            return shown
        head = [Message(line.role, line.content) for line in self.head]
        return head + shown[len(shown) - min(self.tail, len(shown)) :]


@dataclass(slots=True)
class Conversation:
    """One agent's side of a session.

    Attributes:
        history: The messages as a provider takes them.
        evidence: Metadata of the tool results, oldest first; compaction takes none away.
        seq: Number of the session's last event when this was right.
        messages: What the history is made of: the head of the last compaction and what followed.
        head: How many of the messages are that head.
        summary: The summary in the head.
        counted: The last request whose tokens the provider counted, while nothing was rewritten.
        failures: Compactions in a row that freed too little.
        kept: Files that hold long outputs whole, by the call.
        confidential: Whether a result holds text that may not leave this machine.
        sources: Whose words the agent has read, oldest first; compaction takes none away.
        masked_at: Tokens from which on it is worth to look for outputs to mask.
    """

    history: PairedHistory = field(default_factory=PairedHistory)
    evidence: list[Mapping[str, object]] = field(default_factory=list[Mapping[str, object]])
    seq: int = 0
    messages: list[Message] = field(default_factory=list[Message])
    head: int = 0
    summary: str = ""
    counted: Counted | None = None
    failures: int = 0
    kept: dict[str, str] = field(default_factory=dict[str, str])
    confidential: bool = False
    sources: dict[str, None] = field(default_factory=dict[str, None])
    masked_at: int = 0
    _sizes: list[Size] = field(default_factory=list[Size])
    _size: Size = field(default_factory=Size)

    @classmethod
    def of(cls, stored: Iterable[StoredMessage]) -> "Conversation":
        """Return the conversation that the journal holds."""
        conversation = cls()
        for entry in stored:
            rewrite = Rewrite.of(entry)
            if rewrite is None:
                conversation.add_result(entry.message, entry.metadata)
            else:
                conversation.rewrite(rewrite, summary=entry.message.content)
        return conversation

    def add(self, message: Message) -> None:
        """Add a message."""
        self.messages.append(message)
        self.history.add(message)

    def add_result(self, message: Message, metadata: Mapping[str, object]) -> None:
        """Add a message; of a tool's, the metadata is evidence."""
        self.add(message)
        if message.role == "tool" and metadata:
            self.evidence.append(metadata)
            self.confidential |= metadata.get("confidential") is True
            self.sources |= dict.fromkeys(sources_of(metadata))
            path = as_object(metadata.get("kept")).get("path")
            if isinstance(path, str):
                self.kept[message.tool_call_id] = path

    def rewrite(self, change: Rewrite, *, summary: str) -> None:
        """Change what is shown; call ids that were in use stay taken."""
        history = PairedHistory()
        self.messages = change.applied(self.messages)
        for message in self.messages:
            history.add(message)
        history.ids |= self.history.ids
        self.history = history
        self.counted = None
        self._sizes, self._size = [], Size()
        if change.tail is not None:
            self.head, self.summary = len(change.head), summary

    def sizes(self) -> Sequence[Size]:
        """Return the estimated size of each message; each is measured once."""
        for message in self.messages[len(self._sizes) :]:
            size = measure_message(message)
            self._sizes.append(size)
            self._size += size
        return self._sizes

    def size(self) -> Size:
        """Return the estimated size of all messages."""
        self.sizes()
        return self._size


class Conversations:
    """The conversations that this process ran last."""

    def __init__(self, journal: Journal, agent: str) -> None:
        self._journal = journal
        self._agent = agent
        self._kept: OrderedDict[str, Conversation] = OrderedDict()
        self._read: OrderedDict[str, ReadState] = OrderedDict()
        self.asked: dict[str, str] = {}
        """Sessions to be compressed before their next model call, with what to keep above all."""

    async def take(self, session_id: str, user: Message, *, seq: int) -> Conversation:
        """Return the conversation with `user` as its last message, which the journal has already.

        Args:
            seq: Number of the event that was committed with it. If it does not follow directly on
                the last one seen, somebody else wrote, and the journal is read again.
        """
        kept = self._kept.pop(session_id, None)
        if kept is not None and kept.seq + 1 == seq:
            kept.add(user)
            return kept
        return Conversation.of(await self._journal.messages(session_id, self._agent))

    def keep(self, session_id: str, conversation: Conversation, *, seq: int) -> None:
        """Remember the conversation for the next turn."""
        conversation.seq = seq
        self._kept[session_id] = conversation
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def read_state(self, session_id: str) -> ReadState:
        """Return what the agent has read in this session; survives from turn to turn."""
        state = self._read.pop(session_id, None) or ReadState()
        self._read[session_id] = state
        while len(self._read) > KEPT:
            self._read.popitem(last=False)
        return state
