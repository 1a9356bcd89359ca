"""Tags are kept tidy, whoever wrote them."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.core.errors import UsageError
from nuncius.core.tags import LONGEST_TAG, MOST_TAGS, fitting_tags, fold_tag, tidy_tags


@pytest.mark.parametrize(
    ("words", "tags"),
    [
        (["JWST", "to read"], ("JWST", "to read")),
        (["  to \n read\t", "", "   "], ("to", "read")),
        (["a\tb  c"], ("a b c",)),
        (["JWST", "dust", "jwst", "Jwst "], ("JWST", "dust")),
        (["Straße", "STRASSE"], ("Straße",)),
        (["e\u0301toile", "\u00c9toile"], ("\u00e9toile",)),
        (
            ["stars, dust; gas", "星团，巡天、星系"],
            ("stars", "dust", "gas", "星团", "巡天", "星系"),
        ),
        (["a\x00b\ud800", "\u202eevil\u202c", "\u200b"], ("ab", "evil")),
        (["<img src=x onerror=alert(1)>"], ("<img src=x onerror=alert(1)>",)),
    ],
)
def test_tags_are_trimmed_composed_and_there_once(words: list[str], tags: tuple[str, ...]) -> None:
    assert tidy_tags(words) == tags


def test_what_is_too_long_or_too_many_is_refused_with_the_bound() -> None:
    assert tidy_tags(["x" * LONGEST_TAG]) == ("x" * LONGEST_TAG,)
    with pytest.raises(UsageError, match="too long") as long:
        tidy_tags(["x" * (LONGEST_TAG + 1)])
    assert str(LONGEST_TAG) in long.value.hint
    many = [f"t{i}" for i in range(MOST_TAGS)]
    assert len(tidy_tags([*many, "T0"])) == MOST_TAGS
    with pytest.raises(UsageError, match=f"{MOST_TAGS + 1} tags are too many"):
        tidy_tags([*many, "one more"])


def test_of_a_bibliographys_keywords_those_are_taken_that_fit() -> None:
    assert fitting_tags(["Dust", "x" * 100, "gas", "GAS"], beside=["dust"]) == ("gas",)
    many = [f"t{i}" for i in range(200)]
    assert fitting_tags(many, beside=["one"]) == tuple(many[: MOST_TAGS - 1])


@given(st.lists(st.text(), max_size=60))
def test_tidying_twice_is_tidying_once(words: list[str]) -> None:
    tags = fitting_tags(words)
    assert tidy_tags(tags) == tags == fitting_tags(tags)
    assert len({fold_tag(tag) for tag in tags}) == len(tags) <= MOST_TAGS
    for tag in tags:
        assert 0 < len(tag) <= LONGEST_TAG
        assert tag == unicodedata.normalize("NFC", tag).strip()
        assert fold_tag(fold_tag(tag)) == fold_tag(tag)
