"""TeX as text: comments, braces, macros, and a paragraph as a reader would see it."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*\n?[ \t]*")
_VERBATIM = re.compile(
    r"\\begin\{(comment|verbatim\*?|lstlisting|minted|filecontents\*?)\}.*?\\end\{\1\}", re.DOTALL
)
_DEFINITION = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand)\*?\s*\{?\s*\\(?P<name>[A-Za-z]+)\s*\}?"
    r"\s*(?:\[(?P<count>\d)\])?\s*(?P<optional>\[[^\]]*\])?\s*(?=\{)"
    r"|\\def\s*\\(?P<plain>[A-Za-z]+)\s*(?P<parameters>(?:#\d)*)\s*(?=\{)"
)
_MATH = re.compile(r"\$\$.+?\$\$|\$[^$]+?\$|\\\(.+?\\\)", re.DOTALL)
_COMMAND = re.compile(r"\\([A-Za-z@]+)\*?|\\(.)", re.DOTALL)
_LIMIT = 200_000  # expansions in one document: macros that call themselves end here
_ACCENTS = {
    "'": "\u0301", "`": "\u0300", '"': "\u0308", "^": "\u0302", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328",
    "r": "\u030a", "d": "\u0323", "b": "\u0331",
}  # fmt: skip
_LETTERS = {
    "ss": "ß", "o": "ø", "O": "Ø", "aa": "å", "AA": "Å", "ae": "æ", "AE": "Æ", "oe": "œ",
    "OE": "Œ", "l": "ł", "L": "Ł", "i": "i", "j": "j", "ldots": "…", "dots": "…", "textdegree": "°",
    "textasciitilde": "~", "textbackslash": "\\", "S": "§", "P": "¶", "copyright": "©",
    "LaTeX": "LaTeX", "TeX": "TeX", "textmu": "µ", "degree": "°", "textendash": "–",
    "textemdash": "—",
    "quad": " ",
    "qquad": " ", "newline": " ", "linebreak": " ", "par": "\n\n", "ion": "", "textpm": "±",
    "texttimes": "×", "deg": "°", "arcsec": "″", "arcmin": "′", "sun": "☉", "aj": "AJ",
    "apj": "ApJ", "apjl": "ApJL", "apjs": "ApJS", "mnras": "MNRAS", "aap": "A&A", "pasp": "PASP",
    "nat": "Nature",
    "araa": "ARA&A", "prd": "PRD", "prl": "PRL", "jcap": "JCAP", "pasj": "PASJ", "icarus": "Icarus",
}  # fmt: skip
_SILENT = frozenset(
    """label vspace hspace includegraphics input include bibliography bibliographystyle
    pagestyle thispagestyle setcounter setlength addtocounter cline cmidrule color
    definecolor index newpage clearpage graphicspath usepackage noindent centering phantom
    nocite orcid email thanks tablenum rule raisebox resizebox scalebox vskip hskip
    addcontentsline protect footnotemark tablewidth tabletypesize tablecolumns rotate
    tableline specialrule arraycolsep hypersetup""".split()
)
_TWO = frozenset(
    {"setcounter", "setlength", "addtocounter", "rule", "resizebox", "definecolor", "hspace*"}
)
_CITES = re.compile(r"[A-Za-z]*cite[A-Za-z]*")
_SPACE = re.compile(r"[ \t\r\f\u00a0]+")


def strip_comments(text: str) -> str:
    """Return `text` without comments and environments that are not set."""
    text = _VERBATIM.sub("", text)
    return _COMMENT.sub(lambda match: match[1], text)


def group_end(text: str, start: int, opening: str = "{", closing: str = "}") -> int:
    """Return the place after the bracket that closes the one at `start`, or the end."""
    depth = 0
    index = start
    length = len(text)
    while index < length:
        char = text[index]
        if char == "\\":
            index += 2
            continue
        if char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if depth == 0:
                return index + 1
        index += 1
    return length


def argument(text: str, at: int) -> tuple[str, int]:
    """Return the mandatory argument at `at` (a group or one token), and where it ends."""
    while at < len(text) and text[at] in " \t\n":
        at += 1
    if at >= len(text):
        return "", at
    if text[at] == "{":
        end = group_end(text, at)
        return text[at + 1 : end - 1] if text[end - 1 : end] == "}" else text[at + 1 : end], end
    if text[at] == "\\":
        match = _COMMAND.match(text, at)
        return (match[0], match.end()) if match else ("", at + 1)
    return text[at], at + 1


def skip_optional(text: str, at: int) -> int:
    """Return the place after ``[...]`` at `at`, or `at` where there is none."""
    here = at
    while here < len(text) and text[here] in " \t":
        here += 1
    if text[here : here + 1] != "[":
        return at
    return group_end(text, here, "[", "]")


# --- macros --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Macro:
    """A command of the author's: `count` arguments, the first of them optional where `optional`."""

    body: str
    count: int
    optional: str | None


def expand_macros(text: str) -> str:
    """Return `text` with the author's own simple commands replaced by what they stand for."""
    macros: dict[str, Macro] = {}
    kept: list[str] = []
    at = 0
    for match in _DEFINITION.finditer(text):
        if match.start() < at:
            continue
        body, end = argument(text, match.end())
        name = match["name"] or match["plain"]
        count = (
            int(match["count"] or 0) if match["name"] else (match["parameters"] or "").count("#")
        )
        if len(body) <= 400 and f"\\{name}" not in body:
            macros[name] = Macro(body, count, match["optional"])
        kept.append(text[at : match.start()])
        at = end
    kept.append(text[at:])
    text = "".join(kept)
    if not macros:
        return text
    budget = _LIMIT
    for _ in range(4):  # macros in macros
        text, used = _expand_once(text, macros, budget)
        budget -= used
        if not used or budget <= 0:
            break
    return text


