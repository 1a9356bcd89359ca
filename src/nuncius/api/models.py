"""What the interface takes and gives, where the objects of other rooms do not say it themselves.

Sessions, pending requests, rules, notes and audit rows go out as the store has them.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from nuncius.core.errors import ErrorKind
from nuncius.core.events import PermissionMode
from nuncius.core.messages import StoredMessage, Usage
from nuncius.store.audit import AuditRow
from nuncius.store.protocols import PendingRequest, Session, StoredRule

MESSAGE_CHARACTERS = 32_000
SQLITE_INTEGER = 2**63 - 1

Text = Annotated[str, Field(max_length=MESSAGE_CHARACTERS)]
Word = Annotated[str, Field(max_length=500)]
Count = Annotated[int, Field(ge=0, le=SQLITE_INTEGER)]


class Shape(BaseModel):
    """Base of all shapes: the words under a field are its description in the OpenAPI document."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Body(Shape):
    """A request's body: unknown fields are refused, so that none is silently passed over."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# --- sessions -------------------------------------------------------------------------------------


class NewSession(Body):
    """A conversation to begin."""

    title: Word = ""


class SessionChange(Body):
    """What may be changed of a session; what is not named stays."""

    title: Word | None = None
    enable_thinking: bool | None = None


class SessionList(Shape):
    """Sessions, newest first."""

    sessions: Sequence[Session]
    next_cursor: str | None
    """Give it as `cursor` to go on; null: there are no more."""


class CallShape(Shape):
    """A call that a model asked for; `arguments` is JSON text."""

    id: str
    name: str
    arguments: str


class MessageShape(Shape):
    """A message as stored."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    agent_name: str
    turn_id: str
    tool_calls: list[CallShape]
    tool_call_id: str
    name: str
    is_error: bool
    thinking: list[str]
    metadata: dict[str, Any]


class MessageList(Shape):
    """The main agent's messages in order, then each subagent's."""

    messages: list[MessageShape]


class NewTurn(Body):
    """A message of the user's."""

    message: Annotated[str, Field(min_length=1, max_length=MESSAGE_CHARACTERS)]
    model: Word = ""
    enable_thinking: bool | None = None
    mode: PermissionMode | None = None


class TurnReply(Shape):
    """The turn that was begun."""

    turn_id: str


class CancelReply(Shape):
    """The turns that end now; none where nothing ran."""

    cancelled: list[str]


class Compact(Body):
    """How to compress a session."""

    focus: Text = ""
    """What to keep above all."""


class CompactReply(Shape):
    """When it happens."""

    when: Literal["before the next model call"] = "before the next model call"


# --- what waits for a person ----------------------------------------------------------------------


class PendingList(Shape):
    """Open questions and permission requests of all sessions, oldest first."""

    pending: Sequence[PendingRequest]


class AnswerBody(Body):
    """An answer, or that there will be none: exactly one of the two."""

    answer: Text | None = None
    declined: bool = False


class DecisionBody(Body):
    """A decision on exactly the arguments that were shown."""

    decision: Literal["allow", "deny"]
    scope: Literal["once", "session", "always"] = "once"
    args_sha256: Annotated[str, Field(min_length=1, max_length=64)]
    comment: Annotated[str, Field(max_length=2_000)] = ""
    """Kept in the session's record, where people read it."""


class RuleList(Shape):
    """Permission rules, oldest first."""

    rules: Sequence[StoredRule]


class NewRule(Body):
    """A rule on what the agent may do."""

    pattern: Annotated[str, Field(min_length=1, max_length=4_000)]
    """``tool``, ``tool(subject)`` or ``*``."""
    decision: Literal["allow", "deny", "ask"]
    session_id: Annotated[str, Field(max_length=64)] = ""
    """Empty: for all sessions."""


class AuditList(Shape):
    """Rows of the audit log, oldest first."""

    rows: Sequence[AuditRow]


