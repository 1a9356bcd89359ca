"""LaTeX source: one file in, sections, equations and tables out; included files stay out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from nuncius.core.documents import Block, BlockKind, Document, FrontMatter, PageText
from nuncius.core.errors import DocumentError
from nuncius.core.identifiers import find_arxiv_id, find_doi
from nuncius.core.text import clean, language_of
from nuncius.parsing.front import find_year, split_authors
from nuncius.parsing.tex import (
    argument,
    expand_macros,
    group_end,
    plain,
    skip_optional,
    strip_comments,
)

ENGINE = "latex/1"
_LEVELS = {
    "part": 1,
    "chapter": 2,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
}
_STRUCTURE = re.compile(
    r"\\(?P<head>part|chapter|section|subsection|subsubsection|paragraph)\*?\s*(?=[\[{])"
    r"|\\begin\s*\{(?P<env>[A-Za-z]+\*?)\}|(?P<display>\\\[|\$\$)|(?P<gap>\n[ \t]*\n\s*)"
    r"|\\(?P<appendix>appendix)(?![A-Za-z])|\\(?P<item>item)(?![A-Za-z])|\\bibitem(?P<bib>)(?![A-Za-z])"
    r"|\\(?P<abstract>abstract)\s*(?=\{)|\\acknowledg(?:e)?ments?(?P<thanks>)(?![A-Za-z])"
)
_EQUATIONS = frozenset(
    "equation align eqnarray gather multline displaymath flalign alignat math".split()
)
_FIGURES = frozenset("figure wrapfigure sidewaysfigure subfigure interactive".split())
_TABLES = frozenset(
    """table deluxetable longtable sidewaystable longdeluxetable splitdeluxetable rotatetable
    tabular tabularx tabulary""".split()
)
_LISTS = frozenset("itemize enumerate description inparaenum compactitem".split())
_TABULAR = re.compile(r"\\begin\{(tabular[xy]?|longtable|array)(\*?)\}|\\startdata")
_RULES = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|endlastfoot|tableline|decimals"
    r"|cutinhead|sidehead|noalign|cline\{[^}]*\}|cmidrule(?:\([^)]*\))?\{[^}]*\}|nodata)(?![A-Za-z])"
)
_FRONT = re.compile(
    r"\\(?P<name>title|author|date|received|accepted|revised|published|submitted|submitjournal|doi|arxiv"
    r"|eprint|keywords|pubyear|altaffiliation|affiliation|affil|institute|collaboration)(?![A-Za-z])"
)


def parse_latex(text: str) -> Document:
    """Parse LaTeX. The layer is the text as a reader sees it, as page 0.

    Raises:
        DocumentError: There is no text in it.
    """
    source = expand_macros(strip_comments(text))
    preamble, body = _split(source)
    reader = _Reader(_labels(body))
    front = _front(f"{preamble}\n{_top(body)}")
    if front.title:
        reader.add("heading", front.title, 1)
    reader.read(_without_front(body))
    blocks = reader.blocks
    if not any(block.kind != "heading" for block in blocks):
        raise DocumentError(
            "empty",
            "The LaTeX file holds no text of its own.",
            hint="It may only include other files: add the file with the text, or the PDF.",
        )
    abstract = "\n".join(reader.abstract)
    return Document(
        kind="latex",
        engine=ENGINE,
        blocks=tuple(blocks),
        layer=(PageText(0, "\n\n".join(block.text for block in blocks)),),
        front=FrontMatter(
            front.title, front.authors, front.year, abstract, front.doi, front.arxiv_id
        ),
        language=language_of(" ".join(block.text for block in blocks[:60])),
        verdict="not followed: \\input" if re.search(r"\\(?:input|include)\s*\{", body) else "good",
    )


def _split(source: str) -> tuple[str, str]:
    start = re.search(r"\\begin\s*\{document\}", source)
    if not start:
        return "", source
    end = re.search(r"\\end\s*\{document\}", source)
    return source[: start.start()], source[start.end() : end.start() if end else len(source)]


def _top(body: str) -> str:
    section = re.search(r"\\(?:section|chapter)\b", body)
    return body[: section.start() if section else 20_000]


# --- front matter --------------------------------------------------------------------------------


def _front(source: str) -> FrontMatter:
    found: dict[str, list[str]] = {}
    for match in _FRONT.finditer(source):
        at = skip_optional(source, match.end())
        if source[at : at + 1] == "{":
            value, _ = argument(source, at)
            found.setdefault(match["name"], []).append(value)
    title = plain(re.sub(r"\\thanks\s*\{[^}]*\}|\\\\", " ", found.get("title", [""])[0]))
    authors = tuple(
        dict.fromkeys(name for value in found.get("author", []) for name in _names(value))
    )
    dates = "\n".join(
        f"{name} {plain(value)}" if name != "date" else plain(value)
        for name in ("published", "accepted", "revised", "received", "submitted", "date", "pubyear")
        for value in found.get(name, [])
    )
    arxiv_id = find_arxiv_id(" ".join(found.get("arxiv", []) + found.get("eprint", [])))
    doi = find_doi(" ".join(found.get("doi", [])))
    year = find_year(dates, arxiv_id=arxiv_id, doi=doi)
    return FrontMatter(clean(title), authors, year, "", doi, arxiv_id)


def _names(value: str) -> tuple[str, ...]:
    value = re.sub(
        r"\\(?:inst|altaffilmark|affil|textsuperscript|thanks|footnotemark|orcid\w*|email|href)\s*(?:\[[^\]]*\])?\{[^{}]*\}",
        " ",
        value,
    )
    value = re.sub(r"\$\^?[^$]*\$", " ", value)
    value = re.sub(r"\\and\b|\\\\|\\newauthor\b", ", ", value)
    return split_authors(plain(value))


def _without_front(body: str) -> str:
    """Return the body without the commands of the front matter and their arguments."""
    out: list[str] = []
    at = 0
    for match in _FRONT.finditer(body):
        if match.start() < at:
            continue
        end = skip_optional(body, match.end())
        if body[end : end + 1] != "{":
            continue
        out.append(body[at : match.start()])
        at = group_end(body, end)
    out.append(body[at:])
    return "".join(out)


def _labels(body: str) -> dict[str, str]:
    """Return the number of each label, counted as LaTeX would in a plain article."""
    counters = {"section": 0, "subsection": 0, "figure": 0, "table": 0, "equation": 0}
    current = ""
    labels: dict[str, str] = {}
    token = re.compile(
        r"\\(?P<head>section|subsection)\s*[\[{]|\\begin\{(?P<env>[A-Za-z]+)\}|\\label\s*\{(?P<label>[^}]*)\}"
    )
    for match in token.finditer(body):
        kind = match["head"] or match["env"] or ""
        if match["label"] is not None:
            labels[match["label"].strip()] = current or match["label"].strip()
        elif kind == "section":
            counters["section"] += 1
            counters["subsection"] = 0
            current = str(counters["section"])
        elif kind == "subsection":
            counters["subsection"] += 1
            current = f"{counters['section']}.{counters['subsection']}"
        elif (
            kind in _FIGURES
            or kind in _TABLES - {"tabular", "tabularx", "tabulary"}
            or kind in _EQUATIONS
        ):
            name = "figure" if kind in _FIGURES else "table" if kind in _TABLES else "equation"
            counters[name] += 1
            current = str(counters[name])
    return labels


# --- body ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Reader:
    """Makes blocks of TeX, environment by environment."""

    labels: dict[str, str]
    blocks: list[Block] = field(default_factory=list[Block])
    abstract: list[str] = field(default_factory=list[str])
    _numbers: dict[str, int] = field(default_factory=lambda: {"figure": 0, "table": 0})
    _sections: list[int] = field(default_factory=lambda: [0, 0, 0])
    _appendix: bool = False
    _depth: int = 0

    def add(self, kind: BlockKind, text: str, level: int = 0) -> None:
        text = clean(text).strip()
        if text:
            self.blocks.append(Block(kind, text, level=level))

    def read(self, text: str, kind: BlockKind = "paragraph") -> None:
        """Read a stretch of text that may hold environments."""
        self._depth += 1
        at = 0
        while at < len(text):
            match = _STRUCTURE.search(text, at)
            if not match:
                break
            self._paragraph(text[at : match.start()], kind)
            at = self._structure(text, match)
            if match["item"]:
                kind = "list"
            elif match.lastgroup == "bib" or match["bib"] is not None:
                kind = "reference"
        self._paragraph(text[at:], kind)
        self._depth -= 1

    def _paragraph(self, text: str, kind: BlockKind) -> None:
        notes: list[str] = []
        line = plain(text, note=notes.append, labels=self.labels)
        if re.search(r"\w", line):
            self.add(kind, line)
        for note in notes:
            self.add("footnote", plain(note))

    def _structure(self, text: str, match: re.Match[str]) -> int:
        """Handle one structural command; return where reading goes on."""
        at = match.end()
        if match["head"]:
            return self._heading(text, match["head"], at, starred=match[0].rstrip().endswith("*"))
        if match["env"]:
            return self._environment(text, match["env"], at)
        if match["display"]:
            close = "\\]" if match["display"] == "\\[" else "$$"
            end = text.find(close, at)
            end = len(text) if end < 0 else end
            self._equation(text[at:end])
            return end + len(close)
        if match["abstract"]:
            return self._old_abstract(text, at)
        if match["appendix"]:
            self._appendix = True
            self._sections = [0, 0, 0]
        elif match["item"]:
            return skip_optional(text, at)
        elif match["bib"] is not None:
            _, end = argument(text, skip_optional(text, at))
            return end
        elif match["thanks"] is not None:
            self.add("heading", "Acknowledgments", 2)
        return at

    def _heading(self, text: str, name: str, at: int, *, starred: bool) -> int:
        title, end = argument(text, skip_optional(text, at))
        level = _LEVELS[name]
        heading = plain(title)
        depth = level - 2
        if not starred and 0 <= depth < 3 and heading:
            self._sections[depth] += 1
            self._sections[depth + 1 :] = [0] * (2 - depth)
            first = (
                chr(64 + min(26, self._sections[0])) if self._appendix else str(self._sections[0])
            )
            number = ".".join([first, *map(str, self._sections[1 : depth + 1])])
            heading = f"{number}. {heading}"
        self.add("heading", heading, level)
        return end

    def _old_abstract(self, text: str, at: int) -> int:
        """Read an abstract given as a command; A&A's has five parts."""
        parts: list[str] = []
        while text[at : at + 1] == "{" and len(parts) < 5:
            value, at = argument(text, at)
            parts.append(value)
            while text[at : at + 1] in {" ", "\n"} and text[at:].lstrip()[:1] == "{":
                at += 1
        self._abstract("\n\n".join(parts))
        return at

    def _abstract(self, text: str) -> None:
        self.add("heading", "Abstract", 2)
        before = len(self.blocks)
        self.read(text)
        self.abstract += [block.text for block in self.blocks[before:] if block.kind != "footnote"]

    def _environment(self, text: str, name: str, at: int) -> int:
        end, after = _env_end(text, name, at)
        inner = text[at:end]
        base = name.rstrip("*")
        if self._depth > 30:
            self._paragraph(inner, "paragraph")
        elif base in _EQUATIONS:
            self._equation(inner, base)
        elif base in _FIGURES:
            self._figure(inner)
        elif base in _TABLES:
            self._table(inner, base)
        elif base == "abstract":
            self._abstract(inner)
        elif base == "thebibliography":
            self.add("heading", "References", 2)
            _, start = argument(inner, 0)
            self.read(inner[start:], "reference")
        elif base in {"verbatim", "lstlisting", "minted"}:
            self.add("paragraph", inner)
        elif base in {"acknowledgments", "acknowledgements"}:
            self.add("heading", "Acknowledgments", 2)
            self.read(inner)
        else:
            start = skip_optional(inner, 0)
            self.read(inner[start:])
        return after

    def _equation(self, inner: str, base: str = "") -> None:
        tex = re.sub(r"\\label\s*\{[^}]*\}|\\nonumber\b", "", inner)
        if base == "alignat":
            _, start = argument(tex, 0)
            tex = tex[start:]
        tex = re.sub(r"\s+", " ", tex).strip()
        if not tex:
            return
        if base in {"align", "eqnarray", "flalign", "alignat"}:
            tex = f"\\begin{{aligned}}{tex}\\end{{aligned}}"
        self.add("equation", f"$${tex}$$")

    def _figure(self, inner: str) -> None:
        for caption in _arguments_of(inner, r"caption|figcaption"):
            self._numbers["figure"] += 1
            self.add(
                "caption", f"Figure {self._numbers['figure']}. {plain(caption, labels=self.labels)}"
            )

    def _table(self, inner: str, base: str) -> None:
        captions = list(_arguments_of(inner, r"caption|tablecaption"))
        if captions:
            self._numbers["table"] += 1
            text = plain(captions[0], labels=self.labels)
            self.add("caption", f"Table {self._numbers['table']}. {text}")
        rows = list(_table_rows(inner, base))
        if rows:
            width = max(map(len, rows))
            lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in rows]
            lines.insert(1, "|" + " --- |" * width)
            self.add("table", "\n".join(lines))
        for note in _arguments_of(inner, r"tablecomments|tablefoot|tablenotetext"):
            self.add("footnote", plain(note, labels=self.labels))


