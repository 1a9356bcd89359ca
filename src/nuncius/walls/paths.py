"""The one path guard: every path of every tool goes through it before anything is opened.

Three kinds of roots: the library and the project may be read and written, skills may be read.
A path is judged by its components, its links are followed by hand to the canonical place, that
place is compared with the roots component by component, and only then opened, relative to the
root's descriptor and without following any link (`beneath`). Nothing that is refused tells
whether a file outside the roots exists: every refusal says the same.
"""

import errno
import os
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn

from nuncius.core.errors import (
    AccessDeniedError,
    ConfidentialError,
    DocumentError,
    NotFoundError,
    NunciusError,
)
from nuncius.walls import beneath, locks, names
from nuncius.walls.links import follow

Access = Literal["read", "write"]
RootKind = Literal["library", "project", "skills"]

MAX_BYTES = 64 * 1024 * 1024
"""Largest file that is read whole or edited."""

_MAX_DEPTH = 100  # directories below each other in a walk
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Root:
    """One directory that tools may enter.

    Attributes:
        path: Canonical.
        spelled: As it was configured; a path may begin with either.
    """

    kind: RootKind
    path: Path
    spelled: Path


@dataclass(frozen=True, slots=True)
class Roots:
    """The directories that tools may enter, canonicalised once at start.

    Attributes:
        project: Relative paths are meant from here.
        private: Our own home. What lies in it and in no deeper root (settings, database, token,
            logs) is refused even where a root contains it.
    """

    project: Root
    others: tuple[Root, ...]
    private: Path | None = None

    @classmethod
    def of(
        cls,
        *,
        library: Path,
        project: Path,
        skills: tuple[Path, ...] | list[Path] = (),
        home: Path | None = None,
    ) -> "Roots":
        """Canonicalise the configured directories; those that do not exist yet may come later."""
        return cls(
            _root("project", project),
            (_root("library", library), *(_root("skills", path) for path in skills)),
            _root("project", home).path if home else None,
        )

    @property
    def all(self) -> tuple[Root, ...]:
        return (*self.others, self.project)

    def holding(self, place: Path) -> Root | None:
        """Return the deepest root that holds `place`, or None where none does or it is private."""
        inside = [root for root in self.all if place.is_relative_to(root.path)]
        if not inside:
            return None
        deepest = max(inside, key=lambda root: len(root.path.parts))
        if self.private and place.is_relative_to(self.private):
            above = len(self.private.parts) - len(deepest.path.parts)
            if above > 0 or (above == 0 and deepest.kind == "project"):
                return None
        return deepest


