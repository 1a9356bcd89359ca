"""What services of the literature told of the library's papers."""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from pydantic import TypeAdapter
from typing_extensions import override

from nuncius.core.errors import NotFoundError, StoreError
from nuncius.core.records import Record
from nuncius.core.text import clean
from nuncius.store import words
from nuncius.store.clock import now
from nuncius.store.connection import Connection
from nuncius.store.database import Database
from nuncius.store.lease import HeldError, Lease, take
from nuncius.store.names import Name, candidates
from nuncius.store.records import dump_json, well_formed
from nuncius.store.told import Direction, Told, WorkStore

_PUT = """
    INSERT INTO paper_records (paper_id, record, told_at)
    SELECT paper_id, ?, ? FROM papers WHERE paper_id = ?
    ON CONFLICT (paper_id) DO UPDATE SET record = excluded.record, told_at = excluded.told_at
    RETURNING 1
"""
_GET = """
    SELECT paper_id, record, told_at FROM paper_records
    WHERE paper_id IN (SELECT value FROM json_each(?))
"""
_ALIAS = "INSERT OR IGNORE INTO paper_aliases (kind, name, paper_id) VALUES (?, ?, ?)"
_FORGET_LINKS = "DELETE FROM paper_links WHERE paper_id = ? AND direction = ?"
_LINK = "INSERT OR IGNORE INTO paper_links (paper_id, direction, bibcode) VALUES (?, ?, ?)"
_LINKS = """
    SELECT bibcode FROM paper_links WHERE paper_id = ? AND direction = ? ORDER BY bibcode
"""
_LINKED = """
    SELECT bibcode, paper_id FROM paper_links
    WHERE direction = ? AND bibcode IN (SELECT value FROM json_each(?)) ORDER BY paper_id
"""
_OF_NAMES = """
    SELECT wanted.key, held.paper_id FROM json_each(?) AS wanted JOIN (
        SELECT kind, name, paper_id FROM paper_ids
        UNION SELECT kind, name, paper_id FROM paper_aliases
    ) AS held ON held.kind = wanted.value ->> 0 AND held.name = wanted.value ->> 1
    ORDER BY wanted.key DESC
"""
_RECORD = TypeAdapter(Record)
_IMPORT_WAIT_S = 300.0  # ten thousand entries on a slow disk end sooner
_IMPORT_PAUSE_S = 0.02


class Works(WorkStore):
    """Records, old names and links in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @override
    async def put(self, paper_id: str, record: Record) -> None:
        plain = replace(record, references=(), citations=())
        text = well_formed(_RECORD.dump_json(plain).decode())
        names = [
            name
            for told in (*record.bibcodes, *record.dois, record.arxiv_id)
            if told
            for name in candidates(told)
            if name[0] != "cite_key"
        ]

        def put(connection: Connection) -> None:
            if not connection.number(_PUT, (text, now(), well_formed(paper_id))):
                raise _no_paper(paper_id)
            _add_names(connection, paper_id, names)
            words.write(connection, [paper_id])  # it may tell of a journal
            for direction, bibcodes in (
                ("references", record.references),
                ("citations", record.citations),
            ):
                if bibcodes:
                    connection.run(_FORGET_LINKS, (paper_id, direction))
                    rows = [(paper_id, direction, well_formed(one)) for one in bibcodes]
                    connection.many(_LINK, rows)

        await self._database.write(put)

    @override
    async def get(self, paper_ids: Sequence[str]) -> Mapping[str, Told]:
        wanted = dump_json(list(paper_ids))
        rows = await self._database.read(lambda connection: connection.rows(_GET, (wanted,)))
        return {row[0]: Told(_RECORD.validate_json(row[1]), row[2]) for row in rows}

    @override
    @asynccontextmanager
    async def importing(self) -> AsyncGenerator[None, None]:
        lease = await self._turn_to_import()
        try:
            yield
        finally:
            lease.release()

    async def _turn_to_import(self) -> Lease:
        # Beside the database, not in the home: two homes may name one database.
        path = self._database.path
        path = path.parent / "leases" / f"import-{path.name}.lock"
        deadline = time.monotonic() + _IMPORT_WAIT_S
        while True:
            try:
                return await take(path)
            except HeldError as error:
                if time.monotonic() > deadline:
                    raise StoreError(
                        f"A bibliography is being imported by {error.holder or 'another process'},"
                        f" and that did not end within {_IMPORT_WAIT_S:.0f} s.",
                        hint="Import yours when it is done.",
                    ) from error
            await asyncio.sleep(_IMPORT_PAUSE_S)

    @override
    async def add_keys(self, paper_id: str, keys: Sequence[str]) -> None:
        names: list[Name] = [("cite_key", clean(key).strip().casefold()) for key in keys]

        def add(connection: Connection) -> None:
            if not connection.number("SELECT count(*) FROM papers WHERE paper_id = ?", (paper_id,)):
                raise _no_paper(paper_id)
            _add_names(connection, paper_id, [name for name in names if name[1]])

        await self._database.write(add)

    @override
    async def papers_of(self, names: Sequence[str]) -> Mapping[str, str]:
        read = {
            f"{at:06d}.{place:03d}": (name, kind)
            for at, name in enumerate(names)
            for place, kind in enumerate(candidates(clean(name)))
        }
        wanted = dump_json({key: list(kind) for key, (_, kind) in read.items()})
        rows = await self._database.read(lambda connection: connection.rows(_OF_NAMES, (wanted,)))
        # The likeliest reading of a name comes last and stands.
        return {read[key][0]: paper_id for key, paper_id in rows}

    @override
    async def links(self, paper_id: str, direction: Direction) -> Sequence[str]:
        values = (well_formed(paper_id), direction)
        rows = await self._database.read(lambda connection: connection.rows(_LINKS, values))
        return [row[0] for row in rows]

    @override
    async def linked(
        self, bibcodes: Sequence[str], direction: Direction
    ) -> Mapping[str, Sequence[str]]:
        values = (direction, dump_json(list(bibcodes)))
        rows = await self._database.read(lambda connection: connection.rows(_LINKED, values))
        found: dict[str, list[str]] = {}
        for bibcode, paper_id in rows:
            found.setdefault(bibcode, []).append(paper_id)
        return found


def _add_names(connection: Connection, paper_id: str, names: Sequence[Name]) -> None:
    connection.many(_ALIAS, [(kind, well_formed(name), paper_id) for kind, name in names])


def _no_paper(paper_id: str) -> NotFoundError:
    return NotFoundError(
        f"There is no paper {paper_id}.", hint="`nuncius library list` shows all papers."
    )
