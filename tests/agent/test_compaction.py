"""Compaction: what a model is shown grows short again; what was said is never lost or changed."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from typing_extensions import override

from agent.doubles import ListJournal
from agent.parts import SYSTEM, Act, Bench, Look, Word
from agent.windowed import Windowed, looking, tokens_of
from nuncius.agent.compaction import Window
from nuncius.agent.context import Budget, Price
from nuncius.agent.conversation import Conversation
from nuncius.agent.tool import ToolContext, ToolOutput
from nuncius.agent.transcript import NOTE
from nuncius.core.errors import ContextOverflowError, ModelError
from nuncius.core.events import Compaction, TurnFinished, UsageEvent
from nuncius.core.messages import Thinking, ToolCall, Usage
from nuncius.llm.model import ModelRequest
from nuncius.llm.scripted import Reply, Step
from nuncius.tools.talk import CompressContext

SMALL: dict[str, Any] = {"context_tokens": 4000, "max_output_tokens": 400}
PAGE = "The radius of HD 12345 is 1.72 solar radii. "
SPEECH = "I think about giants. " * 25


class Page(Look):
    """Give a page of text."""

    def __init__(self, sentences: int = 40) -> None:
        self._sentences = sentences

    @override
    async def run(self, args: Word, ctx: ToolContext) -> ToolOutput:
        return ToolOutput(f"{args.word}: {PAGE * self._sentences}", metadata={"word": args.word})


def gives(text: str) -> Callable[[Word, ToolContext], ToolOutput]:
    return lambda _args, _ctx: ToolOutput(text)


class LastingPage(Page):
    """Give a page of text that stays."""

    lasting = True


class Asked(Act):
    """What a person answered."""

    lasting = True


def compactions(bench: Bench) -> list[Compaction]:
    return bench.journal.of(Compaction)


def view_of(journal: ListJournal) -> tuple[Any, ...]:
    """Return what another process would show the model."""
    return Conversation.of(journal.kept).history.view()


def live(bench: Bench) -> Conversation:
    """Return the conversation as the process that ran it holds it."""
    conversations: Any = bench.runtime.conversations
    return conversations._kept["s"]


# --- masking ---


async def test_old_outputs_give_way_in_few_batches_and_the_journal_keeps_them() -> None:
    model = Windowed(looking(40), window=8000)
    bench = Bench(model, Page(20), context_tokens=8000, max_output_tokens=400)
    result = await bench.turn("Read it all.", max_steps=60)
    assert result.status == "completed"
    assert (model.faults, model.overflows) == ([], 0)
    batches = [c for c in compactions(bench) if c.kind == "micro"]
    assert batches
    assert all(c.outcome == "masked" and c.tokens_after < c.tokens_before for c in batches)
    assert len(compactions(bench)) <= 10  # of 40 steps: the prompt's cache is broken rarely
    outputs = [m.message.content for m in bench.journal.kept if m.message.role == "tool"]
    assert all(PAGE in output for output in outputs)
    stub = next(m.content for m in model.sent if "Left out here" in m.content)
    assert "look" in stub
    assert '{"word":"w' in stub
    assert "The same call gives it again." in stub
    assert PAGE in model.sent[-1].content


async def test_an_answer_of_the_users_and_the_last_step_are_never_masked() -> None:
    calls = [("look", '{"word": "x"}')] * 3
    first = Reply(calls=[("act", '{"word": "me"}'), *calls])

    def answer(request: ModelRequest) -> Step:
        steps = sum(m.role == "assistant" for m in request.messages)
        return "Done." if steps == 4 else first if not steps else Reply(calls=calls)

    asked = Asked(gives("The user wants giants only. " * 40))
    model = Windowed(answer)
    bench = Bench(model, Page(20), asked, context_tokens=6000, max_output_tokens=400)
    await bench.turn()
    assert [c.kind for c in compactions(bench)].count("micro") >= 1
    tools = [m for m in model.sent if m.role == "tool"]
    assert "giants only" in tools[0].content
    assert all(PAGE in m.content for m in tools[-3:])
    assert any("Left out" in m.content for m in tools)


async def test_a_side_effect_is_not_offered_for_repetition() -> None:
    act = Act(gives("written " * 400))
    numbers = iter(range(99))

    def answer(request: ModelRequest) -> Step:
        n = next(numbers)
        return Reply(calls=[("act", f'{{"word": "{n}"}}')]) if n < 10 else "Done."

    model = Windowed(answer)
    bench = Bench(model, act, context_tokens=6000, max_output_tokens=400)
    await bench.turn()
    stubs = [m.content for m in model.sent if "Left out" in m.content]
    assert stubs
    assert all("do not repeat it" in stub for stub in stubs)


async def test_what_was_read_before_counts_as_unseen_after_any_compaction() -> None:
    model = Windowed(looking(12))
    bench = Bench(model, Page(), **SMALL)
    state = bench.runtime.conversations.read_state("s")
    state.shown["/a.md", 1, None] = ("digest", 0)
    await bench.turn()
    done = [c for c in compactions(bench) if c.outcome != "too_little"]
    assert state.generation == len(done) > 0
    assert state.shown == {}


# --- summaries ---


async def test_a_long_turn_goes_on_by_itself_with_a_summary() -> None:
    model = Windowed(looking(30, says=SPEECH), window=4000)
    bench = Bench(model, Page(), **SMALL)
    result = await bench.turn("Which radius? Give [handles].", max_steps=60)
    assert (result.status, result.answer.text) == ("completed", "Done.")
    assert (model.faults, model.overflows) == ([], 0)
    auto = [c for c in compactions(bench) if c.kind == "auto"]
    assert auto
    assert all(c.tokens_after <= 0.9 * c.tokens_before for c in auto)
    assert model.sent[0].content == "Which radius? Give [handles]."
    assert model.sent[1].role == "assistant"
    assert "[k3f2a9c1-12:3] holds" in model.sent[1].content
    assert len(bench.finisher.given[0][1]) == 30  # the evidence of all steps can be cited
    assert len([m for m in bench.journal.kept if m.message.role == "tool"]) == 30


async def test_the_summary_is_asked_for_without_tools_reasoning_or_long_outputs() -> None:
    def answer(request: ModelRequest) -> Step:
        reply = look(request)
        assert isinstance(reply, Reply)
        return Reply(reply.text, reply.calls, thinking="secret thoughts")

    look = looking(99, says=SPEECH)
    model = Windowed(answer)
    bench = Bench(model, LastingPage(90), **SMALL)
    await bench.turn(max_steps=30)
    asked = model.summaries[0]
    assert asked.tools == ()
    assert not asked.enable_thinking
    assert [m.role for m in asked.messages] == ["system", "user"]
    assert "secret thoughts" not in asked.messages[1].content
    assert PAGE * 60 not in asked.messages[1].content
    assert "characters left out" in asked.messages[1].content


async def test_the_earlier_summary_is_folded_in_not_nested() -> None:
    numbers = iter(range(1, 99))
    model = Windowed(
        looking(40, says=SPEECH), window=4000, summary=lambda _: f"Summary {next(numbers)}."
    )
    bench = Bench(model, Page(), **SMALL)
    await bench.turn("The question.", max_steps=60)
    assert len(model.summaries) >= 3
    asked = [r.messages[1].content for r in model.summaries]
    assert "Earlier summary" not in asked[0]
    for number, text in enumerate(asked[1:], 1):
        assert text.count(f"Summary {number}.") == 1
        assert number == 1 or f"Summary {number - 1}." not in text
    said = "\n".join(m.content for m in model.sent)
    assert said.count("Summary ") == 2  # its heading and the last one
    assert said.count("The question.") == 1


async def test_the_users_own_words_stay_the_first_and_the_newest_as_they_fit() -> None:
    model = Windowed(looking(2), window=6000)
    bench = Bench(model, Page(), context_tokens=6000, max_output_tokens=400)
    for number in range(30):
        await bench.turn(f"Question {number}: " + "which star? " * 20)
    assert any(c.kind == "auto" for c in compactions(bench))
    said = "\n".join(m.content for m in model.sent if m.role == "user")
    assert "Question 0:" in said
    assert "Question 29:" in said
    assert "Question 28:" in said
    assert "Question 2:" not in said
    assert (model.faults, model.overflows) == ([], 0)


@pytest.mark.parametrize(
    "summary",
    [
        Reply("I look.", calls=[("look", "{}")]),
        ModelError("m", "", "no"),
        ModelError("m", "", "busy", retryable=True),
        "",
    ],
)
async def test_without_a_summary_the_oldest_are_dropped_and_it_is_said_what_was_done(
    summary: Step, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    model = Windowed(looking(20, says=SPEECH), window=4000, summary=summary)
    bench = Bench(model, Page(), **SMALL)
    result = await bench.turn("The question.", max_steps=60)
    assert result.status == "completed"
    assert {c.outcome for c in compactions(bench) if c.kind == "auto"} == {"dropped"}
    assert model.sent[0].content == "The question."
    assert "older messages were dropped" in model.sent[1].content
    assert "look {" in model.sent[1].content
    assert (model.faults, model.overflows) == ([], 0)


async def test_a_summary_that_is_too_long_to_ask_for_is_asked_for_with_less() -> None:
    sizes: list[int] = []

    def summary(request: ModelRequest) -> Step:
        sizes.append(tokens_of(request))
        if tokens_of(request) > 1500:
            return ContextOverflowError("m", "", "too long")
        return "Short."

    bench = Bench(Windowed(looking(20, says=SPEECH), summary=summary), Page(10), **SMALL)
    await bench.turn(max_steps=60)
    assert "summarised" in {c.outcome for c in compactions(bench)}
    assert sizes[0] > 1500 > sizes[-1]


async def test_signed_reasoning_is_sent_back_byte_for_byte_or_not_at_all() -> None:
    look = looking(30, says=SPEECH)
    sent: set[str] = set()

    def answer(request: ModelRequest) -> Step:
        for message in request.messages:
            if message.thinking:
                sent.add(message.content)
                assert message.thinking == (Thinking("scripted", "hm"),)
        reply = look(request)
        return Reply(reply.text, reply.calls, "hm") if isinstance(reply, Reply) else reply

    bench = Bench(Windowed(answer, window=4000), Page(), **SMALL)
    assert (await bench.turn(max_steps=60)).status == "completed"
    assert any(c.kind == "auto" for c in compactions(bench))
    said = {m.message.content for m in bench.journal.kept if m.message.thinking}
    assert sent
    assert sent <= said  # never joined with a summary


async def test_todos_and_read_files_are_told_again() -> None:
    async def standing(_: str) -> list[str]:
        return ["The todo list now:\n- 1 (pending): find the mass"]

    model = Windowed(looking(20, says=SPEECH), window=4000)
    bench = Bench(model, Page(), **SMALL, standing=standing)
    digests = bench.runtime.conversations.read_state("s").digests
    digests["/notes/m31.md"] = "ab12" * 16
    await bench.turn(max_steps=60)
    assert "find the mass" in model.sent[1].content
    assert "/notes/m31.md (sha256 ab12ab12ab12)" in model.sent[1].content
    assert digests  # what was read may still be edited


async def test_cancelling_while_a_summary_is_written_keeps_none_of_it() -> None:
    cancel = asyncio.Event()

    def summary(_: ModelRequest) -> Step:
        cancel.set()
        return Reply(["Half a ", "summary"], delay_s=0.01)

    bench = Bench(Windowed(looking(30, says=SPEECH), summary=summary), Page(), **SMALL)
    result = await bench.turn(cancel=cancel)
    assert result.status == "cancelled"
    assert not any("Half" in m.message.content for m in bench.journal.kept)
    assert bench.kinds()[-1] == "turn_finished"


async def test_a_summary_counts_as_usage_and_is_not_shown() -> None:
    model = Windowed(
        looking(20, says=SPEECH), summary=Reply("Seen by nobody.", usage=Usage(100, 7))
    )
    bench = Bench(model, Page(), **SMALL, prices={"scripted": Price(1.0, 1.0)})
    result = await bench.turn(max_steps=60)
    asked = len(model.requests) + len(model.summaries)
    assert len(bench.journal.of(UsageEvent)) == asked
    assert result.usage.output_tokens == 10 * len(model.requests) + 7 * len(model.summaries)
    assert result.usage.cost_usd == pytest.approx(
        (result.usage.input_tokens + result.usage.output_tokens) / 1e6
    )
    shown = "".join(e.text for e in bench.journal.log if e.type == "text_delta")
    assert "Seen by nobody" not in shown


# --- what cannot be made smaller ---


async def test_what_cannot_be_made_smaller_ends_the_turn_with_its_name() -> None:
    model = Windowed(looking(99))
    bench = Bench(model, Look(), **SMALL)
    bench.runtime.system_prompt = SYSTEM * 1200
    result = await bench.turn(max_steps=60)
    assert result.status == "failed"
    assert "system prompt 5," in result.error
    assert "tool definitions" in result.error
    assert "last messages" in result.error
    assert "LLM_CONTEXT_TOKENS" in result.error
    assert [c.outcome for c in compactions(bench)] == ["too_little"] * 3
    assert model.summaries == []  # no money for what cannot help


async def test_a_compaction_that_frees_less_than_a_tenth_has_failed_and_changes_nothing() -> None:
    model = Windowed(looking(99), summary="long " * 3000)
    bench = Bench(model, Page(8), **SMALL)
    bench.runtime.system_prompt = SYSTEM * 650
    result = await bench.turn(max_steps=60)
    assert result.status == "failed"
    outcomes = [c.outcome for c in compactions(bench)]
    assert outcomes[-3:] == ["too_little"] * 3
    assert "3 compactions in a row" in result.error


async def test_a_long_context_is_left_alone() -> None:
    bench = Bench(Windowed(looking(40)), Page(), context_tokens=1_000_000)
    await bench.turn(max_steps=60)
    assert compactions(bench) == []


async def test_a_model_without_a_window_is_never_compressed() -> None:
    bench = Bench(Windowed(looking(40)), Page(), CompressContext())
    await bench.turn(max_steps=60)
    output = await bench.runtime.run_call("s", "compress_context", "{}")
    assert "any length" in output.content
    assert compactions(bench) == []


def test_the_reserve_for_the_reply_is_capped() -> None:
    assert Window.of(128_000, 4096).limit == 123_904
    assert Window.of(8000, 8000).limit == 6000
    assert Window.of(8000, None).limit == 6000


# --- the provider says so ---


async def test_a_refused_request_is_compressed_once_and_sent_again() -> None:
    model = Windowed(looking(30, says=SPEECH), window=3000)
    bench = Bench(model, Page(), context_tokens=100_000, max_output_tokens=400)
    result = await bench.turn("The question.", max_steps=60)
    assert result.status == "completed"
    assert model.overflows == 1  # from then on its window is known
    assert model.faults == []
    assert {c.kind for c in compactions(bench)} >= {"auto"}


async def test_a_request_that_stays_too_long_fails_with_the_providers_reason() -> None:
    model = Windowed(looking(30), window=200)
    bench = Bench(model, Page(), context_tokens=100_000)
    result = await bench.turn(max_steps=60)
    assert result.status == "failed"
    assert isinstance(result.cause, ContextOverflowError)
    assert model.overflows <= 6


# --- on demand ---


async def test_the_model_can_ask_for_it_with_a_focus() -> None:
    def answer(request: ModelRequest) -> Step:
        n = len(model.requests)
        if n == 4:
            return Reply(calls=[("compress_context", '{"focus": "radii"}')])
        return "Done." if n == 6 else Reply(calls=[("look", f'{{"word": "{n}"}}')])

    model = Windowed(answer)
    bench = Bench(model, Page(), CompressContext(), context_tokens=100_000)
    assert (await bench.turn("The question.")).status == "completed"
    (done,) = compactions(bench)
    assert (done.kind, done.outcome) == ("manual", "summarised")
    assert "Keep above all what concerns: radii" in model.summaries[0].messages[1].content
    assert [m.role for m in model.requests[4].messages[1:]][:2] == ["user", "assistant"]
    assert model.faults == []


async def test_it_can_be_asked_for_from_outside_and_ignores_the_open_breaker() -> None:
    model = Windowed(looking(3))
    bench = Bench(model, Page(), context_tokens=100_000)
    await bench.turn()
    live(bench).failures = 3
    bench.runtime.compress("s", "radii")
    assert (await bench.turn("And now?")).status == "completed"
    assert [(c.kind, c.outcome) for c in compactions(bench)] == [("manual", "summarised")]
    assert live(bench).failures == 0


async def test_a_call_without_a_conversation_says_so() -> None:
    bench = Bench([], CompressContext(), context_tokens=100_000)
    output = await bench.runtime.run_call("s", "compress_context", "{}")
    assert (output.is_error, output.error_kind) == (True, "unavailable")


# --- another process ---


async def test_another_process_shows_the_model_the_same() -> None:
    model = Windowed(looking(25, says=SPEECH), window=4000)
    bench = Bench(model, Page(), **SMALL)
    await bench.turn("One.", max_steps=60)
    await bench.turn("Two.", max_steps=60)
    assert {c.kind for c in compactions(bench)} == {"micro", "auto"}
    assert view_of(bench.journal) == live(bench).history.view()
    before = model.sent
    roomy = SMALL | {"context_tokens": None}  # the view as it is rebuilt, not compacted once more
    fresh = Bench(Windowed(looking(0)), Page(), journal=bench.journal, **roomy)
    fresh_model: Any = fresh.model
    await fresh.turn("Three.")
    assert list(fresh_model.requests[0].messages[1 : len(before) + 1]) == before


async def test_a_call_id_stays_taken_when_its_call_is_out_of_view() -> None:
    numbers = iter(range(999))

    def answer(request: ModelRequest) -> Step:
        n = next(numbers)
        call = ToolCall("same", "look", f'{{"word": "{n}"}}')
        return "Done." if n % 26 == 25 else Reply(calls=[call])

    bench = Bench(Windowed(answer, window=4000), Page(), **SMALL)
    await bench.turn(max_steps=60)
    fresh = Bench(Windowed(answer, window=4000), Page(), journal=bench.journal, **SMALL)
    await fresh.turn(max_steps=60)
    assert any(c.kind == "auto" for c in compactions(bench))
    ids = [call.id for m in bench.journal.kept for call in m.message.tool_calls]
    assert len(ids) == len(set(ids)) == 50


async def test_a_compaction_that_cannot_be_read_shows_the_whole_conversation(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL)
    bench = Bench(Windowed(looking(25), window=4000), Page(), **SMALL)
    await bench.turn("One.", max_steps=60)
    for stored in bench.journal.kept:
        if "compaction" in stored.metadata:
            stored.metadata["compaction"]["head"] = "no list"  # type: ignore[index]
            stored.metadata["compaction"]["masks"] = []  # type: ignore[index]
    assert sum(m.role == "tool" for m in view_of(bench.journal)) == 25


def test_the_note_is_no_words_of_the_users() -> None:
    assert "summary" in NOTE


# --- budget ---


async def test_a_turn_ends_at_its_budget_of_tokens_and_says_how_to_raise_it() -> None:
    call = Reply(calls=[("look", '{"word": "a"}')], usage=Usage(400, 100))
    bench = Bench(
        lambda request: Reply(
            calls=[("look", f'{{"word": "{len(request.messages)}"}}')], usage=call.usage
        ),
        budget=Budget(max_tokens=1200),
    )
    result = await bench.turn()
    assert result.status == "budget"
    assert len(bench.model.requests) == 3  # never exceeded by more than one call
    assert result.usage.input_tokens + result.usage.output_tokens == 1500
    assert "NUNCIUS_MAX_TOKENS" in result.error
    assert bench.journal.of(TurnFinished)[-1].status == "budget"
    assert result.cause.exit_code == 6


async def test_the_budget_is_the_sessions_and_a_summary_counts() -> None:
    async def spent(_: str) -> Usage:
        return sum((Usage(e.input_tokens, e.output_tokens, cost_usd=e.cost_usd)
                    for e in bench.journal.of(UsageEvent)), Usage())  # fmt: skip

    model = Windowed(looking(20, says=SPEECH))
    bench = Bench(
        model, Page(), **SMALL,
        spent=spent, prices={"scripted": Price(1.0, 1.0)}, budget=Budget(max_cost_usd=0.05),
    )  # fmt: skip
    statuses = [(await bench.turn(max_steps=60)).status for _ in range(3)]
    assert statuses[-1] == "budget"
    assert model.summaries
    events = bench.journal.of(UsageEvent)
    before_last = sum(e.cost_usd for e in events[:-1])
    assert before_last < 0.05 <= before_last + events[-1].cost_usd


async def test_no_summary_is_bought_beyond_the_budget() -> None:
    model = Windowed(looking(99, says=SPEECH))
    bench = Bench(model, Page(), **SMALL, budget=Budget(max_tokens=3000))
    result = await bench.turn(max_steps=60)
    assert result.status == "budget"
    assert model.summaries == []
