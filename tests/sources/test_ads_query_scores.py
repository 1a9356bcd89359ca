"""On the real pairs of requests and queries the translation keeps its level."""

import json
from pathlib import Path

import pytest

from nuncius.sources.ads_query import translate
from sources.score_ads_queries import TODAY, Pair, faults_of, load, score


@pytest.fixture(scope="module")
def held(shared_data: Path) -> list[Pair]:
    pairs = load(shared_data / "ads_queries" / "gold_examples.json")
    return [pair for pair in pairs if pair.part == "held"]


def test_every_request_becomes_valid_syntax(held: list[Pair]) -> None:
    sums = score(held)
    assert sums.valid == sums.pairs


def test_constraints_agree_where_the_pair_says_what_its_words_say(held: list[Pair]) -> None:
    clean = [pair for pair in held if not faults_of(pair)]
    assert len(clean) > len(held) / 2
    sums = score(clean)
    assert sums.f1 >= 0.85
    assert sums.f1_phrases >= 0.85


def test_every_common_name_of_a_telescope_finds_its_bibliography(shared_data: Path) -> None:
    table = json.loads((shared_data / "ads_queries" / "bibgroup_synonyms.json").read_text("utf-8"))
    missed: list[str] = []
    for code, entry in table["synonyms"].items():
        for name in entry["common_names"]:
            query = translate(f"papers using {name}", today=TODAY).q
            if query.replace('"', "") not in {f"bibgroup:{code}", "bibgroup:ESO"}:
                missed.append(f"{name}: {query}")
    assert missed == []
