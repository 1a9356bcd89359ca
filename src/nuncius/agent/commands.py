"""What the user's rules say of a shell command.

Text rules decide when to ask; what a command can do is for the sandbox. An allow needs every part
of a line allowed and no doubt about the line; a deny needs one part, bare or with its wrappers;
what cannot be read asks.
"""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from nuncius.agent.command_parts import CommandLine, Part, read
from nuncius.agent.command_programs import prefix_length

__all__ = ["CommandLine", "Part", "SubjectRule", "Weighed", "always", "covers", "meets", "read"]
__all__ += ["unseen_rules", "weigh"]

Decision = Literal["deny", "allow", "ask"]


@dataclass(frozen=True, slots=True)
class SubjectRule:
    """A rule on this tool: its decision, its subject or None for any command, its text."""

    decision: Decision
    subject: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Weighed:
    """What the rules say: a decision, or None where they do not settle it; and why.

    `named` tells whether every part is allowed by a rule with a subject.
    """

    decision: Decision | None
    reason: str = ""
    named: bool = False


def weigh(line: CommandLine, rules: Sequence[SubjectRule], roots: Sequence[str]) -> Weighed:
    """Join the user's rules over the parts of a line.

    Args:
        roots: Absolute directories; paths elsewhere are not covered by a rule with a ``*``.
    """
    if line.forbidden:
        return Weighed("deny", line.forbidden)
    for rule in rules:
        if rule.decision == "deny" and meets(rule.subject, line):
            return Weighed("deny", f"A rule of the user forbids it: {rule.text}.")
    open_reasons = [f"The command needs a look: {line.doubts[0]}."] if line.doubts else []
    allowed_by = ""
    named = True
    for part in line.parts:
        winner = _winner(part, rules)
        if winner and winner.decision == "ask":
            return Weighed("ask", f"A rule of the user asks: {winner.text}.")
        if part.wraps:
            continue
        if winner is None:
            open_reasons.append(f"No rule covers {_shown(part)}.")
        elif fault := _fault(part, winner, roots):
            open_reasons.append(f"{_shown(part)}: {fault}.")
        else:
            allowed_by = winner.text
            named = named and winner.subject is not None
    if not open_reasons and allowed_by:
        return Weighed("allow", f"Allowed by the rule {allowed_by}.", named)
    return Weighed(None, open_reasons[0] if open_reasons else "No rule covers it.")


def only_reads(line: CommandLine, roots: Sequence[str]) -> bool:
    """Tell whether a line is made of programs that read what lies inside the roots, and no doubt."""
    return not line.doubts and all(
        part.wraps or _subject(part, roots).endswith(" *") for part in line.parts
    )


def unseen_rules(line: CommandLine, rules: Iterable[SubjectRule]) -> bool:
    """Tell whether a rule that refuses or asks may be meant for what the line hides."""
    return line.hidden and any(rule.decision != "allow" for rule in rules)


def always(line: CommandLine, rules: Sequence[SubjectRule], roots: Sequence[str]) -> list[str]:
    """Return the subjects of the rules that "always" writes, one for each part not yet covered.

    Empty where no rule could cover the line: it would be asked about again.
    """
    subjects: dict[str, None] = {}
    if line.doubts:
        return []
    for part in line.parts:
        winner = _winner(part, [rule for rule in rules if rule.decision == "allow"])
        if part.wraps or (winner and not _fault(part, winner, roots)):
            continue
        subject = _subject(part, roots)
        if not subject:
            return []
        subjects[subject] = None
    return list(subjects)


def meets(subject: str | None, line: CommandLine) -> bool:
    """Tell whether a refusing pattern meets any part of the line, in any of its forms."""
    if subject is None:
        return True
    wanted, _ = _pattern(subject)
    return any(_begins(form, wanted) for part in line.parts for form in (part.words, *part.forms))


def covers(subject: str | None, part: Part) -> bool:
    """Tell whether an allowing pattern covers a part, word for word."""
    if subject is None:
        return True
    wanted, open_ended = _pattern(subject)
    if not _begins(part.words, wanted):
        return False
    return open_ended or len(part.words) == len(wanted)


@lru_cache(maxsize=1024)
def _pattern(subject: str) -> tuple[tuple[str, ...], bool]:
    """Return the words of a rule's subject and whether more may follow."""
    open_ended = subject == "*" or subject.endswith(" *")
    body = subject[:-1] if open_ended else subject
    try:
        return tuple(shlex.split(body)), open_ended
    except ValueError:
        return tuple(body.split()), open_ended


def _begins(words: Sequence[str | None], wanted: Sequence[str]) -> bool:
    return len(words) >= len(wanted) and all(
        word == want for word, want in zip(words, wanted, strict=False)
    )


def _winner(part: Part, rules: Iterable[SubjectRule]) -> SubjectRule | None:
    """Return the narrowest rule that allows or asks; a tie allows."""
    single = CommandLine((part,))
    matching = [
        rule
        for rule in rules
        if (rule.decision == "allow" and covers(rule.subject, part))
        or (rule.decision == "ask" and meets(rule.subject, single))
    ]
    return max(matching, key=_narrowness, default=None)


def _narrowness(rule: SubjectRule) -> tuple[int, int, int, bool]:
    allows = rule.decision == "allow"
    if rule.subject is None:
        return (0, 0, 0, allows)
    wanted, open_ended = _pattern(rule.subject)
    return (1, int(not open_ended), sum(map(len, wanted)) + len(wanted), allows)


def _fault(part: Part, rule: SubjectRule, roots: Sequence[str]) -> str:
    """Return why an allow rule does not cover the part after all; a rule without ``*`` does."""
    if rule.subject is not None and not _pattern(rule.subject)[1] and part.exact:
        return ""
    if part.faults:
        return part.faults[0]
    elsewhere = [path for path in part.outside if not _within(path, roots)]
    return f"{elsewhere[0]} is outside the directories of this session" if elsewhere else ""


def _within(path: str, roots: Sequence[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)


def _subject(part: Part, roots: Sequence[str]) -> str:
    exact = part.exact
    if not exact:
        return ""
    words = [word for word in part.words if word is not None]
    wild = SubjectRule("allow", "*", "")
    length = prefix_length(words)
    if length and not _fault(part, wild, roots):
        return f"{shlex.join(words[:length])} *"
    return exact


def _shown(part: Part) -> str:
    text = " ".join(word if word is not None else "…" for word in part.words)
    text = text if len(text) <= 80 else f"{text[:77]}..."
    return f"`{text}`" if text else "an assignment"
