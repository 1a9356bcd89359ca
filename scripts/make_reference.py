"""Write `docs/reference/` from the code, so that it tells what is there.

``python scripts/make_reference.py`` writes the pages; ``--check`` writes nothing, shows what
differs, and exits with 1 if anything does. Nothing of this machine gets into a page.
"""

import argparse
import asyncio
import difflib
import inspect
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from reference import agent, api, commands, tables
from reference.markdown import (
    FIELD_COLUMNS,
    Shapes,
    attribute_docs,
    bounded,
    code,
    prose,
    shown,
    summary,
    table,
    words,
)

from nuncius.agent.tool import Tool
from nuncius.agent.turn import TurnResult
from nuncius.app import open_app
from nuncius.app.config import FIELDS, config_path, load_settings
from nuncius.cli.errors import kind_of
from nuncius.cli.turn import exit_code
from nuncius.core import errors, events, settings

PROJECT = Path(__file__).resolve().parent.parent
FOLDER = PROJECT / "docs" / "reference"
HEAD = "<!-- Written by scripts/make_reference.py from the code: change the code, not this page. -->\n\n"


def pages() -> dict[str, str]:
    """Return every page's text by its file name."""
    with tempfile.TemporaryDirectory(prefix="nuncius-reference-") as folder:
        home = Path(folder).resolve()
        loaded = load_settings({"NUNCIUS_HOME": str(home)}, directory=home / "project").settings
        tools = asyncio.run(_tools(loaded))
        made = {
            "tools.md": tools_page(tools),
            "hooks.md": agent.hooks_page(),
            "permissions.md": agent.permissions_page(tools),
            "events.md": events_page(),
            "settings.md": settings_page(),
            "commands.md": commands.page(),
            "api.md": api.page(),
            "errors.md": errors_page(),
            "tables.md": tables.page(home / "nuncius.db"),
        }
    return {name: HEAD + text.rstrip() + "\n" for name, text in made.items()}


def differences(folder: Path, made: Mapping[str, str]) -> list[str]:
    """Return the lines of a unified diff from the pages in `folder` to those that were made."""
    lines: list[str] = []
    for name, text in made.items():
        path = folder / name
        there = path.read_text(encoding="utf-8") if path.is_file() else ""
        lines += difflib.unified_diff(
            there.splitlines(), text.splitlines(), f"docs/reference/{name}", "the code", lineterm=""
        )
    return lines


# --- tools ----------------------------------------------------------------------------------------


async def _tools(loaded: settings.Settings) -> list[Tool[Any]]:
    async with open_app(loaded) as app:
        found = list(app.registry())
    ours = [tool for tool in found if type(tool).__module__.startswith("nuncius.")]
    return sorted(ours, key=lambda tool: tool.name)


def tools_page(tools: Sequence[Tool[Any]]) -> str:
    overview = table(
        ("tool", "does", "kit", "reads only", "time limit"),
        (
            (
                f"[{code(tool.name)}](#{tool.name})",
                summary(tool.definition().description),
                tool.kit,
                "yes" if tool.read_only else "no",
                f"{tool.timeout_s:g} s",
            )
            for tool in tools
        ),
    )
    parts = [
        "# Tools",
        (
            "What a model may call, word for word as it reads it; `nuncius tools` prints the same."
            " Whether a call runs, asks you or is refused is settled between the tool, your rules and"
            " the mode. A call that takes longer than its limit is ended."
        ),
        overview,
    ]
    for tool in tools:
        definition = tool.definition()
        parts += [f"## {tool.name}", prose(definition.description)]
        rows = list(_arguments(definition.parameters))
        parts.append(
            table(("argument", "type", "default", "meaning"), rows) if rows else "No arguments."
        )
    return "\n\n".join(parts)


def _arguments(schema: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, ...]]:
    required = schema.get("required", ())
    for name, node in schema.get("properties", {}).items():
        default = shown(node["default"]) if "default" in node else ""
        yield (
            code(prefix + name),
            _schema_words(node),
            "required" if name in required else default or "empty",
            node.get("description", ""),
        )
        if "properties" in node.get("items", {}):
            yield from _arguments(node["items"], f"{prefix}{name}[].")


