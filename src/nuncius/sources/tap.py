"""The table access protocol (TAP): a plain POST of one query in ADQL, answered at once.

Source: https://www.ivoa.net/documents/TAP/
"""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode

from nuncius.core.errors import UpstreamError
from nuncius.sources.services import Services
from nuncius.sources.votable import Cell, Table, read_tables
from nuncius.sources.xml import said
from nuncius.walls.network import Reply

KEPT_S = 30 * 86_400
_GREATEST = 1e9  # of what is asked for here, in degrees, mag, mas, mas/yr or km/s
_LONGEST = 200
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Tap:
    """Asks the tables of one service.

    Args:
        name: The service's name in the settings, such as ``simbad_tap``.
    """

    def __init__(self, services: Services, name: str) -> None:
        self._service = services.get(name)
        self._url = f"{services.base(name)}/sync"

    async def query(self, adql: str, *, max_rows: int = 1000, keep_s: float = KEPT_S) -> Table:
        """Run one query; `overflow` of the table tells that there are more rows.

        Raises:
            QueryFailedError: The service refused it; its words are in the error.
            UpstreamError: It could not be reached, or its answer makes no sense.
        """
        form = {
            "REQUEST": "doQuery",
            "LANG": "ADQL",
            "FORMAT": "json",  # holds no mark of cut tables, so one row more than wanted is asked for
            "MAXREC": str(max_rows + 1),
            "QUERY": adql,
        }
        answer = await self._service.request(
            "POST", self._url, headers=_FORM, content=urlencode(form).encode(), keep_s=keep_s,
            accept=self._is_table,
        )  # fmt: skip
        table = self._read(answer.reply)
        if len(table.rows) > max_rows:
            return replace(table, rows=table.rows[:max_rows], overflow=True)
        return table

    def _is_table(self, reply: Reply) -> bool:
        try:
            self._read(reply)
        except UpstreamError:  # told by whoever reads the answer; here it only must not be kept
            return False
        return True

    def _read(self, reply: Reply) -> Table:
        """Read an answer; errors come with status 400 or 200, and always with a table's XML."""
        name = self._service.manners.service
        head = reply.content.lstrip()[:1]
        if reply.status != 200 and head not in {b"<", b"{"}:
            raise UpstreamError(
                name,
                self._url,
                f"it answered with HTTP {reply.status}{said(reply.content)}",
                hint="Try again later.",
            )
        tables = read_tables(reply.content, service=name, url=self._url)
        if reply.status != 200 or not tables:
            raise UpstreamError(
                name,
                self._url,
                f"it answered without a table (HTTP {reply.status})",
                hint="Try again later.",
            )
        return tables[0]


def cone(ra_deg: float, dec_deg: float, radius_arcmin: float) -> str:
    """Return the ADQL that keeps what is within a radius of a position (ICRS), poles included.

    The columns are ``ra`` and ``dec``; they are those of the catalogue's own epoch.
    """
    circle = f"CIRCLE('ICRS', {ra_deg % 360:.6f}, {dec_deg:.6f}, {radius_arcmin / 60:.6f})"
    return f"CONTAINS(POINT('ICRS', ra, dec), {circle}) = 1"


def real(record: Mapping[str, Cell], name: str) -> float | None:
    """Return a cell as a number; None where it holds none, or one that no catalogue can mean."""
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= _GREATEST else None


def on_the_sky(record: Mapping[str, Cell]) -> tuple[float, float] | None:
    """Return ``ra`` and ``dec`` of a row, in degrees; None where they are no place on the sky."""
    ra, dec = real(record, "ra"), real(record, "dec")
    if ra is None or dec is None or not (0 <= ra <= 360 and -90 <= dec <= 90):
        return None
    return ra, dec


def words(record: Mapping[str, Cell], name: str) -> str:
    """Return a cell as text, of a name's length; empty where it holds none."""
    value = record.get(name)
    if value is None or isinstance(value, bool):
        return ""
    return str(value)[:_LONGEST]
