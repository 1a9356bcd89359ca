"""The page of known faults names tests that exist, and has a row for each fault of the list."""

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGE = (PROJECT / "docs" / "explain" / "known-bugs.md").read_text(encoding="utf-8")

_ROW = re.compile(r"^\| (B\d+) \| (.+) \| (.+) \|$", re.MULTILINE)
_NAMED = re.compile(r"`(tests/[\w/]+\.py)` \(([^)]*)\)")
_KINDS = ("test: ", "cannot occur: ", "mechanism not built yet: ")


def test_each_test_that_is_named_exists() -> None:
    named = _NAMED.findall(PAGE)
    assert len(named) > 50
    missing: list[str] = []
    for file, names in named:
        path = PROJECT / file
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        missing += [
            f"{file}::{name}"
            for name in re.findall(r"`(\w+)`", names)
            if not re.search(rf"^\s*(async )?def {name}\(", text, re.MULTILINE)
        ]
    assert missing == []


def test_each_row_is_one_of_three_kinds_and_names_its_test() -> None:
    for fault, _, here in _ROW.findall(PAGE):
        assert here.startswith(_KINDS), fault
        assert bool(_NAMED.search(here)) or not here.startswith("test: "), fault


def test_each_fault_of_the_list_has_one_row(shared_data: Path) -> None:
    lines = (shared_data.parent / "bugs" / "harness.tsv").read_text(encoding="utf-8").splitlines()
    listed = [line.split("\t")[0] for line in lines[1:] if line.strip()]
    assert listed == [fault for fault, _, _ in _ROW.findall(PAGE)]
