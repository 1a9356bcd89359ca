import struct
import zlib
from pathlib import Path
from typing import Any, cast

import pypdfium2 as pdfium
import pytest

from nuncius.core.errors import DocumentError, NotFoundError
from nuncius.core.text import fold
from nuncius.parsing.marks import Box
from nuncius.parsing.render import encode_png, render_page
from parsing.pdf_writing import make_pdf, text_at

QUOTE = "The flux of the source is 3.2 mJy at 5 GHz."


def read_png(png: bytes) -> tuple[int, int, int, list[bytes]]:
    """Return width, height, colour type and rows; checks every checksum and filter."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, chunks = 8, dict[bytes, bytes]()
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length : at + 12 + length])[0] == zlib.crc32(
            kind + body
        )
        chunks[kind] = body
        at += 12 + length
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert depth == 8
    step = width * (1 if colour == 0 else 3) + 1
    plain = zlib.decompress(chunks[b"IDAT"])
    assert len(plain) == step * height
    rows = [plain[n * step : (n + 1) * step] for n in range(height)]
    assert all(row[0] == 0 for row in rows)
    return width, height, colour, [row[1:] for row in rows]


def words_under(data: bytes, page: int, box: Box) -> str:
    """Return the text that pdfium finds inside the box: the other way round than `marks` goes."""
    raw = cast("Any", pdfium).raw
    document: Any = pdfium.PdfDocument(data)
    loaded = document[page - 1]
    points: list[tuple[float, float]] = []
    for across, down in ((box.left, box.top), (box.right, box.bottom)):
        x, y = raw.c_double(), raw.c_double()
        raw.FPDF_DeviceToPage(
            loaded, 0, 0, 1_000_000, 1_000_000, 0, round(across * 1e6), round(down * 1e6), x, y
        )
        points.append((x.value, y.value))
    (x0, y0), (x1, y1) = points
    text_page = loaded.get_textpage()
    text = text_page.get_text_bounded(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
    text_page.close()
    loaded.close()
    document.close()
    return text


def letters(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


def marked_words(data: bytes, page: int, quote: str) -> str:
    return "".join(
        fold(words_under(data, page, box)).text
        for box in render_page(data, page, quote=quote).marks
    )


# --- pictures ------------------------------------------------------------------------------------


def test_a_page_without_colour_becomes_a_grey_png_of_the_asked_size() -> None:
    rendered = render_page(make_pdf([text_at(50, 700, QUOTE)]), 1, scale=1.5)
    width, height, colour, rows = read_png(rendered.png)
    assert (width, height) == (rendered.width_px, rendered.height_px) == (900, 1200)
    assert colour == 0
    assert min(map(min, rows)) < 40  # ink
    assert rows[0][0] == 255  # paper


def test_a_coloured_page_keeps_its_colours() -> None:
    rendered = render_page(make_pdf(["1 0 0 rg 100 100 200 200 re f\n"]), 1, scale=1)
    _, _, colour, rows = read_png(rendered.png)
    assert colour == 2
    assert rows[600][3 * 200 : 3 * 200 + 3] == b"\xff\x00\x00"


def test_padding_at_the_end_of_rows_does_not_reach_the_picture() -> None:
    rows = [b"\xff\x00\x00" * 3 + b"pad", b"\x00\x00\xff" * 3 + b"pad"]
    width, height, colour, decoded = read_png(encode_png(b"".join(rows), 3, 2, stride=12))
    assert (width, height, colour) == (3, 2, 2)
    assert decoded == [b"\xff\x00\x00" * 3, b"\x00\x00\xff" * 3]


def test_a_poster_is_drawn_smaller_instead_of_filling_the_memory() -> None:
    rendered = render_page(make_pdf([text_at(50, 700, QUOTE)], size=(9000, 6000)), 1, scale=2)
    assert rendered.width_px * rendered.height_px < 4_100_000
    assert rendered.width_px / rendered.height_px == pytest.approx(1.5, abs=0.01)


# --- marks ---------------------------------------------------------------------------------------


def test_the_mark_lies_where_the_words_were_drawn() -> None:
    data = make_pdf([text_at(60, 700, "Before it. " + QUOTE) + text_at(60, 680, "After it.")])
    (box,) = render_page(data, 1, quote=QUOTE).marks
    assert box.top < (800 - 700 - 3) / 800  # above the middle of the letters
    assert (800 - 700) / 800 < box.bottom < (800 - 680 - 7) / 800  # not on the next line
    assert 60 / 600 < box.left < 0.25
    assert fold(words_under(data, 1, box)).text == fold(QUOTE).text


def test_each_printed_line_of_the_quote_has_its_own_box() -> None:
    data = make_pdf(
        [text_at(60, 700, "The flux of the") + text_at(60, 688, "source is 3.2 mJy at 5 GHz.")]
    )
    rendered = render_page(data, 1, quote=QUOTE)
    assert len(rendered.marks) == 2
    assert rendered.share == 1.0
    assert rendered.marks[0].bottom <= rendered.marks[1].top + 0.004


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_marks_turn_with_the_page(rotate: int) -> None:
    data = make_pdf([text_at(60, 700, QUOTE)], rotate=rotate)
    rendered = render_page(data, 1, quote=QUOTE)
    (box,) = rendered.marks
    assert fold(words_under(data, 1, box)).text == fold(QUOTE).text
    lies = (box.right - box.left) * rendered.width_px > (box.bottom - box.top) * rendered.height_px
    assert lies == (rotate in {0, 180})


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_text_that_runs_up_down_or_backwards_is_marked_along_its_direction(angle: int) -> None:
    data = make_pdf([text_at(300, 400, QUOTE, angle=angle)])
    (box,) = render_page(data, 1, quote=QUOTE).marks
    assert fold(words_under(data, 1, box)).text == fold(QUOTE).text


def test_marks_are_fractions_of_the_crop_box_that_is_shown() -> None:
    data = make_pdf([text_at(300, 500, QUOTE)], crop=(250, 400, 550, 600))
    (box,) = render_page(data, 1, quote=QUOTE).marks
    assert box.left == pytest.approx(50 / 300, abs=0.01)
    assert box.top < 0.5 < box.bottom + 0.01


def test_line_numbers_in_the_margin_are_neither_in_the_way_nor_marked() -> None:
    lines = [
        "Stars form in clouds of",
        "molecular gas. The flux",
        "of the source is 3.2 mJy",
        "at 5 GHz. It varies.",
    ]
    data = make_pdf(
        [
            "".join(
                text_at(30, 700 - 12 * n, str(17 + n), size=6) + text_at(60, 700 - 12 * n, line)
                for n, line in enumerate(lines)
            )
        ]
    )
    rendered = render_page(data, 1, quote=QUOTE)
    assert rendered.share == 1.0
    assert len(rendered.marks) == 3
    assert min(box.left for box in rendered.marks) > 50 / 600
    assert marked_words(data, 1, QUOTE) == fold(QUOTE).text


def test_a_quote_in_two_columns_skips_the_footnote_between_them() -> None:
    quote = "We measured the positions of all the stars in the field with an accuracy of ten microarcseconds."
    left = ["We measured the positions of", "all the stars in the field"]
    right = ["with an accuracy of ten", "microarcseconds. Then we left."]
    data = make_pdf(
        [
            "".join(text_at(50, 120 - 12 * n, line) for n, line in enumerate(left))
            + text_at(50, 60, "1 Based on observations.", size=7)
            + "".join(text_at(320, 740 - 12 * n, line) for n, line in enumerate(right))
        ]
    )
    rendered = render_page(data, 1, quote=quote)
    assert rendered.share == 1.0
    assert [box.left > 0.5 for box in rendered.marks] == [False, False, True, True]
    assert marked_words(data, 1, quote) == fold(quote).text


def test_a_quote_that_runs_over_the_page_is_marked_in_part_on_both_pages() -> None:
    quote = "The companion was seen in the near infrared at a separation of two arcseconds."
    filler = "".join(
        text_at(60, 740 - 12 * n, "Other words stand here above it.") for n in range(20)
    )
    data = make_pdf(
        [
            filler + text_at(60, 80, "The companion was seen in the near") + text_at(290, 30, "7"),
            text_at(60, 760, "Running head")
            + text_at(60, 740, "infrared at a separation of two arcseconds. ")
            + filler.replace("740", "700"),
        ]
    )
    first, second = render_page(data, 1, quote=quote), render_page(data, 2, quote=quote)
    assert marked_words(data, 1, quote) == fold("The companion was seen in the near").text
    assert marked_words(data, 2, quote) == fold("infrared at a separation of two arcseconds.").text
    assert first.share + second.share == pytest.approx(1.0)


@pytest.mark.parametrize(
    "other",
    [
        "The flux of the source is 9.2 mJy at 5 GHz.",
        "The flux of the source is 3.2 mJy at 50 GHz.",
        "A quite different sentence stands in the paper.",
        "The flux of the source",
    ],
)
def test_other_words_and_other_numbers_are_not_marked(other: str) -> None:
    data = make_pdf([text_at(60, 700, other) + text_at(60, 650, "More text follows here.")])
    assert render_page(data, 1, quote=QUOTE).marks == ()


def test_a_quote_of_signs_alone_marks_nothing() -> None:
    data = make_pdf([text_at(60, 700, QUOTE)])
    assert render_page(data, 1, quote=" ... — ").marks == ()


# --- refusals ------------------------------------------------------------------------------------


def test_a_page_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(NotFoundError, match=r"no page 3.*pages 1 to 1"):
        render_page(make_pdf([""]), 3)


@pytest.mark.parametrize("data", [b"", b"<html>Just a moment</html>", b"%PDF-1.4\n"])
def test_what_is_no_pdf_is_damaged(data: bytes) -> None:
    with pytest.raises(DocumentError) as caught:
        render_page(data, 1)
    assert caught.value.kind == "damaged"
    assert caught.value.hint


# --- real papers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "page", "quote", "lines"),
    [
        (
            "joss_paos.pdf",  # line numbers, a margin column, a watermark across the page
            1,
            """It enables the generation of realistic Point Spread Functions across various
            wavelengths and focal planes, and wavefront analyses at each point in the optical
            system.""",
            3,
        ),
        (
            "cyb.pdf",  # two columns, hyphenation, lowered characters
            2,
            """The binary black hole (BBH) mass distribution was first found to have structure
            beyond a smooth power law with simpler parametric models, exhibiting a possible high
            mass truncation and either a break or a peak at m1 ∼ 35 − 40 M⊙ (Fishbach & Holz 2017;
            Talbot & Thrane 2018; Abbott et al. 2019b, 2021b).""",
            6,
        ),
        ("hard_rotated_pageflag.pdf", 2, "NGC 1005 10.685 −36.345 12.55 ± 0.6 0.5 SBc", 1),
        ("hard_rotated_table_ligatures.pdf", 2, "NGC 1005 10.685 −36.345 12.55 ± 0.6 0.5 SBc", 1),
        ("hard_cjk_twocol.pdf", 1, "早期工作指出，旋臂共转共振可以改变恒星的角动量而不加热轨道。", 2),
    ],
)  # fmt: skip
def test_marks_lie_on_the_words_of_real_papers(
    shared_data: Path, name: str, page: int, quote: str, lines: int
) -> None:
    data = (shared_data / "papers" / "pdf" / name).read_bytes()
    rendered = render_page(data, page, quote=quote)
    assert rendered.share == 1.0
    assert len(rendered.marks) >= lines
    under, expected = letters(marked_words(data, page, quote)), letters(fold(quote).text)
    assert len(under) <= len(expected) + 8  # the watermark DRAFT lies under some lines
    remaining = iter(under)
    assert all(char in remaining for char in expected)  # all of it, in this order


def test_letters_of_mathematics_outside_the_first_plane_are_found(shared_data: Path) -> None:
    data = (shared_data / "papers" / "pdf" / "joss_paos.pdf").read_bytes()
    quote = """therefore, using the Ruze formula (Ross, 2009), the Strehl ratio is
    𝑆 = exp (−2𝜋𝜎/𝜆) ≈ 0.3."""
    (box,) = render_page(data, 3, quote=quote).marks
    under = letters(fold(words_under(data, 3, box)).text)
    assert under.endswith(letters(fold(quote).text))  # after "RA" of the watermark DRAFT


def test_a_table_row_in_markdown_is_found_on_its_page(shared_data: Path) -> None:
    data = (shared_data / "papers" / "pdf" / "hard_rotated_table_ligatures.pdf").read_bytes()
    row = "| NGC 1005 | 10.685 | −36.345 | 12.55 ± 0.6 | 0.5 | SBc |"
    other = row.replace("36.345", "36.346")
    assert render_page(data, 2, quote=row).marks
    assert not render_page(data, 2, quote=other).marks
