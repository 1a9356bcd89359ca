"""What sessions used, in numbers: tokens, cost, tools, errors; read from what is stored anyway."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nuncius.core.messages import Usage
from nuncius.store.connection import Connection
from nuncius.store.records import load_json

_TURNS = """
    SELECT json ->> 'status', count(*) FROM events
    WHERE type = 'turn_finished' AND (:session = '' OR session_id = :session) GROUP BY 1 ORDER BY 1
"""
_TOOLS = """
    SELECT name, count(*), sum(is_error), sum(duration_ms), max(duration_ms), json_group_array(
        duration_ms
    ), sum(result_seq IS NULL)
    FROM tool_runs WHERE :session = '' OR session_id = :session GROUP BY name ORDER BY name
"""
_ERRORS = """
    SELECT error_kind, count(*) FROM tool_runs
    WHERE is_error AND (:session = '' OR session_id = :session) GROUP BY error_kind ORDER BY 1
"""
_DAYS = """
    SELECT substr(time, 1, 10), sum(json ->> 'input_tokens'), sum(json ->> 'output_tokens'),
        sum(json ->> 'cached_tokens'), sum(json ->> 'reasoning_tokens'), sum(json ->> 'cost_usd'),
        count(*)
    FROM events
    WHERE type = 'usage' AND (:session = '' OR session_id = :session) GROUP BY 1 ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class ToolFigures:
    """One tool's runs. Times are in milliseconds; `median_ms` and `p95_ms` of finished runs."""

    name: str
    runs: int
    errors: int
    open: int
    total_ms: int
    median_ms: int
    p95_ms: int
    longest_ms: int


@dataclass(frozen=True, slots=True)
class DayFigures:
    """One day's model calls (UTC). The cost is None where no price was known."""

    day: str
    calls: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Metrics:
    """Figures of one session, or of all.

    Attributes:
        turns: How many turns ended how.
        errors: How many tool runs failed, by kind.
    """

    session_id: str
    calls: int
    usage: Usage
    turns: dict[str, int]
    tools: Sequence[ToolFigures]
    errors: dict[str, int]
    days: Sequence[DayFigures]


def read(connection: Connection, session_id: str) -> Metrics:
    """Return the figures of one session; of all where `session_id` is empty."""
    values = {"session": session_id}
    days = [
        DayFigures(day, calls, _usage(tokens_in, out, cached, reasoning, cost))
        for day, tokens_in, out, cached, reasoning, cost, calls in connection.rows(_DAYS, values)
    ]
    total = Usage()
    for day in days:
        total += day.usage
    return Metrics(
        session_id,
        sum(day.calls for day in days),
        total,
        {str(status): count for status, count in connection.rows(_TURNS, values)},
        [_tool(row) for row in connection.rows(_TOOLS, values)],
        {str(kind or "error"): count for kind, count in connection.rows(_ERRORS, values)},
        days,
    )


def _usage(
    tokens_in: int | None,
    out: int | None,
    cached: int | None,
    reasoning: int | None,
    cost: float | None,
) -> Usage:
    return Usage(tokens_in or 0, out or 0, cached or 0, reasoning or 0, cost)


def _tool(row: Sequence[Any]) -> ToolFigures:
    name, runs, errors, total, longest, durations, unfinished = row
    times = sorted(load_json(durations))
    return ToolFigures(
        name,
        runs,
        errors,
        unfinished,
        total,
        times[len(times) // 2],
        times[min(len(times) - 1, round(0.95 * len(times)))],
        longest,
    )
