"""Subagents: a fresh context, bounded, cancelled with their parent, and told apart everywhere."""

import asyncio
import itertools
import json
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from agent.doubles import Answers, ListJournal, RuleList
from agent.parts import Act, Bench, Look
from agent.test_runtime import sent_faults
from nuncius.agent.delegation import LAST_STEP, DelegationLimits
from nuncius.agent.executor import Limits
from nuncius.agent.tool import GLOBAL_WRITE, Permission, Resource, ToolContext, ToolOutput
from nuncius.core.errors import ModelError, NunciusError
from nuncius.core.events import Event, SubagentFinished, SubagentStarted
from nuncius.core.messages import Usage
from nuncius.llm.model import ModelChunk, ModelRequest
from nuncius.llm.scripted import Reply, ScriptedModel
from nuncius.tools.ask import AskUser
from nuncius.tools.subagent import UNSEEN, Subagent
from nuncius.tools.todo import TodoWrite

CHILD = "You are a subagent."
ASK = Permission("ask", "It writes.")
Step = Reply | str | NunciusError


def delegate(task: str = "Find it.", **more: Any) -> tuple[str, str]:
    return ("subagent", json.dumps({"task": task, **more}))


def in_child(request: ModelRequest) -> bool:
    return CHILD in request.messages[0].content


class Two:
    """Two scripts, one for the parent and one for its subagents, and what each was asked."""

    def __init__(self, parent: list[Step], child: list[Step] | Callable[[ModelRequest], Step]):
        self._parent = list(parent)
        self._child = child if callable(child) else _in_turn(child)
        self.parent: list[ModelRequest] = []
        self.child: list[ModelRequest] = []

    def __call__(self, request: ModelRequest) -> Step:
        if not in_child(request):
            self.parent.append(request)
            return self._parent.pop(0)
        self.child.append(request)
        return self._child(request)


def _in_turn(steps: list[Step]) -> Callable[[ModelRequest], Step]:
    following = iter(steps)
    return lambda _request: next(following)


def bench(script: Two, *tools: Any, **more: Any) -> Bench:
    return Bench(script, Subagent(), *(tools or (Look(),)), subagent_prompt=CHILD, **more)


def report_of(one: Bench) -> Any:
    (result,) = [e for e in one.results() if e.name == "subagent"]
    return result


def looking(word: str = "x") -> Reply:
    return Reply(calls=[("look", json.dumps({"word": word}))])


async def test_it_sees_only_its_task_and_the_parent_only_its_report() -> None:
    script = Two(
        [
            Reply("I will delegate.", calls=[delegate("Find it.", context="It is red.")]),
            "Done.",
        ],
        [looking("secret detail"), "It is at home."],
    )
    one = bench(script)
    result = await one.turn("The user's whole question")
    assert (result.status, result.answer.text) == ("completed", "Done.")
    system, user = script.child[0].messages
    assert system.content.endswith(CHILD)
    assert user.content.startswith("Find it.")
    assert "It is red." in user.content
    assert "whole question" not in str(script.child)
    assert not any("saw secret detail" in m.content for m in script.parent[1].messages)
    output = report_of(one).output
    assert "It is at home." in output
    assert '- look {"word":"secret detail"}: ok' in output


async def test_it_is_offered_less_than_its_parent_never_more() -> None:
    script = Two([Reply(calls=[delegate()]), "Done."], ["Nothing to do."])
    await bench(script, Look(), Act(), AskUser(), TodoWrite()).turn()
    assert [tool.name for tool in script.child[0].tools] == ["act", "look"]
    assert "subagent" in [tool.name for tool in script.parent[0].tools]


async def test_named_tools_are_all_it_gets() -> None:
    script = Two([Reply(calls=[delegate(tools=["look"])]), "Done."], ["Nothing."])
    await bench(script, Look(), Act()).turn()
    assert [tool.name for tool in script.child[0].tools] == ["look"]


@pytest.mark.parametrize("name", ["nothing", "subagent", "ask_user"])
async def test_a_tool_it_cannot_have_is_refused_with_those_it_can(name: str) -> None:
    script = Two([Reply(calls=[delegate(tools=["look", name])]), "Done."], [])
    one = bench(script, Look(), AskUser())
    await one.turn()
    assert report_of(one).error_kind == "invalid_arguments"
    assert "look" in report_of(one).output
    assert script.child == []


