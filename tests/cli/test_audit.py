"""`audit` shows and checks the log; `metrics` counts what was used."""

from pathlib import Path

import apsw
import pytest

from cli.running import Run

QUESTION = "What is the mass of PSR J0740+6620?"


@pytest.fixture
def asked(nuncius: Run, filled: Path) -> str:
    """Ask once; return the session."""
    assert filled
    return nuncius("ask", QUESTION, "--json").json["session_id"]


def test_acts_and_decisions_are_listed_in_order(nuncius: Run, asked: str) -> None:
    rows = nuncius("audit", "--json").json["rows"]
    assert [row["id"] for row in rows] == list(range(1, len(rows) + 1))
    assert {row["session_id"] for row in rows} == {asked}
    assert {row["tool"] for row in rows} >= {"rag_search"}
    assert rows[1]["outcome"] == "ok"
    some = nuncius("audit", "--tool", "rag_search", "--limit", "1", "--after", "1", "--json").json
    assert [row["type"] for row in some["rows"]] == ["tool_result"]
    assert nuncius("audit", "--session", "none").err.startswith("Nothing is in the log")
    assert "rag_search" in nuncius("audit").out


def test_a_log_that_nobody_changed_holds(nuncius: Run, asked: str) -> None:
    assert nuncius("audit", "verify", "--json").json["sound"] is True
    assert "The chain holds" in nuncius("audit", "verify").out


def test_a_change_is_found(nuncius: Run, asked: str, home: Path) -> None:
    database = apsw.Connection(str(home / "nuncius.db"))
    database.execute(  # pyright: ignore[reportUnknownMemberType]
        "UPDATE events SET json = replace(json, 'rag_search', 'run_bash')"
    )
    database.close()
    ran = nuncius("audit", "verify", "--json")
    assert ran.code == 1
    assert ran.json["sound"] is False
    assert any("was changed after it was logged" in line for line in ran.json["wrong"])


def test_what_was_used_is_counted_for_one_session_and_for_all(nuncius: Run, asked: str) -> None:
    other = nuncius("ask", "What is the age of the Universe?", "--json").json["session_id"]
    one = nuncius("metrics", "--session", asked, "--json").json
    whole = nuncius("metrics", "--json").json
    rest = nuncius("metrics", "--session", other, "--json").json
    assert one["turns"] == {"completed": 1}
    assert whole["turns"] == {"completed": 2}
    assert whole["usage"]["input_tokens"] == (
        one["usage"]["input_tokens"] + rest["usage"]["input_tokens"]
    )
    assert one["model_calls"] == sum(day["model_calls"] for day in one["days"])
    (search,) = [tool for tool in one["tools"] if tool["name"] == "rag_search"]
    assert (search["runs"], search["errors"], search["open"]) == (1, 0, 0)
    assert 0 <= search["median_ms"] <= search["p95_ms"] <= search["longest_ms"]
    told = nuncius("metrics").out
    assert "2 completed" in told
    assert "rag_search" in told


def test_errors_are_counted_by_kind(nuncius: Run, filled: Path) -> None:
    assert filled
    nuncius("tool", "get_paper_content", '{"paper_id": "nothing"}')
    assert nuncius("metrics", "--json").json["errors"] == {"not_found": 1}


def test_an_empty_home_and_an_unknown_session_are_said(nuncius: Run) -> None:
    assert "turns       0 (none)" in nuncius("metrics").out
    ran = nuncius("metrics", "--session", "nosuch")
    assert ran.code == 1
    assert "nosuch" in ran.err
