"""What goes in with a bibliography and does not come out, or comes out as another work."""

import asyncio

import pytest

from nuncius.core.papers import Author, Paper
from nuncius.library.bib_import import import_bib
from nuncius.library.export import references_as
from nuncius.library.reference import of_record
from nuncius.store.protocols import Store


async def test_an_entry_with_a_wrong_doi_is_not_another_paper(store: Store) -> None:
    await store.papers.put(
        Paper(paper_id="", title="The ages of quiet quasars", authors=(Author(name="Rey, Ana"),),
              year=2021, doi="10.1093/mnras/x1"), None, ()
    )  # fmt: skip
    text = "@article{own, author={Özel, F.}, title={Radii of neutron stars from bursts}, doi={10.1093/mnras/x1}, year=2009}"
    await import_bib(text, store.papers, store.works)
    found = await store.papers.find("own")
    assert found.title == "Radii of neutron stars from bursts"


@pytest.mark.parametrize(
    "text",
    [
        "@misc{web, title={A page about the weather of Mars}, year=2020}",
        "@misc{web, title={Some page}, howpublished={https://example.org/a}}",
    ],
)
async def test_the_same_file_twice_adds_nothing(store: Store, text: str) -> None:
    await import_bib(text, store.papers, store.works)
    again = await import_bib(text, store.papers, store.works)
    assert again.added == []


ROUND = {
    "others": "@article{a, author={Rey, A. and Dahl, B. and others}, title={On quiet stars in dust}, year=2001, journal={Nature}}",
    "publisher = {": "@book{a, author={Rey, A.}, title={On quiet stars in dust}, publisher={Printer}, year=2001}",
    "school = {": "@phdthesis{a, author={Rey, A.}, title={On quiet stars in dust}, school={Univ. of X}, year=2001}",
    "month = ": "@article{a, author={Rey, A.}, title={On quiet stars in dust}, journal={Nature}, year=2001, month=sep}",
    "number = {": "@article{a, author={Rey, A.}, title={On quiet stars in dust}, journal={Nature}, volume=3, number=7, year=2001}",
    "https://example.org/a_b": "@misc{a, author={Rey, A.}, title={On quiet stars in dust}, url={https://example.org/a_b}, year=2001}",
}  # fmt: skip


@pytest.mark.parametrize("kept", ROUND)
async def test_what_an_entry_tells_comes_out_again(store: Store, kept: str) -> None:
    (paper,) = (await import_bib(ROUND[kept], store.papers, store.works)).added
    told = (await store.works.get([paper.paper_id]))[paper.paper_id].record
    assert kept in references_as("bibtex", [of_record(told, key=paper.cite_key)])


async def test_two_imports_at_once_are_one_library(store: Store) -> None:
    text = "\n".join(
        f"@article{{k{at}, author={{Rey, A.}}, title={{Star {at} of the far north}}, doi={{10.1000/{at}}}}}"
        for at in range(12)
    )
    await asyncio.gather(*(import_bib(text, store.papers, store.works) for _ in range(2)))
    dois = [paper.doi for paper in await store.papers.papers()]
    assert len(dois) == len(set(dois)) == 12
