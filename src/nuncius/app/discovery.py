"""Find tools: every module of `nuncius.tools`, and what others register under that name."""

import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, get_type_hints

import nuncius.tools
from nuncius.agent.tool import Tool

GROUP = "nuncius.tools"


def discover(provided: Sequence[object]) -> tuple[list[Tool[Any]], dict[str, str]]:
    """Return all tools, and the plug-ins that are broken with the reason.

    A module offers ``def tools(...)``; its parameters are filled from `provided` by annotation.
    """
    found: list[Tool[Any]] = []
    for module in pkgutil.iter_modules(nuncius.tools.__path__):
        if not module.name.startswith("_"):
            found.extend(_call(import_module(f"nuncius.tools.{module.name}").tools, provided))
    broken: dict[str, str] = {}
    for entry in entry_points(group=GROUP):
        try:
            found.extend(_call(entry.load(), provided))
        except Exception as error:  # noqa: BLE001  (a broken plug-in disables itself; doctor tells)
            broken[entry.name] = f"{type(error).__name__}: {error}"
    return found, broken


def _call(
    make: Callable[..., Iterable[Tool[Any]]], provided: Sequence[object]
) -> Iterator[Tool[Any]]:
    hints = get_type_hints(make)
    arguments = {
        name: next(item for item in provided if isinstance(item, hints[name]))
        for name in inspect.signature(make).parameters
    }
    yield from make(**arguments)
