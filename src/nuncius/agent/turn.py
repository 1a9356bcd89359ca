"""One turn: the loop of model and tools, and how it opens and closes.

The user's message is committed before the model is asked, calls before they run, results before they
are shown. `turn_finished` is always the last event.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from nuncius.agent import loops
from nuncius.agent.arguments import Prepared, as_written, interrupted, prepare, refuse, truncated
from nuncius.agent.cancellation import Cancellation
from nuncius.agent.compaction import Compactor
from nuncius.agent.conversation import Conversation
from nuncius.agent.executor import Executor, Finished
from nuncius.agent.fallback import in_force, limits
from nuncius.agent.feed import Feed
from nuncius.agent.questions import Questions, late_answers
from nuncius.agent.recovery import recover, unanswered
from nuncius.agent.streaming import CancelledTurn, read_reply
from nuncius.agent.tool import ToolContext, ToolOutput
from nuncius.core.errors import (
    ConfidentialError,
    ContextOverflowError,
    ModelError,
    NunciusError,
    ToolError,
)
from nuncius.core.events import (
    AnswerEvent,
    Event,
    PermissionMode,
    TurnFinished,
    TurnStarted,
    TurnStatus,
    UsageEvent,
)
from nuncius.core.evidence import Answer
from nuncius.core.messages import Message, StoredMessage, ToolCall, ToolDefinition, Usage
from nuncius.core.text import clean
from nuncius.llm.model import Completion, ModelRequest

if TYPE_CHECKING:
    from nuncius.agent.runtime import Runtime

log = logging.getLogger(__name__)
READ_AGAIN = -1
"""No event has this number: the conversation is read from the journal."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One call as a summary shows it."""

    name: str
    is_error: bool
    duration_ms: int


@dataclass(frozen=True, slots=True)
class TurnResult:
    """How a turn ended.

    Attributes:
        answer: The checked answer, where the turn was completed.
        error: What went wrong, for a person; empty where nothing did.
        cause: The error itself; its `exit_code` is the command's.
    """

    status: TurnStatus
    turn_id: str
    answer: Answer | None = None
    usage: Usage = field(default_factory=Usage)
    tools: tuple[ToolUse, ...] = ()
    error: str = ""
    cause: BaseException | None = None


class BudgetReachedError(NunciusError):
    """The session has used what it may; the message says which limit and how to raise it."""

    exit_code = 6


