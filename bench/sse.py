"""How events reach 1,000 readers who leave and come back: is each one's list exact, and how late.

A server on loopback in a process of its own, a second process that writes beside it, and readers
over real sockets. Each reader follows one session, hangs up at random and comes back with
Last-Event-ID until it has everything; its list must then be 1, 2, 3 ... without a gap or a double.
The delay is from before the commit to the reader's hands, of events that came live: those that a
reader missed while it was away are replayed, and do not count.

Run it as: ``python bench/sse.py [--clients 1000] [--sessions 20] [--events 60] [--rate 2]``
"""

import argparse
import asyncio
import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nuncius.api.server import serving
from nuncius.app.serving import open_served
from nuncius.core.events import TextDelta
from nuncius.core.settings import Settings
from nuncius.store.protocols import JournalStore

LIMIT_S = 180
"""The whole bench ends after this, whatever happens."""


def settings_in(home: Path) -> Settings:
    return Settings(
        home=home,
        library_dir=home / "library",
        skills_dir=home / "skills",
        project_dir=home,
        database_url=f"sqlite:///{home / 'nuncius.db'}",
    )


# --- the server, and who writes beside it ---------------------------------------------------------


async def write(
    journal: JournalStore, sessions: Sequence[str], options: argparse.Namespace, tell: object
) -> None:
    """Write half of each session's events, evenly, each with the moment before its commit."""
    pause_s = 1.0 / options.rate / max(1, len(sessions))
    for _ in range(options.events // 2):
        for session_id in sessions:
            event = TextDelta(session_id=session_id, text=repr(time.time()))
            committed = await journal.commit([event])
            if callable(tell):
                for one in committed:
                    tell(one)
            await asyncio.sleep(pause_s)


async def serve(home: Path, options: argparse.Namespace) -> None:
    async with open_served(settings_in(home)) as app, serving(app, port=0) as served:
        sessions = [(await app.journal.create_session()).id for _ in range(options.sessions)]
        token = (home / "token").read_text().strip()
        print(json.dumps({"port": served.port, "token": token, "sessions": sessions}), flush=True)
        await asyncio.to_thread(sys.stdin.readline)  # the readers are there
        await write(app.journal, sessions, options, served.house.live)
        await asyncio.to_thread(sys.stdin.readline)  # the readers have everything


async def write_beside(home: Path, options: argparse.Namespace) -> None:
    async with open_served(settings_in(home)) as app:
        sessions = [session.id for session in await app.journal.sessions(limit=1_000)]
        await write(app.journal, sessions, options, None)


# --- the readers ----------------------------------------------------------------------------------


@dataclass
class Seen:
    """What all readers saw."""

    delays_s: list[float] = field(default_factory=list[float])
    wrong: list[str] = field(default_factory=list[str])
    connections: int = 0
    ready: int = 0
    all_ready: asyncio.Event = field(default_factory=asyncio.Event)


async def read(
    server: dict[str, Any], session_id: str, options: argparse.Namespace, seen: Seen, seed: int
) -> None:
    port, token = server["port"], server["token"]
    chance = random.Random(seed)
    places: list[int] = []
    while len(places) < options.events:
        seen.connections += 1
        last = places[-1] if places else 0
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            f"GET /api/sessions/{session_id}/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Authorization: Bearer {token}\r\nLast-Event-ID: {last}\r\n\r\n".encode()
        )
        await writer.drain()
        joined = time.time()
        if seen.connections <= options.clients:
            await reader.readuntil(b"retry:")
            seen.ready += 1
            if seen.ready == options.clients:
                seen.all_ready.set()
        leave_after = chance.expovariate(options.leave / options.events)
        while len(places) < options.events and leave_after > 0:
            line = await reader.readline()
            if not line:
                break
            if line.startswith(b"data: "):
                now = time.time()
                event = json.loads(line[6:])
                places.append(event["seq"])
                written = float(event["text"])
                if written > joined:
                    seen.delays_s.append(now - written)
                leave_after -= 1
        writer.transport.abort()  # as a tab that is killed
        await asyncio.sleep(chance.random() * 0.3)
    if places != list(range(1, options.events + 1)):
        seen.wrong.append(f"{session_id}: {places[:20]} ...")


async def measure(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        server = await start("serve", home, options)
        assert server.stdout is not None
        assert server.stdin is not None
        told = json.loads(await server.stdout.readline())
        seen = Seen()
        async with asyncio.timeout(LIMIT_S):
            readers = [
                asyncio.create_task(
                    read(told, told["sessions"][n % options.sessions], options, seen, n)
                )
                for n in range(options.clients)
            ]
            await seen.all_ready.wait()
            began = time.monotonic()
            server.stdin.write(b"\n")
            beside = await start("write", home, options)
            await asyncio.gather(*readers)
            took_s = time.monotonic() - began
            await beside.wait()
            server.stdin.write(b"\n")
            await server.wait()
    return report(options, seen, took_s)


async def start(role: str, home: Path, options: argparse.Namespace) -> asyncio.subprocess.Process:
    words = [f"--{name}={getattr(options, name)}" for name in ("sessions", "events", "rate")]
    return await asyncio.create_subprocess_exec(
        sys.executable, __file__, "--role", role, "--home", str(home), *words,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip


def report(options: argparse.Namespace, seen: Seen, took_s: float) -> int:
    total = options.clients * options.events
    late = sorted(seen.delays_s)
    print(
        f"{options.clients:,} readers of {options.sessions} sessions, {options.events} events each,"
    )
    print(f"half of them by another process; {seen.connections:,} connections, {took_s:.1f} s")
    print(f"exact: {options.clients - len(seen.wrong):,} of {options.clients:,} readers")
    print(
        f"events delivered: {total:,} ({total / took_s:,.0f} a second), {len(late):,} of them live"
    )
    for share in (0.5, 0.9, 0.99, 0.999):
        print(f"delay p{share * 100:g}: {late[int(share * (len(late) - 1))] * 1000:.0f} ms")
    for line in seen.wrong[:5]:
        print(f"  wrong: {line}")
    return 1 if seen.wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clients", type=int, default=1_000)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--events", type=int, default=60, help="of each session")
    parser.add_argument("--rate", type=float, default=2.0, help="events a second, session, writer")
    parser.add_argument("--leave", type=float, default=3.0, help="times that a reader hangs up")
    parser.add_argument("--role", choices=["measure", "serve", "write"], default="measure")
    parser.add_argument("--home", type=Path, default=Path())
    options = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 16_384), most))
    roles = {
        "measure": lambda: measure(options),
        "serve": lambda: serve(options.home, options),
        "write": lambda: write_beside(options.home, options),
    }
    return asyncio.run(roles[options.role]()) or 0


if __name__ == "__main__":
    sys.exit(main())