def _root(kind: RootKind, path: Path) -> Root:
    spelled = Path(os.path.abspath(path))  # noqa: PTH100  (resolve would follow links)
    return Root(kind, Path(os.path.realpath(path)), spelled)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path leads: canonical, inside a root, not protected.

    Attributes:
        asked: The path as it was written.
        missing: How many of the last `parts` do not exist.
    """

    asked: str
    root: Root
    parts: tuple[str, ...]
    missing: int = 0

    @property
    def path(self) -> Path:
        return self.root.path.joinpath(*self.parts)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the guard says of one access; `reason` is a sentence for the user.

    A `firm` ask is one that no mode answers: the file steers later turns, whoever wrote it.
    """

    decision: Literal["allow", "ask", "deny"]
    reason: str = ""
    firm: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A regular file met on a walk; `place` can be opened with the guard.

    Attributes:
        name: Its path below the place where the walk began, with slashes.
    """

    name: str
    place: Place
    size_bytes: int
    mtime_ns: int


class Change:
    """One file held for a change: nobody else who asks the guard writes it meanwhile.

    Attributes:
        before: The bytes there now, or None where there is no file.
    """

    def __init__(self, directory: int, name: str, before: bytes | None) -> None:
        self._directory = directory
        self._name = name
        self.before = before

    def write(self, content: bytes, *, mode: int | None = None) -> None:
        """Replace the file in one step (see `beneath.replace`)."""
        beneath.replace(self._directory, self._name, content, mode=mode)


class PathGuard:
    """Judge paths and open what may be opened.

    All methods block; call them in a thread. Paths are text as a model or a person writes them,
    absolute or relative to the project.
    """

    def __init__(self, roots: Roots, *, leaves: bool = False) -> None:
        self.roots = roots
        self.leaves = leaves
        self.confidential: frozenset[Path] = frozenset()
        """Files of confidential papers, canonical; where what is read leaves this machine, they are
        refused."""

    @property
    def withheld(self) -> frozenset[Path]:
        """Return the files that may not be read here."""
        return self.confidential if self.leaves else frozenset()

    def judge(self, path: str, access: Access) -> Verdict:
        """Say what to do with an access, without opening anything."""
        try:
            place = self.locate(path, access)
        except NunciusError as error:
            return Verdict("deny", str(error))
        if access == "read":
            return Verdict("allow")
        name = place.parts[-1]
        if place.root.kind == "skills":
            reason = f"{name} would change a skill, which agents obey in later turns."
            return Verdict("ask", reason, firm=True)
        if names.is_instruction(place.parts):
            return Verdict("ask", f"{name} is obeyed by agents or run by tools.", firm=True)
        if place.root.kind == "project":
            return Verdict("ask", f"{place.path} is in your project, outside the library.")
        return Verdict("allow")

    def locate(self, path: str, access: Access = "read") -> Place:
        """Follow `path` to its canonical place and judge that place.

        A file that is to be written need not exist; its deepest existing ancestor decides.

        Raises:
            AccessDeniedError: It may not be opened; the text is the same for every reason.
        """
        if names.is_malformed(path):
            _deny(path)
        lexical = self.roots.project.spelled / path
        for root in self.roots.all:
            for start in (root.path, root.spelled):
                if lexical.is_relative_to(start):
                    asked = lexical.relative_to(start).parts
                    if names.is_protected(asked, library=root.kind == "library"):
                        _deny(path)
        try:
            os.fsencode(path)
            canonical, missing = follow(lexical)
        except (OSError, ValueError):
            _deny(path)
        place = self._judged(path, canonical, missing)
        ends_as_directory = path.endswith(("/", "/."))
        if ends_as_directory and not canonical.is_dir():
            _deny(path)
        if access == "write":
            new = place.parts[len(place.parts) - missing :]
            if not place.parts or any(names.is_deceptive(part) for part in new):
                _deny(path)
        return place

    def _judged(self, asked: str, canonical: Path, missing: int = 0) -> Place:
        root = self.roots.holding(canonical)
        if root is None:
            _deny(asked)
        parts = canonical.relative_to(root.path).parts
        if names.is_protected(parts, library=root.kind == "library"):
            _deny(asked)
        if canonical in self.withheld:
            raise ConfidentialError(
                f"{_shown(asked)} belongs to a confidential paper, and what is read here leaves this"
                " machine.",
                hint="Ask the built-in model or one on this machine about it.",
            )
        return Place(asked, root, parts, missing)

    def read(self, path: str | Place, *, max_bytes: int = MAX_BYTES) -> bytes:
        """Return the whole content of a regular file.

        Raises:
            AccessDeniedError: It may not be opened, or is no regular file.
            NotFoundError: There is no such file.
            NunciusError: It is larger than `max_bytes`, or the system refused.
        """
        place = self._place(path)
        with self._system_errors(place), _opened(place.root.path) as root:
            return _read_fd(beneath.open_regular(root, place.parts), place.asked, max_bytes)

    def walk(self, path: str, *, enter: Callable[[str], bool] = bool) -> Iterator[Found]:
        """Yield the regular files below a directory, or the file itself; in order of names.

        Links to directories are not entered, so a walk ends; links to files count where they
        lead to a place that may be read. Protected names are left out, silently.

        Args:
            enter: Tells from its name whether to go into a directory.

        Raises:
            AccessDeniedError, NotFoundError: As `read`.
        """
        place = self.locate(path)
        with self._system_errors(place):
            status = place.path.lstat()
            if stat.S_ISREG(status.st_mode):
                name = place.path.name
                yield Found(name, place, status.st_size, status.st_mtime_ns)
                return
            with _opened(place.root.path) as root:
                top = beneath.open_at(root, place.parts, _DIRECTORY)
        yield from self._walk(top, place, "", enter)

    def _walk(
        self, directory: int, place: Place, prefix: str, enter: Callable[[str], bool]
    ) -> Iterator[Found]:
        """Yield from an open directory, which is closed; what vanishes meanwhile is left out."""
        try:
            with os.scandir(directory) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
            for entry in entries:
                here = Place(place.asked, place.root, (*place.parts, entry.name))
                name = prefix + entry.name
                try:
                    if entry.is_symlink():
                        target = self.locate(str(here.path))
                        status = target.path.lstat()
                    else:
                        target = self._judged(place.asked, here.path)
                        status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        yield Found(name, target, status.st_size, status.st_mtime_ns)
                        continue
                    if not entry.is_dir(follow_symlinks=False) or not enter(entry.name):
                        continue
                    deeper = os.open(entry.name, _DIRECTORY, dir_fd=directory)
                except (AccessDeniedError, ConfidentialError, OSError):
                    continue  # protected, leads out, gone meanwhile, or not ours to read
                if name.count("/") < _MAX_DEPTH:
                    yield from self._walk(deeper, here, f"{name}/", enter)
                else:
                    os.close(deeper)
        finally:
            os.close(directory)

    @contextmanager
    def change(self, path: str, *, max_bytes: int = MAX_BYTES) -> Generator[Change, None, None]:
        """Hold one file for reading it and writing it again; missing directories are made.

        Tasks, threads and processes that come here for the same file wait for each other. Links
        stay links: what they lead to is changed.

        Raises:
            AccessDeniedError: It may not be written, or is no regular file.
            NunciusError: It is too large, held too long, or the system refused.
        """
        place = self.locate(path, "write")
        if not place.root.path.is_dir():
            place.root.path.mkdir(parents=True, exist_ok=True)
        with (
            locks.path_lock(place.path),
            self._system_errors(place),
            _opened(place.root.path) as root,
            beneath.parent_directory(root, place.parts, make=True) as parent,
        ):
            locks.lock_directory(parent, place.path)
            beneath.forget_parts(parent)
            name = place.parts[-1:]
            try:
                before = _read_fd(beneath.open_regular(parent, name), place.asked, max_bytes)
            except FileNotFoundError:
                before = None
            yield Change(parent, name[0], before)

    def write(self, path: str, content: bytes, *, mode: int | None = None) -> Place:
        """Create or replace a file in one step and return where it is.

        Raises:
            AccessDeniedError, NunciusError: As `change`.
        """
        with self.change(path) as change:
            change.write(content, mode=mode)
        return self.locate(path)

    def key(self, path: str) -> str:
        """Return the resource key ``file:<canonical path>``, also for what does not exist yet."""
        return f"file:{self.locate(path).path}"

    def _place(self, path: str | Place) -> Place:
        return path if isinstance(path, Place) else self.locate(path)

    @contextmanager
    def _system_errors(self, place: Place) -> Generator[None, None, None]:
        """Turn the system's refusals into errors that say what to do."""
        try:
            yield
        except beneath.NotRegularError as error:
            raise AccessDeniedError(
                f"{_shown(place.asked)} is not a regular file.",
                hint="FIFOs, sockets and devices are never opened.",
            ) from error
        except IsADirectoryError as error:
            raise AccessDeniedError(
                f"{_shown(place.asked)} is a directory, not a file.",
                hint="List what is in it with glob_files.",
            ) from error
        except FileNotFoundError as error:
            raise NotFoundError(
                f"There is no file {_shown(place.asked)}.",
                hint="Look for the right name with glob_files.",
            ) from error
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EXDEV, errno.ENOTDIR):
                _deny(place.asked, error)
            reason = error.strerror or str(error)
            kind = AccessDeniedError if isinstance(error, PermissionError) else NunciusError
            raise kind(
                f"{_shown(place.asked)}: the system refused ({reason}).",
                hint="Check the name, its permissions and the space on the disk.",
            ) from error


