"""What comes into the library in the background: files that are sent, papers that are named."""

import asyncio
import hashlib
import logging
import re
import unicodedata
import uuid
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from nuncius.api.errors import ConflictError, StoppingError, kind_of
from nuncius.api.models import Shape
from nuncius.api.paper_models import FailureShape, PaperShape, failure_shape, paper_shape
from nuncius.app.build import App
from nuncius.core.errors import NotFoundError, NunciusError, UsageError
from nuncius.library.records import AddReport

log = logging.getLogger(__name__)

_MOST_KEPT = 200
_ENDED = frozenset({"done", "failed"})
_FOLDER = "uploads"
_BAD = re.compile(r"[\x00-\x1f\x7f/\\]")
_LONGEST_NAME_BYTES = 150
_SIDE_BY_SIDE = 1  # one parser at a time leaves the machine to the person


class Task(Shape):
    """Work that goes on after its request; kept until it is deleted or the server ends."""

    id: str
    kind: Literal["add"]
    what: str
    """The file's name, or the paper's as it was asked for."""
    state: Literal["waiting", "running", "done", "failed"]
    """`failed`: it could not be added; `failures` say why."""
    progress: str
    fraction: float | None
    created_at: str
    finished_at: str
    papers: list[PaperShape]
    """What came of it: added, updated, or known before."""
    failures: list[FailureShape]


Work = Callable[[Task], Awaitable[AddReport]]
"""Does a task's work and tells in the task how far it is."""


class TaskList(Shape):
    """Tasks, newest first."""

    tasks: Sequence[Task]


class Tasks:
    """The work of this server, newest first."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._tasks: dict[str, Task] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._slot = asyncio.Semaphore(_SIDE_BY_SIDE)
        self._stopping = False

    def all(self) -> Sequence[Task]:
        """Return all tasks, newest first."""
        return list(self._tasks.values())[::-1]

    async def add(self, name: str, content: bytes, *, confidential: bool) -> Task:
        """Keep a file and begin to read it into the library.

        Raises:
            UsageError: The name is no file's name, or there is no content.
            StoppingError: The server is ending.
        """
        if self._stopping:
            raise StoppingError("The server is ending.", hint="Start `nuncius serve` again.")
        if not content:
            raise UsageError("The file is empty.", hint="Choose one that holds something.")
        place = Path(_FOLDER) / hashlib.sha256(content).hexdigest()[:16] / file_name(name)
        path = self._app.settings.library_dir / place
        await asyncio.to_thread(self._app.guard().write, str(path), content)

        async def read(task: Task) -> AddReport:
            def tell(what: str, done: int, total: int) -> None:
                task.progress = what
                task.fraction = done / total if total else None

            return await self._app.library.add([path], confidential=confidential, progress=tell)

        return self._begin(path.name, read)

    def fetch(self, name: str) -> Task:
        """Begin to fetch a paper by one of its names and to read it.

        Raises:
            StoppingError: The server is ending.
        """
        if self._stopping:
            raise StoppingError("The server is ending.", hint="Start `nuncius serve` again.")

        async def fetched(task: Task) -> AddReport:
            def tell(text: str, fraction: float | None) -> None:
                task.progress, task.fraction = text, fraction

            return await self._app.downloads().add(name, report=tell)

        return self._begin(name, fetched)

    def forget(self, task_id: str) -> None:
        """Let go of a task that has ended; what came of it stays.

        Raises:
            NotFoundError: There is no such task (any more).
            ConflictError: It still waits or runs.
        """
        task = self._tasks.get(task_id)
        if task is None:
            raise NotFoundError(f"There is no task {task_id}.", hint="It may have been let go of.")
        if task.state not in _ENDED:
            raise ConflictError(f"{task.what} is still being added.", hint="Wait for its end.")
        del self._tasks[task_id]

    async def stop(self) -> None:
        """End what runs; a file that was not read yet can be added again."""
        self._stopping = True
        for running in tuple(self._running):
            running.cancel()
        if self._running:
            await asyncio.wait(tuple(self._running))

    def _begin(self, what: str, work: Work) -> Task:
        task = Task(
            id=f"task_{uuid.uuid4().hex[:16]}",
            kind="add",
            what=what,
            state="waiting",
            progress="",
            fraction=None,
            created_at=_now(),
            finished_at="",
            papers=[],
            failures=[],
        )
        self._tasks[task.id] = task
        self._forget_old()
        running = asyncio.create_task(self._run(task, work))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        return task

    async def _run(self, task: Task, work: Work) -> None:
        async with self._slot:
            task.state = "running"
            try:
                report = await work(task)
                known = [
                    await self._app.library.paper(paper_id) for _, paper_id in report.duplicates
                ]
                found = [*report.added, *report.updated, *report.unchanged, *known]
                task.papers = [paper_shape(paper) for paper in found]
                task.failures = [failure_shape(failure) for failure in report.failed]
            except NunciusError as error:
                task.failures = [_failure(task.what, kind_of(error), error.message, error.hint)]
            except Exception as error:
                log.exception("%s could not be added", task.what)
                reason = f"nuncius itself broke: {type(error).__name__}"
                task.failures = [_failure(task.what, "crashed", reason, "The log tells more.")]
        task.state = "failed" if task.failures else "done"
        task.progress, task.fraction, task.finished_at = "", 1.0, _now()

    def _forget_old(self) -> None:
        ended = [one.id for one in self._tasks.values() if one.state in _ENDED]
        for task_id in ended[: max(0, len(self._tasks) - _MOST_KEPT)]:
            del self._tasks[task_id]


def file_name(name: str) -> str:
    """Return the name that an upload is kept under.

    Raises:
        UsageError: It is no plain name of a file.
    """
    plain = unicodedata.normalize("NFC", name).strip()
    wrong = (
        not plain
        or plain.startswith((".", "~"))
        or _BAD.search(plain)
        or len(plain.encode("utf-8", errors="replace")) > _LONGEST_NAME_BYTES
        or any(unicodedata.category(letter) in {"Cf", "Cs"} for letter in plain)
    )
    if wrong:
        raise UsageError(
            f"{name[:60]!r} is no name for a file.",
            hint="Give a plain name such as paper.pdf, without folders.",
        )
    return plain


def _failure(what: str, kind: str, reason: str, hint: str) -> FailureShape:
    return FailureShape(what=what, error_kind=kind, reason=reason, hint=hint)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
