"""What services of the literature told of papers, as other floors see it: async, without SQL."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from nuncius.core.records import Record

Direction = Literal["references", "citations"]


@dataclass(frozen=True, slots=True)
class Told:
    """What services told of a paper, and when (ISO 8601, UTC); without its links."""

    record: Record
    told_at: str


class WorkStore(Protocol):
    """What services of the literature told of the library's papers."""

    async def put(self, paper_id: str, record: Record) -> None:
        """Keep what was told, in place of what was told before; names that it had stay its names.

        Links are replaced where the record lists some.

        Raises:
            NotFoundError: There is no such paper.
        """
        ...

    async def get(self, paper_ids: Sequence[str]) -> Mapping[str, Told]: ...

    def importing(self) -> AbstractAsyncContextManager[None]:
        """Hold the right to import a bibliography, while others, in any process, wait their turn.

        Raises:
            StoreError: Another import did not end.
        """
        ...

    async def add_keys(self, paper_id: str, keys: Sequence[str]) -> None:
        """Let the paper be found under further cite keys, such as those of a user's own .bib."""
        ...

    async def papers_of(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return the ids of the papers that have these names, by the name as it was asked."""
        ...

    async def links(self, paper_id: str, direction: Direction) -> Sequence[str]:
        """Return the bibcodes that a paper cites, or that cite it, as far as they were told."""
        ...

    async def linked(
        self, bibcodes: Sequence[str], direction: Direction
    ) -> Mapping[str, Sequence[str]]:
        """Return, for each bibcode, the library's papers that list it in this direction."""
        ...
