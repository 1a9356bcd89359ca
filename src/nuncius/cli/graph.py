"""`paper graph`: what a paper cites, what cites it, and what is cited together with it."""

from typing import TYPE_CHECKING, Annotated

import typer

from nuncius.cli import screen
from nuncius.cli.options import Json, PaperName
from nuncius.cli.start import with_app

if TYPE_CHECKING:
    from nuncius.library.graph import Graph

_TITLES = {
    "references": "It cites",
    "citations": "Cited by",
    "cocited": "Cited together with it by papers of the library",
    "similar": "Similar to it, says ADS",
}


def graph(
    name: PaperName,
    rows: Annotated[
        int, typer.Option("--rows", min=1, max=500, metavar="N", help="Most of each kind.")
    ] = 20,
    json: Json = False,
) -> None:
    """Show the papers around one: references, citations, co-citations, similar ones."""
    found = with_app(lambda app: app.graphs().around(name, rows=rows))
    if json:
        screen.emit(shape(found))
        return
    from nuncius.library.show_works import marks, names, reference

    screen.out(screen.paint(found.record.title or name, "bold"))
    screen.out(f"{reference(found.record)} [{names(found.record)}]")
    for group in found.neighbours:
        total = len(group.works) if group.total is None else group.total
        screen.out(f"\n{_TITLES[group.relation]} ({total:,}, from {group.known_from})")
        for work in group.works:
            weight = found.weights.get(work.record.bibcode, 0)
            times = f" ×{weight}" if group.relation == "cocited" else ""
            title = work.record.title or work.record.bibcode
            held = f" = {work.paper_id}" if work.paper_id else ""
            status = next((one for one in marks(work) if work.record.status), "")
            screen.out(f"  {title}{times}{held}{f'  {status}' if status else ''}")
            if work.record.title:
                screen.out(f"      {reference(work.record)} [{names(work.record)}]")
    for note in found.notes:
        screen.say(f"note: {note}")


def shape(found: "Graph") -> dict[str, object]:
    """Return a neighbourhood for programs."""
    from nuncius.library.merge import joined
    from nuncius.library.search import FoundWork
    from nuncius.tools.search import work_facts

    return {
        "paper_id": found.paper_id,
        "paper": work_facts(FoundWork(joined([found.record]), found.paper_id, found.state)),
        "neighbours": [
            {
                "relation": group.relation,
                "total": group.total,
                "known_from": group.known_from,
                "papers": [
                    {
                        **work_facts(work),
                        "together": found.weights.get(work.record.bibcode, 0),
                    }
                    for work in group.works
                ],
            }
            for group in found.neighbours
        ],
        "notes": list(found.notes),
    }
