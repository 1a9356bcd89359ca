"""Which model the settings lead to."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from library.conftest import settings_in
from nuncius.agent.fallback import WithFallback
from nuncius.app import App, open_app
from nuncius.llm.anthropic import AnthropicModel
from nuncius.llm.openai import OpenAIModel
from nuncius.llm.tool_modes import ToolsInText


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    async with open_app(settings_in(tmp_path)) as opened:
        yield opened


def having(app: App, **settings: Any) -> App:
    app.settings = app.settings.model_copy(update=settings)
    return app


async def test_anthropic_is_a_provider_with_its_own_address(app: App) -> None:
    model = having(app, llm_provider="anthropic", llm_model="claude-sonnet-4-6").model()
    assert isinstance(model, AnthropicModel)
    assert model.name == "api.anthropic.com/claude-sonnet-4-6"
    assert app.model("anthropic/claude-opus-5").name == "api.anthropic.com/claude-opus-5"


async def test_another_servers_names_are_left_as_they_are(app: App) -> None:
    having(app, llm_api_key="k", llm_base_url="https://openrouter.ai/api/v1")
    assert app.model("openai/gpt-5").name == "openrouter.ai/openai/gpt-5"
    having(app, llm_base_url="")
    assert app.model("openai/gpt-5").name == "api.openai.com/gpt-5"


@pytest.mark.parametrize("mode", ["json_schema", "text"])
async def test_a_tool_mode_wraps_the_model(app: App, mode: str) -> None:
    model = having(app, llm_api_key="k", llm_model="m", llm_tool_mode=mode).model()
    assert isinstance(model, ToolsInText)
    assert model.name == "api.openai.com/m"
    assert isinstance(having(app, llm_tool_mode="native").model(), OpenAIModel)


async def test_a_fallback_stands_behind_another_model_only(app: App) -> None:
    having(app, llm_api_key="k", llm_model="m", fallback_model="small")
    model = app.model_with_fallback()
    assert isinstance(model, WithFallback)
    assert (model.first.name, model.second.name) == ("api.openai.com/m", "api.openai.com/small")
    assert app.model_with_fallback("small").name == "api.openai.com/small"
    assert not isinstance(app.model_with_fallback("small"), WithFallback)
    assert app.model_with_fallback("builtin").name == "builtin"
    having(app, fallback_model="builtin")
    assert isinstance(model := app.model_with_fallback(), WithFallback)
    assert model.second.name == "builtin"
