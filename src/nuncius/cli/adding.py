"""What `nuncius add` was given: files and folders are read, names of papers are fetched."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nuncius.core.errors import UsageError
from nuncius.core.identifiers import identify
from nuncius.library.records import AddReport

if TYPE_CHECKING:
    from nuncius.app.build import App
    from nuncius.cli.progress import Progress


def is_name(word: str) -> bool:
    """Tell whether a word names a paper; a file of that name comes first."""
    if Path(word).exists():
        return False
    found = identify(word)
    return found is not None and found.kind != "url"


async def add_all(
    app: "App", what: Sequence[str], *, jobs: int, confidential: bool, progress: "Progress"
) -> AddReport:
    """Add everything that is named; the outcome of each is in the report.

    Raises:
        UsageError: A paper is to be fetched and kept confidential, which is no secret then.
    """
    names = [word for word in what if is_name(word)]
    files = [word for word in what if word not in names]
    if names and confidential:
        raise UsageError(
            f"{names[0]} would be fetched from a service, so it cannot be confidential.",
            hint="Add your own file with --confidential.",
        )
    reports: list[AddReport] = []
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

        reports.append(await downloads.add(name, report=tell))
    if names:
        progress.advance("", len(names), len(names))
    return joined(reports)


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
