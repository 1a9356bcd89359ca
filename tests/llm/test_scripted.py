import pytest

from nuncius.core.errors import EmptyReplyError, ModelError, StreamCutError, UsageError
from nuncius.core.messages import Message, ToolCall, Usage
from nuncius.llm.model import ChatModel, Completion, ModelRequest, TextChunk, ThinkingChunk
from nuncius.llm.scripted import Reply, ScriptedModel

ASK = ModelRequest([Message("user", "q")])


async def said(model: ChatModel) -> list[object]:
    return [chunk async for chunk in model.stream(ASK)]


async def test_says_what_the_script_says_in_order_and_keeps_what_it_was_asked() -> None:
    model = ScriptedModel(
        [Reply(text=["a", "b"], thinking="hm", calls=[("f", "{}")], usage=Usage(1, 2)), "End."]
    )
    *pieces, end = await said(model)
    assert pieces == [ThinkingChunk("hm"), TextChunk("a"), TextChunk("b")]
    assert isinstance(end, Completion)
    assert (end.message.content, end.finish, end.usage) == ("ab", "tool_calls", Usage(1, 2))
    assert end.message.tool_calls == (ToolCall("call_0", "f", "{}"),)
    assert (await said(model))[0] == TextChunk("End.")
    assert model.requests == [ASK, ASK]


async def test_a_function_of_the_request_is_a_script_too() -> None:
    model = ScriptedModel(lambda request: f"You said {request.messages[-1].content}.")
    assert (await said(model))[0] == TextChunk("You said q.")


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (Reply(text="a", cut=True), StreamCutError),
        (Reply(text="a", error=ModelError("m", "", "x")), ModelError),
        (ModelError("m", "", "x"), ModelError),
        ("", EmptyReplyError),
    ],
)
async def test_fails_as_a_real_model_fails(step: Reply | str, kind: type[ModelError]) -> None:
    with pytest.raises(kind):
        await said(ScriptedModel([step]))


async def test_the_end_of_the_script_is_told() -> None:
    with pytest.raises(UsageError, match="before request 1"):
        await said(ScriptedModel([]))
