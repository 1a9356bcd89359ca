"""Search: exact counts under filters, and no text that breaks it."""

import asyncio
import random
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nuncius.core.documents import Hit
from nuncius.core.errors import DatabaseBrokenError
from nuncius.core.text import index_terms, query_terms
from nuncius.store import open_store
from nuncius.store.connection import Connection
from nuncius.store.passages import MAX_TERMS
from nuncius.store.sqlite import SqliteStore
from store.samples import a_paper, a_text

# words that the stemmer leaves alone, so that a plain comparison is the truth
_WORDS = ["ngc", "1234", "halpha", "disk", "dust", "xray", "m31", "7", "smog", "tau", "恒星", "hd"]


async def test_terms_are_joined_by_or_and_variants_are_phrases(store: SqliteStore) -> None:
    paper = await store.papers.put(
        a_paper(),
        a_text("NGC 1234 is bright.", "NGC is a catalogue, 1234 a number.", "The disk is warm."),
        [],
    )

    async def found(*terms: list[str]) -> list[int]:
        return sorted(h.passage.ordinal for h in await store.passages.search(terms, limit=9))

    assert await found(["ngc 1234"]) == [1]
    assert await found(["ngc 1234", "disk"]) == [1, 3]
    assert await found(["bright"], ["warm"], ["absent"]) == [1, 3]
    assert await found(["number"]) == [2]
    assert await found(["cluster"]) == [1, 2, 3]  # the title's
    assert await found(["data"]) == [1, 2, 3]  # the section's
    assert await found(["absent"]) == []
    assert (await store.passages.frequencies(["ngc", "ngc 1234", "absent", "-"])) == {
        "ngc": 2,
        "ngc 1234": 1,
        "absent": 0,
        "-": 0,
    }
    assert paper.state == "indexed"


async def test_a_word_in_the_title_weighs_more_than_one_in_the_text(store: SqliteStore) -> None:
    for i in range(20):  # words in every passage weigh nothing
        await store.papers.put(a_paper(f"Else {i}"), a_text(f"something else {i}"), [])
    text = await store.papers.put(a_paper("Some work"), a_text("we see smog there"), [])
    title = await store.papers.put(a_paper("Some smog"), a_text("we see nothing there"), [])
    hits = await store.passages.search([["smog"]], limit=5)
    assert [hit.passage.paper_id for hit in hits] == [title.paper_id, text.paper_id]
    assert [hit.legs for hit in hits] == [{"bm25": 1}, {"bm25": 2}]
    assert hits[0].score > hits[1].score > 0


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("The Hα line of NGC1234", "H-alpha in NGC 1234"),
        ("暗物质在恒星中", "恒星"),
        ("metallicity [Fe/H] = -0.3", "[Fe/H]"),
        ("the X-ray flux", "x ray"),
        ("ﬁnite flows", "finite flow"),
        ("Röser et al.", "Roser"),
    ],
)
async def test_both_sides_are_normalised_alike(
    store: SqliteStore, written: str, asked: str
) -> None:
    await store.papers.put(a_paper("T"), a_text(written, "unrelated"), [])
    (hit,) = await store.passages.search(query_terms(asked), limit=5)
    assert hit.passage.text == written


