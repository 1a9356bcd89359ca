"""`sessions pending`, `sessions answer`: what waits for a person, also of other processes."""

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nuncius.cli import screen
from nuncius.cli.options import Json
from nuncius.cli.start import with_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nuncius.app.build import App
    from nuncius.store.protocols import PendingRequest, Session

Scope = Literal["once", "session", "always"]

_WORDS: "dict[str, Literal['allow', 'deny']]" = {
    "allow": "allow",
    "yes": "allow",
    "deny": "deny",
    "no": "deny",
}


def pending(
    session: Annotated[
        str, typer.Option("--session", metavar="ID", help="Only of this session.")
    ] = "",
    json: Json = False,
) -> None:
    """List open questions and permission requests of all sessions."""
    from nuncius.cli.shapes import pending_shape

    async def work(app: "App") -> "Sequence[PendingRequest]":
        if session:
            await app.journal.session(session)
        return await app.journal.pending(session)

    found = with_app(work)
    if json:
        screen.emit({"pending": [pending_shape(request) for request in found]})
        return
    for request in found:
        for line in lines(request):
            screen.out(line)
    if not found:
        screen.say("Nothing waits for you.")


def answer(
    request_id: Annotated[
        str, typer.Argument(metavar="ID", help="The question or permission request.")
    ],
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="The answer; of a permission: allow or deny.")
    ] = "",
    *,
    decline: Annotated[
        bool, typer.Option("--decline", help="Do not answer; deny a permission.")
    ] = False,
    scope: Annotated[
        Scope, typer.Option("--scope", help="How long a permission is for: once, session, always.")
    ] = "once",
    args_sha256: Annotated[
        str,
        typer.Option("--args", metavar="SHA256", help="Only for arguments of this digest."),
    ] = "",
    json: Json = False,
) -> None:
    """Answer a question, or decide a permission request."""
    from nuncius.cli.shapes import pending_shape
    from nuncius.core.errors import UsageError

    if bool(text.strip()) == decline:
        raise UsageError("Give either an answer or --decline.", hint="See `sessions pending`.")

    async def work(app: "App") -> "tuple[PendingRequest, str]":
        request = await app.journal.pending_request(request_id)
        if request.kind == "question":
            before = await app.journal.answer_question(request_id, None if decline else text)
            return await app.journal.pending_request(request_id), _heard(app, before)
        word = "deny" if decline else _WORDS.get(text.strip().lower())
        if word is None:
            raise UsageError(f"{text!r} is no decision.", hint="Say allow or deny.")
        decided = await app.journal.decide_request(
            request_id, word, scope=scope, args_sha256=args_sha256
        )
        if decided.state == "expired":
            advice = f"`nuncius permissions {word} RULE` speaks for the next one."
            return decided, f"Recorded, but the call that asked is gone. {advice}"
        return decided, "The waiting turn hears of it now."

    request, told = with_app(work)
    if json:
        screen.emit({"request": pending_shape(request), "told": told})
        return
    screen.out(f"{request.state:<10} {request.id}")
    if sys.stderr.isatty() or request.state == "expired":
        screen.say(told)


async def tell_what_stands(app: "App", session: "Session", *, model: str) -> None:
    """Tell a person who goes on in a session what it keeps: its model, its open questions."""
    if not model and session.model not in {"", app.model().name}:
        if app.kept_model(session):
            screen.say(f"The session goes on with {session.model}; --model changes it.")
        else:
            screen.say(f"The session's model, {session.model}, is not set up; another goes on.")
    for request in await app.journal.pending(session.id):
        for line in lines(request):
            screen.say(line)
        screen.say(f"    `nuncius sessions answer {request.id} ...`")


def _heard(app: "App", before: "PendingRequest") -> str:
    """Say when the agent hears of an answer."""
    if before.state == "open" and app.journal.lease_is_held(before.session_id):
        return "The waiting turn hears of it now."
    return (
        "The agent hears of it with the session's next message:"
        f" `nuncius ask --session {before.session_id} ...`"
    )


def lines(request: "PendingRequest") -> list[str]:
    """Return a waiting request for people: what it is about and how to answer it."""
    who = "" if request.agent == "main" else f", subagent {request.agent}"
    late = ", no longer waited for" if request.state != "open" else ""
    head = f"{request.id}  {request.created_at[:16]}  session {request.session_id}{who}{late}"
    if request.kind == "question":
        choices = [f"    - {option}" for option in request.options]
        return [head, f"    {request.question}", *choices]
    from nuncius.cli.asker import argument_lines

    return [
        head,
        f"    {request.tool} asks for permission: {request.reason}",
        *(f"  {line}" for line in argument_lines(request.arguments)),
        *(f"    rule: {rule}" for rule in request.rule.splitlines()),
    ]
