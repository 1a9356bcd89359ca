r"""What exports leave in BibTeX that was never meant: entities, tags, broken names, glued DOIs.

A value is mended only where what was meant is certain; all others stay as they are.
"""

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from nuncius.core.identifiers import identify
from nuncius.library.bibtex import Bibliography, Entry, Field, names_in
from nuncius.library.export import MONTHS, author_field
from nuncius.library.reference import person
from nuncius.library.tex import latex, plain

_ENTITY = re.compile(
    r"(?:\{\\&\}|\\?&)(?:amp;)*(?:([A-Za-z]{2,8})|\\?#(\d+|[xX][0-9A-Fa-f]+));|(?:\{\\&\}|\\?&)(?:amp;)+"
)
_ANGLE = re.compile(
    r"(?:\$<\$|\{?\\textless\}?\s?(?:\{\})?)(/?\w+\s*/?)(?:\$>\$|\{?\\textgreater\}?(?:\{\})?)"
)
_SCRIPT = re.compile(r"<(sup|sub|inf)>\s*([^<>]{0,200}?)\s*</\1>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:i|b|em|strong|u|p|br|span|a|sc|tt|small|title|jats:\w+|mml:\w+|inline-formula|tex-math)\b[^<>]*>",
    re.IGNORECASE,
)
_PARAGRAPH = re.compile(r"(?<!\s)\s*(?:\\textbackslash\s*){2,}")
_ABSENT = re.compile(r"(?:abstract\s+)?not\s+available\.?", re.IGNORECASE)
_UNSEEN = re.compile("[\u200b-\u200f\u2028\u2029\u2060\ufeff\u00ad\x00-\x08\x0b\x0c\x0e-\x1f]")
_LIGATURES = re.compile("[\ufb00-\ufb06]")
_GLUED_DOI = re.compile(r"(10\.\d{4,9}/\S+?)(?=10\.48550/arXiv)", re.IGNORECASE)
# Not what a person writes into a file: note, keywords, annote, file.
_TEXTS = frozenset(
    """title booktitle journal journaltitle shorttitle series publisher school institution abstract
    howpublished organization""".split()
)
_FREE = re.compile(
    r"(?<!\\)\$[^$]*\$|\\url\{[^{}]*\}|\\href\{[^{}]*\}|(?<!\\)([&%#]|(?<=\w)_(?=\w))"
)


@dataclass(frozen=True, slots=True)
class Mending:
    """A value as it was meant.

    Attributes:
        raw: With its delimiters; None where nothing was meant.
        why: What is wrong with the old one.
    """

    field: str
    raw: str | None
    why: str


def mendings(bib: Bibliography, entry: Entry) -> Iterator[Mending]:
    """Yield what can be mended of an entry's fields; each field at most once."""
    for one in entry.fields:
        if entry.get(one.name) is not one:
            continue
        raw = bib.text[one.start : one.end]
        if one.name == "month":
            yield from _month(one, raw)
        elif raw[:1] in '{"' and raw[1:-1] == one.value:  # macros and joined parts are the user's
            yield from _value(one, raw)


def _value(one: Field, raw: str) -> Iterator[Mending]:
    if one.name in {"author", "editor"}:
        fresh, why = _people(one.value)
    elif one.name == "doi":
        fresh, why = _doi(one.value)
    elif one.name == "eprint":
        fresh, why = _eprint(one.value)
    elif one.name == "pages":
        fresh = re.sub("(?<!\\s)\\s*[\u2010-\u2015\u2212]\\s*", "--", one.value)
        why = "a dash that old styles do not know"
    elif one.name in _TEXTS:
        fresh, why = mended_text(one.value)
    else:
        return
    if fresh == one.value:
        return
    if one.name == "abstract" and _ABSENT.fullmatch(plain(fresh).strip()):
        yield Mending(one.name, None, "it tells that there is none")
    elif fresh.strip():
        yield Mending(one.name, raw[0] + fresh + raw[-1], why)


