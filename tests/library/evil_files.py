# ruff: noqa: PLW0108  (a lambda makes the file when it is asked for, not when this is imported)
"""Hostile PDFs and web pages, each by the words of the attack corpus; made here, none is stored."""

import random
import zlib
from collections.abc import Callable, Sequence

PAGE = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R %s>>"
FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
TEXT = "The radius of the star is 1.72 solar radii and its age is 4.1 Gyr as measured here."


def content(text: str = TEXT) -> str:
    drawn = f"BT /F1 10 Tf 60 700 Td ({text}) Tj ET"
    return f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream"


def pdf(objects: Sequence[str | bytes], *, trailer: str = "", prev_self: bool = False) -> bytes:
    """Return a PDF of these objects, numbered from 1, with its cross-reference table."""
    out = bytearray(b"%PDF-1.7\n")
    places: list[int] = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        raw = body if isinstance(body, bytes) else body.encode("latin-1")
        out += b"%d 0 obj\n" % number + raw + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    loop = f" /Prev {start}" if prev_self else ""
    out += f"trailer << /Size {len(objects) + 1} /Root 1 0 R{loop} {trailer}>>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


def one_page(
    *,
    catalog: str = "",
    page: str = "",
    stream: str | bytes | None = None,
    extra: Sequence[str | bytes] = (),
    trailer: str = "",
) -> bytes:
    """Return a PDF with one page of text; `extra` are the objects from 6 on."""
    return pdf(
        [
            f"<< /Type /Catalog /Pages 2 0 R {catalog}>>",
            "<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
            FONT,
            PAGE % page,
            stream or content(),
            *extra,
        ],
        trailer=trailer,
    )


def packed(data: bytes, filter_name: str, extra: str = "") -> bytes:
    return (
        f"<< /Length {len(data)} /Filter /{filter_name} {extra}>>\nstream\n".encode()
        + data
        + b"\nendstream"
    )


def _image(data: bytes, filter_name: str, side: int) -> bytes:
    kind = f"/Type /XObject /Subtype /Image /Width {side} /Height {side} /BitsPerComponent 1 /ColorSpace /DeviceGray "
    return packed(data, filter_name, kind)


def _deep_pages() -> bytes:
    depth = 10_000
    objects = ["<< /Type /Catalog /Pages 2 0 R >>"]
    objects += [
        f"<< /Type /Pages /Kids [{number + 1} 0 R] /Count 1 >>" for number in range(2, depth + 2)
    ]
    objects.append("<< /Type /Page /MediaBox [0 0 600 800] >>")
    return pdf(objects)


def _spaces() -> bytes:
    # Deflated pieces that end on a byte may be repeated: nobody has to pack a whole gigabyte.
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    first = packer.compress(b" " * 40_000) + packer.flush(zlib.Z_FULL_FLUSH)
    piece = packer.compress(b" " * 10_000_000) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"\x78\xda" + first + piece * 100 + packer.flush() + bytes(4)


