"""What goes to and comes from a language model, in no provider's dialect."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model asked for.

    Attributes:
        id: Unique in the session, at most 40 safe characters; never empty after preparation.
        name: The tool's name exactly as the model wrote it.
        arguments: JSON text. Before preparation: as the model wrote it. After: a JSON object,
            the one that was validated, which is also the one replayed to providers.
        provider_id: The id the provider sent, where ours differs.
    """

    id: str
    name: str
    arguments: str
    provider_id: str = ""


@dataclass(frozen=True, slots=True)
class Thinking:
    """A block of reasoning, kept as the provider sent it (it may be signed).

    Attributes:
        provider: Provider and model that may read it again, such as ``"deepseek/deepseek-reasoner"``.
        text: What a person may read; may be empty.
        block: The opaque block to send back unchanged, or None where nothing is sent back.
    """

    provider: str
    text: str
    block: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    Attributes:
        role: Who speaks.
        content: Text. A tool message holds the result that the model reads.
        tool_calls: An assistant's calls, in order.
        tool_call_id: The call that a tool message answers.
        name: The tool's name, on tool messages.
        is_error: Whether a tool message tells of a failure.
        thinking: An assistant's reasoning blocks.
    """

    role: Role
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    name: str = ""
    is_error: bool = False
    thinking: tuple[Thinking, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message at its place in the journal.

    Attributes:
        session_id, turn_id: Where it belongs; a turn's messages follow its order.
        message: The message itself.
        agent: ``main`` or the subagent's or teammate's name.
        metadata: What screens need beside the content (a tool's metadata, evidence).
        raw: The provider's own form, for audits; never sent back.
    """

    session_id: str
    turn_id: str
    message: Message
    agent: str = "main"
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call or of many; `cost_usd` is None where no price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = None

    def __add__(self, other: "Usage") -> "Usage":
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            sum(costs) if costs else None,
        )


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """What a model is told of a tool: name, description and JSON Schema of the arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]
