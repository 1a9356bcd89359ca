"""`todo_write`: the agent's plan, which the user sees."""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field
from typing_extensions import override

from nuncius.agent.registry import AnyTool
from nuncius.agent.tool import Arguments, Resource, Tool, ToolContext, ToolOutput
from nuncius.core.errors import ToolError
from nuncius.core.events import Todos

MAX_TODOS = 100
_MARKS = {"pending": " ", "in_progress": ">", "completed": "x"}


class Todo(Arguments):
    """One thing to do."""

    id: str = Field(min_length=1, max_length=64, description="Unique: '1'.")
    content: str = Field(min_length=1, max_length=500, description="One sentence.")
    status: Literal["pending", "in_progress", "completed"] = Field(
        default="pending", description="One in_progress at most."
    )
    blockedBy: tuple[str, ...] = Field(  # noqa: N815  (the argument's name is a contract)
        default=(), max_length=MAX_TODOS, description="Ids that come first."
    )


class TodoList(Arguments):
    """Arguments of `todo_write`."""

    todos: tuple[Todo, ...] = Field(max_length=MAX_TODOS, description="The whole list.")


class TodoWrite(Tool[TodoList]):
    """Write down the plan of a longer task and keep it up to date; the user sees it.

    For work of three steps or more. Send the whole list each time; one item is in_progress.
    """

    name = "todo_write"
    args = TodoList
    lasting = True
    read_only = True  # it changes nothing but the plan that is shown, so mode `plan` allows it
    main_only = True  # there is one plan, the session's
    conversational = True

    @override
    def resources(self, args: TodoList) -> Sequence[Resource]:
        return (Resource("todos", "write"),)

    @override
    def sources(self, args: TodoList, output: ToolOutput) -> Sequence[str]:
        return ()

    @override
    async def run(self, args: TodoList, ctx: ToolContext) -> ToolOutput:
        check(args.todos)
        todos = tuple(
            {**todo.model_dump(exclude={"blockedBy"}), "blockedBy": list(todo.blockedBy)}
            for todo in args.todos
        )
        changed = Todos(
            session_id=ctx.session_id, turn_id=ctx.turn_id, agent=ctx.agent, todos=todos
        )
        return ToolOutput(_shown(args.todos), metadata={"todos": list(todos)}, events=(changed,))


def check(todos: Sequence[Todo]) -> None:
    """Refuse a list that makes no plan.

    Raises:
        ToolError: An id stands twice, two items are in progress, an item is blocked by an unknown
            one, or items block each other in a circle.
    """
    ids = [todo.id for todo in todos]
    twice = sorted({known for known in ids if ids.count(known) > 1})
    if twice:
        raise _bad(f"The id {twice[0]!r} stands twice; each item needs an id of its own.")
    active = [todo.id for todo in todos if todo.status == "in_progress"]
    if len(active) > 1:
        raise _bad(f"{len(active)} items are in_progress ({', '.join(active[:5])}); one at most.")
    for todo in todos:
        unknown = [known for known in todo.blockedBy if known not in ids]
        if unknown:
            raise _bad(f"Item {todo.id!r} is blocked by {unknown[0]!r}, which is not in the list.")
    circle = find_circle({todo.id: todo.blockedBy for todo in todos})
    if circle:
        raise _bad(f"These items block each other in a circle: {' -> '.join(circle)}.")


def find_circle(blockers: dict[str, tuple[str, ...]]) -> list[str]:
    """Return the ids of a circle, the first one again at the end; empty where there is none."""
    done: set[str] = set()
    for start in blockers:
        path: list[str] = []
        stack: list[Iterator[str]] = [iter((start,))]
        while stack:
            following = next(stack[-1], None)
            if following is None:
                stack.pop()
                if path:
                    done.add(path.pop())
            elif following in path:
                return [*path[path.index(following) :], following]
            elif following not in done:
                path.append(following)
                stack.append(iter(blockers[following]))
    return []


def _bad(message: str) -> ToolError:
    return ToolError(message, kind="invalid_arguments", code="invalid_value")


def _shown(todos: Sequence[Todo]) -> str:
    if not todos:
        return "The plan is empty now."
    finished = {todo.id for todo in todos if todo.status == "completed"}
    lines = [f"Plan: {len(finished)} of {len(todos)} done."]
    for todo in todos:
        waits = [known for known in todo.blockedBy if known not in finished]
        note = f" (waits for {', '.join(waits)})" if waits and todo.id not in finished else ""
        lines.append(f"[{_MARKS[todo.status]}] {todo.id}: {todo.content}{note}")
    return "\n".join(lines)


def tools() -> Iterator[AnyTool]:
    """Yield the tools of this family."""
    yield TodoWrite()
