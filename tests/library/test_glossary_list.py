"""The list of Chinese terms is well formed, and the sets of questions stand on their papers."""

import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pytest

HERE = Path(__file__).parent
NOTES = resources.files("nuncius.notes")
HAN = re.compile(r"[\u4e00-\u9fff]")
# What PDF extraction leaves at a line end in place of a hyphen, or nothing.
BROKEN = re.compile("[\ufffe\u0002\u00ad]\\s*")


def glossary_lines() -> list[str]:
    text = (resources.files("nuncius.library") / "glossary_zh.tsv").read_text(encoding="utf-8")
    assert text.endswith("\n")
    return text.splitlines()


def questions(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


ALL = questions("questions_pdf.jsonl") + questions("questions_notes.jsonl")


def page_texts(source: bytes, pages: list[int]) -> list[str]:
    document = pdfium.PdfDocument(source)
    try:
        texts = [str(document[page - 1].get_textpage().get_text_range()) for page in pages]
    finally:
        document.close()
    return [" ".join(BROKEN.sub("", text).split()) for text in texts]


def test_every_line_is_a_chinese_term_and_english_words() -> None:
    for line in glossary_lines():
        chinese, english = line.split("\t")
        assert HAN.search(chinese), line
        assert chinese == chinese.strip(), line
        words = english.split("; ")
        assert all(word and word == word.strip() for word in words), line
        assert not HAN.search(english), line
        assert len(set(words)) == len(words), line


def test_terms_are_sorted_and_stand_once() -> None:
    terms = [line.split("\t")[0] for line in glossary_lines()]
    assert terms == sorted(set(terms))
    assert len(terms) >= 1500


@pytest.mark.parametrize(
    ("chinese", "english"),
    [
        ("采样器", "sampler"),
        ("马尔可夫链蒙特卡洛", "MCMC"),
        ("轨道周期", "orbital period"),
        ("视差", "parallax"),
        ("天琴座", "Lyra"),
        ("软件", "package"),
        ("属于", "member"),
    ],
)
def test_common_terms_are_there(chinese: str, english: str) -> None:
    terms = dict(line.split("\t") for line in glossary_lines())
    assert english in terms[chinese].split("; ")


@pytest.mark.parametrize(
    ("name", "answerable", "near_misses"),
    [("questions_pdf.jsonl", 30, 30), ("questions_notes.jsonl", 12, 8)],
)
def test_questions_are_split_evenly_and_named_once(
    name: str, answerable: int, near_misses: int
) -> None:
    found = questions(name)
    assert len({question["id"] for question in found}) == len(found)
    for kind, count in (("answerable", answerable), ("near_miss", near_misses)):
        splits = [question["split"] for question in found if question["kind"] == kind]
        assert splits.count("dev") == splits.count("held") == count // 2


@pytest.mark.parametrize("question", ALL, ids=lambda question: str(question["id"]))
def test_a_question_has_a_fact_to_find_or_a_reason_why_there_is_none(
    question: dict[str, Any],
) -> None:
    if question["kind"] == "answerable":
        assert question["must_contain"]
        assert not question.get("why")
    else:
        assert question["why"]
        assert not question["must_contain"]
        assert not question["pages"]
    assert bool(HAN.search(question["question"])) == (question["language"] == "zh")


@pytest.mark.parametrize(
    "question",
    [question for question in ALL if question["kind"] == "answerable"],
    ids=lambda question: str(question["id"]),
)
def test_the_fact_stands_on_every_page_that_is_named(
    question: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    (name,) = question["papers"]
    if (NOTES / name).is_file():
        source = (NOTES / name).read_bytes()
    else:
        shared: Path = request.getfixturevalue("shared_data")
        source = (shared / "papers" / "pdf" / name).read_bytes()
    if name.endswith(".pdf"):
        places = page_texts(source, question["pages"])
        assert places
    else:  # notes without pages
        places = [" ".join(re.sub(r"<[^>]+>", "", source.decode("utf-8")).split())]
    for place in places:
        for fact in question["must_contain"]:
            assert re.search(fact, place), fact
