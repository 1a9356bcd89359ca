"""The agent: a user's message in, model and tools in turn, a checked answer out.

Everything is committed before it is shown, and calls are committed before they run, so after a
crash nothing acknowledged is lost and nothing is done twice. The loop itself is in `agent.turn`.
"""

import asyncio
import uuid
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from nuncius.agent.conversation import Conversations
from nuncius.agent.executor import Limits
from nuncius.agent.locks import ResourceLocks
from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.ports import AnswerFinisher, Asker, Journal, Listener
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.streaming import Clock, RetryPolicy
from nuncius.agent.tool import ToolOutput
from nuncius.agent.turn import ToolUse, Turn, TurnResult
from nuncius.core.errors import UsageError
from nuncius.core.events import PermissionMode
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
        degraded: What answers must say of the whole set-up, beside the model's own limits.
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
        self.agent = agent
        self._new_id = new_id
        self.conversations = Conversations(journal, agent)

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

        It is journaled as a turn of its own, without messages.
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
