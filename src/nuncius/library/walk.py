"""From what a person names to the files that may be papers."""

import os
from collections.abc import Sequence
from pathlib import Path

from nuncius.library.records import Failure

SUFFIXES = frozenset(
    {".pdf", ".html", ".htm", ".xhtml", ".tex", ".ltx", ".md", ".markdown", ".txt", ".xml", ".nxml"}
)
"""What is taken from a folder; a file named by itself is judged by its bytes alone."""


def candidates(what: Sequence[str | Path]) -> tuple[list[Path], list[Failure]]:
    """Return the files to look at, each once and in order, and what could not be found.

    Folders are walked without hidden entries; links to folders are followed once, so that loops end.
    """
    files: dict[Path, None] = {}
    failures: list[Failure] = []
    for item in what:
        text = str(item)
        if not text.strip() or "\x00" in text:
            failures.append(
                Failure(text, "not_found", "This is no file name.", "Name a file or a folder.")
            )
            continue
        path = absolute(text)
        try:
            if path.is_dir():
                _walk(path, files, failures)
            elif path.exists():
                files[path] = None
            else:
                failures.append(_missing(text, path))
        except OSError as error:
            failures.append(Failure(text, "unreadable", error.strerror or str(error)))
    return list(files), failures


def absolute(path: str | Path) -> Path:
    """Return an absolute path without ``..``; links stay, since they are how a person names it."""
    return Path(os.path.abspath(Path(path).expanduser()))  # noqa: PTH100  (resolve() follows links)


def _missing(text: str, path: Path) -> Failure:
    parent = next((p for p in path.parents if p.is_dir()), None)
    if parent is None or parent == path.parent:
        hint = "Check the spelling and the current directory."
    else:
        hint = f"'{parent}' exists, '{path.relative_to(parent).parts[0]}' in it does not."
    return Failure(text, "not_found", "There is no such file or folder.", hint)


def _walk(folder: Path, files: dict[Path, None], failures: list[Failure]) -> None:
    visited: set[tuple[int, int]] = set()

    def failed(error: OSError) -> None:
        where = str(error.filename)
        failures.append(
            Failure(
                where,
                "unreadable",
                f"The folder cannot be read: {error.strerror}.",
                f"Try: chmod u+rx '{where}'",
            )
        )

    for where, folders, names in os.walk(folder, onerror=failed, followlinks=True):
        stat = Path(where).stat()
        if (stat.st_dev, stat.st_ino) in visited:
            folders.clear()
            continue
        visited.add((stat.st_dev, stat.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and Path(name).suffix.lower() in SUFFIXES:
                files[Path(where) / name] = None
