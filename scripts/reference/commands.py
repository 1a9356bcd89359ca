"""The page of commands: what each takes, what its options mean, how it ends."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args

import typer
from reference.markdown import bounded, code, prose, shown, summary, table, words
from typer.main import get_command

from nuncius.agent.turn import TurnResult
from nuncius.cli import commands, main, tools
from nuncius.cli.turn import exit_code
from nuncius.core import errors, events


def page() -> str:
    root = get_command(commands.app)
    every = [(name, command) for name, command in _below(root, "nuncius") if not _is_group(command)]
    parts = [
        "# Commands",
        f"{root.help} {root.epilog}",
        (
            "Every command has `-h` and `--help`. With `--json` it prints one object (or one a line) for"
            " programs on stdout; all else goes to stderr. `--` ends the options."
        ),
        table(
            ("command", "does"),
            (
                (f"[{code(name)}](#{name.replace(' ', '-')})", summary(command.help or ""))
                for name, command in every
            ),
        ),
        "## Options of `nuncius` itself",
        _table_of(root),
    ]
    for name, command in every:
        parts += [f"## {name}", f"```\n{_usage(name, command)}\n```", prose(command.help or "")]
        parts += [_table_of(command), *_own_exits(command)]
    parts += [
        "## Exit codes",
        (
            "By [error](errors.md), by [status of a turn](events.md#turn-statuses) (`ask`), by"
            " [error kind](events.md#error-kinds) (`tool`)."
        ),
        _exit_codes(),
    ]
    return "\n\n".join(part for part in parts if part)


def _is_group(command: Any) -> bool:
    return bool(getattr(command, "commands", None))


def _below(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    yield name, command
    for word, one in getattr(command, "commands", {}).items():
        if not one.hidden:
            yield from _below(one, f"{name} {word}")


def _usage(name: str, command: Any) -> str:
    places = [_place(one) for one in command.params if one.param_type_name == "argument"]
    return " ".join([name, *places, "[OPTIONS]"])


def _place(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    if argument.nargs == -1 and not name.endswith("..."):
        name += "..."
    return name if argument.required else f"[{name}]"


# --- options --------------------------------------------------------------------------------------


def _table_of(command: Any) -> str:
    function = inspect.unwrap(command.callback)
    written = _written_defaults(function)
    hints = {name: one.annotation for name, one in _signature(function).items()}
    rows = [
        (
            _spelling(one),
            _takes(one, hints[one.name]),
            written.get(one.name, ""),
            one.help or "",
        )
        for one in command.params
        if not one.hidden and one.name != "help"
    ]
    return table(("argument or option", "takes", "default", "meaning"), rows) if rows else ""


def _signature(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function, eval_str=True).parameters


def _spelling(one: Any) -> str:
    if one.param_type_name == "argument":
        return code(_place(one))
    names = ", ".join(map(code, [*one.opts, *one.secondary_opts]))
    return f"{names} {code(one.metavar)}" if one.metavar else names


def _takes(one: Any, hint: Any) -> str:
    if getattr(one, "is_flag", False):
        return ""
    annotation = get_args(hint)[0]  # of Annotated[type, typer.Option(...)]
    kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
    if one.multiple or one.nargs == -1:
        kinds = [kind for kind in (get_args(kinds[0]) or kinds) if kind is not type(None)]
    plain = kinds[0] if len(kinds) == 1 and isinstance(kinds[0], type) else annotation
    text = words(plain).removesuffix(" or null") + bounded(one.min, one.max)
    return f"{text}; may be repeated" if one.multiple else text


def _written_defaults(function: Callable[..., Any]) -> dict[str, str]:
    """Return defaults as the source writes them: what depends on the machine stays a formula."""
    arguments = _tree(function).args
    named = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(reversed(named), reversed(arguments.defaults), strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    constants = _Constants(vars(sys.modules[function.__module__]))
    found: dict[str, str] = {}
    for argument, default in pairs:
        match default:
            case None | ast.Constant(value=None | False | ""):
                continue
            case ast.Constant(value=value):
                found[argument.arg] = shown(value)
            case _:
                found[argument.arg] = code(ast.unparse(constants.visit(default)))
    return found


class _Constants(ast.NodeTransformer):
    """Puts a module's numbers and texts in the place of their names."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self._names.get(node.id)
        return ast.Constant(value) if isinstance(value, int | float | str) else node


def _tree(function: Callable[..., Any]) -> ast.FunctionDef:
    body = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(body, ast.FunctionDef)
    return body


# --- how commands end -----------------------------------------------------------------------------


def _own_exits(command: Any) -> Iterator[str]:
    """Tell where a command ends with a code that no error brings: `raise typer.Exit(1)`."""
    for node in ast.walk(_tree(inspect.unwrap(command.callback))):
        if isinstance(node, ast.If):
            match node.body[-1]:
                case ast.Raise(
                    exc=ast.Call(func=ast.Attribute(attr="Exit"), args=[ast.Constant(v)])
                ):
                    yield f"Ends with {v} where this holds: {code(ast.unparse(node.test))}."
                case _:
                    pass


def _exit_codes() -> str:
    ends: dict[int, tuple[list[str], list[str], list[str], list[str]]] = {}

    def note(number: int, column: int, text: str) -> None:
        ends.setdefault(number, ([], [], [], []))[column].append(text)

    note(0, 3, "Done.")
    for kind in _errors(errors.NunciusError):
        note(kind.exit_code, 0, code(kind.__name__))
    for status in get_args(events.TurnStatus):
        note(exit_code(TurnResult(status, "")), 1, code(status))
    for kind in get_args(errors.ErrorKind):
        note(tools._EXIT_OF_KIND.get(kind, 1), 2, code(kind))  # noqa: SLF001
    note(1, 3, "Anything that nuncius did not foresee.")
    note(typer.BadParameter.exit_code, 3, "Words or options that the command does not know.")
    note(main.CANCELLED, 3, "Ctrl-C or SIGTERM.")
    note(main.READER_GONE, 3, "The reader of stdout went away.")
    return table(
        ("code", "error", "status of a turn", "error kind of `nuncius tool`", "else"),
        (
            (str(number), *(", ".join(column) for column in columns[:3]), " ".join(columns[3]))
            for number, columns in sorted(ends.items())
        ),
    )


def _errors(kind: type[errors.NunciusError]) -> Iterator[type[errors.NunciusError]]:
    yield kind
    for one in kind.__subclasses__():
        if one.__module__ == errors.__name__:
            yield from _errors(one)
