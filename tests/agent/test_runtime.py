"""A turn, from the user's message to `turn_finished`, whatever happens in between."""

import asyncio
import itertools
import logging
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from agent.doubles import ListJournal
from agent.parts import Act, Bench, Look, Word
from llm.strict_provider import faults
from nuncius.agent.executor import Limits
from nuncius.agent.streaming import Clock, RetryPolicy
from nuncius.agent.tool import ToolContext, ToolOutput
from nuncius.core.errors import KeyMissingError, ModelError, SessionBusyError, UsageError
from nuncius.core.events import TextDelta, ToolCallEvent, ToolResultEvent, TurnFinished
from nuncius.core.messages import Thinking, Usage
from nuncius.llm import wire
from nuncius.llm.scripted import Reply, ScriptedModel

LOOK = Reply(text="I look.", calls=[("look", '{"word": "a"}')], usage=Usage(10, 5))


def sent_faults(model: ScriptedModel) -> list[str]:
    """Return what a strict provider would have refused in any request."""
    return [
        fault
        for request in model.requests
        for fault in faults([wire.message_object(m, wire.Dialect(), "") for m in request.messages])
    ]


async def test_a_turn_in_events() -> None:
    bench = Bench([LOOK, Reply(text="Done.", thinking="hm", usage=Usage(20, 2))])
    result = await bench.turn("What is it?")
    assert bench.kinds() == snapshot(
        [
            "turn_started",
            "text_delta",
            "usage",
            "tool_call",
            "tool_result",
            "thinking_delta",
            "text_delta",
            "usage",
            "answer",
            "turn_finished",
        ]
    )
    assert [e.seq for e in bench.journal.log] == list(range(1, 11))
    assert [e.step for e in bench.journal.log] == [0, 1, 1, 1, 1, 2, 2, 2, 2, 2]
    assert result.answer.text == "Done."
    assert result.usage == Usage(30, 7)
    assert [(t.name, t.is_error) for t in result.tools] == [("look", False)]
    stored = [(m.message.role, m.message.content) for m in bench.journal.kept]
    assert stored == [
        ("user", "What is it?"),
        ("assistant", "I look."),
        ("tool", "saw a"),
        ("assistant", "Done."),
    ]
    assert bench.journal.commits[0] == (1, 1, True)  # the user's message survives a power cut


async def test_the_finisher_gets_the_evidence_of_the_whole_session() -> None:
    bench = Bench([LOOK, "One.", LOOK, "Two."])
    await bench.turn()
    await bench.turn()
    seen = {"word": "a", "untrusted": ["the output of look"]}
    assert bench.finisher.given == [("One.", [seen]), ("Two.", [seen, seen])]
    fresh = Bench(["Three."], journal=bench.journal)  # another process reads the journal
    await fresh.turn()
    assert fresh.finisher.given[0][1] == [seen, seen]


async def test_the_prefix_of_the_prompt_never_changes() -> None:
    bench = Bench([LOOK, "One.", LOOK, "Two."], Look(), Act())
    await bench.turn()
    await bench.turn()
    longest = bench.model.requests[-1].messages
    for request in bench.model.requests:
        assert request.messages == longest[: len(request.messages)]
        assert request.tools is bench.model.requests[0].tools
    assert [tool.name for tool in bench.model.requests[0].tools] == ["act", "look"]


async def test_another_process_in_the_same_session_is_noticed() -> None:
    journal = ListJournal()
    one = Bench(["One.", "Three."], journal=journal)
    two = Bench(["Two."], journal=journal)
    await one.turn("1")
    await two.turn("2")
    await one.turn("3")
    said = [m.content for m in one.model.requests[-1].messages[1:]]
    assert said == ["1", "One.", "2", "Two.", "3"]


async def test_an_empty_question_is_refused_before_anything_is_written() -> None:
    bench = Bench([])
    for question in ("", " \n", "\x00"):
        with pytest.raises(UsageError):
            await bench.turn(question)
    assert bench.journal.log == []


