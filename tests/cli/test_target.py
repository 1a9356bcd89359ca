"""`nuncius target`: an object's place in words, and in JSON for programs."""

from pathlib import Path

import pytest

from cli.running import Run


@pytest.fixture(autouse=True)
def offline(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test reach a service; `home` has cleared the environment before."""
    assert home
    monkeypatch.setenv("NUNCIUS_OFFLINE", "1")
    for name in ("SESAME", "SIMBAD_TAP"):  # a place on loopback would be asked
        monkeypatch.delenv(f"NUNCIUS_{name}_URL")


def test_a_position_is_told_in_degrees_and_sexagesimal(nuncius: Run) -> None:
    ran = nuncius("target", "00:42:44.33 +41:16:07.5")
    lines = ran.out.splitlines()
    assert ran.code == 0
    assert lines[0].startswith("00:42:44.33 +41:16:07.5: position")
    assert lines[1].startswith("Position: RA 10.68470833 deg (00h42m44.33s), Dec +41.26875000 deg")


def test_a_position_south_of_the_equator_needs_no_trick(nuncius: Run) -> None:
    told = nuncius("target", "83.75 -5.39", "--json").json
    assert (told["ra_deg"], told["dec_deg"], told["frame"]) == (83.75, -5.39, "ICRS")


def test_json_has_the_contracts_names(nuncius: Run) -> None:
    told = nuncius("target", "Mars", "--json").json
    assert (told["name"], told["kind"], told["ra_deg"]) == ("Mars", "solar_system", None)
    names = """name ra_deg dec_deg frame epoch error_arcsec object_type resolver aliases pm parallax_mas
    velocity_km_s redshift magnitudes cached_at"""
    assert set(names.split()) <= set(told)


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [(" ", 2, "empty"), ("25:00:00 +10:00:00", 2, "no such place"), ("M 31", 5, "offline")],
)
def test_what_cannot_be_told_has_its_exit_code(
    nuncius: Run, name: str, code: int, words: str
) -> None:
    ran = nuncius("target", name)
    assert (ran.code, ran.out) == (code, "")
    assert words in ran.err.lower()
