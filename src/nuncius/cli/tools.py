"""`tools`: what the model sees. `tool`: one call through the whole executor."""

import json as jsonlib
from typing import TYPE_CHECKING, Annotated

import typer

from nuncius.cli import screen
from nuncius.cli.options import Json, PermissionModeOption, SessionId
from nuncius.cli.start import with_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nuncius.agent.tool import ToolOutput
    from nuncius.app.build import App
    from nuncius.core.messages import ToolDefinition

_EXIT_OF_KIND = {
    "invalid_arguments": 2,
    "unknown_tool": 2,
    "upstream": 3,
    "unavailable": 3,
    "denied": 5,
    "hook_blocked": 5,
    "confidential": 5,
    "cancelled": 130,
}


def tools(json: Json = False) -> None:
    """Print the tools as the model sees them."""
    from nuncius.cli.shapes import definition_shape

    async def work(app: "App") -> "Sequence[ToolDefinition]":
        return app.tools()

    found = with_app(work)
    if json:
        screen.emit(
            {
                "tools": [
                    definition_shape(one.name, one.description, one.parameters) for one in found
                ]
            }
        )
        return
    for one in found:
        screen.out(screen.paint(one.name, "bold"))
        screen.out(screen.wrap(one.description, indent="    "))
        for name, field in one.parameters.get("properties", {}).items():
            needed = " (required)" if name in one.parameters.get("required", ()) else ""
            screen.out(
                screen.wrap(f"- {name}{needed}: {field.get('description', '')}", indent="    ")
            )
        screen.out()


def tool(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The tool.")],
    arguments: Annotated[
        str, typer.Argument(metavar="ARGS_JSON", help="Its arguments, a JSON object.")
    ] = "{}",
    session: SessionId = "",
    mode: PermissionModeOption = None,
    json: Json = False,
) -> None:
    """Run one tool call.

    It goes the way of a model's call: checked, permitted, journaled.
    """
    from nuncius.cli.asker import TerminalAsker
    from nuncius.core.text import clean

    async def work(app: "App") -> "ToolOutput":
        return await app.call_tool(
            name,
            clean(arguments),
            session_id=session,
            mode=mode,
            asker=TerminalAsker() if screen.can_answer() else None,
        )

    output = with_app(work)
    if json:
        screen.emit(
            {
                "content": output.content,
                "is_error": output.is_error,
                "error_kind": output.error_kind,
                "metadata": jsonlib.loads(jsonlib.dumps(dict(output.metadata), default=str)),
            }
        )
    elif output.is_error:
        screen.show_error(output.error_kind or "failed", output.content, "")
    else:
        screen.out(output.content)
    if output.is_error:
        raise typer.Exit(_EXIT_OF_KIND.get(output.error_kind or "", 1))
