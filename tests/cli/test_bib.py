"""`bib check`, `bib update`, `bib import`, and the formats of references."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from cli.running import QUESTION, Run
from nuncius.app.build import App
from nuncius.cli import bib, commands
from nuncius.core.errors import UpstreamError
from nuncius.core.records import Affiliated, Record
from nuncius.library.bibtex_reading import read

FILE = r"""% mine
@misc{MyMoons,
  author = {Rey, A. and Saar, C.},
  title = {Moons of a quiet giant star},
  eprint = {2212.00001},
  year = 2022,
  note = {mine &amp; only mine}
}
@article{zorn, author={Zorn, P.}, title={Some spectra &amp; dust}, doi={10.1000/dust}, journal={Nature}}
"""
PUBLISHED = Record(
    source="ads",
    title="Moons of a quiet giant star",
    authors=(Affiliated("Rey, A."), Affiliated("Saar, C.")),
    year=2023,
    dois=("10.1000/moons",),
    arxiv_id="2212.00001",
    bibcodes=("2023ApJ...950...12R",),
    journal="The Astrophysical Journal",
    bibstem="ApJ",
    volume="950",
    pages="12",
    doctype="article",
)


class Told:
    async def records(self, names: Sequence[str]) -> Sequence[Record | None]:
        return [PUBLISHED if name == "2212.00001" else None for name in names]


def told(_: App) -> Told:
    return Told()


@pytest.fixture
def file(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if all(group.name != "bib" for group in commands.app.registered_groups):
        groups = [*commands.app.registered_groups]
        commands.app.add_typer(bib.bib, name="bib")
        added = [*commands.app.registered_groups]
        commands.app.registered_groups = groups
        monkeypatch.setattr(commands.app, "registered_groups", added)
    monkeypatch.setattr(App, "lookup", told)
    path = Path.cwd() / "论文 refs.bib"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_check_names_what_is_wrong_and_changes_nothing(nuncius: Run, file: Path) -> None:
    ran = nuncius("bib", "check", file)
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert lines[0].startswith(
        "2: published_now MyMoons journal → “The Astrophysical Journal 950 12”"
    )
    assert any(line.startswith("9: dead_doi zorn doi “10.1000/dust”") for line in lines)
    assert "2 entries, 2 identifiers asked for, 3 things found." in ran.err
    assert file.read_text(encoding="utf-8") == FILE


def test_check_prints_findings_for_programs(nuncius: Run, file: Path) -> None:
    shape = nuncius("bib", "check", file, "--json").json
    assert (shape["entries"], shape["asked"]) == (2, 2)
    assert [(one["kind"], one["key"]) for one in shape["findings"]] == [
        ("published_now", "MyMoons"),
        ("debris", "zorn"),
        ("dead_doi", "zorn"),
    ]
    assert shape["findings"][0].keys() == {
        "kind", "key", "line", "field", "found", "expected", "note", "source",
    }  # fmt: skip


def test_a_file_without_faults_ends_in_0(nuncius: Run, file: Path) -> None:
    file.write_text("@book{a, title = {A book}}\n")
    ran = nuncius("bib", "check", file)
    assert (ran.code, ran.out) == (0, "")


def test_update_shows_a_diff_and_writes_only_when_told_to(nuncius: Run, file: Path) -> None:
    ran = nuncius("bib", "update", file)
    assert ran.code == 0
    assert "-@misc{MyMoons,\n+@article{MyMoons," in ran.out
    assert "--write writes" in ran.err
    assert file.read_text(encoding="utf-8") == FILE
    ran = nuncius("bib", "update", file, "--write", "--json")
    assert ran.json["written"] is True
    assert ran.json["changed"] == ["MyMoons", "zorn"]
    written = file.read_text(encoding="utf-8")
    assert "note = {mine &amp; only mine}" in written  # a person's own words
    assert "title={Some spectra \\& dust}" in written
    assert "volume = {950}" in written
    assert [entry.key for entry in read(written).entries] == ["MyMoons", "zorn"]
    again = nuncius("bib", "update", file, "--write")
    assert (again.code, again.out) == (0, "")
    assert "Nothing is to be changed." in again.err
    assert sorted(path.name for path in file.parent.iterdir()) == [file.name]


@pytest.mark.parametrize("command", ["check", "update"])
def test_where_no_service_answers_the_exit_code_says_so(
    command: str, nuncius: Run, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Down:
        async def records(self, names: Sequence[str]) -> Sequence[Record | None]:
            raise UpstreamError("arXiv", "https://export.arxiv.org/api/query", "no answer")

    def down(_: App) -> Down:
        return Down()

    monkeypatch.setattr(App, "lookup", down)
    ran = nuncius("bib", command, file)
    assert ran.code == 3
    assert "not_checked MyMoons eprint (arXiv: no answer" in ran.out + ran.err


def test_alone_asks_nobody(nuncius: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: App) -> Told:
        raise AssertionError("a service was asked")

    monkeypatch.setattr(App, "lookup", refuse)
    shape = nuncius("bib", "check", file, "--alone", "--json").json
    assert shape["asked"] == 0
    assert [one["kind"] for one in shape["findings"]] == ["debris"]
    assert nuncius("bib", "update", file, "--alone").code == 0


def test_import_keeps_the_files_keys(nuncius: Run, file: Path) -> None:
    shape = nuncius("bib", "import", file, "--json").json
    assert [paper["cite_key"] for paper in shape["added"]] == ["MyMoons", "zorn"]
    assert nuncius("paper", "show", "MyMoons", "--json").json["arxiv_id"] == "2212.00001"
    again = nuncius("bib", "import", file)
    assert [line.split()[0] for line in again.out.splitlines()] == ["held", "held"]
    assert len(nuncius("library", "list", "--json").json["papers"]) == 2


def test_import_says_whose_identifier_an_entry_bears(nuncius: Run, file: Path) -> None:
    assert nuncius("bib", "import", file).code == 0
    other = file.with_name("other.bib")
    other.write_text(
        "\n@misc{own, author={Feld, J.}, title={A comet seen twice}, doi={10.1000/dust}}"
    )
    shape = nuncius("bib", "import", other, "--json").json
    (disputed,) = shape["disputed"]
    assert (disputed["key"], disputed["line"]) == ("own", 2)
    assert (disputed["identifier"], disputed["cite_key"]) == ("10.1000/dust", "zorn")
    assert [paper["doi"] for paper in shape["added"]] == [None]
    ran = nuncius("bib", "import", other)
    assert "line 2: own: 10.1000/dust is the identifier of another work here" in ran.err


@pytest.mark.parametrize("command", ["check", "update", "import"])
def test_what_cannot_be_read_is_a_usage_error(command: str, nuncius: Run, file: Path) -> None:
    assert nuncius("bib", command, "no-such.bib").code == 2
    assert nuncius("bib", command, file.parent).code == 2


def test_an_old_encoding_is_read_and_never_written_back(nuncius: Run, file: Path) -> None:
    raw = b"@misc{a,\n title = {Caf\xe9 &amp; more}}"
    file.write_bytes(raw)
    assert "no UTF-8 (line 2)" in nuncius("bib", "check", file, "--alone").err
    assert nuncius("bib", "import", file, "--json").json["added"][0]["title"] == "Café & more"
    ran = nuncius("bib", "update", file, "--alone", "--write")
    assert ran.code == 2
    assert "iconv" in ran.err
    assert file.read_bytes() == raw


def test_edits_made_while_services_are_asked_are_not_lost(
    nuncius: Run, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(Told):
        async def records(self, names: Sequence[str]) -> Sequence[Record | None]:
            file.write_text(FILE + "% saved by an editor\n", encoding="utf-8")
            return await super().records(names)

    def slow(_: App) -> Slow:
        return Slow()

    monkeypatch.setattr(App, "lookup", slow)
    ran = nuncius("bib", "update", file, "--write")
    assert ran.code == 2
    assert "was changed while services were asked" in ran.err
    assert file.read_text(encoding="utf-8") == FILE + "% saved by an editor\n"


def test_a_byte_order_mark_and_windows_line_ends_stay(nuncius: Run, file: Path) -> None:
    raw = b"\xef\xbb\xbf" + FILE.replace("\n", "\r\n").encode()
    file.write_bytes(raw)
    assert nuncius("bib", "update", file, "--write").code == 0
    written = file.read_bytes()
    assert written.startswith(b"\xef\xbb\xbf% mine\r\n@article{MyMoons,\r\n")
    assert b"\n" not in written.replace(b"\r\n", b"")


# --- references of papers -------------------------------------------------------------------------


def test_a_library_is_exported_in_each_format(nuncius: Run, file: Path) -> None:
    nuncius("bib", "import", file)
    entries = read(nuncius("library", "export").out).entries
    assert [entry.key for entry in entries] == ["MyMoons", "zorn"]
    assert nuncius("library", "export", "--format", "ris").out.count("ER  -") == 2
    items = json.loads(nuncius("library", "export", "--format", "csl-json").out)
    assert [item["id"] for item in items] == ["MyMoons", "zorn"]
    shape = nuncius("library", "export", "--format", "ris", "--json").json
    assert (shape["format"], shape["content"].count("TY  -")) == ("ris", 2)
    assert nuncius("library", "export", "--format", "endnote").code == 2


def test_one_paper_is_cited_in_each_format(nuncius: Run, file: Path) -> None:
    nuncius("bib", "import", file)
    assert nuncius("paper", "cite", "2212.00001").out.startswith("@ARTICLE{MyMoons,")
    assert "ID  - MyMoons" in nuncius("paper", "cite", "MyMoons", "--format", "ris").out
    shape = nuncius("paper", "cite", "MyMoons", "--format", "csl-json", "--json").json
    assert json.loads(shape["entry"])[0]["archive_location"] == "2212.00001"


# --- answers --------------------------------------------------------------------------------------


def test_an_answer_is_printed_as_latex_with_its_own_bibliography(
    nuncius: Run, filled: Path
) -> None:
    ran = nuncius("ask", QUESTION, "--as", "latex")
    assert ran.code == 0
    assert r"~\citep{Example2021}" in ran.out
    assert r"2.08 $\pm$ 0.07" in ran.out
    assert "@MISC{Example2021," in ran.out
    assert "\\bibliography{nuncius-answer}" in ran.out
    assert "[1]" not in ran.out


def test_an_answer_is_written_with_its_bib_beside_it(nuncius: Run, filled: Path) -> None:
    ran = nuncius("ask", QUESTION, "--as", "latex", "-o", "answer.tex")
    assert (ran.code, ran.out) == (0, "")
    assert r"\citep{Example2021}" in Path("answer.tex").read_text()
    assert [entry.key for entry in read(Path("answer.bib").read_text()).entries] == ["Example2021"]


@pytest.mark.parametrize(
    "options",
    [["--as", "latex", "--json"], ["-o", "a.tex"], ["--as", "latex", "-o", "a.txt"], ["--as", "x"]],
)
def test_latex_and_what_excludes_it_is_a_usage_error(
    options: list[str], nuncius: Run, filled: Path
) -> None:
    assert nuncius("ask", QUESTION, *options).code == 2
