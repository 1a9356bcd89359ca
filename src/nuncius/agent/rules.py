"""Permission rules as text, ``tool``, ``tool(subject)``, ``*``: what they match, how narrowly."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from nuncius.agent.tool import SubjectKind
from nuncius.core.errors import UsageError

Narrowness = tuple[int, int, int]
"""Compares: any tool < one tool < a subject; without wildcards; literal characters."""

_RULE = re.compile(r"(?P<tool>\*|[A-Za-z0-9_-]{1,64})(?:\((?P<subject>.*)\))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One rule's pattern, read."""

    tool: str
    subject: str | None

    @property
    def narrowness(self) -> Narrowness:
        """Return how narrow the pattern is; the greater the narrower."""
        if self.subject is None:
            return (0 if self.tool == "*" else 1, 0, 0)
        literal = re.sub(r"[*?]", "", self.subject)
        return (2, int(literal == self.subject), len(literal))

    def matches(
        self, tool: str, subject: str, kind: SubjectKind, *, roots: tuple[str, ...], deny: bool
    ) -> bool:
        """Tell whether a call falls under the pattern.

        Args:
            roots: Absolute directories that relative patterns are meant from.
            deny: Match generously, as a refusal should: a path at any depth, a command anywhere in
                the line, a host with its parent domain.
        """
        if self.tool not in {"*", tool}:
            return False
        if self.subject is None:
            return True
        if not subject:
            return False
        match kind:
            case "path":
                return _path_matches(self.subject, subject, roots, deny=deny)
            case "host":
                return _host_matches(self.subject, subject, deny=deny)
            case "command":
                return _command_matches(self.subject, subject, deny=deny)
            case "text":
                return _glob(self.subject, slash=False).fullmatch(subject) is not None


@lru_cache(maxsize=1024)
def parse_rule(text: str) -> Pattern:
    """Read one rule.

    Raises:
        UsageError: It is no rule; the message shows the form.
    """
    match = _RULE.fullmatch(text.strip())
    if not match or (match["subject"] is not None and not match["subject"].strip()):
        raise UsageError(
            f"{text!r} is no permission rule.",
            hint="Write `tool`, `tool(subject)` or `*`, such as `read_file(docs/**)`.",
        )
    subject = match["subject"]
    return Pattern(match["tool"], subject.strip() if subject else None)


def exact_rule(tool: str, subject: str, kind: SubjectKind) -> str:
    """Return the rule that covers just this subject: what "always" writes."""
    if not subject:
        return tool
    if kind in {"path", "text"}:
        subject = re.sub(r"([*?\[\]\\])", r"\\\1", subject)
    return f"{tool}({subject})"


# --- paths: gitignore globs from a root ---------------------------------------------------------


def _path_matches(pattern: str, path: str, roots: tuple[str, ...], *, deny: bool) -> bool:
    regex = _path_regex(pattern, anywhere=deny)
    return any(regex.fullmatch(candidate) for candidate in _seen_from(path, roots))


def _seen_from(path: str, roots: tuple[str, ...]) -> list[str]:
    """Return `path` as written from each root that holds it, and as an absolute path."""
    parts: list[str] = []
    for part in PurePosixPath(path).parts:
        if part == ".." and parts and parts[-1] not in {"..", "/"}:
            parts.pop()
        elif part != "..":
            parts.append(part)
        elif not parts:
            return []  # it leaves the root: no relative pattern can mean it
    plain = PurePosixPath(*parts)
    seen = [str(plain).lstrip("/")] if not plain.is_absolute() else [str(plain)]
    seen += [str(plain.relative_to(root)) for root in roots if plain.is_relative_to(root)]
    return seen


@lru_cache(maxsize=1024)
def _path_regex(pattern: str, *, anywhere: bool) -> re.Pattern[str]:
    """Translate a gitignore glob; what lies under a matched directory is matched too."""
    body = pattern.rstrip("/") or "/"
    anchored = "/" in body
    absolute = body.startswith("/")
    core = _glob(body.removeprefix("/"), slash=True).pattern
    below = "" if core.endswith(".*") else r"(?:/.*)?"
    if absolute:
        return re.compile(f"/?{core}{below}", re.DOTALL)
    free = not anchored or anywhere
    return re.compile((r"(?:/?.*/)?" if free else "") + core + below, re.DOTALL)


@lru_cache(maxsize=1024)
def _glob(pattern: str, *, slash: bool) -> re.Pattern[str]:
    """Translate ``*``, ``?``, ``[...]`` and, where `slash` separates parts, ``**``."""
    out: list[str] = []
    one = "[^/]" if slash else "."
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if slash and pattern.startswith("**/", at):
            out.append(r"(?:.*/)?")
            at += 3
            continue
        if slash and pattern.startswith("**", at):
            out.append(".*")
            at += 2
            continue
        bracket = _CLASS.match(pattern, at) if character == "[" else None
        if bracket:
            out.append(f"[{'^' if bracket[1] else ''}{_escape_class(bracket[2])}]")
            at = bracket.end()
            continue
        if character == "\\" and at + 1 < len(pattern):
            at += 1
            out.append(re.escape(pattern[at]))
        else:
            out.append({"*": f"{one}*", "?": one}.get(character, re.escape(character)))
        at += 1
    return re.compile("".join(out), re.DOTALL)


_CLASS = re.compile(r"\[([!^]?)(\]?[^\]/]+)\]")


def _escape_class(body: str) -> str:
    return re.sub(r"([\\\[\]&~|^])", r"\\\1", body)


# --- hosts and commands -------------------------------------------------------------------------


def _host_matches(pattern: str, host: str, *, deny: bool) -> bool:
    wanted, host = _plain_host(pattern), _plain_host(host)
    if wanted.startswith("*."):
        return host.endswith(wanted[1:]) or (deny and host == wanted[2:])
    return wanted in {"*", host}


def _plain_host(host: str) -> str:
    host = host.strip().rstrip(".").lower()
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return host


def _command_matches(pattern: str, command: str, *, deny: bool) -> bool:
    """Match whole words: a refusal any part of the line, an allow all parts."""
    from nuncius.agent import commands

    line = commands.read(command)
    if deny:
        return commands.meets(pattern, line)
    rule = commands.SubjectRule("allow", pattern, pattern)
    return commands.weigh(line, [rule], ()).decision == "allow"
