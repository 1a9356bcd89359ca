"""Names are resolved, positions read, planets lead to their stars; a miss says what is near."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from library.conftest import settings_in
from nuncius.core.errors import AccessDeniedError, NotFoundError, UpstreamError, UsageError
from nuncius.core.sky import Target
from nuncius.library.sky_text import describe, shape
from nuncius.library.targets import Targets
from nuncius.sources.services import Services, trusted
from nuncius.walls.network import Network
from sources.playing import Played, Playing
from sources.sesame_answers import SesameRule, TapRule, broken, resolver, star, table

HOST = "h_link JOIN basic AS here ON here.oid = child"
PLANETS = "h_link JOIN basic AS here ON here.oid = parent"


@pytest.fixture
async def playing() -> AsyncIterator[Playing]:
    async with Playing().serving() as server:
        yield server


@pytest.fixture
async def services(playing: Playing, tmp_path: Path) -> AsyncIterator[Services]:
    settings = settings_in(tmp_path).model_copy(update=playing.settings())
    made = Services(settings, Network(trusted_hosts=trusted(settings)), tmp_path / "cache")
    for name in ("sesame", "simbad_tap"):
        made.get(name)._sleep = _at_once  # pyright: ignore[reportPrivateUsage]
    yield made
    await made.aclose()


async def _at_once(_seconds: float) -> None:
    return


@pytest.fixture
def targets(services: Services) -> Targets:
    return Targets(services)


def notes(target: Target) -> str:
    return " ".join(target.notes)


async def test_a_name_is_asked_for_as_simbad_writes_it(playing: Playing, targets: Targets) -> None:
    sesame = SesameRule({"kap Mic": star("* kap Mic")})
    playing.rule(sesame)
    playing.rule(TapRule({PLANETS: table(["main_id"], [["* kap Mic b"]])}))
    target = await targets.resolve("  κ   Microscopii ")
    assert (target.name, target.asked, target.kind) == ("* kap Mic", "κ Microscopii", "object")
    assert target.type_text == "high proper motion star"
    assert target.notes == ("Asked for as kap Mic.", "Its planets in SIMBAD: * kap Mic b.")
    assert sesame.asked == [["kap Mic"]]


@pytest.mark.parametrize("name", ["", "   ", "\u3000", "''", "*", "\x00\x07", "x" * 201])
async def test_a_blank_or_endless_name_is_refused_before_any_request(
    playing: Playing, targets: Targets, name: str
) -> None:
    with pytest.raises(UsageError):
        await targets.resolve(name)
    assert playing.asked == []


@pytest.mark.parametrize("name", ["10.684 +41.269", "00h42m44.3s +41d16m09s", "J004244.3+411609"])
async def test_a_typed_position_asks_nobody(playing: Playing, targets: Targets, name: str) -> None:
    target = await targets.resolve(name)
    assert (target.kind, target.resolver) == ("position", "coordinates")
    assert target.position
    assert target.position.ra_deg == pytest.approx(10.684, abs=1e-3)
    assert playing.asked == []


@pytest.mark.parametrize("name", ["Mars", "火星", "1P/Halley", "433 Eros", "C/1995 O1"])
async def test_what_moves_asks_nobody_and_says_who_knows(
    playing: Playing, targets: Targets, name: str
) -> None:
    # Sesame may know a survey's object of that name.
    target = await targets.resolve(name)
    assert (target.kind, target.position) == ("solar_system", None)
    assert "Horizons" in notes(target)
    assert "SsODNet" in notes(target)
    assert playing.asked == []


async def test_a_planet_that_nobody_lists_leads_to_its_star_and_says_so(
    playing: Playing, targets: Targets
) -> None:
    sesame = SesameRule({"TRAPPIST-1": star("TRAPPIST-1", "LM*")})
    playing.rule(sesame)
    playing.rule(TapRule())
    target = await targets.resolve("TRAPPIST-1 b")
    assert (target.name, target.asked) == ("TRAPPIST-1", "TRAPPIST-1 b")
    assert "No resolver has an entry for planet b" in notes(target)
    assert "its star, TRAPPIST-1" in notes(target)
    assert sesame.asked == [["TRAPPIST-1 b"], ["TRAPPIST-1"]]


async def test_a_planet_that_is_listed_names_its_star(playing: Playing, targets: Targets) -> None:
    playing.rule(SesameRule({"TRAPPIST-1 b": star("TRAPPIST-1b", "Pl")}))
    playing.rule(TapRule({HOST: table(["main_id"], [["TRAPPIST-1"]])}))
    target = await targets.resolve("TRAPPIST-1 b")
    assert (target.name, target.notes) == ("TRAPPIST-1b", ("Its star in SIMBAD: TRAPPIST-1.",))


async def test_a_letter_behind_what_is_no_star_is_a_miss(
    playing: Playing, targets: Targets
) -> None:
    playing.rule(SesameRule({"NGC 9999": star("NGC  9999", "G")}))
    playing.rule(TapRule())
    with pytest.raises(NotFoundError):
        await targets.resolve("NGC 9999 b")


async def test_a_miss_names_what_is_near(playing: Playing, targets: Targets) -> None:
    playing.rule(SesameRule({}))
    playing.rule(TapRule({"LIKE": table(["id"], [["NAME Betelgeuse"], ["* bet Lyr"]])}))
    with pytest.raises(NotFoundError, match="know no object called 'Betelgeuze'") as error:
        await targets.resolve("Betelgeuze")
    assert error.value.hint == "Names like it in SIMBAD: Betelgeuse."


async def test_a_miss_is_told_where_simbad_cannot_be_asked_for_near_names(
    playing: Playing, targets: Targets
) -> None:
    playing.rule(SesameRule({}))
    playing.play("/simbad_tap", Played.text("no", 500))
    with pytest.raises(NotFoundError) as error:
        await targets.resolve("Betelgeuze")
    assert "another designation" in error.value.hint


async def test_the_digits_of_a_designation_step_in_and_are_labelled(
    playing: Playing, targets: Targets
) -> None:
    playing.rule(SesameRule({}))
    target = await targets.resolve("2MASS J18492042-3255483")
    assert (target.kind, target.resolver) == ("position", "coordinates")
    assert target.position
    assert target.position.error_arcsec
    assert "not known" in notes(target)
    assert "cut, not rounded" in notes(target)
    playing.play("/sesame", Played.text("no", 500))
    playing.play("/simbad_tap", Played.text("no", 500))
    assert "could not be asked" in notes(await targets.resolve("2MASS J18492042-3255484"))


async def test_simbad_itself_is_asked_where_sesame_fails(
    playing: Playing, targets: Targets
) -> None:
    playing.play("/sesame", Played.text("<html>502</html>", 502))
    row = table(["main_id", "ra", "dec", "otype"], [["M  99", 12.5, -3.25, "G"]])
    magnitudes = table(["U", "V", "K"], [[None, 9.9, -0.5]])
    playing.rule(TapRule({"FROM allfluxes": magnitudes, "id = 'M  99'": row}))
    target = await targets.resolve("m99")
    assert {band: one.value for band, one in target.magnitudes.items()} == {"V": 9.9, "K": -0.5}
    assert (target.name, target.resolver, target.type_text) == ("M 99", "SIMBAD", "galaxy")
    assert "Sesame failed" in notes(target)
    assert "HTTP 502" in notes(target)


@pytest.mark.parametrize("answer", [Played.text("<html>502</html>", 502), Played(fault="close")])
async def test_a_service_that_is_down_is_no_miss(
    playing: Playing, targets: Targets, answer: Played
) -> None:
    playing.play("/", answer)
    with pytest.raises(UpstreamError, match=r"^Sesame: ") as error:
        await targets.resolve("M 99")
    assert error.value.hint


async def test_a_resolver_that_broke_is_no_miss(playing: Playing, targets: Targets) -> None:
    # SIMBAD does not know the name, and NED, which may, did not answer.
    playing.rule(SesameRule({"Gal 7": broken("N")}))
    playing.rule(TapRule())
    with pytest.raises(UpstreamError, match="'Gal 7' could not be looked up: NED: timeout"):
        await targets.resolve("Gal 7")


async def test_planets_that_cannot_be_asked_for_are_no_failure(
    playing: Playing, targets: Targets
) -> None:
    playing.rule(SesameRule({"kap Mic": star()}))
    playing.play("/simbad_tap", Played.text("no", 500))
    assert "could not be asked" in notes(await targets.resolve("kap Mic"))


async def test_nothing_but_a_position_is_resolved_offline(
    services: Services, playing: Playing
) -> None:
    for name in ("sesame", "simbad_tap"):
        services.get(name).network = Network(offline=True)
    targets = Targets(services)
    assert (await targets.resolve("10.5 -20.5")).position
    with pytest.raises(AccessDeniedError):
        await targets.resolve("M 31")
    assert playing.asked == []


async def test_many_names_keep_their_order_and_errors_their_place(
    playing: Playing, targets: Targets
) -> None:
    # astroquery #967: results of several objects were dropped and changed places.
    sesame = SesameRule({"M 1": star("M   1", "SNR"), "M 2": resolver("N", oname="M 2")})
    playing.rule(sesame)
    playing.rule(TapRule())
    found = await targets.resolve_all(["M 2", "", "Mars", "nope", "1.5 2.5", "M 1", "M 2"])
    assert [one.name if isinstance(one, Target) else type(one).__name__ for one in found] == [
        "M 2", "UsageError", "Mars", "NotFoundError", "1.5 2.5", "M 1", "M 2",
    ]  # fmt: skip
    assert sesame.asked == [["M 2", "nope", "M 1"]]
    assert await targets.resolve_all([]) == []


async def test_many_names_of_a_service_that_is_down_are_many_errors(
    playing: Playing, targets: Targets
) -> None:
    playing.play("/", Played.text("no", 500))
    found = await targets.resolve_all(["M 1", "1.5 2.5"])
    assert isinstance(found[0], UpstreamError)
    assert isinstance(found[1], Target)


async def test_words_and_json_tell_units_errors_and_sources(
    playing: Playing, targets: Targets
) -> None:
    block = resolver(
        "S", ra=282.33514243, dec=-32.93009788, oname="V* V9  Mic", otype="RR*", errRAmas="33.7",
        refPos="2018A", plx="<v>0.1549</v><e>0.0341</e><r>2018B</r>", Vel="<v>-300</v>", z="<v>-0.001</v>",
        pm="<pmRA>-1.06</pmRA><epmRA>0.06</epmRA><pmDE>1.6</pmDE><r>2018C</r>", nrefs="3", alias="TIC 2",
    ).replace("</Resolver>", '<mag band="V"><v>3.44</v></mag></Resolver>')  # fmt: skip
    playing.rule(SesameRule({"V9 Mic": block}))
    playing.rule(TapRule())
    target = await targets.resolve("V9 Mic")
    assert describe(target).split("\n") == [
        "V* V9 Mic: variable star of the RR Lyr type (RR*), from SIMBAD, asked as 'V9 Mic'",
        (
            "Position: RA 282.33514243 deg (18h49m20.43s), Dec -32.93009788 deg (-32d55m48.4s), ICRS, J2000,"
            " error 0.0337 arcsec [2018A]"
        ),
        "Proper motion: RA (with cos Dec) -1.06 ± 0.06 mas/yr, Dec 1.6 mas/yr [2018C]",
        "Parallax: 0.1549 ± 0.0341 mas [2018B]",
        "Radial velocity: -300 km/s",
        "Redshift: -0.001",
        "Magnitudes: V 3.44 mag",
        "Papers known there: 3",
        "Other names: TIC 2",
    ]
    told = shape(target)
    contract = """name ra_deg dec_deg frame epoch error_arcsec object_type resolver aliases pm parallax_mas
    velocity_km_s redshift magnitudes cached_at"""
    assert set(contract.split()) <= set(told)
    assert (told["parallax_mas"], told["velocity_km_s"], told["redshift"]) == (0.1549, -300, -0.001)
    assert told["pm"] == {"ra_mas_yr": -1.06, "dec_mas_yr": 1.6}
    assert told["magnitudes"] == {"V": 3.44}
    assert told["measured"]["parallax_mas"] == {
        "value": 0.1549, "unit": "mas", "error": 0.0341, "bibcode": "2018B",
    }  # fmt: skip
    assert told["cached_at"] is None
    again = await targets.resolve("V9 Mic")
    assert describe(again).endswith(f"Kept since {again.cached_at[:10]}.")


async def test_a_body_has_no_numbers_in_json(targets: Targets) -> None:
    told = shape(await targets.resolve("Mars"))
    assert (told["kind"], told["ra_deg"], told["pm"], told["measured"]) == (
        "solar_system",
        None,
        None,
        {},
    )
    assert told["resolver"] == ""
