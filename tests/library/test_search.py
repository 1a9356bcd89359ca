"""A search asks both services, joins what is one work, holds every filter, and marks what is held."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuncius.app import App
from nuncius.core.errors import KeyMissingError, UpstreamError, UsageError
from nuncius.core.papers import Paper
from nuncius.core.records import Affiliated, Record
from nuncius.library.constraints import Filters, has_author, speaks_of
from nuncius.library.search import Request, plan
from sources.answers import PREPRINT, QUASAR, ads, arxiv, entry
from sources.home import app, playing
from sources.playing import Played, Playing

ADS, ARXIV = "/ads/search/query", "/arxiv/query"


__all__ = ["app", "playing"]


async def test_a_preprint_and_its_journal_version_are_one_entry(app: App, playing: Playing) -> None:
    playing.play(ADS, ads(QUASAR, total=31))
    playing.play(ARXIV, arxiv(PREPRINT, entry("2101.00001", "Radio relics", ["C. Eng"]), total=44))
    found = await app.search().search(Request("quiet quasars"))
    assert [work.record.title for work in found.works] == [
        "The ages of quiet quasars",
        "Radio relics",
    ]
    first = found.works[0].work
    assert first.sources == ("ads", "arxiv")
    assert (first.record.arxiv_version, first.record.citation_count) == (2, 7)
    assert first.provenance["citation_count"] == "ads"
    assert found.total == {"ads": 31, "arxiv": 44}
    assert found.plan.queries["ads"]
    assert playing.asked[0].headers["authorization"] == "Bearer made-up"


async def test_what_the_library_holds_and_how_it_is_linked_is_marked(
    app: App, playing: Playing
) -> None:
    held = await app.store.papers.put(
        Paper(paper_id="", title="The ages", arxiv_id="2010.12345"), None, ()
    )
    citing = await app.store.papers.put(Paper(paper_id="", title="Citing"), None, ())
    await app.store.works.put(
        citing.paper_id, Record(source="ads", references=("2021MNRAS.500..100R",))
    )
    cited = await app.store.papers.put(Paper(paper_id="", title="Cited"), None, ())
    await app.store.works.put(
        cited.paper_id, Record(source="ads", citations=("2020arXiv201012345R",))
    )
    playing.play(ADS, ads(QUASAR))
    playing.play(ARXIV, arxiv())
    (work,) = (await app.search().search(Request("quasars"))).works
    assert (work.paper_id, work.state) == (held.paper_id, "known")
    assert (work.cited_by, work.cites) == ((citing.paper_id,), (cited.paper_id,))


async def test_without_a_token_arxiv_answers_alone_and_says_so(app: App, playing: Playing) -> None:
    app.services.settings = app.settings.model_copy(update={"ads_api_token": ""})
    playing.play(ARXIV, arxiv(PREPRINT))
    found = await app.search().search(Request("quiet quasars"))
    assert [work.work.sources for work in found.works] == [("arxiv",)]
    (failed,) = found.errors
    assert failed.source == "ads"
    assert "token" in failed.message
    assert not any("ads" in path for path in playing.paths())
    with pytest.raises(KeyMissingError):
        await app.search().search(Request("quiet quasars", sources=("ads",)))


async def test_one_service_that_fails_leaves_the_other(app: App, playing: Playing) -> None:
    playing.play(ADS, ads(QUASAR))
    playing.play(ARXIV, Played(b"Rate exceeded.", 429))
    found = await app.search().search(Request("quiet quasars"))
    assert len(found.works) == 1
    assert found.errors[0].source == "arxiv"
    playing.play(ADS, Played(b"down", 503))
    with pytest.raises(UpstreamError, match="no service answered") as error:
        await app.search().search(Request("other quasars"))
    assert error.value.exit_code == 3


async def test_a_filter_is_held_whatever_a_service_makes_of_it(app: App, playing: Playing) -> None:
    playing.play(ADS, ads(QUASAR))
    playing.play(
        ARXIV,
        arxiv(
            entry("1901.00001", "Old quasars", ["Ana Rey"], published="2019-01-01"),
            entry("2101.00002", "Quasars of another", ["B. Rey"], published="2021-01-01"),
            entry("2101.00003", "Quasars by Rey", ["A. Rey"], published="2021-01-05"),
            entry("2101.00004", "In print", ["A. Rey"], published="2021-02-01", journal="ApJ 1, 2"),
        ),
    )
    request = Request("quasars", authors=("Rey, A",), year_from=2020)
    found = await app.search().search(request)
    assert {work.record.title for work in found.works} == {
        "The ages of quiet quasars",
        "Quasars by Rey",
        "In print",
    }
    assert found.left_out == {"year": 1, "author": 1}
    refereed = await app.search().search(replace(request, refereed=True))
    assert {work.record.title for work in refereed.works} == {
        "The ages of quiet quasars",
        "In print",
    }
    assert any("left out" in note for note in refereed.notes)


async def test_what_arxiv_cannot_be_asked_it_is_not_asked(app: App, playing: Playing) -> None:
    playing.play(ADS, ads(QUASAR))
    found = await app.search().search(Request("papers citing 2001A&A...379..299M"))
    assert not [path for path in playing.paths() if path.startswith("/arxiv")]
    assert "arXiv cannot be asked this" in found.notes
    assert "citations(" in found.plan.queries["ads"]


async def test_the_second_time_nobody_is_asked_and_it_is_said_from_when_it_is(
    app: App, playing: Playing
) -> None:
    playing.play(ADS, ads(QUASAR))
    playing.play(ARXIV, arxiv(PREPRINT))
    first = await app.search().search(Request("quiet quasars"))
    again = await app.search().search(Request("quiet quasars"))
    assert len(playing.asked) == 2
    assert [work.record for work in first.works] == [work.record for work in again.works]
    assert any("this answer is from" in note for note in again.notes)


@pytest.mark.parametrize(
    ("sort", "titles"),
    [("date", ["New", "The ages of quiet quasars"]), ("citations", ["The ages of quiet quasars", "New"])],
)  # fmt: skip
async def test_it_is_sorted_over_both_services(
    app: App, playing: Playing, sort: str, titles: list[str]
) -> None:
    playing.play(ADS, ads(QUASAR))
    playing.play(ARXIV, arxiv(entry("2409.00001", "New", ["A. Eng"], published="2024-09-01")))
    request = Request("quasars", sort=sort)  # pyright: ignore[reportArgumentType]
    found = await app.search().search(request)
    assert [work.record.title for work in found.works] == titles


@pytest.mark.parametrize(
    "request_", [Request(""), Request("x", year_from=2020, year_to=2010), Request("x", sources=())]
)
async def test_what_makes_no_sense_is_refused_before_anybody_is_asked(
    app: App, playing: Playing, request_: Request
) -> None:
    with pytest.raises(UsageError):
        await app.search().search(request_)
    assert playing.asked == []


def test_a_chinese_request_is_asked_in_english() -> None:
    queries = plan(Request("引力波 2019年以后")).queries
    assert "gravitational wave" in queries["ads"]
    assert "2019" in queries["ads"]


@pytest.mark.parametrize(
    ("wanted", "listed", "same"),
    [
        ("Rey", "Ana Rey", True),
        ("Rey, A.", "Rey, Ana M.", True),
        ("Rey, Ana", "A. Rey", True),
        ("Rey, B.", "Ana Rey", False),
        ("Díaz", "J. Diaz", True),
        ("van der Berg, J", "J. van der Berg", True),
        ("Grasshorn Gebhardt, H", "Grasshorn Gebhardt, Henry S.", True),
        ("Planck Collaboration", "Planck Collaboration", True),
    ],
)
def test_a_person_is_known_by_any_spelling(wanted: str, listed: str, *, same: bool) -> None:
    record = Record(source="arxiv", authors=(Affiliated("Eng, C."), Affiliated(listed)))
    assert has_author(record, wanted) == same
    assert not has_author(record, f"^{wanted}")


def test_an_object_is_known_by_any_of_its_names() -> None:
    record = Record(source="arxiv", title="Stars in NGC 224", abstract="The disc of M31 is old.")
    assert speaks_of(record, ("M 31",))
    assert speaks_of(record, ("Andromeda", "NGC224"))
    assert not speaks_of(record, ("M 3", "NGC 22"))


YEARS = st.one_of(st.none(), st.integers(1990, 2030))
RECORDS = st.builds(
    Record,
    source=st.sampled_from(["ads", "arxiv", "crossref"]),
    title=st.sampled_from(["M 31", "Stars", ""]),
    year=YEARS,
    refereed=st.sampled_from([None, True, False]),
    journal=st.sampled_from(["", "ApJ"]),
    authors=st.lists(
        st.builds(Affiliated, st.sampled_from(["Rey, Ana", "B. Dahl", "Xu"])), max_size=2
    ).map(tuple),
)


@settings(max_examples=300, deadline=None)
@given(
    RECORDS,
    YEARS,
    YEARS,
    st.sampled_from([None, True, False]),
    st.sampled_from([(), ("Rey",), ("^Dahl",)]),
)
def test_no_record_is_shown_that_does_not_hold_a_filter(
    record: Record,
    first: int | None,
    last: int | None,
    refereed: bool | None,
    authors: tuple[str, ...],
) -> None:
    filters = Filters(authors, first, last, refereed)
    if filters.fault(record, vouched=False):
        return
    assert first is None or (record.year is not None and record.year >= first)
    assert last is None or (record.year is not None and record.year <= last)
    if refereed is True:
        assert record.refereed is not False
        assert record.refereed or record.journal
    for name in authors:
        people = record.authors[:1] if name.startswith("^") else record.authors
        assert any(name.strip("^") in author.name for author in people)


async def test_an_objects_other_names_are_searched_where_a_service_does_not_know_them(
    app: App, playing: Playing
) -> None:
    async def aliases(name: str) -> tuple[str, ...]:
        assert name == "M31"
        return (
            "M  31",
            "NGC   224",
            "2MASX J00424433+4116074",
            "NAME Andromeda Galaxy",
            "[TT91] x",
        )

    playing.play(ADS, ads(QUASAR))
    playing.play(
        ARXIV,
        arxiv(
            entry("2101.00001", "Dust in NGC 224", ["A. Rey"]),
            entry("2101.00002", "Dust elsewhere", ["A. Rey"]),
        ),
    )
    search = app.search()
    search._aliases = aliases  # pyright: ignore[reportPrivateUsage]
    for request in (Request("dust", target="M31"), Request("dust in M31")):
        found = await search.search(request)
        query = found.plan.queries["arxiv"]
        assert '(all:"M31" OR all:"NGC 224" OR all:"Andromeda Galaxy")' in query
        assert 'object:"M31"' in found.plan.queries["ads"]
    found = await search.search(Request("dust", target="M31"))
    titles = {work.record.title for work in found.works}
    assert titles == {"The ages of quiet quasars", "Dust in NGC 224"}
