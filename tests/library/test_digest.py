"""A digest tells all that was announced, the nearest first with the reason, and when something is missing."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from library.conftest import settings_in
from nuncius.app import App, open_app
from nuncius.core.errors import UpstreamError, UsageError
from nuncius.library.digest import submission_window
from sources.answers import arxiv, entry
from sources.playing import Played, Playing, hurry

LISTING = "/arxiv/query"
NOTE = """---
title: Contact binaries in Lynx
author: Mira Stern
date: 2021-04-01
---

# Contact binaries in Lynx

The period of contact binaries shrinks. Contact binaries merge.
"""


@pytest.fixture
async def playing() -> AsyncIterator[Playing]:
    async with Playing().serving() as server:
        yield server


@pytest.fixture
async def app(playing: Playing, tmp_path: Path) -> AsyncIterator[App]:
    chosen = settings_in(tmp_path).model_copy(update=playing.settings())
    (tmp_path / "binaries.md").write_text(NOTE)
    async with open_app(chosen) as opened:
        hurry(opened.services)
        await opened.library.add([tmp_path / "binaries.md"])
        yield opened


_TODAY = datetime.now(UTC).date()
DAY = _TODAY - timedelta(days=(_TODAY.weekday() - 2) % 7)
"""The last Wednesday: a feed that is much older is said to stand still."""


def item(arxiv_id: str, title: str, authors: str, kind: str = "new", text: str = "Stars.") -> str:
    return f"""<item><title>{escape(title)}</title>
<link>https://arxiv.org/abs/{arxiv_id}</link>
<description>arXiv:{arxiv_id}v1 Announce Type: {kind}
Abstract: {escape(text)}</description>
<guid isPermaLink="false">oai:arXiv.org:{arxiv_id}v1</guid><category>astro-ph.SR</category>
<pubDate>{DAY:%a, %d %b %Y} 00:00:00 -0500</pubDate>
<arxiv:announce_type>{kind}</arxiv:announce_type><dc:creator>{escape(authors)}</dc:creator></item>"""


def feed(*items: str) -> Played:
    return Played(
        f"""<?xml version='1.0' encoding='UTF-8'?>
<rss xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:atom="http://www.w3.org/2005/Atom" version="2.0"><channel>
<title>astro-ph.SR updates on arXiv.org</title><link>http://rss.arxiv.org/rss/astro-ph.SR</link>
<lastBuildDate>{DAY:%a, %d %b %Y} 05:00:00 +0000</lastBuildDate>
<pubDate>{DAY:%a, %d %b %Y} 00:00:00 -0500</pubDate>{"".join(items)}</channel></rss>""".encode(),
        200,
        {"Content-Type": "application/rss+xml"},
    )


FAR = item("2611.00001", "Cosmic voids at high redshift", "Ulf Quist")
NEAR = item("2611.00002", "Mergers of contact binaries", "Ulf Quist")
KNOWN = item("2611.00003", "A flare", "Mira Stern, Ulf Quist")


async def test_the_nearest_come_first_and_say_why(app: App, playing: Playing) -> None:
    crossed = item("2611.00004", "Solar wind", "C. Eng", "cross")
    replaced = item("2510.00005", "Old dust", "C. Eng", "replace")
    playing.play("/arxiv_rss", feed(replaced, FAR, NEAR, KNOWN, crossed))
    playing.play(LISTING, arxiv(entry("2611.00002", "Mergers of contact binaries", ["Ulf Quist"])))
    digest = await app.digests().of(["astro-ph.SR"])
    assert [paper.record.arxiv_id for paper in digest.papers] == [
        "2611.00003",
        "2611.00002",
        "2611.00001",
        "2611.00004",
        "2510.00005",
    ]
    assert [paper.kind for paper in digest.papers] == ["new"] * 3 + ["cross", "replace"]
    assert "Mira Stern is an author of" in digest.papers[0].reasons[0]
    assert "contact binaries" in digest.papers[1].reasons[0]
    assert (digest.papers[2].score, digest.papers[2].reasons) == (0, ())
    assert (digest.announced, digest.listed) == ({"new": 3, "cross": 1, "replace": 1}, 1)
    assert digest.incomplete == ""


async def test_a_note_of_the_users_is_a_reason(app: App, playing: Playing) -> None:
    (paper,) = await app.library.papers()
    note = await app.library.note(paper.paper_id, quote="Contact binaries merge.", note="Ask Jo.")
    playing.play("/arxiv_rss", feed(NEAR))
    playing.play(LISTING, arxiv())
    (found,) = (await app.digests().of(["astro-ph.SR"])).papers
    assert any(f"note {note.id}" in reason for reason in found.reasons)


async def test_what_the_feed_does_not_have_is_shown_and_called_incomplete(
    app: App, playing: Playing
) -> None:
    playing.play("/arxiv_rss", feed(NEAR))
    held = entry("2611.00009", "Held back", ["Z. Zorn"], published=f"{DAY - timedelta(days=2)}")
    playing.play(LISTING, arxiv(entry("2611.00002", "Mergers", ["Ulf Quist"]), held, total=2))
    digest = await app.digests().of(["astro-ph.SR", "astro-ph.GA"])
    assert "1 papers" in digest.incomplete
    assert [(p.record.arxiv_id, p.in_feed) for p in digest.papers][-1] == ("2611.00009", False)
    query = playing.asked[-1].query["search_query"]
    assert "cat:astro-ph.SR OR cat:astro-ph.GA" in query
    window = submission_window(str(DAY))
    assert window is not None
    first, last = (f"{edge.astimezone(UTC):%Y%m%d%H%M}" for edge in window)
    assert f"submittedDate:[{first} TO {last}" in query


async def test_a_listing_that_cannot_be_asked_is_said(app: App, playing: Playing) -> None:
    playing.play("/arxiv_rss", feed(NEAR))
    playing.play(LISTING, Played(b"down", 503))
    digest = await app.digests().of(["astro-ph.SR"])
    assert len(digest.papers) == 1
    assert digest.listed is None
    assert "could not be asked" in digest.incomplete


async def test_a_day_without_announcements_is_said(app: App, playing: Playing) -> None:
    playing.play("/arxiv_rss", feed())
    digest = await app.digests().of(["astro-ph.SR"])
    assert list(digest.papers) == []
    assert any("Nothing was announced" in note for note in digest.notes)


async def test_a_feed_that_is_not_to_be_had_is_an_error(app: App, playing: Playing) -> None:
    playing.play("/arxiv_rss", Played(b"<html>busy</html>", 503))
    with pytest.raises(UpstreamError):
        await app.digests().of(["astro-ph.SR"])
    with pytest.raises(UsageError):
        await app.digests().of(["astro ph"])


@pytest.mark.parametrize(
    ("day", "first", "last"),
    [
        ("2026-11-16", "2026-11-12", "2026-11-13"),  # a Monday
        ("2026-11-17", "2026-11-13", "2026-11-16"),
        ("2026-11-18", "2026-11-16", "2026-11-17"),
        ("2026-11-20", "2026-11-18", "2026-11-19"),
    ],
)
def test_a_list_has_what_came_until_two_in_new_york(day: str, first: str, last: str) -> None:
    window = submission_window(day)
    assert window
    assert [edge.date().isoformat() for edge in window] == [first, last]
    assert all(isinstance(edge, datetime) and edge.hour == 14 for edge in window)
    assert submission_window("some day") is None
