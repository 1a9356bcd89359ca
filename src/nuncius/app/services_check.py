"""What `nuncius doctor` says of each remote service: reachable, key, limits, what it receives."""

import asyncio
import contextlib
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from nuncius.core.errors import NunciusError
from nuncius.core.settings import SERVICE_URLS, Settings

if TYPE_CHECKING:
    from nuncius.app.doctor import Finding
    from nuncius.sources.services import Services

WAIT_S = 5.0
_SAME_PACE = frozenset({"arxiv_web", "arxiv_rss"})
"""arXiv's other hosts: doctor would wait for their turns."""
RECEIVES: Mapping[str, str] = {
    "ads": "queries, identifiers of papers and your token",
    "arxiv": "queries and identifiers",
    "arxiv_web": "identifiers of the papers that are fetched",
    "arxiv_rss": "categories",
    "ar5iv": "identifiers of the papers that are fetched",
    "sesame": "names of objects",
    "simbad_tap": "names of objects, and where a chart is drawn",
    "gaia_tap": "where a chart is drawn",
    "crossref": "DOIs and titles, and NUNCIUS_CONTACT_EMAIL where it is set",
    "unpaywall": "DOIs and NUNCIUS_CONTACT_EMAIL",
    "openalex": "DOIs and titles, and NUNCIUS_CONTACT_EMAIL where it is set",
    "s2": "DOIs and titles; asked only where others do not know",
}


async def look_at(services: "Services") -> "list[Finding]":
    """Ask all services at once whether they answer; one that does not costs a few seconds."""
    names = list(RECEIVES)
    return list(await asyncio.gather(*(_look(services, name) for name in names)))


async def _look(services: "Services", name: str) -> "Finding":
    from nuncius.app.doctor import Finding

    settings, url = services.settings, services.base(name)
    host = urlsplit(url).netloc.rpartition("@")[2]
    title = services.get(name).manners.service
    facts = [f"receives {RECEIVES[name]}", *_limits(services, name)]
    missing, mend = _missing(settings, name)
    if missing:
        facts.insert(0, missing)
    if settings.offline:
        return Finding(f"{name}", "note", f"{title} ({host}): not asked, offline; {facts[0]}")
    if name in _SAME_PACE:
        told = f"{title} ({host}): not asked by itself, at most one request to arXiv in 3 s"
        return Finding(name, "ok", f"{told}; {'; '.join(facts)}")
    try:
        async with services.get(name).turn():
            began = time.monotonic()
            async with asyncio.timeout(WAIT_S), services.network.stream("GET", _door(url)) as reply:
                took_ms = (time.monotonic() - began) * 1000
                took = f"answers in {took_ms:.0f} ms (HTTP {reply.status})"
                ill = reply.status in {401, 403, 429} or reply.status >= 500
    except (NunciusError, TimeoutError) as error:
        reason = error.message if isinstance(error, NunciusError) else f"silent for {WAIT_S:.0f} s"
        hint = getattr(error, "hint", "") or "Try again later; what was found before is kept."
        return Finding(name, "note", f"{title} ({host}): out of reach: {reason}", hint)
    if ill:
        mend = mend or "Try again later; what was found before is kept."
    state = "note" if missing or ill else "ok"
    return Finding(name, state, f"{title} ({host}): {took}; {'; '.join(facts)}", mend)


def _door(url: str) -> str:
    """Return the page of a service's host that costs it least."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/robots.txt"


def _limits(services: "Services", name: str) -> list[str]:
    told: list[str] = []
    for quota in services.get(name).quotas() if name in {"ads", "crossref"} else ():
        if quota.remaining is None:
            continue
        of = f" of {quota.limit:,}" if quota.limit is not None else ""
        until = f" until {quota.resets_at[:16].replace('T', ' ')} UTC" if quota.resets_at else ""
        told.append(f"{quota.endpoint or 'requests'}: {quota.remaining:,}{of} left{until}")
    return told


def _missing(settings: Settings, name: str) -> tuple[str, str]:
    """Return what a service asks for and does not have, and what mends it."""
    if name == "ads" and not settings.ads_api_token:
        mend = (
            "Make a token at https://ui.adsabs.harvard.edu/user/settings/token (it is free), then:"
            " nuncius config set ADS_API_TOKEN"
        )
        return "no token is set, so arXiv is searched alone", mend
    if name == "unpaywall" and not settings.contact_email:
        return (
            "it asks for an e-mail address",
            "nuncius config set NUNCIUS_CONTACT_EMAIL you@example.org",
        )
    with contextlib.suppress(KeyError):
        if settings.services[name] != SERVICE_URLS[name].rstrip("/"):
            return "", "This is not its usual place."
    return "", ""
