"""Commands on the home itself: `config`, `doctor`, `backup`, `restore`."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nuncius.cli import screen
from nuncius.cli.options import Json
from nuncius.cli.start import settings_in_force, with_app

if TYPE_CHECKING:
    from nuncius.app.doctor import Finding

config = typer.Typer(help="Settings: path, show, get, set.", no_args_is_help=True)

SettingName = Annotated[str, typer.Argument(metavar="NAME", help="Such as LLM_MODEL or llm_model.")]


@config.command("path")
def show_path(json: Json = False) -> None:
    """Print where the settings file is (or would be)."""
    from nuncius.app.config import config_path

    path = config_path()
    if json:
        screen.emit({"path": str(path), "exists": path.is_file()})
    else:
        screen.out(str(path))


@config.command("show")
def show_settings(json: Json = False) -> None:
    """Print all settings in force and where each is from; keys are never shown."""
    from nuncius.app.config import FIELDS, load_settings, shown_value

    loaded = load_settings()
    for warning in loaded.warnings:
        screen.warn(warning)
    shown = {name: shown_value(loaded.settings, name) for name in FIELDS}
    if json:
        screen.emit(
            {
                "path": str(loaded.path),
                "settings": {
                    name: {"value": value, "source": loaded.sources[name]}
                    for name, value in shown.items()
                },
                "warnings": list(loaded.warnings),
            }
        )
        return
    for name, value in shown.items():
        screen.out(f"{name:<26} {value:<40} {screen.paint(loaded.sources[name], 'dim')}")


@config.command("get")
def get_setting(name: SettingName, json: Json = False) -> None:
    """Print one setting's value; a key as stars."""
    from nuncius.app.config import canonical_name, load_settings, shown_value

    known = canonical_name(name)
    loaded = load_settings()
    value = shown_value(loaded.settings, known)
    if json:
        screen.emit({"name": known, "value": value, "source": loaded.sources[known]})
    else:
        screen.out(value)


@config.command("set")
def set_setting(
    name: SettingName,
    value: Annotated[
        str | None,
        typer.Argument(metavar="VALUE", help='"" takes it out; left out: read from stdin.'),
    ] = None,
    json: Json = False,
) -> None:
    """Write one setting into the settings file; comments stay."""
    from nuncius.app.config import canonical_name, load_settings, set_value

    known = canonical_name(name)
    path = set_value(known, _asked_for(known) if value is None else value)
    if load_settings().sources[known] in {"environment", ".env"}:
        screen.warn(f"{known} is also set in the environment, which wins.")
    if json:
        screen.emit({"name": known, "path": str(path)})
    else:
        screen.say(f"Written: {path}")


def _asked_for(name: str) -> str:
    """Read a value without showing it: what stands on a command line is kept in its history."""
    if not sys.stdin.isatty():
        return sys.stdin.readline()
    from getpass import getpass

    return getpass(f"{name}: ", stream=sys.stderr)


def doctor(json: Json = False) -> None:
    """Check this machine, home and settings.

    Each failure comes with a line that mends it; exit code 1 if something fails.
    """
    from nuncius.app.doctor import examine

    findings = asyncio.run(examine())
    failed = [finding for finding in findings if finding.state == "failed"]
    if json:
        screen.emit({"ok": not failed, "checks": [finding.shape() for finding in findings]})
    else:
        for finding in findings:
            _show_finding(finding)
    if failed:
        raise typer.Exit(1)


def _show_finding(finding: "Finding") -> None:
    style = {"ok": "cyan", "note": "yellow", "failed": "red"}[finding.state]
    screen.out(f"{screen.paint(f'{finding.state:<7}', style)}{finding.name:<12} {finding.text}")
    if finding.mend:
        screen.out(f"{'':<20}{finding.mend}")


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The copy; must not exist yet.")],
    json: Json = False,
) -> None:
    """Copy the database, even while it is used.

    The papers' own files are not in it.
    """
    with_app(lambda app: app.store.backup(file.absolute()))
    size = file.stat().st_size
    if json:
        screen.emit({"path": str(file.absolute()), "size_bytes": size})
    else:
        screen.out(f"{file}  {size} bytes")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A copy made by `backup`.")],
    json: Json = False,
) -> None:
    """Put a backup in the database's place.

    The replaced database is kept beside it.
    """
    from nuncius.app.folders import database_path
    from nuncius.store import restore_database

    target = database_path(settings_in_force())
    replaced = restore_database(file.absolute(), target)
    if json:
        screen.emit({"path": str(target), "replaced": str(replaced) if replaced else None})
        return
    screen.out(f"restored   {target}")
    if replaced:
        screen.out(f"replaced   {replaced}")
