"""A language model that says what a script says: for tests, demonstrations and documentation."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from nuncius.core.errors import EmptyReplyError, NunciusError, StreamCutError, UsageError
from nuncius.core.messages import Message, Thinking, ToolCall, Usage
from nuncius.llm.model import (
    Completion,
    FinishReason,
    ModelChunk,
    ModelRequest,
    TextChunk,
    ThinkingChunk,
)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model does with one request, in this order.

    Attributes:
        text: What it says; a sequence is streamed piece by piece.
        calls: What it calls: ``("read_file", '{"path": "a.md"}')``, or whole `ToolCall`s where
            the ids matter.
        thinking: What it thinks before.
        delay_s: Seconds before each piece.
        cut: End the stream after the text, without an end; the calls stay unfinished.
        error: Raise this after the text.
        finish: Why it ended; found from the calls where it is None.
    """

    text: str | Sequence[str] = ""
    calls: Sequence[ToolCall | tuple[str, str]] = ()
    thinking: str = ""
    delay_s: float = 0.0
    cut: bool = False
    error: NunciusError | None = None
    finish: FinishReason | None = None
    usage: Usage = field(default_factory=Usage)


Step = Reply | str | NunciusError
Script = Iterable[Step] | Callable[[ModelRequest], Step]


class ScriptedModel:
    """A `ChatModel` that follows a script.

    The script is a list of replies, one for each request, or a function from the request to the
    reply. A text alone is a reply, and so is an error. `requests` keeps what was asked.

    Example:
        >>> look = Reply(calls=[("query_target", '{"name": "M 1"}')])
        >>> model = ScriptedModel([look, "M 1 is a supernova remnant."])
    """

    def __init__(
        self,
        script: Script,
        *,
        name: str = "scripted",
        degraded: str = "",
        local: bool = True,
    ) -> None:
        self._next = script if callable(script) else self._in_turn(script)
        self._name = name
        self._degraded = degraded
        self._local = local
        self.requests: list[ModelRequest] = []

    @property
    def name(self) -> str:
        """What events show."""
        return self._name

    @property
    def degraded(self) -> str:
        """What users must know of its limits."""
        return self._degraded

    @property
    def local(self) -> bool:
        """Whether no text leaves the machine."""
        return self._local

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """Give the script's next reply.

        Raises:
            UsageError: The script has ended.
        """
        self.requests.append(request)
        step = self._next(request)
        if isinstance(step, NunciusError):
            raise step
        reply = Reply(step) if isinstance(step, str) else step
        calls = tuple(
            call if isinstance(call, ToolCall) else ToolCall(f"call_{index}", *call)
            for index, call in enumerate(reply.calls)
        )
        pieces = [reply.text] if isinstance(reply.text, str) else list(reply.text)
        if reply.thinking:
            await asyncio.sleep(reply.delay_s)
            yield ThinkingChunk(reply.thinking)
        for piece in pieces:
            await asyncio.sleep(reply.delay_s)
            if piece:
                yield TextChunk(piece)
        thinking = (Thinking(self._name, reply.thinking),) if reply.thinking else ()
        message = Message("assistant", "".join(pieces), calls, thinking=thinking)
        yield self._end(reply, message)

    def _end(self, reply: Reply, message: Message) -> Completion:
        if reply.error:
            raise reply.error
        if reply.cut:
            error = StreamCutError(self._name, "", "the script cuts the stream", retryable=True)
            error.partial = message
            raise error
        if not message.content and not message.tool_calls:
            raise EmptyReplyError(self._name, "", "the model said nothing", retryable=True)
        finish = reply.finish or ("tool_calls" if message.tool_calls else "stop")
        return Completion(message, finish, reply.usage)

    def _in_turn(self, script: Iterable[Step]) -> Callable[[ModelRequest], Step]:
        steps = iter(tuple(script))

        def following(_request: ModelRequest) -> Step:
            step = next(steps, None)
            if step is None:
                raise UsageError(
                    f"The script ended before request {len(self.requests)}.",
                    hint="Add a reply to the script.",
                )
            return step

        return following
