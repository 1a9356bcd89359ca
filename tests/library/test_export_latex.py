r"""An answer in a manuscript: ``\citep`` with the library's keys, and just its own bibliography."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from library.conftest import settings_in
from nuncius.core.evidence import Answer, Citation, Unsupported
from nuncius.core.papers import Author, Paper
from nuncius.core.records import Affiliated, Record
from nuncius.library.bibtex_reading import read
from nuncius.library.latex import answer_latex, self_contained
from nuncius.library.library import Library
from nuncius.store.protocols import Store


def cited(key: str, paper_id: str) -> Citation:
    return Citation(
        key=key,
        paper_id=paper_id,
        title="A & B",
        authors=("Jo Feld",),
        year=2019,
        quote="The delay.",
        check="exact",
        text_sha256="0" * 64,
    )


REY = Paper(
    paper_id="aaaaaaaa",
    title="Heavy stars",
    authors=(Author(name="Ada Rey"),),
    year=2021,
    cite_key="Rey2021",
)
UNCITED = Paper(paper_id="cccccccc", title="Not cited", cite_key="Not2000")
PAPERS = {paper.paper_id: paper for paper in (REY, UNCITED)}
ANSWER = Answer(
    text='## Mass\n\nIt has **2.08 ± 0.07** M☉ [1] [2], a *lot* [3]. It is "heavy", 5% & more.\n\n'
    "> The delay_weighs it. [1]\n\n- first [2]\n- second `a_b`\n\nNobody says [9] so.",
    answered=True,
    citations=(cited("1", "aaaaaaaa"), cited("2", "bbbbbbbb"), cited("3", "aaaaaaaa")),
    unsupported=(
        Unsupported(sentence="Nobody says [9] so.", reason="no citation"),
        Unsupported(sentence="It was\nlost.", reason="not in the cited quotes: 7%"),
    ),
    dropped_quotes=2,
)


def test_escaped_stars_are_stars() -> None:
    answer = Answer(text=r"**Sgr A\* and M87\*** shine, \*.", answered=True)
    assert answer_latex(answer, {}).text.startswith(r"\textbf{Sgr A* and M87*} shine, *.")


def test_marks_become_citations_and_doubts_are_marked() -> None:
    assert answer_latex(ANSWER, PAPERS).text == snapshot(r"""\subsection*{Mass}

It has \textbf{2.08 $\pm$ 0.07} M$\odot$~\citep{Rey2021,bbbbbbbb}, a \emph{lot}~\citep{Rey2021}. It is ``heavy'', 5\% \& more.

\begin{quote}
The delay\_weighs it.~\citep{Rey2021}
\end{quote}

\begin{itemize}
\item first~\citep{bbbbbbbb}
\item second \texttt{a\_b}
\end{itemize}
Nobody says [9] so. \textbf{[unsupported: no citation]}
% unsupported (not in the cited quotes: 7%): It was lost.
% 2 quotes were left out: they do not stand in the paper.
""")


def test_the_bibliography_holds_what_is_cited_and_nothing_else() -> None:
    written = answer_latex(ANSWER, PAPERS)
    entries = read(written.bib).entries
    assert written.keys == tuple(entry.key for entry in entries) == ("Rey2021", "bbbbbbbb")
    rey, gone = entries
    assert rey.people() == ["Rey, Ada"]
    assert (gone.text("title"), gone.text("year")) == ("A & B", "2019")  # taken out meanwhile


async def test_an_answer_has_the_entries_that_the_library_cites(store: Store) -> None:
    rey = await store.papers.put(REY.model_copy(update={"paper_id": ""}), None, ())
    record = Record(source="ads", title="Heavy stars", authors=(Affiliated("Rey, Ada"),), year=2021,
                    date="2021-05", bibstem="MNRAS", journal="MNRAS", volume="500", pages="7-9")  # fmt: skip
    await store.works.put(rey.paper_id, record)
    answer = ANSWER.model_copy(update={"citations": (cited("1", rey.paper_id),)})
    told = await store.works.get([rey.paper_id])
    written = answer_latex(answer, {rey.paper_id: rey}, told)
    assert written.bib == await Library(store, settings_in(Path())).cite("Rey2021")
    assert "pages = {7-9}" in written.bib


def test_an_answer_without_citations_has_no_bibliography() -> None:
    written = answer_latex(Answer(text="Nothing was found.", answered=False), PAPERS)
    assert written.bib == ""
    assert self_contained(written) == written.text == "Nothing was found.\n"


def test_one_text_holds_both_for_a_pipe() -> None:
    text = self_contained(answer_latex(ANSWER, PAPERS))
    assert text.startswith("\\begin{filecontents}[overwrite]{nuncius-answer.bib}\n@MISC{Rey2021,")
    assert text.endswith("\\bibliography{nuncius-answer}\n")


@given(st.text(st.sampled_from('ab *_`"#>-1.[]12&%$\\{}~^\n中é\ue010\ue011'), max_size=60))
def test_no_text_leaves_latex_open_or_unescaped(text: str) -> None:
    answer = Answer(
        text=text, answered=True, citations=(cited("1", "aaaaaaaa"), cited("2", "aaaaaaaa"))
    )
    written = answer_latex(answer, PAPERS).text
    assert written.count(r"\begin{") == written.count(r"\end{")
    formulas = re.sub(r"(?<!\\)\$[^$]*[^$\\]\$", "", written)
    bare = re.sub(r"\\[\\{}&%#_$~^\"'`=.]", "", formulas)
    assert not re.search(r"[&%#]", bare), written
    depth = 0
    for char in re.sub(r"\\[{}]", "", written):
        depth += {"{": 1, "}": -1}.get(char, 0)
        assert depth >= 0
    assert depth == 0
