"""Services are asked not too often, waited for where they ask, and not twice for the same."""

import asyncio
import itertools
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import ClassVar

import pytest

from nuncius.core.errors import UpstreamError
from nuncius.walls.courtesy import Manners, RateLimitedError, Service, asked_wait_s, read_quota
from nuncius.walls.network import Network, Reply
from nuncius.walls.reply_cache import ReplyCache
from sources.playing import Played, Playing


@pytest.fixture
async def playing() -> AsyncIterator[Playing]:
    async with Playing().serving() as server:
        yield server
        while Bench.opened:
            bench = Bench.opened.pop()
            await bench.network.aclose()
            await bench.cache.aclose()


class Bench:
    """A service at the playing server, and how long it slept."""

    opened: ClassVar[list["Bench"]] = []

    def __init__(self, playing: Playing, folder: Path, **manners: float) -> None:
        self.opened.append(self)
        self.slept: list[float] = []
        self.cache = ReplyCache(folder / "answers.db")
        self.url = f"{playing.url}/x"
        self.network = Network(trusted_hosts=[playing.url], contact_email="a@example.org")
        self.service = Service(
            self.network,
            Manners("Test", **manners),  # pyright: ignore[reportArgumentType]
            folder=folder,
            cache=self.cache,
            sleep=self._sleep,
        )

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


async def test_an_answer_is_kept_as_long_as_asked_and_says_when_it_was_given(
    playing: Playing, tmp_path: Path
) -> None:
    playing.play("/x", Played.text("one"), Played.text("two"))
    bench = Bench(playing, tmp_path)
    first = await bench.service.request("GET", bench.url, keep_s=60)
    again = await Bench(playing, tmp_path).service.request("GET", bench.url, keep_s=60)
    assert (first.cached, again.cached) == (False, True)
    assert (again.reply.text, again.reply.headers["content-type"]) == ("one", "text/plain")
    assert abs(again.at - first.at) < timedelta(seconds=2)
    assert (await bench.service.request("GET", bench.url, keep_s=0)).reply.text == "two"
    assert (await bench.service.request("GET", f"{bench.url}?y", keep_s=60)).reply.text == "two"
    assert len(playing.asked) == 3


async def test_only_good_answers_are_kept(playing: Playing, tmp_path: Path) -> None:
    playing.play("/x", Played.text("no", 404), Played.text("yes"))
    bench = Bench(playing, tmp_path)
    assert (await bench.service.request("GET", bench.url, keep_s=60)).reply.status == 404
    assert (await bench.service.request("GET", bench.url, keep_s=60)).reply.text == "yes"


async def test_a_cache_that_cannot_be_used_stops_nothing(
    playing: Playing, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "answers.db").write_bytes(b"this is no database" * 400)
    playing.play("/x", Played.text("one"))
    bench = Bench(playing, tmp_path)
    assert (await bench.service.request("GET", bench.url, keep_s=60)).reply.text == "one"
    assert "cache" in caplog.text


async def test_the_token_is_no_part_of_what_is_kept(playing: Playing, tmp_path: Path) -> None:
    playing.play("/x", Played.text("one"))
    bench = Bench(playing, tmp_path)
    for token in ("made-up-1", "made-up-2"):
        headers = {"Authorization": f"Bearer {token}"}
        await bench.service.request("GET", bench.url, headers=headers, keep_s=60)
    assert len(playing.asked) == 1
    await bench.cache.aclose()
    assert not any(b"made-up" in file.read_bytes() for file in tmp_path.iterdir())


async def test_it_waits_as_long_as_it_is_asked_to(playing: Playing, tmp_path: Path) -> None:
    busy = Played(b"Rate exceeded.", 429, {"Retry-After": "7"})
    playing.play("/x", busy, Played(b"", 503), Played.text("now"))
    bench = Bench(playing, tmp_path)
    answer = await bench.service.request("GET", bench.url)
    assert answer.reply.text == "now"
    assert bench.slept[0] == 7
    assert 2 <= bench.slept[1] <= 3


