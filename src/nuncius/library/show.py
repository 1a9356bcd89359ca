"""Passages as a model reads them: numbered sentences under a handle that it can cite."""

import math
import re
from collections.abc import Collection, Iterable, Mapping

from nuncius.core.documents import Passage
from nuncius.core.papers import Paper
from nuncius.core.stem import stem, stems
from nuncius.core.text import sentences
from nuncius.library.answer import passage_digest
from nuncius.library.records import FoundPassage, Retrieval, SearchedTerm

HOW_TO_CITE = (
    "Cite a sentence by its handle: [k3f2a9c1-12:3] is sentence 3 of passage k3f2a9c1-12. "
    "A handle alone on a line is replaced by the quote itself. Of long passages the sentences that "
    "matter are shown."
)
SNIPPET_CHARS = 500
"""Of each passage found, the sentences that matter: the rest is in get_paper_content."""
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
    section = f" · {_SPACE.sub(' ', passage.section)}" if passage.section else ""
    fit = "" if match is None else f" · match {match:.0%}"
    lines = [f"[{passage.passage_id}] {place}{fit}{kind}{section}"]
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


def best_sentences(passage: Passage, retrieval: Retrieval, *, max_chars: int) -> set[int]:
    """Return the numbers of the sentences that hold most of what was searched for."""
    total = retrieval.passages_in_library + 1
    spelled = [
        (
            [f" {' '.join(map(stem, words.split()))} " for words in (*term.spellings, *term.related)],
            math.log(total / (max(term.count, term.related_count) + 0.5)),
        )
        for term in retrieval.terms
    ]
    scored: list[tuple[float, int, int]] = []
    for number, (start, end) in enumerate(sentences(passage.text), 1):
        marked = f" {' '.join(stems(passage.text[start:end]))} "
        weight = sum(w for phrases, w in spelled if any(words in marked for words in phrases))
        scored.append((-weight, number, end - start))
    chosen: set[int] = set()
    used = 0
    for _, number, size in sorted(scored):
        if chosen and used + size > max_chars:
            continue
        chosen.add(number)
        used += size
    return chosen


def show_paper_line(paper: Paper) -> str:
    """Return the line that heads a paper's passages."""
    label = f" ({paper.label})" if paper.label else ""
    return f"# {paper.paper_id} · {_SPACE.sub(' ', paper.title)} · {paper.short_reference}{label}"


def show_retrieval(retrieval: Retrieval) -> str:
    """Return a search's outcome: what was searched for, how often it occurs, the passages."""
    terms = "; ".join(_show_term(term) for term in retrieval.terms)
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
            chosen = best_sentences(found.passage, retrieval, max_chars=SNIPPET_CHARS)
            head.append(show_passage(found.passage, chosen=chosen, match=found.hit.score / best))
    return "\n".join(head)


def _show_term(term: SearchedTerm) -> str:
    related = f" ~ {' ~ '.join(term.related)} ({term.related_count})" if term.related else ""
    return f"{' = '.join(term.spellings)} ({term.count}){related}"


def evidence_of(passages: Iterable[Passage]) -> Mapping[str, str]:
    """Return what a tool's metadata says it showed: passage id to digest."""
    return {passage.passage_id: passage_digest(passage) for passage in passages}
