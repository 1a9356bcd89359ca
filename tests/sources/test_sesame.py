"""Sesame: the best resolver's answer, in the order of the names, kept for bad days."""

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.core.errors import AccessDeniedError, UpstreamError
from nuncius.core.settings import Settings
from nuncius.sources import sesame as module
from nuncius.sources.services import Services
from nuncius.sources.sesame import Sesame, read_target, read_targets
from nuncius.walls.network import Network
from sources.playing import Asked, Played, Playing
from sources.sesame_answers import MISS, SesameRule, broken, resolver, sesame, star

DAY_S = 86_400
PAGE = "<!DOCTYPE html><html><head><title>502</title></head><body>502 Bad Gateway 10.1 -20.2</body></html>"


async def test_all_that_is_told_is_read_with_unit_error_and_paper(
    playing: Playing, services: Services
) -> None:
    block = resolver(
        "S", ra=282.33514243, dec=-32.93009788, oname="V*  V9 Mic", otype="RR*",
        refPos="2018yCat.1345....0G", errRAmas="33.7", errDEmas="32.1", spType="A8", MType="SA(s)b",
        pm="<v>1.9</v><e>0.1</e><r>2018A</r><pa>327</pa><pmRA>-1.060</pmRA><epmRA>0.064</epmRA>"
        "<pmDE>1.627</pmDE><epmDE>0.058</epmDE>",
        plx="<v>0.1549</v><e>0.0341</e><q>A</q><r>2018B</r>",
        Vel="<v>-300.0</v><e>4</e>", z="<v>-0.001</v>", nrefs="3", alias="TIC  275",
    ).replace("</Resolver>", '<mag band="V"><v>3.44</v><e>0.02</e><r>2002C</r></mag></Resolver>')  # fmt: skip
    playing.rule(SesameRule({"v9 mic": block}))
    (looked,) = await Sesame(services).look_up(["v9 mic"])
    target = looked.target
    assert target
    assert target.position
    assert (target.name, target.raw_name, target.resolver) == ("V* V9 Mic", "V*  V9 Mic", "SIMBAD")
    assert (target.position.ra_deg, target.position.dec_deg) == (282.33514243, -32.93009788)
    assert target.position.error_arcsec == pytest.approx(0.0337)
    assert target.position.bibcode == "2018yCat.1345....0G"
    assert target.pm_ra_mas_yr
    assert (target.pm_ra_mas_yr.value, target.pm_ra_mas_yr.error) == (-1.06, 0.064)
    assert (target.pm_ra_mas_yr.unit, target.pm_ra_mas_yr.bibcode) == ("mas/yr", "2018A")
    assert target.pm_dec_mas_yr
    assert target.pm_dec_mas_yr.value == 1.627
    assert target.parallax_mas
    assert (target.parallax_mas.value, target.parallax_mas.bibcode) == (0.1549, "2018B")
    assert target.velocity_km_s
    assert target.velocity_km_s.value == -300
    assert target.redshift
    assert target.redshift.value == -0.001
    assert target.magnitudes["V"].error == 0.02
    assert (target.spectral_type, target.morphology, target.references) == ("A8", "SA(s)b", 3)
    assert target.aliases == ("TIC 275",)
    assert target.cached_at == ""
    assert playing.asked[0].path == "/sesame/-oxFI/SNV"


async def test_simbads_block_is_taken_wherever_it_stands(
    playing: Playing, services: Services
) -> None:
    # astropy #9272: the first position of an answer can be VizieR's, 42 arcseconds off.
    blocks = resolver("V", ra=168.6374, dec=25.7221, oname="{HD} 97658") + resolver(
        "S", ra=168.63817, dec=25.71038, oname="HD  97658"
    )
    playing.rule(SesameRule({"HD97658": blocks}))
    (looked,) = await Sesame(services).look_up(["HD97658"])
    assert looked.target
    assert looked.target.resolver == "SIMBAD"
    assert looked.target.position
    assert looked.target.position.dec_deg == 25.71038
    assert "/SNV" in playing.asked[0].path


