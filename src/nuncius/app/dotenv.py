"""Read a project's `.env`: text that somebody else may have written."""

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_LARGEST_BYTES = 64 * 1024  # such files hold a few lines; more is a mistake or an attack
_LINE = re.compile(r"\s*(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_.]*)\s*=\s*(?P<value>.*?)\s*")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True, slots=True)
class Dotenv:
    """What a `.env` says, and the numbers of the lines that say nothing understandable."""

    values: Mapping[str, str] = field(default_factory=dict[str, str])
    unclear: tuple[int, ...] = ()


def read_dotenv(path: Path) -> Dotenv:
    """Read `NAME=value` lines; quotes, `export` and comments are understood, nothing is expanded.

    A file that is not there is empty. The last of two equal names wins, as in a shell.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not a small regular file of UTF-8 text.
    """
    try:
        # Without O_NONBLOCK a named pipe of this name would block every command.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return Dotenv()
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is not a regular file")
        raw = file.read(_LARGEST_BYTES + 1)
    if len(raw) > _LARGEST_BYTES:
        raise ValueError(f"it is larger than {_LARGEST_BYTES // 1024} kB")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8 text") from error
    return parse_dotenv(text)


def parse_dotenv(text: str) -> Dotenv:
    """Parse the text of a `.env`; see `read_dotenv`."""
    values: dict[str, str] = {}
    unclear: list[int] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        value = _unquote(match["value"]) if match else None
        if match is None or value is None:
            unclear.append(number)
        else:
            values[match["name"]] = value
    return Dotenv(values, tuple(unclear))


def _unquote(value: str) -> str | None:
    quote = value[:1]
    if quote not in {"'", '"'}:
        return re.split(r"(?:^|\s)#", value, maxsplit=1)[0].rstrip()
    body = r"(?:[^\\\"]|\\.)*" if quote == '"' else "[^']*"
    match = re.fullmatch(rf"{quote}({body}){quote}\s*(?:#.*)?", value)
    if not match:
        return None
    if quote == "'":
        return match[1]
    return _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), match[1])
