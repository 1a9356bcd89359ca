"""How we treat the services that we ask: not too often, and never twice for what we have.

One `Service` a remote service. Requests of all processes of a home share its pace (a file lock), its
cache of answers and what it told of its limits.
"""

import asyncio
import contextlib
import email.utils
import fcntl
import hashlib
import json
import os
import random
import re
import secrets
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nuncius.core.errors import UpstreamError
from nuncius.walls.network import MAX_BYTES, Network, RedirectDeniedError, Reply
from nuncius.walls.reply_cache import ReplyCache

RETRIED = frozenset({408, 425, 429, 499, 500, 502, 503, 504})
_NAME = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Manners:
    """How one service wants to be treated.

    Attributes:
        service: Its name for people, such as ``arXiv``.
        interval_s: Least time between two requests of all processes; they come one by one then.
        parallel: Requests of this process at the same time.
        tries: How often a request is sent at most.
        longest_wait_s: A service that asks for a longer wait is not waited for: the error tells.
        timeout_s: For one answer.
    """

    service: str
    interval_s: float = 0.0
    parallel: int = 4
    tries: int = 3
    longest_wait_s: float = 30.0
    timeout_s: float = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer.

    Attributes:
        at: When the service gave it; earlier than now where it was kept.
        cached: Whether it was kept.
    """

    reply: Reply
    at: datetime
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Quota:
    """What a service told of an endpoint's limit; None where it did not say."""

    endpoint: str
    limit: int | None
    remaining: int | None
    resets_at: str | None
    """ISO 8601, UTC."""
    told_at: str


class RateLimitedError(UpstreamError):
    """The service asks to wait longer than we do.

    Attributes:
        wait_s: Seconds that it asked for, or None.
    """

    wait_s: float | None = None


class Service:
    """One remote service, through the door and with manners.

    Args:
        folder: Where the pace, the cache and the limits of all processes are kept.
    """

    def __init__(
        self,
        network: Network,
        manners: Manners,
        *,
        folder: Path,
        cache: ReplyCache | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.network = network
        self.manners = manners
        self._folder = folder
        self._cache = cache
        self._sleep = sleep
        self._slots = asyncio.Semaphore(manners.parallel)
        self._writing = threading.Lock()

    async def request(
        self,
        method: str,
        url: str,
        *,
        endpoint: str = "",
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        json: Any = None,
        keep_s: float = 0.0,
        max_bytes: int = MAX_BYTES,
        timeout_s: float | None = None,
        accept: Callable[[Reply], bool] | None = None,
    ) -> Answer:
        """Send a request that may be repeated, and return the last answer, whatever its status.

        Args:
            endpoint: Its name among the service's limits.
            keep_s: How long an answer may be used again; 0: it is not kept.
            accept: Tells a good answer, which alone is kept; by default status 200.

        Raises:
            RateLimitedError: It asks to wait too long.
            UpstreamError: It could not be reached, or only answers that it is too busy.
            AccessDeniedError: The door refuses the URL; or nothing may leave this machine.
        """
        key = _key(method, url, content, json, headers)
        if keep_s and self._cache and (kept := await self._cache.get(key, no_older_than_s=keep_s)):
            return Answer(kept.reply, datetime.fromtimestamp(kept.at, UTC), cached=True)
        timeout_s = timeout_s or self.manners.timeout_s

        async def send() -> Reply:
            async with self._slots, self._turn():
                return await self.network.request(
                    method, url, headers=headers, content=content, json=json,
                    timeout_s=timeout_s + self.manners.interval_s, max_bytes=max_bytes,
                    before_hop=self.before_hop,
                )  # fmt: skip

        reply = await self._patiently(send, url, endpoint)
        good = accept(reply) if accept else reply.status == 200
        if keep_s and self._cache and good:
            await self._cache.put(key, reply, keep_s=keep_s)
        return Answer(reply, datetime.now(UTC))

    async def before_hop(self, _url: str) -> None:
        """Keep the pace for a redirect, which is one more request."""
        if self.manners.interval_s:
            await self._sleep(self.manners.interval_s)

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Wait for our turn to send one request by other means, such as a download's stream."""
        async with self._slots, self._turn():
            yield

    async def _patiently(
        self, send: Callable[[], Awaitable[Reply]], url: str, endpoint: str
    ) -> Reply:
        """Send, and send again where that may help."""
        for number in range(1, self.manners.tries + 1):
            last = number == self.manners.tries
            try:
                reply = await send()
            except RedirectDeniedError as error:
                raise UpstreamError(
                    self.manners.service,
                    url.partition("?")[0],
                    f"it redirects elsewhere: {error.message.rstrip('.')}",
                    hint=error.hint,
                ) from error
            except UpstreamError as error:
                if last:
                    raise UpstreamError(
                        self.manners.service,
                        error.url,
                        f"{error.reason}, {number} times" if number > 1 else error.reason,
                        hint=error.hint or "Try again later.",
                    ) from error
                await self._sleep(self._backoff_s(number))
                continue
            await asyncio.to_thread(self._note_quota, endpoint, reply)
            if reply.status not in RETRIED:
                return reply
            asked_s = asked_wait_s(reply)
            if asked_s is not None and asked_s > self.manners.longest_wait_s:
                raise self._limited(url, reply, asked_s)
            if last:
                return reply
            await self._sleep(self._backoff_s(number) if asked_s is None else asked_s)
        raise AssertionError  # the last try returns or raises

    def _backoff_s(self, number: int) -> float:
        least = max(1.0, self.manners.interval_s)
        return least * 2 ** (number - 1) + random.uniform(0, 0.5)  # noqa: S311  (no secret)

    def _limited(self, url: str, reply: Reply, wait_s: float) -> RateLimitedError:
        until = datetime.fromtimestamp(time.time() + wait_s, UTC).strftime("%Y-%m-%d %H:%M UTC")
        error = RateLimitedError(
            self.manners.service,
            url.partition("?")[0],
            f"it asks to wait until {until} (HTTP {reply.status})",
            hint="Ask again then; what was found before is kept.",
        )
        error.wait_s = wait_s
        return error

    # --- one request at a time, over all processes ---

    @asynccontextmanager
    async def _turn(self) -> AsyncGenerator[None]:
        """Hold the service's file lock, at least the interval after the last request began."""
        if not self.manners.interval_s:
            yield
            return
        fd = await asyncio.to_thread(self._open)
        try:
            while True:
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    await self._sleep(0.05)
            since_s = max(0.0, time.time() - _stamp(fd))  # the clock may have gone back
            if since_s < self.manners.interval_s:
                await self._sleep(self.manners.interval_s - since_s)
            os.pwrite(fd, f"{time.time():020.6f}".encode(), 0)
            try:
                yield
            finally:
                os.pwrite(fd, f"{time.time():020.6f}".encode(), 0)
        finally:
            os.close(fd)

    def _open(self) -> int:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / f"{_file_name(self.manners.service)}.pace"
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    # --- limits ---

    def _note_quota(self, endpoint: str, reply: Reply) -> None:
        """Write down what the answer tells of the endpoint's limit."""
        quota = read_quota(endpoint, reply.headers)
        if quota is None:
            return
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._quota_path()
        with self._writing:  # threads of this process; of two processes the last one stands
            known = {entry.endpoint: entry for entry in self.quotas()}
            known[endpoint] = quota
            fresh = path.with_suffix(f".{secrets.token_hex(8)}")
            fresh.write_text(json.dumps([_fields(one) for one in known.values()]), encoding="utf-8")
            fresh.replace(path)

    def quotas(self) -> list[Quota]:
        """Return what the service told last of its limits, by endpoint."""
        with contextlib.suppress(FileNotFoundError):
            text = self._quota_path().read_text(encoding="utf-8")
            with contextlib.suppress(ValueError, TypeError):  # written by another version
                return [Quota(**fields) for fields in json.loads(text)]
        return []

    def _quota_path(self) -> Path:
        return self._folder / f"{_file_name(self.manners.service)}.limits.json"


def asked_wait_s(reply: Reply, *, now: float | None = None) -> float | None:
    """Return how long the answer asks to wait, in seconds, or None where it does not say.

    `Retry-After` as seconds or as a date; else, where nothing is left of a limit, its reset.
    """
    now = time.time() if now is None else now
    text = reply.headers.get("retry-after", "").strip()
    if text.isdigit():
        return float(text)
    if text:
        with contextlib.suppress(ValueError):
            return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - now)
    quota = read_quota("", reply.headers)
    if reply.status == 429 and quota and quota.remaining == 0 and quota.resets_at:
        return max(0.0, datetime.fromisoformat(quota.resets_at).timestamp() - now)
    return None