def _env_end(text: str, name: str, at: int) -> tuple[int, int]:
    """Return where the environment's text ends, and the place after its closing command."""
    token = re.compile(rf"\\(begin|end)\s*\{{{re.escape(name)}\}}")
    depth = 1
    for match in token.finditer(text, at):
        depth += 1 if match[1] == "begin" else -1
        if depth == 0:
            return match.start(), match.end()
    return len(text), len(text)


def _arguments_of(text: str, names: str) -> Iterator[str]:
    for match in re.finditer(rf"\\(?:{names})\*?(?![A-Za-z])", text):
        at = skip_optional(text, match.end())
        if text[at : at + 1] == "{":
            yield argument(text, at)[0]


def _table_rows(inner: str, base: str) -> Iterator[list[str]]:
    """Yield the rows of a table, cell by cell, header first."""
    for head in _arguments_of(inner, "tablehead"):
        yield from _cells(head)
    if base in {"tabular", "tabularx", "tabulary", "longtable"}:
        yield from _cells(_past_columns(inner, base))
        return
    for match in _TABULAR.finditer(inner):
        if match[0] == "\\startdata":
            end = inner.find("\\enddata", match.end())
            yield from _cells(inner[match.end() : end if end >= 0 else len(inner)])
        else:
            end, _ = _env_end(inner, match[1] + match[2], match.end())
            yield from _cells(_past_columns(inner[match.end() : end], match[1]))


def _past_columns(text: str, base: str) -> str:
    at = skip_optional(text, 0)
    for _ in range(2 if base in {"tabularx", "tabulary"} else 1):
        _, at = argument(text, at)
    return text[at:]


def _cells(text: str) -> Iterator[list[str]]:
    text = re.sub(r"\\(?:caption|label)\s*(?:\[[^\]]*\])?\{(?:[^{}]|\{[^{}]*\})*\}", "", text)
    text = _RULES.sub(" ", text)
    for row in re.split(r"\\\\(?:\s*\[[^\]]*\])?|\\tabularnewline|\\cr(?![A-Za-z])", text):
        cells = [plain(cell).replace("|", "\\|") for cell in re.split(r"(?<!\\)&", row)]
        if any(cells):
            yield cells
