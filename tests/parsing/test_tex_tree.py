"""The paper in an unpacked source."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuncius.core.errors import DocumentError
from nuncius.parsing import tex_tree
from nuncius.parsing.latex import parse_latex
from nuncius.parsing.tex_tree import read_tree

BODY = r"""\documentclass{aastex631}
\begin{document}
\title{Tides}
%s
\end{document}
"""


def test_included_files_stand_where_they_are_named() -> None:
    files = {
        "ms.tex": (BODY % r"\input{sec/intro}\include{sec/end} \bibliography{refs}").encode(),
        "sec/intro.tex": rb"\section{Intro} We see \input deep/one.tex here.",
        "sec/end.tex": rb"\section{End} It is 3 km.",
        "deep/one.tex": b"ONE",
        "ms.bbl": rb"\begin{thebibliography}{1}\bibitem{a} Rey, A. 2020\end{thebibliography}",
        "fig.png": b"\x89PNG\r\n\x1a\n\x00\x00",
    }
    tree = read_tree(files)
    assert tree.main == "ms.tex"
    assert tree.used == ("ms.tex", "sec/intro.tex", "deep/one.tex", "sec/end.tex", "ms.bbl")
    assert not tree.missing
    assert (
        tree.text.index("We see ONE here")
        < tree.text.index("It is 3 km")
        < tree.text.index("Rey, A.")
    )
    document = parse_latex(tree.text)
    assert [block.text for block in document.blocks if block.kind == "heading"][:3] == [
        "Tides", "1. Intro", "2. End",
    ]  # fmt: skip
    assert document.verdict == "good"


@pytest.mark.parametrize("where", ["comment", "verbatim", "after the end of input"])
def test_what_latex_does_not_read_is_not_included(where: str) -> None:
    text = {
        "comment": "A % \\input{secret}\n B \\% \\input{open}",
        "verbatim": "\\begin{verbatim}\\input{secret}\\end{verbatim} \\input{open}",
        "after the end of input": "\\input{open}\\endinput \\input{secret}",
    }[where]
    tree = read_tree(
        {"a.tex": (BODY % text).encode(), "secret.tex": b"SECRET", "open.tex": b"OPEN"}
    )
    assert "SECRET" not in tree.text
    assert "OPEN" in tree.text


def test_import_and_subfile_are_followed_from_their_folder() -> None:
    files = {
        "main.tex": (BODY % r"\import{parts/}{one}\subfile{parts/sub}").encode(),
        "parts/one.tex": rb"ONE \input{two} \subimport{deep/}{three}",
        "parts/two.tex": b"TWO",
        "parts/deep/three.tex": b"THREE",
        "parts/sub.tex": rb"\documentclass[../main]{subfiles}\begin{document}SUB\end{document} junk",
    }
    text = read_tree(files).text
    assert all(word in text for word in ("ONE", "TWO", "THREE", "SUB"))
    assert "junk" not in text
    assert "subfiles" not in text


@pytest.mark.parametrize(
    ("names", "main"),
    [
        (("template.tex", "paper.tex"), "paper.tex"),
        (("ms.tex", "supplement.tex"), "ms.tex"),
        (("response_to_referee.tex", "draft.tex"), "draft.tex"),
        (("x/main.tex", "x/appendix.tex"), "x/main.tex"),
    ],
)
def test_the_likeliest_name_is_the_paper(names: tuple[str, str], main: str) -> None:
    assert read_tree({name: (BODY % "text").encode() for name in names}).main == main


def test_arxivs_own_notes_name_the_paper() -> None:
    files = {"a.tex": (BODY % "A").encode(), "main.tex": (BODY % "M").encode()}
    told = {"sources": [{"filename": "a.tex", "usage": "toplevel"}], "version": 1}
    assert read_tree({**files, "00README.json": json.dumps(told).encode()}).main == "a.tex"
    assert read_tree({**files, "00README.XXX": b"a.tex toplevelfile\n"}).main == "a.tex"
    assert read_tree({**files, "00README.XXX": b"main.tex ignore\n"}).main == "a.tex"
    assert read_tree({**files, "00README.json": b'[{"sources": 3}, null]'}).main == "main.tex"


def test_old_plain_tex_is_found() -> None:
    assert read_tree({"9901001": b"\\magnification=1200\nStars.\n\\bye\n"}).main == "9901001"


@pytest.mark.parametrize(
    "files", [{}, {"fig.eps": b"%!PS-Adobe"}, {"x.tex": b""}, {"x.tex": b"\x00\x01\xff" * 50}]
)
def test_a_source_without_latex_is_refused(files: dict[str, bytes]) -> None:
    with pytest.raises(DocumentError, match="holds no LaTeX"):
        read_tree(files)


def test_circles_and_bombs_end(monkeypatch: pytest.MonkeyPatch) -> None:
    circle = read_tree(
        {"a.tex": (BODY % r"\input{b}").encode(), "b.tex": rb"B \input{a} \input{b}"}
    )
    assert circle.text.count("B ") == 1
    assert circle.missing
    monkeypatch.setattr(tex_tree, "MAX_CHARS", 50_000)
    doubling = {f"f{n}.tex": (rf"\input{{f{n + 1}}}" * 2).encode() for n in range(18)}
    bomb = read_tree({"a.tex": (BODY % r"\input{f0}").encode(), **doubling, "f18.tex": b"x" * 900})
    assert len(bomb.text) <= 50_000
    assert bomb.missing


def test_names_cannot_leave_the_archive() -> None:
    tree = read_tree({"a.tex": (BODY % r"\input{../../etc/passwd}\input{/etc/passwd}").encode()})
    assert tree.used == ("a.tex",)
    assert tree.missing == ("../../etc/passwd", "/etc/passwd")


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(["a.tex", "b.tex", "c/d.tex", "a.bbl", "00README.json"]),
                       st.text(alphabet="\\input{}ab%.tex/begindocumentclass[]\n ", max_size=120), max_size=5))  # fmt: skip
def test_any_text_ends_in_a_tree_or_a_refusal(files: dict[str, str]) -> None:
    packed = {name: f"\\documentclass{{a}}{text}".encode() for name, text in files.items()}
    if any(name.endswith(".tex") for name in packed):
        assert read_tree(packed).main in packed
