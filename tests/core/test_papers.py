"""Names of papers and authors."""

import pytest

from nuncius.core.identifiers import find_arxiv_id, find_bibcode, find_doi
from nuncius.core.papers import Author, Paper


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("arXiv:2205.01112v2 [astro-ph.EP]", "2205.01112"),
        ("see astro-ph/9901001v1 there", "astro-ph/9901001"),
        ("a number 1234.5 and 12345.67890123", None),
    ],
)
def test_arxiv_ids(text: str, expected: str | None) -> None:
    assert find_arxiv_id(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://doi.org/10.3847/1538-3881/AC4966.", "10.3847/1538-3881/ac4966"),
        ("(doi:10.1016/S0019-1035(03)00123-4)", "10.1016/s0019-1035(03)00123-4"),
        ("no doi 10.12 here", None),
    ],
)
def test_dois_keep_their_own_brackets(text: str, expected: str | None) -> None:
    assert find_doi(text) == expected


@pytest.mark.parametrize(
    "code", ["2022AJ....163..121B", "1998AJ....116.1009R", "2020A&A...641A...6P"]
)
def test_bibcodes(code: str) -> None:
    assert find_bibcode(f"({code})") == code


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("Luke G. Bouma", "Bouma"),
        ("Bouma, L. G.", "Bouma"),
        ("Pieter van Dokkum", "van Dokkum"),
        ("张三", "张三"),
        ("Robert Jr.", "Robert"),
        ("Martin Luther King Jr.", "King"),
        ("Plato", "Plato"),
        ("lightkurve contributors", "lightkurve contributors"),
        ("Planck Collaboration", "Planck Collaboration"),
    ],
)
def test_last_names(name: str, last: str) -> None:
    assert Author(name=name).last_name == last


def test_short_references() -> None:
    def reference(*names: str) -> str:
        authors = tuple(Author(name=name) for name in names)
        return Paper(
            paper_id="abcdefg1", title="A title", authors=authors, year=2022
        ).short_reference

    assert reference("A Bo", "C Du", "E Fo") == "Bo et al. 2022"
    assert reference("A Bo", "C Du") == "Bo & Du 2022"
    assert reference("A Bo") == "Bo 2022"
    assert reference() == "A title 2022"
