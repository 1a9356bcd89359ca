"""An answer as text: marks, quotes with their places, what is not carried, what was searched."""

import re
from typing import TYPE_CHECKING

from nuncius.cli import screen

if TYPE_CHECKING:
    from nuncius.core.evidence import Answer, Citation, Searched

_CHECKS = {
    "exact": "found word for word",
    "folded": "found; white space or hyphens differ",
    "ocr": "found in text read from a picture",
}
_LISTED = 12  # near misses, unreadable files: enough to go on with


def show_answer(answer: "Answer") -> None:
    """Print a finished answer; nothing that is known to be wrong with it is left out."""
    if answer.text.strip():
        screen.out(screen.wrap(_with_bold(mark_unsupported(answer))))
    if answer.citations:
        screen.out()
        for citation in answer.citations:
            _show_citation(citation)
    for line in doubts(answer):
        screen.out(screen.paint(line, "yellow"))
    if not answer.answered:
        for line in searched_lines(answer.searched):
            screen.out(line)
    for line in answer.degraded:
        screen.out(screen.paint(f"({line})", "dim"))


def _with_bold(text: str) -> str:
    """Show Markdown's bold as such where the terminal can; a pipe gets the Markdown."""
    if screen.paint("", "bold") == "":
        return text
    bold = re.compile(r"\*\*((?=\S)(?:\\\*|[^*\n])*(?<=\S))\*\*")
    text = bold.sub(lambda match: screen.paint(match[1], "bold"), text)
    return text.replace(r"\*", "*")


def mark_unsupported(answer: "Answer") -> str:
    """Return the text with a mark behind each sentence that its quotes do not carry."""
    text = answer.text
    for doubt in answer.unsupported:
        at = text.find(doubt.sentence)
        if at >= 0:
            end = at + len(doubt.sentence)
            text = f"{text[:end]} [unsupported: {doubt.reason}]{text[end:]}"
    return text


def doubts(answer: "Answer") -> list[str]:
    """Return a line for each sentence that could not be marked in place, and for lost quotes."""
    lines = [
        f"unsupported ({doubt.reason}): {doubt.sentence}"
        for doubt in answer.unsupported
        if doubt.sentence not in answer.text
    ]
    if answer.dropped_quotes:
        lines.append(
            f"{answer.dropped_quotes} quotes were left out: they do not stand in the paper."
        )
    return lines


def place_of(citation: "Citation") -> str:
    """Return where a quote stands, for people: paper, page and section."""
    who = citation.authors[0] if citation.authors else ""
    if len(citation.authors) > 1:
        who += " et al."
    reference = " ".join(part for part in (who, str(citation.year or "")) if part)
    parts = [f"{citation.title} ({reference})" if reference else citation.title]
    if citation.page:
        parts.append(f"p. {citation.page}")
    if citation.section:
        parts.append(citation.section)
    return ", ".join(parts)


def _show_citation(citation: "Citation") -> None:
    mark = f"[{citation.key}] "
    indent = " " * len(mark)
    quoted = screen.wrap(f"“{citation.quote}”", indent=indent)
    screen.out(screen.paint(mark, "cyan") + quoted[len(indent) :])
    screen.out(screen.wrap(place_of(citation), indent=indent))
    check = f"check: {citation.check} ({_CHECKS[citation.check]}); paper {citation.paper_id}"
    screen.out(screen.paint(indent + check, "dim"))


def searched_lines(searched: "Searched") -> list[str]:
    """Tell what was looked at: the difference between "absent" and "not looked"."""
    read = f"{len(searched.papers)} of {searched.papers_in_library} papers"
    lines = [f"Searched: {read}, {searched.passages} passages read."]
    if searched.queries:
        lines.append(f"  queries: {'; '.join(searched.queries)}")
    for paper_id, pages in searched.pages.items():
        if pages:
            lines.append(f"  {paper_id}: pages {', '.join(map(str, pages))}")
    for title, entries in (
        ("near miss", searched.near_misses),
        ("not readable", searched.unreadable),
    ):
        lines.extend(f"  {title}: {entry}" for entry in entries[:_LISTED])
        if len(entries) > _LISTED:
            lines.append(f"  {title}: {len(entries) - _LISTED} more")
    return lines
