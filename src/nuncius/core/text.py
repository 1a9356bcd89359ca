"""Pure functions on text: cleaning, folding for quotes, tokens for search, sentences, language."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufdd0-\ufdef\uffff]")
_LIGATURES = {
    "\ufb00": "ff",
    "\ufb01": "fi",
    "\ufb02": "fl",
    "\ufb03": "ffi",
    "\ufb04": "ffl",
    "\ufb05": "ft",
    "\ufb06": "st",
}
_DASHES = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d", "-")
)
LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "Æ": "Ae", "ø": "o", "Ø": "O", "œ": "oe", "Œ": "Oe", "ł": "l",
     "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "ı": "i"}
)  # fmt: skip
"""Latin letters that Unicode does not take apart into a letter and its accent."""
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"


def clean(text: str) -> str:
    """Return `text` without NUL, lone surrogates and control characters; tab and newline stay."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def look_up_form(text: str) -> str:
    """Return small letters without accents, as people type when they look for a name.

    ``Böhm-Vitense``: ``bohm-vitense``; ``Šafařík``: ``safarik``; ``Straße``: ``strasse``.
    """
    return _strip_accents(text.casefold())


# --- folding: is this quote in that page? -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Folded:
    """Text folded for comparison; `offsets[i]` is where its character i stood in the source."""

    text: str
    offsets: tuple[int, ...]

    def find(self, needle: "Folded", start: int = 0) -> tuple[int, int] | None:
        """Return the span of `needle` in the source, or None."""
        if not needle.text:
            return None
        at = self.text.find(needle.text, start)
        if at < 0:
            return None
        return self.offsets[at], self.offsets[at + len(needle.text) - 1] + 1


def fold(text: str) -> Folded:
    r"""Fold white space, ligatures and hyphenation away, and nothing that carries meaning.

    Case, digits, signs and super- or subscripts stay. A hyphen between letters goes, at a line's
    end or not (``star-\nformation`` equals ``star-formation`` and ``starformation``); a hyphen
    beside anything else stays, so that ``-0.3`` never equals ``0.3``.
    """
    characters: list[str] = []
    offsets: list[int] = []
    for index, char in enumerate(text):
        if char.isspace() or char in "\u00ad\u200b\u200c\u200d\ufeff" or _CONTROL.match(char):
            continue
        for piece in _fold_character(char):
            characters.append(piece)
            offsets.append(index)
    kept = [
        index
        for index, char in enumerate(characters)
        if not (
            char in "-\ufffe"
            and 0 < index < len(characters) - 1
            and characters[index - 1].isalpha()
            and characters[index + 1].isalpha()
        )
    ]
    folded = "".join(characters[index] for index in kept).replace("\ufffe", "-")
    return Folded(folded, tuple(offsets[index] for index in kept))


def _fold_character(char: str) -> str:
    if char in _LIGATURES:
        return _LIGATURES[char]
    if char in "\u2010\u2011\u2212\ufe63\uff0d":
        return "-"
    if char in "\u2018\u2019\u02bc":
        return "'"
    if char in "\u201c\u201d":
        return '"'
    if "\uff01" <= char <= "\uff5e":
        return unicodedata.normalize("NFKC", char)
    return unicodedata.normalize("NFC", char)


