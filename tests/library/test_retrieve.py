"""A search finds what a question means: other words, symbols, Chinese, a named paper, no doubles."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from library.conftest import settings_in
from nuncius.library.library import Library
from nuncius.library.retrieve import read_query
from nuncius.library.show import show_retrieval
from nuncius.store import open_store

FLARES = """---
title: Flares of cool dwarfs in the far ultraviolet
author: Kim Aro
date: 2020-02-02
---

# Flares of cool dwarfs in the far ultraviolet

## Sample

We monitor twelve M dwarfs. The host has Teff = 3410 K and rotates once in 4.6 days.

## Method

The posterior was sampled with an affine invariant ensemble code and 64 walkers. Samples before
convergence were discarded. The light curves were detrended with a running median.

## Results

Flares are common on the youngest stars. Their energies follow a power law with an index of 1.9.
"""
TABLE = """---
title: Transits of three planets around a quiet star
author: Lee Moss
date: 2021-02-02
---

# Transits of three planets around a quiet star

## Planets

We fit all three transits together. The planets are small.

| Planet | Period (d) | Radius (Earth radii) | T14 (h) |
|---|---|---|---|
| b | 3.1 | 1.4 | 2.2 |
| c | 7.7 | 2.6 | 3.0 |
| d | 19.4 | 2.1 | 4.4 |
"""
CHINESE = """---
title: 脉冲星的自转与磁场
author: 王五
date: 2022-02-02
---

# 脉冲星的自转与磁场

## 观测

我们观测了八颗毫秒脉冲星。最快的一颗自转周期为 1.6 毫秒。

## 结论

磁场越弱，自转越快。
"""


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Library]:
    folder = tmp_path / "shelf"
    folder.mkdir()
    for name, text in (("flares", FLARES), ("table", TABLE), ("pulsar", CHINESE)):
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    store = await open_store(tmp_path / "home", tmp_path / "home" / "nuncius.db")
    library = Library(store, settings_in(tmp_path))
    report = await library.add([folder])
    assert len(report.added) == 3
    yield library
    await store.close()


async def first(library: Library, query: str) -> str:
    found = (await library.rag(query, k=3)).found
    assert found, query
    return found[0].passage.text


async def test_a_symbol_is_found_by_its_name(shelf: Library) -> None:
    assert "3410 K" in await first(shelf, "effective temperature of the host")


async def test_other_words_for_a_thing_are_found(shelf: Library) -> None:
    assert "64 walkers" in await first(shelf, "Which Monte Carlo sampler was used?")


async def test_how_long_a_transit_lasts_is_its_duration_in_the_table(shelf: Library) -> None:
    assert "T14" in await first(shelf, "How long does a transit of planet d last?")


async def test_a_chinese_question_finds_english_text_and_says_how(shelf: Library) -> None:
    retrieval = await shelf.rag("耀发的能量服从什么分布？", k=3)
    assert "power law" in " ".join(found.passage.text for found in retrieval.found)
    assert retrieval.degraded == ["translated by word list"]


async def test_an_english_question_finds_chinese_text(shelf: Library) -> None:
    retrieval = await shelf.rag("What is the rotation period of the fastest pulsar?", k=3)
    assert any("1.6 毫秒" in found.passage.text for found in retrieval.found)


async def test_a_paper_that_the_query_names_is_searched_alone(shelf: Library) -> None:
    query = 'In "Transits of three planets around a quiet star", which stars are young?'
    retrieval = await shelf.rag(query, k=10)
    assert {found.paper.title for found in retrieval.found} == {
        "Transits of three planets around a quiet star"
    }
    assert not any("transit" in term.spellings[0] for term in retrieval.terms)


async def test_a_word_that_nobody_says_is_counted_as_such(shelf: Library) -> None:
    retrieval = await shelf.rag("albedo of the planets", k=3)
    counts = {term.spellings[0]: term.count for term in retrieval.terms}
    assert counts["albedo"] == 0
    assert counts["planets"] > 0
    assert "albedo (0)" in show_retrieval(retrieval)


async def test_a_table_is_shown_with_its_header_and_the_rows_that_matter(shelf: Library) -> None:
    retrieval = await shelf.rag("period of planet c", k=3)
    shown = show_retrieval(retrieval)
    assert "| Planet | Period (d)" in shown
    assert "| c | 7.7 |" in shown


async def test_a_passage_that_two_papers_hold_comes_once_from_the_shorter(
    shelf: Library, tmp_path: Path
) -> None:
    copy = FLARES.replace(
        "Flares of cool dwarfs in the far ultraviolet", "Collected works of K. Aro"
    )
    (tmp_path / "works.md").write_text(copy + "\n## Addendum\n\nAll is well.\n", encoding="utf-8")
    await shelf.add([tmp_path / "works.md"])
    found = (await shelf.rag("affine invariant ensemble walkers", k=10)).found
    assert sum("64 walkers" in hit.passage.text for hit in found) == 1


async def test_an_empty_library_finds_nothing_and_says_so(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "home", tmp_path / "home" / "nuncius.db")
    try:
        retrieval = await Library(store, settings_in(tmp_path)).rag("anything at all", k=5)
    finally:
        await store.close()
    assert not retrieval.found
    assert retrieval.papers_in_library == 0
    assert "No passage holds any of these terms." in show_retrieval(retrieval)


async def test_results_come_in_the_same_order_each_time(shelf: Library) -> None:
    runs = [
        [hit.passage.passage_id for hit in (await shelf.rag("star planet flare", k=10)).found]
        for _ in range(3)
    ]
    assert runs[0] == runs[1] == runs[2]


def test_a_phrase_never_reaches_over_a_verb() -> None:
    terms, _ = read_query("How massive is the star?")
    assert [term.variants[0] for term in terms] == ["massive", "star"]
    terms, _ = read_query("the effective temperature of the star")
    assert "effective temperature" in terms[0].variants


@given(st.text(max_size=200))
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_any_text_is_a_query(text: str) -> None:
    terms, _ = read_query(text)
    assert len(terms) <= 24
    assert all(term.variants for term in terms)
