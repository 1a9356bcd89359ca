"""arXiv: searches, lookups, the lists of each day, the history of versions, and where texts are.

All of its hosts share one pace: one request in three seconds, over all processes.

Source: https://info.arxiv.org/help/api/user-manual.html, https://info.arxiv.org/help/api/tou.html
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import TypeVar
from urllib.parse import quote, urlencode

from nuncius.core.errors import NotFoundError, UpstreamError, UsageError
from nuncius.core.identifiers import Identifier, identify
from nuncius.core.records import Link, Record, RecordPage
from nuncius.sources.arxiv_feeds import ARXIV, BadIdError, DailyList, Feed, read_daily, read_feed
from nuncius.sources.arxiv_oai import Harvested, OaiPage, read_oai
from nuncius.sources.arxiv_records import Places, text_links
from nuncius.sources.replies import DAY_S, is_good, read_once
from nuncius.sources.services import Services
from nuncius.walls.courtesy import Answer
from nuncius.walls.network import Reply

KEEP_SEARCH_S = DAY_S
"""arXiv's search index changes once a day."""
KEEP_RECORD_S = 7 * DAY_S
"""A new version of a known paper is rarely missed for a week; the daily list tells of it."""
KEEP_DAILY_S = 1_800.0
"""The list appears at an hour that varies; after half an hour it is worth asking again."""
SLICE = 500
"""Records of one request: arXiv takes 2,000, but large answers often come empty."""
MOST_RECORDS = 30_000
"""arXiv shows no further records of a search."""
IDS = 100
"""Identifiers of one request: its address stays short enough for every server between."""
EMPTY_TRIES = 3
BAD_IDS = 5
MAX_BYTES = 32 * 1024 * 1024
"""A slice has some 2 MB, a page of OAI some 3 MB."""
SORTS = {
    "relevance": "relevance",
    "date": "submittedDate",
    "submitted": "submittedDate",
    "submitteddate": "submittedDate",
    "updated": "lastUpdatedDate",
    "lastupdateddate": "lastUpdatedDate",
}
_DIRECTIONS = {"": "descending", "desc": "descending", "descending": "descending"} | dict.fromkeys(
    ("asc", "ascending"), "ascending"
)
_RANGE = re.compile(
    r"\[\s*(\d{8,14})\s*(?:\+|%20|\s)\s*TO\s*(?:\+|%20|\s)\s*(\d{8,14})\s*\]", re.IGNORECASE
)
_CATEGORY = re.compile(r"[a-z]+(?:-[a-z]+)*(?:\.[A-Za-z]+(?:-[a-z]+)?)?")
T = TypeVar("T")


