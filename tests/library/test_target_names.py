"""Greek letters, constellations, Chinese names, planets, bodies of the Solar System."""

import pytest

from nuncius.library.object_types import WORDS, in_words, is_star
from nuncius.library.solar_system import find_body
from nuncius.sources.object_names import (
    constellations,
    printed_names,
    standard_name,
    star_of_planet,
    with_greek_in_words,
)

CONSTELLATIONS = frozenset(constellations())


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("α Cen", "alf Cen"),
        ("α Centauri", "alf Cen"),
        ("alpha Centauri A", "alf Cen A"),
        ("Alpha  centauri", "alf Cen"),
        ("α² Centauri", "alf02 Cen"),
        ("π1 Gruis", "pi.01 Gru"),
        ("Pi1 Gru", "pi.01 Gru"),
        ("β Pictoris b", "bet Pic b"),
        ("μ Arae", "mu. Ara"),
        ("µ Ara", "mu. Ara"),  # the micro sign
        ("ξ Persei", "ksi Per"),
        ("θ1 Orionis C", "tet01 Ori C"),
        ("ω Cen", "ome Cen"),
        ("δ Scuti", "del Sct"),
        ("* alf Lyr", "alf Lyr"),
        ("51 Pegasi b", "51 Peg b"),
        ("51 Peg b", "51 Peg b"),
        ("61 Cygni A", "61 Cyg A"),
        ("47 Tucanae", "47 Tuc"),
        ("30 Doradus", "30 Dor"),
        ("RR Lyrae", "RR Lyr"),
        ("V404 Cygni", "V404 Cyg"),
        ("T Coronae Borealis", "T CrB"),
        ("仙女座星系", "M 31"),
        ("蟹状星云", "M 1"),
        ("织女星", "Vega"),
        ("半人马座α", "alf Cen"),
        ("半人马座 α A", "alf Cen A"),
        ("半人马座α星B", "alf Cen B"),
        ("绘架座β b", "bet Pic b"),
        ("比邻星b", "Proxima Cen b"),
        ("某某星系", "某某星系"),  # not understood: asked for as it is
        ("飞马座51b", "51 Peg b"),
        ("鲸鱼座τ星", "tau Cet"),
        ("天鹰座V603", "V603 Aql"),
    ],
)
def test_names_are_asked_for_as_simbad_writes_them(typed: str, asked: str) -> None:
    assert standard_name(typed) == asked


@pytest.mark.parametrize(
    "name",
    ["M31", "M 31", "NGC 224", "Cygnus A", "Cyg X-1", "Sgr A*", "Virgo Cluster", "Draco dwarf", "UMa II",
     "Leo I", "eta Carinae Nebula", "Orion Nebula", "TRAPPIST-1 b", "HD 209458b", "Delta 1", "Pisces II",
     "Alphard", "Alphecca", "Etamin", "Musca", "Antlia", "Crater II", "Rho Oph Cloud", "GJ 1214 b", "PSR B1257+12 b"],
)  # fmt: skip
def test_other_names_stay_as_they_are(name: str) -> None:
    assert standard_name(name) == name


def test_every_constellation_is_there_once_in_four_forms() -> None:
    assert len(set(constellations().values())) == 88
    for form, short in constellations().items():
        assert standard_name(f"γ {form}") in {f"gam {short}", f"γ {form}"}
    assert standard_name("γ Ursae Minoris") == "gam UMi"


