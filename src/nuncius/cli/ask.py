"""`ask`: one question, one answer. `chat`: many in one session."""

import asyncio
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nuncius.cli import screen
from nuncius.cli.log import logged
from nuncius.cli.options import (
    Continue,
    Json,
    MaxSteps,
    ModelName,
    PermissionModeOption,
    SessionId,
    Thinking,
)
from nuncius.cli.start import settings_in_force, with_app

if TYPE_CHECKING:
    from nuncius.app.build import App
    from nuncius.cli.options import Mode
    from nuncius.core.evidence import Answer

_LARGEST_QUESTION_BYTES = 16 * 1024 * 1024  # read from stdin at most; what may be asked, App says


def ask(
    question: Annotated[str, typer.Argument(help="The question; `-` reads it from stdin.")],
    *,
    session: SessionId = "",
    latest: Continue = False,
    model: ModelName = "",
    thinking: Thinking = None,
    mode: PermissionModeOption = None,
    max_steps: MaxSteps = 50,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Also write a page with the quotes marked."),
    ] = None,
    style: Annotated[
        Literal["text", "latex"],
        typer.Option("--as", help="Print text, or LaTeX that cites with natbib."),
    ] = "text",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE.tex", help="With --as latex: this and FILE.bib instead."
        ),
    ] = None,
    json: Json = False,
    stream_json: Annotated[
        bool, typer.Option("--stream-json", help="Print each event as a line of JSON.")
    ] = False,
) -> None:
    """Ask one question; get checked quotes."""
    from nuncius.cli.files import write_text
    from nuncius.core.errors import UsageError

    if json and stream_json:
        raise UsageError("--json and --stream-json exclude each other.", hint="Choose one.")
    if session and latest:
        raise UsageError("--session and --continue exclude each other.", hint="Choose one.")
    if html and not html.absolute().parent.is_dir():
        raise UsageError(f"There is no directory for {html}.", hint="Make it first.")
    _check_latex(style, output, for_programs=json or stream_json)
    words = _question(question)

    async def work(app: "App") -> int:
        from nuncius.cli.pending import tell_what_stands
        from nuncius.cli.turn import Turn, error_of, exit_code

        opened = await app.session(
            session_id=session, latest=latest, mode=mode, model=model, enable_thinking=thinking
        )
        await tell_what_stands(app, opened, model=model)
        turn = Turn(app, opened.id, model=model, mode=mode, max_steps=max_steps, thinking=thinking)
        result = await turn.run(words, stream_json=stream_json)
        if json:
            turn.emit(result)
        elif style == "latex" and result.answer:
            await _show_latex(app, result.answer, output)
            if result.status not in {"completed", "cancelled"}:
                screen.show_error(*error_of(result))
        elif not stream_json:
            turn.show(result)
        if html and result.answer:  # after the answer, which must not be lost to a full disk
            write_text(html, await app.library.answer_page(words, result.answer))
            screen.say(f"Written: {html}")
        return exit_code(result)

    raise typer.Exit(with_app(work))


def _check_latex(style: str, output: Path | None, *, for_programs: bool) -> None:
    """Refuse what makes no sense with or without ``--as latex``.

    Raises:
        UsageError: It makes none.
    """
    from nuncius.core.errors import UsageError

    if style == "latex" and for_programs:
        raise UsageError("--as latex and JSON exclude each other.", hint="Choose one.")
    if output and style != "latex":
        raise UsageError("--output goes with --as latex.", hint="Redirect with > for text.")
    if output and output.suffix != ".tex":
        raise UsageError(f"{output} does not end in .tex.", hint="The .bib is put beside it.")


async def _show_latex(app: "App", answer: "Answer", output: Path | None) -> None:
    """Print an answer as LaTeX with its bibliography, or write both beside each other."""
    from nuncius.cli.files import write_text
    from nuncius.library.latex import answer_latex, self_contained

    cited = [citation.paper_id for citation in answer.citations]
    told = await app.store.works.get(cited)
    written = answer_latex(answer, await app.store.papers.get(cited), told)
    if output is None:
        screen.out(self_contained(written).rstrip("\n"))
    else:
        write_text(output, written.text)
        screen.say(f"Written: {output}")
        if written.bib:
            write_text(output.with_suffix(".bib"), written.bib)
            screen.say(f"Written: {output.with_suffix('.bib')}")
    for line in answer.degraded:
        screen.say(f"note: {line}")


