"""Who may come in: the token of the home, links that sign in once, and the names we answer to."""

import hashlib
import hmac
import os
import secrets
import stat
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from nuncius.core.errors import SettingsError

NONCE_LIFE_S = 600.0
"""How long a link that signs in is good for."""
COOKIE_LIFE_S = 30 * 24 * 3600
_TOKEN_BYTES = 32
_MOST_NONCES = 100


def read_token(path: Path) -> str:
    """Return the home's token, making it on first use (mode 0600).

    Raises:
        SettingsError: It cannot be read or made, or others could read it.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return _make_token(path)
    except OSError as error:
        raise _unusable(path, f"cannot be read ({error.strerror})") from error
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise _unusable(path, "is not a file of yours")
        if stat.S_IMODE(found.st_mode) & 0o077:
            raise _unusable(path, "can be read by others")
        token = os.read(descriptor, 1_000).decode("ascii", errors="replace").strip()
    finally:
        os.close(descriptor)
    if len(token) < _TOKEN_BYTES or not token.isalnum():
        raise _unusable(path, "holds no token")
    return token


def _make_token(path: Path) -> str:
    token = secrets.token_hex(_TOKEN_BYTES)
    own = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(token + "\n")
                file.flush()
                os.fsync(descriptor)
            os.link(own, path)  # never over one that another process has made in between
        finally:
            own.unlink(missing_ok=True)
    except FileExistsError:
        return read_token(path)
    except OSError as error:
        raise _unusable(path, f"cannot be made ({error.strerror})") from error
    return token


def _unusable(path: Path, why: str) -> SettingsError:
    return SettingsError(
        f"The token {path} {why}.",
        hint="Delete the file: the next `nuncius serve` makes a new one (mode 0600).",
    )


class Nonces:
    """Words that are good once, for ten minutes, kept in memory only."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def make(self) -> str:
        """Return a new one; the oldest of very many gives way."""
        if len(self._until) >= _MOST_NONCES:
            del self._until[next(iter(self._until))]
        nonce = secrets.token_urlsafe(32)
        self._until[_digest(nonce)] = self._clock() + NONCE_LIFE_S
        return nonce

    def spend(self, nonce: str) -> bool:
        """Tell whether `nonce` was good; from now on it is not.

        Digests are looked up, so that the time it takes tells nothing of the words.
        """
        until = self._until.pop(_digest(nonce), None)
        return until is not None and self._clock() < until


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


class Access:
    """The door's book: token, cookie, one-time links and our own names.

    Args:
        token: Of the home.
        port: Where we listen; part of the cookie's name, as cookies are not kept apart by port.
        hosts: Names that we listen on beside ``127.0.0.1`` and ``localhost``.
        public_url: Where people reach us through a tunnel, or on another machine by a name that is
            not in `hosts`; empty: nowhere.
    """

    def __init__(
        self, token: str, *, port: int, hosts: tuple[str, ...] = (), public_url: str = ""
    ) -> None:
        self._token = token.encode()
        self.nonces = Nonces()
        self.cookie = f"nuncius_{port}"
        mark = hmac.new(self._token, f"cookie {port}".encode(), hashlib.sha256)
        self.cookie_value = mark.hexdigest()
        self._origins = _origins(port, hosts)
        self._home = f"http://{_in_url(hosts[0] if hosts else '127.0.0.1')}:{port}"
        self.secure = False
        if public_url:
            scheme, host = _public(public_url)
            self._origins[host] = f"{scheme}://{host}"
            self._home = self._origins[host]
            self.secure = scheme == "https"

    def link(self) -> str:
        """Return a link that signs in, once, within ten minutes."""
        return f"{self._home}/sign-in?nonce={self.nonces.make()}"

    def knows_host(self, host: str) -> bool:
        """Tell whether a ``Host`` is one of our own names, exactly."""
        return host.lower() in self._origins

    def same_origin(self, origin: str, host: str) -> bool:
        """Tell whether an ``Origin`` is the one of the page that `host` serves, exactly."""
        return origin == self._origins.get(host.lower())

    def has_token(self, authorization: str) -> bool:
        """Tell whether an ``Authorization`` header holds the token."""
        scheme, _, given = authorization.partition(" ")
        return scheme == "Bearer" and hmac.compare_digest(given.encode(), self._token)

    def has_cookie(self, header: str) -> bool:
        """Tell whether a ``Cookie`` header holds ours."""
        pairs = (part.strip().partition("=") for part in header.split(";"))
        given = [value for name, _, value in pairs if name == self.cookie]
        wanted = self.cookie_value.encode()
        return len(given) == 1 and hmac.compare_digest(given[0].encode(), wanted)

    def set_cookie(self) -> str:
        """Return the ``Set-Cookie`` header that signs a browser in."""
        secure = "; Secure" if self.secure else ""
        return (
            f"{self.cookie}={self.cookie_value}; Path=/; Max-Age={COOKIE_LIFE_S};"
            f" HttpOnly; SameSite=Strict{secure}"
        )


_EVERYWHERE = frozenset({"0.0.0.0", "::", ""})  # noqa: S104  (compared with, never listened on here)
"""No names of ours: who listens everywhere answers to loopback, and to others as public_url only."""


def _origins(port: int, hosts: tuple[str, ...]) -> dict[str, str]:
    """Return the origin of each name that we answer to."""
    names = {"127.0.0.1", "localhost"} | {host.lower() for host in hosts if host not in _EVERYWHERE}
    known: dict[str, str] = {}
    for name in names:
        host = f"{_in_url(name)}:{port}"
        known[host] = f"http://{host}"
        if port == 80:  # browsers leave it out
            known[_in_url(name)] = f"http://{_in_url(name)}"
    return known


def _in_url(host: str) -> str:
    if host in _EVERYWHERE:
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _public(url: str) -> tuple[str, str]:
    """Return scheme and host of NUNCIUS_PUBLIC_URL.

    Raises:
        SettingsError: It is no plain address of a site.
    """
    try:
        parts = urlsplit(url.strip())
        default: Mapping[str, int] = {"http": 80, "https": 443}
        port = parts.port
    except ValueError as error:
        raise _no_site(url) from error
    plain = not parts.username and not parts.query and parts.path in {"", "/"}
    if parts.scheme not in default or not parts.hostname or not plain:
        raise _no_site(url)
    host = _in_url(parts.hostname.lower())
    return parts.scheme, host if port in {None, default[parts.scheme]} else f"{host}:{port}"


def _no_site(url: str) -> SettingsError:
    return SettingsError(
        f"NUNCIUS_PUBLIC_URL is '{url}', which is no address of a site.",
        hint="Write scheme and host only, such as https://nuncius.example.org",
    )
