"""Reads files of BibTeX, whatever they hold.

What is broken (a brace, a comma or a key that is missing) is read as it was meant and named with its
line, so that no entry is lost.
"""

import re
from bisect import bisect_right

from nuncius.library.bibtex import Bibliography, Entry, Field, Trouble

_ENTRY = re.compile(r"@[ \t]*([A-Za-z][\w-]*)\s*([{(])")
_ENTRY_ON_LINE = re.compile(r"^[ \t]*@[ \t]*[A-Za-z][\w-]*[ \t]*[{(]", re.MULTILINE)
_KEY = re.compile(r"\s*([^\s,{}()=]*(?:\([^\s,{}]*)?)\s*(?=[,})]|\n|$|[A-Za-z][\w-]*\s*=)")
_FIELD = re.compile(r"([A-Za-z][\w:.+-]*)\s*=\s*")
_NEXT_FIELD = re.compile(r"\n[ \t]*[A-Za-z][\w:.+-]*[ \t]*=[ \t]*(?:[{\"]|[\w\\])")
_BRACES = re.compile(r"[{}]")
_BARE = re.compile(r"\\?[^\s,#{}\"()=]+")
_GAP = re.compile(r"[\s,]*")
_EARLY_BRACE = re.compile(r"([ \t]*[^\s,{}()=#@][^\n,{}=#@]*)\}(?=[ \t]*(?:,|\n|\}))")
_TAIL = re.compile(r"[\s,})]*\Z")
_MONTHS = dict(
    zip(
        "jan feb mar apr may jun jul aug sep oct nov dec".split(),
        """January February March April May June July August September October November
        December""".split(),
        strict=True,
    )
)
_NOT_ENTRIES = frozenset({"comment", "preamble", "string"})


