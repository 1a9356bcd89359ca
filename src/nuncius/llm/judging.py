"""Which of the shown sentences answer a question, and whether any does: words, names, units."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nuncius.core.plain_words import PLAIN
from nuncius.core.stem import stem, stems
from nuncius.llm.question import Name, Question
from nuncius.llm.reading import Desk, Sentence, ShownPassage, Term, holds

NEAR_SHARE, PASSAGE_SHARE, TITLE_SHARE = 0.75, 0.5, 0.5
"""How much a word counts for a sentence that stands beside it, in its passage, in the title."""
RELATED_SHARE = 0.6
"""How much another word for a term counts beside the term itself."""
ALL_PARTS, HEAD_PART = 0.8, 0.45
"""What the words of a phrase count that stands nowhere as a phrase: all of them, its last."""
PLAIN_SHARE = 0.35
"""How much an everyday word counts."""
RAREST = 4.5
"""Most that rarity counts: in a small library every odd word is rare."""
UNSEEN = 3.0
"""Weight of a word that the library never says; Chinese that no list knows weighs nothing."""
SHORT = 9
"""A sentence of fewer words (an equation, a list item) takes its meaning from the one before."""
MATCH_SHARE = 0.4
"""How much the passage's fit to the search adds to a sentence's score."""
COVERED = 0.4
"""Least share of the question's weight that a sentence and its surroundings must cover."""
MISSING = (0.0, 0.0, 0.0, 0.25, 0.3, 0.45)
"""Most of the telling words' weight that may be missing, by how many there are: a short question
means each of its words, a long one is put in words of the asker's own."""

_NUMBER = r"(?<![A-Za-z\d.])[-+−±~≈<>≲≳]?\s?\d[\d, ]*(?:\.\d+)?"
_BETWEEN = r"(?:\s*(?:[±×^_+\-−–,(){}\[\]$\\/]|to|and|pm|rm|times|stat|sys|\d+(?:\.\d+)?))*\s*"
_NO_CLAIM = re.compile(
    r"\([^()]*\b(?:1[89]|20)\d\d[a-z]?\b[^()]*\)"  # (Bouma et al. 2022)
    r"|\bal\.?,?\s*\(?\d{4}[a-z]?(?:,\s*\d{4}[a-z]?)*\)?|&\s*\w+\s*\(?\d{4}[a-z]?\)?"
    r"|(?<![\w.])[A-Za-z][\w.]*[-–+]?\d[\w.+-]*|\b[A-Z]\w*[A-Z]\w*\s\d+(?![.\d])|\b\d+-[A-Za-z]+"
    r"|\b(?:Fig|Figure|Table|Tab|Sect|Section|Sec|Eq|Equation|Appendix|Chapter)s?\.?\s*\(?[A-Z]?\d+\)?|[图表第]\s*\d+"
    r"|^\(?\d+\)|\(\d{1,3}\)\.?$",
)
_COUNTED = (
    r"(?:\d[\d,]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|dozens?|hundreds?|thousands?|millions?)\b"
    r"|[一二两三四五六七八九十百千万亿]+\s*[个颗次种类条组])"
)
_YEAR = re.compile(r"\b(?:1[6-9]|20)\d\d\b|\d\s*年")
_CAUSE = re.compile(
    r"\bbecause\b|\bsince\b|\bdue to\b|\bas a (?:result|consequence)\b|\bin order to\b|\bso that\b|\bto (?:avoid|ensure|allow)\b"
    r"|\btherefore\b|\bthus\b|\bowing to\b|\bcaus\w+|\breasons?\b|\ballow|\bexplain|\barise|\bdriven by\b|\bwould\b"
    r"|因为|由于|因此|所以|以便|为了|原因",
    re.IGNORECASE,
)
_OBJECT = re.compile(r"\b(?:[A-Z][A-Za-z]*[- ]?\d{2,}[\w.+-]*)")
_VALUE = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Judged:
    """A sentence and how well it answers.

    Attributes:
        score: 0 to about 1.6.
        covered: Share of the question's weight that it and its surroundings hold, 0 to 1.
        missing: Share of the weight of the question's own words (everyday ones left out) that
            neither it nor its passage nor the title speaks of.
        sound: Whether it has what the kind of question needs (number, unit, year, names).
    """

    sentence: Sentence
    passage: ShownPassage
    score: float
    covered: float
    missing: float
    sound: bool


@dataclass(frozen=True, slots=True)
class _Rings:
    """A sentence's stems and those around it, each ring with what a word in it counts."""

    own: Sequence[str]
    near: Sequence[str]
    passage: Sequence[str]
    title: Sequence[str]

    def __iter__(self) -> Iterator[tuple[Sequence[str], float]]:
        return iter(
            (
                (self.own, 1.0),
                (self.near, NEAR_SHARE),
                (self.passage, PASSAGE_SHARE),
                (self.title, TITLE_SHARE),
            )
        )


