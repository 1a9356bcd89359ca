"""Small papers, events and messages for the store's tests."""

from collections.abc import Sequence

from nuncius.core.documents import PageText, PassageDraft
from nuncius.core.events import (
    PermissionRequest,
    ToolCallEvent,
    ToolResultEvent,
    TurnFinished,
    TurnStarted,
    TurnStatus,
)
from nuncius.core.messages import Message, Role, StoredMessage
from nuncius.core.papers import Author, Paper
from nuncius.store.protocols import FileRecord, PaperContent


def a_paper(
    title: str = "A young cluster", *authors: str, year: int | None = 2022, **fields: object
) -> Paper:
    names = authors or ("Luke G. Bouma",)
    return Paper.model_validate(
        {
            "paper_id": "",
            "title": title,
            "authors": [Author(name=name) for name in names],
            "year": year,
            **fields,
        }
    )


def a_text(*passages: str, digest: str = "", layer: Sequence[str] = ()) -> PaperContent:
    markdown = "\n".join(passages)
    drafts: list[PassageDraft] = []
    at = 0
    for text in passages:
        drafts.append(PassageDraft("text", text, "1. Data", 1, at, at + len(text)))
        at += len(text) + 1
    pages = [PageText(number, text) for number, text in enumerate(layer or [markdown], 1)]
    return PaperContent(
        digest or f"digest of {markdown}", "test/1", "good", markdown, pages, drafts
    )


def a_file(path: str = "/papers/a.pdf", **fields: object) -> FileRecord:
    values = {"sha256": "ab" * 32, "size_bytes": 10, "mtime_ns": 20, "kind": "pdf", **fields}
    return FileRecord(path, **values)  # pyright: ignore[reportArgumentType]


def turn(session_id: str, turn_id: str = "t1", message: str = "How old is it?") -> TurnStarted:
    return TurnStarted(
        session_id=session_id, turn_id=turn_id, message=message, model="scripted", mode="auto"
    )


def finish(session_id: str, turn_id: str = "t1", status: TurnStatus = "completed") -> TurnFinished:
    return TurnFinished(session_id=session_id, turn_id=turn_id, status=status)


def call(session_id: str, call_id: str = "c1", turn_id: str = "t1") -> ToolCallEvent:
    return ToolCallEvent(
        session_id=session_id,
        turn_id=turn_id,
        step=1,
        id=call_id,
        tool_call_id=call_id,
        name="grep_files",
        arguments={"pattern": "age"},
    )


def result(session_id: str, call_id: str = "c1", output: str = "found") -> ToolResultEvent:
    return ToolResultEvent(
        session_id=session_id,
        turn_id="t1",
        step=1,
        id=call_id,
        tool_call_id=call_id,
        name="grep_files",
        output=output,
        duration_ms=7,
    )


def request(session_id: str, request_id: str = "p1") -> PermissionRequest:
    return PermissionRequest(
        session_id=session_id,
        turn_id="t1",
        id=request_id,
        tool_call_id="c1",
        tool="run_bash",
        arguments={"command": "ls"},
        args_sha256="00" * 32,
        reason="A command asks.",
        rule="run_bash(ls)",
    )


def said(
    session_id: str, content: str, role: Role = "user", *, agent: str = "main"
) -> StoredMessage:
    return StoredMessage(session_id, "t1", Message(role, content), agent=agent)
