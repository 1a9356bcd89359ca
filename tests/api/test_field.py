"""`GET /api/targets/field`: what is asked for is checked, what failed is said."""

from typing import Any, cast
from urllib.parse import urlencode

import pytest

from api.served import Place
from sources.field_answers import Named, SkyRule, Star
from sources.home import playing
from sources.playing import Played, Playing

__all__ = ["playing"]
PLACE = {"ra_deg": 10.0, "dec_deg": 5.0, "radius_arcmin": 10.0}


async def field(place: Place, status: int = 200, **changed: Any) -> Any:
    asked = urlencode({**PLACE, **changed})
    return await place.get(f"/targets/field?{asked}", status)


async def test_a_field_is_told_and_one_catalogue_that_is_down_is_named(
    place: Place, playing: Playing
) -> None:
    services = {"offline": False, **playing.settings()}
    cast("Any", place.app).settings = place.app.settings.model_copy(update=services)
    named = Named("V* XX Mic", 10.0, 5.0, "V*", 7, v=9.2, gaia_name="Gaia DR3 1")
    playing.rule(SkyRule([Star(1, 10.0, 5.0, 8.75, 30.0, -20.0)], [named]))
    found = await field(place)
    (star,) = found.pop("objects")
    assert (star["name"], star["magnitude"], star["band"]) == ("V* XX Mic", 8.75, "G")
    assert found == {
        **PLACE,
        "frame": "ICRS",
        "epoch": "J2000.0",
        "catalogues": [
            {"name": "Gaia DR3", "epoch": 2016.0, "truncated": False},
            {"name": "SIMBAD", "epoch": 2000.0, "truncated": False},
        ],
        "errors": [],
    }
    playing.play("/simbad_tap", Played.text("busy", 404))
    found = await field(place, ra_deg=359.99)
    assert [one["source"] for one in found["errors"]] == ["SIMBAD"]
    assert [one["name"] for one in found["catalogues"]] == ["Gaia DR3"]
    playing.play("/gaia_tap", Played.text("busy", 404))
    told = await field(place, 502, ra_deg=200)
    assert "Gaia" in told["error"]["message"]
    assert "SIMBAD" in told["error"]["message"]


@pytest.mark.parametrize(
    "changed",
    [{"ra_deg": -0.1}, {"ra_deg": 360.1}, {"ra_deg": "nan"}, {"dec_deg": 90.1}, {"dec_deg": "-inf"},
     {"radius_arcmin": 0}, {"radius_arcmin": 60.1}, {"radius_arcmin": "nan"}, {"dec_deg": ""}],
)  # fmt: skip
async def test_a_field_that_is_not_on_the_sky_or_too_wide_is_refused(
    place: Place, changed: dict[str, Any]
) -> None:
    told = await field(place, 422, **changed)
    assert next(iter(changed)) in told["error"]["message"]


async def test_offline_no_field_is_asked_for(place: Place) -> None:
    told = await field(place, 403)
    assert "NUNCIUS_OFFLINE" in told["error"]["message"] + told["error"]["hint"]
