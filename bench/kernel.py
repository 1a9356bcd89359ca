"""The kernel's own cost: many calls in one turn, and a turn as the session grows.

``python bench/kernel.py``: real SQLite, durable events, a scripted model that answers at once.
"""

import asyncio
import shutil
import tempfile
import time
from pathlib import Path

from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.runtime import Runtime
from nuncius.agent.tool import Arguments, Tool, ToolContext, ToolOutput
from nuncius.core.evidence import Answer
from nuncius.llm.model import ModelRequest
from nuncius.llm.scripted import Reply, ScriptedModel
from nuncius.store import open_store

CALLS = 1000
TURNS = (1, 50, 400, 1000)


class Nothing(Arguments):
    """Arguments of `nothing`."""

    number: int


class DoNothing(Tool[Nothing]):
    """Do nothing."""

    name = "nothing"
    args = Nothing
    read_only = True

    async def run(self, args: Nothing, ctx: ToolContext) -> ToolOutput:
        return ToolOutput(str(args.number))


class AsItIs:
    """A finisher that checks nothing: the kernel's cost alone."""

    async def finish(self, text, *, question, evidence, degraded=()):
        return Answer(text=text, answered=False)


async def many_calls(home: Path) -> None:
    store = await open_store(home, home / "nuncius.db")
    calls = [("nothing", f'{{"number": {n}}}') for n in range(CALLS)]
    runtime = _runtime(store, ScriptedModel([Reply(calls=calls), "Done."] * 4))
    walls, cpus = [], []
    for _ in range(4):
        session = await store.journal.create_session()
        wall, cpu = time.perf_counter(), time.process_time()
        result = await runtime.run_turn(session.id, "Do nothing, often.")
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
        assert result.status == "completed", result
        assert len(await store.journal.events(session.id)) >= 2 * CALLS
    print(
        f"{CALLS} calls in one turn, durable: best {min(walls) * 1000:.0f} ms wall, {min(cpus) * 1000:.0f} ms CPU"
    )
    await store.close()


async def growing_session(home: Path) -> None:
    store = await open_store(home, home / "nuncius.db")

    def answer(request: ModelRequest) -> Reply:
        last = request.messages[-1]
        if last.role == "user":
            return Reply(calls=[("nothing", f'{{"number": {len(request.messages)}}}')])
        return Reply("Done.")

    runtime = _runtime(store, ScriptedModel(answer))
    session = await store.journal.create_session()
    costs: list[float] = []
    for turn in range(1, TURNS[-1] + 11):
        cpu = time.process_time()
        await runtime.run_turn(session.id, f"Turn {turn}.")
        costs.append(time.process_time() - cpu)
    for turn in TURNS:
        window = sorted(costs[max(0, turn - 1) : turn + 10])
        print(
            f"turn {turn:5}: {window[len(window) // 2] * 1000:.2f} ms CPU (two model calls, one tool call)"
        )
    # what a new process pays: it reads the session first
    fresh = _runtime(store, ScriptedModel(answer))
    cpu = time.process_time()
    await fresh.run_turn(session.id, "One more, in a new process.")
    print(
        f"turn {TURNS[-1] + 11} in a new process: {(time.process_time() - cpu) * 1000:.1f} ms CPU"
    )
    await store.close()


def _runtime(store, model: ScriptedModel) -> Runtime:
    return Runtime(
        model,
        ToolRegistry([DoNothing()]),
        store.journal,
        PermissionChecker(store.desk),
        AsItIs(),
        system_prompt="Do as told.",
    )


def main() -> None:
    for measure in (many_calls, growing_session):
        home = Path(tempfile.mkdtemp(prefix="nuncius-bench-"))
        try:
            asyncio.run(measure(home))
        finally:
            shutil.rmtree(home)


if __name__ == "__main__":
    main()
