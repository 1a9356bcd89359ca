"""The library's page in a real browser: chips filter, tags are hung and taken off, by keys alone."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from api.served import Place, place_in
from nuncius.core.papers import Author, Paper
from pages.browser import needs_browser, signed_in

pytestmark = needs_browser
HOSTILE = "<img src=x onerror=alert(1)>"
STEMS = ("ApJ..", "MNRAS", "A&A..")


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with place_in(tmp_path) as served:
        for number in range(300):
            paper = Paper(
                paper_id="",
                title=f"Quiet stars {number:03}",
                authors=(Author(name="Böhm-Vitense, Erika"), Author(name=f"Rey, {number}")),
                year=2000 + number % 20,
                bibcode=f"2020{STEMS[number % 3]}{number:.>4}....1B",
                tags=(HOSTILE, "to read") if number == 299 else (),
            )
            await served.app.store.papers.put(paper, None, ())
        yield served


def row(page: Any, number: str) -> Any:
    return page.locator(".paper-row").filter(has_text=f"Quiet stars {number}")


async def rows(page: Any) -> list[str]:
    return await page.locator(".paper-row .col-title").all_inner_texts()


async def total(page: Any) -> str:
    return await page.locator(".library-head h1 .number").inner_text()


async def test_chips_filter_and_tags_are_hung_on_and_taken_off_by_keys(place: Place) -> None:
    async with signed_in(place.served.link(), height=900) as page:
        await page.goto(f"{page.url.partition('#')[0]}#/library")
        await row(page, "299").wait_for()
        assert await total(page) == "300"
        await page.locator(".filters [data-kind=journal]").press("Enter")
        await page.get_by_role("button", name="MNRAS 100").press("Enter")
        await row(page, "298").wait_for()
        await row(page, "299").wait_for(state="detached")
        assert await total(page) == "100"
        await page.locator(".filters [data-kind=year]").press("Enter")
        await page.keyboard.type("2018-")
        await page.keyboard.press("Enter")
        await row(page, "259").wait_for()
        await page.get_by_role("searchbox").fill("BOHM stars 298")
        await row(page, "259").wait_for(state="detached")
        assert await rows(page) == ["Quiet stars 298"]

        await page.locator(".paper-row").first.press(" ")
        panel = page.get_by_role("complementary", name="Paper")
        await panel.get_by_label("Add a tag").focus()
        await page.keyboard.type("Chapter 2, to read")
        await page.keyboard.press("Enter")
        await panel.get_by_title("Show the papers tagged to read").wait_for()
        assert "Chapter 2" in await page.locator(".paper-row .col-tags").inner_text()
        await panel.get_by_role("button", name="Take off the tag Chapter 2").press("Enter")
        await panel.get_by_text("Chapter 2").wait_for(state="detached")
        paper_id = page.url.rpartition("/")[2]
        assert (await place.get(f"/papers/{paper_id}"))["tags"] == ["to read"]

        await panel.get_by_title("Show the papers tagged to read").click()
        await row(page, "299").wait_for()
        assert await rows(page) == ["Quiet stars 299", "Quiet stars 298"]
        await page.locator(".filters [data-kind=tag]").press("Enter")
        await page.get_by_role("button", name=f"{HOSTILE} 1").click()
        await row(page, "298").wait_for(state="detached")
        await page.locator(".paper-row").first.click()
        await panel.get_by_title(f"Show the papers tagged {HOSTILE}").wait_for()
        assert await page.locator("img").count() == 0


async def test_a_long_list_is_read_on_as_one_scrolls_and_ordered_by_the_server(
    place: Place,
) -> None:
    async with signed_in(place.served.link(), height=900) as page:
        await page.goto(f"{page.url.partition('#')[0]}#/library")
        await row(page, "299").wait_for()
        body = page.locator(".papers-body")
        for _ in range(6):
            await body.evaluate("(body) => body.scrollTo(0, body.scrollHeight)")
            await page.wait_for_timeout(150)
        await row(page, "000").wait_for()
        await page.get_by_role("button", name="Title").click()
        await body.evaluate("(body) => body.scrollTo(0, 0)")
        await row(page, "001").wait_for()
        assert (await rows(page))[0] == "Quiet stars 000"


async def test_an_upload_that_failed_is_tried_again_without_choosing_the_file_again(
    place: Place, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4\nbroken")
    async with signed_in(place.served.link(), height=900) as page:
        await page.goto(f"{page.url.partition('#')[0]}#/library")
        await page.locator("input[type=file]").set_input_files(broken)
        strip = page.get_by_role("region", name="Running work")
        await strip.get_by_role("button", name="Try again").click()
        tasks: list[dict[str, Any]] = []
        while len(tasks) < 2 or tasks[0]["state"] != "failed":
            await page.wait_for_timeout(100)
            tasks = (await place.get("/tasks"))["tasks"]
        assert [task["what"] for task in tasks] == ["broken.pdf", "broken.pdf"]
        assert await strip.get_by_role("button", name="Try again").count() == 1
