"""Read what ADS answers: search results, exports, metrics, links, and its errors in all their forms.

Source: the notes on https://github.com/adsabs/adsabs-dev-api, and what its services' own tests assert.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from nuncius.core.errors import KeyMissingError, NotFoundError, UpstreamError
from nuncius.core.records import Link, Record
from nuncius.core.shapes import as_list, as_object, is_list, is_object
from nuncius.sources.ads_docs import UI_URL, link_of, record_of
from nuncius.sources.replies import (
    RefusedError,
    looks_like_page,
    public_url,
    quoted,
    read_json,
    too_busy,
)
from nuncius.walls.courtesy import RETRIED
from nuncius.walls.network import Reply

ADS = "ADS"
TOKEN_URL = f"{UI_URL}/user/settings/token"
_BOILERPLATE = re.compile(
    r"(?:[\w.]+\.)?SyntaxError:\s*|INVALID_SYNTAX_CANNOT_PARSE:\s*|INVALID_[A-Z_]+:\s*"
    r"|:?\s*The parser reported a syntax error, antlrqueryparser hates errors!",
)
_BARE_DOI = re.compile(r"10\.\d{4,9}/\S+")
_ADDRESS = re.compile(r"https?://[\w.-]+(?::\d+)?(?:[/?#]|$)", re.IGNORECASE)
_EXPORTED = re.compile(r"Retrieved (\d+) abstracts?")
_NO_DATA = re.compile(r"no data|did not find|not found|no records?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Found:
    """One page of a search.

    Attributes:
        rows: How many rows ADS was willing to give: it lowers what it was asked; None: not told.
        cursor: Where the next page begins, in a search by cursor.
    """

    records: tuple[Record, ...]
    total: int | None
    start: int
    rows: int | None
    cursor: str


@dataclass(frozen=True, slots=True)
class Export:
    """References in a format.

    Attributes:
        count: How many ADS wrote, or None where it does not say.
        asked: How many it was asked for; more than `count` where it does not know some.
    """

    text: str
    count: int | None
    asked: int


@dataclass(frozen=True, slots=True)
class Metrics:
    """How papers are read and cited, as ADS counts.

    Attributes:
        stats: ADS's tables of numbers by name, such as ``basic stats``, ``citation stats`` and
            ``indicators``, each also with `` refereed`` at its end.
        histograms: Counts by year; ``citations`` has a row ``refereed to refereed``.
        series: Indicators by year.
        skipped: Bibcodes that ADS does not know.
    """

    stats: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])
    histograms: Mapping[str, Mapping[str, Mapping[int, float]]] = field(
        default_factory=dict[str, Mapping[str, Mapping[int, float]]]
    )
    series: Mapping[str, Mapping[int, float]] = field(
        default_factory=dict[str, Mapping[int, float]]
    )
    skipped: tuple[str, ...] = ()

    @property
    def citations(self) -> int | None:
        """Return the number of citations, or None where it was not asked for."""
        value = self.stats.get("citation stats", {}).get("total number of citations")
        return None if value is None else int(value)

    @property
    def h_index(self) -> int | None:
        """Return Hirsch's index, or None where it was not asked for."""
        value = self.stats.get("indicators", {}).get("h")
        return None if value is None else int(value)


# --- errors --------------------------------------------------------------------------------------


def check(reply: Reply, endpoint: str) -> None:
    """Raise the error that a status other than 200 means.

    Raises:
        KeyMissingError: The token was refused.
        RateLimitedError: The day's limit of the endpoint is used up.
        NotFoundError: ADS knows nothing of what was asked.
        RefusedError: ADS does not take the request, such as a query that it cannot parse.
        UpstreamError: ADS is busy or broken.
    """
    if reply.status == 200:
        return
    said = _said(reply)
    url = public_url(reply)
    if reply.status == 401:
        raise KeyMissingError(
            f"ADS refused the token (HTTP 401, {url}): {said or 'it does not say why'}.",
            hint=f"Check ADS_API_TOKEN; {TOKEN_URL} shows your token or makes a new one.",
        )
    if reply.status in RETRIED or reply.status >= 500:
        hint = ""
        if reply.status == 429:
            hint = f"ADS counts '{endpoint}' by itself and starts anew at 00:00 UTC; other requests still work."
        raise too_busy(ADS, reply, said=said, hint=hint)
    searching = endpoint in {"search", "bigquery"}
    if not searching and (reply.status == 404 or _NO_DATA.search(said)):
        raise NotFoundError(
            f"ADS knows nothing of it (HTTP {reply.status}, {url}): {said or 'no such page'}.",
            hint="Check the identifier, or search for the title.",
        )
    raise RefusedError(
        ADS, url, f"it does not take the request (HTTP {reply.status}): {said or 'no reason given'}",
        hint=_next_step(reply.status, endpoint),
    )  # fmt: skip


def _next_step(status: int, endpoint: str) -> str:
    if status == 403:
        return f"The token may not be allowed to use '{endpoint}': see {TOKEN_URL}."
    if status == 404:
        return "Check NUNCIUS_ADS_URL."
    if endpoint == "search":
        return "Check the query: quotes and brackets must be closed, fields spelled as ADS does."
    return "Check what was asked."


def _said(reply: Reply) -> str:
    """Return the reason that an answer gives, without the parts that only programmers read."""
    if looks_like_page(reply.content):
        return "a web page"
    try:
        body = reply.json()
    except (UpstreamError, RecursionError, UnicodeDecodeError):
        return quoted(reply.text[:2000])
    return _reason(as_object(body)) if is_object(body) else quoted(str(body))


