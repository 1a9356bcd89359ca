"""Spell requests to ADS: orders, fields, and queries by identifier."""

import math
from collections.abc import Iterable, Iterator, Sequence

from nuncius.core.errors import UsageError
from nuncius.core.identifiers import identify, normal_bibcode
from nuncius.sources.ads_fields import MAX_FILTERS, MAX_QUERY_CHARS

MAX_ROWS = 2000
"""Rows, bibcodes of a list and references of an export that ADS takes in one request."""

FIELDS = tuple(
    """id bibcode alternate_bibcode identifier title author author_count aff orcid_pub orcid_user
    abstract year pubdate pub bibstem volume issue page page_range eid publisher doctype doi keyword
    arxiv_class citation_count read_count property esources comment pubnote lang version
    """.split()
)
"""All that a record is made of, so that no paper is asked for twice."""
SORTS = frozenset(
    """author_count bibcode citation_count citation_count_norm classic_factor date entry_date
    first_author id read_count score""".split()
)
"""Fields with one value, by which ADS can sort."""


def spell_sort(sort: str, *, by_cursor: bool = False) -> str:
    """Return an order as ADS wants it: each field with its direction, and a last one that decides.

    Raises:
        UsageError: ADS cannot sort by a field.
    """
    parts: dict[str, str] = {}
    for part in sort.replace("+", " ").split(","):
        words = part.split()
        if not words:
            continue
        name, direction = words[0], (words[1].lower() if len(words) > 1 else "")
        if not direction:
            direction = "asc" if name == "first_author" else "desc"
        if name not in SORTS or direction not in {"asc", "desc"} or len(words) > 2:
            raise UsageError(
                f"ADS cannot sort by '{part.strip()}'.",
                hint=f"Sort by one of {', '.join(sorted(SORTS))}, with asc or desc.",
            )
        parts.setdefault(name, direction)
    parts = parts or {"score": "desc"}
    parts.setdefault("bibcode", "desc")
    if by_cursor:
        parts.setdefault("id", "desc")  # Solr's cursors need the key in the order
    return ", ".join(f"{name} {direction}" for name, direction in parts.items())


def check_query(q: str, fq: Sequence[str]) -> None:
    """Raise a UsageError for a query that ADS would refuse."""
    if not q.strip():
        raise UsageError("The query is empty.", hint="Say what to search for.")
    if len(q) > MAX_QUERY_CHARS:
        raise UsageError(
            f"The query has {len(q):,} characters; ADS takes {MAX_QUERY_CHARS:,}.",
            hint="Shorten it, or put a part into a filter.",
        )
    if len(fq) > MAX_FILTERS:
        raise UsageError(f"ADS takes {MAX_FILTERS} filters, not {len(fq)}.", hint="Join some.")


def field_list(fields: Iterable[str]) -> str:
    """Return fields as ADS wants them; those that name a paper always come."""
    wanted = list(dict.fromkeys(("id", "bibcode", *fields)))
    if "bibtex" in wanted:
        raise UsageError("BibTeX is no field of ADS.", hint="It is an export: use `export`.")
    return ",".join(wanted)


def ads_name(text: str) -> str:
    """Return an identifier as ADS spells it, or nothing where it is none."""
    if bibcode := normal_bibcode(text):
        return bibcode
    found = identify(text)
    if found is None or found.kind == "url" or len(found.value) > 300:
        return ""  # no identifier; the longest DOIs have some 100 characters
    if found.kind == "arxiv":
        return f"arXiv:{found.value}"
    at = text.lower().find(found.value)  # a DOI in the letters that were typed
    return found.value if at < 0 else text[at : at + len(found.value)]


def key_of(name: str) -> tuple[str, str]:
    """Return under what `known_as` knows an identifier that ADS was asked for."""
    found = identify(name)
    return (found.kind, found.value.lower()) if found else ("bibcode", name.lower())


def named(text: str) -> str:
    """Return the query that finds one paper.

    Raises:
        UsageError: The text is no identifier.
    """
    name = ads_name(text)
    if not name:
        raise UsageError(
            f"'{text}' is no identifier of a paper.",
            hint="Give a bibcode, an arXiv identifier or a DOI.",
        )
    return any_of([name])


def any_of(names: Sequence[str]) -> str:
    """Return the query that finds papers by any of some identifiers."""
    escaped = (name.replace("\\", "\\\\").replace('"', '\\"') for name in names)
    said = " OR ".join(f'"{name}"' for name in escaped)
    return f"identifier:{said}" if len(names) == 1 else f"identifier:({said})"


def plain_bibcodes(names: Sequence[str]) -> list[str]:
    """Return bibcodes as ADS writes them, each once.

    Raises:
        UsageError: One is none, or there is none.
    """
    found = [(name, normal_bibcode(name)) for name in names]
    wrong = [name for name, bibcode in found if bibcode is None]
    if wrong or not found:
        raise UsageError(
            f"'{wrong[0]}' is no bibcode." if wrong else "No bibcode was given.",
            hint="Look papers up by `by_identifiers` first: their records tell the bibcodes.",
        )
    return list(dict.fromkeys(bibcode for _, bibcode in found if bibcode))


def bundles(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield the names in groups whose query is short enough."""
    group: list[str] = []
    for name in names:
        if group and len(any_of([*group, name])) > MAX_QUERY_CHARS:
            yield group
            group = []
        group.append(name)
    if group:
        yield group


def chunks(names: Sequence[str], size: int) -> Iterator[list[str]]:
    """Yield the names in groups of at most `size`."""
    for number in range(math.ceil(len(names) / size)):
        yield list(names[number * size : (number + 1) * size])
