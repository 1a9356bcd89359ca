"""What the library's list is searched, ordered and filtered by, worked out from each paper.

Kept beside the papers in `paper_words` and in `papers.journal`, so that a list reads no more than
it shows. `papers.journal` is NULL until a paper's words were written.
"""

import logging
from collections.abc import Sequence

from nuncius.core.journals import journal_word
from nuncius.core.papers import Author
from nuncius.core.shapes import as_object, is_object
from nuncius.core.text import clean, look_up_form
from nuncius.store.connection import Connection
from nuncius.store.records import dump_json, load_json, names_in

log = logging.getLogger(__name__)
_BATCH = 100  # papers a transaction: about 20 ms
_MOST_PEOPLE = 50  # of a paper, that are offered to filter by; all are searched
_LAST = "\U0010ffff"  # papers that nobody signed come after all others

_KNOWN = """
    SELECT number, bibcode, arxiv_id, doi, cite_key, paper_id, label, title, authors, abstract,
        coalesce(record, '{}')
    FROM papers LEFT JOIN paper_records USING (paper_id)
    WHERE paper_id IN (SELECT value FROM json_each(?))
"""
_PUT = """
    INSERT INTO paper_words (number, title, filed_under, authors, words, people)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (number) DO UPDATE SET title = excluded.title, words = excluded.words,
        filed_under = excluded.filed_under, authors = excluded.authors, people = excluded.people
"""
_PUT_JOURNAL = "UPDATE papers SET journal = ? WHERE number = ?"
_UNWRITTEN = "SELECT paper_id FROM papers WHERE journal IS NULL LIMIT ?"


def write(connection: Connection, paper_ids: Sequence[str]) -> None:
    """Write the words of papers, after whatever changed them.

    A row that is damaged gets the words of what can be read: one must not keep a library shut.
    """
    for number, *names, label, title, authors, abstract, record in connection.rows(
        _KNOWN, (dump_json(list(paper_ids)),)
    ):
        bibcode, arxiv_id, *_, paper_id = names
        printed, signed_well = names_in(authors)
        told, told_well = _told(record)
        if not (signed_well and told_well):
            log.warning("paper %s: its %s cannot all be read", paper_id,
                        "record" if signed_well else "authors")  # fmt: skip
        people = list(dict.fromkeys(Author(name=name).filed_as for name in printed))
        signed = look_up_form("\n".join([*printed, *people]))
        heading = look_up_form(title)
        rest = look_up_form("\n".join([*filter(None, names), label, abstract]))
        connection.run(
            _PUT,
            (
                number, heading, look_up_form(people[0]) if people else _LAST, signed,
                f"{heading}\n{signed}\n{rest}", dump_json(people[:_MOST_PEOPLE]),
            ),
        )  # fmt: skip
        journal = journal_word(
            name=told["journal"],
            stem=told["bibstem"],
            bibcode=bibcode or "",
            arxiv_id=arxiv_id or "",
        )
        connection.run(_PUT_JOURNAL, (journal, number))


def _told(record: str) -> tuple[dict[str, str], bool]:
    """Return what a record tells of the journal, and whether all of it could be read."""
    try:
        value = load_json(record)
    except (ValueError, RecursionError):
        value = None
    told = {name: as_object(value).get(name) or "" for name in ("journal", "bibstem")}
    texts = {name: clean(one) if isinstance(one, str) else "" for name, one in told.items()}
    return texts, is_object(value) and all(isinstance(one, str) for one in told.values())


def write_some(connection: Connection) -> int:
    """Write the words of some papers that have none yet; return of how many."""
    unwritten = [row[0] for row in connection.rows(_UNWRITTEN, (_BATCH,))]
    write(connection, unwritten)
    return len(unwritten)
