"""Reads a bash line into its simple commands and their words, wherever in the line they stand.

tree-sitter finds the commands; what it and bash may read differently (white space that only one
of them knows, here-documents, words swallowed by a redirection) is checked here against the text.
Whatever is left over is a doubt, and a line with a doubt is never allowed without a question.
A little over 500 lines: the walk and its checks read the same tree and are judged together.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_MAX_DEPTH = 60  # constructs inside each other; more is no line that a person can judge

# Their children are statements, words that matter only for what they hold, and keywords.
_STATEMENTS = frozenset(
    """program list pipeline subshell compound_statement if_statement elif_clause else_clause
    while_statement for_statement case_statement case_item do_group function_definition
    negated_command command_substitution process_substitution redirected_statement""".split()
)
_WORDS = frozenset(
    """word raw_string string ansi_c_string translated_string concatenation number test_operator
    simple_expansion expansion arithmetic_expansion command_substitution process_substitution
    brace_expression extglob_pattern regex variable_name special_variable_name array subscript
    """.split()
)
_EXPANSIONS = frozenset(
    """simple_expansion expansion arithmetic_expansion command_substitution process_substitution
    brace_expression extglob_pattern array subscript""".split()
)
_WHOLE = frozenset("string raw_string ansi_c_string comment heredoc_body".split())
_GAP = re.compile(rb"(?:[ \t\n]|\\\n)*")
_CUT_WORD = re.compile(r"(?<=\S)(?<!\\)((?:\\\\)*)\\\n(?=\S)")
_EMPTY_LINE = re.compile(r"(?<!\\)((?:\\\\)*)\n(?:[ \t]*\\\n)+")
_DELIMITER = re.compile(r"""(?P<quote>['"\\]?)(?P<word>[A-Za-z0-9_]+)['"]?""")
_UNQUOTED = re.compile(r"\\(.)", re.DOTALL)
_IN_QUOTES = re.compile(r'\\([$`"\\\n])')
_BACKTICKS = re.compile(r"(?<!\\)`((?:[^`\\]|\\.)*)`", re.DOTALL)
_ANSI = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)
_ANSI_NAMES = dict(zip("abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v", strict=True))


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command.

    Attributes:
        value: The word after quotes are taken off, or None where only running the line tells.
        glob: Unquoted ``*``, ``?`` or ``[`` stand in it.
        odd: Quoted in a way that serves to hide.
    """

    value: str | None
    glob: bool = False
    odd: bool = False


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command: names that are set for it, and its words."""

    words: tuple[Word, ...]
    assigned: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Redirect:
    """A file that the shell opens: ``<``, or an operator that writes."""

    operator: str
    target: Word

    @property
    def writes(self) -> bool:
        return self.operator != "<"


@dataclass(frozen=True, slots=True)
class Syntax:
    """All acts of a line in the order of its text, and why it cannot be wholly known."""

    acts: tuple[Simple | Redirect, ...]
    doubts: tuple[str, ...]


def read_syntax(command: str, *, depth: int = 0) -> Syntax:
    """Find every command in a bash text.

    Args:
        depth: How deep inside other texts (``bash -c``, backticks) this one stands.
    """
    reader = _Reader(depth)
    reader.read(command)
    return Syntax(tuple(reader.acts), tuple(reader.doubts))


@cache
def _parser() -> "Parser":
    # Here, not at the top: 18 ms that only the first command of a session costs.
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


class _Reader:
    def __init__(self, depth: int) -> None:
        self.acts: list[Simple | Redirect] = []
        self.doubts: dict[str, None] = {}
        self._depth = depth
        self._source = b""

    def read(self, command: str) -> None:
        if self._depth > _MAX_DEPTH:
            self._doubt("it nests too deeply")
            return
        if _CUT_WORD.search(command):
            self._doubt("a line break stands inside a word")
            command = _CUT_WORD.sub(r"\1", command)
        if _EMPTY_LINE.search(command):
            self._doubt("its lines cannot be told apart")
            command = _EMPTY_LINE.sub(r"\1\n", command)
        self._source = command.encode()
        root = _parser().parse(self._source).root_node
        if root.has_error:
            self._doubt("it is no complete bash command")
        self._visit(root, self._depth)
        self._check_gaps(root)

    def _doubt(self, reason: str) -> None:
        self.doubts[reason] = None

    def _text(self, node: "Node") -> str:
        return self._source[node.start_byte : node.end_byte].decode(errors="replace")

    # --- statements ---

    def _visit(self, node: "Node", depth: int) -> None:
        """Collect the acts below a node that is not a word."""
        if depth > _MAX_DEPTH:
            self._doubt("it nests too deeply")
            return
        kind = node.type
        if kind == "command":
            self._command(node, depth)
        elif kind in {"declaration_command", "unset_command"}:
            self._declaration(node, depth)
        elif kind == "test_command":
            self._test(node, depth)
        elif kind in {"variable_assignment", "variable_assignments"}:
            many = node.children if kind == "variable_assignments" else [node]
            self.acts.append(Simple((), tuple(self._assigned(child, depth) for child in many)))
        elif kind == "file_redirect":
            self._redirect(node, depth)
        elif kind in {"heredoc_redirect", "herestring_redirect"}:
            self._given_text(node, depth)
        elif kind in _STATEMENTS:
            self._statement(node, depth)
        elif kind in _WORDS:
            self._word(node, depth)
        elif kind == "c_style_for_statement" or node.is_error:
            self._doubt("it holds arithmetic" if not node.is_error else "a part of it is no bash")
            for child in node.named_children:
                self._visit(child, depth + 1)
        elif kind not in {"comment", "heredoc_start", "heredoc_end", "heredoc_body"}:
            self._doubt(f"it holds what is not judged here ({kind.replace('_', ' ')})")
            for child in node.named_children:
                self._visit(child, depth + 1)

    def _statement(self, node: "Node", depth: int) -> None:
        kind = node.type
        if kind == "compound_statement" and self._text(node).startswith("(("):
            self._doubt("it holds arithmetic")
        if kind == "for_statement" and (variable := node.child_by_field_name("variable")):
            self.acts.append(Simple((), (self._text(variable),)))
        for child in _flat(node):
            if child.is_missing:
                self._doubt("it is no complete bash command")
            elif child.is_named:
                self._visit(child, depth + 1)
            elif child.type in {";;", ";&", ";;&"} and kind != "case_item":
                self._doubt("it is no complete bash command")

    def _command(self, node: "Node", depth: int) -> None:
        words: list[Word] = []
        assigned: list[str] = []
        place = len(self.acts)
        at = node.start_byte
        for child in node.children:
            kind = child.type
            if self._breaks(at, child):
                # tree-sitter joins lines where the second begins with a backslash; bash does not
                self._doubt("its lines cannot be told apart")
                self.acts.insert(place, Simple(tuple(words), tuple(assigned)))
                words, assigned, place = [], [], place + 1
            at = child.end_byte
            if kind == "variable_assignment":
                assigned.append(self._assigned(child, depth))
            elif kind == "command_name":
                words += [self._word(part, depth) for part in child.children]
            elif kind == "file_redirect":
                words += self._redirect(child, depth)
            elif kind == "herestring_redirect":
                self._given_text(child, depth)
            elif kind in _WORDS:
                words.append(self._word(child, depth))
            elif child.is_named:
                self._visit(child, depth + 1)
                words.append(Word(None))
            elif self._text(child) == "$":
                words.append(Word(None, odd=True))  # $"..." is translated by the locale
            else:
                words.append(Word(self._text(child), odd=True))
        # Before what its words hold: the order of the text is also the order of `cd` and writes.
        self.acts.insert(place, Simple(tuple(words), tuple(assigned)))

    def _breaks(self, at: int, child: "Node") -> bool:
        """Tell whether a line ends before a word; its token may begin with the line break."""
        token = self._source[child.start_byte : child.end_byte]
        blank = len(token) - len(token.lstrip(b" \t\n"))
        before = self._source[at : child.start_byte + blank]
        return b"\n" in before.replace(b"\\\n", b"")

    def _declaration(self, node: "Node", depth: int) -> None:
        words = [Word(self._text(node.children[0]))]
        for child in node.children[1:]:
            if child.type == "variable_assignment":
                self._assigned(child, depth)
                words.append(Word(None))
            else:
                words.append(self._word(child, depth))
        self.acts.append(Simple(tuple(words)))

    def _test(self, node: "Node", depth: int) -> None:
        """Take ``[ ... ]`` as a command; operands of arithmetic may run substitutions."""
        self.acts.append(Simple((Word(self._text(node.children[0])), Word(None))))
        todo = list(node.named_children)
        while todo:
            child = todo.pop()
            if child.type in _WORDS:
                self._word(child, depth + 1)
            else:
                todo += child.named_children

    def _assigned(self, node: "Node", depth: int) -> str:
        """Visit what an assignment's value holds and return the name that is set."""
        name, *rest = node.children
        if name.type != "variable_name":
            self._doubt("an array's place is computed")
            self._inside(name, depth)
        self._check_adjoining(node)
        for child in rest:
            if child.is_named:
                self._word(child, depth + 1)
        return self._text(name)

    def _redirect(self, node: "Node", depth: int) -> list[Word]:
        """Note the file; return the further words that tree-sitter counts to the redirection."""
        operator = ""
        words: list[Word] = []
        at = node.start_byte
        for child in node.children:
            if self._breaks(at, child):
                self._doubt("its lines cannot be told apart")
            at = child.end_byte
            if child.type == "file_descriptor":
                continue
            if child.is_named:
                words.append(self._word(child, depth + 1))
            else:
                operator += self._text(child)
        if operator in {">&-", "<&-"}:
            spilled = words
        elif not words:
            self._doubt("it is no complete bash command")
            return []
        else:
            target, *spilled = words
            copies = operator in {">&", "<&"} and re.fullmatch(r"\d+-?|-", target.value or "")
            if not copies:
                self.acts.append(Redirect("<" if operator == "<" else operator, target))
        if spilled and node.parent and node.parent.type == "redirected_statement":
            self._spill(node.parent, spilled)
            return []
        return spilled

    def _spill(self, statement: "Node", words: Sequence[Word]) -> None:
        """Give words behind a redirection back to the command that the redirection belongs to."""
        body = statement.child_by_field_name("body")
        for index in range(len(self.acts) - 1, -1, -1):
            act = self.acts[index]
            if body and body.type == "command" and isinstance(act, Simple) and act.words:
                if any(isinstance(later, Simple) for later in self.acts[index + 1 :]):
                    break
                self.acts[index] = Simple((*act.words, *words), act.assigned)
                if not any(child.type in _EXPANSIONS for child in body.named_children):
                    return
                break
        self._doubt("words stand behind a redirection")

    # --- texts given to a command ---

    def _given_text(self, node: "Node", depth: int) -> None:
        if node.type == "herestring_redirect":
            for child in node.named_children:
                if child.type != "file_descriptor" and self._word(child, depth + 1).value is None:
                    self._doubt("the text that it reads is computed")
            return
        for child in node.named_children:
            if child.type not in {
                "heredoc_start",
                "heredoc_body",
                "heredoc_end",
                "file_descriptor",
            }:
                self._visit(child, depth + 1)
        span = self._heredoc(node)
        if span is None:
            self._doubt("the end of its here-document is not plain")
            return
        quoted, body = span
        if quoted or not re.search(r"(?<!\\)(?:\\\\)*[$`]", body):
            return
        self._doubt("the text that it reads is computed")
        for child in node.named_children:
            if child.type == "heredoc_body":
                self._inside(child, depth)
        for match in _BACKTICKS.finditer(body):
            self._nested(re.sub(r"\\([`$\\])", r"\1", match[1]))

    def _heredoc(self, node: "Node") -> tuple[bool, str] | None:
        """Return whether the delimiter is quoted, and the body as bash finds it; None: unclear."""
        start = next((child for child in node.children if child.type == "heredoc_start"), None)
        end = next((child for child in node.children if child.type == "heredoc_end"), None)
        match = _DELIMITER.fullmatch(self._text(start)) if start else None
        if not start or not end or not match:
            return None
        begin = self._source.find(b"\n", start.end_byte) + 1
        if not begin or b"<<" in self._source[start.end_byte : begin]:
            return None
        if self._source[self._source.rfind(b"\n", 0, begin - 1) + 1 : begin].count(b"<<") != 1:
            return None
        tabs = rb"\t*" if self._source[node.start_byte : start.start_byte].endswith(b"-") else b""
        close = re.compile(rb"^" + tabs + re.escape(match["word"].encode()) + rb"$", re.MULTILINE)
        found = close.search(self._source, begin)
        if found is None or found.end() != end.end_byte:
            return None
        return bool(match["quote"]), self._source[begin : found.start()].decode(errors="replace")

    # --- words ---

    def _word(self, node: "Node", depth: int) -> Word:
        """Return a word and visit the commands inside it."""
        kind = node.type
        text = self._text(node)
        if depth > _MAX_DEPTH:
            self._doubt("it nests too deeply")
        elif kind == "concatenation":
            return self._joined(node, depth)
        elif kind == "word" and "`" not in text:
            if re.search(r"\s", _UNQUOTED.sub("", text)):
                self._doubt("its words cannot be told apart")
            return _plain(text.strip())
        elif kind in {"number", "test_operator", "variable_name", "regex"}:
            return Word(text, odd=kind == "regex")
        elif kind == "raw_string":
            return Word(text[1:-1])
        elif kind == "ansi_c_string":
            return Word(_ANSI.sub(_ansi, text[2:-1]), odd=True)
        elif kind == "string":
            return self._string(node, text, depth)
        else:
            if kind == "simple_expansion":
                self._check_adjoining(node)
            self._inside(node, depth)
            if kind == "word":  # backticks inside backticks come as `\\`id\\``
                for match in _BACKTICKS.finditer(re.sub(r"\\([`$\\])", r"\1", text)):
                    self._nested(match[1])
        return Word(None)

    def _joined(self, node: "Node", depth: int) -> Word:
        self._check_adjoining(node)
        parts = [self._word(child, depth + 1) for child in node.children]
        if any(part.value is None for part in parts):
            return Word(None)
        bare = "".join(
            self._text(child) if child.type in {"word", "number"} or not child.is_named else "'"
            for child in node.children
        )
        if _braces(bare):
            return Word(None)
        return Word(
            "".join(part.value or "" for part in parts),
            glob=any(part.glob for part in parts),
            odd=any(part.odd for part in parts) or "$" in bare,
        )

    def _check_adjoining(self, node: "Node") -> None:
        """Doubt a word whose pieces do not touch each other."""
        for before, after in zip(node.children, node.children[1:], strict=False):
            if before.end_byte != after.start_byte:
                self._doubt("its words cannot be told apart")

    def _string(self, node: "Node", text: str, depth: int) -> Word:
        inner = text[1:-1]
        if any(child.type in _EXPANSIONS for child in node.named_children):
            self._inside(node, depth)
            return Word(None)
        plain = _IN_QUOTES.sub("", inner)
        if '"' in plain or "`" in plain or re.search(r"\$[\w({\[@*#?$!'\"-]", plain):
            self._doubt("a quoted text holds more than text")
            for match in _BACKTICKS.finditer(inner):
                self._nested(match[1])
            return Word(None)
        return Word(_IN_QUOTES.sub(lambda m: "" if m[1] == "\n" else m[1], inner))

    def _inside(self, node: "Node", depth: int) -> None:
        """Visit the commands inside an expansion."""
        for child in node.named_children:
            if child.type in _EXPANSIONS or child.type in _WORDS:
                self._word(child, depth + 1)
            elif child.type in _STATEMENTS or child.type.endswith("command"):
                self._visit(child, depth + 1)
            elif child.child_count:
                self._visit(child, depth + 1) if child.type in {
                    "variable_assignment",
                    "file_redirect",
                    "heredoc_redirect",
                    "herestring_redirect",
                } else self._inside(child, depth + 1)

    def _nested(self, text: str) -> None:
        inner = read_syntax(text, depth=self._depth + 10)
        self.acts += inner.acts
        for doubt in inner.doubts:
            self._doubt(doubt)

    # --- does tree-sitter see all that bash sees? ---

    def _check_gaps(self, root: "Node") -> None:
        """Doubt a line where something other than white space stands between its tokens."""
        at = 0
        for leaf in _leaves(root):
            if leaf.start_byte > at and not _GAP.fullmatch(self._source, at, leaf.start_byte):
                self._doubt("its words cannot be told apart")
                return
            if self._source.startswith(b"\\", leaf.start_byte) and b"\n" in self._source[
                at : leaf.start_byte
            ].replace(b"\\\n", b""):
                self._doubt("its lines cannot be told apart")
                return
            at = max(at, leaf.end_byte)
        if not _GAP.fullmatch(self._source, at):
            self._doubt("its words cannot be told apart")


def _flat(node: "Node") -> list["Node"]:
    """Return the children; a chain ``a && b && c``, which nests to the left, as one row."""
    rows = [node.children]
    while node.type == "list" and rows[-1] and rows[-1][0].type == "list":
        rows.append(rows[-1].pop(0).children)
    return [child for row in reversed(rows) for child in row]


def _leaves(root: "Node") -> Iterator["Node"]:
    cursor = root.walk()
    while True:
        node = cursor.node
        assert node is not None
        if node.type not in _WHOLE and cursor.goto_first_child():
            continue
        yield node
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _plain(text: str) -> Word:
    """Read a word without quotes; a backslash hides one character."""
    bare = _UNQUOTED.sub("'", text)
    if _braces(bare) or re.search(r"[?*+@!]\(", bare):
        return Word(None)
    value = _UNQUOTED.sub(lambda match: "" if match[1] == "\n" else match[1], text)
    return Word(value, glob=bool(re.search(r"[*?\[]", bare)), odd="$" in bare and len(bare) > 1)


def _braces(bare: str) -> bool:
    """Tell whether ``{a,b}`` or ``{1..3}`` stands there unquoted."""
    opened = bare.find("{")
    inner = bare[opened + 1 : bare.rfind("}")] if opened >= 0 else ""
    return "," in inner or ".." in inner


def _ansi(match: re.Match[str]) -> str:
    hexadecimal = match[1] or match[2] or match[3]
    if hexadecimal:
        return chr(min(int(hexadecimal, 16), 0x10FFFF))
    if match[4]:
        return chr(int(match[4], 8) & 0xFF)
    if match[5]:
        return chr(ord(match[5]) & 0x1F)
    return _ANSI_NAMES.get(match[6], match[6])
