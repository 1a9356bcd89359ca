"""One turn in a process of its own, which prints what each request was made of.

``python prefix_process.py HOME SESSION``: the product's own tools and prompt, a scripted model that
looks for files in each of 15 steps. A line for each request: digests of the system prompt with the
tools, and of each message.
"""

import asyncio
import hashlib
import json
import sys
from dataclasses import asdict
from pathlib import Path

from library.conftest import settings_in
from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.runtime import Runtime
from nuncius.app import open_app
from nuncius.library.answer import Finisher
from nuncius.llm import wire
from nuncius.llm.model import ModelRequest
from nuncius.llm.scripted import Reply, ScriptedModel, Step


def digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()


def answer(request: ModelRequest) -> Step:
    steps = [m for m in request.messages if m.role == "assistant"]
    if len(steps) % 16 == 15:
        return "Nothing was found."
    return Reply(
        f"Step {len(steps)}.",
        calls=[
            ("glob_files", json.dumps({"pattern": f"*.{len(steps)}"})),
            ("todo_write", json.dumps({"todos": [{"id": "1", "content": f"{len(steps)}"}]})),
        ],
        thinking="hm",
    )


async def run(home: Path, session_id: str) -> None:
    async with open_app(settings_in(home)) as app:
        model = ScriptedModel(answer)
        runtime = Runtime(
            model,
            app.registry(),
            app.journal,
            PermissionChecker(app.store.desk),
            Finisher(app.store),
            system_prompt=app.system_prompt(),
            context_tokens=128_000,
        )
        result = await runtime.run_turn(session_id, "Which files are there?")
        assert result.status == "completed", result
        for request in model.requests:
            messages = [wire.message_object(m, wire.Dialect(), "") for m in request.messages]
            tools = [asdict(tool) for tool in request.tools]
            print(json.dumps([digest([messages[0], tools]), *map(digest, messages[1:])]))


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), sys.argv[2]))
