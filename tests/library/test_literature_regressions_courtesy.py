"""Manners that were broken where a request is more than one, or two are at the same place."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from nuncius.walls.courtesy import Manners, RateLimitedError, Service
from nuncius.walls.network import Network
from sources.playing import Played, Playing


@pytest.fixture
async def playing() -> AsyncIterator[Playing]:
    async with Playing().serving() as server:
        yield server


@pytest.fixture
async def network(playing: Playing) -> AsyncIterator[Network]:
    made = Network(trusted_hosts=[playing.url])
    yield made
    await made.aclose()


async def test_a_redirect_keeps_the_pace_of_its_service(
    playing: Playing, network: Network, tmp_path: Path
) -> None:
    playing.play("/arxiv/new", Played.text("here"))
    playing.play("/arxiv/old", Played(b"", 301, {"Location": "/arxiv/new"}))
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    service = Service(
        network, Manners("arXiv", interval_s=3.0, parallel=1), folder=tmp_path, sleep=sleep
    )
    answer = await service.request("GET", f"{playing.url}/arxiv/old")
    assert answer.reply.text == "here"
    assert playing.paths() == ["/arxiv/old", "/arxiv/new"]
    assert sum(slept) > 2.9


async def test_two_answers_that_tell_their_limits_at_once_are_both_answers(
    playing: Playing, network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Played.json({}, X_RateLimit_Limit="5000", X_RateLimit_Remaining="9")
    playing.play("/ads", told)
    both_written = threading.Barrier(2)
    write = Path.write_text

    def write_and_meet(path: Path, *args: Any, **named: Any) -> int:
        written = write(path, *args, **named)
        with contextlib.suppress(threading.BrokenBarrierError):  # they may take turns as well
            both_written.wait(0.5)
        return written

    monkeypatch.setattr(Path, "write_text", write_and_meet)
    service = Service(network, Manners("ADS", parallel=4), folder=tmp_path)
    answers = await asyncio.gather(
        *(service.request("GET", f"{playing.url}/ads/{name}", endpoint=name) for name in "ab"),
        return_exceptions=True,
    )
    assert [one for one in answers if isinstance(one, BaseException)] == []


async def test_a_long_wait_is_told_without_the_query(
    playing: Playing, network: Network, tmp_path: Path
) -> None:
    playing.play("/works", Played(b"", 429, {"Retry-After": "86400"}))
    service = Service(network, Manners("Crossref"), folder=tmp_path)
    with pytest.raises(RateLimitedError, match="asks to wait until") as error:
        await service.request("GET", f"{playing.url}/works?mailto=me%40example.org&q=stars")
    assert "me%40example.org" not in str(error.value)
