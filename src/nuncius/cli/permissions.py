"""The user's rules on what the agent may do: `list`, `allow`, `deny`, `ask`, `revoke`."""

from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nuncius.cli import screen
from nuncius.cli.options import MOST, Json
from nuncius.cli.start import with_app

if TYPE_CHECKING:
    from nuncius.app.build import App

permissions = typer.Typer(help="Rules on what the agent may do.", no_args_is_help=True)

RulePattern = Annotated[
    str, typer.Argument(metavar="RULE", help="`tool`, `tool(subject)` or `*` for every tool.")
]


@permissions.command("list")
def list_rules(json: Json = False) -> None:
    """List the rules for all sessions, oldest first."""
    from nuncius.cli.shapes import rule_shape

    rules = with_app(lambda app: app.store.desk.rules(""))
    if json:
        screen.emit({"rules": [rule_shape(rule) for rule in rules]})
        return
    for rule in rules:
        screen.out(
            f"{rule.id:>4}  {rule.decision:<6} {rule.pattern}  ({rule.source}, {rule.created_at})"
        )
    if not rules:
        screen.say("There are no rules: reads are allowed, all else asks.")


@permissions.command()
def allow(pattern: RulePattern, json: Json = False) -> None:
    """Let matching calls run without a question."""
    _add(pattern, "allow", json=json)


@permissions.command()
def deny(pattern: RulePattern, json: Json = False) -> None:
    """Refuse matching calls, whatever else allows them."""
    _add(pattern, "deny", json=json)


@permissions.command()
def ask(pattern: RulePattern, json: Json = False) -> None:
    """Ask before matching calls."""
    _add(pattern, "ask", json=json)


@permissions.command()
def revoke(
    rule_id: Annotated[
        int,
        typer.Argument(metavar="ID", min=1, max=MOST, help="The number that `list` shows."),
    ],
    json: Json = False,
) -> None:
    """Take a rule back."""
    from nuncius.core.errors import NotFoundError

    async def work(app: "App") -> None:
        if all(rule.id != rule_id for rule in await app.store.desk.rules("")):
            raise NotFoundError(
                f"There is no rule {rule_id}.", hint="`nuncius permissions list` shows all."
            )
        await app.store.desk.revoke_rule(rule_id)

    with_app(work)
    if json:
        screen.emit({"revoked": rule_id})
    else:
        screen.out(f"revoked    {rule_id}")


def _add(pattern: str, decision: Literal["allow", "deny", "ask"], *, json: bool) -> None:
    from nuncius.agent.rules import parse_rule
    from nuncius.core.errors import NotFoundError

    tool = parse_rule(pattern).tool

    async def work(app: "App") -> int:
        names = [known.name for known in app.tools()]
        if tool != "*" and tool not in names:
            close = get_close_matches(tool, names, n=2)
            hint = f"Did you mean {' or '.join(close)}?" if close else "`nuncius tools` lists all."
            raise NotFoundError(f"There is no tool '{tool}'.", hint=hint)
        return await app.store.desk.add_rule(pattern.strip(), decision)

    rule_id = with_app(work)
    if json:
        screen.emit({"id": rule_id, "pattern": pattern, "decision": decision})
    else:
        screen.out(f"{rule_id:>4}  {decision:<6} {pattern}")
