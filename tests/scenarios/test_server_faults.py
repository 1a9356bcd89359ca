"""What goes wrong at the model's server, and how the turn ends; over a loopback socket."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.parts import Look
from llm.strict_provider import Answer, Step, StrictProvider, chunks, faults, whole
from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.runtime import Runtime
from nuncius.agent.streaming import Clock, RetryPolicy
from nuncius.cli.replay import faults as faults_of_record
from nuncius.core.events import AttemptReset, Event, ToolResultEvent
from nuncius.library.answer import Finisher
from nuncius.llm.openai import Deadlines, OpenAIModel
from nuncius.store import open_store
from nuncius.store.protocols import Store
from nuncius.walls.network import Network


class Talk:
    """A runtime whose model is behind a server on loopback; waits are noted, not waited."""

    def __init__(
        self, store: Store, provider: StrictProvider, network: Network, **how: Any
    ) -> None:
        self.store = store
        self.provider = provider
        self.waited: list[float] = []
        deadlines = Deadlines(idle_s=0.3, total_s=10, after_end_s=0.2)
        model = OpenAIModel(network, base_url=provider.url, model="m", deadlines=deadlines)
        self.runtime = Runtime(
            model,
            ToolRegistry([Look()]),
            store.journal,
            PermissionChecker(store.desk),
            Finisher(store),
            system_prompt="Do as told.",
            clock=Clock(sleep=self._sleep, draw=lambda: 1.0),
            **how,
        )

    async def _sleep(self, seconds: float) -> None:
        self.waited.append(seconds)

    async def sound(self, session_id: str) -> Sequence[Event]:
        """Hold the record and the requests to what is promised; return the events."""
        events = await self.store.journal.events(session_id)
        assert faults_of_record(events, await self.store.journal.messages(session_id)) == []
        assert self.provider.refusals == []
        for request in self.provider.requests:
            assert faults(request["messages"]) == []
        return events


@asynccontextmanager
async def talking(folder: Path, *steps: Step, **how: Any) -> AsyncGenerator[tuple[Talk, str]]:
    store = await open_store(folder, folder / "nuncius.db")
    try:
        async with StrictProvider.serving(steps) as provider:
            network = Network(trusted_hosts=[provider.url])
            try:
                session = await store.journal.create_session(mode="auto")
                yield Talk(store, provider, network, **how), session.id
            finally:
                await network.aclose()
    finally:
        await store.close()


OK = whole({"content": "It is done."})
BUSY = Answer(b"slow", status=429, headers={"retry-after": "2"})
DOWN = Answer(b"down", status=500)
CUT_TEXT = Answer(chunks({"content": "The radius is "}, finish=None, done=False))
HANGS = Answer(CUT_TEXT.body, hang=True)
CUT_CALL = Answer(
    chunks(
        {"content": "I look."},
        {
            "tool_calls": [
                {"index": 0, "id": "x", "function": {"name": "look", "arguments": '{"wo'}}
            ]
        },
        finish=None,
        done=False,
    )
)
NOT_UTF8 = b'data: {"choices": [{"index": 0, "delta": {"content": "caf\xff"}}]}\n\n' + OK
UNKNOWN = b'event: surprise\ndata: {"choices": [], "object": "what.is.this"}\n\n' + OK
HTML = Answer(b"<html><body><h1>Sign in</h1></body></html>", content_type="text/html")
EMPTY = Answer(b'data: {"choices": []}\n\ndata: [DONE]\n\n')
LONG_LINE = Answer(b'data: {"choices": [{"delta": {"content": "' + b"x" * 10_000_000)


async def test_a_server_that_asks_to_wait_is_waited_for_and_the_user_sees_it(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path, BUSY, OK) as (talk, session_id):
        result = await talk.runtime.run_turn(session_id, "Why?")
        events = await talk.sound(session_id)
    assert result.status == "completed"
    assert len(talk.waited) == 1
    assert talk.waited[0] >= 2
    (seen,) = [event.reason for event in events if isinstance(event, AttemptReset)]
    assert "next try in 2.5 s" in seen


async def test_a_server_that_stays_busy_is_given_up_with_the_number_of_tries(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path, *[BUSY] * 5, OK) as (talk, session_id):
        result = await talk.runtime.run_turn(session_id, "Why?")
        assert result.status == "failed"
        assert "after 5 tries" in result.error
        again = await talk.runtime.run_turn(session_id, "And now?")
        await talk.sound(session_id)
    assert again.status == "completed"


@pytest.mark.parametrize(
    ("steps", "asked"),
    [
        ([DOWN, DOWN, OK], 3),
        ([CUT_TEXT, OK], 2),
        ([NOT_UTF8], 1),
        ([UNKNOWN], 1),
        ([EMPTY, OK], 2),
    ],
    ids=["500 twice", "cut", "no UTF-8", "unknown event", "empty choices"],
)
async def test_what_may_pass_ends_in_an_answer(
    tmp_path: Path, steps: list[Step], asked: int
) -> None:
    async with talking(tmp_path, *steps) as (talk, session_id):
        result = await talk.runtime.run_turn(session_id, "Why?")
        await talk.sound(session_id)
    assert result.status == "completed", result.error
    assert len(talk.provider.requests) == asked
    assert result.answer is not None
    assert result.answer.text.endswith("It is done.")


@pytest.mark.parametrize(
    ("steps", "asked", "says", "kept"),
    [
        ([HTML, OK], 1, "Sign in", ""),
        ([EMPTY, EMPTY, OK], 2, "without text and without calls", ""),
        ([LONG_LINE, OK], 1, "", ""),
        ([HANGS, HANGS, OK], 2, "no sign of life", "The radius is\n\n[cut off here]"),
        ([CUT_TEXT, CUT_TEXT, OK], 2, "", "The radius is\n\n[cut off here]"),
        ([CUT_CALL, CUT_CALL, OK], 2, "", "I look.\n\n[cut off here]"),
    ],
    ids=["HTML", "empty choices", "10 MB line", "hangs", "cut", "cut in a call"],
)
async def test_what_does_not_pass_is_no_answer_and_the_next_turn_goes_on(
    tmp_path: Path, steps: list[Step], asked: int, says: str, kept: str
) -> None:
    async with talking(tmp_path, *steps, retry=RetryPolicy(attempts=2)) as (talk, session_id):
        result = await talk.runtime.run_turn(session_id, "Why?")
        assert (result.status, result.answer) == ("failed", None)
        assert says in result.error
        assert len(result.error) < 2_000
        assert len(talk.provider.requests) == asked
        again = await talk.runtime.run_turn(session_id, "And now?")
        assert again.status == "completed", again.error
        events = await talk.sound(session_id)
        rows = [row.message for row in await talk.store.journal.messages(session_id)]
    partial = [row.content for row in rows if row.role == "assistant"][:-1]
    assert partial == ([kept] if kept else [])
    ended = [event.error_kind for event in events if isinstance(event, ToolResultEvent)]
    assert ended == (["interrupted"] if steps[0] is CUT_CALL else [])


async def test_nobody_listening_is_told_within_ten_seconds(tmp_path: Path) -> None:
    async with talking(tmp_path) as (talk, session_id):
        network = Network(trusted_hosts=[talk.provider.url])
        async with StrictProvider.serving([]) as gone:
            url = gone.url
        network = Network(trusted_hosts=[url])
        talk.runtime.model = OpenAIModel(network, base_url=url, model="m")
        result = await talk.runtime.run_turn(session_id, "Why?")
        await network.aclose()
    assert result.status == "failed"
    assert "cannot be reached" in result.error
    assert sum(talk.waited) < 10  # the longest that chance can make of it