def _schema_words(node: Mapping[str, Any]) -> str:
    if "enum" in node:
        return ", ".join(map(shown, node["enum"]))
    if "const" in node:
        return shown(node["const"])
    if "anyOf" in node:
        return " or ".join(_schema_words(one) for one in node["anyOf"])
    match node["type"]:
        case "array":
            what = f"list of {_schema_words(node['items'])}"
            return what + bounded(node.get("minItems"), node.get("maxItems"), " items")
        case "string":
            length = bounded(node.get("minLength"), node.get("maxLength"), " characters")
            return f"string{length}"
        case "integer" | "number" as number:
            return number + bounded(node.get("minimum"), node.get("maximum"))
        case other:
            return str(other)


# --- events ---------------------------------------------------------------------------------------


def events_page() -> str:
    shapes = Shapes(
        {
            events.TurnStatus: "[turn status](#turn-statuses)",
            errors.ErrorKind: "[error kind](#error-kinds)",
        }
    )
    parts = [
        "# Events",
        (
            "A turn is a row of events. `nuncius ask --stream-json` prints them while they happen,"
            " `nuncius sessions replay ID --json` prints them again, one JSON object a line. Ignore"
            " types and fields that you do not know: more will come."
        ),
        "## Fields of every event",
        "`type` tells which event it is. " + prose(summary(events.Base.__doc__ or "")),
        table(FIELD_COLUMNS, shapes.rows(events.Base)),
        "## The events",
    ]
    for kind in get_args(get_args(events.Event)[0]):
        own = shapes.rows(kind, without={*events.Base.model_fields, "type"})
        parts += _shape(kind.model_fields["type"].default, kind, own)
    parts.append("## Objects in events")
    for model in shapes.seen():
        parts += _shape(model.__name__, model, shapes.rows(model))
    parts += [
        "## Turn statuses",
        (
            "The `status` of `turn_finished`, and the exit code of `nuncius ask`. Where an error ended"
            " the turn, its [own code](errors.md) counts."
        ),
        table(
            ("status", "exit code"),
            (
                (code(status), str(exit_code(TurnResult(status, ""))))
                for status in get_args(events.TurnStatus)
            ),
        ),
        "## Error kinds",
        prose(attribute_docs(errors)[""]["ErrorKind"]),
        "\n".join(f"- {code(kind)}" for kind in get_args(errors.ErrorKind)),
    ]
    return "\n\n".join(parts)


def _shape(name: str, model: type[BaseModel], rows: Sequence[Sequence[str]]) -> list[str]:
    told = prose(inspect.cleandoc(model.__doc__ or ""))
    return [f"### {name}", told, table(FIELD_COLUMNS, rows)]


# --- settings -------------------------------------------------------------------------------------


def settings_page() -> str:
    docs = attribute_docs(settings)["Settings"]
    told = _told_in_example()
    model = settings.Settings.model_fields
    rows = [
        (
            code(name),
            words(model[field].annotation) + _least(model[field]),
            _default(name),
            docs.get(field) or told.get(name, ""),
            "yes" if name in settings.DOTENV_NAMES else "no",
            "yes" if name in settings.SECRET_NAMES else "no",
        )
        for name, field in FIELDS.items()
    ]
    later = sorted(settings.DOTENV_NAMES - set(FIELDS))
    return "\n\n".join(
        [
            "# Settings",
            ("The environment wins over a project's `.env`, which wins over `config.toml`, which wins"
            " over the defaults. An empty value counts as not set. `nuncius config show` prints what"
            " is in force and where it is from."),
            table(("variable", "type", "default", "meaning", "in `.env`", "secret"), rows),
            "**In `.env`**: whether a project's own `.env` may set it. All else that stands there is"
            " named in a warning and ignored."
            + (f" {', '.join(map(code, later))} may stand there too; this version reads none of them."
               if later else ""),
            "**Secret**: never printed, not by `config show` and not in logs.",
            "## Where `config.toml` is",
            ('There the names are in small letters: `llm_model = "..."`. `nuncius config path` tells'
            " where it is, `nuncius config set NAME VALUE` writes it and keeps comments."),
            table(("where", "settings", "data directory (the default of `NUNCIUS_HOME`)"), _places()),
        ]
    )  # fmt: skip


def _least(field: FieldInfo) -> str:
    return "".join(bounded(rule.ge, None) for rule in field.metadata if hasattr(rule, "ge"))


def _default(name: str) -> str:
    """Return a default with the places of this machine taken out."""
    home, project = Path("/HOME"), Path("/PROJECT")
    loaded = load_settings({"NUNCIUS_HOME": str(home)}, directory=project).settings
    field = settings.Settings.model_fields[FIELDS[name]]
    if not field.is_required():
        return shown(field.default) if field.default not in ("", None, ()) else ""
    if name == "NUNCIUS_HOME":
        return "[by platform](#where-configtoml-is)"
    value = str(getattr(loaded, FIELDS[name]))
    if value == str(project):
        return "the current directory"
    return code(value.replace(str(home), "$NUNCIUS_HOME"))


