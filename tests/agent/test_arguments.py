"""What a model may write as a call, and what it is told where it may not."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field
from typing_extensions import override

from agent.doubles import corpus
from nuncius.agent.arguments import MESSAGE_CHARACTERS, Prepared, prepare
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.tool import Arguments, Tool, ToolContext, ToolOutput
from nuncius.core.messages import ToolCall
from nuncius.core.shapes import as_list, as_object


class Pages(Arguments):
    path: str
    offset: int = Field(default=1, ge=-(10**9), le=10**9)
    limit: int | None = Field(default=None, ge=1, le=10**6)
    ratio: float = 1.0
    force: bool = False
    tags: list[int] = Field(default_factory=list[int])


class ReadFile(Tool[Pages]):
    """Read."""

    name = "read_file"
    args = Pages
    read_only = True

    @override
    async def run(self, args: Pages, ctx: ToolContext) -> ToolOutput:
        return ToolOutput(args.path)


class Nothing(Arguments):
    focus: str = ""


class Compress(Tool[Nothing]):
    """Compress."""

    name = "compress_context"
    args = Nothing
    read_only = True


REGISTRY = ToolRegistry([ReadFile(), Compress()])


def judge(arguments: str, name: str = "read_file", call_id: str = "c1") -> Prepared:
    call = ToolCall(call_id, name, arguments)
    (item,) = prepare([call], REGISTRY, used_ids=set(), prefix="call_t_1")
    return item


def code(arguments: str, name: str = "read_file") -> str:
    error = judge(arguments, name).error
    return error.metadata["code"] if error else "ok"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('  {"path" : "a"}\n', "ok"),
        ('{"path": "two\nlines\tand a tab"}', "ok"),
        ('{"path": "a", "limit": "5", "offset": "-3", "ratio": "0.5"}', "ok"),
        ('{"path": "a", "limit": 5.0}', "ok"),
        ('{"path": "\\ud83c\\udf0c"}', "ok"),
        ("", "empty_args"),
        (" \n", "empty_args"),
        ("null", "not_object"),
        ("[]", "not_object"),
        ('"{}"', "not_object"),
        ("true", "not_object"),
        ('{"path": "a"}{"path": "b"}', "invalid_json"),
        ("{'path': 'a'}", "invalid_json"),
        ('{"path": "C:\\dir\\new"}', "invalid_json"),
        ('{"path": "a", "ratio": -Infinity}', "invalid_json"),
        ('{"path": "a", "ratio": 1e999}', "invalid_number"),
        ('{"path": "a", "ratio": "nan"}', "out_of_range"),
        ('{"path": "a", "ratio": "inf"}', "out_of_range"),
        ('{"path": "a", "limit": 9223372036854775808}', "invalid_number"),
        ('{"path": "a", "tags": [1e18]}', "out_of_range"),
        ('{"path": "a", "tags": [1, true]}', "wrong_type"),
        ('{"path": "a", "ratio": false}', "wrong_type"),
        ('{"path": "a", "limit": "many"}', "wrong_type"),
        ('{"path": ["a"]}', "wrong_type"),
        ('{"path": "a", "limit": 0}', "out_of_range"),
        ('{"limit": 3, "extra": 1}', "missing_argument"),
        ('{"path": "a", "\\u0000": 1}', "invalid_string"),
        ('{"path": "a", "tags": [' + "[" * 70 + "]" * 70 + "]}", "too_deep"),
        ('{"path": "' + "[{" * 500 + '"}', "ok"),
        ('{"path": "' + "a" * 140_000 + '"}', "too_long"),
        ("x" * 2_000_000, "too_long"),
        ("{" + ", ".join(f'"k{n}": 1' for n in range(1_500)) + "}", "too_many_keys"),
    ],
)
def test_arguments_are_judged(arguments: str, expected: str) -> None:
    assert code(arguments) == expected


@pytest.mark.parametrize("arguments", ["", "null", "{}", " "])
def test_no_arguments_are_fine_where_none_are_required(arguments: str) -> None:
    assert judge(arguments, "compress_context").args == Nothing()


def test_the_message_tells_place_and_names_of_the_arguments() -> None:
    error = judge('{"path": "a", "limit": oops}').error
    assert error is not None
    assert "character 24" in error.content
    assert "limit?" in error.content


@pytest.mark.parametrize(
    ("name", "close"),
    [
        ("read-file", "read_file"),
        ("functions.read_file", "read_file"),
        ("ReadFile", "read_file"),
        ("compress", "compress_context"),
        ("r\u0435ad_file", "read_file"),
        ("zzz", "The tools are: compress_context, read_file"),
    ],
)
def test_a_wrong_name_never_runs_and_close_names_are_told(name: str, close: str) -> None:
    item = judge("{}", name)
    assert item.tool is None
    assert item.error is not None
    assert close in item.error.content
    assert item.error.error_kind == "unknown_tool"


def test_what_is_replayed_is_what_was_validated() -> None:
    assert judge(' {"path":"a" , "limit":"5"}').call.arguments == '{"limit":"5","path":"a"}'
    assert judge('{"path": "a').call.arguments == "{}"
    assert judge('{"pathh": 1}').call.arguments == '{"pathh":1}'


def test_an_id_is_kept_where_it_is_safe_and_else_made_up_the_same_way_each_time() -> None:
    calls = [
        ToolCall(i, "read_file", '{"path": "a"}') for i in ("ok", "", "ok", "a:0", "x" * 41, "old")
    ]
    for _ in range(2):
        items = prepare(calls, REGISTRY, used_ids={"old"}, prefix="call_t_1")
        assert [item.call.id for item in items] == [
            "ok",
            "call_t_1_1",
            "call_t_1_2",
            "call_t_1_3",
            "call_t_1_4",
            "call_t_1_5",
        ]
        assert items[3].call.provider_id == "a:0"


@given(st.text(max_size=300), st.text(max_size=100), st.text(max_size=50))
def test_any_call_gets_one_bounded_well_formed_judgement(
    arguments: str, name: str, call_id: str
) -> None:
    for item in (judge(arguments, name, call_id), judge(arguments, "read_file", call_id)):
        assert isinstance(json.loads(item.call.arguments), dict)
        assert 1 <= len(item.call.id) <= 40
        assert len(item.call.name) <= 64
        assert (item.error is None) == (item.args is not None)
        if item.error:
            assert len(item.error.content) <= MESSAGE_CHARACTERS
            item.error.content.encode()


@given(
    st.dictionaries(
        st.sampled_from(["path", "offset", "limit", "ratio", "force", "tags", "x"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
            lambda inner: (
                st.lists(inner, max_size=2)
                | st.dictionaries(st.text(max_size=2), inner, max_size=2)
            ),
            max_leaves=4,
        ),
    )
)
def test_any_object_is_taken_or_refused_with_a_code(value: dict[str, Any]) -> None:
    item = judge(json.dumps(value))
    if item.args is None:
        assert item.error is not None
        assert item.error.metadata["code"]
    else:
        assert isinstance(value["path"], str)


def test_the_echo_of_bad_input_is_bounded(shared_data: Path) -> None:
    """Every refused case of the corpus: at most 500 characters, at most 100 in a row of the input."""
    checked = 0
    for case in corpus(shared_data / "attacks" / "toolcalls.jsonl"):
        first = next(iter(as_list(case["tool_calls"])), None)
        text = as_object(as_object(first).get("function")).get("arguments")
        if not isinstance(text, str) or not case["id"].startswith("args"):
            continue
        error = judge(text).error
        if error is None:
            continue
        checked += 1
        assert len(error.content) <= 500
        assert not any(
            text[at : at + 101] in error.content for at in range(0, max(len(text) - 100, 0), 7)
        )
    assert checked > 30