class AuditVerdict(Shape):
    """Whether the log's chain holds."""

    sound: bool
    wrong: list[str]
    """Each place where a row, or the event that it vouches for, was changed."""


class ToolFiguresShape(Shape):
    """One tool's runs; times of those that ended, in milliseconds."""

    name: str
    runs: int
    errors: int
    open: int
    """Runs without a result (yet)."""
    total_ms: int
    median_ms: int
    p95_ms: int
    longest_ms: int


class DayShape(Shape):
    """One day's model calls (UTC)."""

    day: str
    model_calls: int
    usage: Usage


class MetricsReply(Shape):
    """What one session, or all, used."""

    session_id: str
    """Empty: all."""
    turns: dict[str, int]
    """How many turns ended how."""
    model_calls: int
    usage: Usage
    tools: list[ToolFiguresShape]
    errors: dict[str, int]
    """Failed tool runs by kind."""
    days: list[DayShape]


# --- tools ----------------------------------------------------------------------------------------


class ToolShape(Shape):
    """A tool as the model sees it; `parameters` is JSON Schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class ToolList(Shape):
    """All tools."""

    tools: list[ToolShape]


class ToolCallBody(Body):
    """One call."""

    arguments: dict[str, Any] = {}
    session_id: Annotated[str, Field(max_length=64)] = ""
    """Empty: a session of its own."""


class ToolReply(Shape):
    """What the tool gave."""

    content: str
    is_error: bool
    error_kind: ErrorKind | None
    metadata: dict[str, Any]


# --- services, settings, health ---------------------------------------------------------------------


class SearchBody(Body):
    """A search in ADS and arXiv."""

    query: Text = ""
    sources: Annotated[list[Literal["ads", "arxiv"]], Field(min_length=1, max_length=2)] = [
        "ads",
        "arxiv",
    ]
    author: Annotated[list[Word], Field(max_length=50)] = []
    year_from: Annotated[int | None, Field(ge=1000, le=3000)] = None
    year_to: Annotated[int | None, Field(ge=1000, le=3000)] = None
    object: Word = ""
    refereed: bool | None = None
    rows: Annotated[int, Field(ge=1, le=200)] = 20
    start: Annotated[int, Field(ge=0, le=100_000)] = 0
    sort: Literal["relevance", "date", "citations"] = "relevance"


class SourceFault(Shape):
    """A service that gave no answer."""

    source: str
    message: str
    hint: str


class SearchReply(Shape):
    """What ADS and arXiv found; a preprint and its journal version are one entry."""

    query: str
    queries: dict[str, str | None]
    read_as: str
    total: dict[str, int | None]
    papers: list[dict[str, Any]]
    errors: list[SourceFault]
    left_out: dict[str, int]
    notes: list[str]


class SettingsReply(Shape):
    """What a new turn runs with where nothing else is said; no key is among it."""

    model: str
    models: Sequence[str]
    """Names that a turn may be given as its model."""
    mode: PermissionMode
    enable_thinking: bool
    context_tokens: int | None
    """What the model takes in; None: the built-in one has no window."""


class FindingShape(Shape):
    """What one check found."""

    name: str
    state: Literal["ok", "note", "failed"]
    text: str
    mend: str


class DoctorReply(Shape):
    """What all checks found."""

    findings: Sequence[FindingShape]


class HealthReply(Shape):
    """The server answers."""

    status: Literal["ok"] = "ok"
    version: str


# --- from other rooms' objects --------------------------------------------------------------------


def message_shape(stored: StoredMessage) -> MessageShape:
    """Return a message."""
    message = stored.message
    return MessageShape(
        role=message.role,
        content=message.content,
        agent_name=stored.agent,
        turn_id=stored.turn_id,
        tool_calls=[
            CallShape(id=call.id, name=call.name, arguments=call.arguments)
            for call in message.tool_calls
        ],
        tool_call_id=message.tool_call_id,
        name=message.name,
        is_error=message.is_error,
        thinking=[block.text for block in message.thinking],
        metadata=dict(stored.metadata),
    )
