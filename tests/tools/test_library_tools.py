"""rag_search, get_paper_content, get_paper_metadata, save_note."""

import re
from pathlib import Path

import pytest

from nuncius.agent.tool import ToolContext
from nuncius.core.errors import NunciusError
from nuncius.library.answer import passage_digest
from nuncius.library.library import Library
from nuncius.tools.fulltext import ContentQuery, GetPaperContent
from nuncius.tools.notes import NoteArguments, SaveNote
from nuncius.tools.rag import RagQuery, RagSearch

CTX = ToolContext(session_id="s")


async def test_search_shows_numbered_sentences_under_handles(filled: Library) -> None:
    output = await RagSearch(filled).run(RagQuery(query="radius of HD 12345"), CTX)
    star = await filled.paper("SternND")
    assert f"# {star.paper_id} · A quiet star · " in output.content
    handle = re.search(rf"\[({star.paper_id}-\d+)\] p\. 1\b", output.content)
    assert handle
    passage = next(p for p in await filled.passages("SternND") if p.passage_id == handle[1])
    assert "| Its radius is 1.72 solar radii and its age is 4.1 Gyr." in output.content
    assert output.metadata["evidence"][passage.passage_id] == passage_digest(passage)
    assert output.metadata["query"] == "radius of HD 12345"


async def test_search_says_what_is_nowhere_in_the_library(filled: Library) -> None:
    output = await RagSearch(filled).run(RagQuery(query="albedo"), CTX)
    assert "albedo (0)" in output.content
    assert "No passage holds any of these terms." in output.content
    assert output.metadata["passages"] == []


async def test_search_in_named_papers_only(filled: Library) -> None:
    output = await RagSearch(filled).run(
        RagQuery(query="radius period age", paper_ids=["Rey2021"]), CTX
    )
    assert {p["title"] for p in output.metadata["passages"]} == {"Notes on a pulsar"}
    with pytest.raises(NunciusError, match="nope"):
        await RagSearch(filled).run(RagQuery(query="radius", paper_ids=["nope"]), CTX)


async def test_years_are_filters(filled: Library) -> None:
    search = RagSearch(filled)
    output = await search.run(RagQuery(query="period radius", year_from=2022), CTX)
    assert output.metadata["passages"] == []
    output = await search.run(RagQuery(query="period radius", year_to=2021, year_from=2021), CTX)
    assert len(output.metadata["passages"]) > 0


async def test_content_by_page_section_table_and_from_the_beginning(filled: Library) -> None:
    read = GetPaperContent(filled)
    star = (await filled.paper("SternND")).paper_id
    assert "colour excess" in (await read.run(ContentQuery(paper_id=star, page=2), CTX)).content
    timing = await read.run(ContentQuery(paper_id="Rey2021", section="timing"), CTX)
    assert "spin period" in timing.content
    whole = await read.run(ContentQuery(paper_id="Rey2021", limit=1), CTX)
    assert "Sections: " in whole.content
    assert "go on with offset=2" in whole.content


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"paper_id": "nothing"}, "nothing"),
        ({"paper_id": "SternND", "page": 9}, "has 2 pages; 9 is beyond"),
        ({"paper_id": "Rey2021", "page": 1}, "has no pages"),
        ({"paper_id": "Rey2021", "section": "methods"}, "Its sections: "),
        ({"paper_id": "Rey2021", "table": "7"}, "has no table '7'"),
        ({"paper_id": "Rey2021", "offset": 99}, "offset 99 is beyond"),
    ],
)
async def test_what_is_not_there_is_said_with_what_is(
    filled: Library, arguments: dict[str, object], says: str
) -> None:
    with pytest.raises(NunciusError) as error:
        await GetPaperContent(filled).run(ContentQuery.model_validate(arguments), CTX)
    assert says in str(error.value)


async def test_a_note_keeps_only_words_of_the_paper(filled: Library, papers: Path) -> None:
    save = SaveNote(filled)
    output = await save.run(
        NoteArguments(paper_id="SternND", quote="is not reddened by dust", note="good"), CTX
    )
    assert output.content.startswith("Saved note 1 on page 2 of ")
    with pytest.raises(NunciusError, match="does not stand in"):
        await save.run(NoteArguments(paper_id="SternND", quote="is reddened by dust"), CTX)
    with pytest.raises(NunciusError, match="page 1 of"):
        await save.run(
            NoteArguments(paper_id="SternND", quote="is not reddened by dust", page=1), CTX
        )
