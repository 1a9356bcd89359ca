"""Small PDFs, written by hand: text at known places."""

from collections.abc import Sequence


def text_at(x: float, y: float, text: str, *, size: float = 10, angle: int = 0) -> str:
    """Return content that draws `text` (Latin-1) with its baseline at (x, y) points."""
    turns = {0: "1 0 0 1", 90: "0 1 -1 0", 180: "-1 0 0 -1", 270: "0 -1 1 0"}
    escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /F1 {size} Tf {turns[angle]} {x} {y} Tm ({escaped}) Tj ET\n"


def make_pdf(
    pages: Sequence[str],
    *,
    size: tuple[float, float] = (600, 800),
    rotate: int = 0,
    crop: tuple[float, float, float, float] | None = None,
) -> bytes:
    """Return a PDF with one page for each content stream, in Helvetica."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    cropped = f" /CropBox [{' '.join(map(str, crop))}]" if crop else ""
    for number, content in enumerate(pages):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {size[0]} {size[1]}]{cropped}"
            f" /Rotate {rotate} /Resources << /Font << /F1 3 0 R >> >>"
            f" /Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(
            f"<< /Length {len(content.encode('latin-1'))} >>\nstream\n{content}endstream"
        )
    out = bytearray(b"%PDF-1.4\n")
    places: list[int] = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    for place in places:
        out += f"{place:010d} 00000 n \n".encode()
    out += (
        f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    )
    return bytes(out)
