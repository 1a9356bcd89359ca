"""Entries become known papers; keys are given once and stay, whatever becomes of the paper."""

import pytest

from nuncius.core.errors import NotFoundError
from nuncius.core.papers import Author, Paper
from nuncius.library.bib_import import import_bib, paper_of
from nuncius.library.bibtex_reading import read
from nuncius.library.export import exported
from nuncius.store.protocols import Store

FILE = r"""
@ARTICLE{2021A&A...650A..12N,
       author = {{N{\'u}{\~n}ez}, A.~B. and {GRAVITY Collaboration}},
        title = "{The C/O ratio of $\beta$ Pic b}",
      journal = {\aap},
         year = 2021,
          doi = {10.1051/0004-6361/202100001},
       eprint = {2104.00001},
       adsurl = {https://ui.adsabs.harvard.edu/abs/2021A%26A...650A..12N}
}
@misc{MyMoons, author = {Rey, A. and Saar, C.}, title = {Moons of a quiet giant star},
  eprint = {2212.00001}, year = 2022, abstract = {We look.}}
@book{saar99, author = {Saar, C.}, title = {Stars}, year = 1999
"""


async def test_each_entry_becomes_a_known_paper_under_its_own_key(store: Store) -> None:
    report = await import_bib(FILE, store.papers)
    assert [paper.cite_key for paper in report.added] == [
        "2021A&A...650A..12N",
        "MyMoons",
        "saar99",
    ]
    assert {paper.state for paper in report.added} == {"known"}
    assert (report.held, report.other_keys) == ([], [])
    assert [trouble.key for trouble in report.troubles] == ["saar99"]
    nunez = await store.papers.find("10.1051/0004-6361/202100001")
    assert nunez.title == "The C/O ratio of β Pic b"
    assert nunez.authors == (Author(name="Núñez, A. B."), Author(name="GRAVITY Collaboration"))
    assert (nunez.year, nunez.bibcode, nunez.arxiv_id) == (
        2021,
        "2021A&A...650A..12N",
        "2104.00001",
    )
    for name in ("2021A&A...650A..12N", "arXiv:2104.00001"):
        assert (await store.papers.find(name)).paper_id == nunez.paper_id


async def test_debris_of_exports_does_not_reach_the_library(store: Store) -> None:
    text = (
        "@article{a, author = {{.}, S.~N. Agbo and {Collaboration}, The X},"
        " title = {CO<SUB>2</SUB> &amp; dust}, abstract = {Not Available <P />},"
        " doi = {10.1140/epjc/s1-610.48550/arXiv.1912.06970}, year = 2020}"
    )
    (paper,) = (await import_bib(text, store.papers)).added
    assert paper.title == "CO₂ & dust"
    assert [author.name for author in paper.authors] == ["Agbo, S. N.", "The X Collaboration"]
    assert (paper.abstract, paper.doi) == ("", "10.1140/epjc/s1-6")


async def test_what_is_held_already_is_not_added_twice(store: Store) -> None:
    await import_bib(FILE, store.papers)
    report = await import_bib(FILE, store.papers)
    assert report.added == []
    assert len(report.held) == await store.papers.count() == 3


async def test_a_held_paper_learns_what_it_did_not_know_and_keeps_its_key(store: Store) -> None:
    mine = Paper(
        paper_id="",
        title="Moons of a quiet giant star",
        authors=(Author(name="Ann Rey"), Author(name="C. Saar")),
        confidential=True,
    )
    held = await store.papers.put(mine, None, ())
    report = await import_bib(FILE, store.papers)
    ((key, paper),) = report.held
    assert (key, paper.cite_key, paper.paper_id) == ("MyMoons", held.cite_key, held.paper_id)
    assert (paper.arxiv_id, paper.year, paper.abstract) == ("2212.00001", 2022, "We look.")
    assert paper.authors == mine.authors
    assert paper.confidential
    assert report.other_keys == [("MyMoons", paper)]


async def test_a_key_that_another_paper_has_stays_with_it(store: Store) -> None:
    first = await store.papers.put(
        Paper(paper_id="", title="Something else", cite_key="MyMoons"), None, ()
    )
    report = await import_bib(FILE, store.papers)
    ((key, paper),) = report.renamed
    assert key == "MyMoons"
    assert paper.cite_key == "Rey2022"
    assert (await store.papers.find("MyMoons")).paper_id == first.paper_id


async def test_a_key_that_was_given_resolves_after_publication(store: Store) -> None:
    report = await import_bib(FILE, store.papers)
    moons = report.added[1]
    published = moons.model_copy(
        update={
            "year": 2023,
            "bibcode": "2023ApJ...950...12R",
            "doi": "10.3847/1538-4357/aaaaaa",
            "cite_key": "Rey2023",
        }
    )
    stored = await store.papers.put(published, None, ())
    assert (stored.cite_key, stored.paper_id) == ("MyMoons", moons.paper_id)
    for name in ("MyMoons", "2212.00001", "10.3847/1538-4357/aaaaaa", "2023ApJ...950...12R"):
        assert (await store.papers.find(name)).paper_id == moons.paper_id
    with pytest.raises(NotFoundError):
        await store.papers.find("Rey2023")
    assert "{MyMoons," in exported([stored], "bibtex")


async def test_a_title_that_many_works_have_joins_none(store: Store) -> None:
    text = "".join(
        f"@book{{b{year}, author = {{Saar, C.}}, title = {{Stars}}, year = {year}}}\n"
        for year in (1999, 2009)
    )
    assert len((await import_bib(text, store.papers)).added) == 2


def test_an_entry_without_a_title_is_a_paper_still() -> None:
    (entry,) = read("@misc{code1, howpublished = {Source Code Library}, year = {2001}}").entries
    assert paper_of(entry).title == "Source Code Library"
    (entry,) = read("@misc{code1, year = {2001}}").entries
    assert paper_of(entry).title == "code1"


async def test_what_is_exported_is_imported_as_the_same_papers(store: Store) -> None:
    added = (await import_bib(FILE, store.papers)).added
    text = exported(added, "bibtex")
    report = await import_bib(text, store.papers)
    assert [paper.paper_id for _, paper in report.held] == [
        paper.paper_id for paper in sorted(added, key=lambda one: one.cite_key)
    ]
    assert exported([paper for _, paper in report.held], "bibtex") == text
