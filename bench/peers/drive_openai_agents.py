"""Drives openai-agents with a `Model` of ours and, kept, its session in memory.

Its traces are sent to a server by default; they are off here.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agents import Agent, Runner, SQLiteSession, function_tool, set_tracing_disabled
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.usage import Usage
from contract import TOOLS, Answer, Call, Driver, Line, Turn
from measure import main
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)


class Scripted(Model):
    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def get_response(self, system_instructions, input, *args: Any, **kwargs: Any):  # noqa: A002
        items = [{"role": "user", "content": input}] if isinstance(input, str) else input
        step = self._answer(lambda: [_line(item) for item in items])
        if isinstance(step, str):
            text = ResponseOutputText(text=step, type="output_text", annotations=[])
            output = [
                ResponseOutputMessage(
                    id="m", content=[text], role="assistant", status="completed", type="message"
                )
            ]
        else:
            output = [
                ResponseFunctionToolCall(
                    call_id=one.id, name=one.name, arguments=one.arguments, type="function_call"
                )
                for one in step
            ]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any):
        raise NotImplementedError  # no turn here is streamed


class OpenAIAgents(Driver):
    keeps = "session"
    no_files = no_shell = "not measured"  # README.md tells why

    @asynccontextmanager
    async def session(
        self,
        answer: Answer,
        *,
        dangling: Call | None = None,
        folder: Path | None = None,
        kept: bool = False,
    ) -> AsyncIterator[Turn]:
        agent = Agent(
            name="measured", tools=[function_tool(tool) for tool in TOOLS], model=Scripted(answer)
        )
        history: list[Any] = []
        if dangling:
            asked = {
                "type": "function_call",
                "call_id": dangling.id,
                "name": dangling.name,
                "arguments": dangling.arguments,
            }
            history = [{"role": "user", "content": "before"}, asked]

        async def handed_over(text: str) -> None:
            nonlocal history
            result = await Runner.run(agent, [*history, {"role": "user", "content": text}])
            history = result.to_input_list()

        if not kept:
            yield handed_over
            return
        session = SQLiteSession("s")
        await session.add_items(history)

        async def turn(text: str) -> None:
            await Runner.run(agent, text, session=session)

        try:
            yield turn
        finally:
            session.close()


def _line(item: Any) -> Line:
    kind = item.get("type", "message")
    if kind == "function_call":
        return Line("assistant", calls=(Call(item["call_id"], item["name"], item["arguments"]),))
    if kind == "function_call_output":
        return Line("tool", str(item["output"]), id=item["call_id"])
    return Line(item["role"], str(item["content"]))


if __name__ == "__main__":
    set_tracing_disabled(True)
    main(OpenAIAgents())
