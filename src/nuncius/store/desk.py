"""Notes on papers and the user's permission rules."""

from collections.abc import Sequence
from typing import Literal

from typing_extensions import override

from nuncius.core.errors import NotFoundError
from nuncius.core.text import clean
from nuncius.store.clock import now
from nuncius.store.connection import Connection
from nuncius.store.database import Database
from nuncius.store.protocols import Desk, Note, StoredRule
from nuncius.store.records import well_formed

_ADD_NOTE = """
    INSERT INTO notes (paper_id, quote, note, page, color, created_at, agent)
    SELECT paper_id, ?, ?, ?, ?, ?, ? FROM papers WHERE paper_id = ?
    RETURNING id
"""
_NOTES = """
    SELECT id, paper_id, quote, note, page, color, created_at, agent FROM notes
    WHERE ?1 IS NULL OR paper_id = ?1 ORDER BY id
"""
_CHANGE_NOTE = """
    UPDATE notes SET note = ? WHERE id = ?
    RETURNING id, paper_id, quote, note, page, color, created_at, agent
"""
_REMOVE_NOTE = "DELETE FROM notes WHERE id = ?"
_RULES = """
    SELECT id, pattern, decision, session_id, source, created_at FROM permission_rules
    WHERE session_id IN ('', ?) ORDER BY id
"""
_ADD_RULE = """
    INSERT INTO permission_rules (pattern, decision, session_id, source, created_at)
    VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
_SAME_RULE = """
    SELECT id FROM permission_rules WHERE pattern = ? AND decision = ? AND session_id = ?
"""
_REVOKE = "DELETE FROM permission_rules WHERE id = ?"


class NotesAndRules(Desk):
    """The desk in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @override
    async def add_note(
        self, paper_id: str, *, quote: str, note: str, page: int | None, color: str, agent: str
    ) -> Note:
        """Keep a note. Raises NotFoundError where there is no such paper."""
        time = now()
        texts = (clean(quote), clean(note), page, clean(color), time, clean(agent))

        def add(connection: Connection) -> Note:
            number = connection.number(_ADD_NOTE, (*texts, well_formed(paper_id)))
            if not number:
                raise NotFoundError(
                    f"There is no paper {paper_id} to put a note on.",
                    hint="`nuncius library list` shows all papers.",
                )
            return Note(number, paper_id, *texts[:4], created_at=time, agent=texts[5])

        return await self._database.write(add, durable=True)

    @override
    async def notes(self, paper_id: str | None = None) -> Sequence[Note]:
        """Return notes, oldest first; also those on papers that were removed."""
        return await self._database.read(
            lambda connection: [Note(*row) for row in connection.rows(_NOTES, (paper_id,))]
        )

    @override
    async def change_note(self, note_id: int, *, note: str) -> Note:
        text = clean(note)

        def change(connection: Connection) -> Note:
            rows = connection.rows(_CHANGE_NOTE, (text, note_id))
            if not rows:
                raise _no_note(note_id)
            return Note(*rows[0])

        return await self._database.write(change, durable=True)

    @override
    async def remove_note(self, note_id: int) -> None:
        def remove(connection: Connection) -> None:
            connection.run(_REMOVE_NOTE, (note_id,))
            if not connection.changes:
                raise _no_note(note_id)

        await self._database.write(remove, durable=True)

    @override
    async def rules(self, session_id: str) -> Sequence[StoredRule]:
        return await self._database.read(
            lambda connection: [StoredRule(*row) for row in connection.rows(_RULES, (session_id,))]
        )

    @override
    async def add_rule(
        self,
        pattern: str,
        decision: Literal["deny", "allow", "ask"],
        *,
        session_id: str = "",
        source: str = "user",
    ) -> int:
        """Store a rule and return its id; the same rule again is the same id."""
        key = (well_formed(pattern), decision, well_formed(session_id))
        rest = (well_formed(source), now())

        def add(connection: Connection) -> int:
            connection.run(_ADD_RULE, (*key, *rest))
            return connection.number(_SAME_RULE, key)

        return await self._database.write(add, durable=True)

    @override
    async def revoke_rule(self, rule_id: int) -> None:
        """Delete a rule. Raises NotFoundError where there is none with this id."""

        def revoke(connection: Connection) -> None:
            connection.run(_REVOKE, (rule_id,))
            if not connection.changes:
                raise NotFoundError(
                    f"There is no permission rule {rule_id}.",
                    hint="`nuncius permissions list` shows all.",
                )

        await self._database.write(revoke, durable=True)


def _no_note(note_id: int) -> NotFoundError:
    return NotFoundError(f"There is no note {note_id}.", hint="`nuncius notes list` shows all.")
