"""From a name to a text in the library: looked up, fetched from where it legally is, parsed."""

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from library.conftest import settings_in
from nuncius.agent.tool import ToolOutput
from nuncius.app import App
from nuncius.core.events import PermissionRequest
from parsing.pdf_writing import make_pdf, text_at
from sources.answers import PREPRINT, QUASAR, ads, arxiv, entry
from sources.home import app
from sources.playing import Played, Playing

__all__ = ["app"]

TITLE = "The ages of quiet quasars"
BODY = "We measure the ages of quiet quasars with a small telescope. They are 9.2 Gyr old."
HTML = f"""<!DOCTYPE html><html><head><title>{TITLE}</title></head><body>
<article class="ltx_document"><h1 class="ltx_title ltx_title_document">{TITLE}</h1>
<div class="ltx_authors"><span class="ltx_personname">Ana Rey</span></div>
<section class="ltx_section" id="S1"><h2 class="ltx_title ltx_title_section">1 Results</h2>
<div class="ltx_para"><p class="ltx_p">{BODY}</p></div>
{'<div class="ltx_para"><p class="ltx_p">The quasars of this field are quiet and old.</p></div>' * 40}
</section>
</article></body></html>"""
PDF = make_pdf(
    ["".join(text_at(60, y, text, size=size) for text, size, y in ((TITLE, 24, 700), (BODY, 10, 600)))]
)  # fmt: skip


@pytest.fixture
async def playing() -> AsyncIterator[Playing]:
    async with Playing().serving() as server:
        server.play("/ads/search", ads(QUASAR))
        server.play("/arxiv/query", arxiv(PREPRINT))
        yield server


def html(text: str = HTML) -> Played:
    return Played(text.encode(), 200, {"Content-Type": "text/html; charset=utf-8"})


async def call(app: App, name: str, *, asker: Any = None, **arguments: Any) -> ToolOutput:
    return await app.call_tool(name, json.dumps(arguments), asker=asker)


async def test_a_name_becomes_a_paper_that_can_be_searched(app: App, playing: Playing) -> None:
    playing.play("/arxiv_web/html/2010.12345", html())
    report = await app.downloads().add("arXiv:2010.12345")
    assert not report.failed, report.failed
    (paper,) = report.added
    assert (paper.title, paper.year, paper.bibcode) == (TITLE, 2021, "2021MNRAS.500..100R")
    assert [author.name for author in paper.authors] == ["Rey, Ana", "Dahl, Bo"]
    assert (paper.state, paper.arxiv_id, paper.doi) == ("indexed", "2010.12345", "10.1093/mnras/x1")
    found = await app.library.rag("age of quiet quasars")
    assert any("9.2 Gyr" in one.passage.text for one in found.found)
    for name in ("2020arXiv201012345R", "https://doi.org/10.1093/mnras/x1", paper.cite_key):
        assert (await app.library.paper(name)).paper_id == paper.paper_id
    asked = len(playing.asked)
    again = await app.downloads().add("2010.12345")
    assert [one.paper_id for one in again.unchanged] == [paper.paper_id]
    assert len(playing.asked) == asked


async def test_the_agent_fetches_then_parses_and_both_say_what_they_did(
    app: App, playing: Playing
) -> None:
    playing.play("/arxiv_web/html/2010.12345", Played(b"No HTML for this.", 404))
    playing.play("/arxiv_web/pdf/2010.12345", Played(PDF, 200, {"Content-Type": "application/pdf"}))
    fetched = await call(app, "download_paper", paper_id="2021MNRAS.500..100R")
    assert not fetched.is_error, fetched.content
    assert fetched.metadata["state"] == "downloaded"
    assert fetched.metadata["kind"] == "pdf"
    outcomes = [attempt["outcome"] for attempt in fetched.metadata["attempts"]]
    assert outcomes[-1] == "got"
    assert len(outcomes) > 1
    assert "parse_paper" in fetched.content
    paper_id = fetched.metadata["paper_id"]
    parsed = await call(app, "parse_paper", paper_id=paper_id)
    assert parsed.metadata == {
        "paper_id": paper_id,
        "state": "indexed",
        "pages": 1,
        "untrusted": [f"paper {paper_id}"],
    }
    content = await call(app, "get_paper_content", paper_id=paper_id)
    assert "9.2 Gyr" in content.content
    again = await call(app, "parse_paper", paper_id=paper_id)
    assert "already" in again.content
    forced = await call(app, "parse_paper", paper_id=paper_id, force=True)
    assert "again" in forced.content


async def test_where_no_text_is_to_be_had_each_try_is_told(app: App, playing: Playing) -> None:
    playing.play("/arxiv_web", Played(b"gone", 404))
    output = await call(app, "download_paper", paper_id="2010.12345")
    assert output.error_kind == "not_found"
    assert output.content.count("\n- ") >= 3
    assert "nuncius add FILE" in output.content
    (row,) = await app.library.papers() or [None]
    assert row is None


async def test_a_page_that_is_no_paper_is_not_kept(app: App, playing: Playing) -> None:
    challenge = "<html><title>Just a moment...</title><script>_cf_chl_opt={}</script></html>"
    playing.play("/arxiv_web", html(challenge))
    playing.play("/ar5iv", html(challenge))
    output = await call(app, "download_paper", paper_id="2010.12345")
    assert output.is_error
    assert not list(app.settings.library_dir.rglob("*.html"))


