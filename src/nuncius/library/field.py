"""What lies around a position: Gaia's stars by magnitude, SIMBAD's objects by name."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import ConfigDict, with_config

from nuncius.core.errors import NunciusError, UpstreamError
from nuncius.core.sky import FieldObject
from nuncius.library.object_types import WORDS, in_words, is_star
from nuncius.library.search import Failed, in_time, worst
from nuncius.sources.gaia import CATALOGUE as GAIA
from nuncius.sources.gaia import EPOCH as GAIA_EPOCH
from nuncius.sources.gaia import Gaia
from nuncius.sources.services import Services
from nuncius.sources.simbad import SERVICE as SIMBAD
from nuncius.sources.simbad import Simbad

WIDEST_ARCMIN = 60.0
"""The largest radius; a larger one costs the services more than a chart is worth."""
PATIENCE_S = 25.0
"""What one service may take before the chart is drawn without it."""


_TOLD = ConfigDict(use_attribute_docstrings=True)


@with_config(_TOLD)
@dataclass(frozen=True, slots=True)
class Catalogue:
    """A catalogue that answered."""

    name: str
    epoch: float
    """Of the positions as the catalogue has them, a Julian year."""
    truncated: bool
    """It has more than these: Gaia's brightest, SIMBAD's most cited."""


@with_config(_TOLD)
@dataclass(frozen=True, slots=True)
class Field:
    """A piece of the sky."""

    ra_deg: float
    dec_deg: float
    radius_arcmin: float
    frame: str
    epoch: str
    """Of the objects' positions; Gaia's were moved to it by their proper motions, where known."""
    catalogues: Sequence[Catalogue]
    objects: Sequence[FieldObject]
    """Each once: SIMBAD's by number of papers, then what only Gaia has by brightness."""
    errors: Sequence[Failed]
    """Catalogues that gave nothing."""


async def look_around(
    services: Services, ra_deg: float, dec_deg: float, *, radius_arcmin: float
) -> Field:
    """Ask both catalogues at once; one that fails does not take the other away.

    Args:
        ra_deg, dec_deg: ICRS, J2000.0.

    Raises:
        UpstreamError, AccessDeniedError: Neither answered.
    """
    asked = {
        Catalogue(GAIA, GAIA_EPOCH, truncated=False): Gaia(services),
        Catalogue(SIMBAD, 2000.0, truncated=False): Simbad(services),
    }
    answers = await asyncio.gather(
        *(
            in_time(
                one.name, client.around(ra_deg, dec_deg, radius_arcmin=radius_arcmin), PATIENCE_S
            )
            for one, client in asked.items()
        ),
        return_exceptions=True,
    )
    catalogues: list[Catalogue] = []
    found: dict[str, Sequence[FieldObject]] = {}
    faults: dict[str, NunciusError] = {}
    for one, answer in zip(asked, answers, strict=True):
        if isinstance(answer, NunciusError):
            faults[one.name] = answer
        elif isinstance(answer, BaseException):
            raise answer
        else:
            catalogues.append(replace(one, truncated=answer.truncated))
            found[one.name] = answer.objects
    if not catalogues:
        raise worst(list(faults.values()))
    return Field(
        ra_deg,
        dec_deg,
        radius_arcmin,
        frame="ICRS",
        epoch="J2000.0",
        catalogues=catalogues,
        objects=tuple(_joined(found.get(SIMBAD, ()), found.get(GAIA, ()))),
        errors=[_failed(name, fault) for name, fault in faults.items()],
    )


def _joined(named: Sequence[FieldObject], stars: Sequence[FieldObject]) -> Iterator[FieldObject]:
    """Yield each object once: what SIMBAD calls by Gaia's name takes Gaia's magnitude."""
    left = {star.name: star for star in stars}
    for one in named:
        star = left.pop(one.gaia_name, None)
        magnitude, band = (star.magnitude, star.band) if star else (one.magnitude, one.band)
        yield replace(
            one,
            type_text=in_words(one.object_type),
            is_star=_is_point(one.object_type),
            magnitude=magnitude,
            band=band,
        )
    yield from left.values()


def _is_point(code: str) -> bool:
    """Tell a star and a candidate of one: of ``LP*`` the candidate is ``LP?``."""
    certain = code.replace("?", "*") if len(code) > 1 else code
    return is_star(code) or (certain in WORDS and is_star(certain))


def _failed(name: str, fault: NunciusError) -> Failed:
    reason = fault.reason if isinstance(fault, UpstreamError) else fault.message
    return Failed(name, reason, fault.hint)
