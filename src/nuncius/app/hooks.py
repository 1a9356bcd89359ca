"""The user's ``[[hooks]]``: read from `config.toml`, never from a project, and made ready to run."""

import os
import shutil
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from nuncius.core.errors import SettingsError
from nuncius.core.settings import HookSetting, Settings
from nuncius.core.shapes import is_list, is_object

if TYPE_CHECKING:
    from nuncius.agent.hooks import Hook

_EXAMPLE = (
    'A hook looks like: [[hooks]] event = "PreToolUse", match = "file_write", command ='
    ' ["/home/me/bin/check"], timeout_s = 30, fail = "closed".'
)


def hook_settings(value: Any, path: Path) -> tuple[HookSetting, ...]:
    """Return the hooks of a parsed `config.toml`; none where `value` is None.

    Raises:
        SettingsError: One of them makes no sense. A hook that guards something must not be passed
            over because of a typing error, so nothing runs until it is mended.
    """
    if value is None:
        return ()
    if not is_list(value):
        raise SettingsError(f"{path}: 'hooks' is no list of tables.", hint=_EXAMPLE)
    return tuple(_hook(entry, number, path) for number, entry in enumerate(value, 1))


def _hook(entry: Any, number: int, path: Path) -> HookSetting:
    if not is_object(entry):
        raise SettingsError(f"{path}: hook {number} is no table.", hint=_EXAMPLE)
    try:
        hook = HookSetting.model_validate(entry)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise SettingsError(
            f"{path}: hook {number}, '{where}': {first['msg']}.", hint=_EXAMPLE
        ) from error
    return hook.model_copy(update={"command": _words(hook.command, path.parent)})


def _words(command: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """Return the command with ``~/`` written out and a relative program beside `config.toml`."""
    program, *rest = (_at_home(word) for word in command)
    if "/" in program:
        program = os.path.normpath(folder / program)
    return (program, *rest)


def _at_home(word: str) -> str:
    return str(Path(word).expanduser()) if word.startswith("~/") else word


def command_hooks(settings: Settings, environment: Mapping[str, str]) -> "list[Hook]":
    """Return the hooks of these settings, ready to run.

    They run in the data directory, which no agent can write to, and are told where the project and
    the library are.
    """
    if not settings.hooks:
        return []
    from nuncius.agent.command_hooks import CommandHook, bare_environment

    variables = bare_environment(environment) | {
        "NUNCIUS_PROJECT_DIR": str(settings.project_dir),
        "NUNCIUS_LIBRARY_DIR": str(settings.library_dir),
    }
    return [
        CommandHook(
            hook.event,
            hook.command,
            environment=variables,
            folder=settings.home,
            match=hook.match,
            timeout_s=hook.timeout_s,
            fail=hook.fail,
        )
        for hook in settings.hooks
    ]


def useless_hooks(
    settings: Settings, tools: Iterable[str], environment: Mapping[str, str]
) -> list[str]:
    """Return which hooks guard nothing: their program is not there, or no tool has that name."""
    names = list(tools)
    faults: list[str] = []
    for hook in settings.hooks:
        program = hook.command[0]
        if shutil.which(program, path=environment.get("PATH", "")) is None:
            faults.append(f"The program {program} of a {hook.event} hook is not there.")
        if not any(fnmatchcase(name, hook.match) for name in names):
            faults.append(f"A {hook.event} hook is for '{hook.match}', and no tool has that name.")
    return faults
