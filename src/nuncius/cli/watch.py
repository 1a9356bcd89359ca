"""What a person sees on stderr while a turn runs: one quiet line for each call."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nuncius.cli import screen

if TYPE_CHECKING:
    from nuncius.core.events import Event

_WIDTH = 76


class Watch:
    """A listener that tells of calls, refusals and retries, and remembers what was refused."""

    def __init__(self) -> None:
        self.refused: list[str] = []
        self._watched = screen.watched()
        self._calls: dict[str, str] = {}
        self._status = ""
        self._asked: set[str] = set()
        """Calls and questions that the person is asked about: the screen is theirs until then."""
        self._held: list[str] = []

    def __call__(self, event: "Event") -> None:
        """Take one event."""
        self._follow_asking(event)
        match event.type:
            case "tool_call":
                who = "" if event.agent == "main" else f"{event.agent}: "
                self._calls[event.id] = who + call_line(event.name, event.arguments)
                self._show(self._calls[event.id])
            case "tool_progress":
                self._show(f"{self._calls.get(event.id, '')}  {event.progress}")
            case "tool_result":
                line = self._calls.get(event.id, event.name)
                if event.error_kind == "denied":
                    self.refused.append(line)
                first = event.output.strip().split("\n", 1)[0][:_WIDTH]
                end = f"failed: {first}" if event.is_error else f"{event.duration_ms} ms"
                self._tell(f"{line}  {end}")
            case "thinking_delta":
                self._show("thinking ...")
            case "text_delta":
                self._show("writing ...")
            case "compaction" if event.outcome != "too_little":
                self._tell(f"conversation made shorter ({event.kind}, {event.outcome})")
            case "attempt_reset":
                self._tell(f"once more: {event.reason}")
            case "notice":
                self._tell(f"{event.level}: {event.text}")
            case "subagent_finished":
                did = f"{event.steps} steps, {event.tool_calls} tool calls"
                self._tell(f"{event.name}: {event.status}, {did}")
            case "answer" | "turn_finished":
                self._show("")
            case _:
                pass

    def _follow_asking(self, event: "Event") -> None:
        """Keep lines back while a person types; subagents go on meanwhile."""
        match event.type:
            case "permission_request":
                self._show("")
                self._asked.add(event.tool_call_id)
            case "question":
                self._show("")
                self._asked.add(event.id)
            case "question_resolved":
                self._asked.discard(event.id)
            case "permission_resolved" | "tool_call":
                self._asked.discard(event.tool_call_id)
            case "tool_result":  # an answer from elsewhere has no event here
                self._asked.discard(str(event.metadata.get("question_id", "")))
                self._asked.discard(event.tool_call_id)
            case "turn_finished":
                self._asked.clear()
            case _:
                pass
        if self._held and not self._asked:
            held, self._held = self._held, []
            for line in held:
                self._tell(line)

    def _tell(self, line: str) -> None:
        if self._asked:
            self._held.append(line)
        elif self._watched:
            self._show("")
            screen.say(screen.paint(f"  {line}", "dim", sys.stderr))

    def _show(self, status: str) -> None:
        """Keep one line that changes in place."""
        if not self._watched or self._asked or status == self._status:
            return
        self._status = status
        line = status.replace("\n", " ")[: _WIDTH + 2]
        sys.stderr.write(
            "\r\x1b[K" + (screen.paint(f"  {line}", "dim", sys.stderr) if line else "")
        )
        sys.stderr.flush()


def call_line(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a call in one line: its name and the start of each argument."""
    words = ", ".join(f"{key}={_short(value)}" for key, value in arguments.items())
    line = f"{name}({words})"
    return line if len(line) <= _WIDTH else line[: _WIDTH - 3] + "..."


def _short(value: object) -> str:
    return repr(value[:40] if isinstance(value, str) else value)[:60]
