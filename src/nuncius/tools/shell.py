"""`run_bash`: a shell command in the project's directory, inside the sandbox."""

import asyncio
import codecs
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import Field
from typing_extensions import override

from nuncius.agent.registry import AnyTool
from nuncius.agent.tool import Arguments, Permission, Tool, ToolContext, ToolOutput
from nuncius.core.errors import AccessDeniedError, NotFoundError, ToolError
from nuncius.tools.files import as_tool_error
from nuncius.walls.paths import PathGuard
from nuncius.walls.shell import Sandbox, ShellResult, run_shell, why_unavailable

_COLOURS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class ShellSettings:
    """How commands run: `auto` in the sandbox or not at all, `off` without one."""

    sandbox: Sandbox = "auto"


class RunBashArgs(Arguments):
    """Arguments of `run_bash`."""

    command: str = Field(
        min_length=1, max_length=32_000, description="Bash command, such as 'wc -l data/*.csv'."
    )
    timeout_s: int = Field(
        default=120, ge=1, le=600, description="Seconds after which it is ended."
    )
    cwd: str = Field(
        default="", description="Directory to run in, such as 'data'; empty: the project's."
    )
    description: str = Field(
        default="", max_length=200, description="What it is for, for the user."
    )


class RunBash(Tool[RunBashArgs]):
    """Run a bash command in the project and see its output.

    It runs in a sandbox: no network, no keys, an empty home; the project and the library can be
    written. Each command starts anew, reads no input, and what it leaves running is ended.
    """

    name = "run_bash"
    args = RunBashArgs
    subject_kind = "command"
    timeout_s = 660.0  # the longest that a call may ask for, and time to end it

    def __init__(self, guard: PathGuard, settings: ShellSettings) -> None:
        self._guard = guard
        self._sandbox: Sandbox = settings.sandbox

    def _unavailable(self) -> str:
        return "" if self._sandbox == "off" else why_unavailable(self._guard.roots)

    @override
    def subject(self, args: RunBashArgs) -> str:
        return args.command

    @override
    def check_permissions(self, args: RunBashArgs) -> Sequence[Permission]:
        try:
            self._directory(args.cwd)
        except AccessDeniedError as error:
            return (Permission("deny", str(error)),)
        except NotFoundError:
            return (Permission("allow"),)  # nothing will run; the result says why
        if self._sandbox == "off":
            return (Permission("ask", "It runs without a sandbox, with your rights.", firm=True),)
        if self._unavailable():
            return (Permission("allow"),)
        project = self._guard.roots.project.path
        if Path.home().is_relative_to(project):
            return (
                Permission("ask", f"The project is {project}, your home directory.", firm=True),
            )
        return (Permission("ask", "A command can change the project and the library."),)

    @override
    async def run(self, args: RunBashArgs, ctx: ToolContext) -> ToolOutput:
        if reason := await asyncio.to_thread(self._unavailable):
            raise ToolError(f"run_bash is off. {reason}", kind="unavailable", code="no_sandbox")
        try:
            cwd = await asyncio.to_thread(self._directory, args.cwd)
        except (AccessDeniedError, NotFoundError) as error:
            raise as_tool_error(error) from error
        started = time.monotonic()
        result = await run_shell(
            args.command,
            roots=self._guard.roots,
            cwd=cwd,
            timeout_s=args.timeout_s,
            sandbox=self._sandbox,
            withheld=self._guard.withheld,
        )
        output = _told(args, result, cwd, duration_s=time.monotonic() - started)
        near = (path for path in self._guard.confidential if self._guard.roots.holding(path))
        shown = not self._guard.leaves and any(near)  # it may have read one of them
        return replace(output, metadata={**output.metadata, "confidential": shown})

    def _directory(self, asked: str) -> Path:
        """Return the directory to run in.

        Raises:
            AccessDeniedError: It lies outside the roots.
            NotFoundError: It is no directory.
        """
        path = self._guard.locate(asked or ".").path
        if not path.is_dir():
            raise NotFoundError(
                f"There is no directory {asked or path}.", hint="Leave cwd empty for the project's."
            )
        return path


def _told(args: RunBashArgs, result: ShellResult, cwd: Path, *, duration_s: float) -> ToolOutput:
    """Say how the command ended, then what it printed.

    Equal runs read alike, so that a model in a circle is noticed: whole seconds only.
    """
    took = f"{duration_s:.0f} s" if duration_s >= 1 else "under 1 s"
    if result.timed_out:
        ended = f"Ended after {args.timeout_s} s, the time-out; what it printed until then is below"
    elif result.too_many:
        ended = "Ended because it had started too many processes"
    else:
        ended = f"Exit code {result.exit_code} after {took}"
    text = shown(result.head, result.tail, result.dropped_bytes)
    return ToolOutput(
        f"{ended}, in {cwd}.\n{text or '(no output)'}",
        is_error=result.timed_out or result.too_many,
        error_kind=("timeout" if result.timed_out else "too_large" if result.too_many else None),
        metadata={
            "exit_code": None if result.timed_out else result.exit_code,
            "timed_out": result.timed_out,
            "duration_s": round(duration_s, 3),
            "cwd": str(cwd),
            "output_bytes": len(result.head) + result.dropped_bytes + len(result.tail),
            "dropped_bytes": result.dropped_bytes,
            "sandboxed": result.sandboxed,
        },
    )


def shown(head: bytes, tail: bytes, dropped_bytes: int) -> str:
    r"""Return output as text: colours gone, other bytes that are no text as ``\xff``."""
    if not dropped_bytes:
        return _plain((head + tail).decode(errors="backslashreplace"))
    # No cut splits a character.
    decoder = codecs.getincrementaldecoder("utf-8")(errors="backslashreplace")
    first = decoder.decode(head)
    within = range(min(4, len(tail)))
    start = next(
        (at for at in within if tail[at] & 0xC0 != 0x80), len(tail) if len(tail) < 4 else 0
    )
    last = tail[start:].decode(errors="backslashreplace")
    total = len(head) + dropped_bytes + len(tail)
    note = (
        f"\n[{dropped_bytes:,} of {total:,} bytes are left out here; print less, or write to a file"
        " and read parts of it]\n"
    )
    return _plain(first) + note + _plain(last)


def _plain(text: str) -> str:
    text = _COLOURS.sub("", text).replace("\r\n", "\n")
    # A line that was written over again and again (progress) is shown as it ended.
    if "\r" in text:
        lines = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
        text = "\n".join(lines)
    return _CONTROLS.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def tools(guard: PathGuard, settings: ShellSettings) -> Iterator[AnyTool]:
    """Yield the tools of this family."""
    yield RunBash(guard, settings)
