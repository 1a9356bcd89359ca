"""Builds the web page into the package, where Node is at hand; without it the package works, less the page."""

import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LONGEST_S = 900


class WebPage(BuildHookInterface[Any]):
    """Runs before a wheel or an sdist is made; an editable installation has `make web`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page where it is older than what it is made of."""
        del build_data
        root = Path(self.root)
        if version == "editable" or is_current(root):
            return
        try:
            build(root)
        except (OSError, subprocess.SubprocessError) as error:
            said = getattr(error, "stderr", None) or str(error)
            self.app.display_warning(
                f"The web page could not be built, so the package comes without it: {said[-2000:]}"
            )


def is_current(root: Path) -> bool:
    """Tell whether the built page is there and newer than its sources; without sources it is."""
    made, sources = root / "src" / "nuncius" / "web" / "index.html", root / "web"
    if not (sources / "package.json").is_file():
        return True
    if not made.is_file():
        return False
    parts = [*sources.glob("*.*"), *(sources / "src").rglob("*"), *(sources / "public").rglob("*")]
    return made.stat().st_mtime >= max(one.stat().st_mtime for one in parts if one.is_file())


def build(root: Path) -> None:
    """Build the page with the Node of the system, after installing what it is made with.

    Raises:
        OSError: There is no npm.
        subprocess.SubprocessError: It failed, or took too long.
    """
    web = root / "web"
    installed, wanted = web / "node_modules" / ".package-lock.json", web / "package-lock.json"
    if not installed.is_file() or installed.stat().st_mtime < wanted.stat().st_mtime:
        _run(["npm", "ci", "--no-audit", "--no-fund"], web)
    _run(["npm", "run", "build"], web)


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(  # noqa: S603  (our own words)
        command, cwd=folder, check=True, capture_output=True, text=True, timeout=LONGEST_S
    )
