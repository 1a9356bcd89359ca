"""Search the literature: ADS and arXiv at once, merged, filtered, marked with what the library holds."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Literal, TypeVar

from nuncius.core.errors import AccessDeniedError, NunciusError, UpstreamError, UsageError
from nuncius.core.papers import Paper, PaperState
from nuncius.core.records import Record, RecordPage
from nuncius.library.merge import Work, merge
from nuncius.library.work_order import by_worth, filtered, has_more, in_order, notes_on
from nuncius.store.protocols import Store

if TYPE_CHECKING:  # read when something is searched for: tools are found at every start
    from nuncius.library.constraints import Filters
    from nuncius.sources.ads_query import AdsQuery
    from nuncius.sources.arxiv_query import ArxivQuery
    from nuncius.sources.services import Services

log = logging.getLogger(__name__)

Source = Literal["ads", "arxiv"]
Sort = Literal["relevance", "date", "citations"]
SOURCES: tuple[Source, ...] = ("ads", "arxiv")
MAX_ROWS = 200
DEEPEST = 2000
"""Place up to which the lists of several services are merged; each is asked for so much at most."""
_ADS_SORT: Mapping[Sort, str] = {
    "relevance": "score desc",
    "date": "date desc",
    "citations": "citation_count desc",
}
_ARXIV_SORT: Mapping[Sort, str] = {
    "relevance": "relevance",
    "date": "submitted",
    "citations": "relevance",  # arXiv counts none
}
_WORDS_SORT: Mapping[str, Sort] = {"citation_count": "citations", "date": "date"}
PATIENCE_S = 45.0
"""One service that says nothing for so long does not keep back what the other one found."""
_NAMES_S = 20.0
MOST_NAMES = 5
"""Of one object in a query for arXiv."""
_PRINTED = re.compile(
    r"(?:M|NGC|IC|HD|HR|HIP|GJ|PSR|3C|Abell|UGC|Mrk|Arp|TOI|KIC|WASP|Kepler|TRAPPIST)[ -]?\w|[A-Z][a-z]{3}"
)
Aliases = Callable[[str], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Request:
    """What to look for.

    Attributes:
        query: Words, in English or Chinese, or ADS's own syntax; may be empty beside filters.
        authors: Each must be among the authors; a leading ``^`` asks for the first one.
        target: An astronomical object; its other names are searched too.
        start: Place of the first, from 0, among the merged works.
    """

    query: str = ""
    sources: tuple[Source, ...] = SOURCES
    authors: tuple[str, ...] = ()
    year_from: int | None = None
    year_to: int | None = None
    target: str = ""
    refereed: bool | None = None
    rows: int = 20
    start: int = 0
    sort: Sort = "relevance"


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be asked, before anything is sent.

    Attributes:
        ads: The query for ADS, with how each phrase was read.
        arxiv: The query for arXiv, with what it cannot be asked.
    """

    ads: "AdsQuery"
    arxiv: "ArxivQuery"
    filters: "Filters"

    @property
    def sort(self) -> Sort | None:
        """Return the order that the words ask for, such as "most cited"; None: none."""
        return _WORDS_SORT.get(self.ads.sort.partition(" ")[0])

    @property
    def queries(self) -> dict[str, str]:
        """Return what is sent, by service; empty where a service has nothing to answer."""
        ads = " ".join([self.ads.q, *(f"fq={one}" for one in self.ads.fq)])
        listed = f"id_list={','.join(self.arxiv.id_list)}" if self.arxiv.id_list else ""
        return {"ads": ads, "arxiv": self.arxiv.search_query or listed}


@dataclass(frozen=True, slots=True)
class Failed:
    """A service that gave nothing, and what to do about it."""

    source: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class FoundWork:
    """One work, and what the library holds of it.

    Attributes:
        paper_id: The library's; empty where it does not hold it.
        cited_by, cites: Ids of the library's papers that cite it, and that it cites, as far as
            their lists are known.
    """

    work: Work
    paper_id: str = ""
    state: PaperState | None = None
    cited_by: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()

    @property
    def record(self) -> Record:
        """Return what is told of it."""
        return self.work.record


@dataclass(frozen=True, slots=True)
class FoundWorks:
    """The outcome of one search.

    Attributes:
        total: How many each service has in all.
        left_out: What was taken away because it does not hold a filter, by filter.
        notes: What a reader must know: partial answers, what was not applied, from when it is.
        next_start: The `start` that shows what follows; None: nothing does.
    """

    request: Request
    plan: Plan
    works: Sequence[FoundWork]
    total: Mapping[str, int | None]
    errors: Sequence[Failed] = ()
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    notes: Sequence[str] = ()
    next_start: int | None = None