@pytest.mark.parametrize(
    "block",
    [
        MISS,
        "<INFO>*** NNNothing found ***</INFO>",
        resolver("S", ra=None, dec=None, INFO="Zero (0) answers"),
        resolver("S", ra=None, dec=12.0),  # astropy #10710: half a position is none
        resolver("S", ra=12.0, dec=None),
        resolver("V", ra=None, dec=None, INFO="from cache"),  # astropy #9611
        broken("S", "*** The catalogue name is unknown: xyzzy"),
        resolver("S", ra=400.0, dec=-20.0),
        "",
    ],
)
async def test_no_whole_position_is_a_miss(
    playing: Playing, services: Services, block: str
) -> None:
    playing.rule(SesameRule({"xyzzy": block}))
    (looked,) = await Sesame(services).look_up(["xyzzy"])
    assert (looked.outcome, looked.target) == ("missed", None)


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ("*** Identifier not found in the database : NAME XYZZY", "missed"),
        ("*** this identifier has an incorrect format for catalog: M", "missed"),
        ("No known catalog could be found", "missed"),
        ("No astronomical object found", "missed"),
        ("java.net.UnknownHostException: simbad", "failed"),
        ("unknown error", "failed"),
        ("HTTP/1.1 404 Not Found", "failed"),
        ("host name unknown", "failed"),
        ("", "failed"),
    ],
)
async def test_not_knowing_is_no_breaking(
    playing: Playing, services: Services, words: str, outcome: str
) -> None:
    playing.rule(SesameRule({"xyzzy": broken("S", words)}))
    (looked,) = await Sesame(services).look_up(["xyzzy"])
    assert looked.outcome == outcome


async def test_a_resolver_that_broke_is_no_miss_and_is_asked_once_more(
    playing: Playing, services: Services
) -> None:
    rule = SesameRule({"xyzzy": broken("S") + broken("N", "no route")})
    playing.rule(rule)
    (looked,) = await Sesame(services).look_up(["xyzzy"])
    assert (looked.outcome, looked.failed) == ("failed", ("SIMBAD: timeout", "NED: no route"))
    assert len(rule.asked) == 2


async def test_a_worse_resolvers_answer_is_labelled_and_not_kept(
    playing: Playing, services: Services
) -> None:
    rule = SesameRule({"Gal 7": broken("S") + resolver("N", oname="Gal 7")})
    playing.rule(rule)
    for _ in range(2):
        (looked,) = await Sesame(services).look_up(["Gal 7"])
        assert looked.target
        assert looked.target.resolver == "NED"
        assert looked.target.notes == ("SIMBAD: timeout; so this is NED's.",)
    assert len(rule.asked) == 2


async def test_a_row_of_vizier_says_that_it_is_rough(playing: Playing, services: Services) -> None:
    playing.rule(SesameRule({"HIP123": resolver("V", oname="{HIP} 123", INFO="from cache")}))
    (looked,) = await Sesame(services).look_up(["HIP123"])
    assert looked.target
    assert (looked.target.name, looked.target.raw_name) == ("HIP 123", "{HIP} 123")
    assert "rough" in looked.target.notes[0]


async def test_many_names_are_one_request_and_keep_their_order(
    playing: Playing, services: Services
) -> None:
    names = ["b +1", "none", "a*&b", "c"]
    rule = SesameRule({})
    rule.blocks = {"b +1": star("* 0"), "a*&b": star("* 2"), "c": star("* 3")}

    def shuffled(asked: Asked) -> Played | None:
        if not asked.path.startswith("/sesame") or len(asked.query) == 1:
            return None
        rule.asked.append(list(asked.query))
        # One block is left out and the others change places.
        return Played(
            sesame(
                {
                    "c": rule.blocks["c"],
                    "b +1": rule.blocks["b +1"],
                    "a*&amp;b": rule.blocks["a*&b"],
                }
            )
        )

    playing.rule(rule)
    playing.rule(shuffled)
    looked = await Sesame(services).look_up([*names, "c"])
    assert [one.target.name if one.target else one.outcome for one in looked] == [
        "* 0", "missed", "* 2", "* 3", "* 3",
    ]  # fmt: skip
    assert rule.asked == [names, ["none"]]


