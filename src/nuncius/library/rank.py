"""Order candidate passages: how much of a query each covers, how often, and how closely together."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from nuncius.core.documents import Hit, Passage
from nuncius.core.papers import Paper
from nuncius.core.plain_words import PLAIN
from nuncius.core.stem import stem, stems
from nuncius.core.text import STOP_WORDS, sentences

RAREST = 4.5
"""Most that rarity counts (natural log): in a small library every odd word is rare."""
SMOOTH, FURTHER = 2.5, 30
"""Added to a term's count and to the passages there are: in a library of a few pages a word is not
common because one passage holds it, nor rare because only one does."""
PLAIN_SHARE = 0.5
"""How much an everyday word counts: questions are made of them, papers are told apart by others."""
RELATED_SHARE = 0.4
"""How much another word for a term counts beside the term itself."""
ALL_PARTS, HEAD_PART, OTHER_PART = 0.8, 0.45, 0.2
"""What the words of a phrase count that stands nowhere as a phrase: all, its last word, another."""
AROUND_SHARE = 0.5
"""How much a term counts that stands in the paper's title or the section's heading only."""
SATURATION = 2.0
"""BM25's k1: how soon repeating a term stops to count."""
W_COVERED = 1.0
W_CLOSEST = 1.0
W_BM25 = 1.2
"""What the whole passage's coverage, that of its best two sentences, and the first place in the
index's own ranking add to term frequency."""
NEAR_SHARE = 0.6
"""How much a term counts for a sentence that stands in the one before or after."""
HEAD_ROWS = 3
"""First sentences of a table: its caption and the names of its columns."""
_NAMES_GROUP = re.compile(r"[A-Z][A-Za-z]*[- ]?\d{2,}")
_HOLDS_VALUE = re.compile(r"\d\.\d|\d\s*±|\d\s+\d")
TWIN_SHARE = 0.9
"""Share of the smaller passage's words that makes two passages of two papers one."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A term of a query ready to be looked for in stems, each phrase as ``" h alpha "``.

    Attributes:
        own, others: Spellings as search tokens; others that the library never says are left out.
        words: The words of a phrase: each finds passages too, where the phrase is not written.
        count, others_count: In how many passages the commonest of them occurs.
    """

    own: tuple[str, ...]
    others: tuple[str, ...]
    words: tuple[str, ...]
    count: int
    others_count: int
    weight: float
    marked: tuple[str, ...]
    marked_others: tuple[str, ...]
    parts: tuple[str, ...]

    def reach(self, text: str) -> float:
        """Return how far a marked text speaks of the term, 0 to 1."""
        if any(words in text for words in self.marked):
            return 1.0
        best = RELATED_SHARE if any(words in text for words in self.marked_others) else 0.0
        if self.parts:
            there = [part in text for part in self.parts]
            share = ALL_PARTS if all(there) else HEAD_PART * there[-1] or OTHER_PART * any(there)
            best = max(best, share)
        return best

    def frequency(self, text: str) -> float:
        """Return how often a marked text speaks of the term; other words count less."""
        own = sum(text.count(words) for words in self.marked)
        return own + RELATED_SHARE * sum(text.count(words) for words in self.marked_others)


def weigh(
    own: Sequence[str], others: Sequence[str], counts: Mapping[str, int], total: int
) -> Weighed:
    """Weigh a term by how rare it is among `total` passages."""
    own = [word for word in own if counts.get(word)] or own[:1]
    others = [word for word in others if counts.get(word)]
    count = max((counts.get(word, 0) for word in own), default=0)
    others_count = max((counts.get(word, 0) for word in others), default=0)
    parts = [part for part in own[0].split() if part not in STOP_WORDS]
    if len(parts) < 2 or not own[0].replace(" ", "").isalpha() or not own[0].isascii():
        parts = []
    # a phrase that stands nowhere is as rare as the rarest of its words that does
    seen = count or min((counts[part] for part in parts if counts.get(part)), default=others_count)
    weight = min(math.log((total + FURTHER) / (seen + SMOOTH)), RAREST) if seen else 0.0
    if len(own[0].split()) == 1 and stem(own[0]) in PLAIN:
        weight *= PLAIN_SHARE
    return Weighed(
        tuple(own),
        tuple(others),
        tuple(parts),
        count,
        others_count,
        weight,
        tuple(map(_phrase, own)),
        tuple(map(_phrase, others)),
        tuple(map(_phrase, parts)),
    )


def _phrase(words: str) -> str:
    return f" {' '.join(map(stem, words.split()))} "