def plan(request: Request, *, aliases: Sequence[str] = (), today: date | None = None) -> Plan:
    """Translate a request; nothing is sent.

    Raises:
        UsageError: There is nothing to look for, or a number makes no sense.
    """
    from nuncius.library.constraints import Filters
    from nuncius.sources.ads_query import translate
    from nuncius.sources.arxiv_query import arxiv_query
    from nuncius.sources.object_names import printed_names

    if request.year_from and request.year_to and request.year_from > request.year_to:
        raise UsageError(
            f"The years run backwards: {request.year_from} to {request.year_to}.",
            hint="Give the earlier year first.",
        )
    ads = translate(
        request.query,
        authors=request.authors,
        year_from=request.year_from,
        year_to=request.year_to,
        object=request.target or None,
        refereed=request.refereed,
        today=today,
        glossary=_chinese() if any("\u4e00" <= c <= "\u9fff" for c in request.query) else None,
    )
    target = request.target or asked_object(ads)
    printed = printed_names(target) if target else ()
    filters = Filters(
        request.authors,
        request.year_from,
        request.year_to,
        request.refereed,
        request.target,
        (*printed, *aliases),
    )
    arxiv = arxiv_query(ads, today=today)
    if printed:
        arxiv = replace(arxiv, search_query=by_any_name(arxiv.search_query, printed[0], aliases))
    return Plan(ads, arxiv, filters)


def asked_object(ads: "AdsQuery") -> str:
    """Return the object that the words ask for, or nothing."""
    from nuncius.sources.ads_clauses import Match

    found = (c.value for c in ads.clauses if isinstance(c, Match) and c.field == "object")
    return next(found, "")


def by_any_name(query: str, target: str, aliases: Sequence[str]) -> str:
    """Let arXiv find an object by the names that papers use for it: ADS knows them by itself."""
    names = [target, *(name for name in map(printed_name, aliases) if name)]
    distinct = list({"".join(name.lower().split()): name for name in reversed(names)}.values())[
        ::-1
    ]
    group = " OR ".join(f'all:"{name}"' for name in distinct[:MOST_NAMES])
    for term in (f'all:"{target}"', f"all:{target}"):
        if term in query and len(distinct) > 1:
            return query.replace(term, f"({group})", 1)
    return query


def printed_name(alias: str) -> str:
    """Return a resolver's name of an object as papers print it; nothing for one that few print."""
    name = " ".join(alias.split()).removeprefix("NAME ").removeprefix("* ").removeprefix("V* ")
    return name if _PRINTED.match(name) and '"' not in name and len(name) < 40 else ""


def _chinese() -> Mapping[str, str]:
    """Return Chinese terms with the first of their English words."""
    from nuncius.library.glossary import glossary

    return {term: words[0] for term, words in glossary().english.items() if words}


