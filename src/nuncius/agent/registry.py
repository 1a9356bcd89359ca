"""Which tools a model is offered, by kit."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

from nuncius.agent.tool import Kit, Tool
from nuncius.core.errors import SettingsError
from nuncius.core.messages import ToolDefinition

AnyTool = Tool[Any]


class ToolRegistry:
    """Tools by name, always in the order of their names: the prompt's prefix stays byte-equal."""

    def __init__(self, tools: Iterable[AnyTool] = ()) -> None:
        self._tools: dict[str, AnyTool] = {}
        self._definitions: tuple[ToolDefinition, ...] | None = None
        for tool in tools:
            self.add(tool)

    @classmethod
    def empty(cls) -> Self:
        """Return a registry without tools, for an agent that is given few."""
        return cls()

    @classmethod
    def standard(cls, tools: Iterable[AnyTool]) -> Self:
        """Return the standard kit of `tools`."""
        return cls._of_kits(tools, "standard")

    @classmethod
    def with_background(cls, tools: Iterable[AnyTool]) -> Self:
        """Return the standard and background kits of `tools`."""
        return cls._of_kits(tools, "standard", "background")

    @classmethod
    def with_team(cls, tools: Iterable[AnyTool]) -> Self:
        """Return all three kits of `tools`."""
        return cls._of_kits(tools, "standard", "background", "team")

    @classmethod
    def _of_kits(cls, tools: Iterable[AnyTool], *kits: Kit) -> Self:
        return cls(tool for tool in tools if tool.kit in kits)

    def add(self, tool: AnyTool) -> None:
        """Add one tool.

        Raises:
            SettingsError: Its name is taken; `replace` is for that.
        """
        if tool.name in self._tools:
            raise SettingsError(
                f"Two tools have the name {tool.name!r}.",
                hint="Give one of them another name, or use `replace`.",
            )
        self.replace(tool)

    def replace(self, tool: AnyTool) -> None:
        """Add one tool, in place of the one that has its name."""
        self._tools[tool.name] = tool
        self._definitions = None

    def get(self, name: str) -> AnyTool | None:
        """Return the tool with exactly this name, or None."""
        return self._tools.get(name)

    def names(self) -> Sequence[str]:
        """Return all names, sorted."""
        return sorted(self._tools)

    def definitions(self) -> Sequence[ToolDefinition]:
        """Return what the model is told, sorted by name; the same objects until a tool changes."""
        if self._definitions is None:
            self._definitions = tuple(self._tools[name].definition() for name in self.names())
        return self._definitions

    def __iter__(self) -> Iterator[AnyTool]:
        return (self._tools[name] for name in self.names())

    def __len__(self) -> int:
        return len(self._tools)
