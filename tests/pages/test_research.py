"""The page in a real browser, with the server and the built-in model behind it."""

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from api.served import Place, place_in
from library.conftest import papers
from nuncius.api.build import front_folder
from nuncius.walls.browser import missing_part

__all__ = ["papers"]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(
    not CHROMIUM or bool(missing_part()) or not (front_folder() / "index.html").is_file(),
    reason="it needs chromium, the extra `browser` and a built page: make browser web",
)
QUESTION = "What is the spin period of the pulsar?"


@pytest.fixture
async def place(tmp_path: Path, papers: Path) -> AsyncIterator[Place]:
    async with place_in(tmp_path) as served:
        await served.app.library.add([papers])
        yield served


@pytest.fixture
async def page(place: Place) -> AsyncIterator[Any]:
    """Open the page with the link that `serve` prints; it may ask no other host."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        context = await browser.new_context()
        opened = await context.new_page()
        opened.set_default_timeout(20_000)
        faults: list[str] = []
        opened.on("pageerror", lambda error: faults.append(str(error)))
        opened.on("request", lambda asked: faults.append(asked.url) if _is_foreign(asked.url, place) else None)  # fmt: skip
        await opened.goto(place.served.link())
        await opened.get_by_label("Ask…").wait_for()
        yield opened
        assert faults == []
        await browser.close()


def _is_foreign(url: str, place: Place) -> bool:
    own = (f"http://127.0.0.1:{place.served.port}/", "data:", "blob:")
    return not url.startswith(own)


async def ask(page: Any) -> str:
    await page.get_by_label("Ask…").fill(QUESTION)
    await page.get_by_label("Send").click()
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
