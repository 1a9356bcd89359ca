"""Prices, and the budget that needs them, in a home of its own."""

from pathlib import Path
from typing import Any

import pytest

from agent.windowed import Windowed, looking
from library.conftest import settings_in
from nuncius.agent.context import Price
from nuncius.app import App, open_app
from nuncius.app.prices import price_of
from nuncius.core.errors import SettingsError
from nuncius.core.events import Compaction
from nuncius.core.messages import Usage
from nuncius.core.settings import Settings
from nuncius.llm.scripted import Reply, ScriptedModel


def settings(folder: Path, **more: Any) -> Settings:
    base = settings_in(folder).model_dump()
    return Settings.model_validate({**base, **more})


def serve(monkeypatch: pytest.MonkeyPatch, model: ScriptedModel) -> None:
    """Let every app have this model, whatever it asks for."""

    def found(_app: App, _name: str = "") -> ScriptedModel:
        return model

    monkeypatch.setattr(App, "model", found)


def test_the_users_prices_are_found_with_and_without_the_providers_name(tmp_path: Path) -> None:
    assert price_of("api.openai.com/m", tmp_path) is None
    (tmp_path / "prices.toml").write_text(
        '[m]\ninput = 1\noutput = 2.5\n["api.openai.com/n"]\ninput = 1\noutput = 2\ncached = 0.1\n'
    )
    assert price_of("api.openai.com/m", tmp_path) == Price(1.0, 2.5)
    assert price_of("api.openai.com/n", tmp_path) == Price(1.0, 2.0, 0.1)
    assert price_of("other/n", tmp_path) is None


@pytest.mark.parametrize(
    "text", ["[m", "[m]\ninput = 1\n", "[m]\ninput = -1\noutput = 1\n", "m = 3\n", "\xff"]
)
def test_a_file_that_makes_no_sense_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "prices.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(SettingsError, match=r"prices\.toml cannot be used"):
        price_of("m", tmp_path)


async def test_a_limit_of_cost_without_a_price_is_refused_before_anything_is_sent(
    tmp_path: Path,
) -> None:
    limited = settings(tmp_path, llm_api_key="k", llm_model="m", max_cost_usd=0.5)
    async with open_app(limited) as app:
        session = await app.session()
        with pytest.raises(SettingsError, match=r"no price of api.openai.com/m .*prices\.toml"):
            await app.ask("Why?", session_id=session.id)


async def test_the_builtin_model_costs_nothing(tmp_path: Path) -> None:
    async with open_app(settings(tmp_path, max_cost_usd=0.5)) as app:
        result = await app.ask("Why?", session_id=(await app.session()).id)
        assert (result.status, result.usage.cost_usd) == ("completed", 0.0)


async def test_the_budget_holds_for_the_session_across_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel(lambda _request: Reply("Yes.", usage=Usage(400, 10)))
    serve(monkeypatch, model)
    session_id, error, statuses = "", "", list[str]()
    for _ in range(4):
        async with open_app(settings(tmp_path, max_tokens=1000)) as app:
            session_id = (await app.session(session_id=session_id)).id
            result = await app.ask("Why?", session_id=session_id)
            statuses.append(result.status)
            error = result.error
    assert statuses == ["completed"] * 3 + ["budget"]
    assert len(model.requests) == 3  # exceeded by the one call that began below the limit
    assert "used 1,230 tokens; NUNCIUS_MAX_TOKENS allows 1,000" in error


async def test_the_todo_list_is_told_again_after_a_compaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Windowed(looking(3))
    serve(monkeypatch, ScriptedModel(model))
    async with open_app(settings(tmp_path, llm_context_tokens=16_000)) as app:
        session = await app.session()
        todo = '{"todos": [{"id": "1", "content": "find the mass"}]}'
        await app.call_tool("todo_write", todo, session_id=session.id)
        for _ in range(3):
            await app.ask("Why? " * 1000, session_id=session.id)
        runtimes: Any = app
        runtimes._runtimes["", None].compress(session.id)
        assert (await app.ask("And?", session_id=session.id)).status == "completed"
        events = await app.journal.events(session.id)
        assert [e.outcome for e in events if isinstance(e, Compaction)] == ["summarised"]
        assert "- 1 (pending): find the mass" in model.sent[1].content
