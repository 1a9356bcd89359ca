"""Fetch one full text from one place: through the door, bounded, judged, and under its name at once or not."""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nuncius.core.errors import AccessDeniedError, DocumentError, UpstreamError
from nuncius.library.judge import (
    HEAD_BYTES,
    RefusalError,
    described,
    judge_end,
    judge_head,
    judge_page,
)
from nuncius.library.partial import Noted, Partial
from nuncius.parsing.tex_tree import read_tree
from nuncius.sources.full_text import Channel, TextKind
from nuncius.walls.archives import is_archive, unpack
from nuncius.walls.courtesy import asked_wait_s
from nuncius.walls.network import Network, Reply, ReplyStream

Report = Callable[[str, float | None], None]
"""Told what happens, and how far it is: 0 to 1, or None where that is not known."""
ENDINGS: Final[dict[TextKind, str]] = {"pdf": ".pdf", "html": ".html", "source": ".tex"}
MAX_RATIO: Final = 200
"""Unpacked to sent bytes of an answer that the server packed, beyond `_FREE`."""
_FREE: Final = 8 * 1024 * 1024
_PIECE: Final = 1024 * 1024
_DESCRIBED: Final = 64 * 1024
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)", re.ASCII)
_CODINGS: Final = frozenset({"gzip", "x-gzip", "deflate"})
_SECURE: Final = re.compile(
    r"(?:^|\.)(?:arxiv\.org|adsabs\.harvard\.edu|doi\.org|aanda\.org|iop\.org|oup\.com|nature\.com"
    r"|springer\.com|wiley\.com|zenodo\.org|hal\.science|nih\.gov|europepmc\.org)$"
)
"""Hosts that are known to speak https; they are never asked without it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a server's time and bytes is taken.

    Attributes:
        idle_s: Longest silence, before the answer and within it.
        total_s: For everything, redirects and body included.
    """

    max_bytes: int = 200 * 1024 * 1024
    max_html_bytes: int = 60 * 1024 * 1024
    idle_s: float = 30.0
    total_s: float = 600.0

    def of(self, wanted: TextKind) -> int:
        return self.max_html_bytes if wanted == "html" else self.max_bytes


@dataclass(frozen=True, slots=True)
class Fetched:
    """A text that is on the disk, whole.

    Attributes:
        size_bytes: As it came, or came in all where it was taken up again.
        resumed_from: Bytes that were there from an earlier try.
        url: Where it came from, after redirects.
    """

    path: Path
    kind: TextKind
    size_bytes: int
    url: str
    resumed_from: int = 0


async def fetch(
    network: Network,
    channel: Channel,
    folder: Path,
    stem: str,
    *,
    title: str = "",
    limits: Limits = Limits(),
    report: Report | None = None,
    before_hop: Callable[[str], Awaitable[None]] | None = None,
) -> Fetched:
    """Fetch what a channel offers into ``folder/stem`` with the ending of its kind.

    https is tried first. A download that was stopped goes on where the server can tell that nothing
    changed. The file appears under its name when it is whole, judged and on the disk, not before.

    Args:
        before_hop: Awaited with the address before a redirect is followed.

    Raises:
        RefusalError: Nothing is kept; `code` says why.
    """
    addresses = secure_first(channel.url)
    for url in addresses:
        try:
            with Partial(folder, f"{stem}.{channel.wanted}") as partial:
                asked = _Fetch(network, channel, url, partial, limits, report, before_hop)
                return await asked.run(stem, title)
        except RefusalError as error:
            # Only where nothing listens for https; a bad certificate is never a reason.
            if error.code != "unreachable" or url == addresses[-1]:
                raise
    raise AssertionError  # there is at least one address, and the last one raises


def secure_first(url: str) -> tuple[str, ...]:
    """Return the addresses to ask in order: of plain http the https one, then itself if it must be."""
    match = re.match(
        r"http://(?P<host>[^/:?#]+)(?::80)?(?P<rest>[/?#].*|$)", url, re.IGNORECASE | re.DOTALL
    )
    if not match or "." not in match["host"] or re.fullmatch(r"[\d.]+", match["host"]):
        return (url,)
    upgraded = f"https://{match['host']}{match['rest']}"
    return (upgraded,) if _SECURE.search(match["host"].lower()) else (upgraded, url)


class _RestartError(Exception):
    """What was there cannot be gone on with."""


