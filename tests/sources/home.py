"""Fixtures: a server that plays the services, and a home whose services are all there."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from library.conftest import settings_in
from nuncius.app import App, open_app
from sources.playing import Playing, hurry


@pytest.fixture
async def playing() -> AsyncIterator[Playing]:
    async with Playing().serving() as server:
        yield server


@pytest.fixture
async def app(playing: Playing, tmp_path: Path) -> AsyncIterator[App]:
    """Return a home whose services are all at the playing server."""
    chosen = settings_in(tmp_path).model_copy(
        update={**playing.settings(), "ads_api_token": "made-up"}
    )
    async with open_app(chosen) as opened:
        hurry(opened.services)
        yield opened
