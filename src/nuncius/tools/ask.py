"""`ask_user`: a question only the user can answer."""

from collections.abc import Iterator, Sequence

from pydantic import Field
from typing_extensions import override

from nuncius.agent.questions import Reply
from nuncius.agent.registry import AnyTool
from nuncius.agent.tool import Arguments, Tool, ToolContext, ToolOutput
from nuncius.core.errors import ToolError

_A_WEEK_S = 7 * 86_400.0


class UserQuestion(Arguments):
    """Arguments of `ask_user`."""

    question: str = Field(min_length=1, max_length=4000)
    options: list[str] = Field(
        default_factory=list[str], max_length=20, description="Likely answers; free text is taken."
    )
    timeout_s: int | None = Field(default=None, ge=10, le=86_400)


class AskUser(Tool[UserQuestion]):
    """Ask the user what only they can decide, and wait. Never assume an answer you did not get."""

    name = "ask_user"
    args = UserQuestion
    read_only = True  # it changes nothing, so mode `plan` allows it
    main_only = True
    conversational = True
    lasting = True
    timeout_s = _A_WEEK_S  # people take their time

    @override
    def sources(self, args: UserQuestion, output: ToolOutput) -> Sequence[str]:
        return ()  # the user speaks

    @override
    async def run(self, args: UserQuestion, ctx: ToolContext) -> ToolOutput:
        if ctx.ask is None:
            raise ToolError("Nobody can be asked here.", kind="unavailable", code="no_user")
        options = tuple(dict.fromkeys(option.strip() for option in args.options if option.strip()))
        reply = await ctx.ask(args.question, options=options, timeout_s=args.timeout_s)
        return ToolOutput(
            _told(reply),
            metadata={
                "question_id": reply.id,
                "outcome": reply.outcome,
                "answer": reply.answer,
                "delivers": [reply.id] if reply.outcome in {"answered", "declined"} else [],
            },
        )


def _told(reply: Reply) -> str:
    match reply.outcome:
        case "answered":
            return f"The user answers: {reply.answer}"
        case "declined":
            return "The user does not want to answer. Go on without it, or end your turn."
        case "timed_out":
            return (
                "No answer yet. The question stays open; an answer reaches you as a message later."
                " Assume nothing: do what does not depend on it, or end your turn and say what you"
                " wait for."
            )
        case "no_user":
            return (
                "Nobody can answer now. Assume nothing silently: do what does not depend on it, and"
                " say in your answer what you would have asked."
            )


def tools() -> Iterator[AnyTool]:
    """Yield the tools of this family."""
    yield AskUser()
