"""Versions of papers' texts: written in short transactions, visible all at once.

A new version of a paper's text is written beside the old one, passage batch by passage batch.
Nothing finds it until one last transaction lets the paper point to it. What is cut off before
that stays invisible, and is swept away once its writer no longer lives.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nuncius.core.documents import PageText, PassageDraft
from nuncius.core.text import clean, index_terms
from nuncius.store.connection import Connection
from nuncius.store.protocols import PaperContent

ORDINAL_BITS = 20  # passages.id = text_id << ORDINAL_BITS | ordinal
BATCH = 48  # passages a transaction: about 20 ms
_SWEEP = 200

_INSERT_TEXT = """
    INSERT INTO paper_texts (writer, text_sha256, engine, verdict, markdown, passage_count)
    VALUES (?, ?, ?, ?, ?, ?)
"""
_INSERT_PAGE = "INSERT INTO pages (text_id, page, text) VALUES (?, ?, ?)"
_INSERT_PASSAGE = """
    INSERT INTO passages (id, kind, section, page, char_start, char_end, text)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_TERMS = "INSERT INTO passages_fts (rowid, title, section, text) VALUES (?, ?, ?, ?)"
_COMPLETE = """
    SELECT passage_count, (SELECT count(*) FROM passages WHERE id BETWEEN ?2 AND ?3)
    FROM paper_texts WHERE text_id = ?1
"""
_POINT = "UPDATE papers SET text_id = ? WHERE paper_id = ?"
_DONE = "UPDATE paper_texts SET writer = '' WHERE text_id = ?"
_TEXT = """
    SELECT text_id, text_sha256, engine, verdict, markdown
    FROM papers JOIN paper_texts USING (text_id) WHERE paper_id = ?
"""
_PAGES = "SELECT page, text FROM pages WHERE text_id = ? ORDER BY page"
_DRAFTS = """
    SELECT kind, text, section, page, char_start, char_end
    FROM passages WHERE id BETWEEN ? AND ? ORDER BY id
"""
_UNUSED = """
    SELECT text_id, writer FROM paper_texts
    WHERE text_id NOT IN (SELECT text_id FROM papers WHERE text_id IS NOT NULL)
"""
_STILL_UNUSED = "SELECT NOT EXISTS (SELECT 1 FROM papers WHERE text_id = ?)"
_EMPTY_INDEX = "INSERT INTO passages_fts (passages_fts) VALUES ('delete-all')"
_UNINDEXED = """
    SELECT passage.id, coalesce(paper.title, ''), passage.section, passage.text
    FROM passages AS passage LEFT JOIN papers AS paper ON paper.text_id = passage.id >> 20
    WHERE passage.id NOT IN (SELECT id FROM passages_fts_docsize) ORDER BY passage.id LIMIT ?
"""
_SOME_PASSAGES = "SELECT id FROM passages WHERE id BETWEEN ? AND ? LIMIT ?"
_DELETE_TERMS = "DELETE FROM passages_fts WHERE rowid = ?"
_DELETE_PASSAGE = "DELETE FROM passages WHERE id = ?"
_DELETE_PAGES = "DELETE FROM pages WHERE text_id = ?"
_DELETE_TEXT = "DELETE FROM paper_texts WHERE text_id = ?"


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """A passage ready to be written: its row and its normalised tokens."""

    draft: PassageDraft
    terms: tuple[str, str, str]


def writer_lease(leases: Path, token: str) -> Path:
    """Return the lease that says that the writer of a version still works on it."""
    return leases / f"writer-{token}.lock"


def cleaned(content: PaperContent) -> PaperContent:
    """Return `content` as it can be stored; offsets follow what was taken out before them."""
    markdown = clean(content.markdown)
    return PaperContent(
        text_sha256=content.text_sha256,
        engine=clean(content.engine),
        verdict=clean(content.verdict),
        markdown=markdown,
        layer=[PageText(page.page, clean(page.text)) for page in content.layer],
        passages=[
            replace(
                draft,
                text=clean(draft.text),
                section=clean(draft.section),
                char_start=_moved(content.markdown, markdown, draft.char_start),
                char_end=_moved(content.markdown, markdown, draft.char_end),
            )
            for draft in content.passages
        ],
    )


def _moved(before: str, after: str, offset: int) -> int:
    return offset if before == after else len(clean(before[:offset]))


