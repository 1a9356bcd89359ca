"""Find the passages that speak of a query: BM25 over normalised text, then a look at each passage."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nuncius.core.documents import Hit
from nuncius.core.papers import Paper
from nuncius.core.stem import stem, stems
from nuncius.core.text import language_of, query_terms, sentences
from nuncius.library.glossary import glossary, phrase, sibling_phrases
from nuncius.library.records import FoundPassage, Retrieval, SearchedTerm
from nuncius.store.protocols import Store

POOL = 60
"""Candidates that are looked at; recall at 50 is what a second look can win (retrieval.md)."""
MAX_TERMS = 24
TITLE_WORDS = 3
"""A title of at least so many words, spelled out in a query, means that paper."""
W_COVERED = 0.5
W_CLOSEST = 0.3
"""What coverage of the query, in the passage and in two sentences of it, adds to BM25 of 0 to 1."""
TWIN_SHARE = 0.9
"""Share of the smaller passage's words that makes two passages of two papers one."""


@dataclass(frozen=True, slots=True)
class Term:
    """One thing that a query asks for.

    `variants` are spellings of the same; `others` are other words for it, which count less.
    """

    variants: tuple[str, ...]
    others: tuple[str, ...] = ()


def read_query(text: str) -> tuple[list[Term], list[str]]:
    """Return the terms of a query, and what had to be done to read it.

    Chinese words are also searched for in English, by the shipped word list.
    """
    terms: dict[str, Term] = {}
    degraded: list[str] = []
    if language_of(text) == "zh":
        chinese, text = glossary().translate(text)
        for words, english in chinese:
            own = tuple(term[0] for term in query_terms(words) if not term[0].isascii())
            phrases = tuple(dict.fromkeys(filter(None, map(phrase, english))))
            variants = (*phrases, *own)
            if variants:
                terms.setdefault(variants[0], Term(variants))
        degraded.append("translated by word list")
    plain = query_terms(text)
    tokens = [term[0] for term in plain]
    others: dict[int, list[str]] = {}
    for start, end, phrases in sibling_phrases([_stemmed(token) for token in tokens]):
        for index in range(start, end):
            others.setdefault(index, []).extend(phrases)
    start = 0
    while start < len(plain):
        end = _phrase_end(tokens, start)
        words = " ".join(tokens[start:end])
        related = [word for index in range(start, end) for word in others.get(index, ())]
        if end - start > 1:
            term = Term((words,), tuple(dict.fromkeys([*related, *tokens[start:end]])))
        else:
            term = Term(tuple(plain[start]), tuple(dict.fromkeys(related)))
        terms.setdefault(words, term)
        start = end
    return list(terms.values())[:MAX_TERMS], degraded


def _stemmed(words: str) -> str:
    return " ".join(map(stem, words.split()))


def _phrase_end(tokens: Sequence[str], start: int) -> int:
    """Return where the term of astronomy ends that starts here, of up to four words."""
    known = glossary().phrases
    for end in range(min(len(tokens), start + 4), start + 1, -1):
        if _stemmed(" ".join(tokens[start:end])) in known:
            return end
    return start + 1


