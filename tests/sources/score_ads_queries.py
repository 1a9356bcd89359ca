"""Scores the translation of words into ADS syntax on pairs of requests and queries.

The pairs are in ``../shared/data/ads_queries/gold_examples.json`` (keys ``natural_language``,
``ads_query``, ``category``). A hash of the request decides between the part to develop on and the
part that is held back: of the latter only sums are printed. ``wrong_pairs.txt`` beside this file
lists pairs of the first part whose query is plainly wrong; `faults_of` names the kinds by which
such pairs are recognised without looking at what nuncius makes of them.

A constraint is a field with a normalised value, inside the functions around it. Normalised means:
no case, accents, quotes or order; stems; surname with first initial; `pubdate` and `year` ranges
alike, an end in or after 2023 open; spellings of one filter alike; ``doctype:article`` left out.

    python tests/sources/score_ads_queries.py --part dev --show 20
"""

import argparse
import hashlib
import json
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from nuncius.core.stem import stem
from nuncius.sources.ads_grammar import Fault, Joined, Negated, Node, Term, parse, validate
from nuncius.sources.ads_query import translate

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[2] / "shared" / "data" / "ads_queries" / "gold_examples.json"
TODAY = date(2026, 1, 22)
"""The pairs were made about then: their "recent" ends in 2025 or 2026."""

Constraint = tuple[str, str, str]
"""The functions around (with a leading "-" where unwanted), the field, the value."""

_TEXT = {"abs", "title", "abstract", "full", "body"}
_FIELDS = {
    "collection": "database", "doi": "identifier", "arxiv": "identifier", "bibcode": "identifier",
    "abstract": "abs", "": "abs", "pubdate": "year", "simbad": "object", "first_author": "author",
    "institution": "aff", "inst": "aff",
}  # fmt: skip
_SAME = {
    "bibstem": {"nature": "natur", "science": "sci", "icarus": "icar"},
    "aff": {"europeansouthernobservatory": "eso", "universityofcambridge": "cambridge"},
    "bibgroup": {"eso/telescopes": "eso"},
    "object": {"crabnebula": "m1", "orionnebula": "m42", "andromeda": "m31"},
    "property": {"librarycatalog": "library_catalog", "ocrabstract": "ocr_abstract"},
}
_PARTICLES = {"van", "von", "del", "dos", "della", "der", "den", "bin", "ben", "ter"}
_KIND_AS_PROPERTY = {"software", "catalog", "inproceedings", "eprint"}
"""ADS spells these as `doctype`; the pairs use `property` and `doctype` for the same words."""


@dataclass(frozen=True)
class Pair:
    """A request, the query that somebody wrote for it, and a short name for both."""

    request: str
    query: str
    category: str

    @property
    def id(self) -> str:
        return hashlib.sha256(f"{self.request}\n{self.query}".encode()).hexdigest()[:12]

    @property
    def part(self) -> str:
        """Held back are three of ten, by the request alone: equal requests stay together."""
        digest = hashlib.sha256(self.request.strip().lower().encode()).hexdigest()
        return "dev" if int(digest[:8], 16) % 10 < 7 else "held"


def load(path: Path = DATA) -> list[Pair]:
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return [Pair(row["natural_language"], row["ads_query"], row["category"]) for row in rows]


def listed_wrong() -> set[str]:
    lines = (HERE / "wrong_pairs.txt").read_text(encoding="utf-8").splitlines()
    return {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}


def _fold(text: str) -> str:
    bare = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in bare if not unicodedata.combining(char))


def _words(text: str) -> list[str]:
    return [stem(word) for word in re.findall(r"[^\W_]+", _fold(text))]


def _author(text: str) -> str:
    surname, _, given = _fold(text).strip(' ^,."').partition(",")
    if not given and (match := re.fullmatch(r"(.+?)\s+((?:[a-z]\.?\s*){1,3})", surname)):
        surname, given = match[1], match[2]
    if (
        not given
        and re.fullmatch(r"[a-z]{3,} [a-z][a-z-]+", surname)
        and surname.split()[0] not in _PARTICLES
    ):
        given, surname = surname.split()
    surname = re.sub(r"[^\w]", "", surname)
    initial = re.search(r"\w", given)
    return f"{surname}|{initial[0] if initial else ''}"


