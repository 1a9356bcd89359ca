r"""Text as LaTeX prints it, and LaTeX as text: accents, Greek, signs, quotes.

`latex` and `plain` are each other's inverse: what was written once is read and written again
without a change. Formulas between dollars are kept as they are.
"""

import re
import unicodedata
from collections.abc import Iterator

# Accents that every LaTeX engine and classical BibTeX know.
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u",
    "\u0307": ".", "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0323": "d",
    "\u0327": "c", "\u0328": "k", "\u0331": "b",
}  # fmt: skip
_MARKS = {command: mark for mark, command in _ACCENTS.items()}
_LETTERS = {
    "ß": r"{\ss}", "æ": r"{\ae}", "Æ": r"{\AE}", "œ": r"{\oe}", "Œ": r"{\OE}", "ø": r"{\o}",
    "Ø": r"{\O}", "å": r"{\aa}", "Å": r"{\AA}", "ł": r"{\l}", "Ł": r"{\L}", "ı": r"{\i}",
    "đ": r"{\dj}", "Đ": r"{\DJ}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    # BibTeX counts braces, with a backslash or without
    "{": r"{\textbraceleft}", "}": r"{\textbraceright}",
    "~": r"{\textasciitilde}", "^": r"{\textasciicircum}", "\\": r"{\textbackslash}",
    "§": r"{\S}", "¶": r"{\P}", "©": r"{\copyright}", "£": r"{\pounds}",
    "\u2010": "-", "\u2011": "-", "\u2013": "--", "\u2014": "---",
    "\u2018": "`", "\u2019": "'", "\u201c": "``", "\u201d": "''", "\u2026": r"{\ldots}",
}  # fmt: skip
_GREEK = {
    char: "\\" + (name if char.islower() else name.capitalize())
    for char in "αβγδεζηθικμνξπρστυφχψωλΓΔΘΛΞΠΣΥΦΨΩ"
    for name in [unicodedata.name(char).rsplit(" ", 1)[1].lower().replace("lamda", "lambda")]
}
_SIGNS = {
    "±": r"\pm", "×": r"\times", "·": r"\cdot", "−": "-", "≈": r"\approx", "≃": r"\simeq",
    "∼": r"\sim", "≲": r"\lesssim", "≳": r"\gtrsim", "≤": r"\leq", "≥": r"\geq", "∞": r"\infty",
    "°": r"^\circ", "⊙": r"\odot", "⊕": r"\oplus", "→": r"\to", "<": "<", ">": ">",
    "∝": r"\propto", "≡": r"\equiv", "≠": r"\neq", "≪": r"\ll", "≫": r"\gg", "≅": r"\cong",
    "∂": r"\partial", "∇": r"\nabla", "∑": r"\sum", "∫": r"\int", "∈": r"\in", "⊥": r"\perp",
    "∥": r"\parallel", "⟨": r"\langle", "⟩": r"\rangle", "ħ": r"\hbar", "ℓ": r"\ell",
    "★": r"\star", "†": r"\dagger", "′": r"^\prime", "″": r"^{\prime\prime}", "←": r"\leftarrow",
    "ϑ": r"\vartheta", "ϖ": r"\varpi",
}  # fmt: skip
_MATH = _GREEK | _SIGNS | {"☉": r"\odot", "µ": r"\mu", "ϕ": r"\phi"}
_SIGN_OF = {command: sign for sign, command in (_GREEK | _SIGNS).items()} | {
    r"\le": "≤", r"\ge": "≥", r"\rightarrow": "→", r"^{\circ}": "°", r"\Lambda": "Λ",
    r"\varepsilon": "ε", r"\varphi": "φ",
}  # fmt: skip
_SCRIPT_OF = {"<super>": "^", "<sub>": "_"}
_SCRIPTS = {
    char: (_SCRIPT_OF[parts[0]], chr(int(parts[1], 16)))
    for char in map(chr, (0xB2, 0xB3, 0xB9, *range(0x2070, 0x209D)))
    for parts in [unicodedata.decomposition(char).split()]
    if len(parts) == 2 and parts[0] in _SCRIPT_OF
}
_RAISED = {written: char for char, written in reversed(_SCRIPTS.items())} | {
    ("^", "-"): "⁻", ("_", "-"): "₋",
}  # fmt: skip
_WORDS = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "aa": "å",
    "AA": "Å", "l": "ł", "L": "Ł", "i": "ı", "j": "ȷ", "dj": "đ", "DJ": "Đ", "th": "þ", "TH": "Þ",
    "dh": "ð", "DH": "Ð", "textbraceleft": "{", "textbraceright": "}", "textasciitilde": "~",
    "textasciicircum": "^", "textbackslash": "\\", "ldots": "…", "dots": "…", "textellipsis": "…",
    "textendash": "–", "textemdash": "—", "textquoteright": "’", "textquoteleft": "‘",
    "textquotedblleft": "“", "textquotedblright": "”", "textquotesingle": "'", "textquotedbl": '"',
    "textless": "<", "textgreater": ">", "textdegree": "°", "degr": "°", "textpm": "±", "textmu": "µ",
    "texttimes": "×", "textasciiacute": "´", "textbar": "|", "textunderscore": "_", "S": "§", "P": "¶", "pounds": "£",
    "copyright": "©", "textregistered": "®", "texttrademark": "™", "sun": "☉", "lbrace": "{",
    "rbrace": "}", "slash": "/", "space": " ", "quad": " ", "qquad": " ", "newline": " ",
    "LaTeX": "LaTeX", "TeX": "TeX",
}  # fmt: skip
_DRESS = frozenset(
    """emph textit textbf textrm textsc textsf texttt textsl textup text mbox hbox rm it bf sc sf tt
    sl em itshape bfseries rmfamily scshape normalfont protect ensuremath relax noopsort url natexlab
    upshape uppercase MakeUppercase textnormal""".split()
)
"""Commands that change how their argument looks, not what it says."""
_FORMULA = re.compile(r"(?<!\\)\$[^$]+(?<!\\)\$")
_SCRIPT = re.compile(
    r"[_^]\{[\w+\-., ]{1,20}\}|(?<=[A-Za-z)])[_^][+-]?\d+|(?<!\S)\^\d{1,3}(?=[A-Z])"
)
_TOKEN = re.compile(r"(?<!\\)\$[^$]*[^$\\]\$|\\[A-Za-z]+\*?\s*|\\.|---?|``|''|[`{}~]", re.DOTALL)


