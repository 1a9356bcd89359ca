"""Every recorded answer of ADS is read right, or refused with the right error."""

import json
from pathlib import Path
from typing import Any

import pytest

from nuncius.core.errors import KeyMissingError, NotFoundError, NunciusError, UpstreamError
from nuncius.core.shapes import as_list, as_object
from nuncius.sources.ads import Ads
from nuncius.sources.replies import RefusedError
from nuncius.sources.services import Services
from nuncius.walls.courtesy import RateLimitedError
from sources.playing import Played, Playing

SEARCHES = [
    "classic_search_text.txt",
    "search_query__28docs_2015.json",
    "search_query__Converting_curl_to_python_c2.json",
    *(f"search_query__Search_API_Python_c{n}.json" for n in (6, 14, 15, 16, 17, 18, 19, 21, 24)),
    *(f"search_query__Search_API_c{n}.json" for n in (5, 13, 14, 15, 16, 17, 18, 20)),
    *(f"search_query__maintain_mission_bibliography_c{n}.json" for n in (3, 9, 17)),
    "search_query__metrics_c5.json",
    "search_query__search_and_export_c5.json",
    "export_service/solrdata__data.json",
    *(f"export_service/solrdata__data_{n}.json" for n in range(2, 27) if n != 25),
    "export_service/solrdata__data_4_publisher.json",
    "export_service/solrdata__data_software.json",
]
LISTS = [
    "search_bigquery__Converting_curl_to_python_c4.json",
    "search_bigquery__Search_API_Python_c10.json",
    "search_bigquery__Search_API_c9.json",
]
EXPORTS = [
    "export_aastex__Converting_curl_to_python_c12.json",
    "export_aastex__Export_API_Python_c4.json",
    "export_bibtex_2015RaSc...50..916A__Export_API_Python_c3.txt",
    "export_bibtex__Converting_curl_to_python_c10.json",
    "export_bibtex__basic.json",
    "export_bibtex__search_and_export_c11.json",
    "export_bibtex_bibcode__search_and_export_c9.txt",
    "export_custom__Converting_curl_to_python_c14.json",
    "export_custom__search_and_export_c15.json",
    *(f"export_service/bibTexTest__data{n}.json" for n in ("", "_publisher", "_with_abs", "_with_abs_publisher", "_techreport_with_publisher", "_techreport_without_publisher")),
    *(f"export_service/cslTest__data_{n}.json" for n in ("AASTex", "AASTex_PSJ", "ASPC", "Icarus", "MNRAS", "SoPh")),
    *(f"export_service/customTest__data{n}.json" for n in ("", "_publisher")),
    *(f"export_service/fieldedTest__data_{n}.json" for n in ("ads", "endnote", "medlars", "procite", "refman", "refworks")),
    "export_service/rssTest__data.json",
    "export_service/voTableTest__data.json",
    *(f"export_service/xmlTest__data_{n}.json" for n in ("dublin_core", "dublin_core_publisher", "jats", "ref", "ref_with_abs", "ref_with_abs_publisher")),
]  # fmt: skip
METRICS = {
    "metrics__Converting_curl_to_python_c6.json": "citation stats",
    "metrics__Converting_curl_to_python_c8.json": "histograms",
    "metrics__Metrics_API_Python_c5.json": "citation stats",
    "metrics__Metrics_API_Python_c6.json": "basic stats",
    "metrics__Metrics_API_Python_c7.json": "histograms",
    "metrics__Metrics_API_c4.json": "citation stats",
    "metrics__Metrics_API_c5.json": "basic stats",
    "metrics__Metrics_API_c6.json": "histograms",
    "metrics__full.json": "indicators",
    "metrics__metrics_c11.json": "citation stats",
    "metrics__metrics_c15.json": "indicators",
    "metrics__metrics_c17.json": "time series",
    "metrics__metrics_c22.json": "histograms",
    "metrics__metrics_c9.json": "basic stats",
    "metrics__nectar.json": "citation stats",
}
OTHERS = [
    # answers of endpoints that are not asked, and broken ones: no search may take them for its own
    "biblib_libraries_Os2mtOH-RNiNyBWdSj0m2A__Libraries_API_Python_c11.json",
    "biblib_libraries_Z7cCXDXQRC2HxB8CA8uu2g__Libraries_API_Python_c9.json",
    "biblib_libraries_ZX9Mgv67QSyS6GfuYLjB7w__Converting_curl_to_python_c18.json",
    "biblib_libraries__Converting_curl_to_python_c16.json",
    "biblib_libraries__Libraries_API_Python_c24.json",
    "biblib_libraries__Libraries_API_Python_c7.json",
    "biblib_libraries__maintain_mission_bibliography_c7.json",
    "export_service/solrdata__data_25.json",
    "journals_browse_ApJ__Journals_API_c12.json",
    "journals_holdings_ApJS_257__Journals_API_c8.json",
    "journals_holdings_ApJ_944__Journals_API_Python_c9.json",
    "journals_issn_0004-637X__Journals_API_Python_c11.json",
    "journals_issn_0004-637X__Journals_API_c10.json",
    "journals_journal_Astronom_Jour__Journals_API_Python_c5.json",
    "journals_journal_Astronom_Jour__Journals_API_c4.json",
    "journals_refsource_ARAandA__Journals_API_Python_c7.json",
    "journals_refsource_ARAandA__Journals_API_c6.json",
    "journals_summary_PASJ__Journals_API_Python_c3.json",
    "search_qtree__Search_API_Python_c8.json",
    "search_qtree__Search_API_c7.json",
]
ERRORS: dict[str, tuple[int, type[NunciusError], str]] = {
    "SYNTHETIC_error_400_syntax.json": (400, RefusedError, "cannot parse author:("),
    "SYNTHETIC_error_401.json": (401, KeyMissingError, "Check ADS_API_TOKEN"),
    "SYNTHETIC_error_429.json": (429, RateLimitedError, "limit reached for scope search/query"),
}
SPECIAL = {"errors_micro_services.json", "resolver_all.json", "facets_all.json"}
BIBCODE = "2013A&A...552A.143S"


