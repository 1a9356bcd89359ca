"""Print what `make demo` cost: time, downloads, disk.

Sizes are read from pip's own log of the installation ("Downloading x.whl (1.2 MB)"); files that
pip had in its cache are counted apart.
"""

import re
import sys
from pathlib import Path

FACTORS = {"bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
LINE = re.compile(
    r"^\s*(Downloading|Using cached) (\S+).* \(([\d.]+) ?(bytes|kB|MB|GB)\)", re.MULTILINE
)


def totals(log: str) -> dict[str, float]:
    """Return bytes downloaded and bytes taken from the cache; each file counts once."""
    sizes: dict[str, tuple[str, float]] = {}
    for how, name, number, unit in LINE.findall(log):
        sizes.setdefault(name, (how, float(number) * FACTORS[unit]))
    found = {"Downloading": 0.0, "Using cached": 0.0}
    for how, size in sizes.values():
        found[how] += size
    return found


def main(venv: Path, seconds: str) -> None:
    found = totals((venv / "install.log").read_text(encoding="utf-8", errors="replace"))
    packages = next((venv / "lib").glob("python*/site-packages"))
    disk = sum(path.stat().st_size for path in packages.rglob("*") if path.is_file())
    print(
        f"\nFrom the clone to the first cited answer: {seconds} s. pip downloaded"
        f" {found['Downloading'] / 1e6:.1f} MB and took {found['Using cached'] / 1e6:.1f} MB from"
        f" its cache when it installed; {disk / 1e6:.0f} MB on disk in {packages}."
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
