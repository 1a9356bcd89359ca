"""The front door: every request passes it before any route is looked up.

In this order: our own name (421), our own page (403), the token or the cookie (401), the kind of the
body (415) and its size (413). Nothing behind it decides on access.
"""

import logging
import re
from collections.abc import Iterable

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nuncius.api.access import Access
from nuncius.api.errors import refusal
from nuncius.api.web import not_signed_in

log = logging.getLogger(__name__)

JSON_BYTES = 1024 * 1024
"""Largest body of JSON."""
UPLOAD_BYTES = 64 * 1024 * 1024
"""Largest file that is uploaded."""
OPEN = frozenset({("GET", "/api/health"), ("GET", "/sign-in")})
"""All that is answered without the token."""

UPLOADS = frozenset({("PUT", "/api/papers/files")})
"""Bodies that are bytes; all others are JSON."""

_SAFE = {"GET", "HEAD", "OPTIONS"}
_JSON = re.compile(r'application/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?', re.IGNORECASE)
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline';"
    " img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self';"
    " manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Of our own pages: nothing from other hosts, no inline code; KaTeX sets style attributes."""
_SHUT = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
"""Of everything else: papers' files, texts and errors are never a page of ours."""
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
)


class FrontDoor:
    """Lets in whom `access` knows, and sends every answer with the policy."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        request = _Request(scope)
        answer = _Answer(send, page=not request.path.startswith("/api/"))
        refused = self._refused(request)
        if refused is not None:
            status, reason = refused
            unknown = status == 401 and not request.path.startswith("/api/")
            told = not_signed_in() if unknown else refusal(status, reason)
            await told(scope, receive, answer)
            return
        body = _Body(receive, request.limit)
        try:
            await self._app(scope, body, answer)
        except ClientDisconnect:
            log.info("%s %s: the client left in the middle of it", request.method, request.path)
        except Exception:
            log.exception("%s %s broke", request.method, request.path)
            if not answer.ended:  # the client sees a cut answer, not a whole one
                raise

    def _refused(self, request: "_Request") -> tuple[int, str] | None:
        """Return status and reason of a refusal, None where the request may pass."""
        host = request.only("host")
        if host is None or not self._access.knows_host(host):
            return 421, "This is not the name of this server."
        if (reason := self._foreign(request, host)) is not None:
            return 403, reason
        if not self._signed_in(request):
            return 401, (
                "Sign in with the link that `nuncius serve` printed, or send the token of the home."
            )
        return _unwanted_body(request)

    def _foreign(self, request: "_Request", host: str) -> str | None:
        """Return why a request comes from a page that is not ours; None where it does not."""
        origins = request.all("origin")
        if any(not self._access.same_origin(origin, host) for origin in origins):
            return "Requests of other pages are refused."
        site = request.only("sec-fetch-site")
        followed = (
            request.method == "GET"
            and not request.path.startswith("/api/")
            and request.only("sec-fetch-mode") == "navigate"
        )  # a link to us, wherever it stands; the cookie does not come along from other sites
        if site in {"cross-site", "same-site"} and not followed:
            return "Requests of other pages are refused."
        return None

    def _signed_in(self, request: "_Request") -> bool:
        if (request.method, request.path) in OPEN:
            return True
        authorization = request.all("authorization")
        if authorization:
            return len(authorization) == 1 and self._access.has_token(authorization[0])
        cookies = request.all("cookie")
        if not self._access.has_cookie("; ".join(cookies)):
            return False
        # Browsers name the page with every request that changes something.
        own = request.all("origin") or request.only("sec-fetch-site") == "same-origin"
        return request.method in _SAFE or bool(own)


class _Request:
    """What the door looks at."""

    def __init__(self, scope: Scope) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self._headers: list[tuple[bytes, bytes]] = list(scope["headers"])

    def all(self, name: str) -> list[str]:
        """Return all headers of a name, in small letters."""
        key = name.encode()
        return [value.decode("latin-1") for given, value in self._headers if given == key]

    def only(self, name: str) -> str | None:
        """Return the one header of a name; None where there is none, or more."""
        found = self.all(name)
        return found[0] if len(found) == 1 else None

    @property
    def uploads(self) -> bool:
        """Tell whether the body is a file."""
        return (self.method, self.path) in UPLOADS

    @property
    def limit(self) -> int:
        """Return the largest body in bytes."""
        return UPLOAD_BYTES if self.uploads else JSON_BYTES


class _Body:
    """A `receive` that ends a body beyond its limit."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._left = limit

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise HTTPException(413, _too_large(self._limit), {"Connection": "close"})
        return message


class _Answer:
    """A `send` that adds the policy; `ended` tells whether the client has the whole answer."""

    def __init__(self, send: Send, *, page: bool) -> None:
        self._send = send
        self._page = page
        self.ended = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = with_policy(message.get("headers", ()), page=self._page)
            message = {**message, "headers": headers}
        await self._send(message)
        if message["type"] == "http.response.body":
            self.ended = not message.get("more_body", False)


def with_policy(given: Iterable[tuple[bytes, bytes]], *, page: bool) -> list[tuple[bytes, bytes]]:
    """Return an answer's headers with the policy: a page's, or the one of all else."""
    headers = [*given, *_HEADERS]
    names = {name for name, _ in headers}
    if b"content-security-policy" not in names:
        headers.append((b"content-security-policy", (_POLICY if page else _SHUT).encode()))
    if b"cache-control" not in names:
        headers.append((b"cache-control", b"no-store"))
    return headers


def _unwanted_body(request: _Request) -> tuple[int, str] | None:
    lengths = request.all("content-length")
    chunked = bool(request.all("transfer-encoding"))
    if any(not length.isdecimal() or len(length) > 18 for length in lengths):
        return 413, _too_large(request.limit)
    if max((int(length) for length in lengths), default=0) > request.limit:
        return 413, _too_large(request.limit)
    if request.method in _SAFE:
        return None
    kinds = request.all("content-type")
    if not kinds and not chunked and not any(int(length) for length in lengths):
        return None
    if request.uploads:
        good = kinds == ["application/octet-stream"]
        return None if good else (415, "A file is sent as application/octet-stream.")
    good = len(kinds) == 1 and _JSON.fullmatch(kinds[0].strip()) is not None
    return None if good else (415, "A body is application/json, in UTF-8.")


def _too_large(limit: int) -> str:
    return f"The body is larger than {limit // 1024**2} MB."
