"""Does a record hold what was asked for? Services that cannot be asked everything are filtered here."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nuncius.core.records import Record
from nuncius.library.alike import family_name, title_words
from nuncius.sources.ads_grammar import Call, Joined, Negated, Node, Term
from nuncius.sources.object_names import with_greek_in_words

_YEAR = re.compile(r"\d{4}")
_RUN = re.compile(r"[^\W\d_]+|\d+")
_MONTH = re.compile(r"(\d{4})-(\d{2})")


@dataclass(frozen=True, slots=True)
class Filters:
    """What was asked for beside the words; every record that is shown holds all of it.

    Attributes:
        authors: Each must be among the authors; a leading ``^`` asks for the first one.
        target: An astronomical object.
        aliases: Other names of it; one of them must stand in title or abstract where no service
            vouches for the object.
    """

    authors: tuple[str, ...] = ()
    year_from: int | None = None
    year_to: int | None = None
    refereed: bool | None = None
    target: str = ""
    aliases: tuple[str, ...] = ()

    def fault(self, record: Record, *, vouched: bool) -> str:
        """Return which filter a record does not hold, or nothing.

        Args:
            vouched: A service that understands all filters gave it.
        """
        if self.year_from is not None and (record.year is None or record.year < self.year_from):
            return "year"
        if self.year_to is not None and (record.year is None or record.year > self.year_to):
            return "year"
        if self.refereed is not None and is_refereed(record) is not self.refereed:
            return "refereed"
        if not vouched and not all(has_author(record, name) for name in self.authors):
            return "author"
        if self.target and not vouched and not speaks_of(record, (self.target, *self.aliases)):
            return "object"
        return ""


def is_refereed(record: Record) -> bool:
    """Tell whether a record is of refereed work; where nobody says, a journal's reference tells."""
    if record.refereed is not None:
        return record.refereed
    return bool(record.journal) and record.doctype in {"", "article", "eprint"}


def has_author(record: Record, name: str) -> bool:
    """Tell whether a person is among the authors: the family name, and what is known of the rest."""
    people = record.authors[:1] if name.startswith("^") else record.authors
    wanted = name.removeprefix("^")
    return any(same_person(wanted, author.name) for author in people)


def same_person(wanted: str, listed: str) -> bool:
    """Tell whether two names may be one person's: the family name, and initials as far as told."""
    if family_name(wanted) != family_name(listed):
        # a family name of two words, without a comma
        return "," not in wanted and "".join(title_words(wanted)) == family_name(listed)
    first, other = _initials(wanted), _initials(listed)
    return all(a == b for a, b in zip(first, other, strict=False))


def _initials(name: str) -> str:
    rest = name.partition(",")[2] if "," in name else " ".join(name.split()[:-1])
    return "".join(word[0] for word in title_words(rest))


def speaks_of(record: Record, names: Sequence[str]) -> bool:
    """Tell whether title or abstract name an object, by any of its names."""
    have = _runs(f"{record.title} {record.abstract}")
    return any(len(wanted := _runs(name)) > 2 and wanted in have for name in names)


def _runs(text: str) -> str:
    """Return a text's runs of letters and of digits, with spaces between: ``M31`` as ``M 31``."""
    return f" {' '.join(_RUN.findall(' '.join(title_words(with_greek_in_words(text)))))} "


def holds(record: Record, node: Node, names: Sequence[str] = ()) -> bool | None:
    """Tell whether a record holds a constraint in ADS syntax; None where it does not tell.

    Args:
        names: Other names of the object that is asked for.
    """
    match node:
        case Negated():
            inner = holds(record, node.part, names)
            return None if inner is None else not inner
        case Joined():
            return _joined(node.operator, [holds(record, part, names) for part in node.parts])
        case Call():
            return None
        case Term(field="object"):
            return speaks_of(record, (node.text.strip('"'), *names))
        case Term():
            return _term(record, node)


def _joined(operator: str, told: Iterable[bool | None]) -> bool | None:
    told = list(told)
    if operator == "OR":
        return True if True in told else None if None in told else False
    return False if False in told else None if None in told else True


def _term(record: Record, term: Term) -> bool | None:
    text = term.text.strip('"')
    match term.field:
        case "year" | "pubdate":
            return _in_time(record, term)
        case "author" | "first_author":
            first = term.first or term.field == "first_author"
            return has_author(record, f"^{text}" if first else text) if record.authors else None
        case "title":
            return _says(record.title, text)
        case "abs" | "":
            return _says(f"{record.title} {record.abstract} {' '.join(record.keywords)}", text)
        case "abstract":
            return _says(record.abstract, text) if record.abstract else None
        case "property" if text.lower() in {"refereed", "notrefereed"}:
            return is_refereed(record) == (text.lower() == "refereed")
        case "doctype" if record.doctype:
            return record.doctype == text or (text == "article" and is_refereed(record))
        case "doi":
            return text.lower() in record.dois if record.dois else None
        case "arxiv_class":
            return text in record.categories if record.categories else None
        case _:
            return None


def _in_time(record: Record, term: Term) -> bool | None:
    """Compare years, and months where both sides tell one."""
    low, high = (term.low, term.high) if term.form == "range" else (term.text, term.text)
    if record.year is None:
        return None
    told = _MONTH.match(record.date)
    for edge, is_low in ((low, True), (high, False)):
        year = _YEAR.search(edge)
        if not year:
            continue  # open
        bound, value = int(year[0]), record.year
        month = _MONTH.match(edge)
        if month and told and told[2] != "00" and month[2] != "00" and bound == value:
            bound, value = int(month[2]), int(told[2])
        if (value < bound) if is_low else (value > bound):
            return False
    return True


def _says(text: str, wanted: str) -> bool:
    have = f" {' '.join(title_words(text))} "
    words = title_words(wanted.replace("*", ""))
    if "*" in wanted:
        return all(f" {word}" in have for word in words)
    return f" {' '.join(words)} " in have
