"""What arXiv announced today, in the order of how near it is to the library and the notes."""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from nuncius.core.errors import NunciusError
from nuncius.core.records import Record
from nuncius.core.text import STOP_WORDS, index_terms
from nuncius.library.alike import family_name
from nuncius.library.constraints import same_person
from nuncius.library.merge import joined
from nuncius.library.search import FoundWork, Search
from nuncius.sources.arxiv import Arxiv
from nuncius.sources.services import Services
from nuncius.store.protocols import Store

Kind = Literal["new", "cross", "replace"]
KINDS: Mapping[str, Kind] = {
    "new": "new",
    "cross": "cross",
    "replace": "replace",
    "replace-cross": "replace",
}
LISTED = 500
"""Most papers of a window that are compared with the list."""
_DEADLINE = time(14, 0, tzinfo=ZoneInfo("America/New_York"))
"""What is submitted until then is announced in the evening."""
MOST_PHRASES = 120
"""Of one paper that are looked for in the library."""
LONGEST_PAUSE = 14
"""Days between two announcements, with room: arXiv's longest is around the turn of the year."""
_AUTHOR_WORTH = 4.0
_NOTE_WORTH = 2.0
_REASONS = 3


@dataclass(frozen=True, slots=True)
class DigestPaper:
    """One announced paper.

    Attributes:
        score: How near it is to the library; 0: nothing in common is known.
        reasons: Why, the weightiest first.
        in_feed: False: only the listing has it.
    """

    found: FoundWork
    kind: Kind
    score: float
    reasons: tuple[str, ...] = ()
    in_feed: bool = True

    @property
    def record(self) -> Record:
        """Return what arXiv tells of it."""
        return self.found.record


@dataclass(frozen=True, slots=True)
class Digest:
    """One day's announcements.

    Attributes:
        announced: How many the feed has, by kind.
        listed: How many papers the listing has for the same days; None: it was not to be had.
        incomplete: Why something may be missing; empty where both agree.
    """

    categories: tuple[str, ...]
    day: str
    papers: Sequence[DigestPaper]
    announced: Mapping[str, int]
    listed: int | None
    incomplete: str = ""
    notes: Sequence[str] = ()


class Digests:
    """Makes digests."""

    def __init__(self, store: Store, services: Services) -> None:
        self._store = store
        self._arxiv = Arxiv(services)
        self._search = Search(store, services)

    async def of(self, categories: Sequence[str]) -> Digest:
        """Return what was announced last in some categories, the nearest first.

        Raises:
            UsageError: A category is none of arXiv's.
            UpstreamError: The feed is not to be had.
        """
        feed = await self._arxiv.daily(categories)
        announced: Counter[str] = Counter(KINDS.get(r.announced, "new") for r in feed.records)
        missing, listed, incomplete = await self._compare(
            categories, feed.announced_on, feed.records
        )
        records = [*feed.records, *missing]
        near = await self._nearness(records)
        found = await self._search.marked([joined([record]) for record in records])
        papers = [
            DigestPaper(
                one,
                KINDS.get(record.announced, "new"),
                round(sum(worth for worth, _ in reasons), 2),
                tuple(text for _, text in reasons[:_REASONS]),
                in_feed=at < len(feed.records),
            )
            for at, (record, one, reasons) in enumerate(zip(records, found, near, strict=True))
        ]
        order: Mapping[str, int] = {"new": 0, "cross": 1, "replace": 2}
        papers.sort(key=lambda paper: (order[paper.kind], -paper.score))
        notes = [feed.partial] if feed.partial else []
        if not records:
            notes.append("Nothing was announced: arXiv announces from Sunday to Thursday evening")
        return Digest(
            tuple(categories),
            feed.announced_on,
            papers,
            dict(announced),
            listed,
            incomplete,
            notes,
        )

    async def _compare(
        self, categories: Sequence[str], day: str, records: Sequence[Record]
    ) -> tuple[list[Record], int | None, str]:
        """Compare the feed with the listing of the days whose papers it announces."""
        window = submission_window(day)
        if window is None or not records:
            return [], None, ""
        if days := _days_old(day):
            told = (
                f"the feed is of {day[:10]}, {days} days ago: what was announced since is missing"
            )
            return [], None, told
        first, last = (edge.astimezone(UTC).strftime("%Y%m%d%H%M") for edge in window)
        wanted = " OR ".join(f"cat:{name}" for name in categories)
        try:
            page = await self._arxiv.search(
                f"({wanted}) AND submittedDate:[{first} TO {last}]", rows=LISTED, sort="submitted"
            )
        except NunciusError as error:
            return [], None, f"the listing could not be asked to compare: {error.message}"
        known = {record.arxiv_id for record in records}
        missing = [record for record in page.records if record.arxiv_id not in known]
        listed = page.total if page.total is not None else len(page.records)
        if not missing:
            return [], listed, ""
        told = (
            f"the listing has {len(missing)} papers of these days that the feed does not announce"
            " (held back, or the feed is old); they are shown as such"
        )
        return missing, listed, told

    async def _nearness(self, records: Sequence[Record]) -> list[list[tuple[float, str]]]:
        """Return, for each record, what it shares with library and notes, the weightiest first."""
        people: dict[str, list[tuple[str, str]]] = {}
        for paper in await self._store.papers.papers():
            for author in paper.authors:
                people.setdefault(family_name(author.name), []).append(
                    (author.name, paper.paper_id)
                )
        notes = {
            note.id: f" {index_terms(f'{note.note} {note.quote}')} "
            for note in await self._store.desk.notes()
        }
        phrases = [_phrases(record) for record in records]
        every = sorted({phrase for each in phrases for phrase in each})
        counts = await self._store.passages.frequencies(every)
        total = await self._store.passages.count()
        return [
            sorted(
                [
                    *_shared(each, counts, total),
                    *_known_people(record, people),
                    *_noted(each, notes, counts),
                ],
                reverse=True,
            )
            for record, each in zip(records, phrases, strict=True)
        ]


