"""LaTeX source: macros, sections, equations, tables."""

from pathlib import Path

import pytest

from nuncius.core.documents import Document
from nuncius.core.errors import DocumentError
from nuncius.parsing import parse

SOURCE = r"""\documentclass{aastex631}
\newcommand{\gaia}{{\it Gaia}}  % a comment
\newcommand{\val}[2]{#1 $\pm$ #2}
\begin{document}
\title{Rings of \gaia{} stars}
\author[0000-0001-0000-0000]{Jane Q. Public}
\affiliation{Example Observatory}
\author{Jos\'e L\"uders}
\date{Accepted 2021 May 3}
\begin{abstract}
We see rings \citep{li19,wu20}.
\end{abstract}
\section{Data}\label{sec:data}
The mass is \val{3.2}{0.1}~kpc, see Table~\ref{tab:rings} and Section~\ref{sec:data}.\footnote{A note.}
50\% of it % is hidden
is dust.
\begin{equation}\label{eq:e}
E = mc^2
\end{equation}
\begin{table}
\caption{Rings.\label{tab:rings}}
\begin{tabular}{lr}
\hline
Ring & Radius \\
\hline
B1 & 20.4 \\
B2 & $-38.1$ \\
\end{tabular}
\end{table}
\begin{figure}\includegraphics{x.pdf}\caption{A \textbf{ring}.}\end{figure}
\begin{itemize}\item One thing. \item Another.\end{itemize}
\subsection{More}
Words.
\begin{thebibliography}{9}
\bibitem[Li(2019)]{li19} Li, W. 2019, ApJ, 1, 1
\bibitem{wu20} Wu, X. 2020, ApJ, 2, 2
\end{thebibliography}
\end{document}
"""


@pytest.fixture(scope="module")
def document() -> Document:
    return parse(SOURCE.encode(), name="ms.tex")


def _blocks(document: Document, kind: str) -> list[str]:
    return [block.text for block in document.blocks if block.kind == kind]


def test_front_matter_is_read(document: Document) -> None:
    front = document.front
    assert front.title == "Rings of Gaia stars"
    assert front.authors == ("Jane Q. Public", "José Lüders")
    assert front.year == 2021
    assert front.abstract == "We see rings [li19, wu20]."


def test_text_reads_as_printed(document: Document) -> None:
    assert _blocks(document, "paragraph")[1] == (
        "The mass is 3.2 $\\pm$ 0.1 kpc, see Table 1 and Section 1. 50% of it is dust."
    )
    assert _blocks(document, "footnote") == ["A note."]
    assert _blocks(document, "equation") == ["$$E = mc^2$$"]
    assert _blocks(document, "list") == ["One thing.", "Another."]


def test_tables_and_captions_are_numbered(document: Document) -> None:
    assert _blocks(document, "caption") == ["Table 1. Rings.", "Figure 1. A ring."]
    assert _blocks(document, "table") == [
        "| Ring | Radius |\n| --- | --- |\n| B1 | 20.4 |\n| B2 | $-38.1$ |"
    ]


def test_sections_are_numbered_and_references_apart(document: Document) -> None:
    headings = [(b.text, b.level) for b in document.blocks if b.kind == "heading"]
    assert ("1. Data", 2) in headings
    assert ("1.1. More", 3) in headings
    assert _blocks(document, "reference") == ["Li, W. 2019, ApJ, 1, 1", "Wu, X. 2020, ApJ, 2, 2"]


def test_a_macro_that_calls_itself_ends() -> None:
    source = SOURCE.replace(
        "\\newcommand{\\gaia}", "\\def\\a{\\b\\b}\\def\\b{\\a\\a}\\newcommand{\\gaia}"
    )
    assert parse(source.replace("Words.", "\\a Words.").encode()).front.title


def test_a_file_that_only_includes_others_is_empty() -> None:
    source = b"\\documentclass{article}\\begin{document}\\input{intro}\\end{document}"
    with pytest.raises(DocumentError) as caught:
        parse(source)
    assert caught.value.kind == "empty"


@pytest.mark.parametrize(
    ("name", "authors", "sections"),
    [
        ("cyb", 3, 17),
        ("legwork", 3, 19),
        ("lightkurve", 2, 18),
        ("rudolf", 11, 26),
        ("stardate", 10, 11),
    ],
)
def test_real_sources(shared_data: Path, name: str, authors: int, sections: int) -> None:
    document = parse((shared_data / "papers" / "latex" / f"{name}.tex").read_bytes())
    assert len(document.front.authors) == authors
    assert len([b for b in document.blocks if b.kind == "heading"]) >= sections
    assert len(document.front.abstract) > 500
    assert "\\begin{" not in "".join(_blocks(document, "paragraph"))
