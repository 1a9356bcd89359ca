"""Runs the calls of one step: hooks, permission, write-ahead, dispatch, one result for each.

A result is committed before it is shown, in the order of finishing; the messages of the history
are stored in call order. Whatever a tool does, its call ends in exactly one result. How the calls
run, and what happens to an output before it is a result, is in `agent.step`.
"""

import asyncio
import functools
from collections.abc import Sequence
from dataclasses import replace

from nuncius.agent import loops
from nuncius.agent.arguments import Prepared, failure
from nuncius.agent.cancellation import Cancellation
from nuncius.agent.feed import Feed
from nuncius.agent.further import further
from nuncius.agent.hook_chain import Hooks
from nuncius.agent.locks import ResourceLocks
from nuncius.agent.outputs import denied, stopped
from nuncius.agent.permissions import PermissionChecker, digest
from nuncius.agent.ports import Asker, OutputKeeper
from nuncius.agent.step import Call, Finished, Limits, Step, judged_text, place_of, tell
from nuncius.agent.tool import ToolContext, ToolOutput
from nuncius.core.events import PermissionMode, ToolCallEvent


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
        hooks: Hooks | None = None,
        keeper: OutputKeeper | None = None,
    ) -> None:
        self._feed = feed
        self._permissions = permissions
        self._cancellation = cancellation
        self._context = context
        self._locks = locks
        self._asker = asker
        self._mode: PermissionMode = mode
        self._limits = limits or Limits()
        self._hooks = hooks or Hooks()
        self._keeper = keeper
        self._detector = loops.LoopDetector()

    @property
    def repeats(self) -> int:
        """Return how often the model has gone round the same circle; 1 for none."""
        return self._detector.repeats

    async def run(self, items: Sequence[Prepared], sources: Sequence[str] = ()) -> list[Finished]:
        """Run one step's calls and return their results in call order.

        Args:
            sources: Whose words the agent had read when it made the calls.
        """
        calls = [Call(item) for item in items]
        self._detector.begin(call.key for call in calls)
        for call in calls:
            self._refuse_repeat(call)
        await self._screen([call for call in calls if call.output is None])
        await self._permit([call for call in calls if call.output is None], sources)
        await self._feed.emit(
            *(
                self._feed.stamp(
                    ToolCallEvent,
                    id=call.item.call.id,
                    tool_call_id=call.item.call.id,
                    name=call.item.call.name,
                    arguments=call.item.value,
                    original=call.item.original,
                )
                for call in calls
            )
        )
        step = Step(
            calls,
            self._feed,
            locks=self._locks,
            limits=self._limits,
            context=self._context,
            judge=self._judge,
            hooks=self._hooks,
            keeper=self._keeper,
            permit=functools.partial(self._permit_further, sources),
        )
        undo = self._cancellation.add(step.cancel)
        try:
            await step.run()
        finally:
            undo()
            step.abandon()
        self._detector.end(counts=any(not call.polling for call in calls))
        return [call.finished() for call in calls]

    def _refuse_repeat(self, call: Call) -> None:
        """Refuse a side effect that has given one result too often; a read is tried once more."""
        if call.tool is None or call.tool.read_only or call.polling:
            return
        count = self._detector.expected(call.key)
        if count >= loops.REFUSE_AT:
            self._detector.skipped(call.key)
            call.output = _duplicate(count)

    async def _screen(self, calls: Sequence[Call]) -> None:
        """Let the user's hooks change or block the calls; permission judges what is left."""
        seen = [call for call in calls if call.tool and self._hooks.before(call.tool.name)]
        if not seen:
            return
        screening = asyncio.ensure_future(
            self._hooks.screen(
                [call.item for call in seen], place_of(self._feed), parallel=self._limits.parallel
            )
        )
        if not await self._cancellation.first(screening):
            for call in seen:
                call.output = stopped("cancelled", started=False, read_only=True)
            return
        for call, screened in zip(seen, screening.result(), strict=True):
            call.item, call.output = screened.item, screened.refusal
            call.contexts += screened.contexts
            await tell(self._feed, screened.notices)

    async def _permit(self, calls: Sequence[Call], sources: Sequence[str]) -> None:
        """Ask for all calls that may run; those that may not get their result."""
        asked = [call for call in calls if call.tool is not None]
        if not asked:
            return
        deciding = asyncio.ensure_future(
            self._permissions.decide(
                [call.item for call in asked],
                self._feed,
                self._asker,
                mode=self._mode,
                sources=sources,
            )
        )
        if not await self._cancellation.first(deciding):
            for call in asked:
                call.output = stopped("cancelled", started=False, read_only=True)
            return
        for call, decision in zip(asked, deciding.result(), strict=True):
            if not decision.allowed:
                call.output = denied(decision.what, decision.reason, asked=decision.asked)
            elif decision.asked and decision.args_sha256 != digest(call.item):
                call.output = failure(
                    "Not done: the arguments are not the ones that were approved.", kind="denied"
                )

    async def _permit_further(
        self, sources: Sequence[str], call: Call, subject: str, reason: str
    ) -> bool:
        """Ask for permission for what a running call has come to."""
        assert call.tool is not None
        item = further(call.item, call.tool, subject, reason)
        (decision,) = await self._permissions.decide(
            [item], self._feed, self._asker, mode=self._mode, sources=sources
        )
        return decision.allowed and decision.args_sha256 == digest(item)

    def _judge(self, call: Call, output: ToolOutput) -> ToolOutput:
        """Count alike results: a reminder at the third, a refusal from the fourth on."""
        if output.error_kind == "duplicate":
            return output
        unchanged = output.metadata.get("unchanged") is True
        text = call.fingerprint or judged_text(output)
        count = self._detector.count(call.key, text, unchanged=unchanged)
        if count < loops.REMIND_AT:
            return output
        if count >= loops.REFUSE_AT and not call.polling:
            return _duplicate(count)
        return replace(output, content=output.content + loops.REMINDER.format(count=count))


def _duplicate(count: int) -> ToolOutput:
    return failure(loops.REFUSAL.format(count=count), kind="duplicate", code="duplicate_call")


__all__ = ["Executor", "Finished", "Limits"]
