"""NASA ADS (SciX): searches, lookups by identifier, citations, exports, metrics and links.

Source: https://github.com/adsabs/adsabs-dev-api
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeVar
from urllib.parse import quote, urlencode

from nuncius.core.errors import KeyMissingError, UpstreamError, UsageError
from nuncius.core.identifiers import identify, normal_bibcode
from nuncius.core.records import Link, Record, RecordPage
from nuncius.sources.ads_answers import (
    TOKEN_URL,
    Export,
    Found,
    Metrics,
    read_export,
    read_links,
    read_metrics,
    read_search,
)
from nuncius.sources.ads_docs import known_as
from nuncius.sources.ads_requests import (
    FIELDS,
    MAX_ROWS,
    ads_name,
    any_of,
    bundles,
    check_query,
    chunks,
    field_list,
    key_of,
    named,
    plain_bibcodes,
    spell_sort,
)
from nuncius.sources.replies import DAY_S, is_good, read_once
from nuncius.sources.services import Services
from nuncius.walls.courtesy import Answer
from nuncius.walls.network import Reply

KEEP_SEARCH_S = DAY_S
"""ADS adds papers once a day; a search of yesterday is asked again."""
KEEP_RECORD_S = 7 * DAY_S
"""A paper's record changes when it is published; citations are a few days old anyway."""
KEEP_EXPORT_S = 7 * DAY_S
"""A reference changes as rarely as its record."""
MOST_RECORDS = 20_000
"""Of one search: ten requests of its 5,000 a day."""
MOST_REQUESTS = 40
"""Of one search, where ADS gives fewer rows than it was asked for."""
SHORT_LISTS = 3
"""So many ordinary queries are cheaper than one of the 100 list queries of a day."""

ExportFormat = Literal[
    "aastex", "ads", "bibtex", "bibtexabs", "csl", "custom", "dcxml", "endnote", "icarus", "ieee",
    "medlars", "mnras", "procite", "refabsxml", "refworks", "refxml", "ris", "rss", "soph", "votable",
]  # fmt: skip
_DOCUMENTS = frozenset({"dcxml", "refabsxml", "refxml", "rss", "votable"})
"""Formats with a head and an end, which cannot be joined."""
MetricKind = Literal["basic", "citations", "indicators", "histograms", "timeseries"]
JOURNAL_FORMATS = {"macro": 1, "abbreviation": 2, "name": 3}
T = TypeVar("T")


