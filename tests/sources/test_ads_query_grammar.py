"""The parser of the ADS query language accepts what ADS accepts and names what is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.sources.ads_clauses import quoted
from nuncius.sources.ads_grammar import Call, Joined, Negated, Term, parse, validate


@pytest.mark.parametrize(
    "query",
    [
        'author:"^Hubble, E" year:1929',
        "dark matter",
        "abs:(dark AND (matter OR energy)) -title:review",
        '=author:"Smith, J"',
        "author:=Smith",
        "^charbonneau year:2005",
        "year:2000-2005",
        "year:2019-",
        "year:[2019 TO *]",
        "pubdate:[2013-07 TO *]",
        "entdate:[NOW-7DAYS TO *]",
        "author_count:[10 TO 100]",
        "citation_count:0",
        'title:(map NEAR5 "planar model")',
        "abs:/magell.*/",
        'author:"huchra, jo*"',
        "author:bol?",
        "arXiv:1108.0669",
        "identifier:2020ApJ...900..100S",
        'object:"05h23m34.6s -69d45m22s:0.1667"',
        "topn(10, abs:cosmology, citation_count desc)",
        'pos(author:"Oort, J", 1, 3)',
        "reviews(citations(abs:magnetar) year:2020)",
        "docs(library/abc123)",
        "*:* -year:2015",
        "a OR b AND NOT c",
        r'title:"a \"quoted\" word"',
        'abs:"dark matter"~3^2.5',
        "bibcode:2012A&A...547A..91T",
    ],
)
def test_what_ads_accepts_is_valid(query: str) -> None:
    assert validate(query) == []


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "empty"),
        ('author:"Hubble', "quote is not closed"),
        ("abs:(dark matter", "( is not closed"),
        ("dark) matter", ") without its ("),
        ("abs:()", "missing"),
        ("year:[2000 2005]", "LOW TO HIGH"),
        ("writer:Hubble", "no field 'writer'"),
        ("quotes(abs:a)", "no function quotes()"),
        ("author:", "nothing to look for"),
        ("a AND", "missing at the end"),
        ("OR a", "before OR"),
        ("a AND OR b", "before OR"),
        ("NEAR3 a", "before NEAR3"),
        ("doctype:poem", "no value 'poem'"),
        ("property:refreed", "no value 'refreed'"),
        ("year:recent", "cannot be 'recent'"),
        ("citation_count:[many TO *]", "cannot be 'many'"),
        ("pubdate:[summer TO *]", "cannot be 'summer'"),
        ("topn(abs:a, 10)", "number first"),
        ("citations(a, b)", "1 to 1 arguments"),
        ('author:"a", year:2000', "comma outside"),
        ('title:""', "empty quotes"),
        ("abs:-dark", "before abs:"),
        ("a " * 600, "longer than 1000"),
        ("(" * 150 + "a" + ")" * 150, "nested"),
    ],
)
def test_a_fault_is_named(query: str, message: str) -> None:
    faults = validate(query)
    assert faults
    assert any(message in str(fault) for fault in faults), [str(fault) for fault in faults]


def test_a_fault_tells_its_place() -> None:
    assert str(validate('year:2000 author:"x')[0]) == "a quote is not closed (character 18)"


def test_fields_reach_into_parentheses() -> None:
    tree = parse("abs:(dark OR title:matter)")
    assert tree == Joined("OR", (Term("dark", field="abs"), Term("matter", field="title")))


def test_not_binds_before_and_and_and_before_or() -> None:
    assert parse("a OR b AND NOT c") == Joined(
        "OR", (Term("a"), Joined("AND", (Term("b"), Negated(Term("c")))))
    )


def test_functions_keep_their_arguments() -> None:
    assert parse("topn(5, abs:x, citation_count desc)") == Call(
        "topn", ("5", Term("x", field="abs"), "citation_count desc")
    )


@given(st.text(max_size=200))
def test_any_text_is_parsed_or_faulted_without_a_crash(text: str) -> None:
    validate(text)


@given(st.text(min_size=1, max_size=60).filter(lambda text: text.strip()))
def test_quoted_text_comes_back_as_it_was(text: str) -> None:
    tree = parse(f"title:{quoted(text)}")
    assert isinstance(tree, Term)
    assert ("^" if tree.first else "") + tree.text == text