async def test_passages_are_read_by_handle_and_with_their_neighbours(store: SqliteStore) -> None:
    paper = await store.papers.put(a_paper(), a_text("one", "two", "three", "four"), [])
    other = await store.papers.put(a_paper("Other"), a_text("else"), [])
    handles = [f"{paper.paper_id}-{i}" for i in range(1, 5)]
    got = await store.passages.get(
        [handles[2], f"{other.paper_id}-1", "nosuchid-1", "odd", "-", f"{paper.paper_id}-0"]
    )
    assert {name: passage.text for name, passage in got.items()} == {
        handles[2]: "three",
        f"{other.paper_id}-1": "else",
    }
    assert [p.text for p in await store.passages.around(handles[0])] == ["one", "two"]
    assert [p.text for p in await store.passages.around(handles[3], before=2)] == [
        "two",
        "three",
        "four",
    ]
    assert await store.passages.around(f"{paper.paper_id}-9") == []
    assert await store.passages.around("nonsense") == []
    assert [p.passage_id for p in await store.passages.of_paper(paper.paper_id)] == handles
    assert await store.passages.count() == 5


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a library in which papers were replaced and removed, once."""
    home = tmp_path_factory.mktemp("corpus")

    async def fill() -> None:
        store = await open_store(home, home / "nuncius.db")
        chance = random.Random(7)

        def text() -> list[str]:
            return [" ".join(chance.choices(_WORDS, k=chance.randint(1, 9))) for _ in range(6)]

        papers = [
            await store.papers.put(
                a_paper(chance.choice(_WORDS), year=chance.choice([None, 2001, 2010, 2020])),
                a_text(*text(), digest=str(i)),
                [],
            )
            for i in range(24)
        ]
        for i, paper in enumerate(papers[:8]):
            await store.papers.put(paper, a_text(*text(), digest=f"new {i}"), [])
        for paper in papers[8:12]:
            await store.papers.remove(paper.paper_id)
        await store.close()

    asyncio.run(fill())
    return home


@pytest.fixture
async def searched(corpus: Path) -> AsyncGenerator[SqliteStore, None]:
    store = await open_store(corpus, corpus / "nuncius.db", readonly=True)
    yield store
    await store.close()


_TERMS = st.lists(
    st.lists(
        st.lists(st.sampled_from(_WORDS), min_size=1, max_size=3).map(" ".join),
        min_size=1,
        max_size=3,
    ),
    min_size=1,
    max_size=4,
)
_YEARS = st.tuples(
    st.sampled_from([None, 2001, 2005, 2020]), st.sampled_from([None, 2001, 2015, 2020])
)


@given(
    terms=_TERMS,
    limit=st.integers(1, 200),
    chosen=st.one_of(st.none(), st.sets(st.integers(0, 30))),
    years=_YEARS,
)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_a_search_returns_as_many_as_match_under_its_filters(
    searched: SqliteStore,
    terms: list[list[str]],
    limit: int,
    chosen: set[int] | None,
    years: tuple[int | None, int | None],
) -> None:
    papers = await searched.papers.papers()
    wanted = None if chosen is None else [papers[i].paper_id for i in chosen if i < len(papers)]
    expected: set[str] = set()
    for paper in papers:
        if wanted is not None and paper.paper_id not in wanted:
            continue
        if years != (None, None) and (
            paper.year is None or not (years[0] or 0) <= paper.year <= (years[1] or 9999)
        ):
            continue
        for passage in await searched.passages.of_paper(paper.paper_id):
            columns = (paper.title, passage.section, passage.text)
            if any(_matches(columns, variant) for term in terms for variant in term):
                expected.add(passage.passage_id)
    hits = await searched.passages.search(terms, limit=limit, paper_ids=wanted, years=years)
    ids = [hit.passage.passage_id for hit in hits]
    assert len(ids) == len(set(ids)) == min(limit, len(expected))
    assert set(ids) <= expected
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    everything = await searched.passages.search(terms, limit=10_000, paper_ids=wanted, years=years)
    assert [hit.passage for hit in everything[:limit]] == [hit.passage for hit in hits]


def _matches(columns: Sequence[str], variant: str) -> bool:
    return any(f" {variant} " in f" {index_terms(column)} " for column in columns)


@given(text=st.text())
@example("[Fe/H] H-alpha z~6 z=7.1 RX J1856.5-3754 \"quote ' NEAR( AND OR NOT * ^ : {title} : x")
@example('""')
@example('a" OR title : "b')
@example("\x00\ud800\ufffe")
@example("☉ 🌟 − — ′″")
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_no_text_makes_a_search_fail(searched: SqliteStore, text: str) -> None:
    for terms in (query_terms(text), [[text]], [[text, "disk"], [text * 50]]):
        hits = await searched.passages.search(terms, limit=3)
        assert all(isinstance(hit, Hit) for hit in hits)
    assert set(await searched.passages.frequencies([text])) == {text}
    alone = await searched.passages.search([["disk"], [text]], limit=1000)
    disk = await searched.passages.search([["disk"]], limit=1000)
    assert len(alone) >= len(disk) > 0  # an odd term never hides what another finds


async def test_a_very_long_query_is_cut_not_refused(searched: SqliteStore) -> None:
    many = [["disk"], *([f"word{i} part{i}"] * 9 for i in range(5000)), ["dust"]]
    hits = await searched.passages.search(many, limit=1000)
    assert len(hits) == len(await searched.passages.search([["disk"]], limit=1000))
    assert MAX_TERMS < 5000
    assert await searched.passages.search([], limit=5) == []
    assert await searched.passages.search([["disk"]], limit=0) == []
    assert await searched.passages.search([["disk"]], limit=5, paper_ids=[]) == []


async def test_a_broken_index_is_an_error_never_no_results_and_can_be_rebuilt(
    store: SqliteStore,
) -> None:
    await store.papers.put(a_paper(), a_text("the disk", "the dust"), [])
    connection = Connection(store.path)
    connection.run("DELETE FROM passages_fts WHERE rowid IN (SELECT min(id) FROM passages)")
    connection.close()
    (wrong,) = await store.check()
    assert "1 of 2 passages" in wrong
    assert await store.rebuild_index() == 2
    assert await store.check() == []
    assert len(await store.passages.search([["disk"]], limit=5)) == 1
    raw = Connection(store.path, defensive=False)
    raw.run("UPDATE passages_fts_data SET block = x'ffffffffffffffffffffffffffffffff'")
    raw.close()
    with pytest.raises(DatabaseBrokenError, match="damaged"):
        await store.passages.search([["disk"]], limit=5)
