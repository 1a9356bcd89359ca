"""Whole conversations with a scripted model, watched in a real browser; each replays to the same page."""

import asyncio
import json
import random
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from api.serve_process import serving_process
from api.served import WAIT_S, Place, ask_call, place_in, write_call
from cli.loopback import serve as model_server
from nuncius.core.errors import ModelError
from nuncius.llm.scripted import Reply
from pages.browser import needs_browser, say, signed_in, timeline

pytestmark = needs_browser
Act = Callable[[Any, Place], Awaitable[None]]


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with place_in(tmp_path) as served:
        yield served


def press(name: str) -> Act:
    async def act(page: Any, _place: Place) -> None:
        await page.get_by_role("button", name=name).first.click()

    return act


def key(name: str, card: str) -> Act:
    async def act(page: Any, _place: Place) -> None:
        await page.get_by_role("region", name=card).wait_for()
        await page.wait_for_timeout(200)  # the card takes the focus of who types nothing
        await page.keyboard.press(name)

    return act


async def nothing(_page: Any, _place: Place) -> None:
    """Only watch."""


def delegate() -> Reply:
    arguments = json.dumps({"task": "Look at M 31.", "name": "reader"})
    return Reply(calls=[("subagent", arguments)])


DOWN = ModelError("the model", "http://127.0.0.1:9", "it said nothing")
CASES: dict[str, tuple[list[Any], Act, str]] = {
    "allowed": ([write_call("a.txt"), "It is written."], press("Allow once"), "It is written."),
    "by a key": ([write_call("a.txt"), "It is written."], key("a", "Permission"), "It is written."),
    "option by a key": (
        [ask_call("Which galaxy?", "M 31", "M 33"), "That one."],
        key("2", "A question to you"),
        "That one.",
    ),
    "denied": ([write_call("a.txt"), "Then not."], press("Deny"), "Then not."),
    "always": (
        [write_call("a.txt"), write_call("a.txt", "y"), "Twice."],
        press("Always"),
        "Twice.",
    ),
    "answered": (
        [ask_call("Which galaxy?", "M 31", "M 33"), "That one."],
        press("M 33"),
        "That one.",
    ),
    "declined": ([ask_call("Which galaxy?"), "I go on."], press("Decline"), "I go on."),
    "stopped": ([Reply(["word "] * 400, delay_s=0.05)], press("Stop"), "You stopped this turn."),
    "thinking": ([Reply("It shines.", thinking="Hm, does it?")], nothing, "It shines."),
    "subagent": ([delegate(), "M 31 is bright.", "It is bright."], nothing, "It is bright."),
    "error": ([DOWN], nothing, "This turn failed."),
}


async def ended(place: Place, *, turns: int = 1) -> str:
    """Return the session once so many turns of it are over."""
    async with asyncio.timeout(WAIT_S):
        while True:
            sessions = (await place.get("/sessions"))["sessions"]
            if sessions:
                events = await place.app.journal.events(sessions[0]["id"])
                if [event.type for event in events].count("turn_finished") == turns:
                    return sessions[0]["id"]
            await asyncio.sleep(0.02)


async def replays_to_the_same(page: Any, told: str) -> None:
    """Check that a reload shows what the page has come to show by itself."""
    shown = page.locator(".timeline-list").get_by_text(told).first
    await shown.wait_for()
    await page.wait_for_timeout(300)
    live = await timeline(page)
    await page.reload()
    await shown.wait_for()
    await page.wait_for_timeout(300)
    assert await timeline(page) == live


@pytest.mark.parametrize("case", CASES)
async def test_a_conversation_is_watched_and_replays_to_the_same_page(
    place: Place, case: str
) -> None:
    script, act, told = CASES[case]
    place.says(script)
    async with signed_in(place.served.link()) as page:
        await say(page, "Go on.")
        await act(page, place)
        await page.locator(".timeline-list").get_by_text(told).first.wait_for()
        await ended(place)
        await replays_to_the_same(page, told)
    written = (place.folder / "a.txt").exists()
    assert written == (case in {"allowed", "always", "by a key"})
    rules = (await place.get("/permissions"))["rules"]
    assert bool(rules) == (case == "always")


