"""A paper as a BibTeX entry that LaTeX accepts, whatever letters its title and authors hold."""

import re
import unicodedata
from urllib.parse import quote

from nuncius.core.papers import Author, Paper

# Accents that every LaTeX engine and classical BibTeX know.
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u ",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r ",
    "\u030b": "H ",
    "\u030c": "v ",
    "\u0323": "d ",
    "\u0327": "c ",
    "\u0328": "k ",
}
_LETTERS = {
    "ß": r"{\ss}",
    "æ": r"{\ae}",
    "Æ": r"{\AE}",
    "œ": r"{\oe}",
    "Œ": r"{\OE}",
    "ø": r"{\o}",
    "Ø": r"{\O}",
    "å": r"{\aa}",
    "Å": r"{\AA}",
    "ł": r"{\l}",
    "Ł": r"{\L}",
    "ı": r"{\i}",
    "đ": r"{\dj}",
    "Đ": r"{\DJ}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"{\textbraceleft}",  # BibTeX counts braces, with a backslash or without
    "}": r"{\textbraceright}",
    "~": r"{\textasciitilde}",
    "^": r"{\textasciicircum}",
    "\\": r"{\textbackslash}",
    "\u00a0": "~",
    "\u2009": r"\,",
    "\u2010": "-",
    "\u2011": "-",
    "\u2013": "--",
    "\u2014": "---",
    "\u2018": "`",
    "\u2019": "'",
    "\u201c": "``",
    "\u201d": "''",
    "\u2026": r"{\ldots}",
}
_MATH = (
    {
        "±": r"\pm",
        "×": r"\times",
        "·": r"\cdot",
        "−": "-",
        "≈": r"\approx",
        "≃": r"\simeq",
        "∼": r"\sim",
        "≲": r"\lesssim",
        "≳": r"\gtrsim",
        "≤": r"\leq",
        "≥": r"\geq",
        "∞": r"\infty",
        "°": r"^\circ",
        "⊙": r"\odot",
        "☉": r"\odot",
        "⊕": r"\oplus",
        "→": r"\to",
        "<": "<",
        ">": ">",
        "µ": r"\mu",
    }
    | {
        char: "\\" + unicodedata.name(char).rsplit(" ", 1)[1].lower().replace("lamda", "lambda")
        for char in "αβγδεζηθικμνξπρστυφχψωλ"
    }
    | {
        char: "\\"
        + unicodedata.name(char).rsplit(" ", 1)[1].capitalize().replace("Lamda", "Lambda")
        for char in "ΓΔΘΛΞΠΣΥΦΨΩ"
    }
)
_SCRIPTS = {"<super>": "^", "<sub>": "_"}
_FORMULA = re.compile(r"(?<!\\)\$[^$]+(?<!\\)\$")
_GROUP = re.compile(
    r"\b(?:collaboration|consortium|team|group|survey|project|mission|observatory|notes)\b",
    re.IGNORECASE,
)
_SUFFIX = re.compile(r"jr\.?|sr\.?|i{2,3}|iv", re.IGNORECASE)
# Journals by the five characters of a bibcode, spelled out: no macro package is needed.
_JOURNALS = {
    "A&A": "Astronomy and Astrophysics",
    "A&AS": "Astronomy and Astrophysics Supplement Series",
    "AJ": "The Astronomical Journal",
    "ApJ": "The Astrophysical Journal",
    "ApJS": "The Astrophysical Journal Supplement Series",
    "ARA&A": "Annual Review of Astronomy and Astrophysics",
    "Icar": "Icarus",
    "JCAP": "Journal of Cosmology and Astroparticle Physics",
    "MNRAS": "Monthly Notices of the Royal Astronomical Society",
    "NatAs": "Nature Astronomy",
    "Natur": "Nature",
    "OJAp": "The Open Journal of Astrophysics",
    "PASJ": "Publications of the Astronomical Society of Japan",
    "PASP": "Publications of the Astronomical Society of the Pacific",
    "PhRvD": "Physical Review D",
    "PhRvL": "Physical Review Letters",
    "PSJ": "The Planetary Science Journal",
    "RNAAS": "Research Notes of the American Astronomical Society",
    "Sci": "Science",
    "SSRv": "Space Science Reviews",
}


