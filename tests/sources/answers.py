"""Made-up answers in the shapes of ADS and arXiv; nothing in them exists."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from sources.playing import Played

QUASAR: Mapping[str, Any] = {
    "id": "1",
    "bibcode": "2021MNRAS.500..100R",
    "alternate_bibcode": ["2020arXiv201012345R"],
    "identifier": ["2021MNRAS.500..100R", "2020arXiv201012345R", "arXiv:2010.12345", "10.1093/mnras/x1"],
    "title": ["The ages of quiet quasars"],
    "author": ["Rey, Ana", "Dahl, Bo"],
    "author_count": 2,
    "year": "2021",
    "pubdate": "2021-01-00",
    "pub": "Monthly Notices of the Royal Astronomical Society",
    "bibstem": ["MNRAS"],
    "volume": "500",
    "page": ["100"],
    "doi": ["10.1093/mnras/x1"],
    "doctype": "article",
    "property": ["REFEREED", "ARTICLE", "OPENACCESS", "EPRINT_OPENACCESS"],
    "esources": ["EPRINT_PDF", "PUB_PDF"],
    "citation_count": 7,
    "abstract": "Quiet quasars are old.",
    "reference": ["2001A&A...379..299M"],
}  # fmt: skip


def ads(*docs: Mapping[str, Any], total: int | None = None) -> Played:
    """Return a search's answer of ADS."""
    count = len(docs) if total is None else total
    return Played.json(
        {
            "responseHeader": {"status": 0, "QTime": 1, "params": {"rows": "20"}},
            "response": {"numFound": count, "start": 0, "docs": list(docs)},
        },
        X_RateLimit_Limit="5000",
        X_RateLimit_Remaining="4990",
        X_RateLimit_Reset="1900000000",
    )


def entry(
    arxiv_id: str,
    title: str,
    authors: Sequence[str],
    *,
    published: str = "2020-10-20",
    version: int = 1,
    abstract: str = "Quiet quasars are old.",
    doi: str = "",
    journal: str = "",
    comment: str = "",
    category: str = "astro-ph.GA",
) -> str:
    """Return an entry of arXiv's feed."""
    people = "".join(f"<author><name>{escape(name)}</name></author>" for name in authors)
    more = "".join(
        f"<arxiv:{tag}>{escape(text)}</arxiv:{tag}>"
        for tag, text in (("comment", comment), ("journal_ref", journal), ("doi", doi))
        if text
    )
    return f"""<entry><id>http://arxiv.org/abs/{arxiv_id}v{version}</id>
<title>{escape(title)}</title><updated>{published}T10:00:00Z</updated>
<link href="https://arxiv.org/abs/{arxiv_id}v{version}" rel="alternate" type="text/html"/>
<link href="https://arxiv.org/pdf/{arxiv_id}v{version}" rel="related" type="application/pdf" title="pdf"/>
<summary>{escape(abstract)}</summary><category term="{category}"/>
<published>{published}T10:00:00Z</published>{more}
<arxiv:primary_category term="{category}"/>{people}</entry>"""


def arxiv(*entries: str, total: int | None = None) -> Played:
    """Return a feed of arXiv."""
    count = len(entries) if total is None else total
    feed = f"""<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom"
 xmlns="http://www.w3.org/2005/Atom"><id>https://arxiv.org/api/x</id><title>arXiv Query</title>
<updated>2026-01-01T00:00:00Z</updated><opensearch:itemsPerPage>20</opensearch:itemsPerPage>
<opensearch:totalResults>{count}</opensearch:totalResults>
<opensearch:startIndex>0</opensearch:startIndex>{"".join(entries)}</feed>"""
    return Played(feed.encode(), 200, {"Content-Type": "application/atom+xml"})


PREPRINT = entry("2010.12345", "The ages of quiet quasars", ["Ana Rey", "Bo Dahl"], version=2)


def fields(answer: Played) -> Any:
    """Return an answer's JSON."""
    return json.loads(answer.body)
