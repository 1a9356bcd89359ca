"""How found works are told to a model: a few lines each, with names that other tools take."""

from collections.abc import Iterable, Iterator

from nuncius.core.records import Record
from nuncius.library.search import FoundWork, FoundWorks

ABSTRACT_CHARACTERS = 280
_NAMED = 3


def show_works(found: FoundWorks) -> str:
    """Return a search's outcome."""
    totals = ", ".join(
        f"{source} {'?' if total is None else f'{total:,}'}"
        for source, total in found.total.items()
    )
    lines = [f"Found ({totals or 'nothing'}); asked: {_asked(found)}"]
    lines += [
        f"No answer from {one.source}: {one.message} {one.hint}".rstrip() for one in found.errors
    ]
    lines += [f"Note: {note}." for note in found.notes]
    for number, work in enumerate(found.works, found.request.start + 1):
        lines += ["", *show_work(work, number)]
    if found.next_start is not None:
        lines += ["", f"There is more: start={found.next_start}."]
    if not found.works:
        lines.append("No paper was found. Try fewer or other words, or leave out a filter.")
    return "\n".join(lines)


def _asked(found: FoundWorks) -> str:
    return "; ".join(f"{source}: {query}" for source, query in found.plan.queries.items() if query)


def show_work(work: FoundWork, number: int | None = None) -> Iterator[str]:
    """Yield a work's lines."""
    record = work.record
    place = f"{number}. " if number is not None else ""
    yield f"{place}{record.title or '(no title)'}"
    yield f"   {reference(record)} [{names(record)}]"
    told = list(marks(work))
    if told:
        yield f"   {'; '.join(told)}"
    if record.abstract:
        yield f"   {_cut(record.abstract)}"


def reference(record: Record) -> str:
    """Return authors, year and journal in short."""
    people = [author.name.partition(",")[0] for author in record.authors]
    count = record.author_count or len(people)
    if count > _NAMED and people:
        who = f"{people[0]} et al. ({count} authors)"
    else:
        who = ", ".join(people) or "no author is named"
    where = " ".join(part for part in (record.journal or record.bibstem, record.volume) if part)
    return ", ".join(part for part in (who, str(record.year or "no year"), where) if part)


def names(record: Record) -> str:
    """Return the names that other tools take."""
    arxiv = f"arXiv:{record.arxiv_id}" if record.arxiv_id else ""
    doi = "" if record.doi.startswith("10.48550/arxiv.") and arxiv else record.doi
    return " · ".join(name for name in (record.bibcode, arxiv, doi) if name) or "no identifier"


def marks(work: FoundWork) -> Iterator[str]:
    """Yield what must be known of a work beside its reference."""
    record = work.record
    if record.status:
        note = f" ({_cut(record.status_note, 120)})" if record.status_note else ""
        yield f"{record.status.upper()}{note}"
    if work.paper_id:
        yield f"in the library as {work.paper_id} ({work.state})"
    if work.cited_by:
        yield f"cited by {_ids(work.cited_by)} of the library"
    if work.cites:
        yield f"cites {_ids(work.cites)} of the library"
    if record.citation_count is not None:
        yield f"{record.citation_count:,} citations"
    if record.refereed is not None:
        yield "refereed" if record.refereed else "not refereed"
    if record.open_access:
        yield "open access"


def _ids(ids: Iterable[str]) -> str:
    listed = list(ids)
    more = f" and {len(listed) - _NAMED} more" if len(listed) > _NAMED else ""
    return f"{', '.join(listed[:_NAMED])}{more}"


def _cut(text: str, limit: int = ABSTRACT_CHARACTERS) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