def fold_for_identity(text: str) -> str:
    """Return the letters and digits of `text` in lower case: equal means the same paper."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in plain if char.isalnum())


# --- tokens: the same normaliser on both sides of the search -------------------------------------

_GREEK = dict(
    zip(
        "αβγδεζηθικλμνξοπρστυφχψω",
        (
            "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho"
            " sigma tau upsilon phi chi psi omega"
        ).split(),
        strict=True,
    )
) | {"ς": "sigma", "ϵ": "epsilon", "ϕ": "phi", "ϑ": "theta", "ϱ": "rho", "ϖ": "pi", "µ": "mu"}
_TEX_GREEK = re.compile(
    r"\\(?:var)?(" + "|".join(sorted(set(_GREEK.values()), key=len, reverse=True)) + r")(?![a-z])",
    re.IGNORECASE,
)
_TEX_COMMAND = re.compile(
    r"\\(?:mathrm|mathbf|mathit|mathcal|text|textrm|textit|rm|bf|it|left|right|,|;|!)"
)
_ELEMENTS = "H|He|Li|C|N|O|Ne|Na|Mg|Al|Si|S|Ar|K|Ca|Ti|Cr|Mn|Fe|Co|Ni|Sr|Y|Zr|Ba|Eu"
_ION = re.compile(
    rf"(?<![A-Za-z])({_ELEMENTS})\s?(I{{1,3}}|IV|VI{{0,3}}|IX|XI{{0,3}}|XIV|XVI{{0,3}})(?![A-Za-z])"
)
_WORD = re.compile(
    rf"[{_HAN}]+|[^\W_{_HAN}]+(?:[-/_.^'*+][^\W_{_HAN}]+)*",
)
_PART = re.compile(r"\d+|[^\W\d_]+")
_HYPHEN_BREAK = re.compile(r"(?<=[^\W\d_])[-\u00ad\ufffe]\s*\n\s*(?=[^\W\d_])")
_POSSESSIVE = re.compile(r"(?<=[^\W_])['\u2019]s(?![^\W_])")
_UMLAUTS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "ß": "ss", "æ": "ae"}
)
_PLAIN = str.maketrans(
    {"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th"}
)

STOP_WORDS = frozenset(
    """a about above after again against all also am an and any are as at be because been before being
    below between both but by can could did do does doing done down during each either else ever few
    for from further give given gives had has have having he her here hers him his how i if in into is
    it its itself just let many may me might more most much must my no nor not now of off on once one
    only or other our out over own per please same say says she should so some such tell than that the
    their them then there these they this those through to too under until up upon us use used uses
    using very via was we were what when where whether which while who whom whose why will with within
    without would you your""".split()
)


def _prepare(text: str) -> str:
    text = unicodedata.normalize("NFKC", clean(text))
    text = _HYPHEN_BREAK.sub("", text)
    text = _POSSESSIVE.sub("", text.translate(_DASHES))
    text = _TEX_GREEK.sub(lambda match: f" {match[1]} ", text)
    return _TEX_COMMAND.sub(" ", text).replace("{", "").replace("}", "").replace("$", " ")


@dataclass(frozen=True, slots=True)
class _Word:
    """One word of a text: its parts in order, and further spellings of the whole."""

    parts: tuple[str, ...]
    glued: tuple[str, ...]
    han: bool = False


def _words(text: str) -> Iterator[_Word]:
    prepared = _prepare(text)
    ions = {match.start(): match for match in _ION.finditer(prepared)}
    position = 0
    for match in _WORD.finditer(prepared):
        if match.start() < position:
            continue
        ion = ions.get(match.start())
        if ion:
            element, stage = ion[1].lower(), ion[2].lower()
            position = ion.end()
            yield _Word((element, stage), (element + stage,))
            continue
        yield _split_word(match[0])


@lru_cache(maxsize=32768)  # words repeat: this halves the cost of indexing
def _split_word(word: str) -> _Word:
    if re.match(f"[{_HAN}]", word):
        pairs = tuple(word[i : i + 2] for i in range(len(word) - 1))
        return _Word(pairs or (word,), tuple(word) if pairs else (), han=True)
    lowered = word.casefold()
    parts: list[str] = []
    variants: list[str] = []
    for piece in _PART.findall(lowered):
        for spelled in _spell_greek(piece):
            plain = _strip_accents(spelled)
            parts.append(plain)
            rewritten = _strip_accents(unicodedata.normalize("NFC", spelled).translate(_UMLAUTS))
            if rewritten != plain:
                variants.append(rewritten)
    if lowered == "å":
        variants.append("angstrom")
    if len(parts) > 1 and any(not part.isdigit() for part in parts):
        whole = "".join(parts)
        if len(whole) <= 40:
            variants.append(whole)
    return _Word(tuple(parts), tuple(dict.fromkeys(variants)))


def _spell_greek(piece: str) -> list[str]:
    if piece.isascii() or (len(piece) > 3 and all(char in _GREEK for char in piece)):
        return [piece]  # a word of Greek text, not a symbol
    spelled: list[str] = []
    latin = ""
    for char in piece:
        if char in _GREEK:
            if latin:
                spelled.append(latin)
                latin = ""
            spelled.append(_GREEK[char])
        else:
            latin += char
    return [*spelled, latin] if latin else spelled


def _strip_accents(text: str) -> str:
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFD", text.translate(_PLAIN))
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def index_terms(text: str) -> str:
    """Return the tokens of `text` for the search index, joined by spaces.

    Meant for FTS5 with ``tokenize='porter unicode61'``: parts of a compound stand next to each
    other, then its glued form (``H-alpha`` and ``Hα``: ``h alpha halpha``; ``NGC1234``: ``ngc 1234
    ngc1234``); Chinese runs become pairs, then single characters.
    """
    return " ".join(token for word in _words(text) for token in (*word.parts, *word.glued) if token)


def query_terms(text: str) -> list[list[str]]:
    """Return the terms of a query, each with its variants: strings of tokens that stand together.

    Stop words are left out, unless nothing else is there. Order is kept, doubles are dropped.
    """
    found: dict[str, list[str]] = {}
    stopped: dict[str, list[str]] = {}
    for word in _words(text):
        phrase = " ".join(word.parts)
        if not phrase:
            continue
        variants = [phrase] if word.han else list(dict.fromkeys((phrase, *word.glued)))
        (stopped if phrase in STOP_WORDS else found).setdefault(phrase, variants)
    return list((found or stopped).values())


# --- sentences -----------------------------------------------------------------------------------

_ABBREVIATIONS = frozenset(
    """al fig figs eq eqs eqn eqns sec secs sect ref refs tab tabs ch chap app no nos vol vols pp p ed
    eds e.g i.e cf vs viz ca approx resp dr prof st mr mrs ms jr sr inc ltd dept univ obs astron
    astrophys phys lett rev mon not roy soc proc suppl ser bull etc incl max min avg std priv comm
    jan feb mar apr jun jul aug sep sept oct nov dec""".split()
)
_NEVER_LAST = frozenset(
    "al fig figs eq eqs eqn eqns sec secs sect ref refs tab tabs e.g i.e cf vs ca approx no nos dr prof".split()
)
_END = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s|$)|[。！？；]+[”’」』）]*|\n+")


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences of `text`, without the white space around them.

    A line break ends a sentence (passages hold one paragraph or table row a line). Full stops in
    numbers, initials and common abbreviations do not.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        if match[0][0] == "." and not _ends(text, start, match):
            continue
        if match[0][0] in "?!" and text[match.end() :].lstrip(" ")[:1] in ("[", "("):
            continue  # a glyph that a parser lost, in a table's label: "M? [Msun] 0.85"
        _add_span(spans, text, start, match.end())
        start = match.end()
    _add_span(spans, text, start, len(text))
    return spans


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    before = text[start : match.start()]
    after = text[match.end() :].lstrip(" \t")
    word = re.split(r"[\s(\[{~,;/]", before)[-1].lower()
    if not after or after[0] == "\n":
        return True
    if word in _NEVER_LAST or (len(word) == 1 and word.isalpha() and before[-1].isupper()):
        # "et al. The" ends a sentence at times; "Fig. 3", "L. Bouma" never do
        return word == "al" and bool(re.match(r"[A-Z][a-z]+ ", after)) and not after[:1].isdigit()
    if word in _ABBREVIATIONS:
        return after[0].isupper() and not re.match(r"[A-Z][a-z]*\.", after)
    return not after[0].islower()


def _add_span(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        spans.append((start, end))


# --- language ------------------------------------------------------------------------------------


def language_of(text: str) -> str:
    """Return ``zh`` where at least a tenth of the letters are Han without kana, else ``en``."""
    han = len(re.findall(f"[{_HAN}]", text))
    kana = len(re.findall("[\u3040-\u30ff]", text))
    letters = sum(char.isalpha() for char in text)
    if letters and kana > han // 4 and kana > 4:
        return "ja"
    return "zh" if han and han * 10 >= letters else "en"
