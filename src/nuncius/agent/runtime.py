"""The agent: a user's message in, model and tools in turn, a checked answer out.

Everything is committed before it is shown, and calls are committed before they run, so after a
crash nothing acknowledged is lost and nothing is done twice. The loop itself is in `agent.turn`.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from nuncius.agent.compaction import Window
from nuncius.agent.context import Budget, Price, Size, TokenMeter
from nuncius.agent.conversation import Conversations
from nuncius.agent.delegation import Delegation, DelegationLimits
from nuncius.agent.executor import Limits
from nuncius.agent.hook_chain import Hooks
from nuncius.agent.hooks import Hook
from nuncius.agent.locks import ResourceLocks
from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.ports import (
    AnswerFinisher,
    Asker,
    Journal,
    Listener,
    OutputKeeper,
    Patience,
    PendingRequests,
    for_ever,
)
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.sharing import SharedLeases
from nuncius.agent.streaming import Clock, RetryPolicy
from nuncius.agent.tool import Delegate, ToolOutput
from nuncius.agent.turn import ToolUse, Turn, TurnResult
from nuncius.core.errors import UsageError
from nuncius.core.events import PermissionMode
from nuncius.core.messages import Usage
from nuncius.core.text import clean
from nuncius.llm.model import ChatModel

T = TypeVar("T")
MAX_STEPS = 50


class Runtime:
    """Runs turns of any session of one journal, one at a time for each session.

    Args:
        registry: Frozen from here on, so that the prompt's prefix stays byte-equal.
        listeners: Told of each event after its commit; one that fails is dropped.
        asker: Who decides permission questions; None: an ask is a deny.
        locks: Shared by all runtimes of a process that touch the same things.
        pending: Where answers that came elsewhere, or late, are found.
        patience: How long a question to the user waits.
        subagent_prompt: What a subagent is told beside the system prompt.
        hooks: The user's own code around each call, in this order.
        keeper: Where outputs go that are too long; None: they are cut.
        degraded: What answers must say of the whole set-up, beside the model's own limits.
        context_tokens: The model's window; None: it has none, and nothing is ever compressed.
        budget: What a session may use; `spent` tells what it has used so far.
        prices: What models cost, by name, as far as that is known.
        standing: What the main agent must be told again after a compaction, one text for each
            thing: the todo list, what runs in the background.
    """

    def __init__(
        self,
        model: ChatModel,
        registry: ToolRegistry,
        journal: Journal,
        permissions: PermissionChecker,
        finisher: AnswerFinisher,
        *,
        system_prompt: str,
        listeners: Iterable[Listener] = (),
        asker: Asker | None = None,
        locks: ResourceLocks | None = None,
        limits: Limits | None = None,
        retry: RetryPolicy | None = None,
        clock: Clock | None = None,
        max_output_tokens: int | None = None,
        thinking_budget: int | None = None,
        degraded: Sequence[str] = (),
        hooks: Iterable[Hook] = (),
        keeper: OutputKeeper | None = None,
        pending: PendingRequests | None = None,
        patience: Patience = for_ever,
        subagent_prompt: str = "",
        delegation_limits: DelegationLimits | None = None,
        context_tokens: int | None = None,
        budget: Budget | None = None,
        spent: Callable[[str], Awaitable[Usage]] | None = None,
        prices: Mapping[str, Price] | None = None,
        standing: Callable[[str], Awaitable[Sequence[str]]] | None = None,
        agent: str = "main",
        new_id: Callable[[], str] = lambda: f"turn_{uuid.uuid4().hex[:16]}",
    ) -> None:
        self.model = model
        self.registry = registry
        self.journal = journal
        self.permissions = permissions
        self.finisher = finisher
        self.system_prompt = system_prompt
        self.listeners = list(listeners)
        self.asker = asker
        self.locks = locks or ResourceLocks()
        self.limits = limits or Limits()
        self.retry = retry or RetryPolicy()
        self.clock = clock or Clock()
        self.max_output_tokens = max_output_tokens
        self.thinking_budget = thinking_budget
        self.degraded = tuple(degraded)
        self.hooks = Hooks(hooks)
        self.keeper = keeper
        self.window = Window.of(context_tokens, max_output_tokens) if context_tokens else None
        self.meters: dict[str, TokenMeter] = {}
        """What was learned of each model's tokens."""
        self.measured: tuple[object, Size] | None = None
        """System prompt and tool definitions, and what they weigh together."""
        self.budget = budget or Budget()
        self.spent = spent
        self.prices = prices or {}
        self.standing = standing
        self.pending = pending
        self.patience = patience
        self.subagent_prompt = subagent_prompt
        self.delegation_limits = delegation_limits or DelegationLimits()
        self.agent = agent
        self._new_id = new_id
        self.conversations = Conversations(journal, agent)
        self.shared_leases = SharedLeases(journal, agent)

    def delegation(self, turn: Turn) -> Delegate | None:
        """Return what starts the turn's subagents; a subagent has none of its own."""
        return Delegation(turn, self) if self.delegation_limits.depth > 0 else None

    def compress(self, session_id: str, focus: str = "") -> None:
        """Have the session compressed before its next model call, keeping above all `focus`."""
        self.conversations.asked[session_id] = focus

    async def run_turn(
        self,
        session_id: str,
        question: str,
        *,
        mode: PermissionMode | None = None,
        max_steps: int = MAX_STEPS,
        enable_thinking: bool = False,
        cancel: asyncio.Event | None = None,
    ) -> TurnResult:
        """Answer one message of the user's.

        Whatever happens inside the turn ends in a result. Cancelling the task that awaits this
        cancels the turn as `cancel` does.

        Raises:
            UsageError: The question is empty.
            SessionBusyError: A turn of this session is running.
            StoreError: The journal cannot be written.
        """
        question = clean(question).strip()
        if not question:
            raise UsageError("The question is empty.", hint="Ask something.")
        cancel = cancel or asyncio.Event()
        turn = Turn(
            self,
            session_id,
            self._new_id(),
            question,
            mode=mode or self.permissions.mode,
            max_steps=max_steps,
            enable_thinking=enable_thinking,
            cancel=cancel,
        )
        return await _finish_even_if_cancelled(turn.run(), cancel)

    async def run_call(
        self,
        session_id: str,
        name: str,
        arguments: str,
        *,
        mode: PermissionMode | None = None,
        cancel: asyncio.Event | None = None,
    ) -> ToolOutput:
        """Run one call through the whole executor, as a model's call would go.

        It is journaled as a turn of its own, without messages. Several calls of a session may run
        at once, though none beside a turn of it.

        Raises:
            SessionBusyError: A turn of this session is running.
        """
        cancel = cancel or asyncio.Event()
        turn = Turn(
            self,
            session_id,
            self._new_id(),
            f"tool {name}",
            mode=mode or self.permissions.mode,
            max_steps=1,
            enable_thinking=False,
            cancel=cancel,
        )
        return await _finish_even_if_cancelled(turn.run_call(name, arguments), cancel)


async def _finish_even_if_cancelled(turn: Coroutine[Any, Any, T], cancel: asyncio.Event) -> T:
    """Await `turn`; if the waiting is cancelled, cancel the turn and let it close its books."""
    task = asyncio.create_task(turn)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        cancel.set()
        try:
            await asyncio.wait((task,))
        finally:
            task.cancel()
        raise


__all__ = ["MAX_STEPS", "Runtime", "ToolUse", "TurnResult"]
