"""One turn at the terminal: run it, let Ctrl-C end it properly, show how it ended."""

import asyncio
import signal
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from nuncius.cli import screen
from nuncius.cli.answer import show_answer
from nuncius.cli.errors import kind_of
from nuncius.cli.watch import Watch

if TYPE_CHECKING:
    from nuncius.agent.runtime import TurnResult
    from nuncius.app.build import App
    from nuncius.cli.options import Mode
    from nuncius.core.events import Event

_EXIT_OF_STATUS = {
    "completed": 0,
    "cancelled": 130,
    "max_steps": 6,
    "loop_stopped": 6,
    "budget": 6,
    "failed": 1,
}
_HINTS = {
    "max_steps": "`--max-steps N` allows more; `--continue` goes on where it ended.",
    "loop_stopped": "Ask in other words, or narrow the question.",
    "failed": "Please report it; the details are in logs/nuncius.log in the home.",
}


class Turn:
    """How the questions of one command are asked, in one session."""

    def __init__(
        self,
        app: "App",
        session_id: str,
        *,
        model: str = "",
        mode: "Mode | None" = None,
        max_steps: int = 50,
        thinking: bool | None = None,
    ) -> None:
        self._app = app
        self._session_id = session_id
        self._model = model
        self._mode: Mode | None = mode
        self._max_steps = max_steps
        self._thinking = thinking
        self._watch = Watch()

    async def run(self, question: str, *, stream_json: bool = False) -> "TurnResult":
        """Run the turn; the first Ctrl-C ends it, the second one breaks off."""
        from nuncius.cli.asker import TerminalAsker
        from nuncius.core.events import dump_event

        cancel = asyncio.Event()
        self._watch = Watch()
        gone: list[screen.ReaderGoneError | screen.OutputError] = []

        def print_event(event: "Event") -> None:
            if gone:
                return
            try:
                screen.emit_line(dump_event(event))
            except (screen.ReaderGoneError, screen.OutputError) as error:
                # nobody gets the rest; the turn still ends properly
                gone.append(error)
                cancel.set()

        with _interrupts(cancel):
            result = await self._app.ask(
                question,
                session_id=self._session_id,
                model=self._model,
                mode=self._mode,
                max_steps=self._max_steps,
                enable_thinking=self._thinking,
                listeners=(print_event,) if stream_json else (self._watch,),
                asker=TerminalAsker() if screen.can_answer() else None,
                cancel=cancel,
            )
        if gone:
            raise gone[0]
        return result

    def emit(self, result: "TurnResult") -> None:
        """Print the outcome for programs."""
        answer = result.answer
        shape = answer.model_dump(mode="json") if answer else {}
        screen.emit(
            {
                "session_id": self._session_id,
                "turn_id": result.turn_id,
                "status": result.status,
                "answered": shape.get("answered", False),
                "answer": shape.get("text", ""),
                "citations": shape.get("citations", []),
                "unsupported": shape.get("unsupported", []),
                "dropped_quotes": shape.get("dropped_quotes", 0),
                "searched": shape.get("searched", {}),
                "degraded": shape.get("degraded", []),
                "usage": asdict(result.usage),
                "tools": [
                    {"name": run.name, "is_error": run.is_error, "duration_ms": run.duration_ms}
                    for run in result.tools
                ],
                "refused": list(self._watch.refused),
                "error": _error_shape(result),
            }
        )

    def show(self, result: "TurnResult") -> None:
        """Print the outcome for people: the answer on stdout, all else on stderr."""
        show_outcome(result)
        for call in self._watch.refused:
            screen.out(f"Refused: {call}")
        if self._watch.refused and not screen.can_answer():
            screen.say("Nobody could be asked; `nuncius permissions allow RULE` allows in advance.")
        if screen.watched():
            usage = result.usage
            tokens = usage.input_tokens + usage.output_tokens
            screen.say(screen.paint(f"session {self._session_id}, {tokens} tokens", "dim"))


def show_outcome(result: "TurnResult") -> None:
    """Print a turn's answer, or why there is none."""
    if result.answer:
        show_answer(result.answer)
    if result.status in {"completed", "cancelled"}:
        return
    kind, message, hint = error_of(result)
    screen.show_error(kind, message, hint)


def _error_shape(result: "TurnResult") -> dict[str, str] | None:
    if result.status == "completed":
        return None
    kind, message, hint = error_of(result)
    return {"kind": kind, "message": message, "hint": hint}


def error_of(result: "TurnResult") -> tuple[str, str, str]:
    """Return kind, message and hint of a turn that did not complete."""
    from nuncius.core.errors import NunciusError

    if isinstance(result.cause, NunciusError):
        return kind_of(result.cause), result.cause.message, result.cause.hint
    message = result.error or f"The turn ended as {result.status}."
    return result.status, message, _HINTS.get(result.status, "")


def exit_code(result: "TurnResult") -> int:
    """Return what the shell is told of a turn."""
    from nuncius.core.errors import NunciusError

    if isinstance(result.cause, NunciusError):
        return result.cause.exit_code
    return _EXIT_OF_STATUS[result.status]


@contextmanager
def _interrupts(cancel: asyncio.Event) -> Generator[None]:
    """Turn Ctrl-C and SIGTERM into `cancel`; once more breaks off what does not end."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None

    def interrupted() -> None:
        if cancel.is_set():
            task.cancel()
        cancel.set()

    before = signal.getsignal(signal.SIGINT)
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupted)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)  # asyncio.run's own, which cancels the main task
