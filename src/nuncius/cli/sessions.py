"""Commands on sessions: `list`, `show`, `replay`, `export`, `delete`, and what waits in them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nuncius.cli import pending, screen
from nuncius.cli.options import Json, Limit
from nuncius.cli.start import with_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nuncius.app.build import App
    from nuncius.core.events import Event
    from nuncius.core.messages import StoredMessage
    from nuncius.store.protocols import Session

sessions = typer.Typer(help="Past conversations.", no_args_is_help=True)

sessions.command()(pending.pending)
sessions.command()(pending.answer)

SessionName = Annotated[str, typer.Argument(metavar="ID", help="The session.")]

_ALL = 1_000_000  # more sessions than anybody has: the store wants a number


@sessions.command("list")
def list_sessions(
    text: Annotated[str, typer.Option("--text", help="Only those that say this.")] = "",
    limit: Limit = _ALL,
    json: Json = False,
) -> None:
    """List sessions, newest first."""
    from nuncius.cli.shapes import session_shape

    found = with_app(lambda app: app.journal.sessions(limit=limit, text=text))
    if json:
        screen.emit({"sessions": [session_shape(one) for one in found]})
        return
    for one in found:
        title = one.title.replace("\n", " ")[:60]
        screen.out(f"{one.id}  {one.created_at[:16]}  {one.status:<12} {title}")
    if not found:
        screen.say("There are no sessions yet.")


@sessions.command()
def show(session_id: SessionName, json: Json = False) -> None:
    """Print a session's messages."""
    from nuncius.cli.shapes import message_shape, session_shape

    async def work(app: "App") -> "tuple[Session, Sequence[StoredMessage]]":
        return await app.journal.session(session_id), await app.journal.messages(session_id)

    session, messages = with_app(work)
    if json:
        screen.emit(
            {
                "session": session_shape(session),
                "messages": [message_shape(stored) for stored in messages],
            }
        )
    else:
        screen.out(transcript(session, messages))


@sessions.command()
def replay(
    session_id: SessionName,
    check: Annotated[
        bool, typer.Option("--check", help="Verify that the record is whole; exit 1 if not.")
    ] = False,
    json: Json = False,
) -> None:
    """Print a session's events as they were, or verify that none is missing."""
    from nuncius.cli.replay import event_line, faults
    from nuncius.core.events import dump_event

    async def work(app: "App") -> "tuple[Sequence[Event], Sequence[StoredMessage], bool]":
        await app.journal.session(session_id)  # an unknown one is an error, not an empty record
        running = app.journal.lease_is_held(session_id)
        events = await app.journal.events(session_id)
        return events, await app.journal.messages(session_id), running

    events, messages, running = with_app(work)
    if not check:
        for event in events:
            screen.out(dump_event(event) if json else event_line(event))
        return
    found = faults(events, messages, running=running)
    if json:
        screen.emit({"session_id": session_id, "events": len(events), "faults": found})
    else:
        for fault in found:
            screen.out(fault)
        turns = len({event.turn_id for event in events if event.turn_id})
        verdict = f"{len(found)} faults" if found else "whole"
        screen.out(f"{len(events)} events, {turns} turns, {len(messages)} messages: {verdict}")
    if found:
        raise typer.Exit(1)


@sessions.command()
def export(
    session_id: SessionName,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write here instead.")
    ] = None,
    json: Json = False,
) -> None:
    """Print a session as Markdown with each answer's quotes, or all of it as JSON."""
    from nuncius.app.session_text import as_markdown
    from nuncius.cli.files import write_text
    from nuncius.cli.shapes import message_shape, session_shape

    async def work(app: "App") -> "tuple[Session, Sequence[StoredMessage], Sequence[Event]]":
        session = await app.journal.session(session_id)
        return session, await app.journal.messages(session_id), await app.journal.events(session_id)

    session, messages, events = with_app(work)
    if json:
        text = screen.as_json(
            {
                "session": session_shape(session),
                "messages": [message_shape(stored) for stored in messages],
                "events": [event.model_dump(mode="json") for event in events],
            }
        )
    else:
        text = as_markdown(session, events).rstrip("\n")
    if output:
        write_text(output, text + "\n")
        screen.say(f"Written: {output}")
    else:
        screen.out(text)


@sessions.command()
def delete(session_id: SessionName, json: Json = False) -> None:
    """Delete a session's messages and events."""

    async def work(app: "App") -> None:
        await app.journal.session(session_id)
        await app.delete_session(session_id)

    with_app(work)
    if json:
        screen.emit({"deleted": session_id})
    else:
        screen.out(f"deleted    {session_id}")


def transcript(session: "Session", messages: "Sequence[StoredMessage]") -> str:
    """Return a session as Markdown."""
    parts = [f"# {session.title or session.id}", f"{session.created_at}, {session.status}"]
    for stored in messages:
        message = stored.message
        name = {"user": "You", "assistant": "nuncius", "tool": f"Tool {message.name}"}.get(
            message.role, message.role
        )
        failed = " (failed)" if message.is_error else ""
        parts.append(f"## {name}{failed}")
        if message.content.strip():
            parts.append(message.content.strip())
        parts.extend(f"`{call.name}({call.arguments})`" for call in message.tool_calls)
    return "\n\n".join(parts)
