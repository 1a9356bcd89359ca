"""A model with a window that refuses what a strict provider refuses, and counts its own tokens."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from itertools import count

from llm.strict_provider import faults
from nuncius.core.errors import ContextOverflowError
from nuncius.core.messages import Message, Usage
from nuncius.llm import wire
from nuncius.llm.model import ModelRequest
from nuncius.llm.scripted import Reply, Step

SUMMARY_PROMPT = files("nuncius.prompts").joinpath("summary.md").read_text(encoding="utf-8")
Answering = Callable[[ModelRequest], Step]


def tokens_of(request: ModelRequest) -> int:
    """Count as this provider counts: three bytes of UTF-8 are a token."""
    size = sum(map(_bytes, request.messages))
    size += sum(len(f"{tool.name}{tool.description}{tool.parameters}") for tool in request.tools)
    return size // 3


def _bytes(message: Message) -> int:
    calls = sum(len(f"{call.id}{call.name}{call.arguments}") for call in message.tool_calls)
    return len(message.content.encode("utf-8", "replace")) + calls + 12


def on_the_wire(request: ModelRequest) -> list[dict[str, object]]:
    return [wire.message_object(message, wire.Dialect(), "") for message in request.messages]


class Windowed:
    """A script for `ScriptedModel`: judges each request, then lets `answer` or `summary` reply."""

    def __init__(
        self,
        answer: Answering,
        *,
        window: int = 10**9,
        summary: Answering | Step = "We looked at words; [k3f2a9c1-12:3] holds.",
    ) -> None:
        self._answer = answer
        self._summary = summary
        self.window = window
        self.faults: list[str] = []
        self.requests: list[ModelRequest] = []
        """Those of the conversation that were short enough."""
        self.summaries: list[ModelRequest] = []
        self.overflows = 0

    def __call__(self, request: ModelRequest) -> Step:
        self.faults += faults(on_the_wire(request))
        tokens = tokens_of(request)
        if tokens > self.window:
            self.overflows += 1
            return ContextOverflowError("scripted", "", "the prompt is too long")
        if request.messages[0].content == SUMMARY_PROMPT:
            self.summaries.append(request)
            step = self._summary(request) if callable(self._summary) else self._summary
        else:
            self.requests.append(request)
            step = self._answer(request)
        if isinstance(step, str):
            step = Reply(step)
        if isinstance(step, Reply) and step.usage == Usage():
            step = replace(step, usage=Usage(tokens, 10))
        return step

    @property
    def sent(self) -> list[Message]:
        """Return the messages of the last request after the system prompt."""
        return list(self.requests[-1].messages[1:])


def looking(steps: int, *, says: str = "") -> Answering:
    """Look at a new word in each of so many steps of a turn, then answer.

    Args:
        says: What the model says at each step beside the step's number: text that no mask takes.
    """
    numbers: Iterator[int] = count()

    def reply(request: ModelRequest) -> Step:
        n = next(numbers)
        if n % (steps + 1) == steps:
            return "Done."
        return Reply(f"Step {n}. {says}", calls=[("look", f'{{"word": "w{n}"}}')])

    return reply
