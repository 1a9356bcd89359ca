"""A shell command as its parts: every command in it, with the wrappers around it opened.

Each part says what its text tells of it: which options write or run, which words are paths that
lead elsewhere. What cannot be known from the text is a doubt about the whole line.
"""

import fnmatch
import posixpath
import re
import shlex
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from nuncius.agent import command_programs as programs
from nuncius.agent.command_words import Redirect, Simple, Word, read_syntax
from nuncius.walls import names

MAX_CHARS = 32_768
"""A longer command is not read and never allowed by a rule."""

_MAX_TEXTS = 8  # shell texts inside each other that are opened
_PROTECTED = re.compile("|".join(fnmatch.translate(pattern) for pattern in names.PROTECTED))
_DEVICES = frozenset("/dev/null /dev/zero /dev/random /dev/urandom /dev/stdin".split())
_SINKS = frozenset("/dev/null /dev/stdout /dev/stderr".split())
_NET_DEVICE = re.compile(r"[<>&]\s*[\"']?/dev/(?:tcp|udp)/")
_ENVIRONMENT = re.compile(r"/proc/[^/]+/(?:task/[^/]+/)?environ")


@dataclass(frozen=True, slots=True)
class Part:
    """One command of a line.

    Attributes:
        words: Its words without quotes; None where only running the line tells.
        forms: Other ways to write it that a refusal must meet too.
        faults: Why a rule with a ``*`` does not cover it: options that write, paths elsewhere.
        outside: Absolute paths among its words; whether a root holds them is judged later.
        wraps: It only runs another part, whose rule is enough.
    """

    words: tuple[str | None, ...]
    forms: tuple[tuple[str | None, ...], ...] = ()
    faults: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    wraps: bool = False

    @property
    def exact(self) -> str:
        """Return it as text that a rule can hold; empty where a word is unknown."""
        known = [word for word in self.words if word is not None]
        if len(known) < len(self.words) or any("\n" in word for word in known):
            return ""
        return shlex.join(known)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command, read.

    Attributes:
        doubts: Why it cannot be allowed by rules whatever its parts are.
        hidden: Whether a command may be in it that the parts do not show.
        forbidden: Why it is never run; or empty.
    """

    parts: tuple[Part, ...] = ()
    doubts: tuple[str, ...] = ()
    hidden: bool = False
    forbidden: str = ""


@lru_cache(maxsize=256)
def read(command: str) -> CommandLine:
    """Read one bash command line."""
    if "\0" in command or not command.strip():
        return CommandLine(forbidden="The command is empty or holds a NUL.")
    try:
        command.encode()
    except UnicodeEncodeError:
        return CommandLine(forbidden="The command holds what is no text.")
    if len(command) > MAX_CHARS:
        reason = f"it is longer than {MAX_CHARS:,} characters"
        return CommandLine(doubts=(reason,), hidden=True)
    opened = _Opened()
    if any(_is_hidden(character) for character in command):
        opened.doubt("it holds characters that do not show", hides=True)
    if _NET_DEVICE.search(command):
        opened.forbidden = "The command opens a network device of the shell."
    opened.text(command)
    if not opened.parts:
        opened.doubt("it holds no command")
    return CommandLine(tuple(opened.parts), tuple(opened.doubts), opened.hidden, opened.forbidden)


def _is_hidden(character: str) -> bool:
    """Tell whether a character shows as nothing, as white space, or moves the text about."""
    if character in " \t\n":
        return False
    return unicodedata.category(character) in {"Cc", "Cf", "Cn", "Co", "Zl", "Zp", "Zs"}


class _Opened:
    """The parts of a line, with every wrapper and every text for a shell opened."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.doubts: dict[str, None] = {}
        self.hidden = False
        self.forbidden = ""
        self._cwd: list[str] = []
        self._depth = 0

    def doubt(self, reason: str, *, hides: bool = False) -> None:
        self.doubts[reason] = None
        self.hidden = self.hidden or hides

    def text(self, command: str) -> None:
        """Add the parts of a shell text."""
        if self._depth >= _MAX_TEXTS:
            self.doubt("it nests too deeply", hides=True)
            return
        self._depth += 1
        syntax = read_syntax(command)
        for doubt in syntax.doubts:
            self.doubt(doubt, hides=True)
        for act in syntax.acts:
            if isinstance(act, Redirect):
                self._redirect(act)
            else:
                self._simple(act)
        self._depth -= 1

    def _simple(self, simple: Simple) -> None:
        for name in simple.assigned:
            local = not simple.words and re.fullmatch(r"[a-z_][a-z0-9_]*", name)
            if not local and not programs.HARMLESS_NAMES.fullmatch(name):
                self.doubt(f"it sets {name}")
        if simple.words:
            self.command(simple.words)

    def command(self, words: Sequence[Word]) -> None:
        """Add one command, and those inside it."""
        values = tuple(word.value for word in words)
        first = words[0]
        faults: list[str] = []
        if first.value is None or first.glob or first.odd or first.value.startswith("~"):
            faults.append("which program runs is settled only when it runs")
            self.doubt("which program runs is settled only when it runs", hides=True)
        if first.value is None:
            self.parts.append(Part(values, faults=tuple(faults)))
            return
        program = posixpath.basename(first.value)
        forms: list[tuple[str | None, ...]] = []
        if program != first.value:
            forms.append((program, *values[1:]))
        if program in {"cd", "pushd"}:
            self._change_directory(values)
        faults += self._argument_faults(program, words)
        wraps = False
        plain: Sequence[str | None] = (program, *values[1:])
        if program == "git":
            shorter, harmless, texts = programs.without_git_options(plain)
            if len(shorter) < len(values):
                forms.append(tuple(shorter))
                if harmless and program == first.value:
                    forms.append(values)
                    values = tuple(shorter)
                else:
                    faults.append("options of git change what it runs")
            for text in texts:
                self.text(text)
        elif program in programs.SHELLS:
            wraps = self._shell(plain, faults)
        elif program == "eval":
            wraps = self._run_text(plain[1:], faults)
        elif program in {"find", "fd", "fdfind"}:
            self._found(words)
        elif program == "watch":
            self._run_text(_operands(plain, "nq"), faults)
        elif wrapper := programs.WRAPPERS.get(program):
            wraps = self._wrapped(program, wrapper, words, faults)
        known = [word for word in plain if word is not None]
        glob = any(word.glob and (word.value or "")[:1] in "*?[" for word in words[1:])
        arguments = programs.read_arguments(plain, leading_glob=glob)
        if arguments.fault:
            faults.append(arguments.fault)
        outside = tuple(self._paths(arguments.paths, faults))
        if any(_ENVIRONMENT.fullmatch(_normal(word)) for word in known):
            self.forbidden = "The command reads the environment of a process, which holds keys."
        self.parts.append(Part(values, tuple(forms), tuple(faults), outside, wraps and not faults))

    def _argument_faults(self, program: str, words: Sequence[Word]) -> Iterator[str]:
        if program in programs.STEERING:
            yield f"{program} changes what later words mean"
        if any(word.value is None for word in words[1:]):
            yield "one of its words is settled only when it runs"
        if any(word.odd for word in words[1:]):
            yield "one of its words is quoted in an unusual way"

    def _paths(self, words: Iterable[str], faults: list[str]) -> Iterator[str]:
        """Yield absolute paths among operands; note those that lead out or are protected."""
        for word in words:
            for piece in re.split(r"[=:,]", word):
                if piece.startswith("~"):
                    faults.append(f"{piece} is in a home directory")
                elif piece.startswith("/") and "://" not in word:
                    path = _normal(piece)
                    if path not in _DEVICES:
                        yield path
                components = piece.split("/")
                if ".." in components:
                    faults.append(f"{piece} leads up and out")
                elif any(_is_protected(component) for component in components):
                    faults.append(f"{piece} is a protected name")

    def _redirect(self, redirect: Redirect) -> None:
        target = redirect.target.value
        if target is None or redirect.target.glob:
            self.doubt("which file it opens is settled only when it runs")
            return
        path = _normal(target)
        if re.match(r"/dev/(?:tcp|udp)(?:/|$)", path):
            self.forbidden = "The command opens a network device of the shell."
        elif _ENVIRONMENT.fullmatch(path):
            self.forbidden = "The command reads the environment of a process, which holds keys."
        elif redirect.writes:
            where = [*self._cwd, *path.split("/")]
            if any(_is_protected(component) for component in where):
                self.forbidden = f"The command writes to a protected name: {target}."
            elif path not in _SINKS:
                self.doubt(f"it writes to {target}")
        elif path not in _DEVICES:
            faults: list[str] = []
            outside = list(self._paths([target], faults))
            if faults or outside:
                self.doubt(f"it reads {target}")

    def _change_directory(self, words: Sequence[str | None]) -> None:
        target = next((word for word in words[1:] if word is None or not word.startswith("-")), "")
        self._cwd += (target or "").split("/")

    # --- commands that run commands ---

    def _shell(self, words: Sequence[str | None], faults: list[str]) -> bool:
        """Open ``sh -c text``; a shell that reads its commands elsewhere hides them."""
        at = 1
        text_follows = False
        while at < len(words) and (word := words[at]) is not None and word[:1] in {"-", "+"}:
            if word in {"--rcfile", "--init-file", "-o", "+o", "-O", "+O"}:
                at += 1
                faults.append(f"{word} changes how the shell reads")
            elif word in {"-", "-s"}:
                break
            elif word != "--" and not re.fullmatch(r"-[ceuxv]+|--norc|--noprofile|--posix", word):
                faults.append(f"{word} changes how the shell reads")
            text_follows = text_follows or bool(re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", word))
            at += 1
        if text_follows:
            return self._run_text(words[at : at + 1] or [None], faults)
        if at >= len(words) or words[at] in {"-", "-s", None}:
            faults.append("the shell reads its commands from elsewhere")
            self.doubt("a shell reads its commands from elsewhere", hides=True)
        return False

    def _found(self, words: Sequence[Word]) -> None:
        """Add what ``find -exec`` runs; find itself is at fault for it, so it asks anyway."""
        starts = {"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}
        for at, word in enumerate(words):
            if word.value in starts:
                rest = [word.value for word in words[at + 1 :]]
                ends = [rest.index(end) for end in (";", "+") if end in rest]
                inner = words[at + 1 :][: min(ends, default=len(rest))]
                if inner:
                    self.command(inner)

    def _run_text(self, words: Sequence[str | None], faults: list[str]) -> bool:
        known = [word for word in words if word is not None]
        if len(known) < len(words):
            faults.append("the text that the shell runs is computed")
            self.doubt("the text that a shell runs is computed", hides=True)
        elif known:
            self.text(" ".join(known))
            return True
        return False

    def _wrapped(
        self, program: str, wrapper: programs.Wrapper, words: Sequence[Word], faults: list[str]
    ) -> bool:
        """Add the command that a wrapper runs; tell whether that one's rule is enough."""
        at = 1
        skip = wrapper.skip
        while at < len(words):
            value = words[at].value
            if value is None:
                faults.append("what it runs is settled only when it runs")
                self.doubt("what a program runs is settled only when it runs", hides=True)
                return False
            if program == "env" and (text := _split_string(words[at:])):
                self.command([*(Word(part) for part in text[0]), *words[at + text[1] :]])
                return True
            if value.startswith("-") and value != "-":
                if program in {"command", "type"} and re.fullmatch(r"-[pvV]*[vV][pvV]*", value):
                    return False  # only looks a name up
                if program in {"time", "env"} and not re.fullmatch(r"-[pi0]+|--", value):
                    faults.append(f"{value} of {program} does more than run the command")
                at += _option_length(value, wrapper)
            elif program == "env" and (match := re.match(r"([A-Za-z_]\w*)=", value)):
                if not programs.HARMLESS_NAMES.fullmatch(match[1]):
                    self.doubt(f"it sets {match[1]}")
                at += 1
            elif skip:
                skip -= 1
                at += 1
            else:
                break
        inner = list(words[at:])
        if not inner:
            return False
        if program == "coproc":  # a name may stand before the command, and a group be it
            self.doubt("it runs beside the line")
            for start in range(1, min(len(inner), 4)):
                self.command(inner[start:])
        if wrapper.fills:
            inner.append(Word(None))
        self.command(inner)
        return wrapper.clear


def _option_length(option: str, wrapper: programs.Wrapper) -> int:
    """Return how many words an option of a wrapper takes: itself, and its value where apart."""
    if option.startswith("--"):
        return 2 if option in wrapper.long_values else 1
    for at, letter in enumerate(option[1:], 2):
        if letter in wrapper.values:
            return 2 if at == len(option) else 1
    return 1


def _split_string(words: Sequence[Word]) -> tuple[list[str], int] | None:
    """Return the words of ``env -S text`` and how many words they stood in."""
    option = words[0].value or ""
    if option in {"-S", "--split-string"} and len(words) > 1 and words[1].value is not None:
        text, length = words[1].value, 2
    elif match := re.match(r"(?:-[iv0]*S|--split-string=)(.+)", option, re.DOTALL):
        text, length = match[1], 1
    else:
        return None
    try:
        return (shlex.split(text), length) if text.strip() else None
    except ValueError:
        return None


def _operands(words: Sequence[str | None], values: str) -> list[str | None]:
    """Return what follows the options of a command."""
    wrapper = programs.Wrapper(values=values)
    at = 1
    while at < len(words) and (word := words[at]) is not None and word.startswith("-"):
        at += _option_length(word, wrapper)
    return list(words[at:])


def _normal(path: str) -> str:
    """Return a path without dots and doubled slashes; of a relative one only that much is known."""
    return posixpath.normpath(re.sub("^/+", "/", path)) if path else ""


@lru_cache(maxsize=4096)
def _is_protected(component: str) -> bool:
    return bool(component) and _PROTECTED.match(component.rstrip(" .").casefold()) is not None
