import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from nuncius.core.papers import Author, Paper
from nuncius.library.export import bibtex_entry, latex


def make(title: str = "A title", *authors: str, **fields: object) -> Paper:
    return Paper.model_validate(
        {
            "paper_id": "k3f2a9c1",
            "title": title,
            "authors": [Author(name=name) for name in authors],
            "cite_key": "Key2022",
            **fields,
        }
    )


def parse(entry: str) -> tuple[str, str, dict[str, str]]:
    """Read one entry as BibTeX does: braces count, a backslash protects nothing."""
    head = re.match(r"@(\w+)\{([^\s,{}]+),\n", entry)
    assert head, entry
    fields: dict[str, str] = {}
    at = head.end()
    while match := re.compile(r" *(\w+) = (\"?\{|)").match(entry, at):
        at = match.end()
        if not match[2]:
            value = re.compile(r"\w+").match(entry, at)
            assert value, entry[at:]
            fields[match[1]], at = value[0], value.end()
        else:
            depth, start = 1, at
            while depth:
                depth += {"{": 1, "}": -1}.get(entry[at], 0)
                at += 1
            fields[match[1]] = entry[start : at - 1]
            at += match[2].count('"')
        if entry[at] == ",":
            at += 1
        assert entry[at] == "\n", entry[at:]
        at += 1
    assert entry[at:] == "}\n", entry[at:]
    return head[1], head[2], fields


def names(field: str) -> Iterator[str]:
    """Part an author field at each ` and ` outside of braces."""
    depth, start = 0, 0
    for at, char in enumerate(field):
        depth += {"{": 1, "}": -1}.get(char, 0)
        if not depth and field.startswith(" and ", at):
            yield field[start:at]
            start = at + 5
    yield field[start:]


def test_a_paper_is_written_as_ads_writes_it() -> None:
    paper = make(
        "The Hubble constant",
        "Luke G. Bouma",
        "Riess, A. G.",
        "Planck Collaboration",
        year=2022,
        bibcode="2022ApJ...934L...7R",
        doi="10.3847/2041-8213/ac5c5b",
        arxiv_id="2112.04510",
    )
    assert bibtex_entry(paper) == snapshot("""\
@ARTICLE{Key2022,
       author = {{Bouma}, Luke G. and {Riess}, A.~G. and {Planck Collaboration}},
        title = "{The Hubble constant}",
      journal = {\\apjl},
         year = 2022,
       volume = {934},
        pages = {L7},
          doi = {10.3847/2041-8213/ac5c5b},
archivePrefix = {arXiv},
       eprint = {2112.04510},
       adsurl = {https://ui.adsabs.harvard.edu/abs/2022ApJ...934L...7R}
}
""")


def test_what_is_not_known_is_not_written() -> None:
    assert bibtex_entry(make("A note")) == '@MISC{Key2022,\n        title = "{A note}"\n}\n'


def test_an_ampersand_in_a_bibcode_breaks_neither_journal_nor_link() -> None:
    paper = make(bibcode="2020A&A...641A...6P", year=2020)
    _, _, fields = parse(bibtex_entry(paper))
    assert fields["journal"] == r"\aap"
    assert (fields["volume"], fields["eid"], fields["pages"]) == ("641", "A6", "A6")
    assert fields["adsurl"].endswith("/2020A%26A...641A...6P")
    _, _, fields = parse(bibtex_entry(paper, journals="stem"))
    assert fields["journal"] == r"A\&A"


@pytest.mark.parametrize(
    ("bibcode", "place"),
    [
        ("2018PhRvL.120b9901P", (r"\prl", "120", "", "029901")),
        ("2018JCAP...04..016A", (r"\jcap", "2018", "04", "016")),
        ("1998ApJ...494L.181M", (r"\apjl", "494", "", "L181")),
        ("2019MNRAS.48312345A", (r"\mnras", "483", "", "12345")),
        ("2024OJAp....7E..12A", ("The Open Journal of Astrophysics", "7", "", "E12")),
    ],
)
def test_volume_and_page_are_read_in_a_bibcode(
    bibcode: str, place: tuple[str, str, str, str]
) -> None:
    _, _, fields = parse(bibtex_entry(make(bibcode=bibcode)))
    found = tuple(fields.get(name, "") for name in ("journal", "volume", "number", "pages"))
    assert found == place


