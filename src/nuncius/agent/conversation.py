"""Conversations in memory, so that a turn costs the same however long its session has grown."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from nuncius.agent.pairing import PairedHistory
from nuncius.agent.ports import Journal
from nuncius.agent.tool import ReadState
from nuncius.core.messages import Message, StoredMessage

KEPT = 16
"""Conversations kept at most; others are read again from the journal."""


@dataclass(slots=True)
class Conversation:
    """One agent's side of a session.

    Attributes:
        history: The messages as a provider takes them.
        evidence: Metadata of the tool results, oldest first.
        seq: Number of the session's last event when this was right.
    """

    history: PairedHistory = field(default_factory=PairedHistory)
    evidence: list[Mapping[str, object]] = field(default_factory=list[Mapping[str, object]])
    seq: int = 0

    @classmethod
    def of(cls, stored: Iterable[StoredMessage]) -> "Conversation":
        """Return the conversation that the journal holds."""
        conversation = cls()
        for entry in stored:
            conversation.add_result(entry.message, entry.metadata)
        return conversation

    def add_result(self, message: Message, metadata: Mapping[str, object]) -> None:
        """Add a message; of a tool's, the metadata is evidence."""
        self.history.add(message)
        if message.role == "tool" and metadata:
            self.evidence.append(metadata)


class Conversations:
    """The conversations that this process ran last."""

    def __init__(self, journal: Journal, agent: str) -> None:
        self._journal = journal
        self._agent = agent
        self._kept: OrderedDict[str, Conversation] = OrderedDict()
        self._read: OrderedDict[str, ReadState] = OrderedDict()

    async def take(self, session_id: str, user: Message, *, seq: int) -> Conversation:
        """Return the conversation with `user` as its last message, which the journal has already.

        Args:
            seq: Number of the event that was committed with it. If it does not follow directly on
                the last one seen, somebody else wrote, and the journal is read again.
        """
        kept = self._kept.pop(session_id, None)
        if kept is not None and kept.seq + 1 == seq:
            kept.history.add(user)
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
