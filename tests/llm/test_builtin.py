"""The model that needs no key: what it asks the tools, and what it writes of what they show."""

import json
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.core.messages import Message, ToolDefinition
from nuncius.llm.builtin import BuiltinModel
from nuncius.llm.model import Completion, ModelRequest

TOOLS = [ToolDefinition(name, "", {}) for name in ("rag_search", "get_paper_content")]
PAPERS = """Library: 2 papers, 30 passages.
Terms (passages that hold them; 0: nowhere in the library): {terms}
# aaaa1111 · Clocks in the sky · Rey 2021
[aaaa1111-4] p. 2 · match 100% · Timing
2| The pulsar PSR J0101+0202 has a spin period of 5.75 ms.
3| Its dispersion measure is 12.3 pc cm-3.
# bbbb2222 · Spun-up stars · Moss et al. 2020
[bbbb2222-7] p. 5 · match 80% · Results
1| For PSR J0101+0202 a spin period of 5.7 ms was found in the radio.
"""
SEARCHED = PAPERS.format(terms="spin period (3); psr (5); j 0101 (2); 0202 (2)")
EMPTY = (
    "Library: 0 papers, 0 passages.\n"
    "Terms (passages that hold them; 0: nowhere in the library): period (0)\n"
    "No passage holds any of these terms."
)
QUESTION = "What is the spin period of PSR J0101+0202?"
ASKED_IN_CHINESE = "PSR J0101+0202 的自转周期是多少？"
IN_CHINESE = PAPERS.format(terms="spin period = 自转 转周 周期 (3); psr (5); j 0101 (2); 0202 (2)")


async def move(messages: Sequence[Message], tools: Sequence[ToolDefinition] = TOOLS) -> Completion:
    """Return the model's next move."""
    last = None
    async for chunk in BuiltinModel().stream(ModelRequest(messages, tools)):
        last = chunk
    assert isinstance(last, Completion)
    return last


def turn(question: str, *outputs: tuple[str, str], error: bool = False) -> list[Message]:
    """Return a turn so far: the question and what the tools said."""
    return [
        Message("user", question),
        *(
            Message("tool", text, name=name, tool_call_id=f"c{number}", is_error=error)
            for number, (name, text) in enumerate(outputs)
        ),
    ]


async def answer(question: str, shown: str) -> str:
    """Return the answer after a search and a reading that showed nothing more."""
    outputs = (("rag_search", shown), ("get_paper_content", "(end; 0 passages here)"))
    found = await move(turn(question, *outputs))
    assert found.finish == "stop"
    return found.message.content


async def test_first_it_searches_with_the_question_as_it_is() -> None:
    first = await move(turn(QUESTION))
    (call,) = first.message.tool_calls
    assert (first.finish, call.name) == ("tool_calls", "rag_search")
    assert json.loads(call.arguments)["query"] == QUESTION


async def test_then_it_reads_around_the_best_passage() -> None:
    second = await move(turn(QUESTION, ("rag_search", SEARCHED)))
    (call,) = second.message.tool_calls
    assert call.name == "get_paper_content"
    arguments = json.loads(call.arguments)
    assert arguments["paper_id"] == "aaaa1111"
    assert arguments["offset"] <= 4 < arguments["offset"] + arguments["limit"]


async def test_the_answer_is_quotes_grouped_by_paper() -> None:
    text = await answer(QUESTION, SEARCHED)
    assert text.index("[aaaa1111-4:2]") < text.index("[bbbb2222-7:1]")
    assert "**Clocks in the sky** (Rey 2021)" in text
    assert "**Spun-up stars** (Moss et al. 2020)" in text


async def test_a_star_in_a_title_ends_no_emphasis() -> None:
    text = await answer(QUESTION, SEARCHED.replace("Clocks in the sky", "Clocks near Sgr A*"))
    assert r"**Clocks near Sgr A\*** (Rey 2021)" in text


async def test_a_chinese_question_is_answered_in_chinese() -> None:
    text = await answer(ASKED_IN_CHINESE, IN_CHINESE)
    assert "[aaaa1111-4:2]" in text
    assert text.startswith("馆藏中回答或涉及这个问题的原句")