async def test_answers_are_kept_for_thirty_days_with_their_date(
    playing: Playing, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = SesameRule({"A": star(), "B": star()})
    playing.rule(rule)
    sesame_ = Sesame(services)
    await sesame_.look_up(["A"])
    again, other = await sesame_.look_up(["A ", "B"])
    assert again.target
    assert again.target.cached_at.startswith("20")
    assert other.target
    assert other.target.cached_at == ""
    assert rule.asked == [["A"], ["B"]]
    monkeypatch.setattr(module, "FRESH_S", -1)
    await sesame_.look_up(["A"])
    assert rule.asked == [["A"], ["B"], ["A"]]


@pytest.mark.parametrize("bad_day", ["gone", "broken", "page", "busy", "cut", "offline"])
async def test_the_last_good_answer_steps_in_and_says_so(
    playing: Playing,
    services: Services,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    bad_day: str,
) -> None:
    # astropy #8684: "UMa II" was there, then not, then there.
    playing.rule(SesameRule({"UMa II": star("NAME  UMa II", "G")}))
    await Sesame(services).look_up(["UMa II"])
    monkeypatch.setattr(module, "FRESH_S", -1)
    why = "Sesame could not be asked"
    if bad_day == "gone":
        playing.rule(SesameRule({}))
        why = "Sesame does not know the name"
    elif bad_day == "broken":
        playing.rule(SesameRule({"UMa II": broken("S")}))
    elif bad_day == "offline":
        services.get("sesame").network = Network(offline=True)
    else:
        bad = {
            "page": Played.text(PAGE, 200, "text/html"),
            "busy": Played.text(PAGE, 502, "text/html"),
            "cut": Played(sesame({"UMa II": star()})[:120]),
        }
        playing.play("/sesame", bad[bad_day])
    (looked,) = await Sesame(services).look_up(["UMa II"])
    assert looked.target
    today = time.strftime("%Y-%m-%d", time.gmtime())
    assert looked.target.notes == (f"This is the answer of {today}: today {why}.",)
    assert looked.target.cached_at.startswith(today)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Played.text(PAGE, 200, "text/html"), "web page.*502 Bad Gateway"),
        (Played.text(PAGE, 502, "text/html"), "HTTP 502.*Bad Gateway"),
        (Played.text("%J 10.1 -20.2 = 00:40:24 -20:12:00"), "cannot be read as XML"),
        (Played.text("<VOTABLE/>"), "not Sesame's but <VOTABLE>"),
        (Played(sesame({"x": star()})[:120]), "cannot be read as XML"),
        (Played(b""), "cannot be read as XML"),
        (Played(fault="close"), "times"),
        (Played(sesame({"x": star()}), fault="cut"), "cut"),
    ],
)
async def test_what_is_no_answer_is_an_error_and_never_a_position(
    playing: Playing, services: Services, answer: Played, words: str
) -> None:
    playing.play("/sesame", answer)
    with pytest.raises(UpstreamError, match=f"^Sesame: .*{words}") as error:
        await Sesame(services).look_up(["x"])
    assert error.value.hint
    assert playing.url in error.value.url


