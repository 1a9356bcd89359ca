"""What no peer passes: seven probes, each over a socket to a provider that refuses what real ones do."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from agent.doubles import ListJournal, PlainFinisher, RuleList
from agent.parts import Act, Bench, Look, Word
from llm.strict_provider import Step, StrictProvider
from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.runtime import Runtime
from nuncius.agent.tool import ToolContext, ToolOutput
from nuncius.core.messages import Message, StoredMessage, ToolCall
from nuncius.llm.openai import OpenAIModel
from nuncius.llm.scripted import Reply
from nuncius.walls.network import Network


def call(call_id: str, word: str = "a", tool: str = "look") -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps({"word": word})}
    return {"id": call_id, "type": "function", "function": function}


def calling(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": list(calls)}


DONE: dict[str, Any] = {"role": "assistant", "content": "Done."}


def broken(args: Word, _: ToolContext) -> ToolOutput:
    raise RuntimeError(args.word)


@asynccontextmanager
async def served(
    *steps: Step, journal: ListJournal | None = None
) -> AsyncGenerator[tuple[Runtime, StrictProvider]]:
    async with StrictProvider.serving(steps) as provider:
        network = Network(trusted_hosts=[provider.url])
        yield (
            Runtime(
                OpenAIModel(network, base_url=provider.url, model="m"),
                ToolRegistry([Look(), Act(broken)]),
                journal or ListJournal(),
                PermissionChecker(RuleList()),
                PlainFinisher(),
                system_prompt="S",
            ),
            provider,
        )
        await network.aclose()


async def outcome(*steps: Step, journal: ListJournal | None = None) -> list[str]:
    """Run one turn that must succeed; return the results as the model was sent them."""
    async with served(*steps, DONE, journal=journal) as (runtime, provider):
        result = await runtime.run_turn("s", "go")
        assert (result.status, provider.refusals) == ("completed", [])
        return [m["content"] for m in provider.requests[-1]["messages"] if m["role"] == "tool"]


async def test_p1_a_tool_that_does_not_exist_is_told_and_the_turn_goes_on() -> None:
    (result,) = await outcome(calling(call("c1", tool="lok")))
    assert result == "There is no tool named 'lok'. Did you mean look?"


async def test_p2_arguments_that_are_no_json_are_told_and_the_turn_goes_on() -> None:
    bad = call("c1")
    bad["function"]["arguments"] = '{"word": '
    (result,) = await outcome(calling(bad))
    assert result.startswith("The arguments are not JSON")


async def test_p3_one_of_three_parallel_tools_raises() -> None:
    results = await outcome(calling(call("a", "1"), call("b", "2", "act"), call("c", "3")))
    assert (results[0], results[2]) == ("saw 1", "saw 3")
    assert "RuntimeError: 2" in results[1]


async def test_p4_results_stand_in_call_order() -> None:
    results = await outcome(calling(*(call(f"c{n}", str(n)) for n in range(20))))
    assert results == [f"saw {n}" for n in range(20)]


async def test_p5_the_same_id_twice_in_a_turn() -> None:
    assert await outcome(calling(call("x", "1"), call("x", "2"))) == ["saw 1", "saw 2"]


async def test_p5_the_same_id_in_the_next_step() -> None:
    results = await outcome(calling(call("x", "1")), calling(call("x", "2")))
    assert results == ["saw 1", "saw 2"]


async def test_p6_a_message_after_a_dangling_call() -> None:
    journal = ListJournal()
    await journal.commit(
        [],
        [
            StoredMessage("s", "old", Message("user", "before")),
            StoredMessage("s", "old", Message("assistant", "", (ToolCall("c", "look", "{}"),))),
        ],
    )
    (result,) = await outcome(journal=journal)
    assert result.startswith("No result")


async def test_p7_an_empty_id() -> None:
    assert await outcome(calling(call("", "1"), call("", "2"))) == ["saw 1", "saw 2"]


async def test_a_thousand_calls_in_one_step_are_all_answered() -> None:
    bench = Bench(
        lambda request: "Done." if request.messages[-1].role == "tool" else calling_1000()
    )
    await bench.turn()
    assert len(bench.results()) == 1_000


def calling_1000() -> Reply:
    return Reply(calls=[("look", f'{{"word": "{n}"}}') for n in range(1_000)])