async def test_its_own_words_hold_no_number_but_those_of_papers_looked_at() -> None:
    for question in (QUESTION, "What is the albedo of PSR J0101+0202?", "How old is it?"):
        text = await answer(question, SEARCHED)
        own = re.sub(r"\[[a-z0-9]{8}-\d+(?::\d+(?:-\d+)?)?\]", "", text)
        assert set(re.findall(r"\d+", own)) <= {"2021", "2020", "2", "5", "0101", "0202"}


async def test_a_name_that_the_library_never_says_is_told_as_the_user_wrote_it() -> None:
    shown = PAPERS.format(terms="spin period (3); gw 190521 = gw190521 (0)")
    text = await answer("What is the spin period of GW190521?", shown)
    assert "GW190521" in text
    assert not re.search(r"\[[a-z0-9]{8}-\d", text)
    assert "Rey 2021, p. 2" in text


async def test_a_value_of_another_thing_is_no_answer() -> None:
    shown = PAPERS.format(terms="spin period (3); psr (5); j 0909 (1); 0808 (1)")
    text = await answer("What is the spin period of PSR J0909+0808?", shown)
    assert text.startswith("[not found]")


async def test_the_wrong_kind_of_value_is_no_answer() -> None:
    shown = PAPERS.format(terms="distance (4); psr (5); j 0101 (2); 0202 (2)")
    text = await answer("What is the distance of PSR J0101+0202 in light years?", shown)
    assert text.startswith("[not found]")


async def test_an_empty_library_is_told_what_to_do() -> None:
    reply = await move(turn("What is the period?", ("rag_search", EMPTY)))
    assert "nuncius add" in reply.message.content


async def test_a_failed_search_is_told_and_is_not_no_results() -> None:
    reply = await move(turn(QUESTION, ("rag_search", "the index\nis damaged"), error=True))
    assert reply.message.content == (
        "[not found] The search failed, so nothing was looked at. the index is damaged"
    )


async def test_without_the_search_tool_it_says_so() -> None:
    reply = await move(turn(QUESTION), tools=())
    assert "rag_search is missing" in reply.message.content


async def test_a_question_that_leans_on_the_one_before_takes_it_along() -> None:
    messages = [*turn(QUESTION, ("rag_search", SEARCHED)), Message("assistant", "...")]
    query = (await move([*messages, Message("user", "And how far away is it?")])).message
    assert "J0101+0202" in query.tool_calls[0].arguments
    alone = (await move([*messages, Message("user", "Which telescope found the Crab?")])).message
    assert "J0101+0202" not in alone.tool_calls[0].arguments


async def test_the_same_request_gives_the_same_answer() -> None:
    assert await answer(QUESTION, SEARCHED) == await answer(QUESTION, SEARCHED)


async def test_what_it_read_is_told_as_usage() -> None:
    short = await move(turn(QUESTION))
    long = await move(turn(QUESTION, ("rag_search", SEARCHED)))
    assert long.usage.input_tokens - short.usage.input_tokens == pytest.approx(
        len(SEARCHED) / 4, abs=2
    )


def test_its_limits_are_part_of_it() -> None:
    model = BuiltinModel()
    assert (model.name, model.local) == ("builtin", True)
    assert model.degraded == "quotes only, no language model"


@given(
    question=st.text(max_size=120),
    outputs=st.lists(
        st.tuples(
            st.sampled_from(["rag_search", "get_paper_content", "run_bash"]), st.text(max_size=300)
        ),
        max_size=4,
    ),
    error=st.booleans(),
)
async def test_no_question_and_no_output_makes_it_fail(
    question: str, outputs: list[tuple[str, str]], error: bool
) -> None:
    reply = await move(turn(question, *outputs, error=error))
    assert reply.message.content or reply.message.tool_calls


@given(st.text(alphabet="|[]#·· 0123456789abcdefp.%()~;=:\n", max_size=300))
async def test_outputs_in_nearly_the_right_form_do_not_make_it_fail(text: str) -> None:
    reply = await move(turn(QUESTION, ("rag_search", SEARCHED + text), ("get_paper_content", text)))
    assert reply.message.content
