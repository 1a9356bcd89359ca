"""Going round in circles is seen; waiting for something that changes is not mistaken for it."""

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.parts import Act, Bench, Look, Word
from nuncius.agent.loops import LoopDetector
from nuncius.agent.tool import ToolContext, ToolOutput
from nuncius.llm.model import ModelRequest
from nuncius.llm.scripted import Reply, Step


def look(*words: str, tool: str = "look") -> Reply:
    return Reply(calls=[(tool, f'{{"word": "{word}"}}') for word in words])


def repeating(*steps: Step) -> Callable[[ModelRequest], Step]:
    cycle = itertools.cycle(steps)

    def following(_: ModelRequest) -> Step:
        return next(cycle)

    return following


async def test_the_third_alike_is_reminded_the_fourth_refused_and_at_eight_the_turn_ends() -> None:
    bench = Bench(repeating(look("a")))
    result = await bench.turn()
    outputs = [event.output for event in bench.results()]
    assert result.status == "loop_stopped"
    assert len(outputs) == 8
    assert outputs[0] == outputs[1] == "saw a"
    assert "Reminder" in outputs[2]
    codes = [event.metadata.get("code") for event in bench.results()]
    assert codes == [None, None, None, *["duplicate_call"] * 5]
    assert "circle" in result.error


@pytest.mark.parametrize("period", [2, 3, 4])
async def test_longer_circles_are_seen_too(period: int) -> None:
    steps = [look(str(n)) for n in range(period)]
    bench = Bench(repeating(*steps))
    result = await bench.turn()
    assert result.status == "loop_stopped"
    assert len(bench.results()) == 8 * period


async def test_arguments_written_differently_are_the_same_arguments() -> None:
    one = Reply(calls=[("look", '{"word":"a"}')])
    other = Reply(calls=[("look", ' {"word" : "a"} ')])
    bench = Bench([one, other, one, other, "Done."])
    await bench.turn()
    assert bench.results()[-1].error_kind == "duplicate"


async def test_a_result_that_changes_is_progress() -> None:
    counter = itertools.count()
    poll = Act(lambda _a, _c: ToolOutput(str(next(counter))), read_only=True)
    bench = Bench([*[look("a", tool="act")] * 12, "Done."], poll)
    assert (await bench.turn()).status == "completed"
    assert not any(event.is_error for event in bench.results())


async def test_a_tool_that_says_unchanged_has_given_the_same_again() -> None:
    counter = itertools.count()

    def read(_a: Word, _c: ToolContext) -> ToolOutput:
        if next(counter) == 0:
            return ToolOutput("the text")
        return ToolOutput("unchanged since you read it", metadata={"unchanged": True})

    bench = Bench([*[look("a", tool="act")] * 4, "Done."], Act(read, read_only=True))
    await bench.turn()
    kinds = [event.error_kind for event in bench.results()]
    assert kinds == [None, None, None, "duplicate"]


async def test_a_polling_tool_is_warned_not_stopped() -> None:
    bench = Bench([*[look("a", tool="act")] * 12, "Done."], Act(polling=True, read_only=True))
    assert (await bench.turn()).status == "completed"
    assert not any(event.is_error for event in bench.results())
    assert "Reminder" in bench.results()[-1].output


async def test_a_side_effect_is_not_done_a_fourth_time() -> None:
    act = Act()
    bench = Bench([*[look("a", tool="act")] * 6, "Done."], act)
    await bench.turn()
    assert len(act.ran) == 3


async def test_a_hundred_equal_calls_in_one_step_are_no_circle() -> None:
    bench = Bench([look(*["a"] * 100), "Done."])
    await bench.turn()
    assert [event.output for event in bench.results()] == ["saw a"] * 100


async def test_a_new_message_of_the_user_begins_anew() -> None:
    bench = Bench([*[look("a"), "Done."] * 5], Look())
    for _ in range(5):
        await bench.turn()
    assert not any(event.is_error for event in bench.results())


@given(st.lists(st.sampled_from("ab"), max_size=30))
def test_repeats_are_counted_as_a_plain_count_would(steps: list[str]) -> None:
    detector = LoopDetector()
    for at, word in enumerate(steps):
        key = ("look", word)
        detector.begin([key])
        detector.count(key, "same")
        detector.end()
        seen = steps[: at + 1]
        plain = max(
            next(
                n
                for n in range(len(seen) // period, 0, -1)
                if n == 1 or seen[-n * period :] == seen[-period:] * n
            )
            for period in range(1, 5)
            if period <= len(seen)
        )
        assert detector.repeats == plain