def _end(text: str, *, last: bool) -> str:
    text = text.strip().strip('"')
    if text in {"", "*"} or (last and text[:4].isdigit() and int(text[:4]) >= 2023):
        return "*"
    if re.fullmatch(r"\d{4}-(?:12|01|00)", text):
        month = text[5:]
        return text[:4] if (month == "12") == last or month == "00" else text
    return text


def _dates(term: Term) -> str:
    if term.form == "range":
        low, high = term.low, term.high
    elif match := re.fullmatch(r"(\d{4})?-(\d{4})?", term.text.strip()):
        low, high = match[1] or "*", match[2] or "*"
    else:
        low = high = term.text
        if re.fullmatch(r"\d{4}", term.text.strip()):
            return f"{term.text.strip()}..{term.text.strip()}"
    same = low.strip()[:4] == high.strip()[:4]
    low, high = _end(low, last=False), high.strip()[:4] if same else _end(high, last=True)
    return f"{low}..{high}"


def _of_term(term: Term, around: str) -> Iterable[Constraint]:
    name = _FIELDS.get(term.field, term.field)
    first = term.first or term.field == "first_author"
    if term.first and not term.field:
        name = "author"
    if name == "year":
        yield around, name, _dates(term)
    elif name == "author":
        yield around, name, ("^" if first else "") + _author(term.text)
    elif name in _TEXT or name == "keyword":
        for word in _words(term.text):
            yield around, name, word
    elif term.form == "range":
        yield around, name, f"{term.low}..{term.high}"
    else:
        value = re.sub(r"[\s_]+", "_" if name == "property" else "", _fold(term.text))
        value = _SAME.get(name, {}).get(value, value)
        if name == "identifier":
            value = re.sub(r"â€¦|…", "...", value).replace("&amp;", "&").replace("%26", "&")
        if name == "property" and value in _KIND_AS_PROPERTY:
            name = "doctype"
        if (name, value) != ("doctype", "article"):
            yield around, name, value


def constraints(node: Node, around: str = "") -> set[Constraint]:
    """Return what a parsed query asks for; alternatives count like things that must all hold."""
    if isinstance(node, Term):
        return set() if node.text == "*:*" else set(_of_term(node, around))
    if isinstance(node, Negated):
        return constraints(node.part, f"-{around}")
    if isinstance(node, Joined):
        found = {c for part in node.parts for c in constraints(part, around)}
        return found | ({(around, "near", "")} if node.operator.startswith("NEAR") else set())
    found: set[Constraint] = {(around, node.name, "")}
    inner = f"{around}{node.name}/"
    for argument in node.arguments:
        if not isinstance(argument, str):
            found |= constraints(argument, inner)
    return found


def by_phrase(found: set[Constraint]) -> set[Constraint]:
    """Put the words of one field together: the whole topic is one constraint."""
    topics: dict[tuple[str, str], set[str]] = {}
    kept: set[Constraint] = set()
    for around, name, value in found:
        if name in _TEXT:
            topics.setdefault((around, name), set()).add(value)
        else:
            kept.add((around, name, value))
    return kept | {
        (around, name, " ".join(sorted(values))) for (around, name), values in topics.items()
    }


def read_query(query: str) -> set[Constraint]:
    """Return the constraints of a query; stray commas and colons of the pairs are forgiven."""
    tree = parse(query)
    if isinstance(tree, Fault):
        tree = parse(re.sub(r",|(?<![A-Za-z_]):", " ", query))
    return set() if isinstance(tree, Fault) else constraints(tree)