def bibtex_entry(paper: Paper) -> str:
    """Return the paper's BibTeX entry, ending in a line break.

    The key is `paper.cite_key`; only what is known is written. Letters with accents, Greek and
    signs become LaTeX commands; formulas between dollars stay; Chinese stays as it is.
    """
    journal = _journal(paper.bibcode or "")
    fields = {
        "author": " and ".join(_author(author) for author in paper.authors),
        "title": f"{{{latex(paper.title)}}}",  # the second braces keep capital letters
        **journal,
        "year": str(paper.year or ""),
        **_eprint(paper),
        "doi": _verbatim(paper.doi or ""),
        "adsurl": _ads_url(paper.bibcode),
        "note": latex(paper.label),
    }
    kind = "article" if journal else "misc"
    lines = [f"@{kind}{{{_key(paper)},"]
    lines += [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([*lines, "}"]) + "\n"


def latex(text: str) -> str:
    """Return `text` with everything escaped that LaTeX would read as a command."""
    flat = " ".join(text.split())
    parts: list[str] = []
    position = 0
    for match in _FORMULA.finditer(flat):
        formula = match[0]
        if not _is_formula(formula[1:-1]):
            continue
        parts += [_escape(flat[position : match.start()]), formula]
        position = match.end()
    parts.append(_escape(flat[position:]))
    return "".join(parts)


def _is_formula(body: str) -> bool:
    """Tell a formula from two prices: no blank at its ends, short, its braces in pairs."""
    depth = 0
    for char in body:
        depth += {"{": 1, "}": -1}.get(char, 0)
        if depth < 0:
            return False
    return not depth and body == body.strip() and len(body) <= 120


def _escape(text: str) -> str:
    return "".join(_letter(char) for char in unicodedata.normalize("NFC", text))


def _letter(char: str) -> str:
    if char in _LETTERS:
        return _LETTERS[char]
    if char in _MATH:
        return f"${_MATH[char]}$"
    if char.isascii():
        return char if char.isprintable() else ""
    decomposition = unicodedata.decomposition(char).split()
    if len(decomposition) == 2 and decomposition[0] in _SCRIPTS:
        script = chr(int(decomposition[1], 16))
        return f"${_SCRIPTS[decomposition[0]]}{{{_MATH.get(script, script)}}}$"
    base, *marks = unicodedata.normalize("NFD", char)
    if len(marks) == 1 and marks[0] in _ACCENTS and base.isascii():
        dotless = {"i": r"\i", "j": r"\j"}.get(base, base)
        return f"{{\\{_ACCENTS[marks[0]]}{dotless}}}"
    return char


def _author(author: Author) -> str:
    """Return ``Last, First``; groups and Chinese names in braces, so that nothing splits them."""
    name = " ".join(author.name.split())
    if re.fullmatch(r"(?:and\s+)?(?:et al\.?|others)", name, re.IGNORECASE):
        return "others"
    if _GROUP.search(name) or re.search(r"\band\b|等", name):
        return f"{{{latex(name)}}}"
    last, suffix, first = _parts(author)
    if not first:
        return f"{{{latex(last)}}}"
    return ", ".join(latex(part) for part in (last, suffix, first) if part)


def _parts(author: Author) -> tuple[str, str, str]:
    """Return last name, suffix such as ``Jr.``, and the rest; a suffix may stand anywhere."""
    words = [" ".join(part.split()) for part in author.name.split(",")]
    suffix = next((word for word in words[1:] if _SUFFIX.fullmatch(word)), "")
    words = [word for word in words if word and word != suffix]
    if len(words) > 1:
        return words[0], suffix, " ".join(words[1:])
    bare = words[0] if words else author.name
    if not suffix and (match := re.search(rf"\s({_SUFFIX.pattern})$", bare, re.IGNORECASE)):
        suffix, bare = match[1], bare[: match.start()]
    last = Author(name=bare).last_name
    return last, suffix, bare.removesuffix(last).strip()


def _journal(bibcode: str) -> dict[str, str]:
    """Read journal, volume and first page out of a bibcode; empty where it names none we know."""
    name = _JOURNALS.get(bibcode[4:9].strip("."))
    if len(bibcode) != 19 or not name:
        return {}
    qualifier = bibcode[13].strip(".")
    letters = name == _JOURNALS["ApJ"] and qualifier == "L"
    return {
        "journal": latex(f"{name} Letters" if letters else name),
        "volume": bibcode[9:13].strip("."),
        "pages": qualifier + bibcode[14:18].strip("."),
    }


def _eprint(paper: Paper) -> dict[str, str]:
    if not paper.arxiv_id:
        return {}
    old_style = paper.arxiv_id.split("/", 1) if "/" in paper.arxiv_id else None
    return {
        "eprint": _verbatim(paper.arxiv_id),
        "archivePrefix": "arXiv",
        "primaryClass": old_style[0] if old_style else "",
    }


def _ads_url(bibcode: str | None) -> str:
    return f"https://ui.adsabs.harvard.edu/abs/{quote(bibcode, safe='')}" if bibcode else ""


def _verbatim(identifier: str) -> str:
    """Return an identifier that no brace can cut short; styles read these without LaTeX."""
    return identifier.replace("{", "%7B").replace("}", "%7D")


def _key(paper: Paper) -> str:
    return re.sub(r"[\s,{}\"#%~\\'()=]", "", paper.cite_key) or paper.paper_id
