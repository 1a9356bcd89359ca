"""Papers as rows: how they are read, with all that hangs on them."""

from collections.abc import Sequence

from nuncius.core.papers import Author, Paper
from nuncius.store import files
from nuncius.store.connection import Connection
from nuncius.store.records import dump_json, load_json, names_in

READ = """
    SELECT paper_id, title, authors, year, bibcode, arxiv_id, doi, abstract, cite_key, state,
        pages, language, label, confidential, added_at, coalesce(journal, ''),
        (SELECT json_group_array(tag ORDER BY place) FROM paper_tags
            WHERE paper_tags.paper_id = papers.paper_id),
        (SELECT count(*) FROM notes WHERE notes.paper_id = papers.paper_id)
    FROM papers
"""
BY_ID = READ + " WHERE paper_id = ?"
_BY_NUMBERS = READ + " JOIN json_each(?) AS wanted ON wanted.value = number ORDER BY wanted.key"


def read_papers(connection: Connection, sql: str, *values: str | int) -> Sequence[Paper]:
    """Return the papers that a statement beginning with `READ` finds."""
    rows = connection.rows(sql, values)
    attached = files.of_papers(connection, [row[0] for row in rows])
    return [
        Paper(
            paper_id=row[0],
            title=row[1],
            authors=tuple(Author(name=name) for name in names_in(row[2])[0]),
            year=row[3],
            bibcode=row[4],
            arxiv_id=row[5],
            doi=row[6],
            abstract=row[7],
            cite_key=row[8],
            state=row[9],
            files=attached.get(row[0], ()),
            pages=row[10],
            language=row[11],
            label=row[12],
            confidential=bool(row[13]),
            added_at=row[14],
            journal=row[15],
            tags=tuple(load_json(row[16])),
            notes=row[17],
        )
        for row in rows
    ]


def by_numbers(connection: Connection, numbers: Sequence[int]) -> Sequence[Paper]:
    """Return the papers with these row numbers, in this order."""
    return read_papers(connection, _BY_NUMBERS, dump_json(list(numbers)))
