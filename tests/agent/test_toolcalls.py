"""The corpus of tool calls, each sent by a server over a socket through model, loop and executor."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from agent.doubles import ListJournal, PlainFinisher, RuleList, corpus
from agent.test_arguments import Compress
from llm.strict_provider import Answer, StrictProvider, chunks
from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.runtime import Runtime
from nuncius.agent.streaming import Clock, RetryPolicy
from nuncius.agent.tool import Arguments, ToolContext, ToolOutput
from nuncius.core.events import ToolCallEvent, ToolResultEvent
from nuncius.core.shapes import is_list, is_object
from nuncius.llm.openai import OpenAIModel
from nuncius.tools import files
from nuncius.walls.network import Network
from nuncius.walls.paths import PathGuard, Roots


def project(folder: Path) -> PathGuard:
    """Return a project with two documents, and a library."""
    for name in ("library", "docs"):
        (folder / name).mkdir()
    for name in ("a.md", "b.md"):
        (folder / "docs" / name).write_text(f"text of {name}\n")
    return PathGuard(Roots.of(library=folder / "library", project=folder))


class CompressNow(Compress):
    @override
    async def run(self, args: Arguments, ctx: ToolContext) -> ToolOutput:
        return ToolOutput("Compressed.")


CORPUS = Path(__file__).resolve().parents[3] / "shared" / "data" / "attacks" / "toolcalls.jsonl"
CASES = {case["id"]: case for case in corpus(CORPUS)} if CORPUS.is_file() else {}


def stream(case: Mapping[str, Any]) -> bytes:
    """Return the case as a server would stream it."""
    calls: Any = case["tool_calls"]
    content = case.get("content")
    finish = case.get("finish_reason", "tool_calls")
    if legacy := case.get("legacy"):
        return chunks({"function_call": legacy}, finish="function_call")
    if calls is None:
        return chunks({"content": content or "text", "tool_calls": None})
    numbered: Any = calls
    if is_list(calls):
        numbered = [{"index": n, **c} if is_object(c) else c for n, c in enumerate(calls)]
    match case.get("stream"):
        case "bytewise" | "name-each-delta" as kind:
            return chunks(*pieces(numbered[0], named=kind == "name-each-delta"), finish=finish)
        case "interleaved":
            first, second = (pieces(call, named=False) for call in numbered)
            mixed = [delta for pair in zip(first, second, strict=True) for delta in pair]
            return chunks(*mixed, finish=finish)
        case "cut-at-50%":
            deltas = pieces(numbered[0], named=False)
            return chunks(*deltas[: len(deltas) // 2], finish=None, done=False)
        case "cut-before-finish":
            return chunks({"tool_calls": numbered}, finish=None, done=False)
        case _:
            return chunks({"content": content, "tool_calls": numbered}, finish=finish)


def pieces(call: dict[str, Any], *, named: bool) -> list[dict[str, Any]]:
    function = call["function"]
    head = {**call, "function": {"name": function["name"], "arguments": ""}}
    rest = [
        {
            "index": call["index"],
            **({"id": call["id"]} if named else {}),
            "function": {"arguments": c, **({"name": function["name"]} if named else {})},
        }
        for c in function["arguments"]
    ]
    return [{"tool_calls": [delta]} for delta in [head, *rest]]


async def no_sleep(_: float) -> None:
    return


@pytest.mark.parametrize("case_id", CASES)
async def test_a_call_of_the_corpus_gets_its_one_result(case_id: str, tmp_path: Path) -> None:
    case = CASES[case_id]
    expected = case["expected"]
    repeat = case.get("repeat", 1)
    cut = str(case.get("stream", "")).startswith("cut")
    body = stream(case)
    done = chunks({"content": "Done."})
    prior = [
        chunks({"tool_calls": [{"index": 0, "id": used, "function": READ}]}, finish="tool_calls")
        for used in case.get("prior_ids", ())
    ]
    before = [step for call in prior for step in (call, done)]
    steps = [*before, *([body] * (3 if cut else repeat))]
    size = 3 if case.get("stream") else 4096

    def following(_: Mapping[str, Any]) -> Answer:
        return Answer(steps.pop(0) if steps else done, piece=size)

    async with StrictProvider.serving(following) as provider:
        network = Network(trusted_hosts=[provider.url])
        journal = ListJournal()
        runtime = Runtime(
            OpenAIModel(network, base_url=provider.url, model="m"),
            ToolRegistry([*files.tools(project(tmp_path)), CompressNow()]),
            journal,
            PermissionChecker(RuleList()),
            PlainFinisher(),
            system_prompt="S",
            retry=RetryPolicy(attempts=3),
            clock=Clock(sleep=no_sleep),
        )
        for _ in prior:
            await runtime.run_turn("s", "earlier")
        marked = len(journal.log)
        result = await runtime.run_turn("s", "go")
        assert result.status == ("failed" if cut else "completed")
        after = await runtime.run_turn("s", "and then?")  # whatever happened, the session goes on
        assert (after.status, provider.refusals) == ("completed", [])
        await network.aclose()
    assert (tmp_path / "docs" / "a.md").read_text() == "text of a.md\n"
    calls = [e for e in journal.log[marked:] if isinstance(e, ToolCallEvent)]
    results = [e for e in journal.log[marked:] if isinstance(e, ToolResultEvent)]
    assert sorted(e.id for e in calls) == sorted(e.id for e in results)
    assert len({e.id for e in journal.of(ToolCallEvent)}) == len(journal.of(ToolCallEvent))
    check(expected, case, results)


READ = {"name": "read_file", "arguments": '{"path": "docs/a.md"}'}


def check(expected: dict[str, Any], case: dict[str, Any], results: list[ToolResultEvent]) -> None:
    in_call_order = sorted(results, key=lambda event: event.seq)
    match expected["result"]:
        case "no_calls":
            assert results == []
        case "ok":
            assert all(not event.is_error for event in results)
            assert len(results) == expected.get("count", max(len(case["tool_calls"]), 1))
        case "mixed":
            named = {"c1": 0, "c2": 1, "c3": 2}
            for event in in_call_order:
                wanted = expected["codes"][named[event.id]]
                assert event.metadata.get("code", "ok") == wanted
        case _:
            last = in_call_order[-1]
            assert last.is_error
            assert len(last.output) <= 500
            if expected["code"] != "any":
                assert last.metadata.get("code") == expected["code"]
            kinds = {"unknown_tool": "unknown_tool", "duplicate_call": "duplicate"}
            kinds["stream_interrupted"] = "interrupted"
            if expected["code"] != "any":
                assert last.error_kind == kinds.get(expected["code"], "invalid_arguments")
