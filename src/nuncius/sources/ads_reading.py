"""The text of a request while it is being read: what was understood is cut out and written down."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from nuncius.sources.ads_clauses import Clause, negate, spell_all

CUT = "\ue000"
"""Stands where words were understood and taken out (private characters, which are never text)."""
CUT_NOT = "\ue001"
"""The same, where what was taken out is unwanted."""
CUTS = CUT + CUT_NOT
OBJECT = ("\ue010", "\ue011")
"""Stand around what is known to be the name of an object."""

_NOT = (
    r"(?:but\s+not|and\s+not|but\s+no|not|excluding|exclude|excludes|except(?:\s+for)?|without(?:\s+any)?|no|minus"
    r"|other\s+than|rather\s+than|(?:that|which)\s+(?:are|is)\s+not|aren['’]t|isn['’]t|omit(?:ting)?|never)"
)
_LINK = (
    r"(?:(?:(?:published|written|observed|affiliated|those|papers|articles|anything|any|the|in"
    r"|from|by|of|with|using|at|for|on|about|a|an|year)\s+)*)"
)
_BEFORE = re.compile(
    rf"(?:(?<!\w){_NOT}[\s,:]+{_LINK}|(?:^|(?<=[\s{CUTS}(,]))[-!−])$", re.IGNORECASE
)
_GOES_ON = re.compile(
    rf"(?<={CUT_NOT})\s*(?:,|or|nor|and|and\s+not|or\s+not|&)\s*(?:or\s+|nor\s+|and\s+)?{_LINK}$",
    re.IGNORECASE,
)
"""A list that a "not" before it governs: "not in ApJ or MNRAS"."""
NEGATOR = re.compile(
    (
        rf"(?:(?<![\w-]){_NOT}(?!\w)(?:\s+(?:about|on|in|with|for|those|mentioning|discussing"
        rf"|related\s+to|the|any))*\s+|(?:^|(?<=[\s{CUTS}]))[-!−](?=\w))"
    ),
    re.IGNORECASE,
)
"""A word in the topic after which the rest is unwanted."""


@dataclass(frozen=True, slots=True)
class Note:
    """How one phrase of the user was read: his words, and what they became in ADS syntax."""

    words: str
    query: str

    def __str__(self) -> str:
        return f'"{self.words}" → {self.query}'


@dataclass(slots=True)
class Reading:
    """A request in progress: `text` is what nobody has understood yet."""

    text: str
    clauses: list[Clause] = field(default_factory=list[Clause])
    notes: list[Note] = field(default_factory=list[Note])

    def take(self, start: int, end: int, clauses: Iterable[Clause], *, words: str = "") -> None:
        """Cut ``text[start:end]`` out as meaning `clauses`, turned round after a "not"."""
        clauses = tuple(clauses)
        before = _BEFORE.search(self.text[:start])
        if not before and self._unwanted_like(clauses):
            before = _GOES_ON.search(self.text[:start])
        mark = CUT
        if before and clauses:
            clauses = tuple(negate(clause) for clause in clauses)
            start, mark = before.start(), CUT_NOT
        said = re.sub(rf"[{CUTS}\s]+", " ", words or self.text[start:end]).strip(" ,;")
        self.text = f"{self.text[:start]} {mark} {self.text[end:]}"
        fresh = [clause for clause in clauses if clause not in self.clauses]
        self.clauses += fresh
        if fresh:
            self.notes.append(Note(said, spell_all(fresh).removeprefix("*:* ")))

    def _unwanted_like(self, clauses: tuple[Clause, ...]) -> bool:
        """Tell whether something of the same field is unwanted: only then a list goes on."""
        fields = {getattr(clause, "field", "") for clause in clauses} - {""}
        return any(
            clause.negated and getattr(clause, "field", "") in fields for clause in self.clauses
        )


def is_unwanted(text: str, start: int) -> bool:
    """Tell whether a "not" stands right before `start`."""
    return bool(_BEFORE.search(text[:start]))
