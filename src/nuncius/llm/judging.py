"""Which of the shown sentences answer a question, and whether any does: words, names, units."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nuncius.core.stem import stems
from nuncius.core.plain_words import PLAIN
from nuncius.llm.reading import (
    DIMENSIONS,
    Desk,
    Question,
    Sentence,
    ShownPassage,
    Term,
    holds,
)

THRESHOLD = 0.4
"""Least share of the question's weight that a sentence and its surroundings must cover."""
RELATED_SHARE = 0.6
"""How much a related word counts beside the word itself."""
MATCH_SHARE = 0.3
"""How much the passage's fit to the search adds to a sentence's score."""
PHRASE_WEIGHT = 2.5
"""A compound at least so rare must stand in the passage or the title."""
_RAREST = 4.5
"""Most that rarity counts: in a small library every odd word is rare."""
_UNSEEN = 3.0
"""Weight of a word that the library never says."""
_UNKNOWN_HAN = 1.0
"""Weight of Chinese that neither the word list nor the library knows."""
_PLAIN_SHARE = 0.35
"""How much an everyday word counts."""
_NUMBER = r"(?<![A-Za-z\d.])[-+−±~≈<>]?\d[\d,]*(?:\.\d+)?"
_NO_CLAIM = re.compile(
    r"\([^()]*\b(?:1[89]|20)\d\d[a-z]?\b[^()]*\)"  # (Bouma et al. 2022)
    r"|\bal\.?,?\s*\(?\d{4}[a-z]?(?:,\s*\d{4}[a-z]?)*\)?|&\s*\w+\s*\(?\d{4}[a-z]?\)?"
    r"|[A-Za-z][\w.]*[-–+]?\d[\w.+-]*|\b[A-Z]\w*[A-Z]\w*\s\d+(?![.\d])|\b\d+-[A-Za-z]+"
    r"|\b(?:Fig|Figure|Table|Tab|Sect|Section|Sec|Eq|Equation|Appendix|Chapter)s?\.?\s*\(?[A-Z]?\d+\)?|[图表第]\s*\d+"
    r"|^\(?\d+\)",
)
_COUNTED = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million)s?\b"
    r"|[一二两三四五六七八九十百千万亿]+\s*[个颗次种类条组]",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:1[6-9]|20)\d\d\b|年")
