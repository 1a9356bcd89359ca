"""`audit`: the log of acts and decisions, and whether its chain holds; `metrics`: what was used."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from nuncius.cli import screen
from nuncius.cli.options import MOST, Json, Limit
from nuncius.cli.start import with_app

if TYPE_CHECKING:
    from nuncius.store.metrics import Metrics

audit = typer.Typer(
    help="The log of acts and decisions; `audit verify` checks that nobody changed it.",
    invoke_without_command=True,
)

SessionOption = Annotated[
    str, typer.Option("--session", metavar="ID", help="Of this session only.")
]


@audit.callback()
def show(
    context: typer.Context,
    *,
    session: SessionOption = "",
    tool: Annotated[str, typer.Option("--tool", metavar="NAME", help="Of this tool only.")] = "",
    after: Annotated[
        int, typer.Option("--after", min=0, max=MOST, metavar="ROW", help="From here on.")
    ] = 0,
    limit: Limit = 1000,
    json: Json = False,
) -> None:
    """Print acts and decisions, oldest first: calls, their outcomes, permissions."""
    if context.invoked_subcommand is not None:
        return
    rows = with_app(
        lambda app: app.journal.audit(session_id=session, tool=tool, after=after, limit=limit)
    )
    if json:
        screen.emit({"rows": [asdict(row) for row in rows]})
        return
    for row in rows:
        what = row.tool or row.tool_call_id
        screen.out(
            f"{row.id:>6}  {row.time[:19]}  {row.session_id}  {row.agent:<10} {row.type:<19}"
            f" {what:<20} {row.outcome}".rstrip()
        )
    if not rows:
        screen.say("Nothing is in the log.")
    elif len(rows) == limit:
        screen.say(f"There may be more: --after {rows[-1].id}")


@audit.command()
def verify(json: Json = False) -> None:
    """Check the whole chain; exit code 1 where something was changed."""
    wrong = with_app(lambda app: app.journal.verify_audit())
    if json:
        screen.emit({"sound": not wrong, "wrong": list(wrong)})
    else:
        for line in wrong:
            screen.out(line)
        screen.out("The chain is broken." if wrong else "The chain holds: nothing was changed.")
    if wrong:
        raise typer.Exit(1)


def metrics(session: SessionOption = "", json: Json = False) -> None:
    """Tell what was used: tokens, cost, time per tool, errors; of one session or of all."""
    found = with_app(lambda app: app.metrics(session))
    if json:
        screen.emit(shape(found))
        return
    usage = found.usage
    cost = "no price is known" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    turns = ", ".join(f"{count} {status}" for status, count in found.turns.items())
    screen.out(f"turns       {sum(found.turns.values())} ({turns or 'none'})")
    screen.out(
        f"tokens      {usage.input_tokens:,} in ({usage.cached_tokens:,} cached),"
        f" {usage.output_tokens:,} out ({usage.reasoning_tokens:,} of reasoning),"
        f" in {found.calls:,} model calls"
    )
    screen.out(f"cost        {cost}")
    if found.tools:
        screen.out(
            f"\n{'tool':<22}{'runs':>7}{'errors':>8}{'median':>10}{'95 %':>10}{'longest':>10}"
        )
    for tool in found.tools:
        times = (tool.median_ms, tool.p95_ms, tool.longest_ms)
        screen.out(
            f"{tool.name:<22}{tool.runs:>7,}{tool.errors:>8,}"
            + "".join(f"{f'{value:,} ms':>10}" for value in times)
        )
    for kind, count in found.errors.items():
        screen.out(f"{'errors':<12}{kind}: {count:,}")


def shape(found: "Metrics") -> dict[str, object]:
    """Return figures for programs."""
    return {
        "session_id": found.session_id,
        "turns": found.turns,
        "model_calls": found.calls,
        "usage": asdict(found.usage),
        "tools": [asdict(tool) for tool in found.tools],
        "errors": found.errors,
        "days": [
            {"day": day.day, "model_calls": day.calls, **asdict(day.usage)} for day in found.days
        ],
    }