@dataclass(slots=True)
class _Fetch:
    """One request and its answer."""

    network: Network
    channel: Channel
    url: str
    partial: Partial
    limits: Limits
    report: Report | None
    before_hop: Callable[[str], Awaitable[None]] | None = None
    reading: bool = False
    resumed_from: int = 0
    final_url: str = ""

    async def run(self, stem: str, title: str) -> Fetched:
        try:
            async with asyncio.timeout(self.limits.total_s):
                try:
                    kind, headers = await self._download(self.partial.noted())
                except _RestartError:
                    if self.before_hop:  # one more request to the same place
                        await self.before_hop(self.url)
                    kind, headers = await self._download(None)
                size = self.partial.size
                if kind == "html":
                    await asyncio.to_thread(self._judge_page, title, headers)
                elif kind == "source":
                    kind = await asyncio.to_thread(self._unpack)
                path = await asyncio.to_thread(self.partial.finish, stem + ENDINGS[kind])
        except TimeoutError as error:
            self.partial.keep()
            raise RefusalError(
                "timeout", f"It did not come whole within {self.limits.total_s:.0f} s."
            ) from error
        except asyncio.CancelledError:
            self.partial.keep()
            raise
        except AccessDeniedError as error:
            raise RefusalError("refused", str(error)) from error
        except UpstreamError as error:
            raise self._failed(error) from error
        return Fetched(path, kind, size, self.final_url, self.resumed_from)

    async def _download(self, noted: Noted | None) -> tuple[TextKind, dict[str, str]]:
        if noted and noted.url != self.url:
            noted = None
        # A PDF is packed already, and only unpacked bytes can be gone on with.
        coding = "gzip, deflate" if self.channel.wanted == "html" else "identity"
        headers = {"accept-encoding": coding}
        at = self.partial.size if noted else 0
        if noted:
            headers |= {"range": f"bytes={at}-", "if-range": noted.validator}
        most = self.limits.of(self.channel.wanted)
        async with self.network.stream(
            "GET",
            self.url,
            headers=headers,
            idle_s=self.limits.idle_s,
            max_bytes=most + _PIECE,
            before_hop=self.before_hop,
        ) as reply:
            self.final_url = reply.url
            whole = self._admit(reply, noted, at, most)
            if not noted or reply.status == 200:
                at = 0
                await asyncio.to_thread(self.partial.start, self._noted(reply, whole))
            self.resumed_from = at
            self.reading = True
            kind = await self._body(reply, at, whole, most)
        size = self.partial.size
        if whole is not None and size != whole:
            raise RefusalError(
                "truncated", f"{size:,} bytes came of the {whole:,} that were announced."
            )
        judge_end(kind, self.partial.tail(), size_bytes=size, announced=whole is not None)
        return kind, dict(reply.headers)

    def _admit(self, reply: ReplyStream, noted: Noted | None, at: int, most: int) -> int | None:
        """Judge an answer before its body; return the size of the whole where it is told."""
        if self.channel.base and not reply.url.startswith(self.channel.base):
            raise RefusalError(
                "missing", f"{self.channel.label} has no such text: it leads elsewhere."
            )
        if noted and reply.status in {206, 416}:
            span = _RANGE.fullmatch(reply.headers.get("content-range", ""))
            same = noted.validator in {
                reply.headers.get("etag"),
                reply.headers.get("last-modified"),
            }
            if reply.status == 416 or not span or int(span[1]) != at or not same:
                raise _RestartError
            return int(span[3])
        if reply.status != 200:
            raise self._bad_status(reply)
        coding = reply.headers.get("content-encoding", "")
        names = [
            name
            for part in coding.split(",")
            if (name := part.strip().lower()) not in {"", "identity"}
        ]
        if len(names) > 1 or not set(names) <= _CODINGS:
            raise RefusalError(
                "encoding", f"It is packed as {coding[:60]!r}, which is not unpacked."
            )
        announced = reply.headers.get("content-length", "")
        if not announced.isdigit():
            return None
        if int(announced) > most:
            raise RefusalError(
                "too_large",
                f"It has {int(announced) / 1e6:,.0f} MB; up to {most / 1e6:,.0f} MB are kept.",
            )
        return None if names else int(announced)

    def _bad_status(self, reply: ReplyStream) -> RefusalError:
        status = reply.status
        told = Reply(status, reply.url, reply.headers, b"")
        wait_s = asked_wait_s(told) if status in {429, 503} else None
        if reply.headers.get("cf-mitigated", "").lower() == "challenge":
            return RefusalError(
                "challenge", "What came is a check for robots, which is left alone.", status=status
            )
        if status in {404, 410}:
            return RefusalError(
                "http_status", f"It has no such text (HTTP {status}).", status=status
            )
        what = {
            401: "it wants a log-in",
            403: "it refuses",
            429: "it is asked too often",
            503: "it is too busy",
        }.get(status, "it gave no text")
        said = f" and asks to wait {wait_s:,.0f} s" if wait_s else ""
        return RefusalError(
            "http_status", f"HTTP {status}: {what}{said}.", wait_s=wait_s, status=status
        )

    def _noted(self, reply: ReplyStream, whole: int | None) -> Noted | None:
        etag = reply.headers.get("etag", "")
        validator = (
            etag if etag and not etag.startswith("W/") else reply.headers.get("last-modified", "")
        )
        can = reply.headers.get("accept-ranges", "").lower() != "none"
        return Noted(self.url, validator, whole) if validator and whole and can else None

    async def _body(self, reply: ReplyStream, at: int, whole: int | None, most: int) -> TextKind:
        """Write the body as it comes; the first bytes decide whether the rest is worth it."""
        announced = reply.headers.get("content-length", "")
        sent = int(announced) if announced.isdigit() and whole is None else 0
        kind: TextKind | None = (
            judge_head(self.partial.head(_DESCRIBED), self.channel.wanted) if at else None
        )
        size = at
        async for piece in _gathered(reply.pieces(), HEAD_BYTES if kind is None else _PIECE):
            size += len(piece)
            if size > most:
                raise RefusalError("too_large", f"More than {most / 1e6:,.0f} MB came.")
            if sent and size > _FREE and size > sent * MAX_RATIO:
                raise RefusalError(
                    "too_large", f"It unpacks to more than {MAX_RATIO} times its size."
                )
            if kind is None:
                kind = self._kind(piece)
            await asyncio.to_thread(self.partial.append, piece)
            if self.report:
                share = min(1.0, size / whole) if whole else None
                self.report(f"{self.channel.label}: {size / 1e6:,.1f} MB", share)
        if kind is None:
            raise RefusalError("truncated", "The answer is empty.")
        return kind

    def _kind(self, head: bytes) -> TextKind:
        if len(head) < HEAD_BYTES and not head.strip():
            raise RefusalError("truncated", f"What came is {described(head)}.")
        return judge_head(head, self.channel.wanted)

    def _judge_page(self, title: str, headers: dict[str, str]) -> None:
        trusted = self.channel.kind in {"arxiv_html", "ar5iv"}
        judge_page(self.partial.read(), title=title, headers=headers, trusted=trusted)

    def _unpack(self) -> TextKind:
        """Put the paper of a source in the source's place: one LaTeX text, or the PDF that it holds."""
        kind, data = paper_of(self.partial.read())
        self.partial.start(None)
        self.partial.append(data)
        return kind

    def _failed(self, error: UpstreamError) -> RefusalError:
        """Return the refusal that tells what the door's error means here."""
        causes = list(_causes(error))
        names = {type(cause).__name__ for cause in causes}
        if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes) or (
            not self.reading and any(isinstance(cause, ssl.SSLError) for cause in causes)
        ):
            return RefusalError("tls", f"Its certificate is not valid: {error.reason}.")
        if any(name.endswith("Timeout") for name in names):
            self.partial.keep()
            return RefusalError("timeout", f"{_sentence(error.reason)}.")
        if isinstance(error.__cause__, ValueError):
            return RefusalError("encoding", f"{_sentence(error.reason)}.")
        if self.reading:
            self.partial.keep()
            return RefusalError("truncated", f"{_sentence(error.reason)}.")
        return RefusalError("unreachable", f"{_sentence(error.reason)}.")


