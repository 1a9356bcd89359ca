"""A real browser over CDP, where this machine has one: Debian's chromium and the extra `browser`."""

import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from library.conftest import settings_in
from library.faulty import pdf_of
from nuncius.core.errors import AccessDeniedError, SettingsError
from nuncius.core.records import Link, Record
from nuncius.library.acquire import Acquire, NoFullTextError
from nuncius.library.fetch import Limits
from nuncius.sources.services import Services
from nuncius.walls.addresses import TrustedHosts
from nuncius.walls.browser import Tab, missing_part, open_tab
from nuncius.walls.network import Network
from sources.playing import Asked, Played, Playing

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
real_browser = pytest.mark.skipif(
    not CHROMIUM or bool(missing_part()),
    reason=missing_part() or "no chromium on this machine: apt-get install chromium",
)
TITLE = "Quiet stars in the Hyades"
SENTENCE = "We measure the radius of forty quiet stars with an interferometer and compare them. "
BY_SCRIPT = f"""<!DOCTYPE html><html><head><title>{TITLE}</title></head><body><main id="m"></main><script>
const p = "<p>" + {SENTENCE!r}.repeat(8) + "</p>";
document.getElementById("m").innerHTML = "<h1>{TITLE}</h1><h2>1. Introduction</h2>" + p.repeat(8) + "<h2>2. Results</h2>" + p.repeat(8);
</script></body></html>"""
LANDING = f"""<!DOCTYPE html><html><head><title>{TITLE}</title><meta name="citation_title" content="{TITLE}">
<meta name="citation_pdf_url" content="/paper.pdf"></head><body><h1>{TITLE}</h1><p>{SENTENCE * 3}</p></body></html>"""
CHALLENGE = "<html><head><title>Just a moment...</title></head><body><p>Checking.</p></body></html>"


@pytest.fixture
async def cdp_url(tmp_path: Path) -> AsyncIterator[str]:
    """Start the browser as a user would, with a profile of its own, and return its address."""
    assert CHROMIUM
    profile = tmp_path / "profile"
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    child = await asyncio.create_subprocess_exec(
        CHROMIUM, "--headless=new", "--remote-debugging-port=0", f"--user-data-dir={profile}", "--disable-gpu",
        "--no-first-run", "--disable-dev-shm-usage", *root, "about:blank",
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        told = profile / "DevToolsActivePort"
        async with asyncio.timeout(30):
            while not (told.exists() and "\n" in told.read_text()):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        yield f"http://127.0.0.1:{told.read_text().split()[0]}"
    finally:
        child.terminate()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(10):
                await child.wait()
        if child.returncode is None:
            child.kill()
            await child.wait()


@pytest.fixture
async def playing() -> AsyncIterator[Playing]:
    async with Playing().serving() as server:
        yield server


def _services(playing: Playing, cdp_url: str, folder: Path) -> Services:
    settings = settings_in(folder).model_copy(
        update={**playing.settings(), "browser_cdp_url": cdp_url, "trusted_hosts": ("127.0.0.1",)}
    )
    return Services(settings, Network(trusted_hosts=["127.0.0.1"]), folder / "cache")


def _record(playing: Playing, page: str) -> Record:
    return Record(
        "ads", title=TITLE, bibcodes=("2021ApJ...900....1R",), links=(Link("landing", f"{playing.url}/{page}"),)
    )  # fmt: skip


@real_browser
async def test_the_users_browser_reads_what_needs_one(
    cdp_url: str, playing: Playing, tmp_path: Path
) -> None:
    playing.play("/script", Played.text(BY_SCRIPT, kind="text/html"))
    cookie = {"Content-Type": "text/html", "Set-Cookie": "right=mine; Path=/"}
    playing.play("/landing", Played(LANDING.encode(), headers=cookie))

    def pdf(asked: Asked) -> Played | None:
        if asked.path != "/paper.pdf":
            return None
        mine = "right=mine" in asked.headers.get("cookie", "")
        return Played(pdf_of(50_000)) if mine else Played(status=403)

    playing.rule(pdf)
    playing.play("/wall", Played.text(CHALLENGE, kind="text/html"))
    services = _services(playing, cdp_url, tmp_path)
    acquire = Acquire(services, tmp_path / "texts", limits=Limits(total_s=40))

    got = await acquire.get(_record(playing, "script"))
    assert got.kind == "html"
    assert got.path.read_text().count("interferometer") > 100
    assert "in your browser" in got.channel.label

    got = await acquire.get(_record(playing, "landing"), "pdf")
    assert got.path.read_bytes() == pdf_of(50_000)

    before = len(playing.asked)
    with pytest.raises(NoFullTextError, match="checks for robots") as caught:
        await acquire.get(replace(_record(playing, "wall"), bibcodes=("2021ApJ...900....2R",)))
    asked = [one.path for one in playing.asked[before:] if one.path != "/favicon.ico"]
    assert asked == ["/wall"]  # once: it is left to the user
    assert [attempt.outcome for attempt in caught.value.attempts] == ["challenge"]
    assert len(list((tmp_path / "texts").iterdir())) == 2
    await services.aclose()


async def test_a_browser_that_is_not_there_is_a_sentence(playing: Playing, tmp_path: Path) -> None:
    services = _services(playing, "http://127.0.0.1:9", tmp_path)
    with pytest.raises(NoFullTextError) as caught:
        await Acquire(services, tmp_path / "texts").get(_record(playing, "script"))
    await services.aclose()
    assert [attempt.outcome for attempt in caught.value.attempts] == ["unreachable"]
    said = caught.value.attempts[0].sentence
    assert "remote-debugging-port" in said or "nuncius[browser]" in said


@pytest.mark.skipif(bool(missing_part()), reason=missing_part() or "playwright is there")
async def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(SettingsError, match="no address of a browser"):
        async with open_tab("file:///usr/bin/chromium"):
            pass


class _Route:
    """What playwright gives for a request of a page."""

    def __init__(self, url: str) -> None:
        self.request = self
        self.url = url
        self.outcome = ""

    async def continue_(self) -> None:
        self.outcome = "passed"

    async def abort(self) -> None:
        self.outcome = "stopped"


@pytest.mark.parametrize(
    ("url", "outcome"),
    [
        ("https://cdn.example.com/a.js", "passed"),
        ("data:image/png;base64,AA", "passed"),
        ("http://lab.example.org:9000/x", "passed"),
        ("http://127.0.0.1:8765/api/sessions", "stopped"),
        ("http://localhost/x", "stopped"),
        ("http://169.254.169.254/latest", "stopped"),
        ("http://[::1]/x", "stopped"),
        ("file:///etc/passwd", "stopped"),
        ("ws://10.0.0.1/x", "stopped"),
    ],
)
async def test_a_page_reaches_no_private_host(url: str, outcome: str) -> None:
    route = _Route(url)
    await Tab(None, TrustedHosts(["lab.example.org"])).admit(route)
    assert route.outcome == outcome


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8765/", "http://router.local/", "https://a.org:2222/"]
)
async def test_no_private_page_is_opened(url: str) -> None:
    with pytest.raises(AccessDeniedError):
        await Tab(None, TrustedHosts([])).go(url, timeout_s=1, max_chars=10)
