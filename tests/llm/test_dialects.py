"""What each provider wants: the table, line by line, and the requests that come of it."""

from typing import Any

import pytest

from nuncius.core.messages import Message, Thinking, ToolCall
from nuncius.core.shapes import as_object
from nuncius.llm import wire
from nuncius.llm.accumulate import Accumulator
from nuncius.llm.dialects import DIALECTS, Dialect, dialect_of, is_private
from nuncius.llm.faults import Origin
from nuncius.llm.model import ModelRequest

QWEN = "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"


@pytest.mark.parametrize(
    ("url", "model", "name"),
    [
        ("https://openrouter.ai/api/v1", "deepseek/deepseek-v4", "OpenRouter"),
        ("https://api.openai.com/v1", "gpt-5", "OpenAI"),
        (QWEN, "qwen3-max", "Qwen on DashScope and ModelScope"),
        ("https://api-inference.modelscope.cn/v1", "Qwen/Qwen3-32B", "Qwen on DashScope and ModelScope"),
        ("https://api.deepseek.com", "deepseek-v4-flash", "DeepSeek"),
        ("https://api.moonshot.ai/v1", "kimi-k2.6", "Moonshot"),
        ("https://api.moonshot.ai/v1", "moonshot-v1-8k", "other servers"),
        ("https://api.z.ai/api/paas/v4", "glm-5.3", "Z.ai"),
        ("https://open.bigmodel.cn/api/paas/v4", "glm-4.7", "Z.ai"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "gemini-3-pro", "Gemini"),
        ("https://api.mistral.ai/v1", "mistral-large", "Mistral"),
        ("http://localhost:11434/v1", "qwen3:0.6b", "Ollama"),
        ("http://192.168.1.7:8000/v1", "Qwen/Qwen3-8B", "vLLM, SGLang, llama.cpp"),
        ("http://gpu:8000/v1", "zai-org/GLM-4.5", "vLLM, SGLang, llama.cpp"),
        ("http://localhost:8080/v1", "llama-3", "other servers"),
        ("https://api.together.xyz/v1", "deepseek-ai/DeepSeek-R1", "DeepSeek elsewhere"),
        ("https://api.groq.com/openai/v1", "qwen3-32b", "other servers"),
    ],
)  # fmt: skip
def test_a_server_is_known_by_its_address_and_its_model(url: str, model: str, name: str) -> None:
    assert dialect_of(url, model).name == name


def test_every_line_of_the_table_can_be_reached() -> None:
    assert len({dialect.name for dialect in DIALECTS}) == len(DIALECTS)
    assert all(d.hosts or d.models or d.ports for d in DIALECTS)


def body_of(url: str, model: str = "m", *, thinks: bool, budget: int | None = None) -> Any:
    request = ModelRequest([Message("user", "q")], enable_thinking=thinks, thinking_budget=budget)
    return wire.body(request, model=model, dialect=dialect_of(url, model), service="s")


@pytest.mark.parametrize(
    ("url", "model", "on", "off"),
    [
        (QWEN, "qwen", {"enable_thinking": True}, {"enable_thinking": False}),
        ("https://api.deepseek.com", "deepseek-v4-pro", {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}),
        ("https://api.z.ai/api", "glm-5", {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}),
        ("https://openrouter.ai/api/v1", "m", {"reasoning": {"enabled": True}}, {"reasoning": {"enabled": False}}),
        ("http://localhost:11434/v1", "qwen3", {"reasoning_effort": "medium"}, {"reasoning_effort": "none"}),
        ("http://localhost:8000/v1", "qwen3", {"chat_template_kwargs": {"enable_thinking": True, "thinking": True}}, {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}}),
        ("https://api.openai.com/v1", "gpt-5", {}, {}),
        ("https://api.mistral.ai/v1", "m", {}, {}),
    ],
)  # fmt: skip
def test_thinking_is_switched_on_and_off_in_words(
    url: str, model: str, on: dict[str, Any], off: dict[str, Any]
) -> None:
    """B34: a hybrid model thinks unless it is told not to; and it thinks in streams only."""
    plain = {"model", "messages", "stream", "stream_options"}
    for thinks, fields in ((True, on), (False, off)):
        body = body_of(url, model, thinks=thinks)
        assert {key: body[key] for key in body.keys() - plain} == fields
        assert body["stream"] is True
        assert "tool_choice" not in body  # B36: a forced tool and thinking do not go together


