"""Positions and objects on the sky."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import ConfigDict, with_config

TargetKind = Literal["object", "position", "solar_system"]
_TOLD = ConfigDict(use_attribute_docstrings=True)
"""What stands under a field is its description in the OpenAPI document."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A number with its unit, its error and where it is from.

    Attributes:
        error: One sigma, in the same unit; None where it is not told.
        bibcode: The paper that measured it; empty where it is not told.
    """

    value: float
    unit: str
    error: float | None = None
    bibcode: str = ""


@dataclass(frozen=True, slots=True)
class Position:
    """A direction.

    Attributes:
        ra_deg, dec_deg: In degrees.
        frame: ``ICRS`` or ``FK5``...
        epoch: Of the coordinates, such as ``J2000``.
        error_arcsec: Major axis of the error ellipse, in arcseconds; None where it is not told.
    """

    ra_deg: float
    dec_deg: float
    frame: str = "ICRS"
    epoch: str = "J2000"
    error_arcsec: float | None = None
    bibcode: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """An object with a resolved name.

    Attributes:
        asked: The name as it was typed.
        name: The resolver's main name, blanks collapsed; `raw_name` as it must be asked for there.
        resolver: ``SIMBAD``, ``NED``, ``VizieR``; or ``coordinates``, where a position was typed.
        object_type: The resolver's code, such as ``V*``; `type_text` in words.
        redshift_kind: What `velocity` and `redshift` were measured as; empty where it is not told.
        magnitudes: By band.
        references: How many papers the resolver knows of it.
        cached_at: When the resolver told it, where it was kept since then; ISO 8601, UTC.
        notes: What a reader must know: an answer that was stretched, a planet asked for as its star.
    """

    asked: str
    name: str
    kind: TargetKind = "object"
    position: Position | None = None
    raw_name: str = ""
    resolver: str = ""
    object_type: str = ""
    type_text: str = ""
    spectral_type: str = ""
    morphology: str = ""
    aliases: tuple[str, ...] = ()
    pm_ra_mas_yr: Measured | None = None
    """Proper motion in right ascension, with cos(dec)."""
    pm_dec_mas_yr: Measured | None = None
    parallax_mas: Measured | None = None
    velocity_km_s: Measured | None = None
    redshift: Measured | None = None
    magnitudes: Mapping[str, Measured] = field(default_factory=dict[str, Measured])
    references: int | None = None
    cached_at: str = ""
    notes: tuple[str, ...] = ()


@with_config(_TOLD)
@dataclass(frozen=True, slots=True)
class FieldObject:
    """An object on a chart of the sky; its position is ICRS, epoch J2000.0."""

    name: str
    """The catalogue's main name."""
    catalogue: str
    """``SIMBAD`` or ``Gaia DR3``."""
    ra_deg: float
    dec_deg: float
    object_type: str = ""
    """SIMBAD's code, such as ``V*``; empty where only Gaia has it."""
    type_text: str = ""
    """The type in words."""
    is_star: bool = False
    """It is a star, or a source of Gaia that SIMBAD does not have."""
    magnitude: float | None = None
    band: str = ""
    """``G`` (Gaia's) or ``V``."""
    pm_ra_mas_yr: float | None = None
    """Proper motion in right ascension, with cos(dec)."""
    pm_dec_mas_yr: float | None = None
    major_arcmin: float | None = None
    """The whole major axis of its ellipse, not the half one."""
    minor_arcmin: float | None = None
    angle_deg: float | None = None
    """Position angle of the major axis, from north to east."""
    gaia_name: str = ""
    """Its designation in Gaia DR3, where SIMBAD has one."""


@dataclass(frozen=True, slots=True)
class Cone:
    """What one catalogue has around a position; `truncated`: it has more than this."""

    objects: tuple[FieldObject, ...]
    truncated: bool = False


def moved(
    ra_deg: float, dec_deg: float, *, pm_ra_mas_yr: float, pm_dec_mas_yr: float, years: float
) -> tuple[float, float]:
    """Return where a star is `years` later (earlier: negative), in degrees; poles are no exception.

    Args:
        pm_ra_mas_yr: Proper motion in right ascension, with cos(dec).
    """
    ra, dec = math.radians(ra_deg), math.radians(dec_deg)
    east = math.radians(pm_ra_mas_yr * years / 3.6e6)
    north = math.radians(pm_dec_mas_yr * years / 3.6e6)
    outward = math.cos(dec) - north * math.sin(dec)
    x = outward * math.cos(ra) - east * math.sin(ra)
    y = outward * math.sin(ra) + east * math.cos(ra)
    z = math.sin(dec) + north * math.cos(dec)
    return math.degrees(math.atan2(y, x)) % 360, math.degrees(math.atan2(z, math.hypot(x, y)))
