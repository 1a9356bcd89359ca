"""The client of arXiv against a server that plays answers in arXiv's shapes."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest

from nuncius.core.errors import NotFoundError, UpstreamError, UsageError
from nuncius.core.settings import Settings
from nuncius.sources.arxiv import MAX_BYTES, Arxiv, read_sort, whole_days
from nuncius.sources.replies import RefusedError
from nuncius.sources.services import ARXIV_INTERVAL_S, Services, trusted
from nuncius.walls.courtesy import RateLimitedError
from nuncius.walls.network import Network
from sources.playing import Asked, Played, Playing

QUERY = "/arxiv/query"
ATOM = "application/atom+xml"


def entry(arxiv_id: str = "3001.01234v2", title: str = "Dust", more: str = "") -> str:
    return f"""<entry><id>http://arxiv.org/abs/{arxiv_id}</id><title>{escape(title)}</title>
      <updated>2030-01-09T00:00:00Z</updated><summary>  We
      see dust.</summary><published>2030-01-02T10:00:00Z</published>
      <category term="astro-ph.GA"/><category term="astro-ph.CO"/>
      <arxiv:primary_category term="astro-ph.CO"/>{more}
      <author><name>Ana Müller</name></author></entry>"""


def feed(*entries: str, total: int | None = None, status: int = 200) -> Played:
    count = len(entries) if total is None else total
    body = f"""<?xml version='1.0' encoding='UTF-8'?>
      <feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom"
        xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
      <id>https://arxiv.org/api/x</id><title>arXiv Query</title>
      <opensearch:itemsPerPage>2000</opensearch:itemsPerPage>
      <opensearch:totalResults>{count}</opensearch:totalResults>
      <opensearch:startIndex>0</opensearch:startIndex>{"".join(entries)}</feed>"""
    return Played.text(body, status, ATOM)


def error(text: str, status: int, scheme: str = "https") -> Played:
    bad = f"""<entry><id>{scheme}://arxiv.org/api/errors#x</id><title>Error</title>
      <summary>{text}</summary><author><name>arXiv api core</name></author></entry>"""
    return feed(bad, status=status)


def numbered(
    asked: Asked, last: int, gaps: Callable[[int, int], bool] = lambda _a, _b: False
) -> Played:
    """Play a long search; `gaps` tells of start and size where the page is empty."""
    start, size = int(asked.query["start"]), int(asked.query["max_results"])
    if gaps(start, size):
        return feed(total=last)
    return feed(
        *(entry(f"3001.{n:05}v1", f"No. {n}") for n in range(start, min(start + size, last))),
        total=last,
    )


@pytest.fixture
def arxiv(services: Services) -> Arxiv:
    return Arxiv(services)


# --- searches ------------------------------------------------------------------------------------


async def test_a_paper_is_read(arxiv: Arxiv, playing: Playing) -> None:
    more = """<arxiv:comment>10 pages,
      accepted</arxiv:comment><arxiv:doi>10.9999/A.1 10.9999/b</arxiv:doi><arxiv:journal_ref>Rev. Astr\\'onomica 1</arxiv:journal_ref>
      <link rel="related" href="https://doi.org/10.9999/A.1" title="doi"/>
      <author><name>Jo Li</name><arxiv:affiliation>Here</arxiv:affiliation><arxiv:affiliation>There</arxiv:affiliation></author>"""
    playing.play(QUERY, feed(entry(more=more)))
    (record,) = (await arxiv.search("all:dust")).records
    assert (record.arxiv_id, record.arxiv_version, record.year) == ("3001.01234", 2, 2030)
    assert record.title == "Dust"
    assert record.abstract == "We see dust."
    assert record.comment == "10 pages, accepted"
    assert record.dois == ("10.9999/a.1", "10.9999/b")
    assert record.journal == "Rev. Astrónomica 1"
    assert record.categories == ("astro-ph.CO", "astro-ph.GA")
    assert [(one.name, one.affiliations) for one in record.authors] == [
        ("Jo Li", ("Here", "There")),
        ("Ana Müller", ()),
    ]  # row 27
    assert record.links[0].url.endswith("/arxiv_web/html/3001.01234v2")
    assert record.links[3].url.endswith("/ar5iv/html/3001.01234")


async def test_a_paper_may_be_titled_0(arxiv: Arxiv, playing: Playing) -> None:  # row 26
    playing.play(QUERY, feed(entry(title="0")))
    assert (await arxiv.search("ti:0")).records[0].title == "0"


async def test_dates_are_encoded_once(arxiv: Arxiv, playing: Playing) -> None:  # rows 29, 33
    playing.play(QUERY, feed(entry()))
    await arxiv.search("cat:astro-ph.GA AND submittedDate:[202401010000+TO+202401312359]")
    await arxiv.search("cat:astro-ph.GA AND submittedDate:[202401010000 TO 202401312359]")
    sent = "cat:astro-ph.GA AND submittedDate:[202401010000 TO 202401312359]"
    assert {asked.query["search_query"] for asked in playing.asked} == {sent}


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("[20240101 TO 20240101]", "[202401010000 TO 202401012359]"),  # row 30
        ("[202401010000 TO 202401010000]", "[202401010000 TO 202401012359]"),
        ("[20240101 TO 20240131]", "[202401010000 TO 202401312359]"),
        ("[2024010106 TO 2024010106]", "[202401010600 TO 202401010659]"),
        ("[202401010000+TO+202401312359]", "[202401010000 TO 202401312359]"),
        ("[20240101000000 TO 20240131235959]", "[202401010000 TO 202401312359]"),
        ('all:"A TO B"', 'all:"A TO B"'),
    ],
)
def test_days_count_whole(typed: str, sent: str) -> None:
    assert whole_days(f"submittedDate:{typed}") == f"submittedDate:{sent}"


async def test_the_total_is_the_feeds_own(arxiv: Arxiv, playing: Playing) -> None:  # row 31
    playing.play(QUERY, feed(entry(), total=4321))
    page = await arxiv.search("all:dust", rows=1)
    assert page.total == 4321
    assert not page.partial


async def test_the_rows_asked_for_are_sent(arxiv: Arxiv, playing: Playing) -> None:  # row 32
    playing.rule(lambda asked: numbered(asked, 900))
    assert len((await arxiv.search("all:dust", rows=7)).records) == 7
    assert playing.asked[0].query["max_results"] == "7"
    assert playing.asked[0].query["sortBy"] == "relevance"


async def test_no_page_is_asked_for_beyond_the_total(
    arxiv: Arxiv, playing: Playing
) -> None:  # row 34
    playing.rule(lambda asked: numbered(asked, 1000))
    page = await arxiv.search("all:dust", rows=2000)
    assert len(page.records) == 1000
    assert [asked.query["start"] for asked in playing.asked] == ["0", "500"]
    assert not page.partial


async def test_an_empty_page_is_asked_for_again_in_smaller_slices(
    arxiv: Arxiv, playing: Playing
) -> None:  # rows 20, 21
    playing.rule(lambda asked: numbered(asked, 900, lambda start, size: start > 0 and size > 150))
    page = await arxiv.search("all:dust", rows=700)
    assert len(page.records) == 700
    assert not page.partial
    asked = [(one.query["start"], one.query["max_results"]) for one in playing.asked]
    assert asked[:3] == [("0", "500"), ("500", "200"), ("500", "100")]


async def test_pages_that_stay_empty_are_told(arxiv: Arxiv, playing: Playing) -> None:  # row 19
    playing.rule(lambda asked: numbered(asked, 2000, lambda start, _size: start >= 500))
    page = await arxiv.search("all:dust", rows=1500)
    assert len(page.records) == 500
    assert page.partial == "arXiv gave empty pages from 500 on, of 2,000 records."
    assert len(playing.asked) == 4
    await arxiv.search("all:dust", rows=1500)
    assert len(playing.asked) == 7, "an empty page is not kept"


async def test_what_came_before_a_failure_is_given_and_told(arxiv: Arxiv, playing: Playing) -> None:
    def failing(asked: Asked) -> Played | None:
        return (
            numbered(asked, 2000)
            if asked.query["start"] == "0"
            else Played.text("Rate exceeded.", 429)
        )

    playing.rule(failing)
    page = await arxiv.search("all:dust", rows=800)
    assert (len(page.records), page.total) == (500, 2000)
    assert re.fullmatch(r"arXiv failed after 500 records: .*Rate exceeded.*", page.partial)


async def test_nothing_found_is_no_error(arxiv: Arxiv, playing: Playing) -> None:
    playing.play(QUERY, feed())
    page = await arxiv.search("all:nothing")
    assert (page.total, page.records, page.partial) == (0, (), "")
    assert len(playing.asked) == 1


async def test_what_arxiv_would_refuse_is_not_sent(arxiv: Arxiv, playing: Playing) -> None:
    for query, start in ((" ", 0), ("all:dust", 30_000), ("all:dust", -1)):
        with pytest.raises(UsageError):
            await arxiv.search(query, start=start)
    with pytest.raises(UsageError, match="cannot sort by 'citations'"):
        await arxiv.search("all:dust", sort="citations")
    assert not playing.asked


def test_orders_are_spelled_for_arxiv() -> None:
    assert read_sort("date") == ("submittedDate", "descending")
    assert read_sort("updated asc") == ("lastUpdatedDate", "ascending")
    assert read_sort("submittedDate descending") == ("submittedDate", "descending")


# --- identifiers ---------------------------------------------------------------------------------


async def test_names_are_answered_in_their_places(arxiv: Arxiv, playing: Playing) -> None:  # row 24
    playing.play(QUERY, feed(entry("astro-ph/0601001v1"), entry("3001.01234v2")))
    names = [
        "arXiv:3001.01234",
        "3001.99999",
        "not an id",
        "https://arxiv.org/pdf/astro-ph/0601001v1.pdf",
        "10.48550/arXiv.3001.01234",
    ]
    found = await arxiv.by_ids(names)
    assert [one.arxiv_id if one else None for one in found] == [
        "3001.01234",
        None,
        None,
        "astro-ph/0601001",
        "3001.01234",
    ]
    (asked,) = playing.asked
    assert asked.query["id_list"] == "3001.01234,3001.99999,astro-ph/0601001v1"
    assert asked.query["max_results"] == "3"


async def test_twenty_names_are_twenty_results(arxiv: Arxiv, playing: Playing) -> None:  # row 24
    def ten_by_default(asked: Asked) -> Played | None:
        names = asked.query["id_list"].split(",")
        return feed(
            *(entry(f"{name}v1") for name in names[: int(asked.query.get("max_results", 10))])
        )

    playing.rule(ten_by_default)
    found = await arxiv.by_ids([f"3001.{n:05}" for n in range(150)])
    assert all(found)
    assert len(playing.asked) == 2


async def test_a_version_is_that_version(arxiv: Arxiv, playing: Playing) -> None:
    playing.play(QUERY, feed(entry("3001.01234v1"), entry("3001.01234v3")))
    found = await arxiv.by_ids(["3001.01234v1", "3001.01234", "3001.01234v2"])
    assert [one.arxiv_version if one else None for one in found] == [1, 3, None]


async def test_unknown_names_are_asked_for_again_later(arxiv: Arxiv, playing: Playing) -> None:
    playing.play(QUERY, feed(), feed(entry()))
    assert await arxiv.by_ids(["3001.01234"]) == (None,)
    assert (await arxiv.by_ids(["3001.01234"]))[0]
    assert (await arxiv.by_ids(["3001.01234"]))[0]
    assert len(playing.asked) == 2


async def test_no_names_need_no_request(arxiv: Arxiv, playing: Playing) -> None:
    assert await arxiv.by_ids([]) == ()
    assert await arxiv.by_ids(["abc", ""]) == (None, None)
    assert not playing.asked


@pytest.mark.parametrize(("status", "scheme"), [(400, "https"), (200, "http")])
async def test_a_name_that_arxiv_refuses_costs_only_itself(
    status: int, scheme: str, arxiv: Arxiv, playing: Playing
) -> None:
    def refusing(asked: Asked) -> Played | None:
        names = asked.query["id_list"].split(",")
        if "3001.0001" in names:
            return error("incorrect id format for 3001.0001", status, scheme)
        return feed(*(entry(f"{name}v1") for name in names))

    playing.rule(refusing)
    found = await arxiv.by_ids(["3001.0001", "3001.01234"])
    assert [one.arxiv_id if one else None for one in found] == [None, "3001.01234"]
    assert playing.asked[1].query["max_results"] == "1"


async def test_many_refused_names_are_an_error_and_not_unknown(
    arxiv: Arxiv, playing: Playing
) -> None:
    playing.rule(
        lambda asked: error(f"incorrect id format for {asked.query['id_list'].split(',')[0]}", 400)
    )
    with pytest.raises(RefusedError, match=r"incorrect id format for 3001\.00005"):
        await arxiv.by_ids([f"3001.{n:05}" for n in range(20)])
    assert len(playing.asked) == 6


async def test_a_server_that_repeats_a_page_is_not_asked_for_ever(
    arxiv: Arxiv, playing: Playing
) -> None:
    playing.play(QUERY, feed(entry(), total=9000))
    page = await arxiv.search("all:dust", rows=100)
    assert len(page.records) == 1
    assert page.partial == "arXiv gave 1 of 100 records; ask for the rest from 2 on."
    assert len(playing.asked) == 2


# --- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (Played.text("Rate exceeded.", 429), RateLimitedError, "too many requests.*Rate exceeded.*ADS knows"),  # row 25
        (Played.text("<html>503</html>", 503, "text/html"), UpstreamError, "too busy or broken \\(HTTP 503\\)"),
        (Played.text("<!DOCTYPE html><html><body>Sorry</body></html>", 200, "text/html"), UpstreamError, "web page"),
        (Played.text("<html>denied</html>", 403, "text/html"), UpstreamError, "refuses to answer.*wait an hour"),
        (Played.text("Not Acceptable", 406), UpstreamError, "refuses to answer \\(HTTP 406\\).*wait an hour"),
        (Played.text("", 200, ATOM), UpstreamError, "XML"),
        (Played.text("<feed><entry>", 200, ATOM), UpstreamError, "XML"),
        (Played.json({"entries": []}), UpstreamError, "XML"),
        (Played.text("<rss/>", 200, ATOM), UpstreamError, "<rss> instead of <feed>"),
        (error("max_results must be smaller", 400), RefusedError, "max_results must be smaller"),
        (error("start must be an integer", 200, "http"), RefusedError, "start must be an integer"),
        (Played.text("bad request", 400), RefusedError, "HTTP 400.*bad request"),
        (Played.text('<!DOCTYPE f [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><f>&b;</f>', 200, ATOM), UpstreamError, "<f> instead of <feed>"),
    ],
)  # fmt: skip
async def test_a_bad_answer_is_one_sentence(
    answer: Played, kind: type[Exception], words: str, arxiv: Arxiv, playing: Playing
) -> None:
    playing.play(QUERY, answer)
    with pytest.raises(kind) as raised:
        await arxiv.search("all:dust")
    text = str(raised.value)
    assert re.search(words, text)
    assert text.startswith("arXiv: ")
    assert len(text) < 700


async def test_no_file_is_read_for_an_entity(
    arxiv: Arxiv, playing: Playing, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden words")
    body = feed(entry(title="Dust")).body.decode()
    body = body.replace(
        "<feed", f'<!DOCTYPE feed [<!ENTITY x SYSTEM "file://{secret}">]><feed', 1
    ).replace("<title>Dust", "<title>Dust &x;")
    playing.play(QUERY, Played.text(body, 200, ATOM))
    assert (await arxiv.search("all:dust")).records[0].title == "Dust"


async def test_a_wrong_content_type_does_no_harm(arxiv: Arxiv, playing: Playing) -> None:
    playing.play(QUERY, replace(feed(entry()), headers={"Content-Type": "text/html"}))
    assert (await arxiv.search("all:dust")).total == 1


async def test_control_characters_do_no_harm(arxiv: Arxiv, playing: Playing) -> None:
    playing.play(QUERY, feed(entry(title="Dust\x0b\x01 again")))
    assert (await arxiv.search("all:dust")).records[0].title == "Dust again"


async def test_an_answer_without_end_is_cut(arxiv: Arxiv, playing: Playing) -> None:
    playing.play(QUERY, Played(b"<feed/>", 200, {"Content-Length": str(MAX_BYTES + 1)}))
    with pytest.raises(UpstreamError, match="more than allowed"):
        await arxiv.search("all:dust")


async def test_errors_are_plain_words(arxiv: Arxiv, playing: Playing) -> None:  # row 28
    playing.play(QUERY, error("start must be an integer", 400))
    with pytest.raises(RefusedError) as raised:
        await arxiv.search("all:dust")
    assert {type(value) for value in vars(raised.value).values()} == {str}
    assert raised.value.service == "arXiv"
    assert raised.value.url.endswith("/arxiv/query")


@pytest.mark.parametrize("fault", ["cut", "close", "drip"])
async def test_a_fault_of_the_line_is_one_sentence(
    fault: Any, arxiv: Arxiv, services: Services, playing: Playing
) -> None:
    service = services.get("arxiv")
    service.manners = replace(service.manners, timeout_s=0.3, tries=2)
    playing.play(QUERY, replace(feed(entry()), fault=fault))
    with pytest.raises(UpstreamError, match=r"^arXiv: .*2 times.*(Try again|Check the network)"):
        await arxiv.search("all:dust")


@pytest.mark.parametrize(
    "answer", [Played.text("Rate exceeded.", 429), Played(b"", 503, {"Retry-After": "2"})]
)
async def test_a_short_pause_helps(answer: Played, arxiv: Arxiv, playing: Playing) -> None:
    playing.play(QUERY, answer, feed(entry()))
    assert len((await arxiv.search("all:dust")).records) == 1


async def test_a_long_wait_is_told_and_not_waited(arxiv: Arxiv, playing: Playing) -> None:
    playing.play(QUERY, Played(b"Rate exceeded.", 429, {"Retry-After": "3600"}))
    with pytest.raises(RateLimitedError, match="asks to wait until"):
        await arxiv.search("all:dust")
    assert len(playing.asked) == 1


async def test_all_hosts_of_arxiv_share_one_pace_and_name_us(
    playing: Playing, settings: Settings, tmp_path: Path
) -> None:  # rows 22, 23
    waits: list[float] = []

    async def waiting(seconds: float) -> None:
        waits.append(seconds)
        await asyncio.sleep(0)

    network = Network(trusted_hosts=trusted(settings), contact_email=settings.contact_email)
    services = Services(settings, network, tmp_path / "paced")
    services.get("arxiv")._sleep = waiting  # pyright: ignore[reportPrivateUsage]
    playing.play(QUERY, feed(entry()))
    playing.play("/arxiv_rss/", Played.text("<rss><channel/></rss>", 200, "application/xml"))
    arxiv = Arxiv(services)
    await asyncio.gather(
        arxiv.search("all:a"), arxiv.daily(["gr-qc"]), arxiv.by_ids(["3001.01234"])
    )
    await services.aclose()
    long = [wait for wait in waits if wait > 0.1]
    assert len(long) == 2, "three requests are two intervals"
    assert all(wait <= ARXIV_INTERVAL_S for wait in long)
    agents = {asked.headers["user-agent"] for asked in playing.asked}
    assert len(agents) == 1
    assert re.fullmatch(r"nuncius/\S+ \(mailto:a@example\.org\)", agents.pop())


# --- the day's list ------------------------------------------------------------------------------


def daily(*items: str, day: str = "Tue, 02 Jan 2030") -> Played:
    body = f"""<?xml version='1.0'?><rss xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns:dc="http://purl.org/dc/elements/1.1/">
      <channel><title>x</title><lastBuildDate>{day} 05:00:00 +0000</lastBuildDate><pubDate>{day} 00:00:00 -0500</pubDate>
      {"".join(items)}</channel></rss>"""
    return Played.text(body, 200, "application/rss+xml")


def item(
    arxiv_id: str,
    kind: str,
    creator: str = "Ana Müller, Jo Li Jr., The Dust Collaboration: Eva Sol (Rome, Italy)",
) -> str:
    return f"""<item><title>Dust</title><link>https://arxiv.org/abs/{arxiv_id}</link>
      <description>arXiv:{arxiv_id} Announce Type: {kind} \nAbstract: We see $z &lt; 3$ dust.</description>
      <guid isPermaLink="false">oai:arXiv.org:{arxiv_id}</guid><category>astro-ph.GA</category>
      <arxiv:announce_type>{kind}</arxiv:announce_type><dc:creator>{creator}</dc:creator></item>"""


async def test_a_list_tells_kind_and_version(arxiv: Arxiv, playing: Playing) -> None:
    kinds = ["new", "cross", "replace", "replace-cross"]
    playing.play(
        "/arxiv_rss/rss/astro-ph.GA+gr-qc",
        daily(*(item(f"3001.0000{n}v{n + 1}", kind) for n, kind in enumerate(kinds))),
    )
    found = await arxiv.daily(["astro-ph.GA", "gr-qc"])
    assert [one.announced for one in found.records] == kinds
    assert [one.arxiv_version for one in found.records] == [1, 2, 3, 4]
    assert found.announced_on == "2030-01-02"
    assert found.records[0].abstract == "We see $z < 3$ dust."
    assert [one.name for one in found.records[0].authors][:2] == ["Ana Müller", "Jo Li Jr."]


async def test_a_weekend_has_an_empty_list(arxiv: Arxiv, playing: Playing) -> None:
    playing.play("/arxiv_rss/", daily())
    found = await arxiv.daily(["astro-ph"])
    assert (found.records, found.partial) == ((), "")
    assert found.announced_on == "2030-01-02"


async def test_items_that_cannot_be_read_are_counted(arxiv: Arxiv, playing: Playing) -> None:
    playing.play("/arxiv_rss/", daily(item("3001.00001v1", "new"), "<item><title>?</title></item>"))
    found = await arxiv.daily(["astro-ph"])
    assert len(found.records) == 1
    assert found.partial == "1 of 2 entries could not be read."


@pytest.mark.parametrize("names", [[], ["astro ph"], ["../x"], ["astro-ph.GA?x=1"]])
async def test_only_categories_have_lists(names: list[str], arxiv: Arxiv, playing: Playing) -> None:
    with pytest.raises(UsageError):
        await arxiv.daily(names)
    assert not playing.asked


# --- harvesting ----------------------------------------------------------------------------------

RAW = """<record><header><identifier>oai:arXiv.org:3001.01234</identifier><datestamp>2030-02-01</datestamp></header>
  <metadata><arXivRaw xmlns="http://arxiv.org/OAI/arXivRaw/"><id>3001.01234</id><submitter>A</submitter>
  <version version="v1"><date>Wed, 02 Jan 2030 21:30:00 GMT</date><size>12kb</size><source_type>D</source_type></version>
  <version version="v2"><date>Fri, 01 Feb 2030 08:00:00 GMT</date><size>0kb</size><source_type>I</source_type></version>
  <title>Dust</title><authors>Br. \\"Ozel and Jo Li (Here, There), E. Sol</authors><categories>astro-ph.GA gr-qc</categories>
  <comments>This paper has been withdrawn by the authors due to an error in eq. 3</comments><doi>10.9999/x</doi>
  <license>http://creativecommons.org/licenses/by/4.0/</license><abstract>  We see dust.</abstract></arXivRaw></metadata></record>"""