async def test_the_last_step_has_no_tools_and_asks_for_the_report() -> None:
    script = Two(
        [Reply(calls=[delegate(max_steps=3)]), "Done."],
        [looking("a"), looking("b"), "Found a and b."],
    )
    one = bench(script)
    await one.turn()
    assert [len(request.tools) for request in script.child] == [1, 1, 0]
    assert script.child[2].messages[-1].content.startswith(LAST_STEP[:20])
    assert "Found a and b." in report_of(one).output
    assert report_of(one).metadata["status"] == "max_steps"
    assert not report_of(one).is_error


async def test_calls_in_the_last_step_are_refused_and_what_it_said_is_the_report() -> None:
    last = Reply("Half of it.", calls=[("look", "{}")])
    script = Two([Reply(calls=[delegate(max_steps=2)]), "Done."], [looking(), last])
    one = bench(script)
    assert (await one.turn()).status == "completed"
    assert "Half of it." in report_of(one).output
    assert [e.error_kind for e in one.results() if e.name == "look"] == [None, "unavailable"]


async def test_more_than_the_cap_of_steps_is_refused() -> None:
    script = Two([Reply(calls=[delegate(max_steps=41)]), "Done."], [])
    one = bench(script)
    await one.turn()
    assert report_of(one).metadata["code"] == "out_of_range"


async def test_a_report_without_a_tool_call_is_marked() -> None:
    script = Two([Reply(calls=[delegate()]), "Done."], ["The mass is 3."])
    one = bench(script)
    await one.turn()
    assert UNSEEN in report_of(one).output
    assert report_of(one).metadata["looked_up"] is False


async def test_rows_and_events_carry_its_name_and_names_are_never_used_twice() -> None:
    script = Two(
        [Reply(calls=[delegate(name="reader"), delegate(name="reader")]), "Done."],
        lambda request: "Read." if len(request.messages) > 2 else looking(),
    )
    one = bench(script)
    await one.turn()
    started = [event.name for event in one.journal.of(SubagentStarted)]
    assert started == ["reader", "reader-2"]
    for name in started:
        roles = [m.message.role for m in await one.journal.messages("s", name)]
        assert roles == ["user", "assistant", "tool", "assistant"]
        (end,) = [e for e in one.journal.of(SubagentFinished) if e.agent == name]
        assert (end.name, end.status, end.steps, end.tool_calls) == (name, "completed", 2, 1)
        assert end.summary == "Read."
    main = [m.message.role for m in await one.journal.messages("s")]
    assert main == ["user", "assistant", "tool", "tool", "assistant"]
    ids = [event.id for event in one.journal.log if event.type == "tool_call"]
    assert len(set(ids)) == len(ids) == 4


async def test_screens_see_the_events_of_all_agents_in_the_order_of_their_numbers() -> None:
    seen: list[int] = []
    script = Two(
        [Reply(calls=[delegate() for _ in range(6)]), "Done."],
        lambda request: "Read." if len(request.messages) > 2 else looking(),
    )

    def watch(event: Event) -> None:
        seen.append(event.seq)

    one = bench(script, listeners=[watch])
    await one.turn()
    assert seen == list(range(1, len(seen) + 1))


async def test_a_subagent_has_no_subagents() -> None:
    script = Two([Reply(calls=[delegate()]), "Done."], [Reply(calls=[delegate()]), "Alone."])
    one = bench(script)
    await one.turn()
    inner = [e for e in one.results() if e.agent != "main"]
    assert [e.error_kind for e in inner] == ["unknown_tool"]


async def test_at_most_eight_run_at_one_time() -> None:
    script = Two(
        [Reply(calls=[delegate(str(n)) for n in range(10)]), "Done."], lambda _: "Did nothing."
    )
    one = bench(script)
    await one.turn()
    outcomes = [e.error_kind for e in one.results()]
    assert (outcomes.count(None), outcomes.count("unavailable")) == (8, 2)


