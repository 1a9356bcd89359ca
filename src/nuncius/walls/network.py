"""The one door to the network: every request of every floor goes through it.

http and https only. A URL is read once; its name is resolved once; the address is judged and
exactly that address is dialled. Every redirect is judged again. Bytes, time and unpacked size
are limited. The HTTP library is imported when the first request is made.
"""

import asyncio
import codecs
import json as json_module
import ssl
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Mapping,
)
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast
from weakref import WeakKeyDictionary

from nuncius.core.errors import AccessDeniedError, UpstreamError
from nuncius.walls.addresses import (
    OPEN_PORTS,
    TrustedHosts,
    Url,
    address_of,
    is_local_name,
    parse_url,
)
from nuncius.walls.decoding import Unpacker
from nuncius.walls.hops import REDIRECTS, Hop, first_hop, next_hop
from nuncius.walls.proxy import Proxy

if TYPE_CHECKING:
    import httpcore2

    from nuncius.walls.dialling import Doorman, Resolver

MAXREDIRECTS: Final = 5
MAX_BYTES: Final = 64 * 1024 * 1024
CONNECT_S: Final = 10.0


class RedirectDeniedError(AccessDeniedError):
    """The door refuses where a server redirects to: the server's fault, not the user's."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer.

    Attributes:
        url: Where it came from, after redirects.
        headers: Names in lower case; repeated ones joined by a comma.
    """

    status: int
    url: str
    headers: Mapping[str, str]
    content: bytes

    @property
    def text(self) -> str:
        """Return the content as UTF-8; bytes that are not become replacement characters."""
        return self.content.decode("utf-8", errors="replace")

    def json(self) -> Any:
        """Return the content read as JSON.

        Raises:
            UpstreamError: It is not JSON.
        """
        try:
            return json_module.loads(self.content)
        except ValueError as error:
            url = parse_url(self.url)
            raise UpstreamError(url.host, url.public, f"the answer is not JSON: {error}") from error


class ReplyStream:
    """An answer whose body is still arriving; read it inside ``async with``."""

    def __init__(
        self, url: Url, response: "httpcore2.Response", *, max_bytes: int, idle_s: float
    ) -> None:
        self._url = url
        self._response = response
        self._max_bytes = max_bytes
        self._idle_s = idle_s
        self.status: int = response.status
        self.url: str = str(url)
        self.headers: Mapping[str, str] = _joined(response.headers)

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the unpacked body as it arrives.

        Raises:
            UpstreamError: Too large, cut, silent for too long, or not what its headers say.
        """
        import httpcore2

        announced = self.headers.get("content-length", "")
        if announced.isdigit() and int(announced) > self._max_bytes:
            raise self._failed(f"the answer has {int(announced):,} bytes, more than allowed")
        size = 0
        try:
            unpacker = Unpacker(self.headers.get("content-encoding", ""))
            async for packed in self._response.aiter_stream():
                for piece in unpacker.feed(packed):
                    size += len(piece)
                    if size > self._max_bytes:
                        raise self._failed(
                            f"the answer is larger than the {self._max_bytes:,} bytes allowed"
                        )
                    yield piece
            unpacker.end()
        except ValueError as error:
            raise self._failed(f"the answer cannot be read: {error}") from error
        except httpcore2.TimeoutException as error:
            raise self._failed(f"nothing came for {self._idle_s:.0f} s") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise self._failed(f"the answer was cut ({error})") from error

    async def lines(self) -> AsyncIterator[str]:
        """Yield the body's lines as UTF-8 without their endings, as they arrive."""
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        rest = ""
        async for piece in self.pieces():
            *whole, rest = (rest + decoder.decode(piece)).split("\n")
            for line in whole:
                yield line.removesuffix("\r")
        rest += decoder.decode(b"", final=True)
        if rest:
            yield rest.removesuffix("\r")

    async def read(self) -> bytes:
        """Return the whole body."""
        return b"".join([piece async for piece in self.pieces()])

    def _failed(self, reason: str) -> UpstreamError:
        return UpstreamError(self._url.host, self._url.public, reason)


