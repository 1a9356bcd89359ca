"""Build the sample notes that are not plain Markdown: one PDF and one HTML page.

Run it from anywhere after editing a source in `scripts/notes/`; it writes into
`src/nuncius/notes/`. It needs the packages `typst` and `markdown-it-py`.
"""

from html import escape
from pathlib import Path

import typst
from markdown_it import MarkdownIt

PROJECT = Path(__file__).resolve().parent.parent
SOURCES = PROJECT / "scripts" / "notes"
NOTES = PROJECT / "src" / "nuncius" / "notes"

PDF = "pulsar-timing"
HTML = "exoplanet-transits"
HTML_TITLE = "Exoplanet transits: geometry, surveys and atmospheres"

PAGE = """\
<!DOCTYPE html>
<html lang="en" xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta charset="utf-8"/>
<title>{title}</title>
<meta name="citation_title" content="{title}"/>
<meta name="citation_author" content="nuncius sample notes"/>
<meta name="citation_publication_date" content="2026"/>
<meta name="description" content="A sample note of nuncius"/>
</head>
<body>
<article>
<h1>{title}</h1>
<p class="author">nuncius sample notes, 2026</p>
{body}</article>
</body>
</html>
"""


def html_page(markdown: str, *, title: str) -> str:
    """Render Markdown, with tables and inline HTML, as one well-formed page."""
    body = MarkdownIt("commonmark", {"xhtmlOut": True}).enable("table").render(markdown)
    return PAGE.format(title=escape(title), body=body)


def pdf_bytes(source: Path) -> bytes:
    """Typeset a Typst file with the fonts that Typst brings, so that machines agree."""
    return typst.compile(source, format="pdf", ignore_system_fonts=True)


def build(target: Path) -> list[Path]:
    """Write both notes into `target` and return their paths."""
    html = target / f"{HTML}.html"
    markdown = (SOURCES / f"{HTML}.md").read_text(encoding="utf-8")
    html.write_text(html_page(markdown, title=HTML_TITLE), encoding="utf-8")
    pdf = target / f"{PDF}.pdf"
    pdf.write_bytes(pdf_bytes(SOURCES / f"{PDF}.typ"))
    return [html, pdf]


if __name__ == "__main__":
    for path in build(NOTES):
        print(f"{path.relative_to(PROJECT)}: {path.stat().st_size:,} bytes")
