"""Read arXiv's Atom answers of its query API and the RSS lists of each day.

Source: https://info.arxiv.org/help/api/user-manual.html, https://info.arxiv.org/help/rss_specifications.html
"""

import email.utils
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC

from nuncius.core.errors import UpstreamError
from nuncius.core.identifiers import identify
from nuncius.core.records import Affiliated, Record
from nuncius.sources.arxiv_records import (
    Places,
    licence_of,
    mail_day,
    preprint,
    read_dois,
    split_names,
    whole,
)
from nuncius.sources.markup import one_line, plain_text, without_tex_accents
from nuncius.sources.replies import (
    RefusedError,
    looks_like_page,
    public_url,
    quoted,
    too_busy,
)
from nuncius.sources.xml import Element, parse
from nuncius.walls.courtesy import RETRIED
from nuncius.walls.network import Reply

ARXIV = "arXiv"
MOST_ITEMS = 2000
"""Items of a daily list; a longer one is cut by arXiv."""
_ERROR_ID = re.compile(r"arxiv\.org/api/errors\b", re.IGNORECASE)
_BAD_ID = re.compile(r"incorrect id format for (\S+)", re.IGNORECASE)
_CONTROL = bytes(set(range(32)) - {9, 10, 13})
_BUSY_HINT = "Wait some minutes; ADS knows the same preprints, with a token."


class BadIdError(RefusedError):
    """arXiv does not take one of the identifiers.

    Attributes:
        name: The identifier as arXiv repeats it; empty where it does not.
    """

    name: str = ""


@dataclass(frozen=True, slots=True)
class Feed:
    """One answer of the query API.

    Attributes:
        total: Of all that the query finds, as the feed tells; None where it does not.
    """

    records: tuple[Record, ...]
    total: int | None
    start: int


@dataclass(frozen=True, slots=True)
class DailyList:
    """What arXiv announced in some categories on one day.

    Attributes:
        announced_on: The list's day, ISO 8601; `built_at`: when it was written, UTC.
        records: Empty on days without announcements: weekends and holidays.
        partial: Why some are missing, for people; empty where none is.
    """

    categories: str
    records: tuple[Record, ...]
    announced_on: str
    built_at: str
    partial: str = ""
    at: str = ""
    cached: bool = False


def check(reply: Reply) -> None:
    """Raise the error that a status means which brings no feed.

    Raises:
        RateLimitedError: Too many requests; arXiv says so in plain text.
        UpstreamError: It is busy, broken, or refuses.
    """
    if reply.status == 200:
        return
    page = looks_like_page(reply.content) or reply.content.lstrip().startswith(b"<")
    said = "" if page else reply.text[:2000]
    if reply.status in RETRIED or reply.status >= 500:
        raise too_busy(ARXIV, reply, said=said, hint=_BUSY_HINT)
    words = f": {quoted(said)}" if said.strip() else ""
    if reply.status in {403, 406}:  # how arXiv's front shuts out who asks too often
        raise UpstreamError(
            ARXIV, public_url(reply), f"it refuses to answer (HTTP {reply.status}){words}",
            hint="It may have had too many requests: wait an hour, and set NUNCIUS_CONTACT_EMAIL.",
        )  # fmt: skip
    raise RefusedError(
        ARXIV, public_url(reply), f"it does not take the request (HTTP {reply.status}){words}",
        hint="Check the query, the category or the identifier.",
    )  # fmt: skip


def root_of(reply: Reply, *names: str) -> Element:
    """Return the answer's XML, whose root must have one of the names (without namespace).

    Raises:
        UpstreamError: It is something else, such as a web page or plain text.
    """
    # Control characters from old abstracts are no XML, but the rest is sound.
    root = parse(reply.content.translate(None, _CONTROL), service=ARXIV, url=public_url(reply))
    if root.name not in names:
        raise UpstreamError(
            ARXIV, public_url(reply), f"it answered with <{root.name}> instead of <{names[0]}>",
            hint="Try again later.",
        )  # fmt: skip
    return root


# --- the query API -------------------------------------------------------------------------------


def read_feed(reply: Reply, places: Places) -> Feed:
    """Return an answer of the query API.

    Raises:
        BadIdError: arXiv does not take an identifier.
        RefusedError: The feed is arXiv's error.
    """
    if reply.status != 400 or not reply.content.lstrip().startswith(b"<"):
        check(reply)  # an error of arXiv's own is a feed, with status 400 or 200
    root = root_of(reply, "feed")
    entries = [child for child in root.children if child.name == "entry"]
    for entry in entries:
        if _ERROR_ID.search(entry.child_text("id")):
            raise _error(reply, one_line(entry.child_text("summary")))
    if reply.status != 200:
        check(reply)
    records = (_entry(entry, places) for entry in entries)
    return Feed(
        records=tuple(record for record in records if record.arxiv_id),
        total=whole(root.child_text("totalResults")),
        start=whole(root.child_text("startIndex")) or 0,
    )