@pytest.mark.parametrize(
    ("name", "star"),
    [
        ("TRAPPIST-1 b", ("TRAPPIST-1", "b")),
        ("TRAPPIST-1b", ("TRAPPIST-1", "b")),
        ("HD 209458b", ("HD 209458", "b")),
        ("51 Peg b", ("51 Peg", "b")),
        ("PSR B1257+12 c", ("PSR B1257+12", "c")),
        ("Kepler-16 (AB) b", ("Kepler-16 (AB)", "b")),
        ("M31", None),
        ("Vega", None),
        ("Crab", None),
        ("Sgr A*", None),
        ("3C 273", None),
        ("1 b", None),
        ("AT 2017gfo", None),
    ],
)
def test_a_planets_name_is_its_stars_and_a_letter(name: str, star: tuple[str, str] | None) -> None:
    assert star_of_planet(name) == star


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Mars", ("Mars", "planet")),
        ("the Moon", ("Moon", "moon of Earth")),
        ("planet VENUS", ("Venus", "planet")),
        ("火星", ("Mars", "planet")),
        ("太阳", ("Sun", "star")),
        ("Pluto", ("Pluto", "dwarf planet")),
        ("134340 Pluto", ("134340 Pluto", "asteroid")),
        ("Io", ("Io", "moon of Jupiter")),
        ("土卫六", ("Titan", "moon of Saturn")),
        ("433 Eros", ("433 Eros", "asteroid")),
        ("24 Themis", ("24 Themis", "asteroid")),
        ("(4179) Toutatis", ("(4179) Toutatis", "asteroid")),
        ("(433)", ("(433)", "asteroid")),
        ("1995 XX1", ("1995 XX1", "asteroid")),
        ("136199 2003 UB313", ("136199 2003 UB313", "asteroid")),
        ("asteroid Bennu", ("Bennu", "asteroid")),
        ("1P/Halley", ("1P/Halley", "comet")),
        ("67P", ("67P", "comet")),
        ("C/1995 O1 (Hale-Bopp)", ("C/1995 O1 (Hale-Bopp)", "comet")),
        ("C/2023 A3", ("C/2023 A3", "comet")),
        ("P/2010 A2", ("P/2010 A2", "comet")),
        ("Comet Halley", ("Comet Halley", "comet")),
        ("哈雷彗星", ("哈雷彗星", "comet")),
        ("2I/Borisov", ("2I/Borisov", "interstellar object")),
        ("1I/'Oumuamua", ("1I/'Oumuamua", "interstellar object")),
    ],
)
def test_bodies_of_the_solar_system_are_told(name: str, found: tuple[str, str]) -> None:
    assert find_body(name, constellations=CONSTELLATIONS) == found


@pytest.mark.parametrize(
    "name",
    ["51 Peg", "51 Pegasi", "61 Cygni", "47 Tuc", "30 Doradus", "11 Com", "M 31", "3C 273", "Comet Galaxy",
     "Hydra", "Hydra A", "4U 1700-37", "1 Zw 1", "Vega", "Sun-like", "Mars X-1", "SN 1987A", "2MASS J1",
     "Juno Nebula", "Titanic", "C 14", "P Cyg", "D 33", "II Zw 40", "Marsh 3", "2023 ABC"],
)  # fmt: skip
def test_what_is_beyond_is_not_taken_for_a_body(name: str) -> None:
    assert find_body(name, constellations=CONSTELLATIONS) is None


def test_types_have_words_and_unknown_ones_none() -> None:
    assert in_words("PM*") == "high proper motion star"
    assert in_words("AGN") == "active galactic nucleus"
    assert in_words("Pl?") == "candidate: extra-solar planet"
    assert in_words("V*?") == "candidate: variable star"
    assert in_words("") == in_words("Xyz") == ""
    assert not any(is_star(code) for code in ("", "G", "Cl*", "As*", "GlC", "PN"))
    assert all(code == code.strip() and words for code, words in WORDS.items())


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("β Pic b", ("beta Pictoris b", "beta Pic b")),
        ("alf02 CVn", ("alpha2 Canum Venaticorum", "alpha2 CVn")),
        ("mu. Ara", ("mu Arae", "mu Ara")),
        ("51 Peg b", ("51 Pegasi b", "51 Peg b")),
        ("V404 Cygni", ("V404 Cygni", "V404 Cyg")),
        ("参宿四", ("Betelgeuse",)),
        ("NGC 1275", ("NGC 1275",)),
    ],
)
def test_papers_print_a_stars_name_in_words(name: str, printed: tuple[str, ...]) -> None:
    assert printed_names(name) == printed


def test_every_star_by_letter_comes_back_from_its_printed_names() -> None:
    for short in set(constellations().values()):
        for letter in "αβγδεζηθικλμνξοπρστυφχψω":
            name = standard_name(f"{letter} {short}")
            assert {standard_name(one) for one in printed_names(name)} == {name}


def test_greek_letters_are_put_in_words() -> None:
    assert with_greek_in_words("β Pictoris, ζ Puppis").split() == [
        "beta",
        "Pictoris,",
        "zeta",
        "Puppis",
    ]
