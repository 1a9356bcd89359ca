"""Passages as a model reads them: numbered sentences under a handle that it can cite."""

import re
from collections.abc import Collection, Iterable, Mapping

from nuncius.core.documents import Passage
from nuncius.core.papers import Paper
from nuncius.core.stem import stem, stems
from nuncius.core.text import sentences
from nuncius.library.answer import passage_digest
from nuncius.library.records import FoundPassage, Retrieval, SearchedTerm

HOW_TO_CITE = (
    "Cite by handle: [k3f2a9c1-12:3] is sentence 3 of passage k3f2a9c1-12. Of long passages the "
    "sentences that matter are shown."
)
SECTION_CHARS = 80
"""Of a section's path the end is shown: the heading nearest to the text."""
_SPACE = re.compile(r"\s+")


def show_passage(
    passage: Passage,
    *,
    max_chars: int = 2400,
    chosen: Collection[int] | None = None,
    match: float | None = None,
) -> str:
    """Return one passage: handle and place, then a sentence a line (``3| text``).

    Args:
        chosen: Numbers of the sentences to show; None: from the first on.
        match: How well it fits a search, as a share of the best passage's score.
    """
    place = f"p. {passage.page}" if passage.page else "no pages"
    kind = "" if passage.kind == "text" else f" · {passage.kind}"
    section = _SPACE.sub(" ", passage.section)[-SECTION_CHARS:].strip()
    fit = "" if match is None else f" · match {match:.0%}"
    lines = [f"[{passage.passage_id}] {place}{fit}{kind}{' · ' if section else ''}{section}"]
    used = 0
    for number, (start, end) in enumerate(sentences(passage.text), 1):
        if chosen is not None and number not in chosen:
            continue
        sentence = _SPACE.sub(" ", passage.text[start:end])
        used += len(sentence)
        if used > max_chars and len(lines) > 1:
            lines.append("(cut)")
            break
        lines.append(f"{number}| {sentence[:max_chars]}")
    return "\n".join(lines)


def show_paper_line(paper: Paper) -> str:
    """Return the line that heads a paper's passages."""
    label = f" ({paper.label})" if paper.label else ""
    return f"# {paper.paper_id} · {_SPACE.sub(' ', paper.title)} · {paper.short_reference}{label}"


def show_retrieval(retrieval: Retrieval) -> str:
    """Return a search's outcome: what was searched for, how often it occurs, the passages."""
    shown = " ".join(token for found in retrieval.found for token in stems(found.passage.text))
    terms = "; ".join(_show_term(term, f" {shown} ") for term in retrieval.terms)
    head = [
        f"Library: {retrieval.papers_in_library} papers, {retrieval.passages_in_library} passages.",
        f"Terms (passages that hold them; 0: nowhere in the library): {terms or 'none'}",
    ]
    if retrieval.degraded:
        head.append(f"Note: {', '.join(retrieval.degraded)}.")
    if not retrieval.found:
        head.append("No passage holds any of these terms.")
        return "\n".join(head)
    head.append(HOW_TO_CITE)
    best = retrieval.found[0].hit.score or 1.0
    groups: dict[str, list[FoundPassage]] = {}
    for found in retrieval.found:
        groups.setdefault(found.paper.paper_id, []).append(found)
    for group in groups.values():
        head.append(show_paper_line(group[0].paper))
        for found in group:
            match = found.hit.score / best
            head.append(show_passage(found.passage, chosen=found.telling, match=match))
    return "\n".join(head)


def _show_term(term: SearchedTerm, shown: str) -> str:
    """Return a term with its counts; of the related words, those that the shown passages hold."""
    held = [words for words in term.related if f" {_stemmed(words)} " in shown]
    related = f" ~ {' ~ '.join(held)} ({term.related_count})" if held else ""
    if not related and term.related_count:
        related = f" ~ {term.related[0]} ({term.related_count})"
    return f"{' = '.join(term.spellings)} ({term.count}){related}"


def _stemmed(words: str) -> str:
    return " ".join(map(stem, words.split()))


def evidence_of(passages: Iterable[Passage]) -> Mapping[str, str]:
    """Return what a tool's metadata says it showed: passage id to digest."""
    return {passage.passage_id: passage_digest(passage) for passage in passages}
