"""What each provider wants of thinking, and how else it differs: data, not code.

Contracts of providers changed more than once, so a line here is all that a change costs. How each
value becomes a field of the request is in `wire`, and for Anthropic in `anthropic`.
"""

import ipaddress
import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, urlsplit

Switch = Literal[
    "", "enable_thinking", "thinking", "reasoning", "reasoning_effort", "chat_template_kwargs"
]
Replay = Literal["never", "tool_turns", "always"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One provider's ways.

    Attributes:
        name: The provider, for people.
        hosts, models, ports: By which it is known: parts of the host's or the model's name, the
            port. What is given must all fit.
        local: Only for servers of this machine or of a private network.
        switch: Body field that turns reasoning on and off. A hybrid model thinks unless it is
            told not to, so where there is a field, it is sent with both values.
        budget: Whether a budget in tokens can be sent with the switch.
        replay: Which reasoning goes back to the model it came from: none, that of messages with
            calls, or all.
        fill: While thinking is on, an assistant's message without reasoning of its own is sent
            with an empty one: the field must be there.
        signatures: Signatures hang on calls (``extra_content``) and go back with them.
        schema: How a reply is held to a JSON Schema; empty: not at all.
        limit: The name of the output limit.
        usage: Whether usage is asked for in ``stream_options``.
    """

    name: str = "other servers"
    hosts: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()
    local: bool = False
    switch: Switch = ""
    budget: bool = False
    replay: Replay = "never"
    fill: bool = False
    signatures: bool = False
    schema: Literal["json_schema", "json_object", ""] = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    usage: bool = True


DIALECTS: tuple[Dialect, ...] = (
    Dialect("OpenRouter", ("openrouter.ai",), switch="reasoning", budget=True, replay="tool_turns"),
    Dialect("OpenAI", ("api.openai.com",), limit="max_completion_tokens"),
    # Thinking wants a stream (ours always are); some models refuse to think without a budget.
    Dialect(
        "Qwen on DashScope and ModelScope",
        ("dashscope", "modelscope"),
        switch="enable_thinking",
        budget=True,
        schema="json_object",
    ),
    # With tools and thinking, each assistant message of the running turn must carry the field.
    Dialect(
        "DeepSeek",
        ("deepseek.com",),
        switch="thinking",
        replay="tool_turns",
        fill=True,
        schema="json_object",
    ),
    Dialect(
        "Moonshot",
        ("moonshot",),
        ("kimi-",),
        switch="thinking",
        replay="tool_turns",
        fill=True,
        schema="json_object",
    ),
    Dialect(
        "Z.ai",
        ("z.ai", "bigmodel.cn"),
        switch="thinking",
        replay="tool_turns",
        schema="json_object",
    ),
    # Its newer models refuse calls that come back without their signature.
    Dialect("Gemini", ("googleapis.com",), replay="tool_turns", signatures=True),
    Dialect("Mistral", ("mistral.ai",), usage=False),  # refuses stream_options; counts anyway
    Dialect("Ollama", ports=(11434,), switch="reasoning_effort", replay="tool_turns"),
    Dialect("Ollama's cloud", ("ollama.com",), switch="reasoning_effort", replay="tool_turns"),
    # Chat templates that know the switch; servers pass it on without a look.
    Dialect(
        "vLLM, SGLang, llama.cpp",
        models=("qwen3", "glm-4", "glm-5", "smollm3", "gemma-4", "hunyuan", "granite", "deepseek"),
        local=True,
        switch="chat_template_kwargs",
        replay="tool_turns",
    ),
    Dialect("DeepSeek elsewhere", models=("deepseek",), replay="tool_turns"),
)
"""The first that fits."""


def dialect_of(base_url: str, model: str) -> Dialect:
    """Return the ways of the provider behind `base_url`."""
    address = urlsplit(base_url)
    return next((d for d in DIALECTS if _fits(d, address, model.lower())), Dialect())


def _fits(dialect: Dialect, address: SplitResult, model: str) -> bool:
    host = address.hostname or ""
    return (
        (not dialect.hosts or any(part in host for part in dialect.hosts))
        and (not dialect.models or any(part in model for part in dialect.models))
        and (not dialect.ports or address.port in dialect.ports)
        and (not dialect.local or is_private(host))
    )


def is_private(host: str) -> bool:
    """Tell whether `host` names this machine or one of a private network, by its looks alone."""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".lan"))


# --- Anthropic ----------------------------------------------------------------------------------

ThinkingForm = Literal["adaptive", "budget", "none"]
_NUMBERS = re.compile(r"(?<![\d.])(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")


def thinking_forms(model: str) -> tuple[ThinkingForm, ...]:
    """Return the ways to ask an Anthropic model to think, the likeliest first.

    Models from 4.6 on think as much as they see fit, and from 4.7 on refuse a budget; older ones
    know only the budget. A model that is no Claude (other services offer the same protocol) is
    asked with a budget first.
    """
    found = _NUMBERS.search(model) if is_claude(model) else None
    adaptive = found is not None and (int(found[1]), int(found[2] or 0)) >= (4, 6)
    return ("adaptive", "budget", "none") if adaptive else ("budget", "adaptive", "none")


def is_claude(model: str) -> bool:
    """Tell whether `model` is Anthropic's own; others offer the same protocol."""
    return "claude" in model.lower()