def _error(reply: Reply, summary: str) -> RefusedError:
    bad = _BAD_ID.search(summary)
    error = (BadIdError if bad else RefusedError)(
        ARXIV, public_url(reply), f"it does not take the request: {quoted(summary) or 'no reason'}",
        hint="Identifiers look like 2401.01234 or astro-ph/0601001." if bad else "Check the query.",
    )  # fmt: skip
    if bad and isinstance(error, BadIdError):
        error.name = bad[1].rstrip(".,")
    return error


def _entry(entry: Element, places: Places) -> Record:
    name = identify(entry.child_text("id"))
    arxiv_id, version = (name.value, name.version) if name and name.kind == "arxiv" else ("", None)
    title = one_line(entry.child_text("title"))
    abstract = one_line(entry.child_text("summary"))
    submitted = entry.child_text("published")
    primary = entry.first("primary_category")
    categories = [primary.get("term")] if primary else []
    categories += [child.get("term") for child in entry.children if child.name == "category"]
    return preprint(
        Record(
            source="arxiv",
            title=title,
            authors=tuple(_authors(entry)),
            abstract=abstract,
            submitted=submitted,
            date=submitted[:10],
            arxiv_id=arxiv_id,
            arxiv_version=version,
            dois=read_dois(entry.child_text("doi")),
            journal=one_line(without_tex_accents(entry.child_text("journal_ref"))),
            categories=tuple(dict.fromkeys(term for term in categories if term)),
            comment=one_line(entry.child_text("comment")),
            extra={"updated": updated} if (updated := entry.child_text("updated")) else {},
        ),
        places,
    )


def _authors(entry: Element) -> Iterator[Affiliated]:
    for author in entry.children:
        if author.name != "author":
            continue
        name = one_line(author.child_text("name"))
        places = (one_line(one.text) for one in author.children if one.name == "affiliation")
        if name:
            yield Affiliated(name, tuple(place for place in places if place))


# --- the lists of each day -----------------------------------------------------------------------

_LEAD = re.compile(
    r"^\s*arXiv:(?P<id>\S+)\s+Announce Type:\s*(?P<kind>[\w-]+)\s*(?:Abstract:\s*)?", re.IGNORECASE
)


def read_daily(reply: Reply, categories: str, places: Places) -> DailyList:
    """Return a day's list from RSS.

    Raises:
        UpstreamError: It is no such list.
    """
    check(reply)
    root = root_of(reply, "rss")
    channel = root.first("channel")
    if channel is None:
        raise UpstreamError(
            ARXIV, public_url(reply), "the daily list has no channel", hint="Try again later."
        )
    items = [child for child in channel.children if child.name == "item"]
    records = tuple(record for item in items if (record := _item(item, places)))
    partial = ""
    if len(items) >= MOST_ITEMS:
        partial = f"arXiv cuts lists at {MOST_ITEMS:,}: ask for fewer categories at once."
    elif len(records) < len(items):
        partial = f"{len(items) - len(records)} of {len(items)} entries could not be read."
    return DailyList(
        categories=categories,
        records=records,
        announced_on=mail_day(channel.child_text("pubDate")),
        built_at=_moment(channel.child_text("lastBuildDate")),
        partial=partial,
    )


def _item(item: Element, places: Places) -> Record | None:
    description = item.child_text("description")
    lead = _LEAD.match(description)
    guid = item.child_text("guid")
    for text in (guid, lead["id"] if lead else "", item.child_text("link")):
        name = identify(text)
        if name and name.kind == "arxiv":
            break
    else:
        return None
    return preprint(
        Record(
            source="arxiv",
            title=one_line(item.child_text("title")),
            authors=tuple(Affiliated(name) for name in split_names(item.child_text("creator"))),
            abstract=one_line(plain_text(description[lead.end() if lead else 0 :])),
            arxiv_id=name.value,
            arxiv_version=name.version,
            dois=read_dois(item.child_text("DOI") or item.child_text("doi")),
            journal=one_line(without_tex_accents(item.child_text("journal_reference"))),
            categories=tuple(
                dict.fromkeys(one_line(c.text) for c in item.children if c.name == "category")
            ),
            announced=one_line(item.child_text("announce_type")) or (lead["kind"] if lead else ""),
        ),
        places,
        licence=licence_of(item.child_text("rights")),
    )


def _moment(text: str) -> str:
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return ""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
