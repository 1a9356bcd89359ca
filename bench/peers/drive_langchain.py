"""Drives langchain's `create_agent`; kept, with LangGraph's memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from contract import TOOLS, Answer, Call, Driver, Turn
from langchain.agents import create_agent
from langchain.agents.middleware import HostExecutionPolicy, ShellToolMiddleware
from langchain_model import Scripted, said
from langgraph.checkpoint.memory import InMemorySaver
from measure import main


class LangChain(Driver):
    keeps = "checkpointer"
    no_shell = ""

    def __init__(self) -> None:
        self._shell = HostExecutionPolicy()

    @asynccontextmanager
    async def session(
        self,
        answer: Answer,
        *,
        dangling: Call | None = None,
        folder: Path | None = None,
        kept: bool = False,
    ) -> AsyncIterator[Turn]:
        checkpointer = InMemorySaver() if kept else None
        shell = ShellToolMiddleware(folder, execution_policy=self._shell) if folder else None
        agent = create_agent(
            Scripted(answer=answer),
            tools=list(TOOLS),
            middleware=[shell] if shell else [],
            checkpointer=checkpointer,
        )
        yield turns_of(agent, dangling, kept=kept)

    def shell(self, command: str, limit_s: int) -> tuple[str, dict[str, Any]]:
        # the limit belongs to the session, which is opened after this
        self._shell = HostExecutionPolicy(command_timeout=limit_s)
        return "shell", {"command": command}


def turns_of(agent, dangling: Call | None, *, kept: bool) -> Turn:
    """Return what runs a turn of one thread of the agent's."""
    history: list[Any] = [("user", "before"), said(dangling)] if dangling else []
    thread = {"configurable": {"thread_id": "1"}} if kept else None

    async def turn(text: str) -> None:
        nonlocal history
        result = await agent.ainvoke({"messages": [*history, ("user", text)]}, thread)
        history = [] if kept else result["messages"]

    return turn


if __name__ == "__main__":
    main(LangChain())
