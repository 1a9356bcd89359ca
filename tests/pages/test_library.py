"""The library's page in a real browser: chips filter, tags are hung and taken off, by keys alone."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from api.served import WAIT_S, Place, place_in
from nuncius.core.papers import Author, Paper
from pages.browser import needs_browser, signed_in

pytestmark = needs_browser
HOSTILE = "<img src=x onerror=alert(1)>"
FOCUSED = "(title) => document.activeElement?.querySelector('.col-title')?.textContent === title"
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
        again = strip.get_by_role("button", name="Try again")
        await again.wait_for()
        (before,) = (await place.get("/tasks"))["tasks"]
        await again.click()
        tasks = [before]
        async with asyncio.timeout(WAIT_S):
            while before in tasks or [task["state"] for task in tasks] != ["failed"]:
                await page.wait_for_timeout(100)
                tasks = (await place.get("/tasks"))["tasks"]
        assert [task["what"] for task in tasks] == ["broken.pdf"]
        await again.wait_for()
        assert await again.count() == 1


async def test_one_comes_back_to_the_row_the_filters_and_the_keys_place(place: Place) -> None:
    async with signed_in(place.served.link(), height=900) as page:
        await page.goto(f"{page.url.partition('#')[0]}#/library?sort=title")
        await row(page, "000").wait_for()
        await page.locator(".paper-row").first.focus()
        await page.keyboard.press("End")
        await row(page, "299").wait_for()
        await page.wait_for_function(FOCUSED, arg="Quiet stars 299")
        await page.keyboard.press("PageUp")
        await page.keyboard.press("Home")
        await page.wait_for_function(FOCUSED, arg="Quiet stars 000")

        body = page.locator(".papers-body")
        await body.evaluate("(body) => body.scrollTo(0, 38 * 150)")
        await page.wait_for_function(FOCUSED, arg="Quiet stars 150")
        assert await page.locator(".paper-row[tabindex='0']").count() == 1
        await page.keyboard.press("ArrowDown")
        await page.wait_for_function(FOCUSED, arg="Quiet stars 151")
        await page.keyboard.press(" ")
        await page.get_by_role("complementary", name="Paper").wait_for()
        there = page.url
        assert there.endswith("?sort=title")
        top = await body.evaluate("(body) => body.scrollTop")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/#/reader/*")
        await page.go_back()
        await row(page, "151").wait_for()
        assert (page.url, await body.evaluate("(body) => body.scrollTop")) == (there, top)
        await page.get_by_role("link", name="Reader").click()
        await page.wait_for_url("**/#/reader")
        await page.get_by_role("link", name="Library", exact=True).click()
        await row(page, "151").wait_for()
        assert (page.url, await body.evaluate("(body) => body.scrollTop")) == (there, top)
        await page.keyboard.press("Escape")
        await page.get_by_role("complementary", name="Paper").wait_for(state="detached")
        assert page.url.endswith("#/library?sort=title")


async def test_a_narrow_page_shows_all_of_a_failure_and_what_was_done_first(
    place: Place, tmp_path: Path
) -> None:
    broken = tmp_path / f"{'long-name-' * 12}.pdf"
    broken.write_bytes(b"%PDF-1.4\nbroken")
    async with signed_in(place.served.link(), width=360, height=740) as page:
        start = page.url.partition("#")[0]
        await page.goto(f"{start}#/library")
        await page.locator("input[type=file]").set_input_files(broken)
        strip = page.get_by_role("region", name="Running work")
        hide = strip.get_by_role("button", name="Hide")
        await hide.wait_for()
        await page.wait_for_timeout(200)
        box = await hide.bounding_box()
        assert box["x"] + box["width"] <= 360
        assert await strip.evaluate("(strip) => strip.scrollWidth <= strip.clientWidth")
        await hide.click()
        await strip.wait_for(state="detached")
        await page.goto(f"{start}#/metrics")
        heading = page.get_by_role("heading", name="Metrics", exact=True)
        assert (await heading.bounding_box())["height"] < 30

        await place.post("/tools/read_file", {"arguments": {"path": "nosuch"}})
        await page.goto(f"{start}#/audit")
        outcome = await page.get_by_text("not_found").bounding_box()
        assert outcome["x"] + outcome["width"] <= 360

        await page.goto(f"{start}#/library")
        await page.locator(".paper-row").first.wait_for()
        await page.wait_for_timeout(300)
        assert await strip.count() == 0
        more = page.get_by_role("button", name="More")
        await more.click()
        await page.get_by_role("link", name="Audit").wait_for()
        await page.keyboard.press("Escape")
        await page.get_by_role("link", name="Audit").wait_for(state="hidden")


async def test_what_one_tab_chose_holds_in_the_other(place: Place) -> None:
    async with signed_in(place.served.link(), height=900) as page:
        start = page.url.partition("#")[0]
        other = await page.context.new_page()
        await other.goto(f"{start}#/library")
        await other.get_by_role("heading", name="Library").wait_for()
        await page.goto(f"{start}#/settings")
        await page.get_by_role("button", name="中文").click()
        await other.get_by_role("heading", name="文献库").wait_for()
