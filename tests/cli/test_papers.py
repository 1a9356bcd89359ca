import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.running import NOTE, Ran, Run

PAPER = {
    "paper_id",
    "title",
    "authors",
    "year",
    "bibcode",
    "arxiv_id",
    "doi",
    "state",
    "files",
    "pages",
    "added_at",
    "journal",
    "tags",
    "notes",
}


def test_add_tells_what_became_of_each_file(nuncius: Run, note: Path) -> None:
    bad = note.with_name("empty.pdf")
    bad.write_bytes(b"")
    shape = nuncius("add", note.parent, "--json").json
    (added,) = shape["added"]
    assert added.keys() >= PAPER
    assert added["title"] == "Masses of neutron stars"
    assert added["authors"] == ["Ada Example"]
    assert added["files"][0]["path"] == str(note)
    (failed,) = shape["failed"]
    assert failed.keys() == {"what", "error_kind", "reason", "hint"}
    assert (failed["what"], failed["error_kind"]) == (str(bad), "empty")
    assert shape["updated"] == shape["unchanged"] == []


def test_add_ends_in_1_with_any_failure_and_0_without(nuncius: Run, note: Path) -> None:
    assert nuncius("add", note).code == 0
    again = nuncius("add", note)
    assert again.code == 0
    assert again.out.startswith("unchanged")
    missing = nuncius("add", note, "no-such-file.pdf")
    assert missing.code == 1
    assert "no-such-file.pdf" in missing.err
    assert missing.out.startswith("unchanged")


@pytest.mark.parametrize("name", ["", "  "])
def test_an_empty_name_is_a_usage_error_not_the_current_directory(name: str, nuncius: Run) -> None:
    assert nuncius("add", name).code == 2


def test_names_that_are_no_utf8_are_added_and_listed(nuncius: Run, home: Path) -> None:
    path = os.fsdecode(os.fsencode(Path.cwd()) + b"/caf\xe9-\xff.md")
    Path(path).write_text(NOTE, encoding="utf-8")
    ran = nuncius("add", path)
    assert ran.code == 0, ran.err
    (paper,) = nuncius("library", "list", "--json").json["papers"]
    assert paper["title"] == "Masses of neutron stars"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030", "latin-1"])
def test_odd_encodings_are_read(encoding: str, nuncius: Run, home: Path) -> None:
    text = NOTE.replace("light near", "light (\u00b1 1.5 \u00b0) near")
    path = Path.cwd() / "note.md"
    path.write_bytes(text.encode(encoding))
    assert nuncius("add", path).code == 0
    assert "2.08" in nuncius("rag", "PSR J0740+6620").out


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_directory_without_rights_is_told(nuncius: Run, home: Path) -> None:
    closed = Path.cwd() / "closed"
    closed.mkdir(mode=0)
    ran = nuncius("add", closed)
    assert ran.code == 1
    assert "closed" in ran.err


def test_rag_gives_passages_with_their_places(nuncius: Run, filled: Path) -> None:
    shape = nuncius("rag", "Shapiro delay", "-k", "1", "--json").json
    assert shape.keys() >= {"query", "passages", "degraded"}
    (passage,) = shape["passages"]
    assert passage.keys() == {
        "passage_id",
        "paper_id",
        "title",
        "text",
        "page",
        "section",
        "score",
        "legs",
    }
    assert "Shapiro" in passage["text"]
    assert "Heavy ones" in passage["section"]
    text = nuncius("rag", "Shapiro delay").out
    assert passage["passage_id"] in text
    assert "Heavy ones" in text


def test_rag_can_be_kept_to_one_paper(nuncius: Run, filled: Path) -> None:
    other = filled.with_name("other.md")
    other.write_text("# Other\n\nThe Shapiro delay was measured by radar in 1964.\n")
    nuncius("add", other)
    (paper,) = [
        p for p in nuncius("library", "list", "--json").json["papers"] if p["title"] == "Other"
    ]
    found = nuncius("rag", "Shapiro", "--paper", paper["paper_id"], "--json").json["passages"]
    assert {passage["paper_id"] for passage in found} == {paper["paper_id"]}
    assert nuncius("rag", "Shapiro", "--paper", "nosuch99").code == 1


