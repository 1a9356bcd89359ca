"""What may be dialled: URLs read strictly, hosts compared exactly, addresses judged."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NoReturn
from urllib.parse import quote, urlsplit

from nuncius.core.errors import AccessDeniedError

Address = IPv4Address | IPv6Address

OPEN_PORTS = frozenset({80, 443, 8080, 8443})
"""Ports of hosts that nobody named; others belong to mail, databases and control planes."""

FAKE_IP = IPv4Network("198.18.0.0/15")
"""Where resolvers that hand out made-up addresses take them from."""

_CLOSED_V4 = tuple(
    IPv4Network(block)
    for block in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by carriers
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # a cloud's control plane at a public address
        "169.254.0.0/16",  # link-local, cloud metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments, a cloud's metadata
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks, fake addresses
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_OPEN_V6 = IPv6Network("2000::/3")  # all that is allotted for the public; the rest is closed
_CLOSED_V6 = tuple(
    IPv6Network(block)
    for block in (
        "2001::/23",  # Teredo and other protocols that carry an IPv4 address
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)
_LOCAL_SUFFIXES = (
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "svc",
    "arpa",
    "onion",
    "invalid",
)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)")


@dataclass(frozen=True, slots=True)
class Url:
    """One http or https URL, taken apart once; what is judged is what is fetched.

    Attributes:
        host: Lower-case ASCII name, or an address without brackets.
        target: Path and query, ASCII.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> tuple[str, str, int]:
        return (self.scheme, self.host, self.port)

    @property
    def netloc(self) -> str:
        """Return host and port as a Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        default = 443 if self.scheme == "https" else 80
        return host if self.port == default else f"{host}:{self.port}"

    @property
    def public(self) -> str:
        """Return the URL without its query, which may hold keys: for messages."""
        return f"{self.scheme}://{self.netloc}{self.target.partition('?')[0]}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.netloc}{self.target}"


def parse_url(text: str) -> Url:
    """Read a URL the strict way: no tricks that two parsers would read differently.

    Raises:
        AccessDeniedError: Not http or https, no host, user information, white space, control
            characters, backslashes, percent signs in the host, odd spellings of addresses.
    """
    if any(char <= " " or char in "\\\x7f" or char == "\u2028" for char in text):
        _refuse(text, "it holds white space, control characters or a backslash")
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        _refuse(text, str(error))
    scheme = parts.scheme.lower()
    if scheme not in ("http", "https") or not host:
        _refuse(text, "only http and https with a host are fetched")
    if "@" in parts.netloc or "%" in parts.netloc:
        _refuse(text, "user information and percent signs in the host are not accepted")
    if port == 0:
        _refuse(text, "port 0 does not exist")
    target = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._") + (
        "?" + quote(parts.query, safe="/%:@!$&'()*+,;=~-._?[]{}|^") if parts.query else ""
    )
    bracketed = parts.netloc.startswith("[")
    return Url(
        scheme,
        _address_text(text, host) if bracketed else _name(text, host),
        port or (443 if scheme == "https" else 80),
        target,
    )


def _address_text(url: str, host: str) -> str:
    try:
        return str(IPv6Address(host))
    except ValueError as error:
        _refuse(url, str(error))


def _name(url: str, host: str) -> str:
    """Return the ASCII form of a name, or the address where it is a plain dotted one."""
    if not host.isascii():
        import idna

        try:
            host = idna.encode(host, uts46=True).decode()
        except idna.IDNAError as error:
            _refuse(url, f"the host is no valid name ({error})")
    host = host.lower()
    labels = host.split(".")
    if _NUMERIC.fullmatch(labels[-1] or labels[max(len(labels) - 2, 0)]):
        try:
            return str(IPv4Address(host))
        except ValueError:
            _refuse(url, "addresses are accepted as four plain decimal numbers only")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) and label != "xn--" for label in labels):
        _refuse(url, "the host is no valid name")
    return host


def _refuse(url: str, reason: str) -> NoReturn:
    shown = url if len(url) <= 100 else url[:100] + "..."
    shown = re.sub(r"//[^/]*@", "//***@", shown.partition("?")[0])
    raise AccessDeniedError(
        f"{shown!r} is not fetched: {reason}.", hint="Give a plain http or https URL."
    )


def address_of(host: str) -> Address | None:
    """Return the address that a host already is, or None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def is_local_name(host: str) -> bool:
    """Tell whether a name is a machine's own or a private network's."""
    return "." not in host or any(host.endswith(f".{suffix}") for suffix in _LOCAL_SUFFIXES)


def is_public(address: Address) -> bool:
    """Tell whether an address belongs to the public network and to nothing else.

    IPv6 forms that carry an IPv4 address (mapped, compatible, translated, NAT64, 6to4, Teredo)
    are never public: what they lead to is decided elsewhere.
    """
    if isinstance(address, IPv4Address):
        return not any(address in block for block in _CLOSED_V4)
    return address in _OPEN_V6 and not any(address in block for block in _CLOSED_V6)


class TrustedHosts:
    """Hosts that the user named; they may be private, loopback, on any port.

    Args:
        entries: ``host``, ``host:port``, ``*.suffix``, or a whole base URL (which trusts its
            host on its port).
    """

    def __init__(self, entries: Iterable[str]) -> None:
        self._exact: set[tuple[str, int | None]] = set()
        self._suffixes: set[str] = set()
        for entry in entries:
            self._add(entry.strip())

    def _add(self, entry: str) -> None:
        if not entry:
            return
        if "://" in entry:
            url = parse_url(entry)
            self._exact.add((url.host, url.port))
        elif entry.startswith("*."):
            self._suffixes.add(entry[1:].lower())
        elif address_of(entry.strip("[]")) is not None:
            self._exact.add((str(address_of(entry.strip("[]"))), None))
        else:
            url = parse_url(f"http://{entry}")
            named_port = re.search(r":\d+$", entry) is not None
            self._exact.add((url.host, url.port if named_port else None))

    def covers(self, host: str, port: int) -> bool:
        """Tell whether the user named exactly this host (and port, where one was given)."""
        return (
            (host, port) in self._exact
            or (host, None) in self._exact
            or any(host.endswith(suffix) for suffix in self._suffixes)
        )
