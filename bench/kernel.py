"""The kernel's own cost: many calls in one turn, and a turn as the session grows.

``python bench/kernel.py``: real SQLite, durable events, a scripted model that answers at once.
"""

import asyncio
import shutil
import sys
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
TESTS = str(Path(__file__).resolve().parents[1] / "tests")
TURNS = (1, 50, 400, 2000)


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


class NoRules:
    """A user who has written no rule."""

    async def rules(self, session_id):
        return []


class AsItIs:
    """A finisher that checks nothing: the kernel's cost alone."""

    async def finish(self, text, *, question, evidence, degraded=()):
        return Answer(text=text, answered=False)


async def many_calls(home: Path) -> None:
    store = await open_store(home, home / "nuncius.db")
    calls = [("nothing", f'{{"number": {n}}}') for n in range(CALLS)]
    runtime = _runtime(store.journal, ScriptedModel([Reply(calls=calls), "Done."] * 4))
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


def answering() -> ScriptedModel:
    def answer(request: ModelRequest) -> Reply:
        last = request.messages[-1]
        if last.role == "user":
            return Reply(calls=[("nothing", f'{{"number": {len(request.messages)}}}')])
        return Reply("Done.")

    return ScriptedModel(answer)


async def own_cost(_home: Path) -> None:
    """Run turns with the journal in memory: what the loop itself costs."""
    sys.path.insert(0, TESTS)
    from agent.doubles import ListJournal

    costs = await turns_of(_runtime(ListJournal(), answering()), "s")
    print("the loop alone, the journal in memory:")
    show(costs)


async def turns_of(runtime: Runtime, session_id: str) -> list[float]:
    costs: list[float] = []
    for turn in range(1, TURNS[-1] + 11):
        cpu = time.process_time()
        await runtime.run_turn(session_id, f"Turn {turn}.")
        costs.append(time.process_time() - cpu)
    return costs


def show(costs: list[float]) -> None:
    for turn in TURNS:
        window = sorted(costs[max(0, turn - 1) : turn + 10])
        print(
            f"turn {turn:5}: {window[len(window) // 2] * 1000:.2f} ms CPU (two model calls, one tool call)"
        )


async def growing_session(home: Path) -> None:
    """Run turns with SQLite, durable as ever, all threads counted."""
    store = await open_store(home, home / "nuncius.db")
    session = await store.journal.create_session()
    costs = await turns_of(_runtime(store.journal, answering()), session.id)
    print("with SQLite, every thread counted:")
    show(costs)
    # what a new process pays: it reads the session first
    fresh = _runtime(store.journal, answering())
    cpu = time.process_time()
    await fresh.run_turn(session.id, "One more, in a new process.")
    print(
        f"turn {TURNS[-1] + 11} in a new process: {(time.process_time() - cpu) * 1000:.1f} ms CPU"
    )
    await store.close()


def _runtime(journal, model: ScriptedModel) -> Runtime:
    return Runtime(
        model,
        ToolRegistry([DoNothing()]),
        journal,
        PermissionChecker(NoRules()),
        AsItIs(),
        system_prompt="Do as told.",
    )


def main() -> None:
    for measure in (many_calls, own_cost, growing_session):
        home = Path(tempfile.mkdtemp(prefix="nuncius-bench-"))
        try:
            asyncio.run(measure(home))
        finally:
            shutil.rmtree(home)


if __name__ == "__main__":
    main()
