"""Find the passages that speak of a query: BM25 over normalised text, then a look at each passage."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from nuncius.core.documents import Hit
from nuncius.core.papers import Paper
from nuncius.core.stem import stem
from nuncius.core.text import STOP_WORDS, language_of, query_terms
from nuncius.library.glossary import glossary, phrase, sibling_phrases, spellings, stemmed
from nuncius.library.rank import Weighed, rank, telling, weigh
from nuncius.library.records import FoundPassage, Retrieval, SearchedTerm
from nuncius.store.protocols import Store

POOL = 80
"""Candidates of each search that are looked at; recall at 50 is what a second look can win."""
MAX_TERMS = 24
MAX_RELATED = 7
"""Other words that are searched for a term; the store takes 8 spellings of one."""
SNIPPET_CHARS = 400
"""Of each passage found, the sentences that tell most: half of it beyond the `BEST` ones."""
BEST = 4
TITLE_WORDS = 4
"""A title of at least so many words, spelled out in a query, means that paper."""
_WORD = re.compile(r"[^\W_]+")
PROPERTIES = {
    "long": "duration", "old": "age", "far": "distance", "deep": "depth", "hot": "temperature", "massive": "mass",
    "heavy": "mass", "large": "radius", "big": "radius", "bright": "magnitude", "fast": "velocity", "dense": "density",
}  # fmt: skip
"""What a question's adjective asks for."""
_HOW = re.compile(rf"\bhow ({'|'.join(PROPERTIES)})\b", re.IGNORECASE)
_WITHIN = frozenset({"of", "the", "to", "in", "a", "an", "and", "per"})


@dataclass(frozen=True, slots=True)
class Term:
    """One thing that a query asks for.

    `variants` are spellings of the same; `others` are other words for it, which count less.
    """

    variants: tuple[str, ...]
    others: tuple[str, ...] = ()


def read_query(text: str) -> tuple[list[Term], list[str]]:
    """Return the terms of a query, and what had to be done to read it.

    Chinese words are also searched for in English, by the shipped word list, and English words in
    Chinese.
    """
    terms: dict[str, Term] = {}
    degraded: list[str] = []
    if language_of(text) == "zh":
        chinese, text = glossary().translate(text)
        for words, english in chinese:
            own = tuple(term[0] for term in query_terms(words) if not term[0].isascii())
            spelled = tuple(spelling for word in english for spelling in spellings(word))
            _add(terms, (*spelled, *own), map(phrase, english))
        degraded.append("translated by word list")
    for run in (*_runs(text), *_asked_property(text)):
        start = 0
        while start < len(run.terms):
            end = _phrase_end([term[0] for term in run.terms], start)
            words = run.fragment(start, end)
            variants = spellings(words) if end - start > 1 else tuple(run.terms[start])
            chinese_words = glossary().chinese.get(stemmed(phrase(words)), ())
            _add(terms, (*variants, *chinese_words), [phrase(words)])
            start = end
    return list(terms.values())[:MAX_TERMS], degraded


def _add(terms: dict[str, Term], variants: Sequence[str], phrases: Iterable[str]) -> None:
    phrases = list(phrases)
    same = (spelled for words in phrases for spelled in glossary().same.get(stemmed(words), ()))
    variants = tuple(dict.fromkeys((*variants, *same)))
    if variants and variants[0] not in terms:
        related = (word for word in _related(phrases) if word not in variants)
        terms[variants[0]] = Term(variants, tuple(dict.fromkeys(related)))


@dataclass(frozen=True, slots=True)
class _Run:
    """Words that stand together; `places` tells which word of it each term is."""

    words: list[str]
    terms: list[list[str]]
    places: list[int]

    def fragment(self, start: int, end: int) -> str:
        """Return the words from term `start` up to term `end`, small words between them too."""
        return " ".join(self.words[self.places[start] : self.places[end - 1] + 1])


def _runs(text: str) -> list[_Run]:
    """Return the terms of a text in runs: a phrase never reaches over a verb or a comma.

    Only small words within a phrase (rate of expansion) are reached over.
    """
    runs = [_Run([], [], [])]
    for word in text.split():
        bare = word.strip(".,;:?!()\"'“”")
        if bare.lower() in STOP_WORDS and bare.lower() not in _WITHIN:
            runs.append(_Run([], [], []))
            continue
        run = runs[-1]
        run.words.append(bare)
        for term in query_terms(bare):
            if term[0] not in STOP_WORDS:
                run.terms.append(term)
                run.places.append(len(run.words) - 1)
        if word[-1] in ".,;:?!)":
            runs.append(_Run([], [], []))
    found = [run for run in runs if run.terms]
    return found or [_Run([text], terms, [0] * len(terms)) for terms in [query_terms(text)]]


