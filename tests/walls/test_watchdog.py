"""A loop that is blocked is told of, with the place, and somebody stands in for it."""

import asyncio
import threading

import pytest

from nuncius.walls import watchdog
from nuncius.walls.watchdog import Watchdog

WAIT_S = 20


class Deputy:
    """Notes when it is called, and until when."""

    def __init__(self) -> None:
        self.called = threading.Event()
        self.done = threading.Event()
        self.times = 0

    def __call__(self, back: threading.Event) -> None:
        self.times += 1
        self.called.set()
        assert back.wait(WAIT_S)
        self.done.set()


def a_tool_that_blocks(until: threading.Event) -> None:
    assert until.wait(WAIT_S)


async def the_end_of(deputy: Deputy) -> None:
    assert await asyncio.to_thread(deputy.done.wait, WAIT_S)


async def test_a_blocked_loop_is_logged_once_with_its_place_and_its_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(watchdog, "PATIENCE_S", 0.2)
    deputy = Deputy()
    with Watchdog(deputy):
        a_tool_that_blocks(deputy.called)
        before = deputy.times
        threading.Event().wait(0.5)  # still blocked: not told again
        assert deputy.times == before
        await the_end_of(deputy)
    told = [record.getMessage() for record in caplog.records]
    (blocked,) = [line for line in told if "in a_tool_that_blocks" in line]
    assert blocked.startswith("the event loop is blocked, for ")
    assert "assert until.wait(WAIT_S)" in blocked
    assert told[told.index(blocked) + 1].startswith("the event loop is back after ")


async def test_the_next_time_is_told_too(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(watchdog, "PATIENCE_S", 0.2)
    deputy = Deputy()
    with Watchdog(deputy):
        for _ in range(2):
            a_tool_that_blocks(deputy.called)
            await the_end_of(deputy)
            deputy.called.clear()
            deputy.done.clear()
    assert caplog.text.count("in a_tool_that_blocks") == 2


async def test_a_loop_that_answers_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(watchdog, "PATIENCE_S", 1.0)
    deputy = Deputy()
    with Watchdog(deputy):
        await asyncio.sleep(1.8)
    assert (deputy.times, caplog.text) == (0, "")


async def test_a_deputy_that_breaks_is_told_and_the_watch_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(watchdog, "PATIENCE_S", 0.2)
    deputy = Deputy()
    faults = [RuntimeError("made up")]

    def breaks_first(back: threading.Event) -> None:
        if faults:
            deputy.called.set()
            raise faults.pop()
        deputy(back)

    with Watchdog(breaks_first):
        a_tool_that_blocks(deputy.called)
        deputy.called.clear()
        await asyncio.sleep(0)
        a_tool_that_blocks(deputy.called)
        await the_end_of(deputy)
    assert "RuntimeError: made up" in caplog.text


@pytest.mark.parametrize("patience_s", [0.0005, 600.0])
async def test_it_ends_at_once_whatever_it_waits_for(
    monkeypatch: pytest.MonkeyPatch, patience_s: float
) -> None:
    monkeypatch.setattr(watchdog, "PATIENCE_S", patience_s)
    before = threading.active_count()
    async with asyncio.timeout(WAIT_S):
        for number in range(200):
            with Watchdog(lambda back: None):
                await asyncio.sleep(number % 4 / 2_000)
    assert threading.active_count() == before
