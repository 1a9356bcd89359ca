"""query_target: where an object on the sky is, and what it is."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

from pydantic import Field
from typing_extensions import override

from nuncius.agent.tool import Arguments, Tool, ToolContext, ToolOutput
from nuncius.library.search import Search
from nuncius.library.sky_text import describe, shape
from nuncius.library.targets import Targets
from nuncius.tools.search import not_sent


class TargetQuery(Arguments):
    """Arguments of `query_target`."""

    name: str = Field(min_length=1, description="Name or position, such as 'M 1'.")


class QueryTarget(Tool[TargetQuery]):
    """Look up where an object on the sky is and what it is."""

    name = "query_target"
    args = TargetQuery
    read_only = True

    def __init__(self, targets: Targets, repeats: Callable[[str], Awaitable[str]]) -> None:
        self._targets = targets
        self._repeats = repeats

    @override
    def sources(self, args: TargetQuery, output: ToolOutput) -> Sequence[str]:
        resolver = str(output.metadata.get("resolver") or "")
        return (resolver,) if resolver not in {"", "coordinates"} else ()

    @override
    async def run(self, args: TargetQuery, ctx: ToolContext) -> ToolOutput:
        if mine := await self._repeats(args.name):
            raise not_sent("the name", mine)
        target = await self._targets.resolve(args.name)
        return ToolOutput(describe(target), metadata=shape(target))


def tools(targets: Targets, search: Search) -> Iterator[Tool[Any]]:
    """Yield the tools of this family."""
    yield QueryTarget(targets, search.repeats)
