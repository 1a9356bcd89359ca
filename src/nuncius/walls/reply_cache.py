"""Answers of services that may be used again, in one file for all processes (hishel's storage).

How long an answer may be used is decided by whoever asks: the services of astronomy rarely say.
"""

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from nuncius.walls.network import Reply

if TYPE_CHECKING:
    from hishel import Response, SqliteStorage

log = logging.getLogger(__name__)
MAX_BYTES = 256 * 1024 * 1024
"""The file's size; the answers that were used longest ago give way."""
_FACTS = "nuncius-facts"
_HEADERS = "nuncius-headers"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cached:
    """An answer from the cache; `at` is when it came, in seconds since 1970."""

    reply: Reply
    at: float


class ReplyCache:
    """Answers by key. A cache that fails is told in the log and never stops a request."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._guard = threading.Lock()

    async def get(self, key: str, *, no_older_than_s: float) -> Cached | None:
        """Return the answer kept under `key`, if it is not older than asked."""
        found = await asyncio.to_thread(self._safely, lambda: self._get(key))
        return found if found and time.time() - found.at <= no_older_than_s else None

    async def put(self, key: str, reply: Reply, *, keep_s: float) -> None:
        """Keep an answer for so many seconds."""
        await asyncio.to_thread(self._safely, lambda: self._put(key, reply, keep_s))

    async def aclose(self) -> None:
        """Close the file."""
        if "_storage" in self.__dict__:
            await asyncio.to_thread(self._storage.close)
            del self.__dict__["_storage"]

    @cached_property
    def _storage(self) -> "SqliteStorage":
        from hishel import SqliteStorage

        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return SqliteStorage(database_path=self._file, max_size=MAX_BYTES)

    def _get(self, key: str) -> Cached | None:
        entries = self._storage.get_entries(key)
        if not entries:
            return None
        kept = entries[-1].response
        facts = json.loads(kept.headers[_FACTS])
        headers = json.loads(kept.headers[_HEADERS])
        reply = Reply(kept.status_code, facts["url"], headers, _content(kept))
        return Cached(reply, float(facts["at"]))

    def _put(self, key: str, reply: Reply, keep_s: float) -> None:
        from hishel import Headers, Request, Response

        for entry in self._storage.get_entries(key):
            self._storage.remove_entry(entry.id)
        facts = {"url": reply.url, "at": time.time()}
        headers = {_FACTS: json.dumps(facts), _HEADERS: json.dumps(dict(reply.headers))}
        kept = Response(reply.status, Headers(headers), iter((reply.content,)))
        entry = self._storage.create_entry(Request("GET", reply.url), kept, key, ttl=keep_s)
        _content(entry.response)  # it is stored while it is read

    def _safely(self, act: Callable[[], T | None]) -> T | None:
        try:
            with self._guard:
                return act()
        except Exception:
            log.exception("the cache of answers %s cannot be used", self._file)
            return None


def _content(response: "Response") -> bytes:
    return b"".join(cast("Iterator[bytes]", response.stream or iter(())))
