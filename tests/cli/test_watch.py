"""The quiet lines beside a turn: never over the prompt that a person types at."""

import json
from typing import Any

import pytest

from nuncius.cli import screen
from nuncius.cli.watch import Watch
from nuncius.core.events import Event, load_event


def event(kind: str, **fields: Any) -> Event:
    return load_event(json.dumps({"type": kind, "session_id": "s", "turn_id": "t", **fields}))


def call(name: str, *, agent: str = "main") -> Event:
    return event("tool_call", id=name, tool_call_id=name, name="look", arguments={}, agent=agent)


def result(name: str, **metadata: Any) -> Event:
    return event(
        "tool_result", id=name, tool_call_id=name, name="look", output="x", metadata=metadata
    )


ASKED = event(
    "permission_request",
    id="p1",
    tool_call_id="c1",
    tool="act",
    arguments={},
    args_sha256="00",
    reason="It writes.",
    rule="act",
)
QUESTION = event("question", id="q1", question="Band?")


@pytest.mark.parametrize(
    ("asked", "over"),
    [
        (
            ASKED,
            event("permission_resolved", id="p1", tool_call_id="c1", decision="deny", by="user"),
        ),
        (ASKED, call("c1")),
        (ASKED, result("c1")),
        (QUESTION, event("question_resolved", id="q1", outcome="declined")),
        (QUESTION, result("c2", question_id="q1", outcome="answered")),
        (QUESTION, event("turn_finished", status="cancelled")),
    ],
)
def test_nothing_is_written_while_a_person_is_asked(
    asked: Event, over: Event, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(screen, "watched", lambda: True)
    watch = Watch()
    watch(asked)
    capsys.readouterr()
    watch(call("k1", agent="kid"))
    watch(result("k1"))
    watch(event("text_delta", text="x"))
    assert capsys.readouterr().err == ""
    watch(over)
    assert "kid: look()" in capsys.readouterr().err