class Ads:
    """The client of ADS; every call needs the user's token.

    Every method raises:
        KeyMissingError: There is no token, or ADS refused it.
        RateLimitedError: The day's limit of the endpoint is used up.
        RefusedError: ADS does not take the request, such as a query that it cannot parse.
        UpstreamError: ADS cannot be reached, is too busy, or its answer cannot be used.
        UsageError: The request makes no sense, which is told before it is sent.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    async def search(
        self,
        q: str,
        *,
        fq: Sequence[str] = (),
        rows: int = 20,
        start: int = 0,
        sort: str = "score desc",
        fields: Sequence[str] = FIELDS,
    ) -> RecordPage:
        """Return the papers that a query finds.

        Args:
            q: In ADS's syntax, as typed: it is encoded here, once.
            fq: Filters in the same syntax.
            rows: As many as wanted; more than 2,000 come by several requests.
            sort: A field and a direction, such as ``date desc``; the direction may be left out.
            fields: Of each document; `id` and `bibcode` always come.
        """
        check_query(q, fq)
        wanted = max(0, min(rows, MOST_RECORDS))
        fixed = [("q", q.strip()), ("fl", field_list(fields)), *(("fq", one) for one in fq)]
        by_cursor = wanted > MAX_ROWS and start == 0
        ordered = spell_sort(sort, by_cursor=by_cursor)

        async def page(at: int, cursor: str, size: int) -> tuple[Found, Answer]:
            place = [("cursorMark", cursor)] if cursor else [("start", str(at))]
            params = [*fixed, ("rows", str(size)), *place, ("sort", ordered)]
            return await self._get("search/query", "search", params, read_search, KEEP_SEARCH_S)

        return await _pages(page, query=q, start=start, wanted=wanted, by_cursor=by_cursor)

    async def by_identifiers(self, names: Sequence[str]) -> tuple[Record | None, ...]:
        """Look papers up by bibcode, arXiv identifier or DOI, in any of their usual forms.

        Returns:
            One record for each name, in its place; None where ADS knows none. ADS answers with the
            canonical record, whose bibcode may be another one than was asked for.
        """
        asked = [ads_name(name) for name in names]
        distinct = list(dict.fromkeys(name for name in asked if name))
        bibcodes = [name for name in distinct if normal_bibcode(name)]
        by_list = len(list(bundles(bibcodes))) > SHORT_LISTS
        listed = set(bibcodes if by_list else ())
        others = [name for name in distinct if name not in listed]
        records: list[Record] = []
        for bundle in bundles(others):
            records += await self._bundle(bundle)
        for chunk in chunks(bibcodes if by_list else [], MAX_ROWS):
            records += await self._list(chunk)
        known: dict[tuple[str, str], Record] = {}
        for record in records:
            for key in known_as(record):
                # An erratum may carry its paper's DOI: the paper is what is meant.
                if key not in known or (known[key].status == "erratum" and not record.status):
                    known[key] = record
            if record.bibcode:
                known["bibcode", record.bibcode.lower()] = record
        keys = [key_of(name) if name else None for name in asked]
        return tuple(known.get(key) if key else None for key in keys)

    async def references(
        self, paper: str, *, rows: int = 200, start: int = 0, sort: str = "date desc"
    ) -> RecordPage:
        """Return what a paper cites, as far as ADS knows."""
        return await self.search(f"references({named(paper)})", rows=rows, start=start, sort=sort)

    async def citations(
        self, paper: str, *, rows: int = 200, start: int = 0, sort: str = "date desc"
    ) -> RecordPage:
        """Return what cites a paper, as far as ADS knows."""
        return await self.search(f"citations({named(paper)})", rows=rows, start=start, sort=sort)

    async def export(
        self,
        bibcodes: Sequence[str],
        form: ExportFormat = "bibtex",
        *,
        journal: Literal["macro", "abbreviation", "name"] = "macro",
        custom: str = "",
        sort: str = "",
    ) -> Export:
        r"""Return references in a format, in the order asked for.

        Args:
            journal: In BibTeX: AASTeX's macro such as ``\apj``, ``ApJ``, or the whole name.
            custom: ADS's pattern for the form ``custom``.
            sort: Such as ``date desc``; empty keeps the order of `bibcodes`.
        """
        if form == "custom" and not custom:
            raise UsageError(
                "The form 'custom' needs a pattern.", hint="Such as '%l (%Y), %j, %V, %p.'"
            )
        asked = plain_bibcodes(bibcodes)
        if form in _DOCUMENTS and len(asked) > MAX_ROWS:
            raise UsageError(
                f"ADS writes {MAX_ROWS:,} papers into one '{form}', not {len(asked):,}.",
                hint="Ask for fewer, or for a format that is a plain list, such as bibtex.",
            )
        parts: list[Export] = []
        for chunk in chunks(asked, MAX_ROWS):
            body: dict[str, Any] = {
                "bibcode": chunk,
                "sort": spell_sort(sort) if sort else "no sort",
            }
            if custom:
                body["format"] = custom
            if form.startswith("bibtex"):
                body["journalformat"] = JOURNAL_FORMATS[journal]
            part, _ = await self._send(
                f"export/{form}", "export", partial(read_export, asked=len(chunk)),
                keep_s=KEEP_EXPORT_S, json=body,
            )  # fmt: skip
            parts.append(part)
        counts = [part.count for part in parts]
        count = None if None in counts else sum(one for one in counts if one is not None)
        return Export("\n".join(part.text.rstrip("\n") for part in parts) + "\n", count, len(asked))

    async def metrics(
        self,
        bibcodes: Sequence[str],
        kinds: Sequence[MetricKind] = ("basic", "citations", "indicators", "histograms"),
    ) -> Metrics:
        """Return how papers are read and cited.

        Raises:
            NotFoundError: ADS has no metrics of any of them.
        """
        asked = plain_bibcodes(bibcodes)
        if len(asked) > MAX_ROWS:
            raise UsageError(
                f"ADS counts {MAX_ROWS:,} papers at once, not {len(asked):,}.",
                hint="Ask for fewer.",
            )
        body = {"bibcodes": asked, "types": list(kinds)}
        found, _ = await self._send(
            "metrics", "metrics", read_metrics, keep_s=KEEP_SEARCH_S, json=body
        )
        return found

    async def resolver(self, bibcode: str, kind: str = "esource") -> tuple[Link, ...]:
        """Return where a paper's text is.

        Args:
            kind: ``esource`` for full texts, or empty for all that ADS shows beside a paper.

        Raises:
            NotFoundError: ADS knows no such link.
        """
        name = plain_bibcodes([bibcode])[0]
        arxiv = (found := identify(name)) is not None and found.kind == "arxiv"
        path = f"resolver/{quote(name, safe='')}" + (f"/{quote(kind, safe='')}" if kind else "")
        links, _ = await self._get(
            path, "resolver", [], partial(read_links, arxiv=arxiv), KEEP_RECORD_S
        )
        return links

    # --- requests ---

    async def _bundle(self, names: Sequence[str]) -> tuple[Record, ...]:
        """Look a few names up by one query; the answer is kept when it knows them all."""
        keys = [key_of(name) for name in names]
        fixed = [("q", any_of(names)), ("fl", field_list(FIELDS)), ("sort", "bibcode desc")]
        read = read_once(read_search)

        def complete(reply: Reply) -> bool:
            known = {key for record in read(reply).records for key in known_as(record)}
            return known.issuperset(keys)

        async def page(at: int, _cursor: str, size: int) -> tuple[Found, Answer]:
            return await self._get(
                "search/query", "search", [*fixed, ("rows", str(size)), ("start", str(at))],
                read, KEEP_RECORD_S, accept=complete,
            )  # fmt: skip

        found = await _pages(page, query=fixed[0][1], wanted=2 * len(names), whole=True)
        return found.records

    async def _list(self, bibcodes: Sequence[str]) -> tuple[Record, ...]:
        """Look many bibcodes up by one list query; alternate bibcodes are understood there."""
        fixed = [("q", "*:*"), ("fq", "{!bitset}"), ("fl", field_list(FIELDS))]
        content = "\n".join(["bibcode", *bibcodes]).encode()

        read = read_once(partial(read_search, endpoint="bigquery"))

        def complete(reply: Reply) -> bool:
            return read(reply).total == len(bibcodes)

        async def page(at: int, _cursor: str, size: int) -> tuple[Found, Answer]:
            params = [*fixed, ("rows", str(size)), ("start", str(at)), ("sort", "bibcode desc")]
            path = f"search/bigquery?{urlencode(params, quote_via=quote)}"
            return await self._send(
                path, "bigquery", read, keep_s=KEEP_RECORD_S, content=content, accept=complete
            )

        found = await _pages(page, query="*:*", wanted=len(bibcodes), whole=True)
        return found.records

    async def _get(
        self,
        path: str,
        endpoint: str,
        params: Sequence[tuple[str, str]],
        read: Callable[[Reply], T],
        keep_s: float,
        *,
        accept: Callable[[Reply], bool] | None = None,
    ) -> tuple[T, Answer]:
        query = f"?{urlencode(params, quote_via=quote)}" if params else ""
        return await self._send(
            path + query, endpoint, read, keep_s=keep_s, method="GET", accept=accept
        )

    async def _send(
        self,
        path: str,
        endpoint: str,
        read: Callable[[Reply], T],
        *,
        keep_s: float,
        method: str = "POST",
        content: bytes = b"",
        json: Mapping[str, Any] | None = None,
        accept: Callable[[Reply], bool] | None = None,
    ) -> tuple[T, Answer]:
        headers = {"Authorization": f"Bearer {self._token()}", "Accept": "application/json"}
        if content:
            headers["Content-Type"] = "big-query/csv"
        read = read_once(read)
        answer = await self._services.get("ads").request(
            method, f"{self._services.base('ads')}/{path}", endpoint=endpoint, headers=headers,
            content=content, json=json, keep_s=keep_s, accept=is_good(read, also=accept),
        )  # fmt: skip
        return read(answer.reply), answer

    def _token(self) -> str:
        token = self._services.settings.ads_api_token.strip()
        if not token:
            raise KeyMissingError(
                "ADS asks for a token, and none is set.",
                hint=f"Log in at {TOKEN_URL}, make a token (it is free) and set ADS_API_TOKEN to it.",
            )
        return token


async def _pages(
    page: Callable[[int, str, int], Awaitable[tuple[Found, Answer]]],
    *,
    query: str,
    wanted: int,
    start: int = 0,
    by_cursor: bool = False,
    whole: bool = False,
) -> RecordPage:
    """Ask page after page until enough has come, by what comes and not by what was asked for.

    Args:
        whole: A page that fails is raised; else what came before it is returned and said to be partial.
    """
    records: dict[str, Record] = {}
    at, cursor, missing, total = start, "*" if by_cursor else "", "", None
    answer: Answer | None = None
    for number in range(MOST_REQUESTS):
        try:
            found, answer = await page(at, cursor, min(max(wanted - len(records), 0), MAX_ROWS))
        except UpstreamError as error:
            if whole or not records:
                raise
            missing = f"ADS failed after {len(records):,} records: {error.reason}."
            break
        total = found.total
        before = len(records)
        for record in found.records:
            records.setdefault(record.bibcode or f"{at}:{len(records)}", record)
        at += len(found.records)
        if not found.records or len(records) >= wanted or (total is not None and at >= total):
            break
        if cursor and found.cursor in {"", cursor}:
            cursor = ""  # no further cursor: go on by counting
        elif cursor:
            cursor = found.cursor
        if len(records) == before or number == MOST_REQUESTS - 1:
            break  # the same page again
    due = wanted if total is None else max(0, min(wanted, total - start))
    if len(records) < due and not missing:
        missing = f"ADS gave {len(records):,} of {due:,} records; ask for the rest from {at:,} on."
    assert answer
    return RecordPage(
        "ads", tuple(records.values())[:wanted], total, start, query, missing,
        answer.at.isoformat(timespec="seconds"), answer.cached,
    )  # fmt: skip
