"""Reads one reply of a model: deltas are gathered and committed, a failed stream is tried again."""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass

from nuncius.agent.cancellation import Cancellation
from nuncius.agent.fallback import WithFallback, in_force
from nuncius.agent.feed import Feed
from nuncius.core.errors import ContextOverflowError, EmptyReplyError, ModelError, StreamCutError
from nuncius.core.events import AttemptReset, Notice, TextDelta, ThinkingDelta
from nuncius.core.text import clean
from nuncius.llm.model import ChatModel, Completion, ModelRequest, TextChunk, ThinkingChunk

log = logging.getLogger(__name__)
DELTA_SECONDS = 0.05
DELTA_CHARACTERS = 1_000
Delta = type[TextDelta] | type[ThinkingDelta]


class CancelledTurn(Exception):  # noqa: N818  (an outcome, not a fault)
    """The user ended the turn while the model spoke.

    Attributes:
        text: What had come of this step.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__("cancelled")
        self.text = text


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How a failed model call is tried again.

    Attributes:
        attempts: Calls in all.
        base_s, cap_s: The wait before try n+1 is drawn from 0 to ``min(cap_s, base_s * 2**n)``;
            a provider's Retry-After is a lower bound.
        empty_attempts: Calls in all where a model says nothing.
        fallback_after: Failed calls after which another model steps in, where there is one.
    """

    attempts: int = 5
    base_s: float = 0.5
    cap_s: float = 30.0
    empty_attempts: int = 2
    fallback_after: int = 3

    def delay_s(self, failures: int, error: ModelError, draw: Callable[[], float]) -> float:
        """Return the wait after the n-th failure, in seconds; `draw` gives 0 to 1."""
        jitter = draw() * min(self.cap_s, self.base_s * 2 ** (failures - 1))
        return jitter + (error.retry_after_s or 0.0)

    def again(self, failures: int, error: ModelError) -> bool:
        """Tell whether to try once more after `failures` failures."""
        if isinstance(error, EmptyReplyError):
            return failures < self.empty_attempts
        return error.retryable and failures < self.attempts

    def gives_up(self, failures: int, error: ModelError) -> bool:
        """Tell whether another model shall step in: only for what may pass, never a refusal."""
        if not error.retryable or isinstance(error, ContextOverflowError):
            return False
        return failures >= self.fallback_after or not self.again(failures, error)


@dataclass(frozen=True, slots=True)
class Clock:
    """Time and chance, to be replaced in tests."""

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    draw: Callable[[], float] = random.random


async def read_reply(
    model: ChatModel,
    request: ModelRequest,
    feed: Feed,
    cancellation: Cancellation,
    *,
    policy: RetryPolicy,
    clock: Clock,
) -> Completion:
    """Return the model's whole reply, having shown it piece by piece.

    Nothing runs while a reply streams, so trying again can do nothing twice. A model that stays
    overloaded is replaced by its fallback, where it has one, for the rest of the turn.

    Raises:
        ModelError: It failed for good; `partial` holds what had come.
        KeyMissingError: No key, or it was refused.
        CancelledTurn: The user ended the turn.
    """
    failures = 0
    while True:
        attempt = _Attempt(feed)
        try:
            return await attempt.read(in_force(model, feed.turn_id), request, cancellation)
        except ModelError as error:
            failures += 1
            if policy.gives_up(failures, error) and await _fall_back(model, feed, error, failures):
                failures = 0
                continue
            if not policy.again(failures, error):
                if failures > 1:
                    error.message += f", after {failures} tries."
                raise
            delay_s = policy.delay_s(failures, error, clock.draw)
            log.warning("model call failed (%s), next try in %.1f s", error.reason, delay_s)
            await feed.emit(
                feed.stamp(AttemptReset, reason=f"{error.reason}; next try in {delay_s:.1f} s")
            )
            if not await cancellation.first(_sleep(clock, delay_s)):
                raise CancelledTurn from error


async def _fall_back(model: ChatModel, feed: Feed, error: ModelError, failures: int) -> bool:
    """Let the fallback step in and say so; return whether there is one that did not serve yet."""
    if not isinstance(model, WithFallback) or model.in_force(feed.turn_id) is model.second:
        return False
    model.fall_back(feed.turn_id)
    tries = f"{failures} tries" if failures > 1 else "one try"
    text = f"{model.first.name} failed in {tries} ({error.reason})."
    log.warning("%s %s steps in.", text, model.second.name)
    await feed.emit(
        feed.stamp(AttemptReset, reason=f"{error.reason}; {model.second.name} steps in"),
        feed.stamp(
            Notice,
            level="warning",
            text=clean(f"{text} The turn goes on with {model.second.name}."),
        ),
    )
    return True


async def _sleep(clock: Clock, delay_s: float) -> None:
    await clock.sleep(delay_s)


class _Attempt:
    """One stream. A task reads it; deltas wait at most 50 ms or 1,000 characters."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._pieces: list[tuple[Delta, str]] = []
        self._size = 0
        self._timer: asyncio.TimerHandle | None = None
        self._text: list[str] = []

    async def read(
        self, model: ChatModel, request: ModelRequest, cancellation: Cancellation
    ) -> Completion:
        reader = asyncio.create_task(self._read(model, request))
        reader.add_done_callback(lambda _: self._wake.set())
        undo = cancellation.add(reader.cancel)
        try:
            while not reader.done():
                await self._wake.wait()
                self._wake.clear()
                await self._flush()
            await self._flush()
            if reader.cancelled() and cancellation.requested:
                raise CancelledTurn("".join(self._text))
            return reader.result()
        finally:
            undo()
            if self._timer:
                self._timer.cancel()
            if not reader.done():
                reader.cancel()
                await asyncio.wait((reader,))

    async def _read(self, model: ChatModel, request: ModelRequest) -> Completion:
        stream = model.stream(request)
        try:
            async for chunk in stream:
                if isinstance(chunk, Completion):
                    return chunk
                if isinstance(chunk, TextChunk):
                    self._text.append(chunk.text)
                    self._add(TextDelta, chunk.text)
                elif isinstance(chunk, ThinkingChunk):
                    self._add(ThinkingDelta, chunk.text)
        finally:
            if isinstance(stream, AsyncGenerator):  # its connection closes now, not when collected
                await stream.aclose()
        raise StreamCutError(model.name, "", "the stream had no completion", retryable=True)

    def _add(self, kind: Delta, text: str) -> None:
        text = clean(text)
        if not text:
            return
        self._pieces.append((kind, text))
        self._size += len(text)
        if self._size >= DELTA_CHARACTERS:
            self._wake.set()
        elif self._timer is None:
            self._timer = self._loop.call_later(DELTA_SECONDS, self._wake.set)

    async def _flush(self) -> None:
        """Commit what has gathered, one event for each run of one kind."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        pieces, self._pieces, self._size = self._pieces, [], 0
        runs: list[tuple[Delta, list[str]]] = []
        for kind, text in pieces:
            if not runs or runs[-1][0] is not kind:
                runs.append((kind, []))
            runs[-1][1].append(text)
        if runs:
            await self._feed.emit(
                *(self._feed.stamp(kind, text="".join(texts)) for kind, texts in runs)
            )
