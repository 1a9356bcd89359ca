"""Which of the shown sentences answer a question, and whether any does: words, names, units."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nuncius.core.plain_words import PLAIN
from nuncius.core.stem import stems
from nuncius.llm import values
from nuncius.llm.question import Name, Question
from nuncius.llm.reading import Desk, Sentence, ShownPassage, Term, holds, rarity

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
ROW_NAMED = 0.4
"""How near a table's row must be to the property, where its values have no unit behind them."""
LEAST = 3.9
"""Least evidence that makes a sentence an answer: chosen for right answers and abstentions alike."""
EARLIER_SHARE = 0.3
"""How much a word of the question before counts for a follow-up that leans on it."""
FEW = 2
"""A question of so few telling words means each of them."""
SHORT = 9
"""A sentence of fewer words (an equation, a list item) takes its meaning from those beside it."""
COMPOUND = 1.5
"""How much more a compound (thick disk) tells than a word of the same rarity."""

_OBJECT = re.compile(r"\b(?:[A-Z][A-Za-z]*[- ]?\d{2,}[\w.+-]*)")
_ROW_VALUE = re.compile(r"\d\.\d|\d\s*±|\d\s+\d")
_RULE = re.compile(r"[|\s:-]+")
HEAD_ROWS = 3
"""First sentences of a table that may be its caption and the names of its columns."""
LABEL_WORDS = 6
"""A row of a table that is no more than a label has at most so many words."""
_VERB = re.compile(r"^[a-z]{3,}(?:ed|ing|ly)$")
"""Words that mostly say how, not what: an asker's own choice."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for and against a sentence, each 0 to 1.

    Attributes:
        covered: Share of the question's weight that it and its surroundings hold.
        near: The same for it and its neighbours.
        own: The same for the sentence alone (with the head of its table, for a row).
        strongest: Weight of the rarest word of the question that it holds itself.
        focus: How near the thing asked for is spoken of.
        names: Share of the question's names that stand near, in its heading or title.
        match: How well the passage fits the search.
        missing: Share of the telling words (everyday ones left out) that neither it nor its
            passage nor the title speaks of.
        rarest_missing: Weight of the rarest of these.
        length: How many telling words the question has; 1 for eight or more. A short question
            means each of its words, a long one is put in words of the asker's own.
        number: Whether a number is asked for: many sentences hold one.
        thing: Whether the form of the question tells what is asked for.
    """

    covered: float
    near: float
    own: float
    strongest: float
    focus: float
    names: float
    match: float
    missing: float
    rarest_missing: float
    length: float
    number: bool
    thing: bool

    @property
    def score(self) -> float:
        """Weigh it: a logistic regression's coefficients, from the development questions."""
        return (
            1.3 * self.covered
            + 0.8 * self.near
            + 1.0 * self.own
            + 1.0 * self.strongest
            + 1.0 * self.focus
            + 0.8 * self.names
            + 0.8 * self.match
            - 1.3 * self.missing
            - 0.6 * self.rarest_missing
            + 0.9 * self.length
            - 0.7 * self.number
            + 0.5 * self.thing
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """A sentence and how well it answers.

    Attributes:
        sound: Whether it has what the kind of question needs (number, unit, year, names).
        score: The evidence, about 0 to 8.
    """

    sentence: Sentence
    passage: ShownPassage
    sound: bool
    score: float

    @property
    def answers(self) -> bool:
        """Tell whether the sentence may be quoted as an answer."""
        return self.sound and self.score >= LEAST


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
        self._unit = re.compile(rf"\s*{question.units}(?![A-Za-z])") if question.units else None
        self._weights = {term.words: max(0.0, self._weighed(term)) for term in desk.terms}
        self._rarest = min(RAREST, rarity(1, desk.passages_in_library))
        self._total = sum(self._weights.values()) or 1.0
        self._telling = {
            term.words: self._weights[term.words] * _telling_share(term)
            for term in desk.terms
            if self._weights[term.words] and not _is_plain(term) and not self._is_unit(term)
        }
        self._names = [(name, self._spellings(name)) for name in question.names]
        self._titles = {paper.paper_id: tuple(stems(paper.title)) for paper in desk.papers.values()}
        self._focus = self._focus_terms()
        self._tables = {passage.passage_id for passage in self._named_tables()}

    def _named_tables(self) -> Iterator[ShownPassage]:
        """Yield the passages that are the table which the question names."""
        if self._question.table:
            label = re.compile(rf"(?i)^\W*(?:table|tab\.?|表)\s*{self._question.table}\b")
            for passage in self._desk.passages.values():
                if any(label.search(sentence.text) for sentence in passage.sentences[:2]):
                    yield passage

    def _weighed(self, term: Term) -> float:
        """Return a term's weight; words of the question before count little in a follow-up."""
        own = self._question.own
        said = not own or any(own.issuperset(p) for p in (*term.phrases, *term.related))
        return _weight(term) * (1.0 if said else EARLIER_SHARE)

    def _spellings(self, name: Name) -> tuple[tuple[str, ...], ...]:
        """Return the spellings that the search knows of a name, else the name alone."""
        for term in self._terms:
            if name.stems in term.phrases:
                digits = any(part.isdigit() for part in name.stems)
                return (
                    term.phrases if name.identifier and digits else (*term.phrases, *term.related)
                )
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
        return [term for term in self._terms if any(part in focus for part in term.phrases[0])]

    def _is_unit(self, term: Term) -> bool:
        """Tell whether a term is no more than the unit that the question wants."""
        return bool(self._unit and self._question.unit_named and self._unit.fullmatch(term.words))

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
            if term.count == 0
            and term.words.isascii()
            and not _is_plain(term)
            and not term.words.isdigit()  # 百万 was searched for as 1000000: not what was asked
        ]

    def asks_unseen(self) -> bool:
        """Tell whether the very thing asked for is never spoken of in the library."""
        telling = [term for term in self._focus if not _is_plain(term)]
        return any(term.count == 0 and not _is_compound(term) for term in telling[-1:])

    # --- sentences --------------------------------------------------------------------------------

    def judge(self) -> list[Judged]:
        """Return all sentences, best first."""
        judged = [
            self._judge(passage, index)
            for passage in self._desk.passages.values()
            for index in range(len(passage.sentences))
        ]
        return sorted(
            judged, key=lambda j: (-j.sound, -j.score, j.passage.passage_id, j.sentence.number)
        )

    def _judge(self, passage: ShownPassage, index: int) -> Judged:
        sentence = passage.sentences[index]
        rings = self._rings(passage, index)
        whole = passage.kind != "table" and len(sentence.stems) >= SHORT
        reach = {term.words: _reach(term, rings) for term in self._terms}
        near = {term.words: _reach(term, rings, width=2) for term in self._terms}
        own = {term.words: _reach(term, rings, width=1) for term in self._terms} if whole else near
        lost = {words: weight * _lost(reach[words]) for words, weight in self._telling.items()}
        evidence = Evidence(
            covered=self._held(reach),
            near=self._held(near),
            own=self._held(own),
            strongest=max((self._weights[w] * own[w] for w in own), default=0.0) / self._rarest,
            focus=(self._focused(rings, width=1 if whole else 2) + self._focused(rings)) / 2,
            names=self._named(passage, rings),
            match=passage.match,
            missing=sum(lost.values()) / (sum(self._telling.values()) or 1.0),
            rarest_missing=max(lost.values(), default=0.0) / self._rarest,
            length=min(len(self._telling), 8) / 8,
            number=self._question.number,
            thing=self._question.number or self._question.which,
        )
        # a number without a unit means what its own sentence says
        bare = self._question.number and not self._question.count and self._unit is None
        sound = (
            (not self._tables or passage.passage_id in self._tables)
            and not (len(self._telling) <= FEW and evidence.missing)
            and not (bare and whole and not self._focused(rings, width=1))
            and self._about_names(passage, index, rings)
            and self._kind(passage, index)
        )
        return Judged(sentence, passage, sound, evidence.score)

    def _named(self, passage: ShownPassage, rings: _Rings) -> float:
        around = (rings.own, rings.near, stems(passage.section), rings.title)
        there = [any(_stands(spelled, ring) for ring in around) for _, spelled in self._names]
        return sum(there) / len(there) if there else 1.0

    def _focused(self, rings: _Rings, *, width: int = 2) -> float:
        """Return how near the thing asked for is spoken of; 1 where none is known."""
        asked = [term for term in self._focus if not _is_plain(term)]
        return max((_reach(term, rings, width=width) for term in asked), default=1.0)

    def _held(self, reach: Mapping[str, float]) -> float:
        return sum(self._weights[words] * share for words, share in reach.items()) / self._total

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
            elif not any(
                _stands(spellings, r) for r in (rings.own, rings.near, section, rings.title)
            ):
                return False
        if not (self._question.number and objects) or passage.kind == "table":
            return True
        own = any(_stands(spellings, rings.own) for spellings in objects)
        return own or not _OBJECT.search(values.without_citations(passage.sentences[index].text))

    def _in_scope(
        self, passage: ShownPassage, index: int, spellings: Sequence[tuple[str, ...]]
    ) -> bool:
        """Tell whether a table's row is about a name, where the table has rows that name objects."""
        scope = _scope(passage, index)
        head = _head(passage)
        named = any(_stands(spellings, row.stems) for row in passage.sentences if row not in head)
        rows = (passage.sentences[index], *scope)
        return not (scope or named) or any(_stands(spellings, row.stems) for row in rows)

    def _kind(self, passage: ShownPassage, index: int) -> bool:
        """Tell whether a sentence has what the kind of question needs."""
        question = self._question
        table = passage.kind == "table"
        claims = values.claims(passage.sentences[index].text)
        if question.date:
            return values.holds_year(claims)
        if not question.number:
            return True
        if question.count:
            return values.holds_count(claims) and (table or self._counts(claims))
        if not values.holds_number(claims):
            return False
        if self._unit is None or values.holds_value(claims, self._unit):
            return True
        # a row may say its unit in its label or in the table's head
        return table and not question.unit_named and self._row_named(passage, index)

    def _row_named(self, passage: ShownPassage, index: int) -> bool:
        """Tell whether a table's row or the table's head names the property asked for."""
        rings = self._rings(passage, index)
        return any(_reach(term, rings, width=2) >= ROW_NAMED for term in self._focus)

    def _counts(self, claims: str) -> bool:
        """Tell whether the thing that is counted follows a number; in Chinese a measure word does."""
        things = [phrase for term in self._focus for phrase in (*term.phrases, *term.related)]
        return not things or self._question.language == "zh" or values.counts(claims, things)


