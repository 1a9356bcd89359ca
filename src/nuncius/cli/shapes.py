"""What `--json` prints of each thing."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nuncius.core.messages import StoredMessage
    from nuncius.core.papers import Paper
    from nuncius.library.records import Failure, FoundPassage
    from nuncius.store.protocols import Note, PendingRequest, Session, StoredRule

Shape = dict[str, Any]


def paper_shape(paper: "Paper") -> Shape:
    """Return a paper; authors as their names."""
    return {
        "paper_id": paper.paper_id,
        "title": paper.title,
        "authors": [author.name for author in paper.authors],
        "year": paper.year,
        "bibcode": paper.bibcode,
        "arxiv_id": paper.arxiv_id,
        "doi": paper.doi,
        "cite_key": paper.cite_key,
        "state": paper.state,
        "files": [file.model_dump() for file in paper.files],
        "pages": paper.pages,
        "language": paper.language,
        "label": paper.label,
        "confidential": paper.confidential,
        "added_at": paper.added_at,
        "journal": paper.journal,
        "tags": list(paper.tags),
        "notes": paper.notes,
    }


def failure_shape(failure: "Failure") -> Shape:
    """Return what could not be added and what to do about it."""
    return asdict(failure)


def passage_shape(found: "FoundPassage") -> Shape:
    """Return a passage that a search found."""
    passage = found.passage
    return {
        "passage_id": passage.passage_id,
        "paper_id": passage.paper_id,
        "title": found.paper.title,
        "text": passage.text,
        "page": passage.page,
        "section": passage.section,
        "score": found.hit.score,
        "legs": found.hit.legs,
    }


def session_shape(session: "Session") -> Shape:
    """Return a session, as the HTTP interface will."""
    return asdict(session)


def pending_shape(request: "PendingRequest") -> Shape:
    """Return a question or permission request."""
    return asdict(request)


def message_shape(stored: "StoredMessage") -> Shape:
    """Return a message as stored."""
    message = stored.message
    shape: Shape = {
        "role": message.role,
        "content": message.content,
        "agent_name": stored.agent,
        "turn_id": stored.turn_id,
        "metadata": dict(stored.metadata),
    }
    if message.tool_calls:
        shape["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in message.tool_calls
        ]
    if message.role == "tool":
        shape |= {
            "tool_call_id": message.tool_call_id,
            "name": message.name,
            "is_error": message.is_error,
        }
    if message.thinking:
        shape["thinking"] = [block.text for block in message.thinking]
    return shape


def note_shape(note: "Note") -> Shape:
    """Return a note."""
    return asdict(note)


def rule_shape(rule: "StoredRule") -> Shape:
    """Return a permission rule."""
    return asdict(rule)


def definition_shape(name: str, description: str, parameters: Mapping[str, Any]) -> Shape:
    """Return a tool's definition."""
    return {"name": name, "description": description, "parameters": dict(parameters)}
