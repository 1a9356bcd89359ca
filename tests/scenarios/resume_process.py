"""A turn with a subagent, questions and a permission request, in a process of its own, to be killed.

``python resume_process.py HOME SESSION``: the agent sends a subagent that reads and writes, writes
itself, asks the user two questions at once and then asks for permission. Nobody answers. It prints
each event when it is shown.
"""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from typing_extensions import override

from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.runtime import Runtime
from nuncius.agent.tool import Permission
from nuncius.core.events import Event, PermissionRequest, dump_event
from nuncius.library.answer import Finisher
from nuncius.llm.model import ModelRequest
from nuncius.llm.scripted import Reply, ScriptedModel, Step
from nuncius.store import open_store
from nuncius.store.protocols import Store
from nuncius.tools.ask import AskUser
from nuncius.tools.subagent import Subagent
from nuncius.tools.todo import TodoWrite
from scenarios.turn_process import Look, Word, Write

CHILD = "You are a subagent."
TODOS = [{"id": "1", "content": "Weigh it.", "status": "in_progress"}]


class Delete(Write):
    """Delete a word; asks first."""

    name = "delete"

    @override
    def check_permissions(self, args: Word) -> Sequence[Permission]:
        return (Permission("ask", "It deletes."),)

    @override
    def subject(self, args: Word) -> str:
        return args.word


class Page:
    """Somebody who may answer from another process."""

    async def ask(self, request: PermissionRequest) -> Any:
        await asyncio.Event().wait()


def word(text: str) -> str:
    return json.dumps({"word": text})


MAIN: tuple[Step, ...] = (
    Reply(
        "I plan.",
        calls=[
            ("todo_write", json.dumps({"todos": TODOS})),
            ("subagent", json.dumps({"task": "Do two steps.", "name": "kid"})),
            ("write", word("main")),
        ],
    ),
    Reply(
        calls=[
            ("ask_user", json.dumps({"question": question}))
            for question in ("Which band?", "Which epoch?")
        ]
    ),
    Reply(calls=[("delete", word("danger"))]),
    "It is done.",
)
KID: tuple[Step, ...] = (
    Reply(calls=[("look", word("a")), ("write", word("kid-1"))], delay_s=0.005),
    Reply(calls=[("write", word("kid-2"))], delay_s=0.005),
    "The kid is done.",
)


def script() -> ScriptedModel:
    """Return a model that plays both parts."""
    parts = {False: iter(MAIN), True: iter(KID)}

    def following(request: ModelRequest) -> Step:
        return next(parts[CHILD in request.messages[0].content])

    return ScriptedModel(following)


def runtime_of(store: Store, home: Path, model: ScriptedModel, **more: Any) -> Runtime:
    tools = [Look(), Write(home / "effects"), Delete(home / "effects")]
    return Runtime(
        model,
        ToolRegistry([*tools, AskUser(), Subagent(), TodoWrite()]),
        store.journal,
        PermissionChecker(store.desk, pending=store.journal),
        Finisher(store),
        system_prompt="Do as told.",
        subagent_prompt=CHILD,
        pending=store.journal,
        **more,
    )


async def run(home: Path, session_id: str) -> None:
    store = await open_store(home, home / "nuncius.db")

    def show(event: Event) -> None:
        print(dump_event(event), flush=True)

    runtime = runtime_of(store, home, script(), asker=Page(), listeners=[show])
    await runtime.run_turn(session_id, "Do it.", enable_thinking=True)
    await store.close()


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), sys.argv[2]))
