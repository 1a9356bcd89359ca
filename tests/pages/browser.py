"""A real browser on a served home, signed in by the link that `nuncius serve` prints."""

import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from nuncius.api.build import front_folder
from nuncius.walls.browser import missing_part

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_browser = pytest.mark.skipif(
    not CHROMIUM or bool(missing_part()) or not (front_folder() / "index.html").is_file(),
    reason="it needs chromium, the extra `browser` and a built page: make browser web",
)


@asynccontextmanager
async def signed_in(
    link: str, *, width: int = 1440, height: int = 1800, dark: bool = False
) -> AsyncGenerator[Any]:
    """Give the page; it may ask no other host, and no script of it may fail."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        context = await browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        faults: list[str] = []

        def watch(page: Any) -> None:
            page.on("pageerror", broke)
            page.on("request", asked)
            page.on("dialog", broke)

        def broke(what: Any) -> None:
            faults.append(str(what))

        def asked(request: Any) -> None:
            url = str(request.url)
            if not url.startswith((link.partition("sign-in")[0], "data:", "blob:")):
                faults.append(url)

        context.on("page", watch)
        opened = await context.new_page()
        opened.set_default_timeout(20_000)
        await opened.goto(link)
        await opened.get_by_label("Ask…").wait_for()
        yield opened
        assert faults == []
        await browser.close()


async def say(page: Any, message: str) -> None:
    await page.get_by_label("Ask…").fill(message)
    await page.get_by_label("Send").click()


async def timeline(page: Any) -> str:
    return await page.locator(".timeline-list").inner_text()
