"""How alike two records are: their titles, their people, what kind of work they say they are."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from nuncius.core.papers import Author
from nuncius.core.records import Record
from nuncius.core.text import LETTERS

_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_TEX = re.compile(r"\\[A-Za-z]+|[{}$^_~]")
_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"(?=[ivx])x{0,3}(?:ix|iv|v?i{0,3})")
_EPRINT_BIBCODE = re.compile(
    r"\d{4}arXiv|\d{4}(?:astro|math|hep|gr|cond|quant|nucl|physi)[.a-z]*\.\w"
)
_MEETING = re.compile(
    r"\d{4}(?:AAS|DPS|AGUFM|APS|BAAS|EGUGA|EPSC|LPI|cosp|IAUGA|HEAD|SPD|DDA|ESS|MPEC)[.\d]"
)
_IGNORED = re.IGNORECASE
_NOTICES = (
    (
        "erratum",
        re.compile(
            r"\b(?:errat(?:um|a)|corrigend(?:um|a)|addend(?:um|a))\b|^corrections?(?: to\b|:)"
            r"|^(?:author|publisher)(?:'s)? correction\b",
            _IGNORED,
        ),
    ),
    ("retraction", re.compile(r"^retraction\b|\bretraction note\b", _IGNORED)),
    ("comment", re.compile(r"^(?:a )?comments? on\b|^matters arising\b", _IGNORED)),
    ("reply", re.compile(r"^(?:a )?(?:reply|response|replies) to\b|^reply\b", _IGNORED)),
)
_MEETING_TYPES = frozenset({"abstract", "talk", "proceedings"})
_OWN_TYPES = frozenset(
    """phdthesis mastersthesis proposal software catalog dataset book bookreview newsletter
    pressrelease circular obituary""".split()
)
_GENERIC = 4
"""A title of fewer words does not tell one work from another."""


@dataclass(frozen=True)
class Profile:
    """What is compared of a record; computed once."""

    record: Record

    @cached_property
    def words(self) -> tuple[str, ...]:
        return title_words(self.record.title)

    @cached_property
    def counters(self) -> frozenset[str]:
        """Return the title's numbers, and the Roman ones that tell parts of a series."""
        digits = _DIGITS.findall(" ".join(self.words))
        return frozenset((*digits, *filter(is_roman, self.words)))

    @cached_property
    def people(self) -> tuple[str, ...]:
        return tuple(family_name(author.name) for author in self.record.authors)

    @cached_property
    def notice(self) -> str:
        """Return ``erratum``, ``retraction``, ``comment``, ``reply``, or nothing for a work itself."""
        title = self.record.title.strip()
        found = next((kind for kind, pattern in _NOTICES if pattern.search(title)), "")
        return found or ("erratum" if self.record.doctype == "erratum" else "")

    @cached_property
    def is_eprint(self) -> bool:
        record = self.record
        if record.source == "arxiv" or record.doctype == "eprint":
            return True
        return bool(record.bibcodes) and all(map(_EPRINT_BIBCODE.match, record.bibcodes[:1]))

    @cached_property
    def form(self) -> str:
        """Return what the work is: ``paper``, ``meeting``, or a form that never is another's preprint."""
        record = self.record
        if record.doctype in _OWN_TYPES:
            return record.doctype
        if any(map(_MEETING.match, record.bibcodes)):
            return "meeting"
        return "meeting" if record.doctype in _MEETING_TYPES else "paper"

    @cached_property
    def journal_dois(self) -> frozenset[str]:
        return frozenset(doi for doi in self.record.dois if not is_arxiv_doi(doi))

    @cached_property
    def abstract_words(self) -> frozenset[str]:
        return frozenset(word for word in title_words(self.record.abstract) if len(word) > 3)

    @property
    def is_generic(self) -> bool:
        return len(self.words) < _GENERIC


def same_title(one: Profile, other: Profile) -> bool:
    """Tell whether two titles are one, whatever the spelling."""
    return bool(one.words) and (
        one.words == other.words or "".join(one.words) == "".join(other.words)
    )


def likeness(one: Sequence[str] | frozenset[str], other: Sequence[str] | frozenset[str]) -> float:
    """Return how much of the words two texts share: 0 to 1."""
    first, second = set(one), set(other)
    return len(first & second) / len(first | second) if first and second else 0.0


def title_words(text: str) -> tuple[str, ...]:
    """Return a title's words, folded: case, accents, tags and TeX are gone."""
    text = _TEX.sub(" ", _TAG.sub("", text))
    if not text.isascii():
        folded = unicodedata.normalize("NFKD", text.translate(LETTERS))
        text = "".join(c for c in folded if not unicodedata.combining(c))
    return tuple(_WORD.findall(text.casefold()))


@lru_cache(maxsize=8192)
def family_name(name: str) -> str:
    """Return the folded family name of ``Last, First`` or ``First Last``; of a group, all of it."""
    return "".join(title_words(Author.model_construct(name=name).last_name))


def same_people(one: Profile, other: Profile) -> bool:
    """Tell whether the works may have the same authors: the first agrees and most of the rest."""
    if not one.people or not other.people or one.people[0] != other.people[0]:
        return False
    fewer, more = sorted((set(one.people), set(other.people)), key=len)
    return len(fewer & more) >= 0.6 * len(fewer)


def is_roman(word: str) -> bool:
    """Tell whether a folded word is a Roman numeral up to 39, as parts of a series are counted."""
    return _ROMAN.fullmatch(word) is not None


def is_arxiv_doi(doi: str) -> bool:
    """Tell whether a DOI is arXiv's own."""
    return doi.startswith("10.48550/arxiv.")
