"""SIMBAD, by its tables.

Source: https://simbad.cds.unistra.fr/simbad/sim-tap
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher

from nuncius.core.sky import Cone, FieldObject, Measured, Position, Target
from nuncius.sources.services import Services
from nuncius.sources.sesame import shown_name
from nuncius.sources.tap import Tap, cone, on_the_sky, real, words
from nuncius.sources.votable import Cell, Table

SERVICE = "SIMBAD"
_BASIC = (
    "main_id, ra, dec, coo_err_maj, coo_bibcode, otype, sp_type, sp_bibcode, morph_type, pmra, pmdec,"
    " pm_bibcode, plx_value, plx_err, plx_bibcode, rvz_radvel, rvz_redshift, rvz_err, rvz_type,"
    " rvz_bibcode, nbref"
)
_BANDS = ("U", "B", "V", "R", "I", "G", "J", "H", "K")
_CATALOGUE = re.compile(r"(?P<letters>[A-Za-z][A-Za-z*]*)\s*(?P<number>\d+)(?P<rest>\S*)")
_CANDIDATES = 400
_WIDEST = 6


class Simbad(Tap):
    """Asks SIMBAD's tables."""

    def __init__(self, services: Services) -> None:
        super().__init__(services, "simbad_tap")

    async def look_up(self, name: str) -> Target | None:
        """Return the object that has this name; None: SIMBAD does not know it.

        Names are compared blank by blank there, so the usual spellings are all tried.

        Raises:
            UpstreamError: SIMBAD failed.
        """
        either = " OR ".join(f"id = {_quoted(one)}" for one in spellings(name))
        # A list of columns of ours and quoted names: ADQL has no parameters.
        adql = f"SELECT {_BASIC} FROM basic JOIN ident ON oidref = oid WHERE {either}"  # noqa: S608  (quoted; ADQL has no parameters)
        for record in (await self.query(adql, max_rows=5, keep_s=0)).records():
            if target := _target(record, asked=name):
                return target
        return None

    async def magnitudes(self, raw_name: str) -> dict[str, Measured]:
        """Return an object's magnitudes by band, without errors, by its main name as SIMBAD spells it.

        Raises:
            UpstreamError: SIMBAD failed.
        """
        adql = (
            f"SELECT {', '.join(_BANDS)} FROM allfluxes JOIN basic ON oidref = oid"  # noqa: S608  (quoted; ADQL has no parameters)
            f" WHERE main_id = {_quoted(raw_name)}"
        )
        record = next((await self.query(adql, max_rows=1)).records(), None)
        found = {band: real(record, band) for band in _BANDS} if record else {}
        return {band: Measured(value, "mag") for band, value in found.items() if value is not None}

    async def near_names(self, name: str, *, most: int = 5) -> list[str]:
        """Return known names that look like `name`, the closest first.

        Raises:
            UpstreamError: SIMBAD failed.
        """
        like = " OR ".join(f"id LIKE {_quoted(one + '%')}" for one in beginnings(name))
        if not like:
            return []
        adql = f"SELECT id FROM ident WHERE {like}"  # noqa: S608  (quoted)
        table = await self.query(adql, max_rows=_CANDIDATES)
        return closest(name, (str(record["id"]) for record in table.records()), most=most)

    async def planets(self, raw_name: str, *, most: int = 20) -> list[str]:
        """Return the planets that SIMBAD hangs on a star, by its main name as SIMBAD spells it."""
        return await self._linked(raw_name, near="parent", far="child", most=most, planets=True)

    async def host(self, raw_name: str) -> str:
        """Return the star that SIMBAD hangs a planet on, or nothing."""
        found = await self._linked(raw_name, near="child", far="parent", most=1, planets=False)
        return found[0] if found else ""

    async def around(
        self, ra_deg: float, dec_deg: float, *, radius_arcmin: float, most: int = 200
    ) -> Cone:
        """Return the objects around a position (ICRS, J2000.0), those of the most papers first.

        Raises:
            UpstreamError: SIMBAD failed.
        """
        adql = (
            f"SELECT TOP {most + 1} main_id, ra, dec, otype, pmra, pmdec, galdim_majaxis,"  # noqa: S608  (numbers only; ADQL has no parameters)
            " galdim_minaxis, galdim_angle, V, G, gaia.id AS gaia_name FROM basic"
            " LEFT JOIN allfluxes ON allfluxes.oidref = oid"
            " LEFT JOIN ident AS gaia ON gaia.oidref = oid AND gaia.id LIKE 'Gaia DR3 %'"
            f" WHERE {cone(ra_deg, dec_deg, radius_arcmin)} ORDER BY nbref DESC"
        )
        table = await self.query(adql, max_rows=most)
        # An object with two names of Gaia has two rows.
        objects = {one.name: one for one in _objects(table)}
        return Cone(tuple(objects.values()), truncated=table.overflow)

    async def _linked(
        self, raw_name: str, *, near: str, far: str, most: int, planets: bool
    ) -> list[str]:
        kind = "IN ('Pl', 'Pl?')" if planets else "NOT IN ('Pl', 'Pl?', 'Cl*', 'OpC', 'As*', 'MGr')"
        adql = (
            f"SELECT DISTINCT there.main_id FROM h_link JOIN basic AS here ON here.oid = {near}"  # noqa: S608  (quoted; ADQL has no parameters)
            f" JOIN basic AS there ON there.oid = {far}"
            f" WHERE here.main_id = {_quoted(raw_name)} AND there.otype {kind}"
        )
        table = await self.query(adql, max_rows=most)
        return sorted(shown_name(str(record["main_id"])) for record in table.records())


