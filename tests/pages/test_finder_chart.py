"""The finder chart draws what catalogues have around a target, and says whose it is and what is missing."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from api.served import Place, place_in
from nuncius.llm.scripted import Reply
from pages.browser import needs_browser, signed_in
from pages.test_pages import AXE
from sources.field_answers import Named, SkyRule, Star
from sources.home import playing
from sources.playing import Played, Playing
from sources.sesame_answers import SesameRule, resolver

__all__ = ["playing"]

pytestmark = needs_browser
RA, DEC = 83.6287, 22.0147
GALAXY = Named("NGC  9999", RA, DEC + 0.05, "G", 40, v=12.5, size=(3.0, 1.0, 90))
STARS = [
    Star(7, RA + 0.05 / 0.9271, DEC, 9.0),
    Star(8, RA, DEC - 0.05, 18.0),
]  # 3 arcmin east, south
INK = """([east, north]) => {
  const canvas = document.querySelector('.finder-canvas')
  const [x, y] = [(canvas.width / 2) * (1 - east / 7.5), (canvas.width / 2) * (1 - north / 7.5)]
  return [...canvas.getContext('2d').getImageData(x, y, 1, 1).data].slice(0, 3)
}"""


@pytest.fixture
async def place(tmp_path: Path, playing: Playing) -> AsyncIterator[Place]:
    blocks = {"M 1": resolver("S", ra=RA, dec=DEC, oname="M   1", otype="SNR")}
    playing.rule(SesameRule(blocks))
    playing.rule(SkyRule(STARS, [GALAXY]))
    async with place_in(tmp_path) as served:
        services = {"offline": False, **playing.settings()}
        cast("Any", served.app).settings = served.app.settings.model_copy(update=services)
        yield served


async def test_the_chart_shows_the_field_and_says_what_it_lacks(
    place: Place, playing: Playing
) -> None:
    async with signed_in(place.served.link(), height=1200) as page:
        await page.goto(f"{page.url.partition('#')[0]}#/targets?name=M%201")
        await page.get_by_text("3 objects of Gaia DR3 + SIMBAD. Stars down to G 18.0.").wait_for()
        star, opposite = await page.evaluate(INK, [3, 0]), await page.evaluate(INK, [-3, 0.3])
        assert star == [27, 30, 36]  # ink, 3 arcmin to the left: east
        assert opposite == [241, 239, 234]  # the bare ground
        # The galaxy's long axis lies east-west.
        assert await page.evaluate(INK, [1.5, 3]) != opposite
        await page.locator(".field-list summary").click()
        row = page.locator(".field-list tbody tr").filter(has_text="NGC 9999")
        assert await row.inner_text() == "NGC 9999\tgalaxy\tV 12.50\t3.0′\t0°"
        await row.get_by_role("link").focus()
        told = await page.locator(".finder-told").inner_text()
        assert told == "NGC 9999 · galaxy · V 12.50 · 3.0′ at 0°"
        canvas = page.locator(".finder-canvas")
        box = await canvas.bounding_box()
        await page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2)
        told = await page.locator(".finder-told").inner_text()
        assert told.startswith("Gaia DR3 7 · source of Gaia · G 9.00 · 3.0′")
        playing.play("/simbad_tap", Played.text("busy", 404))
        await page.get_by_role("button", name="1°").click()
        await page.get_by_text("SIMBAD gave nothing: it answered with HTTP 404").wait_for()
        await page.get_by_text("2 objects of Gaia DR3.").wait_for()


@pytest.mark.skipif(not AXE.is_file(), reason="it needs web/node_modules: make web")
@pytest.mark.parametrize(("width", "dark"), [(360, True), (1440, False)])
async def test_the_chart_and_its_list_fit_and_have_no_serious_barrier(
    place: Place, width: int, *, dark: bool
) -> None:
    async with signed_in(place.served.link(), width=width, height=900, dark=dark) as page:
        await page.goto(f"{page.url.partition('#')[0]}#/targets?name=M%201")
        await page.locator(".field-list summary").click()
        await page.locator(".field-list tbody tr").first.wait_for()
        sideways = await page.evaluate(
            "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert sideways <= 0
        await page.evaluate(AXE.read_text("utf-8"))
        result = await page.evaluate("() => axe.run(document)")
        serious = [one for one in result["violations"] if one["impact"] in {"serious", "critical"}]
        assert serious == []


async def test_a_card_in_the_timeline_asks_only_when_it_is_asked(
    place: Place, playing: Playing
) -> None:
    call = Reply(calls=[("query_target", '{"name": "M 1"}')])
    place.says([call, Reply("It is in Taurus.")])
    session_id = await place.session()
    await place.turn(session_id, "Where is M 1?")

    def fields() -> int:
        return sum("gaia_tap" in path for path in playing.paths())

    async with signed_in(place.served.link()) as page:
        await page.goto(f"{page.url.partition('#')[0]}#/research/{session_id}")
        await page.get_by_text("1 tool").click()
        await page.get_by_text("Looked a target up").click()
        await page.get_by_role("button", name="Show stars").wait_for()
        assert fields() == 0
        await page.get_by_role("button", name="Show stars").click()
        await page.get_by_text("3 objects of Gaia DR3 + SIMBAD.").wait_for()
        assert fields() == 1
