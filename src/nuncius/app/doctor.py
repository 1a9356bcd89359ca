"""Check everything that must be there; each failure comes with what mends it."""

import os
import platform
import shutil
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal
from urllib.parse import urlsplit

from nuncius import __version__
from nuncius.app.config import Loaded, load_settings, names_in_file
from nuncius.core.errors import NunciusError, SettingsError
from nuncius.core.settings import SECRET_NAMES, Settings

State = Literal["ok", "note", "failed"]

_LEAST_FREE_BYTES = 200_000_000
_ANOTHER_HOME = "Mend its permissions, or set NUNCIUS_HOME to a directory of your own."
_NAMED = 10  # unreadable files named one by one; `library status` names all


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found. `note` is worth knowing and no failure."""

    name: str
    state: State
    text: str
    mend: str = ""

    def shape(self) -> dict[str, Any]:
        """Return it for programs."""
        return {"name": self.name, "state": self.state, "text": self.text, "mend": self.mend}


async def examine() -> Sequence[Finding]:
    """Check this machine, this home and these settings, changing as little as possible."""
    try:
        loaded = load_settings()
    except SettingsError as error:
        return [_python(), Finding("settings", "failed", error.message, error.hint), _pdf()]
    found = await examine_home(loaded.settings)
    return [found[0], *_settings(loaded), *found[1:], *_keys(loaded)]


async def examine_home(settings: Settings) -> list[Finding]:
    """Check this machine and a home, whatever other settings are in force here."""
    home = _home(settings)
    opened = await _library(settings) if home.state != "failed" else []
    return [_python(), home, *opened, _sandbox(settings), _pdf(), _model(settings)]


def _python() -> Finding:
    text = f"Python {platform.python_version()} on {platform.system()}, nuncius {__version__}"
    if sys.version_info < (3, 11):  # noqa: UP036  (a forced installation can be anything)
        return Finding("python", "failed", text, "Install Python 3.11 or newer.")
    return Finding("python", "ok", text)


def _settings(loaded: Loaded) -> list[Finding]:
    there = loaded.path.is_file()
    findings = [
        Finding("settings", "ok", str(loaded.path) if there else f"no {loaded.path}; that is fine")
    ]
    findings += [Finding("settings", "note", warning) for warning in loaded.warnings]
    if there and SECRET_NAMES & names_in_file(loaded.path):
        mode = stat.S_IMODE(loaded.path.stat().st_mode)
        if mode & 0o077:
            text = f"{loaded.path} holds a key and others may read it (mode {mode:o})."
            findings.append(Finding("settings", "note", text, f"chmod 600 {loaded.path}"))
    return findings


def _home(settings: Settings) -> Finding:
    home = settings.home
    existing = next(place for place in (home, *home.parents) if os.path.exists(place))  # noqa: PTH110  (Path raises where it may not look)
    if not existing.is_dir():
        return Finding("home", "failed", f"{existing} is no directory.", _ANOTHER_HOME)
    if not os.access(existing, os.W_OK | os.X_OK):
        return Finding("home", "failed", f"{existing} cannot be written.", _ANOTHER_HOME)
    free = shutil.disk_usage(existing).free
    text = f"{home}, {free / 1e9:.1f} GB free"
    if free < _LEAST_FREE_BYTES:
        return Finding(
            "home", "failed", text, "Free some space, or set NUNCIUS_HOME to another disk."
        )
    return Finding("home", "ok", text)


async def _library(settings: Settings) -> list[Finding]:
    """Open the home and look at the database, the files and the plug-ins."""
    from nuncius.app.build import open_app
    from nuncius.app.services_check import look_at

    try:
        async with open_app(settings) as app:
            wrong = await app.store.check()
            status = await app.library.status()
            broken = app.broken_plugins()
            tools = [tool.name for tool in app.tools()]
            services = await look_at(app.services)
    except NunciusError as error:
        return [Finding("database", "failed", error.message, error.hint)]
    findings = [_search_engine()]
    if wrong:
        mend = "Restore a backup (`nuncius restore FILE`), or add the papers again in a new home."
        findings += [Finding("database", "failed", text, mend) for text in wrong]
    else:
        text = f"sound: {status.papers} papers, {status.passages} passages"
        findings.append(Finding("database", "ok", text))
    for failure in status.failures[:_NAMED]:
        findings.append(Finding("files", "note", f"{failure.what}: {failure.reason}", failure.hint))
    if len(status.failures) > _NAMED:
        text = f"{len(status.failures)} files could not be read in all."
        findings.append(Finding("files", "note", text, "`nuncius library status` names them."))
    if status.vanished:
        text = f"{len(status.vanished)} files are gone; their text is kept."
        findings.append(Finding("files", "note", text, "`nuncius library status` names them."))
    findings.append(Finding("tools", "ok", f"{len(tools)} tools"))
    findings += _hooks(settings, tools)
    findings += services
    for name, reason in broken.items():
        mend = f"Mend or uninstall the package that brings '{name}'; all else works without it."
        findings.append(Finding("plug-in", "failed", f"{name}: {reason}", mend))
    return findings


def _hooks(settings: Settings, tools: Sequence[str]) -> list[Finding]:
    from nuncius.app.hooks import useless_hooks

    if not settings.hooks:
        return []
    count = len(settings.hooks)
    useless = useless_hooks(settings, tools, os.environ)
    found = [Finding("hooks", "ok", f"{count} hook{'s' * (count > 1)}")] if not useless else []
    mend = "Mend the [[hooks]] in config.toml."
    return found + [Finding("hooks", "failed", text, mend) for text in useless]


def _search_engine() -> Finding:
    # The home's database was just opened, and its full-text index asked: FTS5 is there.
    from importlib.metadata import version

    release = ".".join(version("apsw").split(".")[:3])
    return Finding("sqlite", "ok", f"SQLite {release} with FTS5, brought by apsw")


def _sandbox(settings: Settings) -> Finding:
    from nuncius.walls.spawn import sandbox_status

    if settings.sandbox == "off":
        return Finding(
            "sandbox",
            "note",
            "NUNCIUS_SANDBOX is off: run_bash runs commands with all your rights.",
            "nuncius config set NUNCIUS_SANDBOX auto",
        )
    status = sandbox_status()
    if status.startswith("bubblewrap works"):
        return Finding("sandbox", "ok", status)
    mend = "Install it with your system's package manager, such as: apt-get install bubblewrap"
    return Finding("sandbox", "note", status, mend)


def _pdf() -> Finding:
    """Draw a page, which takes the whole engine."""
    from importlib.metadata import version

    from nuncius.parsing.render import render_page

    sample = resources.files("nuncius.notes").joinpath("pulsar-timing.pdf")
    try:
        page = render_page(sample.read_bytes(), 1)
    except (NunciusError, OSError, ImportError) as error:
        mend = "Install nuncius anew: pip install --force-reinstall nuncius pypdfium2"
        return Finding("pdf", "failed", f"no page could be drawn: {error}", mend)
    size = f"{page.width_px} x {page.height_px} pixels"
    return Finding("pdf", "ok", f"pypdfium2 {version('pypdfium2')} drew a page ({size})")


def _model(settings: Settings) -> Finding:
    """Tell which model answers and what leaves this machine for which host."""
    if settings.provider == "builtin":
        text = "builtin: quotes only, no language model; nothing leaves this machine"
        return Finding("model", "ok", text)
    host = urlsplit(settings.llm_url).netloc.rpartition("@")[2]
    sent = f"{host} receives your questions and the passages that are read for them"
    if not settings.llm_model:
        mend = "nuncius config set llm_model NAME"
        return Finding("model", "failed", f"no model is named; {sent}", mend)
    if settings.offline:
        mend = "Unset NUNCIUS_OFFLINE, or ask with `--model builtin`."
        return Finding("model", "note", f"{settings.llm_model} is out of reach: offline", mend)
    return Finding("model", "ok", f"{settings.llm_model}; {sent}")


def _keys(loaded: Loaded) -> list[Finding]:
    """Tell which keys are set and where from, never a letter of them."""
    settings = loaded.settings
    if settings.llm_api_key:
        return [Finding("keys", "ok", f"LLM_API_KEY is set ({loaded.sources['LLM_API_KEY']})")]
    if settings.provider == "builtin":
        return [Finding("keys", "ok", "none is set and none is needed")]
    if settings.llm_base_url:
        return [
            Finding("keys", "note", "LLM_API_KEY is not set; a server of your own may not ask.")
        ]
    mend = "nuncius config set LLM_API_KEY"
    return [Finding("keys", "failed", "LLM_API_KEY is not set and the server asks for it", mend)]