def test_rag_says_what_the_library_never_says(nuncius: Run, filled: Path) -> None:
    ran = nuncius("rag", "zeppelin")
    assert ran.code == 0
    assert "Nothing in 1 papers" in ran.out
    assert "zeppelin" in ran.out


@pytest.mark.parametrize("query", ["", " \n", "\x00"])
def test_an_empty_query_is_a_usage_error(query: str, nuncius: Run) -> None:
    assert nuncius("rag", query).code == 2


def test_an_empty_library_says_how_to_fill_it(nuncius: Run) -> None:
    assert "nuncius add" in nuncius("library", "list").err
    assert "nuncius add" in nuncius("rag", "anything").out
    assert nuncius("library", "list", "--json").json["papers"] == []


def test_paper_show_takes_any_name_of_a_paper(nuncius: Run, filled: Path) -> None:
    (paper,) = nuncius("library", "list", "--json").json["papers"]
    by_id = nuncius("paper", "show", paper["paper_id"], "--json").json
    by_key = nuncius("paper", "show", paper["cite_key"], "--json").json
    assert by_id == by_key
    assert by_id.keys() >= PAPER
    assert str(filled) in nuncius("paper", "show", paper["paper_id"]).out


def test_paper_content_is_markdown_with_its_sections(nuncius: Run, filled: Path) -> None:
    (paper,) = nuncius("library", "list", "--json").json["papers"]
    shape = nuncius("paper", "content", paper["paper_id"], "--json").json
    assert shape.keys() >= {"paper_id", "content", "engine", "verdict", "sections"}
    assert {"path", "title", "page"} == shape["sections"][0].keys()
    assert "2.08 ± 0.07" in shape["content"]
    part = nuncius("paper", "content", paper["paper_id"], "--section", "Light ones").out
    assert "1.174" in part
    assert "2.08" not in part
    wrong = nuncius("paper", "content", paper["paper_id"], "--section", "Middle ones")
    assert wrong.code == 1
    assert "Light ones" in wrong.err


def test_remove_takes_the_paper_and_leaves_the_file(nuncius: Run, filled: Path) -> None:
    (paper,) = nuncius("library", "list", "--json").json["papers"]
    assert nuncius("paper", "remove", paper["paper_id"]).code == 0
    assert nuncius("library", "list", "--json").json["papers"] == []
    assert filled.is_file()
    gone = nuncius("paper", "show", paper["paper_id"])
    assert gone.code == 1
    assert "error: " in gone.err


def test_cite_and_export_give_bibtex(nuncius: Run, filled: Path) -> None:
    (paper,) = nuncius("library", "list", "--json").json["papers"]
    entry = nuncius("paper", "cite", paper["paper_id"]).out
    assert entry.startswith(f"@MISC{{{paper['cite_key']},\n")
    assert "author = {{Example}, Ada}" in entry
    assert nuncius("library", "export", "--format", "bibtex").out == entry
    nuncius("library", "export", "-o", "all.bib")
    assert Path("all.bib").read_text(encoding="utf-8") == entry
    assert nuncius("library", "export", "--json").json["content"] == entry


def test_export_to_a_place_that_cannot_be_written_is_told(nuncius: Run, filled: Path) -> None:
    ran = nuncius("library", "export", "-o", "no/such/dir/all.bib")
    assert ran.code == 2
    assert "cannot be written" in ran.err


def test_status_counts_and_names_what_is_wrong(nuncius: Run, filled: Path) -> None:
    bad = filled.with_name("bad.pdf")
    bad.write_bytes(b"%PDF-1.7\nnothing")
    nuncius("add", bad)
    shape = nuncius("library", "status", "--json").json
    assert shape["papers"] == 1
    assert shape["passages"] > 0
    (failure,) = shape["failures"]
    assert failure["what"] == str(bad)
    assert "bad.pdf" in nuncius("library", "status").out