async def test_one_turn_at_a_time() -> None:
    bench = Bench([Reply(text="slow", delay_s=0.01)])
    first = asyncio.create_task(bench.turn())
    await asyncio.sleep(0.001)
    with pytest.raises(SessionBusyError):
        await bench.turn()
    assert (await first).status == "completed"


async def test_a_failing_listener_is_dropped_and_told_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen: list[str] = []

    def bad(event: Any) -> None:
        if event.type == "tool_call":
            raise ValueError("no screen")

    def good(event: Any) -> None:
        seen.append(event.type)

    caplog.set_level(logging.CRITICAL)
    bench = Bench([LOOK, "Done."], listeners=[bad, good])
    assert (await bench.turn()).status == "completed"
    assert seen.count("notice") == 1
    assert seen[-1] == "turn_finished"


async def test_at_the_limit_of_steps_the_turn_ends_and_says_so() -> None:
    steps = iter(range(100))
    bench = Bench(lambda _: Reply(calls=[("look", f'{{"word": "{next(steps)}"}}')]))
    result = await bench.turn(max_steps=3)
    assert (result.status, len(bench.results())) == ("max_steps", 3)
    assert "3 steps" in result.error
    assert bench.kinds()[-1] == "turn_finished"


# --- the model fails ---


async def test_a_failed_stream_is_tried_again_and_its_deltas_are_dropped() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    busy = ModelError("m", "", "busy", retryable=True, retry_after_s=2.0)
    bench = Bench(
        [Reply(text="Half", error=busy), Reply(text="Ha", cut=True, calls=LOOK.calls), "Whole."],
        clock=Clock(sleep=sleep, draw=lambda: 0.5),
    )
    result = await bench.turn()
    assert result.answer.text == "Whole."
    assert waits == [2.25, 0.5]
    assert bench.kinds()[1:6] == [
        "text_delta",
        "attempt_reset",
        "text_delta",
        "attempt_reset",
        "text_delta",
    ]
    assert bench.results() == []  # a call of a cut stream never runs


async def test_retries_end_and_what_came_is_kept_with_its_calls_answered() -> None:
    cut = Reply(text="I will look", cut=True, calls=[("act", '{"word": "a"}')])
    act = Act()
    bench = Bench([cut, cut, "Again."], act, retry=RetryPolicy(attempts=2))
    result = await bench.turn()
    assert result.status == "failed"
    assert result.cause.exit_code == 3
    assert act.ran == []
    (event,) = bench.results()
    assert (event.error_kind, event.metadata) == ("interrupted", {"code": "stream_interrupted"})
    assert bench.journal.kept[1].message.content == "I will look\n\n[cut off here]"
    assert (await bench.turn()).status == "completed"
    assert sent_faults(bench.model) == []


@pytest.mark.parametrize(
    ("error", "calls"),
    [
        (ModelError("m", "", "bad request"), 1),
        (KeyMissingError("No key."), 1),
        (ModelError("m", "", "busy", retryable=True), 5),
    ],
)
async def test_only_what_may_pass_is_tried_again(error: Any, calls: int) -> None:
    bench = Bench(lambda _: error)
    result = await bench.turn()
    assert (result.status, result.cause) == ("failed", error)
    assert len(bench.model.requests) == calls
    assert ("after 5 tries" in result.error) == (calls == 5)
    assert bench.kinds()[-1] == "turn_finished"


async def test_a_model_that_says_nothing_is_asked_once_more() -> None:
    bench = Bench(lambda _: "")
    assert (await bench.turn()).status == "failed"
    assert len(bench.model.requests) == 2


async def test_calls_cut_by_the_output_limit_are_not_run() -> None:
    act = Act()
    cut = Reply(calls=[("act", '{"word": "a"}'), ("act", '{"word": "b')], finish="length")
    bench = Bench([cut, "Done."], act)
    await bench.turn()
    assert act.ran == []
    assert [e.metadata["code"] for e in bench.results()] == ["truncated"] * 2


async def test_what_the_model_really_wrote_is_kept_for_audits() -> None:
    bench = Bench([Reply(calls=[("look", '{"word": ')]), "Done."])
    await bench.turn()
    stored = bench.journal.kept[1]
    assert stored.message.tool_calls[0].arguments == "{}"
    assert '{\\"word\\": ' in stored.raw


