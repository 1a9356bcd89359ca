"""What a tool is, what it is given, and what it gives back."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from nuncius.core.errors import ErrorKind
from nuncius.core.events import Event
from nuncius.core.messages import ToolDefinition
from nuncius.core.shapes import is_list, is_object

if TYPE_CHECKING:
    from nuncius.agent.delegation import Assignment, Report
    from nuncius.agent.questions import Reply

Kit = Literal["standard", "background", "team"]
SubjectKind = Literal["path", "host", "command", "text"]
"""How rules match what a tool's `subject` returns."""
Interrupt = Literal["cancel", "block"]
"""What a cancelled user sees: `cancel` ends at once; `block` lets the side effect's commit end."""

A = TypeVar("A", bound="Arguments")


class Arguments(BaseModel):
    """Base of all arguments: unknown names are refused, text is taken as it is."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class Permission:
    """What a tool says of one call: the checker joins it with the user's rules.

    Attributes:
        decision: `deny` cannot be overruled by any rule.
        reason: One sentence for the user.
        firm: An ask that mode `auto` does not skip and only a rule with a subject answers: a new
            host, an act on untrusted text.
    """

    decision: Literal["deny", "allow", "ask"]
    reason: str = ""
    firm: bool = False


@dataclass(frozen=True, slots=True)
class Resource:
    """Something that a call reads or writes, such as ``file:/abs/path`` or ``paper:k3f2a9c1``."""

    key: str
    access: Literal["read", "write"]


GLOBAL_WRITE = Resource("*", "write")
"""Taken by a call that has side effects and names no resource."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a call gives back: one face for the model, one for screens and programs.

    Attributes:
        content: What the model reads. Bounded; says so where it was cut.
        is_error: Whether the call failed.
        metadata: Structured, JSON-compatible facts for screens; ``metadata["code"]`` refines an
            error, ``metadata["evidence"]`` lists passages that may be cited.
        error_kind: Why it failed.
        events: Facts for the journal beside the result, such as a changed todo list; committed
            with it.
    """

    content: str
    is_error: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    error_kind: ErrorKind | None = None
    events: Sequence[Event] = ()


@dataclass(slots=True)
class ReadState:
    """What one agent has read of files: lets edits be refused on text it never saw.

    `digests` maps a canonical path to the SHA-256 of the bytes read last; `shown` maps
    (path, offset, limit) to the digest at that time; `generation` counts compactions, after
    which nothing shown before may be called unchanged.
    """

    digests: dict[str, str] = field(default_factory=dict[str, str])
    shown: dict[tuple[str, int, int | None], tuple[str, int]] = field(
        default_factory=dict[tuple[str, int, int | None], tuple[str, int]]
    )
    generation: int = 0


class Ask(Protocol):
    """Puts a question to the user and waits for its end."""

    async def __call__(
        self, text: str, *, options: Sequence[str] = (), timeout_s: float | None = None
    ) -> "Reply": ...


class Delegate(Protocol):
    """Has a subagent do a task and waits for its report."""

    async def __call__(
        self, assignment: "Assignment", *, report: Callable[[str, float | None], None]
    ) -> "Report": ...


class Permit(Protocol):
    """Asks for permission for one more thing that the running call has come to, such as a host."""

    async def __call__(self, subject: str, reason: str) -> bool: ...


def _no_progress(_text: str, _fraction: float | None) -> None:
    """Drop the report: nobody watches."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What the executor gives every call; no bag of everything.

    Attributes:
        silent: Nobody can answer: an ask is a deny, `ask_user` returns `no_user`.
        report: Tells how far the call is: text, and 0 to 1 or None; from any thread.
        compress: Asks for the conversation to be compressed before the next model call, keeping
            above all what it is given; None where there is no need to.
        ask: Puts a question to the user; None where there is no turn.
        delegate: Starts a subagent; None where none may be started, as in a subagent.
        permit: Asks whether a host that the call has come to may be reached; None: nobody decides,
            so it may not.
    """

    session_id: str
    turn_id: str = ""
    call_id: str = ""
    agent: str = "main"
    silent: bool = True
    enable_thinking: bool = False
    read_state: ReadState = field(default_factory=ReadState)
    report: Callable[[str, float | None], None] = _no_progress
    compress: Callable[[str], None] | None = None
    ask: Ask | None = None
    delegate: Delegate | None = None
    permit: Permit | None = None


class Tool(Generic[A]):
    """One thing that a model can do.

    A subclass's docstring is what the model reads; write it for a reader who has never seen this
    code. Its `args` is a pydantic model whose fields each have a description with unit and example.
    """

    name: ClassVar[str]
    args: ClassVar[type[Arguments]]
    kit: ClassVar[Kit] = "standard"
    read_only: ClassVar[bool] = False
    interrupt: ClassVar[Interrupt] = "cancel"
    timeout_s: ClassVar[float] = 120.0
    output_characters: ClassVar[int] = 16_000
    """A longer output is kept in a file; the model is shown its ends."""
    subject_kind: ClassVar[SubjectKind] = "path"
    polling: ClassVar[bool] = False
    """Equal calls with equal results are its nature: warned about, not stopped."""
    main_only: ClassVar[bool] = False
    """Not for subagents: it speaks with the user, or for the whole session."""
    conversational: ClassVar[bool] = False
    """It acts on the conversation that it is called in, so other assistants are not offered it."""
    judged_inside: ClassVar[bool] = False
    """It acts by calls that are judged one by one, so mode `plan` lets it begin."""
    lasting: ClassVar[bool] = False
    """Its results stay in the model's view when old ones are left out: an answer of the user's, a
    skill, the plan."""

    def parallel(self, args: A) -> bool:  # noqa: ARG002  (for subclasses)
        """Tell whether this call may run beside others; read-only calls may."""
        return self.read_only

    def resources(self, args: A) -> Sequence[Resource]:  # noqa: ARG002  (for subclasses)
        """Name what this call reads and writes; sharing a written key means running in order."""
        return ()

    def causes_sibling_abort(self) -> bool:
        """Tell whether a failure makes related calls of the same step pointless."""
        return False

    def check_permissions(self, args: A) -> Sequence[Permission]:  # noqa: ARG002  (for subclasses)
        """Say what this tool itself thinks of the call.

        The default: a read is allowed, all else asks.
        """
        if self.read_only:
            return (Permission("allow"),)
        return (Permission("ask", f"{self.name} has side effects."),)

    def reaches_out(self, args: A) -> bool:
        """Tell whether a person must decide once the agent has read words of others.

        The default: where the tool asks at all.
        """
        return any(said.decision == "ask" for said in self.check_permissions(args))

    def sources(self, args: A, output: ToolOutput) -> Sequence[str]:  # noqa: ARG002  (for subclasses)
        """Name whose words the output brings, by ids and paths; empty: only the tool's own.

        The default takes the output for somebody else's words.
        """
        return (f"the output of {self.name}",)

    def subject(self, args: A) -> str:  # noqa: ARG002  (for subclasses)
        """Return what rules match beside the name: a path, a host, a command; or nothing."""
        return ""

    async def run(self, args: A, ctx: ToolContext) -> ToolOutput:
        """Do it.

        Raises:
            ToolError: It cannot be done; the model reads why.
        """
        raise NotImplementedError  # every tool brings its own

    def definition(self) -> ToolDefinition:
        """Return what the model is told: `$defs` resolved in place, and nothing it need not read."""
        return ToolDefinition(
            self.name,
            inspect.cleandoc(type(self).__doc__ or ""),
            _schema(self.args),
        )


def _schema(args: type[BaseModel]) -> dict[str, Any]:
    schema = args.model_json_schema()
    definitions = schema.pop("$defs", {})

    def clean(node: Any, *, names: bool = False) -> Any:
        if is_object(node):
            if "$ref" in node:
                target = definitions[node["$ref"].rsplit("/", 1)[1]]
                return clean({**target, **{k: v for k, v in node.items() if k != "$ref"}})
            return {
                key: clean(value, names=key == "properties")
                for key, value in _without_null(node).items()
                if names or not _is_spare(key, value)
            }
        if is_list(node):
            return [clean(item) for item in node]
        return node

    cleaned = clean(schema)
    cleaned.pop("description", None)
    return cleaned


def _without_null(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what an optional value is where it is given: left out says "none" well enough."""
    options = node.get("anyOf")
    if not is_list(options) or {"type": "null"} not in options or len(options) != 2:
        return node
    given = next(option for option in options if option != {"type": "null"})
    return {**given, **{key: node[key] for key in node if key not in {"anyOf", "default"}}}


def _is_spare(key: str, value: Any) -> bool:
    """Tell whether a model need not read it: definitions are paid for in every request.

    Bounds are checked in code all the same, and the error tells them.
    """
    if key in {"title", "minLength", "maxLength", "maxItems", "additionalProperties", "minimum"}:
        return True
    if key == "default":
        return value is False or value in ("", None, [])
    return key == "maximum" and value > 1000