_SAID_AS_DATE = re.compile(
    (
        r"recent|new\b|newest|latest|last|past|this|since|decade|\d0['’]?s|today|now|onwards|ago"
        r"|until|before|after|present"
    ),
    re.IGNORECASE,
)
_SAID_AS_FIRST = re.compile(r"first|lead|\^|1st", re.IGNORECASE)
_FILTER_WORDS = frozenset(
    _words(
        """
        paper papers article articles publication publications work works study studies research literature result results
        review reviews reviewing overview tutorial survey preprint preprints observations data bibgroup bibliography by from
        on in about of the a an and or to for with using at show me find get list give search looking for i want need any
        good recent new latest top best most cited citing cite cites citations references reference similar trending hot
        popular useful helpful foundational seminal must read key methodology common highly influential refereed peer
        reviewed reviews open access openaccess only year years between since before after last past this published first
        author authors lead as that are is were what s which who whats literature right now discoveries interested limit
        collection database journal journals proceedings thesis theses releases release related discussing covering no not
        non excluding without title abstract full text keyword exactly exact word words within near affiliation affiliated
        does do has have been it its their there them these those published written through 's how why some please topics
        papers currently being week month today entries records record doi identifier arxiv bibcode id comparable like
        """
    )
)
_CLOSED = {
    "property",
    "doctype",
    "database",
    "bibgroup",
    "bibstem",
    "aff",
    "inst",
    "object",
    "arxiv_class",
    "data",
}


def faults_of(pair: Pair) -> list[str]:
    """Name the kinds of noise in a pair, from the request and the given query alone."""
    kinds: list[str] = []
    if validate(pair.query):
        kinds.append("invalid syntax")
    if "docs(" in pair.query:
        kinds.append("private library")
    if "PLACEHOLDER" in pair.query:
        kinds.append("placeholder")
    found = read_query(pair.query)
    said = set(_words(pair.request)) | set(re.findall(r"[^\W_]+", _fold(pair.request)))
    joined = re.sub(r"[^\w]", "", _fold(pair.request))
    for around, name, value in sorted(found):
        kind = _added(pair.request, name, value, said, joined)
        if kind and not (around.startswith("topn") and name == "author_count"):
            kinds.append(kind)
    if " OR " in pair.query and not re.search(r"\bor\b|/", pair.request, re.IGNORECASE):
        kinds.append("OR that nobody said")
    if _lost(pair, found):
        kinds.append("words lost")
    return sorted(set(kinds))


def _added(request: str, name: str, value: str, said: set[str], joined: str) -> str:
    if name == "author":
        surname, _, initial = value.lstrip("^").partition("|")
        if value.startswith("^") and not _SAID_AS_FIRST.search(request):
            return "first author that nobody said"
        if surname not in joined:
            return "author that nobody said"
        rest = re.findall(r"[^\W_]+", re.sub(r"['’]s\b", " ", _fold(request)).replace(surname, " "))
        rest = [word for word in rest if stem(word) not in _FILTER_WORDS or len(word) == 1]
        if initial and not any(word.startswith(initial) for word in rest):
            return "initial that nobody said"
        if not initial and re.search(rf"{surname},?\s+[a-z]\.?(?:\s|$)", _fold(request)):
            return "initial lost"
    if name == "title" and not re.search(r"titl|[\"“:]", request):
        return "title that nobody said"
    if name in {"full", "body"} and not re.search(r"text|body|mention|[\"“:]", request):
        return "full text that nobody asked for"
    if (
        name == "abs"
        and re.fullmatch(r"(?:19|20)\d\d", value)
        and re.search(r"\bby\b|first author", request)
    ):
        return "year as a word"
    if name in _TEXT and value not in said and not any(value in word for word in said):
        return "words that nobody said"
    if name == "year" and not _SAID_AS_DATE.search(request):
        years = set(re.findall(r"\d{4}", value))
        if not years <= set(re.findall(r"\d{4}", request)):
            return "year that nobody said"
    if name == "year" and re.search(r"\bsince\b|onwards", request) and not value.endswith("*"):
        return "year that nobody said"
    if (name, value) == ("property", "refereed") and not re.search(
        r"referee|peer", request, re.IGNORECASE
    ):
        return "refereed that nobody said"
    return ""


