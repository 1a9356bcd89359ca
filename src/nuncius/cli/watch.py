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

    def __call__(self, event: "Event") -> None:
        """Take one event."""
        match event.type:
            case "tool_call":
                self._calls[event.id] = call_line(event.name, event.arguments)
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
            case "attempt_reset":
                self._tell(f"once more: {event.reason}")
            case "notice":
                self._tell(f"{event.level}: {event.text}")
            case "answer" | "turn_finished" | "permission_request":
                self._show("")
            case _:
                pass

    def _tell(self, line: str) -> None:
        if self._watched:
            self._show("")
            screen.say(screen.paint(f"  {line}", "dim", sys.stderr))

    def _show(self, status: str) -> None:
        """Keep one line that changes in place."""
        if not self._watched or status == self._status:
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
