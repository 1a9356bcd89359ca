"""search_papers and get_paper_metadata through the whole executor, against the playing server."""

import json
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from nuncius.agent.tool import ToolOutput
from nuncius.app import App
from nuncius.core.papers import Author, Paper
from sources.answers import PREPRINT, QUASAR, ads, arxiv, entry
from sources.home import app, playing
from sources.playing import Asked, Played, Playing

__all__ = ["app", "playing"]


async def call(app: App, name: str, **arguments: Any) -> ToolOutput:
    return await app.call_tool(name, json.dumps(arguments))


async def test_a_search_is_told_with_names_that_other_tools_take(
    app: App, playing: Playing
) -> None:
    playing.play("/ads/search", ads(QUASAR, total=31))
    playing.play("/arxiv/query", arxiv(PREPRINT, total=2))
    output = await call(app, "search_papers", query="quiet quasars", rows=1, year_from=2020)
    assert output.content == snapshot("""\
Found (ads 31, arxiv 2); asked: ads: abs:"quiet quasars" year:[2020 TO *]; arxiv: all:"quiet quasars" AND submittedDate:[201901010000 TO 202712312359]

1. The ages of quiet quasars
   Rey, Dahl, 2021, Monthly Notices of the Royal Astronomical Society 500 [2021MNRAS.500..100R · arXiv:2010.12345 · 10.1093/mnras/x1]
   7 citations; refereed; open access
   Quiet quasars are old.

There is more: start=1.\
""")
    (paper,) = output.metadata["papers"]
    assert (paper["arxiv_version"], paper["sources"]) == (2, ["ads", "arxiv"])
    assert output.metadata["untrusted"] == ["ADS", "arXiv"]
    assert playing.asked[0].query["rows"] == "1"


async def test_a_paper_of_the_library_is_told_without_asking_anybody(
    app: App, playing: Playing
) -> None:
    paper = Paper(
        paper_id="", title="The ages", authors=(Author(name="Ana Rey"),), year=2021, doi="10.1234/x"
    )
    held = await app.store.papers.put(paper, None, ())
    output = await call(app, "get_paper_metadata", paper_id="10.1234/X")
    assert output.content.replace(held.paper_id, "ID") == snapshot("""\
The ages
Authors: Ana Rey
Year: 2021
Library id: ID; cite key: Rey2021
DOI: 10.1234/x
State: known
Abstract: not known\
""")
    assert playing.asked == []


@pytest.mark.parametrize(
    "name",
    [
        "2021MNRAS.500..100R",
        "arXiv:2010.12345v1",
        "https://arxiv.org/pdf/2010.12345v1.pdf",
        "10.1093/MNRAS/X1.",
        "https://doi.org/10.1093/mnras/x1",
        "2020arXiv201012345R",
    ],
)
async def test_a_paper_elsewhere_is_known_by_any_of_its_names(
    app: App, playing: Playing, name: str
) -> None:
    playing.play("/ads/search", ads(QUASAR))
    playing.play("/arxiv/query", arxiv(PREPRINT))
    output = await call(app, "get_paper_metadata", paper_id=name)
    assert output.content.startswith("The ages of quiet quasars")
    assert "not in the library" in output.content
    assert ("latest is 2" in output.content) == ("v1" in name)
    assert output.metadata["bibcode"] == "2021MNRAS.500..100R"


async def test_references_and_citations_are_listed(app: App, playing: Playing) -> None:
    cited = {"id": "2", "bibcode": "2001A&A...379..299M", "title": ["Old dust"], "year": "2001"}

    def rule(asked: Asked) -> Played | None:
        query = asked.query.get("q", "")
        if query.startswith("references("):
            return ads(cited, total=61)
        return Played(b"down", 503) if query.startswith("citations(") else None

    playing.play("/ads/search", ads(QUASAR))
    playing.play("/arxiv/query", arxiv())
    playing.rule(rule)
    output = await call(
        app,
        "get_paper_metadata",
        paper_id="2021MNRAS.500..100R",
        with_references=True,
        with_citations=True,
    )
    assert "References (61 in all):\n- Old dust;" in output.content
    assert "Citations: not told." in output.content
    assert not output.is_error


async def test_a_retraction_is_flagged(app: App, playing: Playing) -> None:
    playing.play("/ads/search", ads({**QUASAR, "title": ["RETRACTED: The ages of quiet quasars"]}))
    playing.play("/arxiv/query", arxiv())
    output = await call(app, "get_paper_metadata", paper_id="2021MNRAS.500..100R")
    assert "RETRACTED" in output.content.splitlines()[2]
    withdrawn = entry("2010.99999", "Gone", ["A. Rey"], comment="This paper has been withdrawn")
    playing.play("/ads/search", ads())
    playing.play("/arxiv/query", arxiv(withdrawn))
    output = await call(app, "get_paper_metadata", paper_id="2010.99999")
    assert output.metadata["status"] == "withdrawn"


async def test_a_wrong_number_never_gives_another_paper(app: App, playing: Playing) -> None:
    playing.play("/ads/search", ads(QUASAR))  # a service that answers with what was not asked for
    playing.play("/arxiv/query", arxiv(PREPRINT))
    output = await call(app, "get_paper_metadata", paper_id="2010.54321")
    assert output.error_kind == "not_found"
    assert "quasars" not in output.content


async def test_what_is_no_name_is_the_librarys_matter(app: App, playing: Playing) -> None:
    output = await call(app, "get_paper_metadata", paper_id="some paper")
    assert output.error_kind == "not_found"
    assert playing.asked == []


async def test_the_users_own_words_are_not_sent(app: App, playing: Playing, tmp_path: Path) -> None:
    note = "My rival in Lynx must not hear of the nine nights before we publish."
    (tmp_path / "p.md").write_text("# A survey\n\nThe survey found a quasar.\n")
    (tmp_path / "s.md").write_text(f"# A proposal\n\n{note.replace('rival', 'friend')}\n")
    report = await app.library.add([tmp_path / "p.md"])
    await app.library.add([tmp_path / "s.md"], confidential=True)
    await app.library.note(report.added[0].paper_id, quote="The survey found a quasar.", note=note)
    for query in (
        "papers where " + note[:60],
        "my friend in lynx must not hear of the nine nights",
    ):
        output = await call(app, "search_papers", query=query)
        assert output.error_kind == "confidential"
        assert "word for word" in output.content
    assert playing.asked == []
    playing.play("/ads/search", ads())
    playing.play("/arxiv/query", arxiv())
    assert not (await call(app, "search_papers", query="nine nights in Lynx")).is_error
