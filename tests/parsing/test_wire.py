"""A Document crosses a process border unchanged; a broken answer is an error of the document."""

import subprocess
import sys

import pytest

from nuncius.core.errors import DocumentError
from nuncius.parsing import parse, wire


def test_a_document_comes_back_equal(paper_pdf: bytes) -> None:
    document = parse(paper_pdf)
    assert wire.load(wire.dump(document)) == document


def test_an_error_comes_back_with_kind_and_hint() -> None:
    error = DocumentError("scanned", "No text.", hint="Run OCR.")
    with pytest.raises(DocumentError) as caught:
        wire.load(wire.dump_error(error))
    assert (caught.value.kind, caught.value.message, caught.value.hint) == (
        "scanned",
        "No text.",
        "Run OCR.",
    )


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'{"document":{}}', b'{"document":{"kind":"pdf"', b"null", b"3"]
)
def test_a_broken_answer_is_a_damaged_document(data: bytes) -> None:
    with pytest.raises(DocumentError) as caught:
        wire.load(data)
    assert caught.value.kind == "damaged"


@pytest.mark.parametrize("bad", [False, True])
def test_a_child_process_answers_in_one_line(paper_pdf: bytes, bad: bool) -> None:
    data = paper_pdf[:600] if bad else paper_pdf
    done = subprocess.run(
        [sys.executable, "-m", "nuncius.parsing", "a.pdf"],
        input=data,
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.count(b"\n") == 1
    if bad:
        with pytest.raises(DocumentError, match="breaks off"):
            wire.load(done.stdout)
    else:
        assert wire.load(done.stdout) == parse(paper_pdf)
