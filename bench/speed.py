"""Whole-process figures: adding, starting, asking; beside plain pypdfium2 with FTS5 in the same run.

``python bench/speed.py``. CPU time counts all child processes; memory is the largest sum over the
process tree, sampled every 10 ms. Figures of one run compare with each other; machines are noisy.
"""

import argparse
import itertools
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PAPERS = Path(__file__).parent.parent.parent / "shared" / "data" / "papers" / "pdf"
REAL = (
    "rudolf",
    "stardate",
    "lightkurve",
    "cyb",
    "legwork",
    "tristram24_aa",
    "joss_paos",
    "joss_exorad",
)
DOCUMENTS, PAGES = 20, 390
NUNCIUS = [sys.executable, "-m", "nuncius"]

PLAIN = """
import sqlite3, sys, pathlib, pypdfium2
db = sqlite3.connect(sys.argv[2])
db.execute("CREATE VIRTUAL TABLE p USING fts5(text, tokenize='porter unicode61')")
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.pdf")):
    pdf = pypdfium2.PdfDocument(path)
    for page in pdf:
        text = page.get_textpage().get_text_range()
        db.executemany("INSERT INTO p VALUES (?)", [(text[i:i + 1400],) for i in range(0, len(text), 1400)])
db.commit()
"""


@dataclass(frozen=True)
class Cost:
    wall_s: float
    cpu_s: float
    peak_mb: float
    first_line_s: float


def tree_kb(pid: int) -> int:
    """Return the resident memory of a process and all below it, in kB."""
    total = 0
    todo = [pid]
    while todo:
        one = todo.pop()
        try:
            for line in Path(f"/proc/{one}/status").read_text().splitlines():
                if line.startswith(("RssAnon:", "RssShmem:")):
                    total += int(line.split()[1])
            for task in Path(f"/proc/{one}/task").iterdir():
                todo += map(int, (task / "children").read_text().split())
        except (OSError, ValueError):
            continue  # it ended while we looked
    return total


def run(command: Sequence[str], home: Path) -> Cost:
    """Run a command to its end and return what it cost."""
    # Without bubblewrap on the path: it leaves before its child is reaped, and the kernel would not
    # tell us what the child's CPU time was.
    path = str(Path(sys.executable).parent)
    environment = {**os.environ, "NUNCIUS_HOME": str(home), "NO_COLOR": "1", "PATH": path}
    started = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    )
    peak = 0
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.01):
            peak = max(peak, tree_kb(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    assert process.stdout
    process.stdout.readline()
    first = time.perf_counter() - started
    process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    done.set()
    watcher.join()
    return Cost(wall, usage.ru_utime + usage.ru_stime, peak / 1024, first)


def make_documents(folder: Path) -> int:
    """Write 20 different documents of 390 pages, cut from the real papers; return the pages."""
    import pypdfium2

    sources = [pypdfium2.PdfDocument(PAPERS / f"{name}.pdf") for name in REAL]
    pages = [(source, number) for source in sources for number in range(len(source))]
    written = 0
    for index in range(DOCUMENTS):
        count = PAGES // DOCUMENTS + (index < PAGES % DOCUMENTS)
        made = pypdfium2.PdfDocument.new()
        wanted = [pages[(index * 7 + step) % len(pages)] for step in range(count)]
        for source, run in itertools.groupby(wanted, key=lambda page: page[0]):
            # a run in one call: pages of a paper share their fonts, as they do in the paper
            made.import_pages(source, [number for _, number in run])
        made.save(folder / f"document-{index:02}.pdf")
        written += count
    return written


@contextmanager
def folders() -> Iterator[tuple[Path, Path]]:
    base = Path(tempfile.mkdtemp(prefix="nuncius-bench-"))
    (base / "documents").mkdir()
    try:
        yield base, base / "documents"
    finally:
        shutil.rmtree(base)


def several(command: Sequence[str], home: Path, times: int) -> list[Cost]:
    return [run(command, home) for _ in range(times)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=7, help="how often short commands are run")
    times = parser.parse_args().times
    if not PAPERS.is_dir():
        sys.exit("bench/speed.py needs the real papers in ../shared/data/papers/pdf")
    with folders() as (base, documents):
        pages = make_documents(documents)
        print(f"{DOCUMENTS} documents, {pages} pages")
        print(f"{'':44} {'CPU s':>7} {'wall s':>7} {'peak MB':>8}")

        def show(what: str, cost: Cost) -> None:
            print(f"{what:44} {cost.cpu_s:7.2f} {cost.wall_s:7.2f} {cost.peak_mb:8.0f}")

        plain = run([sys.executable, "-c", PLAIN, str(documents), str(base / "plain.db")], base)
        show("plain pypdfium2 with FTS5, no structure", plain)
        home = base / "home"
        added = run([*NUNCIUS, "add", str(documents)], home)
        show("nuncius add (empty home)", added)
        show("nuncius add (second run)", run([*NUNCIUS, "add", str(documents)], home))
        print(
            f"ratio to plain: {added.cpu_s / plain.cpu_s:.1f} x CPU, {added.peak_mb / plain.peak_mb:.1f} x memory"
        )
        print("stated for PaperQA2 with a model that answers at once: 32 s CPU, 484 MB")
        versions = [cost.wall_s for cost in several([*NUNCIUS, "--version"], home, times)]
        print(
            f"nuncius --version: median {statistics.median(versions):.3f} s, best {min(versions):.3f} s"
        )
        question = "Which sampler draws the ages in stardate?"
        asked = several([*NUNCIUS, "ask", question, "--stream-json"], home, times)
        firsts = [cost.first_line_s for cost in asked]
        print(
            f"nuncius ask, first event: median {statistics.median(firsts):.3f} s, best {min(firsts):.3f} s"
        )
        print(
            f"nuncius ask, whole: median {statistics.median(c.wall_s for c in asked):.3f} s wall,"
            f" {statistics.median(c.cpu_s for c in asked):.2f} s CPU, {max(c.peak_mb for c in asked):.0f} MB"
        )


if __name__ == "__main__":
    main()
