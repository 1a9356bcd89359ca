"""The user's own browser, reached over the Chrome DevTools protocol (Chromium, Obscura).

It is never started, downloaded or disguised by us: the user runs it, is logged in there, and lends it
for pages that show nothing without one. Behind the extra ``browser`` (playwright).
"""

import base64
import importlib
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from nuncius.core.errors import AccessDeniedError, SettingsError, UpstreamError
from nuncius.walls.addresses import (
    OPEN_PORTS,
    TrustedHosts,
    address_of,
    is_local_name,
    is_public,
    parse_url,
)

_CONNECT_S: Final = 10.0
_SETTLE_S: Final = 5.0
"""How long a page may still load what its scripts ask for after its own text is there."""
_FETCH: Final = """
async ([url, most]) => {
  const reply = await fetch(url, {credentials: "include"});
  const reader = reply.body.getReader();
  const pieces = [];
  let size = 0;
  for (;;) {
    const {done, value} = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) { await reader.cancel(); return {status: reply.status, size, body: null}; }
    pieces.push(value);
  }
  const body = await new Promise((resolve) => {
    const file = new FileReader();
    file.onload = () => resolve(file.result.slice(file.result.indexOf(",") + 1));
    file.readAsDataURL(new Blob(pieces));
  });
  return {status: reply.status, size, body};
}
"""


@dataclass(frozen=True, slots=True)
class BrowserPage:
    """A page as the browser shows it, after its scripts ran.

    Attributes:
        headers: Of the answer to the page's own address, names in lower case.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    html: str


def missing_part() -> str:
    """Return what has to be installed before a browser can be used, or nothing."""
    try:
        importlib.import_module("playwright.async_api")
    except ImportError:
        return "The package playwright is missing: `pip install 'nuncius[browser]'`."
    return ""


class Tab:
    """One tab of the user's browser."""

    def __init__(self, page: Any, trusted: TrustedHosts) -> None:
        self._page = page
        self._trusted = trusted

    async def go(self, url: str, *, timeout_s: float, max_chars: int) -> BrowserPage:
        """Open an address and return what the browser shows.

        Raises:
            AccessDeniedError: It is none that may be asked.
            UpstreamError: It did not load, or shows too much.
        """
        await self._judge(url)
        host = urlsplit(url).hostname or url
        try:
            answer = await self._page.goto(
                url, wait_until="domcontentloaded", timeout=timeout_s * 1000
            )
            await self._settle()
            html: str = await self._page.content()
            headers: dict[str, str] = await answer.all_headers() if answer else {}
        except _playwright().Error as error:
            raise UpstreamError(
                host, url, f"the browser could not open it ({_first(error)})"
            ) from error
        if len(html) > max_chars:
            raise UpstreamError(host, url, f"the page has more than {max_chars:,} characters")
        status = int(answer.status) if answer else 0
        return BrowserPage(str(self._page.url), status, headers, html)

    async def download(self, url: str, *, max_bytes: int) -> tuple[int, bytes]:
        """Return the status and bytes of a file of the open page's own site, as the page would get it.

        Raises:
            AccessDeniedError: It is none that may be asked.
            UpstreamError: The page's site does not let it, or it is too large.
        """
        await self._judge(url)
        host = urlsplit(url).hostname or url
        try:
            told: dict[str, Any] = await self._page.evaluate(_FETCH, [url, max_bytes])
        except _playwright().Error as error:
            raise UpstreamError(
                host, url, f"the browser could not fetch it ({_first(error)})"
            ) from error
        if told["body"] is None:
            raise UpstreamError(host, url, f"it has more than {max_bytes:,} bytes")
        return int(told["status"]), base64.b64decode(told["body"])

    async def _settle(self) -> None:
        """Wait for what scripts still load; pages that never rest are read as they are."""
        playwright = _playwright()
        try:
            await self._page.wait_for_load_state("networkidle", timeout=_SETTLE_S * 1000)
        except playwright.TimeoutError:
            return

    async def _judge(self, url: str) -> None:
        """Refuse an address whose name leads into this machine or a private network.

        The browser resolves names itself; what can be told from here is refused here.
        """
        from nuncius.walls.dialling import Doorman, system_resolver

        target = parse_url(url)
        trusted = self._trusted.covers(target.host, target.port)
        if not trusted and target.port not in OPEN_PORTS:
            raise AccessDeniedError(
                f"{target.public} is not opened: port {target.port} is not one of the web."
            )
        doorman = Doorman(trusted=self._trusted, resolver=system_resolver, offline=False)
        try:
            await doorman.addresses(target.host, target.port)
        except OSError:
            return  # it may resolve through the browser's own proxy; if not, the browser says so

    async def admit(self, route: Any) -> None:
        """Let a request of the page pass, unless it goes to this machine or a private network."""
        url: str = route.request.url
        if url.startswith(("data:", "blob:", "about:")) or self._may(url):
            await route.continue_()
        else:
            await route.abort()

    def _may(self, url: str) -> bool:
        try:
            target = parse_url(url)
        except AccessDeniedError:
            return False
        if self._trusted.covers(target.host, target.port):
            return True
        address = address_of(target.host)
        return is_public(address) if address is not None else not is_local_name(target.host)


@asynccontextmanager
async def open_tab(cdp_url: str, *, trusted_hosts: Iterable[str] = ()) -> AsyncGenerator[Tab]:
    """Open a tab in the running browser at `cdp_url`, with its cookies; it is closed in the end.

    Raises:
        SettingsError: The address makes no sense, or playwright is not installed.
        UpstreamError: No browser answers there.
    """
    if missing := missing_part():
        raise SettingsError(missing)
    if urlsplit(cdp_url).scheme not in {"http", "https", "ws", "wss"}:
        raise SettingsError(
            "NUNCIUS_BROWSER_CDP_URL is no address of a browser.",
            hint="Give one such as http://127.0.0.1:9222 (chromium --remote-debugging-port=9222).",
        )
    playwright = _playwright()
    async with playwright.async_playwright() as driver:
        try:
            browser = await driver.chromium.connect_over_cdp(cdp_url, timeout=_CONNECT_S * 1000)
        except playwright.Error as error:
            raise UpstreamError(
                "your browser",
                cdp_url,
                f"it does not answer ({_first(error)})",
                hint="Start it with --remote-debugging-port=9222.",
            ) from error
        try:
            context = browser.contexts[0] if browser.contexts else await browser.new_context()
            page = await context.new_page()
            tab = Tab(page, TrustedHosts(trusted_hosts))
            try:
                await page.route("**/*", tab.admit)
                yield tab
            finally:
                await page.close()
        finally:
            await browser.close()  # ends our connection; the user's browser goes on


def _playwright() -> Any:
    return importlib.import_module("playwright.async_api")


def _first(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