class Judge:
    """Judges all sentences on the desk against one question."""

    def __init__(self, question: Question, desk: Desk) -> None:
        self._question = question
        self._desk = desk
        self._terms = desk.terms
        self._weights = {term.words: _weight(term) for term in desk.terms}
        self._total = sum(self._weights.values()) or 1.0
        self._telling = [term for term in desk.terms if not _is_plain(term) and self._weights[term.words]]
        self._names = [(name, self._spellings(name)) for name in question.names]
        self._titles = {paper.paper_id: tuple(stems(paper.title)) for paper in desk.papers.values()}
        self._focus = self._focus_terms()
        self._unit = re.compile(f"{_NUMBER}{_BETWEEN}{question.units}(?![A-Za-z])")

    def _spellings(self, name: Name) -> tuple[tuple[str, ...], ...]:
        """Return the spellings that the search knows of a name, else the name alone."""
        for term in self._terms:
            if name.stems in term.phrases:
                digits = any(part.isdigit() for part in name.stems)
                return term.phrases if name.identifier and digits else (*term.phrases, *term.related)
            if not name.identifier and any(name.stems[0] in phrase for phrase in term.phrases):
                return (name.stems, *term.phrases, *term.related)  # Hubble in Hubble constant
        return (name.stems, ("".join(name.stems),)) if len(name.stems) > 1 else (name.stems,)

    def _focus_terms(self) -> list[Term]:
        """Return the terms of the search that the question asks for, the head last."""
        focus = self._question.focus
        if self._question.language == "zh":
            held = [
                term
                for term in self._terms
                if any(len(p) <= len(focus) and focus[-len(p) :] == p for p in term.phrases)
            ]
            return sorted(held, key=lambda term: max(map(len, term.phrases)))[-1:]
        return [
            term
            for term in self._terms
            if any(len(phrase) <= len(focus) and holds(phrase, focus) for phrase in term.phrases[:1])
        ]

    # --- what is nowhere --------------------------------------------------------------------------

    def unseen_names(self) -> list[str]:
        """Return the names of the question that stand nowhere in the library, as the user wrote them."""
        counts = {phrase: term.own_count for term in self._terms for phrase in term.phrases}
        return [
            name.spelled
            for name, spellings in self._names
            if name.stems in counts and not any(counts.get(s, 0) for s in spellings)
        ]

    def unseen_words(self) -> list[str]:
        """Return the terms that stand nowhere in the library, nor any other word for them."""
        spelled = {name.stems: name.spelled for name in self._question.names}
        return [
            spelled.get(term.phrases[0], term.words)
            for term in self._terms
            if term.count == 0 and term.words.isascii() and not _is_plain(term)
        ]

    def asks_unseen(self) -> bool:
        """Tell whether the very thing asked for is never spoken of in the library."""
        telling = [term for term in self._focus if not _is_plain(term)]
        return any(term.count == 0 and len(term.phrases[0]) == 1 for term in telling[-1:])

    # --- sentences --------------------------------------------------------------------------------

    def judge(self) -> list[Judged]:
        """Return all sentences, best first."""
        judged = [
            self._judge(passage, index)
            for passage in self._desk.passages.values()
            for index in range(len(passage.sentences))
        ]
        return sorted(judged, key=lambda j: (-j.sound, -j.score, j.passage.passage_id, j.sentence.number))

    def _judge(self, passage: ShownPassage, index: int) -> Judged:
        sentence = passage.sentences[index]
        rings = self._rings(passage, index)
        reach = {term.words: _reach(term, rings) for term in self._terms}
        covered = sum(self._weights[words] * share for words, share in reach.items()) / self._total
        telling = sum(self._weights[term.words] for term in self._telling) or 1.0
        lost = sum(self._weights[t.words] for t in self._telling if not reach[t.words])
        missing = lost / telling
        sound = (
            missing <= MISSING[min(len(self._telling), len(MISSING) - 1)]
            and self._about_names(passage, index, rings)
            and self._kind(passage, index, rings)
        )
        score = covered + MATCH_SHARE * passage.match - 0.15 * (len(sentence.stems) < 4)
        return Judged(sentence, passage, score, covered, missing, sound)

    def _rings(self, passage: ShownPassage, index: int) -> _Rings:
        sentences = passage.sentences
        number = sentences[index].number
        if passage.kind == "table":
            near = [t for s in (*_head(passage), *_scope(passage, index)) for t in s.stems]
        else:
            near = [t for s in sentences if abs(s.number - number) <= 1 for t in s.stems]
        rest = [*stems(passage.section), *(t for s in sentences for t in s.stems)]
        return _Rings(sentences[index].stems, near, rest, self._titles.get(passage.paper_id, ()))

    def _about_names(self, passage: ShownPassage, index: int, rings: _Rings) -> bool:
        """Tell whether all names are spoken of, and no other thing's value is taken for theirs."""
        section = stems(passage.section)
        objects = [spellings for name, spellings in self._names if name.identifier]
        for spellings in objects:
            if not any(_stands(spellings, ring) for ring, _ in rings):
                return False
            if not self._question.number:
                continue
            if passage.kind == "table":
                if not self._in_scope(passage, index, spellings):
                    return False
            elif not any(_stands(spellings, r) for r in (rings.own, rings.near, section, rings.title)):
                return False
        if not (self._question.number and objects) or passage.kind == "table":
            return True
        text = passage.sentences[index].text
        own = any(_stands(spellings, rings.own) for spellings in objects)
        return own or not _OBJECT.search(_strip_citations(text))

    def _in_scope(
        self, passage: ShownPassage, index: int, spellings: Sequence[tuple[str, ...]]
    ) -> bool:
        """Tell whether a table's row is about a name, where the table has rows that name it."""
        body = [s for s in passage.sentences if s not in _head(passage)]
        if not any(_stands(spellings, row.stems) for row in body):
            return True
        rows = (passage.sentences[index], *_scope(passage, index))
        return any(_stands(spellings, row.stems) for row in rows)

    def _kind(self, passage: ShownPassage, index: int, rings: _Rings) -> bool:
        """Tell whether a sentence has what the kind of question needs."""
        question = self._question
        text = passage.sentences[index].text
        if question.date:
            return bool(_YEAR.search(text))
        if question.why:
            near = " ".join(s.text for s in _beside(passage, index))
            return bool(_CAUSE.search(near))
        if question.number:
            return self._number(passage, index, rings)
        if question.which and self._focus:
            return any(_reach(t, rings, width=2) > 0 for t in self._focus)
        return True

    def _number(self, passage: ShownPassage, index: int, rings: _Rings) -> bool:
        question = self._question
        table = passage.kind == "table"
        claims = _NO_CLAIM.sub(" ", passage.sentences[index].text)
        if not re.search(_COUNTED if question.count else _VALUE, claims):
            return False
        # the number of a property stands in the sentence that names it, or in a short one beside it
        near = table or bool(question.units) or len(rings.own) < SHORT
        if not (self._on_focus(rings, near=near) and self._holds_compounds(rings)):
            return False
        if question.units and not self._unit.search(claims):
            # a row may say its unit in its label or in the table's head
            return table and not question.unit_named and bool(self._focus) and _reach(self._focus[-1], rings) >= RELATED_SHARE
        return True

    def _on_focus(self, rings: _Rings, *, near: bool) -> bool:
        """Tell whether the property asked for is spoken of in the sentence, or beside it."""
        telling = [term for term in self._focus if not _is_plain(term)]
        if not telling:
            return True
        asked = telling if self._question.count else telling[-1:]
        return any(
            _reach(term, rings, width=1) >= RELATED_SHARE
            or (near and _reach(term, rings, width=2) >= NEAR_SHARE * RELATED_SHARE)
            for term in asked
        )

    def _holds_compounds(self, rings: _Rings) -> bool:
        """Tell whether the compounds that a value is asked of (thick disk) are spoken of nearby."""
        return all(
            _reach(term, rings, width=3) > 0
            for term in self._telling
            if len(term.phrases[0]) > 1 and all(part.isalpha() for part in term.phrases[0])
        )


