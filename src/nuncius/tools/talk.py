"""What the agent does with its conversation: `compress_context`."""

from collections.abc import Iterator, Sequence

from pydantic import Field
from typing_extensions import override

from nuncius.agent.registry import AnyTool
from nuncius.agent.tool import Arguments, Tool, ToolContext, ToolOutput


class CompressContextArgs(Arguments):
    """Arguments of `compress_context`."""

    focus: str = Field(
        default="", max_length=2000, description="What must be kept: 'masses of HD 209458 b'."
    )


class CompressContext(Tool[CompressContextArgs]):
    """Replace older messages by a summary. For long talks, when one task is done and another begins."""

    name = "compress_context"
    args = CompressContextArgs
    read_only = True
    conversational = True

    @override
    def sources(self, args: CompressContextArgs, output: ToolOutput) -> Sequence[str]:
        return ()

    @override
    async def run(self, args: CompressContextArgs, ctx: ToolContext) -> ToolOutput:
        if ctx.compress is None:
            return ToolOutput("Nothing to do: this model reads conversations of any length.")
        ctx.compress(args.focus)
        return ToolOutput("Older messages will give way to a summary before you speak again.")


def tools() -> Iterator[AnyTool]:
    """Yield the tools of this family."""
    yield CompressContext()
