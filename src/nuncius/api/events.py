"""The live view: a session's journal as Server-Sent Events, from any place on, to any number.

The journal alone says what there is and in which order. A client reads it page by page from its own
place; once it has caught up, one reader for each session watches the journal for all its clients:
at once where a turn of this process tells of an event, every 100 ms for those of other processes,
with one query for all sessions.
So replay and live are the same rows, and no client can hold up a turn or another client.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Literal

from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.types import Message, Receive, Scope, Send
from typing_extensions import override

from nuncius.core.errors import NotFoundError
from nuncius.core.events import Base, Event
from nuncius.store.protocols import JournalStore

log = logging.getLogger(__name__)

POLL_S = 0.1
"""How often the journal is looked at for events of other processes."""
HEARTBEAT_S = 15.0
"""A comment goes out where nothing else did for so long, so that no proxy ends the connection."""
QUEUE_EVENTS = 2_000
"""Events that wait for one client; a client that lets more pile up is dropped and comes back."""
SEND_S = 30.0
"""How long one piece may take to go out."""
_PAGE = 500
_QUIET_LOOKS = 10  # after so many looks that find nothing, the session itself is looked at
_RETRY_MS = 1_000
_HEARTBEAT = format_sse_event(comment="alive")


class Reset(Base):
    """The reader's place is gone, as after a restore: everything is sent from `from_seq` on."""

    type: Literal["reset"] = "reset"
    reason: str
    from_seq: int


class Client:
    """One reader of one session.

    Attributes:
        ended: Nothing more comes: the session was deleted, the server stops, or the client was too
            slow.
    """

    def __init__(self, place: int) -> None:
        self._place = place
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._news = asyncio.Event()
        self.ended = False

    def push(self, frames: Sequence[tuple[int, bytes]]) -> None:
        """Queue what lies after the client's place; end the client where too much waits."""
        if self.ended:
            return
        self._waiting.extend(frame for frame in frames if frame[0] > self._place)
        if len(self._waiting) > QUEUE_EVENTS:
            self._waiting.clear()  # it comes back with its place and reads them from the journal
            self.ended = True
        self._news.set()

    def end(self) -> None:
        """Let the client read what waits, and nothing more."""
        self.ended = True
        self._news.set()

    async def take(self) -> bytes:
        """Return what has come, a heartbeat where nothing did, and nothing at the end."""
        if not self._waiting and not self.ended:
            self._news.clear()
            try:
                async with asyncio.timeout(HEARTBEAT_S):
                    await self._news.wait()
            except TimeoutError:
                return _HEARTBEAT
        frames = list(self._waiting)
        self._waiting.clear()
        if frames:
            self._place = frames[-1][0]
        return b"".join(text for _, text in frames)


