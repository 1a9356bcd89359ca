"""The client of ADS against a server that plays answers in ADS's shapes."""

import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import pytest

from nuncius.core.errors import KeyMissingError, NotFoundError, UpstreamError, UsageError
from nuncius.core.settings import Settings
from nuncius.sources.ads import Ads
from nuncius.sources.ads_docs import record_of
from nuncius.sources.ads_requests import spell_sort
from nuncius.sources.replies import RefusedError
from nuncius.sources.services import Services
from nuncius.walls.courtesy import RateLimitedError
from sources.playing import Asked, Played, Playing

SEARCH = "/ads/search/query"
LIST = "/ads/search/bigquery"
PAPER = {
    "id": "1",
    "bibcode": "2031A&A...999A...1B",
    "alternate_bibcode": ["2030arXiv300101234B"],
    "identifier": ["arXiv:3001.01234", "10.9999/a&a.1", "2030arXiv300101234B", "10.9999/a&a.1", "2031A&A...999A...1B"],
    "doi": ["10.9999/A&A.1", "10.48550/arXiv.3001.01234"],
    "title": ["CO<SUB>2</SUB> &amp; dust"],
    "author": ["Brand, A.", ".", "The Dust Collaboration"],
    "aff": ["Here &amp; There; Elsewhere <ORCID>0000-0002-1825-0097</ORCID>", "-", "-"],
    "pubdate": "2031-02-00",
    "year": "2031",
    "property": ["ARTICLE", "NOT REFEREED", "OPENACCESS"],
    "esources": ["PUB_HTML", "EPRINT_PDF"],
}  # fmt: skip


def found(*docs: Mapping[str, Any], total: int | None = None, **more: Any) -> Played:
    count = len(docs) if total is None else total
    return Played.json(
        {
            "responseHeader": {"status": 0},
            "response": {"numFound": count, "start": 0, "docs": docs},
            **more,
        }
    )


def doc(number: int) -> dict[str, Any]:
    return {"id": str(number), "bibcode": f"2031ApJ..{number:04}....1X", "title": [f"No. {number}"]}


@pytest.fixture
def ads(services: Services) -> Ads:
    return Ads(services)


def test_the_client_is_light_to_import() -> None:
    code = "import sys, nuncius.sources.ads; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "nuncius.sources.ads" in loaded
    assert not loaded & {"lxml", "lxml.etree", "httpx2", "httpcore2", "hishel", "numpy", "astropy"}


# --- keys and errors -----------------------------------------------------------------------------


async def test_without_a_token_nothing_is_sent(
    playing: Playing, services: Services, settings: Settings
) -> None:  # row 18
    services.settings = settings.model_copy(update={"ads_api_token": ""})
    with pytest.raises(KeyMissingError, match="set ADS_API_TOKEN") as raised:
        await Ads(services).search("black holes")
    assert raised.value.exit_code == 4
    assert not playing.asked


async def test_the_token_goes_with_every_request(ads: Ads, playing: Playing) -> None:
    playing.play(SEARCH, found(PAPER))
    await ads.search("dust")
    assert playing.asked[0].headers["authorization"] == "Bearer made-up"


