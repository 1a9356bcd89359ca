"""Fixtures of the services' tests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from library.conftest import settings_in
from nuncius.core.settings import Settings
from nuncius.sources.services import Services, trusted
from nuncius.walls.network import Network
from sources.playing import Playing, hurry


@pytest.fixture
async def playing() -> AsyncIterator[Playing]:
    """Return a server that plays what the test tells it."""
    async with Playing().serving() as server:
        yield server


@pytest.fixture
def settings(playing: Playing, tmp_path: Path) -> Settings:
    """Return settings that point every client at the playing server."""
    return settings_in(tmp_path).model_copy(
        update={**playing.settings(), "ads_api_token": "made-up", "contact_email": "a@example.org"}
    )


@pytest.fixture
async def services(settings: Settings, tmp_path: Path) -> AsyncIterator[Services]:
    """Return all services, paced as ever but without waiting."""
    network = Network(trusted_hosts=trusted(settings), contact_email=settings.contact_email)
    made = Services(settings, network, tmp_path / "cache")
    yield hurry(made)
    await made.aclose()
