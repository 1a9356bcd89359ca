"""What Gaia and SIMBAD have around a position: the query, the order, what is cut, the epoch."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.core.errors import UpstreamError
from nuncius.core.sky import moved
from nuncius.sources.gaia import Gaia
from nuncius.sources.services import Services
from nuncius.sources.simbad import Simbad
from nuncius.sources.tap import cone
from nuncius.sources.votable import QueryFailedError
from sources.field_answers import Named, SkyRule, Star, gaia_table
from sources.playing import Played, Playing
from sources.sesame_answers import table

BARNARD = Star(4472832130942575872, 269.44850252543836, 4.739420051112412, 8.1940,
               -801.5509783684709, 10362.394206546573)  # fmt: skip


async def test_gaia_is_asked_for_the_brightest_of_a_cone(
    playing: Playing, services: Services
) -> None:
    sky = SkyRule([Star(3, 10.0, -20.0, 15.0), Star(1, 10.001, -20.0, 9.0)], [])
    playing.rule(sky)
    found = await Gaia(services).around(10.0, -20.0, radius_arcmin=12, most=5)
    assert sky.queries == [
        (
            "SELECT TOP 6 source_id, ra, dec, phot_g_mean_mag, pmra, pmdec FROM gaiadr3.gaia_source_lite"
            " WHERE CONTAINS(POINT('ICRS', ra, dec), CIRCLE('ICRS', 10.000000, -20.000000, 0.200000)) = 1"
            " AND phot_g_mean_mag IS NOT NULL ORDER BY phot_g_mean_mag"
        )
    ]
    assert [(star.name, star.magnitude, star.band) for star in found.objects] == [
        ("Gaia DR3 1", 9.0, "G"),
        ("Gaia DR3 3", 15.0, "G"),
    ]
    assert not found.truncated
    assert playing.asked[0].path == "/gaia_tap/sync"


async def test_simbad_is_asked_for_the_most_cited_with_size_and_brightness(
    playing: Playing, services: Services
) -> None:
    galaxy = Named("NGC  9999", 10.0, -20.0, "G", 90, v=12.5, size=(4.0, 1.5, 30))
    star = Named("V* XX Mic", 10.01, -20.0, "V*", 7, v=9.0, g=8.75, gaia_name="Gaia DR3 1")
    sky = SkyRule([], [star, galaxy])
    playing.rule(sky)
    found = await Simbad(services).around(10.0, -20.0, radius_arcmin=12, most=5)
    assert sky.queries == [
        (
            "SELECT TOP 6 main_id, ra, dec, otype, pmra, pmdec, galdim_majaxis, galdim_minaxis,"
            " galdim_angle, V, G, gaia.id AS gaia_name FROM basic"
            " LEFT JOIN allfluxes ON allfluxes.oidref = oid"
            " LEFT JOIN ident AS gaia ON gaia.oidref = oid AND gaia.id LIKE 'Gaia DR3 %'"
            " WHERE CONTAINS(POINT('ICRS', ra, dec), CIRCLE('ICRS', 10.000000, -20.000000, 0.200000)) = 1"
            " ORDER BY nbref DESC"
        )
    ]
    first, second = found.objects
    assert (first.name, first.object_type, first.magnitude, first.band) == (
        "NGC 9999",
        "G",
        12.5,
        "V",
    )
    assert (first.major_arcmin, first.minor_arcmin, first.angle_deg) == (4.0, 1.5, 30.0)
    assert (second.magnitude, second.band, second.gaia_name) == (8.75, "G", "Gaia DR3 1")


async def test_what_is_cut_says_so(playing: Playing, services: Services) -> None:
    names = [Named(f"X {number}", 10.0, 5.0, papers=number) for number in range(4)]
    playing.rule(SkyRule([Star(number, 10.0, 5.0, 9.0 + number) for number in range(4)], names))
    named = await Simbad(services).around(10.0, 5.0, radius_arcmin=5, most=3)
    assert ([one.name for one in named.objects], named.truncated) == (["X 3", "X 2", "X 1"], True)
    stars = await Gaia(services).around(10.0, 5.0, radius_arcmin=5, most=4)
    assert (len(stars.objects), stars.truncated) == (4, False)


async def test_an_answer_is_kept(playing: Playing, services: Services) -> None:
    playing.rule(SkyRule([BARNARD], []))
    for _ in range(2):
        assert (await Gaia(services).around(269.45, 4.74, radius_arcmin=5)).objects
    assert len(playing.asked) == 1


async def test_a_star_is_where_it_was_in_2000(playing: Playing, services: Services) -> None:
    playing.rule(SkyRule([BARNARD, Star(2, 269.45, 4.74, 12.0)], []))
    star, other = (await Gaia(services).around(269.45, 4.74, radius_arcmin=5)).objects
    # SIMBAD: 17 57 48.49847 +04 41 36.1139 (ICRS, epoch J2000)
    assert star.ra_deg == pytest.approx(269.45207696, abs=1e-6)
    assert star.dec_deg == pytest.approx(4.69336497, abs=1e-6)
    assert star.pm_dec_mas_yr == pytest.approx(10362.394)
    # what has no known motion stays
    assert (other.ra_deg, other.dec_deg, other.pm_ra_mas_yr) == (269.45, 4.74, None)


async def test_rows_without_a_place_are_left_out_and_none_is_twice(
    playing: Playing, services: Services
) -> None:
    columns = ["main_id", "ra", "dec", "otype", "gaia_name"]
    rows = [["A", 1.0, 2.0, None, "Gaia DR3 1"], ["B", None, None, "G", None], ["A", 1.0, 2.0, None, "Gaia DR3 2"]]  # fmt: skip
    playing.play("/simbad_tap", table(columns, rows))
    playing.play("/gaia_tap", gaia_table([[7, None, 1.0, 9.0, None, None]]))
    (one,) = (await Simbad(services).around(1.0, 2.0, radius_arcmin=5)).objects
    assert (one.name, one.object_type, one.magnitude, one.band) == ("A", "", None, "")
    assert (await Gaia(services).around(1.0, 2.0, radius_arcmin=5)).objects == ()


REFUSED = (
    '<VOTABLE><RESOURCE type="results"><INFO name="QUERY_STATUS" value="ERROR">'
    "Cannot parse query</INFO></RESOURCE></VOTABLE>"
)


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (Played.text(REFUSED, 400, "text/xml"), QueryFailedError, "Cannot parse query"),
        (Played.text("<html>busy</html>", 503), UpstreamError, "Gaia"),
        (Played(fault="close"), UpstreamError, "Gaia"),
        (Played.json({"metadata": []}), UpstreamError, "without a table"),
    ],
)
async def test_a_gaia_that_fails_is_one_sentence(
    playing: Playing, services: Services, answer: Played, kind: type[UpstreamError], words: str
) -> None:
    playing.play("/gaia_tap", answer)
    with pytest.raises(kind, match=words) as error:
        await Gaia(services).around(0.0, 90.0, radius_arcmin=5)
    assert error.value.hint


@pytest.mark.parametrize(
    ("ra", "dec", "written"),
    [(0.0, 90.0, "0.000000, 90.000000"), (360.0, -90.0, "0.000000, -90.000000"), (1e-9, -1e-9, "0.000000, -0.000000")],
)  # fmt: skip
def test_a_cone_is_written_without_exponents(ra: float, dec: float, written: str) -> None:
    assert f"CIRCLE('ICRS', {written}, 0.016667)" in cone(ra, dec, 1.0)


RATES = st.floats(-11_000, 11_000)


@given(st.floats(0, 360), st.floats(-90, 90), RATES, RATES, st.floats(-100, 100))
def test_a_star_moves_by_its_motion_wherever_it_is(
    ra: float, dec: float, pm_ra: float, pm_dec: float, years: float
) -> None:
    there_ra, there_dec = moved(ra, dec, pm_ra_mas_yr=pm_ra, pm_dec_mas_yr=pm_dec, years=years)
    assert 0 <= there_ra <= 360
    assert -90 <= there_dec <= 90
    a, b = math.radians(dec), math.radians(there_dec)
    half = math.sin((b - a) / 2) ** 2
    half += math.cos(a) * math.cos(b) * math.sin(math.radians(there_ra - ra) / 2) ** 2
    mas = math.degrees(2 * math.asin(min(1.0, math.sqrt(half)))) * 3.6e6
    assert mas == pytest.approx(math.hypot(pm_ra, pm_dec) * abs(years), rel=1e-4, abs=0.01)


def test_a_motion_in_right_ascension_is_one_on_the_sky() -> None:
    ra, dec = moved(359.9999, 60.0, pm_ra_mas_yr=1000, pm_dec_mas_yr=0, years=3600)
    assert ra == pytest.approx(359.9999 - 360 + 2, abs=0.001)  # 1 deg on the sky is 2 at 60 deg
    assert dec == pytest.approx(60, abs=0.02)
