"""Every recorded answer of arXiv is read right, or refused with the right error."""

from pathlib import Path

import pytest

from nuncius.sources.arxiv import Arxiv
from nuncius.sources.arxiv_feeds import BadIdError
from nuncius.sources.services import Services
from sources.playing import Played, Playing

ENTRIES = {
    # identifier that was asked for: file, version, authors, primary category, year, comment begins
    "1605.08386": ("id_1605.08386_s0_m100.xml", 1, 2, "math.CO", 2016, ""),
    "1707.08567": ("id_1707.08567_s0_m100.xml", 1, 34, "cs.IT", 2017, "44 pages, editors"),
    "2104.12255v1": ("id_2104.12255v1_s0_m100.xml", 1, None, None, 2021, None),
    "astro-ph/0601001": ("id_astro-ph_0601001_s0_m100.xml", 1, 4, "astro-ph", 2006, "62 pages"),
}
MISSES = {"0808.05394": "id_0808.05394_s0_m100.xml", "0000.0000": "id_0000.0000_s0_m100.xml"}
ERRORS = {
    # file: status that came with it, identifier that is told
    "id_abc_s0_m100.xml": (400, "abc"),
    "error_legacy_http200_style.xml": (200, "1234.12345"),
}
PAGES = {"q_testing_s0_m10.xml": 0, "q_testing_s50_m10.xml": 50}
LISTS = {"rss_sample_from_spec.xml": 1, "rss_weekend_empty.xml": 0}
HARVESTED = {
    "arxiv_0901_2443.xml": ("0901.2443", "Özel, B.", "2009-01-16", ""),
    "arxiv_1711_04702.xml": ("1711.04702", "Gysi, Deisy Morselli", "2017-11-13", ""),
    "arxiv_1711_05739.xml": ("1711.05739", "Luger, Rodrigo", "2017-11-15", ""),
    "arxiv_math_0306266.xml": ("math/0306266", "Coja-Oghlan, Amin", "2003-06-18", "10.1017/s0963548305006826"),
}  # fmt: skip
HARVEST_PAGE = "arxiv_multi_20230125.xml"


@pytest.fixture
def arxiv(services: Services) -> Arxiv:
    return Arxiv(services)


@pytest.fixture
def folder(shared_data: Path) -> Path:
    return shared_data / "upstreams" / "arxiv"


def test_every_recorded_file_is_named(folder: Path) -> None:
    there = {file.name for file in folder.rglob("*.xml")}
    entries = {entry[0] for entry in ENTRIES.values()}
    named = {*entries, *MISSES.values(), *ERRORS, *PAGES, *LISTS, *HARVESTED, HARVEST_PAGE}
    assert there == named


@pytest.mark.parametrize("asked", ENTRIES)
async def test_a_paper_is_read(asked: str, folder: Path, arxiv: Arxiv, playing: Playing) -> None:
    file, version, authors, category, year, comment = ENTRIES[asked]
    playing.play("/arxiv/query", Played.recorded(folder / file))
    (record,) = await arxiv.by_ids([asked])
    assert record
    assert record.arxiv_id == asked.removesuffix("v1")
    assert record.arxiv_version == version
    assert record.year == year
    assert record.title
    assert not record.abstract.startswith(" ")
    if authors is not None:
        assert len(record.authors) == authors
    if category is not None:
        assert record.categories[0] == category
    if comment is not None:
        assert record.comment.startswith(comment)
    assert playing.asked[0].query["max_results"] == "1"


async def test_affiliations_stay_with_their_authors(
    folder: Path, arxiv: Arxiv, playing: Playing
) -> None:
    playing.play("/arxiv/query", Played.recorded(folder / "id_astro-ph_0601001_s0_m100.xml"))
    (record,) = await arxiv.by_ids(["astro-ph/0601001"])
    assert record
    assert [author.affiliations for author in record.authors] == [
        ("Ohio State",), ("Ohio State",), ("CfA",), ("Warsaw University Observatory",),
    ]  # fmt: skip
    assert record.journal == "ActaAstron.56:1-50,2006"
    assert [link.url.rpartition("/arxiv_web")[2] for link in record.links if "arxiv_web" in link.url] == [
        "/html/astro-ph/0601001v1", "/pdf/astro-ph/0601001v1", "/src/astro-ph/0601001v1",
        "/abs/astro-ph/0601001v1",
    ]  # fmt: skip