def _reason(body: Mapping[str, Any]) -> str:
    error = body.get("error", body.get("Error"))
    parts: list[str] = []
    if is_object(error):
        parts = [str(error.get("msg") or error.get("message") or error)]
    elif error:
        parts = [str(error)]
    parts += [str(body[name]) for name in ("Error Info", "message", "msg") if body.get(name)]
    text = _BOILERPLATE.sub(" ", "; ".join(parts)).strip().rstrip(" .:")
    return quoted(text)


# --- answers -------------------------------------------------------------------------------------


def _object(reply: Reply, endpoint: str, needed: str) -> dict[str, Any]:
    """Return the answer's JSON object, which has `needed`; an error inside it is raised."""
    check(reply, endpoint)
    body = read_json(ADS, reply)
    if is_object(body) and needed in body:
        return body
    reason = _reason(as_object(body))
    if reason and _NO_DATA.search(reason):
        raise NotFoundError(
            f"ADS has nothing for this ({public_url(reply)}): {reason}.",
            hint="Check the identifiers.",
        )
    status = as_object(as_object(body).get("responseHeader")).get("status")
    told = reason or (f"status {status}" if status else f"it has no '{needed}'")
    raise UpstreamError(
        ADS, public_url(reply), f"its answer cannot be used: {told}", hint="Try again later."
    )


def read_search(reply: Reply, endpoint: str = "search") -> Found:
    """Return a page of a search; documents that are no objects are left out."""
    body = _object(reply, endpoint, "response")
    response = body["response"]
    if not is_object(response) or not is_list(response.get("docs")):
        raise UpstreamError(
            ADS, public_url(reply), "its answer has no list of documents", hint="Try again later."
        )
    header = as_object(as_object(body.get("responseHeader")).get("params"))
    total = response.get("numFound")
    return Found(
        records=tuple(record_of(doc) for doc in as_list(response["docs"]) if is_object(doc)),
        total=total if isinstance(total, int) else None,
        start=_int(response.get("start")) or 0,
        rows=_int(header.get("rows")),
        cursor=str(body.get("nextCursorMark") or ""),
    )


def read_export(reply: Reply, asked: int) -> Export:
    """Return an export: JSON with a text, or the text itself where one paper was asked for."""
    check(reply, "export")
    start = reply.content.lstrip()[:1]
    if start not in {b"{", b"[", b'"'} and not looks_like_page(reply.content):
        text = reply.text
        if not text.strip():
            raise UpstreamError(ADS, public_url(reply), "the export is empty", hint="Try again.")
        return Export(text, None, asked)
    if start == b'"':
        return Export(str(read_json(ADS, reply)), None, asked)
    body = _object(reply, "export", "export")
    if not isinstance(body["export"], str):
        raise UpstreamError(ADS, public_url(reply), "the export is no text", hint="Try again.")
    told = _EXPORTED.search(str(body.get("msg") or ""))
    return Export(body["export"], int(told[1]) if told else None, asked)


def read_metrics(reply: Reply) -> Metrics:
    """Return the metrics, whatever kinds of them were asked for."""
    check(reply, "metrics")
    body = _object(reply, "metrics", _first_table(reply))
    stats: dict[str, Mapping[str, float]] = {}
    histograms: dict[str, Mapping[str, Mapping[int, float]]] = {}
    series: Mapping[str, Mapping[int, float]] = {}
    for name, table in body.items():
        if name == "histograms":
            for kind, rows in as_object(table).items():
                histograms[kind] = dict(_by_year(as_object(rows)))
        elif name == "time series":
            series = dict(_by_year(as_object(table)))
        elif is_object(table):
            stats[name] = {key: float(n) for key, n in table.items() if _is_number(n)}
    skipped = tuple(str(one) for one in as_list(body.get("skipped bibcodes")))
    return Metrics(stats, histograms, series, skipped)


def _first_table(reply: Reply) -> str:
    """Return the name of a table of metrics that is in the answer; else one that is not."""
    body = as_object(read_json(ADS, reply))
    names = (name for name, table in body.items() if is_object(table) and name != "error")
    return next(names, "basic stats")


def _by_year(rows: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[int, float]]]:
    for name, counts in rows.items():
        yield (
            name,
            {
                int(year): float(count)
                for year, count in as_object(counts).items()
                if year.isdigit() and _is_number(count)
            },
        )


def read_links(reply: Reply, *, arxiv: bool = False) -> tuple[Link, ...]:
    """Return the places of texts that ADS knows of; what leads to no text or page is left out.

    Args:
        arxiv: Whether the paper is on arXiv, where its preprint then is.
    """
    check(reply, "resolver")
    body = _object(reply, "resolver", "action")
    if body["action"] == "redirect":
        records: Sequence[Any] = [body | {"url": body.get("link")}]
    else:
        records = as_list(as_object(body.get("links")).get("records"))
    links: dict[str, Link] = {}
    for record in (as_object(one) for one in records):
        url = _web_address(str(record.get("url") or "").strip())
        kind = str(record.get("link_type") or record.get("type") or "").upper().rpartition("|")[2]
        link = link_of(kind, url, arxiv=arxiv or "arxiv.org" in url)
        if link is None and kind in {"ABSTRACT", "DOI", "ARXIV"}:
            link = Link("landing", url)
        if link and url:
            links.setdefault(url, link)
    return tuple(links.values())


def _web_address(text: str) -> str:
    """Return a link as an address: ADS also gives paths of its own, bare DOIs and unfilled places."""
    if text.startswith("/"):
        return UI_URL + text
    if _BARE_DOI.fullmatch(text):
        return f"https://doi.org/{quote(text, safe='/:;()')}"
    return text if _ADDRESS.match(text) else ""  # http://$SIMBAD$/... was never filled in


def _int(value: Any) -> int | None:
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
