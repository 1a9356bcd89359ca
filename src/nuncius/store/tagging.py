"""Tags on papers."""

from collections.abc import Sequence

from nuncius.core.tags import fold_tag, tidy_tags
from nuncius.store.connection import Connection

_OF_PAPER = "SELECT tag FROM paper_tags WHERE paper_id = ? ORDER BY place"
_TAKE_OFF = "DELETE FROM paper_tags WHERE paper_id = ?"
_HANG = "INSERT INTO paper_tags (paper_id, folded, tag, place) VALUES (?, ?, ?, ?)"


def hang(connection: Connection, paper_id: str, tags: Sequence[str]) -> None:
    """Put `tags` in place of those that a paper has. Raises UsageError as `tidy_tags`."""
    rows = [(paper_id, fold_tag(tag), tag, at) for at, tag in enumerate(tidy_tags(tags))]
    connection.run(_TAKE_OFF, (paper_id,))
    connection.many(_HANG, rows)


def change(
    connection: Connection, paper_id: str, *, add: Sequence[str], remove: Sequence[str]
) -> None:
    """Add tags to those that a paper has, and take some off. Raises UsageError as `tidy_tags`."""
    gone = {fold_tag(tag) for tag in tidy_tags(remove)}
    held = [row[0] for row in connection.rows(_OF_PAPER, (paper_id,))]
    hang(connection, paper_id, [*(tag for tag in held if fold_tag(tag) not in gone), *add])
