"""A request goes to arXiv as wide as it must and no wider, and the rest is named."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.core.errors import UsageError
from nuncius.sources.ads_query import translate
from nuncius.sources.arxiv_query import ArxivQuery, arxiv_query

TODAY = date(2026, 12, 1)


def ask(text: str) -> ArxivQuery:
    return arxiv_query(translate(text, today=TODAY), today=TODAY)


@pytest.mark.parametrize(
    ("words", "query"),
    [
        ("dark matter", 'all:"dark matter"'),
        ("papers by Riess on magnetars", "au:Riess AND all:magnetars"),
        ("papers by Pieter van Dokkum", 'au:"van Dokkum"'),
        ("papers by Smith or Jones", "(au:Smith OR au:Jones)"),
        ("dark matter -axion", 'all:"dark matter" ANDNOT all:axion'),
        ("papers with JWST in the title", "ti:JWST"),
        ("astro-ph.GA papers about quasars", "cat:astro-ph.GA AND all:quasars"),
        ("open access papers on quasars", "all:quasars"),
        ("reviews of magnetars", "(all:magnetars AND (ti:review OR abs:review))"),
    ],
)
def test_what_arxiv_knows_is_asked(words: str, query: str) -> None:
    assert ask(words).search_query == query


def test_years_of_publication_are_asked_a_year_wider_and_named() -> None:
    asked = ask("magnetars between 2010 and 2012")
    assert asked.search_query == "submittedDate:[200901010000 TO 201312312359] AND all:magnetars"
    assert [(item.query, item.checkable) for item in asked.unasked] == [("year:2010-2012", True)]


def test_one_day_of_entry_is_asked_as_it_is() -> None:
    asked = ask("magnetars today")
    assert asked.search_query == "submittedDate:[202611300000 TO 202712312359] AND all:magnetars"
    assert asked.unasked == ()


def test_a_first_author_is_asked_as_an_author_and_left_to_check() -> None:
    asked = ask("first author Riess, A. on magnetars")
    assert asked.search_query == "au:Riess AND all:magnetars"
    assert [(item.query, item.checkable) for item in asked.unasked] == [
        ('author:"^Riess, A"', True)
    ]


def test_what_cannot_be_judged_is_named_so() -> None:
    asked = ask("papers using ALMA on magnetars from Caltech")
    assert asked.search_query == "all:magnetars"
    assert {(item.query, item.checkable) for item in asked.unasked} == {
        ("bibgroup:ALMA", False),
        ('aff:"Caltech"', False),
    }


def test_an_unwanted_thing_is_never_asked_wider() -> None:
    asked = ask("magnetars not by Smith, J.")
    assert asked.search_query == "all:magnetars"
    assert [item.query for item in asked.unasked] == ['-author:"Smith, J"']


def test_citations_are_no_question_for_arxiv() -> None:
    asked = ask("papers citing Riess since 2019")
    assert asked.search_query == ""
    assert any(item.query.startswith("citations(") for item in asked.unasked)


def test_identifiers_go_into_the_list() -> None:
    asked = ask("arXiv:1907.10625v2")
    assert asked.id_list == ("1907.10625",)
    assert asked.search_query == ""


def test_only_unwanted_things_need_something_to_be_taken_from() -> None:
    assert ask('-title:"magnetar"').search_query.startswith("submittedDate:[")


@given(st.text(min_size=1, max_size=80))
def test_any_text_becomes_balanced_and_unencoded(text: str) -> None:
    try:
        asked = ask(text)
    except UsageError:
        return
    query = asked.search_query
    assert query.count('"') % 2 == 0
    outside = "".join(query.split('"')[::2])
    assert outside.count("(") == outside.count(")")
    assert "\\" not in query
    assert not query.startswith(("ANDNOT", "AND ", "OR "))


@pytest.mark.parametrize(
    ("words", "query"),
    [
        ('author:"Núñez, A"', "(au:Núñez OR au:Nunez)"),
        ('author:"Nunez, A"', "au:Nunez"),
        ('author:"Łokas"', "(au:Łokas OR au:Lokas)"),
        ('author:"Sørensen"', "(au:Sørensen OR au:Sorensen)"),
        ('author:"de Graaff" -author:"Müller"', 'au:"de Graaff" ANDNOT (au:Müller OR au:Muller)'),
        (
            'title:"Schrödinger equation"',
            '(ti:"Schrödinger equation" OR ti:"Schrodinger equation")',
        ),
        ('author:"Σ"', "au:Σ"),
    ],
)
def test_names_are_asked_with_and_without_their_accents(words: str, query: str) -> None:
    assert ask(words).search_query == query


def test_however_an_accent_is_encoded_the_same_is_sent() -> None:
    assert ask('author:"Nu\u0301n\u0303ez"') == ask('author:"N\u00fa\u00f1ez"')


@pytest.mark.parametrize(
    ("words", "query"),
    [
        ("β Pic disc", '(all:"beta Pictoris" OR all:"beta Pic") AND all:disc'),
        ("51 Pegasi b", '(all:"51 Pegasi b" OR all:"51 Peg b")'),
        ("NGC 1275", 'all:"NGC 1275"'),
    ],
)
def test_a_star_is_asked_for_by_the_names_that_papers_print(words: str, query: str) -> None:
    assert ask(words).search_query == query
