"""Drives deepagents; files and shell with the backends it ships for the local disk."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from contract import TOOLS, Answer, Call, Driver, Turn
from deepagents import create_deep_agent
from deepagents.backends import LocalShellBackend
from drive_langchain import turns_of
from langchain_model import Scripted
from langgraph.checkpoint.memory import InMemorySaver
from measure import main


class DeepAgents(Driver):
    keeps = "checkpointer"
    no_files = no_shell = ""

    @asynccontextmanager
    async def session(
        self,
        answer: Answer,
        *,
        dangling: Call | None = None,
        folder: Path | None = None,
        kept: bool = False,
    ) -> AsyncIterator[Turn]:
        agent = create_deep_agent(
            Scripted(answer=answer),
            tools=list(TOOLS),
            backend=LocalShellBackend(folder) if folder else None,
            checkpointer=InMemorySaver() if kept else None,
        )
        yield turns_of(agent, dangling, kept=kept)

    # The backend's paths begin at its folder.

    def read(self, path: Path) -> tuple[str, dict[str, Any]]:
        return "read_file", {"file_path": f"/{path.name}"}

    def edit(self, path: Path, old: str, new: str) -> tuple[str, dict[str, Any]]:
        return "edit_file", {"file_path": f"/{path.name}", "old_string": old, "new_string": new}

    def shell(self, command: str, limit_s: int) -> tuple[str, dict[str, Any]]:
        return "execute", {"command": command, "timeout": limit_s}


if __name__ == "__main__":
    main(DeepAgents())
