"""Find a quote again in the text layer of its paper: the check that no model can talk its way past."""

import re
from dataclasses import dataclass

from nuncius.core.evidence import Check
from nuncius.core.text import Folded, fold
from nuncius.store.protocols import Store

_LINE_NUMBER = re.compile(
    r"^[ \t]*\d{1,4}[ \t]*$|^[ \t]*\d{1,4}[ \t]{1,}(?=\D)|[ \t]{1,}\d{1,4}[ \t]*$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a quote stands. `page` is None where the format has no pages."""

    page: int | None
    check: Check


class Verifier:
    """Checks quotes against stored text layers; keeps the pages it has folded."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._layers: dict[tuple[str, int], str] = {}
        self._folded: dict[str, Folded] = {}

    async def locate(self, paper_id: str, quote: str, *, page: int | None = None) -> Place | None:
        """Return where `quote` stands, or None where the paper does not hold it.

        Args:
            page: Look on this page, and on the next one for a quote that runs over; None: on
                every page of the paper.
        """
        if not quote.strip():
            return None
        if page is None:
            pages = await self._pages(paper_id)
        else:
            pages = [page]
        for number in pages:
            check = await self._check(paper_id, quote, number)
            if check:
                return Place(number or None, check)
        return None

    async def _pages(self, paper_id: str) -> list[int]:
        paper = (await self._store.papers.get([paper_id])).get(paper_id)
        if paper is None:
            return []
        return list(range(1, paper.pages + 1)) if paper.pages else [0]

    async def _check(self, paper_id: str, quote: str, page: int) -> Check | None:
        """Look on one page; a quote that begins there may run over into the next."""
        layer = await self._layer(paper_id, page)
        if quote in layer:
            return "exact"
        needle = fold(quote)
        following = await self._layer(paper_id, page + 1) if page else ""
        for strip in (str, _without_line_numbers):
            first = strip(layer)
            at = self._fold(f"{first}\n{strip(following)}").find(needle)
            if at and at[0] < len(first):
                return "folded"
        return None

    async def _layer(self, paper_id: str, page: int) -> str:
        key = (paper_id, page)
        if key not in self._layers:
            self._layers[key] = await self._store.papers.layer(paper_id, page)
        return self._layers[key]

    def _fold(self, text: str) -> Folded:
        if text not in self._folded:
            self._folded[text] = fold(text)
        return self._folded[text]


def _without_line_numbers(layer: str) -> str:
    return _LINE_NUMBER.sub("", layer)
