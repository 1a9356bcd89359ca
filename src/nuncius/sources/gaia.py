"""Gaia's archive at ESA: the stars of data release 3.

Source: https://www.cosmos.esa.int/web/gaia-users/archive/programmatic-access
"""

from collections.abc import Iterator

from nuncius.core.sky import Cone, FieldObject, moved
from nuncius.sources.services import Services
from nuncius.sources.tap import Tap, cone, on_the_sky, real, words
from nuncius.sources.votable import Table

CATALOGUE = "Gaia DR3"
EPOCH = 2016.0
"""Julian year of the catalogue's positions."""


class Gaia(Tap):
    """Asks Gaia's tables."""

    def __init__(self, services: Services) -> None:
        super().__init__(services, "gaia_tap")

    async def around(
        self, ra_deg: float, dec_deg: float, *, radius_arcmin: float, most: int = 500
    ) -> Cone:
        """Return the sources around a position, the brightest first, moved to J2000.0.

        The cone is one of 2016.0: a star that moves by more than 1 arcsec/yr may be missing, or
        stick out, at its edge. A source without a known proper motion stays where it was in 2016.0.

        Raises:
            UpstreamError: Gaia's archive failed.
        """
        adql = (
            f"SELECT TOP {most + 1} source_id, ra, dec, phot_g_mean_mag, pmra, pmdec"  # noqa: S608  (numbers only; ADQL has no parameters)
            " FROM gaiadr3.gaia_source_lite"
            f" WHERE {cone(ra_deg, dec_deg, radius_arcmin)} AND phot_g_mean_mag IS NOT NULL"
            " ORDER BY phot_g_mean_mag"
        )
        table = await self.query(adql, max_rows=most)
        return Cone(tuple(_sources(table)), truncated=table.overflow)


def _sources(table: Table) -> Iterator[FieldObject]:
    for record in table.records():
        place, number = on_the_sky(record), words(record, "source_id")
        if place is None or not number:
            continue
        ra, dec = place
        pm_ra, pm_dec = real(record, "pmra"), real(record, "pmdec")
        if pm_ra is not None and pm_dec is not None:
            ra, dec = moved(ra, dec, pm_ra_mas_yr=pm_ra, pm_dec_mas_yr=pm_dec, years=2000.0 - EPOCH)
        name = f"{CATALOGUE} {number}"
        yield FieldObject(
            name=name,
            catalogue=CATALOGUE,
            ra_deg=ra,
            dec_deg=dec,
            is_star=True,
            magnitude=real(record, "phot_g_mean_mag"),
            band="G",
            pm_ra_mas_yr=pm_ra,
            pm_dec_mas_yr=pm_dec,
            gaia_name=name,
        )