def latex(text: str) -> str:
    """Return `text` with everything escaped that LaTeX would read as a command.

    Letters with accents, Greek and signs become commands; formulas between dollars stay, and plain
    sub- and superscripts (``H_2``, ``10^{-3}``) become formulas; Chinese stays as it is.
    """
    printable = "".join(char if char.isprintable() or char.isspace() else "" for char in text)
    flat = " ".join(unicodedata.normalize("NFC", printable).split())
    parts: list[str] = []
    position = at = 0
    while match := _FORMULA.search(flat, at):
        at = match.start() + 1  # what ends no formula may begin one
        if is_formula(match[0][1:-1]):
            parts += [_outside(flat[position : match.start()]), match[0]]
            position = at = match.end()
    parts.append(_outside(flat[position:]))
    return "".join(parts)


def is_formula(body: str) -> bool:
    """Tell a formula from two prices: no blank at its ends, short, its braces in pairs."""
    depth = 0
    for char in body:
        depth += {"{": 1, "}": -1}.get(char, 0)
        if depth < 0:
            return False
    return not depth and bool(body) and body == body.strip() and len(body) <= 120


def _outside(text: str) -> str:
    parts: list[str] = []
    position = 0
    for match in _SCRIPT.finditer(text):
        sign, body = match[0][0], match[0][1:].strip("{}")
        parts += [_escape(text[position : match.start()]), f"${sign}{{{body}}}$"]
        position = match.end()
    return "".join([*parts, _escape(text[position:])])


def _escape(text: str) -> str:
    return "".join(map(_letter, _runs(text)))


def _runs(text: str) -> Iterator[str]:
    """Yield characters; raised or lowered ones that stand together come together."""
    run = ""
    for char in text:
        sign = _SCRIPTS[char][0] if char in _SCRIPTS else ""
        if run and (not sign or sign != _SCRIPTS[run[0]][0]):
            yield run
            run = ""
        if sign:
            run += char
        else:
            yield char
    if run:
        yield run