async def test_an_answer_cut_by_the_output_limit_says_so() -> None:
    bench = Bench([Reply(text="Half an", finish="length")])
    assert (await bench.turn()).answer.degraded == ("the model's output limit cut the answer",)


async def test_a_fault_of_ours_ends_the_turn_in_order(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)

    async def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("finisher")

    bench = Bench(["Done."])
    bench.finisher.finish = broken
    result = await bench.turn()
    assert (result.status, bench.kinds()[-1]) == ("failed", "turn_finished")
    assert "ZeroDivisionError" in result.error


# --- cancelling ---


async def test_cancelling_while_the_model_speaks_keeps_what_it_said() -> None:
    cancel = asyncio.Event()
    bench = Bench([Reply(text=["x" * 2_000, "never"], delay_s=0.01)])
    bench.runtime.listeners.append(lambda e: cancel.set() if e.type == "text_delta" else None)
    result = await bench.turn(cancel=cancel)
    assert result.status == "cancelled"
    assert bench.journal.kept[-1].message.content.endswith("[cut off here]")
    assert bench.kinds()[-1] == "turn_finished"


async def test_cancelling_while_waiting_for_the_next_try() -> None:
    cancel = asyncio.Event()
    busy = ModelError("m", "", "busy", retryable=True)
    bench = Bench(lambda _: busy, clock=Clock())
    bench.runtime.listeners.append(lambda e: cancel.set() if e.type == "attempt_reset" else None)
    assert (await bench.turn(cancel=cancel)).status == "cancelled"


async def test_cancelling_whoever_waits_for_the_turn_cancels_the_turn() -> None:
    async def forever(*_: Any) -> ToolOutput:
        await asyncio.Event().wait()
        raise AssertionError

    bench = Bench([Reply(calls=[("act", "{}")])], Act(forever))
    called = asyncio.Event()
    bench.runtime.listeners.append(lambda e: called.set() if e.type == "tool_call" else None)
    task = asyncio.create_task(bench.turn())
    await called.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert bench.kinds()[-2:] == ["tool_result", "turn_finished"]
    assert bench.journal.of(TurnFinished)[-1].status == "cancelled"


# --- deltas ---


async def test_deltas_are_gathered_and_lose_nothing() -> None:
    words = [f"w{n} " for n in range(1_000)]
    bench = Bench([Reply(text=words)])
    await bench.turn()
    deltas = bench.journal.of(TextDelta)
    assert "".join(d.text for d in deltas) == "".join(words)
    assert len(deltas) < 20
    assert all(len(d.text) <= 1_100 for d in deltas)


async def test_thinking_is_kept_with_the_message() -> None:
    bench = Bench([Reply(text="So.", thinking="hm")])
    await bench.turn()
    assert bench.journal.kept[-1].message.thinking == (Thinking("scripted", "hm"),)


# --- one call without a model ---


async def test_one_call_goes_the_same_way() -> None:
    bench = Bench([], Act())
    output = await bench.runtime.run_call("s", "act", '{"word": "a"}')
    assert output.content == "did a"
    assert bench.kinds() == ["turn_started", "tool_call", "tool_result", "turn_finished"]
    assert (await bench.runtime.run_call("s", "nope", "{}")).error_kind == "unknown_tool"


# --- crashes ---


class Crashing(ListJournal):
    """A journal of a process that dies at its n-th commit, before or after writing."""

    def __init__(self, at: int, *, before: bool) -> None:
        super().__init__()
        self._at = at
        self._before = before

    async def commit(self, events: Any, messages: Any = (), *, durable: bool = False) -> Any:
        self._at -= 1
        if self._at < 0 or (self._before and self._at == 0):
            raise Died
        done = await super().commit(events, messages, durable=durable)
        if self._at == 0:
            raise Died
        return done


class Died(BaseException):
    """Stands for kill -9: nothing after it is written."""


