"""Connections to judged addresses: a name is resolved once, and what was judged is dialled.

This module imports the HTTP library; `network` imports it when the first request is made.
"""

import asyncio
import secrets
import socket
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from ipaddress import IPv4Address

import httpcore2
from typing_extensions import override

from nuncius.core.errors import AccessDeniedError
from nuncius.walls.addresses import (
    FAKE_IP,
    Address,
    TrustedHosts,
    address_of,
    is_local_name,
    is_public,
)

Resolver = Callable[[str], Awaitable[Sequence[str]]]
"""Gives all addresses of a name; raises OSError where there are none."""

SocketOption = (
    tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]
)

_KNOWN_HOSTS = ("arxiv.org", "ui.adsabs.harvard.edu")
_FAKE_IP_CHECK_S = 300.0
_RESOLVE_S = 15.0


async def system_resolver(name: str) -> Sequence[str]:
    """Ask the system's resolver."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Doorman:
    """Decides which addresses a host may be dialled at."""

    def __init__(self, *, trusted: TrustedHosts, resolver: Resolver, offline: bool) -> None:
        self._trusted = trusted
        self._resolver = resolver
        self._offline = offline
        self._fake_ip: tuple[float, bool] | None = None

    async def addresses(
        self, host: str, port: int, *, trusted: bool | None = None
    ) -> Sequence[Address]:
        """Return the addresses to dial, all of them judged.

        Args:
            trusted: Overrides what the user's list says of the host.

        Raises:
            AccessDeniedError: One of them is not public and the user did not name the host.
            OSError: The name does not resolve.
        """
        if trusted is None:
            trusted = self._trusted.covers(host, port)
        literal = address_of(host)
        if literal is None and not trusted and is_local_name(host):
            raise _closed(host, "a name of this machine or of a private network")
        found = [literal] if literal else await self._resolved(host)
        for address in found:
            if self._offline and not address.is_loopback:
                raise offline_error(host)
            if trusted or is_public(address):
                continue
            if literal is None and await self._is_fake_ip(address):
                continue
            raise _closed(host, f"{address} is not a public address")
        return found

    async def _resolved(self, host: str) -> Sequence[Address]:
        async with asyncio.timeout(_RESOLVE_S):
            answers = await self._resolver(host)
        found = [address for answer in answers if (address := address_of(answer))]
        if not found:
            raise OSError(f"{host} has no address")
        return found

    async def _is_fake_ip(self, address: Address) -> bool:
        """Tell whether this network's resolver answers every name from the fake block."""
        if not (isinstance(address, IPv4Address) and address in FAKE_IP):
            return False
        now = time.monotonic()
        if self._fake_ip is None or now - self._fake_ip[0] > _FAKE_IP_CHECK_S:
            names = (*_KNOWN_HOSTS, f"{secrets.token_hex(8)}.com")
            self._fake_ip = (now, all([await self._answers_fake(name) for name in names]))
        return self._fake_ip[1]

    async def _answers_fake(self, name: str) -> bool:
        try:
            found = await self._resolved(name)
        except OSError:
            return False
        return all(isinstance(address, IPv4Address) and address in FAKE_IP for address in found)


def offline_error(host: str) -> AccessDeniedError:
    """Return the refusal of a request that would leave this machine."""
    return AccessDeniedError(
        f"{host} was not asked: NUNCIUS_OFFLINE is set, so no request leaves this machine.",
        hint="Unset NUNCIUS_OFFLINE to allow it.",
    )


def _closed(host: str, reason: str) -> AccessDeniedError:
    return AccessDeniedError(
        f"{host} is not dialled: {reason}.",
        hint="If you mean this host, name it in NUNCIUS_TRUSTED_HOSTS.",
    )


class JudgedBackend(httpcore2.AsyncNetworkBackend):
    """Dials only what the doorman returned; TLS still checks the name that was asked for.

    Args:
        proxy: Host and port of the proxy that the user configured, the one place that is dialled
            whatever its address.
    """

    def __init__(
        self,
        doorman: Doorman,
        inner: httpcore2.AsyncNetworkBackend,
        *,
        proxy: tuple[str, int] | None = None,
    ) -> None:
        self._doorman = doorman
        self._inner = inner
        self._proxy = proxy

    @override
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            trusted = True if (host, port) == self._proxy else None
            addresses = await self._doorman.addresses(host, port, trusted=trusted)
        except (OSError, TimeoutError) as error:
            raise httpcore2.ConnectError(f"the name does not resolve ({error})") from error
        failure: Exception = httpcore2.ConnectError("no address")
        for address in addresses:
            try:
                return await self._inner.connect_tcp(
                    str(address), port, timeout, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure

    @override
    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise httpcore2.ConnectError("Unix sockets are never dialled")

    @override
    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)
