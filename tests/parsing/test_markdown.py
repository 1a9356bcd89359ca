"""Markdown notes and papers."""

from pathlib import Path

from nuncius.core.documents import Document
from nuncius.core.text import fold
from nuncius.parsing import parse
from nuncius.parsing.passages import cut

NOTE = """---
title: 'Dust in the disc of HL Tau'
authors:
  - name: Jane Q. Public
    affiliation: "1"
  - given-names: Wei
    surname: Li
date: 19 April 2021
---

# Dust in the disc of HL Tau

## Abstract

We see rings.

## 1. Data

The disc was seen with ALMA[^1] at a
resolution of 0.035 arcsec.

$$
M = \\int \\rho \\, dV
$$

Table 1: Rings.

| Ring | Radius (au) |
| --- | --- |
| B1 | 20.4 |
| B2 | -38.1 |

![Map of the disc in the continuum.](map.png)

- The first ring is narrow.
- The second is not.

[^1]: Atacama array.

Results
-------

They agree.

## References

- Partnership 2015, ApJL, 808, L3
- Carrasco 2016, ApJL, 821, L16
"""


def _blocks(document: Document, kind: str) -> list[str]:
    return [block.text for block in document.blocks if block.kind == kind]


def test_front_matter_comes_from_the_yaml_head() -> None:
    front = parse(NOTE.encode(), name="note.md").front
    assert front.title == "Dust in the disc of HL Tau"
    assert front.authors == ("Jane Q. Public", "Wei Li")
    assert front.year == 2021
    assert front.abstract == "We see rings."


def test_blocks_are_told_apart() -> None:
    document = parse(NOTE.encode())
    assert document.kind == "markdown"
    assert _blocks(document, "equation") == ["$$\nM = \\int \\rho \\, dV\n$$"]
    assert _blocks(document, "caption") == ["Table 1: Rings.", "Map of the disc in the continuum."]
    assert _blocks(document, "footnote") == ["Atacama array."]
    assert _blocks(document, "list") == ["The first ring is narrow.", "The second is not."]
    assert _blocks(document, "table")[0].endswith("| B2 | -38.1 |")
    assert _blocks(document, "reference") == [
        "Partnership 2015, ApJL, 808, L3",
        "Carrasco 2016, ApJL, 821, L16",
    ]
    assert "Results" in _blocks(document, "heading")


def test_every_block_is_found_in_the_source() -> None:
    document = parse(NOTE.encode())
    layer = fold(document.layer[0].text).text
    assert [b.text for b in document.blocks if fold(b.text).text not in layer] == []


def test_an_author_line_under_the_title_is_read() -> None:
    text = "# Rings of stars \n\nJane Q. Public ${ }^{1,2}$, Wei Li ${ }^{2}$ and Ada Lovelace\n\n"
    front = parse(f"{text}March 4, 2019\n\n## Introduction\n\nStars.".encode(), name="x.md").front
    assert front.authors == ("Jane Q. Public", "Wei Li", "Ada Lovelace")
    assert front.year == 2019


def test_an_open_fence_does_not_swallow_the_rest() -> None:
    document = parse(b"# T\n\n$$\na = b\n\n## Next\n\nWords follow here.\n", name="x.md")
    assert "Next" in _blocks(document, "heading")


def test_the_name_lends_its_arxiv_id() -> None:
    front = parse(b"# Title of a paper\n\nText.", name="2201.02202v1.md").front
    assert (front.arxiv_id, front.year) == ("2201.02202", 2022)


def test_real_papers_in_markdown(shared_data: Path) -> None:
    folder = shared_data / "retrieval" / "cosmopaperqa"
    document = parse((folder / "1807.06209v4.md").read_bytes(), name="1807.06209v4.md")
    assert document.front.title == "Planck 2018 results. VI. Cosmological parameters"
    assert document.front.authors[:3] == ("Planck Collaboration", "N. Aghanim", "Y. Akrami")
    assert document.front.year == 2021
    other = parse((folder / "2201.02202v1.md").read_bytes(), name="2201.02202v1.md")
    assert other.front.title == "Cosmology with one galaxy?"
    assert len(other.front.authors) == 13
    for parsed in (document, other):
        layer = fold(parsed.layer[0].text).text
        texts = [p.text for p in cut(parsed) if p.kind in {"text", "abstract"}]
        lost = [line for text in texts for line in text.split("\n") if fold(line).text not in layer]
        assert len(lost) <= 0.02 * sum(text.count("\n") + 1 for text in texts), lost[:3]


def test_a_sentence_with_numbered_names_and_units_is_no_list_of_authors() -> None:
    text = (
        "# Arp220\n\nThe Arp220 system has a mass of 3.2 and a redshift of 0.02. It is 5 Gyr old.\n"
    )
    assert parse(text.encode(), name="note.md").front.authors == ()
    line = "# A title\n\nJane Q. Public1,2, Wei Li2 and Ana Rey3\n\nWe see rings.\n"
    assert parse(line.encode(), name="note.md").front.authors == (
        "Jane Q. Public",
        "Wei Li",
        "Ana Rey",
    )
