"""Read a paper's page in the user's own browser, with the user's own rights, as the last place of all."""

import asyncio
import html as html_module
import re
from pathlib import Path
from typing import Final
from urllib.parse import urljoin, urlsplit

from nuncius.core.errors import AccessDeniedError, SettingsError, UpstreamError
from nuncius.library.fetch import ENDINGS, Fetched, Limits
from nuncius.library.judge import RefusalError, judge_end, judge_head, judge_page
from nuncius.library.page_kind import is_right_page, page_kind
from nuncius.library.partial import Partial
from nuncius.sources.full_text import Channel, Format, TextKind, is_lawful
from nuncius.sources.services import Services, trusted
from nuncius.walls.browser import BrowserPage, Tab, open_tab

_PDF_LINK: Final = re.compile(
    r"<meta\b[^<>]{0,200}?name=[\"']citation_pdf_url[\"']\s+content=[\"']([^\"'<>]{1,2000})[\"']",
    re.IGNORECASE,
)


async def read_page(
    services: Services,
    channel: Channel,
    folder: Path,
    stem: str,
    *,
    title: str,
    wanted: Format,
    limits: Limits,
) -> Fetched:
    """Open a work's page and keep its text, or the PDF that the page names of its own site.

    Raises:
        RefusalError: Nothing is kept. A check for robots ends it: it is for the user, not for us.
    """
    settings = services.settings
    hosts = [*settings.trusted_hosts, *trusted(settings)]
    try:
        async with (
            asyncio.timeout(limits.total_s),
            open_tab(settings.browser_cdp_url, trusted_hosts=hosts) as tab,
            services.get("web").turn(),
        ):
            page = await tab.go(channel.url, timeout_s=60.0, max_chars=limits.max_html_bytes)
            kind, data = await _paper(tab, page, title, wanted, limits)
    except TimeoutError as error:
        raise RefusalError("timeout", f"It did not load within {limits.total_s:.0f} s.") from error
    except AccessDeniedError as error:
        raise RefusalError("refused", str(error)) from error
    except (SettingsError, UpstreamError) as error:
        raise RefusalError("unreachable", str(error)) from error
    path = await asyncio.to_thread(_save, data, folder, stem, kind)
    return Fetched(path, kind, len(data), page.url)


async def _paper(
    tab: Tab, page: BrowserPage, title: str, wanted: Format, limits: Limits
) -> tuple[TextKind, bytes]:
    kind = page_kind(page.html, status=page.status, headers=page.headers)
    if kind == "challenge":
        raise RefusalError(
            "challenge",
            "The page checks for robots. Pass it in your browser yourself, then ask again.",
        )
    data = page.html.encode("utf-8", "replace")
    if kind == "article" and wanted in {"auto", "html"}:
        judge_page(data, title=title, headers=page.headers, status=page.status)
        return "html", data
    link = _pdf_link(page)
    if wanted == "html" or not link:
        judge_page(data, title=title, headers=page.headers, status=page.status)  # says what it is
        raise RefusalError("not_pdf", "The page names no PDF of its own site.")
    if title and is_right_page(page.html, title) is False:
        raise RefusalError("wrong_paper", f"The page that came is not titled {title[:80]!r}.")
    status, data = await tab.download(link, max_bytes=limits.max_bytes)
    if status != 200:
        raise RefusalError("http_status", f"The page's PDF answers HTTP {status}.", status=status)
    judge_end(judge_head(data, "pdf"), data[-65536:], size_bytes=len(data), announced=False)
    return "pdf", data


def _pdf_link(page: BrowserPage) -> str:
    """Return the PDF that a page names, where it is of the page's own site."""
    found = _PDF_LINK.search(page.html)
    link = urljoin(page.url, html_module.unescape(found[1])) if found else ""
    same = urlsplit(link).netloc == urlsplit(page.url).netloc
    return link if link and same and is_lawful(link) else ""


def _save(data: bytes, folder: Path, stem: str, kind: TextKind) -> Path:
    with Partial(folder, f"{stem}.{kind}") as partial:
        partial.start(None)
        partial.append(data)
        return partial.finish(stem + ENDINGS[kind])