def test_a_budget_is_sent_where_there_is_a_field_for_it_and_thinking_is_on() -> None:
    """B35: some models want one."""
    assert body_of(QWEN, thinks=True, budget=5)["thinking_budget"] == 5
    assert "thinking_budget" not in body_of(QWEN, thinks=False, budget=5)
    assert "thinking_budget" not in body_of("http://localhost:8000", "qwen3", thinks=True, budget=5)
    router = body_of("https://openrouter.ai/api/v1", thinks=True, budget=5)
    assert router["reasoning"] == {"enabled": True, "max_tokens": 5}


def test_mistral_is_not_asked_for_usage() -> None:
    assert "stream_options" not in body_of("https://api.mistral.ai/v1", thinks=False)


def said(service: str, *, call: bool = True) -> Message:
    calls = (ToolCall("c1", "f", "{}"),) if call else ()
    block = {"reasoning_content": "hm"}
    return Message("assistant", "", calls, thinking=(Thinking(service, "hm", block),))


@pytest.mark.parametrize(
    ("replay", "with_call", "without"),
    [("never", False, False), ("tool_turns", True, False), ("always", True, True)],
)
def test_reasoning_goes_back_as_the_table_says(replay: Any, with_call: bool, without: bool) -> None:
    """B29, B30: to the model it came from, unchanged; to another never."""
    dialect = Dialect(replay=replay)
    own = [wire.message_object(said("s", call=call), dialect, "s") for call in (True, False)]
    assert ["reasoning_content" in message for message in own] == [with_call, without]
    foreign = [
        wire.message_object(said("other", call=call), dialect, "s") for call in (True, False)
    ]
    assert not any("reasoning_content" in message for message in foreign)


def test_deepseek_finds_the_field_in_every_assistant_message_while_it_thinks() -> None:
    """A message of another model, or one without thoughts, has an empty one."""
    talk = [Message("user", "q"), said("s"), Message("tool", "r", tool_call_id="c1"), said("other")]
    talk += [Message("tool", "r", tool_call_id="c1"), Message("assistant", "Plain.")]
    dialect = dialect_of("https://api.deepseek.com", "m")

    def sent(thinks: bool) -> list[Any]:
        request = ModelRequest(talk, enable_thinking=thinks)
        body = wire.body(request, model="m", dialect=dialect, service="s")
        return [m.get("reasoning_content") for m in body["messages"] if m["role"] == "assistant"]

    assert sent(True) == ["hm", "", ""]
    assert sent(False) == ["hm", None, None]


def test_signatures_on_calls_go_back_with_them_and_only_to_gemini() -> None:
    accumulator = Accumulator(Origin("h/gemini-3", "http://x"))
    signed = {"google": {"thought_signature": "c2ln"}}
    calls = [
        {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}, "extra_content": signed},
        {"index": 1, "id": "b", "function": {"name": "f", "arguments": "{}"}},
    ]  # fmt: skip
    accumulator.add({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]})
    message = accumulator.finish(done=True)[1].message
    gemini = dialect_of("https://generativelanguage.googleapis.com/v1beta/openai", "gemini-3")

    def extras(dialect: Dialect, service: str) -> list[Any]:
        sent = wire.message_object(message, dialect, service)
        assert "signatures" not in sent
        return [as_object(call).get("extra_content") for call in sent["tool_calls"]]

    assert extras(gemini, "h/gemini-3") == [signed, None]
    assert extras(gemini, "h/other") == [wire.NO_SIGNATURE, None]  # another model made the calls
    assert extras(Dialect(replay="tool_turns"), "h/gemini-3") == [None, None]


@pytest.mark.parametrize(
    ("host", "private"),
    [("localhost", True), ("127.0.0.1", True), ("10.1.2.3", True), ("gpu.local", True), ("8.8.8.8", False), ("api.x.ai", False)],
)  # fmt: skip
def test_a_private_host_is_known_by_its_looks(host: str, private: bool) -> None:
    assert is_private(host) is private
