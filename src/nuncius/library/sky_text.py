"""A target in words, for people and models, and in JSON, for programs."""

from collections.abc import Iterator, Mapping
from typing import Any

from nuncius.core.sky import Measured, Target
from nuncius.library.coordinates import degrees_text, hours_text

_MOST_ALIASES = 12


def describe(target: Target) -> str:
    """Return what is known of a target; every number with its unit, error and source."""
    return "\n".join(_lines(target))


def _lines(target: Target) -> Iterator[str]:
    yield _title(target)
    if place := target.position:
        error = f", error {place.error_arcsec:.3g} arcsec" if place.error_arcsec else ""
        yield (
            f"Position: RA {place.ra_deg:.8f} deg ({hours_text(place.ra_deg)}),"
            f" Dec {place.dec_deg:+.8f} deg ({degrees_text(place.dec_deg)}),"
            f" {place.frame}, {place.epoch}{error}{_source(place.bibcode)}"
        )
    if target.pm_ra_mas_yr and target.pm_dec_mas_yr:
        yield (
            f"Proper motion: RA (with cos Dec) {_value(target.pm_ra_mas_yr)} mas/yr,"
            f" Dec {_value(target.pm_dec_mas_yr)} mas/yr{_source(target.pm_ra_mas_yr.bibcode)}"
        )
    for label, measured in (
        ("Parallax", target.parallax_mas),
        ("Radial velocity", target.velocity_km_s),
        ("Redshift", target.redshift),
    ):
        if measured:
            unit = f" {measured.unit}" if measured.unit else ""
            yield f"{label}: {_value(measured)}{unit}{_source(measured.bibcode)}"
    if target.magnitudes:
        bands = (f"{band} {_value(one)}" for band, one in target.magnitudes.items())
        yield f"Magnitudes: {', '.join(bands)} mag"
    for label, text in (
        ("Spectral type", target.spectral_type),
        ("Morphology", target.morphology),
        ("Papers known there", "" if target.references is None else str(target.references)),
        ("Other names", _aliases(target)),
    ):
        if text:
            yield f"{label}: {text}"
    for note in target.notes:
        yield f"Note: {note}"
    if target.cached_at:
        yield f"Kept since {target.cached_at[:10]}."


def _title(target: Target) -> str:
    kind = target.type_text or target.object_type
    if target.type_text and target.object_type:
        kind = f"{target.type_text} ({target.object_type})"
    parts = [
        f"{target.name}: {kind or 'type not known'}",
        f"from {target.resolver}" if target.resolver else "",
        f"asked as {target.asked!r}" if target.asked != target.name else "",
    ]
    return ", ".join(part for part in parts if part)


def _aliases(target: Target) -> str:
    shown = ", ".join(target.aliases[:_MOST_ALIASES])
    more = len(target.aliases) - _MOST_ALIASES
    return f"{shown}; and {more} more" if more > 0 else shown


def _value(measured: Measured) -> str:
    error = f" ± {_plain(measured.error)}" if measured.error is not None else ""
    return f"{_plain(measured.value)}{error}"


def _plain(value: float) -> str:
    return f"{value:.10g}"


def _source(bibcode: str) -> str:
    return f" [{bibcode}]" if bibcode else ""


def shape(target: Target) -> dict[str, Any]:
    """Return a target for programs; what is not known is null or empty.

    `parallax_mas`, `velocity_km_s`, `redshift`, the magnitudes and the proper motion are numbers;
    `measured` holds them again with unit, error and bibcode.
    """
    place = target.position
    measured: Mapping[str, Measured | None] = {
        "pm_ra_mas_yr": target.pm_ra_mas_yr,
        "pm_dec_mas_yr": target.pm_dec_mas_yr,
        "parallax_mas": target.parallax_mas,
        "velocity_km_s": target.velocity_km_s,
        "redshift": target.redshift,
        **{f"mag_{band}": one for band, one in target.magnitudes.items()},
    }
    pm_ra, pm_dec = target.pm_ra_mas_yr, target.pm_dec_mas_yr
    return {
        "asked": target.asked,
        "name": target.name,
        "kind": target.kind,
        "ra_deg": place.ra_deg if place else None,
        "dec_deg": place.dec_deg if place else None,
        "frame": place.frame if place else None,
        "epoch": place.epoch if place else None,
        "error_arcsec": place.error_arcsec if place else None,
        "position_bibcode": place.bibcode if place else "",
        "object_type": target.object_type,
        "type_text": target.type_text,
        "resolver": target.resolver,
        "raw_name": target.raw_name,
        "aliases": list(target.aliases),
        "pm": {
            "ra_mas_yr": pm_ra.value if pm_ra else None,
            "dec_mas_yr": pm_dec.value if pm_dec else None,
        }
        if pm_ra or pm_dec
        else None,
        "parallax_mas": _number(target.parallax_mas),
        "velocity_km_s": _number(target.velocity_km_s),
        "redshift": _number(target.redshift),
        "magnitudes": {band: one.value for band, one in target.magnitudes.items()},
        "measured": {
            name: {"value": one.value, "unit": one.unit, "error": one.error, "bibcode": one.bibcode}
            for name, one in measured.items()
            if one
        },
        "spectral_type": target.spectral_type,
        "morphology": target.morphology,
        "references": target.references,
        "cached_at": target.cached_at or None,
        "notes": list(target.notes),
    }


def _number(measured: Measured | None) -> float | None:
    return measured.value if measured else None
