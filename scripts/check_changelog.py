"""Refuse a tree whose changes no changelog fragment tells of."""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
NAME = re.compile(r"(?:\d+|\+[\w-]+)\.(?:feature|bugfix|doc|removal|misc)(?:\.\d+)?\.md")


def faults(project: Path) -> list[str]:
    """Return what is wrong with `changelog.d`; empty where all is well."""
    fragments = sorted(path for path in (project / "changelog.d").iterdir() if path.name[0] != ".")
    wrong = [
        f"{path.name} is named unlike 12.feature.md"
        for path in fragments
        if not NAME.fullmatch(path.name)
    ]
    wrong += [f"{path.name} is empty" for path in fragments if not path.read_text("utf-8").strip()]
    source = (project / "src/nuncius/__init__.py").read_text("utf-8")
    version = source.split('__version__ = "', 1)[1].split('"', 1)[0]
    if not fragments and f"nuncius {version}" not in (project / "CHANGELOG.md").read_text("utf-8"):
        wrong.append(f"no fragment and no section for {version} in CHANGELOG.md")
    return wrong


if __name__ == "__main__":
    found = faults(PROJECT)
    for fault in found:
        print(f"changelog.d: {fault}. See CONTRIBUTING.md.", file=sys.stderr)
    sys.exit(1 if found else 0)
