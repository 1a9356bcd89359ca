r"""Turn the markup of titles and abstracts into plain text.

Services send HTML, JATS, MathML and entities in what they call text. Here entities are decoded once,
sub- and superscripts become ``_`` and ``^``, TeX stays, MathML becomes its characters, other tags go.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Sequence

from nuncius.core.text import clean

MAX_CHARS = 200_000
"""Longer text is cut: no abstract is, and reading stays quick."""
_TOKEN = re.compile(
    r"<(?P<close>/)?(?P<name>[A-Za-z][\w:.-]*)(?P<attributes>(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'"
    r"|[^\s<>\"']+))*)\s*(?P<empty>/)?>",
    re.DOTALL,
)
_BREAKS = frozenset("br p div li hr title sec list list-item".split())
_EMPTY = frozenset("br p hr img wbr mspace none mprescripts".split())
_ABSENT, _BEFORE = "\x01", "\x02"
"""Places in MathML's lists of scripts: no script here; from here on they stand before the base."""
_SCRIPTS = {"sub": "_", "inf": "_", "sup": "^"}
_DROPPED = frozenset("script style annotation annotation-xml orcid email".split())
_NOTHING = re.compile(r"(?:abstract\s+)?not\s+available\.?", re.IGNORECASE)
_SIMPLE = re.compile(r"[+\-−]?[\w.*⊙☉☆★∞′]{1,12}")
_ACCENTS = dict(
    zip(
        "`'^\"~=.uvHckrbd",
        "\u0300\u0301\u0302\u0308\u0303\u0304\u0307\u0306\u030c\u030b\u0327\u0328\u030a\u0331\u0323",
        strict=True,
    )
)
_TEX_LETTERS = {
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "aa": "å", "AA": "Å", "ae": "æ", "AE": "Æ",
    "oe": "œ", "OE": "Œ", "i": "ı", "j": "ȷ",
}  # fmt: skip
_ACCENT = re.compile(
    r"\{?\\(?:(?P<mark>[`'^\"~=.])\s*|(?P<word>[uvHckrbd])(?:\s+|(?=\{)))"
    r"(?:\{\s*(?P<braced>\\?[A-Za-z])\s*\}|(?P<bare>\\[ij](?![A-Za-z])|[A-Za-z]))(?P<shut>\}?)"
)
_LETTER = re.compile(r"\{?\\(ss|aa|AA|ae|AE|oe|OE|[oOlL])(?![A-Za-z])(?:\{\}|\s+)?(\}?)")


def plain_text(text: str, *, paragraphs: bool = False) -> str:
    """Return `text` without markup.

    Args:
        paragraphs: Line breaks of the markup stay; else everything is one line.
    """
    text = text[:MAX_CHARS]
    if "<" in text or "&" in text:
        text = _replaced(text, "<!--", "-->", lambda _comment: "")
        text = _replaced(text, "<![CDATA[", "]]>", html.escape)
        text = _Reader(text).read()
    plain = clean(text)
    lines = (" ".join(line.split()) for line in plain.split("\n"))
    plain = ("\n" if paragraphs else " ").join(line for line in lines if line)
    return "" if _NOTHING.fullmatch(plain) else plain


def one_line(text: str) -> str:
    """Return `text` with its white space collapsed, nothing else changed."""
    return " ".join(clean(text).split())


def without_tex_accents(text: str) -> str:
    r"""Return names and titles with TeX's accented letters written as letters: ``\"Ozel`` is ``Özel``."""
    if "\\" not in text:
        return text

    def accented(match: re.Match[str]) -> str:
        letter = (match["braced"] or match["bare"]).lstrip("\\")
        whole = unicodedata.normalize("NFC", letter + _ACCENTS[match["mark"] or match["word"]])
        return _braced(match[0], whole, match["shut"])

    text = _ACCENT.sub(accented, text)
    return _LETTER.sub(lambda match: _braced(match[0], _TEX_LETTERS[match[1]], match[2]), text)


def _replaced(text: str, opens: str, shuts: str, write: Callable[[str], str]) -> str:
    """Return `text` with what stands between two marks written anew; by steps, as it may be long."""
    pieces: list[str] = []
    at = 0
    while (start := text.find(opens, at)) >= 0 and (end := text.find(shuts, start)) >= 0:
        pieces += [text[at:start], write(text[start + len(opens) : end])]
        at = end + len(shuts)
    return "".join([*pieces, text[at:]])


def _braced(whole: str, letter: str, shut: str) -> str:
    """Drop the braces around a letter where both are there."""
    opened = whole.startswith("{")
    if opened and shut:
        return letter
    return ("{" if opened else "") + letter + shut


