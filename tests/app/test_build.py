"""The product put together: a folder of papers, a question, a checked answer."""

import asyncio
import json
from collections.abc import AsyncIterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from inline_snapshot import external_file

from library.conftest import settings_in
from nuncius.app import App, discovery, open_app
from nuncius.app.folders import database_path
from nuncius.core.errors import NotFoundError, SettingsError, UsageError
from nuncius.core.events import Event, ToolCallEvent
from nuncius.core.settings import Settings


@pytest.fixture
async def app(tmp_path: Path, papers: Path) -> AsyncIterator[App]:
    async with open_app(settings_in(tmp_path)) as opened:
        await opened.library.add([papers])
        yield opened


async def test_a_question_is_answered_with_a_checked_quote(app: App) -> None:
    session = await app.session()
    shown: list[Event] = []
    result = await app.ask(
        "What is the radius of HD 12345?", session_id=session.id, listeners=[shown.append]
    )
    assert result.answer
    assert result.answer.answered
    assert "Its radius is 1.72 solar radii" in result.answer.citations[0].quote
    assert result.answer.citations[0].page == 1
    assert result.answer.degraded == ("quotes only, no language model",)
    assert not result.answer.unsupported
    assert [event.seq for event in shown] == list(range(1, len(shown) + 1))
    assert list(await app.journal.events(session.id)) == shown
    assert {e.name for e in shown if isinstance(e, ToolCallEvent)} == {
        "rag_search",
        "get_paper_content",
    }


async def test_an_absent_answer_is_said_and_nothing_is_cited(app: App) -> None:
    session = await app.session()
    result = await app.ask("What is the mass of HD 12345 in solar masses?", session_id=session.id)
    assert result.answer
    assert (result.answer.answered, result.answer.citations) == (False, ())
    assert result.answer.searched.papers
    assert not result.answer.unsupported


async def test_a_session_is_new_named_or_the_latest_conversation(app: App) -> None:
    first = await app.session()
    second = await app.session()
    assert len({first.id, second.id, (await app.session(latest=True)).id}) == 3
    for session in (first, second):
        await app.ask("What is its mass?", session_id=session.id)
    await app.call_tool("glob_files", '{"pattern": "*"}')  # makes a session, no conversation
    assert (await app.session(latest=True)).id == second.id
    assert (await app.session(session_id=first.id)).id == first.id
    with pytest.raises(NotFoundError):
        await app.session(session_id="nothing")


@pytest.mark.parametrize("question", ["", "  \n", "\x00"])
async def test_an_empty_question_is_refused(app: App, question: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        await app.ask(question, session_id=(await app.session()).id)


async def test_a_question_of_100_kb_is_refused_with_what_to_do(app: App) -> None:
    with pytest.raises(UsageError, match="nuncius add"):
        await app.ask("x" * 100_000, session_id=(await app.session()).id)


async def test_a_call_goes_through_the_whole_executor(app: App) -> None:
    output = await app.call_tool("get_paper_metadata", '{"paper_id": "Rey2021"}')
    assert "Notes on a pulsar" in output.content
    refused = await app.call_tool("file_write", '{"path": "new.txt", "content": "x"}')
    assert (refused.is_error, refused.error_kind) == (True, "denied")
    assert not (app.settings.project_dir / "new.txt").exists()
    allowed = await app.call_tool("file_write", '{"path": "new.txt", "content": "x"}', mode="auto")
    assert not allowed.is_error
    assert (app.settings.project_dir / "new.txt").read_text() == "x"


@pytest.mark.parametrize("pattern", ["{project}/secret.md", "secret.md", "{project}/*"])
@pytest.mark.parametrize("asked", ["secret.md", "{project}/secret.md", "./secret.md"])
async def test_a_deny_rule_holds_however_the_path_is_written(
    app: App, pattern: str, asked: str
) -> None:
    project = str(app.settings.project_dir)
    (app.settings.project_dir / "secret.md").write_text("hidden")
    rule = f"read_file({pattern.format(project=project)})"
    await app.store.desk.add_rule(rule, "deny")
    arguments = json.dumps({"path": asked.format(project=project)})
    output = await app.call_tool("read_file", arguments, mode="auto")
    assert (output.is_error, output.error_kind) == (True, "denied")
    assert "hidden" not in output.content


async def test_a_named_model_needs_a_server(app: App) -> None:
    with pytest.raises(SettingsError, match="--model builtin"):
        app.model("gpt-5")
    assert app.model("builtin").name == "builtin"


@pytest.mark.parametrize(
    ("held_with", "goes_on_with"),
    [
        ("127.0.0.1/m1", ""),
        ("127.0.0.1/org/m2", "org/m2"),
        ("builtin", "builtin"),
        ("api.openai.com/gpt-5", ""),  # another server is in force now
        ("", ""),
    ],
)
async def test_a_session_goes_on_with_its_model_where_that_can_be(
    tmp_path: Path, held_with: str, goes_on_with: str
) -> None:
    plain = settings_in(tmp_path).model_dump()
    server = {"llm_base_url": "http://127.0.0.1:9/v1", "llm_model": "m1"}
    async with open_app(Settings.model_validate({**plain, **server})) as app:
        session = await app.journal.create_session(model=held_with)
        assert app.kept_model(session) == goes_on_with


async def test_two_turns_of_two_sessions_run_side_by_side(app: App) -> None:
    sessions = [await app.session() for _ in range(3)]
    results = await asyncio.gather(
        *(app.ask("What is the spin period?", session_id=s.id) for s in sessions)
    )
    assert {r.answer.citations[0].quote for r in results if r.answer} == {
        "PSR J0000+0000 has a spin period of 5.75 ms."
    }


async def test_a_change_of_any_definition_is_seen(app: App) -> None:
    definitions = [
        {"name": t.name, "description": t.description, "parameters": t.parameters}
        for t in app.tools()
    ]
    text = json.dumps(definitions, indent=2, ensure_ascii=False) + "\n"
    assert text == external_file("definitions.json", format=".txt")


async def test_a_broken_plugin_disables_itself(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("broken", "no_such_module:tools", discovery.GROUP)

    def entry_points(*, group: str) -> list[EntryPoint]:
        return [broken] if group == discovery.GROUP else []

    monkeypatch.setattr(discovery, "entry_points", entry_points)
    assert "ModuleNotFoundError" in app.broken_plugins()["broken"]
    assert {"ask_user", "rag_search", "subagent"} <= {tool.name for tool in app.tools()}


@pytest.mark.parametrize(
    ("url", "said"), [("postgresql://x", "sqlite:///"), ("sqlite:///~nobody_of_this/x", "no user")]
)
def test_only_sqlite_in_a_place_is_offered(tmp_path: Path, url: str, said: str) -> None:
    settings = settings_in(tmp_path)
    other = Settings.model_validate({**settings.model_dump(), "database_url": url})
    with pytest.raises(SettingsError, match=said):
        database_path(other)


async def test_a_home_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings = settings_in(tmp_path / "file")
    with pytest.raises(SettingsError, match="NUNCIUS_HOME"):
        async with open_app(settings):
            pass
