"""The sample notes are there, say that they are samples, and are what their sources make."""

import re
import runpy
from importlib import resources
from pathlib import Path

import pypdfium2 as pdfium
import pytest

from nuncius.core.text import language_of

NOTES = resources.files("nuncius.notes")
SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_notes.py"
CHINESE = ["galactic-centre-zh.md", "gw170817-zh.md"]
ENGLISH = [
    "distance-ladder.md",
    "exoplanet-transits.html",
    "hubble-tension.md",
    "pulsar-timing.pdf",
    "reionisation.md",
    "stellar-ages.md",
]
ALL = sorted(CHINESE + ENGLISH)
IDENTIFIER = re.compile(r"\bdoi:10\.\d{4,9}/\S+|\b(?:1[89]|20)\d\d[A-Za-z&]{1,5}[.\dA-Z]+[A-Z]\b")
YEAR = re.compile(r"\b(?:1[89]|20)\d\d[a-d]?, (?=[A-Z])")
CITED = re.compile(
    r"([A-Z][\w'’\-]+)(?: et al\.| Collaboration(?: [IVX]+)?)? \(?((?:1[89]|20)\d\d[a-d]?)(?=[)）;；,，])"
)


def pdf_text(source: bytes) -> str:
    document = pdfium.PdfDocument(source)
    try:
        texts = [str(page.get_textpage().get_text_range()) for page in document]
    finally:
        document.close()
    return "\n".join(texts).replace("\r", "")


def text_of(name: str) -> str:
    source = (NOTES / name).read_bytes()
    if name.endswith(".pdf"):
        return pdf_text(source)
    text = source.decode("utf-8")
    return re.sub(r"<math.*?</math>|<[^>]+>", " ", text) if name.endswith(".html") else text


def body_and_references(name: str) -> tuple[str, str]:
    body, references = re.split(
        r"\n(?:## )?\s*(?:参考文献 )?References\s*\n", text_of(name), maxsplit=1
    )
    return body, references


def entries(name: str) -> list[str]:
    """Cut the list of references after each DOI or bibcode."""
    references = " ".join(body_and_references(name)[1].split())
    ends = [match.end() for match in IDENTIFIER.finditer(references)]
    return [references[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def test_the_package_holds_these_notes_and_no_others() -> None:
    found = sorted(
        item.name for item in NOTES.iterdir() if item.is_file() and not item.name.endswith(".py")
    )
    assert found == ALL


@pytest.mark.parametrize("name", [name for name in ALL if name.endswith(".md")])
def test_markdown_notes_name_title_author_and_date(name: str) -> None:
    lines = text_of(name).split("\n---\n")[0].splitlines()
    assert lines[0] == "---"
    front = dict(line.split(": ", 1) for line in lines[1:])
    assert len(front["title"].strip('"')) > 8
    assert front["author"] == '"nuncius sample notes"'
    assert front["date"] == "2026"
    assert front["language"] == ("zh" if name in CHINESE else "en")
    assert f"\n# {front['title'].strip(chr(34))}\n" in text_of(name)


@pytest.mark.parametrize("name", ALL)
def test_every_note_says_at_its_top_that_it_is_a_sample(name: str) -> None:
    assert "sample note" in " ".join(text_of(name)[:700].split()).lower()


@pytest.mark.parametrize("name", ALL)
def test_every_reference_has_a_year_and_a_doi_or_bibcode(name: str) -> None:
    listed = entries(name)
    assert len(listed) >= 10
    assert [entry for entry in listed if len(YEAR.findall(entry)) != 1] == []


@pytest.mark.parametrize("name", ALL)
def test_every_work_that_is_cited_is_in_the_list(name: str) -> None:
    body, _ = body_and_references(name)
    cited = CITED.findall(" ".join(body.split()))
    assert len(cited) >= 5
    listed = entries(name)
    missing = [
        (author, year)
        for author, year in cited
        if not any(author in entry and f"{year}, " in entry for entry in listed)
    ]
    assert missing == []


@pytest.mark.parametrize("name", ENGLISH)
def test_english_notes_have_about_two_pages(name: str) -> None:
    body, _ = body_and_references(name)
    assert 500 <= len(re.findall(r"[A-Za-z0-9'’.\-]+", body)) <= 900
    assert language_of(body) == "en"


@pytest.mark.parametrize("name", CHINESE)
def test_two_notes_are_chinese(name: str) -> None:
    body, _ = body_and_references(name)
    assert 700 <= len(re.findall(r"[\u4e00-\u9fff]", body)) <= 1200
    assert language_of(body) == "zh"


def test_markdown_notes_hold_tables_and_formulas() -> None:
    markdown = [text_of(name) for name in ALL if name.endswith(".md")]
    assert sum("|---|" in text for text in markdown) >= 3
    assert all(text.count("$") >= 2 and text.count("$") % 2 == 0 for text in markdown)


def test_the_pdf_is_small_and_has_numbered_pages() -> None:
    source = (NOTES / "pulsar-timing.pdf").read_bytes()
    assert len(source) < 150_000
    document = pdfium.PdfDocument(source)
    try:
        pages = len(document)
        assert pages >= 2
        assert document.get_metadata_dict()["Title"] == "Pulsars as clocks"
    finally:
        document.close()
    assert all(f"{page} / {pages}" in pdf_text(source) for page in range(1, pages + 1))


def test_html_and_pdf_are_what_the_script_makes(tmp_path: Path) -> None:
    pytest.importorskip("typst")
    pytest.importorskip("markdown_it")
    made = runpy.run_path(str(SCRIPT))["build"](tmp_path)
    assert sorted(path.name for path in made) == ["exoplanet-transits.html", "pulsar-timing.pdf"]
    for path in made:
        kept = (NOTES / path.name).read_bytes()
        if path.suffix == ".pdf":  # other versions of Typst write other bytes, the same words
            assert pdf_text(path.read_bytes()) == pdf_text(kept)
        else:
            assert path.read_bytes() == kept
