"""What `nuncius add` was given: files and folders are read, names of papers are fetched."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nuncius.core.errors import NotFoundError, UsageError
from nuncius.core.identifiers import identify
from nuncius.library.records import AddReport, Failure

if TYPE_CHECKING:
    from nuncius.app.build import App
    from nuncius.cli.progress import Progress


_ADDRESS = re.compile(r"https?://", re.IGNORECASE)


async def _kinds(app: "App", what: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Return files, names of papers and web addresses that name none; a file comes first.

    What the library knows under a key or an id of its own is a name too.
    """
    files: list[str] = []
    names: list[str] = []
    addresses: list[str] = []
    there = await asyncio.to_thread(lambda: [Path(word).exists() for word in what])
    for word, is_file in zip(what, there, strict=True):
        found = None if is_file else identify(word)
        if found and found.kind != "url":
            names.append(word)
        elif _ADDRESS.match(word):
            addresses.append(word)
        elif not is_file and await _is_held(app, word):
            names.append(word)
        else:
            files.append(word)
    return files, names, addresses


async def _is_held(app: "App", word: str) -> bool:
    try:
        await app.store.papers.find(word)
    except NotFoundError:
        return False
    return True


async def add_all(
    app: "App",
    what: Sequence[str],
    *,
    jobs: int,
    confidential: bool,
    force: bool,
    progress: "Progress",
) -> AddReport:
    """Add everything that is named; the outcome of each is in the report.

    Args:
        force: Papers that are named are fetched again, though they are there.

    Raises:
        UsageError: A paper is to be fetched and kept confidential, which is no secret then.
    """
    files, names, addresses = await _kinds(app, what)
    if names and confidential:
        raise UsageError(
            f"{names[0]} would be fetched from a service, so it cannot be confidential.",
            hint="Add your own file with --confidential.",
        )
    reports = [AddReport(failed=[_no_paper(address) for address in addresses])]
    if files:
        reports.append(
            await app.library.add(
                files, jobs=jobs, confidential=confidential, progress=progress.advance
            )
        )
    downloads = app.downloads()
    for at, name in enumerate(names):

        def tell(text: str, _fraction: float | None, at: int = at, name: str = name) -> None:
            progress.advance(f"{name}: {text}", at, len(names))

        reports.append(await downloads.add(name, force=force, report=tell))
    if names:
        progress.advance("", len(names), len(names))
    return joined(reports)


def _no_paper(address: str) -> Failure:
    return Failure(
        address,
        "not_found",
        "It is the address of no paper that is known by it.",
        "Give the paper's arXiv id, DOI or bibcode; or save it in your browser and add the file.",
    )


def joined(reports: Sequence[AddReport]) -> AddReport:
    """Return several reports as one."""
    return AddReport(
        added=[paper for report in reports for paper in report.added],
        updated=[paper for report in reports for paper in report.updated],
        unchanged=[paper for report in reports for paper in report.unchanged],
        failed=[failure for report in reports for failure in report.failed],
        duplicates=[pair for report in reports for pair in report.duplicates],
        vanished=[path for report in reports for path in report.vanished],
    )