PDFS: dict[str, Callable[[], bytes]] = {
    "object stream loop": lambda: one_page(
        extra=["<< /Type /ObjStm /N 1 /First 4 /Extends 6 0 R /Length 12 >>\nstream\n6 0 << >>   \nendstream"]
    ),
    "xref loop": lambda: pdf(
        ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [4 0 R] /Count 1 >>", FONT, PAGE % "", content()],
        prev_self=True,
    ),
    "page tree loop": lambda: pdf(
        ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 /Parent 2 0 R >>"]
    ),
    "page tree depth 10000": _deep_pages,
    "10 million pages in /Count": lambda: pdf(
        ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [4 0 R] /Count 10000000 >>", FONT, PAGE % "", content()]
    ),
    "/Length lie": lambda: one_page(stream=content().replace("/Length ", "/Length 99999")),
    "LZW bomb": lambda: one_page(stream=packed(b"\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01" + b"\x55" * 2_000_000, "LZWDecode")),
    "JBIG2 bomb": lambda: one_page(
        page="/Resources << /XObject << /I 6 0 R >> >> ", stream="<< /Length 4 >>\nstream\n/I Do\nendstream",
        extra=[_image(b"\x00\x00\x00\x00\x30\x00\x01\x00\x00\x00\x13" + b"\x7f\xff\xff\xff" * 2 + bytes(11), "JBIG2Decode", 2**30)],
    ),
    "run-length bomb": lambda: one_page(stream=packed(b"\x81 " * 1_000_000 + b"\x80", "RunLengthDecode")),
    "huge MediaBox 1e9": lambda: one_page().replace(b"[0 0 600 800]", b"[0 0 1e9 1e9]"),
    "recursive form XObject": lambda: one_page(
        page="/Resources << /XObject << /X 6 0 R >> >> ", stream="<< /Length 5 >>\nstream\n/X Do\nendstream",
        extra=["<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 5 >>\nstream\n/X Do\nendstream"],
    ),
    "encrypted with unknown handler": lambda: one_page(
        extra=["<< /Filter /Nobody /V 9 /R 9 /O (x) /U (y) /P -1 >>"], trailer="/Encrypt 6 0 R /ID [(a) (b)] "
    ),
    "cut at 99 %": lambda: (whole := one_page())[: len(whole) * 99 // 100],
    "binary noise": lambda: b"%PDF-1.7\n" + random.Random(7).randbytes(300_000),
    "CMap name with ../": lambda: one_page().replace(FONT.encode(), (
        b"<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /..#2f..#2f..#2ftmp#2fevil /DescendantFonts [6 0 R] >>")),
    "embedded file": lambda: one_page(
        catalog="/Names << /EmbeddedFiles << /Names [(x.sh) 6 0 R] >> >> ",
        extra=["<< /Type /Filespec /F (../../x.sh) /EF << /F 7 0 R >> >>", "<< /Length 4 >>\nstream\nexit\nendstream"],
    ),
    "URI action": lambda: one_page(catalog="/OpenAction << /S /URI /URI (http://127.0.0.1:9/) >> "),
    "JavaScript action": lambda: one_page(catalog="/OpenAction << /S /JavaScript /JS (while\\(1\\){}) >> "),
    "XFA form with external entity": lambda: one_page(
        catalog="/AcroForm << /XFA 6 0 R >> ",
        extra=[packed(zlib.compress(b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><xdp>&e;</xdp>'), "FlateDecode")],
    ),
    "1 GB of white space": lambda: one_page(stream=packed(_spaces(), "FlateDecode")),
    "right-to-left text": lambda: one_page(stream=content("\\341\\342 " + TEXT[::-1])),
    "10000 annotations": lambda: one_page(
        page="/Annots [" + " ".join(f"{n} 0 R" for n in range(6, 10_006)) + "] ",
        extra=["<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /Contents (x) >>"] * 10_000,
    ),
}  # fmt: skip

PARAGRAPH = f"<p>{TEXT}</p>"
HTMLS: dict[str, Callable[[], bytes]] = {  # made when asked for: some are large
    "entity bomb (billion laughs) as XHTML": lambda: (
        '<?xml version="1.0"?><!DOCTYPE html [<!ENTITY a "ha">'
        + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
        + f"]><html><body>{PARAGRAPH}<p>&j;</p></body></html>"
    ).encode(),
    "external DTD http://127.0.0.1/": lambda: (
        f'<!DOCTYPE html SYSTEM "http://127.0.0.1/x.dtd"><html><body>{PARAGRAPH}</body></html>'
    ).encode(),
    "100000 nested <div>": lambda: b"<html><body>" + b"<div>" * 100_000 + PARAGRAPH.encode(),
    "100 MB single line": lambda: b"<html><body>" + b"star " * 20_000_000,
    "<base href> elsewhere": lambda: (
        f'<html><head><base href="http://127.0.0.1:9/"></head><body><img src="x.png">{PARAGRAPH}</body></html>'
    ).encode(),
    "<meta charset=utf-7>": lambda: (
        f"<html><head><meta charset=utf-7></head><body>{PARAGRAPH}+ADw-script+AD4-</body></html>"
    ).encode(),
    "UTF-16 without BOM": lambda: f"<html><body>{PARAGRAPH}</body></html>".encode("utf-16-le"),
    "NUL bytes": lambda: f"<html><body>{PARAGRAPH}</body></html>".replace("star", "st\0ar").encode(),
    "unclosed <script> eats the page": lambda: f"<html><body>{PARAGRAPH}<script>{PARAGRAPH * 50}".encode(),
    "10 MB data: URI": lambda: (
        f'<html><body><img src="data:image/png;base64,{"A" * 10_000_000}">{PARAGRAPH}</body></html>'
    ).encode(),
    "html.parser quadratic comment": lambda: (f"<html><body>{PARAGRAPH}" + "<!--" * 300_000).encode(),
    "1e5 <table> cells": lambda: (
        f"<html><body>{PARAGRAPH}<table>" + ("<tr>" + "<td>1.5</td>" * 100 + "</tr>") * 1000 + "</table></body></html>"
    ).encode(),
    "MathML depth 5000": lambda: (
        f"<html><body>{PARAGRAPH}<math>" + "<mrow>" * 5000 + "<mi>x</mi>" + "</mrow>" * 5000 + "</math></body></html>"
    ).encode(),
    "ar5iv error page with status 200": lambda: (
        b'<!DOCTYPE html><html><head><title>[0000.00000] Conversion error</title></head><body>'
        b'<article class="ltx_document"><div class="ltx_para"><p class="ltx_p">Conversion to HTML had a Fatal error'
        b" and exited abruptly.</p></div></article></body></html>"
    ),
    "frameset": lambda: b'<html><frameset cols="50%,50%"><frame src="http://127.0.0.1:9/"></frameset></html>',
}  # fmt: skip
