"""The command `search`: ADS and arXiv at once."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nuncius.cli import screen
from nuncius.cli.options import MOST, Json
from nuncius.cli.start import with_app

if TYPE_CHECKING:
    from nuncius.library.search import FoundWork, FoundWorks, Plan, Request


def search(
    query: Annotated[
        str, typer.Argument(help="Words, in English or Chinese, or ADS's own syntax.")
    ] = "",
    *,
    source: Annotated[
        str, typer.Option("--source", metavar="S", help="ads, arxiv or both with a comma.")
    ] = "ads,arxiv",
    rows: Annotated[int, typer.Option("--rows", min=1, max=200, metavar="N")] = 20,
    start: Annotated[
        int, typer.Option("--start", min=0, max=MOST, metavar="N", help="Skip so many.")
    ] = 0,
    year: Annotated[
        str, typer.Option("--year", metavar="2019-2024", help="One year, or from-to.")
    ] = "",
    author: Annotated[
        list[str] | None,
        typer.Option("--author", metavar='"Last, F"', help="^Last, F: as the first author."),
    ] = None,
    target: Annotated[
        str, typer.Option("--object", metavar="NAME", help="A target, such as 'M 31'.")
    ] = "",
    refereed: Annotated[
        bool | None, typer.Option("--refereed/--not-refereed", show_default=False)
    ] = None,
    sort: Annotated[
        Literal["relevance", "date", "citations"], typer.Option("--sort")
    ] = "relevance",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the queries and send nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Search ADS and arXiv; a preprint and its journal version are one entry.

    ADS needs a token (ADS_API_TOKEN); without one arXiv is asked alone.
    """
    from nuncius.core.listing import read_years
    from nuncius.library.search import Request, plan

    first, last = read_years(year)
    request = Request(
        query.strip(),
        sources=sources(source),
        authors=tuple(author or ()),
        year_from=first,
        year_to=last,
        target=target.strip(),
        refereed=refereed,
        rows=rows,
        start=start,
        sort=sort,
    )
    if dry_run:
        _show_plan(request, plan(request), json=json)
        return
    found = with_app(lambda app: app.search().search(request))
    if json:
        from nuncius.tools.search import facts

        screen.emit(facts(found))
        return
    _show(found)


def sources(text: str) -> "tuple[Literal['ads', 'arxiv'], ...]":
    """Read names of services with commas between.

    Raises:
        UsageError: One of them is not asked for papers.
    """
    from nuncius.core.errors import UsageError
    from nuncius.library.search import SOURCES

    names = dict.fromkeys(word.strip().lower() for word in text.split(",") if word.strip())
    wrong = [name for name in names if name not in SOURCES]
    if wrong or not names:
        raise UsageError(
            f"'{wrong[0] if wrong else text}' is no service that is searched.",
            hint="Name ads, arxiv or ads,arxiv.",
        )
    return tuple(one for one in SOURCES if one in names)


def _show_plan(request: "Request", planned: "Plan", *, json: bool) -> None:
    queries = {name: planned.queries[name] for name in request.sources}
    unasked = [one.query for one in planned.arxiv.unasked] if "arxiv" in queries else []
    if json:
        screen.emit(
            {
                "query": request.query,
                "queries": queries,
                "read_as": planned.ads.explanation,
                "q": planned.ads.q,
                "fq": list(planned.ads.fq),
                "sort": planned.sort or request.sort,
                "faults": [str(fault) for fault in planned.ads.faults],
                "filtered_here": unasked,
            }
        )
        return
    for name, text in queries.items():
        screen.out(f"{name:<6} {text or '(cannot be asked this)'}")
    if planned.ads.explanation:
        screen.say(f"read as: {planned.ads.explanation}")
    if unasked:
        screen.say(f"arXiv is not asked, and its papers are filtered here: {'; '.join(unasked)}")


def _show(found: "FoundWorks") -> None:
    for name, text in found.plan.queries.items():
        if text and name in found.request.sources:
            screen.say(f"{name}: {text}")
    for number, work in enumerate(found.works, found.request.start + 1):
        _show_work(work, number)
    if not found.works:
        screen.out("No paper was found. Try fewer or other words, or leave out a filter.")
    totals = [
        f"{source} has {'an unknown number' if total is None else f'{total:,}'}"
        for source, total in found.total.items()
    ]
    screen.say(f"{len(found.works)} shown; {', '.join(totals) or 'nothing was asked'}.")
    for fault in found.errors:
        screen.warn(f"{fault.source} gave no answer: {fault.message} {fault.hint}".rstrip())
    for note in found.notes:
        screen.say(f"note: {note}.")


def _show_work(work: "FoundWork", number: int) -> None:
    from nuncius.library.show_works import marks, names, reference

    record = work.record
    screen.out(f"{number:>3}. {screen.paint(record.title or '(no title)', 'bold')}")
    screen.out(f"     {reference(record)}")
    told = list(marks(work))
    screen.out(f"     {names(record)}{'; ' if told else ''}{'; '.join(told)}")
