"""The reference is what the code makes, and links in the documentation lead somewhere."""

import importlib.util
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import get_args
from urllib.parse import unquote

import pytest

from nuncius.app.config import FIELDS
from nuncius.core import errors, events

PROJECT = Path(__file__).resolve().parents[2]
DOCS = PROJECT / "docs"
REFERENCE = DOCS / "reference"
PAGES = sorted([*DOCS.rglob("*.md"), *PROJECT.glob("README*.md")])

_CODE = re.compile(
    r"^(`{3,}|~{3,}).*?^\1[`~]*$|(`+)(?!`).+?(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE
)
_LINK = re.compile(
    r"\[[^\]]*\]\(\s*<?([^)\s>]+)|^\[[^\]]+\]:\s*(\S+)|\b(?:src|href|srcset)=\"([^\"]+)\"",
    re.MULTILINE,
)
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "make_reference", PROJECT / "scripts" / "make_reference.py"
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(PROJECT / "scripts"))  # as Python does for a script
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module


@pytest.fixture(scope="module")
def made(script: ModuleType) -> dict[str, str]:
    return script.pages()


def test_the_reference_is_what_the_code_makes(script: ModuleType, made: dict[str, str]) -> None:
    assert "\n".join(script.differences(REFERENCE, made)) == "", "run `make docs`"
    assert {path.name for path in REFERENCE.iterdir()} == set(made)


def test_pages_are_made_the_same_twice(script: ModuleType, made: dict[str, str]) -> None:
    assert script.pages() == made


def test_nothing_of_this_machine_gets_into_a_page(made: dict[str, str]) -> None:
    for place in (Path.home(), PROJECT, Path(tempfile.gettempdir())):
        assert not [name for name, text in made.items() if f"{place}/" in text]


def test_the_pages_tell_of_everything(made: dict[str, str]) -> None:
    kinds = {kind.model_fields["type"].default for kind in get_args(get_args(events.Event)[0])}
    assert kinds <= set(_HEADING.findall(made["events.md"]))
    assert all(f"- `{kind}`" in made["events.md"] for kind in get_args(errors.ErrorKind))
    assert all(f"| `{name}` |" in made["settings.md"] for name in FIELDS)
    assert all(f"`{name}`" in made["errors.md"] for name in vars(errors) if name.endswith("Error"))


def test_meanings_come_from_docstrings_and_comments(made: dict[str, str]) -> None:
    assert "| `rule` | string | required | The rule that" in made["events.md"]
    assert "| `offline` |" not in made["settings.md"]
    assert "`NUNCIUS_OFFLINE` | boolean | `false` | No request leaves" in made["settings.md"]
    assert re.search(r"`raw_json` .* the provider's own form", made["tables.md"])


def test_what_depends_on_the_machine_stays_a_formula(made: dict[str, str]) -> None:
    assert "`min(4, os.cpu_count() or 1)`" in made["commands.md"]


@pytest.mark.parametrize("change", ["edit", "remove"])
def test_a_page_that_differs_is_shown_and_ends_with_1(
    change: str,
    script: ModuleType,
    made: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "reference"
    folder.mkdir()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(script, "FOLDER", folder)
    monkeypatch.setattr(script, "pages", lambda: made)
    monkeypatch.setattr(sys, "argv", ["make_reference.py", "--check"])
    assert script.main() == 0
    page = folder / "errors.md"
    if change == "edit":
        page.write_text(made["errors.md"].replace("# Errors", "# Mistakes", 1), encoding="utf-8")
    else:
        page.unlink()
    capsys.readouterr()
    assert script.main() == 1
    shown = capsys.readouterr().out
    assert "--- docs/reference/errors.md" in shown
    assert "+# Errors" in shown
    monkeypatch.setattr(sys, "argv", ["make_reference.py"])
    assert script.main() == 0
    assert page.read_text(encoding="utf-8") == made["errors.md"]


# --- links ----------------------------------------------------------------------------------------


def dead_links(page: Path) -> Iterator[str]:
    """Yield links of a page to files or headings that are not there."""
    text = page.read_text(encoding="utf-8")
    for match in _LINK.finditer(_CODE.sub("", text)):
        link = match[1] or match[2] or match[3]
        if re.match(r"[a-z][a-z0-9+.-]*:|//", link, re.IGNORECASE):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and not _has_heading(target, anchor)):
            yield link


def _has_heading(page: Path, anchor: str) -> bool:
    if page.suffix != ".md":
        return True  # a line of a source file
    text = page.read_text(encoding="utf-8")
    return anchor in _anchors(text) or f'id="{anchor}"' in text


def _anchors(text: str) -> set[str]:
    """Return the anchors that GitHub gives to headings."""
    found: set[str] = set()
    fenced = re.compile(r"^(`{3,}|~{3,}).*?^\1[`~]*$", re.DOTALL | re.MULTILINE)
    for heading in _HEADING.findall(fenced.sub("", text)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        copies = (f"{slug}-{number}" for number in range(1, 1000))
        found.add(slug if slug not in found else next(one for one in copies if one not in found))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    assert list(dead_links(page)) == []


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# One\n\n## A `b.c` d\n\n## One\n")
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n[a](other.md) [`b`](other.md#a-bc-d) [c](#page) [d](other.md#one-1)\n"
        "[e](https://example.org/x.md) `[f](code.md)`\n```\n[g](fenced.md)\n```\n"
        '[h](gone.md) [i](other.md#two) [j](#nowhere)\n<img src="gone.svg">\n[k]: gone/k.md\n'
    )
    gone = ["gone.md", "other.md#two", "#nowhere", "gone.svg", "gone/k.md"]
    assert list(dead_links(page)) == gone


def test_the_reference_is_linked_from_the_first_page() -> None:
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    assert all(f"](reference/{path.name})" in text for path in REFERENCE.iterdir())
