"""Files of BibTeX, read so that everything which is not changed stays byte for byte.

The text itself is kept and entries point into it; a change replaces the value of a field and nothing
else. `bibtex_reading` reads them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from nuncius.library.tex import plain

_WHERE_IT_STANDS = frozenset(
    "author title journal journaltitle booktitle date year month volume number eid pages doi".split()
)
"""Behind the last of these new fields are put, before the user's own."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that could not be read as written, and how it was read instead.

    Attributes:
        broken: BibTeX would stop at it; else it would only warn.
    """

    line: int
    key: str
    what: str
    broken: bool = True


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an entry.

    Attributes:
        name: In small letters.
        start, end: Where its value stands in the file, with its braces or quotes.
        value: What BibTeX makes of it: without the outer delimiters, macros expanded; still TeX.
    """

    name: str
    start: int
    end: int
    value: str


@dataclass(frozen=True)
class Entry:
    """One entry.

    Attributes:
        kind: In small letters, such as ``article``.
        start, end: Where it stands in the file.
        kind_span: Where its type stands.
        close: Where its closing brace stands, or its end where that is missing.
        head: The place behind its key and comma.
        line: Of its first character, from 1.
    """

    kind: str
    key: str
    start: int
    end: int
    kind_span: tuple[int, int]
    head: int
    close: int
    line: int
    fields: tuple[Field, ...]

    @cached_property
    def _by_name(self) -> Mapping[str, Field]:
        return {one.name: one for one in reversed(self.fields)}  # BibTeX takes the first

    def get(self, name: str) -> Field | None:
        """Return a field, or None."""
        return self._by_name.get(name)

    def tex(self, name: str) -> str:
        """Return a field's value as TeX, or nothing."""
        found = self._by_name.get(name)
        return " ".join(found.value.split()) if found else ""

    def text(self, name: str) -> str:
        """Return a field's value as a reader would see it, or nothing."""
        return plain(self.tex(name)).strip()

    def bare(self, name: str) -> str:
        """Return an identifier: braces and TeX's backslashes are gone, nothing else changed."""
        return re.sub(r"[{}]|\\(?=[&%#_$~])|\\url\b", "", self.tex(name)).strip()

    def people(self) -> list[str]:
        """Return the authors (of a volume without any, the editors) as plain names."""
        return [plain(name) for name in names_in(self.tex("author") or self.tex("editor"))]


@dataclass(frozen=True)
class Bibliography:
    """A file of BibTeX.

    Attributes:
        text: The whole file.
        strings: Its own macros (``@string``), values as TeX.
    """

    text: str
    entries: tuple[Entry, ...]
    strings: Mapping[str, str] = field(default_factory=dict[str, str])
    troubles: tuple[Trouble, ...] = ()

    def changed(self, changes: Mapping[int, "Change"]) -> str:
        """Return the text with changes to entries (by their place in `entries`) and nothing else."""
        edits: list[tuple[int, int, str]] = []
        for place, change in changes.items():
            edits += _edits(self.text, self.entries[place], change)
        parts: list[str] = []
        at = 0
        for start, end, fresh in sorted(edits):
            parts += [self.text[at:start], fresh]
            at = end
        return "".join([*parts, self.text[at:]])


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one entry.

    Attributes:
        fields: New values with their delimiters, in the order in which new fields are added; None
            takes a field out.
        kind: The new type, or nothing.
    """

    fields: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    kind: str = ""


def names_in(people: str) -> Iterator[str]:
    """Part an author field at each ``and`` outside of braces; the names are TeX still."""
    depth, start = 0, 0
    for match in re.finditer(r"[{}]|(?<!\s)\s+and(?=\s)", people, re.IGNORECASE):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if len(match[0]) > 1 and depth <= 0:
            yield people[start : match.start()].strip()
            start = match.end()
    if people[start:].strip():
        yield people[start:].strip()


# --- changing -------------------------------------------------------------------------------------


def _edits(text: str, entry: Entry, change: Change) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, fresh text) of one change; the spans do not overlap."""
    if change.kind:
        old = text[slice(*entry.kind_span)]
        fresh = change.kind.upper() if old.isupper() else change.kind.lower()
        yield *entry.kind_span, fresh
    fresh_fields: list[tuple[str, str]] = []
    for name, value in change.fields.items():
        known = entry.get(name.lower())
        if known and value is not None:
            yield known.start, known.end, value
        elif known:
            yield *_whole(text, known), ""
        elif value is not None:
            fresh_fields.append((name, value))
    if fresh_fields:
        gone = {name.lower() for name, value in change.fields.items() if value is None}
        yield _addition(text, entry, fresh_fields, gone)


def _whole(text: str, one: Field) -> tuple[int, int]:
    """Return the span of a field with its name, its comma and its line."""
    start = text.rindex("=", 0, one.start)
    start = len(text[:start].rstrip())
    while start and re.match(r"[\w:.+-]", text[start - 1]):
        start -= 1
    end = one.end
    comma = re.compile(r"\s*,").match(text, end)
    end = comma.end() if comma else end
    blank = re.compile(r"[ \t]*\r?\n").match(text, end)
    line = len(text[:start].rstrip(" \t"))
    if blank and (line == 0 or text[line - 1] == "\n"):
        return line, blank.end()
    return start, end


def _addition(
    text: str, entry: Entry, fresh: Sequence[tuple[str, str]], gone: set[str]
) -> tuple[int, int, str]:
    """Return the edit that adds fields where their kind stands, in the entry's own style."""
    staying = [one for one in entry.fields if one.name not in gone]
    near = [one for one in staying if one.name in _WHERE_IT_STANDS]
    last = (near or staying or [None])[-1]
    at = last.end if last else entry.head
    indent, aligned = _style(text, entry)
    newline = "\r\n" if "\r\n" in text[entry.start : entry.end] else "\n"
    lines = "".join(
        f",{newline}{indent}{name.rjust(aligned) if aligned else name} = {value}"
        for name, value in fresh
    )
    if last is None:
        lines = lines[1:] + ("," if text[at : entry.close].strip(" \t\r\n,") else "")
        if text[entry.head - 1 : entry.head] != ",":
            lines = "," + lines
        if "\n" not in text[at : entry.close]:
            lines += newline
    return at, at, lines


def _style(text: str, entry: Entry) -> tuple[str, int]:
    """Return the blanks before a field's name, and the width to which names are set right."""
    found = re.findall(r"\n([ \t]*)([A-Za-z][\w-]*)\s*=", text[entry.start : entry.close])
    widths = {len(blank.expandtabs()) + len(name) for blank, name in found}
    if len(found) > 1 and len({blank for blank, _ in found}) > 1:
        return "", max(widths)
    return (found[-1][0] if found else "  "), 0
