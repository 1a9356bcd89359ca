import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.core.text import fold
from nuncius.parsing.locate import locate

WORDS = st.lists(
    st.sampled_from(
        [
            "stars",
            "orbit",
            "the",
            "centre",
            "with",
            "a",
            "period",
            "of",
            "16",
            "years",
            "and",
            "−0.3",
            "mag",
            "or",
            "3.5",
            "kpc",
            "Σ",
            "é",
        ]
    ),
    min_size=6,
    max_size=30,
)


def found(text: str, quote: str) -> str:
    places, _ = locate(text, quote)
    return fold("".join(text[at] for at in places)).text


@given(WORDS, WORDS, WORDS, st.data())
def test_a_quote_is_found_however_its_lines_are_broken(
    before: list[str], words: list[str], after: list[str], data: st.DataObject
) -> None:
    quote = "We find that " + " ".join(words) + "."
    breaks = st.sampled_from([" ", "\n", "  ", " \n"])
    spread = "".join(word + data.draw(breaks) for word in quote.split())
    text = " ".join(before) + "\n" + spread + " ".join(after)
    places, share = locate(text, quote)
    assert share == 1.0
    assert places == sorted(set(places))
    assert found(text, quote) == fold(quote).text


@given(WORDS, st.integers(1, 900), st.sampled_from([1, 5]), st.booleans())
def test_line_numbers_do_not_hide_a_quote(
    words: list[str], first: int, step: int, leading: bool
) -> None:
    lines = [f"{word} matters in this line" for word in ["Alpha", *words, "Omega"]]
    quote = " ".join(lines)
    numbered = "\n".join(
        f"{first + n * step} {line}" if leading else f"{line} {first + n * step}"
        for n, line in enumerate(lines)
    )
    _, share = locate(numbered, quote)
    assert share == 1.0
    assert found(numbered, quote) == fold(quote).text


def test_a_line_number_after_a_broken_word_does_not_part_it() -> None:
    text = "26 Photometry came from Ke\ufffe27 pler and from TESS. The\n28 rest is\n29 new."
    quote = "Photometry came from Kepler and from TESS."
    assert locate(text, quote)[1] == 1.0
    assert found(text, quote) == fold(quote).text


@given(st.text(max_size=300), st.text(max_size=80))
def test_any_text_gives_places_inside_it_and_a_share(text: str, quote: str) -> None:
    places, share = locate(text, quote)
    assert all(0 <= at < len(text) for at in places)
    assert 0 <= share <= 1
    assert bool(places) == (share > 0)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("The galax\ufffeies are red and the stars are old here.", "The galaxies are red and the stars are old here."),
        ("The e\ufb03cient \ufb01t of the \ufb02ux in the \ufb01eld.", "The efficient fit of the flux in the field."),
        ("Work by Ilic\u00b4 and others shows the same trend.", "Work by Ilić and others shows the same trend."),
        ("The stars2 of the thin disc move on circular orbits.", "The stars of the thin disc move on circular orbits."),
        ("恒 星 在 盘 中 迁 移 ， 年 龄\n为 6 Gyr 。", "恒星在盘中迁移，年龄为 6 Gyr。"),
        ("mass (M⊙) 1.2 ± 0.1\nradius 3.4 ± 0.2", "| mass (M⊙) | 1.2 ± 0.1 |\n| radius | 3.4 ± 0.2 |"),
    ],
)  # fmt: skip
def test_spellings_of_the_same_text_agree(text: str, quote: str) -> None:
    assert locate(text, quote)[1] > 0.85


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("The mean metallicity of the stars is 0.3 dex.", "The mean metallicity of the stars is −0.3 dex."),
        ("The mean metallicity of the stars is 1.23 dex.", "The mean metallicity of the stars is 12.3 dex."),
        ("The mean metallicity of the stars is 112 dex.", "The mean metallicity of the stars is 12 dex."),
        ("The mean metallicity is 4 dex; the age is 7 Gyr.", "The mean metallicity is 4 dex; the age is 8 Gyr."),
    ],
)  # fmt: skip
def test_a_number_that_differs_is_not_the_quote(text: str, quote: str) -> None:
    assert locate(text, quote) == ([], 0.0)
