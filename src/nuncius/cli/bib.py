"""Commands on a bibliography: `bib check`, `bib update`, `bib import`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nuncius.cli import screen
from nuncius.cli.options import Json
from nuncius.cli.start import with_app

if TYPE_CHECKING:
    from nuncius.library.bib import Checked, Updated
    from nuncius.library.bib_findings import Finding
    from nuncius.library.bib_import import ImportReport

bib = typer.Typer(help="A .bib file: import, check, update.", no_args_is_help=True)

BibFile = Annotated[Path, typer.Argument(metavar="FILE", help="A file of BibTeX.")]
Alone = Annotated[
    bool, typer.Option("--alone", help="Ask no service: look at the file itself only.")
]
Journals = Annotated[
    Literal["macro", "name", "abbreviation", "stem"] | None,
    typer.Option(
        "--journals",
        help="How new journals are written; without it as the file writes its own.",
    ),
]

_LARGEST_BYTES = 64 * 1024 * 1024
_COLOURS = {
    "published_now": "green",
    "retracted": "red",
    "withdrawn": "red",
    "dead_doi": "red",
    "duplicate_key": "red",
    "unreadable": "red",
}


@bib.command()
def check(file: BibFile, alone: Alone = False, json: Json = False) -> None:
    """Name what is wrong: published preprints, wrong fields, dead DOIs, errata, retractions.

    Nothing is changed. The exit code is 1 where anything was found, 3 where no service answered.
    """
    from nuncius.library.bib import check as check_bib

    text = _read(file)
    checked = with_app(lambda app: check_bib(text, None if alone else app.lookup()))
    if json:
        screen.emit({"file": str(file), **_checked_shape(checked)})
    else:
        for finding in checked.findings:
            screen.out(finding_line(finding))
        _say_counts(checked)
    _leave_unanswered(checked)
    if checked.findings:
        raise typer.Exit(1)


@bib.command()
def update(
    file: BibFile,
    *,
    write: Annotated[
        bool, typer.Option("--write", help="Write the file; otherwise only show the changes.")
    ] = False,
    fields: Annotated[
        bool, typer.Option("--fields", help="Also replace fields that services contradict.")
    ] = False,
    journals: Journals = None,
    alone: Alone = False,
    json: Json = False,
) -> None:
    """Bring published preprints up to date and mend debris of exports; keys stay.

    Shows a diff, which `patch` understands; the file is written only with --write.
    """
    from nuncius.cli.files import write_text
    from nuncius.library.bib import update as update_bib

    text = _read(file, exact=write)
    updated = with_app(
        lambda app: update_bib(
            text,
            None if alone else app.lookup(),
            name=file.name,
            fields=fields,
            journals=journals,
        )
    )
    if write and updated.diff:
        _refuse_if_changed(file, text)
        write_text(file, updated.text)
    if json:
        screen.emit(
            {
                "file": str(file),
                **_checked_shape(updated.checked),
                "changed": list(updated.changed),
                "diff": updated.diff,
                "written": write and bool(updated.diff),
            }
        )
    else:
        _show_update(updated, file, written=write)
    _leave_unanswered(updated.checked)


def _show_update(updated: "Updated", file: Path, *, written: bool) -> None:
    if updated.diff:
        screen.out(updated.diff.rstrip("\n"))
    for finding in updated.checked.findings:
        if finding.kind not in {"debris", "published_now"}:
            screen.say(finding_line(finding))
    count = len(updated.changed)
    entries = "1 entry" if count == 1 else f"{count} entries"
    if not updated.diff:
        screen.say("Nothing is to be changed.")
    elif written:
        screen.say(f"Written: {file} ({entries} changed).")
    else:
        screen.say(f"{entries} would change; --write writes {file}.")


def _leave_unanswered(checked: "Checked") -> None:
    """Leave with 3 where services were asked and none answered."""
    unanswered = sum(finding.kind == "not_checked" for finding in checked.findings)
    if checked.asked and unanswered >= checked.asked:
        raise typer.Exit(3)


@bib.command("import")
def import_file(file: BibFile, json: Json = False) -> None:
    """Put each entry into the library as a known paper; keys stay where they are free."""
    from nuncius.cli.shapes import paper_shape
    from nuncius.library.bib_import import import_bib

    text = _read(file)
    report = with_app(lambda app: import_bib(text, app.store.papers, app.store.works))
    if not json:
        _show_import(report)
        return
    screen.emit(
        {
            "file": str(file),
            "added": [paper_shape(one) for one in report.added],
            "held": [{"key": key, "paper": paper_shape(one)} for key, one in report.held],
            "other_keys": [
                {"key": key, "paper_id": one.paper_id, "cite_key": one.cite_key}
                for key, one in report.other_keys
            ],
            "disputed": [
                {
                    "key": one.key,
                    "line": one.line,
                    "identifier": one.identifier.value,
                    "paper_id": one.holder.paper_id,
                    "cite_key": one.holder.cite_key,
                }
                for one in report.disputed
            ],
            "unreadable": [
                {"line": trouble.line, "key": trouble.key, "reason": trouble.what}
                for trouble in report.troubles
            ],
        }
    )


def _show_import(report: "ImportReport") -> None:
    from nuncius.cli.papers import paper_line

    for one in report.added:
        screen.out(f"{'added':<10} {paper_line(one)}")
    for _, one in report.held:
        screen.out(f"{'held':<10} {paper_line(one)}")
    for key, one in report.other_keys:
        screen.say(f"{key} is {one.cite_key} in the library, and is found under both keys.")
    for one in report.disputed:
        screen.say(
            f"line {one.line}: {one.key or 'an entry'}: {one.identifier.value} is the identifier of"
            f" another work here, {one.holder.short_reference} ({one.holder.cite_key}); the entry"
            " was kept without it. `nuncius bib check` asks whose it is."
        )
    for trouble in report.troubles:
        screen.say(f"line {trouble.line}: {trouble.key or 'an entry'}: {trouble.what}")
    if not report.added and not report.held:
        screen.say("The file holds no entries.")


def finding_line(finding: "Finding") -> str:
    """Return a finding in one line, as compilers do: line, kind, key, what."""
    kind = screen.paint(finding.kind, _COLOURS.get(finding.kind, "yellow"))
    parts = [f"{finding.line}: {kind} {finding.key or '(no key)'}"]
    if finding.field:
        parts.append(finding.field)
    if finding.found and finding.kind != "debris":
        parts.append(f"“{_short(finding.found)}”")
    if finding.expected:
        parts.append(f"→ “{_short(finding.expected)}”")
    if finding.note:
        parts.append(f"({finding.note})")
    if finding.source:
        parts.append(f"[{finding.source}]")
    return " ".join(parts)


def _short(text: str) -> str:
    return text if len(text) <= 100 else text[:97] + "..."


def _say_counts(checked: "Checked") -> None:
    count = len(checked.bib.entries)
    entries = "1 entry" if count == 1 else f"{count} entries"
    found = f"{len(checked.findings)} things found" if checked.findings else "nothing found"
    screen.say(f"{entries}, {checked.asked} identifiers asked for, {found}.")


def _checked_shape(checked: "Checked") -> dict[str, object]:
    from dataclasses import asdict

    return {
        "entries": len(checked.bib.entries),
        "asked": checked.asked,
        "findings": [asdict(finding) for finding in checked.findings],
    }


def _refuse_if_changed(file: Path, text: str) -> None:
    """Let nobody's edits be lost that were made while services were asked.

    Raises:
        UsageError: The file holds something else now.
    """
    from nuncius.core.errors import UsageError

    if _read(file, exact=True) != text:
        raise UsageError(
            f"{file} was changed while services were asked; nothing was written.",
            hint="Run the command again: what was told is kept for a while.",
        )


def _read(file: Path, *, exact: bool = False) -> str:
    """Return a bibliography's text.

    Args:
        exact: It will be written back, so its bytes must be known for certain.

    Raises:
        UsageError: It cannot be read, is far too large, or is no UTF-8 and must be exact.
    """
    from nuncius.core.errors import UsageError

    try:
        with file.open("rb") as stream:
            raw = stream.read(_LARGEST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{file} cannot be read: {reason}.", hint="Name a .bib file.") from error
    if len(raw) > _LARGEST_BYTES:
        raise UsageError(f"{file} is larger than 64 MB.", hint="Name a .bib file.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        if not exact:
            screen.warn(f"{file} is no UTF-8 (line {line}); it was read as Windows-1252.")
            return raw.decode("cp1252", errors="replace")
        raise UsageError(
            f"{file} is no UTF-8 (line {line}).",
            hint=f"Convert it first: iconv -f cp1252 -t utf-8 {file.name} > new.bib",
        ) from error
