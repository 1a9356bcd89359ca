import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.core.errors import NotFoundError, UsageError
from nuncius.library.content import page_ranges, sections, select

PAPER = """<!-- page 1 -->

# Spots on young stars

A. Author

## Abstract

We looked.

## 1. Introduction

Stars have spots.

<!-- page 2 -->

## 2. Data

Two telescopes.

### 2.1. Spectra

High resolution.

### 2.2. Photometry

```
# not a heading
```

<!-- page 4 -->

## 3. Results

### 3.1. Spectra

They vary.

## Appendix A. Spectra of standards

None.
"""


def text_of(section: str, page: int | None = None) -> str:
    return select(PAPER, section=section, page=page).content


# --- sections ------------------------------------------------------------------------------------


def test_sections_tell_path_page_and_place() -> None:
    there = sections(PAPER)
    assert [(one.path, one.page) for one in there] == [
        ("Spots on young stars", 1),
        ("Abstract", 1),
        ("1. Introduction", 1),
        ("2. Data", 2),
        ("2. Data > 2.1. Spectra", 2),
        ("2. Data > 2.2. Photometry", 2),
        ("3. Results", 4),
        ("3. Results > 3.1. Spectra", 4),
        ("Appendix A. Spectra of standards", 4),
    ]
    for one in there:
        assert PAPER[one.start :].lstrip("#").lstrip().startswith(one.title)
    data = there[3]
    assert "2.2. Photometry" in PAPER[data.start : data.end]
    assert "3. Results" not in PAPER[data.start : data.end]


def test_a_comment_in_a_code_block_is_no_heading() -> None:
    assert all("not a heading" not in one.title for one in sections(PAPER))


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("2.1", "### 2.1. Spectra"),
        ("2.1.", "### 2.1. Spectra"),
        ("§ 2.1", "### 2.1. Spectra"),
        ("Section 3", "## 3. Results"),
        ("2.1 Spectra", "### 2.1. Spectra"),
        ("results", "## 3. Results"),
        ("  INTRO ", "## 1. Introduction"),
        ("Photo", "### 2.2. Photometry"),
        ("Data > Spectra", "### 2.1. Spectra"),
        ("3 > 3.1", "### 3.1. Spectra"),
        ("3. Results > 3.1. Spectra", "### 3.1. Spectra"),
        ("Appendix A", "## Appendix A"),
        ("abstract", "## Abstract"),
    ],
)
def test_a_section_is_found_by_number_title_beginning_or_path(name: str, start: str) -> None:
    assert text_of(name).startswith(start)


def test_chinese_sections_are_found_by_number_and_words() -> None:
    paper = "# 题目\n\n## 一、引言\n\n甲\n\n## 2 方法\n\n乙\n\n### 2.1 模型\n\n丙\n"
    assert select(paper, section="引言").content.endswith("甲\n\n")
    assert "丙" in select(paper, section="2").content
    assert select(paper, section="模型").content.endswith("丙\n")
    assert select(paper, section="第2章").content.startswith("## 2 方法")


def test_an_article_at_the_start_of_a_title_is_not_its_number() -> None:
    paper = "## A survey of stars\n\nx\n\n## A. Tables\n\ny\n"
    assert select(paper, section="survey of stars" and "A survey").content.startswith("## A survey")
    assert select(paper, section="A").content.startswith("## A. Tables")


def test_an_ambiguous_title_names_the_candidates() -> None:
    with pytest.raises(NotFoundError) as caught:
        text_of("Spectra")
    assert "2. Data > 2.1. Spectra (p. 2)" in caught.value.hint
    assert "3. Results > 3.1. Spectra (p. 4)" in caught.value.hint


def test_a_page_settles_which_section_is_meant() -> None:
    assert text_of("Spectra", page=4) == "### 3.1. Spectra\n\nThey vary.\n\n"


