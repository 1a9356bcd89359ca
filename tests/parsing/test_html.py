"""HTML of papers: mathematics once and as TeX, tables as rows, furniture gone."""

import re
from pathlib import Path

import pytest

from nuncius.core.documents import Document
from nuncius.core.errors import DocumentError
from nuncius.parsing import parse

PAGE = """<!DOCTYPE html><html><head><title>Rings of stars - Journal</title>
<meta name="citation_title" content="Rings of stars"/><meta name="citation_author" content="Public, J. Q."/>
<meta name="citation_author" content="Li, Wei"/><meta name="citation_publication_date" content="2020/05/01"/>
<meta name="citation_doi" content="10.1000/XYZ.1"/></head><body>
<nav>Skip to content</nav><script>var x = "leak";</script>
<article><h1>Rings of stars</h1><div class="ltx_abstract"><h6>Abstract</h6><p>We see rings.</p></div>
<h2>1 Data</h2><p>The mass is <math alttext="M=3"><semantics><mi>M</mi><annotation encoding="application/x-tex">M=3</annotation></semantics></math>
of the Sun<sup>1</sup>.</p>
<table class="ltx_equation"><tr class="ltx_eqn_row"><td><math display="block" alttext="\\displaystyle E=mc^{2}%
+x"><mi>E</mi></math></td><td><span class="ltx_tag_equation">(1)</span></td></tr></table>
<figure><figcaption>Figure 1: A ring.</figcaption></figure>
<figure><figcaption>Table 1: Rings.</figcaption><table><thead><tr><th>Ring</th><th>Radius</th></tr></thead>
<tbody><tr><td>B1</td><td>20.4</td></tr><tr><td colspan="2">-38.1 | x</td></tr></tbody></table></figure>
<ul><li>one thing</li><li>another thing</li></ul>
<section class="ltx_bibliography"><h2>References</h2><ul><li>Li 2019 ApJ 1 1</li></ul></section>
</article><footer>Cookies</footer></body></html>"""


@pytest.fixture(scope="module")
def document() -> Document:
    return parse(PAGE.encode(), name="page.html")


def _blocks(document: Document, kind: str) -> list[str]:
    return [block.text for block in document.blocks if block.kind == kind]


def test_front_matter_comes_from_the_metas(document: Document) -> None:
    front = document.front
    assert (front.title, front.year, front.doi) == ("Rings of stars", 2020, "10.1000/xyz.1")
    assert front.authors == ("Public, J. Q.", "Li, Wei")
    assert front.abstract == "We see rings."


def test_mathematics_stay_tex_and_come_once(document: Document) -> None:
    assert "The mass is $M=3$ of the Sun1." in _blocks(document, "paragraph")
    assert _blocks(document, "equation") == ["$$E=mc^{2}+x$$ (1)"]


def test_tables_become_rows(document: Document) -> None:
    assert _blocks(document, "table") == [
        "| Ring | Radius |\n| --- | --- |\n| B1 | 20.4 |\n| -38.1 \\| x |  |"
    ]
    assert _blocks(document, "caption") == ["Figure 1: A ring.", "Table 1: Rings."]


def test_what_is_no_paper_is_gone(document: Document) -> None:
    everything = "\n".join(block.text for block in document.blocks)
    assert not re.search("leak|Skip|Cookies", everything)
    assert _blocks(document, "reference") == ["Li 2019 ApJ 1 1"]


def test_a_page_without_text_is_empty() -> None:
    with pytest.raises(DocumentError) as caught:
        parse(
            b"<!DOCTYPE html><html><body><div id='app'></div><script>run()</script></body></html>"
        )
    assert caught.value.kind == "empty"


def test_iop_keeps_one_source_of_mathematics(shared_data: Path) -> None:
    document = parse((shared_data / "papers" / "html" / "iop_synthetic.html").read_bytes())
    text = "\n".join(block.text for block in document.blocks)
    assert text.count("L \\propto M^{3.5}") == 1
    assert "E = mc^2" in "".join(_blocks(document, "equation"))
    assert document.front.title == "A synthetic IOP-shaped article"


def test_a_turn_away_page_is_refused(shared_data: Path) -> None:
    data = (shared_data / "papers" / "html" / "iop_turnaway_synthetic.html").read_bytes()
    with pytest.raises(DocumentError, match="turn-away") as caught:
        parse(data)
    assert caught.value.kind == "not_a_paper"


@pytest.mark.parametrize(("name", "authors", "references"), [("cyb", 3, 125), ("legwork", 3, 62)])
def test_latexml_papers_keep_every_formula(
    shared_data: Path, name: str, authors: int, references: int
) -> None:
    html = (shared_data / "papers" / "html" / f"{name}.html").read_text()
    document = parse(html.encode())
    text = "\n".join(block.text for block in document.blocks)
    squashed = re.sub(r"\s|\\displaystyle", "", text)
    body = html[html.index("<article") : html.index("</article")]
    formulas = [
        re.sub(r"%\s*\n|\s|\\displaystyle", "", tex)
        for tex in re.findall(r'alttext="([^"]*)"', body)
    ]
    unescaped = [
        tex.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") for tex in formulas
    ]
    kept = sum(tex in squashed for tex in unescaped)
    assert kept >= 0.99 * len(unescaped)
    assert len(document.front.authors) == authors
    assert len(_blocks(document, "reference")) >= references - 1
    assert "\u2062" not in text  # the invisible times of MathML
