"""Resolve what people call things on the sky: positions, names, planets, bodies that move."""

from collections.abc import Sequence
from dataclasses import replace

from nuncius.core.errors import (
    AccessDeniedError,
    NotFoundError,
    NunciusError,
    UpstreamError,
    UsageError,
)
from nuncius.core.sky import Target
from nuncius.core.text import clean
from nuncius.library.coordinates import position_in_name, read_position
from nuncius.library.field import Field, look_around
from nuncius.library.object_types import in_words, is_planet, is_star
from nuncius.library.solar_system import find_body
from nuncius.sources.object_names import constellations, standard_name, star_of_planet
from nuncius.sources.services import Services
from nuncius.sources.sesame import Looked, Sesame
from nuncius.sources.simbad import Simbad

_LONGEST = 200
_BODY_NOTES = (
    "It moves: SIMBAD, NED and VizieR hold no position of it.",
    "Where it is at a time: JPL Horizons, https://ssd.jpl.nasa.gov/horizons/.",
    "What it is: SsODNet, https://ssp.imcce.fr/webservices/ssodnet/.",
    "If something beyond the Solar System is meant, give its designation in a catalogue.",
)


class Targets:
    """Finds out what a name means and where it is."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._sesame = Sesame(services)
        self._sesame_url = services.base("sesame")
        self._simbad = Simbad(services)

    async def resolve(self, name: str) -> Target:
        """Find the object that a name means.

        What is typed as a position is read here, and what belongs to the Solar System is told so;
        all else is asked for at Sesame (SIMBAD, then NED, then VizieR).

        Raises:
            UsageError: The name is blank, too long, or a position that is not on the sky.
            NotFoundError: Nobody knows the name; near ones are in the hint.
            UpstreamError: It could not be asked for.
            AccessDeniedError: Nothing may leave this machine, and nothing was kept.
        """
        asked = _readable(name)
        if known := _without_asking(asked):
            return known
        query = standard_name(asked)
        try:
            looked = (await self._sesame.look_up([query]))[0]
        except (UpstreamError, AccessDeniedError) as error:
            return await self._stand_in(asked, query, error)
        return await self._settle(asked, query, looked)

    async def resolve_all(self, names: Sequence[str]) -> list[Target | NunciusError]:
        """Resolve many names with few requests; the list has their order and number.

        A name that comes to nothing has its error in its place.
        """
        results: list[Target | NunciusError | None] = []
        queries: dict[int, tuple[str, str]] = {}
        for place, name in enumerate(names):
            try:
                asked = _readable(name)
                results.append(_without_asking(asked))
            except UsageError as error:
                results.append(error)
                continue
            if results[place] is None:
                queries[place] = asked, standard_name(asked)
        try:
            looked = await self._sesame.look_up([query for _, query in queries.values()])
        except (UpstreamError, AccessDeniedError):  # each name's own attempt tells its own error
            looked = [None] * len(queries)
        for (place, (asked, query)), one in zip(queries.items(), looked, strict=True):
            try:
                found = self._settle(asked, query, one) if one else self.resolve(asked)
                results[place] = await found
            except NunciusError as error:
                results[place] = error
        return [one for one in results if one is not None]

    async def around(self, ra_deg: float, dec_deg: float, *, radius_arcmin: float) -> Field:
        """Tell what lies around a position; see `look_around`."""
        return await look_around(self._services, ra_deg, dec_deg, radius_arcmin=radius_arcmin)

    async def _settle(self, asked: str, query: str, looked: Looked) -> Target:
        if looked.target:
            return await self._with_kin(_as_asked(looked.target, asked, query))
        if looked.failed:
            error = UpstreamError(
                "Sesame",
                self._sesame_url,
                f"{asked!r} could not be looked up: {'; '.join(looked.failed)}",
                hint="Try again later, or give another designation.",
            )
            return await self._stand_in(asked, query, error)
        return await self._missed(asked, query)

    async def _stand_in(
        self, asked: str, query: str, error: UpstreamError | AccessDeniedError
    ) -> Target:
        """Ask SIMBAD itself where Sesame failed, then look into the name.

        Raises:
            UpstreamError, AccessDeniedError: The first failure, if nothing helps.
        """
        if isinstance(error, UpstreamError):
            try:
                if target := await self._simbad.look_up(query):
                    magnitudes = await self._simbad.magnitudes(target.raw_name)
                    target = replace(target, magnitudes=magnitudes)
            except UpstreamError:  # both are down: the first failure is the one to tell
                target = None
            if target:
                note = f"Sesame failed ({error.reason}); SIMBAD itself was asked."
                target = replace(target, notes=(*target.notes, note))
                return await self._with_kin(_as_asked(target, asked, query))
        if inside := _inside_name(asked, "could not be asked for"):
            return inside
        raise error

    async def _missed(self, asked: str, query: str) -> Target:
        """Try the star of a planet, then the position in the name.

        Raises:
            NotFoundError: None of it.
        """
        if parts := star_of_planet(query):
            star, letter = parts
            looked = (await self._sesame.look_up([star]))[0]
            if looked.target and is_star(looked.target.object_type):
                note = (
                    f"No resolver has an entry for planet {letter}:"
                    f" this is its star, {looked.target.name}, with the star's data."
                )
                target = _as_asked(looked.target, asked, query)
                return await self._with_kin(replace(target, notes=(note, *target.notes)))
        if inside := _inside_name(asked, "is not known to SIMBAD, NED and VizieR"):
            return inside
        spelled = f" (asked for as {query!r})" if query != asked else ""
        raise NotFoundError(
            f"SIMBAD, NED and VizieR know no object called {asked!r}{spelled}.",
            hint=await self._suggestion(query),
        )

    async def _suggestion(self, query: str) -> str:
        try:
            near = await self._simbad.near_names(query)
        except (UpstreamError, AccessDeniedError):  # the miss itself is told all the same
            near = []
        if near:
            return f"Names like it in SIMBAD: {', '.join(near)}."
        return "Check the spelling, or give another designation or a position."

    async def _with_kin(self, target: Target) -> Target:
        """Add a planet's star or a star's planets, and the type in words."""
        target = replace(target, type_text=in_words(target.object_type))
        if target.resolver != "SIMBAD" or not target.raw_name:
            return target
        try:
            if is_planet(target.object_type):
                star = await self._simbad.host(target.raw_name)
                note = f"Its star in SIMBAD: {star}." if star else ""
            elif is_star(target.object_type):
                planets = await self._simbad.planets(target.raw_name)
                note = f"Its planets in SIMBAD: {', '.join(planets)}." if planets else ""
            else:
                note = ""
        except (UpstreamError, AccessDeniedError):
            note = "Whether it has planets or a star in SIMBAD could not be asked."
        return replace(target, notes=(*target.notes, note)) if note else target


def _readable(name: str) -> str:
    """Return a name as it can be asked for.

    Raises:
        UsageError: It is blank or too long.
    """
    asked = " ".join(clean(name).split())
    if not asked.strip("*'\" "):
        raise UsageError("The name is empty.", hint="Give an object's name, such as 'M 1'.")
    if len(asked) > _LONGEST:
        raise UsageError(
            f"The name has {len(asked)} characters; no object's name is that long.",
            hint="Give one name at a time.",
        )
    return asked


def _without_asking(asked: str) -> Target | None:
    """Tell a position and a body of the Solar System, for which nobody need be asked."""
    if place := read_position(asked):
        note = f"Read as RA {place.ra_deg:.6f} deg, Dec {place.dec_deg:+.6f} deg ({place.frame})."
        return Target(
            asked=asked,
            name=asked,
            kind="position",
            position=place,
            resolver="coordinates",
            type_text="position",
            notes=(note, "It was not asked what lies there."),
        )
    body = find_body(asked, constellations=frozenset(constellations()))
    if body is None:
        return None
    return Target(
        asked=asked, name=body[0], kind="solar_system", type_text=body[1], notes=_BODY_NOTES
    )


def _as_asked(target: Target, asked: str, query: str) -> Target:
    if asked == query:
        return replace(target, asked=asked)
    return replace(target, asked=asked, notes=(f"Asked for as {query}.", *target.notes))


def _inside_name(asked: str, why: str) -> Target | None:
    """Return the position that a designation carries, with why it is all there is."""
    place = position_in_name(asked)
    if place is None:
        return None
    note = f"The name {why}: this position was read from its digits, which are cut, not rounded."
    return Target(
        asked=asked,
        name=asked,
        kind="position",
        position=place,
        resolver="coordinates",
        type_text="position in a designation",
        notes=(note,),
    )