def _told_in_example() -> dict[str, str]:
    """Return the comments beside the variables in `.env.example`."""
    text = (PROJECT / ".env.example").read_text(encoding="utf-8")
    lines = (line[2:].partition("#") for line in text.splitlines() if "=" in line)
    return {
        name.partition("=")[0].strip(): f"{comment[:1].upper()}{comment[1:]}."
        for name, _, rest in lines
        if (comment := rest.strip().removeprefix("default: "))
    }


def _places() -> list[tuple[str, str, str]]:
    from platformdirs.macos import MacOS
    from platformdirs.unix import Unix

    kept = dict(os.environ)
    for name in kept:
        if name.startswith("XDG_"):
            del os.environ[name]
    os.environ["HOME"] = "/HOME"
    try:
        rows = [
            (
                name,
                code(f"{places.user_config_dir}/config.toml".replace("/HOME", "~")),
                code(places.user_data_dir.replace("/HOME", "~")),
            )
            for name, places in (
                ("Linux", Unix("nuncius", appauthor=False)),
                ("macOS", MacOS("nuncius", appauthor=False)),
            )
        ]
    finally:
        os.environ.update(kept)
    own = str(config_path({"NUNCIUS_HOME": "/HOME"})).replace("/HOME", "$NUNCIUS_HOME")
    return [
        *rows,
        (
            "`NUNCIUS_HOME` is set",
            code(own),
            "`$NUNCIUS_HOME`",
        ),
    ]


# --- errors ---------------------------------------------------------------------------------------


def errors_page() -> str:
    kinds = list(_below(errors.NunciusError))
    docs = attribute_docs(errors)[""]
    parts = [
        "# Errors",
        (
            "Every error that nuncius raises on purpose, in `nuncius.core.errors`. `message` says what"
            " was asked and what happened, `hint` what to do next. A command ends with the error's exit"
            " code; with `--json` it prints the error's kind, the second column."
        ),
        table(
            ("error", "kind", "exit code", "meaning"),
            (
                (
                    "&nbsp;&nbsp;&nbsp;&nbsp;" * depth + code(kind.__name__),
                    "its `kind`" if kind is errors.DocumentError else code(_word(kind)),
                    str(kind.exit_code),
                    summary(kind.__doc__ or ""),
                )
                for kind, depth in kinds
            ),
        ),
        (
            "An indented error is a case of the one above it: `except UpstreamError` catches a"
            " `StreamCutError` too."
        ),
    ]
    for kind, _ in kinds:
        described = _attributes(kind)
        if described:
            parts += [f"## {kind.__name__}", table(("attribute", "meaning"), described)]
    parts += ["## Kinds of `DocumentError`", prose(docs["DocumentFault"])]
    parts.append("\n".join(f"- {code(kind)}" for kind in get_args(errors.DocumentFault)))
    parts += [
        "## Kinds of `ToolError`",
        "Those of a `tool_result`: [error kinds](events.md#error-kinds).",
    ]
    return "\n\n".join(parts)


def _below(kind: type[errors.NunciusError], depth: int = 0) -> Iterator[tuple[Any, int]]:
    yield kind, depth
    for one in kind.__subclasses__():
        if one.__module__ == errors.__name__:
            yield from _below(one, depth + 1)


def _word(kind: type[errors.NunciusError]) -> str:
    return kind_of(kind.__new__(kind))


def _attributes(kind: type[errors.NunciusError]) -> list[tuple[str, str]]:
    """Return what the section `Attributes:` of a docstring describes."""
    _, _, section = inspect.cleandoc(kind.__doc__ or "").partition("\nAttributes:\n")
    found: list[list[str]] = []
    for line in inspect.cleandoc("\n" + section).splitlines():
        if line[:1].strip():
            found.append(list(line.partition(":")[::2]))
        elif found:
            found[-1][1] += line
    return [(code(name), text) for name, text in found]


# --- the command ----------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="show what differs; write nothing")
    made = pages()
    if parser.parse_args().check:
        lines = differences(FOLDER, made)
        print("\n".join([*lines, "Run: make docs"]) if lines else "docs/reference is as the code.")
        return 1 if lines else 0
    FOLDER.mkdir(exist_ok=True)
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"docs/reference/{name}: {len(text.splitlines())} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
