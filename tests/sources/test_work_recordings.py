"""Every recorded answer of Crossref, OpenAlex, Semantic Scholar and Unpaywall is read right, or refused."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest

from nuncius.core.errors import UpstreamError
from nuncius.core.records import Record, RecordPage
from nuncius.sources.crossref import Crossref
from nuncius.sources.openalex import OpenAlex
from nuncius.sources.replies import RefusedError
from nuncius.sources.semantic_scholar import SemanticScholar
from nuncius.sources.services import Services
from nuncius.sources.unpaywall import Unpaywall
from sources.playing import Played, Playing

REACTIONS = "10.1007/s40278-023-41815-2"
CHEMISTRY = "Augmenting large language models with chemistry tools"

Asking = Callable[[Services], Awaitable[Record | RecordPage | None]]


def by_doi(doi: str) -> Asking:
    return lambda services: Crossref(services).by_doi(doi)


def by_title(title: str) -> Asking:
    return lambda services: Crossref(services).by_title(title)


def match(title: str) -> Asking:
    return lambda services: SemanticScholar(services).by_title(title)


def s2_doi(doi: str) -> Asking:
    return lambda services: SemanticScholar(services).by_doi(doi)


CHEMISTRY_TOLD = f"{CHEMISTRY}|6 P. Schwaller||||||0"
PLASMA = "Convalescent-anti-sars-cov-2-plasma/immune-globulin"
FOUND: Mapping[str, tuple[Asking, str]] = {
    # Title | number and last of the authors | date | journal | volume | pages | type | links
    "crossref/papis_test_1_multiple_authors.json": (
        by_doi("10.1103/PhysRevB.89.140501"),
        (
            "Particle entanglement in continuum many-body systems via quantum Monte Carlo"
            "|4 Del Maestro, A.|2014-04-04|Physical Review B|89|140501|article|1"
        ),
    ),
    "crossref/papis_test_2_abstract.json": (
        by_doi("10.32396/usurj.v1i1.55"),
        (
            "Industrial Potential of Polyhydroxyalkanoate Bioplastic: A Brief Review|1 Bernard, Matthew"
            "|2014-02-27|USURJ: University of Saskatchewan Undergraduate Research Journal|1||article|2"
        ),
    ),
    "crossref/papis_test_3_conference.json": (
        by_doi("https://doi.org/10.1145/3184558.3186235"),
        (
            "DL-Learner Structured Machine Learning on Semantic Web Data|4 Bin, Simon|2018|Companion of"
            " the The Web Conference 2018 on The Web Conference 2018 - WWW '18|||inproceedings|1"
        ),
    ),
    "crossref/papis_test_4_multiple_isbn.json": (
        by_doi("10.1007/978-3-0348-8720-5_13"),
        (
            "Differentiability with Respect to Initial Data for a Scalar Conservation Law"
            "|2 James, François|1999|Hyperbolic Problems: Theory, Numerics, Applications||113-118|inbook|1"
        ),
    ),
    "crossref/papis_test_5_aps_article_number.json": (
        by_doi("10.1103/physreva.106.022212"),
        (
            "Toy model for local and deterministic wave-function collapse"
            "|2 Hossenfelder, Sabine|2022-08-19|Physical Review A|106|022212|article|1"
        ),
    ),
    "crossref/test_doi_search_paper_attributes2_3.json": (
        by_doi(REACTIONS),
        (
            f"{PLASMA}: Fever and mild decrease in baseline oxygen saturation following off-label use: 3 case"
            " reports|0|2023-06-24|Reactions Weekly|1962|145|article|3"
        ),
    ),
    "openalex/test_does_openalex_work_not-oa-in-openalex_0.json": (
        lambda services: OpenAlex(services).by_doi("10.1002/wrna.1370"),
        "|0||||||0",
    ),
    "openalex/test_does_openalex_work_oa-in-openalex1_0.json": (
        lambda services: OpenAlex(services).by_doi("10.1021/acs.jctc.5b00178"),
        "|0||||||1",
    ),
    "openalex/test_doi_search_paper_attributes2_2.json": (
        lambda services: OpenAlex(services).by_doi(REACTIONS),
        f"{PLASMA}|0|2023-06-23|Reactions Weekly|1962|145|article|1",
    ),
    "unpaywall/test_doi_search_paper_attributes2_1.json": (
        lambda services: Unpaywall(services).by_doi(REACTIONS),
        f"{PLASMA}|0|2023-06-23|Reactions Weekly|||article|0",
    ),
    "s2/test_doi_search_paper_attributes2_0.json": (
        s2_doi(REACTIONS),
        f"{PLASMA}|0|2023-06-01|Reactions Weekly|1962|145|article|0",
    ),
    "s2/test_arxiv_doi_is_used_when_available_1.json": (
        match("Attention is all you need"),
        (
            "Attention is All you Need|8 I. Polosukhin|2017-06-12|Neural Information Processing Systems"
            "||5998-6008|article|0"
        ),
    ),
    "s2/test_author_matching_1.json": (match(CHEMISTRY), CHEMISTRY_TOLD),
    "s2/test_author_matching_2.json": (match(CHEMISTRY), CHEMISTRY_TOLD),
    "s2/test_author_matching_3.json": (match(CHEMISTRY), CHEMISTRY_TOLD),
    "s2/test_odd_client_requests_1.json": (match(CHEMISTRY), CHEMISTRY_TOLD),
    "s2/test_odd_client_requests_3.json": (match(CHEMISTRY), f"{CHEMISTRY}|0||||||0"),
    "s2/test_bad_titles_2.json": (
        match("Effect of native oxide layers"),
        (
            "Effect of native oxide layers on copper thin-film tensile properties: A reactive molecular"
            " dynamics study|2 D. Quesnel|2015-12-21|Journal of Applied Physics|118|235306||0"
        ),
    ),
    "s2/sdk_test_search_paper_match_title_0.json": (
        match("mining association rules"),
        "Mining association rules between sets of items in large databases|0||||||0",
    ),
    "s2/sdk_test_get_paper_0.json": (
        lambda services: SemanticScholar(services).by_arxiv_id("0000.00000"),
        "Computing Machinery and Intelligence|0||||||0",
    ),
}
LISTED: Mapping[str, tuple[Asking, int | None, list[str]]] = {
    # The total that the service tells, and the DOIs of what it sent.
    "crossref/test_arxiv_doi_is_used_when_available_0.json": (
        by_title("Attention is all you need"), 5466, ["10.18653/v1/n18-2074"],
    ),
    "crossref/test_author_matching_0.json": (by_title(CHEMISTRY), 4386, ["10.3390/app15126636"]),
    "crossref/test_odd_client_requests_0.json": (
        by_title(CHEMISTRY), 6189, ["10.1038/s42256-024-00832-8"],
    ),
    "crossref/test_odd_client_requests_4.json": (
        by_title(CHEMISTRY), 2509115, ["10.1038/s42256-024-00832-8"],
    ),
    "crossref/test_bad_dois_1.json": (by_title("abs12032jsdafn"), 0, []),
    "crossref/test_bad_titles_0.json": (by_title("askldjrq3rjaw938h"), 0, []),
    "s2/sdk_test_empty_paginated_results_0.json": (
        lambda services: SemanticScholar(services).search("n0 r3sult"), 0, [],
    ),
}  # fmt: skip
UNKNOWN: Mapping[str, Asking] = {
    "crossref/test_author_matching_4.bib": by_doi("10.1000/xyz"),
    "crossref/test_odd_client_requests_2.bib": by_doi("10.1000/xyz"),
    "crossref/test_odd_client_requests_5.bib": by_doi("10.1000/xyz"),
    "s2/sdk_test_not_found_0.json": s2_doi("10.1000/xyz"),
    "s2/sdk_test_not_found_1.json": s2_doi("10.1000/xyz"),
    "s2/test_bad_dois_0.json": match("abs12032jsdafn"),
    "s2/test_bad_titles_1.json": match("askldjrq3rjaw938h"),
}
REFUSED: Mapping[str, tuple[Asking, type[UpstreamError], str]] = {
    "crossref/crossref_cn_10.1051=0004-6361=202243540.xml": (by_doi("10.1000/x"), UpstreamError, "not JSON"),
    "crossref/crossref_cn_10.3847=1538-4357=ac8c2f.xml": (by_doi("10.1000/x"), UpstreamError, "not JSON"),
    "crossref/crossref_no_contrib_10.4213_im9580e.xml": (by_doi("10.1000/x"), UpstreamError, "not JSON"),
    "crossref/crossref_preprint_10.1002-essoar.10508651.1.xml": (
        by_doi("10.1000/x"), UpstreamError, "not JSON",
    ),
    "crossref/test_bad_titles_4.bib": (by_doi("10.1000/x"), UpstreamError, "not JSON"),
    "crossref/test_doi_search_paper_attributes2_4.bib": (by_doi("10.1000/x"), UpstreamError, "not JSON"),
    "s2/sdk_test_bad_query_parameters_0.json": (
        s2_doi("10.1000/x"), RefusedError, "Unrecognized or unsupported fields",
    ),
    "s2/sdk_test_get_paper_citations_0.json": (match("x"), UpstreamError, "none of the fields"),
    "s2/sdk_test_get_paper_citations_1.json": (match("x"), UpstreamError, "none of the fields"),
    "s2/sdk_test_search_snippet_0.json": (match("x"), UpstreamError, "none of the fields"),
}  # fmt: skip


def told(record: Record) -> str:
    people = f"{len(record.authors)} {record.authors[-1].name}" if record.authors else "0"
    return "|".join(
        [
            record.title,
            people,
            record.date,
            record.journal,
            record.volume,
            record.pages,
            record.doctype,
            str(len(record.links)),
        ]
    )


def play(playing: Playing, shared_data: Path, file: str) -> None:
    answer = Played.recorded(shared_data / "upstreams" / file)
    playing.rule(lambda _: answer)


@pytest.mark.parametrize("file", FOUND)
async def test_works_are_read(
    file: str, shared_data: Path, playing: Playing, services: Services
) -> None:
    play(playing, shared_data, file)
    record = await FOUND[file][0](services)
    assert isinstance(record, Record)
    assert told(record) == FOUND[file][1]
    assert record.status == ""


@pytest.mark.parametrize("file", LISTED)
async def test_lists_are_read_with_their_total(
    file: str, shared_data: Path, playing: Playing, services: Services
) -> None:
    play(playing, shared_data, file)
    page = await LISTED[file][0](services)
    assert isinstance(page, RecordPage)
    assert (page.total, [record.doi for record in page.records]) == LISTED[file][1:]


@pytest.mark.parametrize("file", UNKNOWN)
async def test_what_a_service_does_not_know_is_none(
    file: str, shared_data: Path, playing: Playing, services: Services
) -> None:
    play(playing, shared_data, file)
    assert await UNKNOWN[file](services) is None


@pytest.mark.parametrize("file", REFUSED)
async def test_answers_to_other_questions_are_refused(
    file: str, shared_data: Path, playing: Playing, services: Services
) -> None:
    play(playing, shared_data, file)
    ask, kind, words = REFUSED[file]
    with pytest.raises(kind, match=words) as error:
        await ask(services)
    assert error.value.hint
    assert error.value.url.startswith(playing.url)


def test_no_recorded_answer_is_left_out(shared_data: Path) -> None:
    folders = [
        shared_data / "upstreams" / one for one in ("crossref", "openalex", "s2", "unpaywall")
    ]
    there = {f"{folder.name}/{file.name}" for folder in folders for file in folder.iterdir()}
    named = {*FOUND, *LISTED, *UNKNOWN, *REFUSED}
    assert {file for file in there if not file.endswith(".meta.json")} == named
