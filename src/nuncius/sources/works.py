"""What Crossref, OpenAlex, Unpaywall and Semantic Scholar have in common: works that have DOIs."""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from nuncius.core.errors import KeyMissingError, UpstreamError, UsageError
from nuncius.core.identifiers import find_arxiv_id
from nuncius.core.records import Link, LinkKind, Status
from nuncius.core.shapes import as_object, is_object
from nuncius.sources.markup import plain_text
from nuncius.sources.replies import DAY_S, RefusedError, public_url, quoted, read_json, too_busy
from nuncius.walls.network import Reply

WORK_KEPT_S = 7 * DAY_S
SEARCH_KEPT_S = DAY_S
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_DOI_PREFIX = re.compile(r"^\s*(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)", re.IGNORECASE)
_RETRACTED = re.compile(
    r"\W*(retracted|withdrawn)\b(?:\s+(?:article|paper|chapter))?\W*[:\])]", re.IGNORECASE
)
_BUSY = frozenset({408, 425, 429, 499})


def read_doi(text: str) -> str:
    """Return a DOI in lower case, without the address before it.

    Raises:
        UsageError: It is none.
    """
    doi = _DOI_PREFIX.sub("", text).strip().lower()
    if not _DOI.fullmatch(doi):
        raise UsageError(f"{text!r} is not a DOI.", hint="Give it as 10.3847/1538-4357/ac8c2f.")
    return doi


def doi_or_none(text: object) -> str:
    """Return a DOI as services write it (often an address), or nothing."""
    doi = _DOI_PREFIX.sub("", text).strip().lower() if isinstance(text, str) else ""
    return doi if _DOI.fullmatch(doi) else ""


def in_path(doi: str, *, slash: bool = False) -> str:
    """Return a DOI as part of a URL's path; `slash`: services that want the slash as it is."""
    return quote(doi, safe="/" if slash else "")


def arxiv_id_of(doi: str) -> str:
    """Return the identifier in arXiv's own DOI, or nothing."""
    match = _ARXIV_DOI.fullmatch(doi)
    return re.sub(r"v\d+$", "", match[1]) if match else ""


def ordered_dois(dois: Iterable[str]) -> tuple[str, ...]:
    """Return DOIs once each, arXiv's own last."""
    found = [doi for doi in dict.fromkeys(dois) if doi]
    return tuple(sorted(found, key=lambda doi: bool(arxiv_id_of(doi))))


def arxiv_id_in_url(url: str) -> str:
    """Return the identifier in an address at arXiv, or nothing."""
    host = (urlsplit(url).hostname or "").removeprefix("www.").removeprefix("export.")
    return (find_arxiv_id(url) or "") if host == "arxiv.org" else ""


def read_answer(service: str, reply: Reply, *, key: str = "") -> Any:
    """Return an answer's JSON; None: the service does not know what was asked for (404).

    Args:
        key: The setting that holds the service's key or the user's address, where it wants one.

    Raises:
        UpstreamError: It is busy, broken, refuses the request, or does not answer in JSON.
        KeyMissingError: It wants a key, or another one.
    """
    if reply.status == 404:  # as text, as JSON, or as a web page, even to programs
        return None
    if reply.status in _BUSY or reply.status >= 500:
        raise too_busy(service, reply, said=_words(reply))
    if reply.status in {401, 403} and key:
        raise KeyMissingError(
            f"{service} refused the request (HTTP {reply.status}): {_words(reply) or 'no words'}",
            hint=f"Check {key}.",
        )
    if reply.status != 200:
        raise RefusedError(
            service,
            public_url(reply),
            f"it does not take the request (HTTP {reply.status}): {_words(reply) or 'no words'}",
            hint="Change what was asked for; the same again will be refused again.",
        )
    return read_json(service, reply)


def _words(reply: Reply) -> str:
    """Return what an error's body says."""
    try:
        value = reply.json()
    except UpstreamError:  # text or a web page
        return quoted(plain_text(reply.text[:2000]))
    for name in ("message", "error", "detail"):
        said = as_object(value).get(name)
        if isinstance(said, str) and said:
            return quoted(said)
    return quoted(reply.text[:400])


def expected_object(service: str, reply: Reply, value: Any, *names: str) -> dict[str, Any]:
    """Return `value` if it is an object that has one of the fields.

    Raises:
        UpstreamError: It is something else.
    """
    if is_object(value) and (not names or any(name in value for name in names)):
        return value
    raise UpstreamError(
        service,
        public_url(reply),
        f"its answer has none of the fields that were expected: {quoted(reply.text[:200])}",
        hint="The service may have changed; look for a newer version of nuncius.",
    )


def text(value: Any) -> str:
    """Return a text of JSON without markup, on one line, or a whole number's digits; else nothing."""
    if isinstance(value, str):
        return plain_text(value)
    return "" if number(value) is None else str(value)


def number(value: Any) -> int | None:
    """Return a whole number of JSON; None for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def measure(value: Any) -> float | None:
    """Return a number of JSON; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300:
        return None
    return float(value) if value == value else None  # noqa: PLR0124  (not a number)


def pages(value: Any) -> str:
    """Return a range of pages without blanks around its dash; one page alone."""
    said = re.sub(r"\s*[-–—]+\s*", "-", text(value)).strip("-")
    first, _, last = said.partition("-")
    return first if first == last else said


def status_of_title(title: str) -> Status:
    """Tell what publishers put before a title: ``RETRACTED ARTICLE: ...``."""
    match = _RETRACTED.match(title)
    if match is None:
        return ""
    return "retracted" if match[1].lower() == "retracted" else "withdrawn"


_VERSIONS: Mapping[str, str] = {
    "submittedversion": "preprint", "acceptedversion": "accepted", "publishedversion": "published",
    "vor": "published", "am": "accepted",
}  # fmt: skip


def version(value: Any) -> str:
    """Return `preprint`, `accepted` or `published`; empty where the service does not say."""
    return _VERSIONS.get(value.lower(), "") if isinstance(value, str) else ""


def place_links(
    *, pdf: Any, page: Any, licence: Any, version_name: Any, repository: bool
) -> tuple[Link, ...]:
    """Return the links of one place where a work can be had."""
    kept = licence if isinstance(licence, str) else ""
    found: list[Link] = []
    for url, is_pdf in ((pdf, True), (page, False)):
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            continue
        kind: LinkKind = "landing"
        if is_pdf and arxiv_id_in_url(url):
            kind = "arxiv_pdf"
        elif is_pdf:
            kind = "repository_pdf" if repository else "publisher_pdf"
        found.append(Link(kind, url, kept, version(version_name)))
    return tuple(found)


def once_each(links: Iterable[Link]) -> tuple[Link, ...]:
    """Return links without repeated addresses, in their order."""
    by_url: dict[str, Link] = {}
    for link in links:
        by_url.setdefault(link.url, link)
    return tuple(by_url.values())
