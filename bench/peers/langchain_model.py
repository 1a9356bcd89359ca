"""A LangChain chat model that follows a script, for the two drivers that need one."""

import json
from typing import Any

from contract import Answer, Call, Line
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.output_parsers.openai_tools import make_invalid_tool_call, parse_tool_call
from langchain_core.outputs import ChatGeneration, ChatResult


class Scripted(BaseChatModel):
    answer: Answer

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> "Scripted":
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        step = self.answer(lambda: [line(message) for message in messages])
        message = AIMessage(step) if isinstance(step, str) else said(*step)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any):
        return self._generate(messages)  # by default it would go to a thread, which costs


def said(*calls: Call) -> AIMessage:
    """Read the calls as LangChain's own providers do: with its parser, broken ones apart."""
    good: list[Any] = []
    bad: list[Any] = []
    for one in calls:
        function = {"name": one.name, "arguments": one.arguments}
        raw = {"id": one.id, "type": "function", "function": function}
        try:
            good.append(parse_tool_call(raw, return_id=True))
        except OutputParserException as error:
            bad.append(make_invalid_tool_call(raw, str(error)))
    return AIMessage("", tool_calls=good, invalid_tool_calls=bad)


def line(message: BaseMessage) -> Line:
    if isinstance(message, AIMessage):
        calls = [(one["id"], one["name"], json.dumps(one["args"])) for one in message.tool_calls]
        calls += [(one["id"], one["name"], one["args"]) for one in message.invalid_tool_calls]
        return Line("assistant", message.text, tuple(Call(*one) for one in calls))
    role = {"human": "user", "ai": "assistant"}.get(message.type, message.type)
    failed = getattr(message, "status", "") == "error"
    return Line(role, message.text, id=getattr(message, "tool_call_id", ""), failed=failed)
