"""Journals by macro, stem, name and abbreviation."""

import json
from pathlib import Path

import pytest

from nuncius.core.journals import by_stem, find_journal, journal_word, journals, same_journal


def test_no_two_journals_share_a_macro_a_stem_or_a_name() -> None:
    table = journals()
    assert len(table) >= 100
    for names in (
        [journal.macro for journal in table if journal.macro],
        [journal.stem for journal in table],
        [journal.name for journal in table],
    ):
        assert len(names) == len(set(names))


def test_every_journal_is_found_by_each_of_its_writings() -> None:
    for journal in journals():
        for written in (journal.name, journal.abbreviation, journal.name.upper()):
            assert find_journal(written) == journal, written
        assert by_stem(journal.stem[:5]) in {journal, None} or journal.stem[:5] != journal.stem
        if journal.macro:
            assert find_journal(f"{{\\{journal.macro}}}") == journal
            assert journal.written("macro") == f"\\{journal.macro}"
        else:
            assert journal.written("macro") == journal.name


@pytest.mark.parametrize(
    ("written", "stem"),
    [
        (r"\apj", "ApJ"),
        (r"{\mnras}", "MNRAS"),
        (r"\ApJ", "ApJ"),
        ("A&A", "A&A"),
        (r"A\&A", "A&A"),
        ("Astronomy & Astrophysics", "A&A"),
        (r"Astronomy \& Astrophysics", "A&A"),
        ("Mon. Not. R. Astron. Soc.", "MNRAS"),
        ("Monthly Notices of the Royal Astronomical Society", "MNRAS"),
        ("The Astrophysical Journal", "ApJ"),
        ("Astrophysical Journal", "ApJ"),
        ("{Nature}", "Natur"),
        ("arXiv preprint", "arXiv"),
        ("PRD", "PhRvD"),
        ("ARAA", "ARA&A"),
    ],
)
def test_a_journal_is_found_however_people_write_it(written: str, stem: str) -> None:
    found = find_journal(written)
    assert found is not None
    assert found.stem == stem


@pytest.mark.parametrize("text", ["", "{}", "The", r"\unknown", "Journal of Nothing", "A"])
def test_what_is_no_journal_of_ours_is_none(text: str) -> None:
    assert find_journal(text) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (r"\apj", "The Astrophysical Journal", True),
        (r"\apjl", r"\apj", True),  # ADS itself wrote Letters as both
        ("J. Phys. Chem.", "Journal of Physical Chemistry", True),
        ("Res. J. Phys.", "Research Journal of Physics", True),
        ("Journal of Physics A", "Journal of Physics B", False),
        (r"\apj", r"\aj", False),
        ("Nature", "Nature Astronomy", False),
        ("Icarus", "Ikarus Reports", False),
    ],
)
def test_writings_of_one_journal_are_the_same(one: str, other: str, same: bool) -> None:
    assert same_journal(one, other) is same
    assert same_journal(other, one) is same


def test_macros_of_recorded_exports_are_known(shared_data: Path) -> None:
    from nuncius.library.bibtex_reading import read

    folder = shared_data / "upstreams" / "ads"
    text = json.loads((folder / "export_bibtex__search_and_export_c11.json").read_text())["export"]
    written = {entry.tex("journal") for entry in read(text).entries}
    macros = {one for one in written if one.startswith("\\")}
    assert len(macros) >= 3
    assert all(find_journal(macro) for macro in macros), macros


@pytest.mark.parametrize(
    ("told", "word"),
    [
        ({"bibcode": "2022A&A...661A.155N"}, "A&A"),
        ({"bibcode": "2022ApJ...934L...7R"}, "ApJL"),
        ({"bibcode": "2022ApJ...934....7R"}, "ApJ"),
        ({"bibcode": "2018ascl.soft12013L"}, "ascl"),
        ({"bibcode": "2022arXiv220612345R", "arxiv_id": "2206.12345"}, "arXiv"),
        ({"arxiv_id": "2206.12345"}, "arXiv"),
        ({"arxiv_id": "2206.12345", "name": "The Astrophysical Journal"}, "ApJ"),
        ({"arxiv_id": "2206.12345", "name": "Astrophys.J. 934 (2022) L7"}, "ApJ"),
        ({"arxiv_id": "2206.12345", "name": "2022, MNRAS, 510, 1"}, "MNRAS"),
        ({"bibcode": "2022MNRAS.510....1R", "stem": "arXiv"}, "MNRAS"),
        ({"bibcode": "2022ApJ...934L...7R", "name": "The Astrophysical Journal"}, "ApJL"),
        ({"stem": "PhDT", "name": "Ph.D. Thesis"}, "PhDT"),
        ({"name": " A  book\nof stars "}, "A book of stars"),
        ({"name": "x" * 500}, "x" * 100),
        ({"bibcode": "too short"}, ""),
        ({}, ""),
    ],
)
def test_where_a_work_stands_is_one_word(told: dict[str, str], word: str) -> None:
    assert journal_word(**told) == word
