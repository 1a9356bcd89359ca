"""`demo`: from nothing to a cited answer, in a home of its own, without key and network."""

import shutil
import sys
import time
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nuncius.cli import screen
from nuncius.cli.options import Json

if TYPE_CHECKING:
    from nuncius.agent.runtime import TurnResult
    from nuncius.app.build import App
    from nuncius.core.settings import Settings
    from nuncius.library.records import AddReport

QUESTION = "What is the mass of PSR J0740+6620?"
LABEL = "sample note"
_MARKER = ".nuncius-demo"
_MARKER_TEXT = "Made by `nuncius demo`; `nuncius demo --clean` removes this directory.\n"
_NOTE_ENDINGS = (".md", ".html", ".pdf")


def demo(
    clean: Annotated[bool, typer.Option("--clean", help="Remove the demo's home.")] = False,
    home: Annotated[
        Path | None, typer.Option("--home", metavar="DIR", help="Keep it in this directory.")
    ] = None,
    json: Json = False,
) -> None:
    """See it work on sample notes, without a key.

    It has a home of its own, which it keeps: nothing of yours is touched.
    """
    from nuncius.cli.start import with_app
    from nuncius.library.walk import absolute

    place = absolute(home or _default_place())
    if clean:
        _clean(place, json=json)
        return
    begun = time.monotonic()
    notes = _lay_out(place)
    settings = _settings(place)

    async def work(app: "App") -> tuple["AddReport", "TurnResult", str]:
        from nuncius.cli.progress import Progress
        from nuncius.cli.turn import Turn

        with Progress("Reading") as progress:
            report = await app.library.add([notes], label=LABEL, progress=progress.advance)
        session = await app.session()
        result = await Turn(app, session.id).run(QUESTION)
        page = await app.library.answer_page(QUESTION, result.answer) if result.answer else ""
        return report, result, page

    report, result, page = with_app(work, settings)
    written = _write_page(page, place)
    seconds = time.monotonic() - begun
    if json:
        _emit(place, report, result, written, seconds)
    else:
        _show(place, report, result, written, seconds)
    if report.failed or not (result.answer and result.answer.answered):
        raise typer.Exit(1)


def _default_place() -> Path:
    from platformdirs import user_data_path

    return user_data_path("nuncius-demo", appauthor=False)


def _settings(place: Path) -> "Settings":
    """Return settings that know nothing of the user's own: no key, no file, no network."""
    from nuncius.app.config import load_settings

    alone = {"NUNCIUS_HOME": str(place), "LLM_PROVIDER": "builtin", "NUNCIUS_OFFLINE": "1"}
    return load_settings(alone, directory=place).settings


def _lay_out(place: Path) -> Path:
    """Make the home and put the sample notes into it; return the notes' folder.

    Raises:
        UsageError: The directory is somebody else's, or cannot be written.
    """
    from nuncius.core.errors import UsageError

    marker = place / _MARKER
    notes = place / "notes"
    try:
        if place.exists() and not marker.is_file() and any(place.iterdir()):
            raise UsageError(
                f"{place} is not empty and was not made by `nuncius demo`.",
                hint="Name another directory with --home.",
            )
        notes.mkdir(mode=0o700, parents=True, exist_ok=True)
        marker.write_text(_MARKER_TEXT, encoding="utf-8")
        for note in resources.files("nuncius.notes").iterdir():
            if note.name.endswith(_NOTE_ENDINGS):
                _copy(note.read_bytes(), notes / note.name)
    except OSError as error:
        raise UsageError(
            f"{place} cannot be used: {error.strerror}.", hint="Name another one with --home."
        ) from error
    return notes


def _copy(content: bytes, target: Path) -> None:
    if not target.is_file() or target.read_bytes() != content:
        target.write_bytes(content)


def _clean(place: Path, *, json: bool) -> None:
    from nuncius.core.errors import UsageError

    there = place.exists()
    if there and not (place / _MARKER).is_file():
        raise UsageError(
            f"{place} was not made by `nuncius demo`; nothing was removed.",
            hint="Remove it yourself if you are sure.",
        )
    if there:
        try:
            shutil.rmtree(place)
        except OSError as error:
            raise UsageError(f"{place} cannot be removed: {error.strerror}.") from error
    if json:
        screen.emit({"removed": str(place) if there else None})
    else:
        screen.out(f"removed    {place}" if there else f"There is no {place}.")


def _write_page(page: str, place: Path) -> Path | None:
    """Write `answer.html` to the current directory, or into the demo's home if that is refused."""
    from nuncius.cli.files import write_text
    from nuncius.core.errors import UsageError

    if not page:
        return None
    for folder in (Path.cwd(), place):
        path = folder / "answer.html"
        if path.exists() and not _is_ours(path):
            continue
        try:
            write_text(path, page)
        except UsageError:
            continue
        return path
    return None


def _is_ours(path: Path) -> bool:
    """Tell whether an `answer.html` was written by nuncius: somebody else's is not replaced."""
    try:
        return "nuncius" in path.read_text(encoding="utf-8", errors="replace")[:4000]
    except OSError:
        return False


def _kept_bytes(place: Path) -> int:
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


def _show(
    place: Path, report: "AddReport", result: "TurnResult", written: Path | None, seconds: float
) -> None:
    from nuncius.cli.papers import show_report
    from nuncius.cli.turn import show_outcome

    show_report(report)
    screen.out()
    screen.out(f"{screen.paint('Question:', 'bold')} {QUESTION}")
    screen.out()
    show_outcome(result)
    screen.out()
    if written:
        screen.out(f"The answer as a page: {written}")
    screen.out(
        f"{seconds:.1f} s from the empty home to the answer;"
        f" {_kept_bytes(place) / 1e6:.1f} MB kept in {place} (`demo --clean` removes it)."
    )
    screen.out("Next, with papers of your own:")
    command = _typed_as()
    screen.out(f"  {command} add FOLDER_WITH_PAPERS")
    screen.out(f'  {command} ask "YOUR QUESTION"')


def _typed_as() -> str:
    """Return how this command can be typed again."""
    if shutil.which("nuncius"):
        return "nuncius"
    path = Path(sys.argv[0])
    if path.name != "nuncius":
        return f"{sys.executable} -m nuncius"
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _emit(
    place: Path, report: "AddReport", result: "TurnResult", written: Path | None, seconds: float
) -> None:
    from nuncius.cli.shapes import failure_shape, paper_shape

    answer = result.answer.model_dump(mode="json") if result.answer else {}
    screen.emit(
        {
            "home": str(place),
            "added": [paper_shape(paper) for paper in report.added],
            "updated": [paper_shape(paper) for paper in report.updated],
            "unchanged": [paper_shape(paper) for paper in report.unchanged],
            "failed": [failure_shape(failure) for failure in report.failed],
            "question": QUESTION,
            "status": result.status,
            "answered": answer.get("answered", False),
            "answer": answer.get("text", ""),
            "citations": answer.get("citations", []),
            "degraded": answer.get("degraded", []),
            "page": str(written) if written else None,
            "seconds": round(seconds, 2),
            "kept_bytes": _kept_bytes(place),
        }
    )
