"""PDF: shapes of papers, made here, with what a reader must see of them."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from nuncius.core.documents import Document
from nuncius.core.errors import DocumentError
from nuncius.parsing import parse
from parsing.papers import MakePdf, Placed


@pytest.fixture(scope="module")
def document(paper_pdf: bytes) -> Document:
    return parse(paper_pdf, name="draft.pdf")


def _texts(document: Document, kind: str) -> list[str]:
    return [block.text for block in document.blocks if block.kind == kind]


def test_front_matter_is_read_from_the_page(document: Document) -> None:
    assert document.front.title == "Ages of Quiet Dwarfs in the Hyades"
    assert document.front.authors == ("Ada B. Lovelace", "Tycho van Brahe", "Vera C. Rubin")
    assert document.front.year == 2022
    assert document.front.abstract.startswith("We measure the ages of forty quiet dwarfs")


def test_headings_come_with_their_level(document: Document) -> None:
    headings = [(b.text, b.level) for b in document.blocks if b.kind == "heading"]
    assert ("1. Introduction", 2) in headings
    assert ("ABSTRACT", 2) in headings


def test_margin_numbers_leave_the_text_and_stay_in_the_layer(document: Document) -> None:
    assert not any(
        re.match(r"\d+ (?:Stars|cluster)", text) for text in _texts(document, "paragraph")
    )
    assert "\n1 2 3 4 5 6 7\n" in f"\n{document.layer[0].text}\n"


def test_words_are_joined_only_where_one_word_was_broken(document: Document) -> None:
    text = " ".join(_texts(document, "paragraph"))
    assert "each measurement was repeated" in text
    assert "high-resolution spectra" in text


def test_a_paragraph_runs_on_over_the_page(document: Document) -> None:
    text = " ".join(_texts(document, "paragraph"))
    assert "free of the bias that had plagued the earlier surveys" in text


def test_running_heads_are_no_text(document: Document) -> None:
    assert "LOVELACE" not in " ".join(_texts(document, "paragraph") + _texts(document, "heading"))


def test_table_rows_keep_their_numbers(document: Document) -> None:
    (table,) = _texts(document, "table")
    assert table.split("\n") == [
        "Star Period Age Error",
        "HD 1 12.50 0.650 -0.010",
        "HD 2 11.25 0.640 -0.020",
        "HD 3 10.75 0.660 +0.030",
    ]
    assert _texts(document, "caption") == ["Table 1. Periods and ages of the first three stars."]


def test_references_are_apart_one_each(document: Document) -> None:
    assert _texts(document, "reference") == [
        "Barnes, S. A. 2007, ApJ, 669, 1167",
        "Skumanich, A. 1972, ApJ, 171, 565",
    ]


def test_the_left_column_is_read_first(make_pdf: MakePdf) -> None:
    left: list[Placed] = [
        (50, 700 - 12 * i, 10, "F1", f"Left column line number {word} of the text we read")
        for i, word in enumerate(("one", "two", "three", "four", "five"))
    ]
    right: list[Placed] = [
        (320, 700 - 12 * i, 10, "F1", f"right column line number {word} of the text we read")
        for i, word in enumerate(("six", "seven", "eight", "nine", "ten"))
    ]
    text = " ".join(block.text for block in parse(make_pdf([[*left, *right]])).blocks)
    numbers = re.findall(r"number (\w+)", text)
    assert numbers == "one two three four five six seven eight nine ten".split()


def test_pages_without_text_are_scanned(make_pdf: MakePdf) -> None:
    with pytest.raises(DocumentError, match="3 of 3 pages") as caught:
        parse(make_pdf([[], [], []]))
    assert caught.value.kind == "scanned"
    assert "OCR" in caught.value.hint


def test_a_page_without_text_is_told(make_pdf: MakePdf) -> None:
    page: list[Placed] = [
        (72, 700 - 14 * i, 10, "F1", f"A line of text that is long enough to be read, number {i}.")
        for i in range(12)
    ]
    assert parse(make_pdf([page, [], page])).verdict == "pages without text: 2"


def test_a_cut_file_is_truncated(paper_pdf: bytes) -> None:
    with pytest.raises(DocumentError) as caught:
        parse(paper_pdf[:700])
    assert caught.value.kind == "truncated"
    assert "700 bytes" in caught.value.message


def test_a_broken_cross_reference_is_read(paper_pdf: bytes) -> None:
    broken = re.sub(rb"startxref\n\d+", b"startxref\n99999999", paper_pdf)
    assert parse(broken).front.title == "Ages of Quiet Dwarfs in the Hyades"


def test_parsing_twice_gives_the_same(paper_pdf: bytes, document: Document) -> None:
    assert parse(paper_pdf) == document


def test_a_group_that_the_metadata_names_and_the_page_prints_is_the_author() -> None:
    notes = Path(str(files("nuncius.notes").joinpath("pulsar-timing.pdf"))).read_bytes()
    front = parse(notes, name="notes.pdf").front
    assert (front.authors, front.year) == (("nuncius sample notes",), 2026)
