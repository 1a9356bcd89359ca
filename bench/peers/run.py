"""Measure our kernel beside its peers, all in one run, and print a Markdown table.

``python bench/peers/run.py [--cache FOLDER] [--write FILE] [--only NAME ...]``: each peer's current
release is installed by pip into a virtual environment of its own. README.md tells what the rows are.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import venv
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
INSTALL_S = 600
PART_S = 300
IMPORTS = 3


@dataclass(frozen=True)
class Peer:
    """One column.

    Attributes:
        packages: What pip installs; empty: measured in the environment that runs this.
        needs: Imported for the figure of imports: what a program needs to run a turn.
        keeps: As in `contract.Driver.keeps`.
    """

    name: str
    driver: str
    packages: tuple[str, ...]
    needs: str
    keeps: str = ""


OURS = Peer(
    "nuncius",
    "drive_nuncius.py",
    (),
    "nuncius.agent.runtime, nuncius.store.sqlite, nuncius.llm.openai",
)
PEERS = (
    OURS,
    Peer("pydantic-ai", "drive_pydantic_ai.py", ("pydantic-ai-slim",), "pydantic_ai"),
    Peer("openai-agents", "drive_openai_agents.py", ("openai-agents",), "agents", "session"),
    Peer(
        "langchain",
        "drive_langchain.py",
        ("langchain", "langgraph"),
        "langchain.agents",
        "checkpointer",
    ),
    Peer("deepagents", "drive_deepagents.py", ("deepagents",), "deepagents", "checkpointer"),
)

ROWS = {
    "P1": "P1 a tool that does not exist",
    "P2": "P2 arguments that are not JSON",
    "P3": "P3 one of three parallel tools raises",
    "P4": "P4 results in call order",
    "P5": "P5 the same call id twice in a turn",
    "P6": "P6 a new message after a dangling call",
    "P7": "P7 an empty call id",
    "E1": "E1 four parallel edits of one file in one step, twenty times",
    "E1 threads": "E1 80 edits of one file by four threads",
    "E1 processes": "E1 80 edits of one file by two processes",
    "E2": "E2 an edit keeps CRLF and mixed line endings",
    "E3": "E3 latin-1 and GBK files are edited in their encoding",
    "E4": "E4 a byte order mark stays",
    "E5": "E5 an ambiguous text is refused with its places",
    "E6": "E6 a link stays a link, and the mode stays",
    "S1": "S1 `sleep 17 & echo hi`, limit 8 s",
    "S2": "S2 a time-out of 2 s ends the whole pipeline",
    "S3": "S3 a `setsid` child does not hold the answer",
    "S4": "S4 reading input gives end of file at once",
    "S5": "S5 200 MB of output: memory added, cut told",
    "S6": "S6 output that is not UTF-8 is shown",
    "calls": "1000 calls that do nothing in one turn, ms CPU",
    "turn 1": "a turn at turn 1, ms CPU",
    "turn 50": "a turn at turn 50, ms CPU",
    "turn 400": "a turn at turn 400, ms CPU",
    "turn 2000": "a turn at turn 2000, ms CPU",
    "import": "import, s CPU",
}
PARTS = {
    "probes": ("P1", "P2", "P3", "P4", "P5", "P6", "P7"),
    "files": ("E1", "E1 threads", "E1 processes", "E2", "E3", "E4", "E5", "E6"),
    "shell": ("S1", "S2", "S3", "S4", "S6"),
    "memory": ("S5",),
    "calls": ("calls",),
    "turns": ("turn 1", "turn 50", "turn 400"),
}
"""Each part is one process; with the rows that it is to fill."""


@dataclass
class Column:
    """What came of one peer: `rows` as its driver told them, `why` for rows that are missing."""

    peer: Peer
    versions: str = ""
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)


def main() -> None:
    """Measure every peer, and print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cache", type=Path, default=default_cache(), help="for environments")
    parser.add_argument("--write", type=Path, help="write the page there, too")
    parser.add_argument("--only", nargs="+", choices=[peer.name for peer in PEERS], help="columns")
    options = parser.parse_args()
    peers = [peer for peer in PEERS if not options.only or peer.name in options.only]
    columns = [measured(peer, options.cache.resolve()) for peer in peers]
    text = page(columns)
    print(text)
    if options.write:
        options.write.write_text(text + "\n", encoding="utf-8")


def default_cache() -> Path:
    """Return the user's cache folder, where there is one."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return (Path(base) if Path(base).is_dir() else Path(tempfile.gettempdir())) / "nuncius-peers"


def measured(peer: Peer, cache: Path) -> Column:
    """Install a peer and run its driver, part by part."""
    column = Column(peer)
    try:
        python = installed(peer, cache)
        column.versions = versions(peer, python)
    except (subprocess.SubprocessError, OSError) as error:
        column.why = dict.fromkeys(ROWS, f"not installed: {last_line(error)}")
        return column
    for part, rows in PARTS.items():
        run_part(column, python, part, rows)
        if peer.keeps and part in ("calls", "turns"):
            run_part(column, python, f"{part} kept", [f"{row} kept" for row in rows])
    run_imports(column, python)
    return column


def installed(peer: Peer, cache: Path) -> Path:
    """Return the Python of an environment that has the peer's current release."""
    if not peer.packages:
        return Path(sys.executable)
    folder = cache / peer.name
    python = folder / "bin" / "python"
    say(f"{peer.name}: installing into {folder}")
    if not python.exists():
        venv.create(folder, with_pip=True, clear=True)
    command = [python, "-m", "pip", "install", "--quiet", "--upgrade", *peer.packages]
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=INSTALL_S, env=environment
    )
    return python


