"""What the agent needs of a language model, whoever serves it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from nuncius.core.messages import Message, ToolCall, ToolDefinition, Usage

FinishReason = Literal["stop", "tool_calls", "length", "content_filter"]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request; the messages are already paired and in order.

    Attributes:
        reply_schema: JSON Schema that the text of the reply must follow, where the server can
            hold it to that; elsewhere it is only a wish, and whoever asks judges what comes.
    """

    messages: Sequence[Message]
    tools: Sequence[ToolDefinition] = ()
    max_output_tokens: int | None = None
    enable_thinking: bool = False
    thinking_budget: int | None = None
    reply_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class TextChunk:
    """More text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingChunk:
    """More reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class CallChunk:
    """A call whose name and arguments are complete while the stream still runs."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class Completion:
    """The clean end of a stream: the whole message. Exactly one, always the last chunk.

    Calls carry what the model wrote: ids may be empty or repeat, arguments may not be JSON;
    the executor judges them.
    """

    message: Message
    finish: FinishReason
    usage: Usage
    raw: str = ""


ModelChunk = TextChunk | ThinkingChunk | CallChunk | Completion


class ChatModel(Protocol):
    """A language model with tools.

    Attributes:
        name: What events and sessions show, such as ``openai/gpt-5`` or ``builtin``.
        degraded: What users must know of its limits, such as ``quotes only, no language
            model``; empty for a full model.
        local: Whether no text leaves this machine.
    """

    @property
    def name(self) -> str: ...

    @property
    def degraded(self) -> str: ...

    @property
    def local(self) -> bool: ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """Answer `request` piece by piece, ending in one `Completion`.

        Raises:
            ModelError: The service failed or the stream was cut (`StreamCutError`); text that
                came before stays with the reader.
            KeyMissingError: No key, or it was refused.
        """
        ...
