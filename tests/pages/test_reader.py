"""The reader: what a paper cites stands beside it and at each place that cites."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from api.served import Place, place_in
from pages.browser import needs_browser, signed_in

pytestmark = needs_browser
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
