"""What the library's list is searched, ordered and filtered by, worked out from each paper.

Kept beside the papers in `paper_words` and in `papers.journal`, so that a list reads no more than
it shows. `papers.journal` is NULL until a paper's words were written.
"""

from collections.abc import Sequence

from nuncius.core.journals import journal_word
from nuncius.core.papers import Author
from nuncius.core.text import look_up_form
from nuncius.store.connection import Connection
from nuncius.store.records import dump_json, load_json

_BATCH = 100  # papers a transaction: about 20 ms
_MOST_PEOPLE = 50  # of a paper, that are offered to filter by; all are searched
_LAST = "\uffff"  # papers that nobody signed come after all others

_KNOWN = """
    SELECT number, bibcode, arxiv_id, doi, cite_key, paper_id, label, title, authors, abstract,
        coalesce(record ->> 'bibstem', ''), coalesce(record ->> 'journal', '')
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
    """Write the words of papers, after whatever changed them."""
    for number, *names, label, title, authors, abstract, stem, told in connection.rows(
        _KNOWN, (dump_json(list(paper_ids)),)
    ):
        printed: list[str] = load_json(authors)
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
        bibcode, arxiv_id = names[:2]
        journal = journal_word(name=told, stem=stem, bibcode=bibcode or "", arxiv_id=arxiv_id or "")
        connection.run(_PUT_JOURNAL, (journal, number))


def write_some(connection: Connection) -> int:
    """Write the words of some papers that have none yet; return of how many."""
    unwritten = [row[0] for row in connection.rows(_UNWRITTEN, (_BATCH,))]
    write(connection, unwritten)
    return len(unwritten)
