"""The person at the terminal decides on an act, with everything about it in view."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from nuncius.cli import screen

if TYPE_CHECKING:
    from nuncius.core.events import PermissionRequest, Question

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

    def __init__(self) -> None:
        self._one_at_a_time = asyncio.Lock()  # subagents ask, too

    async def ask(self, request: "PermissionRequest") -> Decision:
        """Show the whole request and return the person's decision; no answer is a deny."""
        async with self._one_at_a_time:
            return await self._decision(request)

    async def answer(self, question: "Question") -> str | None:
        """Show the question and return what the person types; nothing typed declines it."""
        async with self._one_at_a_time:
            for line in question_lines(question):
                screen.say(line)
            sys.stderr.write("Your answer (Enter alone declines): ")
            sys.stderr.flush()
            typed = (await _read_line()).strip()
        if typed.isdecimal() and len(typed) < 10 and 1 <= int(typed) <= len(question.options):
            return question.options[int(typed) - 1]
        return typed or None

    async def _decision(self, request: "PermissionRequest") -> Decision:
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
    who = "" if request.agent == "main" else f"Subagent {request.agent}: "
    head = f"{who}{request.tool} asks for permission: {request.reason}"
    return [
        screen.paint(head, "bold", sys.stderr),
        *argument_lines(request.arguments),
        *rule_lines(request.rule),
    ]


def rule_lines(rule: str) -> list[str]:
    """Return what "always" would write: a rule for each part of a command, or none."""
    if not rule:
        return ['  "always" would write no rule: nothing covers this beyond this once']
    return [f'  "always" would write the rule: allow {line}' for line in rule.split("\n")]


def argument_lines(arguments: Mapping[str, Any]) -> list[str]:
    """Return every argument whole, one name a line."""
    lines: list[str] = []
    for name, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        first, *rest = text.split("\n")
        lines.append(f"  {name}: {first}")
        lines.extend(f"  {' ' * len(name)}  {line}" for line in rest)
    return lines


def question_lines(question: "Question") -> list[str]:
    """Return a question with its numbered options."""
    return [
        screen.paint(f"The agent asks: {question.question}", "bold", sys.stderr),
        *(f"  {number}. {option}" for number, option in enumerate(question.options, start=1)),
    ]


async def _read_line() -> str:
    """Read a line without a thread: a cancelled turn must not wait for the Enter key."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    descriptor = sys.stdin.fileno()
    loop.add_reader(descriptor, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    except asyncio.CancelledError:  # the turn was cancelled, or somebody answered elsewhere
        screen.say("\n(no longer asked)")
        raise
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, 4096).decode(errors="replace")
