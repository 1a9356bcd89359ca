"""Read the tables that services of the Virtual Observatory send.

Only what is written out (``TABLEDATA``) and the JSON of CDS's TAP; tables in BINARY are refused. A
failure comes in three dresses, and all of them are errors here: ``QUERY_STATUS=ERROR`` (TAP), an
``INFO`` named Error (SIMBAD), and NED's ``QUERY_STATUS=OK`` beside a ``PARAM`` named Error.

Source: https://www.ivoa.net/documents/VOTable/ and https://www.ivoa.net/documents/DALI/
"""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from nuncius.core.errors import UpstreamError
from nuncius.core.shapes import as_list, as_object, is_list, is_object
from nuncius.core.text import clean
from nuncius.sources.xml import Element, parse, said

Cell: TypeAlias = str | int | float | bool | None
_INTEGERS = frozenset({"unsignedByte", "short", "int", "long"})
_REALS = frozenset({"float", "double"})
_TEXTS = frozenset({"char", "unicodeChar"})
_WORDS = 600


class QueryFailedError(UpstreamError):
    """The service read the query and says that it failed; `reason` holds its words."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column; what the service does not say is empty."""

    name: str
    datatype: str = ""
    unit: str = ""
    ucd: str = ""
    description: str = ""
    null: str = ""
    """How the service writes "no value" here."""
    is_array: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    Attributes:
        rows: Cells in the order of `columns`; None: no value.
        overflow: The service had more rows than it sent.
        warnings: Its own words.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    name: str = ""
    description: str = ""
    overflow: bool = False
    warnings: tuple[str, ...] = ()

    def records(self) -> Iterator[dict[str, Cell]]:
        """Yield rows by name of column; of columns with one name, the first."""
        for row in self.rows:
            record: dict[str, Cell] = {}
            for column, cell in zip(self.columns, row, strict=True):
                record.setdefault(column.name, cell)
            yield record


def read_tables(content: bytes, *, service: str, url: str) -> tuple[Table, ...]:
    """Return the tables of an answer, in XML or in CDS's JSON.

    Raises:
        QueryFailedError: The answer tells a failure.
        UpstreamError: It is no table, or one in a form that is not read.
    """
    if content.lstrip()[:1] == b"{":
        return (_read_json(content, service=service, url=url),)
    root = parse(content, service=service, url=url)
    if root.name != "VOTABLE":
        raise UpstreamError(
            service,
            url,
            f"the answer is no table but <{root.name}>{said(content)}",
            hint="Check the service's address in the settings.",
        )
    overflow, warnings = _status(root, service=service, url=url)
    tables = tuple(_tables(root, service=service, url=url))
    return tuple(
        Table(one.columns, one.rows, one.name, one.description, overflow, warnings)
        for one in tables
    )


def _status(root: Element, *, service: str, url: str) -> tuple[bool, tuple[str, ...]]:
    """Return whether rows are missing, and the warnings.

    Raises:
        QueryFailedError: One of the three ways to say so.
    """
    overflow = False
    warnings: list[str] = []
    of_tables = {id(one) for table in root.all("TABLE") for one in table.all("PARAM")}
    for element in root.all("INFO", "PARAM"):
        if id(element) in of_tables:
            continue  # a table's own value, whatever its name
        name, value = element.get("name"), element.get("value")
        status = value.strip().upper() if name.upper() == "QUERY_STATUS" else ""
        if name.lower() == "error" or status == "ERROR":
            words = " ".join((element.text.strip() or ("" if status else value)).split())
            raise QueryFailedError(
                service,
                url,
                f"the query failed: {words[:_WORDS] or 'it does not say why'}",
                hint="Read the service's words, change the query and ask again.",
            )
        if status == "OVERFLOW":
            overflow = True
        elif name.lower() == "warning":
            warnings.append(value or element.text.strip())
    return overflow, tuple(warnings)