class Turn:
    """One turn: its state, and the loop."""

    _call_mark = ""
    """Keeps made-up call ids of several agents of a turn apart."""

    def __init__(
        self,
        runtime: "Runtime",
        session_id: str,
        turn_id: str,
        question: str,
        *,
        mode: PermissionMode,
        max_steps: int,
        enable_thinking: bool,
        cancel: asyncio.Event,
    ) -> None:
        self._runtime = runtime
        self._question = question
        self._mode: PermissionMode = mode
        self._max_steps = max_steps
        self._thinking = enable_thinking
        self._cancellation = Cancellation(cancel)
        self._feed = Feed(
            runtime.journal,
            runtime.listeners,
            session_id=session_id,
            turn_id=turn_id,
            agent=runtime.agent,
        )
        self._executor = Executor(
            self._feed,
            runtime.permissions,
            self._cancellation,
            context=ToolContext(
                session_id,
                turn_id,
                agent=runtime.agent,
                silent=runtime.asker is None,
                enable_thinking=enable_thinking,
                read_state=runtime.conversations.read_state(session_id),
                compress=self._ask_compression if runtime.window else None,
                ask=Questions(
                    self._feed,
                    asker=runtime.asker,
                    pending=runtime.pending,
                    timeout_s=runtime.patience,
                ).ask,
                delegate=runtime.delegation(self),
            ),
            locks=runtime.locks,
            asker=runtime.asker,
            mode=mode,
            limits=runtime.limits,
            hooks=runtime.hooks,
            keeper=runtime.keeper,
        )
        self._conversation = Conversation()
        self._usage = Usage()
        self._tools: list[ToolUse] = []
        self._refused: list[str] = []
        self._answer: Answer | None = None

    # --- what a subagent shares ---

    @property
    def feed(self) -> Feed:
        """Return the turn's way to the journal and to the screens."""
        return self._feed

    @property
    def mode(self) -> PermissionMode:
        """Return who decides on acts."""
        return self._mode

    @property
    def enable_thinking(self) -> bool:
        """Tell whether the model reasons first."""
        return self._thinking

    @property
    def cancellation(self) -> Cancellation:
        """Return what ends the turn."""
        return self._cancellation

    @property
    def sources(self) -> Sequence[str]:
        """Return whose words the agent has read."""
        return tuple(self._conversation.sources)

    def count(self, usage: Usage, refused: Sequence[str]) -> None:
        """Add what a subagent used, and what it was refused."""
        self._usage += usage
        self._refused += [text for text in refused if text not in self._refused]

    # --- the loop ---

    async def run(self) -> TurnResult:
        """Hold the session, run the loop, and close the turn however the loop ended."""
        async with self._runtime.journal.lease(self._feed.session_id):
            await self._open()
            async with self._cancellation:
                status, error = await self._outcome()
            return await self._close(status, error)

    async def _converse(self) -> TurnStatus:
        """Ask the model and run its calls until it answers or something ends the turn."""
        for step in range(1, self._max_steps + 1):
            self._feed.step = step
            if (status := await self._step()) is not None:
                return status
        return "max_steps"

    async def _step(self) -> TurnStatus | None:
        """Ask the model once and run its calls; return how the turn ended, or None: it goes on."""
        completion = await self._ask_model()
        items = await self._take(completion)
        if not items:
            await self._finish(completion)
            return "completed"
        await self._execute(items)
        if self._cancellation.requested:
            return "cancelled"
        if self._executor.repeats >= loops.STOP_AT:
            return "loop_stopped"
        return None

    async def run_call(self, name: str, arguments: str) -> ToolOutput:
        """Run one call in a turn of its own."""
        async with self._runtime.shared_leases.hold(self._feed.session_id):
            await self._feed.emit(self._started(), durable=True)
            items = self._prepare((ToolCall("", name, arguments),))
            self._feed.step = 1
            status: TurnStatus = "failed"
            try:
                async with self._cancellation:
                    finished = await self._executor.run(items)
                status = "cancelled" if self._cancellation.requested else "completed"
                return finished[0].output
            finally:
                await self._feed.emit(self._feed.stamp(TurnFinished, status=status))

    # --- opening and closing ---

    def _started(self) -> TurnStarted:
        return self._feed.stamp(
            TurnStarted,
            message=self._question,
            model=self._runtime.model.name,
            mode=self._mode,
            enable_thinking=self._thinking,
        )

    async def _open(self) -> None:
        """Close what a crash left open, then accept the user's message for good."""
        session_id = self._feed.session_id
        await recover(self._runtime.journal, session_id, self._runtime.agent)
        late = await late_answers(self._runtime.pending, session_id, self._feed.turn_id)
        user = Message("user", self._question)
        started, *_ = await self._feed.emit(
            self._started(), messages=[*late, self._feed.stored(user)], durable=True
        )
        self._conversation = await self._runtime.conversations.take(
            session_id, user, seq=READ_AGAIN if late else started.seq
        )

    async def _outcome(self) -> tuple[TurnStatus, BaseException | None]:
        """Run the loop; return how it ended. Only a journal that cannot be written escapes."""
        try:
            return await self._converse(), None
        except CancelledTurn as stopped:
            await self._keep_partial(Message("assistant", stopped.text))
            return "cancelled", None
        except BudgetReachedError as error:
            return "budget", error
        except ModelError as error:
            if error.partial:
                await self._keep_partial(error.partial)
            return "failed", error
        except NunciusError as error:
            return "failed", error
        except asyncio.CancelledError as error:  # the event loop itself is being closed
            return "cancelled", error
        except Exception as error:
            log.exception("a turn broke")
            return "failed", error

    async def _close(self, status: TurnStatus, cause: BaseException | None) -> TurnResult:
        """Say how the turn ended: the answer, where there is one, and `turn_finished`."""
        error = {
            "max_steps": f"The turn reached its limit of {self._max_steps} steps.",
            "loop_stopped": "The model went round in a circle: same calls, same results.",
        }.get(status, "")
        if isinstance(cause, NunciusError):
            error = str(cause)
        elif isinstance(cause, Exception):
            error = f"The turn broke: {type(cause).__name__}: {cause}"
        events, messages = await self._left_open(cause)
        if self._answer is not None:
            events.append(self._feed.stamp(AnswerEvent, **_answer_fields(self._answer)))
        events.append(self._feed.stamp(TurnFinished, status=status, error=clean(error)[:2000]))
        await self._feed.emit(*events, messages=messages, durable=bool(messages))
        if status == "completed":
            self._runtime.conversations.keep(
                self._feed.session_id, self._conversation, seq=self._feed.last_seq
            )
        return TurnResult(
            status,
            self._feed.turn_id,
            self._answer,
            self._usage,
            tuple(self._tools),
            error,
            cause,
        )

    async def _left_open(
        self, cause: BaseException | None
    ) -> tuple[list[Event], list[StoredMessage]]:
        """Return results for the calls that a fault of ours left without one."""
        if cause is None:
            return [], []
        feed = self._feed
        return await unanswered(self._runtime.journal, feed.session_id, [feed.turn_id])

    # --- one step ---

    async def _ask_model(self) -> Completion:
        """Ask, with room made before; once more where the provider finds the request too long."""
        if self._conversation.confidential and not self._runtime.model.local:
            raise ConfidentialError(
                f"This session holds text of confidential papers, and the model"
                f" {self._runtime.model.name} is not on this machine.",
                hint="Go on with a local model (--model builtin), or ask in a new session.",
            )
        compactor = Compactor(
            self._runtime,
            self._conversation,
            self._feed,
            self._cancellation,
            spend=self._spend,
            may_spend=self._may_spend,
        )
        await compactor.make_room()
        await self._may_spend()
        try:
            return await self._request(compactor)
        except ContextOverflowError:
            if not await compactor.after_overflow():
                raise
        await self._may_spend()
        return await self._request(compactor)

    async def _request(self, compactor: Compactor) -> Completion:
        runtime, size = self._runtime, compactor.size()
        request = ModelRequest(
            (Message("system", runtime.system_prompt), *self._conversation.history.view()),
            self._offered(),
            max_output_tokens=runtime.max_output_tokens,
            enable_thinking=self._thinking,
            thinking_budget=runtime.thinking_budget,
        )
        completion = await read_reply(
            runtime.model,
            request,
            self._feed,
            self._cancellation,
            policy=runtime.retry,
            clock=runtime.clock,
        )
        compactor.learn(size, completion.usage)
        return completion

    def _spend(self, usage: Usage) -> UsageEvent:
        """Count a model call, with its cost where a price is known; return the event that tells."""
        serving = in_force(self._runtime.model, self._feed.turn_id)
        price = self._runtime.prices.get(serving.name)
        if usage.cost_usd is None and price is not None:
            usage = replace(usage, cost_usd=price.cost_usd(usage))
        self._usage += usage
        return self._feed.stamp(
            UsageEvent,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cached_tokens=usage.cached_tokens,
            reasoning_tokens=usage.reasoning_tokens,
            cost_usd=usage.cost_usd,
        )

    async def _may_spend(self) -> None:
        """Look whether another model call is within the budget.

        Raises:
            BudgetReachedError: It is not.
        """
        runtime = self._runtime
        if not runtime.budget:
            return
        spent = self._usage
        if runtime.spent is not None:  # the whole session, subagents that run now included
            spent = await runtime.spent(self._feed.session_id)
        if reason := runtime.budget.reached(spent):
            raise BudgetReachedError(reason)

    def _ask_compression(self, focus: str) -> None:
        if not self._conversation.messages:
            raise ToolError("There is no conversation here to compress.", kind="unavailable")
        self._runtime.compress(self._feed.session_id, focus)

    def _offered(self) -> Sequence[ToolDefinition]:
        return self._runtime.registry.definitions()

    async def _take(self, completion: Completion) -> list[Prepared]:
        """Judge the reply's calls and commit the message with them, before any of them runs."""
        calls = completion.message.tool_calls
        items = self._prepare(calls)
        if completion.finish in {"length", "content_filter"}:
            items = [refuse(item, truncated()) for item in items]
        message = replace(
            completion.message,
            content=clean(completion.message.content),
            tool_calls=tuple(item.call for item in items),
        )
        await self._feed.emit(
            self._spend(completion.usage),
            messages=[self._feed.stored(message, raw=completion.raw or as_written(items, calls))],
        )
        self._conversation.add(message)
        return items

    def _prepare(self, calls: Sequence[ToolCall]) -> list[Prepared]:
        return prepare(
            calls,
            self._runtime.registry,
            used_ids=self._conversation.history.ids,
            prefix=f"call_{self._feed.turn_id[-12:]}{self._call_mark}_{self._feed.step}",
        )

    async def _execute(self, items: Sequence[Prepared]) -> None:
        finished = await self._executor.run(items, tuple(self._conversation.sources))
        for result in finished:
            self._conversation.add_result(result.message(), result.output.metadata)
            self._note(result)

    def _note(self, result: Finished) -> None:
        output = result.output
        self._tools.append(ToolUse(result.item.call.name, output.is_error, result.duration_ms))
        if output.error_kind == "denied" and output.metadata.get("asked"):
            refused = f"not permitted: {output.metadata['refused']}"
            if refused not in self._refused:
                self._refused.append(refused)

    async def _finish(self, completion: Completion) -> None:
        """Turn the model's last text into the checked answer."""
        serving = limits(self._runtime.model, self._feed.turn_id)
        cut = {
            "length": "the model's output limit cut the answer",
            "content_filter": "the provider's content filter cut the answer",
        }.get(completion.finish, "")
        degraded = (*self._runtime.degraded, *serving, cut, *self._refused)
        self._answer = await self._runtime.finisher.finish(
            clean(completion.message.content),
            question=self._question,
            evidence=self._conversation.evidence,
            degraded=tuple(dict.fromkeys(text for text in degraded if text)),
        )

    async def _keep_partial(self, partial: Message) -> None:
        """Keep what a cut stream had said, marked; its calls never ran and say so."""
        if not partial.content.strip() and not partial.tool_calls:
            return
        items = [refuse(item, interrupted()) for item in self._prepare(partial.tool_calls)]
        text = clean(partial.content).rstrip()
        message = Message(
            "assistant",
            f"{text}\n\n[cut off here]" if text else "",
            tuple(item.call for item in items),
        )
        stored = self._feed.stored(message, metadata={"incomplete": True})
        await self._feed.emit(messages=[stored])
        self._conversation.add(message)
        if items:
            await self._execute(items)


def _answer_fields(answer: Answer) -> dict[str, Any]:
    return {
        "text": answer.text,
        "citations": answer.citations,
        "unsupported": answer.unsupported,
        "answered": answer.answered,
        "dropped_quotes": answer.dropped_quotes,
        "searched": answer.searched,
        "degraded": answer.degraded,
    }
