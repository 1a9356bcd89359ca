"""Hooks: the user's own code before and after a call.

They run one after another, each on what the one before left. A hook can tighten and never loosen:
it may block a call, change it, or have a person asked, and what it lets through is still judged by
the permission rules. It sees copies; only what it returns has an effect.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from nuncius.core.errors import ErrorKind

HookEvent = Literal["PreToolUse", "PostToolUse"]
Failing = Literal["open", "closed"]

SEEN_CHARACTERS = 1_000_000
"""Most of one output that a hook is shown."""


@dataclass(frozen=True, slots=True)
class PreToolUse:
    """A call that is about to be judged and run; its arguments are valid."""

    session_id: str
    turn_id: str
    agent: str
    tool: str
    tool_call_id: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PostToolUse:
    """A call that ran, well or not; one that was refused never comes here.

    Attributes:
        arguments: Those that ran.
        output: What the tool gave back, whole up to `SEEN_CHARACTERS`, or the last hook's text.
    """

    session_id: str
    turn_id: str
    agent: str
    tool: str
    tool_call_id: str
    arguments: Mapping[str, Any]
    output: str
    is_error: bool = False
    error_kind: ErrorKind | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Block:
    """Do not run the call; after it: do not show its output. The model reads the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class MutateInput:
    """Run the call with these arguments; they are validated and judged like the model's own."""

    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AppendContext:
    """Put this text below the result, whatever it will be; marked as data."""

    text: str


@dataclass(frozen=True, slots=True)
class PermissionRequired:
    """Ask a person, whatever rules and mode allow. Where nobody can be asked, that is a deny."""

    reason: str


@dataclass(frozen=True, slots=True)
class MutateOutput:
    """Show this text in place of the output."""

    content: str


PreResult = Block | MutateInput | AppendContext | PermissionRequired
PostResult = Block | MutateOutput | AppendContext
Result = PreResult | PostResult


class Hook:
    """One piece of the user's code. A subclass defines one of the two methods, or both.

    Several calls of a step may be with it at the same time; it is asked about them in call order.

    Attributes:
        match: Name of the tools that it is for, with the shell's wildcards.
        timeout_s: Longest that it may take; then it has failed.
        fail: What its failure means: `closed` blocks the call (or withholds the output), `open`
            goes on as if it were not there.
    """

    match: str = "*"
    timeout_s: float = 30.0
    fail: Failing = "closed"

    @property
    def name(self) -> str:
        """Return what people and the model read."""
        return type(self).__name__

    @property
    def events(self) -> frozenset[HookEvent]:
        """Return when it runs."""
        own = type(self)
        before = own.pre_tool_use is not Hook.pre_tool_use
        after = own.post_tool_use is not Hook.post_tool_use
        found: tuple[HookEvent | None, ...] = (
            "PreToolUse" if before else None,
            "PostToolUse" if after else None,
        )
        return frozenset(event for event in found if event)

    async def pre_tool_use(self, use: PreToolUse) -> PreResult | Sequence[PreResult] | None:
        """Judge a call before permission is asked for it; None lets it pass."""
        raise NotImplementedError  # called only where a subclass brings its own

    async def post_tool_use(self, use: PostToolUse) -> PostResult | Sequence[PostResult] | None:
        """Look at what a call gave back; None leaves it."""
        raise NotImplementedError  # called only where a subclass brings its own


class HookError(Exception):
    """A hook did not do its work; the text says why, in half a sentence.

    Attributes:
        detail: What only people are shown: a hook's own words may hold anything.
    """

    def __init__(self, reason: str, *, detail: str = "", timed_out: bool = False) -> None:
        super().__init__(reason)
        self.detail = detail
        self.timed_out = timed_out
