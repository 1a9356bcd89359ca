"""The person at the terminal decides on an act, with everything about it in view."""

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Literal

from nuncius.cli import screen

if TYPE_CHECKING:
    from nuncius.core.events import PermissionRequest

Decision = tuple[Literal["allow", "deny"], Literal["once", "session", "always"]]

_ANSWERS: dict[str, Decision] = {
    "o": ("allow", "once"),
    "once": ("allow", "once"),
    "s": ("allow", "session"),
    "session": ("allow", "session"),
    "a": ("allow", "always"),
    "always": ("allow", "always"),
    "d": ("deny", "once"),
    "deny": ("deny", "once"),
}


class TerminalAsker:
    """Asks on stderr and reads the answer from stdin; only where both are a terminal."""

    async def ask(self, request: "PermissionRequest") -> Decision:
        """Show the whole request and return the person's decision; no answer is a deny."""
        for line in request_lines(request):
            screen.say(line)
        while True:
            sys.stderr.write("Allow it? [o]nce, [s]ession, [a]lways, [d]eny: ")
            sys.stderr.flush()
            line = await _read_line()
            if not line:  # end of input: nobody decides
                screen.say("")
                return ("deny", "once")
            decision = _ANSWERS.get(line.strip().lower())
            if decision:
                return decision


def request_lines(request: "PermissionRequest") -> list[str]:
    """Return all that is known of a request: tool, reason, every argument whole, the rule."""
    lines = [
        screen.paint(f"{request.tool} asks for permission: {request.reason}", "bold", sys.stderr)
    ]
    for name, value in request.arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        first, *rest = text.split("\n")
        lines.append(f"  {name}: {first}")
        lines.extend(f"  {' ' * len(name)}  {line}" for line in rest)
    lines.append(f'  "always" would write the rule: allow {request.rule}')
    return lines


async def _read_line() -> str:
    """Read a line without a thread: a cancelled turn must not wait for the Enter key."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    descriptor = sys.stdin.fileno()
    loop.add_reader(descriptor, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, 4096).decode(errors="replace")