def _lost(reach: float) -> float:
    """Return how much of a term is missing: half of it where only the head of a compound is there."""
    return 1.0 if not reach else 0.5 if reach <= HEAD_PART * NEAR_SHARE else 0.0


def _weight(term: Term) -> float:
    if term.count == 0:
        return UNSEEN if term.words.isascii() and not _is_plain(term) else 0.0
    weight = min(term.weight, RAREST)
    return weight * PLAIN_SHARE if _is_plain(term) else weight


def _telling_share(term: Term) -> float:
    if _is_compound(term):
        return COMPOUND
    return PLAIN_SHARE if _VERB.search(term.words) else 1.0


def _is_compound(term: Term) -> bool:
    first = term.phrases[0]
    return len(first) > 1 and all(part.isalpha() for part in first)


def _is_plain(term: Term) -> bool:
    return all(len(phrase) == 1 and phrase[0] in PLAIN for phrase in term.phrases[:1])


def _head(passage: ShownPassage) -> list[Sentence]:
    """Return the caption and the header of a table, as far as they were shown."""
    head: list[Sentence] = []
    for row in passage.sentences:
        if row.number > HEAD_ROWS or _RULE.fullmatch(row.text) or _is_label(row):
            break
        head.append(row)
    return head


def _scope(passage: ShownPassage, index: int) -> list[Sentence]:
    """Return the nearest row above a table's row that names an object and holds no value."""
    return [row for row in passage.sentences[:index] if _is_label(row)][-1:]


def _is_label(row: Sentence) -> bool:
    named = row.number > 1 and len(row.stems) <= LABEL_WORDS and _OBJECT.search(row.text)
    return bool(named) and not _ROW_VALUE.search(row.text)


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
        elif _is_compound(term):
            there = [part in tokens for part in term.phrases[0]]
            best = max(best, counts * (ALL_PARTS if all(there) else HEAD_PART * there[-1]))
    return best
