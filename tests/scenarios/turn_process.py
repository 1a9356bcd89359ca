"""One turn in a process of its own, to be killed: prints each event when it is shown.

``python turn_process.py HOME SESSION``: the scripted model calls a tool with a side effect and two
reads in each of two steps, then answers. The tool writes a line to ``HOME/effects`` and syncs it.
"""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from typing_extensions import override

from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.runtime import Runtime
from nuncius.agent.tool import Arguments, Permission, Tool, ToolContext, ToolOutput
from nuncius.core.events import Event, dump_event
from nuncius.library.answer import Finisher
from nuncius.llm.scripted import Reply, ScriptedModel
from nuncius.store import open_store


class Word(Arguments):
    """Arguments of both tools."""

    word: str


class Look(Tool[Word]):
    """Give a word back."""

    name = "look"
    args = Word
    read_only = True

    @override
    async def run(self, args: Word, ctx: ToolContext) -> ToolOutput:
        await asyncio.sleep(0.002)
        return ToolOutput(args.word)


class Write(Tool[Word]):
    """Append a word to the file of effects."""

    name = "write"
    args = Word
    interrupt = "block"

    def __init__(self, file: Path) -> None:
        self._file = file

    @override
    def check_permissions(self, args: Word) -> Sequence[Permission]:
        return (Permission("allow"),)

    @override
    async def run(self, args: Word, ctx: ToolContext) -> ToolOutput:
        await asyncio.to_thread(self._append, args.word)
        return ToolOutput("written")

    def _append(self, word: str) -> None:
        with self._file.open("a") as file:
            file.write(word + "\n")
            file.flush()
            os.fsync(file.fileno())


def step(number: int) -> Reply:
    words = [f'{{"word": "{number}-{letter}"}}' for letter in "abc"]
    return Reply(
        text=["I will ", f"do step {number}."],
        calls=[("look", words[0]), ("write", words[1]), ("look", words[2])],
        delay_s=0.005,
    )


async def run(home: Path, session_id: str) -> None:
    store = await open_store(home, home / "nuncius.db")

    def show(event: Event) -> None:
        print(dump_event(event), flush=True)

    runtime = Runtime(
        ScriptedModel([step(1), step(2), Reply(text=["It is ", "done."], delay_s=0.005)]),
        ToolRegistry([Look(), Write(home / "effects")]),
        store.journal,
        PermissionChecker(store.desk),
        Finisher(store),
        system_prompt="Do as told.",
        listeners=[show],
    )
    await runtime.run_turn(session_id, "Do two steps.")
    await store.close()


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), sys.argv[2]))
