"""A model that steps in where the first one stays overloaded, for the rest of the turn."""

from collections import OrderedDict
from collections.abc import AsyncIterator

from nuncius.llm.model import ChatModel, ModelChunk, ModelRequest

TURNS = 1_000
"""Turns remembered; only those that run now matter."""


class WithFallback:
    """A `ChatModel` with a second one behind it.

    Which of them serves is decided turn by turn: the next turn begins with the first again.
    Subagents and compactions of a turn go where the turn went. What the first one thought is not
    sent to the second: each wire format drops thoughts of other models whole.
    """

    def __init__(self, first: ChatModel, second: ChatModel) -> None:
        self.first = first
        self.second = second
        self._fallen: OrderedDict[str, None] = OrderedDict()

    @property
    def name(self) -> str:
        """The first one's name: what was asked for."""
        return self.first.name

    @property
    def degraded(self) -> str:
        """The first one's limits."""
        return self.first.degraded

    @property
    def local(self) -> bool:
        """Whether no text leaves this machine, whichever serves."""
        return self.first.local and self.second.local

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """Answer with the first one; who knows the turn asks `in_force`."""
        return self.first.stream(request)

    def in_force(self, turn_id: str) -> ChatModel:
        """Return the model that serves this turn now."""
        return self.second if turn_id in self._fallen else self.first

    def fall_back(self, turn_id: str) -> None:
        """Let the second one serve the rest of this turn."""
        self._fallen[turn_id] = None
        while len(self._fallen) > TURNS:
            self._fallen.popitem(last=False)


def in_force(model: ChatModel, turn_id: str) -> ChatModel:
    """Return the model that really serves this turn now."""
    return model.in_force(turn_id) if isinstance(model, WithFallback) else model


def limits(model: ChatModel, turn_id: str) -> tuple[str, ...]:
    """Return what an answer of this turn must say of the model that gave it."""
    serving = in_force(model, turn_id)
    if serving is model or (isinstance(model, WithFallback) and serving is model.first):
        return (serving.degraded,)
    return (f"answered by {serving.name}, because {model.name} failed", serving.degraded)