def test_a_preprint_is_one_as_ads_writes_it() -> None:
    kind, _, fields = parse(bibtex_entry(make(arxiv_id="astro-ph/9805201")))
    assert (kind, fields["journal"], fields["eprint"], fields["primaryClass"]) == (
        "ARTICLE",
        "arXiv e-prints",
        "astro-ph/9805201",
        "astro-ph",
    )
    assert fields["eid"] == "arXiv:astro-ph/9805201"


@pytest.mark.parametrize(
    ("printed", "written"),
    [
        ("Luke G. Bouma", "{Bouma}, Luke G."),
        ("Bouma, Luke G.", "{Bouma}, Luke G."),
        ("Ewine F. van Dishoeck", "{van Dishoeck}, Ewine F."),
        ("José Ángel Muñoz", r"{Mu{\~n}oz}, Jos{\'e} {\'A}ngel"),
        ("Søren Kjærgaard", r"{Kj{\ae}rgaard}, S{\o}ren"),
        ("John Smith Jr.", "{Smith}, Jr., John"),
        ("John Smith, Jr.", "{Smith}, Jr., John"),
        ("Smith, Jr., John", "{Smith}, Jr., John"),
        ("张三", "{张三}"),
        ("Planck Collaboration", "{Planck Collaboration}"),
        ("Event Horizon Telescope Collaboration", "{Event Horizon Telescope Collaboration}"),
        (
            "Science and Technology Facilities Council",
            "{Science and Technology Facilities Council}",
        ),
        ("nuncius sample notes", "{nuncius sample notes}"),
        ("Plato", "{Plato}"),
        ("A. B. van der Berg", "{van der Berg}, A.~B."),
        ("., S. N. Agbo", "{Agbo}, S.~N."),
        ("Collaboration, The X", "{The X Collaboration}"),
        ("et al.", "others"),
        ("., . . .", "others"),
    ],
)
def test_a_name_is_written_last_name_first(printed: str, written: str) -> None:
    _, _, fields = parse(bibtex_entry(make("T", "A. First", printed)))
    assert list(names(fields["author"])) == ["{First}, A.", written]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("100% of A&A #1_b", r"100\% of A\&A \#1\_b"),
        (r"\input ~ ^", r"{\textbackslash}input {\textasciitilde} {\textasciicircum}"),
        ("{x", r"{\textbraceleft}x"),
        ("$}x{$", r"\${\textbraceright}x{\textbraceleft}\$"),
        ("$H_0$ at 8σ", r"$H_0$ at 8$\sigma$"),
        ("costs $5 and $6 a_b", r"costs \$5 and \$6 a\_b"),
        ("ΛCDM ± 3 km s⁻¹", r"$\Lambda$CDM $\pm$ 3 km s$^{-1}$"),
        ("Gödel–Čech’s “ï”", r"G{\"o}del--{\v C}ech's ``{\"\i}''"),
        ("H₂O < 5°", r"H$_{2}$O $<$ 5$^\circ$"),
        ("H_2 at 10^{-3}", r"H$_{2}$ at 10$^{-3}$"),
        ("a_file_name", r"a\_file\_name"),
        ("L ∝ M³ ≪ 5′ §2", r"L $\propto$ M$^{3}$ $\ll$ 5$^\prime$ {\S}2"),
        ("银河系中心", "银河系中心"),
        ("a\n  b\tc", "a b c"),
    ],
)
def test_text_is_written_so_that_latex_prints_it(text: str, written: str) -> None:
    assert latex(text) == written


@given(
    title=st.text(min_size=1),
    authors=st.lists(st.text(min_size=1), max_size=4),
    key=st.text(),
    doi=st.text(),
)
def test_no_text_breaks_out_of_its_field(
    title: str, authors: list[str], key: str, doi: str
) -> None:
    entry = bibtex_entry(make(title, *authors, cite_key=key, doi=doi or None, year=2020))
    _, written, fields = parse(entry)
    assert re.fullmatch(r"[^\s,{}\"#%~\\'()=]+", written)
    assert fields["year"] == "2020"
    if authors:
        assert len(list(names(fields["author"]))) == len(authors)
    assert not re.search(r"(?<!\\)[%#]", latex(title).replace(r"\\", ""))
