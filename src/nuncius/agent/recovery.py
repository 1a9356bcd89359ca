"""After a crash: every call gets its one result, every turn its end. Nothing is run again."""

from collections.abc import Sequence

from nuncius.agent.pairing import NO_RESULT
from nuncius.agent.ports import Journal
from nuncius.core.events import (
    Event,
    SubagentFinished,
    SubagentStarted,
    ToolCallEvent,
    ToolResultEvent,
    TurnFinished,
)
from nuncius.core.messages import Message, StoredMessage, ToolCall

CRASHED = "The process ended in the middle of the turn."


async def recover(journal: Journal, session_id: str, agent: str = "main") -> bool:
    """Close what a dead process left open in a session whose lease we hold.

    Returns whether anything was open.
    """
    turns = await journal.open_turns(session_id)
    calls = await journal.open_calls(session_id)
    if not turns and not calls:
        return False
    events, messages = await unanswered(journal, session_id, turns)
    ends = [
        TurnFinished(
            session_id=session_id, turn_id=turn_id, agent=agent, status="failed", error=CRASHED
        )
        for turn_id in turns
    ]
    await journal.commit([*events, *ends], messages, durable=True)
    return True


async def unanswered(
    journal: Journal, session_id: str, turns: Sequence[str], *, only: str = ""
) -> tuple[list[Event], list[StoredMessage]]:
    """Return what these turns still lack, as events and messages.

    A call whose result was committed, but not yet its message, gets the message; one without a
    result gets an `interrupted` one. A subagent without an end gets one.

    Args:
        only: Look at this agent's part alone; empty: at all agents'.
    """
    known = await journal.events(session_id)
    called = {event.id: event for event in known if isinstance(event, ToolCallEvent)}
    results = {event.id: event for event in known if isinstance(event, ToolResultEvent)}
    agents = dict.fromkeys(["main", *(event.agent for event in known if event.turn_id in turns)])
    events: list[Event] = []
    messages: list[StoredMessage] = []
    for agent in [only] if only else agents:
        for turn_id, call in _dangling(await journal.messages(session_id, agent), turns):
            result = results.get(call.id)
            if result is None:
                if call.id not in called:
                    events.append(_intent(session_id, turn_id, agent, call))
                result = _interrupted(
                    session_id, turn_id, call.id, call.name, agent=agent, intent=called.get(call.id)
                )
                results[call.id] = result
                events.append(result)
            messages.append(_message(session_id, turn_id, agent, call, result))
    for turn_id, call_id, name in await journal.open_calls(session_id):
        intent = called.get(call_id)
        agent = intent.agent if intent else "main"
        if call_id not in results and only in {"", agent}:
            events.append(
                _interrupted(session_id, turn_id, call_id, name, agent=agent, intent=intent)
            )
    return [*events, *([] if only else _ends(known, turns))], messages


def _ends(known: Sequence[Event], turns: Sequence[str]) -> list[Event]:
    """Return an end for each subagent of these turns that has none."""
    finished = {event.name for event in known if isinstance(event, SubagentFinished)}
    return [
        SubagentFinished(
            session_id=event.session_id,
            turn_id=event.turn_id,
            agent=event.agent,
            name=event.name,
            status="failed",
            steps=max((e.step for e in known if e.agent == event.agent), default=0),
            tool_calls=sum(isinstance(e, ToolCallEvent) and e.agent == event.agent for e in known),
            summary="",
        )
        for event in known
        if isinstance(event, SubagentStarted)
        and event.turn_id in turns
        and event.name not in finished
    ]


def _dangling(stored: Sequence[StoredMessage], turns: Sequence[str]) -> list[tuple[str, ToolCall]]:
    """Return the calls of the open turns that no message answers, with their turn."""
    waiting: dict[str, tuple[str, ToolCall]] = {}
    for entry in stored:
        if entry.turn_id not in turns:
            continue
        waiting.pop(entry.message.tool_call_id, None)
        waiting.update((call.id, (entry.turn_id, call)) for call in entry.message.tool_calls)
    return list(waiting.values())


def _intent(session_id: str, turn_id: str, agent: str, call: ToolCall) -> ToolCallEvent:
    return ToolCallEvent(
        session_id=session_id,
        turn_id=turn_id,
        agent=agent,
        id=call.id,
        tool_call_id=call.id,
        name=call.name,
        arguments={},
    )


def _interrupted(
    session_id: str,
    turn_id: str,
    call_id: str,
    name: str,
    *,
    agent: str,
    intent: ToolCallEvent | None,
) -> ToolResultEvent:
    return ToolResultEvent(
        session_id=session_id,
        turn_id=turn_id,
        agent=intent.agent if intent else agent,
        step=intent.step if intent else 0,
        id=call_id,
        tool_call_id=call_id,
        name=name,
        output=NO_RESULT,
        is_error=True,
        error_kind="interrupted",
        metadata={"code": "interrupted"},
    )


def _message(
    session_id: str, turn_id: str, agent: str, call: ToolCall, result: ToolResultEvent
) -> StoredMessage:
    message = Message(
        "tool",
        result.output,
        tool_call_id=call.id,
        name=call.name,
        is_error=result.is_error,
    )
    return StoredMessage(session_id, turn_id, message, agent, dict(result.metadata))
