"""Every page: nothing foreign runs or is asked, everybody can use it, and it fits the screen."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from api.served import Place, place_in
from library.conftest import papers
from nuncius.llm.scripted import Reply
from pages.browser import needs_browser, signed_in

__all__ = ["papers"]

pytestmark = needs_browser
AXE = Path(__file__).resolve().parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
PAGES = ("research", "library", "reader", "targets", "metrics", "audit", "permissions", "settings")
FOREIGN = """() => {
  const list = document.querySelector('.timeline-list')
  const all = [...list.querySelectorAll('*')]
  return {
    ran: Boolean(window.__xss || window.xss || window.pwned),
    tags: all.map((one) => one.localName).filter((name) => ['script', 'iframe', 'object', 'embed', 'img', 'form', 'base', 'link', 'meta', 'style'].includes(name)),
    handlers: all.flatMap((one) => one.getAttributeNames()).filter((name) => name.startsWith('on')),
    links: all.map((one) => one.getAttribute('href') ?? '').filter((href) => href && !/^(https?:|#)/i.test(href)),
    shown: list.innerText.length,
  }
}"""


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with place_in(tmp_path) as served:
        yield served


async def test_hostile_text_is_text_in_the_page(place: Place, shared_data: Path) -> None:
    lines = (shared_data / "attacks" / "markdown_xss.jsonl").read_text("utf-8").splitlines()
    texts = [text for line in lines if isinstance(text := json.loads(line).get("input"), str)]
    assert len(texts) > 50
    place.says([Reply(text or "(nothing)") for text in texts])
    session_id = await place.session()
    for _ in texts:
        await place.turn(session_id, "And?")
    async with signed_in(place.served.link(), height=30_000) as page:
        await page.get_by_text("And?").first.click()
        await page.locator(".answer").first.wait_for()
        await page.wait_for_timeout(1_500)
        found: dict[str, Any] = await page.evaluate(FOREIGN)
        assert await page.locator(".answer").count() > 50
    assert found.pop("shown") > 5_000
    assert found == {"ran": False, "tags": [], "handlers": [], "links": []}


@pytest.mark.skipif(not AXE.is_file(), reason="it needs web/node_modules: make web")
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 1440])
async def test_every_page_fits_and_has_no_serious_barrier(
    place: Place, papers: Path, width: int, *, dark: bool
) -> None:
    await place.app.library.add([papers])
    session_id = await place.session()
    await place.turn(session_id, "What is the spin period of the pulsar?")
    axe = AXE.read_text("utf-8")
    async with signed_in(place.served.link(), width=width, height=900, dark=dark) as page:
        base = page.url.partition("#")[0]
        for name in PAGES:
            await page.goto(f"{base}#/{name}")
            await page.wait_for_timeout(400)
            sideways = await page.evaluate(
                "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert sideways <= 0, name
            await page.evaluate(axe)
            result = await page.evaluate("() => axe.run(document)")
            serious = [
                (one["id"], one["nodes"][0]["html"])
                for one in result["violations"]
                if one["impact"] in {"serious", "critical"}
            ]
            assert serious == [], name


@pytest.mark.parametrize(("page_name", "ending"), [("audit", "csv"), ("audit", "json"), ("metrics", "csv")])  # fmt: skip
async def test_what_was_done_is_saved_as_a_file(place: Place, page_name: str, ending: str) -> None:
    session_id = await place.session()
    await place.turn(session_id, "What is the spin period of the pulsar?")
    async with signed_in(place.served.link()) as page:
        await page.goto(f"{page.url.partition('#')[0]}#/{page_name}")
        async with page.expect_download() as saving:
            await page.get_by_role("button", name=ending.upper()).click()
        saved = await saving.value
        assert saved.suggested_filename == f"{page_name}.{ending}"
        text = Path(await saved.path()).read_text("utf-8")
    if ending == "json":
        rows = json.loads(text)
        assert session_id in {row["session_id"] for row in rows}
        assert len(rows) == len((await place.get("/audit"))["rows"])
    else:
        assert len(text.splitlines()) >= 2
        assert "rag_search" in text
