from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from agent.doubles import ListJournal, PlainFinisher, RuleList
from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.runtime import Runtime
from nuncius.agent.tool import ToolContext
from nuncius.core.errors import ToolError
from nuncius.core.events import Todos
from nuncius.llm.scripted import Reply, ScriptedModel
from nuncius.tools.todo import TodoList, TodoWrite, find_circle, tools

CTX = ToolContext("s1", "t1")


def plan(*todos: dict[str, Any]) -> TodoList:
    return TodoList.model_validate({"todos": list(todos)})


def item(name: str, status: str = "pending", *blocked_by: str) -> dict[str, Any]:
    return {"id": name, "content": f"do {name}", "status": status, "blockedBy": list(blocked_by)}


async def test_shows_the_plan_and_what_waits_for_what() -> None:
    output = await TodoWrite().run(
        plan(item("a", "completed"), item("b", "in_progress", "a"), item("c", "pending", "b")), CTX
    )
    assert output.content == snapshot("""\
Plan: 1 of 3 done.
[x] a: do a
[>] b: do b
[ ] c: do c (waits for b)\
""")
    assert output.metadata["todos"][2]["blockedBy"] == ["b"]


async def test_an_empty_list_clears_the_plan() -> None:
    output = await TodoWrite().run(plan(), CTX)
    assert output.metadata == {"todos": []}
    assert isinstance(output.events[0], Todos)


@pytest.mark.parametrize(
    ("todos", "reason"),
    [
        ([item("a"), item("a")], "stands twice"),
        ([item("a", "in_progress"), item("b", "in_progress")], "one at most"),
        ([item("a", "pending", "zz")], "not in the list"),
        ([item("a", "pending", "a")], "a -> a"),
        (
            [item("a", "pending", "b"), item("b", "pending", "c"), item("c", "pending", "a")],
            "circle",
        ),
    ],
)
async def test_refuses_what_makes_no_plan(todos: list[dict[str, Any]], reason: str) -> None:
    with pytest.raises(ToolError, match=reason) as caught:
        await TodoWrite().run(plan(*todos), CTX)
    assert caught.value.kind == "invalid_arguments"


@given(st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), max_size=3)))
def test_finds_a_circle_exactly_where_one_is(blockers: dict[str, list[str]]) -> None:
    graph = {key: tuple(b for b in value if b in blockers) for key, value in blockers.items()}
    circle = find_circle(graph)
    if circle:
        assert circle[0] == circle[-1]
        assert all(b in graph[a] for a, b in pairwise(circle))
    else:  # without a circle, removing unblocked items removes all
        left = dict(graph)
        while free := [key for key, value in left.items() if not set(value) & left.keys()]:
            for key in free:
                del left[key]
        assert not left


async def test_the_change_is_journaled_with_the_result_and_needs_no_permission() -> None:
    journal = ListJournal()
    call = ("todo_write", '{"todos": [{"id": "1", "content": "read", "status": "in_progress"}]}')
    model = ScriptedModel([Reply(calls=[call]), "Done."])
    runtime = Runtime(
        model,
        ToolRegistry(tools()),
        journal,
        PermissionChecker(RuleList()),
        PlainFinisher(),
        system_prompt="S",
    )
    await runtime.run_turn("s1", "Plan it.", mode="plan")
    kinds = [event.type for event in journal.log]
    assert kinds.index("todos") == kinds.index("tool_result") - 1
    (todos,) = journal.of(Todos)
    assert (todos.session_id, todos.step, todos.todos[0]["id"]) == ("s1", 1, "1")
