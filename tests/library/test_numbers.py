"""Numbers: sign, digits, exponent, unit, rounding."""

import pytest

from nuncius.library.numbers import find_numbers, missing_numbers


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("H0 is 73.04 ± 1.04 km/s/Mpc.", "We obtain H0 = 73.04 ± 1.04 km s−1 Mpc−1."),
        ("It is -7.4.", "a value of \u22127.4 was found"),
        ("The flux is 1.2e-12 erg.", "a flux of 1.2 × 10⁻¹² erg"),
        ("The flux is 1.2 × 10^-12 erg.", "a flux of $1.2 \\times 10^{-12}$ erg"),
        ("There are 12345 stars.", "a sample of 12,345 stars"),
        ("It is about 67 km/s/Mpc.", "67.4 km s-1 Mpc-1"),
        ("它约为 67 km/s/Mpc。", "67.4 km s-1 Mpc-1"),
        ("NGC 1234 and Kepler-1627 are in Table 3.", "nothing here"),
        ("It is 38 Myr old.", "an age of 38^{+6}_{-5} Myr"),
        ("覆盖率是 47.70%。", "sky fraction of 47.70 %"),
    ],
)
def test_said_by_the_quote(sentence: str, quote: str) -> None:
    assert missing_numbers(sentence, [quote]) == []


@pytest.mark.parametrize(
    ("sentence", "quote", "missing"),
    [
        ("It is 0.3.", "it is \u22120.3", ["0.3"]),
        ("It is -0.3.", "it is 0.3", ["-0.3"]),
        ("It is 67 km/s/Mpc.", "67.4 km s-1 Mpc-1", ["67"]),
        ("It is about 66 km/s/Mpc.", "67.4 km s-1 Mpc-1", ["66"]),
        ("It is 67 km.", "67 Mpc", ["67"]),
        ("The flux is 1.2e-12 erg.", "a flux of 1.2 × 10⁻¹¹ erg", ["1.2e-12"]),
        ("Of 5 there are 7.", "we have 5", ["7"]),
        ("年龄是 38 百万年。", "no age", ["38"]),
    ],
)
def test_not_said_by_the_quote(sentence: str, quote: str, missing: list[str]) -> None:
    assert missing_numbers(sentence, [quote]) == missing


def test_a_cited_papers_year_counts_as_known() -> None:
    assert missing_numbers("Bouma et al. (2022) find it.", ["it is so"], "Title 2022") == []


def test_names_are_no_numbers() -> None:
    assert [
        n.text for n in find_numbers("PSR B1913+16, HD 209458 b, DR3, GW170817, M 31, S8, H0")
    ] == []
