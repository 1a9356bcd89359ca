"""A recorded session: one line an event, and whether the record is whole."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nuncius.cli.watch import call_line

if TYPE_CHECKING:
    from nuncius.core.events import Event
    from nuncius.core.messages import StoredMessage

_WIDTH = 100
_UNREADABLE = "cannot be read"  # the journal's own words for a record that it left out


def event_line(event: "Event") -> str:
    """Return an event in one line: its number, its time, what happened."""
    words = _words(event).replace("\n", " ")
    if len(words) > _WIDTH:
        words = words[: _WIDTH - 3] + "..."
    return f"{event.seq:>5}  {event.time[11:19]}  {event.type:<20} {words}".rstrip()


def _words(event: "Event") -> str:
    match event.type:
        case "turn_started":
            return f"{event.model}, mode {event.mode}: {event.message}"
        case "text_delta" | "thinking_delta" | "notice" | "answer":
            return event.text
        case "tool_call":
            return call_line(event.name, event.arguments)
        case "tool_progress":
            return event.progress
        case "tool_result":
            state = event.error_kind or ("failed" if event.is_error else "ok")
            return f"{event.name}: {state}, {event.duration_ms} ms: {event.output}"
        case "permission_request":
            return f"{call_line(event.tool, event.arguments)}: {event.reason}"
        case "permission_resolved":
            return f"{event.decision} ({event.scope}) by {event.by}"
        case "question":
            return " / ".join((event.question, *event.options))
        case "question_resolved":
            return f"{event.outcome} {event.answer}"
        case "subagent_started":
            return f"{event.name}: {event.task}"
        case "subagent_finished":
            did = f"{event.steps} steps, {event.tool_calls} tool calls"
            return f"{event.name}: {event.status}, {did}: {event.summary}"
        case "todos":
            return f"{len(event.todos)} todos"
        case "compaction":
            return f"{event.kind}, {event.outcome}: {event.tokens_before} to {event.tokens_after} tokens"
        case "attempt_reset":
            return event.reason
        case "usage":
            return f"{event.input_tokens} tokens in, {event.output_tokens} out"
        case "turn_finished":
            return f"{event.status} {event.error}"


def faults(
    events: "Sequence[Event]", messages: "Sequence[StoredMessage]", *, running: bool = False
) -> list[str]:
    """Return what is wrong with a session's record; empty for a whole one.

    Args:
        running: A turn is running now: the last turn may be open.
    """
    return [
        *_faults_of_order(events),
        *_faults_of_turns(events, running=running),
        *_faults_of_calls(events, running=running),
        *_faults_of_messages(events, messages),
    ]


def _faults_of_order(events: "Sequence[Event]") -> list[str]:
    found = [
        event.text
        for event in events
        if event.type == "notice" and not event.turn_id and _UNREADABLE in event.text
    ]
    for expected, event in enumerate(events, start=1):
        if event.seq != expected:
            found.append(f"event {expected} is missing: {event.seq} stands in its place")
            break  # every later number would be off, too
    return found


def _faults_of_turns(events: "Sequence[Event]", *, running: bool) -> list[str]:
    found: list[str] = []
    by_turn: dict[str, list[Event]] = {}
    for event in events:
        if event.turn_id:
            by_turn.setdefault(event.turn_id, []).append(event)
    for turn_id, own in by_turn.items():
        kinds = Counter(event.type for event in own)
        is_last = turn_id == list(by_turn)[-1]
        if kinds["turn_started"] != 1 or own[0].type != "turn_started":
            found.append(f"turn {turn_id} does not begin with its one turn_started")
        if not kinds["turn_finished"] and not (running and is_last):
            found.append(f"turn {turn_id} has no turn_finished")
        elif kinds["turn_finished"] > 1:
            found.append(f"turn {turn_id} has {kinds['turn_finished']} turn_finished")
        elif kinds["turn_finished"] and own[-1].type != "turn_finished":
            found.append(f"turn {turn_id} goes on after its turn_finished")
    return found


def _faults_of_calls(events: "Sequence[Event]", *, running: bool) -> list[str]:
    found: list[str] = []
    called: dict[str, int] = {}
    results: Counter[str] = Counter()
    last_turn = events[-1].turn_id if events else ""
    turn_of: dict[str, str] = {}
    for event in events:
        if event.type == "tool_call":
            if event.tool_call_id in called:
                found.append(f"call {event.tool_call_id} stands twice")
            called[event.tool_call_id] = event.seq
            turn_of[event.tool_call_id] = event.turn_id
        elif event.type == "tool_result":
            results[event.tool_call_id] += 1
            if event.tool_call_id not in called:
                found.append(f"a result stands without its call {event.tool_call_id} before it")
    for call_id in called:
        count = results[call_id]
        if count != 1 and not (running and turn_of[call_id] == last_turn and not count):
            found.append(f"call {call_id} has {count} results instead of one")
    return found


def _faults_of_messages(
    events: "Sequence[Event]", messages: "Sequence[StoredMessage]"
) -> list[str]:
    """Compare the main agent's messages with its events: who asked, what ran, how it ended."""
    alone = _calls_alone(events)
    messages = [stored for stored in messages if stored.turn_id not in alone]
    own = [event for event in events if event.agent == "main" and event.turn_id not in alone]
    asked = {event.turn_id: event.message for event in own if event.type == "turn_started"}
    said = {
        stored.turn_id: stored.message.content
        for stored in reversed(messages)
        if stored.message.role == "user" and not stored.metadata.get("delivers")
    }
    found = [
        f"turn {turn_id}: the user's message differs from turn_started"
        for turn_id, question in asked.items()
        if said.get(turn_id) != question
    ]
    ended = {event.tool_call_id: event.is_error for event in own if event.type == "tool_result"}
    answered = {
        stored.message.tool_call_id: stored.message.is_error
        for stored in messages
        if stored.message.role == "tool"
    }
    wanted = {call.id for stored in messages for call in stored.message.tool_calls}
    both = ended.keys() & answered.keys()
    return [
        *found,
        *(f"call {name} has no tool message" for name in sorted(wanted - answered.keys())),
        *(
            f"a message answers {name}, which nobody called"
            for name in sorted(answered.keys() - wanted)
        ),
        *(
            f"the result of {name} stands in the events only"
            for name in sorted(ended.keys() - both)
        ),
        *(
            f"the result of {name} stands in the messages only"
            for name in sorted(answered.keys() - both)
        ),
        *(
            f"events and messages disagree whether {name} failed"
            for name in sorted(both)
            if ended[name] != answered[name]
        ),
    ]


def _calls_alone(events: "Sequence[Event]") -> set[str]:
    """Return the turns of `nuncius tool`: a call without a model has no messages around it."""
    called = {event.turn_id for event in events if event.type == "tool_call"}
    return called - {event.turn_id for event in events if event.type == "usage"}
