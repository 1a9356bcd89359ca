"""Drives pydantic-ai with its `FunctionModel`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from contract import TOOLS, Answer, Call, Driver, Line, Turn
from measure import main
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage


class PydanticAI(Driver):
    @asynccontextmanager
    async def session(
        self,
        answer: Answer,
        *,
        dangling: Call | None = None,
        folder: Path | None = None,
        kept: bool = False,
    ) -> AsyncIterator[Turn]:
        async def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            step = answer(lambda: [line for message in messages for line in _lines(message)])
            parts = [TextPart(step)] if isinstance(step, str) else [_part(one) for one in step]
            # Without a usage the test model would estimate one from the whole history.
            return ModelResponse(parts, usage=RequestUsage(input_tokens=1, output_tokens=1))

        agent = Agent(FunctionModel(model), tools=list(TOOLS))
        history: list[ModelMessage] = []
        if dangling:
            history = [ModelRequest([UserPromptPart("before")]), ModelResponse([_part(dangling)])]

        async def turn(text: str) -> None:
            nonlocal history
            result = await agent.run(text, message_history=history)
            history = result.all_messages()

        yield turn


def _part(call: Call) -> ToolCallPart:
    return ToolCallPart(call.name, call.arguments, tool_call_id=call.id)


def _lines(message: ModelMessage) -> list[Line]:
    if isinstance(message, ModelResponse):
        calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
        made = tuple(Call(one.tool_call_id, one.tool_name, one.args_as_json_str()) for one in calls)
        return [Line("assistant", calls=made)]
    lines: list[Line] = []
    for part in message.parts:
        if isinstance(part, ToolReturnPart):
            lines.append(Line("tool", part.model_response_str(), id=part.tool_call_id))
        elif isinstance(part, RetryPromptPart):
            lines.append(Line("tool", part.model_response(), id=part.tool_call_id))
        elif isinstance(part, UserPromptPart):
            lines.append(Line("user", str(part.content)))
    return lines


if __name__ == "__main__":
    main(PydanticAI())
