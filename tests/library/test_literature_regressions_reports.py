"""What users of other agents report of searches and records, each a claim that holds here."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from nuncius.app import App
from nuncius.library.search import Request, plan
from sources.answers import QUASAR, ads, arxiv
from sources.home import app
from sources.playing import Played, Playing

__all__ = ["app"]


@pytest.fixture
async def playing() -> AsyncIterator[Playing]:
    async with Playing().serving() as server:
        server.play("/arxiv/query", arxiv())
        yield server


async def call(app: App, name: str, **arguments: Any) -> Any:
    return await app.call_tool(name, json.dumps(arguments))


@pytest.mark.parametrize("absent", [*QUASAR, "all of them"])
async def test_a_record_that_lacks_a_field_is_shown_all_the_same(
    app: App, playing: Playing, absent: str
) -> None:  # list B, 21
    whole = dict(QUASAR)
    bare = {"id": "1", "bibcode": "2021MNRAS.500..100R"}
    playing.play("/ads/search", ads(bare if absent == "all of them" else {k: v for k, v in whole.items() if k != absent}))  # fmt: skip
    output = await call(app, "search_papers", query="quasars")
    assert not output.is_error, output.content
    assert len(output.metadata["papers"]) == 1
    assert "None" not in output.content


async def test_an_empty_result_says_so_and_what_to_try(app: App, playing: Playing) -> None:
    playing.play("/ads/search", ads())  # list C, 37
    output = await call(app, "search_papers", query="quasars")
    assert not output.is_error
    assert output.metadata["papers"] == []
    assert "No paper was found" in output.content


async def test_a_question_that_was_shortened_is_told(app: App, playing: Playing) -> None:
    playing.play("/ads/search", ads(QUASAR))  # list C, 36
    words = " ".join(f"constellation{chr(97 + at % 26)}{at}" for at in range(120))
    found = await app.search().search(Request(words))
    assert any("too long for ADS" in note for note in found.notes)
    assert len(playing.asked[0].query["q"]) < len(words)


@pytest.mark.parametrize("value", [2010.12345, 20101, True, None])
async def test_a_name_that_is_a_number_is_refused_with_a_word(app: App, value: object) -> None:
    output = await call(app, "get_paper_metadata", paper_id=value)  # list B, 26
    assert output.error_kind == "invalid_arguments"
    assert "string" in output.content


@pytest.mark.parametrize(
    "typed", ['author:"^Grasshorn Gebhardt"', 'first_author:"Grasshorn Gebhardt"']
)
def test_a_family_name_with_a_space_stays_one_first_author(typed: str) -> None:
    assert plan(Request(typed)).ads.q == typed  # list C, 33
    assert (
        plan(Request("", authors=("^Grasshorn Gebhardt, H",))).ads.q
        == 'author:"^Grasshorn Gebhardt, H"'
    )


@pytest.mark.parametrize(
    "request_",
    [Request("", authors=("^Grasshorn Gebhardt",)), Request('author:^"Grasshorn Gebhardt"')],
)
def test_a_family_name_of_two_words_without_a_comma_is_one_too(request_: Request) -> None:
    assert 'author:"^Grasshorn Gebhardt"' in plan(request_).ads.q  # list C, 33


async def test_a_question_about_the_users_own_papers_asks_no_service(
    app: App, playing: Playing, tmp_path: Path
) -> None:  # list F, 57 and 58: the built-in model, no key; nothing leaves the machine
    (tmp_path / "n.md").write_text("# Quiet quasars\n\nThe quasars of this field are 9 Gyr old.\n")
    await app.library.add([tmp_path / "n.md"])
    session = await app.session()
    result = await app.ask("How old are the quasars of this field?", session_id=session.id)
    assert result.answer is not None
    assert result.answer.answered
    assert playing.asked == []


async def test_a_doi_that_a_file_prints_brings_no_other_papers_record(
    app: App, playing: Playing, tmp_path: Path
) -> None:  # list B, 14: such as the DOI of a work that the file only cites
    other = {**QUASAR, "title": ["Dust in nearby discs"], "author": ["Else, S."]}
    playing.play("/ads/search", ads(other))
    playing.play("/crossref", Played.text("Resource not found.", 404))
    file = tmp_path / "n.md"
    file.write_text(
        "---\ntitle: Quiet quasars\nauthor: Ana Rey\ndoi: 10.1093/mnras/x1\n---\n\nOld.\n"
    )
    (paper,) = (await app.library.add([file])).added
    output = await call(app, "get_paper_metadata", paper_id=paper.paper_id)
    assert output.metadata["title"] == "Quiet quasars"
    assert "Dust in nearby discs" not in output.content


@pytest.mark.parametrize("name", ["Núñez, A", "Łokas, E", "Ørsted, H", "Weiß, A"])
def test_a_name_with_a_mark_is_asked_of_arxiv_both_ways(name: str) -> None:
    family = name.partition(",")[0]  # list C, 34
    q = plan(Request("xenon", authors=(name,))).arxiv.search_query
    plain = {"Núñez": "Nunez", "Łokas": "Lokas", "Ørsted": "Orsted", "Weiß": "Weiss"}[family]
    assert family in q
    assert plain in q
    assert "xenon" in q
