"""Asks what untyped JSON is, so that type checkers know the answer."""

from typing import Any

from typing_extensions import TypeIs


def is_object(value: Any) -> TypeIs[dict[str, Any]]:
    """Tell whether `value` is a JSON object."""
    return isinstance(value, dict)


def is_list(value: Any) -> TypeIs[list[Any]]:
    """Tell whether `value` is a JSON list."""
    return isinstance(value, list)


def as_object(value: Any) -> dict[str, Any]:
    """Return `value` if it is a JSON object, else an empty one."""
    return value if is_object(value) else {}


def as_list(value: Any) -> list[Any]:
    """Return `value` if it is a JSON list, else an empty one."""
    return value if is_list(value) else []