class Arxiv:
    """The client of arXiv; it needs no key.

    Every method raises:
        RateLimitedError: It asks to wait longer than we do, or has had too many requests.
        RefusedError: arXiv does not take the request.
        UpstreamError: It cannot be reached, is too busy, or its answer cannot be used.
        UsageError: The request makes no sense, which is told before it is sent.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    @property
    def _places(self) -> Places:
        return Places(self._services.base("arxiv_web"), self._services.base("ar5iv"))

    async def search(
        self, search_query: str, *, start: int = 0, rows: int = 20, sort: str = "relevance"
    ) -> RecordPage:
        """Return the preprints that a query finds.

        Args:
            search_query: In arXiv's syntax, as typed: it is encoded here, once. Days of
                ``submittedDate:[20240101 TO 20240101]`` count whole.
            sort: ``relevance``, ``submitted`` or ``updated``, the last two also with ``asc``.

        Returns:
            A page; `partial` tells what arXiv did not give.
        """
        if not search_query.strip():
            raise UsageError("The query is empty.", hint="Say what to search for.")
        if start < 0 or start >= MOST_RECORDS:
            raise UsageError(
                f"arXiv shows the first {MOST_RECORDS:,} records of a search, not those from {start:,} on.",
                hint="Narrow the query by a date or a category.",
            )
        by, order = read_sort(sort)
        fixed = {"search_query": whole_days(search_query.strip()), "sortBy": by, "sortOrder": order}
        wanted = max(0, min(rows, MOST_RECORDS - start))
        records: dict[str, Record] = {}
        total: int | None = None
        at, partial = start, ""
        answer: Answer | None = None
        while answer is None or len(records) < wanted:
            size = min(wanted - len(records), SLICE)
            try:
                feed, answer = await self._slice(fixed, at, size=size, known_total=total)
            except UpstreamError as error:
                if answer is None or not records:
                    raise
                partial = f"arXiv failed after {len(records):,} records: {error.reason}."
                break
            total = feed.total if feed.total or not total else total
            if not feed.records:
                if size and total is not None and at < total:
                    partial = f"arXiv gave empty pages from {at:,} on, of {total:,} records."
                break
            before = len(records)
            for record in feed.records:
                records.setdefault(record.arxiv_id, record)
            at += len(feed.records)
            if total is None or at >= min(total, MOST_RECORDS) or len(records) == before:
                break  # the end, or the same page again
        due = min(wanted, (total or 0) - start)
        if not partial and len(records) < due:
            partial = (
                f"arXiv gave {len(records):,} of {due:,} records; ask for the rest from {at:,} on."
            )
        elif not partial and rows > wanted:
            partial = f"arXiv shows the first {MOST_RECORDS:,} records only."
        return RecordPage(
            "arxiv", tuple(records.values())[:wanted], total, start, search_query, partial,
            answer.at.isoformat(timespec="seconds"), answer.cached,
        )  # fmt: skip

    async def by_ids(self, names: Sequence[str]) -> tuple[Record | None, ...]:
        """Look preprints up by identifier, in any of its usual forms, with or without version.

        Returns:
            One record for each name, in its place; None where arXiv knows none.
        """
        asked = [_arxiv_name(name) for name in names]
        distinct = list(dict.fromkeys(name for name in asked if name))
        records: list[Record] = []
        for begin in range(0, len(distinct), IDS):
            records += await self._chunk(distinct[begin : begin + IDS])
        return tuple(_pick(name, records) if name else None for name in asked)

    async def daily(self, categories: Sequence[str]) -> DailyList:
        """Return what arXiv announced last in some categories: new, cross-listed and replaced."""
        wrong = [one for one in categories if not _CATEGORY.fullmatch(one)]
        if wrong or not categories:
            raise UsageError(
                f"'{wrong[0]}' is no category of arXiv." if wrong else "No category was given.",
                hint="Categories look like astro-ph, astro-ph.GA or gr-qc.",
            )
        name = "+".join(categories)
        found, answer = await self._get(
            f"{self._services.base('arxiv_rss')}/rss/{name}", "rss",
            lambda reply: read_daily(reply, name, self._places), KEEP_DAILY_S,
        )  # fmt: skip
        return DailyList(
            found.categories, found.records, found.announced_on, found.built_at, found.partial,
            answer.at.isoformat(timespec="seconds"), answer.cached,
        )  # fmt: skip

    async def history(self, name: str) -> Harvested:
        """Return a preprint with its versions and their dates.

        Raises:
            NotFoundError: arXiv knows no such paper.
        """
        found = _arxiv_name(name)
        if found is None:
            raise UsageError(
                f"'{name}' is no identifier of arXiv.",
                hint="Such as 2401.01234 or astro-ph/0601001.",
            )
        page = await self._oai(
            {
                "verb": "GetRecord",
                "identifier": f"oai:arXiv.org:{found.value}",
                "metadataPrefix": "arXivRaw",
            }
        )
        if not page.papers:
            raise NotFoundError(
                f"arXiv tells nothing of {found.value}.", hint="Check the identifier."
            )
        return page.papers[0]

    async def changed(
        self,
        *,
        since: date | None = None,
        until: date | None = None,
        category_set: str = "physics:astro-ph",
        token: str = "",
        form: str = "arXivRaw",
    ) -> OaiPage:
        """Return papers whose metadata changed on some days (not: that were submitted then).

        Args:
            category_set: OAI's name of a category, such as ``physics:astro-ph:GA``.
            token: Of the page before, which alone then counts.
            form: ``arXivRaw``, ``arXiv`` or ``oai_dc``.
        """
        if token:
            return await self._oai({"verb": "ListRecords", "resumptionToken": token})
        params = {"verb": "ListRecords", "metadataPrefix": form, "set": category_set}
        if since:
            params["from"] = since.isoformat()
        if until:
            params["until"] = until.isoformat()
        return await self._oai({key: value for key, value in params.items() if value})

    def links(self, name: str, version: int | None = None) -> tuple[Link, ...]:
        """Return where the texts of a preprint are; the version may also stand in the name."""
        found = _arxiv_name(name)
        if found is None:
            raise UsageError(
                f"'{name}' is no identifier of arXiv.",
                hint="Such as 2401.01234 or astro-ph/0601001.",
            )
        return text_links(found.value, version or found.version, self._places)

    # --- requests ---

    async def _slice(
        self, fixed: dict[str, str], at: int, *, size: int, known_total: int | None
    ) -> tuple[Feed, Answer]:
        """Ask for one page; one that is empty before the end is asked for again, with fewer rows."""
        number = 0
        while True:
            asked = max(1, size >> number) if size else 0
            params = {**fixed, "start": str(at), "max_results": str(asked)}

            def unexpected(feed: Feed, asked: int = asked) -> bool:
                return bool(asked) and not feed.records and at < (feed.total or known_total or 0)

            def good(feed: Feed, test: Callable[[Feed], bool] = unexpected) -> bool:
                return not test(feed)

            feed, answer = await self._query(params, KEEP_SEARCH_S, good)
            number += 1
            if number == EMPTY_TRIES or good(feed):
                return feed, answer

    async def _chunk(self, names: Sequence[Identifier]) -> tuple[Record, ...]:
        """Look some identifiers up; those that arXiv does not take are left out."""
        left: list[Identifier] = list(names)
        for number in range(BAD_IDS + 1):
            if not left:
                break
            params = {
                "id_list": ",".join(_spelled(name) for name in left),
                "start": "0",
                "max_results": str(len(left)),  # without it arXiv stops after ten
            }

            def complete(feed: Feed, due: Iterable[Identifier] = tuple(left)) -> bool:
                return all(_pick(name, feed.records) for name in due)

            try:
                feed, _ = await self._query(params, KEEP_RECORD_S, complete)
            except BadIdError as error:
                fewer = [name for name in left if error.name not in {_spelled(name), name.value}]
                if len(fewer) == len(left) or number == BAD_IDS:
                    raise
                left = fewer
            else:
                return feed.records
        return ()

    async def _query(
        self, params: dict[str, str], keep_s: float, good: Callable[[Feed], bool]
    ) -> tuple[Feed, Answer]:
        read = read_once(lambda reply: read_feed(reply, self._places))
        url = f"{self._services.base('arxiv')}/query?{urlencode(params, quote_via=quote)}"
        return await self._get(url, "query", read, keep_s, also=lambda reply: good(read(reply)))

    async def _oai(self, params: dict[str, str]) -> OaiPage:
        url = f"{self._services.base('arxiv_oai')}?{urlencode(params, quote_via=quote)}"
        page, _ = await self._get(
            url, "oai", lambda reply: read_oai(reply, self._places), KEEP_SEARCH_S
        )
        return page

    async def _get(
        self,
        url: str,
        endpoint: str,
        read: Callable[[Reply], T],
        keep_s: float,
        *,
        also: Callable[[Reply], bool] | None = None,
    ) -> tuple[T, Answer]:
        read = read_once(read)
        answer = await self._services.get("arxiv").request(
            "GET", url, endpoint=endpoint, keep_s=keep_s, accept=is_good(read, also=also),
            max_bytes=MAX_BYTES,
        )  # fmt: skip
        return read(answer.reply), answer


def read_sort(sort: str) -> tuple[str, str]:
    """Return an order as arXiv spells it, with its direction.

    Raises:
        UsageError: arXiv cannot sort so.
    """
    name, _, direction = sort.strip().lower().partition(" ")
    by, order = SORTS.get(name), _DIRECTIONS.get(direction.strip())
    if by is None or order is None:
        raise UsageError(
            f"{ARXIV} cannot sort by '{sort}'.", hint="Sort by relevance, submitted or updated."
        )
    return by, order


def whole_days(query: str) -> str:
    """Return a query whose ranges of days begin with the first day's first minute and end with the last's.

    Ranges that were encoded already (``+TO+``) are read as what they mean: encoded twice, they find
    nothing.
    """

    def widened(match: re.Match[str]) -> str:
        first, last = match[1], match[2]
        if first[:8] == last[:8] and not last[8:].strip("0"):
            last = last[:8]  # one day, not its first minute
        return f"[{first[:12].ljust(12, '0')} TO {(last + '2359'[len(last) - 8 :])[:12]}]"

    return _RANGE.sub(widened, query)


def _arxiv_name(text: str) -> Identifier | None:
    found = identify(text)
    return found if found and found.kind == "arxiv" else None


def _spelled(name: Identifier) -> str:
    return name.value + (f"v{name.version}" if name.version else "")


def _pick(name: Identifier, records: Iterable[Record]) -> Record | None:
    """Return the record of a name: of the version asked for, else the latest."""
    same = [record for record in records if record.arxiv_id == name.value]
    if name.version:
        return next((one for one in same if one.arxiv_version == name.version), None)
    return max(same, key=lambda record: record.arxiv_version or 0, default=None)
