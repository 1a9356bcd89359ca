"""What a user of the literature's commands ran into; each is wrong until its mark is gone."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cli.running import Run
from library.test_downloads import HTML
from nuncius.sources.services import MANNERS
from sources.answers import PREPRINT, QUASAR, ads, arxiv, entry
from sources.playing import Asked, Played, Playing, in_a_thread


@pytest.fixture
def world(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Playing]:
    """Point every service at a server that knows one paper."""
    assert home
    unhurried = {name: replace(manners, interval_s=0.0) for name, manners in MANNERS.items()}
    monkeypatch.setattr(
        "nuncius.sources.services.MANNERS", unhurried
    )  # paces have tests of their own
    with in_a_thread() as playing:
        for name, url in playing.settings().items():
            monkeypatch.setenv(f"NUNCIUS_{name.upper()}", url)
        monkeypatch.setenv("ADS_API_TOKEN", "made-up")

        def rule(asked: Asked) -> Played | None:
            if not asked.path.startswith("/ads/search"):
                return None
            linked = asked.query["q"].startswith(("references(", "citations(", "similar("))
            return ads() if linked else ads(QUASAR)

        playing.rule(rule)
        playing.play("/arxiv/query", arxiv(PREPRINT))
        playing.play("/crossref", Played.text("Resource not found.", 404))
        kind = {"Content-Type": "text/html"}
        playing.play("/arxiv_web/html/2010.12345", Played(HTML.encode(), 200, kind))
        yield playing


@pytest.mark.parametrize("years", ["-", " – ", "—"])
def test_years_without_a_year_are_no_filter_that_is_dropped(
    nuncius: Run, world: Playing, years: str
) -> None:
    ran = nuncius("search", "quasars", "--year", years, "--dry-run")
    assert ran.code == 2
    assert "2019-2024" in ran.err


def test_a_paper_has_one_entry_whichever_command_prints_it(nuncius: Run, world: Playing) -> None:
    assert nuncius("add", "2010.12345").code == 0
    entry_of_cite = nuncius("paper", "cite", "2010.12345").out.strip()
    latex = nuncius("ask", "How old are quiet quasars?", "--as", "latex").out
    assert entry_of_cite in latex


def test_the_graph_of_a_held_paper_tells_its_state(nuncius: Run, world: Playing) -> None:
    assert nuncius("add", "2010.12345").code == 0
    graph = nuncius("paper", "graph", "2010.12345", "--json").json
    assert graph["paper"]["paper_id"]
    assert graph["paper"]["state"] == "indexed"


def test_a_graph_of_which_nothing_could_be_asked_is_no_success(
    nuncius: Run, world: Playing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADS_API_TOKEN", "")
    assert nuncius("paper", "graph", "2010.12345").code == 4


def test_a_withdrawn_papers_quotes_are_labelled_and_its_heading_is_no_claim(
    nuncius: Run, world: Playing
) -> None:
    gone = entry("2010.12345", "The ages of quiet quasars", ["Ana Rey"], version=3,
                 comment="This paper has been withdrawn by the author due to an error")  # fmt: skip
    world.rule(lambda asked: ads() if asked.path.startswith("/ads") else None)
    world.play("/arxiv/query", arxiv(gone))
    assert "withdrawn" in nuncius("add", "2010.12345").out
    answer = nuncius("ask", "How old are quiet quasars?")
    assert "unsupported" not in answer.out
    reference = answer.out[answer.out.index("[1] “") :]
    assert "WITHDRAWN: The ages" in reference


def test_a_paper_of_a_bib_file_is_added_by_its_key(
    nuncius: Run, world: Playing, tmp_path: Path
) -> None:
    file = tmp_path / "refs.bib"
    file.write_text("@article{rey:quasars, title={The ages of quiet quasars}, eprint={2010.12345}}")
    (known,) = nuncius("bib", "import", file, "--json").json["added"]
    added = nuncius("add", "rey:quasars", "--json")
    assert added.code == 0
    assert nuncius("paper", "show", known["paper_id"], "--json").json["state"] == "indexed"


def test_an_address_that_names_no_paper_is_not_called_a_file(nuncius: Run, world: Playing) -> None:
    ran = nuncius("add", "https://example.org/paper.pdf")
    assert ran.code == 1
    assert "file or folder" not in ran.err
