"""The one union of events: journal, live view, replay, metrics and audit read the same objects."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from nuncius.core.errors import ErrorKind
from nuncius.core.evidence import Citation, Searched, Unsupported

TurnStatus = Literal["completed", "cancelled", "failed", "max_steps", "loop_stopped", "budget"]
PermissionMode = Literal["ask", "auto", "plan", "deny"]


class Base(BaseModel):
    """Fields that every event has. Readers ignore fields that they do not know."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    v: Literal[1] = 1
    seq: int = 0
    """Strictly increasing in a session; allotted by the database, 0 before that."""
    session_id: str
    turn_id: str = ""
    step: int = 0
    """1-based model call within the turn; 0 outside of any."""
    agent: str = "main"
    time: str = ""
    """ISO 8601, UTC, set with `seq`."""


class TurnStarted(Base):
    """A user message was accepted."""

    type: Literal["turn_started"] = "turn_started"
    message: str
    model: str
    mode: PermissionMode
    enable_thinking: bool = False


class TextDelta(Base):
    """More of the model's text (coalesced: 50 ms or 1 kB)."""

    type: Literal["text_delta"] = "text_delta"
    text: str


class ThinkingDelta(Base):
    """More of the model's reasoning."""

    type: Literal["thinking_delta"] = "thinking_delta"
    text: str


class ToolCallEvent(Base):
    """A call is about to run, with its final arguments."""

    type: Literal["tool_call"] = "tool_call"
    id: str
    tool_call_id: str
    name: str
    arguments: Mapping[str, Any]
    original: Mapping[str, Any] | None = None
    """The model's arguments where a hook changed them."""


class ToolProgress(Base):
    """A running call tells how far it is."""

    type: Literal["tool_progress"] = "tool_progress"
    id: str
    progress: str
    fraction: float | None = None


class ToolResultEvent(Base):
    """A call ended; exactly one for each call."""

    type: Literal["tool_result"] = "tool_result"
    id: str
    tool_call_id: str
    name: str
    output: str
    is_error: bool = False
    error_kind: ErrorKind | None = None
    metadata: Mapping[str, Any] = {}
    duration_ms: int = 0


class PermissionRequest(Base):
    """Somebody must decide; the decision is bound to the digest of the arguments."""

    type: Literal["permission_request"] = "permission_request"
    id: str
    tool_call_id: str
    tool: str
    arguments: Mapping[str, Any]
    args_sha256: str
    reason: str
    rule: str
    """The rule that "always" would write."""


class PermissionResolved(Base):
    """A decision on a permission request."""

    type: Literal["permission_resolved"] = "permission_resolved"
    id: str
    tool_call_id: str = ""
    decision: Literal["allow", "deny"]
    scope: Literal["once", "session", "always"] = "once"
    by: str


QuestionOutcome = Literal["answered", "declined", "timed_out", "no_user"]
"""How a question to the user ended; after the last two an answer may still come."""


class Question(Base):
    """The agent asks the user; the question outlives its turn."""

    type: Literal["question"] = "question"
    id: str
    question: str
    options: tuple[str, ...] = ()
    """What may be chosen; free text is always taken, too."""
    expires_at: str = ""
    """When the agent stops waiting, ISO 8601, UTC; empty: never."""


class QuestionResolved(Base):
    """A question's end; of several answers the first stands."""

    type: Literal["question_resolved"] = "question_resolved"
    id: str
    outcome: QuestionOutcome
    answer: str = ""


class Todos(Base):
    """The whole todo list after a change."""

    type: Literal["todos"] = "todos"
    todos: tuple[Mapping[str, Any], ...]


class SubagentStarted(Base):
    """A subagent begins; its own events carry its name as `agent`."""

    type: Literal["subagent_started"] = "subagent_started"
    name: str
    task: str


SubagentStatus = Literal[
    "completed", "cancelled", "failed", "max_steps", "loop_stopped", "budget", "timeout"
]
"""How a subagent ended; `max_steps` and `timeout` may still bring a report."""


class SubagentFinished(Base):
    """A subagent is done; nothing of its name follows."""

    type: Literal["subagent_finished"] = "subagent_finished"
    name: str
    status: SubagentStatus
    steps: int
    tool_calls: int
    summary: str


class Compaction(Base):
    """The model's view of the conversation was made smaller; the messages stay as they were."""

    type: Literal["compaction"] = "compaction"
    kind: Literal["micro", "auto", "manual"]
    """`micro`: old tool outputs gave way to stubs; else all but the newest to a summary."""
    tokens_before: int
    tokens_after: int
    """Both estimated for the next request as a whole."""
    outcome: Literal["masked", "summarised", "dropped", "too_little"]
    """`dropped`: no summary could be made; `too_little`: too little to free, nothing was changed."""


class AttemptReset(Base):
    """The stream is tried again: drop this step's deltas."""

    type: Literal["attempt_reset"] = "attempt_reset"
    reason: str


class UsageEvent(Base):
    """Tokens and cost of one model call."""

    type: Literal["usage"] = "usage"
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = None


class AnswerEvent(Base):
    """The finished answer; it replaces the streamed deltas."""

    type: Literal["answer"] = "answer"
    text: str
    citations: tuple[Citation, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    answered: bool
    dropped_quotes: int = 0
    searched: Searched = Searched()
    degraded: tuple[str, ...] = ()


class TurnFinished(Base):
    """The turn is over; always the last event of a turn."""

    type: Literal["turn_finished"] = "turn_finished"
    status: TurnStatus
    error: str = ""


class Notice(Base):
    """Something a person should know."""

    type: Literal["notice"] = "notice"
    level: Literal["info", "warning", "error"] = "info"
    text: str


Event = Annotated[
    TurnStarted
    | TextDelta
    | ThinkingDelta
    | ToolCallEvent
    | ToolProgress
    | ToolResultEvent
    | PermissionRequest
    | PermissionResolved
    | Question
    | QuestionResolved
    | Todos
    | SubagentStarted
    | SubagentFinished
    | Compaction
    | AttemptReset
    | UsageEvent
    | AnswerEvent
    | TurnFinished
    | Notice,
    Field(discriminator="type"),
]


@cache  # built when first used: most commands read no events
def _adapter() -> TypeAdapter[Event]:
    return TypeAdapter(Event)


def dump_event(event: Event) -> str:
    """Return `event` as one line of JSON, the same on every wire."""
    return event.model_dump_json()


def load_event(text: str | bytes) -> Event:
    """Read one event.

    Raises:
        pydantic.ValidationError: The text is no event of a known type.
    """
    return _adapter().validate_json(text)
