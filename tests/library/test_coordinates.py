"""Positions are read in every usual way of writing, and names are not taken for positions."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.core.errors import UsageError
from nuncius.library.coordinates import (
    degrees_text,
    hours_text,
    position_in_name,
    read_position,
)

M31 = (10.684708, 41.268750)


@pytest.mark.parametrize(
    "text",
    [
        "10.684708 +41.26875",
        "10.684708, 41.26875",
        "10.684708 41.26875",
        "10.684708°, +41.26875°",
        "10.684708d 41.26875d",
        "10.684708 deg 41.26875 deg",
        "00:42:44.33 +41:16:07.5",
        "0:42:44.33, 41:16:07.5",
        "00 42 44.33 +41 16 07.5",
        "00 42 44.33 41 16 07.5",
        "00h42m44.33s +41d16m07.5s",
        "00h42m44.33s+41d16m07.5s",
        "00h 42m 44.33s 41d 16m 07.5s",
        "0h42m44.33s, 41°16′07.5″",
        "0ʰ42m44.33s +41°16'07.5\"",
        "RA 00:42:44.33 Dec +41:16:07.5",
        "ra=10.684708 dec=41.26875",
        "α = 00 42 44.33, δ = +41 16 07.5",
        "RA: 00h42m44.33s DEC: +41d16m07.5s (J2000)",
        "00:42:44.33 +41:16:07.5 ICRS",
        "J004244.33+411607.5",
        "００:42:44.33　+41:16:07.5",
        "00：42：44.33，+41：16：07.5",
        "l=121.174322 b=-21.573311",
        "Galactic l 121.174322, b -21.573311",
    ],
)
def test_one_place_in_every_way_of_writing(text: str) -> None:
    place = read_position(text)
    assert place
    assert (place.ra_deg, place.dec_deg) == pytest.approx(M31, abs=2e-5)
    assert place.frame == "ICRS"


@pytest.mark.parametrize(
    ("text", "ra_deg", "dec_deg"),
    [
        ("00 00 30 -00 00 30", 0.125, -30 / 3600),  # the sign of a zero
        ("5h 35m −5°23′", 83.75, -5 - 23 / 60),
        ("05 35.5 -05 23.5", 83.875, -5 - 23.5 / 60),
        ("10 20", 10.0, 20.0),
        ("359.999 -90", 359.999, -90.0),
        ("266d25m00s -29d00m28s", 266 + 25 / 60, -29 - 28 / 3600),
        ("12h30m +12d", 187.5, 12.0),
    ],
)
def test_signs_minutes_and_degrees(text: str, ra_deg: float, dec_deg: float) -> None:
    place = read_position(text)
    assert place
    assert (place.ra_deg, place.dec_deg) == pytest.approx((ra_deg, dec_deg))


@pytest.mark.parametrize(
    "name",
    """M 31|M31|HD 209458|3C 273|3C 48|4U 1700-37|1H 0323+342|1ES 1959+650|PKS 2155-304|47 Tuc|51 Peg
    |PSR B1937+21|PSR J0437-4715|2MASS J18492042-3255483|TIC 275|S5 0716+71|D 33|h Per|m 31|12|1.5
    |-10 20 30 40|10.5 20.5 30.5|1 2 3 4 5|UGC 7|HIP 12 B|10,20,30|S 106|Sh 2-106|+20 30|NGC 224 d
    |4C +01.28|BD +20 2457|BD-14 1234|CD -42 14462|d 5|h 12, m 3|x Per|5h|GJ 581|V404 Cyg||,|:|+|M-31
    |1A 0535+262|Abell 2218|GRB 190114C|AT 2017gfo|T CrB|2S 0114+650|00|7 12 x""".replace("\n    ", "").split("|"),
)  # fmt: skip
def test_names_are_no_positions(name: str) -> None:
    assert read_position(name) is None


@pytest.mark.parametrize(
    "text",
    [
        "25:00:00 +10:00:00",
        "24 00 00 +10 00 00",
        "12:60:00 +10:00:00",
        "12:00:60.5 +10:00:00",
        "12:30:00 -90:00:01",
        "400.1 +20.5",
        "10.5 -91",
        "10.5 +12h",
        "l=361 b=0",
        "l=10 b=91",
    ],
)
def test_what_is_not_on_the_sky_is_told_with_the_bounds(text: str) -> None:
    with pytest.raises(UsageError, match="no such place") as error:
        read_position(text)
    assert "90" in error.value.hint


def test_old_frames_are_not_taken_for_icrs() -> None:
    for text in ("B1950 00 40 00 +41 00 00", "00:40:00 +41:00:00 (FK4)"):
        with pytest.raises(UsageError, match="B1950"):
            read_position(text)


@pytest.mark.parametrize(
    ("name", "ra_deg", "dec_deg", "error_arcsec"),
    [
        ("2MASS J18492042-3255483", 282.335083, -32.930083, 0.126),
        ("SDSS J103842.59+484917.7", 159.677458, 48.821583, 0.1),
        ("WISE J085510.83−071442.5", 133.795125, -7.245139, 0.149),
        ("PSR J0437-4715", 69.25, -47.25, 611),
        ("3FGL J1234.5+1234", 188.625, 12.566667, 87.8),
        ("PKS J0000+105", 0.0, 10.5, 885),
        ("SNR G292.0+01.8", 171.123391, -59.213854, 360),
    ],
)
def test_designations_carry_positions_as_exact_as_their_digits(
    name: str, ra_deg: float, dec_deg: float, error_arcsec: float
) -> None:
    place = position_in_name(name)
    assert place
    assert (place.ra_deg, place.dec_deg) == pytest.approx((ra_deg, dec_deg), abs=1e-5)
    assert place.error_arcsec == pytest.approx(error_arcsec, rel=0.01)


@pytest.mark.parametrize(
    "name",
    ["PSR B1937+21", "M 31", "2MASS J18995042-3255483", "J99", "J2500+1000", "JKK 12", "J1234+95",
     "NGC 1-2", "G400.0+1.0", "HG1.0+2.0"],
)  # fmt: skip
def test_other_designations_carry_none(name: str) -> None:
    assert position_in_name(name) is None


def test_the_galactic_centre_and_pole_are_where_they_are() -> None:
    centre, pole = read_position("l=0 b=0"), read_position("l=0 b=90")
    assert centre
    assert pole
    assert (centre.ra_deg, centre.dec_deg) == pytest.approx((266.405, -28.936), abs=1e-3)
    assert (pole.ra_deg, pole.dec_deg) == pytest.approx((192.859, 27.128), abs=1e-3)


@given(ra_deg=st.floats(0, 359.9999), dec_deg=st.floats(-90, 90))
def test_what_is_written_is_read_back(ra_deg: float, dec_deg: float) -> None:
    text = f"{hours_text(ra_deg)} {degrees_text(dec_deg)}"
    place = read_position(text)
    assert place
    assert "m60." not in text
    off = abs((place.ra_deg - ra_deg + 180) % 360 - 180) * math.cos(math.radians(dec_deg))
    assert off < 0.08 / 3600 + 1e-9
    assert abs(place.dec_deg - dec_deg) < 0.0501 / 3600


@given(st.text(alphabet="0123456789+-.: hdms°′″,JGlb=", max_size=30))
def test_any_text_is_a_place_on_the_sky_or_none(text: str) -> None:
    try:
        place = read_position(text) or position_in_name(text)
    except UsageError:
        return
    if place:
        assert 0 <= place.ra_deg < 360 + 1e-9
        assert -90 <= place.dec_deg <= 90
