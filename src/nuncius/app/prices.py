"""What models cost: the package's `prices.toml`, and the user's own in the home."""

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from nuncius.agent.context import Price
from nuncius.core.errors import SettingsError

NAME = "prices.toml"


class _Entry(BaseModel):
    """USD per million tokens."""

    model_config = ConfigDict(extra="forbid")

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]
    cached: Annotated[float | None, Field(ge=0)] = None


_ENTRIES = TypeAdapter(dict[str, _Entry])


def price_of(model: str, home: Path) -> Price | None:
    """Return what `model` costs, None where no file tells.

    Args:
        model: As events show it, such as ``api.openai.com/gpt-5-mini``; an entry may leave out the
            host.

    Raises:
        SettingsError: The user's file makes no sense.
    """
    own = home / NAME
    try:
        entries = _read(files("nuncius").joinpath(NAME).read_text("utf-8"))
        if own.is_file():
            entries |= _read(own.read_text("utf-8"))
    except (OSError, ValueError) as error:  # of TOML, UTF-8 and pydantic, too
        reason = error.errors()[0] if isinstance(error, ValidationError) else None
        words = f"{'.'.join(map(str, reason['loc']))}: {reason['msg']}" if reason else str(error)
        raise SettingsError(
            f"{own} cannot be used: {words}.",
            hint='An entry is ["model"] with the numbers input and output, and perhaps cached.',
        ) from error
    found = entries.get(model) or entries.get(model.partition("/")[2])
    return Price(found.input, found.output, found.cached) if found else None


def _read(text: str) -> dict[str, _Entry]:
    return _ENTRIES.validate_python(tomllib.loads(text))
