"""Drives our own runtime as the product does: durable events in SQLite, the real file tools."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from contract import TOOLS, Answer, Call, Driver, Line, Turn, temporary
from measure import main

from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.runtime import Runtime
from nuncius.agent.tool import Arguments, Tool, ToolContext, ToolOutput
from nuncius.core.evidence import Answer as Checked
from nuncius.core.messages import Message, StoredMessage, ToolCall
from nuncius.core.settings import Settings
from nuncius.llm.model import ModelRequest
from nuncius.llm.scripted import Reply, ScriptedModel
from nuncius.store import open_store
from nuncius.tools.files import FileEdit, ReadFile
from nuncius.tools.shell import RunBash, ShellSettings
from nuncius.walls.paths import PathGuard, Roots
from nuncius.walls.spawn import sandbox_failure


class Word(Arguments):
    word: str


class Number(Arguments):
    number: int


class Given(Tool[Any]):
    """One of the tools that every peer is given."""

    read_only = True

    def __init__(self, does: Any, args: type[Arguments]) -> None:
        self._does = does
        self.name = does.__name__
        self.args = args

    async def run(self, args: Any, ctx: ToolContext) -> ToolOutput:
        return ToolOutput(await self._does(**args.model_dump()))


class AsItIs:
    """A finisher that checks nothing: peers check nothing either."""

    async def finish(self, text, *, question, evidence, degraded=()) -> Checked:
        return Checked(text=text, answered=False)


class Nuncius(Driver):
    turns = (1, 50, 400, 2000)
    no_files = ""

    def __init__(self) -> None:
        failure = sandbox_failure()
        self.no_shell = f"no sandbox: {failure}" if failure else ""

    @asynccontextmanager
    async def session(
        self,
        answer: Answer,
        *,
        dangling: Call | None = None,
        folder: Path | None = None,
        kept: bool = False,
    ) -> AsyncIterator[Turn]:
        def model(request: ModelRequest) -> Reply:
            step = answer(lambda: [_line(message) for message in request.messages])
            return (
                Reply(step) if isinstance(step, str) else Reply(calls=[_call(one) for one in step])
            )

        with temporary() as home:
            store = await open_store(home, home / "nuncius.db")
            try:
                runtime = Runtime(
                    ScriptedModel(model),
                    ToolRegistry(_tools(folder)),
                    store.journal,
                    PermissionChecker(store.desk, "auto"),
                    AsItIs(),
                    system_prompt="Do as told.",
                    context_tokens=Settings.model_fields["llm_context_tokens"].default,
                )
                session = await store.journal.create_session()
                if dangling:
                    asked = Message("assistant", "", (_call(dangling),))
                    before = [Message("user", "before"), asked]
                    kept = [StoredMessage(session.id, "old", message) for message in before]
                    await store.journal.commit([], kept)

                async def turn(text: str) -> None:
                    result = await runtime.run_turn(session.id, text)
                    if result.status != "completed":
                        raise RuntimeError(f"{result.status}: {result.error}")

                yield turn
            finally:
                await store.close()

    def read(self, path: Path) -> tuple[str, dict[str, Any]]:
        return "read_file", {"path": str(path)}

    def edit(self, path: Path, old: str, new: str) -> tuple[str, dict[str, Any]]:
        return "file_edit", {"path": str(path), "old_string": old, "new_string": new}

    def shell(self, command: str, limit_s: int) -> tuple[str, dict[str, Any]]:
        return "run_bash", {"command": command, "timeout_s": limit_s}


def _tools(folder: Path | None) -> list[Tool[Any]]:
    given = [Given(tool, Word if "word" in tool.__annotations__ else Number) for tool in TOOLS]
    if not folder:
        return given
    guard = PathGuard(Roots.of(project=folder, library=folder / "library"))
    return [*given, ReadFile(guard), FileEdit(guard), RunBash(guard, ShellSettings())]


def _call(call: Call) -> ToolCall:
    return ToolCall(call.id, call.name, call.arguments)


def _line(message: Message) -> Line:
    calls = tuple(Call(one.id, one.name, one.arguments) for one in message.tool_calls)
    return Line(message.role, message.content, calls, message.tool_call_id, message.is_error)


if __name__ == "__main__":
    main(Nuncius())
