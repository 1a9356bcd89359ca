"""How cost grows with the library: a home filled with made-up papers, measured at four sizes.

``python bench/growth.py``: CPU time of the whole process, all threads (``--wall``: seconds on the
clock). Each search is asked once, so that no cache of the last one helps. ``bench/kernel.py`` tells
how cost grows with the turns of a session.
"""

import argparse
import asyncio
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from hashlib import sha256
from itertools import accumulate
from pathlib import Path

from nuncius.app import App, open_app
from nuncius.core.documents import PageText, PassageDraft
from nuncius.core.papers import Author, Paper
from nuncius.core.settings import Settings
from nuncius.store.protocols import FileRecord, PaperContent

SIZES = (500, 2_000, 8_000, 20_000)  # passages
PASSAGES = 20  # in a paper
WORDS = 150  # in a passage: about 1,000 characters
SEARCHES = 15
REPEATS = 7  # of opening and listing
COMMON = """star galaxy mass age cluster spectrum survey model distance velocity planet orbit
    period radius metallicity dust""".split()
SYLLABLES = "ba co di fu ga hel in jo ka lu mer no or pi qua ro sta tu ul ven wa xi yo zor".split()


@dataclass(frozen=True)
class Cost:
    """What one size cost, in ms; `bytes_a_passage` is disk."""

    passages: int
    put_a_paper: float
    rare: float
    common: float
    opening: float
    listing: float
    bytes_a_passage: float


