"""What a page names in the project is there."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PAGES = sorted((PROJECT / "docs").rglob("*.md"))
_NAMED = re.compile(r"`((?:tests|src|bench|scripts|docs)/[\w./-]+\.(?:py|md|toml|sql))`")
_CODE = re.compile(r"`((?:core|walls|store|parsing|llm|library|agent|tools|app|cli|mcp)/\w+\.py)`")


@pytest.mark.parametrize("page", PAGES, ids=[str(p.relative_to(PROJECT)) for p in PAGES])
def test_each_file_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = [PROJECT / name for name in _NAMED.findall(text)]
    named += [PROJECT / "src" / "nuncius" / name for name in _CODE.findall(text)]
    assert [path for path in named if not path.is_file()] == []