def read_user_file(path: Path, max_bytes: int = MAX_BYTES) -> tuple[bytes, os.stat_result]:
    """Read a file that the user typed on the command line, wherever it lies.

    Only regular files (links followed), so a FIFO cannot hang us.

    Raises:
        NotFoundError: There is no such file.
        DocumentError: `unsupported` for what is no regular file, `too_large`, or `unreadable`.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise DocumentError("unsupported", f"{path} is not a regular file.")
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            os.close(fd)
            raise DocumentError("unsupported", f"{path} is not a regular file.")
        return _read_fd(fd, str(path), max_bytes), status
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no file {path}.", hint="Check the path.") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DocumentError(
            "unreadable", f"{path} cannot be read: {reason}.", hint="Check its permissions."
        ) from error
    except TooLargeError as error:
        raise DocumentError("too_large", error.message, hint=error.hint) from error


class TooLargeError(NunciusError):
    """A file is larger than the reader takes."""


def _read_fd(fd: int, asked: str, max_bytes: int) -> bytes:
    with os.fdopen(fd, "rb", buffering=0) as file:
        size = os.fstat(fd).st_size
        content = b"" if size > max_bytes else file.read(max_bytes + 1) or b""
        while size <= max_bytes and len(content) <= max_bytes:
            more = file.read(max_bytes + 1 - len(content))
            if not more:
                return content
            content += more
    raise TooLargeError(
        f"{_shown(asked)} is larger than {max_bytes:,} bytes ({max(size, len(content)):,}).",
        hint="Take a smaller file or a part of it.",
    )


def _deny(path: str, cause: Exception | None = None) -> NoReturn:
    raise AccessDeniedError(
        f"{_shown(path)} may not be opened.",
        hint=(
            "Allowed are names below the library, skills and project directories: no '..', no"
            " '~', no link that leads out, no protected name (.env, .git, config.toml, databases,"
            " tokens, start-up files), no invisible characters in new names."
        ),
    ) from cause


def _shown(path: str) -> str:
    text = path if len(path) <= 200 else f"{path[:150]}...{path[-40:]}"
    return repr(text)


@contextmanager
def _opened(directory: Path) -> Generator[int, None, None]:
    fd = os.open(directory, _DIRECTORY)
    try:
        yield fd
    finally:
        os.close(fd)
