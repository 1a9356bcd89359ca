"""A small PDF writer, so that the shapes of papers are tested without anybody's paper."""

from collections.abc import Callable, Sequence

Placed = tuple[float, float, float, str, str]
"""x, y and size in points, font (F1 Times, F2 Times bold, F3 Times italic), text in latin-1."""
MakePdf = Callable[[Sequence[Sequence[Placed]]], bytes]

_FONTS = {"F1": "Times-Roman", "F2": "Times-Bold", "F3": "Times-Italic"}


def _escaped(text: str) -> bytes:
    data = text.encode("cp1252")
    return data.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def write_pdf(pages: Sequence[Sequence[Placed]]) -> bytes:
    objects: list[bytes] = []
    kids = " ".join(f"{6 + 2 * index} 0 R" for index in range(len(pages)))
    objects.append(b"<< /Type /Catalog /Pages 2 0 R >>")
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects += [
        f"<< /Type /Font /Subtype /Type1 /BaseFont /{font} /Encoding /WinAnsiEncoding >>".encode()
        for font in _FONTS.values()
    ]
    fonts = " ".join(f"/{name} {3 + index} 0 R" for index, name in enumerate(_FONTS))
    for index, page in enumerate(pages):
        stream = b"".join(
            f"BT /{font} {size} Tf {x} {y} Td (".encode() + _escaped(text) + b") Tj ET\n"
            for x, y, size, font, text in page
        )
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {7 + 2 * index} 0 R"
            f" /Resources << /Font << {fonts} >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n" % len(stream) + stream + b"endstream")
    out = bytearray(b"%PDF-1.4\n")
    places: list[int] = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        start,
    )
    return bytes(out)
