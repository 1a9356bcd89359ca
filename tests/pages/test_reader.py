"""The reader: what a paper cites stands beside it and at each place that cites."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote_plus

import pytest

from api.served import WAIT_S, Place, place_in
from nuncius import notes
from pages.browser import needs_browser, signed_in

pytestmark = needs_browser
NOTES = Path(notes.__file__).parent
CITED = "---\ntitle: Spots\ndoi: 10.3847/1538-4357/ab12\n---\n\n# Spots\n\nSpots turn.\n"
CITING = """# Later spots

Spots turn (Alder 2019), as Birch & Cedar (2020) doubted.

## References

- Alder, B. 2019, ApJ, 870, 12, doi: 10.3847/1538-4357/ab12
- Birch, C., & Cedar, D. 2020, in prep.
"""


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with place_in(tmp_path) as served:
        yield served


async def test_a_citation_shows_its_work_and_leads_to_it_in_the_library(place: Place) -> None:
    for name, text in (("cited.md", CITED), ("citing.md", CITING)):
        (place.folder / name).write_text(text)
    report = await place.app.library.add([place.folder / "cited.md", place.folder / "citing.md"])
    cited, citing = (paper.paper_id for paper in report.added)
    async with signed_in(place.served.link(), height=900) as page:
        await page.goto(f"{page.url.partition('#')[0]}#/reader/{citing}")
        await page.get_by_role("button", name="Birch & Cedar (2020").hover()
        await page.get_by_role("note").get_by_text("in prep.").wait_for()
        await page.get_by_role("button", name="Alder 2019").click()
        beside = page.get_by_role("complementary", name="References")
        chosen = beside.locator("[data-chosen=true]")
        assert "ApJ, 870, 12" in await chosen.inner_text()
        await chosen.get_by_role("link", name="Open").click()
        await page.get_by_role("heading", name="Spots").first.wait_for()
        assert page.url.endswith(f"#/reader/{cited}")


MARKED = """() => [...(CSS.highlights.get('pdf-mark') ?? [])].map((run) => run.toString())"""
SEEN = """() => {
  const [run] = CSS.highlights.get('pdf-mark')
  const pane = document.querySelector('.pdf-pane').getBoundingClientRect()
  const box = run.getBoundingClientRect()
  return box.top > pane.top && box.bottom < pane.bottom
}"""


async def test_a_quote_is_marked_letter_by_letter_in_the_pdf_and_is_in_sight(place: Place) -> None:
    report = await place.app.library.add([NOTES / "pulsar-timing.pdf"])
    paper = report.added[0].paper_id
    passages = await place.app.library.passages(paper)
    quote = passages[-1].text.split(". ")[1][7:]  # from the midst of a word on
    address = f"#/reader/{paper}?page={passages[-1].page}&quote={quote_plus(quote)}"
    async with signed_in(place.served.link(), height=500) as page:
        await page.goto(page.url.partition("#")[0] + address)
        async with asyncio.timeout(WAIT_S):
            while not (marked := await page.evaluate(MARKED)):
                await page.wait_for_timeout(50)
        assert letters("".join(marked)) == letters(quote)
        assert await page.evaluate(SEEN)


def letters(text: str) -> str:
    return "".join(char for char in text if char.isalnum())