def _weight(term: Term) -> float:
    if term.count == 0:
        return UNSEEN if term.words.isascii() and not _is_plain(term) else 0.0
    weight = min(term.weight, RAREST)
    return weight * PLAIN_SHARE if _is_plain(term) else weight


def _is_plain(term: Term) -> bool:
    return all(len(phrase) == 1 and phrase[0] in PLAIN for phrase in term.phrases[:1])


def _head(passage: ShownPassage) -> list[Sentence]:
    """Return the caption and the header of a table, as far as they were shown."""
    return [s for s in passage.sentences if s.number <= 3][:3]


def _scope(passage: ShownPassage, index: int) -> list[Sentence]:
    """Return the rows above a table's row that head the group it stands in: rows without values."""
    for row in reversed(passage.sentences[:index]):
        if row.number > 1 and len(row.stems) <= 5 and not re.search(r"\d\.\d|\d\s*±|\d\s+\d", row.text):
            if _OBJECT.search(row.text):
                return [row]
    return []


def _beside(passage: ShownPassage, index: int) -> list[Sentence]:
    number = passage.sentences[index].number
    return [s for s in passage.sentences if abs(s.number - number) <= 1]


def _strip_citations(text: str) -> str:
    return re.sub(r"\([^()]*\b(?:1[89]|20)\d\d[a-z]?\b[^()]*\)", " ", text)


def _stands(spellings: Sequence[tuple[str, ...]], tokens: Sequence[str]) -> bool:
    return any(holds(spelling, tokens) for spelling in spellings)


def _reach(term: Term, rings: _Rings, *, width: int = 4) -> float:
    """Return how far a sentence and its surroundings (`width` rings of them) speak of a term, 0 to 1."""
    best = 0.0
    for tokens, counts in list(rings)[:width]:
        if best >= counts:
            break
        if _stands(term.phrases, tokens):
            best = max(best, counts)
        elif _stands(term.related, tokens):
            best = max(best, RELATED_SHARE * counts)
        elif len(term.phrases[0]) > 1 and all(part.isalpha() for part in term.phrases[0]):
            there = [part in tokens for part in term.phrases[0]]
            best = max(best, counts * (ALL_PARTS if all(there) else HEAD_PART * there[-1]))
    return best
