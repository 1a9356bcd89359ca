"""Each call gets one result, whatever its tool does."""

import asyncio
import logging
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.doubles import Answers, RuleList
from agent.parts import Act, Bench, Look, Word
from nuncius.agent.executor import Limits
from nuncius.agent.locks import ResourceLocks
from nuncius.agent.tool import GLOBAL_WRITE, Permission, Resource, ToolContext, ToolOutput
from nuncius.core.errors import NotFoundError, ToolError, UpstreamError
from nuncius.core.events import ToolCallEvent, ToolProgress, ToolResultEvent
from nuncius.llm.scripted import Reply


def calls(*words: str, tool: str = "act") -> Reply:
    return Reply(calls=[(tool, f'{{"word": "{word}"}}') for word in words])


def raising(error: BaseException) -> Any:
    def does(_: Word, __: ToolContext) -> Any:
        raise error

    return does


class BrokenTextError(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


def giving(value: Any, **fields: Any) -> Any:
    content: Any = value

    def does(_: Word, __: ToolContext) -> Any:
        return ToolOutput(content, **fields) if fields or isinstance(value, bytes) else value

    return does


@pytest.mark.parametrize(
    ("does", "kind", "words"),
    [
        (raising(ToolError("No such page.", kind="not_found", hint="See page 3.")), "not_found", "page 3"),
        (raising(NotFoundError("No paper.")), "not_found", "No paper"),
        (raising(UpstreamError("ads", "http://x", "down")), "upstream", "ads: down"),
        (raising(ZeroDivisionError("1/0")), "crashed", "ZeroDivisionError"),
        (raising(SystemExit(3)), "crashed", "SystemExit"),
        (raising(KeyboardInterrupt()), "crashed", "KeyboardInterrupt"),
        (raising(asyncio.CancelledError()), "crashed", "cancelled itself"),
        (raising(TimeoutError("inner")), "timeout", "inner"),
        (raising(BrokenTextError()), "crashed", "BrokenTextError"),
        (raising(ValueError("\ud800" + "x" * 9_000)), "crashed", "ValueError"),
        (giving(None), "crashed", "NoneType"),
        (giving("text"), "crashed", "str"),
        (giving(b"bytes"), "crashed", "bytes"),
        (giving("x", metadata={"a": object()}), "crashed", "metadata"),
        (giving("x", metadata={"a": float("nan")}), "crashed", "metadata"),
        (giving("x", metadata={"a": "y" * 2_000_000}), "crashed", "metadata"),
        (giving("x", metadata=[1]), "crashed", "metadata"),
    ],
)  # fmt: skip
async def test_whatever_a_tool_does_is_one_result_and_the_turn_goes_on(
    does: Any, kind: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    bench = Bench([calls("a"), "Done."], Act(does))
    result = await bench.turn()
    assert result.status == "completed"
    (event,) = bench.results()
    assert (event.is_error, event.error_kind) == (True, kind)
    assert words in event.output
    assert len(event.output) <= 2_000
    event.model_dump_json()


async def test_siblings_of_a_broken_call_keep_their_results_in_call_order() -> None:
    bench = Bench(
        [
            Reply(
                calls=[
                    ("look", '{"word": "a"}'),
                    ("act", '{"word": "b"}'),
                    ("look", '{"word": "c"}'),
                ]
            ),
            "Done.",
        ],
        Look(),
        Act(raising(RuntimeError("no"))),
    )
    await bench.turn()
    stored = [m.message for m in bench.journal.kept if m.message.role == "tool"]
    assert [m.content[:5] for m in stored] == ["saw a", "The t", "saw c"]


async def test_text_is_cleaned_and_long_output_tells_what_was_cut() -> None:
    bench = Bench(
        [calls("a", "b"), "Done."],
        Act(lambda args, _: ToolOutput("h" * 30_000 + "t" if args.word == "a" else "x\ud800\x00y")),
    )
    await bench.turn()
    long, dirty = sorted(bench.results(), key=lambda e: len(e.output), reverse=True)
    assert len(long.output) <= 16_000
    assert "30,001 characters in all" in long.output
    assert long.output.endswith("t")
    assert dirty.output == "xy"


async def test_intents_are_committed_before_anything_runs_and_results_before_they_are_shown() -> (
    None
):
    order: list[str] = []
    bench = Bench(
        [calls("a", "b"), "Done."], Act(lambda args, _: order.append(args.word) or ToolOutput("x"))
    )
    commit = bench.journal.commit

    async def watched(events: Any, messages: Any = (), *, durable: bool = False) -> Any:
        done = await commit(events, messages, durable=durable)
        order.extend(f"commit {e.type}" for e in events if e.type.startswith("tool"))
        return done

    bench.journal.commit = watched  # pyright: ignore[reportAttributeAccessIssue]
    bench.runtime.listeners.append(
        lambda event: order.append("shown") if event.type == "tool_result" else None
    )
    await bench.turn()
    assert order[:2] == ["commit tool_call"] * 2
    assert order.index("commit tool_result") < order.index("shown")
    assert order.index("a") == 2


async def test_only_results_of_side_effects_are_durable() -> None:
    for tool, name, durable in ((Act(), "act", True), (Look(), "look", False)):
        bench = Bench([calls("a", tool=name), "Done."], tool)
        await bench.turn()
        assert (1, 1, durable) in bench.journal.commits  # the result with its message


async def test_reads_run_side_by_side_and_undeclared_writes_one_after_the_other() -> None:
    running = peak = 0

    async def busy(_: Word, __: ToolContext) -> ToolOutput:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        running -= 1
        return ToolOutput("x")

    for read_only, expected in ((True, 3), (False, 1)):
        peak = 0
        await Bench([calls("a", "b", "c"), "Done."], Act(busy, read_only=read_only)).turn()
        assert peak == expected


async def test_no_more_calls_run_at_once_than_allowed() -> None:
    running: set[str] = set()
    peaks: list[int] = []

    async def busy(args: Word, _: ToolContext) -> ToolOutput:
        running.add(args.word)
        peaks.append(len(running))
        await asyncio.sleep(0)
        running.discard(args.word)
        return ToolOutput("x")

    words = [str(n) for n in range(40)]
    await Bench(
        [calls(*words), "Done."], Act(busy, read_only=True), limits=Limits(parallel=4)
    ).turn()
    assert max(peaks) == 4


async def test_a_read_after_a_write_of_the_same_thing_sees_the_write() -> None:
    content = "old"

    async def write(_: Word, __: ToolContext) -> ToolOutput:
        nonlocal content
        await asyncio.sleep(0.001)
        content = "new"
        return ToolOutput("written")

    key = "file:/a"
    bench = Bench(
        [Reply(calls=[("act", "{}"), ("peek", "{}")]), "Done."],
        Act(write, keys=[Resource(key, "write")]),
        Act(
            lambda _a, _c: ToolOutput(content),
            keys=[Resource(key, "read")],
            name="peek",
            read_only=True,
        ),
    )
    await bench.turn()
    assert bench.results()[-1].output == "new"


async def test_progress_is_shown_and_comes_from_any_thread() -> None:
    async def slow(_: Word, ctx: ToolContext) -> ToolOutput:
        await asyncio.to_thread(ctx.report, "half", 0.5)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        ctx.report("again at once", 0.6)
        return ToolOutput("x")

    bench = Bench([calls("a"), "Done."], Act(slow))
    await bench.turn()
    (progress,) = bench.journal.of(ToolProgress)
    assert (progress.progress, progress.fraction) == ("half", 0.5)


async def forever(_: Word, __: ToolContext) -> ToolOutput:
    await asyncio.Event().wait()
    raise AssertionError


async def stubborn(_: Word, __: ToolContext) -> ToolOutput:
    for _number in range(3):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue
    return ToolOutput("too late")


FAST = Limits(cancel_grace_s=0.01, timeout_grace_s=0.01, block_deadline_s=0.02)


@pytest.mark.parametrize("does", [forever, stubborn])
async def test_a_call_ends_at_its_time_limit_even_if_it_will_not(does: Any) -> None:
    bench = Bench([calls("a"), "Done."], Act(does, timeout_s=0.01), limits=FAST)
    assert (await bench.turn()).status == "completed"
    (event,) = bench.results()
    assert event.error_kind == "timeout"
    assert "may have had effects" in event.output


async def test_what_a_stopped_tool_still_returns_is_its_result() -> None:
    async def partial(_: Word, __: ToolContext) -> ToolOutput:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return ToolOutput("the first half")
        raise AssertionError

    bench = Bench([calls("a"), "Done."], Act(partial, timeout_s=0.01))
    await bench.turn()
    assert bench.results()[0].output == "the first half"


@pytest.mark.parametrize("does", [forever, stubborn])
async def test_cancelling_ends_the_turn_and_answers_every_call(does: Any) -> None:
    cancel = asyncio.Event()
    bench = Bench(
        [calls("a", "b", "c")],
        Act(does),
        limits=FAST,  # one runs, two wait for the global key
    )
    bench.runtime.listeners.append(lambda e: cancel.set() if e.type == "tool_call" else None)
    result = await bench.turn(cancel=cancel)
    assert result.status == "cancelled"
    assert [e.error_kind for e in bench.results()] == ["cancelled"] * 3
    assert bench.kinds()[-1] == "turn_finished"


async def test_a_side_effect_may_end_after_a_cancel_but_not_for_ever() -> None:
    cancel = asyncio.Event()

    async def commit(args: Word, _: ToolContext) -> ToolOutput:
        cancel.set()
        await (asyncio.sleep(0.001) if args.word == "quick" else asyncio.Event().wait())
        return ToolOutput("committed")

    for word, expected in (("quick", "committed"), ("stuck", "Cancelled")):
        cancel.clear()
        bench = Bench([calls(word)], Act(commit, interrupt="block"), limits=FAST)
        assert (await bench.turn(cancel=cancel)).status == "cancelled"
        assert bench.results()[0].output.startswith(expected)


async def test_cancelling_while_somebody_is_asked_withdraws_the_question() -> None:
    cancel = asyncio.Event()

    class Silent(Answers):
        async def ask(self, request: Any) -> Any:
            cancel.set()
            await asyncio.Event().wait()

    bench = Bench([calls("a")], Act(permission=Permission("ask", "Why.")), asker=Silent())
    assert (await bench.turn(cancel=cancel)).status == "cancelled"
    assert bench.results()[0].error_kind == "cancelled"
    (resolved,) = [e for e in bench.journal.log if e.type == "permission_resolved"]
    assert (resolved.decision, resolved.by) == ("deny", "cancel")


async def test_a_failed_download_takes_the_calls_that_need_it_and_no_others() -> None:
    class Download(Act):
        def causes_sibling_abort(self) -> bool:
            return True

    paper, other = Resource("paper:a", "write"), Resource("paper:b", "write")
    bench = Bench(
        [Reply(calls=[("download", "{}"), ("parse", "{}"), ("act", "{}")]), "Done."],
        Download(raising(ToolError("404", kind="upstream")), keys=[paper], name="download"),
        Act(keys=[paper], name="parse"),
        Act(keys=[other]),
    )
    await bench.turn()
    by_name = {e.name: e.error_kind for e in bench.results()}
    assert by_name == {"download": "upstream", "parse": "aborted_by_sibling", "act": None}


async def test_a_tool_that_breaks_before_it_runs_breaks_nothing_else() -> None:
    class Broken(Act):
        def resources(self, args: Word) -> Any:
            raise KeyError("key")

    class Careless(Act):
        def subject(self, args: Word) -> str:
            raise KeyError("subject")

    bench = Bench(
        [Reply(calls=[("act", "{}"), ("careless", "{}"), ("look", "{}")]), "Done."],
        Broken(),
        Careless(name="careless"),
        Look(),
    )
    assert (await bench.turn()).status == "completed"
    by_name = {e.name: e.error_kind for e in bench.results()}
    assert by_name == {"act": "crashed", "careless": "denied", "look": None}


async def test_what_was_refused_is_named_in_the_answer() -> None:
    bench = Bench(
        [calls("a.md"), "Done."], Act(permission=Permission("ask", "It writes.")), rules=RuleList()
    )
    result = await bench.turn()
    assert result.answer.degraded == ("not permitted: act(a.md)",)
    assert "nobody can be asked" in bench.results()[0].output


async def test_an_approval_holds_only_for_the_arguments_that_were_shown() -> None:
    act = Act(permission=Permission("ask", "It writes."))

    class Swapping(Answers):
        async def ask(self, request: Any) -> Any:
            request.arguments["word"] = "evil"  # somebody changes them behind the question
            return "allow", "once"

    bench = Bench([calls("good"), "Done."], act, asker=Swapping())
    await bench.turn()
    assert act.ran in (["good"], [])
    assert "evil" not in act.ran


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["read", "write"]), st.sampled_from("abc"), st.integers(0, 3)),
        min_size=1,
        max_size=12,
    )
)
def test_calls_on_one_thing_run_in_call_order_and_never_beside_a_write(
    plan: list[tuple[Any, str, int]],
) -> None:
    running: dict[str, list[str]] = {}
    began: dict[str, list[tuple[int, str]]] = {}

    async def scenario() -> None:
        locks = ResourceLocks()

        async def work(number: int, access: Any, key: str, turns: int, ticket: Any) -> None:
            await ticket.granted
            inside = running.setdefault(key, [])
            assert access == "read" or not inside
            assert "write" not in inside
            inside.append(access)
            began.setdefault(key, []).append((number, access))
            for _ in range(turns):
                await asyncio.sleep(0)
            inside.remove(access)
            locks.release(ticket)

        tickets = [locks.take([Resource(key, access)]) for access, key, _ in plan]
        await asyncio.gather(
            *(
                work(n, a, k, t, ticket)
                for n, ((a, k, t), ticket) in enumerate(zip(plan, tickets, strict=True))
            )
        )
        assert len(locks) == 0

    asyncio.run(scenario())
    for order in began.values():
        writes = [n for n, access in order if access == "write"]
        assert writes == sorted(writes)
        for at, (number, _) in enumerate(order):
            later_writes = [n for n, access in order[:at] if access == "write" and n > number]
            assert later_writes == []


async def test_who_writes_everything_waits_for_all_and_all_for_it() -> None:
    locks = ResourceLocks()
    one = locks.take([Resource("a", "read")])
    everything = locks.take([GLOBAL_WRITE])
    two = locks.take([Resource("b", "read")])
    free = locks.take([])
    assert [t.granted.done() for t in (one, everything, two, free)] == [True, False, False, True]
    locks.release(one)
    assert [t.granted.done() for t in (everything, two)] == [True, False]
    locks.release(everything)
    locks.release(everything)
    assert two.granted.done()
    waiting = locks.take([Resource("b", "write")])
    locks.release(waiting)  # given up while it waits
    locks.release(two)
    assert len(locks) == 0


async def test_every_call_has_one_intent_and_one_result() -> None:
    words = [str(n) for n in range(200)]
    bench = Bench([calls(*words, tool="look"), "Done."])
    await bench.turn()
    intents = [e.id for e in bench.journal.of(ToolCallEvent)]
    results = [e.id for e in bench.journal.of(ToolResultEvent)]
    assert len(set(intents)) == 200
    assert sorted(intents) == sorted(results)
    stored = [m.message.content for m in bench.journal.kept if m.message.role == "tool"]
    assert stored == [f"saw {word}" for word in words]