STEPS = [
    Reply(text="a", calls=[("look", '{"word": "1"}'), ("act", '{"word": "2"}')]),
    Reply(text="b", calls=[("act", '{"word": "3"}')]),
    "Done.",
]


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("at", range(1, 14))
async def test_after_a_crash_at_any_commit_every_call_has_one_result_and_the_session_goes_on(
    at: int, before: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    journal = Crashing(at, before=before)
    act = Act()
    with suppress(Died):
        await Bench(list(STEPS), Look(), act, journal=journal).turn("first")
    survivor = journal.copy()
    bench = Bench(["Again."], Look(), act, journal=survivor)
    assert (await bench.turn("second")).status == "completed"
    intents = [e.id for e in survivor.of(ToolCallEvent)]
    results = [e.id for e in survivor.of(ToolResultEvent)]
    assert sorted(intents) == sorted(results)
    assert len(set(results)) == len(results)
    called = [c.id for m in survivor.kept for c in m.message.tool_calls]
    answered = [m.message.tool_call_id for m in survivor.kept if m.message.role == "tool"]
    assert answered == called
    assert len(act.ran) == len(set(act.ran))
    started = [e.turn_id for e in survivor.log if e.type == "turn_started"]
    finished = [e.turn_id for e in survivor.log if e.type == "turn_finished"]
    assert started == finished
    assert sent_faults(bench.model) == []


async def test_a_committed_result_is_not_lost_when_its_message_was_not_written() -> None:
    journal = ListJournal()
    bench = Bench([Reply(calls=[("look", '{"word": "1"}')]), "Done."], journal=journal)
    await bench.turn("first")
    crashed = journal.copy()
    crashed.kept = [m for m in crashed.kept if m.message.role != "tool"][:2]
    at = next(n for n, e in enumerate(crashed.log) if e.type == "tool_result")
    crashed.log = crashed.log[: at + 1]
    survivor = crashed.copy()
    again = Bench(["Again."], journal=survivor)
    await again.turn("second")
    sent = [m.content for m in again.model.requests[0].messages if m.role == "tool"]
    assert sent == ["saw 1"]


words = st.sampled_from(["a", "b", "\ud800", "x" * 50])
replies = st.one_of(
    st.builds(Reply, text=words),
    st.builds(
        Reply,
        text=words | st.just(""),
        calls=st.lists(
            st.tuples(
                st.sampled_from(["look", "act", "nope", ""]),
                st.sampled_from(['{"word": "a"}', "{", "", '{"word": 1}', "null"]),
            ),
            min_size=1,
            max_size=3,
        ),
        cut=st.booleans(),
        finish=st.sampled_from([None, "length", "stop"]),
    ),
)


QUICK = Limits(cancel_grace_s=0.001, timeout_grace_s=0.001, block_deadline_s=0.001)


async def slowly(args: Word, _: ToolContext) -> ToolOutput:
    await asyncio.sleep(0 if args.word == "a" else 0.0005)
    return ToolOutput("x")


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.lists(replies, max_size=4), st.integers(0, 6), st.integers(0, 25)), max_size=4
    )
)
def test_no_turn_cancel_cut_or_crash_leads_to_a_request_that_a_strict_provider_refuses(
    turns: list[tuple[list[Reply], int, int]],
) -> None:
    async def scenario() -> None:
        journal = ListJournal()
        for script, lost, cancel_at in turns:
            bench = Bench([*script, "End."], Look(), Act(slowly), journal=journal, limits=QUICK)
            cancel, seen = asyncio.Event(), itertools.count(1)
            bench.runtime.listeners.append(
                lambda _, c=cancel, s=seen, at=cancel_at: c.set() if next(s) == at else None
            )
            await bench.turn(cancel=cancel)
            assert sent_faults(bench.model) == []
            assert journal.log[-1].type == "turn_finished"
            intents = [e.id for e in journal.of(ToolCallEvent)]
            assert sorted(intents) == sorted(e.id for e in journal.of(ToolResultEvent))
            journal = journal.before(lost)  # the process dies before the last commits

    logging.disable(logging.CRITICAL)
    try:
        asyncio.run(scenario())
    finally:
        logging.disable(logging.NOTSET)
