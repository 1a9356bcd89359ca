"""Crossref, OpenAlex, Unpaywall, Semantic Scholar: DOIs, titles, batches, retractions, faults."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuncius.core.errors import KeyMissingError, SettingsError, UpstreamError, UsageError
from nuncius.core.records import Link, Record
from nuncius.core.settings import Settings
from nuncius.sources import crossref, openalex, semantic_scholar, unpaywall, works
from nuncius.sources.crossref import Crossref
from nuncius.sources.openalex import OpenAlex, abstract_of
from nuncius.sources.replies import RefusedError
from nuncius.sources.semantic_scholar import SemanticScholar
from nuncius.sources.services import Services
from nuncius.sources.unpaywall import Unpaywall
from nuncius.walls.courtesy import RateLimitedError
from sources.playing import Asked, Played, Playing

DOI = "10.1000/s0019(03)00123-4;x#y?z"
PAGE = "<!DOCTYPE html><html><body><h1>Not here</h1></body></html>"
Ask = Callable[[Services, str], Awaitable[Record | None]]
BY_DOI: Mapping[str, Ask] = {
    "Crossref": lambda services, doi: Crossref(services).by_doi(doi),
    "OpenAlex": lambda services, doi: OpenAlex(services).by_doi(doi),
    "Unpaywall": lambda services, doi: Unpaywall(services).by_doi(doi),
    "Semantic Scholar": lambda services, doi: SemanticScholar(services).by_doi(doi),
}
every_service = pytest.mark.parametrize("service", BY_DOI)


def whole(service: str, doi: str, title: str = "A star") -> Any:
    """Return a whole, small answer of a service."""
    return {
        "Crossref": {"status": "ok", "message": {"DOI": doi, "title": [title]}},
        "OpenAlex": {
            "id": "https://openalex.org/W1",
            "doi": f"https://doi.org/{doi}",
            "title": title,
        },
        "Unpaywall": {"doi": doi, "title": title, "is_oa": True, "best_oa_location": None},
        "Semantic Scholar": {"paperId": "p1", "title": title, "externalIds": {"DOI": doi}},
    }[service]


@every_service
async def test_a_doi_is_encoded_in_the_path_and_may_be_an_address(
    service: str, playing: Playing, services: Services
) -> None:
    playing.play("/", Played.json(whole(service, DOI)))
    record = await BY_DOI[service](services, f"https://doi.org/{DOI.upper()}")
    assert record
    assert (record.title, record.doi) == ("A star", DOI)
    assert playing.asked[0].path.endswith("s0019%2803%2900123-4%3Bx%23y%3Fz")
    assert await BY_DOI[service](services, f"doi:{DOI}")
    assert len(playing.asked) == 1  # kept


@every_service
@pytest.mark.parametrize("text", ["", "abs12032jsdafn", "10.48550", "11.1000/x"])
async def test_what_is_no_doi_is_told_before_any_request(
    service: str, text: str, playing: Playing, services: Services
) -> None:
    with pytest.raises(UsageError, match="not a DOI"):
        await BY_DOI[service](services, text)
    assert playing.asked == []


@every_service
@pytest.mark.parametrize(
    "answer",
    [
        Played.text("Resource not found.", 404),
        Played.text(PAGE, 404, "text/html"),
        Played.json({"error": "Paper with id 0 not found"}, 404),
        Played.json({"HTTP_status_code": 404, "error": True, "message": "no such DOI"}, 404),
    ],
)
async def test_an_unknown_doi_is_none_in_whatever_words(
    service: str, answer: Played, playing: Playing, services: Services
) -> None:
    playing.play("/", answer)
    assert await BY_DOI[service](services, DOI) is None


@every_service
async def test_the_record_of_another_work_is_not_taken(
    service: str, playing: Playing, services: Services
) -> None:
    # opencitations/metadata #13: the answer is about another DOI, such as the preprint's.
    playing.play("/", Played.json(whole(service, "10.1000/other")))
    assert await BY_DOI[service](services, DOI) is None


@every_service
@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (Played.text("Too many", 429), RateLimitedError, "429"),
        (Played.text("busy", 503), UpstreamError, "503"),
        (Played.text(PAGE, 200, "text/html"), UpstreamError, "web page"),
        (Played.text("{", 200), UpstreamError, "not JSON"),
        (Played.text("", 200), UpstreamError, "not JSON"),
        (Played.json([1, 2]), UpstreamError, "none of the fields"),
        (Played.json({"surprise": 1}), UpstreamError, "none of the fields"),
        (Played.json({"message": "bad filter"}, 400), RefusedError, "bad filter"),
        (Played(b"{}", fault="close"), UpstreamError, "times"),
        (Played(b'{"message": {}}', fault="cut"), UpstreamError, "cut"),
    ],
)
async def test_a_fault_is_one_sentence_and_never_an_unknown_work(
    service: str,
    answer: Played,
    kind: type[UpstreamError],
    words: str,
    playing: Playing,
    services: Services,
) -> None:
    # paper-qa #1180: a 429 was read as "this DOI does not exist".
    playing.play("/", answer)
    with pytest.raises(kind, match=words) as error:
        await BY_DOI[service](services, DOI)
    assert (error.value.service, bool(error.value.hint)) == (service, True)
    assert "a@example.org" not in str(error.value)


@every_service
async def test_bad_answers_are_not_kept(service: str, playing: Playing, services: Services) -> None:
    playing.play("/", Played.text(PAGE, 200), Played.json(whole(service, DOI)))
    with pytest.raises(UpstreamError):
        await BY_DOI[service](services, DOI)
    assert await BY_DOI[service](services, DOI)


async def test_the_contact_address_goes_where_it_is_wanted(
    playing: Playing, services: Services
) -> None:
    for service, ask in BY_DOI.items():
        playing.play("/", Played.json(whole(service, DOI)))
        await ask(services, DOI)
    sent = [(asked.query.get("mailto"), asked.query.get("email")) for asked in playing.asked]
    address = "a@example.org"
    assert sent == [(address, None), (address, None), (None, address), (None, None)]


async def test_without_an_address_unpaywall_says_how_to_set_one(
    playing: Playing, services: Services, settings: Settings
) -> None:
    services.settings = settings.model_copy(update={"contact_email": ""})
    with pytest.raises(SettingsError, match="NUNCIUS_CONTACT_EMAIL"):
        await Unpaywall(services).by_doi(DOI)
    assert playing.asked == []
    playing.play("/crossref", Played.json(whole("Crossref", DOI)))
    assert await Crossref(services).by_doi(DOI)
    assert playing.asked[0].query == {}


async def test_an_address_that_unpaywall_does_not_take_is_told(
    playing: Playing, services: Services
) -> None:
    playing.play("/", Played.json({"error": True, "message": "Please use your own email"}, 422))
    with pytest.raises(SettingsError, match="NUNCIUS_CONTACT_EMAIL"):
        await Unpaywall(services).by_doi(DOI)


async def test_a_refused_key_is_told_with_its_name(
    playing: Playing, services: Services, settings: Settings
) -> None:
    services.settings = settings.model_copy(update={"s2_api_key": "made-up"})
    playing.play("/", Played.json({"message": "Forbidden"}, 403))
    with pytest.raises(KeyMissingError, match="S2_API_KEY") as error:
        await SemanticScholar(services).by_doi(DOI)
    assert "made-up" not in str(error.value)
    assert playing.asked[0].headers["x-api-key"] == "made-up"


# --- Crossref ---


def crossref_work(**fields: Any) -> Record:
    return crossref.read_work({"DOI": "10.1000/x", "title": ["A star"], **fields})


@pytest.mark.parametrize(
    ("fields", "status", "words"),
    [
        ({}, "", ""),
        ({"updated-by": [{"type": "retraction", "DOI": "10.1000/r", "label": "Retraction"}]}, "retracted", "Retraction: 10.1000/r."),
        ({"updated-by": [{"type": "erratum", "DOI": "10.1000/e"}, {"type": "withdrawal"}]}, "withdrawn", "Erratum: 10.1000/e."),
        ({"updated-by": [{"type": "corrigendum", "DOI": "10.1000/e"}]}, "erratum", "Corrigendum"),
        ({"updated-by": [{"type": "expression_of_concern", "DOI": "10.1000/c"}]}, "", "Expression of concern: 10.1000/c."),
        ({"updated-by": [{"type": "new_version", "DOI": "10.1000/2"}]}, "superseded", "10.1000/2"),
        ({"update-to": [{"type": "retraction", "DOI": "10.1000/old", "label": "Retraction"}]}, "", "notice (retraction) on 10.1000/old"),
        ({"relation": {"is-preprint-of": [{"id": "10.1000/J", "id-type": "doi"}]}}, "superseded", "Published as 10.1000/j"),
        ({"relation": {"has-erratum": [{"id": "10.1000/e", "id-type": "doi"}]}}, "erratum", "10.1000/e"),
        ({"relation": {"is-correction-of": [{"id": "10.1000/o"}]}}, "", "notice on 10.1000/o"),
        ({"relation": {"is-retracted-by": [{"id": "10.1000/r"}]}}, "retracted", "10.1000/r"),
        ({"relation": {"cites": [{"id": "10.1000/r"}]}}, "", ""),
        ({"title": ["RETRACTED ARTICLE: A star"]}, "retracted", "title"),
        ({"title": ["WITHDRAWN: A star"]}, "withdrawn", "title"),
        ({"title": ["Retracted galaxies in the Local Group"]}, "", ""),
        ({"relation": None, "updated-by": None, "update-to": "no"}, "", ""),
    ],
)  # fmt: skip
def test_crossrefs_updates_and_relations_make_the_status(
    fields: dict[str, Any], status: str, words: str
) -> None:
    record = crossref_work(**fields)
    assert record.status == status
    assert words in record.status_note
    assert bool(record.status_note) == bool(words)


def test_a_notice_says_what_it_is_about() -> None:
    record = crossref_work(**{"update-to": [{"type": "erratum", "DOI": "10.1000/Old"}]})
    assert (record.doctype, record.extra["updates"]) == ("erratum", "10.1000/old")


def test_crossrefs_fields_are_read_as_people_write_them() -> None:
    record = crossref_work(
        title=["The <i>H</i><sub>0</sub> &amp; more"],
        subtitle=["I. Data"],
        abstract="<jats:title>Abstract</jats:title><jats:p>Dust at 10<jats:sup>-3</jats:sup> M&lt;1.</jats:p>",
        author=[
            {"family": "Stern", "given": "M.", "suffix": "Jr.", "ORCID": "http://orcid.org/0000-0001-6008-1103",
             "affiliation": [{"name": "Here"}, {}, {"name": "There"}]},
            {"name": "The Example Collaboration"},
            {"family": "Noname"},
            {},
        ],
        issued={"date-parts": [[None]]},
        created={"date-parts": [[2022, 8, 9]]},
        page="195 – 196",
        type="journal-article",
        relation={"has-preprint": [{"id": "10.48550/arXiv.2101.00001v2", "id-type": "doi"}]},
        **{"container-title": ["Astronomy &amp; Astrophysics"], "is-referenced-by-count": 3},
    )  # fmt: skip
    assert record.title == "The H_0 & more: I. Data"
    assert record.abstract == "Abstract Dust at 10^-3 M<1."
    assert [author.name for author in record.authors] == [
        "Stern Jr., M.",
        "The Example Collaboration",
        "Noname",
    ]
    assert record.authors[0].orcid == "0000-0001-6008-1103"
    assert record.authors[0].affiliations == ("Here", "There")
    assert (record.date, record.year, record.pages) == ("2022-08-09", 2022, "195-196")
    assert (record.journal, record.citation_count) == ("Astronomy & Astrophysics", 3)
    assert record.arxiv_id == "2101.00001"


def test_a_crossref_work_with_nothing_is_an_empty_record() -> None:
    record = crossref.read_work({"title": None, "author": None, "issued": {}, "page": None})
    assert record == Record("crossref")


def test_crossrefs_links_have_licence_and_version() -> None:
    record = crossref_work(
        license=[{"URL": "https://creativecommons.org/licenses/by/4.0/", "content-version": "vor"}],
        link=[
            {
                "URL": "https://p.org/a.pdf",
                "content-type": "application/pdf",
                "content-version": "vor",
            },
            {
                "URL": "https://p.org/a.pdf",
                "content-type": "application/pdf",
                "content-version": "am",
            },
            {"URL": "https://p.org/check", "content-type": "unspecified"},
            {"URL": "javascript:alert(1)", "content-type": "text/html"},
        ],
        resource={"primary": {"URL": "https://p.org/a"}},
    )
    by = "https://creativecommons.org/licenses/by/4.0/"
    assert record.links == (
        Link("publisher_pdf", "https://p.org/a.pdf", by, "published"),
        Link("landing", "https://p.org/a", by),
    )


async def test_crossref_is_not_asked_for_arxivs_own_dois(
    playing: Playing, services: Services
) -> None:
    assert await Crossref(services).by_doi("10.48550/arXiv.2304.05376") is None
    assert playing.asked == []


async def test_crossrefs_batch_keeps_the_order_of_its_input(
    playing: Playing, services: Services
) -> None:
    def answer(asked: Asked) -> Played:
        if "filter" not in asked.query:
            return Played.json(whole("Crossref", "10.1000/a,b"))
        items = [{"DOI": "10.1000/B"}, {"DOI": "10.1000/a"}, None]
        return Played.json({"message": {"items": items, "total-results": 2}})

    playing.rule(answer)
    dois = [
        "10.1000/a",
        "10.1000/none",
        "no doi",
        "10.1000/A,B",
        "10.48550/arXiv.2101.00001",
        "10.1000/b",
        "10.1000/A",
    ]
    found = await Crossref(services).by_dois(dois)
    assert [record.doi if record else None for record in found] == [
        "10.1000/a", None, None, "10.1000/a,b", None, "10.1000/b", "10.1000/a",
    ]  # fmt: skip
    assert len(playing.asked) == 2
    assert playing.asked[0].query["filter"] == "doi:10.1000/a,doi:10.1000/none,doi:10.1000/b"


# --- OpenAlex ---


def test_an_inverted_index_becomes_its_text() -> None:
    index = {
        "Dust": [0],
        "cools": [1, 3],
        "and": [2],
        "&amp;": [4],
        "bad": ["x", -1, 10**9],
        "worse": None,
    }
    assert abstract_of(index) == "Dust cools and cools &"
    assert abstract_of(None) == ""


def test_openalex_tells_retractions_free_copies_and_versions() -> None:
    record = openalex.read_work(
        {
            "id": "https://openalex.org/W2",
            "doi": "https://doi.org/10.1000/X",
            "title": "A star",
            "is_retracted": True,
            "authorships": [{"author": {"display_name": "Ada Stern", "orcid": None}, "raw_affiliation_strings": ["Here"]}, {}],
            "open_access": {"is_oa": True, "oa_url": "https://arxiv.org/pdf/2101.00001"},
            "best_oa_location": {"pdf_url": "https://arxiv.org/pdf/2101.00001", "landing_page_url": "https://arxiv.org/abs/2101.00001",
                                 "license": "cc-by", "version": "submittedVersion", "source": {"type": "repository"}},
            "primary_location": None,
            "locations": [{"pdf_url": "https://repo.org/1.pdf", "version": "acceptedVersion", "source": {"type": "repository"}}, None],
            "biblio": {"first_page": "L1", "last_page": "L5", "volume": 7},
            "abstract_inverted_index": None,
        }
    )  # fmt: skip
    assert (record.status, record.status_note) == ("retracted", "OpenAlex lists it as retracted.")
    assert record.links == (
        Link("arxiv_pdf", "https://arxiv.org/pdf/2101.00001", "cc-by", "preprint"),
        Link("landing", "https://arxiv.org/abs/2101.00001", "cc-by", "preprint"),
        Link("repository_pdf", "https://repo.org/1.pdf", "", "accepted"),
    )
    assert (record.arxiv_id, record.pages, record.open_access) == ("2101.00001", "L1-L5", True)
    assert [author.name for author in record.authors] == ["Ada Stern"]


async def test_openalexs_batch_keeps_the_order_of_its_input(
    playing: Playing, services: Services
) -> None:
    results = [
        {"id": "W2", "doi": "https://doi.org/10.1000/b"},
        {"id": "W1", "doi": "https://doi.org/10.1000/a"},
    ]
    playing.play("/openalex", Played.json({"meta": {"count": 2}, "results": results}))
    found = await OpenAlex(services).by_dois(["10.1000/A", "10.1000/c", "x", "10.1000/b"])
    assert [record.doi if record else None for record in found] == [
        "10.1000/a",
        None,
        None,
        "10.1000/b",
    ]
    assert playing.asked[0].query["filter"] == "doi:10.1000/a|10.1000/c|10.1000/b"


async def test_a_title_cannot_break_openalexs_filter(playing: Playing, services: Services) -> None:
    playing.play("/openalex", Played.json({"meta": {"count": 0}, "results": []}))
    page = await OpenAlex(services).by_title("Dust, gas | stars: a 3.4-micron view (I)")
    assert (page.total, page.records) == (0, ())
    assert playing.asked[0].query["filter"] == "title.search:Dust gas stars a 3.4-micron view I"
    with pytest.raises(UsageError, match="empty"):
        await OpenAlex(services).by_title(" ,| ")


# --- Unpaywall, Semantic Scholar ---


async def test_unpaywalls_copies_stand_with_the_best_first(
    playing: Playing, services: Services
) -> None:
    best = {"url": "https://r.org/x", "url_for_pdf": "https://r.org/x.pdf", "url_for_landing_page": "https://r.org/x",
            "license": "cc-by-nc", "version": "acceptedVersion", "host_type": "repository"}  # fmt: skip
    other = {
        "url_for_pdf": "https://p.org/y.pdf",
        "version": "publishedVersion",
        "host_type": "publisher",
        "license": None,
    }
    answer = {
        "doi": DOI,
        "is_oa": True,
        "best_oa_location": best,
        "oa_locations": [best, other, None],
    }
    playing.play("/unpaywall", Played.json(answer))
    record = await Unpaywall(services).by_doi(DOI)
    assert record
    assert record.open_access is True
    assert record.links == (
        Link("repository_pdf", "https://r.org/x.pdf", "cc-by-nc", "accepted"),
        Link("landing", "https://r.org/x", "cc-by-nc", "accepted"),
        Link("publisher_pdf", "https://p.org/y.pdf", "", "published"),
    )


async def test_semantic_scholars_batch_keeps_its_nulls(
    playing: Playing, services: Services
) -> None:
    entries = [None, {"paperId": "p", "title": "A star", "externalIds": None, "authors": None}]
    playing.play("/s2/paper/batch", Played.json(entries), method="POST")
    found = await SemanticScholar(services).by_ids(["DOI:10.1000/none", "ARXIV:2101.00001"])
    assert [record.title if record else None for record in found] == [None, "A star"]
    assert playing.asked[0].json == {"ids": ["DOI:10.1000/none", "ARXIV:2101.00001"]}
    playing.play("/s2/paper/batch", Played.json([None]), method="POST")
    with pytest.raises(UpstreamError, match="another number"):
        await SemanticScholar(services).by_ids(["DOI:10.1000/1", "DOI:10.1000/2"])
    assert await SemanticScholar(services).by_ids([]) == []


@pytest.mark.parametrize(
    "answer", [Played.json({"error": "Title match not found"}, 404), Played.json({"data": []})]
)
async def test_no_title_that_fits_is_none(
    answer: Played, playing: Playing, services: Services
) -> None:
    playing.play("/s2", answer)
    assert await SemanticScholar(services).by_title("no such title") is None
    with pytest.raises(UsageError, match="empty"):
        await SemanticScholar(services).by_title("  ")


async def test_a_free_copy_is_a_link_and_an_empty_address_is_none(
    playing: Playing, services: Services
) -> None:
    paper = {"paperId": "p", "title": "A star", "externalIds": {"DOI": "10.48550/arXiv.2101.00001"},
             "openAccessPdf": {"url": "https://arxiv.org/pdf/2101.00001", "status": "GREEN", "license": "CCBY"}}  # fmt: skip
    playing.play("/s2", Played.json({"data": [paper], "total": 1}))
    (record,) = (await SemanticScholar(services).search("star")).records
    assert record.links == (Link("arxiv_pdf", "https://arxiv.org/pdf/2101.00001", "ccby"),)
    assert (record.arxiv_id, record.doi) == ("2101.00001", "10.48550/arxiv.2101.00001")


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("145 - 145", "145"),
        ("1–9", "1-9"),
        ("L5", "L5"),
        ("", ""),
        (None, ""),
        (7, "7"),
        (True, ""),
    ],
)
def test_pages_are_written_in_one_way(text: object, pages: str) -> None:
    assert works.pages(text) == pages


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
_NAMES = """DOI title subtitle author issued published link license relation updated-by update-to page type score
volume container-title resource abstract id doi authorships open_access best_oa_location primary_location
locations biblio abstract_inverted_index is_retracted oa_locations is_oa url_for_pdf externalIds journal
openAccessPdf publicationTypes matchScore authors year publication_year""".split()


@pytest.mark.parametrize(
    "read",
    [crossref.read_work, openalex.read_work, unpaywall.read_work, semantic_scholar.read_paper],
)
@given(work=st.dictionaries(st.sampled_from(_NAMES), _JSON | st.lists(st.dictionaries(st.sampled_from(
    ["DOI", "type", "URL", "content-type", "family", "given", "name", "date-parts", "id", "source", "author",
     "pdf_url", "version", "license"]), _JSON), max_size=3), max_size=8))  # fmt: skip
@settings(max_examples=40)
def test_any_work_is_read(
    read: Callable[[Mapping[str, Any]], Record], work: dict[str, Any]
) -> None:
    record = read(work)
    assert all(doi == doi.lower() for doi in record.dois)
    assert all(link.url.startswith("http") for link in record.links)