def paper_of(data: bytes) -> tuple[TextKind, bytes]:
    """Return the paper that a source holds: its LaTeX as one text, or the PDF where it is one.

    Raises:
        RefusalError: It is not unpacked, or holds neither.
    """
    try:
        files = unpack(data) if is_archive(data) else {"main.tex": data}
    except DocumentError as error:
        code = "too_large" if error.kind == "too_large" else "not_source"
        raise RefusalError(code, error.message) from error
    try:
        return "source", read_tree(files).text.encode("utf-8", "replace")
    except DocumentError as error:
        pdfs = [held for held in files.values() if held[:HEAD_BYTES].find(b"%PDF-") >= 0]
        if len(pdfs) == 1 and b"%%EOF" in pdfs[0][-4096:]:
            return "pdf", pdfs[0]
        raise RefusalError("not_source", error.message) from error


async def _gathered(pieces: AsyncIterator[bytes], first: int) -> AsyncIterator[bytes]:
    """Yield what comes in larger pieces, the first one as soon as `first` bytes are there."""
    held: list[bytes] = []
    size, least = 0, first
    async for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= least:
            yield b"".join(held)
            held, size, least = [], 0, _PIECE // 4
    if held:
        yield b"".join(held)


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    at: BaseException | None = error
    while at is not None and len(found) < 12:
        found.append(at)
        at = at.__cause__ or at.__context__
    return found


def _sentence(reason: str) -> str:
    return (reason[:1].upper() + reason[1:]).replace(".)", ")").rstrip(".")
