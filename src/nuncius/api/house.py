"""What every route works with."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from nuncius.api.access import Access
from nuncius.api.events import Live
from nuncius.api.tasks import Tasks
from nuncius.api.turns import Turns
from nuncius.app.serving import ServedApp


@dataclass(frozen=True, slots=True)
class House:
    """One served home."""

    app: ServedApp
    access: Access
    live: Live
    turns: Turns
    tasks: Tasks

    @staticmethod
    def of(app: ServedApp, access: Access) -> "House":
        """Return the parts around an open home."""
        live = Live(app.journal, app.close_if_dead)
        return House(app, access, live, Turns(app, live), Tasks(app))


def _house(request: Request) -> House:
    house: House = request.app.state.house
    return house


Home = Annotated[House, Depends(_house)]
