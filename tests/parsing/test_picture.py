"""Pages drawn in a child process are those drawn here."""

import io

import pytest

from nuncius.core.errors import DocumentError
from nuncius.library.parse import draw_page
from nuncius.parsing import picture
from nuncius.parsing.render import render_page
from parsing.pdf_writing import make_pdf, text_at

PDF = make_pdf([text_at(60, 700, "The mass is 3.2 kg."), text_at(60, 700, "Another page.")])


async def test_a_child_draws_the_same_picture() -> None:
    here = render_page(PDF, 1, quote="mass is 3.2", scale=1.0)
    assert here.marks
    assert await draw_page(PDF, 1, quote="mass is 3.2", scale=1.0) == here


@pytest.mark.parametrize(("data", "page"), [(PDF, 9), (b"no pdf", 1), (b"", 1)])
async def test_what_cannot_be_drawn_is_an_error(data: bytes, page: int) -> None:
    with pytest.raises(DocumentError):
        await draw_page(data, page, quote="", scale=1.0)


@pytest.mark.parametrize("answer", [b"", b"{", b"{}\n", b'{"marks": 1}\nx', b"[]\n", b'"x"\n'])
def test_an_answer_that_broke_off_is_an_error(answer: bytes) -> None:
    with pytest.raises(DocumentError, match="could not be drawn"):
        picture.read(answer)


def test_errors_travel_with_their_words() -> None:
    sink = io.BytesIO()
    picture.serve(io.BytesIO(picture.ask(PDF, 7, quote="", scale=1.0)), sink)
    with pytest.raises(DocumentError, match="7"):
        picture.read(sink.getvalue())