class Search:
    """Searches both services.

    Args:
        aliases: Gives an object's other names; None: only the one that was typed counts.
    """

    def __init__(
        self, store: Store, services: "Services", *, aliases: Aliases | None = None
    ) -> None:
        self._store = store
        self._services = services
        self._aliases = aliases

    async def search(self, request: Request) -> FoundWorks:
        """Ask the services at once and return one entry for each work.

        Raises:
            UsageError: There is nothing to look for, or it is too far down the merged list.
            UpstreamError, KeyMissingError, AccessDeniedError: No service answered.
        """
        if not request.sources:
            raise UsageError("No service was named.", hint="Name ads, arxiv or both.")
        request = replace(request, rows=max(1, min(request.rows, MAX_ROWS)))
        if len(request.sources) > 1 and request.start + request.rows > DEEPEST:
            raise UsageError(
                f"Lists are merged down to place {DEEPEST:,}, not to {request.start + request.rows:,}.",
                hint="Ask one service alone, or narrow the search.",
            )
        planned = plan(request)
        target = request.target or asked_object(planned.ads)
        if target and (names := await self._other_names(target)):
            planned = plan(request, aliases=names)
        if request.sort == "relevance" and planned.sort:
            request = replace(request, sort=planned.sort)
        pages, errors = await self._pages(request, planned, request.start + request.rows)
        found = await self._found(request, planned, pages, errors)
        if _falls_short(found, pages):  # filters took works away: look further down, once
            depth = min(DEEPEST, 3 * (request.start + request.rows))
            pages, errors = await self._pages(request, planned, depth)
            found = await self._found(request, planned, pages, errors)
        return found

    async def _pages(
        self, request: Request, planned: Plan, depth: int
    ) -> tuple[list[RecordPage], list[Failed]]:
        """Ask every service for its first works, as many as `depth`; a single one from `start` on."""
        asked = {
            source: in_time(source, self._ask(source, planned, request, depth), PATIENCE_S)
            for source in request.sources
        }
        answers = await asyncio.gather(*asked.values(), return_exceptions=True)
        pages: list[RecordPage] = []
        faults: list[NunciusError] = []
        errors: list[Failed] = []
        for source, answer in zip(asked, answers, strict=True):
            if isinstance(answer, NunciusError):
                faults.append(answer)
                errors.append(Failed(source, answer.message, answer.hint))
            elif isinstance(answer, BaseException):
                raise answer
            elif answer is not None:
                pages.append(answer)
        if faults and not pages:
            raise worst(faults)
        return pages, errors

    async def repeats(self, *texts: str) -> str:
        """Return what of the user's own words one of the texts repeats; see `library.privacy`."""
        from nuncius.library.privacy import repeats

        return next(filter(None, [await repeats(self._store, text) for text in texts]), "")

    async def _other_names(self, target: str) -> Sequence[str]:
        """Return an object's other names; none where they are not told soon."""
        if self._aliases is None:
            return ()
        try:
            async with asyncio.timeout(_NAMES_S):
                return await self._aliases(target)
        except TimeoutError:
            log.info("the other names of %r did not come within %.0f s", target, _NAMES_S)
            return ()

    async def _ask(
        self, source: Source, planned: Plan, request: Request, depth: int
    ) -> RecordPage | None:
        from nuncius.sources.ads import Ads
        from nuncius.sources.arxiv import Arxiv

        alone = len(request.sources) == 1
        start, rows = (request.start, request.rows) if alone else (0, depth)
        if source == "ads":
            return await Ads(self._services).search(
                planned.ads.q,
                fq=planned.ads.fq,
                rows=rows,
                start=start,
                sort=_ADS_SORT[request.sort],
            )
        arxiv = Arxiv(self._services)
        if planned.arxiv.search_query:
            return await arxiv.search(
                planned.arxiv.search_query,
                rows=rows,
                start=start,
                sort=_ARXIV_SORT[request.sort],
            )
        if planned.arxiv.id_list:
            records = await arxiv.by_ids(planned.arxiv.id_list)
            known = tuple(record for record in records if record)
            return RecordPage("arxiv", known, len(known), query=planned.queries["arxiv"])
        return None

    async def _found(
        self, request: Request, planned: Plan, pages: Sequence[RecordPage], errors: list[Failed]
    ) -> FoundWorks:
        works = merge(record for page in pages for record in page.records)
        kept, left_out = filtered(works, planned)
        alone = len(request.sources) == 1
        first = 0 if alone else request.start
        ordered = in_order(kept, pages, request.sort)
        shown = ordered[first : first + request.rows]
        if request.sort == "relevance":
            shown = by_worth(shown, pages)
        further = len(ordered) > first + request.rows or any(map(has_more, pages))
        following = request.start + (request.rows if alone else len(shown))
        return FoundWorks(
            request,
            planned,
            await self.marked(shown),
            {page.source: page.total for page in pages},
            errors,
            left_out,
            list(notes_on(planned, pages, left_out, request)),
            following if further and following > request.start else None,
        )

    async def marked(self, works: Sequence[Work]) -> list[FoundWork]:
        """Say of each work what the library holds of it, and what is linked with it there."""
        names = {name: at for at, work in enumerate(works) for name in names_of(work.record)}
        held = await self._store.works.papers_of(list(names))
        of_work = {names[name]: paper_id for name, paper_id in held.items()}
        papers = await self._store.papers.get(list(set(of_work.values())))
        bibcodes = [code for work in works for code in work.record.bibcodes]
        citing = await self._store.works.linked(bibcodes, "references")
        cited = await self._store.works.linked(bibcodes, "citations")
        found: list[FoundWork] = []
        for at, work in enumerate(works):
            paper: Paper | None = papers.get(of_work.get(at, ""))
            codes = work.record.bibcodes
            found.append(
                FoundWork(
                    work,
                    paper.paper_id if paper else "",
                    paper.state if paper else None,
                    tuple(dict.fromkeys(one for code in codes for one in citing.get(code, ()))),
                    tuple(dict.fromkeys(one for code in codes for one in cited.get(code, ()))),
                )
            )
        return found


_Answer = TypeVar("_Answer")


async def in_time(source: str, asking: Awaitable[_Answer], patience_s: float) -> _Answer:
    """Return what a service answers, of which others need not wait longer than so.

    Raises:
        UpstreamError: It said nothing in that time.
    """
    try:
        async with asyncio.timeout(patience_s):
            return await asking
    except TimeoutError as error:
        raise UpstreamError(
            source, source, f"no answer within {patience_s:.0f} s", hint="Ask again later."
        ) from error


def names_of(record: Record) -> list[str]:
    """Return every name that a library may hold the work by."""
    arxiv = [f"arXiv:{record.arxiv_id}"] if record.arxiv_id else []
    return [*record.bibcodes, *arxiv, *record.dois]


def _falls_short(found: FoundWorks, pages: Sequence[RecordPage]) -> bool:
    request = found.request
    return (
        len(request.sources) > 1
        and bool(found.left_out)
        and len(found.works) < request.rows
        and any(map(has_more, pages))
    )


def worst(faults: Sequence[NunciusError]) -> NunciusError:
    """Return the one error that says all: nothing may leave, or what each service said."""
    refused = [fault for fault in faults if isinstance(fault, AccessDeniedError)]
    if refused or len(faults) == 1:
        return [*refused, *faults][0]
    upstream = [fault for fault in faults if isinstance(fault, UpstreamError)]
    if not upstream:
        return faults[0]
    hints = " ".join(dict.fromkeys(fault.hint for fault in faults if fault.hint))
    said = "; ".join(
        f"{fault.service}: {fault.reason}"
        if isinstance(fault, UpstreamError)
        else fault.message.rstrip(".")
        for fault in faults
    )
    return UpstreamError("no service answered", upstream[0].url, said, hint=hints)
