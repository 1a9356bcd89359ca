"""Where the full text of a work may be had legally, the best place first."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal
from urllib.parse import quote, urlsplit

from nuncius.core.identifiers import identify
from nuncius.core.records import Link, LinkKind, Record
from nuncius.core.settings import SERVICE_URLS, Settings
from nuncius.sources.ads_docs import UI_URL

Format = Literal["auto", "pdf", "html", "source"]
TextKind = Literal["html", "pdf", "source"]

ORDER: Final[tuple[LinkKind, ...]] = (
    "arxiv_html",
    "ar5iv",
    "arxiv_source",
    "arxiv_pdf",
    "repository_pdf",
    "ads_pdf",
    "publisher_pdf",
    "publisher_html",
)
"""Structured text before pages, copies that their keepers give away before publishers' sites."""
LABELS: Final[dict[LinkKind, str]] = {
    "arxiv_html": "arXiv HTML",
    "ar5iv": "ar5iv",
    "arxiv_source": "arXiv source",
    "arxiv_pdf": "arXiv PDF",
    "repository_pdf": "repository copy",
    "ads_pdf": "ADS scan",
    "publisher_pdf": "publisher's PDF",
    "publisher_html": "publisher's page",
    "landing": "publisher's page",
}
_WANTED: Final[dict[LinkKind, TextKind]] = {
    "arxiv_html": "html",
    "ar5iv": "html",
    "arxiv_source": "source",
    "publisher_html": "html",
    "landing": "html",
}
_ARXIV_PLACES: Final[tuple[tuple[LinkKind, str], ...]] = (
    ("arxiv_html", "html"),
    ("arxiv_source", "src"),
    ("arxiv_pdf", "pdf"),
)
_SHADOW = re.compile(
    r"(?:^|[.-])(?:sci-?hub|libgen\w*|library-?genesis|annas?-?archive|z-?lib(?:rary)?|zlibrary\w*"
    r"|singlelogin|1lib\w*|b-ok\w*|booksc\w*|bookfi|bookzz|gen\.lib|whereisscihub|nexus-?search|libstc"
    r"|ebookee|vdoc\.pub|dokumen\.pub|vdocuments?\w*)(?:[.-]|$)",
    re.IGNORECASE,
)
_OPEN_LICENCE = re.compile(
    r"\b(?:cc|creative\s*commons|public[\s-]?domain|pd|publisher-specific-oa)\b", re.IGNORECASE
)
MOST_LINKS: Final = 6
"""Of one kind: services list the same copy under many addresses."""


@dataclass(frozen=True, slots=True)
class Channel:
    """One place to ask for a full text.

    Attributes:
        wanted: What it should give; the bytes decide.
        label: Its name for people, such as ``arXiv PDF v2``.
        service: Whose pace it keeps: a name of `Services.get`.
        licence: As the service that listed it writes it; empty where it did not say.
        version: Of arXiv; None for all others and where it is not known.
        base: What the address must still begin with after redirects; empty: anything. A missing
            paper is a redirect to its abstract there.
        note: What a reader of the text must know, such as that it was withdrawn.
    """

    kind: LinkKind
    url: str
    label: str
    service: str = "web"
    licence: str = ""
    version: int | None = None
    base: str = ""
    note: str = ""

    @property
    def wanted(self) -> TextKind:
        return _WANTED.get(self.kind, "pdf")


def channels(
    record: Record,
    settings: Settings,
    *,
    format: Format = "auto",  # noqa: A002  (the tool's word)
    version: int | None = None,
) -> tuple[Channel, ...]:
    """Return the places to ask for the text of `record`, in the order in which they are asked.

    arXiv's come first, of the latest known version; of a withdrawn paper those of the version before.
    Publishers' own files are listed only where a service says that they are open.

    Args:
        version: Of arXiv: this one alone is meant, so no other place will do.
    """
    found: list[Channel] = []
    if record.arxiv_id and version:
        latest = record.arxiv_version
        note = f"version {version} of {latest}" if latest and latest != version else ""
        found = arxiv_channels(record.arxiv_id, settings, version=version, note=note)
        found = [one for one in found if one.version == version]
    elif record.arxiv_id:
        latest, note = record.arxiv_version, ""
        if record.status == "withdrawn":
            latest, note = earlier(record)
        found = arxiv_channels(record.arxiv_id, settings, version=latest, note=note)
    if not version:
        found += link_channels(record, record.links, settings)
    found = [one for one in found if format in {"auto", one.wanted}]
    return tuple(sorted(found, key=lambda one: ORDER.index(one.kind)))


def named(record: Record) -> Record | None:
    """Return the record with its arXiv identifier, also where only a DOI or a bibcode tells it.

    None: what stands there as arXiv identifier is none.
    """
    if record.arxiv_id:
        found = identify(record.arxiv_id)
        if found is None or found.kind != "arxiv":
            return None
        return replace(
            record, arxiv_id=found.value, arxiv_version=record.arxiv_version or found.version
        )
    told = (identify(name) for name in (*record.dois, *record.bibcodes))
    own = next((found for found in told if found and found.kind == "arxiv"), None)
    return replace(record, arxiv_id=own.value, arxiv_version=own.version) if own else record


