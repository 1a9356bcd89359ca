"""Hooks as commands: a program of the user's that reads the call as JSON and answers in JSON.

It runs with the user's rights outside the sandbox, because it is the user's own; it does not get
the user's keys. The format is in ``docs/explain/hooks.md``.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from typing_extensions import override

from nuncius.agent.arguments import shorten
from nuncius.agent.hooks import (
    AppendContext,
    Block,
    Failing,
    Hook,
    HookError,
    HookEvent,
    MutateInput,
    MutateOutput,
    PermissionRequired,
    PostResult,
    PostToolUse,
    PreResult,
    PreToolUse,
)
from nuncius.core.errors import NunciusError
from nuncius.core.shapes import is_object
from nuncius.walls.spawn import run_child

SCHEMA_VERSION = 1
ANSWER_BYTES = 4 * 1024 * 1024
"""Longest answer that is read."""

ANSWER: Mapping[str, str] = {
    "decision": "`allow`, `block` or `ask`; required",
    "reason": "why, for the model and for people",
    "context": "text to put below the result",
    "arguments": "an object that takes the place of the arguments; before the call only",
    "output": "text that takes the place of the output; after the call only",
}
"""What a program may print, as one JSON object."""

_PASSED = frozenset(
    """PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TERM DISPLAY WAYLAND_DISPLAY
    DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME
    XDG_STATE_HOME SSL_CERT_FILE SSL_CERT_DIR""".split()
)


def bare_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a user's program needs to run; keys and tokens are none of them."""
    return {
        name: value
        for name, value in environment.items()
        if name in _PASSED or name.startswith("LC_")
    }


class CommandHook(Hook):
    """One program, run once for each call.

    Args:
        command: Program and arguments, no shell line; a bare name is looked up on the PATH.
        environment: All variables that it gets.
        folder: Its working directory; never a project, whose files others may have written.
    """

    def __init__(
        self,
        event: HookEvent,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: Path,
        match: str = "*",
        timeout_s: float = 30.0,
        fail: Failing = "closed",
    ) -> None:
        self._event: HookEvent = event
        self._command = tuple(command)
        self._environment = dict(environment)
        self._folder = folder
        self.match = match
        self.timeout_s = timeout_s
        self.fail = fail

    @property
    @override
    def name(self) -> str:
        return shorten(" ".join(Path(word).name for word in self._command[:2]), 60)

    @property
    @override
    def events(self) -> frozenset[HookEvent]:
        return frozenset({self._event})

    @override
    async def pre_tool_use(self, use: PreToolUse) -> Sequence[PreResult]:
        answer = await self._run(_told("PreToolUse", use))
        if answer.output is not None:
            raise HookError("it answered with an output, which there is none of before the call")
        results: list[PreResult] = []
        if answer.context:
            results.append(AppendContext(answer.context))
        if answer.arguments is not None:
            results.append(MutateInput(answer.arguments))
        if answer.decision == "block":
            results.append(Block(answer.reason))
        elif answer.decision == "ask":
            results.append(PermissionRequired(answer.reason or "it gave no reason"))
        return results

    @override
    async def post_tool_use(self, use: PostToolUse) -> Sequence[PostResult]:
        told = _told("PostToolUse", use)
        told |= {"output": use.output, "is_error": use.is_error, "error_kind": use.error_kind}
        answer = await self._run(told)
        if answer.arguments is not None or answer.decision == "ask":
            raise HookError("after the call it can neither change the arguments nor have one asked")
        results: list[PostResult] = []
        if answer.context:
            results.append(AppendContext(answer.context))
        if answer.output is not None:
            results.append(MutateOutput(answer.output))
        if answer.decision == "block":
            results.append(Block(answer.reason))
        return results

    async def _run(self, told: Mapping[str, Any]) -> "_Answer":
        path = self._environment.get("PATH", "")
        if shutil.which(self._command[0], path=path) is None:
            raise HookError(f"there is no program {self._command[0]!r}")
        try:
            ended = await run_child(
                self._command,
                stdin=json.dumps(told, ensure_ascii=False).encode("utf-8", "replace"),
                timeout_s=self.timeout_s,
                output_cap_bytes=ANSWER_BYTES,
                sandbox="off",
                environment=self._environment,
                cwd=self._folder,
            )
        except NunciusError as error:
            raise HookError(error.message) from error
        if ended.timed_out:
            raise HookError(f"it took longer than {self.timeout_s:g} s", timed_out=True)
        if ended.exit_code != 0:
            raise HookError(
                f"it ended with exit code {ended.exit_code}", detail=_last(ended.stderr)
            )
        if ended.truncated:
            raise HookError(f"it printed more than {ANSWER_BYTES // 2**20} MB")
        return _Answer(ended.stdout)


class _Answer:
    """What the program printed: one JSON object.

    Raises:
        HookError: It is something else, or says what makes no sense.
    """

    def __init__(self, printed: bytes) -> None:
        try:
            value = json.loads(printed.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            shown = shorten(printed[:400].decode("utf-8", "replace"), 100)
            raise HookError("it printed no JSON", detail=f"it printed {shown!r}") from error
        if not is_object(value):
            raise HookError("it printed JSON that is no object")
        self.decision: object = value.get("decision")
        if self.decision not in ("allow", "block", "ask"):
            shown = shorten(repr(self.decision), 40)
            raise HookError(f"its decision is {shown}, not allow, block or ask")
        self.reason = _text(value, "reason") or ""
        self.context = _text(value, "context")
        self.output = _text(value, "output")
        arguments = value.get("arguments")
        if arguments is not None and not is_object(arguments):
            raise HookError("its arguments are no JSON object")
        self.arguments = arguments


def _text(value: Mapping[str, Any], key: str) -> str | None:
    text = value.get(key)
    if text is not None and not isinstance(text, str):
        raise HookError(f"its {key} is no text")
    return text


def _told(event: HookEvent, use: PreToolUse | PostToolUse) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "event": event,
        "session_id": use.session_id,
        "turn_id": use.turn_id,
        "agent": use.agent,
        "tool": use.tool,
        "tool_call_id": use.tool_call_id,
        "arguments": dict(use.arguments),
    }


def _last(stderr: bytes) -> str:
    """Return the last line of what the program complained of, for people."""
    lines = stderr[-2_000:].decode("utf-8", "replace").strip().splitlines()
    return shorten(lines[-1], 200) if lines else ""
