"""The legal places of a work, in order."""

from pathlib import Path

import pytest

from library.conftest import settings_in
from nuncius.core.records import Link, Record
from nuncius.core.settings import Settings
from nuncius.sources.full_text import browser_channels, channels, hosts, is_arxiv, is_lawful

GATEWAY = "https://ui.adsabs.harvard.edu/link_gateway/2001ApJ...500....1R"
LINKS = (
    Link("publisher_html", "https://iopscience.iop.org/article/10.1/x"),
    Link("publisher_pdf", "https://iopscience.iop.org/article/10.1/x/pdf"),
    Link("ads_pdf", f"{GATEWAY}/ADS_PDF"),
    Link("repository_pdf", "https://hal.science/hal-1/document", "cc-by"),
    Link("repository_pdf", "http://arxiv.org/pdf/2101.00001v1"),
    Link("repository_pdf", "https://sci-hub.se/10.1/x"),
    Link("landing", "https://doi.org/10.1/x"),
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return settings_in(tmp_path)


def _record(**changes: object) -> Record:
    return Record("ads", arxiv_id="2101.00001", arxiv_version=2, links=LINKS, **changes)  # pyright: ignore[reportArgumentType]


def test_the_order_is_the_legal_one(settings: Settings) -> None:
    found = channels(_record(open_access=True), settings)
    assert [one.url for one in found] == [
        "https://arxiv.org/html/2101.00001v2",
        "https://ar5iv.labs.arxiv.org/html/2101.00001",
        "https://arxiv.org/src/2101.00001v2",
        "https://arxiv.org/pdf/2101.00001v2",
        "https://hal.science/hal-1/document",
        f"{GATEWAY}/ADS_PDF",
        "https://iopscience.iop.org/article/10.1/x/pdf",
        "https://iopscience.iop.org/article/10.1/x",
    ]
    assert [one.service for one in found] == ["arxiv"] * 4 + ["web"] * 4


@pytest.mark.parametrize("open_access", [False, None])
def test_publishers_are_asked_only_for_what_is_open(
    settings: Settings, open_access: bool | None
) -> None:
    found = channels(_record(open_access=open_access), settings)
    assert not [one for one in found if one.kind.startswith("publisher")]
    open_one = Link("publisher_pdf", "https://www.aanda.org/a.pdf", "CC-BY-4.0")
    assert channels(Record("ads", links=(open_one,)), settings)


@pytest.mark.parametrize(("wanted", "count"), [("pdf", 4), ("html", 3), ("source", 1), ("auto", 8)])
def test_a_format_chooses_among_them(settings: Settings, wanted: str, count: int) -> None:
    assert len(channels(_record(open_access=True), settings, format=wanted)) == count  # pyright: ignore[reportArgumentType]


def test_old_identifiers_and_settings_of_ones_own(settings: Settings) -> None:
    moved = settings.model_copy(update={"arxiv_web_url": "http://mirror.example.org/arxiv/"})
    found = channels(Record("arxiv", arxiv_id="astro-ph/9901001"), moved)
    assert found[0].url == "http://mirror.example.org/arxiv/html/astro-ph/9901001"
    assert found[1].url == "https://ar5iv.labs.arxiv.org/html/astro-ph/9901001"
    assert is_arxiv("http://mirror.example.org/x", moved)


def test_a_withdrawn_paper_is_read_in_the_version_before(settings: Settings) -> None:
    found = channels(_record(status="withdrawn"), settings)
    assert [one.url for one in found if one.service == "arxiv"] == [
        "https://arxiv.org/html/2101.00001v1",
        "https://arxiv.org/src/2101.00001v1",
        "https://arxiv.org/pdf/2101.00001v1",
    ]
    assert {one.note for one in found if one.service == "arxiv"} == {"version 1; withdrawn since"}


@pytest.mark.parametrize(
    "host",
    """sci-hub.se www.sci-hub.ru scihub.wikicn.top libgen.is libgen.rs gen.lib.rus.ec annas-archive.org z-lib.org
    zlibrary-global.se b-ok.cc booksc.org 1lib.eu library-genesis.com sci-hub.3800808.com libgen.unblockit.how""".split(),
)
def test_shadow_libraries_are_never_asked(settings: Settings, host: str) -> None:
    assert not is_lawful(f"https://{host}/10.1/x")
    link = Link("repository_pdf", f"https://{host}/10.1/x.pdf", "cc-by")
    landing = Link("landing", f"https://{host}/10.1/x")
    record = Record("ads", links=(link, landing))
    assert not channels(record, settings)
    assert not browser_channels(record)


@pytest.mark.parametrize(
    "url",
    [
        "https://science.org/x",
        "https://hal.science/x",
        "https://www.scilib.org/a",
        "https://library.example.edu/x",
        "https://www.scidb.cn/x",
    ],
)
def test_other_libraries_are_lawful(url: str) -> None:
    assert is_lawful(url)


@pytest.mark.parametrize(
    "url", ["ftp://a.org/x", "file:///etc/passwd", "javascript:1", "https://[", "", "//a.org/x"]
)
def test_what_is_no_web_address_is_no_place(url: str) -> None:
    assert not is_lawful(url)


def test_copies_at_arxiv_keep_arxivs_pace(settings: Settings) -> None:
    links = (
        Link("repository_pdf", "https://export.arxiv.org/pdf/2101.00001"),
        Link("repository_pdf", "https://doi.org/10.48550/arXiv.2101.00001"),
        Link("ads_pdf", f"{GATEWAY}/EPRINT_PDF"),
    )
    found = channels(Record("openalex", links=links), settings)
    assert [one.service for one in found] == ["arxiv"] * 3
    assert not [
        one for one in channels(_record(), settings) if one.url in {link.url for link in links}
    ]


def test_a_browser_opens_the_publishers_page(settings: Settings) -> None:
    assert [one.kind for one in browser_channels(_record())] == ["publisher_html", "landing"]
    named = Record("ads", dois=("10.1093/mnras/stz1", "10.48550/arxiv.1901.1"))
    assert browser_channels(named)[0].url == "https://doi.org/10.1093/mnras/stz1"
    assert not browser_channels(Record("arxiv", dois=("10.48550/arxiv.1901.1",)))


def test_the_hosts_can_be_told_before(settings: Settings) -> None:
    assert hosts(channels(_record(), settings)) == [
        "arxiv.org", "ar5iv.labs.arxiv.org", "hal.science", "ui.adsabs.harvard.edu",
    ]  # fmt: skip