async def test_a_refused_token_says_where_to_look(ads: Ads, playing: Playing) -> None:
    playing.play(SEARCH, Played.json({"error": "Unauthorized"}, 401))
    with pytest.raises(KeyMissingError, match=r"Unauthorized.*Check ADS_API_TOKEN"):
        await ads.search("dust")


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (Played.text("<!DOCTYPE html><html>Log in</html>", 200, "text/html"), UpstreamError, "a web page instead of JSON"),
        (Played.text("<html>502 Bad Gateway</html>", 502, "text/html"), UpstreamError, "too busy or broken \\(HTTP 502\\)"),
        (Played.text("", 200, "application/json"), UpstreamError, "not JSON"),
        (Played.text("{'a'", 200, "application/json"), UpstreamError, "not JSON"),
        (Played.text("[" * 200_000, 200, "application/json"), UpstreamError, "not JSON"),
        (Played.json([1, 2]), UpstreamError, "has no 'response'"),
        (Played.json({"response": None}), UpstreamError, "no list of documents"),
        (Played.json({"response": {"numFound": 3, "docs": None}}), UpstreamError, "no list of documents"),
        (Played.json({"error": "the field is unknown"}), UpstreamError, "the field is unknown"),  # row 9
        (Played.json({"error": {"msg": "solr is down", "code": 500}}, 500), UpstreamError, "solr is down"),
        (Played.json({"message": "Too many requests"}, 429), RateLimitedError, "Too many requests.*'search'"),
        (Played.text("Server too busy", 499), UpstreamError, "Server too busy"),
        (Played.json({"error": "forbidden"}, 403), RefusedError, "may not be allowed to use 'search'"),
        (Played.json({"error": {"msg": "org.apache.solr.search.SyntaxError: INVALID_SYNTAX_CANNOT_PARSE: Syntax Error, cannot parse a:(: The parser reported a syntax error, antlrqueryparser hates errors!"}}, 400), RefusedError, "cannot parse a:\\(.*quotes and brackets"),
    ],
)  # fmt: skip
async def test_a_bad_answer_is_one_sentence(
    answer: Played, kind: type[Exception], words: str, ads: Ads, playing: Playing
) -> None:
    playing.play(SEARCH, answer)
    with pytest.raises(kind) as raised:
        await ads.search("dust")
    text = str(raised.value)
    assert re.search(words, text)
    assert "/ads/search/query" in text
    assert "made-up" not in text
    assert len(text) < 700


async def test_a_wrong_content_type_does_no_harm(ads: Ads, playing: Playing) -> None:
    playing.play(SEARCH, replace(found(PAPER), headers={"Content-Type": "text/html"}))
    assert (await ads.search("dust")).total == 1


async def test_a_wrong_address_is_told(ads: Ads, playing: Playing) -> None:
    with pytest.raises(RefusedError, match=r"HTTP 404.*Check NUNCIUS_ADS_URL"):
        await ads.search("dust")


async def test_a_doi_is_asked_in_the_letters_that_were_typed(ads: Ads, playing: Playing) -> None:
    playing.play(SEARCH, found(PAPER))
    assert (await ads.by_identifiers(["https://doi.org/10.9999/A&A.1"]))[0]
    assert playing.asked[0].query["q"] == 'identifier:"10.9999/A&A.1"'


async def test_a_broken_answer_is_not_kept(ads: Ads, playing: Playing) -> None:
    playing.play(SEARCH, Played.json({"error": "later"}), found(PAPER))
    with pytest.raises(UpstreamError):
        await ads.search("dust")
    assert len((await ads.search("dust")).records) == 1


async def test_a_good_answer_is_kept_for_a_day(ads: Ads, playing: Playing) -> None:
    playing.play(SEARCH, found(PAPER))
    first, second = await ads.search("dust"), await ads.search("dust")
    assert (first.cached, second.cached) == (False, True)
    assert first.at == second.at
    assert len(playing.asked) == 1


@pytest.mark.parametrize("status", [429, 499, 500, 502, 504])
async def test_a_busy_server_is_asked_again(status: int, ads: Ads, playing: Playing) -> None:
    playing.play(SEARCH, Played.text("busy", status), found(PAPER))
    assert (await ads.search("dust")).total == 1


async def test_a_long_wait_is_told_and_not_waited(ads: Ads, playing: Playing) -> None:
    playing.play(SEARCH, Played(b"{}", 429, {"Retry-After": "30000"}))
    with pytest.raises(RateLimitedError, match="asks to wait until"):
        await ads.search("dust")
    assert len(playing.asked) == 1


async def test_each_endpoint_has_limits_of_its_own(
    ads: Ads, services: Services, playing: Playing
) -> None:  # row 17
    body = {"msg": "Retrieved 1 abstracts.", "export": "@x"}
    playing.play(
        SEARCH,
        Played.json(
            {"response": {"numFound": 0, "docs": []}},
            X_RateLimit_Limit="5000",
            X_RateLimit_Remaining="4864",
        ),
    )
    playing.play(
        "/ads/export/", Played.json(body, X_RateLimit_Limit="100", X_RateLimit_Remaining="0")
    )
    await ads.search("dust")
    await ads.export(["2031A&A...999A...1B"])
    limits = {quota.endpoint: quota.remaining for quota in services.get("ads").quotas()}
    assert limits == {"search": 4864, "export": 0}


