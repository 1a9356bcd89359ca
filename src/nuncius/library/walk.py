"""From what a person names to the files that may be papers."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nuncius.core.errors import NotFoundError
from nuncius.library.records import Failure

SUFFIXES = frozenset(
    {".pdf", ".html", ".htm", ".xhtml", ".tex", ".ltx", ".md", ".markdown", ".txt", ".xml", ".nxml"}
)
"""What is taken from a folder; a file named by itself is judged by its bytes alone."""


@dataclass(frozen=True, slots=True)
class Found:
    """What was named.

    Attributes:
        files: To be looked at, each once and in order.
        roots: The files and folders that were named, as absolute paths.
        failures: What could not be found.
    """

    files: Sequence[Path]
    roots: Sequence[Path]
    failures: Sequence[Failure]


def candidates(what: Sequence[str | Path]) -> Found:
    """Find the files that are named, or that lie in the folders that are named.

    Folders are walked without hidden entries; links to folders are followed once, so that loops end.
    """
    files: dict[Path, None] = {}
    roots: list[Path] = []
    failures: list[Failure] = []
    for item in what:
        text = str(item)
        try:
            path = absolute(text)
        except NotFoundError as error:
            failures.append(Failure(text, "not_found", error.message, error.hint))
            continue
        roots.append(path)
        try:
            if path.is_dir():
                _walk(path, files, failures)
            elif path.exists():
                files[path] = None
            else:
                failures.append(_missing(text, path))
        except OSError as error:
            failures.append(Failure(text, "unreadable", error.strerror or str(error)))
    return Found(list(files), roots, failures)


def absolute(path: str | Path) -> Path:
    """Return an absolute path without ``..``; links stay, since they are how a person names it.

    Raises:
        NotFoundError: This can be no path: nothing, a NUL, the home of nobody.
    """
    text = str(path)
    if not text.strip() or "\x00" in text:
        raise NotFoundError("This is no file name.", hint="Name a file or a folder.")
    try:
        return Path(os.path.abspath(Path(text).expanduser()))  # noqa: PTH100  (resolve() follows links)
    except RuntimeError as error:
        raise NotFoundError(
            f"There is no user {text.split('/', 1)[0]}.",
            hint="Write ./ before a name that begins with ~.",
        ) from error


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
        try:
            stat = Path(where).stat()
        except OSError as error:  # it went away meanwhile
            failed(error)
            continue
        if (stat.st_dev, stat.st_ino) in visited:
            folders.clear()
            continue
        visited.add((stat.st_dev, stat.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and Path(name).suffix.lower() in SUFFIXES:
                files[Path(where) / name] = None
