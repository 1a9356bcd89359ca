"""One work, one entry: what is of one work is joined, and nothing else."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from library.made_up_records import Labelled, corpus
from nuncius.core.records import Affiliated, Link, Record
from nuncius.library.merge import Work, merge

PERSON = (Affiliated("Rey, A."), Affiliated("Dahl, B."))
ARTICLE = Record(
    source="ads",
    title="The ages of quiet quasars",
    authors=PERSON,
    abstract="From ADS.",
    year=2021,
    bibcodes=("2021MNRAS.500..100R", "2020arXiv201012345R"),
    arxiv_id="2010.12345",
    dois=("10.1093/mnras/x1", "10.48550/arxiv.2010.12345"),
    doctype="article",
    citation_count=7,
)
PREPRINT = Record(
    source="arxiv",
    title="The ages of quiet quasars (v1)",
    authors=PERSON,
    abstract="From arXiv.",
    year=2020,
    arxiv_id="2010.12345",
    arxiv_version=2,
    categories=("astro-ph.GA",),
    comment="12 pages",
    links=(Link("arxiv_pdf", "https://arxiv.org/pdf/2010.12345v2"),),
    doctype="eprint",
)


def pairs(groups: Sequence[Sequence[int]]) -> set[tuple[int, int]]:
    return {pair for group in groups for pair in itertools.combinations(sorted(group), 2)}


def measured(labelled: Sequence[Labelled]) -> tuple[float, float, list[str]]:
    """Return precision and recall of pairs, and what went wrong."""
    place = {id(one.record): at for at, one in enumerate(labelled)}
    works = merge([one.record for one in labelled])
    found = pairs([[place[id(part)] for part in work.parts] for work in works])
    by_work: dict[str, list[int]] = {}
    for at, one in enumerate(labelled):
        by_work.setdefault(one.work, []).append(at)
    wanted = pairs(list(by_work.values()))
    wrong = [f"joined: {labelled[a]} {labelled[b]}" for a, b in found - wanted]
    wrong += [f"missed: {labelled[a]} {labelled[b]}" for a, b in wanted - found]
    right = len(found & wanted)
    return right / len(found), right / len(wanted), wrong


@pytest.mark.parametrize("seed", [7, 11, 2026])
def test_of_two_hundred_records_each_work_is_one_entry(seed: int) -> None:
    labelled = corpus(seed)
    assert len(labelled) >= 200
    precision, recall, wrong = measured(labelled)
    assert precision >= 0.995, wrong
    assert recall >= 0.98, wrong


def test_the_entry_tells_the_best_of_each_and_whose_word_it_is() -> None:
    (work,) = merge([PREPRINT, ARTICLE])
    record = work.record
    assert (record.title, record.abstract, record.year) == (ARTICLE.title, "From ADS.", 2021)
    assert (record.comment, record.categories) == ("12 pages", ("astro-ph.GA",))
    assert (record.arxiv_version, record.citation_count) == (2, 7)
    assert record.dois[0] == "10.1093/mnras/x1"
    assert record.links == PREPRINT.links
    assert work.provenance["title"] == "ads"
    assert work.provenance["comment"] == "arxiv"
    assert work.sources == ("arxiv", "ads")
    assert record.source == "ads+arxiv"


def test_a_retraction_that_one_service_knows_of_is_told() -> None:
    gone = replace(ARTICLE, source="crossref", bibcodes=(), arxiv_id="", status="retracted")
    (work,) = merge([ARTICLE, gone])
    assert (work.record.status, work.provenance["status"]) == ("retracted", "crossref")


@pytest.mark.parametrize(
    "other",
    [
        replace(ARTICLE, title="Erratum: The ages of quiet quasars", bibcodes=("2022MNRAS.511..9R",)),
        replace(ARTICLE, title="Something else of radio relics", arxiv_id="2011.00001", bibcodes=("2022A&A...511A...9R",), dois=("10.1093/mnras/x1",)),
        replace(ARTICLE, bibcodes=("2021AAS...23740101R",), arxiv_id="", dois=(), doctype="abstract"),
        replace(ARTICLE, bibcodes=("2021PhDT........11R",), arxiv_id="", dois=(), doctype="phdthesis"),
    ],
    ids=["erratum", "mistyped DOI", "talk", "thesis"],
)  # fmt: skip
def test_what_only_looks_alike_stays_apart(other: Record) -> None:
    assert len(merge([ARTICLE, PREPRINT, other])) == 2


def test_the_order_of_the_records_does_not_matter() -> None:
    labelled = corpus(3)
    groups = {
        frozenset(id(part) for part in work.parts)
        for work in merge([one.record for one in labelled])
    }
    turned = {
        frozenset(id(part) for part in work.parts)
        for work in merge([one.record for one in reversed(labelled)])
    }
    assert groups == turned


RECORDS = st.builds(
    Record,
    source=st.sampled_from(["ads", "arxiv", "crossref", "other"]),
    title=st.sampled_from(["", "A", "The ages of stars", "0", "Erratum: x", "\ud800", "恒星"]),
    authors=st.lists(
        st.builds(Affiliated, st.sampled_from(["", ",", "Rey, A.", "A. Rey", "张三", "."])),
        max_size=3,
    ).map(tuple),
    year=st.sampled_from([None, 0, 2020]),
    bibcodes=st.lists(st.sampled_from(["", "b", "2020arXiv200112345R"]), max_size=2).map(tuple),
    arxiv_id=st.sampled_from(["", "2001.12345", "astro-ph/0001001"]),
    dois=st.lists(st.sampled_from(["10.1/a", "10.48550/arxiv.2001.12345"]), max_size=2).map(tuple),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(RECORDS, max_size=12))
def test_no_record_is_lost_or_told_twice(records: list[Record]) -> None:
    works: list[Work] = merge(records)
    assert sorted(id(part) for work in works for part in work.parts) == sorted(map(id, records))
    assert all(set(work.provenance.values()) <= set(work.sources) for work in works)
