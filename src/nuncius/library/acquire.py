"""Get a work's full text: the legal places in order, each try written down, one useful error at the end."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from nuncius.core.errors import AccessDeniedError, NotFoundError, UpstreamError
from nuncius.core.records import Link, Record
from nuncius.core.settings import SERVICE_URLS
from nuncius.library.fetch import ENDINGS, Fetched, Limits, Report, fetch
from nuncius.library.judge import HEAD_BYTES, Code, RefusalError, file_stem, judge_head
from nuncius.library.partial import sweep
from nuncius.sources.full_text import (
    Channel,
    Format,
    TextKind,
    arxiv_channels,
    browser_channels,
    channels,
    link_channels,
    named,
)
from nuncius.sources.services import Services

log = logging.getLogger(__name__)

Outcome = Literal["got", "kept", "skipped"] | Code
LONGEST_WAIT_S: Final = 60.0
"""A server that asks to wait longer is left alone, and so are its other places."""
_TRIES: Final = 2
_AGAIN: Final[frozenset[Code]] = frozenset({"truncated", "unreachable"})
_BUSY: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_GONE: Final = frozenset({404, 410})
_PASSING: Final[frozenset[Outcome]] = frozenset({"timeout", "unreachable", "truncated"})
_NO_TEXT: Final[frozenset[Outcome]] = frozenset({"not_source", "missing", "error_page"})
_MOST_EARLIER: Final = 3
"""Versions before the last one that are looked at where the last one has no text."""

GATEWAY_HOSTS: Final = frozenset({"ui.adsabs.harvard.edu", "doi.org", "www.arxiv.org"})
"""Beside the hosts of the services: where they send readers on."""
Permit = Callable[[str], Awaitable[bool]]
"""Tells whether a host may be reached."""
Copies = Callable[[Record], Awaitable[Sequence[Link]]]
"""Asks the services that know of open copies, such as Unpaywall; asked where arXiv has no text."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at one place.

    Attributes:
        outcome: ``got``; ``kept``: it was there from before; ``skipped``: not asked, the sentence
            says why; else why it was refused.
        sentence: For people.
    """

    channel: Channel
    outcome: Outcome
    sentence: str
    size_bytes: int = 0
    seconds: float = 0.0
    url: str = ""
    status: int = 0
    """Of HTTP, where that is why."""

    def __str__(self) -> str:
        return f"{self.channel.label}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class Acquired:
    """A text that is on the disk.

    Attributes:
        version: Of arXiv, where it is known.
        label: What a reader must know of it, such as ``version 1; withdrawn since``; may be empty.
    """

    path: Path
    kind: TextKind
    channel: Channel
    version: int | None
    label: str
    attempts: tuple[Attempt, ...]


class NoFullTextError(NotFoundError):
    """No place gave the full text; `attempts` says what each one answered."""

    def __init__(self, message: str, attempts: Sequence[Attempt], *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.attempts = tuple(attempts)
        tried = [attempt for attempt in attempts if attempt.outcome != "skipped"]
        if tried and all(one.outcome in _PASSING or one.status in _BUSY for one in tried):
            self.exit_code = UpstreamError.exit_code  # it may well be there, only not now


class Acquire:
    """Gets full texts into one folder.

    Args:
        folder: Where the files go; made where it is missing.
        copies: Asked for open copies where arXiv has none.
        note: Told of each attempt when it has ended, for the journal.
        permit: Asked before a host is reached that is none of the known services'; None: all may
            be reached, because the user named the paper themself.
        sleep: Waits; seconds.
    """

    def __init__(
        self,
        services: Services,
        folder: Path,
        *,
        limits: Limits | None = None,
        copies: Copies | None = None,
        note: Callable[[Attempt], None] | None = None,
        permit: Permit | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._services = services
        self._folder = folder
        self._limits = limits or Limits()
        self._copies = copies
        self._note = note
        self._permit = permit
        self._sleep = sleep

    async def get(
        self,
        record: Record,
        format: Format = "auto",  # noqa: A002  (the tool's word)
        *,
        version: int | None = None,
        report: Report | None = None,
        force: bool = False,
    ) -> Acquired:
        """Return the text of a work, from the best place that has it.

        Args:
            version: Of arXiv, where just this one is wanted; else the latest that can be read.
            report: Told what happens and how far it is.
            force: Fetch it although it is there.

        Raises:
            NoFullTextError: No place gave it.
            RefusalError: The record has no valid name (`bad_id`), or the disk takes no file.
        """
        known = named(record)
        if known is None:
            raise RefusalError("bad_id", f"{record.arxiv_id[:60]!r} is no arXiv identifier.")
        record = known
        run = _Run(
            self._services,
            self._folder,
            record,
            format,
            version,
            self._limits,
            report,
            self._note,
            self._permit,
            self._sleep,
        )
        found = await run.all(self._copies, force=force)
        if found is None:
            raise self._nothing(record, format, run.attempts)
        return found

    def _nothing(
        self, record: Record, wanted: Format, attempts: Sequence[Attempt]
    ) -> NoFullTextError:
        name = record.arxiv_id or record.bibcode or record.doi or record.title[:60] or "this work"
        what = (
            "full text"
            if wanted == "auto"
            else {"pdf": "PDF", "html": "web page", "source": "LaTeX source"}[wanted]
        )
        asked = [attempt for attempt in attempts if attempt.outcome != "skipped"]
        if not asked:
            message = f"No legal place with the {what} of {name} is known."
        else:
            message = f"The {what} of {name} could not be had. " + " ".join(_short(attempts))
        return NoFullTextError(message, attempts, hint=self._advice(record, wanted, attempts))

    def _advice(self, record: Record, wanted: Format, attempts: Sequence[Attempt]) -> str:
        settings = self._services.settings
        if settings.offline:
            return "Unset NUNCIUS_OFFLINE and ask again, or add the file: `nuncius add FILE`."
        said: list[str] = []
        outcomes = {attempt.outcome for attempt in attempts}
        if any(a.outcome == "skipped" and "to wait" in a.sentence for a in attempts):
            said.append("Ask again later.")
        elif outcomes & {"timeout", "unreachable", "tls"}:
            said.append("Check the network and the proxy, and ask again.")
        if wanted != "auto":
            said.append("Ask for any format.")
        if not settings.contact_email and record.doi:
            said.append(
                "Set NUNCIUS_CONTACT_EMAIL, so that Unpaywall can be asked for open copies."
            )
        if not settings.browser_cdp_url and browser_channels(record):
            said.append(
                "If you may read it, let your browser fetch it (NUNCIUS_BROWSER_CDP_URL) or save it there and"
            )
            return " ".join([*said, "add the file: `nuncius add FILE`."])
        return " ".join([*said, "Add the file yourself: `nuncius add FILE`."])


@dataclass(slots=True)
class _Run:
    """One `get`."""

    services: Services
    folder: Path
    record: Record
    format: Format
    version: int | None
    limits: Limits
    report: Report | None
    note: Callable[[Attempt], None] | None
    permit: Permit | None
    sleep: Callable[[float], Awaitable[None]]
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    resting: dict[str, str] = field(default_factory=dict[str, str])
    """Whose places are not asked any more, and why."""

    async def all(self, copies: Copies | None, *, force: bool) -> Acquired | None:
        listed = channels(
            self.record, self.services.settings, format=self.format, version=self.version
        )
        await asyncio.to_thread(sweep, self.folder)
        if not force:
            for channel in listed:
                if found := await asyncio.to_thread(self._there, channel):
                    return found
        own = [one for one in listed if one.service == "arxiv"]
        others = [one for one in listed if one.service != "arxiv"]
        if self.version:
            return await self._first(own)
        return (
            await self._first(own)
            or await self._first(await self._earlier())
            or await self._first(await self._with_copies(others, copies))
            or await self._by_browser()
        )

    async def _first(self, listed: Sequence[Channel]) -> Acquired | None:
        for channel in listed:
            if found := await self._try(channel):
                return found
        return None

    async def _earlier(self) -> Sequence[Channel]:
        """Return the versions before the last one, where that one has no text any more."""
        record = self.record
        asked = [a for a in self.attempts if a.channel.version]
        gone = [a for a in asked if a.status in _GONE and a.channel.kind != "arxiv_html"]
        if not gone or any(a.status not in _GONE and a.outcome not in _NO_TEXT for a in asked):
            return ()
        latest = min(attempt.channel.version or 1 for attempt in asked)
        found: list[Channel] = []
        for version in range(latest - 1, max(0, latest - 1 - _MOST_EARLIER), -1):
            why = (
                "withdrawn since"
                if record.status == "withdrawn"
                else f"version {record.arxiv_version} has no text"
            )
            made = arxiv_channels(
                record.arxiv_id,
                self.services.settings,
                version=version,
                note=f"version {version}; {why}",
            )
            kinds = {"auto": ("source", "pdf")}.get(self.format, (self.format,))
            found += [one for one in made if one.wanted in kinds]
        return found

    async def _with_copies(
        self, listed: Sequence[Channel], copies: Copies | None
    ) -> Sequence[Channel]:
        """Return the places, and those that the services of open copies name beyond them."""
        if copies is None:
            return listed
        self._say("asking for open copies", None)
        links = await copies(self.record)
        known = {one.url for one in listed}
        more = link_channels(self.record, links, self.services.settings)
        more = [one for one in more if one.url not in known and self.format in {"auto", one.wanted}]
        order = ("repository_pdf", "ads_pdf", "publisher_pdf", "publisher_html")
        return sorted([*listed, *more], key=lambda one: order.index(one.kind))

    # --- one place ---

    async def _try(self, channel: Channel) -> Acquired | None:
        stem = file_stem(self.record, channel)
        if said := self.resting.get(self._keeper(channel)):
            self._write(Attempt(channel, "skipped", f"not asked: {said}"))
            return None
        host = urlsplit(channel.url).hostname or ""
        if not await self._may(host):
            self._write(Attempt(channel, "skipped", f"not asked: {_not_allowed(host)}"))
            return None
        for number in range(1, _TRIES + 1):
            self._say(f"{channel.label}: asking", None)
            refusal: RefusalError | None = None
            async with self.services.get(channel.service).turn():
                began = time.monotonic()
                try:
                    fetched = await fetch(
                        self.services.network, channel, self.folder, stem,
                        title=self.record.title, limits=self.limits, report=self.report,
                        before_hop=partial(self._before_hop, channel),
                    )  # fmt: skip
                    return self._got(channel, fetched, time.monotonic() - began)
                except RefusalError as error:
                    # Kept until the turn is over: one that breaks off does not note when it ended.
                    refusal = error
            self._refused(channel, refusal, began)
            if refusal.code in {"disk_full", "unwritable"}:
                raise refusal
            if not await self._worth_another(refusal, channel, last=number == _TRIES):
                return None
        return None

    async def _may(self, host: str) -> bool:
        if self.permit is None or host in GATEWAY_HOSTS:
            return True
        known = (*self.services.settings.services.values(), *SERVICE_URLS.values())
        if host in {urlsplit(url).hostname for url in known}:
            return True
        return await self.permit(host)

    async def _before_hop(self, channel: Channel, url: str) -> None:
        """Ask for a new host, and keep the pace of a service that redirects to itself."""
        host = urlsplit(url).hostname or ""
        if not await self._may(host):
            raise AccessDeniedError(f"It leads to {host}: {_not_allowed(host)}")
        await self.services.get(channel.service).before_hop(url)

    async def _worth_another(self, error: RefusalError, channel: Channel, *, last: bool) -> bool:
        """Wait where a second try may help, as long as the server asks; tell whether it may."""
        if error.wait_s is not None and error.wait_s > LONGEST_WAIT_S:
            self.resting[self._keeper(channel)] = f"it asked to wait {_span(error.wait_s)}"
            return False
        if error.status == 429 and last:
            self.resting[self._keeper(channel)] = "it is asked too often"
        if last or (error.status not in _BUSY and error.code not in _AGAIN):
            return False
        wait_s = error.wait_s if error.wait_s is not None else 5.0 if error.status else 1.0
        if wait_s:
            self._say(f"{channel.label}: waiting {wait_s:.0f} s", None)
            await self.sleep(wait_s)
        return True

    @staticmethod
    def _keeper(channel: Channel) -> str:
        """Return whose patience a place uses up: arXiv's, or one host's."""
        return "arxiv" if channel.service == "arxiv" else urlsplit(channel.url).netloc

    def _refused(self, channel: Channel, error: RefusalError, began: float) -> None:
        spent = time.monotonic() - began
        self._write(
            Attempt(channel, error.code, error.message, 0, spent, channel.url, error.status)
        )

    def _got(self, channel: Channel, fetched: Fetched, seconds: float) -> Acquired:
        said = f"{fetched.kind}, {fetched.size_bytes / 1e6:,.2f} MB"
        if fetched.resumed_from:
            said += f", of which {fetched.resumed_from / 1e6:,.2f} MB were there"
        said += f" ({channel.note})" if channel.note else ""
        self._write(Attempt(channel, "got", said, fetched.size_bytes, seconds, fetched.url))
        self._say(f"{channel.label}: {said}", 1.0)
        return Acquired(
            fetched.path, fetched.kind, channel, channel.version, channel.note, tuple(self.attempts)
        )

    def _there(self, channel: Channel) -> Acquired | None:
        """Return what an earlier `get` left under a place's name."""
        stem = file_stem(self.record, channel)
        kinds: dict[TextKind, tuple[TextKind, ...]] = {
            "html": ("html",), "pdf": ("pdf",), "source": ("source", "pdf")}  # fmt: skip
        for kind in kinds[channel.wanted]:
            path = self.folder / (stem + ENDINGS[kind])
            if path.is_symlink() or not path.is_file():
                continue
            size = path.stat().st_size
            if not size or (kind != "source" and not _is_still(path, kind)):
                continue  # not one of ours any more: it is fetched again
            self._write(Attempt(channel, "kept", f"it is there: {path.name}", size))
            return Acquired(
                path, kind, channel, channel.version, channel.note, tuple(self.attempts)
            )
        return None

    # --- the user's own browser ---

    async def _by_browser(self) -> Acquired | None:
        cdp_url = self.services.settings.browser_cdp_url
        if not cdp_url or self.format == "source" or self.services.settings.offline:
            return None
        from nuncius.library.by_browser import read_page

        for channel in browser_channels(self.record):
            channel = replace(channel, label=f"{channel.label} in your browser")  # noqa: PLW2901  (the same place, seen by the browser)
            self._say(f"{channel.label}: opening", None)
            began = time.monotonic()
            try:
                fetched = await read_page(
                    self.services, channel, self.folder, file_stem(self.record, channel),
                    title=self.record.title, wanted=self.format, limits=self.limits,
                )  # fmt: skip
            except RefusalError as error:
                self._refused(channel, error, began)
                if error.code == "challenge":
                    return None  # never worked around
                continue
            return self._got(channel, fetched, time.monotonic() - began)
        return None

    # --- what is told ---

    def _write(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)
        log.info("full text: %s (%s, %.1f s)", attempt, attempt.outcome, attempt.seconds)
        if self.note:
            self.note(attempt)
        if attempt.outcome not in {"got", "kept"}:
            self._say(str(attempt), None)

    def _say(self, text: str, fraction: float | None) -> None:
        if self.report:
            self.report(text, fraction)


def _not_allowed(host: str) -> str:
    return (
        f"you have not allowed {host} (`nuncius permissions allow 'download_paper({host})'`, or fetch"
        " the paper yourself with `nuncius add`)"
    )


def _is_still(path: Path, kind: TextKind) -> bool:
    try:
        with path.open("rb") as file:
            return judge_head(file.read(HEAD_BYTES), kind) == kind
    except (OSError, RefusalError):
        return False


def _short(attempts: Sequence[Attempt]) -> list[str]:
    """Return what each place answered, the last word of each; alike ones together."""
    last: dict[str, str] = {}
    for attempt in attempts:
        last[attempt.channel.label] = attempt.sentence
    by_sentence: dict[str, list[str]] = {}
    for label, sentence in last.items():
        by_sentence.setdefault(sentence, []).append(label)
    return [f"{', '.join(labels)}: {sentence}" for sentence, labels in by_sentence.items()]


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:,.0f} h"