async def test_permission_questions_reach_the_parents_person_with_the_name() -> None:
    asker = Answers(("allow", "session"))
    act = Act(permission=ASK)
    acting = Reply(calls=[("act", '{"word": "a"}')])
    script = Two([Reply(calls=[delegate(name="writer")]), acting, "Done."], [acting, "Wrote."])
    one = bench(script, act, asker=asker)
    await one.turn()
    assert [request.agent for request in asker.seen] == ["writer"]
    assert act.ran == ["a", "a"]  # the session's rule holds for the parent, too


async def test_what_nobody_may_permit_is_told_in_the_parents_answer() -> None:
    acting = Reply(calls=[("act", '{"word": "a"}')])
    script = Two([Reply(calls=[delegate()]), "Done."], [acting, "It was refused."])
    result = await bench(script, Act(permission=ASK)).turn()
    assert result.answer.degraded == ("not permitted: act(a)",)


async def test_mode_plan_lets_it_read_but_not_write() -> None:
    both = Reply(calls=[("look", "{}"), ("act", "{}")])
    script = Two([Reply(calls=[delegate()]), "Done."], [both, "Read."])
    one = bench(script, Look(), Act(permission=ASK))
    await one.turn(mode="plan")
    kinds = {e.name: e.error_kind for e in one.results()}
    assert kinds == {"act": "denied", "look": None, "subagent": None}


async def test_locks_are_shared_with_the_parent() -> None:
    order: list[str] = []

    async def work(args: Any, ctx: ToolContext) -> ToolOutput:
        order.append(f"{ctx.agent} begins")
        await asyncio.sleep(0.01)
        order.append(f"{ctx.agent} ends")
        return ToolOutput("done")

    act = Act(work, keys=[Resource("file:/a", "write")])
    acting = ("act", "{}")
    script = Two(
        [Reply(calls=[delegate(name="kid"), acting]), "Done."], [Reply(calls=[acting]), "Did."]
    )
    await bench(script, act).turn()
    assert sorted(order[::2]) == ["kid begins", "main begins"]
    assert [name.split()[0] for name in order[::2]] == [name.split()[0] for name in order[1::2]]


async def test_an_act_that_writes_everything_does_not_wait_for_its_own_parent() -> None:
    act = Act(keys=[GLOBAL_WRITE])
    script = Two([Reply(calls=[delegate()]), "Done."], [Reply(calls=[("act", "{}")]), "Did."])
    one = bench(script, act)
    await asyncio.wait_for(one.turn(), 5)
    assert act.ran == [""]


async def test_it_has_read_nothing_that_its_parent_read() -> None:
    states: list[Any] = []

    def keep(_args: Any, ctx: ToolContext) -> ToolOutput:
        states.append(ctx.read_state)
        return ToolOutput("kept")

    acting = Reply(calls=[("act", "{}")])
    script = Two([acting, Reply(calls=[delegate()]), acting, "Done."], [acting, "Did."])
    await bench(script, Act(keep)).turn()
    assert states[0] is states[2]
    assert states[0] is not states[1]


async def test_what_it_was_shown_may_be_cited_by_the_parent() -> None:
    def show(args: Any, _ctx: ToolContext) -> ToolOutput:
        metadata = {"evidence": {f"{args.word}-1": "digest"}, "query": args.word}
        return ToolOutput("shown", metadata=metadata)

    two = Reply(calls=[("act", '{"word": "p"}'), ("act", '{"word": "q"}')])
    script = Two([Reply(calls=[delegate()]), "Fact [p-1:1]."], [two, "Fact [p-1:1]."])
    one = bench(script, Act(show))
    await one.turn()
    (_, evidence) = one.finisher.given[-1]
    (metadata,) = evidence
    assert metadata["evidence"] == {"p-1": "digest", "q-1": "digest"}
    assert metadata["query"] == ["p", "q"]


async def test_its_usage_is_its_parents_and_is_told_once() -> None:
    script = Two(
        [Reply(calls=[delegate()], usage=Usage(10, 1)), Reply("Done.", usage=Usage(20, 2))],
        [Reply("Hm.", usage=Usage(100, 5))],
    )
    one = bench(script)
    result = await one.turn()
    assert (result.usage.input_tokens, result.usage.output_tokens) == (130, 8)
    told = [event.input_tokens for event in one.journal.log if event.type == "usage"]
    assert sum(told) == 130
    assert report_of(one).metadata["usage"]["input_tokens"] == 100


