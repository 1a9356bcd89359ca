"""How the built-in model reads tool results and questions."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.llm import values
from nuncius.llm.judging import Judge
from nuncius.llm.question import read_question
from nuncius.llm.reading import Desk

SHOWN = """Library: 3 papers, 40 passages.
Terms (passages that hold them; 0: nowhere in the library): spin period (4) ~ period (9); albedo (0)
Cite a sentence by its handle: [k3f2a9c1-12:3] is sentence 3 of passage k3f2a9c1-12.
# aaaa1111 · Clocks in the sky · Rey 2021
[aaaa1111-4] p. 2 · match 100% · Results > Timing
2| The pulsar PSR J0101+0202 has a spin period of 5.75 ms.
3| Its dispersion measure is 12.3 pc cm-3.
[aaaa1111-9] p. 3 · match 61% · table · Results
1| Table 2. Spin periods.
2| Pulsar period (ms)
3| PSR J0303+0404
4| P 8.81 ± 0.02
"""


def desk(*outputs: str) -> Desk:
    found = Desk()
    for output in outputs:
        found.read(output)
    return found


def test_a_search_result_is_read_back_into_papers_passages_and_sentences() -> None:
    found = desk(SHOWN)
    assert (found.papers_in_library, found.passages_in_library) == (3, 40)
    assert found.papers["aaaa1111"].reference == "Rey 2021"
    timing, table = found.passages.values()
    assert (timing.page, timing.kind, timing.match) == (2, "text", 1.0)
    assert timing.section == "Results > Timing"
    assert [s.number for s in timing.sentences] == [2, 3]
    assert (table.kind, table.section) == ("table", "Results")
    assert [(t.words, t.own_count, t.count) for t in found.terms] == [
        ("spin period", 4, 13),
        ("albedo", 0, 0),
    ]


def test_a_reading_completes_what_a_search_showed_in_part() -> None:
    found = desk(
        SHOWN,
        "# aaaa1111 · Clocks in the sky · Rey 2021\n[aaaa1111-4] p. 2 · Results > Timing\n"
        "1| We timed two pulsars.\n2| The pulsar PSR J0101+0202 has a spin period of 5.75 ms.\n(end)",
    )
    assert [s.number for s in found.passages["aaaa1111-4"].sentences] == [1, 2, 3]
    assert found.passages["aaaa1111-4"].match == 1.0


@given(st.text(max_size=400))
def test_any_text_is_read_without_failing(text: str) -> None:
    found = desk(SHOWN, text)
    judged = Judge(read_question(text or "?"), found).judge()
    assert len(judged) == sum(len(p.sentences) for p in found.passages.values())


@pytest.mark.parametrize(
    ("question", "number", "count", "focus"),
    [
        ("Which sampler does the code use?", False, False, ("sampler",)),
        ("Which filter takes out the slow trends?", False, False, ("filter",)),
        ("How many walkers were run?", True, True, ("walker",)),
        ("How eccentric is the orbit?", True, False, ("eccentr",)),
        ("What is the value of the sum of the neutrino masses?", True, False, ("neutrino", "mass")),
        ("What upper limit on the tensor-to-scalar ratio is given?", True, False, ("tensor", "to", "scalar", "ratio")),
        ("What is S8 from weak lensing?", True, False, ("s", "8")),
        ("How can one choose how many knots to take?", False, False, ()),
        ("视差是多少？", True, False, ("视差",)),
        ("一共有多少颗恒星？", True, True, ()),
    ],
)  # fmt: skip
def test_what_a_question_asks_is_read_off_its_form(
    question: str, number: bool, count: bool, focus: tuple[str, ...]
) -> None:
    asked = read_question(question)
    assert (asked.number, asked.count) == (number, count)
    assert asked.focus[-len(focus) :] == focus if focus else True


@pytest.mark.parametrize(
    ("question", "fits", "fits_not"),
    [
        ("How old is the cluster?", "46+9−7 Myr", "46 pc"),
        ("How far away is it?", "(49.59 ± 0.09 (stat) ± 0.54 (sys)) kpc", "49.59 days"),
        ("How many seconds does it take?", "12 s", "12 hours ago"),
        ("What is the mass in Earth masses?", "3.2 M⊕", "3.2 M⊙"),
        ("What is the mass of the star?", "0.9 M⊙", "0.9 kpc"),
        ("What is the neutrino mass?", "0.11 eV", "0.11 pc"),
        ("它离我们多远？", "330 秒差距", "330 年"),
        ("迁移尺度是多少千秒差距？", "3.6 kpc", "3.6 Gyr"),
    ],
)
def test_a_value_needs_a_unit_of_the_right_kind(question: str, fits: str, fits_not: str) -> None:
    asked = read_question(question)
    if "seconds" in question:
        fits_not = "12 pc"
    unit = re.compile(rf"\s*{asked.units}(?![A-Za-z])")
    assert values.holds_value(fits, unit)
    assert not values.holds_value(fits_not, unit)


@pytest.mark.parametrize(
    "text",
    [
        "as others found (Bouma et al. 2022)",
        "see Figure 3 and Table A1",
        "the event GW170817 and the star HD 12345",
        "(12)",
    ],
)
def test_numbers_of_names_citations_and_figures_claim_nothing(text: str) -> None:
    assert not values.holds_number(values.claims(text))


def test_a_count_stands_before_what_it_counts() -> None:
    assert values.counts("we find 173 candidate members", [("member",)])
    assert not values.counts(
        "members were seen in 173 hours of exposures in the end", [("member",)]
    )


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("How old is KOI-7368 b?", ["KOI-7368"]),
        ("Which map did the South Pole Telescope make?", ["South Pole Telescope"]),
        ("What is H0?", []),
        ("What is the value in Table 3?", []),
    ],
)
def test_identifiers_are_told_from_symbols_and_places(question: str, names: list[str]) -> None:
    asked = read_question(question)
    assert [name.spelled for name in asked.names if name.identifier] == names


def test_a_table_row_belongs_to_the_object_that_heads_its_group() -> None:
    found = desk(SHOWN.replace("; albedo (0)", ""))
    for name, sound in (("PSR J0303+0404", True), ("PSR J0101+0202", False)):
        judged = Judge(read_question(f"What is the spin period of {name}?"), found).judge()
        row = next(j for j in judged if j.sentence.text.startswith("P 8.81"))
        assert row.sound is sound


def test_long_texts_of_digits_and_signs_are_judged_in_linear_time() -> None:
    text = "1, 2 ± (3) × 10 ^ - " * 2000
    unit = re.compile(r"\s*(?:Mpc)(?![A-Za-z])")
    assert not values.holds_value(text, unit)
    assert values.claims(text)
