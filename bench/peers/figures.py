"""Time and memory: what many calls cost, and a turn as the session grows."""

import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from contract import Call, Driver, Line, Step, call

CALLS = 1000
WINDOW = 11
"""The figure of a turn is the median of as many turns from that one on."""


@dataclass
class Busy:
    """A model that calls `nothing` (`count` times in one step), then answers, and so on.

    It does not look at the requests, so that only the peer's own work is measured.
    """

    count: int
    requests: int = 0
    seen: Callable[[], list[Line]] = field(default=list)

    def __call__(self, seen: Callable[[], list[Line]]) -> Step:
        self.requests += 1
        self.seen = seen
        if self.requests % 2 == 0:
            return "Done."
        return [self._call(number) for number in range(self.count)]

    def _call(self, number: int) -> Call:
        return call(f"c{self.requests}_{number}", "nothing", number=self.requests + number)


async def many_calls(driver: Driver, *, kept: bool) -> dict[str, float]:
    """Return the best of three turns with 1000 calls each, in milliseconds."""
    walls: list[float] = []
    cpus: list[float] = []
    for _ in range(3):
        model = Busy(CALLS)
        async with driver.session(model, kept=kept) as turn:
            wall, cpu = time.perf_counter(), time.process_time()
            await turn("Do nothing, often.")
            walls.append(time.perf_counter() - wall)
            cpus.append(time.process_time() - cpu)
            results = sum(line.role == "tool" for line in model.seen())
        if results != CALLS:
            raise AssertionError(f"{results} results of {CALLS} calls reached the model")
    return {"wall_ms": min(walls) * 1000, "cpu_ms": min(cpus) * 1000}


async def growing_session(
    driver: Driver, turns: Sequence[int], *, kept: bool
) -> dict[int, dict[str, float]]:
    """Return what a turn (two model calls, one tool call) costs at these turns of one session."""
    walls: list[float] = []
    cpus: list[float] = []
    model = Busy(1)
    async with driver.session(model, kept=kept) as turn:
        for number in range(1, turns[-1] + WINDOW):
            wall, cpu = time.perf_counter(), time.process_time()
            await turn(f"Turn {number}.")
            walls.append(time.perf_counter() - wall)
            cpus.append(time.process_time() - cpu)
        carried = sum(line.role == "user" for line in model.seen())
    if carried != len(walls):
        raise AssertionError(f"the last request carried {carried} of {len(walls)} questions")
    return {
        at: {
            "wall_ms": statistics.median(walls[at - 1 : at - 1 + WINDOW]) * 1000,
            "cpu_ms": statistics.median(cpus[at - 1 : at - 1 + WINDOW]) * 1000,
        }
        for at in turns
    }


def peak_mb() -> float:
    """Return the most memory this process has held so far."""
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