def _asked_property(text: str) -> list[_Run]:
    """Return compounds that "how long does a transit last" asks for: the transit's duration."""
    asked = _HOW.search(text)
    if not asked:
        return []
    noun = PROPERTIES[asked[1].lower()]
    nouns = (stem(term[0]) for run in _runs(text[asked.end() :]) for term in run.terms)
    return [
        _Run([word, noun], [[word], [noun]], [0, 1])
        for word in nouns
        if stemmed(f"{word} {noun}") in glossary().phrases
    ]


def _related(phrases: Iterable[str]) -> dict[str, None]:
    """Return other words for a term: of the whole, of the phrase at its end, else of its last word.

    What a paper in Chinese says for them comes last.
    """
    known = glossary()
    found: dict[str, None] = {}
    for words in phrases:
        tokens = stemmed(words).split()
        at_end = [
            (start, others) for start, end, others in sibling_phrases(tokens) if end == len(tokens)
        ]
        longer = [others for start, others in at_end if start == 0 or start < len(tokens) - 1]
        for others in longer or [others for _, others in at_end]:
            found.update(dict.fromkeys(others))
        for other in list(found):
            found.update(dict.fromkeys(known.chinese.get(stemmed(other), ())))
    return found


def _phrase_end(tokens: Sequence[str], start: int) -> int:
    """Return where the term of astronomy ends that starts here, of up to four words."""
    known = glossary().phrases
    for end in range(min(len(tokens), start + 4), start + 1, -1):
        if stemmed(" ".join(tokens[start:end])) in known:
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
        without: Sequence[str] = (),
        years: tuple[int | None, int | None] = (None, None),
    ) -> Retrieval:
        """Return the k best passages, of these papers only, or of all but those `without`."""
        asked, degraded = read_query(query)
        total = await self._store.passages.count()
        terms = await self._weigh(asked, total)
        hits = await self._hits(terms, max(POOL, k), paper_ids, without, years)
        papers = await self._store.papers.get(list({hit.passage.paper_id for hit in hits}))
        named = _named_paper(query, papers.values()) if paper_ids is None else None
        if named:
            paper, rest = named
            asked, _ = read_query(rest)
            if asked:
                terms = await self._weigh(asked, total)
                hits = await self._hits(terms, max(POOL, k), [paper.paper_id], without, years)
        known = [hit for hit in hits if hit.passage.paper_id in papers]
        ranked = await asyncio.to_thread(rank, known, terms, papers)
        return Retrieval(
            query=query,
            found=[
                FoundPassage(
                    hit,
                    papers[hit.passage.paper_id],
                    telling(hit.passage, terms, max_chars=_chars_of(place)),
                )
                for place, hit in enumerate(ranked[:k])
            ],
            terms=[
                SearchedTerm(term.own, term.others, term.count, term.others_count) for term in terms
            ],
            papers_in_library=await self._store.papers.count(),
            passages_in_library=total,
            degraded=degraded,
        )

    async def _weigh(self, terms: Sequence[Term], total: int) -> list[Weighed]:
        """Weigh terms by how rare they are; other words that the library never says are dropped."""
        spellings = {word for term in terms for word in (*term.variants, *term.others)}
        parts = {part for word in spellings for part in word.split()}
        counts = await self._store.passages.frequencies(sorted(spellings | parts))
        return [weigh(term.variants, term.others, counts, total) for term in terms]

    async def _hits(
        self,
        terms: Sequence[Weighed],
        limit: int,
        paper_ids: Sequence[str] | None,
        without: Sequence[str],
        years: tuple[int | None, int | None],
    ) -> Sequence[Hit]:
        """Return candidates: those with the query's own words, and those with other words too."""
        if not terms:
            return []
        own = [[*term.own, *term.words] for term in terms]
        all_words = [
            [*words, *term.others[:MAX_RELATED]] for words, term in zip(own, terms, strict=True)
        ]
        found: dict[str, Hit] = {}
        for leg, words in (("bm25", own), ("related", all_words)):
            for hit in await self._store.passages.search(
                words, limit=limit, paper_ids=paper_ids, without=without, years=years
            ):
                known = found.setdefault(hit.passage.passage_id, replace(hit, legs={}))
                known.legs[leg] = hit.legs["bm25"]
        return list(found.values())


def _chars_of(place: int) -> int:
    return SNIPPET_CHARS if place < BEST else SNIPPET_CHARS // 2


def _named_paper(query: str, papers: Iterable[Paper]) -> tuple[Paper, str] | None:
    """Return the paper whose title the query spells out, and the query without that title."""
    asked = list(_WORD.finditer(query))
    words = [match[0].casefold() for match in asked]
    best: tuple[int, Paper, str] | None = None
    for paper in papers:
        title = [match[0].casefold() for match in _WORD.finditer(paper.title)]
        size = len(title)
        if size < TITLE_WORDS or (best and size <= best[0]):
            continue
        for start in range(len(words) - size + 1):
            if words[start : start + size] == title:
                first, last = asked[start].start(), asked[start + size - 1].end()
                best = (size, paper, f"{query[:first]} {query[last:]}")
                break
    return (best[1], best[2]) if best else None
