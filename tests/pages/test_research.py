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


async def test_a_citation_opens_the_reader_at_the_quote_and_back(page: Any) -> None:
    await ask(page)
    await page.locator(".evidence a, .evidence button").first.click()
    marked = page.locator("mark").get_by_text("5.75 ms").first
    await marked.wait_for()
    await page.wait_for_timeout(500)
    place = await marked.bounding_box()
    assert place is not None
    assert 0 < place["y"] < 1_800
    assert await page.evaluate("() => [document.documentElement.scrollTop, document.body.scrollTop]") == [0, 0]  # fmt: skip
    await page.get_by_text("Back to the answer").click()
    assert "5.75 ms" in await answer(page)


async def test_the_last_citation_of_a_long_conversation_stays_under_the_pointer(
    place: Place,
) -> None:
    async with signed_in(place.served.link(), height=600) as page:
        for number in range(1, 4):
            await say(page, QUESTION)
            await page.get_by_role("article", name="Answer").nth(number - 1).wait_for()
        await page.wait_for_timeout(500)
        cite = page.locator(".cite-mark").last
        before = await cite.bounding_box()
        await cite.hover()
        await page.locator(".cite-card").last.wait_for()
        assert await cite.bounding_box() == before
        await page.mouse.down()
        await page.mouse.up()
        await page.locator("mark").get_by_text("5.75 ms").first.wait_for()
