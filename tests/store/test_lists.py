"""Lists of papers: what fits is found, counted and given page by page, whatever happens meanwhile."""

import asyncio
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nuncius.core.errors import NotFoundError, UsageError
from nuncius.core.listing import FacetKind, PaperFilter, PaperOrder
from nuncius.core.papers import Paper
from nuncius.core.records import Record
from nuncius.core.text import look_up_form
from nuncius.store import open_store
from nuncius.store.sqlite import SqliteStore
from store.samples import a_paper

ORDERS: tuple[PaperOrder, ...] = get_args(PaperOrder)
_TITLES = [
    "Ages of stars",
    "Dust in disks",
    "Ätna's gas",
    "恒星的年龄",
    "ages of quasars",
    "Zeta Ori",
]
_AUTHORS = [
    "Luke G. Bouma", "Böhm-Vitense, Erika", "Planck Collaboration", "张三", "R. van Dokkum", "Li",
    "Sun Li", "Ann Listerli", "A. Chelli", "Emil Bohm-Vitense",
]  # fmt: skip
_BIBCODES = [
    None, "2022ApJ...934L...7R", "2022MNRAS.510....1R", "2022A&A...661A.155N",
    "2022AAS...23314701L", "2022A&AS..123..456L",
]  # fmt: skip
_JOURNALS = [
    "A\x01B", "A\x01C", "\uffffD", "A\x00", "Ünknown Ächives: 2", "\ud800x", "na", "PRD", "AO",
]  # fmt: skip


def some_paper(rng: random.Random, number: int) -> Paper:
    bibcode = rng.choice(_BIBCODES)
    paper = a_paper(
        f"{rng.choice(_TITLES)} {number}",
        *rng.sample(_AUTHORS, rng.randint(1, 3)),
        year=rng.choice([None, 1999, 2019, 2022, 1999, 2019, 2022, -5, 20191]),
        bibcode=bibcode and f"{bibcode[:14]}{number:>4}{bibcode[18]}".replace(" ", "."),
        arxiv_id=f"2201.{number:05d}" if rng.random() < 0.5 else None,
        abstract=rng.choice(["", "We find ΔT = 3 K in Ångström units."]),
        pages=rng.choice([None, 7, 12]),
        state=rng.choice(["known", "failed"]),
        tags=tuple(rng.sample(["JWST", "to read", "étoiles"], rng.randint(0, 2))),
        confidential=rng.random() < 0.2,
    )
    return paper if rng.random() < 0.8 else paper.model_copy(update={"authors": ()})


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    """A library that no test changes."""
    opened = asyncio.run(_filled(tmp_path_factory.mktemp("filled")))
    yield opened
    asyncio.run(opened.close())


async def _filled(home: Path) -> SqliteStore:
    store = await open_store(home, home / "nuncius.db")
    rng = random.Random(7)
    for number in range(1, 60):
        paper = await store.papers.put(some_paper(rng, number), None, [])
        if rng.random() < 0.3:
            told = Record(source="crossref", journal=rng.choice(_JOURNALS))
            await store.works.put(paper.paper_id, told)
        for _ in range(rng.randint(0, 2)):
            await store.desk.add_note(
                paper.paper_id, quote="q", note="", page=None, color="yellow", agent="user"
            )
    return store


async def ids(store: SqliteStore, wanted: PaperFilter, order: PaperOrder = "-added") -> list[str]:
    return [paper.paper_id for paper in (await store.papers.page(wanted, order=order)).papers]


# --- what fits ------------------------------------------------------------------------------------

