"""What lies around a position: each object once, one catalogue down or both, and in what words."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import TypeAdapter

from nuncius.app import App
from nuncius.core.errors import UpstreamError
from nuncius.library import field
from nuncius.library.field import Catalogue, look_around
from nuncius.library.search import Failed
from sources.field_answers import Named, SkyRule, Star, gaia_table
from sources.home import app, playing
from sources.playing import Asked, Played, Playing
from sources.sesame_answers import table

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


_HUGE = int("9" * 400)
_GAIA_ROW = [3, 10.0, 5.0, 16.0, 1.0, 1.0]
_SIMBAD_ROW = ["M   1", 10.0, 5.0, "G", 1.0, 1.0, 4.0, 2.0, 30.0, 9.0, 8.0, "Gaia DR3 77"]
_SIMBAD_COLUMNS = (
    "main_id ra dec otype pmra pmdec galdim_majaxis galdim_minaxis galdim_angle V G gaia_name"
).split()


@pytest.mark.parametrize(
    "cell",
    [_HUGE, -_HUGE, 1e300, 361.0, -91, True, "10.0", "a\x00\ud800", [1], {"a": 1}, "", "x" * 9999],
    ids=lambda cell: str(cell)[:9].encode("ascii", "replace").decode(),
)
async def test_an_odd_cell_is_none_and_takes_nothing_else_away(
    app: App, playing: Playing, cell: Any
) -> None:
    place = 0

    def odd(asked: Asked) -> Played:
        if "gaia" in asked.path:
            return gaia_table([[1, 10.0, 5.0, 8.75, None, None], _with(_GAIA_ROW, place, cell)])
        row = ["V* XX Mic", 10.0, 5.0, "V*", *[None] * 7, "Gaia DR3 1"]
        return table(_SIMBAD_COLUMNS, [row, _with(_SIMBAD_ROW, place, cell)])

    playing.rule(odd)
    for place in range(len(_SIMBAD_ROW)):
        found = await look_around(app.services, 10.0, 5 + place / 100, radius_arcmin=10)
        names = [one.name for one in found.objects]
        assert names[0] == "V* XX Mic"
        has_place = place not in {1, 2}
        assert ("M 1" in names) == (has_place and place != 0)
        assert ("Gaia DR3 3" in names) == (has_place and place != 0)
        assert all(len(name) < 300 for name in names)
        assert found.errors == []
        json.loads(TypeAdapter(field.Field).dump_json(found))
        for one in found.objects:
            assert 0 <= one.ra_deg <= 360
            assert abs(one.dec_deg) <= 90
            assert one.magnitude is None or abs(one.magnitude) < 1e9


def _with(row: Sequence[Any], place: int, cell: Any) -> Sequence[Any]:
    return [*row[:place], cell, *row[place + 1 :]][: len(row)]


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
    monkeypatch.setattr(field, "PATIENCE_S", 3.0)
    playing.rule(SKY)
    playing.play("/gaia_tap", Played(fault="silent"))
    async with asyncio.timeout(30):
        found = await look_around(app.services, 10.0, 5.0, radius_arcmin=10)
    assert found.errors == [Failed("Gaia DR3", "no answer within 3 s", "Ask again later.")]
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
