import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.loopback import Served, call, serve
from cli.running import QUESTION, Run
from nuncius.core.events import load_event

Process = Callable[..., "subprocess.Popen[bytes]"]

CITATION = {
    "key",
    "paper_id",
    "bibcode",
    "doi",
    "arxiv_id",
    "title",
    "authors",
    "year",
    "quote",
    "page",
    "section",
    "anchor",
    "check",
    "text_sha256",
}


def remote(server: Served) -> dict[str, str]:
    return {"LLM_BASE_URL": server.url, "LLM_MODEL": "m", "LLM_API_KEY": "k" * 20}


def latest_is_whole(nuncius: Run) -> dict[str, Any]:
    """Return the latest session, after its record was checked."""
    session = nuncius("sessions", "list", "--json").json["sessions"][0]
    checked = nuncius("sessions", "replay", session["id"], "--check")
    assert checked.code == 0, checked.out
    return session


def test_the_answer_has_marks_quotes_places_checks_and_label(nuncius: Run, filled: Path) -> None:
    ran = nuncius("ask", QUESTION)
    assert (ran.code, ran.err) == (0, "")
    assert "2.08 ± 0.07 solar masses" in ran.out
    lines = ran.out.splitlines()
    (at,) = [index for index, line in enumerate(lines) if line.startswith("[1] “")]
    assert "Masses of neutron stars (Ada Example 2021), " in lines[at + 1]
    assert "Heavy ones" in lines[at + 1]
    assert "check: exact" in lines[at + 2]
    assert lines[-1] == "(quotes only, no language model)"


def test_json_has_the_shape_of_the_contract(nuncius: Run, filled: Path) -> None:
    shape = nuncius("ask", QUESTION, "--json").json
    assert shape.keys() >= {
        "schema_version",
        "session_id",
        "turn_id",
        "status",
        "answered",
        "answer",
        "citations",
        "unsupported",
        "dropped_quotes",
        "searched",
        "degraded",
        "usage",
        "tools",
    }
    assert (shape["status"], shape["answered"]) == ("completed", True)
    citation = shape["citations"][0]
    assert citation.keys() == CITATION
    assert citation["check"] in {"exact", "folded", "ocr"}
    assert "[1]" in shape["answer"]
    assert shape["degraded"] == ["quotes only, no language model"]
    assert shape["tools"]
    assert all(tool.keys() == {"name", "is_error", "duration_ms"} for tool in shape["tools"])
    assert latest_is_whole(nuncius)["id"] == shape["session_id"]


def test_without_evidence_nothing_is_cited_and_what_was_searched_is_told(
    nuncius: Run, filled: Path
) -> None:
    ran = nuncius("ask", "Who won the football cup in 1998?")
    assert ran.code == 0
    assert "Searched: " in ran.out
    assert "of 1 papers" in ran.out
    shape = nuncius("ask", "Who won the football cup in 1998?", "--json").json
    assert (shape["answered"], shape["citations"]) == (False, [])
    assert shape["searched"]["papers_in_library"] == 1


def test_stream_json_prints_the_journals_events_one_a_line(nuncius: Run, filled: Path) -> None:
    ran = nuncius("ask", QUESTION, "--stream-json")
    events = [load_event(line) for line in ran.out.splitlines()]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert (events[0].type, events[-1].type) == ("turn_started", "turn_finished")
    assert nuncius("sessions", "replay", events[0].session_id, "--json").out == ran.out


def test_continue_and_session_go_on_where_it_was(nuncius: Run, filled: Path) -> None:
    first = nuncius("ask", QUESTION, "--json").json["session_id"]
    second = nuncius("ask", QUESTION, "--json").json["session_id"]
    assert first != second
    assert nuncius("ask", QUESTION, "--continue", "--json").json["session_id"] == second
    assert nuncius("ask", QUESTION, "--session", first, "--json").json["session_id"] == first
    wrong = nuncius("ask", QUESTION, "--session", first[:-1] + "x")
    assert wrong.code == 1
    assert first in wrong.err


def test_the_question_may_come_from_stdin(nuncius: Run, filled: Path) -> None:
    assert "2.08 ± 0.07" in nuncius("ask", "-", stdin=QUESTION + "\n").out


@pytest.mark.parametrize(
    ("question", "stdin"),
    [("", ""), (" \n ", ""), ("\x00\x01", ""), ("\udcff", ""), ("-", ""), ("-", "\n\n")],
)
def test_an_empty_question_is_a_usage_error(question: str, stdin: str, nuncius: Run) -> None:
    ran = nuncius("ask", question, "--json", stdin=stdin)
    assert ran.code == 2
    assert ran.json["error"]["kind"] == "usage"
    assert nuncius("sessions", "list", "--json").json["sessions"] == []


