"""Runs the calls of one step: permission, write-ahead, dispatch, one result for each.

A result is committed before it is shown, in the order of finishing; the messages of the history
are stored in call order. Whatever a tool does, its call ends in exactly one result.
"""

import asyncio
import functools
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nuncius.agent import loops
from nuncius.agent.arguments import Prepared, failure
from nuncius.agent.cancellation import Cancellation
from nuncius.agent.feed import Feed
from nuncius.agent.locks import ResourceLocks, Ticket
from nuncius.agent.outputs import OUTPUT_CHARACTERS, from_error, normalise
from nuncius.agent.permissions import Decision, PermissionChecker, digest
from nuncius.agent.ports import Asker
from nuncius.agent.registry import AnyTool
from nuncius.agent.tool import GLOBAL_WRITE, Arguments, Resource, ToolContext, ToolOutput
from nuncius.core.events import Event, PermissionMode, ToolCallEvent, ToolProgress, ToolResultEvent
from nuncius.core.messages import Message, StoredMessage

log = logging.getLogger(__name__)
StopKind = Literal["cancelled", "timeout", "aborted_by_sibling"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a step may take.

    Attributes:
        parallel: Calls that run at the same time.
        output_characters: Text of one result.
        cancel_grace_s: How long a cancelled call may tidy up before its result stands.
        timeout_grace_s: The same after a time-out.
        block_deadline_s: How long a `block` tool may still commit its side effect after a cancel.
        progress_every_s: Least time between two reports of one call.
        sibling_abort: Which calls a failed `causes_sibling_abort` tool takes with it.
    """

    parallel: int = 16
    output_characters: int = OUTPUT_CHARACTERS
    cancel_grace_s: float = 0.08
    timeout_grace_s: float = 2.0
    block_deadline_s: float = 10.0
    progress_every_s: float = 0.1
    sibling_abort: Literal["related", "all", "off"] = "related"


@dataclass(frozen=True, slots=True)
class Finished:
    """A call and its result."""

    item: Prepared
    output: ToolOutput
    duration_ms: int

    def message(self) -> Message:
        """Return the result as the model reads it."""
        return Message(
            role="tool",
            content=self.output.content,
            tool_call_id=self.item.call.id,
            name=self.item.call.name,
            is_error=self.output.is_error,
        )


class Executor:
    """Runs the steps of one turn."""

    def __init__(
        self,
        feed: Feed,
        permissions: PermissionChecker,
        cancellation: Cancellation,
        *,
        context: ToolContext,
        locks: ResourceLocks,
        asker: Asker | None = None,
        mode: PermissionMode = "ask",
        limits: Limits | None = None,
    ) -> None:
        self._feed = feed
        self._permissions = permissions
        self._cancellation = cancellation
        self._context = context
        self._locks = locks
        self._asker = asker
        self._mode: PermissionMode = mode
        self._limits = limits or Limits()
        self._detector = loops.LoopDetector()

    @property
    def repeats(self) -> int:
        """Return how often the model has gone round the same circle; 1 for none."""
        return self._detector.repeats

    async def run(self, items: Sequence[Prepared]) -> list[Finished]:
        """Run one step's calls and return their results in call order."""
        calls = [_Call(item) for item in items]
        self._detector.begin(call.key for call in calls)
        for call in calls:
            self._refuse_repeat(call)
        await self._permit([call for call in calls if call.output is None])
        await self._feed.emit(
            *(
                self._feed.stamp(
                    ToolCallEvent,
                    id=item.call.id,
                    tool_call_id=item.call.id,
                    name=item.call.name,
                    arguments=item.value,
                )
                for item in items
            )
        )
        step = _Step(
            calls,
            self._feed,
            locks=self._locks,
            limits=self._limits,
            context=self._context,
            judge=self._judge,
        )
        undo = self._cancellation.add(step.cancel)
        try:
            await step.run()
        finally:
            undo()
            step.abandon()
        self._detector.end(counts=any(not call.polling for call in calls))
        return [call.finished() for call in calls]

    def _refuse_repeat(self, call: "_Call") -> None:
        """Refuse a side effect that has given one result too often; a read is tried once more."""
        if call.tool is None or call.tool.read_only or call.polling:
            return
        count = self._detector.expected(call.key)
        if count >= loops.REFUSE_AT:
            self._detector.skipped(call.key)
            call.output = _duplicate(count)

    async def _permit(self, calls: Sequence["_Call"]) -> None:
        """Ask for all calls that may run; those that may not get their result."""
        asked = [call for call in calls if call.tool is not None]
        if not asked:
            return
        deciding = asyncio.ensure_future(
            self._permissions.decide(
                [call.item for call in asked], self._feed, self._asker, mode=self._mode
            )
        )
        if not await self._cancellation.first(deciding):
            for call in asked:
                call.output = _stopped("cancelled", started=False, read_only=True)
            return
        for call, decision in zip(asked, deciding.result(), strict=True):
            if not decision.allowed:
                call.output = _denied(decision)
            elif decision.asked and decision.args_sha256 != digest(call.item):
                call.output = failure(
                    "Not done: the arguments are not the ones that were approved.", kind="denied"
                )

    def _judge(self, call: "_Call", output: ToolOutput) -> ToolOutput:
        """Count alike results: a reminder at the third, a refusal from the fourth on."""
        if output.error_kind == "duplicate":
            return output
        unchanged = output.metadata.get("unchanged") is True
        text = f"{output.is_error}{output.content}"
        count = self._detector.count(call.key, text, unchanged=unchanged)
        if count < loops.REMIND_AT:
            return output
        if count >= loops.REFUSE_AT and not call.polling:
            return _duplicate(count)
        return replace(output, content=output.content + loops.REMINDER.format(count=count))


class _Call:
    """One call on its way to its result."""

    def __init__(self, item: Prepared) -> None:
        self.item = item
        self.tool: AnyTool | None = item.tool
        self.key: loops.CallKey = (item.call.name, item.canonical)
        self.output: ToolOutput | None = item.error
        self.stop: ToolOutput | None = None
        self.task: asyncio.Task[None] | None = None
        self.ticket: Ticket | None = None
        self.resources: Sequence[Resource] = ()
        self.timer: asyncio.TimerHandle | None = None
        self.settled = False
        self.has_slot = False
        self.started_s: float | None = None
        self.reported_s = -1.0
        self.duration_ms = 0

    @property
    def args(self) -> Arguments:
        assert self.item.args is not None
        return self.item.args

    @property
    def polling(self) -> bool:
        return self.tool is not None and self.tool.polling

    def finished(self) -> Finished:
        assert self.output is not None
        return Finished(self.item, self.output, self.duration_ms)


class _Step:
    """The calls of one step while they run. The first outcome of a call is the one that stands."""

    def __init__(
        self,
        calls: Sequence[_Call],
        feed: Feed,
        *,
        locks: ResourceLocks,
        limits: Limits,
        context: ToolContext,
        judge: Callable[[_Call, ToolOutput], ToolOutput],
    ) -> None:
        self._calls = calls
        self._feed = feed
        self._locks = locks
        self._limits = limits
        self._context = context
        self._judge = judge
        self._loop = asyncio.get_running_loop()
        self._slots = asyncio.Semaphore(limits.parallel)
        self._wake = asyncio.Event()
        self._done: list[_Call] = []
        self._progress: dict[str, ToolProgress] = {}
        self._stored = 0

    async def run(self) -> None:
        """Start all, then commit results as they come until each call has one."""
        for call in self._calls:
            if call.output is not None:
                self._settle(call, call.output)
        for call in self._calls:  # queueing in call order is what orders access to a resource
            if not call.settled:
                self._start(call)
        while self._stored < len(self._calls):
            await self._wake.wait()
            self._wake.clear()
            await self._commit()

    async def _commit(self) -> None:
        done, self._done = self._done, []
        progress, self._progress = self._progress, {}
        events: list[Event] = list(progress.values())
        for call in done:
            events += self._result_events(call)
        messages: list[StoredMessage] = []
        while self._stored < len(self._calls) and self._calls[self._stored].settled:
            finished = self._calls[self._stored].finished()
            messages.append(
                self._feed.stored(finished.message(), metadata=dict(finished.output.metadata))
            )
            self._stored += 1
        durable = any(call.started_s is not None and not _read_only(call) for call in done)
        await self._feed.emit(*events, messages=messages, durable=durable)

    def _result_events(self, call: _Call) -> list[Event]:
        assert call.output is not None
        facts: list[Event] = [
            event.model_copy(
                update={
                    "session_id": self._feed.session_id,
                    "turn_id": self._feed.turn_id,
                    "step": self._feed.step,
                    "agent": self._feed.agent,
                }
            )
            for event in call.output.events
        ]
        result = self._feed.stamp(
            ToolResultEvent,
            id=call.item.call.id,
            tool_call_id=call.item.call.id,
            name=call.item.call.name,
            output=call.output.content,
            is_error=call.output.is_error,
            error_kind=call.output.error_kind,
            metadata=call.output.metadata,
            duration_ms=call.duration_ms,
        )
        return [*facts, result]

    # --- one call ---

    def _start(self, call: _Call) -> None:
        assert call.tool is not None
        try:
            call.resources = _resources(call.tool, call.args)
        except Exception as error:  # noqa: BLE001  (any fault of a tool becomes its result)
            self._settle(call, from_error(call.tool.name, error))
            return
        call.ticket = self._locks.take(call.resources)
        call.task = self._loop.create_task(self._work(call, call.tool, call.ticket))
        call.task.add_done_callback(functools.partial(self._ended, call))

    async def _work(self, call: _Call, tool: AnyTool, ticket: Ticket) -> None:
        context = replace(
            self._context, call_id=call.item.call.id, report=functools.partial(self._report, call)
        )
        await ticket.granted
        await self._slots.acquire()
        call.has_slot = True
        call.started_s = self._loop.time()
        self._set_timer(call, tool.timeout_s, self._stop, call, "timeout")
        try:
            output = await tool.run(call.args, context)
        except (asyncio.CancelledError, GeneratorExit):
            if call.stop is None and call.task and call.task.cancelling() == 0:
                self._settle(call, from_error(tool.name, RuntimeError("it cancelled itself")))
            raise
        except BaseException as error:  # noqa: BLE001  (a tool may raise anything, SystemExit too)
            self._settle(call, from_error(tool.name, error))
        else:
            self._settle(call, normalise(tool.name, output, limit=self._limits.output_characters))

    def _ended(self, call: _Call, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()):
            log.error("the executor broke", exc_info=error)
        self._settle(call, call.stop or failure("The call was cut off.", kind="crashed"))

    def _settle(self, call: _Call, output: ToolOutput) -> None:
        """Give the call its one result; later ones are dropped."""
        if call.settled:
            return
        call.settled = True
        if call.timer:
            call.timer.cancel()
        if call.ticket:
            self._locks.release(call.ticket)
        if call.has_slot:
            self._slots.release()
        if call.started_s is not None:
            call.duration_ms = round((self._loop.time() - call.started_s) * 1000)
        call.output = self._judge(call, output)
        self._progress.pop(call.item.call.id, None)
        self._done.append(call)
        self._wake.set()
        if output.is_error and call.tool is not None and call.started_s is not None:
            self._abort_siblings(call, call.tool)

    def _report(self, call: _Call, text: str, fraction: float | None) -> None:
        """Take a report of progress, from any thread."""
        self._loop.call_soon_threadsafe(self._note, call, text, fraction)

    def _note(self, call: _Call, text: str, fraction: float | None) -> None:
        now = self._loop.time()
        if call.settled or now - call.reported_s < self._limits.progress_every_s:
            return
        call.reported_s = now
        call_id = call.item.call.id
        self._progress[call_id] = self._feed.stamp(
            ToolProgress, id=call_id, progress=text[:500], fraction=fraction
        )
        self._wake.set()

    # --- stopping ---

    def cancel(self) -> None:
        """Stop what may be stopped now; let side effects commit, but not for ever."""
        for call in self._calls:
            if call.settled:
                continue
            shielded = call.tool is not None and call.tool.interrupt == "block"
            if shielded and call.started_s is not None:
                self._set_timer(call, self._limits.block_deadline_s, self._stop, call, "cancelled")
            else:
                self._stop(call, "cancelled")

    def abandon(self) -> None:
        """Cancel what still runs after the step ended early."""
        for call in self._calls:
            if call.task and not call.task.done():
                call.task.cancel()

    def _set_timer(
        self, call: _Call, delay_s: float, act: Callable[..., None], *args: object
    ) -> None:
        if call.timer:
            call.timer.cancel()
        call.timer = self._loop.call_later(delay_s, act, *args)

    def _stop(self, call: _Call, kind: StopKind) -> None:
        """Cancel the call's task; its result stands at the latest after the grace."""
        if call.settled or call.stop is not None:
            return
        call.stop = _stopped(
            kind,
            started=call.started_s is not None,
            read_only=_read_only(call),
            timeout_s=call.tool.timeout_s if call.tool else 0.0,
        )
        if call.started_s is None or call.task is None:
            self._settle(call, call.stop)
        else:
            grace = (
                self._limits.timeout_grace_s if kind == "timeout" else self._limits.cancel_grace_s
            )
            self._set_timer(call, grace, self._settle, call, call.stop)
        if call.task:
            call.task.cancel()

    def _abort_siblings(self, failed: _Call, tool: AnyTool) -> None:
        scope = self._limits.sibling_abort
        if scope == "off" or not tool.causes_sibling_abort():
            return
        keys = {resource.key for resource in failed.resources}
        for call in self._calls:
            related = scope == "all" or any(r.key in keys for r in call.resources)
            safe = call.started_s is None or (call.tool and call.tool.interrupt == "cancel")
            if call is not failed and not call.settled and related and safe:
                self._stop(call, "aborted_by_sibling")


def _resources(tool: AnyTool, args: Arguments) -> Sequence[Resource]:
    """Return what the call locks: what it declares, or everything where it is not parallel."""
    declared = tuple(tool.resources(args))
    return declared if declared or tool.parallel(args) else (GLOBAL_WRITE,)


def _read_only(call: _Call) -> bool:
    return call.tool is None or call.tool.read_only


def _duplicate(count: int) -> ToolOutput:
    return failure(loops.REFUSAL.format(count=count), kind="duplicate", code="duplicate_call")


def _denied(decision: Decision) -> ToolOutput:
    return replace(
        failure(
            f"Refused: {decision.what}. {decision.reason} Do not try to reach the same by another"
            " way; go on without it, or tell the user what you would need.",
            kind="denied",
        ),
        metadata={"code": "denied", "refused": decision.what, "asked": decision.asked},
    )


def _stopped(
    kind: StopKind,
    *,
    started: bool,
    read_only: bool,
    timeout_s: float = 0.0,
) -> ToolOutput:
    what = {
        "cancelled": "Cancelled by the user",
        "timeout": f"Stopped after the time limit of {timeout_s:g} s",
        "aborted_by_sibling": "Stopped because a related call of this step failed",
    }[kind]
    if not started:
        effect = "before it started; nothing was done"
    elif read_only:
        effect = "while it ran"
    else:
        effect = "while it ran; it may have had effects, so look before you try again"
    return failure(f"{what}, {effect}.", kind=kind)
