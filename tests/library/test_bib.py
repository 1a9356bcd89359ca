"""A bibliography held against what services tell: named, updated, keys and own fields kept."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from nuncius.core.errors import UpstreamError
from nuncius.core.records import Affiliated, Record
from nuncius.library.bib import check, update
from nuncius.library.bib_findings import Finding
from nuncius.library.bibtex_reading import read

PUBLISHED = Record(
    source="ads",
    title="The orbits of made-up moons around a quiet giant",
    authors=(Affiliated("Rey, A. B."), Affiliated("Saar, C.")),
    year=2023,
    date="2023-05",
    bibcodes=("2023ApJ...950...12R", "2022arXiv221200001R"),
    dois=("10.3847/1538-4357/aaaaaa", "10.48550/arxiv.2212.00001"),
    arxiv_id="2212.00001",
    journal="The Astrophysical Journal",
    bibstem="ApJ",
    volume="950",
    issue="1",
    pages="12",
    doctype="article",
    categories=("astro-ph.EP",),
)
PREPRINT = replace(
    PUBLISHED,
    source="arxiv",
    year=2022,
    date="2022-12",
    bibcodes=(),
    dois=("10.48550/arxiv.2212.00001",),
    journal="",
    bibstem="",
    volume="",
    issue="",
    pages="",
    doctype="eprint",
)
OTHER = Record(
    source="crossref",
    title="A claim of a second sun",
    authors=(Affiliated("Zorn, P."), Affiliated("Oku, D.")),
    year=2015,
    dois=("10.1000/sun",),
    journal="Nature",
    volume="512",
    pages="77-79",
    doctype="article",
)


class Told:
    """Answers as services would; remembers what it was asked."""

    def __init__(self, answers: Mapping[str, Record | UpstreamError]) -> None:
        self._answers = answers
        self.asked: list[str] = []

    async def records(self, names: Sequence[str]) -> Sequence[Record | UpstreamError | None]:
        self.asked += names
        return [self._answers.get(name) for name in names]


ADS_PREPRINT = r"""% mine
@ARTICLE{MyKey,
       author = {{Rey}, A.~B. and {Saar}, C.},
        title = "{The orbits of made-up moons around a quiet giant}",
      journal = {arXiv e-prints},
     keywords = {mine, moons},
         year = 2022,
        month = dec,
          eid = {arXiv:2212.00001},
        pages = {arXiv:2212.00001},
archivePrefix = {arXiv},
       eprint = {2212.00001},
 primaryClass = {astro-ph.EP},
       adsurl = {https://ui.adsabs.harvard.edu/abs/2022arXiv221200001R},
         note = {read this!},
         file = {:rey.pdf:PDF}
}

@misc{other, title = {Something}}  % stays
"""


def of_kind(findings: Sequence[Finding], kind: str) -> list[Finding]:
    return [finding for finding in findings if finding.kind == kind]


def sun(**changes: str) -> str:
    fields = {
        "author": "{Zorn, P. and Oku, D.}",
        "title": "{A claim of a second sun}",
        "journal": "{Nature}",
        "year": "2015",
        "volume": "512",
        "pages": "{77--79}",
        "doi": "{10.1000/sun}",
    } | changes
    lines = ",\n".join(f"  {name} = {value}" for name, value in fields.items() if value)
    return f"@article{{sun,\n{lines}\n}}\n"


async def test_a_published_preprint_is_updated_and_its_key_and_own_fields_stay() -> None:
    names = ("2212.00001", "10.3847/1538-4357/aaaaaa", "2023ApJ...950...12R")
    told = Told(dict.fromkeys(names, PUBLISHED))
    updated = await update(ADS_PREPRINT, told, name="my.bib")
    assert updated.changed == ("MyKey",)
    assert updated.text == snapshot(r"""% mine
@ARTICLE{MyKey,
       author = {{Rey}, A.~B. and {Saar}, C.},
        title = "{The orbits of made-up moons around a quiet giant}",
      journal = {\apj},
     keywords = {mine, moons},
         year = 2023,
        month = may,
        pages = {12},
       volume = {950},
       number = {1},
          doi = {10.3847/1538-4357/aaaaaa},
archivePrefix = {arXiv},
       eprint = {2212.00001},
 primaryClass = {astro-ph.EP},
       adsurl = {https://ui.adsabs.harvard.edu/abs/2023ApJ...950...12R},
         note = {read this!},
         file = {:rey.pdf:PDF}
}

@misc{other, title = {Something}}  % stays
""")
    assert updated.diff.startswith("--- my.bib\n+++ my.bib (updated)\n@@")
    (finding,) = of_kind(updated.checked.findings, "published_now")
    assert (finding.key, finding.line) == ("MyKey", 2)
    assert finding.expected == "The Astrophysical Journal 950 12"
    again = await update(updated.text, told)
    assert (again.diff, again.checked.findings) == ("", ())


async def test_the_journals_record_is_asked_for_where_arxiv_only_names_its_doi() -> None:
    preprint = replace(PREPRINT, dois=PUBLISHED.dois)
    journal = replace(PUBLISHED, source="crossref", bibcodes=(), arxiv_id="", bibstem="")
    told = Told({"2212.00001": preprint, "10.3847/1538-4357/aaaaaa": journal})
    updated = await update(ADS_PREPRINT, told)
    assert told.asked == ["2212.00001", "10.3847/1538-4357/aaaaaa"]
    assert "journal = {\\apj}" in updated.text
    assert "volume = {950}" in updated.text
    assert "2022arXiv221200001R" in updated.text  # no bibcode was told


@pytest.mark.parametrize(
    "record", [PREPRINT, replace(PREPRINT, source="ads", journal="arXiv e-prints", bibstem="arXiv")]
)
async def test_a_preprint_that_is_one_still_is_left_alone(record: Record) -> None:
    updated = await update(ADS_PREPRINT, Told({"2212.00001": record}))
    assert (updated.text, updated.diff, updated.checked.findings) == (ADS_PREPRINT, "", ())


async def test_a_journal_that_only_arxiv_names_is_told_and_nothing_is_written_from_it() -> None:
    told = Told({"2212.00001": replace(PREPRINT, journal="ApJ 950 (2023) 12")})
    updated = await update(ADS_PREPRINT, told)
    (finding,) = updated.checked.findings
    assert (finding.kind, finding.expected) == ("published_now", "ApJ 950 (2023) 12")
    assert "the journal's own record was not found" in finding.note
    assert updated.diff == ""


async def test_a_misc_entry_becomes_an_article_in_its_own_style() -> None:
    text = (
        "@misc{moons, author={Rey, A. B. and Saar, C.}, eprint={arXiv:2212.00001},\n"
        "  title={The orbits of made-up moons}, note={mine}}\n"
        "@article{x, title={Anything at all here}, journal={A&A}}\n"
    )
    updated = await update(text, Told({"2212.00001": PUBLISHED}))
    assert updated.text.startswith(
        "@article{moons, author={Rey, A. B. and Saar, C.}, eprint={2212."
    )
    assert "title={The orbits of made-up moons around a quiet giant}" in updated.text
    assert "journal = {ApJ}" in updated.text  # the file says A&A, not \aap
    assert "note={mine}}" in updated.text


@pytest.mark.parametrize(
    ("field", "value", "found", "expected"),
    [
        ("year", "2014", "2014", "2015"),
        ("volume", "511", "511", "512"),
        ("pages", "{177}", "177", "77-79"),
        ("journal", "{Science}", "Science", "Nature"),
        ("author", "{Oku, D. and Zorn, P.}", "Oku, D.", "Zorn, P."),
    ],
)
async def test_a_wrong_field_is_named_with_both_values(
    field: str, value: str, found: str, expected: str
) -> None:
    checked = await check(sun(**{field: value}), Told({"10.1000/sun": OTHER}))
    (finding,) = checked.findings
    assert (finding.kind, finding.field) == ("wrong_field", field)
    assert (finding.found, finding.expected, finding.source) == (found, expected, "crossref")


@pytest.mark.parametrize(
    "changes",
    [
        {"journal": r"{\nat}"},
        {"pages": "{77}"},
        {"pages": "{L77}"},
        {"volume": "{0512}"},
        {"title": "{A Claim of a Second {Sun}}"},
        {"author": "{{Zorn}, Pia and {Oku}, D.}"},
        {"author": "{Zorn, P. and others}"},
        {"author": "{{The Second Sun Collaboration}}"},
        {"year": ""},
    ],
)
async def test_another_spelling_is_not_wrong(changes: dict[str, str]) -> None:
    assert (await check(sun(**changes), Told({"10.1000/sun": OTHER}))).findings == ()


async def test_wrong_fields_are_replaced_only_when_asked_for() -> None:
    text, told = sun(year="2014", volume="{511}"), Told({"10.1000/sun": OTHER})
    assert (await update(text, told)).diff == ""
    updated = await update(text, told, fields=True)
    assert updated.text == sun(year="2015", volume="{512}")


async def test_a_doi_of_another_work_is_named_and_nothing_is_taken_from_it() -> None:
    text = sun(title="{Spectra of ordinary dust}", author="{Doe, J.}", pages="{1}")
    updated = await update(text, Told({"10.1000/sun": OTHER}), fields=True)
    (finding,) = updated.checked.findings
    assert (finding.kind, finding.field, finding.found) == ("wrong_field", "doi", "10.1000/sun")
    assert finding.note == "this is another work: A claim of a second sun (Zorn, P., 2015)"
    assert updated.diff == ""


async def test_a_dead_doi_is_named_with_the_right_one_where_it_is_known() -> None:
    entry = sun(doi="{10.1000/son}", eprint="{1501.00001}")
    told = Told({"1501.00001": replace(OTHER, arxiv_id="1501.00001")})
    (finding,) = (await check(entry, told)).findings
    assert (finding.kind, finding.found, finding.expected) == (
        "dead_doi",
        "10.1000/son",
        "10.1000/sun",
    )
    updated = await update(entry, told, fields=True)
    assert "doi = {10.1000/sun}" in updated.text


async def test_a_doi_that_crossref_cannot_know_is_not_called_dead() -> None:
    (finding,) = (await check(sun(doi="{10.5281/zenodo.123}"), Told({}))).findings
    assert finding.kind == "unknown_identifier"


async def test_bibcodes_are_not_called_wrong_where_ads_was_not_asked() -> None:
    entry = sun(adsurl="{https://ui.adsabs.harvard.edu/abs/2015Natur.512...77Z}")
    assert (await check(entry, Told({"10.1000/sun": OTHER}))).findings == ()


@pytest.mark.parametrize("status", ["retracted", "withdrawn", "erratum"])
async def test_what_became_of_a_work_is_named(status: str) -> None:
    told = Told({"10.1000/sun": replace(OTHER, status=status, status_note="see 10.1000/note")})
    (finding,) = (await check(sun(), told)).findings
    assert (finding.kind, finding.note) == (status, "see 10.1000/note")


async def test_an_erratum_itself_has_no_erratum() -> None:
    title = "Erratum: A claim of a second sun"
    told = Told({"10.1000/sun": replace(OTHER, title=title, status="erratum")})
    assert (await check(sun(title=f"{{{title}}}"), told)).findings == ()


async def test_a_service_that_did_not_answer_is_told_and_nothing_is_called_dead() -> None:
    broken = UpstreamError("Crossref", "https://api.crossref.org/works", "no answer")

    class Broken:
        async def records(self, names: Sequence[str]) -> Sequence[Record | None]:
            raise broken

    for told in (Broken(), Told({"10.1000/sun": broken})):
        (finding,) = (await check(sun(), told)).findings
        assert finding.kind == "not_checked"
        assert "no answer" in finding.note


def many(count: int) -> tuple[str, dict[str, Record | UpstreamError]]:
    """Return a bibliography of preprints, and what services tell of them by now."""
    text = "\n".join(
        f"@article{{k{at}, author={{Rey, A. B. and Saar, C.}}, title={{Made-up moons of giant {at}}},"
        f" eprint={{2201.{at:05d}}}, journal={{arXiv e-prints}}, year=2022}}"
        for at in range(count)
    )
    answers: dict[str, Record | UpstreamError] = {
        f"2201.{at:05d}": replace(
            PUBLISHED,
            title=f"Made-up moons of giant {at}",
            bibcodes=(f"2023ApJ...{at:03d}...12R",),
            dois=(f"10.3847/{at}",),
            arxiv_id=f"2201.{at:05d}",
        )
        for at in range(count)
    }
    return text, answers


async def test_many_entries_are_asked_for_in_parts_and_all_are_updated() -> None:
    class InParts(Told):
        sizes: list[int] = []  # noqa: RUF012

        async def records(self, names: Sequence[str]) -> Sequence[Record | UpstreamError | None]:
            self.sizes.append(len(names))
            if "2201.00250" in names:
                raise UpstreamError("ADS", "https://api.adsabs.harvard.edu", "no answer in time")
            return await super().records(names)

    text, answers = many(950)
    told = InParts(answers)
    updated = await update(text, told)
    assert sum(told.sizes) == 950
    assert max(told.sizes) <= 200  # no request grows with the file
    assert len(updated.changed) == 750
    silent = [one for one in updated.checked.findings if one.kind == "not_checked"]
    assert len(silent) == 200


async def test_one_services_silence_does_not_hide_what_another_tells() -> None:
    class ArxivIsDown:
        async def records(self, names: Sequence[str]) -> Sequence[Record | None]:
            if "2212.00001" in names:
                raise UpstreamError("arXiv", "https://export.arxiv.org/api/query", "no answer")
            return [OTHER] * len(names)

    checked = await check(ADS_PREPRINT + sun(year="2014"), ArxivIsDown())
    found = [(one.kind, one.key) for one in checked.findings]
    assert found == [("not_checked", "MyKey"), ("wrong_field", "sun")]


async def test_the_file_itself_shows_duplicates_and_missing_identifiers() -> None:
    text = (
        sun()
        + sun(volume="1")
        + sun(journal="{\\nat}").replace("{sun,", "{sun2,")
        + "@article{bare, title={Some further words here}, author={Ivo, K.}}\n"
        + "@book{fine, title={A book}}\n"
    )
    found = [(one.kind, one.key, one.line) for one in (await check(text)).findings]
    assert found == [
        ("duplicate_key", "sun", 10),
        ("duplicate_entry", "sun2", 19),
        ("missing_identifier", "bare", 28),
    ]


async def test_preprint_and_journal_version_of_one_work_are_one() -> None:
    text = ADS_PREPRINT + (
        "@article{later, author={Rey, A. B. and Saar, C.}, journal={\\apj}, volume=950, year=2023,"
        " title={The orbits of made-up moons around a quiet giant}, doi={10.3847/1538-4357/aaaaaa}}\n"
    )
    (finding,) = of_kind((await check(text)).findings, "duplicate_entry")
    assert (finding.key, finding.note) == ("later", "the same work as MyKey (line 2)")


async def test_parts_of_a_series_are_not_one_work() -> None:
    text = "".join(
        f"@article{{p{part}, author={{Rey, A.}}, title={{Moons of a quiet giant. {part}}},"
        f" doi={{10.1000/{part}}}}}\n"
        for part in ("I", "II", "III")
    )
    assert (await check(text)).findings == ()


async def test_broken_entries_are_named_and_left_to_a_person() -> None:
    text = ADS_PREPRINT.replace("month = dec,", "month = dec").replace(
        "@misc{other", "@misc{other,"
    )
    updated = await update(text, Told({"2212.00001": PUBLISHED}))
    (finding,) = of_kind(updated.checked.findings, "unreadable")
    assert (finding.key, finding.line) == ("MyKey", 8)
    assert updated.text == text


async def test_versions_and_addresses_ask_for_the_plain_identifier() -> None:
    told = Told({})
    await check(
        "@misc{a, eprint={2212.00001v3}, doi={https://doi.org/10.1000/ABC}}\n"
        "@misc{b, url={https://arxiv.org/abs/2212.00002v1}}\n"
        "@article{c, journal={arXiv preprint arXiv:2212.00003}}\n"
        "@article{2021A&A...650A..12N, title={T}}\n",
        told,
    )
    assert told.asked == [
        "2212.00001", "2212.00002", "2212.00003", "2021A&A...650A..12N", "10.1000/abc",
    ]  # fmt: skip


async def test_a_biblatex_entry_keeps_the_names_of_its_fields() -> None:
    text = (
        "@online{moons,\n  author = {Rey, A. B. and Saar, C.},\n"
        "  title = {The orbits of made-up moons around a quiet giant},\n  date = {2022-12-01},\n"
        "  eprint = {2212.00001},\n  eprinttype = {arXiv},\n  number = {arXiv:2212.00001},\n"
        "  publisher = {arXiv},\n  doi = {10.48550/arXiv.2212.00001},\n  annotation = {mine}\n}\n"
        "@article{x, title={Other words here}, journaltitle={Icarus}, doi={10.1000/1}}\n"
    )
    updated = await update(text, Told({"2212.00001": PUBLISHED}))
    entry = read(updated.text).entries[0]
    assert (entry.kind, entry.text("date"), entry.text("number")) == ("article", "2023-05", "1")
    assert entry.bare("doi") == "10.3847/1538-4357/aaaaaa"
    assert entry.text("annotation") == "mine"
    assert entry.get("publisher") is entry.get("year") is entry.get("month") is None


async def test_a_preprint_that_became_a_contribution_has_a_book_not_a_journal() -> None:
    talk = replace(
        PUBLISHED, doctype="inproceedings", journal="Proceedings of a Meeting", bibstem=""
    )
    updated = await update(ADS_PREPRINT, Told({"2212.00001": talk}))
    entry = read(updated.text).entries[0]
    assert entry.kind == "inproceedings"
    assert entry.text("booktitle") == "Proceedings of a Meeting"
    assert entry.get("journal") is None


@given(
    names=st.lists(
        st.sampled_from("note annote file keywords timestamp owner groups my-field".split()),
        unique=True,
    ),
    value=st.text(st.sampled_from("ab &%#_<i>é\t;,=@"), max_size=20),
)
async def test_a_persons_own_fields_stay_byte_for_byte(names: list[str], value: str) -> None:
    own = "".join(f"  {name} = {{{value}}},\n" for name in names)
    text = ADS_PREPRINT.replace("         note = {read this!},\n", own)
    updated = await update(text, Told({"2212.00001": PUBLISHED}), fields=True)
    assert own in updated.text
    assert updated.text.endswith("@misc{other, title = {Something}}  % stays\n")
    assert updated.changed == ("MyKey",)
