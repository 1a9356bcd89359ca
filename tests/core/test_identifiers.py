"""Names of papers in every form that people type and services write."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.core.identifiers import (
    Identifier,
    arxiv_of_bibcode,
    bibcode_of_arxiv,
    identify,
    normal_bibcode,
    normal_doi,
)

ARXIV = {
    "2401.01234": ("2401.01234", None),
    "2401.01234v2": ("2401.01234", 2),
    "arXiv:2401.01234v12": ("2401.01234", 12),
    "arXiv: 2401.01234 (v2)": ("2401.01234", 2),
    "arXiv：2401.01234": ("2401.01234", None),
    "（ａｒＸｉｖ：２４０１．０１２３４ｖ２）。": ("2401.01234", 2),
    "「arXiv:2401.01234」": ("2401.01234", None),
    "arxiv 2401.01234": ("2401.01234", None),
    "ARXIV.2401.01234": ("2401.01234", None),
    "arXiv preprint arXiv:2401.01234": ("2401.01234", None),
    "arXiv e-print 2401.01234": ("2401.01234", None),
    "(arXiv:2401.01234)": ("2401.01234", None),
    "[2401.01234v1]": ("2401.01234", 1),
    "arXiv:2401.01234v2 [astro-ph.GA] 2 Jan 2024": ("2401.01234", 2),
    "arXiv:2401.01234 [gr-qc]": ("2401.01234", None),
    "arXiv:2401.01234.": ("2401.01234", None),
    "2401.01234v2.pdf": ("2401.01234", 2),
    "0704.0001": ("0704.0001", None),
    "0808.05394": ("0808.05394", None),
    "https://arxiv.org/abs/2401.01234v3": ("2401.01234", 3),
    "http://www.arxiv.org/pdf/2401.01234v1.pdf": ("2401.01234", 1),
    "arxiv.org/html/2401.01234v1#S1.SS2": ("2401.01234", 1),
    "https://arxiv.org/src/2401.01234": ("2401.01234", None),
    "https://arxiv.org/e-print/astro-ph/0601001v2": ("astro-ph/0601001", 2),
    "https://arxiv.org/pdf/astro-ph/0601001.pdf": ("astro-ph/0601001", None),
    "https://export.arxiv.org/abs/math.GT/0309136v2?context=math": ("math/0309136", 2),
    "https://arxiv.org/abs/astro-ph%2F0601001": ("astro-ph/0601001", None),
    "https://ar5iv.labs.arxiv.org/html/1910.06709": ("1910.06709", None),
    "https://www.alphaxiv.org/abs/2401.01234": ("2401.01234", None),
    "https://huggingface.co/papers/2401.01234": ("2401.01234", None),
    "math.GT/0309136": ("math/0309136", None),
    "astro-ph.CO/0601001": ("astro-ph/0601001", None),
    "cond-mat.stat-mech/0203456": ("cond-mat/0203456", None),
    "ASTRO-PH/0601001V1": ("astro-ph/0601001", 1),
    "hep-th/9711200": ("hep-th/9711200", None),
    "astro-ph_0601001v1.pdf": ("astro-ph/0601001", 1),
    "astro-ph9901001": ("astro-ph/9901001", None),
    "arXiv:https://arxiv.org/abs/2401.01234v2": ("2401.01234", 2),
    "https://arxiv.org/pdf/2401.01234v2.pdf#page=3": ("2401.01234", 2),
    "https://arxiv.org/search/?query=2401.01234&searchtype=all": ("2401.01234", None),
    "oai:arXiv.org:0804.2273": ("0804.2273", None),
    "oai:arXiv.org:math/0306266": ("math/0306266", None),
    "10.48550/arXiv.2401.01234": ("2401.01234", None),
    "https://doi.org/10.48550/ARXIV.astro-ph/0601001": ("astro-ph/0601001", None),
    "2024arXiv240101234X": ("2401.01234", None),
    "2013arXiv1302.6362S": ("1302.6362", None),
    "1999astro.ph..1001X": ("astro-ph/9901001", None),
    "2001physics...2042S": ("physics/0102042", None),
    "1998hep.th...12034W": ("hep-th/9812034", None),
    "https://ui.adsabs.harvard.edu/abs/2024arXiv240101234X/abstract": ("2401.01234", None),
    "https://ui.adsabs.harvard.edu/abs/arXiv:1302.6362/abstract": ("1302.6362", None),
}
DOI = {
    "10.1051/0004-6361/201321247": "10.1051/0004-6361/201321247",
    "10.1051/0004-6361:20054321": "10.1051/0004-6361:20054321",
    "doi:10.1086/521525.": "10.1086/521525",
    "DOI 10.1088/0004-637X/699/1/56": "10.1088/0004-637x/699/1/56",
    "DOI: https://doi.org/10.1086/521525": "10.1086/521525",
    "https://iopscience.iop.org/article/10.1086/521525/pdf/66741.web.pdf": "10.1086/521525",
    "https://journals.aps.org/prd/abstract/10.1103/PhysRevD.66.103511": "10.1103/physrevd.66.103511",
    "https://doi-org.proxy.example.edu/10.1086/521525": "10.1086/521525",
    "https://zenodo.org/records/8083529": "10.5281/zenodo.8083529",
    "10.1002/1521-3994(199908)320:4/5&lt;163::AID-ASNA163&gt;3.0.CO;2-O": "10.1002/1521-3994(199908)320:4/5<163::aid-asna163>3.0.co;2-o",
    "urn:doi:10.1086/521525": "10.1086/521525",
    "info:doi/10.1086/521525": "10.1086/521525",
    "https://doi.org/10.1086/521525?utm_source=x": "10.1086/521525",
    "http://dx.doi.org/10.1016%2FS0019-1035(03)00123-4": "10.1016/s0019-1035(03)00123-4",
    "(10.1016/s0019-1035(03)00123-4)": "10.1016/s0019-1035(03)00123-4",
    "(10.1086/521525)": "10.1086/521525",
    "<10.1086/521525>": "10.1086/521525",
    "[doi:10.1086/521525]": "10.1086/521525",
    "“10.1086/521525”,": "10.1086/521525",
    "10.1002/(SICI)1521-3994(199908)320:4/5<163::AID-ASNA163>3.0.CO;2-O": "10.1002/(sici)1521-3994(199908)320:4/5<163::aid-asna163>3.0.co;2-o",
    "https://iopscience.iop.org/article/10.3847/1538-4357/ab1234/pdf": "10.3847/1538-4357/ab1234",
    "https://iopscience.iop.org/article/10.3847/1538-4357/ab1234/meta#fig": "10.3847/1538-4357/ab1234",
    "https://link.springer.com/content/pdf/10.1007/s11214-020-0001-2.pdf": "10.1007/s11214-020-0001-2",
    "https://onlinelibrary.wiley.com/doi/abs/10.1002/asna.201412061": "10.1002/asna.201412061",
    "https://www.nature.com/articles/s41586-021-03819-2.pdf": "10.1038/s41586-021-03819-2",
    "https://www.nature.com/articles/nature12345": "10.1038/nature12345",
    "https://www.aanda.org/articles/aa/full_html/2020/01/aa36910-19/aa36910-19.html": "10.1051/0004-6361/201936910",
    "https://www.aanda.org/10.1051/0004-6361/201936910/pdf": "10.1051/0004-6361/201936910",
    "https://example.org/download?doi=10.1086%2F521525": "10.1086/521525",
    "https://ui.adsabs.harvard.edu/abs/10.1086/521525/abstract": "10.1086/521525",
}
BIBCODE = {
    "2013A&A...552A.143S": "2013A&A...552A.143S",
    "2013A%26A...552A.143S": "2013A&A...552A.143S",
    "2013A%2526A...552A.143S": "2013A&A...552A.143S",
    "2013A&amp;A...552A.143S": "2013A&A...552A.143S",
    "2013A&A…552A.143S": "2013A&A...552A.143S",
    "bibcode:2013A&A...552A.143S.": "2013A&A...552A.143S",
    "ADS bibcode 2013A&A...552A.143S": "2013A&A...552A.143S",
    "[2013A&A...552A.143S]": "2013A&A...552A.143S",
    "https://ui.adsabs.harvard.edu/abs/2013A%26A...552A.143S/abstract": "2013A&A...552A.143S",
    "https://ui.adsabs.harvard.edu/#abs/2013A&A...552A.143S/abstract": "2013A&A...552A.143S",
    "https://ui.adsabs.harvard.edu/link_gateway/2013A%26A...552A.143S/EPRINT_PDF": "2013A&A...552A.143S",
    "https://www.scixplorer.org/abs/2013A&A...552A.143S/abstract": "2013A&A...552A.143S",
    "http://adsabs.harvard.edu/abs/2007RJPh....1...35.": "2007RJPh....1...35.",
    "2007RJPh....1...35.": "2007RJPh....1...35.",
    "2023BoSAB..34......": "2023BoSAB..34......",
    "2024E3SWC.50307004O": "2024E3SWC.50307004O",
    "2020MS&E..755a2018P": "2020MS&E..755a2018P",
    "1987gady.book.....B": "1987gady.book.....B",
    "2016PhRvL.116f1102A": "2016PhRvL.116f1102A",
}
NOTHING = [
    "", "abc", "hello world", "Bouma2022", "3.14159", "1234.12345", "0000.0000", "2020.1234", "10.1086",
    "10.1086/", "see arXiv:2401.01234 and others", "astro-ph/0613001", "2013A&A", "k3v9x2ab", "M 31", "\x00",
]  # fmt: skip
PAGES = [
    "https://arxiv.org/list/astro-ph/2401",
    "https://inspirehep.net/literature/1234567",
    "https://academic.oup.com/mnras/article/500/1/1/123",
    "https://arxiv.org/a/sol_e_1",
    "https://example.org/",
]


@pytest.mark.parametrize("text", ARXIV)
def test_arxiv_identifiers_in_all_forms(text: str) -> None:
    assert identify(text) == Identifier("arxiv", *ARXIV[text])


@pytest.mark.parametrize("text", DOI)
def test_dois_in_all_forms(text: str) -> None:
    assert identify(text) == Identifier("doi", DOI[text])


@pytest.mark.parametrize("text", BIBCODE)
def test_bibcodes_in_all_forms(text: str) -> None:
    assert identify(text) == Identifier("bibcode", BIBCODE[text])
    assert normal_bibcode(text) == BIBCODE[text]


@pytest.mark.parametrize("text", NOTHING)
def test_other_words_are_no_identifier(text: str) -> None:
    assert identify(text) is None


@pytest.mark.parametrize("url", PAGES)
def test_a_page_without_a_name_is_a_page(url: str) -> None:
    assert identify(url) == Identifier("url", url)


def test_a_preprints_bibcode_stays_one_where_bibcodes_are_wanted() -> None:
    assert normal_bibcode("2024arXiv240101234X") == "2024arXiv240101234X"
    assert normal_bibcode("2401.01234") is None
    assert normal_doi("10.48550/arXiv.2401.01234") == "10.48550/arxiv.2401.01234"
    assert normal_doi("2013A&A...552A.143S") is None


_MONTHS = st.tuples(st.integers(0, 49), st.integers(1, 12))


@given(_MONTHS, st.integers(1, 99_999), st.sampled_from(string.ascii_uppercase))
def test_new_identifiers_and_bibcodes_tell_each_other(
    month: tuple[int, int], number: int, initial: str
) -> None:
    old = month < (15, 1)
    arxiv_id = (
        f"{month[0]:02}{month[1]:02}.{number % 10_000:04}"
        if old
        else f"{month[0]:02}{month[1]:02}.{number:05}"
    )
    if month < (7, 4):
        return
    bibcode = bibcode_of_arxiv(arxiv_id, f"{initial}ol, E.")
    assert bibcode
    assert len(bibcode) == 19
    assert bibcode.endswith(initial)
    assert arxiv_of_bibcode(bibcode) == arxiv_id
    assert identify(bibcode) == identify(arxiv_id)


@given(
    st.sampled_from(["astro-ph", "hep-th", "gr-qc", "physics", "cond-mat", "quant-ph", "cs"]),
    st.sampled_from([91, 99, 0, 6]), st.integers(1, 12), st.integers(1, 999),
)  # fmt: skip
def test_old_identifiers_and_bibcodes_tell_each_other(
    archive: str, year: int, month: int, number: int
) -> None:
    arxiv_id = f"{archive}/{year:02}{month:02}{number:03}"
    bibcode = bibcode_of_arxiv(arxiv_id, "Sol, E.")
    assert bibcode
    assert len(bibcode) == 19
    assert arxiv_of_bibcode(bibcode) == arxiv_id


@given(
    st.text(max_size=80)
    | st.from_regex(r"(arXiv:|doi:|https?://[a-z]+\.org/)?[\w.%/&()<>:-]{0,40}", fullmatch=True)
)
def test_any_text_is_read_and_what_was_read_stays(text: str) -> None:
    found = identify(text)
    if found and found.kind != "url":
        assert identify(found.value) == Identifier(found.kind, found.value)