OWN = """<record><header><identifier>oai:arXiv.org:astro-ph/0601001</identifier><datestamp>2030-02-01</datestamp></header>
  <metadata><arXiv xmlns="http://arxiv.org/OAI/arXiv/"><id>astro-ph/0601001</id><created>2006-01-02</created>
  <authors><author><keyname>Sol</keyname><forenames>E.</forenames><affiliation>Rome</affiliation><ORCID>https://orcid.org/0000-0002-1825-0097</ORCID></author></authors>
  <title>Dust</title><categories>astro-ph</categories><abstract>x</abstract></arXiv></metadata></record>"""
GONE = '<record><header status="deleted"><identifier>oai:arXiv.org:3001.00009</identifier><datestamp>2030-02-01</datestamp></header></record>'


def oai(inner: str) -> Played:
    return Played.text(
        f'<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">{inner}</OAI-PMH>', 200, "text/xml"
    )


async def test_a_history_tells_versions_and_withdrawal(arxiv: Arxiv, playing: Playing) -> None:
    playing.play("/arxiv_oai", oai(f"<GetRecord>{RAW}</GetRecord>"))
    paper = await arxiv.history("https://arxiv.org/abs/3001.01234v1")
    assert [(one.number, one.date, one.withdrawn) for one in paper.versions] == [
        (1, "2030-01-02", False),
        (2, "2030-02-01", True),
    ]
    assert (paper.record.arxiv_version, paper.record.submitted) == (2, "2030-01-02")
    assert paper.record.status == "withdrawn"
    assert paper.record.status_note.startswith("This paper has been withdrawn")
    assert [one.name for one in paper.record.authors] == ["Br. Özel", "Jo Li", "E. Sol"]
    assert playing.asked[0].query == {
        "verb": "GetRecord",
        "identifier": "oai:arXiv.org:3001.01234",
        "metadataPrefix": "arXivRaw",
    }