def test_odd_bytes_in_a_question_are_cleaned(nuncius: Run, process: Process, filled: Path) -> None:
    child = process("ask", os.fsencode(QUESTION) + b" \xff\xfe", "--json")
    out, err = child.communicate()
    assert (child.returncode, err) == (0, b"")
    assert json.loads(out)["answered"]
    assert nuncius("ask", "-", stdin=b"\x00" + QUESTION.encode() + b"\xff").code == 0
    latest_is_whole(nuncius)


def test_a_question_of_100_kb_is_refused_with_what_to_do(nuncius: Run, filled: Path) -> None:
    ran = nuncius("ask", "-", stdin="mass of a star? " * 6400)
    assert ran.code == 2
    assert "102,400" in ran.err.replace("102,399", "102,400")
    assert "hint: " in ran.err
    assert "Traceback" not in ran.err


def test_html_writes_the_page_of_the_answer(nuncius: Run, filled: Path) -> None:
    assert nuncius("ask", QUESTION, "--html", "out.html").code == 0
    page = Path("out.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "2.08 ± 0.07" in page
    assert nuncius("ask", QUESTION, "--html", "no/dir/out.html").code == 2


def test_a_remote_model_runs_the_same_way(
    nuncius: Run, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (paper,) = nuncius("library", "list", "--json").json["papers"]
    passages = nuncius("rag", "Shapiro", "--json").json["passages"]
    handle = next(p["passage_id"] for p in passages if "2.08" in p["text"])
    text = f"The star has 2.08 ± 0.07 solar masses [{handle}]. It is blue."
    with serve(call("rag_search", query="PSR J0740+6620"), {"content": text}) as server:
        for name, value in remote(server).items():
            monkeypatch.setenv(name, value)
        ran = nuncius("ask", QUESTION)
    assert ran.code == 0, ran.err
    assert "It is blue. [unsupported: " in ran.out
    assert "[1]" in ran.out
    assert paper["paper_id"] in ran.out
    assert server.asked[0]["model"] == "m"


@pytest.mark.parametrize(("status", "code", "kind"), [(401, 4, "key_missing"), (400, 3, "model")])
def test_a_failing_server_gives_its_exit_code_and_a_finished_turn(
    status: int, code: int, kind: str, nuncius: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(*[status] * 8) as server:
        for name, value in remote(server).items():
            monkeypatch.setenv(name, value)
        ran = nuncius("ask", QUESTION, "--json")
    assert ran.code == code
    assert ran.json["status"] == "failed"
    assert ran.json["error"]["kind"] == kind
    assert "k" * 20 not in ran.out + ran.err
    assert latest_is_whole(nuncius)["status"] == "failed"


def test_a_limit_of_steps_ends_in_6(
    nuncius: Run, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(*[call("rag_search", query=f"star {number}") for number in range(5)]) as server:
        for name, value in remote(server).items():
            monkeypatch.setenv(name, value)
        ran = nuncius("ask", QUESTION, "--max-steps", "2", "--json")
        text = nuncius("ask", QUESTION, "--max-steps", "1")
    assert (ran.code, ran.json["status"]) == (6, "max_steps")
    assert text.code == 6
    assert "--max-steps" in text.err
    latest_is_whole(nuncius)


def test_where_nobody_can_be_asked_the_answer_names_what_was_refused(
    nuncius: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = call("file_write", path="note.md", content="x")
    with serve(write, {"content": "[not found] I may not write."}, write) as server:
        for name, value in remote(server).items():
            monkeypatch.setenv(name, value)
        ran = nuncius("ask", "Write a note")
        data = nuncius("ask", "Write a note", "--json").json
    assert ran.code == 0
    assert "Refused: file_write(path='note.md'" in ran.out
    assert "nuncius permissions allow" in ran.err
    assert data["tools"][0]["is_error"]
    assert "file_write" in data["refused"][0]
    assert not Path("note.md").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_turn_is_cancelled_and_its_record_is_whole(
    number: signal.Signals, process: Process, nuncius: Run
) -> None:
    with serve(None) as server:
        child = process("ask", QUESTION, "--json", environment=remote(server))
        assert server.speaking.wait(20)
        child.send_signal(number)
        out, err = child.communicate(timeout=20)
    assert child.returncode == 130, err
    assert b"Traceback" not in err
    assert json.loads(out)["status"] == "cancelled"
    assert latest_is_whole(nuncius)["status"] == "cancelled"


def test_a_reader_that_goes_away_cancels_the_turn(process: Process, nuncius: Run) -> None:
    with serve(None) as server:
        child = process("ask", QUESTION, "--stream-json", environment=remote(server))
        assert child.stdout
        assert child.stderr
        child.stdout.readline()
        child.stdout.close()
        assert server.speaking.wait(20)
        assert child.wait(timeout=20) == 141
        assert child.stderr.read() == b""
        child.stderr.close()
    assert latest_is_whole(nuncius)["status"] == "cancelled"


def test_a_session_that_is_busy_elsewhere_is_refused(process: Process, nuncius: Run) -> None:
    with serve(None) as server:
        child = process("ask", QUESTION, environment=remote(server))
        assert server.speaking.wait(20)
        session = nuncius("sessions", "list", "--json").json["sessions"][0]["id"]
        ran = nuncius("ask", QUESTION, "--session", session, "--json")
        running = nuncius("sessions", "replay", session, "--check")
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=20)
    assert ran.code == 3
    assert ran.json["error"]["kind"] == "session_busy"
    assert running.code == 0, running.out


def test_chat_answers_line_by_line_in_one_session(nuncius: Run, filled: Path) -> None:
    ran = nuncius("chat", stdin=f"{QUESTION}\n\n/help\nWho won the cup?\n/quit\nnot read\n")
    assert ran.code == 0
    assert "2.08 ± 0.07" in ran.out
    assert "Searched: " in ran.out
    (session,) = nuncius("sessions", "list", "--json").json["sessions"]
    messages = nuncius("sessions", "show", session["id"], "--json").json["messages"]
    asked = [message["content"] for message in messages if message["role"] == "user"]
    assert asked == [QUESTION, "Who won the cup?"]


def test_nuncius_alone_opens_the_chat(nuncius: Run, filled: Path) -> None:
    ran = nuncius(stdin=f"{QUESTION}\n/new\n{QUESTION}\n")
    assert ran.code == 0
    assert ran.out.count("[1] “") == 2
    assert len(nuncius("sessions", "list", "--json").json["sessions"]) == 2


def test_a_failed_question_does_not_end_the_chat(nuncius: Run, filled: Path) -> None:
    ran = nuncius("chat", stdin=f"{'long ' * 30_000}\n{QUESTION}\n")
    assert ran.code == 0
    assert "error: " in ran.err
    assert "2.08 ± 0.07" in ran.out


class Terminal:
    """A terminal that a command's stdin and stderr are."""

    def __init__(self) -> None:
        self.ours, self.theirs = os.openpty()
        self.seen = ""

    def expect(self, text: str) -> None:
        deadline = time.monotonic() + 20
        while text not in self.seen:
            assert time.monotonic() < deadline, self.seen
            try:
                self.seen += os.read(self.ours, 4096).decode()
            except OSError as error:  # the other side was closed
                raise AssertionError(self.seen) from error

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def close(self) -> None:
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def terminal() -> Any:
    shown = Terminal()
    yield shown
    shown.close()


@pytest.mark.parametrize(
    ("typed", "written", "rules"),
    [("once\n", True, 0), ("what\nd\n", False, 0), ("always\n", True, 1), ("\x04", False, 0)],
)
def test_at_a_terminal_the_person_decides_with_everything_in_view(
    typed: str, written: bool, rules: int, process: Process, nuncius: Run, terminal: Terminal
) -> None:
    write = call("file_write", path="note.md", content="first line\nsecond line")
    with serve(write, {"content": "[not found] Done."}) as server:
        child = process(
            "ask",
            "Write a note",
            environment=remote(server),
            stdin=terminal.theirs,
            stderr=terminal.theirs,
        )
        terminal.expect("[d]eny: ")
        for told in ("file_write asks", "note.md", "second line", "allow file_write(", "/note.md)"):
            assert told in terminal.seen
        terminal.type(typed)
        out, _ = child.communicate(timeout=20)
    assert child.returncode == 0, terminal.seen
    assert Path("note.md").is_file() is written
    assert (b"Refused: file_write" in out) is not written
    assert len(nuncius("permissions", "list", "--json").json["rules"]) == rules


def test_ctrl_c_at_the_question_cancels_the_turn(
    process: Process, nuncius: Run, terminal: Terminal
) -> None:
    write = call("file_write", path="note.md", content="x")
    with serve(write, {"content": "[not found] Done."}) as server:
        child = process(
            "ask",
            "Write a note",
            environment=remote(server),
            stdin=terminal.theirs,
            stderr=terminal.theirs,
        )
        terminal.expect("[d]eny: ")
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=20)
    assert child.returncode == 130
    assert not Path("note.md").exists()
    assert latest_is_whole(nuncius)["status"] == "cancelled"


def test_a_turn_that_breaks_is_one_line_on_the_screen_and_a_traceback_in_the_log(
    nuncius: Run, home: Path, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("with sk-abcdefghijklmnop0123456789")

    monkeypatch.setattr("nuncius.library.answer.Finisher.finish", broken)
    ran = nuncius("ask", QUESTION)
    assert ran.code == 1
    assert "ZeroDivisionError" in ran.err
    assert "Traceback" not in ran.err
    log = (home / "logs" / "nuncius.log").read_text()
    assert "Traceback" in log
    assert "sk-abcdef" not in log
    latest_is_whole(nuncius)
