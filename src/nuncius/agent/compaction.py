"""Makes room in the model's view of a conversation; the journal keeps every message.

Before each model call: where the view has grown, old tool outputs give way to stubs in one batch
(`micro`); where the next reply may not fit, all but the newest messages give way to a summary that
the model writes (`auto`, or `manual` when it was asked for). What a compaction must free is a tenth
of the view, or it counts as failed; after three failures in a row the turn ends and names what
cannot be made smaller.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from typing_extensions import override

from nuncius.agent.cancellation import Cancellation
from nuncius.agent.context import (
    Counted,
    Size,
    TokenMeter,
    clip,
    measure,
    measure_message,
    measure_tools,
)
from nuncius.agent.conversation import COMPACTION, Conversation, Line, Mask, Rewrite
from nuncius.agent.fallback import in_force
from nuncius.agent.feed import Feed
from nuncius.agent.ports import Journal
from nuncius.agent.streaming import CancelledTurn, RetryPolicy, read_reply
from nuncius.agent.tool import ReadState
from nuncius.agent.transcript import (
    NOTE,
    groups,
    is_placeholder,
    outline,
    placeholder,
    transcript,
)
from nuncius.core.errors import ContextOverflowError, ModelError, NunciusError
from nuncius.core.events import Compaction, Event, Notice
from nuncius.core.messages import Message, StoredMessage, Usage
from nuncius.core.text import clean
from nuncius.llm.model import ModelRequest

if TYPE_CHECKING:
    from nuncius.agent.runtime import Runtime

log = logging.getLogger(__name__)
Kind = Literal["auto", "manual"]

LEAST_FREED = 0.1
"""A compaction that frees less than this share has failed."""
MOST_FAILURES = 3
MASK_FROM = 0.6
"""Share of the limit from which on old outputs are masked: earlier, room is worth less than them."""
PROTECTED, WORTH_MASKING = 40_000, 20_000
"""Tokens of the newest outputs that are never masked, and tokens that one batch must free."""
TAIL, USER_WORDS, SUMMARY = 20_000, 20_000, 4_096
"""Tokens of the newest messages, of the user's own words, and of the summary, that stay; less in
small windows."""
SHORTEST_OUTPUT = 100
"""Tokens of an output below which a stub in its place frees nothing."""
FILES_LISTED = 20
PATIENCE = RetryPolicy(attempts=2)
"""A summary is not worth minutes of waiting: the oldest messages can be dropped instead."""


@dataclass(frozen=True, slots=True)
class Window:
    """What the model can read at once: `tokens`, of which `reserve` are kept for its reply."""

    tokens: int
    reserve: int

    @classmethod
    def of(cls, tokens: int, max_output_tokens: int | None) -> "Window":
        """Keep room for one reply, but at most a quarter of the window."""
        return cls(tokens, min(max_output_tokens or tokens, tokens // 4))

    @property
    def limit(self) -> int:
        """Return how long a request may be, in tokens."""
        return self.tokens - self.reserve

    def part(self, wanted: int, share: int) -> int:
        """Return `wanted` tokens, or that share of the limit where it is less."""
        return min(wanted, self.limit // share)


class Compactor:
    """Keeps one turn's requests within the model's window.

    Args:
        spend: Told of each model call made here; returns the event for it.
        may_spend: Raises where the budget is used up.
    """

    def __init__(
        self,
        runtime: "Runtime",
        conversation: Conversation,
        feed: Feed,
        cancellation: Cancellation,
        *,
        spend: Callable[[Usage], Event],
        may_spend: Callable[[], Awaitable[None]],
    ) -> None:
        self._runtime = runtime
        self._conversation = conversation
        self._feed = feed
        self._cancellation = cancellation
        self._spend = spend
        self._may_spend = may_spend

    # --- what the turn calls ---

    async def make_room(self) -> None:
        """Mask or compress as far as the next model call needs it, or as it was asked for.

        Raises:
            NunciusError: Compaction has failed three times in a row.
            CancelledTurn: The user ended the turn.
        """
        window = self._window()
        if window is None:
            return
        focus = self._runtime.conversations.asked.pop(self._feed.session_id, None)
        if focus is not None:
            await self._compress(window, "manual", focus)
        if self.tokens() >= MASK_FROM * window.limit:
            await self._mask(window)
        if self.tokens() < window.limit:
            return
        if self._conversation.failures < MOST_FAILURES:
            await self._compress(window, "auto")
        if self._conversation.failures >= MOST_FAILURES:
            raise self._stuck(window)

    async def after_overflow(self) -> bool:
        """Compress because the provider found the request too long; return whether it helped."""
        if self._runtime.window is None:
            return False
        self._meter.overflowed(self.size())
        window = self._window()
        return window is not None and await self._compress(window, "auto")

    def size(self) -> Size:
        """Return the estimated size of the next request; nothing where the model has no window."""
        if self._runtime.window is None:
            return Size()
        return self._base() + self._conversation.size()

    def tokens(self) -> int:
        """Return the tokens of the next request."""
        return self._meter.tokens(self.size(), self._counted())

    def learn(self, size: Size, usage: Usage) -> None:
        """Take what the provider counted for a request of this size."""
        if self._runtime.window is None or usage.input_tokens <= 0:
            return
        counted = Counted(size, usage.input_tokens, self._serving)
        self._meter.learn(counted, self._counted())
        self._conversation.counted = counted

    # --- masking ---

    async def _mask(self, window: Window) -> None:
        """Put stubs in place of old outputs, if enough of them are old."""
        conversation, before = self._conversation, self.tokens()
        if before < conversation.masked_at:
            return
        conversation.masked_at = before + window.part(WORTH_MASKING, 8) // 4
        masks, freed = self._old_outputs(window)
        if freed < window.part(WORTH_MASKING, 8):
            return
        text = f"{len(masks)} old tool outputs are left out of the model's view."
        done = self._done("micro", before, before - freed, "masked")
        await self._commit(Rewrite(masks=tuple(masks)), text, done)

    def _old_outputs(self, window: Window) -> tuple[list[Mask], int]:
        """Return stubs for the outputs beyond the protected ones, and the tokens they free."""
        messages, sizes = self._conversation.messages, self._conversation.sizes()
        registry, meter = self._runtime.registry, self._meter
        calls = {call.id: call for message in messages for call in message.tool_calls}
        newest = (groups(messages) or [0])[-1]
        protected, seen, freed = window.part(PROTECTED, 4), 0, 0
        masks: list[Mask] = []
        for at in range(newest - 1, -1, -1):
            message = messages[at]
            tool = registry.get(message.name) if message.role == "tool" else None
            if message.role != "tool" or is_placeholder(message.content):
                continue
            if tool is not None and tool.lasting:
                continue
            tokens = meter.tokens(sizes[at])
            seen += tokens
            if seen <= protected or tokens < SHORTEST_OUTPUT:
                continue
            text = placeholder(
                message,
                calls.get(message.tool_call_id),
                tool,
                path=self._conversation.kept.get(message.tool_call_id, ""),
            )
            masks.append(Mask(back=len(messages) - at, text=text))
            freed += tokens - meter.tokens(measure(text))
        return masks, freed

    # --- compressing ---

    async def _compress(self, window: Window, kind: Kind, focus: str = "") -> bool:
        """Put a summary in place of the older messages; return whether that freed enough."""
        before = self.tokens()
        cut = self._cut(window, before)
        events: list[Event] = []
        if cut is not None:
            await self._may_spend()
            summary, events = await self._summarise(window, cut, focus)
            outcome = "summarised" if summary else "dropped"
            summary = summary or outline(self._conversation, cut)
            rewrite = Rewrite(
                head=tuple(await self._head(window, cut, summary)),
                tail=len(self._conversation.messages) - cut,
            )
            after = self._tokens_of(rewrite)
            if after <= (1 - LEAST_FREED) * before:
                done = self._done(kind, before, after, outcome)
                await self._commit(rewrite, summary, *events, done)
                self._conversation.failures = 0
                return True
        if kind == "auto":
            self._conversation.failures += 1
        await self._feed.emit(*events, self._done(kind, before, before, "too_little"))
        return False

    def _done(self, kind: str, before: int, after: int, outcome: str) -> Compaction:
        return self._feed.stamp(
            Compaction, kind=kind, tokens_before=before, tokens_after=after, outcome=outcome
        )

    def _cut(self, window: Window, before: int) -> int | None:
        """Return where the messages begin that stay; None where no cut frees enough."""
        conversation, meter = self._conversation, self._meter
        sizes = conversation.sizes()
        for most in (window.part(TAIL, 4), 0):
            cut = self._start_of_tail(most)
            if cut <= conversation.head:
                continue
            kept = [measure(text) for text in self._users(window, cut)]
            rest = sum((*sizes[cut:], *kept), self._base())
            if meter.tokens(rest) <= (1 - LEAST_FREED) * before:
                return cut
        return None

    def _start_of_tail(self, most: int) -> int:
        """Return where the newest groups begin that have `most` tokens together, or the last one."""
        sizes = self._conversation.sizes()
        cut, tail = len(sizes), Size()
        for start in reversed(groups(self._conversation.messages)):
            tail += sum(sizes[start:cut], Size())
            if cut < len(sizes) and self._meter.tokens(tail) > most:
                break
            cut = start
        return cut

    async def _summarise(self, window: Window, cut: int, focus: str) -> tuple[str, list[Event]]:
        """Return the model's summary of what goes, or nothing where it gives none."""
        runtime, most = self._runtime, window.part(SUMMARY, 6)
        prompt = files("nuncius.prompts").joinpath("summary.md").read_text(encoding="utf-8")
        room = window.limit - most - self._meter.tokens(measure(prompt))
        events: list[Event] = []
        for share in (1.0, 0.5, 0.25):
            text = transcript(self._conversation, cut, focus, self._fits(round(room * share)))
            request = ModelRequest(
                (Message("system", prompt), Message("user", text)), max_output_tokens=most
            )
            try:
                completion = await read_reply(
                    runtime.model,
                    request,
                    Unseen(runtime.journal, self._feed),
                    self._cancellation,
                    policy=PATIENCE,
                    clock=runtime.clock,
                )
            except CancelledTurn as stopped:  # its text is no part of the conversation
                raise CancelledTurn from stopped
            except ContextOverflowError:
                continue
            except ModelError as error:
                log.warning("no summary: %s", error.reason)
                break
            events.append(self._spend(completion.usage))
            if completion.message.tool_calls:
                log.warning("no summary: the model called a tool instead")
                break
            return clip(clean(completion.message.content).strip(), 8 * most), events
        return "", events

    def _fits(self, tokens: int) -> Callable[[Size], bool]:
        return lambda size: self._meter.tokens(size) <= tokens

    async def _head(self, window: Window, cut: int, summary: str) -> Sequence[Line]:
        """Return the new beginning: the first words of the user, the summary, the newest words."""
        first, *newest = self._users(window, cut) or [NOTE]
        facts = [f"Summary of the conversation so far:\n\n{summary}"]
        if self._runtime.standing is not None and self._feed.agent == "main":
            facts += await self._runtime.standing(self._feed.session_id)
        read = list(self._read_state().digests.items())[-FILES_LISTED:]
        if read:
            listed = "\n".join(f"- {path} (sha256 {digest[:12]})" for path, digest in read)
            facts.append(f"Files that I have read; their text is no longer in view:\n{listed}")
        lines = [Line(role="user", content=first)]
        lines.append(Line(role="assistant", content="\n\n".join(facts)))
        lines += [Line(role="user", content=text) for text in newest]
        if not newest and self._conversation.messages[cut].role == "assistant":
            # what the model said is never joined with the summary: its reasoning may be signed
            lines.append(Line(role="user", content=NOTE))
        return lines

    def _users(self, window: Window, cut: int) -> list[str]:
        """Return the user's words among what goes: the first message and the newest, as they fit."""
        meter = self._meter
        said = [
            (message.content, meter.tokens(size))
            for message, size in zip(
                self._conversation.messages[:cut], self._conversation.sizes(), strict=False
            )
            if message.role == "user" and message.content != NOTE
        ]
        if not said:
            return []
        room = window.part(USER_WORDS, 8)
        kept = [_shortened(*said[0], room // 2)]
        newest: list[str] = []
        for text, tokens in reversed(said[1:]):
            if newest and tokens > room:
                break
            newest.append(_shortened(text, tokens, room))
            room -= tokens
        return [*kept, *reversed(newest)]

    def _tokens_of(self, rewrite: Rewrite) -> int:
        messages = rewrite.applied(self._conversation.messages)
        size = sum(map(measure_message, messages), self._base())
        return self._meter.tokens(size)

    async def _commit(self, rewrite: Rewrite, text: str, *events: Event) -> None:
        """Write the change down, then make it; what was read before counts as unseen from now on."""
        stored = self._feed.stored(
            Message("system", text), metadata={COMPACTION: rewrite.model_dump(mode="json")}
        )
        await self._feed.emit(*events, messages=[stored])
        self._conversation.rewrite(rewrite, summary=text)
        self._conversation.masked_at = 0
        self._read_state().generation += 1
        self._read_state().shown.clear()

    def _read_state(self) -> ReadState:
        return self._runtime.conversations.read_state(self._feed.session_id)

    # --- limits ---

    def _window(self) -> Window | None:
        """Return the model's window; a smaller one where the provider refused what should fit."""
        window, ceiling = self._runtime.window, self._meter.ceiling
        if window is None or ceiling is None or ceiling >= window.tokens:
            return window
        return Window.of(ceiling * 9 // 10, self._runtime.max_output_tokens)

    @property
    def _serving(self) -> str:
        return in_force(self._runtime.model, self._feed.turn_id).name

    @property
    def _meter(self) -> TokenMeter:
        """Return what was learned of the model that serves now."""
        return self._runtime.meters.setdefault(self._serving, TokenMeter())

    def _counted(self) -> Counted | None:
        counted = self._conversation.counted
        return counted if counted is not None and counted.model == self._serving else None

    def _base(self) -> Size:
        """Return the estimated size of what every request begins with."""
        runtime = self._runtime
        beginning = (runtime.system_prompt, runtime.registry.definitions())
        if runtime.measured is None or runtime.measured[0] != beginning:
            runtime.measured = (beginning, measure(beginning[0]) + measure_tools(beginning[1]))
        return runtime.measured[1]

    def _stuck(self, window: Window) -> NunciusError:
        """Return the error that names what fills the window and cannot be made smaller."""
        meter, messages = self._meter, self._conversation.messages
        newest = (groups(messages) or [0])[-1]
        parts = {
            "system prompt": measure(self._runtime.system_prompt),
            "tool definitions": measure_tools(self._runtime.registry.definitions()),
            "last messages": sum(self._conversation.sizes()[newest:], Size()),
        }
        named = ", ".join(f"{name} {meter.tokens(size):,}" for name, size in parts.items())
        return NunciusError(
            f"The conversation does not fit the model: {self.tokens():,} tokens, and"
            f" {window.reserve:,} for the reply, where {window.tokens:,} are the most."
            f" {MOST_FAILURES} compactions in a row freed less than {LEAST_FREED:.0%}. What cannot"
            f" be made smaller, in tokens: {named}.",
            hint="Use a model with a longer context and set LLM_CONTEXT_TOKENS to its length, or"
            " start a new session and ask for less at once.",
        )


class Unseen(Feed):
    """Takes the deltas of a summary, which nobody is shown; what people must know goes through."""

    def __init__(self, journal: Journal, feed: Feed) -> None:
        super().__init__(
            journal, [], session_id=feed.session_id, turn_id=feed.turn_id, agent=feed.agent
        )
        self._shown = feed

    @override
    async def emit(
        self, *events: Event, messages: Sequence[StoredMessage] = (), durable: bool = False
    ) -> Sequence[Event]:
        """Commit and show notices; drop all else."""
        notices = [event for event in events if isinstance(event, Notice)]
        return await self._shown.emit(*notices) if notices else ()


def _shortened(text: str, tokens: int, most: int) -> str:
    """Return `text` cut to about `most` tokens where it has more."""
    return text if tokens <= most else clip(text, max(len(text) * most // tokens, 200))
