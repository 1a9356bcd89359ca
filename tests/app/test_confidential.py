"""What was added as confidential never comes to a model that is not on this machine."""

import itertools
import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from library.conftest import settings_in
from nuncius.app import App, open_app
from nuncius.core.errors import ConfidentialError
from nuncius.core.events import ToolResultEvent
from nuncius.llm.scripted import Reply, ScriptedModel, Step
from nuncius.walls.spawn import sandbox_failure

SECRET = "We propose to observe the quasar in Boötes for nine nights."
NUMBERS = itertools.count()
OPEN = "The open survey found a quasar in Lynx."


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    project = tmp_path / "project"
    project.mkdir()
    settings = settings_in(tmp_path).model_copy(
        update={"project_dir": project, "permission_mode": "auto"}
    )
    (project / "proposal.md").write_text(f"# A proposal\n\n{SECRET}\n", encoding="utf-8")
    (tmp_path / "open.md").write_text(f"# A survey\n\n{OPEN}\n", encoding="utf-8")
    async with open_app(settings) as opened:
        secret = await opened.library.add([project / "proposal.md"], confidential=True)
        public = await opened.library.add([tmp_path / "open.md"])
        assert not [*secret.failed, *public.failed]
        yield opened


async def secret_id(app: App) -> str:
    (paper,) = [paper for paper in await app.library.papers() if paper.confidential]
    return paper.paper_id


async def ask(app: App, *script: Step, local: bool, session_id: str = "") -> tuple[str, Any, Any]:
    """Run a turn with a scripted model; return the session, the result and what was sent."""
    model = ScriptedModel(list(script), local=local)
    app.model_with_fallback = lambda name="": model  # every model of this session
    session = await app.session(session_id=session_id)
    # one model keeps its runtime, so each of them has a name of its own here
    result = await app.ask("Go.", session_id=session.id, model=f"m{next(NUMBERS)}")
    return session.id, result, model.requests


def sent(requests: Sequence[Any]) -> str:
    return "\n".join(message.content for request in requests for message in request.messages)


def reading(secret: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("rag_search", {"query": "observe the quasar for nine nights"}),
        ("rag_search", {"query": "quasar", "paper_ids": [secret]}),
        ("get_paper_content", {"paper_id": secret}),
        ("get_paper_metadata", {"paper_id": secret}),
        ("save_note", {"paper_id": secret, "quote": SECRET}),
        ("read_file", {"path": "proposal.md"}),
        ("grep_files", {"pattern": "nine nights"}),
        ("grep_files", {"pattern": "quasar", "path": "proposal.md"}),
        ("run_bash", {"command": "cat proposal.md"}),
    ]


async def test_no_tool_shows_it_to_a_remote_model(app: App) -> None:
    secret = await secret_id(app)
    step = Reply(calls=[(name, json.dumps(args)) for name, args in reading(secret)])
    session_id, result, requests = await ask(app, step, "Done.", local=False)
    assert result.status == "completed"
    assert "Boötes" not in sent(requests)
    assert OPEN in sent(requests)
    events = await app.journal.events(session_id)
    results = [event for event in events if isinstance(event, ToolResultEvent)]
    kinds = Counter((event.name, event.error_kind) for event in results)
    assert kinds["rag_search", "confidential"] == 1
    for name in ("get_paper_content", "get_paper_metadata", "save_note"):
        assert kinds[name, "confidential"] == 1
    assert kinds["read_file", "denied"] == kinds["grep_files", "denied"] == 1
    told = "\n".join(event.output for event in results)
    assert "1 confidential paper was not searched" in told
    assert "not on this machine" in told
    assert "leaves this machine" in told


async def test_a_local_model_sees_it(app: App) -> None:
    secret = await secret_id(app)
    calls = [(name, json.dumps(args)) for name, args in reading(secret)]
    calls = [call for call in calls if call[0] != "run_bash" or not sandbox_failure()]
    for call in calls:
        _, _, requests = await ask(app, Reply(calls=[call]), "Done.", local=True)
        if call[0] not in {"save_note", "get_paper_metadata"}:
            assert "Boötes" in sent(requests), call


@pytest.mark.parametrize("at", [0, 2, 5, 6])
async def test_a_session_that_holds_it_does_not_go_on_with_a_remote_model(
    app: App, at: int
) -> None:
    name, args = reading(await secret_id(app))[at]
    step = Reply(calls=[(name, json.dumps(args))])
    session_id, _, _ = await ask(app, step, "Done.", local=True)
    _, result, requests = await ask(app, "I saw it.", local=False, session_id=session_id)
    assert (result.status, requests) == ("failed", [])
    assert isinstance(result.cause, ConfidentialError)
    assert result.cause.exit_code == 5
    assert "--model builtin" in result.error
    _, result, _ = await ask(app, "Still here.", local=True, session_id=session_id)
    assert result.status == "completed"


async def test_a_subagents_report_of_it_counts(app: App) -> None:
    secret = await secret_id(app)

    def script(request: Any) -> Step:
        roles = [message.role for message in request.messages]
        if "subagent" in {tool.name for tool in request.tools}:
            return "Done." if "tool" in roles else Reply(calls=[("subagent", '{"task": "Look."}')])
        call = ("get_paper_content", json.dumps({"paper_id": secret}))
        return "It is a proposal." if "tool" in roles else Reply(calls=[call])

    model = ScriptedModel(script, local=True)
    app.model_with_fallback = lambda name="": model
    session = await app.session()
    assert (await app.ask("Go.", session_id=session.id)).status == "completed"
    _, result, requests = await ask(app, "I saw it.", local=False, session_id=session.id)
    assert (result.status, requests) == ("failed", [])


async def test_a_long_output_with_it_is_not_kept_in_a_file(app: App, tmp_path: Path) -> None:
    (tmp_path / "project" / "proposal.md").write_text(f"{SECRET}\n" * 2000, encoding="utf-8")
    step = Reply(calls=[("run_bash", '{"command": "cat proposal.md"}')])
    if sandbox_failure():
        pytest.skip("no sandbox: run_bash is off here")
    session_id, _, requests = await ask(app, step, "Done.", local=True)
    assert "not kept in a file" in sent(requests)
    assert not list(app.settings.library_dir.rglob(f"{session_id}/*"))


async def test_a_file_that_was_added_meanwhile_counts_too(app: App, tmp_path: Path) -> None:
    late = tmp_path / "project" / "late.md"
    late.write_text("# Late\n\nA late secret.\n", encoding="utf-8")
    step = Reply(calls=[("read_file", '{"path": "late.md"}')])
    _, _, requests = await ask(app, step, "Done.", local=False)
    assert "A late secret." in sent(requests)
    await app.library.add([late], confidential=True)
    _, _, requests = await ask(app, step, "Done.", local=False)
    assert "A late secret." not in sent(requests)
