"""The command `digest`: what arXiv announced, the nearest to the library first."""

from typing import TYPE_CHECKING, Annotated

import typer

from nuncius.cli import screen
from nuncius.cli.options import Json
from nuncius.cli.start import with_app

if TYPE_CHECKING:
    from nuncius.library.digest import Digest, DigestPaper

_TITLES = {"new": "New", "cross": "Cross-listed", "replace": "Replaced"}


def digest(
    categories: Annotated[
        list[str], typer.Argument(metavar="CATEGORY...", help="Such as astro-ph.GA.")
    ],
    rows: Annotated[
        int, typer.Option("--rows", min=1, max=500, metavar="N", help="Most of each kind.")
    ] = 20,
    json: Json = False,
) -> None:
    """Tell what arXiv announced last, the nearest to your library and notes first.

    The feed is compared with arXiv's listing; where they disagree it says "incomplete".
    """
    made = with_app(lambda app: app.digests().of(categories))
    if json:
        screen.emit(shape(made))
        return
    counts = ", ".join(
        f"{made.announced.get(kind, 0)} {kind}" for kind in ("new", "cross", "replace")
    )
    screen.out(f"{', '.join(made.categories)}, announced {made.day[:10] or 'never'}: {counts}")
    if made.listed is not None:
        screen.out(f"The listing has {made.listed:,} papers of these days.")
    if made.incomplete:
        screen.warn(f"incomplete: {made.incomplete}")
    for kind, title in _TITLES.items():
        papers = [paper for paper in made.papers if paper.kind == kind]
        if papers:
            screen.out(f"\n{screen.paint(title, 'bold')}")
        for paper in papers[:rows]:
            _show(paper)
        if len(papers) > rows:
            screen.out(f"  and {len(papers) - rows} more (--rows {len(papers)})")
    for note in made.notes:
        screen.say(f"note: {note}.")


def _show(paper: "DigestPaper") -> None:
    from nuncius.library.show_works import names, reference

    record = paper.record
    screen.out(f"  {record.title}")
    screen.out(f"      {reference(record)} [{names(record)}]")
    told = [*paper.reasons]
    if paper.found.paper_id:
        told.insert(0, f"in the library as {paper.found.paper_id}")
    if not paper.in_feed:
        told.insert(0, "in the listing, not in the feed")
    if told:
        screen.out(f"      {'; '.join(told)}")


def shape(made: "Digest") -> dict[str, object]:
    """Return a digest for programs."""
    from nuncius.tools.search import work_facts

    return {
        "categories": list(made.categories),
        "announced_on": made.day,
        "announced": {kind: made.announced.get(kind, 0) for kind in _TITLES},
        "listed": made.listed,
        "incomplete": made.incomplete,
        "notes": list(made.notes),
        "papers": [
            {
                **work_facts(paper.found),
                "kind": paper.kind,
                "score": paper.score,
                "reasons": list(paper.reasons),
                "in_feed": paper.in_feed,
            }
            for paper in made.papers
        ],
    }
