import json
from pathlib import Path
from typing import Any

import pytest

from cli.running import QUESTION, Run
from nuncius.cli.replay import event_line, faults
from nuncius.core.events import Event, Notice, load_event
from nuncius.core.messages import Message, StoredMessage, ToolCall


@pytest.fixture
def session(nuncius: Run, filled: Path) -> str:
    return nuncius("ask", QUESTION, "--json").json["session_id"]


def test_list_shows_the_newest_first_and_finds_words(nuncius: Run, session: str) -> None:
    other = nuncius("ask", "What is the lightest neutron star?", "--json").json["session_id"]
    listed = nuncius("sessions", "list", "--json").json["sessions"]
    assert [one["id"] for one in listed] == [other, session]
    assert listed[0].keys() >= {
        "id",
        "title",
        "created_at",
        "status",
        "mode",
        "model",
        "enable_thinking",
        "summary",
        "usage",
    }
    found = nuncius("sessions", "list", "--text", "What is the lightest", "--json").json["sessions"]
    assert [one["id"] for one in found] == [other]
    assert nuncius("sessions", "list", "--limit", "1").out.startswith(other)


def test_show_gives_the_session_and_its_messages(nuncius: Run, session: str) -> None:
    shape = nuncius("sessions", "show", session, "--json").json
    assert shape["session"]["id"] == session
    roles = [message["role"] for message in shape["messages"]]
    assert (roles[0], roles[-1]) == ("user", "assistant")
    assert "tool" in roles
    text = nuncius("sessions", "show", session).out
    assert QUESTION in text
    assert "rag_search" in text


def test_replay_prints_each_event_in_order(nuncius: Run, session: str) -> None:
    lines = nuncius("sessions", "replay", session).out.splitlines()
    events = [
        load_event(line)
        for line in nuncius("sessions", "replay", session, "--json").out.splitlines()
    ]
    assert [line.split()[2] for line in lines] == [event.type for event in events]
    assert QUESTION in lines[0]


def test_check_finds_a_whole_record_whole(nuncius: Run, session: str) -> None:
    ran = nuncius("sessions", "replay", session, "--check")
    assert ran.code == 0
    assert "whole" in ran.out
    assert nuncius("sessions", "replay", session, "--check", "--json").json["faults"] == []


def test_check_takes_calls_without_a_model_too(nuncius: Run, session: str) -> None:
    assert nuncius("tool", "rag_search", '{"query": "mass"}', "--session", session).code == 0
    assert nuncius("tool", "file_write", '{"path": "x", "content": ""}').code == 5
    for one in nuncius("sessions", "list", "--json").json["sessions"]:
        ran = nuncius("sessions", "replay", one["id"], "--check")
        assert ran.code == 0, ran.out


def test_export_is_markdown_or_everything(nuncius: Run, session: str) -> None:
    assert nuncius("sessions", "export", session).out.startswith("# ")
    shape = nuncius("sessions", "export", session, "--json").json
    assert shape["events"][0]["type"] == "turn_started"
    assert shape["messages"][0]["content"] == QUESTION
    nuncius("sessions", "export", session, "--json", "-o", "session.json")
    assert json.loads(Path("session.json").read_text(encoding="utf-8")) == shape


def test_delete_takes_it_away(nuncius: Run, session: str) -> None:
    assert nuncius("sessions", "delete", session).code == 0
    assert nuncius("sessions", "list", "--json").json["sessions"] == []
    assert nuncius("sessions", "show", session).code == 1


@pytest.mark.parametrize("command", ["show", "replay", "export", "delete"])
@pytest.mark.parametrize("name", ["nosuch", "../../etc/passwd", "", "x" * 5000, "\x00"])
def test_an_unknown_session_is_told(command: str, name: str, nuncius: Run) -> None:
    ran = nuncius("sessions", command, name, "--json")
    assert ran.code == 1
    assert ran.json["error"]["kind"] == "not_found"


# --- what --check finds ---------------------------------------------------------------------------


def event(seq: int, kind: str, **fields: Any) -> Event:
    base = {"type": kind, "seq": seq, "session_id": "s", "turn_id": "t", **fields}
    return load_event(json.dumps(base))


