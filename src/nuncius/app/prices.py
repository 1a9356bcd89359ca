"""What models cost: the package's `prices.toml`, and the user's own in the home."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from nuncius.agent.context import Price
from nuncius.agent.fallback import WithFallback
from nuncius.core.errors import SettingsError
from nuncius.core.settings import Settings
from nuncius.llm.model import ChatModel

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


def prices_of(chat: ChatModel, settings: Settings) -> Mapping[str, Price]:
    """Return what a model and its fallback cost, by their names.

    Raises:
        SettingsError: Their cost is limited, and nobody knows a price.
    """
    prices: dict[str, Price] = {}
    for model in (chat.first, chat.second) if isinstance(chat, WithFallback) else (chat,):
        price = price_of(model.name, settings.home)
        if price is None and settings.max_cost_usd is not None:
            if not model.local:
                raise SettingsError(
                    f"NUNCIUS_MAX_COST_USD is set, and no price of {model.name} is known.",
                    hint=f"Write its price into {settings.home / NAME}, or set"
                    " NUNCIUS_MAX_TOKENS instead.",
                )
            price = Price(0.0, 0.0)
        if price is not None:
            prices[model.name] = price
    return prices