def _letter(char: str) -> str:
    if char in _LETTERS:
        return _LETTERS[char]
    if char[0] in _SCRIPTS:
        raised = "".join(_MATH.get(base, base) for base in (_SCRIPTS[one][1] for one in char))
        return f"${_SCRIPTS[char[0]][0]}{{{raised}}}$"
    if char in _MATH:
        return f"${_MATH[char]}$"
    if char.isascii():
        return char
    base, *marks = unicodedata.normalize("NFD", char)
    if len(marks) == 1 and marks[0] in _ACCENTS and base.isascii() and base.isalpha():
        command = _ACCENTS[marks[0]]
        if base in "ij":
            return f"{{\\{command}\\{base}}}"
        return f"{{\\{command}{' ' if command.isalpha() else ''}{base}}}"
    return char


# --- reading --------------------------------------------------------------------------------------


def plain(tex: str) -> str:
    """Return LaTeX as a reader would see it; formulas and unknown commands stay as written."""
    parts: list[str] = []
    _read(tex, parts)
    return " ".join(unicodedata.normalize("NFC", "".join(parts)).split())


def _read(tex: str, parts: list[str]) -> None:
    tex = re.sub(r"\s+", " ", tex)
    at = 0
    while match := _TOKEN.search(tex, at):
        parts.append(tex[at : match.start()])
        token, at = match[0], match.end()
        if token[0] == "$":
            parts.append(_formula(token))
        elif token[0] == "\\":
            text, at = _command(tex, token, at)
            parts.append(text)
        else:
            parts.append(_PUNCTUATION[token])
    parts.append(tex[at:])


_PUNCTUATION = {
    "---": "\u2014", "--": "\u2013", "``": "\u201c", "''": "\u201d", "`": "\u2018",
    "{": "", "}": "", "~": " ",
}  # fmt: skip


def _formula(formula: str) -> str:
    """Return a formula that is one sign or one raised run as that, any other as it is."""
    body = formula[1:-1].strip()
    if body in _SIGN_OF:
        return _SIGN_OF[body] if body != "-" else "−"
    if match := re.fullmatch(r"([_^])(?:\{([^{}\\]+)\}|([^{}\\]))", body):
        raised = [_RAISED.get((match[1], char)) for char in (match[2] or match[3])]
        if all(raised):
            return "".join(map(str, raised))
    return formula


def _command(tex: str, token: str, at: int) -> tuple[str, int]:
    """Return what a command prints, and the place after it and what it takes."""
    name = token[1:].rstrip().rstrip("*") or token[1:]
    if name in _MARKS and (len(name) > 1 or not name.isalpha() or tex[at : at + 1]):
        accented = _accented(tex, name, at)
        if accented:
            return accented
    if name in _WORDS:
        blank = " " if token.endswith(" ") and not _WORDS[name].isalnum() else ""
        if tex.startswith("{}", at):
            at += 2
        return _WORDS[name] + blank, at
    if name in _DRESS:
        return "", at
    if name in {" ", ",", "\\", ";", ":"}:
        return " ", at
    if name in {"/", "-", "!", "@"}:
        return "", at
    if name in {"&", "%", "$", "#", "_", "{", "}"}:
        return name, at
    return token, at


def _accented(tex: str, name: str, at: int) -> tuple[str, int] | None:
    r"""Read ``\'e``, ``\'{e}``, ``\v c``, ``\'\i`` and ``\'{\i}``; None where no letter follows."""
    match = re.compile(r"\s*(?:\{\s*(\\?[A-Za-z]{0,2})\s*\}|(\\[ij])\s?|([^\W\d_]))").match(tex, at)
    if not match:
        return None
    base = match[1] if match[1] is not None else match[2] or match[3]
    base = {r"\i": "i", r"\j": "j", r"\o": "ø", r"\O": "Ø", r"\ae": "æ", r"\AE": "Æ"}.get(
        base, base
    )
    if not base or base.startswith("\\"):
        return None
    return unicodedata.normalize("NFC", base[0] + _MARKS[name]) + base[1:], match.end()
