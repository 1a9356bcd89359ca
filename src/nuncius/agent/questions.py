"""The agent's questions to the user: they wait for whoever answers first, here or elsewhere.

A question is journaled before anybody sees it and outlives its turn. An answer that comes when the
agent has gone on is told to it at the start of the session's next turn, as a message of the user's.
"""

import asyncio
import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NoReturn

from nuncius.agent.feed import Feed
from nuncius.agent.ports import (
    Asker,
    Patience,
    PendingRequest,
    PendingRequests,
    Respondent,
    for_ever,
)
from nuncius.core.events import Question, QuestionOutcome, QuestionResolved
from nuncius.core.messages import Message, StoredMessage
from nuncius.core.text import clean

log = logging.getLogger(__name__)
POLL_S = 0.1
"""How often a waiting request is looked up: another process may have answered it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """How a question ended; `id` names it in the journal."""

    id: str
    outcome: QuestionOutcome
    answer: str = ""


class Questions:
    """Asks the questions of one turn.

    Args:
        asker: Who is there; None: nobody can answer.
        pending: Where answers of other processes are seen; None: there are none.
        timeout_s: Tells, when a question is asked that does not say it itself, how long to wait;
            None: for ever.
    """

    def __init__(
        self,
        feed: Feed,
        *,
        asker: Asker | None,
        pending: PendingRequests | None,
        timeout_s: Patience = for_ever,
    ) -> None:
        self._feed = feed
        self._asker = asker
        self._pending = pending
        self._timeout_s = timeout_s

    async def ask(
        self, text: str, *, options: Sequence[str] = (), timeout_s: float | None = None
    ) -> Reply:
        """Put one question and wait for its end; any number may wait at the same time.

        Whoever cancels the waiting retires the question as `no_user`.
        """
        timeout_s = timeout_s or self._timeout_s()
        question = self._feed.stamp(
            Question,
            id=f"ask_{uuid.uuid4().hex[:16]}",
            question=clean(text).strip(),
            options=tuple(clean(option).strip() for option in options),
            expires_at=_from_now(timeout_s) if self._asker and timeout_s else "",
        )
        if self._asker is None:
            reply = Reply(question.id, "no_user")
            await self._feed.emit(question, self._resolved(reply), durable=True)
            return reply
        await self._feed.emit(question, durable=True)
        try:
            reply = await self._first(question, self._asker, timeout_s)
        except asyncio.CancelledError:
            await self._feed.emit(self._resolved(Reply(question.id, "no_user")))
            raise
        return reply

    async def _first(self, question: Question, asker: Asker, timeout_s: float | None) -> Reply:
        """Return the first answer: of the person here, of another process, or of the clock."""
        here = asyncio.ensure_future(_here(asker, question))
        elsewhere = asyncio.ensure_future(decided_elsewhere(self._pending, question.id))
        try:
            await asyncio.wait(
                (here, elsewhere), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED
            )
            if not elsewhere.done():
                reply = here.result() if here.done() else Reply(question.id, "timed_out")
                await self._feed.emit(self._resolved(reply), durable=True)
                if self._pending is None:
                    return reply
                # of two answers in one moment the first one stands, and that is what is read
                return _reply(await self._pending.pending_request(question.id))
            return _reply(elsewhere.result())
        finally:
            for waiting in (here, elsewhere):
                waiting.cancel()
            await asyncio.wait((here, elsewhere))

    def _resolved(self, reply: Reply) -> QuestionResolved:
        return self._feed.stamp(
            QuestionResolved, id=reply.id, outcome=reply.outcome, answer=reply.answer
        )


async def decided_elsewhere(pending: PendingRequests | None, request_id: str) -> PendingRequest:
    """Return the request as soon as somebody else has ended it; never where nobody can."""
    if pending is None:
        return await _never()
    while True:
        await asyncio.sleep(POLL_S)
        request = await pending.pending_request(request_id)
        if request.state != "open":
            return request


async def late_answers(
    pending: PendingRequests | None, session_id: str, turn_id: str
) -> list[StoredMessage]:
    """Return a message of the user's for each answer that came when the agent had gone on."""
    if pending is None:
        return []
    return [
        StoredMessage(
            session_id,
            turn_id,
            Message("user", told(request.question, request.state, request.answer)),
            metadata={"delivers": [request.id]},
        )
        for request in await pending.undelivered(session_id)
    ]


def told(question: str, outcome: str, answer: str) -> str:
    """Return a late answer in the user's words."""
    if outcome == "declined":
        return f"I do not want to answer your earlier question: {question}"
    return f"My answer to your earlier question ({question}): {answer}"


async def _here(asker: Asker, question: Question) -> Reply:
    """Return what the person here says; where nobody is asked here, wait for other ways."""
    if isinstance(asker, Respondent):
        try:
            answer = await asker.answer(question)
        except Exception:
            log.exception("the question could not be asked")
            return Reply(question.id, "no_user")
        if answer is None or not clean(answer).strip():
            return Reply(question.id, "declined")
        return Reply(question.id, "answered", clean(answer).strip())
    return await _never()


async def _never() -> NoReturn:
    await asyncio.get_running_loop().create_future()
    raise AssertionError


def _reply(request: PendingRequest) -> Reply:
    outcome: QuestionOutcome
    match request.state:
        case "answered" | "declined" | "timed_out" | "no_user":
            outcome = request.state
        case _:
            outcome = "no_user"
    return Reply(request.id, outcome, request.answer)


def _from_now(seconds: float) -> str:
    moment = datetime.now(UTC) + timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
