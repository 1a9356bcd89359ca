"""Sees when a model goes round in circles: the same calls with the same results, again and again.

Arguments alone are no proof (a poll that changes is progress), so the fingerprint of a step is its
calls with their results. Circles of one to four steps are seen.
"""

import hashlib
from collections.abc import Iterable

CallKey = tuple[str, str]
"""Tool name and canonical arguments."""
StepPrint = frozenset[tuple[CallKey, str]]

REMIND_AT = 3
REFUSE_AT = 4
STOP_AT = 8
LONGEST_PERIOD = 4

REMINDER = (
    "\n\n[Reminder: this call has now given the same result {count} times. Use what you have,"
    " change the arguments, or tell the user what is missing.]"
)
REFUSAL = (
    "Not done: this call repeats earlier ones ({count} times in a row, same arguments, same"
    " result). Use the result that you have, try something else, or answer with what you know."
)


def fingerprint(text: str) -> str:
    """Return a short digest of a result."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


class LoopDetector:
    """Counts alike steps of one turn.

    For each step: `begin` with its calls, `count` for each result, `end` when all are there.
    """

    def __init__(self) -> None:
        self._steps: list[StepPrint] = []
        self._matches = dict.fromkeys(range(1, LONGEST_PERIOD + 1), 0)
        self._current: dict[CallKey, str] = {}
        self._expected: dict[CallKey, tuple[str, int]] = {}
        self._last: dict[CallKey, str] = {}
        self.repeats = 1
        """How often the last step's circle has run, 1 for none."""

    def begin(self, calls: Iterable[CallKey]) -> None:
        """Start a step. Equal calls within one step count as one."""
        keys = frozenset(calls)
        self._current = {}
        self._expected = {}
        for period in range(1, min(LONGEST_PERIOD, len(self._steps)) + 1):
            earlier = dict(self._steps[-period])
            if earlier.keys() != keys:
                continue
            count = (self._matches[period] + 1) // period + 1
            if all(count > known for _, known in self._expected.values()):
                self._expected = {key: (digest, count) for key, digest in earlier.items()}

    def expected(self, call: CallKey) -> int:
        """Return how often `call` will have given one result, if it gives it again; else 1."""
        return self._expected.get(call, ("", 1))[1]

    def count(self, call: CallKey, result: str, *, unchanged: bool = False) -> int:
        """Note a result and return how often in a row the call has now given it.

        Args:
            unchanged: The tool itself says that this is what it gave before.
        """
        digest = self._last.get(call, "") if unchanged else ""
        digest = digest or fingerprint(result)
        self._current[call] = self._last[call] = digest
        known, count = self._expected.get(call, ("", 1))
        return count if digest == known else 1

    def skipped(self, call: CallKey) -> None:
        """Note that `call` was refused and would have given what it gave before."""
        self._current[call] = self._expected[call][0]

    def end(self, *, counts: bool = True) -> None:
        """Finish the step; one of polling tools only does not count towards the stop."""
        step: StepPrint = frozenset(self._current.items())
        for period in self._matches:
            alike = len(self._steps) >= period and self._steps[-period] == step
            self._matches[period] = self._matches[period] + 1 if alike else 0
        self._steps.append(step)
        repeats = max(matches // period + 1 for period, matches in self._matches.items())
        self.repeats = repeats if counts else 1
