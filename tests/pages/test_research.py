"""The page in a real browser, with the server and the built-in model behind it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from api.served import Place, place_in
from library.conftest import papers
from pages.browser import needs_browser, say, signed_in

__all__ = ["papers"]

pytestmark = needs_browser
QUESTION = "What is the spin period of the pulsar?"


@pytest.fixture
async def place(tmp_path: Path, papers: Path) -> AsyncIterator[Place]:
    async with place_in(tmp_path) as served:
        await served.app.library.add([papers])
        yield served


@pytest.fixture
async def page(place: Place) -> AsyncIterator[Any]:
    async with signed_in(place.served.link()) as opened:
        yield opened


async def ask(page: Any) -> str:
    await say(page, QUESTION)
    return await answer(page)


async def answer(page: Any) -> str:
    shown = page.get_by_role("article", name="Answer")
    await shown.wait_for()
    return await shown.inner_text()


async def test_a_question_is_answered_with_a_quote_and_a_reload_shows_the_same(page: Any) -> None:
    told = await ask(page)
    assert "5.75 ms" in told
    await page.reload()
    assert await answer(page) == told


async def test_what_happens_elsewhere_is_seen_in_every_tab(page: Any, place: Place) -> None:
    told = await ask(page)
    other = await page.context.new_page()
    await other.goto(page.url)
    assert await answer(other) == told
    (session,) = (await place.get("/sessions"))["sessions"]
    renamed = await place.client.patch(
        f"/api/sessions/{session['id']}", json={"title": "毫秒脉冲星"}
    )
    assert renamed.status_code == 200
    await other.reload()
    await other.get_by_text("毫秒脉冲星").first.wait_for()