def earlier(record: Record) -> tuple[int | None, str]:
    """Return the version of a withdrawn preprint that may still be read, and how it is labelled."""
    if record.arxiv_version is None:
        return 1, "version 1; withdrawn since"
    version = max(1, record.arxiv_version - 1)
    return version, f"version {version}; withdrawn since"


def arxiv_channels(
    arxiv_id: str, settings: Settings, *, version: int | None, note: str = ""
) -> list[Channel]:
    """Return arXiv's own places for one version of a preprint, and ar5iv's for whatever it froze."""
    web, ar5iv = settings.services["arxiv_web"], settings.services["ar5iv"]
    name = quote(arxiv_id, safe="/") + (f"v{version}" if version else "")
    said = f" v{version}" if version else ""
    made: list[Channel] = []
    for kind, place in _ARXIV_PLACES:
        made.append(
            Channel(
                kind,
                f"{web}/{place}/{name}",
                LABELS[kind] + said,
                "arxiv",
                version=version,
                base=f"{web}/{place}/" if kind == "arxiv_html" else "",
                note=note,
            )
        )
    if not note:  # it froze one version, which of them is not told: not for a withdrawn paper
        place = f"{ar5iv}/html/"
        # A paper that it lacks is a redirect to arXiv, so it keeps arXiv's pace.
        made.insert(1, Channel("ar5iv", f"{place}{quote(arxiv_id, safe='/')}", LABELS["ar5iv"],
                               "arxiv", base=place))  # fmt: skip
    return made


def link_channels(record: Record, links: Iterable[Link], settings: Settings) -> list[Channel]:
    """Return the places that services list for a work and that may be asked without a browser."""
    made: list[Channel] = []
    for link in links:
        if link.kind not in {"repository_pdf", "ads_pdf", "publisher_pdf", "publisher_html"}:
            continue
        if _of_a_moved_ads(link.url, settings):
            continue
        if not is_lawful(link.url) or any(one.url == link.url for one in made):
            continue
        publishers = link.kind in {"publisher_pdf", "publisher_html"}
        if publishers and not (record.open_access or _OPEN_LICENCE.search(link.licence)):
            continue
        own = identify(link.url)
        if record.arxiv_id and (
            is_arxiv(link.url, settings) or (own and own.kind == "arxiv") or "EPRINT_" in link.url
        ):
            continue  # asked at arXiv itself
        if sum(one.kind == link.kind for one in made) < MOST_LINKS:
            made.append(_channel(link, settings))
    return made


def _of_a_moved_ads(url: str, settings: Settings) -> bool:
    """Tell whether a link leads to the usual ADS, though the user asks one at another place."""
    usual = settings.services["ads"] == SERVICE_URLS["ads"].rstrip("/")
    return not usual and url.startswith(f"{UI_URL}/")


def browser_channels(record: Record) -> tuple[Channel, ...]:
    """Return the pages that the user's own browser may open with the user's own rights."""
    pages = [
        Channel(link.kind, link.url, LABELS[link.kind], licence=link.licence)
        for link in sorted(record.links, key=lambda link: link.kind != "publisher_html")
        if link.kind in {"publisher_html", "landing"} and is_lawful(link.url)
    ]
    journal = next((doi for doi in record.dois if not doi.startswith("10.48550/arxiv.")), "")
    if journal and not pages:
        url = f"https://doi.org/{quote(journal, safe='/()')}"
        pages.append(Channel("landing", url, LABELS["landing"]))
    return tuple(pages[:2])


def is_lawful(url: str) -> bool:
    """Tell whether a link may be asked at all: a web address, and of no shadow library."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(host) and not _SHADOW.search(host)


def is_arxiv(url: str, settings: Settings) -> bool:
    """Tell whether an address is one of arXiv's hosts, whose pace all requests share."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    own = {urlsplit(settings.services[name]).hostname for name in ("arxiv", "arxiv_web", "ar5iv")}
    local = host in own and host not in {"127.0.0.1", "localhost", "::1"}
    return host == "arxiv.org" or host.endswith(".arxiv.org") or local


def _channel(link: Link, settings: Settings) -> Channel:
    own = identify(link.url)
    paced = (
        is_arxiv(link.url, settings) or "EPRINT_" in link.url or bool(own and own.kind == "arxiv")
    )
    host = urlsplit(link.url).hostname or ""
    return Channel(
        link.kind,
        link.url,
        f"{LABELS[link.kind]} ({host})",
        "arxiv" if paced else "web",
        licence=link.licence,
    )


def hosts(found: Sequence[Channel]) -> list[str]:
    """Return the hosts that would be asked, each once, for a question to the user."""
    return list(dict.fromkeys(urlsplit(one.url).hostname or "" for one in found))