def _expand_once(text: str, macros: Mapping[str, Macro], budget: int) -> tuple[str, int]:
    names = "|".join(sorted(map(re.escape, macros), key=len, reverse=True))
    pattern = re.compile(rf"\\({names})(?![A-Za-z])")
    out: list[str] = []
    at = used = 0
    while used < budget:
        match = pattern.search(text, at)
        if not match:
            break
        macro = macros[match[1]]
        out.append(text[at : match.start()])
        end = match.end()
        values: list[str] = []
        if macro.optional is not None and macro.count:
            stop = skip_optional(text, end)
            given = text[end:stop].strip()[1:-1] if stop > end else macro.optional[1:-1]
            values.append(given)
            end = stop
        while len(values) < macro.count:
            value, end = argument(text, end)
            values.append(value)
        if not macro.count and text[end : end + 2] == "{}":
            end += 2
        body = macro.body
        for number, value in enumerate(values, 1):
            body = body.replace(f"#{number}", value)
        if body[-1:].isalpha() and text[end : end + 1].isalpha():
            body = f"{{{body}}}"
        out.append(body)
        at = end
        used += 1
        if sum(map(len, out[-2:])) > 100_000:
            break
    out.append(text[at:])
    return "".join(out), used


# --- reading -------------------------------------------------------------------------------------


def plain(
    text: str, *, note: Callable[[str], None] | None = None, labels: Mapping[str, str] | None = None
) -> str:
    """Return TeX as a reader sees it: ``$...$`` stays, a citation becomes ``[key, key]``.

    Args:
        note: Told the text of each footnote, which is left out.
        labels: Numbers that references to labels show.
    """
    out: list[str] = []
    at = 0
    for match in _MATH.finditer(text):
        out.append("".join(_words(text[at : match.start()], note, labels or {})))
        math = match[0]
        if math.startswith("\\("):
            math = f"${math[2:-2]}$"
        out.append(_SPACE.sub(" ", math.replace("\n", " ")))
        at = match.end()
    out.append("".join(_words(text[at:], note, labels or {})))
    joined = "".join(out)
    joined = re.sub(r"[ \t]*\n[ \t]*", " ", joined)
    joined = joined.replace("---", "—").replace("--", "–").replace("``", "“").replace("''", "”")
    return _SPACE.sub(" ", joined).strip()


def _words(
    text: str, note: Callable[[str], None] | None, labels: Mapping[str, str], depth: int = 0
) -> Iterator[str]:
    at = 0
    length = len(text)
    while at < length:
        next_at = _next_special(text, at)
        if next_at > at:
            yield text[at:next_at].replace("~", " ")
            at = next_at
            continue
        if text[at] in "{}$":
            at += 1
            continue
        match = _COMMAND.match(text, at)
        if not match:
            at += 1
            continue
        name = match[1] or match[2]
        piece, at = _command(text, match.end(), name, note, labels, depth)
        yield piece


_SPECIAL = re.compile(r"[\\{}$]")


def _next_special(text: str, at: int) -> int:
    match = _SPECIAL.search(text, at)
    return match.start() if match else len(text)


def _command(  # noqa: PLR0917 - one step of `_words`, with its state
    text: str,
    at: int,
    name: str,
    note: Callable[[str], None] | None,
    labels: Mapping[str, str],
    depth: int,
) -> tuple[str, int]:
    """Return what one command stands for, and where reading goes on."""
    if depth > 40:
        return "", at
    if name in _ACCENTS and (len(name) > 1 or not name.isalpha() or text[at : at + 1] in "{ "):
        value, end = argument(text, at)
        letter = "".join(_words(value, note, labels, depth + 1)) or " "
        return unicodedata.normalize("NFC", letter[0] + _ACCENTS[name]) + letter[1:], end
    if name in _LETTERS:
        end = at + 2 if text[at : at + 2] == "{}" else at
        if end == at and text[at : at + 1] == " " and name.isalpha():
            end = at + (1 if len(name) <= 2 else 0)
        return _LETTERS[name], end
    if _CITES.fullmatch(name):
        while (stop := skip_optional(text, at)) > at:
            at = stop
        keys, at = argument(text, at)
        return "[" + ", ".join(key.strip() for key in keys.split(",")) + "]", at
    if name in {"ref", "eqref", "autoref", "cref", "Cref", "pageref"}:
        label, at = argument(text, at)
        return labels.get(label.strip(), label.strip()), at
    if name in {"footnote", "footnotetext", "tablenotetext"}:
        value, at = argument(text, skip_optional(text, at))
        if note and name == "footnote":
            note("".join(_words(value, None, labels, depth + 1)))
        return "", at
    if name in {"href", "textcolor", "colorbox", "multicolumn", "multirow", "parbox"}:
        for _ in range(2 if name in {"multicolumn", "multirow"} else 1):
            _, at = argument(text, skip_optional(text, at))
        value, at = argument(text, at)
        return "".join(_words(value, note, labels, depth + 1)), at
    if name in _SILENT:
        at = skip_optional(text, at)
        for _ in range(2 if name in _TWO else 1):
            if text[at : at + 1] == "{":
                _, at = argument(text, at)
        return "", at
    if not name.isalpha():
        return _sign(name), at
    return "", skip_optional(text, at) if text[at : at + 1] == "[" else at


def _sign(name: str) -> str:
    if name in "&%_#${}":
        return name
    return " " if name in "\\,;:/ \n!" else ""
