"""Run one part of the measurements with one driver, as a process of its own; print JSON lines."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from contract import Driver, temporary
from figures import growing_session, many_calls
from probes import FILES, MEMORY, PROBES, SHELL, edit_share, probe_calls

PROBE_S = 60  # the slowest waits for a time-out of 8 s


def main(driver: Driver) -> None:
    """Do what the first argument says: probes, calls, turns, files, shell or memory.

    "calls kept" and "turns kept" are for a driver that `keeps`. Each line has `row`, and `cell`
    (words) or figures in milliseconds.
    """
    part, *rest = sys.argv[1:]
    if part == "share":  # one of the processes of a probe
        folder, first = rest
        print(asyncio.run(edit_share(driver, Path(folder), int(first), 2)))
    else:
        asyncio.run(_part(driver, part))


async def _part(driver: Driver, part: str) -> None:
    if part == "probes":
        for probe in ("control", *PROBES):
            await _tell(probe, lambda probe=probe: probe_calls(driver, probe))
        if driver.keeps:
            await _tell("P6 kept", lambda: probe_calls(driver, "P6", kept=True))
    elif part in ("calls", "calls kept"):
        _say(part, **await many_calls(driver, kept=part.endswith("kept")))
    elif part in ("turns", "turns kept"):
        kept = part.endswith("kept")
        for turn, cost in (await growing_session(driver, driver.turns, kept=kept)).items():
            _say(f"turn {turn}{' kept' if kept else ''}", **cost)
    else:
        tools = {"files": FILES, "shell": SHELL, "memory": MEMORY}[part]
        missing = driver.no_files if part == "files" else driver.no_shell
        for name, probe in tools.items():
            if missing and name != "control":
                _say(name, cell=missing)
            if missing:
                continue
            with temporary() as folder:
                await _tell(name, lambda probe=probe, folder=folder: probe(driver, folder))


async def _tell(row: str, probe: Callable[[], Awaitable[str]]) -> None:
    try:
        async with asyncio.timeout(PROBE_S):
            cell = await probe()
    except TimeoutError:
        cell = f"no end within {PROBE_S} s"
    except Exception as error:  # noqa: BLE001  # what a peer lets through is the finding
        cell = f"the run dies ({type(error).__name__})"
        print(f"{row}: {error!r}", file=sys.stderr)
    if row != "control":
        _say(row, cell=cell)
    elif cell != "ok":
        sys.exit(f"What must work does not, so nothing was measured: {cell}.")


def _say(row: str, **values: str | float) -> None:
    print(json.dumps({"row": row, **values}), flush=True)
