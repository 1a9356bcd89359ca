"""Search in passages with SQLite's full-text index, filters first."""

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import override

from nuncius.core.documents import Hit, Passage
from nuncius.core.text import clean
from nuncius.store.connection import Connection
from nuncius.store.database import Database
from nuncius.store.protocols import PassageStore
from nuncius.store.records import dump_json, well_formed
from nuncius.store.texts import ORDINAL_BITS, passage_id

MAX_TERMS = 64
"""Terms of a query that are searched; further ones are dropped."""
MAX_VARIANTS = 8
"""Spellings of one term that are searched."""
_MAX_PHRASE = 200  # characters

# The join to `papers` is the whole filter: it drops versions that are not published, and the
# index `papers_searchable` answers it without reading a passage. 20 = ORDINAL_BITS.
_SEARCH = """
    SELECT passages_fts.rowid, paper.paper_id, -bm25(passages_fts, 2.0, 1.0, 1.0) AS score
    FROM passages_fts CROSS JOIN papers AS paper ON paper.text_id = passages_fts.rowid >> 20
    WHERE passages_fts MATCH :query
        AND (:paper_ids IS NULL OR paper.paper_id IN (SELECT value FROM json_each(:paper_ids)))
        AND (:without IS NULL OR paper.paper_id NOT IN (SELECT value FROM json_each(:without)))
        AND (:year_from IS NULL OR paper.year >= :year_from)
        AND (:year_to IS NULL OR paper.year <= :year_to)
    ORDER BY score DESC, passages_fts.rowid LIMIT :limit
"""
_FREQUENCY = "SELECT count(*) FROM passages_fts WHERE passages_fts MATCH ?"
_ONE = """
    SELECT passage.id, paper.paper_id, passage.kind, passage.text, passage.section, passage.page,
        passage.char_start, passage.char_end
    FROM passages AS passage JOIN papers AS paper ON paper.text_id = passage.id >> 20
    WHERE passage.id = ?
"""
_RUN = """
    SELECT passage.id, paper.paper_id, passage.kind, passage.text, passage.section, passage.page,
        passage.char_start, passage.char_end
    FROM papers AS paper JOIN passages AS passage
        ON passage.id BETWEEN (paper.text_id << 20) + ? AND (paper.text_id << 20) + ?
    WHERE paper.paper_id = ? ORDER BY passage.id
"""
_COUNT = """
    SELECT coalesce(sum(passage_count), 0) FROM papers JOIN paper_texts USING (text_id)
"""
_LAST_ORDINAL = (1 << ORDINAL_BITS) - 1


class Passages(PassageStore):
    """Passages of published texts in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @override
    async def get(self, passage_ids: Sequence[str]) -> Mapping[str, Passage]:
        places = {name: place for name in passage_ids if (place := _place(name))}

        def read(connection: Connection) -> Mapping[str, Passage]:
            return {
                name: passage
                for name, (paper_id, ordinal) in places.items()
                for passage in _run(connection, paper_id, ordinal, ordinal)
            }

        return await self._database.read(read)

    @override
    async def around(
        self, passage_id: str, *, before: int = 1, after: int = 1
    ) -> Sequence[Passage]:
        place = _place(passage_id)
        if place is None:
            return []
        paper_id, ordinal = place
        first, last = max(1, ordinal - max(0, before)), ordinal + max(0, after)
        found = await self._database.read(
            lambda connection: _run(connection, paper_id, first, min(last, _LAST_ORDINAL))
        )
        return found if any(passage.ordinal == ordinal for passage in found) else []

    @override
    async def of_paper(self, paper_id: str) -> Sequence[Passage]:
        return await self._database.read(
            lambda connection: _run(connection, well_formed(paper_id), 1, _LAST_ORDINAL)
        )

    @override
    async def search(
        self,
        terms: Sequence[Sequence[str]],
        *,
        limit: int,
        paper_ids: Sequence[str] | None = None,
        without: Sequence[str] = (),
        years: tuple[int | None, int | None] = (None, None),
    ) -> Sequence[Hit]:
        query = _match(terms)
        if not query or limit <= 0:
            return []
        values: dict[str, Any] = {
            "query": query,
            "paper_ids": None if paper_ids is None else dump_json(list(paper_ids)),
            "without": dump_json(list(without)) if without else None,
            "year_from": years[0],
            "year_to": years[1],
            "limit": limit,
        }
        return await self._database.read(lambda connection: _search(connection, values))

    @override
    async def frequencies(self, variants: Sequence[str]) -> Mapping[str, int]:
        phrases = {variant: _phrase(variant) for variant in variants}

        def read(connection: Connection) -> Mapping[str, int]:
            return {
                variant: connection.number(_FREQUENCY, (phrase,)) if phrase else 0
                for variant, phrase in phrases.items()
            }

        return await self._database.read(read)

    @override
    async def count(self) -> int:
        return await self._database.read(lambda connection: connection.number(_COUNT))


def _search(connection: Connection, values: Mapping[str, Any]) -> Sequence[Hit]:
    ranked = connection.rows(_SEARCH, values)
    found = [(row, score) for n, _, score in ranked if (row := connection.row(_ONE, (n,)))]
    return [
        Hit(_passage(row), float(score), {"bm25": rank})
        for rank, (row, score) in enumerate(found, 1)
    ]


def _run(connection: Connection, paper_id: str, first: int, last: int) -> Sequence[Passage]:
    return [_passage(row) for row in connection.rows(_RUN, (first, last, paper_id))]


def _passage(row: Sequence[Any]) -> Passage:
    number, paper_id, kind, text, section, page, start, end = row
    return Passage(
        passage_id=passage_id(paper_id, number),
        paper_id=paper_id,
        ordinal=number & _LAST_ORDINAL,
        kind=kind,
        text=text,
        section=section,
        page=page,
        char_start=start,
        char_end=end,
    )


def _place(name: str) -> tuple[str, int] | None:
    """Return paper and ordinal of a handle such as ``k3f2a9c1-12``, or None."""
    paper_id, dash, ordinal = well_formed(name).rpartition("-")
    if not (dash and paper_id and ordinal.isascii() and ordinal.isdigit()):
        return None
    number = int(ordinal[:10])
    return (paper_id, number) if 1 <= number <= _LAST_ORDINAL else None


def _match(terms: Sequence[Sequence[str]]) -> str:
    """Return the FTS5 expression: every phrase quoted, so that no text can be an operator."""
    phrases = [
        phrase
        for variants in terms[:MAX_TERMS]
        for variant in variants[:MAX_VARIANTS]
        if (phrase := _phrase(variant))
    ]
    return " OR ".join(dict.fromkeys(phrases))


def _phrase(variant: str) -> str:
    """Return `variant` as an FTS5 string, or nothing where it holds no token."""
    text = clean(variant)[:_MAX_PHRASE].strip()
    if not any(char.isalnum() for char in text):
        return ""
    return '"' + text.replace('"', '""') + '"'
