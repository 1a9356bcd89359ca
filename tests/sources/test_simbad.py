"""SIMBAD's tables: objects by name, near names, planets and their stars; failures in all dresses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.core.errors import UpstreamError
from nuncius.sources.services import Services
from nuncius.sources.simbad import Simbad, beginnings, closest, spellings
from nuncius.sources.votable import QueryFailedError, read_tables
from sources.playing import Played, Playing
from sources.sesame_answers import TapRule, table

FAILURES = {
    "TAP": '<RESOURCE type="results"><INFO name="QUERY_STATUS" value="ERROR">Unknown column "raa"</INFO></RESOURCE>',
    "sim-id": '<INFO name="Error" value="java.lang.NullPointerException"/>',
    "NED": '<RESOURCE type="results"><INFO name="QUERY_STATUS" value="OK"/><PARAM name="Error" value=" Object not found."/></RESOURCE>',
}
WORDS = {"TAP": 'Unknown column "raa"', "sim-id": "NullPointer", "NED": "Object not found."}


def votable(inside: str) -> bytes:
    return (
        '<?xml version="1.0"?><VOTABLE version="1.3" xmlns="http://www.ivoa.net/xml/VOTable/v1.3">'
        f"{inside}</VOTABLE>"
    ).encode()


def rows(data: str, *, after: str = "") -> bytes:
    return votable(
        '<RESOURCE type="results"><INFO name="QUERY_STATUS" value="OK"/><TABLE name="t">'
        '<FIELD name="id" datatype="char" arraysize="*"/>'
        '<FIELD name="n" datatype="short"><VALUES null="-32768"/></FIELD>'
        '<FIELD name="x" datatype="double" unit="deg" ucd="pos.eq.ra"><DESCRIPTION>where</DESCRIPTION></FIELD>'
        '<FIELD name="ok" datatype="boolean"/><FIELD name="v" datatype="float" arraysize="2"/>'
        f'<PARAM name="Error" datatype="float" value="0.1"/><DATA>{data}</DATA></TABLE>{after}</RESOURCE>'
    )


def test_cells_have_their_columns_type_and_no_value_is_none() -> None:
    data = (
        "<TABLEDATA><TR><TD>M  31</TD><TD>-32768</TD><TD>10.5</TD><TD>T</TD><TD>1 2</TD></TR>"
        "<TR><TD/><TD>7</TD><TD>NaN</TD><TD>f</TD><TD></TD></TR>"
        "<TR><TD>a</TD><TD>0x10</TD><TD>oops</TD></TR></TABLEDATA>"
    )
    (found,) = read_tables(rows(data), service="S", url="u")
    assert found.rows == (
        ("M  31", None, 10.5, True, "1 2"),
        (None, 7, None, False, None),
        ("a", 16, "oops", None, None),
    )
    column = found.columns[2]
    assert (column.unit, column.ucd, column.description) == ("deg", "pos.eq.ra", "where")
    assert not found.overflow


def test_a_cut_table_says_so() -> None:
    after = '<INFO name="QUERY_STATUS" value="OVERFLOW"/><INFO name="Warning" value="slow"/>'
    (found,) = read_tables(rows("<TABLEDATA></TABLEDATA>", after=after), service="S", url="u")
    assert (found.overflow, found.warnings) == (True, ("slow",))


@pytest.mark.parametrize("form", ["BINARY", "BINARY2", "FITS"])
def test_tables_in_other_forms_are_refused_with_what_to_ask_for(form: str) -> None:
    data = f'<{form}><STREAM encoding="base64">AAAA</STREAM></{form}>'
    with pytest.raises(UpstreamError, match=f"written as {form}, which is not read") as error:
        read_tables(rows(data), service="S", url="u")
    assert "votable/td" in error.value.hint


@pytest.mark.parametrize("dress", FAILURES)
def test_each_dress_of_a_failure_is_an_error(dress: str) -> None:
    with pytest.raises(QueryFailedError) as error:
        read_tables(votable(FAILURES[dress]), service="S", url="u")
    assert WORDS[dress] in error.value.reason


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<html><body>502</body></html>", "web page"),
        (b"", "cannot be read as XML"),
        (b"{", "cannot be read as JSON"),
        (b'{"a": 1}', "without a table"),
        (b'{"error": "bad query"}', "bad query"),
        (b'{"a":' + b"[" * 100_000, "cannot be read as JSON"),
        (b"<Sesame/>", "no table but <Sesame>"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(content: bytes, words: str) -> None:
    with pytest.raises(UpstreamError, match=words) as error:
        read_tables(content, service="S", url="u")
    assert error.value.hint


@given(st.binary(max_size=100), st.integers(0, 900), st.integers(0, 40), st.booleans())
def test_a_damaged_table_is_read_or_refused(junk: bytes, at: int, gone: int, is_json: bool) -> None:
    cells = "<TR><TD>a</TD><TD>1</TD><TD>1.5</TD><TD>T</TD></TR>"
    whole = rows(f"<TABLEDATA>{cells}</TABLEDATA>")
    if is_json:
        whole = b'{"metadata": [{"name": "a", "unit": null}, {"name": "b"}], "data": [["x", 1], [null, NaN]]}'
        at %= len(whole)
    try:
        for found in read_tables(whole[:at] + junk + whole[at + gone :], service="S", url="u"):
            assert all(len(row) == len(found.columns) for row in found.rows)
    except UpstreamError:  # the one way to refuse
        return


async def test_a_query_is_one_post_and_is_kept(playing: Playing, services: Services) -> None:
    playing.rule(TapRule({"SELECT": table(["id"], [["a"], [None]])}))
    for _ in range(2):
        found = await Simbad(services).query("SELECT id FROM ident", max_rows=2)
        assert (found.rows, found.overflow) == ((("a",), (None,)), False)
    (asked,) = playing.asked
    assert (asked.method, asked.path) == ("POST", "/simbad_tap/sync")
    assert asked.headers["content-type"] == "application/x-www-form-urlencoded"
    assert b"LANG=ADQL" in asked.body


async def test_more_rows_than_wanted_are_cut_and_told(playing: Playing, services: Services) -> None:
    playing.rule(TapRule({"SELECT": table(["id"], [["a"], ["b"], ["c"]])}))
    found = await Simbad(services).query("SELECT id FROM ident", max_rows=2)
    assert (len(found.rows), found.overflow) == (2, True)


@pytest.mark.parametrize("status", [200, 400])
async def test_a_refused_query_is_an_error_and_not_kept(
    playing: Playing, services: Services, status: int
) -> None:
    failure = Played(votable(FAILURES["TAP"]), status, {"Content-Type": "text/xml"})
    playing.play("/simbad_tap", failure, table(["id"], []))
    with pytest.raises(QueryFailedError, match="Unknown column"):
        await Simbad(services).query("SELECT raa FROM basic")
    assert (await Simbad(services).query("SELECT raa FROM basic")).rows == ()


@pytest.mark.parametrize(
    "answer", [Played.text("gone", 500), Played.text("<html>no</html>", 503), Played(fault="close")]
)
async def test_a_simbad_that_is_down_is_one_sentence(
    playing: Playing, services: Services, answer: Played
) -> None:
    playing.play("/simbad_tap", answer)
    with pytest.raises(UpstreamError, match=r"^SIMBAD: ") as error:
        await Simbad(services).query("SELECT id FROM ident")
    assert error.value.hint


BASIC = [
    "main_id", "ra", "dec", "coo_err_maj", "otype", "plx_value", "plx_err", "plx_bibcode",
    "rvz_radvel", "rvz_redshift", "rvz_err", "rvz_type", "nbref",
]  # fmt: skip


async def test_an_object_is_found_by_any_usual_spelling(
    playing: Playing, services: Services
) -> None:
    row = ["NGC  9999", 12.5, -3.25, 250.0, "G", None, None, None, 1500.0, 0.005, 0.0001, "z", 12]
    rule = TapRule({"id = 'NGC  9999'": table(BASIC, [row])})
    playing.rule(rule)
    target = await Simbad(services).look_up("ngc9999")
    assert target
    assert target.position
    assert (target.name, target.raw_name, target.references) == ("NGC 9999", "NGC  9999", 12)
    assert target.position.error_arcsec == 0.25
    assert target.parallax_mas is None
    assert target.redshift
    assert target.velocity_km_s
    assert (target.redshift.error, target.velocity_km_s.error) == (0.0001, None)


async def test_no_rows_and_rows_without_position_are_a_miss(
    playing: Playing, services: Services
) -> None:
    playing.rule(TapRule({"'HD 1'": table(BASIC, [["HD 1"] + [None] * 12])}))
    assert await Simbad(services).look_up("HD 1") is None
    assert await Simbad(services).look_up("Barnard's Star") is None
    assert b"Barnard%27%27s" in playing.asked[-1].body  # quotes are doubled


async def test_near_names_are_asked_for_by_their_beginning(
    playing: Playing, services: Services
) -> None:
    known = [["NAME Betelgeuse"], ["NAME Bethe's Cloud"], ["* bet Lyr"]]
    rule = TapRule({"LIKE 'NAME Betelg%'": table(["id"], known)})
    playing.rule(rule)
    assert await Simbad(services).near_names("betelgeuze%") == ["Betelgeuse"]
    assert await Simbad(services).near_names("?") == []
    assert len(rule.queries) == 1


async def test_planets_of_a_star_and_the_star_of_a_planet(
    playing: Playing, services: Services
) -> None:
    playing.rule(
        TapRule(
            {
                "h_link JOIN basic AS here ON here.oid = parent": table(
                    ["main_id"], [["X 1  c"], ["X 1  b"]]
                ),
                "h_link JOIN basic AS here ON here.oid = child": table(["main_id"], [["X   1"]]),
            }
        )
    )
    assert await Simbad(services).planets("X   1") == ["X 1 b", "X 1 c"]
    assert await Simbad(services).host("X 1  b") == "X 1"


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("M31", "M  31"),
        ("m 31", "M  31"),
        ("hd 209458", "HD 209458"),
        ("NGC224", "NGC   224"),
        ("alf Cen", "* alf Cen"),
        ("RR Lyr", "V* RR Lyr"),
        ("proxima centauri", "NAME Proxima Centauri"),
        ("TRAPPIST-1", "TRAPPIST-1"),
    ],
)
def test_simbads_way_of_writing_is_among_those_tried(name: str, written: str) -> None:
    assert written in spellings(name)


def test_beginnings_leave_room_for_a_mistyped_end() -> None:
    assert "NGC  2245" in beginnings("ngc 22456")
    assert "NAME Betelg" in beginnings("betelgeuze")
    assert beginnings("%_") == []


def test_the_closest_name_stands_first_and_strangers_are_left_out() -> None:
    names = ["NAME  Proxima Centauri", "V* V645 Cen", "NAME Proxima Cen", "NAME Prox"]
    assert closest("proxima cen", names, most=2) == ["Proxima Cen", "Proxima Centauri"]
