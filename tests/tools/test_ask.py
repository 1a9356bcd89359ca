"""`ask_user`: four outcomes, whoever answers, now or when the agent has gone on."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.runtime import Runtime
from nuncius.core.errors import NotFoundError, UsageError
from nuncius.core.events import Event, PermissionRequest, Question, QuestionResolved
from nuncius.library.answer import Finisher
from nuncius.llm.scripted import Reply, ScriptedModel, Step
from nuncius.store import open_store
from nuncius.store.protocols import PendingRequest, Store
from nuncius.tools.ask import AskUser


class Page:
    """Somebody who is there and answers by other ways, as a page does."""

    async def ask(self, request: PermissionRequest) -> Any:
        await asyncio.Event().wait()


class Person(Page):
    """Somebody who answers at once."""

    def __init__(self, *answers: str | None) -> None:
        self._answers = list(answers)
        self.seen: list[Question] = []

    async def answer(self, question: Question) -> str | None:
        self.seen.append(question)
        return self._answers.pop(0)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path, tmp_path / "nuncius.db")
    yield opened
    await opened.close()


class Home:
    def __init__(self, store: Store, session_id: str) -> None:
        self.store = store
        self.journal = store.journal
        self.session_id = session_id
        self.model = ScriptedModel([])

    def runtime(self, *script: Step, **more: Any) -> Runtime:
        self.model = ScriptedModel(script)
        return Runtime(
            self.model,
            ToolRegistry([AskUser()]),
            self.journal,
            PermissionChecker(self.store.desk, pending=self.journal),
            Finisher(self.store),
            system_prompt="Do as told.",
            pending=self.journal,
            **more,
        )

    async def turn(self, *script: Step, question: str = "Go.", **more: Any) -> list[Event]:
        """Run a turn and return its events."""
        before = await self.journal.events(self.session_id)
        await self.runtime(*script, **more).run_turn(self.session_id, question)
        return list(await self.journal.events(self.session_id, after=len(before)))

    async def waiting(self, count: int = 1) -> list[PendingRequest]:
        async with asyncio.timeout(10):
            while True:
                found = list(await self.journal.pending(self.session_id))
                if len(found) >= count:
                    return found
                await asyncio.sleep(0.005)


@pytest.fixture
async def home(store: Store) -> Home:
    return Home(store, (await store.journal.create_session()).id)


def asking(*questions: str, **more: Any) -> Reply:
    return Reply(calls=[("ask_user", json.dumps({"question": q, **more})) for q in questions])


def outcomes(events: list[Event]) -> list[tuple[str, str]]:
    return [(e.outcome, e.answer) for e in events if isinstance(e, QuestionResolved)]


def results(events: list[Event]) -> list[Any]:
    return [event for event in events if event.type == "tool_result"]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [("V band", ("answered", "V band")), (None, ("declined", "")), ("  ", ("declined", ""))],
)
async def test_a_person_answers_or_declines(
    home: Home, answer: str | None, outcome: tuple[str, str]
) -> None:
    person = Person(answer)
    script = asking("Which band?", options=["V band", " R band ", "V band"])
    events = await home.turn(script, "Done.", asker=person)
    assert [(q.question, q.options) for q in person.seen] == [("Which band?", ("V band", "R band"))]
    assert outcomes(events) == [outcome]
    (result,) = results(events)
    assert (result.is_error, result.metadata["outcome"]) == (False, outcome[0])
    assert (answer or "does not want").strip() in result.output or outcome[0] == "declined"
    kinds = [e.type for e in events]
    assert kinds.index("question") < kinds.index("question_resolved") < kinds.index("tool_result")
    assert await home.journal.pending() == []
    assert await home.journal.undelivered(home.session_id) == []


async def test_where_nobody_can_answer_it_says_so_at_once(home: Home) -> None:
    events = await asyncio.wait_for(home.turn(asking("Which band?"), "Done."), 5)
    assert outcomes(events) == [("no_user", "")]
    assert "Nobody can answer" in results(events)[0].output
    assert await home.journal.pending() == []


async def test_a_question_waits_for_ever_where_a_page_is_attached(home: Home) -> None:
    turn = asyncio.create_task(home.turn(asking("Which band?"), "Done.", asker=Page()))
    (request,) = await home.waiting()
    assert (request.kind, request.expires_at) == ("question", "")
    await home.journal.answer_question(request.id, "V")
    assert outcomes(await turn) == [("answered", "V")]


async def test_two_open_questions_are_answered_by_id(home: Home) -> None:
    turn = asyncio.create_task(home.turn(asking("Band?", "Epoch?"), "Done.", asker=Page()))
    band, epoch = sorted(await home.waiting(2), key=lambda request: request.question)
    await home.journal.answer_question(epoch.id, "J2000")
    await home.journal.answer_question(band.id, "V")
    told = {result.metadata["question_id"]: result.output for result in results(await turn)}
    assert told == {band.id: "The user answers: V", epoch.id: "The user answers: J2000"}


async def test_the_first_answer_stands_and_a_second_is_told(home: Home) -> None:
    turn = asyncio.create_task(home.turn(asking("Band?"), "Done.", asker=Page()))
    (request,) = await home.waiting()
    await home.journal.answer_question(request.id, "V")
    with pytest.raises(UsageError, match="answered before"):
        await home.journal.answer_question(request.id, "R")
    assert "V" in results(await turn)[0].output


@pytest.mark.parametrize("answer", ["", " \n", "x" * 40_000])
async def test_an_answer_that_says_nothing_or_too_much_is_refused(home: Home, answer: str) -> None:
    turn = asyncio.create_task(home.turn(asking("Band?"), "Done.", asker=Page()))
    (request,) = await home.waiting()
    with pytest.raises(UsageError, match="answer"):
        await home.journal.answer_question(request.id, answer)
    await home.journal.answer_question(request.id, None)
    assert outcomes(await turn) == [("declined", "")]
    with pytest.raises(NotFoundError, match="no question"):
        await home.journal.answer_question("ask_nothing", "V")


async def test_a_late_answer_is_the_users_message_in_the_next_turn_and_only_there(
    home: Home,
) -> None:
    events = await home.turn(asking("Band?"), "I wait.", asker=Page(), patience=lambda: 0.02)
    assert outcomes(events) == [("timed_out", "")]
    assert "stays open" in results(events)[0].output
    (request,) = await home.journal.pending()
    assert (request.state, request.expires_at > request.created_at) == ("timed_out", True)

    await home.journal.answer_question(request.id, "V")
    assert await home.journal.pending() == []
    await home.turn("On I go.", question="And now?")
    *_, last = home.model.requests[0].messages
    assert (last.role, "(Band?): V" in last.content, "And now?" in last.content) == (
        "user", True, True,
    )  # fmt: skip
    await home.turn("Again.", question="Once more?")
    sent = "\n".join(message.content for message in home.model.requests[0].messages)
    assert sent.count("(Band?): V") == 1
    assert await home.journal.undelivered(home.session_id) == []


async def test_a_late_answer_reaches_a_process_that_kept_the_conversation(home: Home) -> None:
    seen: list[str] = []

    def script(request: Any) -> Step:
        seen.append(request.messages[-1].content)
        return asking("Band?") if len(seen) == 1 else "Done."

    runtime = home.runtime(asker=Page(), patience=lambda: 0.02)
    runtime.model = ScriptedModel(script)
    await runtime.run_turn(home.session_id, "Go.")
    (request,) = await home.journal.pending()
    await home.journal.answer_question(request.id, "V")
    await runtime.run_turn(home.session_id, "And now?")
    assert "(Band?): V" in seen[-1]


async def test_an_answer_after_nobody_was_there_is_taken_too(home: Home) -> None:
    events = await home.turn(asking("Band?"), "Done.")
    (question,) = [event for event in events if isinstance(event, Question)]
    await home.journal.answer_question(question.id, "V")
    await home.turn("Done.", question="And now?")
    assert "(Band?): V" in home.model.requests[0].messages[-1].content


async def test_a_cancel_ends_the_waiting_and_retires_the_question(home: Home) -> None:
    cancel = asyncio.Event()
    runtime = home.runtime(asking("Band?"), asker=Page())
    turn = asyncio.create_task(runtime.run_turn(home.session_id, "Go.", cancel=cancel))
    await home.waiting()
    cancel.set()
    assert (await asyncio.wait_for(turn, 2)).status == "cancelled"
    events = list(await home.journal.events(home.session_id))
    assert results(events)[0].error_kind == "cancelled"
    assert await home.journal.pending() == []
    assert await home.journal.undelivered(home.session_id) == []
    assert events[-1].type == "turn_finished"


async def test_an_asker_that_breaks_is_nobody(home: Home) -> None:
    events = await home.turn(asking("Band?"), "Done.", asker=Person())  # has no answer: raises
    assert outcomes(events) == [("no_user", "")]


async def test_mode_plan_may_ask(home: Home) -> None:
    runtime = home.runtime(asking("Band?"), "Done.", asker=Person("V"))
    await runtime.run_turn(home.session_id, "Go.", mode="plan")
    events = list(await home.journal.events(home.session_id))
    assert outcomes(events) == [("answered", "V")]


@pytest.mark.parametrize("seconds", [0, 9, 86_401, -1])
async def test_a_wait_too_short_for_a_person_is_refused(home: Home, seconds: int) -> None:
    events = await home.turn(asking("Band?", timeout_s=seconds), "Done.", asker=Page())
    assert results(events)[0].error_kind == "invalid_arguments"
    assert outcomes(events) == []


async def test_a_question_is_not_decided_like_a_permission(home: Home) -> None:
    turn = asyncio.create_task(home.turn(asking("Band?"), "Done.", asker=Page()))
    (request,) = await home.waiting()
    with pytest.raises(UsageError, match="is a question"):
        await home.journal.decide_request(request.id, "allow")
    await home.journal.answer_question(request.id, "V")
    await turn