class Network:
    """Make requests.

    Args:
        offline: No request leaves this machine; loopback servers that the user named still answer.
        trusted_hosts: Hosts, ``host:port``, ``*.suffix`` or base URLs that the user configured:
            they may be private or loopback.
        https_proxy: Proxy for https. On loopback it also resolves the names.
        no_proxy: Hosts that are reached without it, as other programs read it.
        contact_email: Told to every server in the User-Agent.
        resolver: Gives the addresses of a name; the system's by default.
        backend: Opens the sockets; the library's by default.
        ssl_context: For servers with certificates of a private authority.

    Raises:
        SettingsError: The proxy is of a kind that cannot be used.
    """

    def __init__(
        self,
        *,
        offline: bool = False,
        trusted_hosts: Iterable[str] = (),
        https_proxy: str = "",
        no_proxy: str = "",
        contact_email: str = "",
        resolver: "Resolver | None" = None,
        backend: "httpcore2.AsyncNetworkBackend | None" = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._offline = offline
        self._trusted = TrustedHosts(trusted_hosts)
        self._proxy = Proxy.read(https_proxy, no_proxy)
        self._contact_email = contact_email
        self._resolver = resolver
        self._backend = backend
        self._ssl_context = ssl_context
        self._doorman_: Doorman | None = None
        # A pool's sockets belong to the event loop that opened them.
        self._pools: WeakKeyDictionary[
            asyncio.AbstractEventLoop, dict[bool, httpcore2.AsyncConnectionPool]
        ] = WeakKeyDictionary()

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        json: Any = None,
        timeout_s: float = 60.0,
        max_bytes: int = MAX_BYTES,
        before_hop: Callable[[str], Awaitable[None]] | None = None,
    ) -> Reply:
        """Send one request and return the whole answer, whatever its status.

        Args:
            headers: Sent to this host only, not to one that it redirects to.
            json: Sent as the body, with its content type.
            timeout_s: For everything, redirects and body included.
            max_bytes: Largest unpacked body.
            before_hop: Awaited before each redirect is followed; see `stream`.

        Raises:
            AccessDeniedError: The door refuses the URL, an address or a redirect; or offline.
            UpstreamError: No connection, no answer in time, a cut or too large answer.
        """
        target = parse_url(url)
        try:
            async with (
                asyncio.timeout(timeout_s),
                self.stream(
                    method,
                    url,
                    headers=headers,
                    content=content,
                    json=json,
                    idle_s=timeout_s,
                    max_bytes=max_bytes,
                    before_hop=before_hop,
                ) as reply,
            ):
                return Reply(reply.status, reply.url, reply.headers, await reply.read())
        except TimeoutError as error:
            raise UpstreamError(
                target.host, target.public, f"no whole answer within {timeout_s:.0f} s"
            ) from error

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        json: Any = None,
        idle_s: float = 60.0,
        max_bytes: int = MAX_BYTES,
        before_hop: Callable[[str], Awaitable[None]] | None = None,
    ) -> AsyncGenerator[ReplyStream, None]:
        """Send one request and give its answer while the body still arrives.

        Args:
            idle_s: Longest silence, before the answer and within it.
            before_hop: Awaited with the address before each redirect is followed: a service's pace
                holds for what it redirects to as well.

        Raises:
            AccessDeniedError, UpstreamError: As `request`.
        """
        hop = first_hop(method, parse_url(url), headers, content, json, user_agent=self.user_agent)
        trusted = self._trusts(hop.url)
        redirected = False
        for _ in range(MAXREDIRECTS + 1):
            with _as_redirect(redirected):
                await self._admit(hop.url, trusted=trusted)
                response = await self._send(hop, idle_s)
            try:
                location = _joined(response.headers).get("location", "")
                if response.status not in REDIRECTS or not location:
                    yield ReplyStream(hop.url, response, max_bytes=max_bytes, idle_s=idle_s)
                    return
            finally:
                await response.aclose()
            redirected = True
            with _as_redirect(redirected):
                hop = next_hop(hop, response.status, location)
            if before_hop:
                await before_hop(str(hop.url))
            # A public page must not lead to a private host only because the user trusts that one.
            trusted = trusted and self._trusts(hop.url)
        raise UpstreamError(
            hop.url.host, hop.url.public, f"more than {MAXREDIRECTS} redirects, it was given up"
        )

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        pools = self._pools.pop(asyncio.get_running_loop(), {})
        for pool in pools.values():
            await pool.aclose()

    @cached_property
    def user_agent(self) -> str:
        """Return what every server is told of us."""
        from importlib.metadata import version

        contact = f" (mailto:{self._contact_email})" if self._contact_email else ""
        return f"nuncius/{version('nuncius')}{contact}"

    def _trusts(self, url: Url) -> bool:
        return self._trusted.covers(url.host, url.port)

    async def _admit(self, url: Url, *, trusted: bool) -> None:
        """Refuse what needs no connection to be refused."""
        from nuncius.walls.dialling import offline_error

        address = address_of(url.host)
        if self._offline and not (
            trusted and (url.host == "localhost" or (address is not None and address.is_loopback))
        ):
            raise offline_error(url.host)
        if not trusted and url.port not in OPEN_PORTS:
            raise AccessDeniedError(
                f"{url.public} is not fetched: port {url.port} is not one of the web.",
                hint="If you mean this host, name it in NUNCIUS_TRUSTED_HOSTS.",
            )
        if trusted:
            return
        if address is not None or is_local_name(url.host):
            await self._doorman.addresses(url.host, url.port, trusted=False)
            return
        proxy = self._proxy if self._proxy and self._proxy.serves(url) else None
        if self._trusts(url) or (proxy and not proxy.is_loopback):
            # Two cases where dialling would not judge: a host that is trusted elsewhere, and a
            # proxy that resolves the name again; what can be told from here is refused here.
            try:
                await self._doorman.addresses(url.host, url.port, trusted=False)
            except (OSError, TimeoutError) as error:
                if not proxy:
                    raise UpstreamError(
                        url.host, url.public, f"the name does not resolve ({error})"
                    ) from error

    @property
    def _doorman(self) -> "Doorman":
        from nuncius.walls.dialling import Doorman, system_resolver

        if self._doorman_ is None:
            self._doorman_ = Doorman(
                trusted=self._trusted,
                resolver=self._resolver or system_resolver,
                offline=self._offline,
            )
        return self._doorman_

    async def _send(self, hop: Hop, idle_s: float) -> "httpcore2.Response":
        import httpcore2

        request = httpcore2.Request(
            hop.method,
            httpcore2.URL(
                scheme=hop.url.scheme.encode(),
                host=hop.url.host.encode(),
                port=hop.url.port,
                target=hop.url.target.encode(),
            ),
            headers=[
                (b"Host", hop.url.netloc.encode()),
                *((name.encode(), value.encode("latin-1")) for name, value in hop.headers.items()),
            ],
            content=hop.content,
            extensions={
                "timeout": {
                    "connect": CONNECT_S,
                    "read": idle_s,
                    "write": idle_s,
                    "pool": idle_s,
                }
            },
        )
        try:
            return await self._pool(hop.url).handle_async_request(request)
        except httpcore2.TimeoutException as error:
            reason = "no connection" if isinstance(error, httpcore2.ConnectTimeout) else "no answer"
            raise UpstreamError(hop.url.host, hop.url.public, f"{reason} in time") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.ProxyError) as error:
            raise UpstreamError(
                hop.url.host,
                hop.url.public,
                f"it could not be reached ({error})",
                hint="Check the network and the address.",
            ) from error

    def _pool(self, url: Url) -> "httpcore2.AsyncConnectionPool":
        proxied = self._proxy is not None and self._proxy.serves(url)
        pools = self._pools.setdefault(asyncio.get_running_loop(), {})
        if proxied not in pools:
            pools[proxied] = self._new_pool(self._proxy if proxied else None)
        return pools[proxied]

    def _new_pool(self, proxy: "Proxy | None") -> "httpcore2.AsyncConnectionPool":
        import httpcore2
        import httpx2

        from nuncius.walls.dialling import JudgedBackend

        inner = self._backend or cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())
        if self._ssl_context is None:
            self._ssl_context = httpx2.create_ssl_context()
        if proxy is None:
            return httpcore2.AsyncConnectionPool(
                ssl_context=self._ssl_context,
                max_connections=32,
                keepalive_expiry=15.0,
                network_backend=JudgedBackend(self._doorman, inner),
            )
        return httpcore2.AsyncHTTPProxy(
            proxy_url=str(proxy.url),
            proxy_auth=proxy.auth,
            ssl_context=self._ssl_context,
            max_connections=32,
            keepalive_expiry=15.0,
            network_backend=JudgedBackend(
                self._doorman, inner, proxy=(proxy.url.host, proxy.url.port)
            ),
        )


def _joined(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return joined


@contextmanager
def _as_redirect(redirected: bool) -> Generator[None]:
    """Tell a refusal of where a server leads from one of what was asked."""
    try:
        yield
    except AccessDeniedError as error:
        if not redirected:
            raise
        raise RedirectDeniedError(error.message, hint=error.hint) from error