async def test_a_last_version_without_text_is_withdrawn(arxiv: Arxiv, playing: Playing) -> None:
    silent = RAW.replace(
        "This paper has been withdrawn by the authors due to an error in eq. 3", "3 pages"
    )
    playing.play("/arxiv_oai", oai(f"<GetRecord>{silent}</GetRecord>"))
    record = (await arxiv.history("3001.01234")).record
    assert (record.status, record.status_note) == ("withdrawn", "Version 2 has no text.")


async def test_a_list_goes_on_by_its_token(arxiv: Arxiv, playing: Playing) -> None:
    playing.play(
        "/arxiv_oai",
        oai(f"<ListRecords>{OWN}{GONE}<resumptionToken>t|1</resumptionToken></ListRecords>"),
    )
    playing.play(
        "/arxiv_oai",
        oai(f"<ListRecords>{RAW}<resumptionToken/></ListRecords>"),
        resumptionToken="t|1",
    )
    page = await arxiv.changed(since=date(2030, 2, 1), category_set="physics:astro-ph:GA")
    assert playing.asked[0].query["from"] == "2030-02-01"
    assert page.papers[0].record.authors[0].name == "Sol, E."
    assert page.papers[0].record.authors[0].affiliations == ("Rome",)
    assert page.papers[0].record.authors[0].orcid == "0000-0002-1825-0097"
    assert page.papers[1].deleted
    assert (page.token, page.total) == ("t|1", None)
    assert (await arxiv.changed(token=page.token)).token == ""


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("idDoesNotExist", NotFoundError),
        ("badResumptionToken", RefusedError),
        ("badArgument", RefusedError),
        ("cannotDisseminateFormat", RefusedError),
    ],
)
async def test_errors_of_harvesting_are_told(
    code: str, kind: type[Exception], arxiv: Arxiv, playing: Playing
) -> None:
    playing.play("/arxiv_oai", oai(f'<error code="{code}">No luck</error>'))
    with pytest.raises(kind, match="No luck"):
        await arxiv.history("3001.01234")


async def test_no_change_is_an_empty_list(arxiv: Arxiv, playing: Playing) -> None:
    playing.play("/arxiv_oai", oai('<error code="noRecordsMatch">nothing</error>'))
    assert (await arxiv.changed(since=date(2030, 1, 5))).papers == ()


def test_texts_have_addresses(arxiv: Arxiv, services: Services) -> None:
    web = services.base("arxiv_web")
    assert [link.url.removeprefix(web) for link in arxiv.links("astro-ph/0601001", 2)[::2]] == [
        "/html/astro-ph/0601001v2", "/src/astro-ph/0601001v2", "/abs/astro-ph/0601001v2",
    ]  # fmt: skip
    assert arxiv.links("arXiv:3001.01234v3")[1].url == f"{web}/pdf/3001.01234v3"
    with pytest.raises(UsageError):
        arxiv.links("10.9999/x")
