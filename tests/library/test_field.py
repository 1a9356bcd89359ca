"""What lies around a position: each object once, one catalogue down or both, and in what words."""

import asyncio

import pytest

from nuncius.app import App
from nuncius.core.errors import UpstreamError
from nuncius.library import field
from nuncius.library.field import Catalogue, look_around
from nuncius.library.search import Failed
from sources.field_answers import Named, SkyRule, Star
from sources.home import app, playing
from sources.playing import Played, Playing

__all__ = ["app", "playing"]
STAR = Named("V* XX Mic", 10.0, 5.0, "V*", 7, v=9.2, gaia_name="Gaia DR3 1")
GALAXY = Named("NGC  9999", 10.01, 5.01, "G", 90, v=12.5, size=(4.0, 1.5, 30))
SKY = SkyRule([Star(1, 10.0, 5.0, 8.75), Star(2, 10.02, 5.0, 15.0)], [STAR, GALAXY])


async def test_each_object_is_there_once_under_its_name(app: App, playing: Playing) -> None:
    playing.rule(SKY)
    found = await look_around(app.services, 10.0, 5.0, radius_arcmin=10)
    assert [(one.name, one.magnitude, one.band, one.is_star) for one in found.objects] == [
        ("NGC 9999", 12.5, "V", False),
        ("V* XX Mic", 8.75, "G", True),
        ("Gaia DR3 2", 15.0, "G", True),
    ]
    assert [one.type_text for one in found.objects] == ["galaxy", "variable star", ""]
    assert (found.frame, found.epoch) == ("ICRS", "J2000.0")
    assert found.catalogues == [
        Catalogue("Gaia DR3", 2016.0, truncated=False),
        Catalogue("SIMBAD", 2000.0, truncated=False),
    ]
    assert found.errors == []


async def test_stars_and_their_candidates_are_told_from_the_rest(
    app: App, playing: Playing
) -> None:
    stars = ["*", "V*", "WD?", "s?r", "Psr", "LXB"]
    others = ["G", "G?", "Cl*", "Cl?", "Pl", "QSO", "?", ""]
    kinds = {f"X {place}": kind for place, kind in enumerate([*stars, *others])}
    playing.rule(SkyRule([], [Named(name, 10.0, 5.0, kind) for name, kind in kinds.items()]))
    found = await look_around(app.services, 10.0, 5.0, radius_arcmin=10)
    assert [kinds[one.name] for one in found.objects if one.is_star] == stars


@pytest.mark.parametrize(
    ("down", "left", "name"),
    [("/gaia_tap", ["NGC 9999", "V* XX Mic"], "Gaia DR3"), ("/simbad_tap", ["Gaia DR3 1", "Gaia DR3 2"], "SIMBAD")],
)  # fmt: skip
async def test_a_catalogue_that_fails_leaves_the_other(
    app: App, playing: Playing, down: str, left: list[str], name: str
) -> None:
    playing.rule(SKY)
    playing.play(down, Played.text("<html>busy</html>", 404))
    found = await look_around(app.services, 10.0, 5.0, radius_arcmin=10)
    assert [one.name for one in found.objects] == left
    (fault,) = found.errors
    assert fault.source == name
    assert "web page" in fault.message
    assert fault.hint
    assert name not in [one.name for one in found.catalogues]


async def test_a_catalogue_that_is_silent_is_not_waited_for(
    app: App, playing: Playing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field, "PATIENCE_S", 0.3)
    playing.rule(SKY)
    playing.play("/gaia_tap", Played(fault="silent"))
    async with asyncio.timeout(10):
        found = await look_around(app.services, 10.0, 5.0, radius_arcmin=10)
    assert found.errors == [Failed("Gaia DR3", "no answer within 0 s", "Ask again later.")]
    assert len(found.objects) == 2


async def test_where_neither_answers_both_are_named(app: App, playing: Playing) -> None:
    playing.rule(lambda asked: Played.text("<html>busy</html>", 404))
    with pytest.raises(UpstreamError, match=r"Gaia: .*; SIMBAD: "):
        await look_around(app.services, 10.0, 5.0, radius_arcmin=10)


@pytest.mark.parametrize(("ra", "dec"), [(0.0, 0.0), (360.0, 0.0), (123.0, 90.0), (123.0, -90.0)])
async def test_the_meridian_and_the_poles_are_places_like_others(
    app: App, playing: Playing, ra: float, dec: float
) -> None:
    near = 0.02 if dec == 0 else 180.0
    edge = dec - 0.05 if dec > 0 else dec + 0.05
    stars = [Star(1, near, edge, 9.0), Star(2, (360 - near) % 360, edge, 10.0)]
    playing.rule(SkyRule(stars, []))
    found = await look_around(app.services, ra, dec, radius_arcmin=10)
    assert [one.name for one in found.objects] == ["Gaia DR3 1", "Gaia DR3 2"]
