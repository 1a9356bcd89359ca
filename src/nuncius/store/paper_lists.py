"""Lists of papers and tags on them, as other floors see them: async, without SQL."""

from collections.abc import Sequence
from typing import Protocol

from nuncius.core.listing import (
    ALL_PAPERS,
    FacetKind,
    FacetValue,
    PaperFilter,
    PaperOrder,
    PaperPage,
)
from nuncius.core.papers import Paper


class PaperLists(Protocol):
    """The part of `PaperStore` that lists papers and hangs tags on them."""

    async def page(
        self,
        wanted: PaperFilter = ALL_PAPERS,
        *,
        order: PaperOrder = "-added",
        limit: int | None = None,
        cursor: str = "",
    ) -> PaperPage:
        """Return papers that fit, from the place on that an earlier page named as its `cursor`.

        A cursor that no page of this order named begins an empty page.
        """
        ...

    async def facet(
        self, kind: FacetKind, wanted: PaperFilter = ALL_PAPERS
    ) -> Sequence[FacetValue]:
        """Return by what the papers that fit can be filtered, at most 200 values.

        What is wanted of the same kind does not count. Years come newest first, all else the most
        frequent first.
        """
        ...

    async def set_tags(self, paper_id: str, tags: Sequence[str]) -> Paper:
        """Put tags in place of those that a paper has; see `core.tags.tidy_tags`.

        Raises:
            NotFoundError: There is no such paper.
            UsageError: A tag is too long, or they are too many.
        """
        ...

    async def change_tags(
        self, paper_id: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> Paper:
        """Add tags to those that a paper has, and take some off; raises as `set_tags`."""
        ...