class _Reader:
    """Reads markup into text; `_stack` holds the open elements, each with the texts of its children."""

    def __init__(self, text: str) -> None:
        self._text = text
        names = {"open": set[str](), "close": set[str]()}
        for token in _TOKEN.finditer(text):
            names["close" if token["close"] else "open"].add(token["name"].lower())
        self._paired = names["open"] & names["close"]
        self._stack: list[tuple[str, list[str]]] = [("", [])]

    def read(self) -> str:
        at = 0
        for token in _TOKEN.finditer(self._text):
            self._say(self._text[at : token.start()])
            at = token.end()
            if self._is_markup(token):
                self._tag(token["name"].rpartition(":")[2].lower(), token)
            else:  # ``<B> = 3 kG`` is a mean value
                self._say(token[0])
        self._say(self._text[at:])
        while len(self._stack) > 1:
            self._end()
        return "".join(self._stack[0][1])

    def _is_markup(self, token: re.Match[str]) -> bool:
        name = token["name"].lower()
        return (
            bool(token["attributes"] or token["empty"])
            or name in self._paired
            or name in _EMPTY
            or name in _SCRIPTS
            or ":" in name
        )

    def _say(self, text: str) -> None:
        if text:
            self._stack[-1][1].append(html.unescape(text))

    def _tag(self, name: str, token: re.Match[str]) -> None:
        if name in _BREAKS:
            self._stack[-1][1].append("\n")
        elif name in {"none", "mprescripts"}:
            self._stack[-1][1].append(_ABSENT if name == "none" else _BEFORE)
        if token["empty"] or name in _EMPTY:
            return
        if not token["close"]:
            self._stack.append((name, []))
        elif any(name == opened for opened, _ in self._stack):
            while self._stack[-1][0] != name:  # what was left open ends here too
                self._end()
            self._end()

    def _end(self) -> None:
        name, parts = self._stack.pop()
        if name in _DROPPED:
            return
        into = self._stack[-1][1]
        if name in {"inline-formula", "disp-formula", "alternatives"} and len(parts) > 1:
            # The same formula in several spellings: TeX is the one that people read.
            tex = [part for part in parts if "$" in part or "\\" in part]
            parts = tex[:1] or parts
        into.append(_RULES.get(name, "".join)(parts))


def _script(mark: str) -> Callable[[Sequence[str]], str]:
    def write(parts: Sequence[str]) -> str:
        whole = "".join(parts)
        inner = whole.strip()
        if not inner:
            return whole
        tail = whole[len(whole.rstrip()) :]
        balanced = inner.count("{") == inner.count("}")
        braced = balanced and not _SIMPLE.fullmatch(inner) and not _in_braces(inner)
        return f"{mark}{{{inner}}}{tail}" if braced else f"{mark}{inner}{tail}"

    return write


def _in_braces(text: str) -> bool:
    return text.startswith("{") and text.endswith("}") and text.count("{") == 1


def _scripts(*marks: str) -> Callable[[Sequence[str]], str]:
    """Write MathML's base and its scripts, which are children in this order."""

    def write(parts: Sequence[str]) -> str:
        children = [part for part in parts if not part or part.strip()]  # an empty base is one
        if len(children) != len(marks) + 1:
            return "".join(parts)
        said = (_script(mark)([child]) for mark, child in zip(marks, children[1:], strict=True))
        return children[0].strip() + "".join(said)

    return write


def _multiscripts(parts: Sequence[str]) -> str:
    """Write a base with scripts behind and before it, such as an isotope's ``^36Cl``."""
    children = [part.strip() for part in parts if part.strip(" \n")]
    if not children:
        return ""
    base, *rest = children
    at = rest.index(_BEFORE) if _BEFORE in rest else len(rest)

    def said(scripts: Sequence[str]) -> str:
        return "".join(
            _script("_^"[number % 2])([script])
            for number, script in enumerate(scripts)
            if script != _ABSENT
        )

    return said(rest[at + 1 :]) + base + said(rest[:at])


def _fraction(parts: Sequence[str]) -> str:
    children = [part.strip() for part in parts if part.strip()]
    return "/".join(_grouped(child) for child in children)


def _grouped(text: str) -> str:
    return text if re.fullmatch(r"[\w.]+", text) else f"({text})"


_RULES: dict[str, Callable[[Sequence[str]], str]] = {
    **{name: _script(mark) for name, mark in _SCRIPTS.items()},
    "msub": _scripts("_"),
    "munder": _scripts("_"),
    "msup": _scripts("^"),
    "msubsup": _scripts("_", "^"),
    "munderover": _scripts("_", "^"),
    "mmultiscripts": _multiscripts,
    "mfrac": _fraction,
    "msqrt": lambda parts: f"√{_grouped(''.join(parts).strip())}",
}
