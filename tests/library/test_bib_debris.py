"""What exports leave behind is mended where it is certain what was meant, and nowhere else."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.library.bibtex_reading import read
from nuncius.library.debris import mended_text, mendings
from nuncius.library.tex import latex


def mended(fields: str) -> dict[str, str | None]:
    bib = read(f"@article{{a, {fields}}}")
    return {one.field: one.raw for one in mendings(bib, bib.entries[0])}


@pytest.mark.parametrize(
    ("left", "meant"),
    [
        (r"Astronomy {\&}amp; Astrophysics", r"Astronomy \& Astrophysics"),
        (r"A\&amp;A", r"A\&A"),
        ("A&amp;A", r"A\&A"),
        ("A&amp;amp;A", r"A\&A"),
        ("x &lt; 3 &#956;m", r"x $<$ 3 $\mu$m"),
        ("H<SUB>2</SUB>O at 10<sup>-3</sup>", "H$_{2}$O at 10$^{-3}$"),
        ("L$<$SUB$>$2$<$/SUB$>$", "L$_{2}$"),
        (r"{\textless}sup{\textgreater}3{\textless}/sup{\textgreater}He", "$^{3}$He"),
        ("The <i>Gaia</i> mission", "The Gaia mission"),
        ("{{{Title}}}", "{{Title}}"),
        ("R & D at 5% of a_b", r"R \& D at 5\% of a\_b"),
        ("na\u0308ive \ufb01eld", "näive field"),
        ("zero\u200bwidth", "zerowidth"),
        ("one\u00a0blank", "one~blank"),
    ],
)
def test_debris_of_text_is_mended(left: str, meant: str) -> None:
    assert mended_text(left)[0] == meant
    assert mended_text(left)[1]
    assert mended_text(meant) == (meant, "")


@pytest.mark.parametrize(
    "whole",
    [
        r"A\&A; B",
        r"$a_b < c$ and \url{http://x.org/a_b?c=d&e=5%20}",
        r"{\'E}tude of {\ae}",
        "5 < 6 > 4",
        "{Rey}, A. and {Saar}, C.",
        r"\href{http://x.org/a_b}{here} 100\%",
        "{{Planck}} results",
    ],
)
def test_what_is_meant_so_stays(whole: str) -> None:
    assert mended_text(whole) == (whole, "")


@given(st.text(st.sampled_from("abc éüßΔ±°²&%#_<>;~^\\{}$ amp"), max_size=40))
def test_what_we_write_ourselves_is_no_debris(text: str) -> None:
    written = latex(text)
    fresh, _ = mended_text(written)
    assert mended_text(fresh) == (fresh, "")


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        (r"author = {{.}, S.~N. Agbo and {Rey}, A.}", {"author": "{{Agbo}, S.~N. and {Rey}, A.}"}),
        ("author = {{Collaboration}, The X}", {"author": "{{The X Collaboration}}"}),
        ("author = {{Rey}, A. and {}, . . .}", {"author": "{{Rey}, A. and others}"}),
        ("author = {Rey, A. and et al.}", {"author": "{Rey, A. and others}"}),
        ("author = {Rey, A.; Saar, C.}", {"author": "{Rey, A. and Saar, C.}"}),
        ("author = {{Planck Collaboration} and {Rey}, A.}", {}),
        ("doi = {https://doi.org/10.1/x_y}", {"doi": "{10.1/x_y}"}),
        (
            "doi = {10.1140/epjc/s1-610.48550/arXiv.1912.06970}",
            {"doi": "{10.1140/epjc/s1-6}"},
        ),
        ("doi = {10.48550/arXiv.1912.06970}", {}),
        ("eprint = {arXiv:2112.04510v2 [astro-ph.EP]}", {"eprint": "{2112.04510v2}"}),
        ("eprint = {ascl:1706.009}", {}),
        ("month = {June}", {"month": "jun"}),
        ("month = sept", {"month": "sep"}),
        ('month = "10"', {"month": "oct"}),
        ("month = jun", {}),
        ('month = jun # "~3"', {}),
        ("pages = {145–150}", {"pages": "{145--150}"}),
        ("abstract = {Not Available <P />}", {"abstract": None}),
        (r'abstract = "{Not Available \textbackslash\textbackslash}"', {"abstract": None}),
        ("note = {R & D, my own}", {}),
        ("journal = macro # { & x}", {}),
    ],
)
def test_each_field_is_mended_by_its_own_rules(fields: str, wanted: dict[str, str | None]) -> None:
    assert mended(fields) == wanted


def test_debris_of_recorded_exports_is_found_and_nothing_else(shared_data: Path) -> None:
    folder = shared_data / "upstreams" / "ads" / "export_service"
    bib = read(json.loads((folder / "bibTexTest__data.json").read_text())["export"])
    found = {(entry.key, one.field) for entry in bib.entries for one in mendings(bib, entry)}
    assert found == {
        ("2007AAS...210.2104M", "author"),
        ("2007RJPh....1...35.", "author"),
        ("2020EPJC...80...96D", "doi"),
    }