def _lost(pair: Pair, found: set[Constraint]) -> bool:
    """Tell whether the query leaves words of the topic out and has no filter that could mean them."""
    if any(name in _CLOSED - {"property", "doctype"} for _, name, _ in found):
        return False
    kept = set(_words(pair.query)) | _FILTER_WORDS
    words = [word for word in _words(pair.request) if not word.isdigit() and len(word) > 1]
    lost = [
        word
        for word in words
        if word not in kept and not any(word in other for other in kept if len(word) > 3)
    ]
    filters = any(name in {"property", "doctype"} for _, name, _ in found)
    return bool(lost) and not filters


@dataclass
class Sums:
    """Counts over pairs; F1 is micro-averaged over constraints."""

    pairs: int = 0
    valid: int = 0
    exact: int = 0
    hit: int = 0
    made: int = 0
    given: int = 0
    hit_phrases: int = 0
    made_phrases: int = 0
    given_phrases: int = 0
    slowest_ms: float = 0.0
    by_field: Counter[str] = field(default_factory=Counter[str])

    @property
    def f1(self) -> float:
        return 2 * self.hit / max(self.made + self.given, 1)

    @property
    def f1_phrases(self) -> float:
        return 2 * self.hit_phrases / max(self.made_phrases + self.given_phrases, 1)

    def __str__(self) -> str:
        return (
            f"{self.pairs} pairs, valid {100 * self.valid / max(self.pairs, 1):.1f} %, F1 "
            f"{self.f1:.3f} (topic word by word)"
            f" / {self.f1_phrases:.3f} (topic as one), exact "
            f"{100 * self.exact / max(self.pairs, 1):.1f} %, slowest {self.slowest_ms:.1f} ms"
        )


def score(
    pairs: Iterable[Pair],
    misses: list[tuple[Pair, str, set[Constraint], set[Constraint]]] | None = None,
) -> Sums:
    """Translate every request and compare with the given query."""
    sums = Sums()
    for pair in pairs:
        start = time.perf_counter()
        made_query = translate(pair.request, today=TODAY)
        sums.slowest_ms = max(sums.slowest_ms, 1000 * (time.perf_counter() - start))
        q = " ".join([made_query.q, *made_query.fq])
        sums.pairs += 1
        sums.valid += not any(validate(part) for part in (made_query.q, *made_query.fq))
        given, made = read_query(pair.query), read_query(q)
        sums.hit += len(given & made)
        sums.made += len(made)
        sums.given += len(given)
        given, made = by_phrase(given), by_phrase(made)
        sums.hit_phrases += len(given & made)
        sums.made_phrases += len(made)
        sums.given_phrases += len(given)
        sums.exact += given == made
        for _, name, _ in given ^ made:
            sums.by_field[name] += 1
        if misses is not None and given != made:
            misses.append((pair, q, given, made))
    return sums


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=["dev", "held"], default="dev")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--show", type=int, default=0, help="print so many misses (of dev only)")
    parser.add_argument("--category", default="")
    chosen = parser.parse_args()
    pairs = [pair for pair in load(chosen.data) if pair.part == chosen.part]
    wrong = listed_wrong() if chosen.part == "dev" else set[str]()
    kinds = {pair.id: faults_of(pair) for pair in pairs}
    added = [
        pair for pair in pairs if not set(kinds[pair.id]) - {"words lost"} and pair.id not in wrong
    ]
    clean = [pair for pair in added if not kinds[pair.id]]
    score(pairs[:20])  # reads the tables
    print(f"{chosen.part}, all:                       {score(pairs)}")
    print(f"{chosen.part}, nothing that nobody said:  {score(added)}")
    misses: list[tuple[Pair, str, set[Constraint], set[Constraint]]] = []
    print(f"{chosen.part}, and no words lost:         {score(clean, misses)}")
    print(
        "kinds of noise:",
        dict(Counter(kind for found in kinds.values() for kind in found).most_common()),
    )
    if chosen.part == "dev":
        shown = [miss for miss in misses if chosen.category in miss[0].category]
        for pair, q, given, made in shown[: chosen.show]:
            print(
                f"\n{pair.id} [{pair.category}] {pair.request}\n  given {pair.query}\n  made  "
                f"{q}\n  - {sorted(given - made)}\n  + {sorted(made - given)}"
            )
        print("misses by field:", dict(score(clean).by_field.most_common(12)))


if __name__ == "__main__":
    main()
