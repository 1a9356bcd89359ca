"""Pages about hooks and permissions, from the agent's code."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, get_args

from reference.markdown import code, field_docs, prose, shown, summary, table, words

from nuncius.agent import command_hooks, hooks
from nuncius.agent.command_programs import WRAPPERS
from nuncius.agent.tool import Tool
from nuncius.core.events import PermissionMode
from nuncius.core.settings import HookSetting
from nuncius.walls import names

_RESULTS = {
    "before": get_args(hooks.PreResult),
    "after": get_args(hooks.PostResult),
}


def hooks_page() -> str:
    """Return the page about hooks."""
    events = (("PreToolUse", hooks.PreToolUse), ("PostToolUse", hooks.PostToolUse))
    parts = [
        "# Hooks",
        "Code of yours around each call; [how they work](../explain/hooks.md).",
        "## In config.toml",
        "One `[[hooks]]` for each program.",
        table(("name", "type", "default", "meaning"), _settings()),
        "## What a hook is told",
    ]
    for name, event in events:
        parts += [f"### {name}", prose(_sentence(event)), table(("field", "type"), _fields(event))]
    parts += [
        (
            "A program reads the same as JSON on stdin, with `schema_version`"
            f" ({command_hooks.SCHEMA_VERSION}) and `event`; of an output it is shown at most"
            f" {hooks.SEEN_CHARACTERS:,} characters."
        ),
        "## What it may return",
        table(("result", "before", "after", "fields", "meaning"), _results()),
        "## What a program prints",
        (
            "A JSON object on stdout, at most"
            f" {command_hooks.ANSWER_BYTES // 1024**2} MB. Anything else, or a non-zero exit, is a"
            " failure of the hook."
        ),
        table(("key", "value"), [(code(key), text) for key, text in command_hooks.ANSWER.items()]),
    ]
    return "\n\n".join(parts)


def _settings() -> Iterator[tuple[str, ...]]:
    docs = field_docs(HookSetting)
    for name, field in HookSetting.model_fields.items():
        default = "required" if field.is_required() else shown(field.default)
        yield code(name), words(field.annotation), default, docs.get(name, "")


def _sentence(kind: type) -> str:
    return summary(kind.__doc__ or "")


def _fields(kind: type) -> Iterator[tuple[str, str]]:
    for field in dataclasses.fields(kind):
        yield code(field.name), code(_type(field.type))


def _type(hint: Any) -> str:
    return (
        hint
        if isinstance(hint, str)
        else getattr(hint, "__name__", str(hint).replace("typing.", ""))
    )


def _results() -> Iterator[tuple[str, ...]]:
    for kind in dict.fromkeys((*_RESULTS["before"], *_RESULTS["after"])):
        fields = ", ".join(code(field.name) for field in dataclasses.fields(kind))
        marks = ["yes" if kind in _RESULTS[when] else "" for when in ("before", "after")]
        yield code(kind.__name__), *marks, fields, _sentence(kind)


def permissions_page(tools: Sequence[Tool[Any]]) -> str:
    """Return the page about permissions."""
    return "\n\n".join(
        [
            "# Permissions",
            ("What asks, what a rule can name, what no rule opens; [how it is decided]"
            "(../explain/permissions.md)."),
            f"Modes: {', '.join(map(code, get_args(PermissionMode)))}.",
            "## The tools",
            ("A rule's subject is matched by its kind: paths as gitignore globs, commands word by"
            " word, hosts by name."),
            table(
                ("tool", "reads only", "subject", "runs beside others", "for subagents"), _rows(tools)
            ),
            "## Names that nothing opens",
            ("For reading and for writing, whatever a rule says; in a sandboxed command they are"
            " hidden."),
            ", ".join(map(code, names.PROTECTED)),
            f"At the top of the library also {' and '.join(map(code, names.PROTECTED_IN_LIBRARY))}.",
            "## Names whose writing always asks",
            "Agents obey them, or tools run them. A command can read them and not change them.",
            ", ".join(map(code, names.INSTRUCTIONS)),
            "## Programs that run others",
            ("The command behind them is judged as if it stood alone; a rule on the program itself"
            " does not cover what it runs."),
            ", ".join(map(code, sorted(WRAPPERS))),
        ]
    )  # fmt: skip


def _rows(tools: Sequence[Tool[Any]]) -> Iterator[tuple[str, ...]]:
    for tool in tools:
        subject = tool.subject_kind if type(tool).subject is not Tool.subject else "none"
        yield (
            f"[{code(tool.name)}](tools.md#{tool.name})",
            "yes" if tool.read_only else "no",
            subject,
            "yes" if tool.read_only else "by resource",
            "no" if tool.main_only else "yes",
        )