@lru_cache(maxsize=4096)  # the same passages are candidates again and again
def marked_sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a passage as stems between spaces, ready for `Weighed.reach`."""
    return tuple(_marked(text[start:end]) for start, end in sentences(text))


def _marked(text: str) -> str:
    return f" {' '.join(stems(text))} "


def rank(hits: Sequence[Hit], terms: Sequence[Weighed], papers: Mapping[str, Paper]) -> list[Hit]:
    """Return the candidates in order, each with its score, 0 to about 3; doubles are dropped."""
    terms = [term for term in terms if term.weight > 0]
    whole = sum(term.weight for term in terms)
    if not whole:
        return _without_twins(hits, papers)
    around = {paper_id: _marked(paper.title) for paper_id, paper in papers.items()}
    scored = [
        Hit(
            hit.passage,
            _score(hit.passage, terms, around[hit.passage.paper_id]) / whole
            + W_BM25 * 10 / (10 + hit.legs.get("bm25", math.inf)),
            hit.legs,
        )
        for hit in hits
    ]
    scored.sort(key=lambda hit: (-hit.score, hit.passage.passage_id))
    return _without_twins(scored, papers)


def _score(passage: Passage, terms: Sequence[Weighed], title: str) -> float:
    parts = marked_sentences(passage.text) or (" ",)
    text = "".join(parts)
    around = title + _marked(passage.section)
    length = 0.5 + 0.5 * len(passage.text) / 1000  # BM25's b at one half, about a mean passage
    often = covered = 0.0
    for term in terms:
        frequency = term.frequency(text)
        often += term.weight * frequency / (frequency + SATURATION * length)
        covered += term.weight * max(term.reach(text), AROUND_SHARE * term.reach(around))
    closest = max(
        sum(term.weight * term.reach(window) for term in terms)
        for window in _windows(passage, parts)
    )
    return often + W_COVERED * covered + W_CLOSEST * closest


def _windows(passage: Passage, parts: Sequence[str]) -> list[str]:
    """Return what is read at a glance: two sentences, or a table's row with its caption."""
    if passage.kind == "table":
        return [parts[0] + part for part in parts]
    return [part + following for part, following in zip(parts, (*parts[1:], " "), strict=True)]


def telling(passage: Passage, terms: Sequence[Weighed], *, max_chars: int) -> list[int]:
    """Return the numbers of the sentences that hold most of the query, in order.

    A sentence beside a good one counts: the value often follows the words. A table's caption and
    header stay, and above each of its rows the nearest one that heads a group.
    """
    spans = sentences(passage.text)
    if len(passage.text) <= 1.3 * max_chars:
        return list(range(1, len(spans) + 1))
    parts = marked_sentences(passage.text)
    held = [[term.weight * term.reach(part) for term in terms] for part in parts]
    table = passage.kind == "table"
    worth = [_worth(held, index, table=table) for index in range(len(spans))]
    chosen = set(range(min(HEAD_ROWS, len(spans)))) if table else set[int]()
    used = sum(spans[index][1] - spans[index][0] for index in chosen)
    for index in sorted(range(len(spans)), key=lambda index: (-worth[index], index)):
        added = {index, *_group_row(passage.text, spans, index)} if table else {index}
        size = sum(spans[i][1] - spans[i][0] for i in added - chosen)
        if chosen and used + size > max_chars:
            continue
        chosen |= added
        used += size
    return [index + 1 for index in sorted(chosen)]


def _worth(held: Sequence[Sequence[float]], index: int, *, table: bool) -> float:
    if table:
        return sum(held[index])
    beside = [held[i] for i in (index - 1, index + 1) if 0 <= i < len(held)]
    return sum(
        max(own, *(NEAR_SHARE * other[term] for other in beside), 0.0)
        for term, own in enumerate(held[index])
    )


def _group_row(text: str, spans: Sequence[tuple[int, int]], index: int) -> list[int]:
    """Return the nearest row above that holds no value: it names what the rows below are about."""
    for above in range(index - 1, HEAD_ROWS - 1, -1):
        row = text[slice(*spans[above])]
        if _NAMES_GROUP.search(row) and not _HOLDS_VALUE.search(row):
            return [above]
    return []


def _without_twins(ranked: Sequence[Hit], papers: Mapping[str, Paper]) -> list[Hit]:
    """Drop passages that another paper's passage repeats; the shorter paper's copy stays.

    A preprint and its journal version, or a collection and its parts, say a thing once.
    """
    kept: list[Hit] = []
    bags: list[frozenset[str]] = []
    for hit in ranked:
        bag = frozenset("".join(marked_sentences(hit.passage.text)).split())
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
