"""The rules of the accumulator, each with the servers' behaviour it is there for."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.core.errors import (
    ContextOverflowError,
    EmptyReplyError,
    KeyMissingError,
    ModelError,
    NunciusError,
    StreamCutError,
)
from nuncius.core.messages import ToolCall, Usage
from nuncius.llm.accumulate import Accumulator
from nuncius.llm.faults import Origin
from nuncius.llm.model import Completion, TextChunk, ThinkingChunk
from nuncius.llm.sse import DONE, SseReader

ORIGIN = Origin("test/model", "http://example.org")


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def call(**fields: Any) -> dict[str, Any]:
    """One piece of a call; name and arguments go where the protocol has them."""
    function = {key: fields.pop(key) for key in ("name", "arguments") if key in fields}
    return delta(tool_calls=[{**fields, "function": function}])


def assemble(
    objects: Iterable[dict[str, Any]], *, done: bool = True, limit: int | None = None
) -> Completion:
    accumulator = Accumulator(ORIGIN, max_output_tokens=limit)
    for entry in objects:
        accumulator.add(entry)
    return accumulator.finish(done=done)[1]


def calls_of(*objects: dict[str, Any]) -> list[tuple[str, str, str]]:
    completion = assemble(objects)
    return [(c.id, c.name, c.arguments) for c in completion.message.tool_calls]


# --- recorded streams ---

RECORDED: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
    # file -> (finish, start of the text, calls)
    "openai_chat_parallel_toolcalls.sse": (
        "tool_calls",
        "",
        [("get_country", "{}"), ("get_product_name", "{}")],
    ),
    "openai_chat_tool_basic.sse": ("tool_calls", "", [("multiply", '{"a":1231,"b":2331}')]),
    "openai_chat_tool_round2.sse": ("tool_calls", "", [("get_weather", '{"city":"Mexico City"}')]),
    "openai_compat_tool_variant_a.sse": ("tool_calls", "", [("llm_version", "{}")]),
    "openai_compat_tool_variant_d.sse": ("tool_calls", "", [("llm_version", "{}")]),
    "groq_toolcall.sse": ("tool_calls", "", [("get_something_by_name", '{"name":"example"}')]),
    "SYNTHETIC_ollama_openai_same_index.sse": (
        "tool_calls",
        "",
        [("read_file", '{"path":"a"}'), ("read_file", '{"path":"b"}')],
    ),
    "deepseek_reasoner.sse": ("stop", "Hello there!", []),
    "openrouter_annotations.sse": ("stop", "The URL for Pydantic AI", []),
    "openrouter_reasoning_details.sse": ("stop", "I’m ChatGPT", []),
    "zai_test_zai_preserved_thinking_round_trip.json": ("stop", "17 * 19 is 323.", []),
    "ollama_test_ollama_cloud_tool_output.json": ("stop", "Paris.", []),
    "deepseek_test_deepseek_model_thinking_part.json": ("stop", "", []),
}


def recorded(path: Path, size: int = 11) -> tuple[Accumulator, bool, str]:
    """Feed a recording in pieces; return the accumulator, whether it was done, the shown text."""
    if path.suffix == ".json":
        accumulator = Accumulator(ORIGIN)
        accumulator.add(json.loads(path.read_bytes()))
        return accumulator, True, ""
    accumulator, reader, data, shown = Accumulator(ORIGIN), SseReader(), path.read_bytes(), ""
    for at in range(0, len(data), size):
        for _, payload in reader.feed(data[at : at + size]):
            if payload == DONE:
                return accumulator, True, shown
            chunks = accumulator.add(json.loads(payload))
            shown += "".join(c.text for c in chunks if isinstance(c, TextChunk))
    return accumulator, False, shown


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_stream_is_assembled_right(shared_data: Path, name: str) -> None:
    finish, text, calls = RECORDED[name]
    accumulator, done, _ = recorded(shared_data / "upstreams" / "llm" / name)
    _, completion = accumulator.finish(done=done)
    assert completion.finish == finish
    assert completion.message.content.startswith(text)
    assert [(c.name, c.arguments) for c in completion.message.tool_calls] == calls
    assert completion.usage.output_tokens > 0 or name.startswith("SYNTHETIC")


@pytest.mark.parametrize(
    "name", ["dashscope_qwen3max_thinking_head", "dashscope_qwenplus_plain_head"]
)
def test_a_recording_that_stops_early_is_a_cut_that_keeps_its_text(
    shared_data: Path, name: str
) -> None:
    accumulator, done, shown = recorded(shared_data / "upstreams" / "llm" / f"{name}.sse")
    with pytest.raises(StreamCutError) as caught:
        accumulator.finish(done=done)
    assert caught.value.retryable
    assert caught.value.partial is not None
    assert caught.value.partial.content == shown


def test_long_recorded_arguments_are_whole(shared_data: Path) -> None:
    path = shared_data / "upstreams" / "llm" / "openai_chat_structured_final_tool.sse"
    accumulator, done, _ = recorded(path)
    (final,) = accumulator.finish(done=done)[1].message.tool_calls
    assert [a["answer"] for a in json.loads(final.arguments)["answers"]] == [
        "Mexico City",
        "Sunny",
        "Pydantic AI",
    ]


def test_every_recording_of_the_protocol_is_covered(shared_data: Path) -> None:
    foreign = ("anthropic", "openai_responses")  # other protocols
    streams = {p.name for p in (shared_data / "upstreams" / "llm").glob("*.sse")}
    covered = {*RECORDED, "openai_chat_structured_final_tool.sse"}
    left = {s for s in streams if not s.startswith(foreign)} - covered
    assert all(name.startswith("dashscope") for name in left)


# --- which call does a piece belong to? ---


def test_a_known_id_goes_on_and_its_repeated_name_is_not_joined() -> None:
    assert calls_of(
        call(index=0, id="0", name="f", arguments=""),
        call(index=0, id="0", name="f", arguments='{"a":'),
        call(index=0, id="0", name="f", arguments="1}"),
        call(index=0, id="0", name="f", arguments=""),
    ) == [("0", "f", '{"a":1}')]


def test_a_name_after_a_complete_call_begins_another_though_the_id_is_the_same() -> None:
    assert calls_of(
        call(index=0, id="x", name="f", arguments='{"a":1}'),
        call(index=0, id="x", name="f", arguments=""),
        call(index=0, id="x", arguments='{"a":2}'),
    ) == [("x", "f", '{"a":1}'), ("x", "f", '{"a":2}')]


def test_a_known_id_under_another_index_is_another_call() -> None:
    assert calls_of(
        call(index=0, id="x", name="f", arguments='{"a":'),
        call(index=1, id="x", name="g", arguments='{"b":'),
        call(index=0, arguments="1}"),
        call(index=1, arguments="2}"),
    ) == [("x", "f", '{"a":1}'), ("x", "g", '{"b":2}')]


def test_a_new_id_is_a_new_call_whatever_its_index() -> None:
    assert calls_of(
        call(index=0, id="a", name="f", arguments=""),
        call(index=0, id="b", name="f", arguments='{"x":1}'),
    ) == [("a", "f", ""), ("b", "f", '{"x":1}')]


def test_an_id_for_each_piece_still_makes_one_call() -> None:
    assert calls_of(
        call(index=0, id="a", name="f", arguments='{"x"'),
        call(index=0, id="b", arguments=":"),
        call(index=0, id="c", arguments="1}"),
    ) == [("a", "f", '{"x":1}')]


def test_without_id_and_index_a_piece_belongs_to_the_last_call() -> None:
    assert calls_of(
        call(id="a", name="f", arguments='{"x":'),
        call(arguments="1}"),
        call(id="", name="", arguments=" "),
    ) == [("a", "f", '{"x":1} ')]


def test_a_name_without_id_after_complete_arguments_begins_a_call() -> None:
    for index in ({}, {"index": 0}):
        assert calls_of(
            call(**index, name="f", arguments='{"x":1}'),
            call(**index, name="f", arguments='{"x":2}'),
        ) == [("", "f", '{"x":1}'), ("", "f", '{"x":2}')]


def test_pieces_of_two_calls_may_interleave_by_index_and_the_first_index_may_be_one() -> None:
    assert calls_of(
        call(index=1, id="a", name="f", arguments='{"x":'),
        call(index=2, id="b", name="g", arguments='{"y":'),
        call(index=1, arguments="1}"),
        call(index=2, arguments="2}"),
    ) == [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')]


def test_an_empty_id_or_name_is_none_and_wipes_nothing() -> None:
    assert calls_of(
        call(index=0, id="a", name="f", arguments='{"x":'),
        call(index=0, id="", name="", arguments="1}"),
    ) == [("a", "f", '{"x":1}')]


def test_an_index_without_any_id_is_a_call_for_each_index() -> None:
    made = calls_of(
        call(index=0, name="f", arguments='{"x":'),
        call(index=1, name="g", arguments="{}"),
        call(index=0, arguments="1}"),
    )
    assert [(name, arguments) for _, name, arguments in made] == [("f", '{"x":1}'), ("g", "{}")]


def test_an_index_that_comes_late_is_taken() -> None:
    assert calls_of(call(id="a", name="f", arguments='{"x":'), call(index=0, arguments="1}")) == [
        ("a", "f", '{"x":1}')
    ]


def test_arguments_may_be_an_object_and_none_are_none() -> None:
    assert calls_of(
        call(index=0, id="a", name="f", arguments={"x": 1}),
        call(index=1, id="b", name="g", arguments=None),
        call(index=2, id="c", name="h"),
        call(index=3, id="d", name="i", arguments=""),
    ) == [("a", "f", '{"x": 1}'), ("b", "g", "{}"), ("c", "h", "{}"), ("d", "i", "")]


def test_braces_in_strings_do_not_end_a_call() -> None:
    assert calls_of(
        call(name="f", arguments='{"tex": "\\\\frac{a}'),
        call(name="f", arguments='{b}"}'),
    ) == [("", "f", '{"tex": "\\\\frac{a}{b}"}')]


@given(
    st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=5)), min_size=1, max_size=4),
    st.data(),
)
def test_arguments_cut_anywhere_and_interleaved_are_whole_again(
    objects: list[dict[str, str]], data: st.DataObject
) -> None:
    texts = [json.dumps(entry) for entry in objects]
    queues: list[list[dict[str, Any]]] = []
    for index, text in enumerate(texts):
        size = data.draw(st.integers(1, 7))
        cuts = [text[at : at + size] for at in range(0, len(text), size)]
        head = call(index=index, id=f"c{index}", name="f", arguments="")
        queues.append([head, *(call(index=index, arguments=cut) for cut in cuts)])
    pieces: list[dict[str, Any]] = []
    while any(queues):
        open_queues = [queue for queue in queues if queue]
        begun = [queue for queue in open_queues if len(queue[0]["choices"][0]["delta"]) > 0]
        pieces.append(data.draw(st.sampled_from(begun)).pop(0))
    assembled = {identity: text for identity, _, text in calls_of(*pieces)}
    assert [assembled[f"c{index}"] for index in range(len(texts))] == texts


def test_the_old_function_call_is_a_call() -> None:
    completion = assemble(
        [
            delta(function_call={"name": "f", "arguments": ""}),
            delta(function_call={"arguments": '{"a":1}'}),
            delta("function_call"),
        ]
    )
    assert completion.message.tool_calls == (ToolCall("", "f", '{"a":1}'),)
    assert completion.finish == "tool_calls"


@pytest.mark.parametrize("broken", [[None], {"id": "x"}, [[]], ["f"]])
def test_what_is_no_call_stays_visible_as_a_call_without_a_name(broken: Any) -> None:
    (made,) = assemble([delta(tool_calls=broken)]).message.tool_calls
    assert (made.name, made.arguments) == ("", "")


def test_no_calls_are_no_calls() -> None:
    assert assemble([delta(content="hi", tool_calls=None), delta("stop")]).message.tool_calls == ()


# --- text and reasoning ---


def shown(*objects: dict[str, Any]) -> tuple[str, str]:
    accumulator = Accumulator(ORIGIN)
    chunks = [chunk for entry in objects for chunk in accumulator.add(entry)]
    rest, completion = accumulator.finish(done=True)
    texts = "".join(c.text for c in [*chunks, *rest] if isinstance(c, TextChunk))
    assert texts.strip("\n") == completion.message.content
    thoughts = "".join(c.text for c in [*chunks, *rest] if isinstance(c, ThinkingChunk))
    return thoughts, texts


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_think_tags_are_split_off_though_they_come_in_pieces(size: int) -> None:
    text = "<think>\nIs z = 0.03 < 0.3?\n</think>\n\nYes, a < b."
    parts = [delta(content=text[at : at + size]) for at in range(0, len(text), size)]
    assert shown(*parts) == ("\nIs z = 0.03 < 0.3?\n", "Yes, a < b.")


def test_a_tag_in_the_middle_of_an_answer_is_text() -> None:
    for text in ("Write <think> and </think> so.", "Close it with </think>, as here.", "a <think>"):
        assert shown(delta(content=text)) == ("", text)


def test_a_closing_tag_without_an_opening_one_ends_the_reasoning() -> None:
    message = assemble([delta(content="I ponder.\n</think>\n\nThe answer.")]).message
    assert message.content == "The answer."
    assert message.thinking[0].text == "I ponder."


@pytest.mark.parametrize(
    "fields",
    [
        {"reasoning_content": "hm", "content": None},
        {"reasoning": "hm", "content": ""},
        {"reasoning_content": "hm", "reasoning": "hm"},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]},
        {"content": [{"type": "reasoning", "text": "hm"}]},
        {"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
    ],
)
def test_reasoning_is_found_in_every_field_once(fields: dict[str, Any]) -> None:
    assert shown(delta(**fields), delta(content="yes")) == ("hm", "yes")


def test_content_may_be_a_list_of_parts() -> None:
    assert shown(delta(content=[{"type": "text", "text": "a"}, "b", {"text": "c"}, 7])) == (
        "",
        "abc",
    )


def test_halves_of_a_pair_in_two_deltas_are_joined() -> None:
    assert shown(delta(content="a\ud83c"), delta(content="\udf0cb")) == ("", "a🌌b")
    assert calls_of(
        call(id="a", name="f", arguments='{"s":"\ud83c'), call(id="a", arguments='\udf0c"}')
    ) == [("a", "f", '{"s":"🌌"}')]


# --- the end ---


@pytest.mark.parametrize("finish", ["stop", None, "tool_calls", "function_call", "surprise"])
def test_calls_end_as_tool_calls_whatever_the_server_says(finish: str | None) -> None:
    completion = assemble([call(id="a", name="f", arguments="{}"), delta(finish)])
    assert completion.finish == "tool_calls"


def test_length_wins_over_calls_and_is_seen_without_being_said() -> None:
    cut = call(id="a", name="f", arguments='{"content":"abc')
    assert assemble([cut, delta("length")]).finish == "length"
    counted = {**delta("tool_calls"), "usage": {"completion_tokens": 64}}
    assert assemble([cut, counted], limit=64).finish == "length"
    assert assemble([cut, counted], limit=65).finish == "tool_calls"


def test_an_end_without_an_end_is_a_cut_that_keeps_text_and_calls() -> None:
    with pytest.raises(StreamCutError) as caught:
        assemble([delta(content="I will"), call(id="a", name="f", arguments="{}")], done=False)
    assert caught.value.partial is not None
    assert caught.value.partial.content == "I will"
    assert caught.value.partial.tool_calls[0].name == "f"


@pytest.mark.parametrize("objects", [[], [delta("stop")], [delta(reasoning="hm"), delta("stop")]])
def test_saying_nothing_is_no_answer(objects: list[dict[str, Any]]) -> None:
    with pytest.raises(EmptyReplyError):
        assemble(objects)


def test_an_error_as_finish_reason_is_an_error_that_may_pass() -> None:
    with pytest.raises(ModelError) as caught:
        assemble([delta(content="Half"), delta("error")])
    assert caught.value.retryable


def test_thinking_up_to_the_limit_says_which_setting_to_change() -> None:
    with pytest.raises(ModelError, match="LLM_MAX_OUTPUT_TOKENS") as caught:
        assemble([delta(reasoning="hm"), delta("length")])
    assert not caught.value.retryable


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        ({"code": 429, "message": "slow down"}, ModelError, True),
        ({"type": "overloaded_error", "message": "Overloaded"}, ModelError, True),
        ({"code": "tool_use_failed", "message": "bad", "failed_generation": "x"}, ModelError, True),
        ({"code": "insufficient_quota", "message": "no credit"}, ModelError, False),
        ({"code": "context_length_exceeded", "message": "x"}, ContextOverflowError, False),
        ({"code": "invalid_api_key", "message": "x"}, KeyMissingError, None),
        ("Internal server error", ModelError, True),
        ({"message": "unknown field"}, ModelError, False),
    ],
)
def test_an_error_inside_a_stream_is_typed_and_keeps_what_came(
    error: Any, kind: type[NunciusError], retryable: bool | None
) -> None:
    accumulator = Accumulator(ORIGIN)
    accumulator.add(delta(content="So far"))
    with pytest.raises(kind) as caught:
        accumulator.add({"error": error})
    if isinstance(caught.value, ModelError):
        assert caught.value.retryable is retryable
        assert caught.value.partial is not None
        assert caught.value.partial.content == "So far"


def test_usage_is_taken_from_any_chunk_and_the_last_wins() -> None:
    first: dict[str, Any] = {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
    last = {
        **delta("stop"),
        "usage": {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 4},
            "completion_tokens_details": {"reasoning_tokens": 3},
        },
    }
    assert assemble([delta(content="a"), first, last, {"usage": None}]).usage == Usage(10, 5, 4, 3)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "choices",
                        "delta",
                        "tool_calls",
                        "function",
                        "index",
                        "id",
                        "name",
                        "arguments",
                        "content",
                        "usage",
                        "error",
                        "finish_reason",
                        "message",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=20,
    )
)
def test_no_json_breaks_it(chunk: Any) -> None:
    accumulator = Accumulator(ORIGIN)
    try:
        accumulator.add(chunk)
        accumulator.add({"choices": [chunk]})
        accumulator.add({"choices": [{"delta": chunk}]})
        accumulator.add(delta(tool_calls=[chunk], content=chunk, function_call=chunk))
        accumulator.finish(done=True)
    except NunciusError:
        pass
