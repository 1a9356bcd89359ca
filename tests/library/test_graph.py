"""The papers around one paper: from ADS where it answers, and from what the library has stored."""

from collections.abc import Mapping
from typing import Any

import pytest

from nuncius.app import App
from nuncius.core.errors import NotFoundError, UsageError
from nuncius.core.papers import Paper
from nuncius.core.records import Record
from sources.answers import QUASAR, ads, arxiv
from sources.home import app, playing
from sources.playing import Asked, Played, Playing

OTHER: Mapping[str, Any] = {
    "id": "2",
    "bibcode": "2001A&A...379..299M",
    "title": ["Old dust"],
    "year": "2001",
}
LATER: Mapping[str, Any] = {
    "id": "3",
    "bibcode": "2022ApJ...900..100D",
    "title": ["Later"],
    "year": "2022",
}


__all__ = ["app", "playing"]


def plays(playing: Playing, by_operator: Mapping[str, Any]) -> None:
    """Let ADS answer by the operator that a query begins with."""

    def rule(asked: Asked) -> Played | None:
        if not asked.path.startswith("/ads/search"):
            return None
        query = asked.query["q"]
        return next(
            (answer for name, answer in by_operator.items() if query.startswith(name)), None
        )

    playing.play("/arxiv/query", arxiv())
    playing.rule(rule)


WHOLE = {
    "references(": ads(OTHER),
    "citations(": ads(LATER, total=40),
    "similar(": ads(),
    "identifier:": ads(QUASAR),
}


async def test_a_papers_neighbours_are_told_by_ads(app: App, playing: Playing) -> None:
    plays(playing, WHOLE)
    graph = await app.graphs().around("2021MNRAS.500..100R")
    told = {group.relation: group for group in graph.neighbours}
    assert [work.record.title for work in told["references"].works] == ["Old dust"]
    assert (told["citations"].total, told["citations"].known_from) == (40, "ADS")
    assert (graph.paper_id, graph.record.title) == ("", "The ages of quiet quasars")


async def test_the_links_of_a_paper_of_the_library_are_kept(app: App, playing: Playing) -> None:
    plays(playing, WHOLE)
    held = await app.store.papers.put(
        Paper(paper_id="", title="The ages", bibcode="2021MNRAS.500..100R"), None, ()
    )
    await app.graphs().around(held.paper_id)
    assert await app.store.works.links(held.paper_id, "references") == [OTHER["bibcode"]]
    plays(playing, {"": Played(b"down", 503)})
    await app.services.cache.aclose()
    for file in (app.settings.home / "cache").glob("answers.db*"):
        file.unlink()
    graph = await app.graphs().around(held.paper_id)
    told = {group.relation: group for group in graph.neighbours}
    assert told["references"].known_from == "the library"
    assert [work.record.bibcode for work in told["references"].works] == [OTHER["bibcode"]]
    assert any(note.startswith("similar") for note in graph.notes)


async def test_what_the_library_cites_together_is_counted(app: App, playing: Playing) -> None:
    plays(playing, WHOLE)
    held = await app.store.papers.put(
        Paper(paper_id="", title="Old", bibcode=OTHER["bibcode"]), None, ()
    )
    for _ in range(2):
        citing = await app.store.papers.put(Paper(paper_id="", title="Citing"), None, ())
        both = ("2021MNRAS.500..100R", OTHER["bibcode"])
        await app.store.works.put(citing.paper_id, Record(source="ads", references=both))
    graph = await app.graphs().around("2021MNRAS.500..100R")
    (group,) = [group for group in graph.neighbours if group.relation == "cocited"]
    assert graph.weights == {OTHER["bibcode"]: 2}
    assert [work.paper_id for work in group.works] == [held.paper_id]


async def test_nobody_is_asked_about_a_confidential_paper(app: App, playing: Playing) -> None:
    secret = Paper(paper_id="", title="Secret", bibcode="2021MNRAS.500..100R", confidential=True)
    held = await app.store.papers.put(secret, None, ())
    graph = await app.graphs().around(held.paper_id)
    assert playing.asked == []
    assert any("confidential" in note for note in graph.notes)


async def test_an_unknown_paper_is_an_error(app: App, playing: Playing) -> None:
    plays(playing, {"identifier:": ads()})
    with pytest.raises(NotFoundError):
        await app.graphs().around("2099MNRAS.500..100R")
    with pytest.raises(UsageError):
        await app.graphs().around("some paper")
