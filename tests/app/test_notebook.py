"""`from nuncius import Library, Agent`: in scripts, in running loops, from threads."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import nuncius
from nuncius import Agent, Library
from nuncius.core.errors import NotFoundError, UsageError


@pytest.fixture
def library(tmp_path: Path, papers: Path) -> Iterator[Library]:
    with Library(tmp_path / "home") as opened:
        opened.add(papers)
        yield opened


def test_the_main_job_in_four_lines(library: Library) -> None:
    answer = library.ask("What is the spin period of PSR J0000+0000?")
    assert answer.answered
    assert answer.citations[0].quote == "PSR J0000+0000 has a spin period of 5.75 ms."
    assert "quotes only, no language model" in repr(answer)
    assert "[1] Notes on a pulsar" in repr(answer)


def test_an_answer_shows_itself_as_html_without_markup_of_the_papers(
    tmp_path: Path, library: Library
) -> None:
    evil = tmp_path / "evil.md"
    evil.write_text(
        "# A <script>alert(1)</script> title\n\nThe albedo of Zork is <b>0.7</b> exactly.\n"
    )
    library.add(evil)
    answer = library.ask("What is the albedo of Zork?")
    shown: str = vars(type(answer))["_repr_html_"](answer)  # as Jupyter calls it
    assert "0.7" in shown
    assert "<script" not in shown
    assert "<b>0.7" not in shown


def test_papers_content_and_passages(library: Library) -> None:
    assert {paper.title for paper in library.papers()} == {"A quiet star", "Notes on a pulsar"}
    assert library.paper("Rey2021").year == 2021
    assert "spin period" in library.content("Rey2021", section="Timing").content
    assert library.rag("dispersion measure", k=1).found[0].paper.cite_key == "Rey2021"
    with pytest.raises(NotFoundError):
        library.paper("nobody")


async def test_it_works_inside_a_running_loop(library: Library) -> None:
    assert library.ask("What is the spin period?").answered
    assert (await library.aask("What is the spin period?")).answered
    assert len(await library.apapers()) == 2
    answers = await asyncio.gather(*(library.aask("What is the radius?") for _ in range(3)))
    assert len({answer.citations[0].quote for answer in answers}) == 1


def test_threads_may_share_a_library(library: Library) -> None:
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(len(library.papers()))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2, 2, 2, 2]


def test_an_agent_keeps_one_conversation(library: Library) -> None:
    agent = Agent(library)
    assert agent.ask("What is the spin period of PSR J0000+0000?").answered
    follow_up = agent.ask("And its dispersion measure?")
    assert any("12.3" in citation.quote for citation in follow_up.citations)
    sessions = library.run(lambda app: app.journal.sessions())
    assert len(sessions) == 1


def test_closing_is_final_and_may_be_repeated(tmp_path: Path) -> None:
    library = Library(tmp_path / "home")
    library.close()
    library.close()
    with pytest.raises(UsageError, match="closed"):
        library.papers()


def test_names_of_the_package() -> None:
    assert nuncius.__version__
    assert {"Library", "Agent", "Tool", "ToolOutput"} <= set(nuncius.__all__)
    with pytest.raises(AttributeError):
        nuncius.Nothing  # noqa: B018
