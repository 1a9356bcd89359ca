"""Passages: sizes, borders, and their place in the Markdown."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuncius.core.documents import Block, Document, FrontMatter, PageText
from nuncius.core.text import sentences
from nuncius.parsing import parse
from nuncius.parsing.passages import FULL, cut, to_markdown

SENTENCE = "The star number {} is hot and bright and it turns slowly around its own axis."


def _document(*blocks: Block, title: str = "") -> Document:
    text = "\n\n".join(block.text for block in blocks)
    return Document("markdown", "x/1", blocks, (PageText(0, text),), FrontMatter(title=title))


def _prose(count: int, start: int = 0) -> str:
    return " ".join(SENTENCE.format(index) for index in range(start, start + count))


def test_short_sections_are_one_passage_each_with_their_path() -> None:
    document = _document(
        Block("heading", "A title", level=1),
        Block("heading", "2. Data", level=2),
        Block("paragraph", "First."),
        Block("heading", "2.1. Spectra", level=3),
        Block("paragraph", "Second."),
        Block("heading", "3. End", level=2),
        Block("paragraph", "Third."),
        title="A title",
    )
    assert [(p.section, p.text) for p in cut(document)] == [
        ("2. Data", "First."),
        ("2. Data > 2.1. Spectra", "Second."),
        ("3. End", "Third."),
    ]


def test_long_paragraphs_are_cut_at_sentences_into_even_parts() -> None:
    document = _document(Block("paragraph", _prose(60)))
    passages = cut(document)
    assert " ".join(passage.text for passage in passages) == _prose(60)
    assert all(600 <= len(passage.text) <= FULL for passage in passages)
    assert all(passage.text.endswith("axis.") for passage in passages)


def test_places_index_into_the_markdown() -> None:
    document = _document(
        Block("paragraph", _prose(10)),
        Block("paragraph", _prose(30, 10)),
        Block("caption", "Figure 1. x"),
    )
    markdown = to_markdown(document)
    for passage in cut(document):
        place = markdown[passage.char_start : passage.char_end]
        assert re.sub(r"\s+", " ", place) == re.sub(r"\s+", " ", passage.text)


def test_a_long_table_repeats_caption_and_header_and_keeps_rows_whole() -> None:
    rows = [f"| HD {number} | {number / 7:.3f} | -{number / 3:.2f} |" for number in range(200)]
    table = "\n".join(["| Star | Period | Shift |", "| --- | --- | --- |", *rows])
    document = _document(Block("caption", "Table 1. Stars."), Block("table", table))
    passages = cut(document)
    assert len(passages) > 3
    lines = [passage.text.split("\n") for passage in passages]
    assert all(part[:3] == ["Table 1. Stars.", *table.split("\n")[:2]] for part in lines)
    assert [row for part in lines for row in part[3:]] == rows
    assert {passage.kind for passage in passages} == {"table"}


def test_captions_stand_alone_and_references_are_left_out() -> None:
    document = _document(
        Block("heading", "Abstract", level=2),
        Block("paragraph", "We see."),
        Block("caption", "Figure 1. A ring."),
        Block("heading", "References", level=2),
        Block("reference", "Li 2019"),
    )
    assert [(p.kind, p.text) for p in cut(document)] == [
        ("abstract", "We see."),
        ("caption", "Figure 1. A ring."),
    ]
    assert to_markdown(document).endswith("## References\n\n- Li 2019\n")


def test_chinese_counts_twice() -> None:
    document = _document(Block("paragraph", "本文分析恒星的径向迁移强度随年龄的变化。" * 120))
    assert all(len(passage.text) <= 820 for passage in cut(document))


def test_the_page_is_the_one_the_passage_starts_on(paper_pdf: bytes) -> None:
    passages = cut(parse(paper_pdf))
    by_page = {passage.page for passage in passages}
    assert by_page == {1, 2}
    (table,) = [passage for passage in passages if passage.kind == "table"]
    assert table.page == 2
    assert table.text.startswith("Table 1. Periods")


_BLOCKS = st.lists(
    st.builds(
        Block,
        kind=st.sampled_from(
            ["heading", "paragraph", "list", "table", "caption", "equation", "footnote"]
        ),
        text=st.text(alphabet="ab 中.\n|1", min_size=1, max_size=400).map(str.strip).filter(bool),
        level=st.integers(1, 3),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(_BLOCKS)
def test_any_blocks_keep_their_words_and_places(blocks: list[Block]) -> None:
    document = _document(*blocks)
    markdown = to_markdown(document)
    passages = cut(document)
    for passage in passages:
        assert 0 <= passage.char_start <= passage.char_end <= len(markdown)
    words = {
        word
        for block in blocks
        if block.kind in {"paragraph", "list", "caption"}
        for start, end in sentences(block.text)
        for word in block.text[start:end].split()
    }
    kept = {word for passage in passages for word in passage.text.split()}
    assert words <= kept


@pytest.mark.parametrize("kind", ["paragraph", "list"])
def test_text_without_full_stops_is_bounded(kind: str) -> None:
    document = _document(Block("paragraph" if kind == "paragraph" else "list", "word " * 4000))
    assert all(len(passage.text) <= 2 * FULL for passage in cut(document))
