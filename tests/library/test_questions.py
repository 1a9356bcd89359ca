"""Questions on real papers: the right paper and page, quotes that the papers hold, and abstention.

The built-in model was developed on the questions marked "dev". The "natural" set was written apart
and no rule about words was made for it; but the threshold and how many passages are quoted were
chosen with its sums in view, so its figures are on the bright side. How it does on harder questions
("held", of which only sums were looked at) is printed by bench/retrieval.py.
"""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pytest

from library.conftest import settings_in
from nuncius.app import App, open_app
from nuncius.core.evidence import Answer
from nuncius.library.verify import Verifier

HERE = Path(__file__).parent
NOTES = Path(str(files("nuncius.notes")))
MOST_TOKENS = 12_000
MOST_CALLS = 3
BROKEN = re.compile("[\ufffe\u0002\u00ad]\\s*")  # what a hyphen at a line's end leaves


MOST_OF_A_KIND = 60  # of the long set the first ones are asked; bench/ asks all


def questions(name: str) -> list[dict[str, Any]]:
    """Return the questions of a set that are not kept apart, the answerable ones first."""
    lines = (HERE / f"questions_{name}.jsonl").read_text(encoding="utf-8").splitlines()
    found = [question for question in map(json.loads, lines) if question["split"] != "held"]
    return [
        question
        for kind in ("answerable", "near_miss")
        for question in [one for one in found if one["kind"] == kind][:MOST_OF_A_KIND]
    ]


def of_kind(name: str, kind: str) -> list[dict[str, Any]]:
    return [question for question in questions(name) if question["kind"] == kind]


@dataclass(frozen=True)
class Asked:
    """A question, its answer, and what it cost."""

    question: dict[str, Any]
    answer: Answer
    files: tuple[frozenset[str], ...]
    """Names of the files of each citation's paper."""
    found_again: bool
    tokens: int
    calls: int

    @property
    def right_place(self) -> bool:
        pages = self.question["pages"]
        return any(
            names & set(self.question["papers"]) and (not pages or citation.page in pages)
            for citation, names in zip(self.answer.citations, self.files, strict=True)
        )


async def ask(app: App, question: dict[str, Any], names: dict[str, frozenset[str]]) -> Asked:
    session = await app.session()
    result = await app.ask(question["question"], session_id=session.id, model="builtin")
    assert result.answer, result.error
    verifier = Verifier(app.store)
    places = [
        await verifier.locate(citation.paper_id, citation.quote, page=citation.page or 0)
        for citation in result.answer.citations
    ]
    events = await app.journal.events(session.id)
    return Asked(
        question,
        result.answer,
        tuple(names[citation.paper_id] for citation in result.answer.citations),
        found_again=all(places),
        tokens=result.usage.input_tokens,
        calls=sum(event.type == "usage" for event in events),
    )


async def ask_all(home: Path, what: list[Path], name: str) -> list[Asked]:
    async with open_app(settings_in(home)) as app:
        await app.library.add(what)
        names = {
            paper.paper_id: frozenset(Path(file.path).name for file in paper.files)
            for paper in await app.library.papers()
        }
        return [await ask(app, question, names) for question in questions(name)]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory, shared_data: Path) -> dict[str, list[Asked]]:
    """Every development question, asked once: of the PDFs, of the sample notes, of both."""
    pdf = shared_data / "papers" / "pdf"
    shelves = {"natural": [pdf], "pdf": [pdf], "notes": [NOTES], "plain": [pdf, NOTES]}
    return {
        name: asyncio.run(ask_all(tmp_path_factory.mktemp(name), what, name))
        for name, what in shelves.items()
    }


def answerable(asked: dict[str, list[Asked]], name: str) -> list[Asked]:
    return [one for one in asked[name] if one.question["kind"] == "answerable"]


def near_misses(asked: dict[str, list[Asked]], name: str) -> list[Asked]:
    return [one for one in asked[name] if one.question["kind"] == "near_miss"]


def everything(asked: dict[str, list[Asked]]) -> Iterator[Asked]:
    return (one for sets in asked.values() for one in sets)


def wrong(results: list[Asked]) -> str:
    return "\n".join(one.question["question"] for one in results)


def test_of_twenty_natural_questions_sixteen_are_answered_from_the_right_place(
    asked: dict[str, list[Asked]],
) -> None:
    first = answerable(asked, "natural")[:20]
    missed = [one for one in first if not one.right_place]
    assert len(missed) <= 4, wrong(missed)


def test_of_twenty_plain_questions_all_but_one_are_answered_from_the_right_place(
    asked: dict[str, list[Asked]],
) -> None:
    first = answerable(asked, "plain")[:20]
    missed = [one for one in first if not one.right_place]
    assert len(missed) <= 1, wrong(missed)


@pytest.mark.parametrize(
    ("name", "least"), [("natural", 0.8), ("pdf", 0.8), ("plain", 0.8), ("notes", 0.66)]
)
def test_most_questions_are_answered_from_the_right_paper_and_page(
    asked: dict[str, list[Asked]], name: str, least: float
) -> None:
    results = answerable(asked, name)
    missed = [one for one in results if not one.right_place]
    assert len(missed) <= (1 - least) * len(results), wrong(missed)


def test_of_twenty_near_misses_at_least_seventeen_are_not_answered(
    asked: dict[str, list[Asked]],
) -> None:
    first = near_misses(asked, "plain")[:20]
    answered = [one for one in first if one.answer.answered]
    assert len(answered) <= 3, wrong(answered)


@pytest.mark.parametrize(
    ("name", "least"), [("natural", 0.6), ("pdf", 0.9), ("plain", 0.7), ("notes", 0.75)]
)
def test_most_near_misses_are_not_answered(
    asked: dict[str, list[Asked]], name: str, least: float
) -> None:
    results = near_misses(asked, name)
    answered = [one for one in results if one.answer.answered]
    assert len(answered) <= (1 - least) * len(results), wrong(answered)


def test_every_quote_is_found_again_in_its_paper(asked: dict[str, list[Asked]]) -> None:
    for one in everything(asked):
        assert one.found_again, one.question["question"]
        assert not one.answer.unsupported, one.question["question"]


def test_who_does_not_answer_cites_nothing_and_tells_what_was_looked_at(
    asked: dict[str, list[Asked]],
) -> None:
    for one in everything(asked):
        if not one.answer.answered:
            assert not one.answer.citations
            assert one.answer.searched.queries == (one.question["question"],)


def test_a_question_costs_three_calls_and_few_tokens(asked: dict[str, list[Asked]]) -> None:
    for one in everything(asked):
        assert one.calls <= MOST_CALLS, one.question["question"]
        assert one.tokens <= MOST_TOKENS, one.question["question"]


@cache
def page_text(source: Path, page: int) -> str:
    document = pdfium.PdfDocument(source)
    try:
        text = str(document[page - 1].get_textpage().get_text_range())
    finally:
        document.close()
    return " ".join(BROKEN.sub("", text).split())


@pytest.mark.parametrize(
    "question", of_kind("plain", "answerable"), ids=lambda question: str(question["id"])
)
def test_the_facts_of_plain_questions_stand_where_they_are_said_to(
    question: dict[str, Any], shared_data: Path
) -> None:
    (name,) = question["papers"]
    if not name.endswith(".pdf"):
        text = " ".join((NOTES / name).read_text(encoding="utf-8").split())
        assert all(re.search(fact, text) for fact in question["must_contain"])
        return
    assert question["pages"]
    for page in question["pages"]:
        text = page_text(shared_data / "papers" / "pdf" / name, page)
        assert all(re.search(fact, text) for fact in question["must_contain"]), page
