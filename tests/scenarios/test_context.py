"""Long sessions over the wire, in SQLite, and in several processes."""

import asyncio
import itertools
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typing_extensions import override

from agent.parts import Look, Word
from llm.strict_provider import Answer, Step, StrictProvider, whole
from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.runtime import Runtime
from nuncius.agent.tool import ToolContext, ToolOutput
from nuncius.core.events import Compaction
from nuncius.library.answer import Finisher
from nuncius.llm.openai import OpenAIModel
from nuncius.store import open_store
from nuncius.store.protocols import Store
from nuncius.walls.network import Network
from scenarios import prefix_process

WINDOW_BYTES = 12_000


class Chapter(Look):
    """Give a chapter of text."""

    @override
    async def run(self, args: Word, ctx: ToolContext) -> ToolOutput:
        return ToolOutput(f"{args.word}: " + "这颗恒星的半径是1.72个太阳半径。" * 60)


class Reader:
    """A provider with a short window, behind which a model reads 12 chapters a turn."""

    def __init__(self) -> None:
        self._step = 0
        self.refused = 0
        self.sent: list[list[Any]] = []

    def __call__(self, request: Mapping[str, Any]) -> Step:
        if len(json.dumps(request, ensure_ascii=False).encode()) > WINDOW_BYTES:
            self.refused += 1
            error = {"error": {"code": "context_length_exceeded", "message": "too long"}}
            body = json.dumps(error).encode()
            return Answer(body, status=400, content_type="application/json")
        if not request.get("tools"):
            return whole({"content": "半径是1.72 [k3f2a9c1-12:3]。"})
        self.sent.append(request["messages"])
        self._step += 1
        if self._step % 13 == 0:
            return whole({"content": "Done."})
        call = {"name": "look", "arguments": json.dumps({"word": f"w{self._step}"})}
        return whole(
            {
                "content": "I read on. " * 20,
                "tool_calls": [{"id": f"c{self._step}", "type": "function", "function": call}],
            }
        )


async def turn(store: Store, url: str, session_id: str, question: str) -> str:
    network = Network(trusted_hosts=[url])
    try:
        runtime = Runtime(
            OpenAIModel(network, base_url=url, model="m", api_key="sk-test-123456"),
            ToolRegistry([Chapter()]),
            store.journal,
            PermissionChecker(store.desk),
            Finisher(store),
            system_prompt="Do as told.",
            context_tokens=100_000,  # more than the provider takes: it has to say so
            max_output_tokens=300,
        )
        result = await runtime.run_turn(session_id, question)
        return result.status
    finally:
        await network.aclose()


async def test_a_session_that_outgrows_the_provider_goes_on_in_another_process(
    tmp_path: Path,
) -> None:
    reader = Reader()
    async with StrictProvider.serving(reader) as provider:
        store = await open_store(tmp_path, tmp_path / "nuncius.db")
        session = await store.journal.create_session()
        assert await turn(store, provider.url, session.id, "Which radius?") == "completed"
        before = reader.sent[-1]
        messages = await store.journal.messages(session.id)
        await store.close()

        store = await open_store(tmp_path, tmp_path / "nuncius.db")
        assert await turn(store, provider.url, session.id, "And now?") == "completed"
        assert [m for m in reader.sent if m[: len(before)] == before]  # the same beginning
        assert reader.sent[-1][1]["content"] == "Which radius?"
        assert (await store.journal.messages(session.id))[: len(messages)] == messages
        assert "[k3f2a9c1-12:3]" in (await store.journal.session(session.id)).summary
        events = await store.journal.events(session.id)
        assert {e.kind for e in events if isinstance(e, Compaction)} >= {"auto"}
        assert len([m for m in messages if m.message.role == "tool"]) == 12
        await store.close()
    assert provider.refusals == []
    assert 1 <= reader.refused <= 4


async def test_the_beginning_of_every_request_is_the_same_in_all_steps_and_processes(
    tmp_path: Path,
) -> None:
    store = await open_store(tmp_path / "home", tmp_path / "home" / "nuncius.db")
    session = await store.journal.create_session()
    await store.close()
    requests: list[list[str]] = []
    for seed in ("1", "2", "3"):
        requests += await _requests(tmp_path, session.id, seed)
    assert len(requests) == 48
    assert len({request[0] for request in requests}) == 1  # the system prompt and the tools
    for earlier, later in itertools.pairwise(requests):
        assert later[: len(earlier)] == earlier
        assert len(later) > len(earlier)


async def _requests(home: Path, session_id: str, seed: str) -> list[list[str]]:
    script = Path(prefix_process.__file__)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(script),
        str(home),
        session_id,
        stdout=asyncio.subprocess.PIPE,
        env={"PYTHONPATH": str(script.parent.parent), "PATH": "", "PYTHONHASHSEED": seed},
    )
    output, _ = await process.communicate()
    assert process.returncode == 0
    return [json.loads(line) for line in output.splitlines()]
