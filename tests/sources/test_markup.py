"""Markup in titles and abstracts, and what comments tell of preprints."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.core.errors import NunciusError
from nuncius.sources.ads_answers import read_export, read_links, read_metrics, read_search
from nuncius.sources.ads_docs import record_of
from nuncius.sources.arxiv_feeds import read_daily, read_feed
from nuncius.sources.arxiv_oai import read_oai
from nuncius.sources.arxiv_records import Places, split_names
from nuncius.sources.markup import plain_text, without_tex_accents
from nuncius.sources.preprints import preprint_status
from nuncius.walls.network import Reply

MATHML = "<inline-formula><mml:math>{}</mml:math></inline-formula>"


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("CO<SUB>2</SUB> in 10<SUP>-4</SUP> s", "CO_2 in 10^-4 s"),
        ("{M}<SUB>* </SUB>&gt; {10}<SUP>9.5</SUP>", "{M}_* > {10}^9.5"),
        ("{r}<SUB>{vir</SUB>} grows", "{r}_{vir} grows"),
        ("x<SUB>a, b</SUB>", "x_{a, b}"),
        ("<sup>13</sup>CO, empty<SUB></SUB>", "^13CO, empty"),
        ("A&amp;A, z&lt; 3, &Aring;, &#945;", "A&A, z< 3, Å, α"),
        ("&amp;lt; stays, &lt;SUP&gt; too", "&lt; stays, <SUP> too"),
        ("<i>Gaia</i> <a href='x'>DR3</a><BR />and <P />more", "Gaia DR3 and more"),
        ("<B> = 3 kG and a < b > c, <v>", "<B> = 3 kG and a < b > c, <v>"),
        ("Not Available <P />", ""),
        ("The data are not available here", "The data are not available here"),
        ("<!-- hidden -->seen<![CDATA[ <raw> ]]>", "seen <raw>"),
        ("$M_\\odot$ and \\alpha{x}", "$M_\\odot$ and \\alpha{x}"),
        (MATHML.format("<mml:msub><mml:mi>M</mml:mi><mml:mn>1</mml:mn></mml:msub>") + " falls", "M_1 falls"),
        (MATHML.format("<mml:msup><mml:mrow></mml:mrow><mml:mn>36</mml:mn></mml:msup><mml:mtext>Cl</mml:mtext>"), "^36Cl"),
        (MATHML.format("<mml:msubsup><mml:mi>x</mml:mi> <mml:mi>a</mml:mi> <mml:mn>2</mml:mn></mml:msubsup>"), "x_a^2"),
        (MATHML.format("<mml:mfrac><mml:mi>a</mml:mi><mml:mrow><mml:mi>b</mml:mi><mml:mo>+</mml:mo><mml:mi>c</mml:mi></mml:mrow></mml:mfrac>"), "a/(b+c)"),
        (MATHML.format("<mml:mmultiscripts><mml:mi>C</mml:mi><mml:mprescripts/><mml:none/><mml:mn>12</mml:mn></mml:mmultiscripts>"), "^12C"),
        ("<inline-formula><tex-math>$R_1$</tex-math><mml:math><mml:mi>R</mml:mi></mml:math></inline-formula>", "$R_1$"),
        ("<SUP>open", "^open"),
        ("closed</SUP> only", "closed only"),
        ("a<b", "a<b"),
    ],
)  # fmt: skip
def test_markup_becomes_text(marked: str, plain: str) -> None:
    assert plain_text(marked) == plain


def test_paragraphs_stay_where_they_are_wanted() -> None:
    assert plain_text("One.<P />Two.<BR />", paragraphs=True) == "One.\nTwo."


@given(st.text(alphabet="<>/&;abBSUPmath: ={}\"'^_$1", max_size=60))
def test_any_markup_is_read(text: str) -> None:
    plain = plain_text(text)
    assert "\n" not in plain
    assert plain == plain.strip()


@pytest.mark.parametrize(
    ("tex", "plain"),
    [
        (r"\"Ozel, Fran{\c c}ois {\"u} {\v{s}} \'{\i}", "Özel, François ü š í"),
        (r"\o rsted Stra\ss e \L{}uk {\aa}", "ørsted Straße Łuk å"),
        (r"$\alpha$ \cite{a} \hbox{x}", r"$\alpha$ \cite{a} \hbox{x}"),
        (r"Pe\~na and Garc\'ia", "Peña and García"),
    ],
)
def test_accents_of_tex_become_letters(tex: str, plain: str) -> None:
    assert without_tex_accents(tex) == plain


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("A. Sol, B. Lux and C. Vis", ["A. Sol", "B. Lux", "C. Vis"]),
        (
            "A. Sol (Rome (Italy)), B. Lux, Jr., and C. Vis III",
            ["A. Sol", "B. Lux Jr.", "C. Vis III"],
        ),
        ("Sol, A.; Lux, B.; and Vis, C.", ["Sol, A.", "Lux, B.", "Vis, C."]),
        ("A. Sol for the Dust Collaboration", ["A. Sol", "Dust Collaboration"]),
        ("", []),
    ],
)
def test_lists_of_authors_are_divided(text: str, names: list[str]) -> None:
    assert split_names(text) == names


@pytest.mark.parametrize(
    ("comment", "status"),
    [
        ("This paper has been withdrawn by the author due to an error in eq. 3", "withdrawn"),
        ("10 pages. Paper withdrawn", "withdrawn"),
        ("withdrawn; see arXiv:2001.00001", "withdrawn"),
        ("arXiv admin note: submission has been withdrawn by arXiv administrators", "withdrawn"),
        ("We withdraw this paper since eq. 1 is wrong", "withdrawn"),
        ("This article has been retracted by the journal", "retracted"),
        ("Superseded by arXiv:1501.00001", "superseded"),
        ("This work has been superseded by 1501.00001", "superseded"),
        ("replaced by arXiv:1501.00001", "superseded"),
        ("replaces the withdrawn paper arXiv:1001.1234", ""),
        ("v1 was withdrawn because of a bug; this is the corrected version", ""),
        ("The previous version has been withdrawn", ""),
        ("This paper supersedes arXiv:1203.1234", ""),
        ("20 pages, replaced by published version", ""),
        ("Data withdrawn from the archive", ""),
        ("Accepted to ApJ", ""),
        ("", ""),
    ],
)
def test_comments_tell_what_became_of_a_preprint(comment: str, status: str) -> None:
    assert preprint_status(comment)[0] == status


def test_an_abstract_tells_it_only_where_it_speaks_of_the_paper() -> None:
    assert preprint_status("", "This paper has been withdrawn by the authors.")[0] == "withdrawn"
    assert preprint_status("", "Gas is withdrawn by the outflow.")[0] == ""


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
_FIELDS = st.sampled_from(
    "bibcode title author aff identifier doi year pubdate property esources keyword [citations] arxiv_class comment lang".split()
)


@given(st.dictionaries(_FIELDS, _JSON, max_size=6))
def test_any_document_of_ads_is_read(doc: dict[str, Any]) -> None:
    assert record_of(doc).source == "ads"


@given(
    st.binary(max_size=80) | _JSON.map(lambda value: repr(value).encode()),
    st.sampled_from([200, 400, 404, 429, 500]),
)
def test_any_answer_is_read_or_refused(content: bytes, status: int) -> None:
    reply = Reply(status, "http://localhost/x?q=y", {}, content)
    places = Places("https://web", "https://ar5iv")
    readers: list[Callable[[], object]] = [
        partial(read_search, reply), partial(read_metrics, reply), partial(read_links, reply),
        partial(read_export, reply, 1), partial(read_oai, reply, places), partial(read_feed, reply, places),
        partial(read_daily, reply, "gr-qc", places),
    ]  # fmt: skip
    for read in readers:
        with suppress(NunciusError):
            read()