class Decides:
    """Answers permission questions and remembers them."""

    def __init__(self, decision: Literal["allow", "deny"]) -> None:
        self.decision: Literal["allow", "deny"] = decision
        self.seen: list[PermissionRequest] = []

    async def ask(
        self, request: PermissionRequest
    ) -> tuple[Literal["allow", "deny"], Literal["once"]]:
        self.seen.append(request)
        return self.decision, "once"


@pytest.mark.parametrize("decision", ["allow", "deny"])
async def test_a_new_host_is_asked_about_once_it_is_known(
    app: App, playing: Playing, decision: Literal["allow", "deny"]
) -> None:
    """`localhost` is the same server under a name that is none of the services'."""
    app.services.network._trusted = type(app.services.network._trusted)(  # pyright: ignore[reportPrivateUsage]
        [playing.url, playing.url.replace("127.0.0.1", "localhost")]
    )
    playing.play("/arxiv_web", Played(b"gone", 404))
    playing.play("/ar5iv", Played(b"gone", 404))
    copy = f"{playing.url.replace('127.0.0.1', 'localhost')}/copy.pdf"
    playing.play("/copy.pdf", Played(PDF, 200, {"Content-Type": "application/pdf"}))
    location = {
        "url_for_pdf": copy,
        "url": copy,
        "host_type": "repository",
        "version": "acceptedVersion",
    }
    playing.play(
        "/openalex",
        Played.json({"id": "https://openalex.org/W1", "doi": "https://doi.org/10.1093/mnras/x1", "title": TITLE, "open_access": {"is_oa": True, "oa_url": copy}, "best_oa_location": {"pdf_url": copy, "is_oa": True}, "locations": []}),
    )  # fmt: skip
    assert location
    asker = Decides(decision)
    output = await call(app, "download_paper", asker=asker, paper_id="2021MNRAS.500..100R")
    hosts = [request.arguments.get("host") for request in asker.seen]
    assert hosts == ["localhost"], output.content
    assert asker.seen[0].rule == "download_paper(localhost)"
    assert output.is_error == (decision == "deny")
    assert ("/copy.pdf" in playing.paths()) == (decision == "allow")


async def test_nobody_who_can_be_asked_means_no_new_host(app: App, playing: Playing) -> None:
    app.services.network._trusted = type(app.services.network._trusted)(  # pyright: ignore[reportPrivateUsage]
        [playing.url, playing.url.replace("127.0.0.1", "localhost")]
    )
    playing.play("/arxiv_web", Played(b"gone", 404))
    copy = f"{playing.url.replace('127.0.0.1', 'localhost')}/copy.pdf"
    playing.play("/copy.pdf", Played(PDF, 200, {"Content-Type": "application/pdf"}))
    playing.play(
        "/openalex",
        Played.json({"id": "https://openalex.org/W1", "doi": "https://doi.org/10.1093/mnras/x1", "title": TITLE, "open_access": {"is_oa": True, "oa_url": copy}, "best_oa_location": {"pdf_url": copy, "is_oa": True}, "locations": []}),
    )  # fmt: skip
    output = await app.call_tool(
        "download_paper", '{"paper_id": "2021MNRAS.500..100R"}', mode="auto"
    )
    assert output.is_error
    assert "not allowed localhost" in output.content
    assert "/copy.pdf" not in playing.paths()
    report = await app.downloads().add("2021MNRAS.500..100R")  # the user's own word needs none
    assert not report.failed, report.failed


async def test_a_file_that_was_there_already_gets_the_names(
    app: App, playing: Playing, tmp_path: Path
) -> None:
    (tmp_path / "mine.html").write_text(HTML)
    (mine,) = (await app.library.add([tmp_path / "mine.html"])).added
    playing.play("/arxiv_web/html/2010.12345", html())
    report = await app.downloads().add("10.1093/mnras/x1")
    assert not report.failed
    papers: Sequence[Any] = await app.library.papers()
    assert [paper.paper_id for paper in papers] == [mine.paper_id]
    assert (await app.library.paper("2021MNRAS.500..100R")).paper_id == mine.paper_id


async def test_a_withdrawn_papers_text_says_so(app: App, playing: Playing) -> None:
    gone = entry(
        "2010.12345", TITLE, ["Ana Rey"], version=2, comment="This paper has been withdrawn"
    )
    playing.play("/ads/search", ads())
    playing.play("/arxiv/query", arxiv(gone))
    playing.play("/arxiv_web/html/2010.12345v1", html())
    report = await app.downloads().add("2010.12345")
    assert not report.failed, report.failed
    assert "withdrawn" in report.added[0].label


async def test_no_service_hears_of_a_confidential_paper(app: App, playing: Playing) -> None:
    secret = settings_in(Path("/nowhere"))  # only for its type
    assert secret
    from nuncius.core.papers import Paper

    paper = Paper(paper_id="", title="Secret", doi="10.1234/secret", confidential=True)
    held = await app.store.papers.put(paper, None, ())
    output = await call(app, "download_paper", paper_id=held.paper_id)
    assert output.error_kind == "confidential"
    assert playing.asked == []
