"""Positions and objects on the sky."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

TargetKind = Literal["object", "position", "solar_system"]


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
