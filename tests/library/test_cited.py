"""What a paper's list of references tells: whom it names, by what identifiers, in which order."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius import notes
from nuncius.core.identifiers import normal_bibcode
from nuncius.library.cited import CitedWork, cited_works
from nuncius.library.content import sections
from nuncius.parsing import parse
from nuncius.parsing.passages import to_markdown

PAPER = """<!-- page 1 -->

# Spots

As Alder (2019) found.

## References

an odd line before the first entry

<!-- page 8 -->

- Alder, B., & Birch, C. 2019a, ApJ, 870, 12
- —. 2019b, ApJL, 871, L9

<!-- page 9 -->

- The Oak Collaboration, Pine, D., et al. 2021, A&A, 650, A77, doi: 10.1051/0004-6361/2021
  11111
"""


def read(entry: str) -> CitedWork:
    (work,) = cited_works(f"## References\n\n- {entry}\n")
    return work


def test_entries_stand_in_order_on_their_pages_and_a_dash_is_the_author_before() -> None:
    works = cited_works(PAPER)
    assert [(work.number, work.page, work.first_author, work.year) for work in works] == [
        (1, 8, "Alder", "2019a"),
        (2, 8, "Alder", "2019b"),
        (3, 9, "The Oak Collaboration", "2021"),
    ]
    assert [work.bibcode for work in works] == [
        "2019ApJ...870...12A",
        "2019ApJ...871L...9A",
        "2021A&A...650A..77O",
    ]
    assert works[2].text.endswith("2021 11111")


def test_a_paper_without_a_list_cites_nothing() -> None:
    assert not cited_works("# Title\n\nAlder (2019) wrote.\n\n- an item of a list\n")
    assert not cited_works("")


def test_what_follows_the_list_is_no_entry() -> None:
    text = "## References\n\n- Alder, B. 2019, ApJ, 870, 12\n\n## Appendix\n\n- one\n- two\n"
    assert len(cited_works(text)) == 1


@pytest.mark.parametrize(
    ("entry", "author"),
    [
        ("Alder, B. C., Birch, D., et al. 2019, ApJ, 870, 12", "Alder"),
        ("van der Alder, B., & Birch, D. 2019, ApJ, 870, 12", "van der Alder"),
        ("B. C. Alder, D. Birch, and E. Elm (2019) A title. ApJ 870 (1), pp. 12.", "Alder"),
        ("É. Alder and D. Birch (2019) A title. ApJ 870, pp. 12.", "Alder"),
        ("B. van Alder. A title of three parts. ApJ, 870:12–20, May 2019.", "van Alder"),
        ("Bertha Alder and Dora Birch. A title. ApJ, 870:12–20, May 2019.", "Alder"),
        ("Alder B C and Birch D 2019 A title Astrophys. J. 870 12", "Alder"),
        ("Alder BC 2019 A title", "Alder"),
        ("O’Alder-Birch, B. 2019, ApJ, 870, 12", "O’Alder-Birch"),
        ("Oak Collaboration, Pine, D., et al. 2019, A&A, 650, A77", "Oak Collaboration"),
        ("Planetary Data Archive. 2019, A table, doi: 10.1234/abc", "Planetary Data Archive"),
        ("[12] B. Alder, A title, ApJ 870 (2019) 12", "Alder"),
        ("王晓明, 李华. 2019, 天文学报, 60, 12", "王晓明"),
    ],
)
def test_the_first_author_is_found_however_names_are_written(entry: str, author: str) -> None:
    work = read(entry)
    assert (work.first_author, work.year) == (author, "2019")


@pytest.mark.parametrize(
    ("entry", "label", "text"),
    [
        ("[12] Alder, B. 2019, ApJ, 870, 12", "12", "Alder, B. 2019, ApJ, 870, 12"),
        ("[Ald19] Alder, B. 2019", "Ald19", "Alder, B. 2019"),
        ("7. Alder, B. 2019", "7", "Alder, B. 2019"),
        ("2019 was a year. Alder, B.", "", "2019 was a year. Alder, B."),
    ],
)
def test_a_label_is_kept_apart(entry: str, label: str, text: str) -> None:
    work = read(entry)
    assert (work.label, work.text) == (label, text)


@pytest.mark.parametrize(
    ("entry", "year"),
    [
        ("Alder, B. 2019b, ApJ, 870, 12", "2019b"),
        ("Alder, B. (2019, May). A title of 1998. ApJ, 870, 12.", "2019"),
        ("B. Alder. Counts in 2MASS. ApJ, 870:1901–1920, May 2019.", "2019"),
        ("Alder, B. 2019, arXiv:2001.01234", "2019"),
        ("Alder, B., in preparation, arXiv:2001.01234", ""),
    ],
)
def test_the_year_is_no_page_and_no_identifier(entry: str, year: str) -> None:
    assert read(entry).year == year


@pytest.mark.parametrize(
    ("entry", "doi", "arxiv_id"),
    [
        ("Alder, B. 2019, ApJ, 870, 12, doi: 10.3847/1538-4357/Ab12.", "10.3847/1538-4357/ab12", None),
        ("Alder, B. 2019, https://doi.org/10. 21105/joss.01234", "10.21105/joss.01234", None),
        ("Alder, B. 2019, doi: 10.1093/ mnras/stz99. Next", "10.1093/mnras/stz99", None),
        ("Alder, B. 2019, doi: 10.3847/1538-4357/ ab12", "10.3847/1538-4357/ab12", None),
        ("Alder, B. 2009, 10.1111/j. 1365-2966.2009.15574.x", "10.1111/j.1365-2966.2009.15574.x", None),
        ("Alder, B. 2019, arXiv:1901.01234v2", None, "1901.01234"),
        ("Alder, B. 1999, astro-ph/9901001", None, "astro-ph/9901001"),
        ("Alder, B. 2019, doi: 10.48550/arXiv.1901.01234", "10.48550/arxiv.1901.01234", "1901.01234"),
        ("Alder, B. 2019, doi: 10.3847/1538-4357/", None, None),
    ],
)  # fmt: skip
def test_identifiers_are_read_through_the_ends_of_lines(
    entry: str, doi: str | None, arxiv_id: str | None
) -> None:
    work = read(entry)
    assert (work.doi, work.arxiv_id) == (doi, arxiv_id)


@pytest.mark.parametrize(
    ("entry", "bibcode"),
    [
        ("Alder, B. 2019, ApJ, 870, 12", "2019ApJ...870...12A"),
        ("Alder, B. 2019, The Astrophysical Journal, 870(2), 1012.", "2019ApJ...870.1012A"),
        ("B. Alder (2019) A title. ApJ 870 (1), pp. L3. External Links: Document", "2019ApJ...870L...3A"),
        ("B. Alder. A title. MNRAS, 450:1787–1798, June 2019.", "2019MNRAS.450.1787A"),
        ("Alder, B. 2019, Phys. Rev. D, 99, 083504", "2019PhRvD..99h3504A"),
        ("Élan, B. 2019, A&A, 621, A138", "2019A&A...621A.138E"),
        ("Alder, B. 2019, JCAP, 2019, 026", None),  # made of the issue, which is not told
        ("B. Alder (2019) A title. J. Unknown Astropart. Phys 2019 (12), pp. 26.", None),
        ("Alder, B. 2019, Journal of Nowhere, 12, 345", None),
        ("Alder, B., ApJ, in press", None),
        ("王晓明 2019, ApJ, 870, 12", None),  # the letter is the Latin spelling's
    ],
)  # fmt: skip
def test_a_bibcode_is_made_where_all_its_parts_are_told(entry: str, bibcode: str | None) -> None:
    work = read(entry)
    assert work.bibcode == bibcode
    assert work.made is (bibcode is not None)
    assert bibcode is None or normal_bibcode(bibcode) == bibcode


def test_a_written_bibcode_is_not_made() -> None:
    work = read("Alder, B. 1992, https://ui.adsabs.harvard.edu/abs/1992aooe...11..125A/abstract")
    assert (work.bibcode, work.made) == ("1992aooe...11..125A", False)


@given(st.lists(st.text(st.characters(exclude_characters="\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"))))
def test_each_line_that_begins_an_entry_is_one(lines: list[str]) -> None:
    entries = [f"x{line}" for line in lines]
    works = cited_works("## References\n\n" + "".join(f"- {entry}\n" for entry in entries))
    assert [work.number for work in works] == list(range(1, len(entries) + 1))
    for work, entry in zip(works, entries, strict=True):
        assert entry.strip().endswith(work.text)


def test_a_list_without_indents_that_goes_over_a_page_is_cut_into_its_entries() -> None:
    note = Path(notes.__file__).parent / "pulsar-timing.pdf"
    works = cited_works(to_markdown(parse(note.read_bytes(), name=note.name)))
    assert len(works) == 15
    assert all(work.doi and len(work.text) < 120 for work in works)
    assert [work.page for work in works] == [2] * 2 + [3] * 13


@pytest.mark.parametrize(
    ("file", "entries", "named"),
    [("legwork.pdf", 62, 62), ("cyb.pdf", 125, 117), ("rudolf.pdf", 137, 117)],
)
def test_lists_of_real_papers(shared_data: Path, file: str, entries: int, named: int) -> None:
    document = parse((shared_data / "papers" / "pdf" / file).read_bytes(), name=file)
    works = cited_works(to_markdown(document))
    assert len(works) == entries
    assert all(work.first_author and work.year for work in works)
    assert sum(bool(work.names) for work in works) >= named


@pytest.mark.parametrize(
    "entry",
    ["_" * 60 + " 12", "—" * 60 + " x", "Ab " * 30_000, "The " * 30_000, "(2019,x" * 15_000, "10. " * 25_000],
    ids=lambda entry: entry[:8],
)  # fmt: skip
def test_no_entry_takes_for_ever(entry: str) -> None:
    """Any of them would take minutes or years where a pattern can be matched in many ways."""
    assert read(entry).text == entry.strip()


def test_no_heading_takes_for_ever() -> None:
    text = "# a" + "\t" * 100_000 + "b ##\n\n## References\n\n- Alder, B. 2019\n"
    assert len(cited_works(text)) == 1
    assert sections(text)[0].title == "a b"
    document = parse(text.encode(), name="a.md")
    assert document.blocks[0].text.split() == ["a", "b"]