class Retriever:
    """Searches passages. Holds nothing between searches."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def search(
        self,
        query: str,
        *,
        k: int,
        paper_ids: Sequence[str] | None = None,
        years: tuple[int | None, int | None] = (None, None),
    ) -> Retrieval:
        """Return the k best passages."""
        terms, degraded = read_query(query)
        total = await self._store.passages.count()
        hits = await self._hits(terms, max(POOL, k), paper_ids, years)
        papers = await self._store.papers.get(list({hit.passage.paper_id for hit in hits}))
        named = _named_paper(query, papers.values()) if paper_ids is None else None
        if named:
            paper, rest = named
            asked, _ = read_query(rest)
            if asked:
                terms = asked
                hits = await self._hits(terms, max(POOL, k), [paper.paper_id], years)
        spellings = [[*term.variants, *term.others] for term in terms]
        counts = await self._store.passages.frequencies(
            list(dict.fromkeys(variant for group in spellings for variant in group))
        )
        weights = [_weight(term, counts, total) for term in terms]
        ranked = _without_twins(_second_look(hits, terms, weights, papers), papers)
        return Retrieval(
            query=query,
            found=[
                FoundPassage(hit, papers[hit.passage.paper_id])
                for hit in ranked[:k]
                if hit.passage.paper_id in papers
            ],
            terms=[
                SearchedTerm(
                    term.variants,
                    term.others,
                    max((counts.get(v, 0) for v in term.variants), default=0),
                    max((counts.get(v, 0) for v in term.others), default=0),
                )
                for term in terms
            ],
            papers_in_library=await self._store.papers.count(),
            passages_in_library=total,
            degraded=degraded,
        )

    async def _hits(
        self,
        terms: Sequence[Term],
        limit: int,
        paper_ids: Sequence[str] | None,
        years: tuple[int | None, int | None],
    ) -> Sequence[Hit]:
        if not terms:
            return []
        return await self._store.passages.search(
            [[*term.variants, *term.others] for term in terms],
            limit=limit,
            paper_ids=paper_ids,
            years=years,
        )


def _weight(term: Term, counts: Mapping[str, int], total: int) -> float:
    seen = max((counts.get(variant, 0) for variant in term.variants), default=0)
    return math.log((total + 1) / (seen + 0.5)) if total else 0.0


def _named_paper(query: str, papers: Iterable[Paper]) -> tuple[Paper, str] | None:
    """Return the paper whose title the query spells out, and the query without that title."""
    asked = query_terms(query)
    words = [_stemmed(term[0]) for term in asked]
    best: tuple[int, Paper, str] | None = None
    for paper in papers:
        title = [_stemmed(term[0]) for term in query_terms(paper.title)]
        size = len(title)
        if size < TITLE_WORDS or (best and size <= best[0]):
            continue
        for start in range(len(words) - size + 1):
            if words[start : start + size] == title:
                rest = [term[0] for term in (*asked[:start], *asked[start + size :])]
                best = (size, paper, " ".join(rest))
                break
    return (best[1], best[2]) if best else None


def _second_look(
    hits: Sequence[Hit],
    terms: Sequence[Term],
    weights: Sequence[float],
    papers: Mapping[str, Paper],
) -> list[Hit]:
    """Order candidates by BM25, by how much of the query each covers, and how closely together."""
    if not hits:
        return []
    best = max(hit.score for hit in hits) or 1.0
    spelled = [_Spelled.of(term, weight) for term, weight in zip(terms, weights, strict=True)]
    whole = sum(weights) or 1.0
    looked: list[Hit] = []
    for hit in hits:
        passage = hit.passage
        title = _marked(papers[passage.paper_id].title if passage.paper_id in papers else "")
        section = _marked(passage.section)
        parts = [
            _marked(passage.text[start:end]) for start, end in sentences(passage.text)
        ] or [" "]
        around = section + title
        text = "".join(parts)
        covered = sum(term.reach(text, around) for term in spelled) / whole
        closest = max(
            sum(term.reach(parts[i] + (parts[i + 1] if i + 1 < len(parts) else ""), "") for term in spelled)
            for i in range(len(parts))
        ) / whole
        score = hit.score / best + W_COVERED * covered + W_CLOSEST * closest
        looked.append(Hit(passage, score, hit.legs))
    return sorted(looked, key=lambda hit: -hit.score)


@dataclass(frozen=True, slots=True)
class _Spelled:
    """A term ready to be looked for in stems: ``" h alpha "``."""

    own: tuple[str, ...]
    others: tuple[str, ...]
    weight: float

    @classmethod
    def of(cls, term: Term, weight: float) -> "_Spelled":
        def marked(phrases: Iterable[str]) -> tuple[str, ...]:
            return tuple(f" {_stemmed(words)} " for words in phrases)

        return cls(marked(term.variants), marked(term.others), weight)

    def reach(self, text: str, around: str) -> float:
        """Return how much of the weight a text earns, with a title and section around it."""
        if any(phrase in text for phrase in self.own):
            return self.weight
        if any(phrase in text for phrase in self.others):
            return 0.6 * self.weight
        if any(phrase in around for phrase in self.own):
            return 0.5 * self.weight
        return 0.0


def _marked(text: str) -> str:
    return f" {' '.join(stems(text))} "


def _without_twins(ranked: Sequence[Hit], papers: Mapping[str, Paper]) -> list[Hit]:
    """Drop passages that another paper's passage repeats; the shorter paper's copy stays.

    A preprint and its journal version, or a collection and its parts, say a thing once.
    """
    kept: list[Hit] = []
    bags: list[frozenset[str]] = []
    for hit in ranked:
        bag = frozenset(stems(hit.passage.text))
        twin = next(
            (
                index
                for index, other in enumerate(bags)
                if kept[index].passage.paper_id != hit.passage.paper_id
                and len(bag & other) >= TWIN_SHARE * min(len(bag), len(other)) > 0
            ),
            None,
        )
        if twin is None:
            kept.append(hit)
            bags.append(bag)
        elif _length(hit, papers) < _length(kept[twin], papers):
            kept[twin] = Hit(hit.passage, kept[twin].score, hit.legs)
            bags[twin] = bag
    return kept


def _length(hit: Hit, papers: Mapping[str, Paper]) -> int:
    paper = papers.get(hit.passage.paper_id)
    return paper.pages or 0 if paper else 0
