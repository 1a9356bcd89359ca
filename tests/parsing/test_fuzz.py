"""Whatever the bytes: a Document or a DocumentError, in bounded time."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuncius.core.documents import Document
from nuncius.core.errors import DocumentError
from nuncius.parsing import parse
from nuncius.parsing.passages import cut, to_markdown


def _outcome(data: bytes, name: str = "") -> None:
    try:
        document = parse(data, name=name)
    except DocumentError as error:
        if not error.message or not error.hint:
            pytest.fail(f"{error.kind}: says nothing")
        return
    assert isinstance(document, Document)
    assert to_markdown(document)
    for passage in cut(document):
        assert passage.text.strip()


def _flipped(data: bytes, seed: int, count: int) -> bytes:
    rng = random.Random(seed)
    damaged = bytearray(data)
    for _ in range(count):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=600))
def test_any_bytes(data: bytes) -> None:
    _outcome(data)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([b"%PDF-1.7\n", b"<html>", b"\\documentclass{a}", b"# ", b"---\n"]),
    st.binary(max_size=400),
)
def test_any_bytes_behind_a_known_start(start: bytes, data: bytes) -> None:
    _outcome(start + data)


@settings(max_examples=120, deadline=None)
@given(
    st.text(alphabet="\\{}[]$%&#~^_ \nabegindtlesco*|-<>/=\"'", max_size=300),
    st.sampled_from(["a.tex", "a.md", "a.html"]),
)
def test_any_marks(text: str, name: str) -> None:
    _outcome((("\\documentclass{a}" if name.endswith("tex") else "") + text).encode(), name)


@pytest.mark.parametrize("seed", range(25))
def test_damaged_pdfs(paper_pdf: bytes, seed: int) -> None:
    _outcome(_flipped(paper_pdf, seed, 1 + seed))


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_cut_pdfs(paper_pdf: bytes, share: float) -> None:
    _outcome(paper_pdf[: int(len(paper_pdf) * share)])


@pytest.mark.parametrize(
    "text",
    [
        "<div>" * 5000 + "x",
        "<table>" * 2000 + "<tr><td>1<td>2",
        "\\documentclass{a}\\begin{document}" + "\\begin{center}" * 3000 + "x",
        "\\documentclass{a}\\begin{document}" + "{" * 20000 + "x",
        "\\documentclass{a}\\begin{document}$" + "\\textbf{" * 3000,
        "# " + "[" * 20000,
        "$$" * 20000,
        "|" * 20000 + "\n" + "|-" * 10000,
        "* " * 20000,
        "# t\n\n" + "a.b," * 40000,
        "# t\n\n" + "1. " * 30000,
        "<!--" * 8000,
    ],
)
def test_deep_and_long_input_ends(text: str) -> None:
    _outcome(text.encode())


def test_damaged_real_papers(shared_data: Path) -> None:
    papers = shared_data / "papers"
    for path in (papers / "html" / "iop_synthetic.html", papers / "latex" / "lightkurve.tex"):
        data = path.read_bytes()
        for seed in range(6):
            _outcome(_flipped(data, seed, 30), path.name)
            _outcome(data[: len(data) * seed // 6], path.name)
    erratum = (papers / "pdf" / "rudolf_erratum.pdf").read_bytes()
    for seed in range(4):
        _outcome(_flipped(erratum, seed, 20), "x.pdf")
