r"""An answer for a LaTeX manuscript: ``\citep`` in place of ``[1]``, and just the entries it cites."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nuncius.core.evidence import Answer, Citation, Unsupported
from nuncius.core.journals import JournalStyle
from nuncius.core.papers import Author, Paper
from nuncius.library.export import bibtex, of_paper
from nuncius.library.reference import of_held
from nuncius.library.tex import latex
from nuncius.store.told import Told

_MARKS = re.compile(r"\s*(\[\d+\](?:\s*\[\d+\])*)")
_NUMBER = re.compile(r"\d+")
_QUOTE = re.compile(r"^>\s?")
_ITEM = re.compile(r"^(\s*)(?:[-*+]|(\d+)[.)])\s+")
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
_BOLD = re.compile(r"\*\*(\S(?:.*?\S)?)\*\*")
_EMPHASIS = re.compile(r"(?<![\w*])\*(\S(?:[^*]*\S)?)\*(?![\w*])")
_CODE = re.compile(r"`([^`]+)`")
_STRAIGHT_QUOTES = re.compile(r'"([^"]*)"')
_HERE, _DOUBT_HERE = "\ue010", "\ue011"
"""Private characters stand around the number of what is put in later; they are taken out of the text."""
_DOUBT = re.compile(f"{_DOUBT_HERE}(\\d+){_DOUBT_HERE}")
_LEVELS = (r"\section*", r"\subsection*", r"\subsubsection*", r"\paragraph*")


@dataclass(frozen=True, slots=True)
class LatexAnswer:
    """An answer as LaTeX.

    Attributes:
        text: A part of a manuscript, without preamble; needs natbib.
        bib: The cited papers as BibTeX, sorted by key; empty where nothing is cited.
        keys: Of the cited papers.
    """

    text: str
    bib: str
    keys: tuple[str, ...] = ()


def answer_latex(
    answer: Answer,
    papers: Mapping[str, Paper],
    told: Mapping[str, Told] | None = None,
    *,
    journals: JournalStyle = "macro",
) -> LatexAnswer:
    """Return an answer as LaTeX with its bibliography.

    Args:
        papers: The library's, by id. A cited paper that was taken out of it meanwhile is written from
            what the citation itself keeps.
        told: What services told of them, by id: the entries are then those that `Library.cite` gives.
    """
    told = told or {}
    cited = {one.paper_id: papers.get(one.paper_id) or _remembered(one) for one in answer.citations}
    keys = {one.key: _key(cited[one.paper_id]) for one in answer.citations}
    ordered = sorted(cited.values(), key=_key)
    return LatexAnswer(
        text=_Writer(answer, keys).write(),
        bib="\n".join(bibtex(of_held(paper, told), journals=journals) for paper in ordered),
        keys=tuple(map(_key, ordered)),
    )


def self_contained(written: LatexAnswer, *, name: str = "nuncius-answer") -> str:
    """Return text and bibliography as one: LaTeX itself writes the .bib while it runs."""
    if not written.bib:
        return written.text
    return (
        f"\\begin{{filecontents}}[overwrite]{{{name}.bib}}\n{written.bib}\\end{{filecontents}}\n\n"
        f"{written.text}\n\\bibliography{{{name}}}\n"
    )


def _key(paper: Paper) -> str:
    entry = bibtex(of_paper(paper))
    return entry[entry.index("{") + 1 : entry.index(",")]


def _remembered(citation: Citation) -> Paper:
    return Paper(
        paper_id=citation.paper_id,
        title=citation.title,
        authors=tuple(Author(name=name) for name in citation.authors),
        year=citation.year,
        bibcode=citation.bibcode,
        doi=citation.doi,
        arxiv_id=citation.arxiv_id,
        cite_key=citation.paper_id,
    )


class _Writer:
    """Turns the Markdown of an answer into LaTeX, line by line."""

    def __init__(self, answer: Answer, keys: Mapping[str, str]) -> None:
        self._answer = answer
        self._keys = keys
        self._lines: list[str] = []
        self._open: list[str] = []  # environments, the outermost first

    def write(self) -> str:
        text = re.sub(f"[{_HERE}{_DOUBT_HERE}]", "", self._answer.text)
        unplaced: list[Unsupported] = []
        for number, doubt in enumerate(self._answer.unsupported):
            at = text.find(doubt.sentence)
            if at < 0:
                unplaced.append(doubt)
                continue
            end = at + len(doubt.sentence)
            text = f"{text[:end]}{_DOUBT_HERE}{number}{_DOUBT_HERE}{text[end:]}"
        for line in text.split("\n"):
            self._line(line)
        self._environments([])
        for doubt in unplaced:
            self._lines.append(
                f"% unsupported ({_one_line(doubt.reason)}): {_one_line(doubt.sentence)}"
            )
        if self._answer.dropped_quotes:
            count = self._answer.dropped_quotes
            self._lines.append(f"% {count} quotes were left out: they do not stand in the paper.")
        return "\n".join(self._lines).strip("\n") + "\n"

    def _line(self, line: str) -> None:
        if _QUOTE.match(line):
            self._environments(["quote"])
            self._lines.append(self._inline(_QUOTE.sub("", line)))
        elif item := _ITEM.match(line):
            self._environments(["enumerate" if item[2] else "itemize"])
            self._lines.append(rf"\item {self._inline(line[item.end() :])}")
        elif not line.strip():
            if not self._open or self._open == ["quote"]:
                self._environments([])
                self._lines.append("")
        else:
            self._environments([])
            heading = _HEADING.match(line)
            if heading:
                level = _LEVELS[min(len(heading[1]), len(_LEVELS)) - 1]
                self._lines.append(f"{level}{{{self._inline(heading[2])}}}")
            else:
                self._lines.append(self._inline(line))

    def _environments(self, wanted: Sequence[str]) -> None:
        if list(wanted) == self._open:
            return
        self._lines += [rf"\end{{{name}}}" for name in reversed(self._open)]
        self._lines += [rf"\begin{{{name}}}" for name in wanted]
        self._open = list(wanted)

    def _inline(self, text: str) -> str:
        """Return a line's words as LaTeX; what its marks become is kept apart from the escaping."""
        kept: list[str] = []

        def keep(written: str) -> str:
            kept.append(written)
            return f"{_HERE}{len(kept) - 1}{_HERE}"

        def dressed(match: re.Match[str], command: str) -> str:
            return keep(f"\\{command}{{") + match[1] + keep("}")

        text = _MARKS.sub(lambda match: keep(self._cited(match)), text)
        text = _DOUBT.sub(lambda match: keep(self._doubt(int(match[1]))), text)
        text = _CODE.sub(lambda match: keep(rf"\texttt{{{latex(match[1])}}}"), text)
        text = text.replace(r"\*", keep("*"))
        text = _STRAIGHT_QUOTES.sub("\u201c\\1\u201d", text)
        text = _BOLD.sub(lambda match: dressed(match, "textbf"), text)
        text = _EMPHASIS.sub(lambda match: dressed(match, "emph"), text)
        parts = text.split(_HERE)  # words and numbers of what was kept, in turn
        return "".join(
            kept[int(part)] if place % 2 else _spaced(part) for place, part in enumerate(parts)
        )

    def _cited(self, match: re.Match[str]) -> str:
        keys = [self._keys.get(number) for number in _NUMBER.findall(match[1])]
        known = list(dict.fromkeys(key for key in keys if key))
        return rf"~\citep{{{','.join(known)}}}" if known else _spaced(match[0])

    def _doubt(self, number: int) -> str:
        return rf" \textbf{{[unsupported: {latex(self._answer.unsupported[number].reason)}]}}"


def _spaced(text: str) -> str:
    """Return words as LaTeX with the blanks at their ends, which `latex` takes off."""
    before = " " if text[:1].isspace() else ""
    behind = " " if text[-1:].isspace() and text.strip() else ""
    return before + latex(text) + behind


def _one_line(text: str) -> str:
    return " ".join(text.split())