def _tables(root: Element, *, service: str, url: str) -> Iterator[Table]:
    for table in root.all("TABLE"):
        if table.get("ref"):  # says that it has the columns of another one
            continue
        columns = tuple(_column(one) for one in table.all("FIELD"))
        rows: list[tuple[Cell, ...]] = []
        for data in table.all("DATA"):
            form = next((one.name for one in data.children), "TABLEDATA")
            if form != "TABLEDATA":
                raise UpstreamError(
                    service,
                    url,
                    f"the table is written as {form}, which is not read",
                    hint="Ask for FORMAT=votable/td or FORMAT=json.",
                )
            rows += [_row(row, columns) for row in data.all("TR")]
        yield Table(columns, tuple(rows), table.get("name"), _description(table))


def _column(field: Element) -> Column:
    values = field.first("VALUES")
    return Column(
        name=field.get("name") or field.get("ID"),
        datatype=field.get("datatype"),
        unit=field.get("unit"),
        ucd=field.get("ucd"),
        description=_description(field),
        null=values.get("null") if values else "",
        is_array=field.get("arraysize") not in {"", "1"},
    )


def _description(element: Element) -> str:
    return " ".join(element.child_text("DESCRIPTION").split())


def _row(row: Element, columns: Sequence[Column]) -> tuple[Cell, ...]:
    """Return a row's cells; missing ones at its end are None, further ones are left out."""
    texts = [cell.text for cell in row.children]
    texts += [""] * (len(columns) - len(texts))
    return tuple(_cell(text, column) for text, column in zip(texts, columns, strict=False))


def _cell(text: str, column: Column) -> Cell:
    bare = text.strip()
    if not bare or (column.null and bare == column.null):
        return None
    if column.datatype in _TEXTS or column.is_array:
        return bare
    if column.datatype == "boolean":
        return {"t": True, "true": True, "1": True, "f": False, "false": False, "0": False}.get(
            bare.lower()
        )
    read = _READERS.get(column.datatype)
    try:
        return read(bare) if read else bare
    except ValueError:  # a service that breaks its own promise: its words are better than nothing
        return bare


def _real(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def _integer(text: str) -> int:
    return int(text, 16) if text[:2].lower() == "0x" else int(text)


_READERS: dict[str, Callable[[str], Cell]] = {
    **dict.fromkeys(_INTEGERS, _integer),
    **dict.fromkeys(_REALS, _real),
}


def _read_json(content: bytes, *, service: str, url: str) -> Table:
    """Return a table from ``{"metadata": [{"name": ...}], "data": [[...], ...]}``."""
    try:
        value: Any = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UpstreamError(
            service,
            url,
            f"the answer cannot be read as JSON ({error})",
            hint="It may have been cut; try again later.",
        ) from error
    answer = as_object(value)
    if not is_list(answer.get("data")) or not is_list(answer.get("metadata")):
        words = answer.get("error") or answer.get("message") or ""
        if words:
            raise QueryFailedError(
                service,
                url,
                f"the query failed: {words!s:.600}",
                hint="Read the service's words, change the query and ask again.",
            )
        raise UpstreamError(
            service,
            url,
            "the answer is JSON without a table",
            hint="Check the service's address in the settings.",
        )
    columns = tuple(
        Column(
            name=str(one.get("name") or ""),
            datatype=str(one.get("datatype") or ""),
            unit=str(one.get("unit") or ""),
            ucd=str(one.get("ucd") or ""),
            description=str(one.get("description") or ""),
        )
        for one in as_list(answer["metadata"])
        if is_object(one)
    )
    return Table(columns, tuple(_json_row(row, len(columns)) for row in as_list(answer["data"])))


def _json_row(row: Any, width: int) -> tuple[Cell, ...]:
    cells = [_json_cell(cell) for cell in as_list(row)][:width]
    return (*cells, *[None] * (width - len(cells)))


def _json_cell(cell: Any) -> Cell:
    if isinstance(cell, str):
        return clean(cell).strip() or None
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    return cell if isinstance(cell, int | float | bool) else None
