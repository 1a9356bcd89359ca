from pathlib import Path

import pytest

from cli.running import Run
from nuncius.cli.demo import QUESTION


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "nuncius-demo"


def test_the_demo_goes_from_nothing_to_a_cited_answer(
    nuncius: Run, place: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_API_KEY", "must-not-be-used")
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
    ran = nuncius("demo")
    assert ran.code == 0, ran.err
    assert "added" in ran.out
    assert "[sample note]" in ran.out
    assert f"Question: {QUESTION}" in ran.out
    assert "[1] “" in ran.out
    assert "p. " in ran.out
    assert "check: " in ran.out
    assert "(quotes only, no language model)" in ran.out
    assert " MB kept in " in ran.out
    *_, first, second = ran.out.splitlines()
    assert first.endswith("add FOLDER_WITH_PAPERS")
    assert second.endswith('ask "YOUR QUESTION"')
    page = Path("answer.html").read_text(encoding="utf-8")
    assert "<mark" in page or 'class="mark' in page or "<img" in page
    assert (place / ".nuncius-demo").is_file()
    assert not home.exists()


def test_a_second_run_works_and_adds_nothing_twice(nuncius: Run, place: Path) -> None:
    first = nuncius("demo", "--json").json
    second = nuncius("demo", "--json").json
    assert len(first["added"]) >= 5
    assert (second["added"], second["failed"]) == ([], [])
    assert len(second["unchanged"]) == len(first["added"])
    assert second["answered"]
    assert second["kept_bytes"] > 10_000


def test_clean_removes_what_the_demo_made_and_nothing_else(nuncius: Run, place: Path) -> None:
    assert nuncius("demo").code == 0
    assert nuncius("demo", "--clean").code == 0
    assert not place.exists()
    assert nuncius("demo", "--clean").code == 0
    place.mkdir(parents=True)
    (place / "mine.txt").write_text("keep")
    assert nuncius("demo", "--clean").code == 2
    assert nuncius("demo").code == 2
    assert (place / "mine.txt").read_text() == "keep"


def test_the_page_goes_into_the_home_where_the_directory_is_taken(
    nuncius: Run, place: Path
) -> None:
    Path("answer.html").write_text("<p>mine</p>")
    shape = nuncius("demo", "--json").json
    assert shape["page"] == str(place / "answer.html")
    assert Path("answer.html").read_text() == "<p>mine</p>"


def test_another_place_can_be_named(nuncius: Run, tmp_path: Path, place: Path) -> None:
    assert nuncius("demo", "--home", tmp_path / "there").code == 0
    assert (tmp_path / "there" / "nuncius.db").is_file()
    assert not place.exists()
    assert nuncius("demo", "--home", tmp_path / "there", "--clean").code == 0
    assert not (tmp_path / "there").exists()


def test_a_place_of_nobody_is_refused(nuncius: Run) -> None:
    ran = nuncius("demo", "--home", "~nobody_of_this_name/x")
    assert ran.code == 1
    assert "no user ~nobody_of_this_name" in ran.err
