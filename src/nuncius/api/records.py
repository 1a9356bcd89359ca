"""Routes on what was done and what it used: the audit log and the figures."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query

from nuncius.api.house import Home
from nuncius.api.models import (
    SQLITE_INTEGER,
    AuditList,
    AuditVerdict,
    DayShape,
    MetricsReply,
    ToolFiguresShape,
)

router = APIRouter(tags=["audit"])

SessionId = Annotated[str, Query(max_length=64, description="Of this session only.")]


@router.get("/audit")
async def read_audit(
    home: Home,
    session: SessionId = "",
    tool: Annotated[str, Query(max_length=64, description="Of this tool only.")] = "",
    after: Annotated[int, Query(ge=0, le=SQLITE_INTEGER, description="Rows after this id.")] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
) -> AuditList:
    """Return acts and decisions, oldest first; those of deleted sessions, too."""
    rows = await home.app.journal.audit(session_id=session, tool=tool, after=after, limit=limit)
    return AuditList(rows=rows)


@router.get("/audit/verify")
async def verify_audit(home: Home) -> AuditVerdict:
    """Check the whole chain of the audit log."""
    wrong = await home.app.journal.verify_audit()
    return AuditVerdict(sound=not wrong, wrong=list(wrong))


@router.get("/metrics")
async def read_metrics(home: Home, session: SessionId = "") -> MetricsReply:
    """Tell what was used: tokens, cost, time per tool, errors; of one session or of all."""
    journal = home.app.journal
    if session:
        await journal.session(session)
    found = await journal.metrics(session)
    return MetricsReply(
        session_id=found.session_id,
        turns=found.turns,
        model_calls=found.calls,
        usage=found.usage,
        tools=[ToolFiguresShape(**asdict(tool)) for tool in found.tools],
        errors=found.errors,
        days=[DayShape(day=one.day, model_calls=one.calls, usage=one.usage) for one in found.days],
    )
