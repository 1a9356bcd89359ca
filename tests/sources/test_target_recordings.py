"""Every recorded answer of the name resolvers and table services is read right, or refused."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from nuncius.core.errors import UpstreamError
from nuncius.sources.sesame import read_target, read_targets
from nuncius.sources.votable import Cell, QueryFailedError, read_tables

SESAME: Mapping[str, list[str]] = {
    # One line a name: its outcome, resolver, main name and position.
    "SYNTHETIC_multi_target_partial_failure.xml": [
        "M31: found SIMBAD M 31 10.684708 +41.268750",
        "xyzzy 42: failed NED: timeout",
    ],
    "xml_not_found_HIP123456.xml": ["HIP123456: missed "],
    "xml_simbad_V456Sgr_full.xml": ["v456 sgr: found SIMBAD V* V456 Sgr 282.335142 -32.930098"],
    "xml_vizier_HIP123.xml": ["HIP123: found VizieR HIP 123 0.399892 +72.236600"],
}
NOT_SESAME = [
    "plain_Betelgeuse_2026.txt",
    "plain_M42_cds_2026.txt",
    "plain_castor_simbad.txt",
    "plain_multi_resolver_HD97658_2019.txt",
    "plain_ngc3642_all.txt",
    "plain_ngc3642_simbad.txt",
    "plain_ngc3642_vizier.txt",
    "plain_unknown_catalogue_2026.txt",
    "sesame_4x.xsd",
]
TABLES: Mapping[str, tuple[int, int, dict[str, object]]] = {
    # Tables, rows of the first, and some cells of its first row.
    "simbad/simbad-2MFGC6625.xml": (1, 1, {"MAIN_ID": "2MFGC 6625", "RV_VALUE": 13822.0}),
    "simbad/simbad-ngc-2438.xml": (1, 1, {"MAIN_ID": "NGC  2438"}),
    "simbad/simbad-vega-name.xml": (1, 1, {"MAIN_ID": "* alf Lyr"}),
    "simbad/simbad-vega.xml": (1, 1, {"RA_d": 279.23473479, "FLUX_V": 0.03, "NB_REF": None}),
    "simbad/simbad_M1.vot": (1, 1, {"main_id": "M   1", "ra": 83.6287, "coo_err_maj": 18500}),
    "simbad/simbad_TEST.vot": (1, 0, {}),
    "simbad/simbad_basic_columns.xml": (1, 67, {"table_name": "basic"}),
    "simbad/simbad_hip43018.xml": (1, 1, {}),
    "simbad/simbad_linked_to_basic.xml": (1, 24, {}),
    "simbad/simbad_output_options.xml": (1, 115, {}),
    "ned/query_iau_format.xml": (1, 23, {}),
    "ned/query_object.xml": (1, 1, {"Object Name": "MESSIER 001", "No.": 1}),
    "ned/query_positions.xml": (1, 5, {}),
    "ned/query_redshifts.xml": (1, 4, {}),
    "ned/query_refcode.xml": (1, 36, {}),
    "ned/query_references.xml": (1, 28, {}),
    "vizier/afgl2591_iram.xml": (1, 14, {}),
    "vizier/find_kangapj70683.xml": (1, 0, {}),
    "vizier/kang2010.xml": (1, 50, {}),
    "vizier/viz.xml": (360, 5, {}),
}
FAILED = {
    "simbad/simbad-not-found.xml": "Identifier not found in the database : NAME COMET",
    "ned/error.xml": "No note found.",
}


@pytest.mark.parametrize("file", SESAME)
def test_sesame_tells_found_missed_and_failed_apart(file: str, shared_data: Path) -> None:
    content = (shared_data / "upstreams" / "sesame" / file).read_bytes()
    told: list[str] = []
    for element in read_targets(content, url="u"):
        looked = read_target(element, asked=element.child_text("name"))
        words = "; ".join(looked.failed)
        if looked.target and (place := looked.target.position):
            words = f"{looked.target.resolver} {looked.target.name} {place.ra_deg:.6f} {place.dec_deg:+.6f}"
        told.append(f"{looked.asked}: {looked.outcome} {words}")
    assert told == SESAME[file]


@pytest.mark.parametrize("file", NOT_SESAME)
def test_what_is_not_sesames_xml_is_refused(file: str, shared_data: Path) -> None:
    content = (shared_data / "upstreams" / "sesame" / file).read_bytes()
    with pytest.raises(UpstreamError, match=r"^Sesame: .*\(u\)") as error:
        read_targets(content, url="u")
    assert error.value.hint


@pytest.mark.parametrize("file", TABLES)
def test_tables_are_read_cell_by_cell(file: str, shared_data: Path) -> None:
    tables = read_tables((shared_data / "upstreams" / file).read_bytes(), service="S", url="u")
    records = list(tables[0].records())
    first: dict[str, Cell] = records[0] if records else {}
    wanted = TABLES[file][2]
    shown = {name: first.get(name) for name in wanted}
    assert (len(tables), len(tables[0].rows), shown) == (*TABLES[file][:2], wanted)
    assert not tables[0].overflow


@pytest.mark.parametrize("file", FAILED)
def test_failures_in_every_dress_are_errors_with_the_services_words(
    file: str, shared_data: Path
) -> None:
    with pytest.raises(QueryFailedError) as error:
        read_tables((shared_data / "upstreams" / file).read_bytes(), service="S", url="u")
    assert FAILED[file] in error.value.reason


def test_no_recorded_answer_is_left_out(shared_data: Path) -> None:
    folders = [shared_data / "upstreams" / name for name in ("simbad", "ned", "vizier", "sesame")]
    there = {f"{folder.name}/{file.name}" for folder in folders for file in folder.iterdir()}
    named = {*TABLES, *FAILED, *(f"sesame/{file}" for file in (*SESAME, *NOT_SESAME))}
    assert {file for file in there if not file.endswith(".meta.json")} == named