def spellings(name: str) -> list[str]:
    """Return how SIMBAD may write a name: ``M31`` is ``M  31`` there, Vega is ``NAME Vega``."""
    bare = " ".join(name.split())
    found = [bare]
    if match := _CATALOGUE.fullmatch(bare):
        letters = match["letters"] if len(match["letters"]) > 4 else match["letters"].upper()
        found += [
            f"{letters}{' ' * width}{match['number']}{match['rest']}" for width in range(_WIDEST)
        ]
    else:
        found += [f"* {bare}", f"V* {bare}", f"NAME {bare}"]
        if bare.islower():
            found.append(f"NAME {bare.title()}")
    return list(dict.fromkeys(found))


def beginnings(name: str) -> list[str]:
    """Return beginnings of SIMBAD's names that a mistyped one may have."""
    bare = re.sub(r"[%_]", "", " ".join(name.split()))
    if match := _CATALOGUE.match(bare):
        letters = match["letters"] if len(match["letters"]) > 4 else match["letters"].upper()
        digits = match["number"]
        stem = digits[:-1] if len(digits) > 1 else digits
        return [f"{letters}{' ' * width}{stem}" for width in range(1, 5)]
    if len(bare) < 3:
        return []
    stem = bare[: max(3, round(len(bare) * 0.6))]
    stem = stem[0].upper() + stem[1:]
    return list(dict.fromkeys((f"NAME {stem}", f"* {bare[:3].lower()}", stem)))


def closest(name: str, candidates: Iterable[str], *, most: int) -> list[str]:
    """Return the candidates that look most like `name`, without SIMBAD's prefixes."""
    asked = _squeezed(name)
    scored: dict[str, float] = {}
    for candidate in candidates:
        shown = re.sub(r"^(?:NAME|V\*|\*\*?|Cl\*?) ", "", shown_name(candidate))
        likeness = SequenceMatcher(None, asked, _squeezed(shown)).ratio()
        if likeness >= 0.6:
            scored[shown] = likeness
    return sorted(scored, key=lambda one: (-scored[one], len(one), one))[:most]


def _squeezed(name: str) -> str:
    return re.sub(r"[\s*_-]+", "", name).casefold()


def _quoted(text: str) -> str:
    """Return a string of ADQL."""
    return "'" + text.replace("'", "''") + "'"


def _target(record: Mapping[str, Cell], *, asked: str) -> Target | None:
    """Read a row of ``basic``; None without a position."""
    place = on_the_sky(record)
    if place is None:
        return None
    raw_name = words(record, "main_id")
    error_mas = real(record, "coo_err_maj")
    is_redshift = words(record, "rvz_type") in {"z", "c"}
    references = real(record, "nbref")
    return Target(
        asked=asked,
        name=shown_name(raw_name) or asked,
        raw_name=raw_name,
        resolver=SERVICE,
        position=Position(
            *place,
            error_arcsec=None if error_mas is None else error_mas / 1000,
            bibcode=words(record, "coo_bibcode"),
        ),
        object_type=words(record, "otype"),
        spectral_type=words(record, "sp_type"),
        morphology=words(record, "morph_type"),
        pm_ra_mas_yr=_measured(record, "pmra", "mas/yr", bibcode="pm_bibcode"),
        pm_dec_mas_yr=_measured(record, "pmdec", "mas/yr", bibcode="pm_bibcode"),
        parallax_mas=_measured(
            record, "plx_value", "mas", error="plx_err", bibcode="plx_bibcode"
        ),
        # One error for both, in the unit of what was measured.
        velocity_km_s=_measured(
            record, "rvz_radvel", "km/s", error="" if is_redshift else "rvz_err",
            bibcode="rvz_bibcode",
        ),
        redshift=_measured(
            record, "rvz_redshift", "", error="rvz_err" if is_redshift else "",
            bibcode="rvz_bibcode",
        ),
        references=None if references is None else int(references),
    )  # fmt: skip


def _objects(table: Table) -> Iterator[FieldObject]:
    for record in table.records():
        place = on_the_sky(record)
        if place is None:
            continue
        ra, dec = place
        band = next((band for band in ("G", "V") if real(record, band) is not None), "")
        yield FieldObject(
            name=shown_name(words(record, "main_id")),
            catalogue=SERVICE,
            ra_deg=ra,
            dec_deg=dec,
            object_type=words(record, "otype"),
            magnitude=real(record, band),
            band=band,
            pm_ra_mas_yr=real(record, "pmra"),
            pm_dec_mas_yr=real(record, "pmdec"),
            major_arcmin=real(record, "galdim_majaxis"),
            minor_arcmin=real(record, "galdim_minaxis"),
            angle_deg=real(record, "galdim_angle"),
            gaia_name=shown_name(words(record, "gaia_name")),
        )


def _measured(
    record: Mapping[str, Cell], name: str, unit: str, *, error: str = "", bibcode: str
) -> Measured | None:
    value = real(record, name)
    if value is None:
        return None
    return Measured(value, unit, real(record, error) if error else None, words(record, bibcode))
