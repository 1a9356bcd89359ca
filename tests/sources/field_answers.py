"""A made-up piece of sky, played as SIMBAD's and Gaia's tables answer for it."""

import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sources.playing import Asked, Played
from sources.sesame_answers import query_of, table

_CIRCLE = re.compile(r"CIRCLE\('ICRS', ([-\d.]+), ([-\d.]+), ([-\d.]+)\)")
_TOP = re.compile(r"SELECT TOP (\d+) ")
_SIMBAD = (
    "main_id", "ra", "dec", "otype", "pmra", "pmdec", "galdim_majaxis", "galdim_minaxis",
    "galdim_angle", "V", "G", "gaia_name",
)  # fmt: skip
_GAIA = {"source_id": "long", "ra": "double", "dec": "double", "phot_g_mean_mag": "float",
         "pmra": "double", "pmdec": "double"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Star:
    """A row of Gaia's; its position is of 2016.0."""

    source_id: int
    ra: float
    dec: float
    g: float
    pm_ra: float | None = None
    pm_dec: float | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """A row of SIMBAD's; its position is of J2000.0."""

    main_id: str
    ra: float
    dec: float
    otype: str = "*"
    papers: int = 1
    v: float | None = None
    g: float | None = None
    gaia_name: str | None = None
    size: tuple[float, float, int] | None = None
    """Axes in arcmin and position angle."""
    pm_ra: float | None = None
    pm_dec: float | None = None


class SkyRule:
    """Answers cone queries from a made-up sky, in order and cut as asked."""

    def __init__(self, stars: Sequence[Star], named: Sequence[Named]) -> None:
        self.stars = sorted(stars, key=lambda star: star.g)
        self.named = sorted(named, key=lambda one: -one.papers)
        self.queries: list[str] = []

    def __call__(self, asked: Asked) -> Played | None:
        service = asked.path.split("/")[1]
        if service not in {"simbad_tap", "gaia_tap"}:
            return None
        query = query_of(asked)
        self.queries.append(query)
        if not (circle := _CIRCLE.search(query)):
            return table(["main_id"], [])
        ra, dec, radius = map(float, circle.groups())
        top = _TOP.search(query)
        most = int(top[1]) if top else None
        if service == "gaia_tap":
            stars = [star for star in self.stars if _apart(star, ra, dec) <= radius]
            return gaia_table([
                [star.source_id, star.ra, star.dec, star.g, star.pm_ra, star.pm_dec]
                for star in stars[:most]
            ])  # fmt: skip
        rows: list[Sequence[Any]] = [
            [one.main_id, one.ra, one.dec, one.otype, one.pm_ra, one.pm_dec,
             *(one.size or (None, None, None)), one.v, one.g, one.gaia_name]
            for one in self.named if _apart(one, ra, dec) <= radius
        ]  # fmt: skip
        return table(_SIMBAD, rows[:most])


def gaia_table(rows: Sequence[Sequence[Any]]) -> Played:
    """Return a table as Gaia's TAP writes it in JSON."""
    nothing = {"xtype": None, "arraysize": None, "description": None, "unit": None, "ucd": None}
    metadata = [
        {"name": name, "datatype": kind, **nothing, "utype": None} for name, kind in _GAIA.items()
    ]
    return Played.json({"metadata": metadata, "data": list(rows)})


def star_field(ra: float, dec: float, *, stars: int = 1500, seed: int = 7) -> list[Star]:
    """Return stars within a degree of a position, more of them the fainter they are."""
    chance = random.Random(seed)
    found: list[Star] = []
    for number in range(stars):
        east, north = chance.uniform(-1, 1), chance.uniform(-1, 1)
        magnitude = 19.5 + math.log10(chance.random()) / 0.25
        motion = chance.gauss(0, 8), chance.gauss(0, 8)
        found.append(
            Star(
                4_000_000_000_000_000_000 + 1_000_003 * number,
                (ra + east / math.cos(math.radians(dec + north))) % 360,
                dec + north,
                round(max(magnitude, 6.0), 3),
                *(motion if magnitude < 19 else (None, None)),
            )
        )
    return found


def _apart(one: Star | Named, ra: float, dec: float) -> float:
    """Return the angle between an object and a position, in degrees."""
    a, b = math.radians(one.dec), math.radians(dec)
    half = math.sin((b - a) / 2) ** 2
    half += math.cos(a) * math.cos(b) * math.sin(math.radians(one.ra - ra) / 2) ** 2
    return math.degrees(2 * math.asin(min(1.0, math.sqrt(half))))