async def test_a_worse_resolvers_answer_gives_way_to_a_good_one_of_the_past(
    playing: Playing, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    playing.rule(SesameRule({"x": star("* x")}))
    await Sesame(services).look_up(["x"])
    monkeypatch.setattr(module, "FRESH_S", -1)
    playing.rule(SesameRule({"x": broken("S") + resolver("V", oname="{X} 1")}))
    (looked,) = await Sesame(services).look_up(["x"])
    assert looked.target
    assert (looked.target.name, looked.target.resolver) == ("* x", "SIMBAD")
    assert "could not be asked" in looked.target.notes[0]


async def test_a_second_failure_does_not_make_errors_of_other_misses(
    playing: Playing, services: Services
) -> None:
    answer = Played(sesame({"x": broken("N"), "none": MISS}))
    playing.play("/sesame", answer, Played.text("no", 500))
    looked = await Sesame(services).look_up(["x", "none"])
    assert [one.outcome for one in looked] == ["failed", "missed"]


async def test_names_that_differ_in_case_are_two_names(
    playing: Playing, services: Services
) -> None:
    playing.rule(SesameRule({"b Per": star("* b Per"), "B Per": star("V* B Per")}))
    looked = await Sesame(services).look_up(["B Per", "b Per"])
    assert [one.target.name for one in looked if one.target] == ["V* B Per", "* b Per"]


async def test_sesames_own_spelling_of_a_name_is_taken_in_order(
    playing: Playing, services: Services
) -> None:
    playing.play("/sesame", Played(sesame({"alf cen": star("* alf Cen"), "x": star("* x")})))
    looked = await Sesame(services).look_up(["alf+Cen", "x"])
    assert [one.target.name for one in looked if one.target] == ["* alf Cen", "* x"]


async def test_a_bad_moment_is_asked_again(playing: Playing, services: Services) -> None:
    # irsa-tutorials #155: one failure in a batch came to nothing.
    playing.play("/sesame", Played.text(PAGE, 503), Played(sesame({"x": star()})))
    (looked,) = await Sesame(services).look_up(["x"])
    assert looked.outcome == "found"


async def test_silence_is_an_error_of_the_service(playing: Playing, services: Services) -> None:
    # astropy #7262, #7889: a time-out left the resolver as an exception that nobody caught.
    service = services.get("sesame")
    service.manners = replace(service.manners, timeout_s=0.05)
    playing.play("/sesame", Played(fault="silent"))
    with pytest.raises(UpstreamError, match=r"^Sesame: .*2 times"):
        await Sesame(services).look_up(["x"])


@given(st.binary(max_size=200), st.integers(0, 600), st.integers(0, 40))
def test_a_damaged_answer_is_read_or_refused(junk: bytes, at: int, gone: int) -> None:
    whole = sesame({"x": star(), "y": broken("N")})
    try:
        for element in read_targets(whole[:at] + junk + whole[at + gone :], url="u"):
            read_target(element, asked="x")
    except UpstreamError:  # the one way to refuse
        return


async def test_entities_are_not_expanded(playing: Playing, services: Services) -> None:
    bomb = sesame({"x": star("&boom;")}).replace(
        b"<Sesame", b'<!DOCTYPE Sesame [<!ENTITY boom SYSTEM "file:///etc/passwd">]><Sesame', 1
    )
    playing.play("/sesame", Played(bomb))
    (looked,) = await Sesame(services).look_up(["x"])
    assert looked.target
    assert looked.target.name == "x"


async def test_the_mirror_is_asked_when_the_main_address_fails(
    playing: Playing, services: Services
) -> None:
    playing.play("/sesame", Played.text(PAGE, 503))
    playing.play("/mirror", Played(sesame({"x": star()})))
    (looked,) = await Sesame(services, mirror=f"{playing.url}/mirror").look_up(["x"])
    assert looked.target
    assert playing.asked[-1].path == "/mirror/-oxFI/SNV"


async def test_another_address_than_the_default_has_no_mirror(services: Services) -> None:
    assert Sesame(services)._addresses == [services.base("sesame")]  # pyright: ignore[reportPrivateUsage]


async def test_the_default_address_has_the_mirror_at_the_cfa(
    services: Services, settings: Settings
) -> None:
    services.settings = settings.model_copy(update={"sesame_url": module.SERVICE_URLS["sesame"]})
    assert Sesame(services)._addresses[1] == module.MIRROR  # pyright: ignore[reportPrivateUsage]


async def test_offline_without_an_old_answer_is_refused_by_the_door(
    playing: Playing, services: Services
) -> None:
    services.get("sesame").network = Network(offline=True)
    with pytest.raises(AccessDeniedError):
        await Sesame(services).look_up(["x"])
    assert playing.asked == []