def test_an_unknown_section_names_those_that_exist() -> None:
    with pytest.raises(NotFoundError, match=r"no section 'Dust'.*1\. Introduction.*3\. Results"):
        text_of("Dust")


def test_the_list_of_sections_in_an_error_is_bounded() -> None:
    paper = "".join(f"## {n}. {'x' * 500}\n\n" for n in range(1, 300))
    with pytest.raises(NotFoundError) as caught:
        select(paper, section="Dust" * 900)
    assert "and 259 more" in caught.value.hint
    assert len(str(caught.value)) < 6000


def test_a_text_without_headings_says_so() -> None:
    with pytest.raises(NotFoundError, match="no headings"):
        select("Only words.\n", section="1")


# --- pages ---------------------------------------------------------------------------------------


def test_a_page_is_all_between_its_anchor_and_the_next() -> None:
    part = select(PAPER, page=2)
    assert part.content.startswith("<!-- page 2 -->")
    assert part.content.endswith("```\n\n")
    assert PAPER[part.offset :].startswith(part.content)


def test_a_section_on_a_page_is_their_common_part() -> None:
    paper = "## 1. A\n\n<!-- page 1 -->\n\none\n\n<!-- page 2 -->\n\ntwo\n\n## 2. B\n\nthree\n"
    assert select(paper, section="1", page=2).content == "<!-- page 2 -->\n\ntwo\n\n"


def test_a_page_without_text_names_the_pages_with_text() -> None:
    with pytest.raises(NotFoundError, match=r"page 3.*1-2, 4"):
        select(PAPER, page=3)


def test_a_format_without_pages_says_so() -> None:
    with pytest.raises(NotFoundError, match="has no pages"):
        select("# A\n\ntext\n", page=1)


def test_a_section_that_is_on_another_page_tells_where() -> None:
    with pytest.raises(NotFoundError, match=r"not stand on page 1.*3\. Results \(p\. 4\)"):
        text_of("Results", page=1)


def test_runs_of_pages_are_joined() -> None:
    assert page_ranges([1, 2, 3, 5, 7, 8]) == "1-3, 5, 7-8"


# --- runs of characters --------------------------------------------------------------------------


@given(st.text(min_size=1, max_size=200), st.integers(1, 40))
def test_pieces_put_together_are_the_whole(text: str, limit: int) -> None:
    pieces: list[str] = []
    offset: int | None = 0
    while offset is not None:
        part = select(text, offset=offset, limit=limit)
        assert 0 < len(part.content) <= limit
        assert part.size == len(text)
        pieces.append(part.content)
        offset = part.next_offset
    assert "".join(pieces) == text


def test_a_letter_keeps_its_accents() -> None:
    text = unicodedata.normalize("NFD", "Poincaré é")
    cut = text.index("\u0301")
    part = select(text, limit=cut)
    assert part.content == "Poincar"
    assert part.next_offset == cut - 1


def test_offset_counts_from_the_start_of_what_is_asked_for() -> None:
    part = select(PAPER, section="3.1", offset=5, limit=3)
    assert part.content == PAPER[part.offset : part.offset + 3] == ".1."
    assert part.size == len(text_of("3.1"))
    assert part.next_offset == 8


def test_an_offset_beyond_the_end_is_an_error_and_an_empty_text_is_not() -> None:
    assert select("").content == ""
    assert select("").next_offset is None
    with pytest.raises(NotFoundError, match="beyond the end: the paper has 4 characters"):
        select("abcd", offset=4)
    with pytest.raises(NotFoundError, match=r"section '3\.1' has"):
        select(PAPER, section="3.1", offset=5000)


@pytest.mark.parametrize(("offset", "limit"), [(-1, None), (0, 0), (0, -5)])
def test_ranges_that_make_no_sense_are_refused(offset: int, limit: int | None) -> None:
    with pytest.raises(UsageError, match="make no range"):
        select(PAPER, offset=offset, limit=limit)
