"""What a driver must offer: one peer, its default settings, a scripted model.

A driver runs in the virtual environment of its peer, so this file and its neighbours need the
standard library alone.
"""

import asyncio
import json
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Call:
    """A call as a provider sends it: the arguments are JSON text, which may be broken."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Line:
    """One message of a request.

    Attributes:
        id: The call that a tool's result answers.
        failed: Whether the result is marked as an error.
    """

    role: str
    text: str = ""
    calls: tuple[Call, ...] = ()
    id: str = ""
    failed: bool = False


Step = str | Sequence[Call]
Answer = Callable[[Callable[[], list[Line]]], Step]
"""The scripted model: is given what shows it the request (not yet converted, so that figures do
not count our conversion), and says text or calls."""
Turn = Callable[[str], Awaitable[None]]
"""Run one turn of a session; raises if it dies."""


class Driver(ABC):
    """One peer, with its default settings and a scripted model."""

    turns: Sequence[int] = (1, 50, 400)
    keeps = ""
    """What keeps the history where the peer offers more than to hand it over: "session"."""
    no_files = "no such tool"
    no_shell = "no such tool"

    @abstractmethod
    def session(
        self,
        answer: Answer,
        *,
        dangling: Call | None = None,
        folder: Path | None = None,
        kept: bool = False,
    ) -> AbstractAsyncContextManager[Turn]:
        """Open a session that has the tools below, and those of files and shell in `folder`.

        Args:
            dangling: The history ends with this call, which never got a result.
            kept: What `keeps` names carries the history; otherwise each turn is handed what the
                last one returned.
        """

    def read(self, path: Path) -> tuple[str, dict[str, Any]]:
        """Return name and arguments of the call that reads a file."""
        raise NotImplementedError

    def edit(self, path: Path, old: str, new: str) -> tuple[str, dict[str, Any]]:
        """Return name and arguments of the call that replaces `old` by `new`."""
        raise NotImplementedError

    def shell(self, command: str, limit_s: int) -> tuple[str, dict[str, Any]]:
        """Return name and arguments of the call that runs a command."""
        raise NotImplementedError


# The tools that every peer is given.


async def look(word: str) -> str:
    """Look at a word."""
    return f"saw {word}"


async def broken(word: str) -> str:
    """Look at a word, and fail."""
    raise RuntimeError(word)


async def late(number: int) -> str:
    """Answer the later, the smaller the number."""
    await asyncio.sleep((20 - number) * 0.005)
    return f"saw {number}"


async def nothing(number: int) -> str:
    """Do nothing."""
    return str(number)


TOOLS = (look, broken, late, nothing)


@dataclass
class Script:
    """A model that says these steps, one a request, then "Done."; keeps what it was asked."""

    steps: Sequence[Sequence[Call]]
    requests: list[list[Line]] = field(default_factory=list)

    def __call__(self, seen: Callable[[], list[Line]]) -> Step:
        self.requests.append(seen())
        count = len(self.requests)
        return self.steps[count - 1] if count <= len(self.steps) else "Done."

    @property
    def results(self) -> list[Line]:
        """The results in the last request, in its order."""
        return [line for line in self.requests[-1] if line.role == "tool"]


def call(call_id: str, name: str, **arguments: Any) -> Call:
    return Call(call_id, name, json.dumps(arguments))


async def run_calls(
    driver: Driver, folder: Path, *steps: Sequence[tuple[str, dict[str, Any]]]
) -> list[Line]:
    """Run one turn with these steps; return the results in order."""
    script = Script(
        [
            [call(f"c{at}_{n}", name, **arguments) for n, (name, arguments) in enumerate(step)]
            for at, step in enumerate(steps)
        ]
    )
    async with driver.session(script, folder=folder) as turn:
        await turn("go")
    return script.results


@contextmanager
def temporary() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="peers-")).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
