"""First come, first served locks on what calls read and write.

A ticket queues on all its keys at once, so two tickets never wait for each other, and the order on
every key is the order in which the tickets were taken: a read after a write in the same step sees
the write.
"""

import asyncio
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from nuncius.agent.tool import GLOBAL_WRITE, Resource


@dataclass(eq=False, slots=True)
class Ticket:
    """A place in the queues of some keys; holds them once `granted` is done."""

    keys: dict[str, bool]
    """Key -> whether it is written."""
    granted: asyncio.Future[None]
    missing: set[str] = field(default_factory=set[str])
    released: bool = False


@dataclass(slots=True)
class _Queue:
    readers: int = 0
    written: bool = False
    waiting: deque[Ticket] = field(default_factory=deque[Ticket])


class ResourceLocks:
    """The locks of one process: share one object among all agents that touch the same things."""

    def __init__(self) -> None:
        self._queues: dict[str, _Queue] = {}

    def __len__(self) -> int:
        """Return how many keys somebody holds or waits for."""
        return len(self._queues)

    def take(self, resources: Iterable[Resource]) -> Ticket:
        """Queue for all `resources` now; await `ticket.granted`, then `release` the ticket."""
        keys: dict[str, bool] = {}
        for resource in resources:
            keys[resource.key] = keys.get(resource.key, False) or resource.access == "write"
        if keys:  # whoever writes everything waits for everybody, and everybody for it
            keys.setdefault(GLOBAL_WRITE.key, False)
        ticket = Ticket(keys, asyncio.get_running_loop().create_future(), set(keys))
        for key in keys:
            self._queues.setdefault(key, _Queue()).waiting.append(ticket)
            self._grant(key)
        if not keys:
            ticket.granted.set_result(None)
        return ticket

    def release(self, ticket: Ticket) -> None:
        """Give up the ticket, whether it holds its keys or waits; again is harmless."""
        if ticket.released:
            return
        ticket.released = True
        ticket.granted.cancel()
        for key, written in ticket.keys.items():
            queue = self._queues[key]
            if key in ticket.missing:
                queue.waiting.remove(ticket)
            elif written:
                queue.written = False
            else:
                queue.readers -= 1
            self._grant(key)

    def _grant(self, key: str) -> None:
        queue = self._queues[key]
        while queue.waiting and not queue.written:
            ticket = queue.waiting[0]
            if ticket.keys[key]:
                if queue.readers:
                    break
                queue.written = True
            else:
                queue.readers += 1
            queue.waiting.popleft()
            ticket.missing.discard(key)
            if not ticket.missing and not ticket.granted.done():
                ticket.granted.set_result(None)
        if not queue.waiting and not queue.readers and not queue.written:
            del self._queues[key]
