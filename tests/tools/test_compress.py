"""`compress_context`: the agent asks for room, and goes on with a summary."""

from typing import Any

from agent.parts import Bench, Look
from agent.windowed import Windowed
from nuncius.agent.tool import ToolContext
from nuncius.core.events import Compaction
from nuncius.llm.model import ModelRequest
from nuncius.llm.scripted import Reply, Step
from nuncius.tools.talk import CompressContext, CompressContextArgs, tools

ASK = Reply(calls=[("compress_context", '{"focus": "the radius of HD 12345"}')])


async def test_sets_a_mark_and_does_nothing_else() -> None:
    asked: list[str] = []
    output = await CompressContext().run(
        CompressContextArgs(focus="masses"), ToolContext("s", compress=asked.append)
    )
    assert asked == ["masses"]
    assert not output.is_error
    assert CompressContext.read_only
    assert [tool.name for tool in tools()] == ["compress_context"]


async def test_a_model_of_any_length_has_nothing_to_compress() -> None:
    output = await CompressContext().run(CompressContextArgs(), ToolContext("s"))
    assert not output.is_error
    assert "Nothing to do" in output.content


async def test_the_next_model_call_is_made_with_the_summary_and_the_turn_goes_on() -> None:
    def answer(request: ModelRequest) -> Step:
        number = len(model.requests)
        if number == 3:
            return ASK
        return "Done." if number == 5 else Reply("x " * 900, calls=[("look", '{"word": "a b"}')])

    model = Windowed(answer, summary="The radius is 1.72 solar radii [k3f2a9c1-12:3].")
    bench = Bench(model, Look(), CompressContext(), context_tokens=100_000)
    result: Any = await bench.turn("Which radius?")
    assert result.status == "completed"
    (done,) = bench.journal.of(Compaction)
    assert (done.kind, done.outcome, done.step) == ("manual", "summarised", 4)
    assert done.tokens_after < done.tokens_before
    before, after = model.requests[2], model.requests[3]
    assert len(after.messages) < len(before.messages) + 2
    assert "1.72 solar radii [k3f2a9c1-12:3]" in after.messages[2].content
    assert after.messages[-1].name == "compress_context"
    assert model.faults == []


async def test_a_conversation_too_short_to_free_anything_is_left_as_it_is() -> None:
    model = Windowed(lambda _: "Done." if len(model.requests) == 2 else ASK)
    bench = Bench(model, CompressContext(), context_tokens=100_000)
    assert (await bench.turn("Hello")).status == "completed"
    assert [(c.kind, c.outcome) for c in bench.journal.of(Compaction)] == [("manual", "too_little")]
    assert model.summaries == []