def _question(argument: str) -> str:
    """Return the question's text from the argument or stdin.

    Raises:
        UsageError: Nothing was asked.
    """
    from nuncius.core.errors import UsageError
    from nuncius.core.text import clean

    if argument == "-":
        raw = sys.stdin.buffer.read(_LARGEST_QUESTION_BYTES)
        argument = raw.decode("utf-8", errors="replace")
    words = clean(argument).strip()
    if not words:
        raise UsageError(
            "The question is empty.", hint='Try `nuncius ask "How large is the Hubble constant?"`.'
        )
    return words


def chat(
    *,
    session: SessionId = "",
    latest: Continue = False,
    model: ModelName = "",
    thinking: Thinking = None,
    mode: PermissionModeOption = None,
    max_steps: MaxSteps = 50,
) -> None:
    """Ask many questions in one session."""
    from nuncius.app.build import open_app

    settings = settings_in_force()
    # Typing happens between the runs of the loop, so that Ctrl-C means what it says in both.
    with logged(settings), asyncio.Runner() as runner:
        opening = open_app(settings)
        app = runner.run(opening.__aenter__())
        try:
            conversation = Conversation(
                runner, app, mode=mode, model=model, max_steps=max_steps, thinking=thinking
            )
            conversation.open(session_id=session, latest=latest)
            conversation.hold()
        finally:
            runner.run(opening.__aexit__(None, None, None))


class Conversation:
    """A session that a person types into."""

    def __init__(
        self,
        runner: asyncio.Runner,
        app: "App",
        *,
        mode: "Mode | None",
        model: str,
        max_steps: int,
        thinking: bool | None,
    ) -> None:
        self._runner = runner
        self._app = app
        self._mode: Mode | None = mode
        self._model = model
        self._max_steps = max_steps
        self._thinking = thinking
        self._session_id = ""

    def open(self, *, session_id: str = "", latest: bool = False) -> None:
        """Go on in a session, or begin one."""
        from nuncius.cli.pending import tell_what_stands

        opened = self._runner.run(
            self._app.session(
                session_id=session_id,
                latest=latest,
                mode=self._mode,
                model=self._model,
                enable_thinking=self._thinking,
            )
        )
        self._session_id = opened.id
        self._runner.run(tell_what_stands(self._app, opened, model=self._model))
        if screen.watched():
            screen.say(f"Session {opened.id}. /help tells what can be typed; Ctrl-D ends.")

    def hold(self) -> None:
        """Read and answer until the person ends it."""
        if sys.stdin.isatty():
            with suppress(ImportError):  # a Python without it: the arrow keys do not work
                import_module("readline")
        while True:
            try:
                line = _read()
            except KeyboardInterrupt:  # at the prompt: only this line is given up
                screen.say("")
                continue
            if line is None:
                return
            word = line.strip()
            if word in {"/quit", "/exit"}:
                return
            if word == "/new":
                self.open()
            elif word == "/help" or (word.startswith("/") and " " not in word):
                screen.say("/new begins another session; /quit or Ctrl-D ends; all else is asked.")
            elif word:
                self._answer(word)

    def _answer(self, line: str) -> None:
        from nuncius.cli.turn import Turn
        from nuncius.core.errors import NunciusError
        from nuncius.core.text import clean

        turn = Turn(
            self._app,
            self._session_id,
            model=self._model,
            mode=self._mode,
            max_steps=self._max_steps,
            thinking=self._thinking,
        )
        try:
            turn.show(self._runner.run(turn.run(clean(line))))
        except NunciusError as error:  # one question failed; the conversation goes on
            screen.say(f"error: {error}")
        screen.out()


def _read() -> str | None:
    """Return the next line; None at the end of input."""
    prompt = "> " if sys.stdin.isatty() else ""
    if not sys.stdout.isatty():  # `input` would mix its prompt with the data
        sys.stderr.write(prompt)
        sys.stderr.flush()
        prompt = ""
    try:
        return input(prompt)
    except EOFError:
        return None