class Writer:
    """Writes papers of shuffled words: a few said everywhere, many hardly ever (Zipf's law)."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        words = dict.fromkeys(COMMON)
        while len(words) < 20_000:
            words["".join(self._random.choices(SYLLABLES, k=self._random.randint(2, 4)))] = None
        self._words = list(words)
        self._weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
        self.names: list[str] = []
        """One object's name for each paper, said in two of its passages."""

    def papers(self) -> Iterator[tuple[Paper, PaperContent, FileRecord]]:
        while True:
            yield self._paper(len(self.names))

    def _paper(self, number: int) -> tuple[Paper, PaperContent, FileRecord]:
        name = f"HD {100_000 + number * 37}"
        self.names.append(name)
        texts = [self._passage() for _ in range(PASSAGES)]
        for place in self._random.sample(range(PASSAGES), 2):
            texts[place] += f" The light curve of {name} is shown."
        ends = list(accumulate(len(text) + 1 for text in texts))
        markdown = "\n".join(texts)
        digest = sha256(markdown.encode()).hexdigest()
        paper = Paper(
            paper_id="",
            title=" ".join(self._some(6)).capitalize(),
            authors=tuple(Author(name=f"A. {word.capitalize()}") for word in self._some(3)),
            year=self._random.randint(1990, 2026),
            pages=PASSAGES // 2,
        )
        drafts = [
            PassageDraft(
                "text", text, f"{i // 4 + 1}. Part", i // 2 + 1, end - len(text) - 1, end - 1
            )
            for i, (text, end) in enumerate(zip(texts, ends, strict=True))
        ]
        layer = [PageText(i // 2 + 1, "\n".join(texts[i : i + 2])) for i in range(0, PASSAGES, 2)]
        file = FileRecord(f"/papers/{number}.pdf", digest, 10**6, number, kind="pdf")
        return paper, PaperContent(digest, "made-up/1", "good", markdown, layer, drafts), file

    def _passage(self) -> str:
        words = self._some(WORDS)
        starts = range(0, WORDS, 15)
        return " ".join(f"{' '.join(words[at : at + 15]).capitalize()}." for at in starts)

    def _some(self, count: int) -> list[str]:
        return self._random.choices(self._words, cum_weights=self._weights, k=count)

    def rare_queries(self) -> list[str]:
        return [f"light curve of {name}" for name in self._random.sample(self.names, SEARCHES)]

    def common_queries(self) -> list[str]:
        return [" ".join(self._random.sample(COMMON, 4)) for _ in range(SEARCHES)]


async def measure(home: Path, clock: Callable[[], float], show: Callable[[Cost], None]) -> None:
    settings = Settings(
        home=home,
        library_dir=home / "library",
        skills_dir=home / "skills",
        project_dir=home,
        database_url=f"sqlite:///{home / 'nuncius.db'}",
    )
    writer = Writer(seed=1)
    papers = writer.papers()
    for size in SIZES:
        async with open_app(settings) as app:
            put = await _fill(app, papers, size, clock)
        opening: list[float] = []
        for _ in range(REPEATS):
            started = clock()
            async with open_app(settings):
                opening.append((clock() - started) * 1000)
        async with open_app(settings) as app:
            rare = await _search(app, writer.rare_queries(), clock)
            common = await _search(app, writer.common_queries(), clock)
            listing = await _list(app, len(writer.names), clock)
        a_passage = _size_bytes(home) / size
        show(Cost(size, put, rare, common, statistics.median(opening), listing, a_passage))


async def _fill(
    app: App,
    papers: Iterator[tuple[Paper, PaperContent, FileRecord]],
    size: int,
    clock: Callable[[], float],
) -> float:
    """Add papers until there are `size` passages; return ms a paper, merging included."""
    costs: list[float] = []
    for _ in range((size - await app.store.passages.count()) // PASSAGES):
        paper, content, file = next(papers)
        started = clock()
        await app.store.papers.put(paper, content, [file])
        costs.append((clock() - started) * 1000)
    assert await app.store.passages.count() == size
    return statistics.mean(costs)


async def _search(app: App, queries: Sequence[str], clock: Callable[[], float]) -> float:
    await app.library.rag("warm up")  # word lists are read once
    costs: list[float] = []
    for query in queries:
        started = clock()
        retrieval = await app.library.rag(query)
        costs.append((clock() - started) * 1000)
        assert retrieval.found, query
    return statistics.median(costs)


async def _list(app: App, expected: int, clock: Callable[[], float]) -> float:
    costs: list[float] = []
    for _ in range(REPEATS):
        started = clock()
        papers = await app.library.papers()
        costs.append((clock() - started) * 1000)
        assert len(papers) == expected
    return statistics.median(costs)


def _size_bytes(home: Path) -> int:
    return sum(path.stat().st_size for path in home.glob("nuncius.db*"))


def _verdict(costs: Sequence[Cost]) -> str:
    first, last = costs[1], costs[-1]  # ten times apart
    return (
        f"x{last.passages // first.passages} passages: cost of rare query"
        f" x{last.rare / first.rare:.1f}, common query x{last.common / first.common:.1f},"
        f" per-paper put x{last.put_a_paper / first.put_a_paper:.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wall", action="store_true", help="seconds on the clock, not CPU time")
    wall = parser.parse_args().wall
    columns = ("passages", "put, a paper", "rare query", "common query", "opening", "list papers")
    print(
        f"ms {'on the clock' if wall else 'CPU'}; searches: median of {SEARCHES}; opening and listing: of {REPEATS}"
    )
    print("".join(f"{column:>14}" for column in columns) + f"{'bytes/passage':>15}")
    costs: list[Cost] = []

    def show(cost: Cost) -> None:
        passages, *times, disk = astuple(cost)
        print(f"{passages:14,}" + "".join(f"{one:14.1f}" for one in times) + f"{disk:15,.0f}")
        costs.append(cost)

    home = Path(tempfile.mkdtemp(prefix="nuncius-bench-"))
    begun = time.process_time()
    try:
        asyncio.run(measure(home, time.perf_counter if wall else time.process_time, show))
    finally:
        shutil.rmtree(home)
    print(_verdict(costs))
    print(f"(this bench: {time.process_time() - begun:.0f} s CPU)")


if __name__ == "__main__":
    main()
