"""What a parent reads of a subagent: the report, how it came about, what may be cited."""

from typing import Any

import pytest

from nuncius.agent.delegation import Activity, Assignment, Report
from nuncius.agent.tool import ToolContext
from nuncius.core.errors import ToolError
from nuncius.tools.subagent import SHOWN_CALLS, UNSEEN, Subagent, SubagentTask, gathered

CALL = Activity("rag_search", '{"query":"age"}', "ok")


async def ran(report: Report) -> Any:
    async def delegate(assignment: Assignment, *, report: object) -> Report:
        return given

    given = report
    ctx = ToolContext("s", delegate=delegate)
    return await Subagent().run(SubagentTask(task="Find the age."), ctx)


async def test_the_report_comes_first_and_the_calls_with_their_outcomes_follow() -> None:
    output = await ran(Report("reader", "completed", "It is old [k-1:2].", 3, [CALL]))
    assert output.content == (
        "Subagent reader: completed, 3 steps, 1 tool calls.\n\n"
        "It is old [k-1:2].\n\n"
        'What it did:\n- rag_search {"query":"age"}: ok'
    )
    assert (output.is_error, output.metadata["looked_up"]) == (False, True)


async def test_a_report_out_of_nothing_is_marked_before_it_is_read() -> None:
    output = await ran(Report("r", "completed", "It is 3 Gyr old.", 1, []))
    assert output.content.index(UNSEEN) < output.content.index("It is 3 Gyr")


async def test_many_calls_are_counted_not_listed() -> None:
    output = await ran(Report("r", "max_steps", "Text.", 40, [CALL] * (SHOWN_CALLS + 7)))
    assert output.content.count("- rag_search") == SHOWN_CALLS
    assert output.content.endswith("- and 7 more")
    assert len(output.metadata["activity"]) == SHOWN_CALLS + 7


@pytest.mark.parametrize(
    ("report", "kind"),
    [
        (Report("r", "failed", "", 1, [], error="no answer", error_kind="upstream"), "upstream"),
        (Report("r", "cancelled", "Half.", 1, [CALL]), "cancelled"),
        (Report("r", "timeout", "", 1, [CALL]), "timeout"),
        (Report("r", "max_steps", "", 1, [CALL]), "unavailable"),
        (Report("r", "timeout", "Half.", 1, [CALL]), None),
        (Report("r", "max_steps", "All.", 1, [CALL]), None),
    ],
)
async def test_no_report_is_an_error_of_its_kind(report: Report, kind: str | None) -> None:
    output = await ran(report)
    assert (output.is_error, output.error_kind) == (kind is not None, kind)


async def test_where_none_can_be_started_it_says_so() -> None:
    with pytest.raises(ToolError, match="No subagent"):
        await Subagent().run(SubagentTask(task="Find it."), ToolContext("s"))


def test_evidence_of_all_calls_is_joined() -> None:
    evidence: list[dict[str, object]] = [
        {"evidence": {"a-1": "x"}, "query": "age", "degraded": ["no vectors"]},
        {"evidence": {"b-1": "y"}, "query": ["age", "mass"], "near_misses": ["ages"]},
        {"word": "else"},
    ]
    assert gathered(evidence) == {
        "evidence": {"a-1": "x", "b-1": "y"},
        "query": ["age", "mass"],
        "near_misses": ["ages"],
        "degraded": ["no vectors"],
    }
    assert gathered([]) == {}
