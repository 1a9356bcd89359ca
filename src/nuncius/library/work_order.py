"""What is shown of the services' lists: without what holds no filter, in order, with what a reader must know."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nuncius.core.records import Record, RecordPage
from nuncius.library.merge import Work

if TYPE_CHECKING:
    from nuncius.library.search import Plan, Request, Sort

FUSION = 60
"""Reciprocal rank fusion: a place's worth is 1 / (60 + place) in each list."""


def filtered(works: Sequence[Work], planned: "Plan") -> tuple[list[Work], dict[str, int]]:
    """Take away what does not hold a filter: services cannot be asked everything."""
    from nuncius.library.constraints import holds

    kept: list[Work] = []
    left_out: dict[str, int] = defaultdict(int)
    for work in works:
        vouched = "ads" in work.sources
        fault = planned.filters.fault(work.record, vouched=vouched)
        if not fault and not vouched:
            fault = next(
                (
                    unasked.query
                    for unasked in planned.arxiv.unasked
                    if holds(work.record, unasked.node, planned.filters.aliases) is not True
                ),
                "",
            )
        if fault:
            left_out[fault] += 1
        else:
            kept.append(work)
    return kept, dict(left_out)


def in_order(works: Sequence[Work], pages: Sequence[RecordPage], sort: "Sort") -> list[Work]:
    """Return works in an order that stays when the services are asked for more.

    By relevance that is the best place in any list: a work that turns up in a second list further
    down does not move, so that page after page shows each work once.
    """
    if sort == "date":
        return sorted(works, key=lambda work: _day(work.record), reverse=True)
    if sort == "citations":
        return sorted(works, key=lambda work: work.record.citation_count or 0, reverse=True)
    places = _places(pages)
    return sorted(works, key=lambda work: min(places[id(part)] for part in work.parts))


def by_worth(works: Sequence[Work], pages: Sequence[RecordPage]) -> list[Work]:
    """Put first what several services place high."""
    places = _places(pages)
    return sorted(
        works,
        key=lambda work: sum(1 / (FUSION + places[id(part)]) for part in work.parts),
        reverse=True,
    )


def _places(pages: Sequence[RecordPage]) -> dict[int, int]:
    return {id(record): place for page in pages for place, record in enumerate(page.records)}


def has_more(page: RecordPage) -> bool:
    """Tell whether a service has more than it gave."""
    return page.total is not None and page.start + len(page.records) < page.total


def _day(record: Record) -> str:
    return record.submitted[:10] or record.date or str(record.year or "")


def notes_on(
    planned: "Plan", pages: Sequence[RecordPage], left_out: Mapping[str, int], request: "Request"
) -> list[str]:
    """Return what a reader must know of an outcome: partial, kept or unasked answers."""
    notes = [page.partial.rstrip(".") for page in pages if page.partial]
    notes += [
        f"{page.source}: this answer is from {page.at[:16].replace('T', ' ')} UTC"
        for page in pages
        if page.cached
    ]
    for fault, count in left_out.items():
        notes.append(f"{count} left out that do not show to hold: {fault}")
    if "arxiv" in request.sources and not planned.queries["arxiv"]:
        notes.append("arXiv cannot be asked this")
    if planned.ads.truncated:
        notes.append("The query was too long for ADS; some of its words were left out")
    return notes