@pytest.mark.parametrize("file", MISSES.values(), ids=MISSES)
async def test_an_unknown_identifier_is_none(
    file: str, folder: Path, arxiv: Arxiv, playing: Playing
) -> None:
    playing.play("/arxiv/query", Played.recorded(folder / file))
    assert await arxiv.by_ids(["0808.05394"]) == (None,)
    page = await arxiv.search("all:nothing")
    assert (page.total, page.records, page.partial) == (0, (), "")


@pytest.mark.parametrize("file", ERRORS)
async def test_an_error_is_no_paper(
    file: str, folder: Path, arxiv: Arxiv, playing: Playing
) -> None:
    status, name = ERRORS[file]
    body = (folder / file).read_bytes()
    playing.play("/arxiv/query", Played(body, status, {"Content-Type": "application/atom+xml"}))
    with pytest.raises(BadIdError, match=f"incorrect id format for {name}") as raised:
        await arxiv.search(f"id:{name}")
    assert raised.value.name == name
    assert raised.value.hint


@pytest.mark.parametrize("file", PAGES)
async def test_a_search_tells_the_total_of_the_feed(
    file: str, folder: Path, arxiv: Arxiv, playing: Playing
) -> None:
    playing.play("/arxiv/query", Played.recorded(folder / file))
    page = await arxiv.search("testing", start=PAGES[file], rows=10)
    assert len(page.records) == 10
    assert page.total is not None
    assert page.total > 100_000
    assert page.start == PAGES[file]
    assert all(record.arxiv_version for record in page.records)
    assert len(playing.asked) == 1


@pytest.mark.parametrize("file", LISTS)
async def test_a_daily_list_is_read(
    file: str, folder: Path, arxiv: Arxiv, playing: Playing
) -> None:
    playing.play("/arxiv_rss/rss/math.OC", Played.recorded(folder / file))
    found = await arxiv.daily(["math.OC"])
    assert len(found.records) == LISTS[file]
    assert found.announced_on == "2024-02-23"
    assert found.built_at == "2024-02-23T05:00:11+00:00"
    assert not found.partial
    for record in found.records:
        assert (record.arxiv_id, record.arxiv_version) == ("2203.01250", 3)
        assert record.announced == "replace-cross"
        assert [author.name for author in record.authors] == ["Antonin Monteil", "Paul Pegon"]
        assert record.dois == ("10.5802/jep.257",)
        assert record.journal.startswith("Journal de l'École polytechnique - Mathématiques")
        assert record.abstract.startswith("We consider first order")
        assert record.links[0].licence == "cc-by"


@pytest.mark.parametrize("file", HARVESTED)
async def test_a_harvested_paper_is_read(
    file: str, folder: Path, arxiv: Arxiv, playing: Playing
) -> None:
    arxiv_id, author, submitted, doi = HARVESTED[file]
    playing.play("/arxiv_oai", Played.recorded(folder / "oai" / file))
    record = (await arxiv.history(arxiv_id)).record
    assert record.arxiv_id == arxiv_id
    assert record.authors[0].name == author
    assert record.submitted[:7] == submitted[:7]
    assert record.doi == doi
    assert not record.abstract.startswith("Comment:")


async def test_a_page_of_a_harvest_has_a_token(
    folder: Path, arxiv: Arxiv, playing: Playing
) -> None:
    playing.play("/arxiv_oai", Played.recorded(folder / "oai" / HARVEST_PAGE))
    page = await arxiv.changed(form="oai_dc")
    assert [paper.record.arxiv_id for paper in page.papers] == [
        "1009.1022",
        "1305.6404",
        "1412.1417",
    ]
    assert (page.token, page.total) == ("6460044|1001", 1090)
    await arxiv.changed(token=page.token)
    assert playing.asked[1].query == {"verb": "ListRecords", "resumptionToken": "6460044|1001"}