def test_notes_are_listed_with_their_quotes(nuncius: Run, filled: Path) -> None:
    assert "no notes" in nuncius("notes", "list").err
    (paper,) = nuncius("library", "list", "--json").json["papers"]
    arguments = {
        "paper_id": paper["paper_id"],
        "quote": "The Shapiro delay weighs neutron stars.",
        "note": "use this",
    }
    saved = nuncius("tool", "save_note", json.dumps(arguments), "--mode", "auto")
    assert saved.code == 0, saved.err
    (note,) = nuncius("notes", "list", "--json").json["notes"]
    assert note.keys() >= {"id", "paper_id", "quote", "note", "page", "color", "created_at"}
    text = nuncius("notes", "list", "--paper", paper["paper_id"]).out
    assert arguments["quote"] in text
    assert "use this" in text


def test_a_titles_escape_sequences_do_not_reach_the_terminal(nuncius: Run, home: Path) -> None:
    path = Path.cwd() / "evil.md"
    path.write_text("# Evil \x1b]0;owned\x07 \x1b[2J title\n\nA star has 3.5 solar masses.\n")
    ran = nuncius("add", path)
    assert ran.code == 0
    assert "\x1b" not in ran.out + nuncius("library", "list").out


def test_an_interrupted_add_ends_in_130_and_leaves_a_sound_home(
    process: Callable[..., "subprocess.Popen[bytes]"], nuncius: Run, tmp_path: Path
) -> None:
    many = tmp_path / "many"
    many.mkdir()
    text = "".join(f"Star {number} has {number}.5 solar masses. " for number in range(3000))
    for number in range(60):
        (many / f"{number}.md").write_text(f"# Paper {number}\n\n{text} Paper {number}.\n")
    child = process("add", str(many), "-j", "1")
    while not nuncius("library", "list", "--json").json["papers"]:
        assert child.poll() is None
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert child.returncode == 130, out + err
    assert b"Traceback" not in err
    assert nuncius("doctor").code == 0
    before = len(nuncius("library", "list", "--json").json["papers"])
    assert 0 < before < 60
    assert nuncius("add", many).code == 0
    assert len(nuncius("library", "list", "--json").json["papers"]) == 60


def test_tags_are_hung_listed_and_taken_off(nuncius: Run, note: Path) -> None:
    added = nuncius("add", note, "--json").json["added"][0]
    assert added["tags"] == []
    ran = nuncius("paper", "tag", added["paper_id"], "--add", "to read", "--add", "NICER, radii")
    assert ran == Ran(0, "to read, NICER, radii\n", "")
    shown = nuncius(
        "paper", "tag", added["paper_id"], "--add", "nicer", "--remove", "RADII", "--json"
    )
    assert shown.json["tags"] == ["to read", "NICER"]
    assert nuncius("paper", "tag", added["paper_id"]).out == "to read, NICER\n"
    assert "[to read] [NICER]" in nuncius("library", "list").out
    assert "to read, NICER" in nuncius("paper", "show", added["paper_id"]).out
    assert "keywords = {to read, NICER}" in nuncius("library", "export").out
    long = nuncius("paper", "tag", added["paper_id"], "--add", "x" * 65)
    assert (long.code, long.out) == (2, "")
    assert "at most 64" in long.err
    assert (
        nuncius("paper", "tag", added["paper_id"], "--remove", "nicer,to read").out == "(no tags)\n"
    )


def test_the_list_is_filtered(nuncius: Run, note: Path) -> None:
    added = nuncius("add", note, "--json").json["added"][0]
    nuncius("paper", "tag", added["paper_id"], "--add", "étoiles")
    for fits in (
        ["--tag", "ÉTOILES"],
        ["--author", "example"],
        ["--state", "indexed"],
        ["--text", "NEUTRON masses"],
        ["--year", f"{added['year']}" if added["year"] else "", "--tag", "étoiles"],
    ):
        assert len(nuncius("library", "list", *fits, "--json").json["papers"]) == 1, fits
    for misses in (
        ["--tag", "stars"],
        ["--author", "nobody"],
        ["--journal", "ApJ"],
        ["--state", "failed"],
        ["--year", "1900-1901"],
    ):
        ran = nuncius("library", "list", *misses)
        assert (ran.code, ran.out) == (0, ""), misses
        assert "No paper fits" in ran.err
    assert nuncius("library", "list", "--year", "last year").code == 2
    assert nuncius("library", "list", "--state", "lost").code == 2