async def test_its_thoughts_come_back_in_short() -> None:
    thought = "First. " * 400
    script = Two([Reply(calls=[delegate()]), "Done."], [Reply("Hm.", thinking=thought)])
    one = bench(script)
    await one.turn(enable_thinking=True)
    assert script.child[0].enable_thinking
    assert "First." in report_of(one).metadata["thinking"]
    assert len(report_of(one).metadata["thinking"]) <= 600


async def test_a_model_that_fails_it_is_a_failed_call_and_the_turn_goes_on() -> None:
    broken = ModelError("llm", "", "no answer")
    script = Two([Reply(calls=[delegate()]), "Done."], [looking(), broken])
    one = bench(script)
    assert (await one.turn()).status == "completed"
    assert (report_of(one).is_error, report_of(one).error_kind) == (True, "upstream")
    assert "no answer" in report_of(one).output
    assert "- look" in report_of(one).output  # what was done is told all the same


async def test_going_round_in_circles_ends_in_a_report() -> None:
    def circling(request: ModelRequest) -> Step:
        return looking("same") if request.tools else "Nothing new."

    script = Two([Reply(calls=[delegate(max_steps=40)]), "Done."], circling)
    one = bench(script)
    await one.turn()
    assert report_of(one).metadata["status"] == "loop_stopped"
    assert "Nothing new." in report_of(one).output
    assert len(script.child) == 9


async def test_time_over_stops_its_calls_and_it_reports_what_it_has() -> None:
    async def hang(_args: Any, _ctx: ToolContext) -> ToolOutput:
        await asyncio.Event().wait()
        raise AssertionError

    act = Act(hang, read_only=True)
    stuck = Reply("I look.", calls=[("act", "{}")])
    script = Two([Reply(calls=[delegate()]), "Done."], [stuck, "It hangs."])
    one = bench(script, act, delegation_limits=DelegationLimits(wall_clock_s=0.05))
    assert (await asyncio.wait_for(one.turn(), 5)).status == "completed"
    assert report_of(one).metadata["status"] == "timeout"
    assert "It hangs." in report_of(one).output
    assert not report_of(one).is_error


async def test_a_model_that_hangs_past_the_time_is_an_error_with_what_was_said() -> None:
    class Hanging(ScriptedModel):
        @override
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
            if in_child(request):
                await asyncio.Event().wait()
            async for chunk in super().stream(request):
                yield chunk

    limits = DelegationLimits(wall_clock_s=0.03, report_s=0.03)
    one = Bench([], Subagent(), Look(), subagent_prompt=CHILD, delegation_limits=limits)
    one.runtime.model = Hanging([Reply(calls=[delegate()]), "Done."])
    assert (await asyncio.wait_for(one.turn(), 5)).status == "completed"
    assert (report_of(one).is_error, report_of(one).error_kind) == (True, "timeout")


@pytest.mark.parametrize("interrupt", ["cancel", "block"])
async def test_a_cancel_reaches_it_and_every_call_has_its_result(interrupt: str) -> None:
    begun = asyncio.Event()

    async def work(_args: Any, _ctx: ToolContext) -> ToolOutput:
        begun.set()
        await asyncio.sleep(0.05 if interrupt == "block" else 3600)
        return ToolOutput("committed")

    act = Act(work, interrupt=interrupt)
    script = Two([Reply(calls=[delegate()])], [Reply(calls=[("act", "{}")])])
    one = bench(script, act)
    cancel = asyncio.Event()
    turn = asyncio.create_task(one.turn(cancel=cancel))
    await begun.wait()
    cancel.set()
    assert (await asyncio.wait_for(turn, 2)).status == "cancelled"
    kinds = {e.name: e.error_kind for e in one.results()}
    assert kinds == {"act": None if interrupt == "block" else "cancelled", "subagent": "cancelled"}
    (end,) = one.journal.of(SubagentFinished)
    assert end.status == "cancelled"
    assert one.kinds()[-1] == "turn_finished"
    assert await one.journal.open_calls("s") == []


