"""Entries become known papers; keys are given once and stay, whatever becomes of the paper."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from library.conftest import settings_in
from nuncius.core.errors import NotFoundError
from nuncius.core.papers import Author, Paper
from nuncius.core.records import Record
from nuncius.library.bib_fields import told_by
from nuncius.library.bib_import import import_bib, paper_of
from nuncius.library.bibtex_reading import read
from nuncius.library.export import Format, exported, references_as
from nuncius.library.library import Library
from nuncius.library.reference import of_record
from nuncius.store import open_store
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
    report = await import_bib(FILE, store.papers, store.works)
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
    (paper,) = (await import_bib(text, store.papers, store.works)).added
    assert paper.title == "CO₂ & dust"
    assert [author.name for author in paper.authors] == ["Agbo, S. N.", "The X Collaboration"]
    assert (paper.abstract, paper.doi) == ("", "10.1140/epjc/s1-6")


async def test_what_is_held_already_is_not_added_twice(store: Store) -> None:
    await import_bib(FILE, store.papers, store.works)
    report = await import_bib(FILE, store.papers, store.works)
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
    report = await import_bib(FILE, store.papers, store.works)
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
    report = await import_bib(FILE, store.papers, store.works)
    ((key, paper),) = report.renamed
    assert key == "MyMoons"
    assert paper.cite_key == "Rey2022"
    assert (await store.papers.find("MyMoons")).paper_id == first.paper_id


async def test_a_key_that_was_given_resolves_after_publication(store: Store) -> None:
    report = await import_bib(FILE, store.papers, store.works)
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
    assert len((await import_bib(text, store.papers, store.works)).added) == 2


def test_an_entry_without_a_title_is_a_paper_still() -> None:
    (entry,) = read("@misc{code1, howpublished = {Source Code Library}, year = {2001}}").entries
    assert paper_of(entry).title == "Source Code Library"
    (entry,) = read("@misc{code1, year = {2001}}").entries
    assert paper_of(entry).title == "code1"


async def test_what_is_exported_is_imported_as_the_same_papers(store: Store) -> None:
    added = (await import_bib(FILE, store.papers, store.works)).added
    text = exported(added, "bibtex")
    report = await import_bib(text, store.papers, store.works)
    assert [paper.paper_id for _, paper in report.held] == [
        paper.paper_id for paper in sorted(added, key=lambda one: one.cite_key)
    ]
    assert exported([paper for _, paper in report.held], "bibtex") == text


# --- a shared identifier --------------------------------------------------------------------------

HELD = Paper(
    paper_id="",
    title="The ages of quiet quasars",
    authors=(Author(name="Rey, Ana"), Author(name="Dahl, Bo")),
    year=2021,
    doi="10.1093/mnras/x1",
    arxiv_id="2010.12345",
)
RADII = "author={Özel, F.}, title={Radii of neutron stars from bursts}, year=2009"


@pytest.mark.parametrize(
    ("names", "disputed"),
    [
        ("doi={10.1093/mnras/x1}", ["10.1093/mnras/x1"]),
        ("eprint={2010.12345}", ["2010.12345"]),
        ("url={https://doi.org/10.1093/mnras/x1}", ["10.1093/mnras/x1"]),
        ("adsurl={https://ui.adsabs.harvard.edu/abs/2020arXiv201012345R}", ["2010.12345"]),
        ("doi={10.1093/mnras/x1}, eprint={0901.00001}", ["10.1093/mnras/x1"]),
    ],
)
async def test_a_contradicted_identifier_stays_with_the_first_and_is_told(
    store: Store, names: str, disputed: list[str]
) -> None:
    held = await store.papers.put(HELD, None, ())
    text = f"@article{{own, {RADII}, {names}}}"
    report = await import_bib(text, store.papers, store.works)
    (own,) = report.added
    assert [(one.key, one.line, one.identifier.value) for one in report.disputed] == [
        ("own", 1, name) for name in disputed
    ]
    assert {one.holder.paper_id for one in report.disputed} == {held.paper_id}
    for name in disputed:
        assert (await store.papers.find(name)).paper_id == held.paper_id
    assert (own.doi, own.bibcode) == (None, None)
    assert own.arxiv_id == ("0901.00001" if "0901" in names else None)
    again = await import_bib(text, store.papers, store.works)
    assert ([paper.paper_id for _, paper in again.held], again.added) == ([own.paper_id], [])
    entry = read(await Library(store, settings_in(Path())).cite("own")).entries[0]
    assert not any(name in entry.bare(field) for name in disputed for field in ("doi", "url"))


async def test_two_entries_of_one_file_may_dispute_a_name(store: Store) -> None:
    text = f"@article{{one, {RADII}, doi={{10.1000/a}}}}\n@misc{{two, author={{Rey, A.}}, title={{Quiet quasars and their ages}}, doi={{10.1000/a}}}}"
    report = await import_bib(text, store.papers, store.works)
    assert [paper.doi for paper in report.added] == ["10.1000/a", None]
    assert [(one.key, one.holder.cite_key) for one in report.disputed] == [("two", "one")]


@pytest.mark.parametrize(
    "entry",
    [
        "author={Rey, A. and Dahl, B.}, title={How old are quasars without jets?}",  # renamed
        "author={{QUIET Collaboration} and Rey, A.}, title={The ages of quiet quasars}",
        "author={Özel, F.}, title={The ages of quiet quasars: an analysis}",
        "author={张三}, title={宁静类星体的年龄}",  # the title in another script
        "title={Radii of neutron stars from bursts}",  # nobody is named: only the title differs
    ],
)
async def test_what_does_not_contradict_in_both_is_the_same_work(store: Store, entry: str) -> None:
    held = await store.papers.put(HELD, None, ())
    text = f"@article{{own, {entry}, doi={{10.1093/mnras/x1}}}}"
    report = await import_bib(text, store.papers, store.works)
    assert [paper.paper_id for _, paper in report.held] == [held.paper_id]
    assert report.disputed == []


async def test_a_paper_is_not_given_the_name_that_another_has(store: Store) -> None:
    await import_bib(
        "@article{a, author={Rey, A.}, title={Stars of the far north}, doi={10.1000/a}}\n"
        "@article{b, author={Rey, A.}, title={Stars of the far south}, eprint={2101.00001}}\n"
        "@article{c, author={Rey, A.}, title={Stars of the far north}, doi={10.1000/a}, eprint={2101.00001}}",
        store.papers,
        store.works,
    )
    names = [paper.arxiv_id for paper in await store.papers.papers()]
    assert sorted(filter(None, names)) == ["2101.00001"]


# --- entries that nobody signed -------------------------------------------------------------------


async def test_pages_of_one_title_stay_apart_and_are_not_added_again(store: Store) -> None:
    text = "\n".join(
        f"@misc{{{key}, title={{Some page}}, howpublished={{https://example.org/{page}}}}}"
        for key, page in (("a", "a"), ("b", "b"), ("", "c"))
    )
    await store.papers.put(Paper(paper_id="", title="Something else", cite_key="b"), None, ())
    first = await import_bib(text, store.papers, store.works)
    assert len(first.added) == 3
    again = await import_bib(text, store.papers, store.works)
    assert [paper.paper_id for _, paper in again.held] == [one.paper_id for one in first.added]


@pytest.mark.parametrize(
    "text",
    [
        "@book{s, author={Saar, C.}, title={Stars}}",  # signed, but many works have this title
        "@misc{code1, year=2001}",
        "@misc{q, title={???}}",
        "@manual{m, organization={Example}, title={Data release notes}, year=2020}",
    ],
)
async def test_a_bare_entry_is_added_once(store: Store, text: str) -> None:
    await import_bib(text, store.papers, store.works)
    assert (await import_bib(text, store.papers, store.works)).added == []


async def test_a_key_alone_makes_no_entry_another_work(store: Store) -> None:
    await import_bib("@misc{web, title={Some page}, year=2019}", store.papers, store.works)
    for other in ("title={Other page}, year=2019", "title={Some page}, year=2020"):
        report = await import_bib(f"@misc{{web, {other}}}", store.papers, store.works)
        assert len(report.added) == 1


# --- keywords ------------------------------------------------------------------------------------

KEYED = "@article{{a1, author={{Rey, A.}}, title={{On quiet stars}}, year=2001, keywords={{{}}}}}"


async def test_keywords_are_tags_and_go_out_as_keywords(store: Store) -> None:
    library = Library(store, settings_in(Path()))
    report = await import_bib(
        KEYED.format("dust, {Gaia}; to read, DUST"), store.papers, store.works
    )
    (paper,) = report.added
    assert paper.tags == ("dust", "Gaia", "to read")
    again = await import_bib(KEYED.format("Dust, new"), store.papers, store.works)
    assert [paper.tags for _, paper in again.held] == [("dust", "Gaia", "to read", "new")]
    await library.tag("a1", add=["R & D"], remove=["gaia"])
    words = ["dust", "to read", "new", "R & D"]
    (entry,) = read(await library.export()).entries
    assert entry.text("keywords") == ", ".join(words)
    assert await library.export(style="ris") == await library.cite("a1", style="ris")
    assert [
        line.removeprefix("KW  - ")
        for line in (await library.export(style="ris")).splitlines()
        if line.startswith("KW")
    ] == words
    assert json.loads(await library.export(style="csl-json"))[0]["keyword"] == ", ".join(words)
    out = await library.export()
    await import_bib(out, store.papers, store.works)
    assert await library.export() == out


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ('"a, b"', ("a", "b")),
        ('"a", "b c"; d', ("a", "b c", "d")),
        ("``a, b''", ("a", "b")),
        ('"star, binary", "gas"', ("star", "binary", "gas")),
        ('the 5" sky, gas', ('the 5" sky', "gas")),
        ('seeing of 5", dust of 6"', ('seeing of 5"', 'dust of 6"')),
    ],
)
async def test_quotes_around_keywords_are_no_part_of_them(
    store: Store, written: str, tags: tuple[str, ...]
) -> None:
    (paper,) = (await import_bib(KEYED.format(written), store.papers, store.works)).added
    assert paper.tags == tags


@pytest.mark.parametrize(
    ("written", "year"),
    [("99999999999999999999", None), ("in press", None), ("20190501", None), ("2019a", 2019),
     ("c. 1998/1999", 1998)],
)  # fmt: skip
async def test_a_year_that_is_none_is_kept_as_it_was_written(
    store: Store, written: str, year: int | None
) -> None:
    text = f"@article{{a1, author={{Rey, A.}}, title={{On dust}}, year={{{written}}}}}"
    (paper,) = (await import_bib(text, store.papers, store.works)).added
    assert paper.year == year
    (entry,) = read(await Library(store, settings_in(Path())).export()).entries
    assert entry.text("year") == (str(year) if year else written)
    (held,) = (await import_bib(text, store.papers, store.works)).held
    assert held[1].year == year


async def test_what_a_service_told_as_keywords_is_no_tag(store: Store) -> None:
    held = await store.papers.put(HELD, None, ())
    ads = Record(source="ads", title=HELD.title, journal="MNRAS", keywords=("Quasars", "Ages"))
    await store.works.put(held.paper_id, ads)
    text = "@article{q, title={The ages of quiet quasars}, doi={10.1093/mnras/x1}, keywords={quasars, mine}}"
    (paper,) = [paper for _, paper in (await import_bib(text, store.papers, store.works)).held]
    assert paper.tags == ("mine",)
    (entry,) = read(await Library(store, settings_in(Path())).export()).entries
    assert entry.text("keywords") == "Quasars, Ages, mine"


async def test_keywords_that_make_no_tag_stay_and_stop_no_import(store: Store) -> None:
    long = "w" * 100
    many = [f"k{i}" for i in range(80)]
    text = KEYED.format(", ".join([long, *many]))
    (paper,) = (await import_bib(text, store.papers, store.works)).added
    assert len(paper.tags) == 50
    (entry,) = read(await Library(store, settings_in(Path())).export()).entries
    assert set(entry.text("keywords").split(", ")) == {long, *many}


# --- what comes out again -------------------------------------------------------------------------

WHOLE = r"""
@article{a1, author={Rey, A. and Dahl, B. and others}, title={On quiet stars in dust}, year=2001,
  journal={\apj}, volume=3, number={7}, pages={12--18}, month=sep, publisher={IOP},
  doi={10.1000/abc_d}, url={https://example.org/~a/b_c%20d}, note={See \& use}, keywords={stars, dust}}
@book{b1, editor={M{\"u}ller, K. and {Barnes and Noble Group}}, title={A book of star names},
  publisher={Springer}, series={Lecture Notes}, volume={12}, edition={2nd}, address={Berlin}, year=1999}
@phdthesis{t1, author={Saar, C.}, title={Long thesis on stars}, school={Univ. of X}, year=2003, month=jun}
@techreport{r1, author={Saar, C.}, title={A report on stars}, institution={NASA}, number={TR-5}, year=2003}
@inproceedings{p1, author={Saar, C.}, editor={Foo, B. and Bar, D.}, title={A talk on far stars},
  booktitle={Cool Stars 12}, series={ASP Conf.}, volume=5, pages={1}, organization={ASP}, year=2003, month=dec}
@misc{w1, title={Some page}, howpublished={\url{https://example.org/~a_b}}, urldate={2020-01-02}}
@incollection{i1, author={Rey, A.}, title={A chapter on dust clouds}, booktitle={Big Book},
  editor={Foo, B.}, publisher={CUP}, chapter=3, pages={1--2}, year=2000}
@article{e1, author={Rey, A.}, title={On quiet stars in gas}, year=2001, journal={\aap}, volume=3, eid={A12}}
"""


async def test_every_field_of_an_entry_comes_out_of_the_library(store: Store) -> None:
    await import_bib(WHOLE, store.papers, store.works)
    text = await Library(store, settings_in(Path())).export()
    out = {entry.key: entry for entry in read(text).entries}
    for entry in read(WHOLE).entries:
        assert out[entry.key].kind == entry.kind
        for field in entry.fields:
            written = entry.text(field.name).replace("–", "-")  # ADS writes ``12-18``
            assert out[entry.key].text(field.name).replace("–", "-") == written, field.name
        assert out[entry.key].bare("url") == entry.bare("url")


async def test_an_export_that_is_imported_elsewhere_is_exported_the_same(
    store: Store, tmp_path: Path
) -> None:
    await import_bib(WHOLE + FILE, store.papers, store.works)
    text = await Library(store, settings_in(tmp_path)).export()
    other = await open_store(tmp_path / "other", tmp_path / "other" / "nuncius.db")
    try:
        await import_bib(text, other.papers, other.works)
        assert await Library(other, settings_in(tmp_path)).export() == text
    finally:
        await other.close()


@pytest.mark.parametrize("style", ["ris", "csl-json"])
async def test_other_formats_tell_editors_and_addresses(store: Store, style: Format) -> None:
    await import_bib(WHOLE.replace("doi={10.1000/abc_d}, ", ""), store.papers, store.works)
    library = Library(store, settings_in(Path()))
    assert "Barnes and Noble Group" in await library.cite("b1", style=style)
    text = await library.cite("a1", style=style)
    assert "https://example.org/~a/b_c%20d" in text
    assert "others" not in text


async def test_what_a_second_file_tells_beyond_the_first_is_kept_too(store: Store) -> None:
    entry = "@book{{b, author={{Rey, A.}}, title={{A book of star names}}, year=1999, {}}}"
    for more in ("publisher={Printer}", "edition={2nd}, isbn={0-1}, doi={10.1000/b}"):
        await import_bib(entry.format(more), store.papers, store.works)
    (out,) = read(await Library(store, settings_in(Path())).cite("b")).entries
    told = {name: out.text(name) for name in ("publisher", "edition", "isbn", "doi")}
    assert told == {"publisher": "Printer", "edition": "2nd", "isbn": "0-1", "doi": "10.1000/b"}


async def test_what_a_service_told_is_not_replaced_by_a_file(store: Store) -> None:
    held = await store.papers.put(HELD, None, ())
    told = Record(source="ads", title=HELD.title, journal="Nature", dois=("10.1093/mnras/x1",))
    await store.works.put(held.paper_id, told)
    text = "@article{k, title={The ages of quiet quasars}, doi={10.1093/mnras/x1}, journal={Other}, month=may}"
    await import_bib(text, store.papers, store.works)
    assert (await store.works.get([held.paper_id]))[held.paper_id].record == told


@given(
    st.dictionaries(
        st.sampled_from("journal volume number publisher series edition note url month".split()),
        st.text(st.sampled_from('aZ09 .:/_-&%$#é~^\\{}"é中'), max_size=12),
    ),
    st.sampled_from("article book misc inproceedings phdthesis techreport online".split()),
)
@example({"journal": "{", "volume": "$", "number": "^{Z", "publisher": "$"}, "article")
def test_whatever_an_entry_holds_its_export_is_read_as_the_same(
    values: dict[str, str], kind: str
) -> None:
    fields = "".join(f", {name} = {{{value}}}" for name, value in values.items())
    for entry in read(f"@{kind}{{k, title = {{Stars}}, year = 2001{fields}}}").entries[:1]:
        text = references_as("bibtex", [of_record(told_by(entry), key="k")])
        bib = read(text)
        assert [one.key for one in bib.entries] == ["k"], text
        assert bib.troubles == (), text
        again = of_record(told_by(bib.entries[0]), key="k")
        assert references_as("bibtex", [again]) == text


# --- imports at once ------------------------------------------------------------------------------

_IMPORT = """
import asyncio, sys
from pathlib import Path
from nuncius.library.bib_import import import_bib
from nuncius.store import open_store

async def main():
    home = Path(sys.argv[1])
    store = await open_store(home, home / "nuncius.db")
    print("ready", flush=True)
    report = await import_bib(sys.stdin.read(), store.papers, store.works)
    print(len(report.added), len(report.held))
    await store.close()

asyncio.run(main())
"""


async def test_imports_of_several_processes_are_one_library(store: Store, tmp_path: Path) -> None:
    text = "\n".join(
        f"@article{{k{at}, author={{Rey, A.}}, title={{Star {at} of the far north}}, doi={{10.1000/{at}}}}}\n"
        f"@misc{{page{at}, title={{Page {at} on the far north}}}}"
        for at in range(40)
    ).encode()

    async def start() -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _IMPORT, str(tmp_path / "home"),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout
        await asyncio.wait_for(process.stdout.readline(), 60)  # its store is open
        return process

    async def counts(process: asyncio.subprocess.Process) -> tuple[int, ...]:
        output, _ = await asyncio.wait_for(process.communicate(text), 60)
        return tuple(map(int, output.split()))

    processes = await asyncio.gather(start(), start())
    assert sorted(await asyncio.gather(*map(counts, processes))) == [(0, 80), (80, 0)]
    assert await store.papers.count() == 80
