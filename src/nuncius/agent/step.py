"""The calls of one step while they run: locks, limits, stops, and what follows a tool's output."""

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nuncius.agent import loops
from nuncius.agent.arguments import Prepared, failure
from nuncius.agent.feed import Feed
from nuncius.agent.hook_chain import Hooks, Place, files_known, files_refreshed
from nuncius.agent.locks import ResourceLocks, Ticket
from nuncius.agent.outputs import StopKind, bounded, from_error, kept, normalise, stopped
from nuncius.agent.ports import OutputKeeper
from nuncius.agent.registry import AnyTool
from nuncius.agent.taint import labelled
from nuncius.agent.tool import GLOBAL_WRITE, Arguments, Resource, ToolContext, ToolOutput
from nuncius.core.events import Event, Notice, ToolProgress, ToolResultEvent
from nuncius.core.messages import Message, StoredMessage

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a step may take.

    Attributes:
        parallel: Calls that run at the same time.
        output_characters: Text of one result; None: what the tool says of itself.
        cancel_grace_s: How long a cancelled call may tidy up before its result stands.
        timeout_grace_s: The same after a time-out.
        block_deadline_s: How long a `block` tool may still commit its side effect after a cancel.
        progress_every_s: Least time between two reports of one call.
        sibling_abort: Which calls a failed `causes_sibling_abort` tool takes with it.
    """

    parallel: int = 16
    output_characters: int | None = None
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


class Call:
    """One call on its way to its result.

    Attributes:
        output: Its result, once it has one.
        contexts: What hooks want to stand below the result.
        stop: The result that stands if a stopped tool gives none.
        raw: What the tool gave, while it is kept and shown to hooks.
        fingerprint: Of what the tool gave, where something else is shown; tells repeats.
    """

    def __init__(self, item: Prepared) -> None:
        self.item = item
        self.tool: AnyTool | None = item.tool
        self.key: loops.CallKey = (item.call.name, item.canonical)
        self.output: ToolOutput | None = item.error
        self.contexts: list[str] = []
        self.stop: ToolOutput | None = None
        self.raw: ToolOutput | None = None
        self.fingerprint = ""
        self.task: asyncio.Task[None] | None = None
        self.after: asyncio.Task[ToolOutput] | None = None
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


class Step:
    """The calls of one step while they run. The first outcome of a call is the one that stands."""

    def __init__(
        self,
        calls: Sequence[Call],
        feed: Feed,
        *,
        locks: ResourceLocks,
        limits: Limits,
        context: ToolContext,
        judge: Callable[[Call, ToolOutput], ToolOutput],
        hooks: Hooks,
        keeper: OutputKeeper | None,
        permit: Callable[[Call, str, str], Awaitable[bool]],
    ) -> None:
        self._permit = permit
        self._calls = calls
        self._feed = feed
        self._locks = locks
        self._limits = limits
        self._context = context
        self._judge = judge
        self._hooks = hooks
        self._keeper = keeper
        self._loop = asyncio.get_running_loop()
        self._slots = asyncio.Semaphore(limits.parallel)
        self._wake = asyncio.Event()
        self._done: list[Call] = []
        self._progress: dict[str, ToolProgress] = {}
        self._stored = 0
        self._cancelled = False

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

    def _result_events(self, call: Call) -> list[Event]:
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

    def _start(self, call: Call) -> None:
        assert call.tool is not None
        try:
            call.resources = _resources(call.tool, call.args)
        except Exception as error:  # noqa: BLE001  (any fault of a tool becomes its result)
            self._settle(call, from_error(call.tool.name, error))
            return
        call.ticket = self._locks.take(call.resources)
        call.task = self._loop.create_task(self._work(call, call.tool, call.ticket))
        call.task.add_done_callback(functools.partial(self._ended, call))

    async def _work(self, call: Call, tool: AnyTool, ticket: Ticket) -> None:
        context = replace(
            self._context,
            call_id=call.item.call.id,
            report=functools.partial(self._report, call),
            permit=functools.partial(self._permit, call),
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
                self._returned(call, from_error(tool.name, RuntimeError("it cancelled itself")))
            raise
        except BaseException as error:  # noqa: BLE001  (a tool may raise anything, SystemExit too)
            self._returned(call, from_error(tool.name, error))
        else:
            self._returned(call, normalise(tool.name, output))

    def _ended(self, call: Call, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()):
            log.error("the executor broke", exc_info=error)
        self._returned(call, call.stop or failure("The call was cut off.", kind="crashed"))

    def _returned(self, call: Call, output: ToolOutput) -> None:
        """Take what the tool gave, once, and see to what comes after it.

        The call keeps its place and its locks until then: a hook may still change its file.
        """
        if call.settled or call.raw is not None:
            return
        assert call.tool is not None
        if call.timer:
            call.timer.cancel()
        if call.started_s is not None:
            call.duration_ms = round((self._loop.time() - call.started_s) * 1000)
        long = len(output.content) > self._limit(call.tool)
        hooked = bool(self._hooks.after(call.tool.name))
        if hooked or long:  # what is shown of it may name a file or hold a hook's clock
            call.fingerprint = loops.fingerprint(judged_text(output))
        if hooked and self._cancelled:  # nobody waits for hooks any more
            hooked = False
            if output is not call.stop:
                output = self._hooks.unreviewed(call.tool.name, output)
        if hooked or (long and self._keeper):
            call.raw = output
            call.after = self._loop.create_task(self._after(call, call.tool, output, hooked=hooked))
            call.after.add_done_callback(functools.partial(self._finished, call))
        else:
            self._settle(call, self._cut(call.tool, output))
        if output.is_error and call.started_s is not None:
            self._abort_siblings(call, call.tool)

    async def _after(
        self, call: Call, tool: AnyTool, output: ToolOutput, *, hooked: bool
    ) -> ToolOutput:
        """Keep the whole output if it is long, show it to the hooks, then cut it.

        In this order: what is kept is what the tool gave, whatever hooks or limits make of it.
        """
        limit = self._limit(tool)
        shown = self._cut(tool, output)
        if self._keeper and shown is not output:
            shown = await kept(
                output, self._keeper, self._feed, call.item.call.id, call.resources, limit=limit
            )
        if not hooked:
            return shown
        state = self._context.read_state
        known = await files_known(call.resources, state)
        reviewed = await self._hooks.review(call.item, output, place_of(self._feed))
        call.contexts += reviewed.contexts
        call.contexts += await files_refreshed(known, state)
        await tell(self._feed, reviewed.notices)
        return self._cut(tool, reviewed.output) if reviewed.changed else shown

    def _finished(self, call: Call, after: "asyncio.Task[ToolOutput]") -> None:
        assert call.tool is not None
        assert call.raw is not None
        if after.cancelled():
            self._settle(call, self._unreviewed(call.tool, call.raw))
        elif error := after.exception():
            log.error("the executor broke", exc_info=error)
            self._settle(call, self._unreviewed(call.tool, call.raw))
        else:
            self._settle(call, after.result())

    def _unreviewed(self, tool: AnyTool, output: ToolOutput) -> ToolOutput:
        return self._cut(tool, self._hooks.unreviewed(tool.name, output))

    def _cut(self, tool: AnyTool, output: ToolOutput) -> ToolOutput:
        if len(output.content) <= self._limit(tool):
            return output
        return replace(output, content=bounded(output.content, self._limit(tool)))

    def _limit(self, tool: AnyTool) -> int:
        limit = self._limits.output_characters
        return tool.output_characters if limit is None else limit

    def _settle(self, call: Call, output: ToolOutput) -> None:
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
        call.raw = None
        output = self._judge(call, output)
        if call.tool and call.started_s is not None:
            output = labelled(call.tool, call.args, output)
        if call.contexts:
            output = replace(output, content=output.content + "".join(call.contexts))
        call.output = output
        self._progress.pop(call.item.call.id, None)
        self._done.append(call)
        self._wake.set()

    def _report(self, call: Call, text: str, fraction: float | None) -> None:
        """Take a report of progress, from any thread."""
        self._loop.call_soon_threadsafe(self._note, call, text, fraction)

    def _note(self, call: Call, text: str, fraction: float | None) -> None:
        now = self._loop.time()
        if call.settled or call.raw or now - call.reported_s < self._limits.progress_every_s:
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
        self._cancelled = True
        for call in self._calls:
            if call.settled:
                continue
            if call.after:  # the tool is done: nothing is lost but what hooks would say
                call.after.cancel()
                continue
            shielded = call.tool is not None and call.tool.interrupt == "block"
            if shielded and call.started_s is not None:
                self._set_timer(call, self._limits.block_deadline_s, self._stop, call, "cancelled")
            else:
                self._stop(call, "cancelled")

    def abandon(self) -> None:
        """Cancel what still runs after the step ended early."""
        for call in self._calls:
            for task in (call.task, call.after):
                if task and not task.done():
                    task.cancel()

    def _set_timer(
        self, call: Call, delay_s: float, act: Callable[..., None], *args: object
    ) -> None:
        if call.timer:
            call.timer.cancel()
        call.timer = self._loop.call_later(delay_s, act, *args)

    def _stop(self, call: Call, kind: StopKind) -> None:
        """Cancel the call's task; its result stands at the latest after the grace."""
        if call.settled or call.raw is not None or call.stop is not None:
            return
        call.stop = stopped(
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
            self._set_timer(call, grace, self._returned, call, call.stop)
        if call.task:
            call.task.cancel()

    def _abort_siblings(self, failed: Call, tool: AnyTool) -> None:
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


def _read_only(call: Call) -> bool:
    return call.tool is None or call.tool.read_only


def judged_text(output: ToolOutput) -> str:
    """Return what makes two results of a call alike."""
    return f"{output.is_error}{output.content}"


def place_of(feed: Feed) -> Place:
    """Return what hooks are told of where a call happens."""
    return Place(feed.session_id, feed.turn_id, feed.agent)


async def tell(feed: Feed, notices: Sequence[str]) -> None:
    """Tell people what hooks could not do."""
    for text in notices:
        await feed.emit(feed.stamp(Notice, level="warning", text=text))
