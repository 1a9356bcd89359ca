"""`Library` and `Agent` for scripts and notebooks: synchronous, with `a...` twins for async code.

Both work inside a running event loop too (Jupyter): the work is done on a loop of their own, in a
thread of their own.
"""

import asyncio
import html
import os
import threading
import warnings
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self, TypeVar

from nuncius.app import App, open_app
from nuncius.app.config import load_settings
from nuncius.core.errors import NunciusError, UsageError
from nuncius.core.evidence import Answer
from nuncius.core.papers import Paper
from nuncius.core.settings import Settings
from nuncius.library.records import AddReport, PaperText, Retrieval

T = TypeVar("T")


class _Home:
    """An open home with a loop in a thread."""

    def __init__(self, home: str | Path | None) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="nuncius", daemon=True)
        self._thread.start()
        self._stack = AsyncExitStack()
        try:
            self.app: App = self.wait(self._open(home))
        except BaseException:
            self._stop()
            raise

    async def _open(self, home: str | Path | None) -> App:
        return await self._stack.enter_async_context(open_app(_settings(home)))

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        if self._loop.is_closed():
            work.close()
            raise UsageError("This library is closed.", hint="Open it again: Library().")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        future = self.submit(work)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    async def elsewhere(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(self.submit(work))

    def close(self) -> None:
        if self._thread.is_alive():
            self.wait(self._stack.aclose())
            self._stop()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _settings(home: str | Path | None) -> Settings:
    environment = dict(os.environ)
    if home is not None:
        environment["NUNCIUS_HOME"] = str(home)
    loaded = load_settings(environment)
    for text in loaded.warnings:
        warnings.warn(text, stacklevel=5)
    return loaded.settings


class ShownAnswer:
    """An answer that displays itself: text in a terminal, HTML in Jupyter."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self.answer, name)

    def __repr__(self) -> str:
        places = [
            f"[{c.key}] {c.title}, {f'p. {c.page}' if c.page else c.section or 'no pages'} ({c.check})"
            for c in self.answer.citations
        ]
        marked = [f"not supported ({u.reason}): {u.sentence}" for u in self.answer.unsupported]
        return "\n".join([self.answer.text, "", *places, *marked, *self.answer.degraded])

    def _repr_html_(self) -> str:
        quotes = "".join(
            f"<li><b>{html.escape(c.title)}</b>"
            f"{f', p. {c.page}' if c.page else ''} ({c.check})"
            f"<blockquote>{html.escape(c.quote)}</blockquote></li>"
            for c in self.answer.citations
        )
        labels = html.escape("; ".join(self.answer.degraded))
        text = html.escape(self.answer.text).replace("\n", "<br>")
        return f"<p><i>{labels}</i></p><p>{text}</p><ol>{quotes}</ol>"


class Library:
    """The user's papers.

    Args:
        home: The data directory; None: the one that the settings name.

    Example:
        >>> from nuncius import Library
        >>> library = Library()                     # doctest: +SKIP
        >>> library.add("~/papers")                 # doctest: +SKIP
        >>> library.ask("How old is Kepler 1627?")  # doctest: +SKIP
    """

    def __init__(self, home: str | Path | None = None) -> None:
        self._home = _Home(home)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database; the object cannot be used after that."""
        self._home.close()

    def run(self, work: Callable[[App], Coroutine[Any, Any, T]]) -> T:
        """Do async work on the open home, for what has no method here."""
        return self._home.wait(work(self._home.app))

    async def arun(self, work: Callable[[App], Coroutine[Any, Any, T]]) -> T:
        """Do as `run`, for async code."""
        return await self._home.elsewhere(work(self._home.app))

    def add(self, *what: str | Path, label: str = "") -> AddReport:
        """Read files and folders into the library; see the report for failures."""
        return self._home.wait(self._home.app.library.add(list(what), label=label))

    async def aadd(self, *what: str | Path, label: str = "") -> AddReport:
        """Do as `add`, for async code."""
        return await self._home.elsewhere(self._home.app.library.add(list(what), label=label))

    def papers(self) -> Sequence[Paper]:
        """Return all papers, newest first."""
        return self._home.wait(self._home.app.library.papers())

    async def apapers(self) -> Sequence[Paper]:
        """Do as `papers`, for async code."""
        return await self._home.elsewhere(self._home.app.library.papers())

    def paper(self, name: str) -> Paper:
        """Return one paper by library id, bibcode, arXiv id, DOI or cite key."""
        return self._home.wait(self._home.app.library.paper(name))

    async def apaper(self, name: str) -> Paper:
        """Do as `paper`, for async code."""
        return await self._home.elsewhere(self._home.app.library.paper(name))

    def content(self, name: str, *, section: str = "", page: int | None = None) -> PaperText:
        """Return a paper's Markdown, or one section or page of it."""
        return self._home.wait(self._home.app.library.content(name, section=section, page=page))

    async def acontent(self, name: str, *, section: str = "", page: int | None = None) -> PaperText:
        """Do as `content`, for async code."""
        return await self._home.elsewhere(
            self._home.app.library.content(name, section=section, page=page)
        )

    def rag(self, query: str, *, k: int = 8, papers: Sequence[str] = ()) -> Retrieval:
        """Return the k passages that speak most of the query."""
        return self._home.wait(self._home.app.library.rag(query, k=k, papers=papers))

    async def arag(self, query: str, *, k: int = 8, papers: Sequence[str] = ()) -> Retrieval:
        """Do as `rag`, for async code."""
        return await self._home.elsewhere(self._home.app.library.rag(query, k=k, papers=papers))

    def ask(self, question: str, *, session: str = "") -> ShownAnswer:
        """Ask the agent; the answer's every quote was found again in its paper."""
        return self._home.wait(_ask(self._home.app, question, session))

    async def aask(self, question: str, *, session: str = "") -> ShownAnswer:
        """Do as `ask`, for async code."""
        return await self._home.elsewhere(_ask(self._home.app, question, session))


class Agent:
    """A conversation: the questions of one session, one after the other.

    Args:
        library: The library to ask; None opens the user's own.
        model: The model; empty: the one that the settings name.
    """

    def __init__(self, library: Library | None = None, *, model: str = "") -> None:
        self.library = library or Library()
        self._model = model
        self._session = ""

    def ask(self, question: str) -> ShownAnswer:
        """Ask the next question of this conversation."""
        return self.library.run(lambda app: self._ask(app, question))

    async def aask(self, question: str) -> ShownAnswer:
        """Do as `ask`, for async code."""
        return await self.library.arun(lambda app: self._ask(app, question))

    async def _ask(self, app: App, question: str) -> ShownAnswer:
        if not self._session:
            self._session = (await app.session(model=self._model)).id
        return await _ask(app, question, self._session, model=self._model)


async def _ask(app: App, question: str, session: str, *, model: str = "") -> ShownAnswer:
    session_id = session or (await app.session(model=model)).id
    result = await app.ask(question, session_id=session_id, model=model)
    if result.answer is None:
        raise NunciusError(f"The turn ended without an answer ({result.status}). {result.error}")
    return ShownAnswer(result.answer)
