"""`subagent`: a part of the work in a context of its own; only its report comes back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pydantic import Field
from typing_extensions import override

from nuncius.agent.delegation import MAX_STEPS, Assignment, DelegationLimits, Report
from nuncius.agent.registry import AnyTool
from nuncius.agent.taint import UNTRUSTED, sources_of
from nuncius.agent.tool import Arguments, Permission, Tool, ToolContext, ToolOutput
from nuncius.core.errors import ErrorKind, ToolError
from nuncius.core.shapes import is_list, is_object

UNSEEN = "[Made without one tool call: nothing in this report was looked up. Do not rely on it.]"
SHOWN_CALLS = 40
_LIMITS = DelegationLimits()


class SubagentTask(Arguments):
    """Arguments of `subagent`."""

    task: str = Field(min_length=1, description="All it knows, with context.")
    name: str = Field(default="subagent", max_length=32)
    context: str = Field(default="", description="What you know that it needs.")
    tools: list[str] = Field(
        default_factory=list[str], max_length=40, description="Only these. Empty: all but talk."
    )
    max_steps: int = Field(default=10, ge=1, le=MAX_STEPS, description="Model calls.")


class Subagent(Tool[SubagentTask]):
    """Have a subagent do a part that needs many calls; you get its report, which you may cite.

    Up to 8 run side by side.
    """

    name = "subagent"
    args = SubagentTask
    main_only = True
    judged_inside = True
    interrupt = "block"  # its own calls hear of the cancel at once, and it ends then
    timeout_s = _LIMITS.wall_clock_s + 2 * _LIMITS.report_s

    @override
    def parallel(self, args: SubagentTask) -> bool:
        return True  # its calls take the locks themselves

    @override
    def check_permissions(self, args: SubagentTask) -> tuple[Permission, ...]:
        return (Permission("allow", "Each of its calls is judged by itself."),)

    @override
    def sources(self, args: SubagentTask, output: ToolOutput) -> Sequence[str]:
        return (*sources_of(output.metadata), f"the report of {output.metadata.get('agent')}")

    @override
    async def run(self, args: SubagentTask, ctx: ToolContext) -> ToolOutput:
        if ctx.delegate is None:
            raise ToolError("No subagent can be started here.", kind="unavailable")
        report = await ctx.delegate(
            Assignment(
                args.task,
                name=args.name,
                context=args.context,
                tools=tuple(args.tools),
                max_steps=args.max_steps,
            ),
            report=ctx.report,
        )
        failed = not report.text or report.status in {"failed", "cancelled"}
        return ToolOutput(
            content(report),
            is_error=failed,
            error_kind=fault(report) if failed else None,
            metadata={
                "agent": report.name,
                "status": report.status,
                "steps": report.steps,
                "tool_calls": len(report.activity),
                "activity": [asdict(call) for call in report.activity],
                "looked_up": bool(report.activity),
                "thinking": report.thinking,
                "usage": asdict(report.usage),
                "confidential": report.confidential,
                UNTRUSTED: list(report.sources),
                **gathered(report.evidence),
            },
        )


def content(report: Report) -> str:
    """Return the report as the parent reads it: words, then what was done, then thoughts."""
    head = (
        f"Subagent {report.name}: {report.status}, {report.steps} steps,"
        f" {len(report.activity)} tool calls."
    )
    parts = [head]
    if report.error:
        parts.append(f"It failed: {report.error}")
    if not report.activity:
        parts.append(UNSEEN)
    parts.append(report.text or "It made no report.")
    if report.activity:
        calls = [f"- {call.tool} {call.arguments}: {call.outcome}" for call in report.activity]
        left = len(calls) - SHOWN_CALLS
        more = [f"- and {left} more"] if left > 0 else []
        parts.append("\n".join(["What it did:", *calls[:SHOWN_CALLS], *more]))
    if report.thinking:
        parts.append(f"What it thought, in short: {report.thinking}")
    return "\n\n".join(parts)


def gathered(evidence: Sequence[Mapping[str, object]]) -> dict[str, Any]:
    """Join the metadata that answers are checked by: what the subagent was shown, the parent may cite."""
    shown: dict[str, object] = {}
    lists: dict[str, dict[str, None]] = {"query": {}, "near_misses": {}, "degraded": {}}
    for metadata in evidence:
        passages = metadata.get("evidence")
        if is_object(passages):
            shown.update(passages)
        for key, seen in lists.items():
            value = metadata.get(key)
            texts = [value] if isinstance(value, str) else value if is_list(value) else []
            seen.update(dict.fromkeys(str(text) for text in texts))
    found: dict[str, Any] = {key: list(seen) for key, seen in lists.items() if seen}
    return {"evidence": shown, **found} if shown else found


def fault(report: Report) -> ErrorKind:
    """Return the kind of error that a report without a result is."""
    if report.status == "cancelled":
        return "cancelled"
    if report.status == "timeout":
        return "timeout"
    return report.error_kind or "unavailable"


def tools() -> Iterator[AnyTool]:
    """Yield the tools of this family."""
    yield Subagent()
