import json
from pathlib import Path

import pytest

from cli.running import Run


def test_tools_prints_what_the_model_sees(nuncius: Run) -> None:
    tools = nuncius("tools", "--json").json["tools"]
    names = [tool["name"] for tool in tools]
    assert {"rag_search", "read_file", "file_write", "save_note"} <= set(names)
    for tool in tools:
        assert tool.keys() == {"name", "description", "parameters"}
        assert tool["parameters"]["type"] == "object"
    text = nuncius("tools").out
    assert all(name in text for name in names)


def test_tool_runs_one_call_and_prints_its_shape(nuncius: Run, filled: Path) -> None:
    ran = nuncius("tool", "rag_search", '{"query": "Shapiro"}', "--json")
    assert ran.code == 0
    assert ran.json.keys() == {"schema_version", "content", "is_error", "error_kind", "metadata"}
    assert not ran.json["is_error"]
    assert "Shapiro" in nuncius("tool", "rag_search", '{"query": "Shapiro"}').out


@pytest.mark.parametrize(
    ("name", "arguments", "code", "kind"),
    [
        ("no_such_tool", "{}", 2, "unknown_tool"),
        ("rag_search", "{", 2, "invalid_arguments"),
        ("rag_search", "[]", 2, "invalid_arguments"),
        ("rag_search", '{"query": 3}', 2, "invalid_arguments"),
        ("read_file", '{"path": "/etc/passwd"}', 5, "denied"),
        ("file_write", '{"path": "a.md", "content": "x"}', 5, "denied"),
        ("get_paper_content", '{"paper_id": "nosuch99"}', 1, "not_found"),
    ],
)
def test_a_failed_call_says_why_and_has_its_exit_code(
    name: str, arguments: str, code: int, kind: str, nuncius: Run
) -> None:
    ran = nuncius("tool", name, arguments, "--json")
    assert (ran.code, ran.json["error_kind"]) == (code, kind)
    plain = nuncius("tool", name, arguments)
    assert (plain.code, plain.out) == (code, "")
    assert plain.err.startswith("error: ")


def test_plan_mode_writes_nothing_and_auto_does(nuncius: Run) -> None:
    arguments = json.dumps({"path": "note.md", "content": "x"})
    assert nuncius("tool", "file_write", arguments, "--mode", "plan").code == 5
    assert not Path("note.md").exists()
    assert nuncius("tool", "file_write", arguments, "--mode", "auto").code == 0
    assert Path("note.md").read_text() == "x"


def test_rules_decide_until_they_are_revoked(nuncius: Run) -> None:
    arguments = json.dumps({"path": "note.md", "content": "x", "overwrite": True})
    allowed = nuncius("permissions", "allow", "file_write(*.md)", "--json").json
    assert nuncius("tool", "file_write", arguments).code == 0
    denied = nuncius("permissions", "deny", "file_write", "--json").json
    assert nuncius("tool", "file_write", arguments).code == 5
    rules = nuncius("permissions", "list", "--json").json["rules"]
    assert [(rule["id"], rule["decision"], rule["pattern"]) for rule in rules] == [
        (allowed["id"], "allow", "file_write(*.md)"),
        (denied["id"], "deny", "file_write"),
    ]
    assert nuncius("permissions", "revoke", str(denied["id"])).code == 0
    assert nuncius("tool", "file_write", arguments).code == 0
    nuncius("permissions", "ask", "file_write")
    assert "ask" in nuncius("permissions", "list").out


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("file_wirte", "Did you mean file_write"),
        ("file_write(", "no permission rule"),
        ("", "no permission rule"),
        ("file_write()", "no permission rule"),
    ],
)
def test_a_rule_that_would_match_nothing_is_refused(rule: str, told: str, nuncius: Run) -> None:
    ran = nuncius("permissions", "allow", rule)
    assert ran.code in {1, 2}
    assert told in ran.err
    assert nuncius("permissions", "list", "--json").json["rules"] == []


def test_a_rule_that_is_not_there_cannot_be_revoked(nuncius: Run) -> None:
    assert nuncius("permissions", "revoke", "7").code == 1
    assert nuncius("permissions", "revoke", "seven").code == 2