def mended_text(tex: str) -> tuple[str, str]:
    """Return a text as it was meant, and what was wrong, joined by commas."""
    wrong: list[str] = []

    def step(fresh: str, why: str) -> str:
        if fresh != tex:
            wrong.append(why)
        return fresh

    tex = step(unicodedata.normalize("NFC", _UNSEEN.sub("", tex)), "characters that nobody sees")
    tex = step(tex.replace("\u00a0", "~"), "a blank that is no blank")
    tex = step(_LIGATURES.sub(lambda m: unicodedata.normalize("NFKC", m[0]), tex), "ligatures")
    tex = step(_ENTITY.sub(_entity, tex), "HTML entities")
    tex = step(_without_tags(tex), "HTML tags")
    if _PARAGRAPH.search(tex):
        tex = step(_PARAGRAPH.sub(" ", tex).strip(), "marks of paragraphs")
    if (too_many := _groups_around(tex) - 2) > 0:
        tex = step(tex[too_many:-too_many], "braces around braces")
    return step(_FREE.sub(_escaped, tex), "signs that TeX reads as commands"), ", ".join(
        dict.fromkeys(wrong)
    )


def _without_tags(tex: str) -> str:
    tags = _SCRIPT.sub(_script, _ANGLE.sub(r"<\1>", tex))
    bare = re.sub(r"(?<=\S)  +", " ", _TAG.sub("", tags))
    return bare if tags != tex or _TAG.search(tags) else tex


def _entity(match: re.Match[str]) -> str:
    if not match[1] and not match[2]:
        return r"\&"
    name = f"&{match[1]};" if match[1] else f"&#{match[2]};"
    sign = html.unescape(name)
    return match[0] if sign == name else latex(sign) or " "


def _script(match: re.Match[str]) -> str:
    sign = "^" if match[1].lower() == "sup" else "_"
    body = re.sub(r"^\$(.*)\$$", r"\1", match[2])
    return f"${sign}{{{body}}}$" if body else ""


def _escaped(match: re.Match[str]) -> str:
    return f"\\{match[1]}" if match[1] else match[0]


def _groups_around(tex: str) -> int:
    """Return how many pairs of braces hold all of a text."""
    leading = len(tex) - len(tex.lstrip("{"))
    trailing = len(tex) - len(tex.rstrip("}"))
    depth = lowest = leading
    for char in tex[leading : len(tex) - trailing]:
        depth += {"{": 1, "}": -1}.get(char, 0)
        lowest = min(lowest, depth)
    return max(min(lowest, trailing), 0) if depth == trailing else 0


def _people(tex: str) -> tuple[str, str]:
    """Return authors of which each can be told; ``and`` where a list was parted by semicolons."""
    cleaned, why = mended_text(tex)
    names = list(names_in(cleaned))
    if len(names) == 1 and ";" in names[0] and "&" not in names[0]:
        names, why = [name.strip() for name in names[0].split(";") if name.strip()], "semicolons"
    fresh = [name for name in map(_name, names) if name]
    if "others" in fresh[:-1]:  # the word ends a list
        fresh = [*(name for name in fresh if name != "others"), "others"]
    if fresh == list(names_in(cleaned)):
        return cleaned, why
    return " and ".join(fresh), why or "names that are none"


def _name(tex: str) -> str:
    shown = plain(tex)
    read = person(shown)
    head, comma, _ = shown.partition(",")
    broken = bool(comma) and (not head.strip(" .") or read.is_group)
    broken = broken or not shown.strip(" .,") or shown.lower().strip(". ") in {"et al", "and"}
    return author_field([read]) if broken else tex


def _doi(tex: str) -> tuple[str, str]:
    value = tex.strip()
    if glued := _GLUED_DOI.match(value):
        return glued[1], "two DOIs without anything between them"
    bare = re.sub(r"^\\url\{(.*)\}$", r"\1", value)
    bare = re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", "", bare, flags=re.IGNORECASE)
    return bare.rstrip(".,; "), "an address where a DOI belongs"


def _eprint(tex: str) -> tuple[str, str]:
    if not re.match(r"\s*(?:arxiv|https?:)|.*\[", tex, re.IGNORECASE):
        return tex, ""
    found = identify(tex)
    if found is None or found.kind != "arxiv":
        return tex, ""
    version = f"v{found.version}" if found.version else ""
    return found.value + version, "an address where an identifier belongs"


def _month(one: Field, raw: str) -> Iterator[Mending]:
    if re.fullmatch(r"[a-z]{3}", raw) and raw in MONTHS:
        return
    word = plain(one.value).strip(" .").lower()
    number = int(word) if word.isdigit() else 0
    name = next((short for short in MONTHS if word[:3] == short and word.isalpha()), "")
    name = MONTHS[number - 1] if 1 <= number <= 12 else name
    if name and (raw[:1] in '{"' or raw.lower() != name):
        yield Mending("month", name, "a month without its macro")
