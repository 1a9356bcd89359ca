"""Writes an ADS query as a `search_query` of the arXiv API, and says what arXiv cannot be asked.

arXiv knows words of title, abstract, authors, comments, journal reference, category and report
number, joined by AND, OR, ANDNOT, and the day of submission. What it does not know is asked wider
(never narrower) and named, so that the caller can filter the answers.

Source: the arXiv API user's manual.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from nuncius.core.identifiers import find_arxiv_id
from nuncius.core.text import LETTERS
from nuncius.sources.ads_clauses import Span, quoted
from nuncius.sources.ads_dates import days_of
from nuncius.sources.ads_grammar import Call, Fault, Joined, Negated, Node, Term, parse
from nuncius.sources.ads_query import AdsQuery
from nuncius.sources.object_names import printed_names

_FIELDS = {
    "": "all",
    "abs": "all",
    "keyword": "all",
    "full": "all",
    "body": "all",
    "object": "all",
    "title": "ti",
    "abstract": "abs",
    "arxiv_class": "cat",
}
_WIDER = frozenset({"full", "body", "object", "keyword"})
_DATES = frozenset({"year", "pubdate", "date", "entdate", "entry_date"})
_CHECKABLE = frozenset(
    {
        "",
        "abs",
        "author",
        "first_author",
        "title",
        "abstract",
        "year",
        "pubdate",
        "bibstem",
        "author_count",
        "doi",
        "keyword",
        "arxiv_class",
    }
)
"""Fields that an answer of arXiv has enough of to judge."""
_ALWAYS = frozenset(
    {
        ("doctype", "eprint"),
        ("property", "eprint"),
        ("property", "openaccess"),
        ("property", "eprint_openaccess"),
        ("doctype", "article"),
        ("property", "article"),
    }
)
"""What holds, or may hold, for every paper on arXiv."""
_FIRST_DAY = date(1991, 7, 1)


@dataclass(frozen=True, slots=True)
class Unasked:
    """A constraint that arXiv was not asked, or only in a wider form.

    Attributes:
        query: The constraint in ADS syntax.
        node: The same, parsed.
        checkable: Whether title, authors, dates or journal reference of an answer can decide it;
            else the caller can only say that it was not applied.
    """

    query: str
    node: Node
    checkable: bool


@dataclass(frozen=True, slots=True)
class ArxivQuery:
    """A request as arXiv will be asked it.

    Attributes:
        search_query: The raw string, not percent-encoded; empty where arXiv has nothing to answer.
        id_list: arXiv identifiers that the request names.
        unasked: What the caller has to filter or to report.
    """

    search_query: str
    id_list: tuple[str, ...] = ()
    unasked: tuple[Unasked, ...] = ()


@dataclass(slots=True)
class _Writer:
    today: date
    ids: list[str] = field(default_factory=list[str])
    unasked: list[Unasked] = field(default_factory=list[Unasked])
    hopeless: bool = False

    def skip(self, node: Node, *, checkable: bool | None = None) -> None:
        if checkable is None:
            part = node.part if isinstance(node, Negated) else node
            checkable = isinstance(part, Term) and (
                part.field in _CHECKABLE
                or (part.field, part.text.lower()) == ("property", "refereed")
            )
        self.unasked.append(Unasked(spell_node(node), node, checkable))

    def write(self, node: Node) -> str:
        """Return the arXiv form of a node, or an empty string where it has none."""
        if isinstance(node, Term):
            return self.term(node)
        if isinstance(node, Call):
            return self.call(node)
        if isinstance(node, Negated):
            return ""  # only within a conjunction, see `conjunction`
        if node.operator == "OR":
            return self.disjunction(node)
        if node.operator.startswith("NEAR"):
            self.skip(node, checkable=True)
        return self.conjunction(node.parts)

    def disjunction(self, node: Joined) -> str:
        before = len(self.unasked)
        parts = [self.write(part) for part in node.parts]
        if not all(parts):  # a choice that cannot be asked leaves the whole choice open
            del self.unasked[before:]
            self.skip(node)
            return ""
        if len(self.unasked) > before:
            del self.unasked[before:]
            self.skip(node, checkable=True)
        return f"({' OR '.join(parts)})"

    def conjunction(self, parts: tuple[Node, ...], *, bare: bool = False) -> str:
        wanted: list[str] = []
        unwanted: list[str] = []
        for part in parts:
            if not isinstance(part, Negated):
                wanted.append(self.write(part))
                continue
            before = len(self.unasked)
            text = self.write(part.part)
            if len(self.unasked) > before or not text:  # a wider "not" would lose papers
                del self.unasked[before:]
                self.skip(part)
            else:
                unwanted.append(text)
        wanted = [text for text in wanted if text]
        if unwanted and not wanted:  # ANDNOT needs something before it: everything
            wanted = [_days(_FIRST_DAY, self.today.replace(year=self.today.year + 1, day=1))]
        text = " AND ".join(wanted) + "".join(f" ANDNOT {text}" for text in unwanted)
        return f"({text})" if len(wanted) + len(unwanted) > 1 and not bare else text

    def term(self, term: Term) -> str:
        if term.text == "*:*":
            return ""
        name = term.field
        value = term.text.strip()
        if (name, value.lower()) in _ALWAYS:
            return ""
        if name in _DATES:
            return self.dates(term)
        if name in {"arxiv", "identifier", "doi", "bibcode"}:
            found = find_arxiv_id(value)
            if found:
                self.ids.append(found)
                return ""
        if name in {"database", "collection"} and value.lower() == "astronomy":
            return "cat:astro-ph*"
        if name in {"author", "first_author"}:
            return self.author(term)
        if name not in _FIELDS or term.form in {"range", "regex"}:
            self.skip(term)
            return ""
        if name in _WIDER or term.exact:
            self.skip(term)
        if name == "object":
            return _either(_text("all", printed) for printed in printed_names(value))
        if name == "arxiv_class":
            return f"cat:{re.sub(r'[^A-Za-z.*-]', '', value)}"
        return _text(_FIELDS[name], value)

    def author(self, term: Term) -> str:
        surname, _, given = term.text.partition(",")
        if given.strip() or term.first or term.field == "first_author" or term.exact:
            self.skip(term, checkable=True)
        return _text("au", surname)

    def dates(self, term: Term) -> str:
        """Ask for the day of submission; years of publication reach a year further on both sides."""
        low, high = _ends(term)
        try:
            first, last = days_of(Span(term.field, low, high), today=self.today)
        except ValueError:  # NOW/DAY and other arithmetic of Solr
            self.skip(term)
            return ""
        if term.field in {"year", "pubdate", "date"}:
            self.skip(term, checkable=True)
            first = date(max(first.year - 1, 1), first.month, 1) if first else None
            last = (
                date(min(last.year + 1, 9998), last.month, 28 if last.month == 2 else last.day)
                if last
                else None
            )
        return _days(first or _FIRST_DAY, last or date(self.today.year + 1, 12, 31))

    def call(self, call: Call) -> str:
        name = call.name
        query = next((part for part in call.arguments if not isinstance(part, str)), None)
        self.skip(call, checkable=name == "pos")
        if query is None or name in {
            "citations",
            "references",
            "docs",
            "joincitations",
            "joinreferences",
        }:
            self.hopeless = True  # what else is asked says nothing of these papers
            return ""
        inside = self.write(query) if not isinstance(query, Negated) else ""
        if name == "reviews" and inside:
            return f"({inside} AND (ti:review OR abs:review))"
        return inside


def _text(name: str, value: str) -> str:
    """Return ``name:"value"``; arXiv has no escapes, so quotes and backslashes become spaces."""
    words = re.sub(r"[\"\\]+", " ", value).split()
    plain = " ".join(word for word in words if re.search(r"\w", word))
    return _either(_form(name, form) for form in (plain, _without_accents(plain))) if plain else ""


def _either(texts: Iterable[str]) -> str:
    forms = [text for text in dict.fromkeys(texts) if text]
    return "".join(forms) if len(forms) < 2 else f"({' OR '.join(forms)})"


def _form(name: str, plain: str) -> str:
    bare = re.fullmatch(r"[\w.-]+\*?", plain) and plain.upper() not in {"AND", "OR", "ANDNOT", "TO"}
    return f"{name}:{plain}" if bare else f'{name}:"{plain}"'


def _without_accents(text: str) -> str:
    """Return Latin letters without accents: arXiv keeps names as they were submitted, with or without."""
    apart = unicodedata.normalize("NFD", text.translate(LETTERS))
    bare = re.sub(r"(?<=[A-Za-z])[\u0300-\u036f]+", "", apart)
    return unicodedata.normalize("NFC", bare)


def _days(first: date, last: date) -> str:
    return f"submittedDate:[{first:%Y%m%d}0000 TO {last:%Y%m%d}2359]"


def _ends(term: Term) -> tuple[str, str]:
    if term.form == "range":
        return term.low, term.high
    value = term.text.strip()
    if match := re.fullmatch(r"(\d{4})?-(\d{4})?", value):
        return match[1] or "*", match[2] or "*"
    if match := re.fullmatch(r"(\d+)[*?]+", value):  # 199? and 20*
        return match[1].ljust(4, "0"), match[1].ljust(4, "9")
    return value, value


def spell_node(node: Node) -> str:
    """Return a parsed query in ADS syntax."""
    if isinstance(node, Negated):
        return f"-{spell_node(node.part)}"
    if isinstance(node, Call):
        arguments = [part if isinstance(part, str) else spell_node(part) for part in node.arguments]
        return f"{node.name}({', '.join(arguments)})"
    if isinstance(node, Joined):
        between = " " if node.operator == "BESIDE" else f" {node.operator} "
        return f"({between.join(spell_node(part) for part in node.parts)})"
    head = f"{'=' if node.exact else ''}{node.field}{':' if node.field else ''}"
    if node.form == "range":
        return f"{head}{node.text}"
    if node.form == "regex":
        return f"{head}/{node.text}/"
    if node.form == "word" and not node.first and re.fullmatch(r"[\w.*?-]+", node.text):
        return head + node.text
    return head + quoted(("^" if node.first else "") + node.text)


def arxiv_query(query: AdsQuery, *, today: date | None = None) -> ArxivQuery:
    """Write `query` for the arXiv API.

    Args:
        query: The request as ADS is asked it; without faults.
        today: For relative dates; by default today in UTC.

    Returns:
        The raw `search_query`. It is empty where nothing of the request can be asked, such as for
        papers that cite others: then arXiv is not worth a call, unless `id_list` has identifiers.
    """
    writer = _Writer(today or datetime.now(UTC).date())
    trees = [parse(text) for text in (query.q, *query.fq)]
    nodes = tuple(part for tree in trees if not isinstance(tree, Fault) for part in _flat(tree))
    text = writer.conjunction(nodes, bare=True)
    return ArxivQuery(
        "" if writer.hopeless else text,
        tuple(dict.fromkeys(writer.ids)),
        tuple(dict.fromkeys(writer.unasked)),
    )


def _flat(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Joined) and node.operator in {"AND", "BESIDE"}:
        return tuple(part for child in node.parts for part in _flat(child))
    return (node,)