def read_quota(endpoint: str, headers: Mapping[str, str]) -> Quota | None:
    """Return what ``X-RateLimit-*`` headers tell, or None where there are none."""
    limit, remaining, reset = (
        _number(headers.get(f"x-ratelimit-{name}", headers.get(f"x-rate-limit-{name}", "")))
        for name in ("limit", "remaining", "reset")
    )
    if limit is None and remaining is None:
        return None
    resets_at = None
    if reset is not None:
        with contextlib.suppress(ValueError, OverflowError, OSError):
            resets_at = datetime.fromtimestamp(reset, UTC).isoformat(timespec="seconds")
    return Quota(
        endpoint, limit, remaining, resets_at, datetime.now(UTC).isoformat(timespec="seconds")
    )


def _number(text: str) -> int | None:
    first = text.split(",", maxsplit=1)[0].strip()
    return int(first) if first.isdigit() and len(first) < 16 else None


def _fields(quota: Quota) -> dict[str, Any]:
    return {name: getattr(quota, name) for name in Quota.__slots__}


def _file_name(service: str) -> str:
    return _NAME.sub("-", service).strip("-").lower()


def _stamp(fd: int) -> float:
    try:
        return float(os.pread(fd, 32, 0) or b"0")
    except ValueError:  # cut while it was written
        return 0.0


def _key(
    method: str, url: str, content: bytes, json_body: Any, headers: Mapping[str, str] | None
) -> str:
    """Return the cache's key; credentials are no part of it."""
    said = {k.lower(): v for k, v in (headers or {}).items() if k.lower() != "authorization"}
    parts = json.dumps([method, url, content.hex(), json_body, said], sort_keys=True)
    return hashlib.sha256(parts.encode()).hexdigest()


__all__ = [
    "Answer",
    "Manners",
    "Quota",
    "RateLimitedError",
    "Service",
    "asked_wait_s",
    "read_quota",
]