@pytest.mark.parametrize("fault", ["cut", "close", "drip"])
async def test_a_fault_of_the_line_is_one_sentence(
    fault: Any, ads: Ads, services: Services, playing: Playing
) -> None:
    service = services.get("ads")
    service.manners = replace(service.manners, timeout_s=0.3, tries=2)
    answer = found(PAPER)
    playing.play(SEARCH, replace(answer, fault=fault))
    with pytest.raises(UpstreamError, match=r"ADS: .*2 times.*(Try again|Check the network)"):
        await ads.search("dust")
    assert len(playing.asked) == 2


# --- searches ------------------------------------------------------------------------------------


async def test_the_query_is_encoded_once(ads: Ads, playing: Playing) -> None:
    playing.play(SEARCH, found(PAPER))
    q = 'author:"^Müller, A" bibcode:2031A&A...999A...1B title:"a+b" year:2000-2005'
    await ads.search(q, fq=["database:astronomy"])
    asked = playing.asked[0].query
    assert asked["q"] == q
    assert asked["fq"] == "database:astronomy"


async def test_every_filter_is_a_parameter_of_its_own(
    ads: Ads, playing: Playing, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    playing.play(SEARCH, found(PAPER))
    urls: list[str] = []
    request = services.network.request

    async def noting(method: str, url: str, **more: Any) -> Any:
        urls.append(url)
        return await request(method, url, **more)

    monkeypatch.setattr(services.network, "request", noting)
    await ads.search("dust", fq=["property:refereed", "year:[2020 TO 2024]"])
    sent = parse_qsl(urls[0].partition("?")[2])
    assert [text for name, text in sent if name == "fq"] == [
        "property:refereed",
        "year:[2020 TO 2024]",
    ]


async def test_identifiers_and_all_fields_come_in_one_call(
    ads: Ads, playing: Playing
) -> None:  # rows 13, 14
    playing.play(SEARCH, found(PAPER))
    await ads.search("dust", fields=["title"])
    await ads.search("dust")
    assert playing.asked[0].query["fl"] == "id,bibcode,title"
    assert {"id", "bibcode", "identifier", "abstract", "doi"} <= set(
        playing.asked[1].query["fl"].split(",")
    )
    assert len(playing.asked) == 2


async def test_bibtex_is_no_field(ads: Ads, playing: Playing) -> None:  # row 12
    with pytest.raises(UsageError, match="It is an export"):
        await ads.search("dust", fields=["bibtex"])
    assert not playing.asked


@pytest.mark.parametrize(
    ("sort", "sent"),
    [
        ("citation_count", "citation_count desc, bibcode desc"),  # row 11
        ("citation_count asc", "citation_count asc, bibcode desc"),
        ("date desc,bibcode asc", "date desc, bibcode asc"),
        ("first_author", "first_author asc, bibcode desc"),
        ("date+desc", "date desc, bibcode desc"),
        ("", "score desc, bibcode desc"),
    ],
)
def test_an_order_has_a_direction_and_a_tie_break(sort: str, sent: str) -> None:
    assert spell_sort(sort) == sent


@pytest.mark.parametrize("sort", ["author desc", "date down", "title", "date desc asc"])
def test_an_order_that_ads_does_not_know_is_refused(sort: str) -> None:
    with pytest.raises(UsageError, match="cannot sort by"):
        spell_sort(sort)


@pytest.mark.parametrize(("q", "fq"), [(" ", ()), ("x" * 1001, ()), ("x", ["y:1"] * 11)])
async def test_what_ads_would_refuse_is_not_sent(
    q: str, fq: list[str], ads: Ads, playing: Playing
) -> None:
    with pytest.raises(UsageError):
        await ads.search(q, fq=fq)
    assert not playing.asked


async def test_pages_follow_the_rows_that_came(ads: Ads, playing: Playing) -> None:  # row 16
    def lowered(asked: Asked) -> Played | None:
        start = int(asked.query["start"])
        return found(*map(doc, range(start, min(start + 25, 60))), total=60)

    playing.rule(lowered)
    page = await ads.search("dust", rows=100)
    assert [record.title for record in page.records] == [f"No. {n}" for n in range(60)]
    assert not page.partial
    assert [asked.query["start"] for asked in playing.asked] == ["0", "25", "50"]


async def test_more_than_a_page_comes_by_cursor(ads: Ads, playing: Playing) -> None:
    def by_cursor(asked: Asked) -> Played | None:
        start = 0 if (mark := asked.query["cursorMark"]) == "*" else int(mark)
        assert int(asked.query["rows"]) <= 2000
        end = min(start + int(asked.query["rows"]), 2500)
        return found(*map(doc, range(start, end)), total=2500, nextCursorMark=str(end))

    playing.rule(by_cursor)
    page = await ads.search("dust", rows=5000, sort="date")
    assert len(page.records) == page.total == 2500
    assert [asked.query["cursorMark"] for asked in playing.asked] == ["*", "2000"]
    assert playing.asked[0].query["sort"] == "date desc, bibcode desc, id desc"
    assert "start" not in playing.asked[0].query


async def test_a_server_that_repeats_a_page_is_not_asked_for_ever(
    ads: Ads, playing: Playing
) -> None:
    playing.play(SEARCH, found(doc(1), doc(2), total=900))
    page = await ads.search("dust", rows=50)
    assert len(page.records) == 2
    assert page.partial.startswith("ADS gave 2 of 50 records")
    assert len(playing.asked) == 2


async def test_what_came_before_a_failure_is_given_and_told(ads: Ads, playing: Playing) -> None:
    playing.play(SEARCH, found(doc(1), doc(2), total=90), Played.json({"error": "gone"}, 500))
    page = await ads.search("dust", rows=50)
    assert len(page.records) == 2
    assert re.fullmatch(r"ADS failed after 2 records: .*HTTP 500.*gone.*", page.partial)


async def test_a_lookup_that_fails_half_way_is_an_error(ads: Ads, playing: Playing) -> None:
    playing.play(SEARCH, found(doc(1), total=2), Played.json({"error": "gone"}, 500))
    with pytest.raises(UpstreamError, match="gone"):
        await ads.by_identifiers(["2031ApJ..0001....1X", "2031ApJ..0002....1X"])


async def test_an_empty_result_is_no_error(ads: Ads, playing: Playing) -> None:
    playing.play(SEARCH, found())
    page = await ads.search("bibcode:nothing")
    assert (page.total, page.records, page.partial) == (0, (), "")


# --- records -------------------------------------------------------------------------------------


def test_a_record_tells_what_ads_tells() -> None:
    record = record_of(PAPER)
    assert record.title == "CO_2 & dust"
    assert record.bibcodes == ("2031A&A...999A...1B", "2030arXiv300101234B")
    assert record.dois == ("10.9999/a&a.1", "10.48550/arxiv.3001.01234")
    assert record.arxiv_id == "3001.01234"
    assert [author.name for author in record.authors] == ["Brand, A.", "The Dust Collaboration"]
    assert record.authors[0].affiliations == ("Here & There", "Elsewhere")
    assert record.authors[0].orcid == "0000-0002-1825-0097"
    assert record.authors[1].affiliations == ()
    assert record.date == "2031-02"
    assert record.refereed is False
    assert record.open_access is True
    assert [(link.kind, link.version) for link in record.links] == [
        ("arxiv_pdf", "preprint"), ("publisher_html", "published"), ("landing", ""),
    ]  # fmt: skip
    assert "2031A%26A...999A...1B" in record.links[0].url


def test_absent_fields_are_empty() -> None:  # row 15
    record = record_of({"bibcode": "2031ApJ..0001....1X"})
    assert (record.title, record.year, record.doi, record.authors) == ("", None, "", ())
    assert (record.refereed, record.open_access, record.citation_count) == (None, None, None)


@pytest.mark.parametrize(
    "odd",
    [
        {"title": "a text", "doi": "10.9999/x", "author": "Brand, A."},
        {"title": None, "author": None, "identifier": None, "year": None, "pubdate": None},
        {"title": [], "author": [None, 3], "aff": [], "year": 2031, "pubdate": "2031-00-00"},
        {"title": [{"a": 1}], "[citations]": 3, "citation_count": "many", "property": "x"},
        {"bibcode": 5, "identifier": [7, "10."], "arxiv_class": ["Astrophysics - X"]},
    ],
)
def test_fields_of_other_shapes_do_no_harm(odd: dict[str, Any]) -> None:
    record = record_of(odd)
    assert record.source == "ads"
    assert "-00" not in record.date


def test_what_is_wrong_with_a_paper_is_told() -> None:
    assert record_of({"title": ["RETRACTED: A claim"]}).status == "retracted"
    assert record_of({"title": ["Erratum: A claim"]}).status == "erratum"
    assert (
        record_of({"title": ["A claim"], "comment": "This paper has been withdrawn"}).status
        == "withdrawn"
    )
    assert record_of({"title": ["Retracted jets in pulsars"]}).status == ""


# --- identifiers ---------------------------------------------------------------------------------


async def test_names_in_any_form_are_answered_in_their_places(ads: Ads, playing: Playing) -> None:
    playing.play(SEARCH, found(doc(7), PAPER))
    names = [
        "https://arxiv.org/abs/3001.01234v2", "no such thing", "2031ApJ..0007....1X",
        "doi:10.9999/A&A.1", "2030arXiv300101234B", "2031A%26A...999A...1B", "10.1/none", "2001.99999",
    ]  # fmt: skip
    records = await ads.by_identifiers(names)
    paper, seven = "2031A&A...999A...1B", "2031ApJ..0007....1X"
    assert [record.bibcode if record else None for record in records] == [
        paper, None, seven, paper, paper, paper, None, None,
    ]  # fmt: skip
    (asked,) = playing.asked
    assert asked.query["q"].startswith('identifier:("arXiv:3001.01234" OR ')
    assert '"2031A&A...999A...1B"' in asked.query["q"]


async def test_one_name_is_asked_with_room_for_two(ads: Ads, playing: Playing) -> None:
    playing.play(SEARCH, found(PAPER))
    await ads.by_identifiers(["arXiv:3001.01234"])
    assert playing.asked[0].query["q"] == 'identifier:"arXiv:3001.01234"'
    assert playing.asked[0].query["rows"] == "2"


async def test_a_lookup_is_kept_only_when_it_found_all(ads: Ads, playing: Playing) -> None:
    playing.play(SEARCH, found(), found(PAPER))
    assert await ads.by_identifiers(["3001.01234"]) == (None,)
    assert (await ads.by_identifiers(["3001.01234"]))[0]
    assert (await ads.by_identifiers(["3001.01234"]))[0]
    assert len(playing.asked) == 2


async def test_a_paper_is_preferred_to_its_erratum(ads: Ads, playing: Playing) -> None:
    erratum = {"bibcode": "2031ApJ..0009....1X", "doi": PAPER["doi"], "title": ["Erratum: dust"]}
    playing.play(SEARCH, found(erratum, PAPER))
    (record,) = await ads.by_identifiers(["10.9999/a&a.1"])
    assert record
    assert record.title == "CO_2 & dust"


async def test_many_bibcodes_go_by_list_and_the_rest_by_query(ads: Ads, playing: Playing) -> None:
    def listed(asked: Asked) -> Played | None:
        if asked.path != LIST:
            return None
        head, *bibcodes = asked.body.decode().split("\n")
        assert head == "bibcode"
        assert (asked.query["fq"], asked.query["q"]) == ("{!bitset}", "*:*")
        return found(
            *(doc(int(bibcode[9:13])) for bibcode in bibcodes if bibcode != "2031ApJ..0003....1X")
        )

    playing.play(SEARCH, found(PAPER))
    playing.rule(listed)
    names = [f"2031ApJ..{n:04}....1X" for n in range(200)]
    records = await ads.by_identifiers([*names, "10.9999/a&a.1"])
    assert [n for n, record in enumerate(records) if record is None] == [3]
    assert playing.paths().count(LIST) == 1
    assert playing.paths().count(SEARCH) == 1
    assert all(len(asked.query["q"]) <= 1000 for asked in playing.asked)


# --- citations, exports, metrics, links ----------------------------------------------------------


async def test_citations_and_references_are_asked_by_identifier(ads: Ads, playing: Playing) -> None:
    playing.play(SEARCH, found(PAPER))
    await ads.citations("2031A&A...999A...1B")
    await ads.references("https://arxiv.org/abs/3001.01234v1")
    assert [asked.query["q"] for asked in playing.asked] == [
        'citations(identifier:"2031A&A...999A...1B")', 'references(identifier:"arXiv:3001.01234")',
    ]  # fmt: skip
    with pytest.raises(UsageError, match="no identifier"):
        await ads.citations("the dust paper")


async def test_an_export_keeps_the_order_and_tells_what_is_missing(
    ads: Ads, playing: Playing
) -> None:
    playing.play(
        "/ads/export/bibtex",
        Played.json(
            {"msg": "Retrieved 1 abstracts, starting with number 1.", "export": "@ARTICLE{x}\n\n"}
        ),
    )
    export = await ads.export(["2031A&A...999A...1B", "2031ApJ..0001....1X"], journal="name")
    assert (export.text, export.count, export.asked) == ("@ARTICLE{x}\n", 1, 2)
    assert playing.asked[0].json == {
        "bibcode": ["2031A&A...999A...1B", "2031ApJ..0001....1X"], "sort": "no sort", "journalformat": 3,
    }  # fmt: skip


async def test_an_export_needs_bibcodes_and_a_pattern(ads: Ads, playing: Playing) -> None:
    with pytest.raises(UsageError, match=r"'3001\.01234' is no bibcode"):
        await ads.export(["3001.01234"])
    with pytest.raises(UsageError, match="needs a pattern"):
        await ads.export(["2031A&A...999A...1B"], "custom")
    assert not playing.asked


@pytest.mark.parametrize("status", [200, 403])
async def test_papers_without_metrics_are_told(status: int, ads: Ads, playing: Playing) -> None:
    body = {
        "Error": "Unable to get results!",
        "Error Info": "No data available to generate metrics",
    }
    playing.play("/ads/metrics", Played.json(body, status))
    with pytest.raises(NotFoundError, match="No data available"):
        await ads.metrics(["2031A&A...999A...1B"])


async def test_metrics_tell_their_counts(ads: Ads, playing: Playing) -> None:
    playing.play("/ads/metrics", Played.json({
        "skipped bibcodes": ["2031ApJ..0001....1X"], "citation stats": {"total number of citations": 12},
        "indicators": {"h": 3, "m": 0.5}, "histograms": {"citations": {"refereed to refereed": {"2031": 4}}},
    }))  # fmt: skip
    metrics = await ads.metrics(["2031A&A...999A...1B", "2031ApJ..0001....1X"])
    assert (metrics.citations, metrics.h_index, metrics.skipped) == (
        12,
        3,
        ("2031ApJ..0001....1X",),
    )
    assert metrics.histograms["citations"]["refereed to refereed"] == {2031: 4}


async def test_links_are_read_from_lists_and_redirects(ads: Ads, playing: Playing) -> None:
    listed = {"action": "display", "links": {"records": [
        {"url": "http://arxiv.org/pdf/3001.01234", "link_type": "ESOURCE|EPRINT_PDF"},
        {"url": "https://example.org/a.pdf", "link_type": "ESOURCE|PUB_PDF"},
        {"url": "javascript:alert(1)", "link_type": "ESOURCE|PUB_HTML"},
        {"url": "https://example.org/n", "link_type": "DATA|NED"},
        {"url": "http://$SIMBAD$/x?bibcode=1", "link_type": "ESOURCE|EPRINT_PDF"},
        {"url": "10.9999/A.1", "link_type": "ESOURCE|PUB_HTML"},
    ]}}  # fmt: skip
    once = {
        "action": "redirect",
        "link": "https://example.org/b.pdf",
        "link_type": "ESOURCE|ADS_PDF",
        "service": "x",
    }
    playing.play("/ads/resolver/", Played.json(listed), Played.json(once))
    links = await ads.resolver("2031A&A...999A...1B")
    assert [(link.kind, link.url) for link in links] == [
        ("arxiv_pdf", "http://arxiv.org/pdf/3001.01234"),
        ("publisher_pdf", "https://example.org/a.pdf"),
        ("publisher_html", "https://doi.org/10.9999/A.1"),
    ]
    assert [link.kind for link in await ads.resolver("2031ApJ..0001....1X")] == ["ads_pdf"]
    assert playing.asked[0].path == "/ads/resolver/2031A%26A...999A...1B/esource"