async def test_a_question_that_came_late_is_answered_on_the_page(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nuncius.api.turns.UNWATCHED_QUESTION_S", 0.2)
    place.says([ask_call("Which galaxy?", "M 31", "M 33"), "I go on without."])
    session_id = await place.session()
    await place.post(f"/sessions/{session_id}/turns", {"message": "Ask."})
    await ended(place)  # nobody read along: a question would have waited for them
    async with signed_in(place.served.link()) as page:
        await page.get_by_text("Ask.").first.click()
        await page.get_by_role("button", name="M 33").first.click()
        async with asyncio.timeout(WAIT_S):
            while (await place.get("/pending"))["pending"]:  # noqa: ASYNC110  (the server's)
                await asyncio.sleep(0.02)
        await replays_to_the_same(page, "I go on without.")


async def test_compaction_is_shown(place: Place) -> None:
    long = "It shines. " * 60
    place.says([long, long, long, "Summary.", "Good."])
    session_id = await place.session()
    for _ in range(3):
        await place.turn(session_id, "Tell. " * 200)
    await place.post(f"/sessions/{session_id}/compact", {"focus": "M 31"})
    await place.turn(session_id, "And now?")
    async with signed_in(place.served.link()) as page:
        await page.get_by_text("Tell.").first.click()
        await page.locator(".timeline-list").get_by_text("Good.").first.wait_for()
        await page.get_by_role("button", name="Worked").last.click()
        await page.get_by_text("summarised").first.wait_for()
        await page.reload()  # folds what was opened
        await replays_to_the_same(page, "Good.")


async def test_a_tab_reloaded_or_killed_at_any_moment_ends_in_the_page_that_was_left_alone(
    place: Place,
) -> None:
    words = [f"word{number} " for number in range(300)]
    place.says(["Yes.", write_call("a.txt"), Reply(words, delay_s=0.02), "never asked"])
    place.app.settings = place.app.settings.model_copy(update={"permission_mode": "auto"})
    chance = random.Random(7)
    async with signed_in(place.served.link()) as page:
        await say(page, "Are you there?")
        await page.locator(".timeline-list").get_by_text("Yes.").first.wait_for()
        other = await page.context.new_page()
        await other.goto(page.url)
        await say(page, "Tell me.")
        await other.locator(".timeline-list").get_by_text("word0").first.wait_for()
        for turn in range(20):
            await other.wait_for_timeout(chance.randint(0, 150))
            if turn % 4 == 3:
                killed, other = other, await page.context.new_page()
                await kill(killed)
                await other.goto(page.url, wait_until=chance.choice(["commit", "load"]))
            else:
                await other.reload(wait_until=chance.choice(["commit", "domcontentloaded"]))
        for tab in (page, other):
            await tab.locator(".timeline-list").get_by_text("word299").first.wait_for()
        await ended(place, turns=2)
        await page.wait_for_timeout(300)
        kept = await timeline(page)
        assert await timeline(other) == kept
        assert kept.count("word17 ") == 1


async def kill(page: Any) -> None:
    """End the process that draws a tab, as the system does when it runs out of memory."""
    gone = asyncio.Event()

    def crashed(_page: Any) -> None:
        gone.set()

    page.once("crash", crashed)
    session = await page.context.new_cdp_session(page)
    crash = asyncio.ensure_future(session.send("Page.crash"))
    async with asyncio.timeout(WAIT_S):
        await gone.wait()
    crash.cancel()
    await page.close()


async def test_the_page_goes_on_when_its_server_is_killed_and_started_again(
    tmp_path: Path,
) -> None:
    """Each time in the midst of a turn; the next start closes it, and the page shows that by itself."""
    times = 4
    chance = random.Random(11)
    with model_server(*[None] * times) as model:
        more = {"LLM_BASE_URL": model.url, "LLM_MODEL": "m", "LLM_API_KEY": "k" * 20}
        async with AsyncExitStack() as stack:
            first = await stack.enter_async_context(serving_process(tmp_path, more=more))
            server = first
            async with signed_in(first.link) as page:
                for time in range(1, times + 1):
                    await say(page, f"Think {time}.")
                    await asyncio.to_thread(model.speaking.wait, WAIT_S)
                    model.speaking.clear()
                    await page.wait_for_timeout(chance.randint(0, 300))
                    await server.end(signal.SIGKILL)
                    server = await stack.enter_async_context(
                        serving_process(tmp_path, port=first.port, more=more)
                    )
                    failed = page.locator(".timeline-list").get_by_text("This turn failed.")
                    await failed.nth(time - 1).wait_for()
                kept = await timeline(page)
                other = await page.context.new_page()
                await other.goto(page.url)
                await other.get_by_text("This turn failed.").nth(times - 1).wait_for()
                await other.wait_for_timeout(300)
                assert await timeline(other) == kept
                model.over.set()
