"""The user's proxy for https: what goes through it and what does not."""

import re
from dataclasses import dataclass
from ipaddress import ip_network
from urllib.parse import unquote, urlsplit

from nuncius.core.errors import AccessDeniedError, SettingsError
from nuncius.walls.addresses import Url, address_of, parse_url


@dataclass(frozen=True, slots=True)
class Proxy:
    """Where https requests go instead of to their host.

    Attributes:
        auth: User name and password, where the setting has them.
        excluded: The entries of NO_PROXY.
    """

    url: Url
    auth: tuple[str, str] | None
    excluded: tuple[str, ...]

    @classmethod
    def read(cls, https_proxy: str, no_proxy: str) -> "Proxy | None":
        """Read HTTPS_PROXY and NO_PROXY; None where no proxy is set.

        Raises:
            SettingsError: It is no URL, or of a kind that cannot be used.
        """
        if not https_proxy.strip():
            return None
        text = https_proxy.strip()
        text = text if "://" in text else f"http://{text}"
        parts = urlsplit(text)
        if parts.scheme not in ("http", "https"):
            raise SettingsError(
                f"HTTPS_PROXY is a {parts.scheme} proxy; only http and https proxies can be used.",
                hint="Most proxy programs also offer an http port: name that one.",
            )
        try:
            url = parse_url(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")
        except AccessDeniedError as error:
            raise SettingsError(
                "HTTPS_PROXY is no URL of a proxy.", hint="Write such as http://127.0.0.1:7890."
            ) from error
        auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
        excluded = tuple(part.strip().lower() for part in no_proxy.split(",") if part.strip())
        return cls(url, auth, excluded)

    @property
    def is_loopback(self) -> bool:
        """Tell whether the proxy runs on this machine."""
        address = address_of(self.url.host)
        return self.url.host == "localhost" or (address is not None and address.is_loopback)

    def serves(self, url: Url) -> bool:
        """Tell whether a request goes through the proxy: https, not local, not excluded."""
        address = address_of(url.host)
        local = url.host == "localhost" or (address is not None and address.is_loopback)
        return (
            url.scheme == "https"
            and not local
            and not any(_excludes(entry, url) for entry in self.excluded)
        )


def _excludes(entry: str, url: Url) -> bool:
    """Compare one entry of NO_PROXY: ``*``, a name with all below it, an address, a block."""
    if entry == "*":
        return True
    if "/" in entry:
        address = address_of(url.host)
        try:
            return address is not None and address in ip_network(entry, strict=False)
        except ValueError:
            return False
    name, _, port = entry.rpartition(":") if re.search(r"[^:]:\d+$", entry) else (entry, "", "")
    name = name.strip("[]").removeprefix("*").removeprefix(".")
    return (not port or int(port) == url.port) and (
        url.host == name or url.host.endswith(f".{name}")
    )
