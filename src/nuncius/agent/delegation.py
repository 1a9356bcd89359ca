"""Subagents: a task, a fresh context, some of the tools; what comes back is a report.

A subagent runs inside its parent's turn, in the same mode, with the same locks and the same people
to ask. Its messages are rows of their own and its events carry its name. It cannot ask the user
and has no subagents.
"""

import asyncio
import copy
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from typing_extensions import override

from nuncius.agent.arguments import Prepared, close_names, failure, refuse, shorten
from nuncius.agent.cancellation import Cancellation
from nuncius.agent.conversation import Conversations
from nuncius.agent.executor import Finished
from nuncius.agent.outputs import bounded, from_error
from nuncius.agent.recovery import unanswered
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.turn import Turn
from nuncius.core.errors import ErrorKind, ToolError
from nuncius.core.events import (
    Event,
    SubagentFinished,
    SubagentStarted,
    SubagentStatus,
    TurnStatus,
)
from nuncius.core.messages import Message, StoredMessage, ToolCall, ToolDefinition, Usage
from nuncius.core.text import clean
from nuncius.llm.model import Completion

if TYPE_CHECKING:
    from nuncius.agent.runtime import Runtime

MAX_STEPS = 40
THOUGHT_CHARACTERS = 600
LAST_STEP = (
    "This is your last message ({why}), and no tool is available. Report now: what you found, with"
    " the handles that you were shown, what you could not find, and what is left to do."
)
_WHY: Mapping[SubagentStatus, str] = {
    "max_steps": "the limit of steps is reached",
    "timeout": "the time is over",
    "loop_stopped": "your calls went round in a circle",
}
NO_TOOLS = "Not done: no tool is available any more. Write your report."


