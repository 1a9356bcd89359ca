"""Lists of papers: filtered, ordered and counted by the database, page by page.

A page begins behind the row that the one before it ended with: it reads no row before it, and is
the same whatever papers came or went meanwhile.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nuncius.core.journals import journal_word
from nuncius.core.listing import (
    ALL_PAPERS,
    FacetKind,
    FacetValue,
    PaperFilter,
    PaperOrder,
    PaperPage,
)
from nuncius.core.tags import fold_tag
from nuncius.core.text import clean, look_up_form
from nuncius.store import paper_rows
from nuncius.store.connection import Connection, Row
from nuncius.store.records import dump_json, well_formed

MOST_VALUES = 200
"""Values of a facet that are offered."""

_SAYS = """EXISTS (
    SELECT 1 FROM paper_words AS said WHERE said.number = papers.number
        AND (SELECT min(instr(said.words, value)) FROM json_each(:text)) > 0
)"""
_SIGNED = """EXISTS (
    SELECT 1 FROM paper_words AS said WHERE said.number = papers.number
        AND (SELECT min(instr(said.authors, value)) FROM json_each(:author)) > 0
)"""
_FILED = """EXISTS (
    SELECT 1 FROM paper_words AS said, json_each(said.people)
    WHERE said.number = papers.number AND value = :filed
)"""
_IS_FILED = "SELECT 1 FROM paper_words, json_each(people) WHERE value = ? LIMIT 1"
_IS_JOURNAL = "SELECT 1 FROM papers WHERE journal = ? LIMIT 1"
_NONE = "0"  # no paper fulfils it
_TAGGED = "papers.paper_id IN (SELECT paper_id FROM paper_tags WHERE folded = :tag)"

# What orders is cut, so that it fits into a cursor.
_KEYS: Mapping[str, str] = {
    "added": "number",
    "title": "(SELECT substr(said.title, 1, 60) FROM paper_words AS said"
    " WHERE said.number = papers.number)",
    "author": "(SELECT substr(said.filed_under, 1, 60) FROM paper_words AS said"
    " WHERE said.number = papers.number)",
    "year": "coalesce(year, 0)",
    "journal": "lower(substr(coalesce(journal, ''), 1, 60))",
    "state": "state",
    "pages": "coalesce(pages, 0)",
    "notes": "(SELECT count(*) FROM notes WHERE notes.paper_id = papers.paper_id)",
}
_NUMBERS = frozenset({"year", "pages", "notes"})
_NUMBER = re.compile(r"-?[0-9]{1,18}")

# what is counted, among which papers, in which order
_FACETS: Mapping[FacetKind, tuple[str, str, str]] = {
    "year": (
        "SELECT year, count(*) FROM papers",
        "year BETWEEN 1000 AND 9999",  # others are no years, and no filter takes them
        "GROUP BY year ORDER BY year DESC",
    ),
    "author": (
        "SELECT value, count(*) FROM papers JOIN paper_words USING (number), json_each(people)",
        "value != ''",
        "GROUP BY value ORDER BY count(*) DESC, value",
    ),
    "journal": (
        "SELECT journal, count(*) FROM papers",
        "journal != ''",
        "GROUP BY journal ORDER BY count(*) DESC, journal",
    ),
    "tag": (
        "SELECT min(tag), count(*) FROM paper_tags JOIN papers USING (paper_id)",
        "folded != ''",
        "GROUP BY folded ORDER BY count(*) DESC, folded",
    ),
    "state": (
        "SELECT state, count(*) FROM papers",
        "state != ''",
        "GROUP BY state ORDER BY count(*) DESC, state",
    ),
}


def page(
    connection: Connection,
    wanted: PaperFilter,
    *,
    order: PaperOrder,
    limit: int | None,
    cursor: str,
) -> PaperPage:
    """Return some of the papers that fit; a `cursor` that is none of ours begins no page."""
    conditions, values = _conditions(connection, wanted)
    place = _place(cursor, order) if cursor else {}
    rows: list[Row] = []
    if place is not None:
        sql = _select(order, [*conditions, _behind(order)] if place else conditions)
        values |= place | {"limit": -1 if limit is None else limit + 1}
        rows = connection.rows(sql, values)
    shown = rows[:limit]
    more = len(rows) > len(shown)
    whole = not cursor and not more  # then they are counted
    count = _joined("SELECT count(*) FROM papers", conditions)
    return PaperPage(
        papers=paper_rows.by_numbers(connection, [row[0] for row in shown]),
        total=len(rows) if whole else connection.number(count, values),
        cursor=_cursor(shown[-1], order) if more else "",
    )


def facet(connection: Connection, kind: FacetKind, wanted: PaperFilter) -> Sequence[FacetValue]:
    """Return by what the papers that fit can be filtered further.

    Years come newest first, all else the most frequent first. What is wanted of the same kind does
    not count: it is what would be replaced.
    """
    own = "years" if kind == "year" else kind
    conditions, values = _conditions(connection, replace(wanted, **{own: getattr(ALL_PAPERS, own)}))
    select, among, order = _FACETS[kind]
    sql = _joined(select, [among, *conditions], order, "LIMIT :limit")
    rows = connection.rows(sql, values | {"limit": MOST_VALUES})
    return [FacetValue(str(value), count) for value, count in rows]


def _conditions(connection: Connection, wanted: PaperFilter) -> tuple[list[str], dict[str, Any]]:
    """Return what a paper must fulfil in SQL, and the values in it.

    A name or a journal that is written as a facet gives it means that one. What nothing is left of
    once it is cleaned, such as a zero-width space, no paper fulfils.
    """
    first, last = wanted.years
    text = look_up_form(clean(wanted.text)).split()
    filed = well_formed(wanted.author)
    is_filed = bool(filed and connection.value(_IS_FILED, (filed,)))
    author = look_up_form(clean(wanted.author)).split()
    asked = {
        _SAYS: ("text", dump_json(text) if text else None),
        _FILED: ("filed", filed if is_filed else None),
        _SIGNED: ("author", dump_json(author) if author and not is_filed else None),
        _TAGGED: ("tag", fold_tag(wanted.tag) or None),
        "journal = :journal": ("journal", _journal(connection, wanted.journal) or None),
        "state = :state": ("state", wanted.state),
        "year >= :first": ("first", first),
        "year <= :last": ("last", last),
        "confidential <= :secret": ("secret", None if wanted.confidential else 0),
    }
    told = {sql: one for sql, one in asked.items() if one[1] is not None}
    values = dict(told.values())
    meant = [
        (wanted.text, {"text"}), (wanted.author, {"filed", "author"}), (wanted.tag, {"tag"}),
        (wanted.journal, {"journal"}),
    ]  # fmt: skip
    empty = [words for words, named in meant if words.strip() and not named & values.keys()]
    return [*told, *([_NONE] if empty else [])], values


def _journal(connection: Connection, name: str) -> str:
    """Return a journal as papers have it: this very word, else the one that a name or macro means."""
    word = well_formed(name)
    if connection.value(_IS_JOURNAL, (word,)):
        return word
    return clean(journal_word(name=word)).strip()


def _select(order: PaperOrder, conditions: Sequence[str]) -> str:
    key = _KEYS[order.removeprefix("-")]
    select = f"SELECT number, {key} FROM papers"  # noqa: S608  (our own expressions)
    way = "DESC" if order.startswith("-") else "ASC"
    ordered = f"number {way}" if key == "number" else f"{key} {way}, number {way}"
    return _joined(select, conditions, "ORDER BY", ordered, "LIMIT :limit")


def _joined(select: str, conditions: Sequence[str], *rest: str) -> str:
    where = ["WHERE", " AND ".join(conditions)] if conditions else []
    return " ".join([select, *where, *rest])


# --- cursors: the number of the last row of a page, then what it is ordered by --------------------


def _cursor(row: Row, order: PaperOrder) -> str:
    number, key = row
    return f"{number}" if order.endswith("added") else f"{number}:{key}"


def _place(cursor: str, order: PaperOrder) -> dict[str, Any] | None:
    number, _, key = well_formed(cursor).partition(":")
    numbers = [number, key] if order.removeprefix("-") in _NUMBERS else [number]
    if not all(_NUMBER.fullmatch(text) for text in numbers):
        return None
    return {"number": int(number), "key": int(key) if len(numbers) == 2 else key}


def _behind(order: PaperOrder) -> str:
    sign = "<" if order.startswith("-") else ">"
    if order.endswith("added"):
        return f"number {sign} :number"
    return f"({_KEYS[order.removeprefix('-')]}, number) {sign} (:key, :number)"