def read(text: str) -> Bibliography:
    """Read a file of BibTeX; whatever it holds, this does not fail."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [match.start() for match in re.finditer(r"\n", text)]
        self._starts = [match.start() for match in _ENTRY_ON_LINE.finditer(text)]
        self._troubles: list[Trouble] = []
        self._strings: dict[str, str] = {}
        self._key = ""
        self._limit = len(text)  # where the entry that is read ends at the latest

    def read(self) -> Bibliography:
        entries: list[Entry] = []
        at = 0
        while match := _ENTRY.search(self._text, at):
            if self._is_commented(match.start()):
                at = match.end()
                continue
            kind = match[1].lower()
            at = self._skip(match) if kind in _NOT_ENTRIES else self._entry(match, entries)
        return Bibliography(self._text, tuple(entries), self._strings, tuple(self._troubles))

    def _line(self, at: int) -> int:
        return bisect_right(self._lines, at - 1) + 1

    def _trouble(self, at: int, what: str, *, broken: bool = True) -> None:
        self._troubles.append(Trouble(self._line(at), self._key, what, broken))

    def _is_commented(self, at: int) -> bool:
        line = self._text[self._text.rfind("\n", 0, at) + 1 : at]
        return line.lstrip().startswith("%")

    def _next_entry(self, at: int) -> int:
        """Return where the next entry begins on a line of its own, behind `at`; or the end."""
        place = bisect_right(self._starts, at)
        return self._starts[place] if place < len(self._starts) else len(self._text)

    def _skip(self, match: re.Match[str]) -> int:
        """Pass a comment or preamble, learn a macro; return the place behind it."""
        kind = match[1].lower()
        close = self._balanced(match.end() - 1, len(self._text))
        if close is None:  # a comment may be a word with nothing to close
            if kind != "comment":
                self._trouble(match.start(), f"@{match[1]} has no end")
            return self._text.find("\n", match.end()) + 1 or len(self._text)
        if kind == "string" and (
            name := _FIELD.match(self._text, _past_gap(self._text, match.end()))
        ):
            self._limit = close
            value, _ = self._value(name.end())
            self._strings[name[1].lower()] = value
        return close + 1

    def _balanced(self, opening: int, limit: int) -> int | None:
        """Return the place of the bracket that closes the one at `opening`; None before `limit`."""
        if self._text[opening] == "(":
            depth = 0
            for match in re.compile(r"[{})]").finditer(self._text, opening + 1, limit):
                depth += {"{": 1, "}": -1}.get(match[0], 0)
                if match[0] == ")" and depth <= 0:
                    return match.start()
            return None
        depth = 0
        for match in _BRACES.finditer(self._text, opening, limit):
            depth += 1 if match[0] == "{" else -1
            if not depth:
                return match.start()
        return None

    def _entry(self, match: re.Match[str], entries: list[Entry]) -> int:
        """Read one entry; return the place behind it."""
        text, start = self._text, match.start()
        self._limit, self._key = self._next_entry(start), ""
        at = self._read_key(match.end(), start)
        head, fields = at, list[Field]()
        closer = "}" if match[2] == "{" else ")"
        while True:
            at = _past_gap(text, at, self._limit)
            if at >= self._limit:
                self._trouble(start, "its closing brace is missing; it ends before the next entry")
                close = end = _before_blank(text, self._limit)
                break
            if text[at] == closer:
                if self._closes_too_early(at):
                    self._trouble(at, "a brace too many; it was passed over")
                    at += 1
                    continue
                close, end = at, at + 1
                break
            at = self._read_field(at, fields)
        kind_at = match.start(1)
        entries.append(
            Entry(match[1].lower(), self._key, start, end, (kind_at, match.end(1)), head, close,
                  self._line(start), tuple(fields))
        )  # fmt: skip
        return max(end, match.end())

    def _read_key(self, at: int, start: int) -> int:
        found = _KEY.match(self._text, at, self._limit)
        if found is None or _FIELD.match(self._text, _past_gap(self._text, at), self._limit):
            self._trouble(start, "it has no key")
            return at
        self._key = found[1]
        if not self._key:
            self._trouble(start, "it has no key")
        after = found.end()
        if self._text[after : after + 1] == ",":
            return after + 1
        if self._text[after : after + 1] not in {"}", ")"}:
            self._trouble(start, "the comma behind its key is missing")
        return after

    def _closes_too_early(self, at: int) -> bool:
        """Tell whether fields go on behind a closing brace, as after ``title = {a}},``."""
        behind = re.compile(r"\s*,\s*[A-Za-z][\w-]*\s*=\s*[{\"\w]").match(self._text, at + 1)
        return behind is not None and behind.end() <= self._limit

    def _read_field(self, at: int, fields: list[Field]) -> int:
        name = _FIELD.match(self._text, at, self._limit)
        if name is None:
            return self._pass_over(at)
        start = name.end()
        value, end = self._value(start)
        if any(one.name == name[1].lower() for one in fields):
            self._trouble(at, f"{name[1]} stands twice; BibTeX takes the first", broken=False)
        if early := _EARLY_BRACE.match(self._text, end, self._limit):  # ``{a } b},``
            self._trouble(end, f"a brace too many in {name[1]}")
            value, end = value + early[1], early.end(1) + 1
        fields.append(Field(name[1].lower(), start, end, value))
        behind = _past_blank(self._text, end, self._limit)
        if behind < self._limit and self._text[behind] not in ",})":
            if _FIELD.match(self._text, behind, self._limit):
                self._trouble(end, f"the comma behind {name[1]} is missing")
            else:
                return self._pass_over(behind)
        return end

    def _pass_over(self, at: int) -> int:
        """Leave out what is no field: to the end of its line, the next field or the entry's end."""
        ends = [self._limit]
        stop = re.compile(r"\n|(?<=\s)[A-Za-z][\w-]*\s*=|[})]\s*\Z").search(
            self._text, at + 1, self._limit
        )
        if stop:
            ends.append(stop.start())
        end = max(min(ends), at + 1)
        rest = self._text[at:end].strip()
        if rest.endswith(("}", ")")) and end < self._limit and len(rest) > 1:
            end = at + self._text[at:end].rindex(rest[-1])
        self._trouble(at, f"{rest[:40]!r} is no field; it was passed over")
        return end

    # --- values -----------------------------------------------------------------------------------

    def _value(self, at: int) -> tuple[str, int]:
        """Read parts joined by ``#``; return what they make and the place behind them."""
        parts: list[str] = []
        while True:
            part, end = self._part(at)
            parts.append(part)
            behind = _past_blank(self._text, end, self._limit)
            if self._text[behind : behind + 1] != "#":
                return "".join(parts), end
            at = _past_blank(self._text, behind + 1, self._limit)

    def _part(self, at: int) -> tuple[str, int]:
        opening = self._text[at : at + 1] if at < self._limit else ""
        if opening == "{":
            return self._braced(at)
        if opening == '"':
            return self._quoted(at)
        word = _BARE.match(self._text, at, self._limit)
        if word is None:
            self._trouble(at, "a value is missing")
            return "", at
        return self._bare(word)

    def _bare(self, word: re.Match[str]) -> tuple[str, int]:
        """Read a number or a macro; words without braces are read to their comma."""
        text, name = word[0], word[0].lower()
        rest = re.compile(r"[ \t]+[^\n,}#=]*[^\s,}#=]").match(self._text, word.end(), self._limit)
        if rest and not re.match(r"\s*[A-Za-z][\w-]*\s*=", rest[0] + self._text[rest.end() :][:3]):
            self._trouble(word.start(), "a value has neither braces nor quotes")
            return word[0] + rest[0], rest.end()
        if name in self._strings:
            return self._strings[name], word.end()
        if name in _MONTHS:
            return _MONTHS[name], word.end()
        if not text.isdigit():
            self._trouble(word.start(), f"{text} is no macro of this file", broken=False)
        return text, word.end()

    def _braced(self, at: int) -> tuple[str, int]:
        close = self._balanced(at, self._limit)
        if close is not None and not self._runs_on(at, close):
            return self._text[at + 1 : close], close + 1
        return self._mended(at, "its braces do not close")

    def _quoted(self, at: int) -> tuple[str, int]:
        depth = 0
        for match in re.compile(r"[{}\"]").finditer(self._text, at + 1, self._limit):
            depth += {"{": 1, "}": -1}.get(match[0], 0)
            if match[0] == '"' and depth <= 0:
                tail = self._text[max(at + 1, match.start() - 200) : match.start()]
                if re.search(r"\n[ \t]*[A-Za-z][\w-]*\s*=\s*$", tail):
                    break  # these quotes open the next field's value
                return self._text[at + 1 : match.start()], match.end()
        return self._mended(at, "its quotes do not close")

    def _runs_on(self, at: int, close: int) -> bool:
        """Tell whether a value that closes swallowed fields that were meant to follow it."""
        if not _NEXT_FIELD.search(self._text, at, close):
            return False
        return bool(_TAIL.match(self._text, close + 1, self._limit)) and self._is_last_brace(close)

    def _is_last_brace(self, close: int) -> bool:
        """Tell whether the entry has no closing brace left behind this one."""
        return not re.search(r"[})]", self._text[close + 1 : self._limit])

    def _mended(self, at: int, what: str) -> tuple[str, int]:
        """End a value that does not close where the next field begins, or the entry ends."""
        follows = _NEXT_FIELD.search(self._text, at, self._limit)
        if follows:
            end = follows.start()
        else:
            last = self._text.rfind("}", at + 1, self._limit)
            end = last if last > at else self._limit
        end = _before_blank(self._text, end)
        if self._text[end - 1] == ",":
            end -= 1
        self._trouble(at, f"{what}; it was read to the end of its line")
        value = self._text[at + 1 : end].strip()
        if value.endswith(("}", '"')) and (value.count("}") > value.count("{") or value[-1] == '"'):
            value = value[:-1]
        return value, max(end, at + 1)


def _past_gap(text: str, at: int, limit: int | None = None) -> int:
    match = _GAP.match(text, at, len(text) if limit is None else limit)
    return match.end() if match else at


def _past_blank(text: str, at: int, limit: int) -> int:
    while at < limit and text[at].isspace():
        at += 1
    return at


def _before_blank(text: str, at: int) -> int:
    return len(text[:at].rstrip())