async def test_a_side_effect_that_never_ends_does_not_hold_a_cancelled_parent() -> None:
    begun = asyncio.Event()

    async def hang(_args: Any, _ctx: ToolContext) -> ToolOutput:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    script = Two([Reply(calls=[delegate()])], [Reply(calls=[("act", "{}")])])
    one = bench(script, Act(hang, interrupt="block"), limits=Limits(block_deadline_s=0.2))
    cancel = asyncio.Event()
    turn = asyncio.create_task(one.turn(cancel=cancel))
    await begun.wait()
    cancel.set()
    assert (await asyncio.wait_for(turn, 2)).status == "cancelled"
    assert {e.error_kind for e in one.results()} == {"cancelled"}
    assert one.kinds()[-1] == "turn_finished"


async def test_a_cancel_while_it_is_asked_or_thinks_ends_it_too() -> None:
    class Never:
        def __init__(self) -> None:
            self.asked = asyncio.Event()

        async def ask(self, request: Any) -> Any:
            self.asked.set()
            await asyncio.Event().wait()

    asker = Never()
    script = Two([Reply(calls=[delegate()])], [Reply(calls=[("act", "{}")])])
    one = bench(script, Act(permission=ASK), asker=asker, rules=RuleList())
    cancel = asyncio.Event()
    turn = asyncio.create_task(one.turn(cancel=cancel))
    await asker.asked.wait()
    cancel.set()
    assert (await asyncio.wait_for(turn, 2)).status == "cancelled"
    resolved = [e for e in one.journal.log if e.type == "permission_resolved"]
    assert [(e.agent, e.by) for e in resolved] == [("subagent", "cancel")]


words = st.sampled_from(["a", "b"])
calls = st.one_of(
    st.tuples(
        st.sampled_from(["look", "act", "nope"]), words.map(lambda word: f'{{"word": "{word}"}}')
    ),
    st.just(delegate()),
    st.just(delegate(max_steps=2)),
    st.just(("subagent", "{")),
)
replies = st.one_of(
    st.builds(Reply, text=words),
    st.builds(
        Reply,
        text=words | st.just(""),
        calls=st.lists(calls, min_size=1, max_size=3),
        cut=st.booleans(),
    ),
)
QUICK = Limits(cancel_grace_s=0.001, timeout_grace_s=0.001, block_deadline_s=0.01)


async def slowly(args: Any, _: ToolContext) -> ToolOutput:
    await asyncio.sleep(0 if args.word == "a" else 0.0005)
    return ToolOutput("x")


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.lists(replies, max_size=6), st.integers(0, 8), st.integers(0, 40)), max_size=3
    )
)
def test_whatever_subagents_do_requests_are_sound_and_every_call_has_one_result(
    turns: list[tuple[list[Reply], int, int]],
) -> None:
    async def scenario() -> None:
        journal = ListJournal()
        for script, lost, cancel_at in turns:
            # parent and subagents take their replies from one list, whoever comes first
            one = Bench(
                [*script, *["End."] * 9],
                *(Subagent(), Look(), Act(slowly)),
                journal=journal,
                limits=QUICK,
                subagent_prompt=CHILD,
            )
            cancel, seen = asyncio.Event(), itertools.count(1)
            one.runtime.listeners.append(
                lambda _, c=cancel, s=seen, at=cancel_at: c.set() if next(s) == at else None
            )
            await one.turn(cancel=cancel)
            assert sent_faults(one.model) == []
            assert journal.log[-1].type == "turn_finished"
            called = [event.id for event in journal.log if event.type == "tool_call"]
            ended = [event.id for event in journal.log if event.type == "tool_result"]
            assert sorted(called) == sorted(ended)
            assert len(set(called)) == len(called)
            started = sorted(event.name for event in journal.of(SubagentStarted))
            assert started == sorted(event.name for event in journal.of(SubagentFinished))
            journal = journal.before(lost)

    logging.disable(logging.CRITICAL)
    try:
        asyncio.run(scenario())
    finally:
        logging.disable(logging.NOTSET)