_FITS: list[tuple[PaperFilter, Callable[[Paper], bool]]] = [
    (PaperFilter(), lambda paper: True),
    (PaperFilter(text="AGES quasars"), lambda paper: "ages of quasars" in paper.title),
    (PaperFilter(text="ätna"), lambda paper: "Ätna" in paper.title),
    (PaperFilter(text="ATNA"), lambda paper: "Ätna" in paper.title),
    (PaperFilter(text="恒星"), lambda paper: "恒星" in paper.title),
    (PaperFilter(text="δt ångström"), lambda paper: "ΔT" in paper.abstract),
    (PaperFilter(text="böhm"), lambda paper: any("hm-V" in a.name for a in paper.authors)),
    (PaperFilter(text="2201.0000"), lambda paper: "2201.0000" in (paper.arxiv_id or "")),
    (PaperFilter(text="no such words"), lambda paper: False),
    (PaperFilter(author="Bouma, L"), lambda paper: any("Bouma" in a.name for a in paper.authors)),
    (PaperFilter(author="VITENSE"), lambda paper: any("Vitense" in a.name for a in paper.authors)),
    (PaperFilter(author="quasars"), lambda paper: False),  # a title's word signs nothing
    (PaperFilter(years=(2019, 2019)), lambda paper: paper.year == 2019),
    (PaperFilter(years=(2000, None)), lambda paper: (paper.year or 0) >= 2000),
    (PaperFilter(years=(None, 2000)), lambda paper: (paper.year or 9999) <= 2000),
    (PaperFilter(journal="apjl"), lambda paper: paper.journal == "ApJL"),
    (PaperFilter(journal="arXiv"), lambda paper: paper.journal == "arXiv"),
    (PaperFilter(tag="jwst"), lambda paper: "JWST" in paper.tags),
    (PaperFilter(tag="E\u0301TOILES"), lambda paper: "étoiles" in paper.tags),
    (PaperFilter(state="failed"), lambda paper: paper.state == "failed"),
    (PaperFilter(confidential=False), lambda paper: not paper.confidential),
    (
        PaperFilter(text="stars", years=(2019, None), tag="JWST", author="bouma", state="known"),
        lambda paper: (
            "stars" in paper.title
            and (paper.year or 0) >= 2019
            and "JWST" in paper.tags
            and any("Bouma" in a.name for a in paper.authors)
            and paper.state == "known"
        ),
    ),
]


@pytest.mark.parametrize(("wanted", "fits"), _FITS, ids=range(len(_FITS)))
async def test_a_filter_lets_through_what_fits(
    filled: SqliteStore, wanted: PaperFilter, fits: Callable[[Paper], bool]
) -> None:
    papers = await filled.papers.papers()
    expected = [paper.paper_id for paper in papers if fits(paper)]
    page = await filled.papers.page(wanted)
    assert [paper.paper_id for paper in page.papers] == expected
    assert (page.total, page.cursor) == (len(expected), "")
    few = await filled.papers.page(wanted, limit=3)
    assert (few.total, len(few.papers)) == (len(expected), min(3, len(expected)))


@pytest.mark.parametrize("text", ["", "%", "_", "'", '"', "\\", "\x00", "\ud800", "a" * 5000, "[]"])
async def test_no_text_makes_a_list_fail(filled: SqliteStore, text: str) -> None:
    for wanted in (
        PaperFilter(text=text),
        PaperFilter(author=text),
        PaperFilter(journal=text),
        PaperFilter(tag=text),
    ):
        page = await filled.papers.page(wanted, limit=2, cursor="")
        assert page.total in {0, 59} or text == "'"  # Ätna's
    for order in ORDERS:
        assert (await filled.papers.page(order=order, cursor=text or ":")).papers == []


async def test_a_paper_is_listed_with_its_journal_tags_and_notes(store: SqliteStore) -> None:
    paper = await store.papers.put(a_paper(bibcode="2022MNRAS.510....1R"), None, [])
    assert (paper.journal, paper.tags, paper.notes) == ("MNRAS", (), 0)
    told = Record(source="ads", journal="The Astrophysical Journal", bibstem="ApJ")
    await store.works.put(paper.paper_id, told)
    await store.papers.set_tags(paper.paper_id, ["to read"])
    await store.desk.add_note(
        paper.paper_id, quote="q", note="n", page=1, color="yellow", agent="user"
    )
    (listed,) = (await store.papers.page()).papers
    assert (listed.journal, listed.tags, listed.notes) == ("ApJ", ("to read",), 1)
    assert listed == await store.papers.find(paper.paper_id)
    again = await store.papers.put(listed.model_copy(update={"title": "Renamed"}), None, [])
    assert (again.journal, again.tags, again.notes) == ("ApJ", ("to read",), 1)
    assert await ids(store, PaperFilter(text="renamed")) == [paper.paper_id]
    assert await ids(store, PaperFilter(text="cluster")) == []
    await store.papers.remove(paper.paper_id)
    assert (await store.papers.page()).total == 0
    assert await store.check() == []


