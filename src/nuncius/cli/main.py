"""The command `nuncius`: its entry, and how every error leaves it."""

import sys
from collections.abc import Sequence

CANCELLED = 130
READER_GONE = 141
"""128 + SIGPIPE: what a shell shows for a program whose reader went away."""


def run() -> None:
    """Run the command line of this process and exit with its code."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    from nuncius.cli import screen

    screen.prepare(json="--json" in _options(arguments))
    try:
        return _dispatch(arguments)
    except screen.ReaderGoneError:
        return READER_GONE


def _options(arguments: Sequence[str]) -> list[str]:
    words = list(arguments)
    return words[: words.index("--")] if "--" in words else words


def _dispatch(arguments: Sequence[str]) -> int:
    from nuncius.cli import screen

    if list(arguments) in (["--version"], ["-V"]):  # answered before anything heavy is imported
        return _version()
    import asyncio

    import typer

    from nuncius.cli.commands import app
    from nuncius.cli.errors import kind_of
    from nuncius.core.errors import NunciusError

    try:
        code = app(args=list(arguments), prog_name="nuncius", standalone_mode=False)
        screen.flush()
    except screen.ReaderGoneError:
        raise
    except NunciusError as error:
        screen.show_error(kind_of(error), error.message, error.hint)
        return error.exit_code
    except typer.TyperException as error:
        screen.show_error("usage", error.format_message(), _help_for(error))
        return error.exit_code
    except (typer.Abort, KeyboardInterrupt, asyncio.CancelledError):
        code = CANCELLED
    except Exception as error:  # noqa: BLE001  (the last floor: nothing above could answer it)
        from nuncius.cli.crash import report

        message, hint = report(error)
        screen.show_error("crashed", message, hint)
        return 1
    if code == CANCELLED:
        screen.show_error("cancelled", "Cancelled.", "")
    return code if isinstance(code, int) else 0


def _version() -> int:
    from nuncius import __version__
    from nuncius.cli import screen

    try:
        screen.out(f"nuncius {__version__}")
        screen.flush()
    except screen.OutputError as error:
        screen.show_error("output", error.message, error.hint)
        return error.exit_code
    return 0


def _help_for(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    return f"`{context.command_path} --help` shows what there is." if context else ""
