"""How the page bears a long session: 2,000 calls in one turn, and more that arrive while one looks.

A server and a browser (Debian's chromium, by the extra `browser`) on this machine. The page is loaded
with a turn that still runs; the time from the address to the first row is told, how many rows are in
the page, and the longest task of the page while further events arrive, one at a time.

Run it as: ``python bench/page.py [--calls 2000] [--more 40]``
"""

import argparse
import asyncio
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from nuncius.api.server import serving
from nuncius.app.serving import ServedApp, open_served
from nuncius.core.events import Event, ToolCallEvent, ToolResultEvent, TurnStarted
from nuncius.core.settings import Settings

WATCH = """() => { window.long = []; new PerformanceObserver((list) =>
  window.long.push(...list.getEntries().map((one) => one.duration))).observe({ type: 'longtask' }) }"""


def call(session_id: str, number: int) -> list[Event]:
    key = f"call_{number}"
    return [
        ToolCallEvent(session_id=session_id, turn_id="turn_1", id=key, tool_call_id=key,
                      name="rag_search", arguments={"query": f"dust {number}"}),
        ToolResultEvent(session_id=session_id, turn_id="turn_1", id=key, tool_call_id=key,
                        name="rag_search", output=f"Nothing on {number}.", duration_ms=3),
    ]  # fmt: skip


async def measure(app: ServedApp, link: str, options: argparse.Namespace) -> None:
    from playwright.async_api import async_playwright

    session_id = (await app.journal.create_session(title="Long")).id
    begin = TurnStarted(
        session_id=session_id, turn_id="turn_1", message="Look.", model="m", mode="ask"
    )
    past = [event for number in range(options.calls) for event in call(session_id, number)]
    await app.journal.commit([begin, *past])
    async with async_playwright() as playwright, app.journal.lease(session_id):
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"), args=root
        )
        page: Any = await browser.new_page()
        await page.goto(link)
        await page.get_by_label("Ask…").wait_for()
        await page.goto("about:blank")
        began = time.monotonic()
        await page.goto(f"{link.partition('sign-in')[0]}#/research/{session_id}")
        await page.locator(".timeline-list .slot").first.wait_for()
        print(f"first row of {len(past):,} events after {time.monotonic() - began:.2f} s")
        await page.locator(".slot-work button").first.click()  # all steps open
        await page.locator(".slot-item").first.wait_for()
        await page.evaluate(WATCH)
        for number in range(options.calls, options.calls + options.more):
            await app.journal.commit(call(session_id, number))
            await page.wait_for_timeout(50)
        long: list[float] = await page.evaluate("() => window.long")
        rows = await page.locator(".timeline-list .slot").count()
        print(f"{rows} rows in the page; {options.more} more calls: longest task of the page "
              f"{max(long, default=0):.0f} ms (under 50 ms is told as 0)")  # fmt: skip
        await browser.close()


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--more", type=int, default=40)
    options = parser.parse_args()
    if not (shutil.which("chromium") or shutil.which("google-chrome")):
        print("no chromium on this machine: the page is not measured")
        return
    with tempfile.TemporaryDirectory(prefix="nuncius-page-") as folder:
        home = Path(folder)
        settings = Settings(
            home=home, library_dir=home / "library", skills_dir=home / "skills", project_dir=home,
            database_url=f"sqlite:///{home / 'nuncius.db'}", offline=True,
        )  # fmt: skip
        async with open_served(settings) as app, serving(app, port=0) as served:
            await measure(app, served.link(), options)


if __name__ == "__main__":
    asyncio.run(main())