@dataclass(frozen=True, slots=True)
class DelegationLimits:
    """What subagents may take.

    Attributes:
        depth: How deep they may nest; 1: a subagent has none.
        fan_out: How many of one turn run at the same time.
        wall_clock_s: Time of one, its waits included; then its calls are stopped and it reports.
        report_s: Time for a report after that.
    """

    depth: int = 1
    fan_out: int = 8
    wall_clock_s: float = 600.0
    report_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a subagent is to do.

    Attributes:
        task: All that it is told, with `context`.
        tools: Names of the tools that it gets; empty: all that subagents may have.
        max_steps: Model calls, the one for the report included.
    """

    task: str
    name: str = "subagent"
    context: str = ""
    tools: Sequence[str] = ()
    max_steps: int = 10


@dataclass(frozen=True, slots=True)
class Activity:
    """One call of a subagent: the tool, its arguments in short, ``ok`` or the kind of error."""

    tool: str
    arguments: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Report:
    """What a subagent brings back.

    Attributes:
        name: The subagent's, as its events and messages carry it.
        text: Its report; empty where it made none.
        thinking: Head and tail of its reasoning.
        evidence: Metadata of its tool results, oldest first.
        error: Why it failed, for people; `error_kind` for programs.
        sources: Whose words it had read.
        confidential: Whether some of them may not leave this machine.
    """

    name: str
    status: SubagentStatus
    text: str
    steps: int
    activity: Sequence[Activity]
    thinking: str = ""
    usage: Usage = field(default_factory=Usage)
    evidence: Sequence[Mapping[str, object]] = ()
    error: str = ""
    error_kind: ErrorKind | None = None
    sources: Sequence[str] = ()
    confidential: bool = False


class Delegation:
    """Starts the subagents of one turn."""

    def __init__(self, parent: Turn, runtime: "Runtime") -> None:
        self._parent = parent
        self._runtime = copy.copy(runtime)  # who listens and who is asked may be others later
        self._running = 0
        self._names = {"main"}

    async def __call__(
        self, assignment: Assignment, *, report: Callable[[str, float | None], None]
    ) -> Report:
        """Have a subagent do the task; whatever happens inside ends in a report.

        Raises:
            ToolError: Too many run, or a tool is named that it cannot have.
        """
        registry = offered(self._runtime.registry, assignment.tools)
        fan_out = self._runtime.delegation_limits.fan_out
        if self._running >= fan_out:
            raise ToolError(
                f"{fan_out} subagents are running, which is the most at one time. Start this one"
                " when they have reported.",
                kind="unavailable",
                code="fan_out",
            )
        self._running += 1
        try:
            name = await self._name(assignment.name)
            subagent = Subagent(
                self._parent, self._runtime, assignment, name=name, registry=registry, tell=report
            )
            return await subagent.report()
        finally:
            self._running -= 1

    async def _name(self, wanted: str) -> str:
        """Return a name that no agent of the session has had."""
        plain = re.sub(r"[^\w-]+", "-", clean(wanted)).strip("-")[:32] or "subagent"
        name, number = plain, 2
        while name in self._names or await self._runtime.journal.messages(
            self._parent.feed.session_id, name
        ):
            name, number = f"{plain}-{number}", number + 1
        self._names.add(name)
        return name


def offered(registry: ToolRegistry, names: Sequence[str]) -> ToolRegistry:
    """Return the tools of these names, or all that a subagent may have; never more.

    Raises:
        ToolError: A name is no tool's, or that tool is not for subagents.
    """
    possible = {tool.name: tool for tool in registry if not tool.main_only}
    for name in names:
        if name not in possible:
            near = close_names(name, list(possible)) or sorted(possible)
            known = "is not for subagents" if registry.get(name) else "does not exist"
            raise ToolError(
                f"The tool {shorten(name, 64)!r} {known}. A subagent can have:"
                f" {shorten(', '.join(near), 300)}.",
                kind="invalid_arguments",
                code="unknown_tool",
            )
    return ToolRegistry(possible[name] for name in dict.fromkeys(names or possible))


class Subagent(Turn):
    """A loop of its own within the parent's turn."""

    def __init__(
        self,
        parent: Turn,
        runtime: "Runtime",
        assignment: Assignment,
        *,
        name: str,
        registry: ToolRegistry,
        tell: Callable[[str, float | None], None],
    ) -> None:
        limits = runtime.delegation_limits
        own = copy.copy(runtime)
        own.agent = name
        own.registry = registry
        own.system_prompt = f"{runtime.system_prompt}\n\n{runtime.subagent_prompt}".strip()
        own.conversations = Conversations(runtime.journal, name)
        own.delegation_limits = replace(limits, depth=limits.depth - 1)
        # its side effects end before the parent's own deadline for this call
        own.limits = replace(runtime.limits, block_deadline_s=runtime.limits.block_deadline_s * 0.8)
        self._parent = parent
        self._assignment = assignment
        self._delegation_limits = limits
        self._tell = tell
        self._end = asyncio.Event()
        self._forced: SubagentStatus | None = None
        self._text = ""
        self._thoughts: list[str] = []
        self._activity: list[Activity] = []
        super().__init__(
            own,
            parent.feed.session_id,
            parent.feed.turn_id,
            _told(assignment),
            mode=parent.mode,
            max_steps=min(assignment.max_steps, MAX_STEPS),
            enable_thinking=parent.enable_thinking,
            cancel=self._end,
        )
        self._feed.follow(parent.feed)
        self._call_mark = f"_{hashlib.blake2b(name.encode(), digest_size=3).hexdigest()}"

    async def report(self) -> Report:
        """Do the task and return the report; cancelling closes the subagent's books first."""
        task = asyncio.create_task(self._report())
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self._end.set()
            try:
                await asyncio.wait((task,))
            finally:
                task.cancel()
            raise

    async def _report(self) -> Report:
        name = self._runtime.agent
        user = Message("user", self._question)
        await self._feed.emit(
            self._feed.stamp(SubagentStarted, name=name, task=self._assignment.task),
            messages=[self._feed.stored(user)],
        )
        self._conversation.add(user)
        self._conversation.sources |= dict.fromkeys(self._parent.sources)  # its task may hold them
        status, cause = await self._timed(self._delegation_limits.wall_clock_s)
        overtime = status == "cancelled" and not self._parent.cancellation.requested
        if (overtime and cause is None) or status == "loop_stopped":
            self._forced = "timeout" if overtime else "loop_stopped"
            self._end = asyncio.Event()
            self._cancellation = Cancellation(self._end)
            self._max_steps = self._feed.step + 1
            status, cause = await self._timed(self._delegation_limits.report_s)
        return await self._finished(status, cause)

    async def _timed(self, limit_s: float) -> tuple[TurnStatus, BaseException | None]:
        """Run the loop until it ends, the time is over or the parent is cancelled."""
        timer = asyncio.get_running_loop().call_later(limit_s, self._end.set)
        undo = self._parent.cancellation.add(self._end.set)
        try:
            async with self._cancellation:
                return await self._outcome()
        finally:
            undo()
            timer.cancel()

    async def _finished(self, status: TurnStatus, cause: BaseException | None) -> Report:
        """Close the books and make the report."""
        ended: SubagentStatus = status
        if self._forced and status in {"completed", "cancelled", "max_steps"}:
            ended = self._forced
        if self._parent.cancellation.requested:
            ended = "cancelled"
        fault = from_error(self._runtime.agent, cause) if cause else None
        events, messages = await self._own_left_open(cause)
        finished = self._feed.stamp(
            SubagentFinished,
            name=self._runtime.agent,
            status=ended,
            steps=self._feed.step,
            tool_calls=len(self._activity),
            summary=self._text,
        )
        await self._feed.emit(*events, finished, messages=messages)
        self._parent.count(self._usage, self._refused)
        return Report(
            self._runtime.agent,
            ended,
            self._text,
            self._feed.step,
            tuple(self._activity),
            bounded("\n".join(self._thoughts), THOUGHT_CHARACTERS),
            self._usage,
            tuple(self._conversation.evidence),
            fault.content if fault else "",
            fault.error_kind if fault else None,
            self.sources,
            self._conversation.confidential,
        )

    async def _own_left_open(
        self, cause: BaseException | None
    ) -> tuple[list[Event], list[StoredMessage]]:
        if cause is None:
            return [], []
        feed = self._feed
        return await unanswered(
            self._runtime.journal, feed.session_id, [feed.turn_id], only=feed.agent
        )

    # --- where the loop differs from the parent's ---

    @override
    async def _converse(self) -> TurnStatus:
        while self._feed.step < self._max_steps:
            self._feed.step += 1
            if self._feed.step == self._max_steps:
                self._forced = self._forced or "max_steps"
                await self._demand_report(_WHY[self._forced])
            self._tell(
                f"step {self._feed.step} of at most {self._max_steps},"
                f" {len(self._activity)} tool calls",
                None,
            )
            if (status := await self._step()) is not None:
                return status
        return "max_steps"

    async def _demand_report(self, why: str) -> None:
        demand = Message("user", LAST_STEP.format(why=why))
        await self._feed.emit(messages=[self._feed.stored(demand)])
        self._conversation.add(demand)

    @override
    def _offered(self) -> Sequence[ToolDefinition]:
        return () if self._forced else super()._offered()

    @override
    async def _take(self, completion: Completion) -> list[Prepared]:
        message = completion.message
        self._thoughts += [block.text for block in message.thinking if block.text.strip()]
        if message.content.strip():
            self._text = clean(message.content).strip()
        return await super()._take(completion)

    @override
    def _prepare(self, calls: Sequence[ToolCall]) -> list[Prepared]:
        """Judge the calls; their ids are made up, so that they are unique in the session."""
        items = super()._prepare([replace(call, id="") for call in calls])
        if not self._forced:
            return items
        return [refuse(item, failure(NO_TOOLS, kind="unavailable")) for item in items]

    @override
    def _note(self, result: Finished) -> None:
        super()._note(result)
        output = result.output
        outcome = (output.error_kind or "error") if output.is_error else "ok"
        arguments = shorten(result.item.canonical, 120)
        self._activity.append(Activity(result.item.call.name, arguments, outcome))

    @override
    async def _finish(self, completion: Completion) -> None:
        self._text = clean(completion.message.content).strip()


def _told(assignment: Assignment) -> str:
    """Return the one message that a subagent gets."""
    if not assignment.context.strip():
        return assignment.task
    return f"{assignment.task}\n\nWhat the agent that sends you knows:\n{assignment.context}"
