"""Routes on what waits for a person, and on the rules that make questions needless."""

from difflib import get_close_matches
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from nuncius.agent.rules import parse_rule
from nuncius.api.errors import ConflictError, ErrorReply
from nuncius.api.house import Home
from nuncius.api.models import (
    AnswerBody,
    Count,
    DecisionBody,
    NewRule,
    PendingList,
    RuleList,
)
from nuncius.core.errors import NotFoundError, UsageError
from nuncius.core.events import Notice
from nuncius.store.protocols import PendingRequest, StoredRule

router = APIRouter(tags=["permissions and questions"])

_TAKEN: dict[int | str, dict[str, Any]] = {
    409: {"model": ErrorReply, "description": "It was answered before, or asks for something else."}
}


@router.get("/pending")
async def list_pending(home: Home) -> PendingList:
    """List open questions and permission requests of all sessions and processes."""
    return PendingList(pending=await home.app.journal.pending())


@router.post("/questions/{question_id}", responses=_TAKEN)
async def answer_question(question_id: str, body: AnswerBody, home: Home) -> PendingRequest:
    """Answer a question, or decline it; a late answer reaches the agent with the next message."""
    if body.declined == (body.answer is not None):
        raise UsageError("Give either an answer or declined.", hint='Such as {"answer": "yes"}.')
    if body.answer is not None and not body.answer.strip():
        raise UsageError("The answer is empty.", hint="Say something, or decline the question.")
    await home.app.journal.pending_request(question_id)
    try:
        await home.app.journal.answer_question(question_id, body.answer)
    except UsageError as error:  # well formed: it does not fit what stands there now
        raise ConflictError(error.message, hint=error.hint) from error
    return await home.app.journal.pending_request(question_id)


@router.post("/permissions/requests/{request_id}", responses=_TAKEN)
async def decide_request(request_id: str, body: DecisionBody, home: Home) -> PendingRequest:
    """Decide a permission request; a late decision is recorded and lets nothing run."""
    journal = home.app.journal
    await journal.pending_request(request_id)
    try:
        decided = await journal.decide_request(
            request_id, body.decision, scope=body.scope, args_sha256=body.args_sha256
        )
    except UsageError as error:
        raise ConflictError(error.message, hint=error.hint) from error
    if body.comment.strip():
        text = f"The user's comment on {decided.tool} ({body.decision}): {body.comment.strip()}"
        await journal.commit([Notice(session_id=decided.session_id, text=text)])
    return decided


@router.get("/permissions")
async def list_rules(
    home: Home,
    session: Annotated[str, Query(max_length=64, description="Also this session's own.")] = "",
) -> RuleList:
    """List the rules for all sessions, oldest first."""
    return RuleList(rules=await home.app.store.desk.rules(session))


@router.put("/permissions")
async def add_rule(body: NewRule, home: Home) -> StoredRule:
    """Add a rule; the same rule again is the same."""
    pattern = body.pattern.strip()
    tool = parse_rule(pattern).tool
    _known_tool(home, tool)
    if body.session_id:
        await home.app.journal.session(body.session_id)
    desk = home.app.store.desk
    rule_id = await desk.add_rule(pattern, body.decision, session_id=body.session_id)
    return next(rule for rule in await desk.rules(body.session_id) if rule.id == rule_id)


@router.delete("/permissions/{rule_id}", status_code=204)
async def revoke_rule(rule_id: Count, home: Home) -> Response:
    """Take a rule back."""
    await home.app.store.desk.revoke_rule(rule_id)
    return Response(status_code=204)


def _known_tool(home: Home, name: str) -> None:
    names = [known.name for known in home.app.tools()]
    if name == "*" or name in names:
        return
    close = get_close_matches(name, names, n=2)
    plain = "A rule begins with a tool's own name, such as run_bash or file_write."
    hint = f"Did you mean {' or '.join(close)}?" if close else plain
    raise NotFoundError(f"There is no tool '{name}'.", hint=hint)
