"""What a sceptical user of the literature's features ran into; each was wrong once, or still is."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from library.conftest import settings_in
from library.test_digest import DAY, feed, item
from library.test_downloads import HTML, PDF
from nuncius.app import App, open_app
from nuncius.core.papers import Author, Paper
from nuncius.core.records import Affiliated, Record
from nuncius.library.merge import merge
from nuncius.library.search import Request, plan
from nuncius.library.solar_system import find_body
from nuncius.sources.object_names import constellations, standard_name
from nuncius.sources.services import MANNERS
from nuncius.tools.search import SearchPapers
from sources.answers import PREPRINT, QUASAR, ads, arxiv, entry
from sources.home import app
from sources.playing import Asked, Played, Playing

__all__ = ["app"]

ADS, ARXIV, PAGE = "/ads/search/query", "/arxiv/query", "/arxiv_web/html/2010.12345"
WEB = {"Content-Type": "text/html"}


@pytest.fixture
async def playing() -> AsyncIterator[Playing]:
    async with Playing().serving() as server:
        server.play(ADS, ads(QUASAR))
        server.play(ARXIV, arxiv(PREPRINT))
        server.play(PAGE, Played(HTML.encode(), 200, WEB))
        server.play("/crossref", Played.text("Resource not found.", 404))
        yield server


async def call(app: App, name: str, **arguments: Any) -> Any:
    return await app.call_tool(name, json.dumps(arguments))


# --- search -------------------------------------------------------------------------------------------


def doc(number: int, title: str) -> dict[str, Any]:
    """Return a document of ADS that shares no name with another."""
    bibcode = f"2020ApJ...9{number:02d}....1A"
    return {
        **QUASAR,
        "bibcode": bibcode,
        "alternate_bibcode": [],
        "identifier": [bibcode],
        "doi": [f"10.1000/{number}"],
        "title": [title],
        "author": [f"Writer{title[:3]}, A"],
    }


def paged(playing: Playing) -> set[str]:
    """Give both services four works each that share nothing; return all titles."""
    titles = ("Ants of Mars", "Bees of Mars", "Cats of Mars", "Dogs of Mars")
    others = ("Eels on ice", "Foxes on ice", "Goats on ice", "Hares on ice")
    docs = [doc(number, title) for number, title in enumerate(titles)]
    entries = [entry(f"2001.0000{at}", title, [f"P. {title[:4]}"]) for at, title in enumerate(others)]  # fmt: skip

    def rule(asked: Asked) -> Played | None:
        start = int(asked.query.get("start", 0))
        if asked.path == ADS:
            return ads(*docs[start : start + int(asked.query["rows"])], total=len(docs))
        if asked.path == ARXIV:
            end = start + int(asked.query["max_results"])
            return arxiv(*entries[start:end], total=len(entries))
        return None

    playing.rule(rule)
    return {*titles, *others}


async def test_paging_through_shows_every_work_once(app: App, playing: Playing) -> None:
    everything = paged(playing)
    seen: list[str] = []
    for start in (0, 2, 4, 6):
        found = await app.search().search(Request("mars", rows=2, start=start))
        seen += [work.record.title for work in found.works]
    assert set(seen) == everything
    assert len(seen) == len(set(seen))


async def test_a_search_tells_where_the_next_page_starts(app: App, playing: Playing) -> None:
    paged(playing)
    output = await call(app, "search_papers", query="mars", rows=2)
    assert output.metadata["next_start"] == 2


async def test_a_refused_token_is_told_though_arxiv_is_down(app: App, playing: Playing) -> None:
    playing.play(ADS, Played.json({"error": "Unauthorized"}, 401))
    playing.play(ARXIV, Played(b"down", 503))
    with pytest.raises(Exception, match="refused the token") as error:
        await app.search().search(Request("quasars"))
    assert "arXiv" in str(error.value)


async def test_services_that_redirect_elsewhere_are_down(app: App, playing: Playing) -> None:
    playing.rule(lambda _asked: Played(b"", 302, {"Location": "http://127.0.0.1:1/"}))
    with pytest.raises(Exception, match=r"127\.0\.0\.1:1") as error:
        await app.search().search(Request("quasars"))
    assert "arXiv" in str(error.value) or "ADS" in str(error.value)
    assert getattr(error.value, "exit_code", None) == 3


@pytest.mark.parametrize("name", ["β Pic", "参宿四"])
def test_a_target_is_asked_for_by_a_name_that_catalogues_know(name: str) -> None:
    assert f'object:"{standard_name(name)}"' in plan(Request("dust", target=name)).ads.q


@pytest.mark.parametrize("words", ["α Centauri planets", "β Pic debris disc"])
def test_a_star_with_a_greek_letter_is_read_as_one(words: str) -> None:
    assert "object:" in plan(Request(words)).ads.q


def test_a_reference_with_a_topic_is_authors_year_and_topic() -> None:
    q = plan(Request("Rey & Dahl (2019) quasars")).ads.q
    assert all(part in q for part in ('author:"Rey"', 'author:"Dahl"', "year:2019", "quasars"))


@pytest.mark.parametrize("field", ["author", "object"])
async def test_the_users_own_words_leave_by_no_argument(
    app: App, playing: Playing, tmp_path: Path, field: str
) -> None:
    words = "the companion of the red giant is hidden behind thick dust"
    (tmp_path / "n.md").write_text("# Red giants\n\nThe giant is red.\n")
    (paper,) = (await app.library.add([tmp_path / "n.md"])).added
    await app.library.note(paper.paper_id, quote="The giant is red.", note=words)
    refused = await call(app, "search_papers", query=words)
    assert refused.error_kind == "confidential"
    output = await call(app, "search_papers", **{"query": "giants", field: words})
    assert output.error_kind == "confidential"
    assert playing.asked == []


@pytest.mark.parametrize("service", ["ads", "arxiv"])
def test_a_silent_service_is_given_up_before_the_search_is(service: str) -> None:
    manners = MANNERS[service]
    assert manners.tries * manners.timeout_s < SearchPapers.timeout_s


# --- one work, one entry ------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["RETRACTED: ", "Retracted: ", "RETRACTED ARTICLE: "])
def test_a_retracted_paper_and_its_preprint_are_one_entry(mark: str) -> None:
    person = (Affiliated("Rey, A."),)
    paper = Record(
        source="ads",
        title=f"{mark}The ages of quiet quasars",
        authors=person,
        bibcodes=("2021MNRAS.500..100R",),
        arxiv_id="2010.12345",
        status="retracted",
    )
    preprint = replace(
        paper, source="arxiv", title="The ages of quiet quasars", bibcodes=(), status=""
    )
    (work,) = merge([paper, preprint])
    assert work.record.status == "retracted"


def test_a_notice_of_retraction_stays_what_it_is() -> None:
    paper = Record(source="ads", title="The ages of quiet quasars", dois=("10.1000/x",))
    for title in ("Retraction: The ages of quiet quasars", "Retraction Note: The ages of quiet"):
        assert len(merge([paper, replace(paper, source="crossref", title=title)])) == 2


# --- retractions --------------------------------------------------------------------------------------

RETRACTED = {
    "DOI": "10.1093/mnras/x1",
    "type": "journal-article",
    "title": ["The ages of quiet quasars"],
    "author": [{"family": "Rey", "given": "Ana"}, {"family": "Dahl", "given": "Bo"}],
    "issued": {"date-parts": [[2021, 1]]},
    "updated-by": [{"type": "retraction", "DOI": "10.1093/mnras/r1", "label": "Retraction"}],
}


async def test_a_paper_that_crossref_calls_retracted_says_so_wherever_it_is_read(
    app: App, playing: Playing
) -> None:
    playing.play("/crossref/works/", Played.json({"status": "ok", "message-type": "work", "message": RETRACTED}))  # fmt: skip
    report = await app.downloads().add("2010.12345")
    (paper,) = report.added
    assert "retracted" in paper.label
    read = await call(app, "rag_search", query="ages of quiet quasars")
    assert "retracted" in read.content.lower()


async def test_metadata_of_a_held_paper_tells_its_retraction(app: App) -> None:
    held = await app.store.papers.put(
        Paper(paper_id="", title="The ages", doi="10.1093/mnras/x1"), None, ()
    )
    await app.store.works.put(
        held.paper_id, Record(source="crossref", dois=("10.1093/mnras/x1",), status="retracted")
    )
    output = await call(app, "get_paper_metadata", paper_id=held.paper_id)
    assert "retracted" in output.content.lower()


# --- downloads ----------------------------------------------------------------------------------------


async def test_a_pdf_that_is_asked_for_is_a_pdf_though_the_web_page_is_there(
    app: App, playing: Playing
) -> None:
    playing.play("/arxiv_web/pdf/2010.12345", Played(PDF, 200, {"Content-Type": "application/pdf"}))
    await call(app, "download_paper", paper_id="2010.12345")
    output = await call(app, "download_paper", paper_id="2010.12345", format="pdf")
    assert output.metadata["path"].endswith(".pdf")


@pytest.mark.parametrize("force", [False, True])
async def test_a_version_that_is_asked_for_is_that_version(app: App, force: bool) -> None:
    await call(app, "download_paper", paper_id="2010.12345")
    output = await call(app, "download_paper", paper_id="arXiv:2010.12345v1", force=force)
    assert "2010.12345v1" in output.metadata["path"]


async def test_a_download_that_starts_anew_keeps_arxivs_pace(app: App, playing: Playing) -> None:
    kind = {**WEB, "ETag": '"a"', "Accept-Ranges": "bytes"}
    whole = HTML.replace("</section>", "<p class=ltx_p>Dust and stars.</p>" * 40_000 + "</section>")
    playing.play(
        PAGE,
        Played(whole.encode(), 200, kind, fault="cut"),
        Played(b"", 416, {"Content-Range": "bytes */10"}),
        Played(whole.encode(), 200, kind),
    )
    paced: list[float] = []

    async def sleep(seconds: float) -> None:
        if seconds > 1.5:
            paced.append(seconds)

    app.services.get("arxiv")._sleep = sleep  # pyright: ignore[reportPrivateUsage]
    report = await app.downloads().add("2010.12345")
    assert not report.failed, report.failed
    asked = [path for path in playing.paths() if path.startswith("/arxiv")]
    assert len(asked) == 4  # one look-up, one cut, one that cannot go on, one whole
    assert len(paced) == 3


@pytest.mark.parametrize("token", ["x", ""])
async def test_what_could_not_be_fetched_offline_is_unavailable(tmp_path: Path, token: str) -> None:
    chosen = settings_in(tmp_path).model_copy(
        update={"offline": True, "ads_api_token": token, "ads_url": "https://ads.example.org"}
    )
    async with open_app(chosen) as opened:
        (failure,) = (await opened.downloads().add("2010.12345")).failed
    assert failure.error_kind == "unavailable"
    assert "NUNCIUS_OFFLINE" in f"{failure.reason} {failure.hint}"  # not: make a token


async def test_a_text_that_came_broken_is_fetched_again(app: App, playing: Playing) -> None:
    paper = {name: value for name, value in QUASAR.items() if name != "esources"}
    playing.play(ADS, ads(paper))
    playing.play(PAGE, Played(b"no", 404))
    kind = {"Content-Type": "application/pdf"}
    cut = Played(b"%PDF-1.5\n" + b"x" * 5000, 200, kind)
    playing.play("/arxiv_web/pdf", cut, Played(PDF, 200, kind))
    assert (await app.downloads().add("2010.12345")).failed
    again = await app.downloads().add("2010.12345")
    assert not again.failed, again.failed
    assert [one.state for one in (*again.added, *again.updated)] == ["indexed"]


# --- graph and digest ---------------------------------------------------------------------------------


async def test_a_graph_is_shown_though_its_links_could_not_be_kept(
    app: App, playing: Playing
) -> None:
    def rule(asked: Asked) -> Played | None:
        if asked.path != ADS:
            return None
        if asked.query.get("rows") == "1000":
            return Played(b"busy", 503)
        related = asked.query["q"].startswith(("references(", "citations("))
        return ads(doc(1, "Ants of Mars")) if related else ads(QUASAR)

    playing.rule(rule)
    held = await app.store.papers.put(
        Paper(paper_id="", title="The ages", arxiv_id="2010.12345"), None, ()
    )
    graph = await app.graphs().around(held.paper_id)
    assert [one.relation for one in graph.neighbours][:2] == ["references", "citations"]


async def test_a_namesake_is_not_called_an_author_of_a_paper(app: App, playing: Playing) -> None:
    authors = (Author(name="Wang, Ana"), Author(name="Dahl, Bo"))
    await app.store.papers.put(Paper(paper_id="", title="Ages", authors=authors), None, ())
    playing.play("/arxiv_rss", feed(item("2611.00007", "Cosmic voids", "Zoe Wang, Bo Dahl")))
    playing.play(ARXIV, arxiv())
    (paper,) = (await app.digests().of(["astro-ph.CO"])).papers
    assert any("Bo Dahl is an author" in reason for reason in paper.reasons)
    assert not any("Zoe Wang is an author" in reason for reason in paper.reasons)


async def test_a_feed_that_stands_still_is_called_old(app: App, playing: Playing) -> None:
    old = feed(item("2402.00007", "Cosmic voids", "Zoe Wang"))
    body = old.body.replace(f"{DAY:%a, %d %b %Y}".encode(), b"Fri, 23 Feb 2024")
    playing.play("/arxiv_rss", replace(old, body=body))
    playing.play(ARXIV, arxiv())
    digest = await app.digests().of(["astro-ph.CO"])
    assert digest.day.startswith("2024-02-23")
    assert digest.incomplete


# --- names on the sky ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "asked"), [("σ Ori E", "sig Ori E"), ("θ¹ Ori F", "tet01 Ori F"), ("α Cen B", "alf Cen B")]
)  # fmt: skip
def test_components_beyond_the_fourth_are_read(typed: str, asked: str) -> None:
    assert standard_name(typed) == asked


@pytest.mark.parametrize("name", ["Halley's Comet", "Halley’s comet", "Encke's Comet"])
def test_a_comet_named_after_somebody_is_one(name: str) -> None:
    found = find_body(name, constellations=frozenset(constellations()))
    assert found == (name, "comet")


@pytest.mark.parametrize("name", ["Barnard's Star", "Comet Galaxy", "Stephan's Quintet"])
def test_what_only_sounds_like_a_comet_is_beyond(name: str) -> None:
    assert find_body(name, constellations=frozenset(constellations())) is None


async def test_a_failed_resolver_is_named_with_the_address_that_was_asked(
    app: App, playing: Playing, broken_sesame: Callable[[Playing], None]
) -> None:
    broken_sesame(playing)
    with pytest.raises(Exception, match="Sesame") as error:
        await app.targets.resolve("NGC 7")
    assert playing.url in str(error.value)


@pytest.fixture
def broken_sesame() -> Callable[[Playing], None]:
    """Return what lets every resolver behind Sesame fail."""
    from sources.sesame_answers import broken, sesame

    def play(playing: Playing) -> None:
        blocks = {"NGC 7": broken("S") + broken("N") + broken("V")}
        playing.play("/sesame", Played(sesame(blocks)))

    return play
