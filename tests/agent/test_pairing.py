"""Any sequence of messages becomes one that a strict provider takes."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm.strict_provider import faults
from nuncius.agent.pairing import NO_RESULT, PairedHistory, repair
from nuncius.core.messages import Message, ToolCall
from nuncius.llm import wire

ids = st.sampled_from(["", " ", "c1", "c2", "c3", "call_0", "call_1", "x" * 41, "a:b", "\x00", "é"])
texts = st.text(max_size=8) | st.sampled_from(["", " ", "\ud800", "z = 0.031\x00"])
calls = st.builds(
    ToolCall,
    id=ids,
    name=st.sampled_from(["read_file", "", "a b", "r\u0435ad", "n" * 70, "<img>", "\udfff"]),
    arguments=st.sampled_from(
        ["{}", '{"a": 1}', "", "null", "[1]", "{", '{"a": NaN}', '{"a": "\\ud800"}', "[" * 3000]
    ),
)
messages = st.one_of(
    st.builds(Message, role=st.sampled_from(["system", "user"]), content=texts),
    st.builds(
        Message,
        role=st.just("assistant"),
        content=texts,
        tool_calls=st.lists(calls, max_size=3).map(tuple),
    ),
    st.builds(
        Message, role=st.just("tool"), content=texts, tool_call_id=ids, is_error=st.booleans()
    ),
)
conversations = st.lists(messages, max_size=12)


def on_the_wire(sent: tuple[Message, ...]) -> list[dict[str, object]]:
    return [wire.message_object(message, wire.Dialect(), "") for message in sent]


@settings(max_examples=400, deadline=None)
@given(conversations)
def test_any_conversation_is_valid_for_a_strict_provider(conversation: list[Message]) -> None:
    repaired = repair(conversation)
    assert not repaired or faults(on_the_wire(tuple(repaired))) == []


@settings(max_examples=200, deadline=None)
@given(conversations)
def test_repairing_twice_changes_nothing(conversation: list[Message]) -> None:
    once = repair(conversation)
    assert repair(once) == once


@settings(max_examples=200, deadline=None)
@given(conversations)
def test_the_transcript_is_untouched_and_the_repair_is_the_same_every_time(
    conversation: list[Message],
) -> None:
    before = copy.deepcopy(conversation)
    assert repair(conversation) == repair(conversation)
    assert conversation == before


@settings(max_examples=200, deadline=None)
@given(conversations)
def test_one_message_at_a_time_gives_the_same_and_no_look_changes_it(
    conversation: list[Message],
) -> None:
    history = PairedHistory()
    for message in conversation:
        history.add(message)
        history.view()
    assert history.view() == repair(conversation)


@settings(max_examples=200, deadline=None)
@given(conversations)
def test_no_call_and_no_word_of_the_user_is_lost(conversation: list[Message]) -> None:
    repaired = repair(conversation)
    assert sum(len(m.tool_calls) for m in repaired) == sum(len(m.tool_calls) for m in conversation)
    said = "".join(m.content for m in repaired if m.role == "user")
    assert all(
        word in said
        for m in conversation
        if m.role == "user"
        for word in m.content.split()
        if word.isalnum() and word.isascii()
    )


def call(name: str, call_id: str) -> ToolCall:
    return ToolCall(call_id, name, "{}")


def asking(*ids: str) -> Message:
    return Message("assistant", "", tuple(call("f", i) for i in ids))


def result(call_id: str, text: str = "ok") -> Message:
    return Message("tool", text, tool_call_id=call_id, name="f")


def test_missing_results_are_made_up_in_call_order_before_the_next_message() -> None:
    view = repair([asking("a", "b", "c"), result("b"), Message("user", "next")])
    assert [(m.role, m.tool_call_id) for m in view] == [
        ("assistant", ""),
        ("tool", "a"),
        ("tool", "b"),
        ("tool", "c"),
        ("user", ""),
    ]
    assert view[1].content == view[3].content == NO_RESULT
    assert view[2].content == "ok"


def test_results_stand_in_call_order_whatever_the_order_they_came_in() -> None:
    view = repair([asking("a", "b"), result("b", "2"), result("a", "1")])
    assert [m.content for m in view[1:]] == ["1", "2"]


def test_the_first_of_two_results_wins_and_orphans_are_dropped() -> None:
    view = repair([result("a", "early"), asking("a"), result("a", "1"), result("a", "2")])
    assert [m.content for m in view] == ["", "1"]


def test_two_calls_that_share_an_id_are_answered_in_turn_under_ids_of_their_own() -> None:
    view = repair([asking("a", "a"), result("a", "1"), result("a", "2")])
    first, second = view[0].tool_calls
    assert first.id != second.id
    assert [(m.tool_call_id, m.content) for m in view[1:]] == [(first.id, "1"), (second.id, "2")]


def test_an_id_used_in_an_earlier_turn_is_not_used_again() -> None:
    view = repair([asking("a"), result("a", "1"), asking("a"), result("a", "2")])
    assert len({c.id for m in view for c in m.tool_calls}) == 2
    assert [m.content for m in view if m.role == "tool"] == ["1", "2"]


@pytest.mark.parametrize("count", [1, 50])
def test_a_view_costs_no_repair_of_what_was_settled(count: int) -> None:
    history = PairedHistory()
    for number in range(count):
        history.add(asking(f"c{number}"))
        history.add(result(f"c{number}"))
    settled = history.view()
    history.add(Message("user", "and?"))
    assert all(a is b for a, b in zip(history.view(), settled, strict=False))
