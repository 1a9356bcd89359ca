"""All commands, each in the module of its room. Nothing heavy is imported before one runs."""

from typing import Annotated

import typer

from nuncius.cli import (
    ask,
    audit,
    bib,
    demo,
    digest,
    graph,
    home,
    mcp,
    papers,
    permissions,
    search,
    serve,
    sessions,
    target,
    tools,
)

app = typer.Typer(
    help="A research agent for astronomers: it answers with quotes checked word for word.",
    epilog="`nuncius` alone opens the chat.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version.", is_eager=True)
    ] = False,
) -> None:
    """Open the chat where no command is named."""
    if version:
        from nuncius import __version__
        from nuncius.cli import screen

        screen.out(f"nuncius {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        ask.chat()


start.__doc__ = None  # the help shows the app's own words

for command in (
    ask.ask,
    ask.chat,
    demo.demo,
    papers.add,
    papers.rag,
    search.search,
    target.target,
    digest.digest,
    serve.serve,
):
    app.command()(command)
papers.paper.command(name="graph")(graph.graph)
app.add_typer(papers.paper, name="paper")
app.add_typer(papers.library, name="library")
app.add_typer(bib.bib, name="bib")
app.add_typer(papers.notes, name="notes")
app.add_typer(sessions.sessions, name="sessions")
app.command(name="tools")(tools.tools)
app.command(name="tool")(tools.tool)
app.command(name="mcp")(mcp.mcp)
app.add_typer(audit.audit, name="audit")
app.command(name="metrics")(audit.metrics)
app.add_typer(permissions.permissions, name="permissions")
app.add_typer(home.config, name="config")
for command in (home.doctor, home.backup, home.restore):
    app.command()(command)