@pytest.fixture
def ads(services: Services) -> Ads:
    return Ads(services)


@pytest.fixture
def folder(shared_data: Path) -> Path:
    return shared_data / "upstreams" / "ads"


def test_every_recorded_file_is_named(folder: Path) -> None:
    there = {
        str(file.relative_to(folder))
        for file in folder.rglob("*")
        if file.is_file() and not file.name.endswith(".meta.json")
    }
    named = {*SEARCHES, *LISTS, *EXPORTS, *METRICS, *OTHERS, *ERRORS, *SPECIAL}
    assert there == named


@pytest.mark.parametrize("name", SEARCHES)
async def test_a_search_is_read(name: str, folder: Path, ads: Ads, playing: Playing) -> None:
    response = as_object(json.loads((folder / name).read_bytes())["response"])
    docs = as_list(response["docs"])
    playing.play("/ads/search/query", Played.recorded(folder / name))
    page = await ads.search("author:someone", rows=len(docs))
    assert page.total == response["numFound"]
    assert len(page.records) == len(docs)
    for record, doc in zip(page.records, docs, strict=True):
        assert record.bibcode == doc.get("bibcode", "")
        assert bool(record.title) == bool(doc.get("title"))
        names = [one for one in as_list(doc.get("author")) if any(c.isalnum() for c in one)]
        assert len(record.authors) == len(names)
        for text in (record.title, record.abstract, *record.keywords):
            assert not any(
                mark in text for mark in ("<SUP", "<SUB", "<P", "<BR", "&amp;", "&lt;", "mml:")
            )
        assert "-00" not in record.date
        assert (
            record.year is None or str(record.year) == str(doc.get("year", doc.get("pubdate")))[:4]
        )


@pytest.mark.parametrize("name", LISTS)
async def test_a_list_query_is_read_in_the_order_asked(
    name: str, folder: Path, ads: Ads, playing: Playing
) -> None:
    playing.play("/ads/search/bigquery", Played.recorded(folder / name))
    playing.play("/ads/search/query", Played.json({"response": {"numFound": 0, "docs": []}}))
    asked = ["1989LNP...334..242S", "1907AN....174...59.", "1908PA.....16..445."]
    many = [f"19{n:02}ApJ...{n + 100}..{n + 100}X" for n in range(100)] + [
        f"20{n:02}ApJ...{n + 100}..{n + 100}X" for n in range(100)
    ]
    found = await ads.by_identifiers([*asked, *many])
    assert [record.bibcode if record else None for record in found[:3]] == asked
    assert not any(found[3:])
    body = playing.asked[0].body.decode().split("\n")
    assert body[0] == "bibcode"
    assert body[1:4] == asked
    assert playing.asked[0].headers["content-type"] == "big-query/csv"