# --- order and pages ------------------------------------------------------------------------------

_KEYS: dict[str, Callable[[Paper], str | int]] = {
    "title": lambda paper: look_up_form(paper.title),
    "author": lambda paper: (
        look_up_form(paper.authors[0].filed_as) if paper.authors else "\U0010ffff"
    ),
    "year": lambda paper: paper.year or 0,
    "journal": lambda paper: paper.journal.lower(),
    "state": lambda paper: paper.state,
    "pages": lambda paper: paper.pages or 0,
    "notes": lambda paper: paper.notes,
}


@pytest.mark.parametrize("order", ORDERS)
async def test_a_list_is_in_its_order_and_equals_stay_in_the_order_of_coming(
    filled: SqliteStore, order: PaperOrder
) -> None:
    oldest_first = [*reversed(await filled.papers.papers())]
    key = _KEYS.get(order.removeprefix("-"), lambda paper: 0)
    expected = sorted(oldest_first, key=key)
    if order.startswith("-"):
        expected.reverse()
    assert await ids(filled, PaperFilter(), order) == [paper.paper_id for paper in expected]


@given(
    order=st.sampled_from(ORDERS),
    wanted=st.sampled_from([wanted for wanted, _ in _FITS]),
    limit=st.integers(1, 25),
)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_all_pages_together_are_the_list(
    filled: SqliteStore, order: PaperOrder, wanted: PaperFilter, limit: int
) -> None:
    whole = await ids(filled, wanted, order)
    seen: list[str] = []
    cursor = ""
    while True:
        page = await filled.papers.page(wanted, order=order, limit=limit, cursor=cursor)
        assert page.total == len(whole)
        assert len(page.cursor) <= 400
        assert len(seen) < len(whole) or not whole  # else it goes round
        seen += [paper.paper_id for paper in page.papers]
        cursor = page.cursor
        if not cursor:
            break
        assert len(page.papers) == limit
    assert seen == whole


@given(
    seed=st.integers(0, 10**6),
    order=st.sampled_from(ORDERS),
    limit=st.integers(1, 6),
    acts=st.lists(st.sampled_from(["put", "remove", "remove the last seen"]), max_size=12),
)
@settings(max_examples=40, deadline=None)
async def test_papers_that_come_and_go_between_pages_double_and_hide_no_other(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    order: PaperOrder,
    limit: int,
    acts: list[str],
) -> None:
    rng = random.Random(seed)
    home: Path = tmp_path_factory.mktemp("changing")
    store = await open_store(home, home / "nuncius.db")
    stay = {
        (await store.papers.put(some_paper(rng, number), None, [])).paper_id
        for number in range(1, 16)
    }
    seen: list[str] = []
    cursor = ""
    while True:
        page = await store.papers.page(order=order, limit=limit, cursor=cursor)
        assert page.total == await store.papers.count()
        assert len(seen) == len(set(seen))  # else it goes round
        seen += [paper.paper_id for paper in page.papers]
        cursor = page.cursor
        if not cursor:
            break
        act = acts.pop() if acts else ""
        if act == "put":
            await store.papers.put(some_paper(rng, 100 + len(acts)), None, [])
        elif act:
            gone = seen[-1] if act == "remove the last seen" else rng.choice([*stay])
            if gone in stay:
                stay.discard(gone)
                await store.papers.remove(gone)
    await store.close()
    assert len(seen) == len(set(seen))
    assert stay <= set(seen)


# --- facets ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", get_args(FacetKind))
@pytest.mark.parametrize(("wanted", "_fits"), _FITS[::3])
async def test_each_value_of_a_facet_finds_as_many_as_it_says(
    filled: SqliteStore, kind: FacetKind, wanted: PaperFilter, _fits: Callable[[Paper], bool]
) -> None:
    values = await filled.papers.facet(kind, wanted)
    assert len({one.value for one in values}) == len(values)
    for one in values:
        own: dict[str, Any] = {kind: one.value}
        if kind == "year":
            own = {"years": (int(one.value), int(one.value))}
        narrowed = replace(wanted, **own)
        assert (await filled.papers.page(narrowed)).total == one.count > 0


