"""Files of BibTeX: what is not changed stays byte for byte; what is broken loses no entry."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.library.bibtex import Change, names_in
from nuncius.library.bibtex_reading import read

FILE = r"""% references of a made-up paper
@comment{jabref-meta: databaseType:bibtex;}
@string{mypress = "My Press"}

@ARTICLE{Rey2020,
       author = {{Rey}, A.~B. and {Saar}, C.},
        title = "{Orbits of made-up stars}",
      journal = {\apj},
         year = 2020,
        month = jan,
       volume = {900},
        pages = {12-20},
          doi = {10.3847/1538-4357/000001},
         note = {read this, {\bf soon}}
}

@book(saar99, title={A book}, publisher = mypress # { of } # "Tartu", year={1999})
  @misc{Oku2021, author="Oku, D.", title = {A {DNA}-like
    title}, year = "2021" , month = dec # "~24" }
"""


def test_entries_and_fields_are_read_as_bibtex_reads_them() -> None:
    bib = read(FILE)
    assert bib.troubles == ()
    assert [(entry.key, entry.kind, entry.line) for entry in bib.entries] == [
        ("Rey2020", "article", 5),
        ("saar99", "book", 17),
        ("Oku2021", "misc", 18),
    ]
    rey, saar, oku = bib.entries
    assert rey.people() == ["Rey, A. B.", "Saar, C."]
    assert rey.text("title") == "Orbits of made-up stars"
    assert rey.tex("journal") == r"\apj"
    assert rey.text("month") == "January"
    assert saar.text("publisher") == "My Press of Tartu"
    assert oku.text("title") == "A DNA-like title"
    assert oku.text("month") == "December 24"


def test_one_changed_field_leaves_every_other_byte() -> None:
    bib = read(FILE)
    fresh = bib.changed({0: Change({"year": "2021"})})
    assert fresh == FILE.replace("year = 2020", "year = 2021")
    fresh = bib.changed({2: Change({"title": "{B}"}, kind="article")})
    assert fresh == FILE.replace("@misc{Oku", "@article{Oku").replace(
        "{A {DNA}-like\n    title}", "{B}"
    )


def test_new_fields_stand_with_their_kind_and_in_the_entrys_style() -> None:
    bib = read(FILE)
    fresh = bib.changed({0: Change({"number": "{2}"})})
    assert "00001},\n       number = {2},\n         note = {read" in fresh
    fresh = bib.changed({1: Change({"doi": "{10.1/x}"})})
    assert fresh.splitlines()[16:18] == [
        '@book(saar99, title={A book}, publisher = mypress # { of } # "Tartu", year={1999},',
        "  doi = {10.1/x})",
    ]


def test_a_field_is_taken_out_with_its_line() -> None:
    bib = read(FILE)
    assert bib.changed({0: Change({"volume": None})}) == FILE.replace(
        "       volume = {900},\n", ""
    )
    assert bib.changed({1: Change({"title": None})}) == FILE.replace("title={A book},", "")


@pytest.mark.parametrize("text", ["@misc{a}", "@misc{a,}", "@misc{a,\n}", "@misc{a\n}", "@misc(a)"])
def test_an_entry_without_fields_takes_one(text: str) -> None:
    (entry,) = read(read(text).changed({0: Change({"title": "{T}"})})).entries
    assert (entry.key, entry.text("title")) == ("a", "T")


def test_windows_line_ends_stay() -> None:
    text = FILE.replace("\n", "\r\n")
    fresh = read(text).changed({0: Change({"number": "{2}", "volume": None})})
    assert "\n" not in fresh.replace("\r\n", "")
    assert read(fresh).entries[0].text("number") == "2"


BROKEN = [
    ("@article{a title = {T}, year = 2000}", "comma behind its key", {"title": "T", "year": "2000"}),
    ("@article{a,\n title = {T} year = 2000\n}", "comma behind title", {"title": "T", "year": "2000"}),
    ("@article{a,\n title = {T},\n year = 2000", "closing brace is missing", {"year": "2000"}),
    ("@article{a,\n title = {T {x},\n year = 2000\n}", "braces do not close", {"year": "2000"}),
    ("@article{a,\n title = {T}},\n year = 2000\n}", "brace too many", {"year": "2000"}),
    ("@article{a,\n title = {T } x},\n year = 2000\n}", "brace too many", {"year": "2000"}),
    ('@article{a,\n title = "T,\n year = "2000"\n}', "quotes do not close", {"title": "T", "year": "2000"}),
    ("@article{a,\n title = Some words,\n year = 2000\n}", "neither braces", {"title": "Some words", "year": "2000"}),
    ("@article{a,\n title = ,\n year = 2000\n}", "value is missing", {"title": "", "year": "2000"}),
    ("@article{a,\n title {T},\n year = 2000\n}", "is no field", {"year": "2000"}),
    ("@article{a,\n month = sept,\n year = 2000\n}", "no macro", {"month": "sept", "year": "2000"}),
    ("@article{a,\n title = {T},\n title = {U}, year = 2000\n}", "stands twice", {"title": "T"}),
    ("@article{,\n title = {T}, year = 2000\n}", "no key", {"title": "T", "year": "2000"}),
    ("@article{title = {T}, year = 2000\n}", "no key", {"title": "T", "year": "2000"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "trouble", "fields"), BROKEN)
def test_a_broken_entry_is_read_as_meant_and_named(
    text: str, trouble: str, fields: dict[str, str]
) -> None:
    bib = read(f"@misc{{before, note = {{1}}}}\n\n{text}\n\n@misc{{after, note = {{2}}}}\n")
    before, entry, after = bib.entries
    assert (before.text("note"), after.text("note")) == ("1", "2")
    assert {name: entry.text(name) for name in fields} == fields
    assert any(trouble in one.what for one in bib.troubles), bib.troubles
    assert {one.line for one in bib.troubles} <= {3, 4, 5, 6}


ENTRIES = "\n\n".join(
    f"@article{{key{number},\n  author = {{Rey, A. and Saar, C.}},\n"
    f'  title = "{{Title number {number}}}",\n  journal = {{\\apj}},\n  year = {2000 + number}\n}}'
    for number in range(4)
)
SIGNS = [
    at for at, char in enumerate(ENTRIES) if char in '{},"=' and ENTRIES[at - 7 : at] != "article"
]


@pytest.mark.parametrize("wrong", ["", "{", "}", '"', ",", "(", "@"])
def test_no_wrong_sign_loses_an_entry(wrong: str) -> None:
    for at in SIGNS:
        text = ENTRIES[:at] + wrong + ENTRIES[at + 1 :]
        bib = read(text)
        hurt = ENTRIES.count("@article", 0, at + 1) - 1
        whole = {entry.key: entry for entry in bib.entries}
        assert len(bib.entries) == 4, (text, bib.entries)
        for number in range(4):
            if number != hurt:
                entry = whole[f"key{number}"]
                assert entry.text("title") == f"Title number {number}"
                assert entry.text("year") == str(2000 + number)
        assert bib.changed({}) == text


@given(st.text(st.sampled_from('@article{}",=#%()\n\\ab1 '), max_size=60))
def test_nothing_stops_the_reader_and_spans_point_into_the_text(text: str) -> None:
    bib = read(text)
    for entry in bib.entries:
        assert 0 <= entry.start < entry.head <= len(text) + 1
        assert entry.start < entry.end <= len(text)
        for one in entry.fields:
            assert entry.start < one.start <= one.end <= len(text)
    assert bib.changed({}) == text


def test_what_is_commented_out_is_no_entry() -> None:
    assert [e.key for e in read("% @misc{a, note={x}}\n@misc{b, note = {y}}\n").entries] == ["b"]
    assert read("Write to me@there.org {now}.").entries == ()


@pytest.mark.parametrize(
    ("people", "names"),
    [
        ("{Rey}, A. and {Saar}, C.", ["{Rey}, A.", "{Saar}, C."]),
        ("{Rock and Roll Team} and\n  B, C", ["{Rock and Roll Team}", "B, C"]),
        ("Andersen, A.\tAND Band, B.", ["Andersen, A.", "Band, B."]),
        ("", []),
    ],
)
def test_people_are_parted_at_each_and_outside_of_braces(people: str, names: list[str]) -> None:
    assert list(names_in(people)) == names


def test_every_recorded_export_is_read_without_trouble(shared_data: Path) -> None:
    folder = shared_data / "upstreams" / "ads"
    files = [*folder.glob("export_service/bibTex*.json"), *folder.glob("export_bibtex__*.json")]
    texts = [json.loads(file.read_text()).get("export", "") for file in files]
    texts += [file.read_text() for file in (shared_data / "upstreams" / "crossref").glob("*.bib")]
    count = 0
    for text in texts:
        bib = read(text)
        assert bib.troubles == ()
        assert len(bib.entries) == text.count("@article") + sum(
            line.startswith("@") for line in text.splitlines()
        ) - sum(line.startswith("@article") for line in text.splitlines())
        count += len(bib.entries)
    assert count >= 90
