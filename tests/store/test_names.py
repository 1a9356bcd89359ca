"""How papers are called."""

import re
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.core.papers import Paper
from nuncius.store.names import candidates, cite_key_stem, cite_keys, names_of, new_paper_id
from store.samples import a_paper

_PAPER = a_paper(
    bibcode="2022AJ....164..123B",
    arxiv_id="2206.12345v2",
    doi="10.3847/1538-3881/AC1234",
    cite_key="Bouma2022",
)


@pytest.mark.parametrize(
    "name",
    [
        "2022AJ....164..123B",
        "https://ui.adsabs.harvard.edu/abs/2022AJ....164..123B/abstract",
        "2206.12345",
        "2206.12345v1",
        "arXiv:2206.12345",
        "ARXIV: 2206.12345v3",
        "arXiv:2206.12345v2 [astro-ph.SR]",
        "https://arxiv.org/abs/2206.12345v2",
        "http://arxiv.org/pdf/2206.12345v2.pdf",
        "arxiv.org/pdf/2206.12345",
        "10.48550/arXiv.2206.12345",
        "https://doi.org/10.48550/arXiv.2206.12345",
        "10.3847/1538-3881/ac1234",
        "doi:10.3847/1538-3881/AC1234",
        "DOI: 10.3847/1538-3881/ac1234.",
        "https://doi.org/10.3847/1538-3881/ac1234",
        "http://dx.doi.org/10.3847%2F1538-3881%2Fac1234",
        "Bouma2022",
        " bouma2022 ",
    ],
)
def test_every_form_of_a_name_is_the_papers(name: str) -> None:
    assert set(candidates(name)) & names_of(_PAPER)


@pytest.mark.parametrize(
    "name",
    [
        "2206.1234",
        "2206.123456",
        "2022AJ....164..123C",
        "10.3847/1538-3881/ac12345",
        "10.1000/2206.12345",
        "see arXiv:2206.12345 and others",
        "Bouma2022a",
        "",
        "\ud800",
    ],
)
def test_what_only_looks_like_a_name_is_not(name: str) -> None:
    assert not set(candidates(name)) & names_of(_PAPER)


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        ("astro-ph/0501001", "arXiv:astro-ph/0501001v2"),
        ("astro-ph.CO/0501001", "astro-ph/0501001"),
        ("math/0309136", "https://arxiv.org/abs/math.GT/0309136"),
        ("hep-th/9901001", "HEP-TH/9901001"),
    ],
)
def test_old_arxiv_ids_are_one_whatever_their_subject_class(kept: str, asked: str) -> None:
    assert set(candidates(asked)) & names_of(a_paper(arxiv_id=kept))


def test_a_bibcode_of_arxiv_is_found_by_its_arxiv_id() -> None:
    paper = a_paper(bibcode="2022arXiv220612345B")
    assert ("arxiv", "2206.12345") in names_of(paper)


def test_a_bibcode_with_an_ampersand_is_read_out_of_an_address() -> None:
    paper = a_paper(bibcode="2018A&A...616A...1G")
    asked = "https://ui.adsabs.harvard.edu/abs/2018A%26A...616A...1G/abstract"
    assert set(candidates(asked)) & names_of(paper)


def test_a_doi_with_brackets_stays_whole() -> None:
    paper = a_paper(doi="10.1016/S0019-1035(03)00123-4")
    assert set(candidates("https://doi.org/10.1016/S0019-1035(03)00123-4")) & names_of(paper)


@pytest.mark.parametrize(
    ("paper", "stem"),
    [
        (a_paper(), "Bouma2022"),
        (a_paper("T", "Röser, S."), "Roser2022"),
        (a_paper("T", "Łukasz Wyrzykowski", year=2016), "Wyrzykowski2016"),
        (a_paper("T", "Jørgen Christensen-Dalsgaard"), "ChristensenDalsgaard2022"),
        (a_paper("T", "Ewine F. van Dishoeck"), "vanDishoeck2022"),
        (a_paper("T", "O'Neil, K."), "ONeil2022"),
        (a_paper("The rotation of stars", "张三"), "Rotation2022"),
        (a_paper("恒星的自转", "张三"), "Paper2022"),
        (a_paper("On 47 Tuc and its stars", "", year=None), "TucND"),
        (a_paper("", "", year=None), "PaperND"),
    ],
)
def test_a_cite_key_is_a_name_and_a_year_in_ascii(paper: Paper, stem: str) -> None:
    assert cite_key_stem(paper) == stem


@given(
    st.text(),
    st.lists(st.text(max_size=30), max_size=2),
    st.one_of(st.none(), st.integers(1500, 2100)),
)
def test_any_paper_gets_a_key_that_latex_takes(
    title: str, authors: list[str], year: int | None
) -> None:
    stem = cite_key_stem(a_paper(title, *(authors or [""]), year=year))
    assert re.fullmatch(r"[A-Za-z0-9]+", stem)


def test_further_papers_of_a_year_get_letters_that_never_end() -> None:
    keys = list(islice(cite_keys("B2022"), 800))
    assert keys[:4] == ["B2022", "B2022a", "B2022b", "B2022c"]
    assert keys[26:29] == ["B2022z", "B2022aa", "B2022ab"]
    assert len(set(keys)) == 800


def test_an_id_is_eight_characters_and_never_a_number() -> None:
    for _ in range(200):
        assert re.fullmatch(r"[a-z][a-z0-9]{7}", new_paper_id())


@given(st.text())
def test_any_text_may_be_asked_for(text: str) -> None:
    assert all(kind and isinstance(name, str) for kind, name in candidates(text))