def versions(peer: Peer, python: Path) -> str:
    """Return names and versions of what is measured."""
    names = peer.packages or (peer.name,)
    code = "import sys; from importlib.metadata import version; print(*map(version, sys.argv[1:]))"
    found = subprocess.run(
        [python, "-c", code, *names], check=True, capture_output=True, text=True, timeout=60
    )
    return ", ".join(
        f"{name} {number}" for name, number in zip(names, found.stdout.split(), strict=True)
    )


def run_part(column: Column, python: Path, part: str, rows: Sequence[str]) -> None:
    """Run one process of the driver; keep what it told, and why rows are missing."""
    say(f"{column.peer.name}: {part}")
    code, out, err = run([str(python), str(HERE / column.peer.driver), part])
    for line in out.splitlines():
        if not line.startswith('{"row": '):
            continue  # a peer may print words of its own
        told = json.loads(line)
        column.rows[told.pop("row")] = told
    if code != 0:
        reason = f"no end within {PART_S} s" if code is None else f"not driven: {err_line(err)}"
        column.why.update({row: reason for row in rows if row not in column.rows})


def run_imports(column: Column, python: Path) -> None:
    """Take the best of a few fresh processes, after one that fills the caches."""
    code = f"import time; t = time.process_time(); import {column.peer.needs}; print(time.process_time() - t)"
    costs: list[float] = []
    for _ in range(1 + IMPORTS):
        status, out, err = run([str(python), "-c", code])
        if status != 0:
            column.why["import"] = f"not imported: {err_line(err)}"
            return
        costs.append(float(out.split()[-1]))
    column.rows["import"] = {"cpu_s": min(costs[1:])}


def run(command: list[str]) -> tuple[int | None, str, str]:
    """Run a child with no keys, an empty home and an input that never ends.

    Returns:
        Its exit code (None: its time was up), output and errors, also what came before the end.
    """
    with tempfile.TemporaryDirectory(prefix="peers-home-") as home:
        kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,  # open: a shell command that reads it would wait
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=home,
            env={**kept, "HOME": home},
        )
        assert child.stdout
        assert child.stderr
        texts: dict[Any, str] = {}
        readers = [
            threading.Thread(
                target=lambda pipe=pipe: texts.update({pipe: pipe.read()}), daemon=True
            )
            for pipe in (child.stdout, child.stderr)
        ]
        for reader in readers:
            reader.start()
        try:
            code: int | None = child.wait(timeout=PART_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            code = None
        for reader in readers:
            reader.join(timeout=20)  # what the child left running may hold a pipe
        return code, texts.get(child.stdout, ""), texts.get(child.stderr, "")


def last_line(error: Exception) -> str:
    """Return what pip said last, or what the error says."""
    return err_line(getattr(error, "stderr", "") or str(error))


def err_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[-1] if lines else "it said nothing")[:160].replace("|", "/")


def page(columns: Sequence[Column]) -> str:
    """Return the table, with what it was measured on."""
    ours = next((column for column in columns if column.peer is OURS), None)
    names = [column.peer.name for column in columns]
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    measured_on = (
        f"Measured {datetime.now(UTC):%Y-%m-%d} in one run of `bench/peers/run.py`: Python"
        f" {platform.python_version()}, {machine}."
    )
    lines = [
        "# The agent kernel beside its peers",
        "",
        measured_on,
        "",
        *(f"- {column.versions or column.peer.name}" for column in columns),
        "",
        f"| | {' | '.join(names)} |",
        "|---" * (len(names) + 1) + "|",
    ]
    lines += [
        f"| {title} | {' | '.join(cell(column, row, ours) for column in columns)} |"
        for row, title in ROWS.items()
    ]
    return "\n".join([*lines, "", LEGEND])


LEGEND = """\
Figures are CPU time of the whole process, all threads; in brackets how many times ours that is,
then the time on the clock. 1000 calls: best of three. A turn is two model calls and one tool call;
the figure is the median of eleven turns from that one on. Import: what a program needs to run a
turn, best of three.

Where a peer offers a session or checkpointer, its figure follows; in the one before, the caller
hands each turn what the last one returned. Those keep the history in memory; ours writes every
event to SQLite on disk and cannot be told not to. `bench/peers/README.md` tells the rest."""


def cell(column: Column, row: str, ours: Column | None) -> str:
    """Return one cell: words, or a figure with its ratio to ours."""
    if row in column.why:
        return column.why[row]
    told = column.rows.get(row)
    if told is None:
        return "not measured"
    own = ours.rows.get(row, {}) if ours else {}
    kept = column.rows.get(f"{row} kept")
    missing = column.why.get(f"{row} kept", "")
    text = figure(told, own if column is not ours else {})
    if kept is None and not missing:
        return text
    also = missing or figure(kept or {}, own)
    return text if also == text else f"{text}; with its {column.peer.keeps} {also}"


def figure(told: dict[str, Any], own: dict[str, Any]) -> str:
    """Return the words of a row, or its figure."""
    if "cell" in told:
        return str(told["cell"])
    unit = "cpu_s" if "cpu_s" in told else "cpu_ms"
    text = short(told[unit])
    ratio = f"×{short(told[unit] / own[unit])}" if own.get(unit) else ""
    clock = f"{short(told['wall_ms'])} on the clock" if "wall_ms" in told else ""
    more = ", ".join(part for part in (ratio, clock) if part)
    return f"{text} ({more})" if more else text


def short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
