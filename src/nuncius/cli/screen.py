"""Where words go: data to stdout, everything else to stderr."""

import io
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from json import dumps
from typing import Any, TextIO

from nuncius.core.errors import NunciusError

SCHEMA_VERSION = 1
_STYLES = {"bold": "1", "dim": "2", "red": "31", "yellow": "33", "cyan": "36"}
# A paper's or a model's text must not steer the terminal: escape sequences, C1 controls.
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_STEERING_BUT_STYLES = re.compile(rf"(?!\x1b\[[0-9;]*m){_STEERING.pattern}")
_wants_json = False


class OutputError(NunciusError):
    """Stdout takes nothing more, such as on a full disk."""


class ReaderGoneError(Exception):
    """Nobody reads stdout any more: no fault of ours, though Typer would exit with 1."""


def prepare(*, json: bool) -> None:
    """Make both streams able to take any text, and remember whether errors are data, too."""
    global _wants_json  # noqa: PLW0603  (one command line, one process)
    _wants_json = json
    _open_what_is_closed()
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # No console may stop a command because it cannot show or read a letter.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace" if stream is sys.stderr else "replace")


def _open_what_is_closed() -> None:
    """Give a process that was started without a stream (``>&-``) an empty one."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123  (open until the end)


def flush() -> None:
    """Bring out what is buffered, so that a full disk or a closed pipe shows now."""
    with _told():
        sys.stdout.flush()


def _write(text: str) -> None:
    with _told():
        sys.stdout.write(text)


@contextmanager
def _told() -> Generator[None]:
    """Turn a stdout that takes nothing more into an error that says so."""
    try:
        yield
    except BrokenPipeError as error:
        silence()
        raise ReaderGoneError from error
    except OSError as error:
        silence()
        raise OutputError(f"The output could not be written: {error.strerror}.") from error


def silence(stream: TextIO | None = None) -> None:
    """Give a stream (stdout) up without the interpreter's last words about it."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, (stream or sys.stdout).fileno())


def out(text: str = "") -> None:
    """Print data for people; only our own styles may steer the terminal."""
    steering = _STEERING_BUT_STYLES if _coloured(sys.stdout) else _STEERING
    _write(steering.sub("", text) + "\n")


def emit(values: Mapping[str, Any]) -> None:
    """Print data for programs: one JSON object with its schema version, and only one."""
    global _wants_json  # noqa: PLW0603  (one process, one output)
    _wants_json = False  # an error after it is told to people alone
    _write(as_json(values) + "\n")


def as_json(values: Mapping[str, Any]) -> str:
    """Return a JSON object with its schema version, in letters that stdout can take."""
    whole = {"schema_version": SCHEMA_VERSION, **values}
    text = dumps(whole, ensure_ascii=False, indent=2)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # a file name that is not UTF-8, or a console of few letters
        return dumps(whole, indent=2)
    return text


def emit_line(line: str) -> None:
    """Print one line of JSON at once: somebody may be reading along."""
    _write(line + "\n")
    flush()


def say(text: str) -> None:
    """Tell a person how it goes."""
    steering = _STEERING_BUT_STYLES if _coloured(sys.stderr) else _STEERING
    try:
        sys.stderr.write(steering.sub("", text) + "\n")
        sys.stderr.flush()
    except OSError:  # nobody reads it, or its disk is full: the work goes on
        silence(sys.stderr)


def warn(text: str) -> None:
    """Tell a person what is not as it should be."""
    say(paint("warning: ", "yellow", sys.stderr) + text)


def show_error(kind: str, message: str, hint: str) -> None:
    """Show an error to a person and, where JSON was asked for, to a program."""
    say(paint("error: ", "red", sys.stderr) + message)
    if hint:
        say(paint("hint: ", "cyan", sys.stderr) + hint)
    if _wants_json:
        emit({"error": {"kind": kind, "message": message, "hint": hint}})


def paint(text: str, style: str, stream: TextIO | None = None) -> str:
    """Return `text` in a style where the stream shows colours."""
    if not _coloured(stream or sys.stdout):
        return text
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


def wrap(text: str, *, indent: str = "") -> str:
    """Fold long lines at the terminal's width; a file or pipe gets them as they are."""
    if not sys.stdout.isatty():
        return textwrap.indent(text, indent)
    width = max(40, min(shutil.get_terminal_size().columns, 100))
    return "\n".join(
        textwrap.fill(line, width, initial_indent=indent, subsequent_indent=indent)
        for line in text.splitlines()
    )


def watched() -> bool:
    """Tell whether a person reads stderr."""
    return sys.stderr.isatty()


def can_answer() -> bool:
    """Tell whether a person can be asked: stdin and stderr are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _coloured(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
