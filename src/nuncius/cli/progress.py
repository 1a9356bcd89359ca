"""A bar on stderr for work on many files."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from nuncius.cli import screen

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID


class Progress:
    """Shows files done, files in all and the one in work; silent where nobody watches.

    Use it as a context; `advance` has the signature of `library.Progress`.
    """

    def __init__(self, verb: str) -> None:
        self._verb = verb
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if screen.watched():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn(self._verb),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.description}", markup=False),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
        return self

    def advance(self, what: str, done: int, total: int) -> None:
        """Show that `done` of `total` files are done and `what` is in work."""
        if self._bar is None:
            return
        name = what if len(what) <= 50 else "..." + what[-47:]
        if self._task is None:
            self._task = self._bar.add_task(name, total=total)
        self._bar.update(self._task, completed=done, total=total, description=name)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