def submission_window(day: str) -> tuple[datetime, datetime] | None:
    """Return from when to when a paper was submitted that is announced under this day.

    A day's list has what came until 14:00 in New York of the day before; Monday's has Friday's,
    Tuesday's what came from Friday 14:00 to Monday 14:00.
    """
    try:
        date = datetime.fromisoformat(day[:10]).date()
    except ValueError:
        return None
    back = {0: (4, 3), 1: (4, 1)}.get(date.weekday(), (2, 1))
    first, last = (datetime.combine(date - timedelta(days=days), _DEADLINE) for days in back)
    return first, last


def _days_old(day: str) -> int:
    """Return how old a feed is, in days, where nothing but standing still explains it; else 0."""
    age = (datetime.now(UTC).date() - datetime.fromisoformat(day[:10]).date()).days
    return age if age > LONGEST_PAUSE else 0


def _phrases(record: Record) -> list[str]:
    """Return the words and pairs of words of a title, and pairs of the abstract, as search tokens."""
    title = index_terms(record.title).split()
    body = index_terms(record.abstract[:1500]).split()
    words = [word for word in title if len(word) > 3 and word not in STOP_WORDS]
    pairs = [
        f"{one} {other}"
        for text in (title, body)
        for one, other in itertools.pairwise(text)
        if not {one, other} & STOP_WORDS
    ]
    return list(dict.fromkeys([*words, *pairs]))[:MOST_PHRASES]


def _shared(
    phrases: Iterable[str], counts: Mapping[str, int], total: int
) -> list[tuple[float, str]]:
    """Weigh what the library speaks of too: the rarer there, the more it tells."""
    found: list[tuple[float, str]] = []
    for phrase in phrases:
        count = counts.get(phrase, 0)
        if count:
            rarity = math.log(1 + total / count)
            found.append(
                (rarity * (1.5 if " " in phrase else 1.0), f"the library speaks of “{phrase}”")
            )
    return sorted(found, reverse=True)[:8]


def _known_people(
    record: Record, people: Mapping[str, Sequence[tuple[str, str]]]
) -> list[tuple[float, str]]:
    """Weigh authors that are the library's too: by family name and initials, which both must tell."""
    found: list[tuple[float, str]] = []
    for author in record.authors[:20]:
        namesakes = people.get(family_name(author.name), ())
        paper_id = next((held for name, held in namesakes if same_person(name, author.name)), "")
        if paper_id:
            found.append((_AUTHOR_WORTH, f"{author.name} is an author of {paper_id}"))
    return found


def _noted(
    phrases: Sequence[str], notes: Mapping[int, str], counts: Mapping[str, int]
) -> list[tuple[float, str]]:
    pairs = [phrase for phrase in phrases if " " in phrase and counts.get(phrase, 0)]
    return [
        (_NOTE_WORTH, f"note {number} speaks of “{phrase}”")
        for number, text in notes.items()
        for phrase in pairs[:40]
        if f" {phrase} " in text
    ][:2]
