"""The command `target`: where an object on the sky is, and what it is."""

from typing import Annotated

import typer

from nuncius.cli import screen
from nuncius.cli.options import Json
from nuncius.cli.start import with_app


def target(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A name or a position, such as 'M 31'.")
    ],
    json: Json = False,
) -> None:
    """Tell where an object on the sky is and what it is.

    SIMBAD is asked first, then NED, then VizieR.
    """
    from nuncius.library.sky_text import describe, shape

    found = with_app(lambda app: app.targets.resolve(name))
    if json:
        screen.emit(shape(found))
        return
    title, *lines = describe(found).split("\n")
    screen.out(screen.paint(title, "bold"))
    for line in lines:
        screen.out(line)