@pytest.mark.parametrize("name", EXPORTS)
async def test_an_export_is_read(name: str, folder: Path, ads: Ads, playing: Playing) -> None:
    playing.play("/ads/export/", Played.recorded(folder / name))
    found = await ads.export([BIBCODE], "ris")
    if name.endswith(".txt"):
        assert found.text.startswith("@")
        return
    body: dict[str, Any] = json.loads((folder / name).read_bytes())
    assert found.text.strip() == body["export"].strip()
    assert found.count == int(body["msg"].split()[1])


@pytest.mark.parametrize("name", METRICS)
async def test_metrics_are_read(name: str, folder: Path, ads: Ads, playing: Playing) -> None:
    playing.play("/ads/metrics", Played.recorded(folder / name))
    found = await ads.metrics([BIBCODE])
    kind = METRICS[name]
    body: dict[str, Any] = json.loads((folder / name).read_bytes())
    if kind == "histograms":
        assert all(found.histograms.values())
    elif kind == "time series":
        assert set(found.series) == set(body["time series"])
    else:
        assert found.stats[kind]
        numbers = {
            key: value for key, value in body[kind].items() if isinstance(value, int | float)
        }
        assert found.stats[kind] == numbers
    assert list(found.skipped) == body.get("skipped bibcodes", [])


@pytest.mark.parametrize("name", OTHERS)
async def test_an_answer_that_is_no_search_is_refused(
    name: str, folder: Path, ads: Ads, playing: Playing
) -> None:
    playing.play("/ads/search/query", Played.recorded(folder / name))
    with pytest.raises(
        UpstreamError, match=r"its answer cannot be used: (status 1|it has no 'response')"
    ):
        await ads.search("x")


@pytest.mark.parametrize("name", ERRORS)
async def test_an_error_is_told_with_the_next_step(
    name: str, folder: Path, ads: Ads, playing: Playing
) -> None:
    status, kind, words = ERRORS[name]
    playing.play(
        "/ads/search/query",
        Played((folder / name).read_bytes(), status, {"Content-Type": "application/json"}),
    )
    with pytest.raises(kind) as raised:
        await ads.search("author:(")
    assert words in str(raised.value)
    assert "/ads/search/query" in raised.value.message
    assert raised.value.hint
    assert "antlr" not in str(raised.value)


@pytest.mark.parametrize(
    ("case", "kind"),
    [
        ("export_no_payload", RefusedError),
        ("export_no_bibcode", RefusedError),
        ("export_bad_custom", RefusedError),
        ("resolver_not_found", NotFoundError),
    ],
)
async def test_errors_of_the_small_services_are_told(
    case: str, kind: type[NunciusError], folder: Path, ads: Ads, playing: Playing
) -> None:
    told = json.loads((folder / "errors_micro_services.json").read_bytes())[case]
    playing.play("/ads/", Played.json(told["body"], told["status"]))
    with pytest.raises(kind) as raised:
        await (ads.resolver(BIBCODE) if case.startswith("resolver") else ads.export([BIBCODE]))
    assert told["body"]["error"] in str(raised.value)
    assert "ADS" in raised.value.message
    assert raised.value.hint


async def test_links_of_the_resolver_lead_to_the_gateway(
    folder: Path, ads: Ads, playing: Playing
) -> None:
    playing.play("/ads/resolver/", Played.recorded(folder / "resolver_all.json"))
    links = await ads.resolver("2024npjSA...2...15F", "")
    assert {link.kind for link in links} == {"landing"}
    base = "https://ui.adsabs.harvard.edu/link_gateway/2024npjSA...2...15F"
    assert [link.url for link in links] == [f"{base}/{n}" for n in ("ABSTRACT", "DOI", "ARXIV")]


async def test_counts_without_documents_are_told_as_incomplete(
    folder: Path, ads: Ads, playing: Playing
) -> None:
    playing.play("/ads/search/query", Played.recorded(folder / "facets_all.json"))
    page = await ads.search("x")
    assert (page.total, page.records) == (1, ())
    assert page.partial.startswith("ADS gave 0 of 1 records")


async def test_a_journal_paper_carries_its_preprint(
    folder: Path, ads: Ads, playing: Playing
) -> None:
    playing.play("/ads/search/query", Played.recorded(folder / "search_query__28docs_2015.json"))
    page = await ads.search("first_author:Sudilovsky", rows=28)
    record = next(one for one in page.records if one.bibcode == BIBCODE)
    assert record.bibcodes == (BIBCODE, "2013arXiv1302.6362S")
    assert record.arxiv_id == "1302.6362"
    assert record.dois == ("10.1051/0004-6361/201321247",)
    assert (record.date, record.year, record.pages) == ("2013-04", 2013, "A143")
    assert record.refereed
    assert record.open_access
    assert len(record.authors[5].affiliations) == 2