async def test_a_long_wait_is_told_and_not_waited_for(playing: Playing, tmp_path: Path) -> None:
    later = datetime.now(UTC) + timedelta(hours=5)
    playing.play("/x", Played(b"", 429, {"Retry-After": format_datetime(later, usegmt=True)}))
    bench = Bench(playing, tmp_path)
    with pytest.raises(RateLimitedError, match=later.strftime("%Y-%m-%d %H:")) as error:
        await bench.service.request("GET", bench.url)
    assert error.value.wait_s
    assert 17_000 < error.value.wait_s < 18_001
    assert (bench.slept, len(playing.asked)) == ([], 1)


async def test_what_stays_busy_is_given_up_after_some_tries(
    playing: Playing, tmp_path: Path
) -> None:
    playing.play("/x", Played(b"busy", 500))
    bench = Bench(playing, tmp_path, tries=3)
    assert (await bench.service.request("GET", bench.url)).reply.status == 500
    assert len(playing.asked) == 3
    playing.play("/x", Played(fault="close"))
    with pytest.raises(UpstreamError, match="3 times") as error:
        await bench.service.request("GET", bench.url)
    assert error.value.hint
    assert error.value.service == "Test"


async def test_what_was_told_of_limits_is_there_for_every_process(
    playing: Playing, tmp_path: Path
) -> None:
    headers = {"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "4864"}
    playing.play("/x", Played(b"", 200, {**headers, "X-RateLimit-Reset": "1435190400"}))
    bench = Bench(playing, tmp_path)
    await bench.service.request("GET", bench.url, endpoint="search")
    (quota,) = Bench(playing, tmp_path).service.quotas()
    assert (quota.endpoint, quota.limit, quota.remaining) == ("search", 5000, 4864)
    assert quota.resets_at == "2015-06-25T00:00:00+00:00"


@pytest.mark.parametrize(
    ("headers", "status", "wait_s"),
    [
        ({}, 429, None),
        ({"retry-after": "0"}, 503, 0.0),
        ({"retry-after": "soon"}, 429, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1100"}, 429, 100.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "900"}, 429, 0.0),
        ({"x-ratelimit-remaining": "3", "x-ratelimit-reset": "1100"}, 429, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 40}, 429, None),
    ],
)
def test_the_wait_that_is_asked_for_is_read(
    headers: dict[str, str], status: int, wait_s: float | None
) -> None:
    assert asked_wait_s(Reply(status, "https://example.org/", headers, b""), now=1000) == wait_s


def test_limits_in_other_spellings_are_read() -> None:
    quota = read_quota("works", {"x-rate-limit-limit": "150", "x-rate-limit-interval": "1s"})
    assert quota
    assert (quota.limit, quota.remaining) == (150, None)
    assert read_quota("works", {"x-ratelimit-limit": "many"}) is None


# --- one at a time, over all processes ---

ASK = """
import asyncio, sys
from pathlib import Path
from nuncius.walls.courtesy import Manners, Service
from nuncius.walls.network import Network

async def main(url, folder):
    network = Network(trusted_hosts=[url])
    service = Service(network, Manners("Slow", interval_s=0.3), folder=Path(folder))
    await asyncio.gather(*(service.request("GET", f"{url}/x{n}") for n in range(2)))

    await network.aclose()

asyncio.run(main(*sys.argv[1:]))
"""


async def test_requests_of_all_processes_keep_the_pace(playing: Playing, tmp_path: Path) -> None:
    playing.play("/x", Played.text("ok"))
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", ASK, playing.url, str(tmp_path))
        for _ in range(3)
    ]
    assert [await process.wait() for process in processes] == [0, 0, 0]
    times = sorted(asked.at for asked in playing.asked)
    assert len(times) == 6
    assert all(after - before >= 0.29 for before, after in itertools.pairwise(times))


async def test_a_request_that_is_cancelled_gives_its_turn_back(
    playing: Playing, tmp_path: Path
) -> None:
    playing.play("/x", Played(fault="silent"))
    bench = Bench(playing, tmp_path, interval_s=0.01)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(bench.service.request("GET", bench.url), 0.2)
    playing.play("/x", Played.text("free"))
    answer = await asyncio.wait_for(bench.service.request("GET", bench.url), 5)
    assert answer.reply.text == "free"
