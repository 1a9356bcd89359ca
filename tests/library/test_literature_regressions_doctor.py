"""What `doctor` said of services, and how it asked them, that was not right."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from library.conftest import settings_in
from nuncius.app import App, open_app
from nuncius.app.services_check import look_at
from sources.playing import Played, Playing


@pytest.fixture
async def playing() -> AsyncIterator[Playing]:
    async with Playing().serving() as server:
        yield server


@pytest.fixture
async def app(playing: Playing, tmp_path: Path) -> AsyncIterator[App]:
    chosen = settings_in(tmp_path).model_copy(
        update={**playing.settings(), "ads_api_token": "made-up-token"}
    )
    async with open_app(chosen) as opened:
        yield opened


async def test_doctor_keeps_arxivs_pace(app: App, playing: Playing) -> None:
    playing.play("/robots.txt", Played.text(""))
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    app.services.get("arxiv")._sleep = sleep  # pyright: ignore[reportPrivateUsage]
    found = await look_at(app.services)
    asked = [one for one in found if one.name.startswith("arxiv") and "answers in" in one.text]
    assert asked
    assert sum(seconds > 2.9 for seconds in slept) >= len(asked) - 1


@pytest.mark.parametrize("status", [401, 500, 503])
async def test_a_service_that_is_broken_is_not_called_ok(
    app: App, playing: Playing, status: int
) -> None:
    playing.play("/robots.txt", Played(b"", status))
    found = {finding.name: finding for finding in await look_at(app.services)}
    assert found["ads"].state != "ok"
