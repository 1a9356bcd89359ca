"""The daily work on the command line, against the playing server, by settings alone."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.running import Run
from library.test_downloads import BODY, HTML, TITLE
from sources.answers import PREPRINT, QUASAR, ads, arxiv
from sources.playing import Asked, Played, Playing, in_a_thread


@pytest.fixture
def world(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Playing]:
    """Point every service at a server that knows one paper."""
    assert home
    with in_a_thread() as playing:
        for name, url in playing.settings().items():
            monkeypatch.setenv(f"NUNCIUS_{name.upper()}", url)
        monkeypatch.setenv("ADS_API_TOKEN", "made-up")

        def rule(asked: Asked) -> Played | None:
            if not asked.path.startswith("/ads/search"):
                return None
            return ads() if asked.query["q"].startswith(("references(", "citations(", "similar(")) else ads(QUASAR)  # fmt: skip

        playing.rule(rule)
        playing.play("/arxiv/query", arxiv(PREPRINT))
        kind = {"Content-Type": "text/html"}
        playing.play("/arxiv_web/html/2010.12345", Played(HTML.encode(), 200, kind))
        yield playing


def test_from_a_name_to_a_paper_that_can_be_cited(
    nuncius: Run, world: Playing, tmp_path: Path
) -> None:
    found = nuncius("search", "quiet quasars", "--year", "2020-2022", "--json").json
    (paper,) = found["papers"]
    assert (paper["bibcode"], paper["sources"]) == ("2021MNRAS.500..100R", ["ads", "arxiv"])
    assert set(found["queries"]) == {"ads", "arxiv"}

    added = nuncius("add", "arXiv:2010.12345", "--json").json
    (one,) = added["added"]
    assert (one["title"], one["state"], one["bibcode"]) == (TITLE, "indexed", "2021MNRAS.500..100R")

    answer = nuncius("ask", "How old are quiet quasars?", "--json").json
    assert any(BODY.split(". ")[1][:12] in citation["quote"] for citation in answer["citations"])
    cited = nuncius("paper", "cite", "10.1093/MNRAS/X1").out
    assert "journal = {\\mnras}" in cited
    assert "{Rey}, Ana" in cited
    assert "2010.12345" in cited

    again = nuncius("search", "quiet quasars", "--year", "2020-2022")
    assert f"in the library as {one['paper_id']} (indexed)" in again.out
    assert nuncius("paper", "graph", one["paper_id"], "--json").json["paper_id"] == one["paper_id"]
    latex = nuncius("ask", "How old are quiet quasars?", "--as", "latex", "-o", tmp_path / "a.tex")
    assert latex.code == 0, latex.err
    assert "\\citep{" in (tmp_path / "a.tex").read_text()
    assert TITLE in (tmp_path / "a.bib").read_text()


def test_a_preprint_of_a_bib_file_is_updated_and_its_key_kept(
    nuncius: Run, world: Playing, tmp_path: Path
) -> None:
    file = tmp_path / "refs.bib"
    file.write_text(
        "% mine\n@article{rey:quasars,\n  author = {Rey, Ana and Dahl, Bo},\n"
        f"  title = {{{TITLE}}},\n  eprint = {{2010.12345}},\n  archivePrefix = {{arXiv}},\n"
        "  year = 2020,\n  note = {read me}\n}\n"
    )
    world.play("/crossref", Played.text("Resource not found.", 404))
    checked = nuncius("bib", "check", file, "--json")
    assert checked.code == 1
    assert {one["kind"] for one in checked.json["findings"]} >= {"published_now"}
    shown = nuncius("bib", "update", file)
    assert "+  doi = {10.1093/mnras/x1}" in shown.out
    assert "2020" in file.read_text()
    nuncius("bib", "update", file, "--write")
    text = file.read_text()
    assert text.startswith("% mine\n@")
    assert "rey:quasars" in text
    assert "10.1093/mnras/x1" in text
    assert "read me" in text
    imported = nuncius("bib", "import", file, "--json").json
    assert imported["added"][0]["cite_key"] == "rey:quasars"
    assert nuncius("paper", "show", "rey:quasars").code == 0


def test_what_is_fetched_cannot_be_confidential(nuncius: Run, world: Playing) -> None:
    ran = nuncius("add", "2010.12345", "--confidential")
    assert ran.code == 2
    assert world.asked == []


def test_a_name_that_nobody_knows_stops_no_other(
    nuncius: Run, world: Playing, tmp_path: Path
) -> None:
    (tmp_path / "n.md").write_text("# A note\n\nThe star is red.\n")
    world.play("/ads/search", ads())
    world.play("/crossref", Played.text("Resource not found.", 404))
    world.play("/openalex", Played(b"<html>404</html>", 404))
    ran = nuncius("add", "10.1234/nothing", tmp_path / "n.md", "--json")
    assert ran.code == 1
    told = json.loads(ran.out)
    assert len(told["added"]) == 1
    assert told["failed"][0]["what"] == "10.1234/nothing"
    assert told["failed"][0]["error_kind"] == "not_found"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["search", "x", "--year", "soon"], 2, "2019-2024"),
        (["search", "x", "--source", "pubmed"], 2, "ads,arxiv"),
        (["search", ""], 2, ""),
        (["digest", "astro ph"], 2, "astro-ph.GA"),
        (["paper", "graph", "some paper"], 2, "identifier"),
    ],
)
def test_what_makes_no_sense_says_what_does(
    nuncius: Run, world: Playing, arguments: list[str], code: int, words: str
) -> None:
    ran = nuncius(*arguments)
    assert ran.code == code
    assert words in ran.err


def test_a_query_is_shown_and_not_sent(nuncius: Run, world: Playing) -> None:
    told = nuncius("search", "first author Rey on quasars since 2019", "--dry-run", "--json").json
    assert told["queries"]["ads"] == told["q"]
    assert 'author:"^Rey"' in told["q"]
    assert world.asked == []


def test_all_services_down_is_exit_code_three(nuncius: Run, world: Playing) -> None:
    world.rule(lambda _asked: Played(b"down", 404))
    ran = nuncius("search", "quasars")
    assert ran.code == 3
    assert "Traceback" not in ran.err
