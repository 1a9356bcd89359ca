"""Markdown for the reference: tables, types in words, and docstrings that stand under a field."""

import ast
import inspect
import itertools
import json
import re
import types
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

FIELD_COLUMNS = ("field", "type", "default", "meaning")
_SPANS = re.compile(r"(`+[^`]*`+)")
_NAMES: Mapping[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
    Path: "path",
    Any: "any",
}


def code(text: str) -> str:
    return f"`{text}`"


def shown(value: Any) -> str:
    """Return a value as JSON; of a model whose fields all have their defaults, only that it is one."""
    plain = {} if isinstance(value, BaseModel) else to_jsonable_python(value)
    return code(json.dumps(plain, ensure_ascii=False))


def prose(text: str) -> str:
    """Return text whose angle brackets are no HTML."""
    parts = _SPANS.split(text)
    return "".join(part if part[:1] == "`" else part.replace("<", "&lt;") for part in parts)


def cell(text: str) -> str:
    return prose(" ".join(text.split())).replace("|", "\\|")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(map(cell, line))} |" for line in lines)


def summary(docstring: str) -> str:
    """Return the first paragraph of a docstring."""
    return inspect.cleandoc(docstring).split("\n\n", 1)[0]


def bounded(least: float | None, most: float | None, unit: str = "") -> str:
    """Return ` (1 to 50 characters)`, or what is known of it."""
    match least, most:
        case None, None:
            return ""
        case 1, None if unit:
            return " (not empty)"
        case _, None:
            return f" (at least {_number(least)}{unit})"
        case None, _:
            return f" (at most {_number(most)}{unit})"
        case _:
            return f" ({_number(least)} to {_number(most)}{unit})"


def _number(value: float) -> str:
    return str(value) if abs(value) < 10_000 else f"{value:,}"


def words(annotation: Any, named: Mapping[Any, str] | None = None) -> str:
    """Return a type in the words of JSON; `named` are types that a reader finds elsewhere."""
    for one, link in (named or {}).items():
        if annotation == one:
            return link
    if annotation in _NAMES:
        return _NAMES[annotation]
    inner = [one for one in get_args(annotation) if one is not Ellipsis]
    origin = get_origin(annotation)
    if origin is Literal:
        return ", ".join(map(shown, inner))
    if origin in (Union, types.UnionType):
        return " or ".join(words(one, named) for one in inner)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        of = words(inner[1], named)
        return "object" if of == "any" else f"object of {of}"
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return f"list of {words(inner[0], named)}"
    if isinstance(annotation, type):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    raise TypeError(f"The reference has no words for the type {annotation!r}.")


class Shapes:
    """Models as tables; remembers which further models they speak of.

    Args:
        named: Types that are described on the page under a heading of their own.
    """

    def __init__(self, named: Mapping[Any, str]) -> None:
        self._named = named
        self._seen: dict[type[BaseModel], None] = {}

    def rows(self, model: type[BaseModel], without: Iterable[str] = ()) -> list[Sequence[str]]:
        docs = field_docs(model)
        left_out = set(without)
        found: list[Sequence[str]] = []
        for name, field in model.model_fields.items():
            if name not in left_out:
                self._remember(field.annotation)
                kind = words(field.annotation, self._named)
                found.append((code(name), kind, _default(field), docs.get(name, "")))
        return found

    def seen(self) -> list[type[BaseModel]]:
        """Return all models that fields hold, also those that only such models hold."""
        done: set[type[BaseModel]] = set()
        while left := [model for model in self._seen if model not in done]:
            for model in left:
                self.rows(model)
                done.add(model)
        return list(self._seen)

    def _remember(self, annotation: Any) -> None:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            self._seen[annotation] = None
        for one in get_args(annotation):
            self._remember(one)


def _default(field: FieldInfo) -> str:
    return (
        "required" if field.is_required() else shown(field.get_default(call_default_factory=True))
    )


def field_docs(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstrings under the fields of a model and of its bases."""
    found: dict[str, str] = {}
    for one in reversed(model.__mro__):
        if issubclass(one, BaseModel) and one is not BaseModel:
            found |= attribute_docs(inspect.getmodule(one)).get(one.__name__, {})
    return found


@cache
def attribute_docs(module: types.ModuleType) -> dict[str, dict[str, str]]:
    """Return the docstrings under the names of each class, and of the module as class ''."""
    tree = ast.parse(inspect.getsource(module))
    bodies = {"": tree.body} | {
        node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)
    }
    return {name: _under_names(body) for name, body in bodies.items()}


def _under_names(body: Sequence[ast.stmt]) -> dict[str, str]:
    found: dict[str, str] = {}
    for node, following in itertools.pairwise(body):
        match node, following:
            case (
                (ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)])),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = inspect.cleandoc(text)
            case _:
                pass
    return found