_CAUSE = re.compile(
    r"\bbecause\b|\bsince\b|\bdue to\b|\bas a (?:result|consequence)\b|\bin order to\b|\bso that\b|\bto avoid\b"
    r"|\btherefore\b|\bthus\b|\bowing to\b|\bcaused?\b|\breason\b|\ballow|因为|由于|因此|所以|以便|为了",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A sentence and how well it answers.

    Attributes:
        score: 0 to about 1.5.
        covered: Share of the question's weight that it and its surroundings hold, 0 to 1.
        sound: Whether it has what the kind of question needs (number, unit, year, names).
    """

    sentence: Sentence
    passage: ShownPassage
    score: float
    covered: float
    sound: bool


class Judge:
    """Judges all sentences on the desk against one question."""

    def __init__(self, question: Question, desk: Desk) -> None:
        self._question = question
        self._desk = desk
        self._terms = desk.terms
        self._names = [self._name_spellings(name) for name in question.names]
        self._weights = {term.words: self._weight(term) for term in desk.terms}
        self._total = sum(self._weights.values()) or 1.0
        self._titles = {paper.paper_id: tuple(stems(paper.title)) for paper in desk.papers.values()}
        self._unit = re.compile(
            "|".join(
                rf"{_NUMBER}(?:\s*(?:[±×^_+\-−–,(){{}}\[\]$\\]|to|and|pm|rm|times|\d+(?:\.\d+)?))*\s*{DIMENSIONS[name]}(?![A-Za-z])"
                for name in question.dimensions
            )
            or r"(?!)"
        )

    def _name_spellings(self, name: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """Return the spellings that the search knows of a name, else the name alone."""
        for term in self._terms:
            if name in term.phrases:
                return term.phrases
        return (name, ("".join(name),)) if len(name) > 1 else (name,)

    def _weight(self, term: Term) -> float:
        if term.count == 0 and not term.words.isascii():
            return _UNKNOWN_HAN
        weight = _UNSEEN if term.count == 0 else min(term.weight, _RAREST)
        everyday = all(len(p) == 1 and p[0] in PLAIN for p in term.phrases[:1])
        return weight * _PLAIN_SHARE if everyday else weight

    def unseen_names(self) -> list[str]:
        """Return the names of the question that stand nowhere in the library."""
        counts = {phrase: term.count for term in self._terms for phrase in term.phrases}
        words = {phrase: term.words for term in self._terms for phrase in term.phrases}
        return [
            words[spellings[0]]
            for spellings in self._names
            if spellings[0] in counts and not max(counts.get(s, 0) for s in spellings)
        ]

    def unseen_words(self) -> list[str]:
        """Return the terms that stand nowhere in the library."""
        return [term.words for term in self._terms if term.count == 0]

    def judge(self) -> list[Judged]:
        """Return all sentences, best first."""
        judged = [
            self._judge(passage, index)
            for passage in self._desk.passages.values()
            for index in range(len(passage.sentences))
        ]
        return sorted(judged, key=lambda j: (-j.sound, -j.score, j.sentence.passage_id))

    def _judge(self, passage: ShownPassage, index: int) -> Judged:
        sentence = passage.sentences[index]
        rings = self._rings(passage, index)
        reach = {term.words: _reach_term(term, rings) for term in self._terms}
        covered = sum(self._weights[words] * share for words, share in reach.items()) / self._total
        names = [_reach(spellings, rings) for spellings in self._names]
        sound = all(names) and self._holds_phrases(rings) and self._sound(sentence, rings)
        score = covered + MATCH_SHARE * passage.match + 0.25 * sound
        if passage.kind in {"caption", "table"}:
            score -= 0.03
        if len(sentence.stems) < 5:
            score -= 0.15
        return Judged(sentence, passage, score, covered, sound)

    def _holds_phrases(self, rings: Sequence[tuple[Sequence[str], float]]) -> bool:
        """Tell whether the compounds that a value is asked of (thick disk) are spoken of nearby."""
        return not self._question.number or all(
            _reach([*term.phrases, *term.related], rings)
            for term in self._terms
            if len(term.phrases[0]) > 1 and self._weights[term.words] >= PHRASE_WEIGHT
        )

    def _rings(self, passage: ShownPassage, index: int) -> list[tuple[Sequence[str], float]]:
        """Return texts around a sentence, each with how much a word in it counts for the sentence."""
        sentences = passage.sentences
        near = [t for s in sentences[max(0, index - 1) : index + 2] for t in s.stems]
        rest = [t for s in sentences for t in s.stems]
        section = stems(passage.section)
        return [
            (sentences[index].stems, 1.0),
            (near, 0.7),
            ([*section, *rest], 0.5),
            (self._titles.get(passage.paper_id, ()), 0.5),
        ]

    def _sound(self, sentence: Sentence, rings: Sequence[tuple[Sequence[str], float]]) -> bool:
        """Tell whether a sentence has what the kind of question needs."""
        question = self._question
        text = sentence.text
        claims = _NO_CLAIM.sub(" ", text)
        if question.date:
            return bool(_YEAR.search(text))
        if question.dimensions:
            return bool(self._unit.search(claims))
        if question.number:
            found = _COUNTED.search(claims) if question.count else re.search(r"\d", claims)
            return bool(found) and self._on_focus(rings)
        if question.why:
            return bool(_CAUSE.search(text))
        return True

    def _on_focus(self, rings: Sequence[tuple[Sequence[str], float]]) -> bool:
        """Tell whether the property asked for is spoken of in the sentence or beside it."""
        focus = self._question.focus
        spellings = next((t.phrases for t in self._terms if (focus,) in t.phrases), ((focus,),))
        return not focus or focus in PLAIN or _reach(spellings, rings[:2]) > 0


def _reach_term(term: Term, rings: Sequence[tuple[Sequence[str], float]]) -> float:
    return max(_reach(term.phrases, rings), RELATED_SHARE * _reach(term.related, rings))


def _reach(
    phrases: Sequence[Sequence[str]], rings: Sequence[tuple[Sequence[str], float]]
) -> float:
    for tokens, counts in rings:
        if any(holds(phrase, tokens) for phrase in phrases):
            return counts
    return 0.0