def indexed(title: str, passages: Sequence[PassageDraft]) -> list[IndexedPassage]:
    """Return the passages with their tokens; the slow part of storing, done outside the writer."""
    title_terms = index_terms(title)
    return [
        IndexedPassage(draft, (title_terms, index_terms(draft.section), index_terms(draft.text)))
        for draft in passages
    ]


def insert_text(connection: Connection, content: PaperContent, writer: str) -> int:
    """Begin a new version, with its pages; return its id.

    Args:
        writer: Token of the lease under which it is written; empty where this transaction
            also publishes it.
    """
    connection.run(
        _INSERT_TEXT,
        (
            writer, content.text_sha256, content.engine, content.verdict, content.markdown,
            len(content.passages),
        ),
    )  # fmt: skip
    text_id = connection.last_rowid
    connection.many(_INSERT_PAGE, [(text_id, page.page, page.text) for page in content.layer])
    return text_id


def insert_passages(
    connection: Connection, text_id: int, passages: Sequence[IndexedPassage], *, first: int
) -> None:
    """Add passages, the first of which has the ordinal `first`, with their tokens."""
    rows: list[tuple[Any, ...]] = []
    terms: list[tuple[Any, ...]] = []
    for ordinal, passage in enumerate(passages, first):
        draft, number = passage.draft, (text_id << ORDINAL_BITS) | ordinal
        rows.append(
            (
                number, draft.kind, draft.section, draft.page, draft.char_start, draft.char_end,
                draft.text,
            )
        )  # fmt: skip
        terms.append((number, *passage.terms))
    connection.many(_INSERT_PASSAGE, rows)
    connection.many(_INSERT_TERMS, terms)


def publish(connection: Connection, text_id: int, paper_id: str) -> bool:
    """Let the paper point to this version; return False where a part of it is missing."""
    row = connection.row(_COMPLETE, (text_id, *_span(text_id)))
    if row is None or row[0] != row[1]:
        return False
    connection.run(_POINT, (text_id, paper_id))
    connection.run(_DONE, (text_id,))
    return True


def stored_text(connection: Connection, paper_id: str) -> PaperContent | None:
    """Return the text that a paper points to, as it was put, or None where it has none."""
    found = connection.row(_TEXT, (paper_id,))
    if found is None:
        return None
    text_id, *facts = found
    return PaperContent(
        *facts,
        layer=[PageText(*row) for row in connection.rows(_PAGES, (text_id,))],
        passages=[PassageDraft(*row) for row in connection.rows(_DRAFTS, _span(text_id))],
    )


def unused_texts(connection: Connection) -> Sequence[tuple[int, str]]:
    """Return the versions that no paper points to, with their writers."""
    return [(int(text_id), str(writer)) for text_id, writer in connection.rows(_UNUSED)]


def sweep_some(connection: Connection, text_id: int) -> bool:
    """Delete a part of an unused version; return whether there is more of it."""
    if not connection.number(_STILL_UNUSED, (text_id,)):
        return False
    numbers = connection.rows(_SOME_PASSAGES, (*_span(text_id), _SWEEP))
    connection.many(_DELETE_TERMS, numbers)
    connection.many(_DELETE_PASSAGE, numbers)
    if len(numbers) == _SWEEP:
        return True
    connection.run(_DELETE_PAGES, (text_id,))
    connection.run(_DELETE_TEXT, (text_id,))
    return False


def empty_index(connection: Connection) -> None:
    """Forget all tokens; `index_some` brings them back."""
    connection.run(_EMPTY_INDEX)


def index_some(connection: Connection) -> int:
    """Index some passages that the search index lacks; return how many: 0 when none is left."""
    rows = connection.rows(_UNINDEXED, (BATCH,))
    connection.many(
        _INSERT_TERMS, [(row[0], *(index_terms(text) for text in row[1:])) for row in rows]
    )
    return len(rows)


def passage_id(paper_id: str, number: int) -> str:
    """Return the handle of the passage with this row id."""
    return f"{paper_id}-{number & ((1 << ORDINAL_BITS) - 1)}"


def _span(text_id: int) -> tuple[int, int]:
    return text_id << ORDINAL_BITS, ((text_id + 1) << ORDINAL_BITS) - 1


def batches(passages: Sequence[IndexedPassage]) -> Iterator[tuple[int, Sequence[IndexedPassage]]]:
    """Yield (first ordinal, passages) for each transaction of a large text."""
    for start in range(0, len(passages), BATCH):
        yield start + 1, passages[start : start + BATCH]