class _Watch:
    """One session that somebody watches, and how far it was told."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.clients: set[Client] = set()
        self.quiet = 0
        """Looks at the journal that found nothing."""


class Live:
    """All watched sessions of this server.

    Args:
        journal: Where the events are.
        tend: Told of a watched session about once a second while it is quiet; it may find the
            session gone (NotFoundError).
    """

    def __init__(self, journal: JournalStore, tend: Callable[[str], Awaitable[object]]) -> None:
        self._journal = journal
        self._tend = tend
        self._watched: dict[str, _Watch] = {}
        self._wake = asyncio.Event()
        self._woken: set[str] = set()
        self._reader: asyncio.Task[None] | None = None
        self._stopping = False

    # --- what turns and routes tell ---

    def __call__(self, event: Event) -> None:
        """Take note that a turn of this process has committed an event."""
        if event.session_id in self._watched:
            self._woken.add(event.session_id)
            self._wake.set()

    def watched(self, session_id: str) -> bool:
        """Tell whether somebody reads along."""
        return session_id in self._watched

    @property
    def clients(self) -> int:
        """Return how many read along."""
        return sum(len(watch.clients) for watch in self._watched.values())

    def deleted(self, session_id: str) -> None:
        """End the readers of a session that is gone."""
        for client in tuple(self._clients_of(session_id)):
            client.end()

    async def stop(self) -> None:
        """Tell everybody what there is, and end all streams."""
        self._stopping = True
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.wait((self._reader,))
        await self._look(list(self._watched))
        for session_id in tuple(self._watched):
            self.deleted(session_id)

    # --- one client ---

    async def follow(self, session_id: str, after: int) -> AsyncGenerator[bytes]:
        """Yield a session's events after `after` as SSE, then those that come, until it ends.

        The session is there; whoever calls has looked.
        """
        yield format_sse_event(retry=_RETRY_MS, comment="events")
        if await self._is_gone(session_id, after):
            reason = "the place is not in the journal"
            yield frame(Reset(session_id=session_id, reason=reason, from_seq=0))[1]
            after = 0
        client: Client | None = None
        while client is None and not self._stopping:
            told = self._told(session_id)
            page = await self._journal.events(session_id, after=after, limit=_PAGE)
            if page:
                after = page[-1].seq
                yield b"".join(frame(event)[1] for event in page)
            if len(page) < _PAGE:
                client = self._join(session_id, after, told)
        if client is None:
            return
        try:
            while text := await client.take():
                yield text
        finally:
            self._leave(session_id, client)

    async def _is_gone(self, session_id: str, after: int) -> bool:
        """Tell whether a client's place is none of this journal's."""
        if after <= 0:
            return False
        here = await self._journal.events(session_id, after=after - 1, limit=1)
        return not here

    def _told(self, session_id: str) -> int:
        """Return how far the session's clients were told; 0 where nobody watches it."""
        watch = self._watched.get(session_id)
        return 0 if watch is None else watch.place

    def _join(self, session_id: str, place: int, told: int) -> Client | None:
        """Return a client that has read up to `place`; None where it must read on first.

        Args:
            told: How far the session's clients were told before the journal was read up to `place`.
                What came since then they alone were told.
        """
        watch = self._watched.get(session_id)
        if watch is None:
            watch = self._watched[session_id] = _Watch(place)
        elif watch.place > max(place, told):
            return None
        elif watch.place > place:  # the journal went back, as after a restore
            watch.place = place
        client = Client(place)
        watch.clients.add(client)
        if self._reader is None:
            self._reader = asyncio.create_task(self._read())
        return client

    def _leave(self, session_id: str, client: Client) -> None:
        watch = self._watched.get(session_id)
        if watch is None:
            return
        watch.clients.discard(client)
        if not watch.clients:
            del self._watched[session_id]

    def _clients_of(self, session_id: str) -> set[Client]:
        watch = self._watched.get(session_id)
        return set() if watch is None else watch.clients

    # --- the one reader ---

    async def _read(self) -> None:
        """Look at the journal whenever there is a reason, for as long as somebody reads along."""
        loop = asyncio.get_running_loop()
        next_look = loop.time()
        while self._watched:
            began = loop.time()
            if began >= next_look:
                await self._look_for_news()
                # Where looking at all takes long, the reader rests as long as it looked.
                next_look = loop.time() + max(POLL_S, loop.time() - began)
            with suppress(TimeoutError):
                async with asyncio.timeout_at(next_look):
                    await self._wake.wait()
            self._wake.clear()
            woken = list(self._woken)
            self._woken.clear()
            await self._look(woken)
        self._reader = None

    async def _look_for_news(self) -> None:
        """Ask once where all sessions end; read those that have news, and see after the others."""
        names = list(self._watched)
        try:
            last = await self._journal.last_seqs(names)
        except Exception:  # the next look may find it well again; clients keep their places
            log.exception("the journal could not be looked at")
            return
        await asyncio.gather(*(self._look_at(name, last[name]) for name in names))

    async def _look(self, names: Sequence[str]) -> None:
        await asyncio.gather(*(self._look_at(name) for name in names))

    async def _look_at(self, session_id: str, last: int | None = None) -> None:
        """Tell a session's clients what came, up to `last` if it is known; end them if it is gone."""
        watch = self._watched.get(session_id)
        if watch is None:
            return
        try:
            if last is None or last > watch.place:
                await self._tell(session_id, watch)
                return
            watch.quiet += 1
            if watch.quiet % _QUIET_LOOKS == 0:
                await self._tend(session_id)
        except NotFoundError:
            self.deleted(session_id)
        except Exception:  # the next look may find it well again; clients keep their places
            log.exception("the events of session %s could not be read", session_id)

    async def _tell(self, session_id: str, watch: _Watch) -> None:
        more = True
        while more:
            page = await self._journal.events(session_id, after=watch.place, limit=_PAGE)
            more = len(page) == _PAGE
            if page:
                watch.quiet = 0
                watch.place = page[-1].seq
                frames = [frame(event) for event in page]
                for client in tuple(watch.clients):
                    client.push(frames)


def frame(event: Base) -> tuple[int, bytes]:
    """Return an event's place and its bytes on the wire; JSON has no line ends of its own."""
    return event.seq, format_sse_event(data_str=event.model_dump_json(), id=str(event.seq))


class EventStream(EventSourceResponse):
    """An SSE answer that gives up on a client that takes nothing for `SEND_S`."""

    def __init__(self, content: AsyncGenerator[bytes]) -> None:
        super().__init__(content, headers={"X-Accel-Buffering": "no", "Cache-Control": "no-store"})
        self._content = content

    @override
    async def stream_response(self, send: Send) -> None:
        """Send piece by piece, each within its time."""

        async def in_time(message: Message) -> None:
            async with asyncio.timeout(SEND_S):
                await send(message)

        try:
            await super().stream_response(in_time)
        except TimeoutError:
            log.info("a reader of events took nothing for %.0f s and was dropped", SEND_S)

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and leave quietly when the client does."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._content.aclose()
