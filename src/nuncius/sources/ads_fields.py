"""What ADS can be asked: its fields, their closed sets of values, its second-order functions.

Source: the ADS help pages on search syntax and searchable fields.
"""

from typing import Final

FIELDS: Final = frozenset(
    """
    abs abstract ack aff aff_id affil alternate_bibcode arxiv arxiv_class author author_count
    author_norm bibcode bibgroup bibstem body caption citation citation_count citation_count_norm
    cite_read_boost classic_factor collection copyright data database date doctype doi entdate
    entry_date esources eid facility first_author full grant id identifier inst institution issn
    isbn issue keyword keyword_norm keyword_schema lang metadata_mtime mention nedid nedtype object
    orcid orcid_other orcid_pub orcid_user page page_count planetary_feature property pub pub_raw
    pubdate read_count recid reference scix_id series simbad simbid simbtype title uat vizier volume
    year
    """.split()
)
"""Names that may stand before a colon, in lower case (ADS reads ``arXiv:`` and ``arxiv:`` alike)."""

VALUES: Final[dict[str, frozenset[str]]] = {
    "doctype": frozenset(
        """
        abstract article book bookreview catalog circular dataset editorial eprint erratum inbook
        inproceedings instrument intechreport mastersthesis misc newsletter obituary phdthesis
        pressrelease proceedings proposal service software talk techreport
        """.split()
    ),
    "property": frozenset(
        """
        ads_openaccess article associated author_openaccess catalog creative data eprint
        eprint_openaccess esource inproceedings inspire library_catalog librarycatalog nonarticle
        notrefereed ocr_abstract ocrabstract openaccess presentation private pub_openaccess refereed
        software toc
        """.split()
    ),
    "database": frozenset({"astronomy", "physics", "general", "earthscience"}),
    "esources": frozenset(
        """
        pub_pdf pub_html eprint_pdf eprint_html author_pdf author_html ads_pdf ads_scan
        """.split()
    ),
}
"""Closed sets, in lower case: another value would find nothing, so it is a fault."""
VALUES["collection"] = VALUES["database"]

NUMBERS: Final = frozenset(
    {"author_count", "citation_count", "citation_count_norm", "read_count", "page_count"}
)
DATES: Final = frozenset({"pubdate", "entdate", "entry_date", "date"})

FUNCTIONS: Final[dict[str, tuple[int, int]]] = {
    "citations": (1, 1),
    "references": (1, 1),
    "similar": (1, 3),
    "trending": (1, 1),
    "useful": (1, 1),
    "reviews": (1, 1),
    "instructive": (1, 1),
    "topn": (2, 3),
    "pos": (2, 3),
    "docs": (1, 1),
    "joincitations": (1, 1),
    "joinreferences": (1, 1),
    "classic_relevance": (1, 2),
}
"""Second-order functions with their least and greatest number of arguments."""

MAX_QUERY_CHARS: Final = 1000
"""Longest `q` that ADS takes."""
MAX_FILTERS: Final = 10
"""Most `fq` parameters of one request."""