CALL = {"id": "c", "tool_call_id": "c", "name": "look"}
WHOLE: list[Event] = [
    event(1, "turn_started", message="q", model="m", mode="ask"),
    event(2, "usage"),
    event(3, "tool_call", arguments={}, **CALL),
    event(4, "tool_result", output="seen", **CALL),
    event(5, "answer", text="a", answered=True),
    event(6, "turn_finished", status="completed"),
]
SPOKEN = [
    StoredMessage("s", "t", Message("user", "q")),
    StoredMessage("s", "t", Message("assistant", "", (ToolCall("c", "look", "{}"),))),
    StoredMessage("s", "t", Message("tool", "seen", tool_call_id="c", name="look")),
    StoredMessage("s", "t", Message("assistant", "a")),
]


def without(*seqs: int) -> list[Event]:
    kept = [one for one in WHOLE if one.seq not in seqs]
    return [one.model_copy(update={"seq": seq}) for seq, one in enumerate(kept, 1)]


def test_a_whole_record_has_no_faults() -> None:
    assert faults(WHOLE, SPOKEN) == []


def test_a_gap_is_found() -> None:
    (fault,) = faults([*WHOLE[:4], *WHOLE[5:]], SPOKEN)
    assert fault == "event 5 is missing: 6 stands in its place"


def test_a_record_that_cannot_be_read_is_found() -> None:
    lost = Notice(session_id="s", seq=5, level="warning", text="Event 5 (x) cannot be read by ...")
    (fault,) = faults([*WHOLE[:4], lost, WHOLE[5]], SPOKEN)
    assert fault.startswith("Event 5")


def test_a_turn_without_its_end_is_found_unless_it_runs() -> None:
    assert any("no turn_finished" in fault for fault in faults(WHOLE[:5], SPOKEN))
    assert faults(WHOLE[:5], SPOKEN, running=True) == []


def test_a_turn_that_goes_on_after_its_end_is_found() -> None:
    late = event(7, "text_delta", text="x")
    assert any("goes on" in fault for fault in faults([*WHOLE, late], SPOKEN))


def test_a_call_without_a_result_is_found() -> None:
    found = faults(without(4), SPOKEN)
    assert "call c has 0 results instead of one" in found
    assert "the result of c stands in the messages only" in found


def test_a_second_result_is_found() -> None:
    twice = [
        *WHOLE[:4],
        event(5, "tool_result", output="", **CALL),
        event(6, "turn_finished", status="failed"),
    ]
    assert "call c has 2 results instead of one" in faults(twice, SPOKEN)


def test_a_result_without_its_call_is_found() -> None:
    assert any("without its call c" in fault for fault in faults(without(3), SPOKEN))


@pytest.mark.parametrize(
    ("dropped", "told"),
    [
        (0, "user's message differs"),
        (1, "a message answers c, which nobody called"),
        (2, "call c has no tool message"),
    ],
)
def test_a_lost_message_is_found(dropped: int, told: str) -> None:
    spoken = [message for at, message in enumerate(SPOKEN) if at != dropped]
    assert any(told in fault for fault in faults(WHOLE, spoken))


def test_a_result_told_differently_is_found() -> None:
    failed = StoredMessage("s", "t", Message("tool", "no", tool_call_id="c", is_error=True))
    (fault,) = faults(WHOLE, [*SPOKEN[:2], failed, SPOKEN[3]])
    assert fault == "events and messages disagree whether c failed"


def test_every_event_has_a_line() -> None:
    more = [
        event(7, "thinking_delta", text="hm\nhm"),
        event(8, "tool_progress", id="c", progress="half"),
        event(9, "attempt_reset", reason="cut"),
        event(10, "todos", todos=[{"id": "1"}]),
        event(11, "permission_resolved", id="p", decision="deny", by="user"),
        event(
            12,
            "permission_request",
            id="p",
            tool_call_id="c",
            tool="file_write",
            arguments={"path": "x" * 200},
            args_sha256="",
            reason="why",
            rule="file_write",
        ),
    ]
    for one in [*WHOLE, *more]:
        line = event_line(one)
        assert one.type in line
        assert "\n" not in line
        assert len(line) <= 140
