"""What lists cost as library and sessions grow: pages of `GET /papers` and `GET /sessions`.

Two homes of made-up papers and sessions, the second ten times the first; each request goes through
the interface's routes in this process, without a socket. Two kinds of cost: a page of all, which
must not grow with the home, and a page of those that fit, which may grow as the scan of a filter
does. The last row reads every paper: what a list would cost that looked at them all.

``python bench/lists.py [--size 1000]``: CPU time of the whole process, medians, ratios of one run.
"""

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from nuncius.api.build import routes
from nuncius.app.serving import ServedApp, open_served
from nuncius.core.events import TextDelta
from nuncius.core.messages import Message, StoredMessage
from nuncius.core.papers import Author, Paper
from nuncius.core.settings import Settings

REPEATS = 9
BATCH = 500  # writes at once
EVENTS = 10  # of the long session, for each session of the home
SYLLABLES = "ba co di fu ga hel in jo ka lu mer no or pi qua ro sta tu ul ven".split()
STEMS = ("ApJ..", "MNRAS", "A&A..", "AJ...", "Natur")
ALL = {
    "papers, first page": "/papers",
    "papers, second page": "/papers?cursor={papers}",
    "sessions, first page": "/sessions",
    "sessions, second page": "/sessions?cursor={sessions}",
    "messages of a long session": "/sessions/{long}/messages",
}
FITTING = {
    "papers by title": "/papers?sort=title",
    "papers of a journal": "/papers?journal=ApJ",
    "papers with a tag": "/papers?tag=read",
    "papers, a word that few say": "/papers?q=bacodi+fugahel",
    "papers, a name that few have": "/papers?author=bacodi",
    "sessions that say a word": "/sessions?q=night+77",
    "facet: journals": "/papers/facets?of=journal",
    "facet: authors": "/papers/facets?of=author",
}


class Writer:
    """Makes papers and talks of shuffled syllables."""

    def __init__(self) -> None:
        self._random = random.Random(1)
        choose = self._random.choices
        self._words = ["".join(choose(SYLLABLES, k=3)) for _ in range(5_000)]

    def some(self, count: int) -> str:
        return " ".join(self._random.choices(self._words, k=count))

    def paper(self, number: int) -> Paper:
        year = self._random.randint(1990, 2026)
        names = [self.some(1).capitalize() for _ in range(self._random.randint(1, 10))]
        return Paper(
            paper_id="",
            title=self.some(8).capitalize(),
            authors=tuple(Author(name=f"{name}, {name[-1].upper()}.") for name in names),
            year=year,
            bibcode=f"{year}{self._random.choice(STEMS)}.{number % 1000:03}.{number % 10000:04}A",
            abstract=f"{self.some(200)} ± 3 Å",
            tags=("read",) if number % 50 == 0 else (),
        )


async def fill(app: ServedApp, size: int) -> str:
    """Write so many papers and sessions, and one long session; return its id."""
    writer = Writer()

    async def session(number: int) -> None:
        made = await app.journal.create_session(title=f"Night {number}")
        said = [("user", writer.some(20)), ("assistant", writer.some(200))]
        messages = [StoredMessage(made.id, "", Message(who, text)) for who, text in said]
        await app.journal.commit([], messages)

    for first in range(0, size, BATCH):
        numbers = range(first, min(first + BATCH, size))
        await asyncio.gather(*(app.store.papers.put(writer.paper(n), None, ()) for n in numbers))
        await asyncio.gather(*map(session, numbers))
    long = (await app.journal.create_session(title="Long")).id
    for _ in range(size // BATCH):
        text = TextDelta(session_id=long, text=writer.some(20))
        await app.journal.commit([text] * (BATCH * EVENTS))
    await app.journal.commit([], [StoredMessage(long, "", Message("user", "Go on."))])
    return long


async def ask(api: Any, path: str) -> Any:
    """Ask a route and return what it answers."""
    where, _, query = path.partition("?")
    scope = {
        "type": "http", "method": "GET", "path": f"/api{where}", "query_string": query.encode(),
        "headers": [], "http_version": "1.1", "scheme": "http", "client": None, "root_path": "",
        "server": ("127.0.0.1", 80),
    }  # fmt: skip
    told: list[Mapping[str, Any]] = []

    async def receive() -> Mapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Mapping[str, Any]) -> None:
        told.append(message)

    await api(scope, receive, send)
    assert told[0]["status"] == 200, (path, told)
    return json.loads(b"".join(part.get("body", b"") for part in told[1:]))


async def cpu_ms(work: Callable[[], Coroutine[Any, Any, object]], repeats: int = REPEATS) -> float:
    """Return what `work` costs: the median."""
    costs: list[float] = []
    for _ in range(repeats):
        began = time.process_time()
        await work()
        costs.append((time.process_time() - began) * 1000)
    return statistics.median(costs)


async def measure(home: Path, size: int) -> dict[str, float]:
    settings = Settings(
        home=home, library_dir=home / "library", skills_dir=home / "skills", project_dir=home,
        database_url=f"sqlite:///{home / 'nuncius.db'}", offline=True,
    )  # fmt: skip
    async with open_served(settings) as app:
        names = {"long": await fill(app, size)}
        api = routes()
        api.state.house = SimpleNamespace(app=app)
        for name in ("papers", "sessions"):
            names[name] = (await ask(api, f"/{name}"))["next_cursor"]
        costs = {
            what: await cpu_ms(lambda path=path: ask(api, path.format(**names)))
            for what, path in (ALL | FITTING).items()
        }
        return costs | {"every paper": await cpu_ms(app.library.papers, 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000, help="of the smaller home")
    sizes = [(size := parser.parse_args().size), 10 * size]
    costs: list[dict[str, float]] = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="nuncius-lists-") as folder:
            costs.append(asyncio.run(measure(Path(folder), size)))
    print(f"{'ms CPU':32}" + "".join(f"{size:>10,}" for size in sizes) + f"{'ratio':>8}")
    for what, small in costs[0].items():
        large = costs[1][what]
        print(f"{what:32}{small:10.1f}{large:10.1f}{large / small:8.1f}")
    grown = max(costs[1][what] / costs[0][what] for what in ALL)
    print(f"x10 papers and sessions: a page of all costs at most x{grown:.1f}")


if __name__ == "__main__":
    main()
