"""A session as Markdown, for people: what was asked, done and answered, each answer with its quotes."""

import json
from collections.abc import Iterator, Sequence

from nuncius.core.events import (
    AnswerEvent,
    Event,
    Notice,
    QuestionResolved,
    ToolCallEvent,
    ToolResultEvent,
    TurnFinished,
    TurnStarted,
)
from nuncius.core.evidence import Citation
from nuncius.store.protocols import Session

_ARGUMENTS = 300


def as_markdown(session: Session, events: Sequence[Event]) -> str:
    """Return a session's turns as Markdown; reasoning and the outputs of tools are left out."""
    parts = [f"# {_line(session.title) or session.id}", f"{session.created_at} · {session.status}"]
    calls: dict[str, ToolCallEvent] = {}
    done: list[str] = []
    for event in events:
        if isinstance(event, ToolCallEvent):
            calls[event.id] = event
        elif isinstance(event, ToolResultEvent):
            done.append(_act(calls.get(event.id), event))
        else:
            told = list(_told(event))
            if told and done:
                parts.append("\n".join(done))
                done = []
            parts += told
    return "\n\n".join([*parts, *(["\n".join(done)] if done else [])]) + "\n"


def _told(event: Event) -> Iterator[str]:
    """Yield the paragraphs of an event; none where people need not see it."""
    match event:
        case TurnStarted():
            yield "## You"
            yield event.message.strip()
        case QuestionResolved(answer=answer) if answer:
            yield f"You answered: {_line(answer)}"
        case AnswerEvent():
            yield "## nuncius"
            yield event.text.strip()
            yield from (_source(one, event.text) for one in event.citations)
            if event.unsupported:
                yield "No quote carries:\n\n" + "\n".join(
                    f"- {_line(one.sentence)} ({_line(one.reason)})" for one in event.unsupported
                )
        case TurnFinished(status=status, error=error) if status != "completed":
            yield f"*The turn ended: {status}{f', {_line(error)}' if error else ''}.*"
        case Notice(level=level, text=text) if level != "info":
            yield f"*{_line(text)}*"
        case _:
            pass


def _act(call: ToolCallEvent | None, result: ToolResultEvent) -> str:
    """Return one line on a call: which tool, with what, and whether it failed."""
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False) if call else ""
    if len(arguments) > _ARGUMENTS:
        arguments = arguments[:_ARGUMENTS] + "…"
    who = "" if result.agent == "main" else f"{_line(result.agent)}: "
    failed = f", failed: {_line(result.error_kind or 'error')}" if result.is_error else ""
    told = f" `{_line(arguments).replace('`', 'ˋ')}`" if arguments else ""
    return f"- {who}{_line(result.name)}{told} ({result.duration_ms / 1000:.1f} s{failed})"


def _source(citation: Citation, text: str) -> str:
    """Return where a quote stands and how it was found again; itself, where the text has it not."""
    year = f" ({citation.year})" if citation.year else ""
    names = ", ".join(map(_line, citation.authors[:3])) + (
        " et al." if len(citation.authors) > 3 else ""
    )
    identifiers = citation.bibcode or citation.doi or citation.arxiv_id or citation.paper_id
    place = f", p. {citation.page}" if citation.page else ""
    where = (
        f"{names}{year}: {_line(citation.title)}{place}. {_line(identifiers)} · {citation.check}"
    )
    quote = _line(citation.quote)
    if f"> {quote} [" in text:
        return f"[{_line(citation.key)}] {where}"
    return f"> [{_line(citation.key)}] “{quote}”\n>\n> {where}"


def _line(text: str) -> str:
    """Return text on one line, so that it can begin no paragraph, list or heading of its own."""
    return " ".join(text.split())
