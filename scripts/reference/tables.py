"""The page of SQLite tables: columns from a real database, meanings from the migrations' comments."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import apsw
from reference.markdown import code, prose, table

_SECTION = re.compile(r"-- (.+?) -{10,}")
_CREATE = re.compile(r"CREATE (?:VIRTUAL )?(?:TABLE|INDEX|TRIGGER) (\w+)|ALTER TABLE (\w+) ADD")
_COLUMN = re.compile(r"\s+(?:ADD (?:COLUMN )?)?(\w+) [^-]*?-- (.+)")


@dataclass
class Comments:
    """What the migrations say.

    Attributes:
        above: The comment right above a table, index or trigger.
        beside: The comment beside a column, by table and column.
        sections: The heading under which a table was made first.
        notes: Comments that stand alone, by the section and the table that follows.
    """

    above: dict[str, str] = field(default_factory=dict)
    beside: dict[tuple[str, str], str] = field(default_factory=dict)
    sections: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)


def read_comments() -> Comments:
    """Read the comments of all migrations, the oldest first."""
    found = Comments()
    folder = files("nuncius.migrations")
    for script in sorted(one.name for one in folder.iterdir() if one.name.endswith(".sql")):
        section, inside, alone = "", "", ""
        block: list[str] = []
        for line in folder.joinpath(script).read_text(encoding="utf-8").splitlines():
            heading, created = _SECTION.fullmatch(line), _CREATE.match(line)
            if heading:
                section = heading[1]
            elif line.startswith("-- "):
                block.append(line[3:])
            elif created:
                inside = created[1] or created[2]
                found.above.setdefault(inside, " ".join(block))
                found.sections.setdefault(inside, section)
                if alone:
                    found.notes[inside], alone = alone, ""
                block = []
            elif not line.strip() and block:
                alone, block = " ".join(block), []
            beside = _COLUMN.match(line)
            if inside and beside:
                found.beside[inside, beside[1]] = beside[2]
    return found


def page(database: Path) -> str:
    """Return the page for a database that has the newest schema."""
    comments = read_comments()
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        parts = [
            "# Tables",
            (
                "The database is one SQLite file, `nuncius.db`, that any SQLite opens. Read it as you like;"
                " write to it through nuncius only. Schema version"
                f" {connection.pragma('user_version')}."
            ),
        ]
        section = ""
        for name in _tables(connection):
            if name in comments.notes:
                parts.append(prose(comments.notes[name]))
            if comments.sections.get(name, section) != section:
                section = comments.sections[name]
                parts.append(f"## {section}")
            parts += _table(connection, name, comments)
    finally:
        connection.close()
    return "\n\n".join(parts)


def _tables(connection: apsw.Connection) -> list[str]:
    """Return the tables in the order in which they were made, without SQLite's own."""
    shadows = {row[1] for row in connection.execute("PRAGMA table_list") if row[2] == "shadow"}
    made = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")
    return [name for (name,) in made if name not in shadows and not name.startswith("sqlite_")]


def _table(connection: apsw.Connection, name: str, comments: Comments) -> Iterator[str]:
    yield f"### {name}"
    if comments.above.get(name):
        yield prose(comments.above[name])
    points = {
        row[3]: code(f"{row[2]}.{row[4]}")
        for row in connection.execute(f"PRAGMA foreign_key_list({name})")
    }
    rows: list[tuple[str, ...]] = []
    columns = list(connection.execute(f"PRAGMA table_xinfo({name})"))
    keys = sum(1 for row in columns if row[5])
    for _, column, kind, not_null, default, key, hidden in columns:
        if hidden == 1:  # a virtual table's own
            continue
        facts = [
            "key" if key and keys == 1 else f"key, part {key}" if key else "",
            f"refers to {points[column]}" if column in points else "",
            f"default {code(default)}" if default is not None else "",
            "computed" if hidden else "",
        ]
        rows.append(
            (
                code(column),
                kind,
                "no" if not_null or key or hidden else "yes",
                ", ".join(filter(None, facts)),
                comments.beside.get((name, column), ""),
            )
        )
    yield table(("column", "type", "may be NULL", "key, default", "meaning"), rows)
    yield from _besides(connection, name, comments.above)


def _besides(connection: apsw.Connection, name: str, above: Mapping[str, str]) -> Iterator[str]:
    """Tell a table's indexes and triggers."""
    lines: list[str] = []
    keys = {row[1] for row in connection.execute(f"PRAGMA index_list({name})") if row[3] == "pk"}
    made = connection.execute(
        "SELECT type, name, sql FROM sqlite_schema"
        " WHERE tbl_name = ? AND type IN ('index', 'trigger') ORDER BY rowid",
        (name,),
    )
    for kind, other, sql in made:
        if other in keys:
            continue
        if sql is None:  # of a UNIQUE: the columns say it
            columns = [row[2] for row in connection.execute(f"PRAGMA index_info({other})")]
            lines.append(f"- unique: {', '.join(map(code, columns))}")
            continue
        body = " ".join(sql.split())
        what = (
            body.partition(f" ON {name} ")[2] if kind == "index" else body.partition(" BEGIN ")[0]
        )
        comment = f" {above[other]}" if above.get(other) else ""
        lines.append(
            f"- {kind} {code(other)}: {code(what.partition(f'{other} ')[2] or what)}{comment}"
        )
    if lines:
        yield "\n".join(prose(line) for line in lines)
