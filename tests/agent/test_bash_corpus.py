"""The corpus of shell commands, each judged as a call of `run_bash` under the user's rules."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent.doubles import RuleList, corpus
from nuncius.agent.arguments import prepare
from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.registry import ToolRegistry
from nuncius.core.messages import ToolCall
from nuncius.tools.shell import RunBash, ShellSettings
from nuncius.walls import shell
from nuncius.walls.paths import PathGuard, Roots

ATTACKS = Path(__file__).resolve().parents[3] / "shared" / "data" / "attacks"
CASES = corpus(ATTACKS / "bash.jsonl") if ATTACKS.is_dir() else []
RULES: Mapping[str, Any] = (
    json.loads((ATTACKS / "bash_rules.json").read_text()) if ATTACKS.is_dir() else {}
)


def rules(name: str) -> RuleList:
    """Return a rule set of the corpus; its `*` is a rule on the whole tool."""
    found = [
        (decision, "run_bash" if subject == "*" else f"run_bash({subject})")
        for decision in ("allow", "deny", "ask")
        for subject in RULES[name].get(decision, [])
    ]
    return RuleList.of(*found)  # pyright: ignore[reportArgumentType]


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunBash:
    # The judgement is of the text; whether this machine has a sandbox does not matter to it.
    monkeypatch.setattr(shell, "sandbox_failure", lambda: "")
    for name in ("project", "library"):
        (tmp_path / name).mkdir()
    guard = PathGuard(Roots.of(library=tmp_path / "library", project=tmp_path / "project"))
    return RunBash(guard, ShellSettings())


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
async def test_a_command_gets_the_decision_that_its_parts_deserve(
    case: Mapping[str, Any], tool: RunBash, tmp_path: Path
) -> None:
    command = case["command"]
    for tag in case["tags"]:  # a hook's rewriting is judged, not what the model wrote
        command = tag.removeprefix("mutate:") if tag.startswith("mutate:") else command
    call = ToolCall("c", "run_bash", json.dumps({"command": command}))
    (item,) = prepare([call], ToolRegistry([tool]), used_ids=set(), prefix="p")
    if item.args is None:  # longer than any call may be: it does not come to a decision
        assert case["expected"] != "allow"
        return
    checker = PermissionChecker(rules(case["rules"]), roots=[str(tmp_path / "project")])
    judgement = await checker.judge(item, "s")
    assert judgement.decision == case["expected"], judgement.reason
