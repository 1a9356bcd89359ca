"""What services told of papers is kept beside them, and old names stay names."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from nuncius.core.errors import NotFoundError, StoreError
from nuncius.core.papers import Paper
from nuncius.core.records import Affiliated, Link, Record
from nuncius.store import open_store
from nuncius.store.sqlite import SqliteStore

RECORD = Record(
    source="ads+arxiv",
    title="The ages of quiet quasars",
    authors=(Affiliated("Rey, A.", ("Lynx Observatory",), "0000-0002-1825-0097"),),
    year=2021,
    bibcodes=("2021MNRAS.500..100R", "2020arXiv201012345R"),
    arxiv_id="2010.12345",
    dois=("10.1093/mnras/x1",),
    links=(Link("arxiv_pdf", "https://arxiv.org/pdf/2010.12345", "cc-by"),),
    references=("2001A&A...379..299M", "1998Natur.395..663K"),
    citations=("2022ApJ...900..100D",),
    extra={"arxiv_class": "astro-ph.GA"},
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = await open_store(tmp_path, tmp_path / "nuncius.db")
    yield opened
    await opened.close()


async def known(store: SqliteStore, **fields: object) -> str:
    paper = Paper.model_validate({"paper_id": "", "title": "The ages", **fields})
    return (await store.papers.put(paper, None, ())).paper_id


async def test_a_record_comes_back_as_it_was_told(store: SqliteStore) -> None:
    paper_id = await known(store, bibcode=RECORD.bibcode)
    await store.works.put(paper_id, RECORD)
    told = (await store.works.get([paper_id, "nosuch00"]))[paper_id]
    assert told.record == replace(RECORD, references=(), citations=())
    assert told.told_at.endswith("Z") or "+" in told.told_at
    assert await store.works.links(paper_id, "references") == sorted(RECORD.references)
    assert await store.works.links(paper_id, "citations") == list(RECORD.citations)


async def test_a_paper_is_found_by_every_name_that_was_ever_told(store: SqliteStore) -> None:
    paper_id = await known(store, arxiv_id="2010.12345")
    await store.works.put(paper_id, replace(RECORD, bibcodes=("2020arXiv201012345R",), dois=()))
    await store.works.put(paper_id, replace(RECORD, bibcodes=("2021MNRAS.500..100R",)))
    await store.works.add_keys(paper_id, ["rey:quasars", " "])
    for name in ("2020arXiv201012345R", "2021MNRAS.500..100R", "10.1093/MNRAS/X1", "Rey:Quasars"):
        assert (await store.papers.find(name)).paper_id == paper_id
    paper = await store.papers.find(paper_id)
    again = await store.papers.put(paper.model_copy(update={"title": "The Ages"}), None, ())
    assert again.cite_key == paper.cite_key
    assert (await store.papers.find("rey:quasars")).title == "The Ages"


async def test_many_names_are_looked_up_at_once(store: SqliteStore) -> None:
    one = await known(store, bibcode="2021MNRAS.500..100R")
    other = await known(store, doi="10.1093/mnras/x2")
    names = ["2021MNRAS.500..100R", "doi:10.1093/MNRAS/x2", "2099ApJ...999..999Z", "", "\ud800"]
    assert await store.works.papers_of(names) == {names[0]: one, names[1]: other}


async def test_papers_that_cite_are_found_by_what_they_cite(store: SqliteStore) -> None:
    one, other = await known(store), await known(store)
    await store.works.put(one, RECORD)
    await store.works.put(other, replace(RECORD, bibcodes=(), dois=(), arxiv_id=""))
    linked = await store.works.linked([*RECORD.references, "none"], "references")
    assert linked == {bibcode: sorted([one, other]) for bibcode in RECORD.references}
    await store.works.put(one, replace(RECORD, references=(), citations=()))
    assert await store.works.links(one, "references")  # nothing was told: what was known stays
    await store.papers.remove(one)
    linked = await store.works.linked(RECORD.references, "references")
    assert linked == {bibcode: [other] for bibcode in RECORD.references}


async def test_there_must_be_a_paper(store: SqliteStore) -> None:
    with pytest.raises(NotFoundError):
        await store.works.put("nosuch00", RECORD)
    with pytest.raises(NotFoundError):
        await store.works.add_keys("nosuch00", ["key"])


async def test_imports_wait_for_each_other_and_give_their_turn_back(store: SqliteStore) -> None:
    inside: list[int] = []

    async def one(number: int) -> None:
        async with store.works.importing():
            inside.append(number)
            await asyncio.sleep(0.01)
            assert inside[-1] == number
            if number == 1:
                raise ValueError("it failed")

    done = await asyncio.gather(*map(one, range(4)), return_exceptions=True)
    assert sorted(inside) == [0, 1, 2, 3]
    assert [type(end) for end in done] == [type(None), ValueError, type(None), type(None)]


async def test_a_cancelled_import_gives_its_turn_back(store: SqliteStore) -> None:
    async def forever() -> None:
        async with store.works.importing():
            await asyncio.sleep(60)

    holder, waiting = (asyncio.create_task(forever()) for _ in range(2))
    await asyncio.sleep(0.05)
    for task in (waiting, holder):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    async with store.works.importing():
        pass


async def test_an_import_that_does_not_end_is_named(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nuncius.store.works._IMPORT_WAIT_S", 0.0)
    async with store.works.importing():
        with pytest.raises(StoreError, match=r"being imported by process \d+"):
            async with store.works.importing():
                raise AssertionError("two at once")
