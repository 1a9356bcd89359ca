"""One request and the next one that a redirect makes of it: what may travel to which host."""

import json as json_module
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urljoin

from nuncius.core.errors import AccessDeniedError
from nuncius.walls.addresses import Url, parse_url
from nuncius.walls.decoding import ACCEPTED

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HARMLESS = frozenset({"accept", "accept-encoding", "accept-language", "range", "user-agent"})
"""Headers that may follow a redirect to another host; everything else stays with its host."""
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


@dataclass(frozen=True, slots=True)
class Hop:
    """A request as it goes to one host; secrets stay out of its repr."""

    method: str
    url: Url
    headers: Mapping[str, str] = field(repr=False)
    content: bytes = field(default=b"", repr=False)


def first_hop(
    method: str,
    url: Url,
    headers: Mapping[str, str] | None,
    content: bytes,
    json: Any,
    *,
    user_agent: str,
) -> Hop:
    """Put the headers of a request together and check them.

    Raises:
        AccessDeniedError: A header holds what no header may; its value is not repeated.
    """
    sent = {"user-agent": user_agent, "accept": "*/*", "accept-encoding": ACCEPTED}
    if json is not None:
        content = json_module.dumps(json, ensure_ascii=False, allow_nan=False).encode(
            errors="replace"
        )
        sent["content-type"] = "application/json"
    sent |= {name.lower(): value for name, value in (headers or {}).items()}
    for name, value in sent.items():
        # The library would quote the value in its error, and the value may be a key.
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise AccessDeniedError(
                f"{url.public} was not asked: the header {name!r} holds characters that no header"
                " may hold.",
                hint="Check the key or setting for line breaks and typographic characters.",
            )
    if content or method.upper() in ("POST", "PUT", "PATCH"):
        sent["content-length"] = str(len(content))
    return Hop(method.upper(), url, sent, content)


def next_hop(hop: Hop, status: int, location: str) -> Hop:
    """Judge one redirect.

    Raises:
        AccessDeniedError: It leads where no request may go, or would carry what must stay.
    """
    url = parse_url(urljoin(str(hop.url), location.partition("#")[0]))
    secret = {name for name in hop.headers if name not in _HARMLESS}
    becomes_get = status == 303 or (status in (301, 302) and hop.method == "POST")
    method = "GET" if becomes_get and hop.method != "HEAD" else hop.method
    kept = dict(hop.headers)
    if becomes_get:
        kept = {k: v for k, v in kept.items() if not k.startswith("content-")}
    content = b"" if becomes_get else hop.content
    if hop.url.scheme == "https" and url.scheme == "http" and (secret or hop.content):
        raise _redirect_refused(hop, url, "it would send a key or a body without encryption")
    upgrade = (
        hop.url.host == url.host
        and (hop.url.scheme, hop.url.port) == ("http", 80)
        and (url.scheme, url.port) == ("https", 443)
    )
    if url.origin != hop.url.origin and not upgrade:
        if content:
            raise _redirect_refused(hop, url, "the body was meant for the first host only")
        kept = {name: value for name, value in kept.items() if name in _HARMLESS}
    return replace(hop, method=method, url=url, headers=kept, content=content)


def _redirect_refused(hop: Hop, url: Url, reason: str) -> AccessDeniedError:
    return AccessDeniedError(
        f"{hop.url.public} redirects to {url.public}, which is not followed: {reason}.",
        hint="If the service has moved, set its new address.",
    )
