"""Questions at the terminal, and what waits for an answer from elsewhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.loopback import call, serve
from cli.running import QUESTION, Run
from cli.test_ask import Process, Terminal, latest_is_whole, remote

WHICH = call("ask_user", question="Which band?", options=["V", "R"])
DONE = {"content": "[not found] Done."}


@pytest.fixture
def screen() -> Any:
    shown = Terminal()
    yield shown
    shown.close()


def ask_at(screen: Terminal, process: Process, server: Any, *more: str) -> Any:
    return process(
        "ask",
        "Measure it",
        *more,
        environment=remote(server),
        stdin=screen.theirs,
        stderr=screen.theirs,
    )


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("2\n", "The user answers: R"),
        ("the I band, 5'\n", "The user answers: the I band, 5'"),
        ("\n", "does not want to answer"),
        ("\x04", "does not want to answer"),
    ],
)
def test_at_a_terminal_the_person_chooses_types_or_declines(
    typed: str, told: str, process: Process, nuncius: Run, screen: Terminal
) -> None:
    with serve(WHICH, DONE) as server:
        child = ask_at(screen, process, server)
        screen.expect("declines): ")
        assert "Which band?" in screen.seen
        assert "2. R" in screen.seen
        screen.type(typed)
        child.communicate(timeout=20)
        assert told in json.dumps(server.asked[1]["messages"], ensure_ascii=False)
    assert child.returncode == 0, screen.seen
    latest_is_whole(nuncius)


def test_ctrl_c_at_a_question_ends_the_turn(
    process: Process, nuncius: Run, screen: Terminal
) -> None:
    with serve(WHICH, DONE) as server:
        child = ask_at(screen, process, server)
        screen.expect("declines): ")
        child.send_signal(2)
        child.communicate(timeout=20)
    assert child.returncode == 130
    assert nuncius("sessions", "pending", "--json").json["pending"] == []
    latest_is_whole(nuncius)


def test_another_command_answers_a_waiting_question(
    process: Process, nuncius: Run, screen: Terminal
) -> None:
    with serve(WHICH, DONE) as server:
        child = ask_at(screen, process, server)
        screen.expect("declines): ")
        (waiting,) = nuncius("sessions", "pending", "--json").json["pending"]
        assert (waiting["question"], waiting["options"]) == ("Which band?", ["V", "R"])
        listed = nuncius("sessions", "pending").out
        assert waiting["id"] in listed
        assert "Which band?" in listed
        assert nuncius("sessions", "answer", waiting["id"], "I").code == 0
        child.communicate(timeout=20)
        assert "The user answers: I" in json.dumps(server.asked[1]["messages"])
    assert child.returncode == 0
    assert nuncius("sessions", "answer", waiting["id"], "V").code == 2
    latest_is_whole(nuncius)


@pytest.mark.parametrize(("word", "written"), [("allow", True), ("deny", False)])
def test_another_command_decides_on_a_waiting_act(
    word: str, written: bool, process: Process, nuncius: Run, screen: Terminal
) -> None:
    write = call("file_write", path="note.md", content="x")
    with serve(write, DONE) as server:
        child = ask_at(screen, process, server)
        screen.expect("[d]eny: ")
        (waiting,) = nuncius("sessions", "pending", "--json").json["pending"]
        assert "note.md" in nuncius("sessions", "pending").out
        wrong = nuncius("sessions", "answer", waiting["id"], word, "--args", "00" * 32)
        assert (wrong.code, "other arguments" in wrong.err) == (2, True)
        assert nuncius("sessions", "answer", waiting["id"], "maybe").code == 2
        decided = nuncius(
            "sessions", "answer", waiting["id"], word, "--args", waiting["args_sha256"], "--json"
        )
        assert decided.json["request"]["state"] == word
        child.communicate(timeout=20)
    assert child.returncode == 0, screen.seen
    assert Path("note.md").is_file() is written
    latest_is_whole(nuncius)


def test_a_question_of_a_killed_turn_is_answered_later(
    process: Process, nuncius: Run, screen: Terminal
) -> None:
    with serve(WHICH, DONE) as server:
        child = ask_at(screen, process, server)
        screen.expect("declines): ")
        child.kill()
        child.communicate(timeout=20)
        (waiting,) = nuncius("sessions", "pending", "--json").json["pending"]
        answered = nuncius("sessions", "answer", waiting["id"], "V", "--json").json
        assert "next message" in answered["told"]
        again = process("ask", "And now?", "--continue", environment=remote(server))
        again.communicate(timeout=20)
        assert "(Which band?): V" in server.asked[1]["messages"][-1]["content"]
    latest_is_whole(nuncius)


def test_who_goes_on_is_told_what_still_waits(
    process: Process, nuncius: Run, screen: Terminal
) -> None:
    with serve(WHICH, DONE) as server:
        child = ask_at(screen, process, server)
        screen.expect("declines): ")
        child.kill()
        child.communicate(timeout=20)
        again = process("ask", "And now?", "--continue", environment=remote(server))
        _, errors = again.communicate(timeout=20)
    assert b"Which band?" in errors
    assert b"nuncius sessions answer ask_" in errors


def test_where_nobody_is_the_agent_hears_so_at_once(process: Process, nuncius: Run) -> None:
    with serve(WHICH, DONE) as server:
        child = process("ask", "Measure it", environment=remote(server))
        child.communicate(timeout=20)
        assert "Nobody can answer" in json.dumps(server.asked[1]["messages"])
    assert child.returncode == 0
    assert nuncius("sessions", "pending").err.strip() == "Nothing waits for you."


@pytest.mark.parametrize(
    "arguments", [["x"], ["x", "--decline", "text"], ["ask_nothing", "V"], ["x", " "]]
)
def test_half_an_answer_and_an_unknown_question_are_refused(
    nuncius: Run, filled: Path, arguments: list[str]
) -> None:
    ran = nuncius("sessions", "answer", *arguments)
    assert ran.code in {1, 2}
    assert "hint: " in ran.err


def test_a_session_keeps_its_model(process: Process, nuncius: Run, filled: Path) -> None:
    assert nuncius("ask", QUESTION).code == 0  # without a key: the built-in model
    with serve(DONE) as server:
        child = process("ask", QUESTION, "--continue", "--json", environment=remote(server))
        out, errors = child.communicate(timeout=20)
        assert server.asked == []
        assert json.loads(out)["degraded"] == ["quotes only, no language model"]
        assert b"goes on with builtin" in errors
        other = process(
            "ask", QUESTION, "--continue", "--json", "--model", "m", environment=remote(server)
        )
        other.communicate(timeout=20)
        assert len(server.asked) == 1
