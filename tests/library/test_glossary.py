"""Chinese questions are turned into English terms, and things are known by their other words."""

from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.core.stem import stem
from nuncius.library.glossary import glossary, phrase, sibling_phrases, spellings


def groups() -> list[list[str]]:
    text = (resources.files("nuncius.library") / "related_words.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [line.replace("=", ";").split(";") for line in lines]


def test_every_line_of_related_words_is_a_group_of_words_that_a_search_can_find() -> None:
    assert len(groups()) >= 400
    for group in groups():
        words = [word.strip() for word in group]
        assert len(words) >= 2, group
        assert len(set(words)) == len(words), group
        assert sum(bool(phrase(word)) for word in words) >= 2, group


@pytest.mark.parametrize(
    ("question", "english", "rest"),
    [
        ("stardate 用的是哪种采样器？", ["sampler"], ["stardate"]),
        ("有效温度是多少", ["effective temperature"], []),
    ],
)
def test_terms_are_taken_longest_first_and_question_words_dropped(
    question: str, english: list[str], rest: list[str]
) -> None:
    found, left = glossary().translate(question)
    assert [words[0] for _, words in found if words] == english
    assert [word for word in left.split() if word.isascii() and word.isalpha()] == rest


@pytest.mark.parametrize(
    ("chinese", "digits"),
    [
        ("六十亿年", "6 Gyr"),
        ("四千万岁", "40 Myr"),
        ("一百二十个", "120"),
        ("百分之三十五", "35 %"),
        ("三成", "30 %"),
        ("两颗", "2"),
        ("一万二千", "12000"),
    ],
)
def test_chinese_numbers_are_read_as_papers_print_them(chinese: str, digits: str) -> None:
    _, rest = glossary().translate(f"恒星 {chinese} 恒星")
    assert " ".join(rest.split()) == digits


def test_a_compound_is_spelled_as_the_index_holds_it() -> None:
    assert spellings("tensor-to-scalar ratio")[:2] == (
        "tensor to scalar ratio",
        "tensor to scalar tensortoscalar ratio",
    )
    assert "tip of the red giant branch" in spellings("tip of the red giant branch")
    assert spellings("") == ()


def test_a_symbol_is_the_same_thing_as_its_name() -> None:
    known = glossary()
    assert "teff" in known.same["effect temperatur"]
    assert "h 0" in known.same["hubbl constant"]


def test_related_words_are_found_for_runs_of_tokens() -> None:
    tokens = [stem(word) for word in ("young", "black", "hole")]
    spans = {(start, end): words for start, end, words in sibling_phrases(tokens)}
    assert "bbh" in spans[1, 3]


@given(st.text(max_size=60))
def test_any_text_is_translated_and_loses_no_latin_letter(text: str) -> None:
    _, rest = glossary().translate(text)
    kept = [char for char in text if char.isascii() and char.isalpha()]
    # a listed term may hold Latin letters (Ia型超新星): then they are in the term
    assert len([char for char in rest if char.isascii() and char.isalpha()]) <= len(kept) + 3 * len(
        text
    )
    for word in ("", "的", text):
        assert isinstance(spellings(word), tuple)
