"""Cleaning, folding, tokens, sentences."""

import json
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.core.stem import stem
from nuncius.core.text import (
    clean,
    fold,
    fold_for_identity,
    index_terms,
    language_of,
    query_terms,
    sentences,
)

ANY_TEXT = st.text(alphabet=st.characters(codec=None), max_size=200)


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


class TestFolding:
    def test_hyphens_between_letters_and_white_space_do_not_count(self) -> None:
        page = "the star-\nformation rate of ﬁeld galax\u00ad\nies"
        for quote in ("star-formation rate", "starformation rate", "of field galaxies"):
            assert fold(page).find(fold(quote)), quote

    def test_signs_and_digits_count(self) -> None:
        page = fold("z = \u22120.31 and 10 km")
        assert page.find(fold("z = -0.31"))
        assert not page.find(fold("z = 0.31"))
        assert not page.find(fold("10 m"))

    def test_a_span_points_into_the_source(self) -> None:
        page = "We find a\n mass of 3.2 M."
        span = fold(page).find(fold("a mass of 3.2"))
        assert span
        assert page[span[0] : span[1]] == "a\n mass of 3.2"

    @given(ANY_TEXT)
    def test_every_text_is_found_in_itself(self, text: str) -> None:
        folded = fold(f"before {text} after")
        needle = fold(text)
        assert len(folded.text) == len(folded.offsets)
        if needle.text and not text[:1] == text[-1:] == "-":
            assert folded.find(fold(f"before {text} after"))

    @given(ANY_TEXT)
    def test_identity_ignores_case_space_and_punctuation(self, text: str) -> None:
        assert fold_for_identity(text) == fold_for_identity(f" {text}\n. ")


@given(ANY_TEXT)
def test_clean_text_can_be_stored_and_sent(text: str) -> None:
    cleaned = clean(text)
    assert "\x00" not in cleaned
    assert json.dumps(cleaned)
    cleaned.encode()
    assert clean(cleaned) == cleaned


class TestTokens:
    @pytest.mark.parametrize(
        ("query", "text"),
        [
            ("NGC1234", "the galaxy NGC 1234"),
            ("[Fe/H]", "metallicity [Fe/H] of -1.5"),
            ("Halpha", "strong Hα emission"),
            ("H-alpha", "strong Hα emission"),
            ("\\sigma_8", "the value of σ8"),
            ("O III", "the [OIII] line"),
            ("Roeser", "the survey of Röser"),
            ("HD 209458 b", "a transit of HD209458b"),
            ("暗物质", "高红移星系与暗物质晕"),
            ("恒", "恒星"),
            ("x-ray", "an Xray source"),
            ("z=7.1", "at z = 7.1"),
        ],
    )
    def test_a_spelling_finds_the_other(self, query: str, text: str) -> None:
        found = search([text, "something else"], query)
        assert found[:1] == [0]

    def test_real_probes_are_all_found_first(self, shared_data: Path) -> None:
        probes = json.loads((shared_data / "retrieval" / "astro_tokens.json").read_text())
        missed = [
            probe["query"]
            for probe in probes["probes"]
            if search(probes["docs"], probe["query"])[:1] != [probe["finds"]]
        ]
        assert missed == []

    @given(ANY_TEXT)
    def test_any_text_makes_tokens_that_fts_can_take(self, text: str) -> None:
        for variants in query_terms(text):
            for variant in variants:
                assert variant.strip()
                assert '"' not in variant
        assert index_terms(text) == index_terms(text)

    def test_stop_words_stay_where_nothing_else_is_there(self) -> None:
        assert query_terms("to be or not to be") == [["to"], ["be"], ["or"], ["not"]]
        assert query_terms("the age of a star") == [["age"], ["star"]]


def search(texts: list[str], query: str) -> list[int]:
    connection: Any = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter unicode61')")
    for index, text in enumerate(texts):
        connection.execute("INSERT INTO t(rowid, x) VALUES (?, ?)", (index, index_terms(text)))
    match = " OR ".join(f'"{variant}"' for term in query_terms(query) for variant in term)
    rows = connection.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY bm25(t)", (match,))
    return [int(str(row[0])) for row in rows]


class TestSentences:
    def test_abbreviations_numbers_and_initials_do_not_end_one(self) -> None:
        assert split("We follow L. G. Bouma et al. (2022). See Fig. 3 for z = 7.1. It fits.") == [
            "We follow L. G. Bouma et al. (2022).",
            "See Fig. 3 for z = 7.1.",
            "It fits.",
        ]

    def test_chinese_and_line_breaks(self) -> None:
        assert split("距离是 8 kpc。速度很大！\na | b") == ["距离是 8 kpc。", "速度很大！", "a | b"]

    @given(ANY_TEXT)
    def test_spans_are_in_order_and_hold_all_but_white_space(self, text: str) -> None:
        spans = sentences(text)
        assert all(start < end for start, end in spans)
        assert spans == sorted(spans)
        held = "".join(text[start:end] for start, end in spans)
        assert "".join(held.split()) == "".join(text.split())


def test_stems_are_those_of_the_index(shared_data: Path) -> None:
    text = (shared_data / "papers" / "gold" / "stardate.md").read_text()
    words = sorted({w for w in index_terms(text).split() if w.isascii() and w.isalpha()})
    connection: Any = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter unicode61')")
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
    for index, word in enumerate(words):
        connection.execute("INSERT INTO t(rowid, x) VALUES (?, ?)", (index, word))
    stored = {
        int(str(row[1])): str(row[0]) for row in connection.execute("SELECT term, doc FROM v")
    }
    assert len(words) > 1000
    assert [w for i, w in enumerate(words) if stored[i] != stem(w)] == []


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What is the age of Kepler 1627?", "en"),
        ("用 stardate 推断年龄要多久？", "zh"),
        ("Kepler-1627 的年龄", "zh"),
        ("これは星です。とても明るい", "ja"),
        ("", "en"),
    ],
)
def test_language(text: str, language: str) -> None:
    assert language_of(text) == language
