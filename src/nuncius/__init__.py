"""nuncius: a research agent for astronomers that answers with verified quotes."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from nuncius.agent.tool import Tool, ToolContext, ToolOutput
    from nuncius.notebook import Agent, Library

__all__ = ["Agent", "Library", "Tool", "ToolContext", "ToolOutput", "__version__"]

_HOMES = {
    "Agent": "nuncius.notebook",
    "Library": "nuncius.notebook",
    "Tool": "nuncius.agent.tool",
    "ToolContext": "nuncius.agent.tool",
    "ToolOutput": "nuncius.agent.tool",
}


def __getattr__(name: str) -> Any:
    """Import public names when they are first used, so that `nuncius --version` stays fast."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'nuncius' has no attribute {name!r}")
