"""Routes on sessions: what was said, what runs, what happens now."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response
from starlette.exceptions import HTTPException

from nuncius.api.errors import ErrorReply
from nuncius.api.events import EventStream, Reset
from nuncius.api.house import Home
from nuncius.api.models import (
    SQLITE_INTEGER,
    CancelReply,
    Compact,
    CompactReply,
    Count,
    MessageList,
    NewSession,
    NewTurn,
    SessionChange,
    SessionList,
    TurnReply,
    message_shape,
)
from nuncius.app.session_text import as_markdown
from nuncius.core.events import Event
from nuncius.store.protocols import Session

router = APIRouter(prefix="/sessions", tags=["sessions"])

_BUSY: dict[int | str, dict[str, Any]] = {
    409: {"model": ErrorReply, "description": "A turn runs, here or in another process."}
}


@router.post("", status_code=201)
async def create_session(home: Home, body: NewSession | None = None) -> Session:
    """Begin a conversation with the model and the mode in force."""
    session = await home.app.session()
    if body and body.title.strip():
        await home.app.journal.rename_session(session.id, body.title.strip())
    return await home.app.journal.session(session.id)


@router.get("")
async def list_sessions(
    home: Home,
    q: Annotated[str, Query(max_length=500, description="Only those that say this.")] = "",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    cursor: Annotated[str, Query(max_length=64, description="`next_cursor` of before.")] = "",
) -> SessionList:
    """List sessions, newest first."""
    page = await home.app.journal.session_page(limit=limit, text=q, cursor=cursor)
    return SessionList(sessions=page.sessions, next_cursor=page.cursor or None)


@router.get("/{session_id}")
async def show_session(session_id: str, home: Home) -> Session:
    """Tell of one session."""
    return await home.app.journal.session(session_id)


@router.patch("/{session_id}")
async def change_session(session_id: str, body: SessionChange, home: Home) -> Session:
    """Rename a session, or say whether the model thinks in its next turns."""
    journal = home.app.journal
    if body.title is not None:
        await journal.rename_session(session_id, body.title.strip())
    if body.enable_thinking is not None:
        await journal.set_thinking(session_id, enable_thinking=body.enable_thinking)
    return await journal.session(session_id)


@router.delete("/{session_id}", status_code=204, responses=_BUSY)
async def delete_session(session_id: str, home: Home) -> Response:
    """Delete messages and events; the audit log keeps their digests."""
    await home.app.journal.session(session_id)
    await home.turns.settle(session_id)
    await home.app.delete_session(session_id)
    home.live.deleted(session_id)
    return Response(status_code=204)


@router.get("/{session_id}/messages")
async def list_messages(session_id: str, home: Home) -> MessageList:
    """Return the messages as stored."""
    journal = home.app.journal
    await journal.session(session_id)
    messages = [
        message_shape(stored)
        for agent in await journal.agents(session_id)
        for stored in await journal.messages(session_id, agent)
    ]
    return MessageList(messages=messages)


@router.get(
    "/{session_id}/export",
    response_class=Response,
    responses={200: {"content": {"text/markdown": {"schema": {"type": "string"}}}}},
)
async def export_session(session_id: str, home: Home) -> Response:
    """Return a session as Markdown: what was asked, done and answered, each answer with its quotes."""
    journal = home.app.journal
    session = await journal.session(session_id)
    text = as_markdown(session, await journal.events(session_id))
    headers = {"Content-Disposition": f'attachment; filename="{session_id}.md"'}
    return Response(text, headers=headers, media_type="text/markdown; charset=utf-8")


@router.post("/{session_id}/turns", status_code=202, responses=_BUSY)
async def start_turn(session_id: str, body: NewTurn, home: Home) -> TurnReply:
    """Begin a turn; it goes on whoever reads along and ends in `turn_finished`."""
    turn_id = await home.turns.start(
        session_id,
        body.message,
        model=body.model.strip(),
        mode=body.mode,
        enable_thinking=body.enable_thinking,
    )
    return TurnReply(turn_id=turn_id)


@router.get(
    "/{session_id}/events",
    response_class=Response,
    responses={
        200: {
            "description": "Server-Sent Events: `id` is the event's seq, `data` the event as JSON.",
            "content": {"text/event-stream": {"schema": {"$ref": "#/components/schemas/Event"}}},
        },
        400: {"model": ErrorReply, "description": "Last-Event-ID is no number."},
    },
)
async def read_events(
    session_id: str,
    home: Home,
    after: Annotated[Count, Query(description="Only events with a greater seq.")] = 0,
    last_event_id: Annotated[
        str, Header(alias="Last-Event-ID", description="Goes before `after`.")
    ] = "",
) -> Response:
    """Replay a session's events and go on with those that come, of all processes."""
    await home.app.journal.session(session_id)
    place = _place(last_event_id, after)
    return EventStream(home.live.follow(session_id, place))


def _place(last_event_id: str, after: int) -> int:
    text = last_event_id.strip()
    if not text:
        return after
    if not (text.isascii() and text.isdecimal()):
        raise HTTPException(400, "Last-Event-ID is no number.")
    return int(text) if len(text) <= 18 else SQLITE_INTEGER  # nobody's place: told by `reset`


@router.post("/{session_id}/cancel", responses=_BUSY)
async def cancel_turn(session_id: str, home: Home) -> CancelReply:
    """Cancel what runs in a session; where nothing does, nothing happens."""
    await home.app.journal.session(session_id)
    return CancelReply(cancelled=home.turns.cancel(session_id))


@router.post("/{session_id}/compact", status_code=202)
async def compact_session(session_id: str, home: Home, body: Compact | None = None) -> CompactReply:
    """Have the conversation compressed before the next model call."""
    await home.app.compress(session_id, body.focus if body else "")
    return CompactReply()


STREAMED: Sequence[object] = (Event, Reset)
"""What the stream of events holds; the OpenAPI document describes it."""