async def test_facets_are_offered_in_a_useful_order(filled: SqliteStore) -> None:
    years = [one.value for one in await filled.papers.facet("year")]
    assert years == ["2022", "2019", "1999"]
    for kind in ("author", "journal", "tag", "state"):
        counts = [one.count for one in await filled.papers.facet(kind)]
        assert counts == sorted(counts, reverse=True)
    people = {one.value for one in await filled.papers.facet("author")}
    assert people == {
        "Bouma, L", "Böhm-Vitense, E", "Planck Collaboration", "张三", "van Dokkum, R", "Li",
        "Li, S", "Listerli, A", "Chelli, A", "Bohm-Vitense, E",
    }  # fmt: skip


async def test_a_name_as_it_is_filed_is_that_one_and_words_are_searched(store: SqliteStore) -> None:
    one = await store.papers.put(a_paper("One", "Sun Li"), None, [])
    two = await store.papers.put(a_paper("Two", "Ann Listerli", "A. Chelli"), None, [])
    assert await ids(store, PaperFilter(author="Li, S")) == [one.paper_id]
    assert await ids(store, PaperFilter(author="li")) == [two.paper_id, one.paper_id]
    assert await ids(store, PaperFilter(author="ann list")) == [two.paper_id]


async def test_a_journal_that_papers_have_is_that_one_and_no_macro(store: SqliteStore) -> None:
    meeting = await store.papers.put(a_paper("One", bibcode="2019AAS...23314701L"), None, [])
    assert await ids(store, PaperFilter(journal="A&AS")) == []
    assert await ids(store, PaperFilter(journal="AAS")) == [meeting.paper_id]
    other = await store.papers.put(a_paper("Two", bibcode="1996A&AS..117..393B"), None, [])
    assert await ids(store, PaperFilter(journal="AAS")) == [meeting.paper_id]
    assert await ids(store, PaperFilter(journal="\\aas")) == [other.paper_id]


@pytest.mark.parametrize("text", ["\udcff", "\u200b", "\x07", "\ufeff\u0301"])
async def test_a_filter_of_which_nothing_is_left_finds_nothing(
    filled: SqliteStore, text: str
) -> None:
    for wanted in (
        PaperFilter(text=text),
        PaperFilter(author=text),
        PaperFilter(journal=text),
        PaperFilter(tag=text),
        PaperFilter(text="stars", tag=text),
    ):
        assert (await filled.papers.page(wanted)).total == 0
        assert await filled.papers.facet("year", wanted) == []


# --- tags -----------------------------------------------------------------------------------------


async def test_tags_are_put_changed_and_taken_off(store: SqliteStore) -> None:
    one = await store.papers.put(a_paper("One", tags=("Dust", " dust", "JWST")), None, [])
    assert one.tags == ("Dust", "JWST")
    two = await store.papers.put(a_paper("Two"), None, [])
    changed = await store.papers.change_tags(
        one.paper_id, add=["gas", "jwst"], remove=["DUST", "no such tag"]
    )
    assert changed.tags == ("JWST", "gas")
    assert (await store.papers.set_tags(two.paper_id, ["jwst "])).tags == ("jwst",)
    (value,) = [one for one in await store.papers.facet("tag") if one.count == 2]
    assert value.value in {"JWST", "jwst"}
    assert await ids(store, PaperFilter(tag="Jwst")) == [two.paper_id, one.paper_id]
    assert (await store.papers.set_tags(one.paper_id, [])).tags == ()


async def test_tags_that_are_refused_leave_the_old_ones(store: SqliteStore) -> None:
    paper = await store.papers.put(a_paper(tags=("dust",)), None, [])
    with pytest.raises(UsageError, match="too long"):
        await store.papers.change_tags(paper.paper_id, add=["x" * 100], remove=["dust"])
    with pytest.raises(UsageError, match="too many"):
        await store.papers.set_tags(paper.paper_id, [str(i) for i in range(51)])
    with pytest.raises(NotFoundError):
        await store.papers.set_tags("nosuch00", ["a"])
    assert (await store.papers.find(paper.paper_id)).tags == ("dust",)
